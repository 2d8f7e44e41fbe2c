"""The `tournament` section: markets x rosters x seeds x repetitions.

`market/config/plans.py` makes its episodes; the designs are in `market/study/designs.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from market.config.model import NAME, Model, Name

#: Designs of rosters by name.
DesignName = Literal[
    "all",
    "leave-one-out",
    "subsets",
    "self-play",
    "one-among-many",
    "latin",
    "replacement",
    "chosen",
]
#: Those that need nothing but their name.
PlainDesign = Literal["all", "leave-one-out", "self-play", "one-among-many", "latin"]

#: What each design takes, besides a name.
_TAKES: Mapping[str, frozenset[str]] = {
    "all": frozenset(),
    "leave-one-out": frozenset({"of"}),
    "subsets": frozenset({"size", "count", "seed", "of", "rotate"}),
    "self-play": frozenset({"size"}),
    "one-among-many": frozenset({"size", "among", "both_ways"}),
    "latin": frozenset(),
    "replacement": frozenset({"reference", "candidates", "among", "size", "count", "seed"}),
    "chosen": frozenset({"retailers"}),
}
#: What each design cannot do without.
_NEEDS: Mapping[str, tuple[str, ...]] = {
    "subsets": ("size", "count"),
    "replacement": ("reference",),
    "chosen": ("name", "retailers"),
}


class Design(Model):
    """Rosters of the retailers; each design takes the keys whose description names it."""

    design: DesignName = "chosen"
    """`all` in one market; `leave-one-out`; random `subsets` in which all pairs meet about equally
    often; `self-play`, each retailer among copies of itself; `one-among-many`, one of a kind among
    copies of another; `latin`, all in one market, as often as it has seats, everybody in each seat
    once; `replacement`, a reference and each candidate in one seat among the same rivals; `chosen`
    by hand."""
    name: Name | None = None
    """Name in the ids of episodes, or the beginning of it where the design makes several rosters;
    spelled as that of a retailer. Needed by `chosen`."""
    size: Annotated[int, Field(ge=1, le=100_000)] | None = None
    """`subsets`: members of each. `self-play`, `one-among-many` and `replacement`: seats of the
    market, by default as many as there are retailers' seats in all."""
    count: Annotated[int, Field(ge=1, le=100_000)] | None = None
    """`subsets`: how many. `replacement`: how many companies of rivals, 1 by default. With a higher
    count the first ones stay."""
    seed: int = 0
    """`subsets` and `replacement`: seed of their draws."""
    of: Literal["seats", "retailers"] = "seats"
    """`leave-one-out` and `subsets`: of single seats, or of retailers with all their seats."""
    among: list[Name] = Field(default=[])
    """`one-among-many`: the retailers that are many. `replacement`: the retailers from whose seats
    rivals are drawn. All where empty."""
    both_ways: bool = True
    """`one-among-many`: also one of these among many of the other."""
    rotate: bool = False
    """`subsets`: whether members play neutral seats, `seat-1` and so on, each about equally often,
    and not seats of their own names."""
    reference: Name | None = None
    """`replacement`: the retailer that the others are held against."""
    candidates: list[Name] = Field(default=[])
    """`replacement`: the retailers that take its place; all others where empty."""
    retailers: list[Name] = Field(default=[])
    """`chosen`: names of retailers, or of single seats such as `markup-2`."""

    @model_validator(mode="after")
    def _taken(self) -> Self:
        given = self.model_fields_set - {"design", "name"}
        for key in sorted(given - _TAKES[self.design]):
            if getattr(self, key) != type(self).model_fields[key].get_default():
                raise ValueError(f"{key}: the design `{self.design}` does not take it")
        for key in _NEEDS.get(self.design, ()):
            if not getattr(self, key):
                raise ValueError(f"{key}: the design `{self.design}` needs it")
        return self


class Seeds(Model):
    """Seeds in a row."""

    first: int | None = None
    """The first; the configuration's `seed` where not given."""
    count: Annotated[int, Field(ge=1, le=100_000)]
    """How many."""


class Market(Model):
    """A market to play in: what a preset came to."""

    environment: str
    """Its environment, which is that of the configuration."""
    rules: dict[str, Any]
    """Its rules, every default filled in."""


class Tournament(Model):
    """Many episodes: each market with each roster on each seed, and all that again."""

    presets: dict[str, Market] | list[str] | None = None
    """Presets or files whose markets are played, by name; only their rules count, and `rules` of
    the configuration are laid over each. Without any the configuration's own market is played.
    Recorded as what they came to."""
    rosters: list[PlainDesign | Design] = Field(default=["all"], min_length=1)
    """Who meets: designs by name, or with parameters."""
    seeds: Annotated[int, Field(ge=1, le=100_000)] | list[int] | Seeds = 1
    """How many seeds from the configuration's `seed` on, or which. Compare on equal seeds: all
    rosters meet the same buyers."""
    repetitions: Annotated[int, Field(ge=1, le=100_000)] = 1
    """How often each game is played. Scripts play it again as before; models may not."""
    keep: Literal["market", "share", "nothing"] = "market"
    """What a roster of another size than `nominal` keeps. `market`: supply, buyers and each
    retailer's initial funds, so that only the company differs. `share`: supply, buyers and funds
    per retailer, so that the market grows with the roster. `nothing`: what the rules say."""
    nominal: Annotated[int, Field(ge=1)] | None = None
    """Retailers that the rules are meant for; by default the retailers' seats in all."""

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        if isinstance(self.seeds, list):
            if not self.seeds:
                raise ValueError("seeds: name one at least")
            if len(set(self.seeds)) < len(self.seeds):
                raise ValueError("seeds: a seed is named twice")
        if self.presets is not None and not self.presets:
            raise ValueError("presets: name one at least, or leave them out")
        if isinstance(self.presets, dict):
            for name in self.presets:
                if not re.fullmatch(NAME, name) or len(name) > 64:
                    raise ValueError(f"presets: `{name[:70]}` cannot be the name of a folder")
        return self
