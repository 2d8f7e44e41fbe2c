"""What a configuration holds, and what others ask of it.

A configuration has two parts. What affects results is `recorded` in a journal's header and
digested. The rest is operational: it says where and how fast an episode runs, and two runs that
differ in nothing else have equal journals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, Field

from market import canonical, registry, seats
from market.config import options
from market.config.fork import Fork
from market.config.model import REFERENCE, Model, Name
from market.config.spending import Limits, ModelCaps, Price
from market.config.study import Study
from market.config.tournament import Tournament
from market.registry import EnvironmentKind

M = TypeVar("M", bound=BaseModel)

#: A name that the registry knows, or `module:NAME`.
Reference = Annotated[str, Field(pattern=REFERENCE)]


class Retailer(Model):
    """One line of the roster: a policy, and how many seats it plays."""

    name: Name
    """Name in reports: at most 64 letters A to Z, digits, `.`, `_` and `-`, the first one a letter
    or digit. Its seat is called so too; several are `name-1` to `name-9`, or `name-01`
    and so on from ten."""
    policy: Reference
    """Name of a policy, or `module:Class` of one's own."""
    count: Annotated[int, Field(ge=1)] = 1
    """Seats that play it."""
    without: list[int] = Field(default=[])
    """Numbers, from 1 to `count`, that fill no seat. The other seats keep their ids, and with them
    their luck."""
    options: dict[str, Any] = Field(default={})
    """Options of the policy; `market list` shows them."""
    budget: Limits = Limits()
    """Operational: what the models of its seats may take, over all episodes."""
    plays: Name | None = None
    """Operational: in an episode of a tournament, the retailer that it is, where its seat has a
    name of its own."""

    @property
    def retailer(self) -> str:
        """The retailer of the pool that it is: what results and budgets go by."""
        return self.plays or self.name

    @property
    def seats(self) -> tuple[str, ...]:
        """The ids of its seats.

        Raises:
            ValueError: If it has none, or goes without one that is not there.
        """
        return seats.entry_seats({"name": self.name, "count": self.count, "without": self.without})


class Encoder(Model):
    """The sentence encoder that compares texts."""

    model: str = "all-MiniLM-L6-v2"
    """Its name."""


class Config(Model):
    """A checked configuration. In a file, `extends` names the preset or path it builds on."""

    name: Name = "run"
    """Name of the run, for people and for the folder of its results: at most 64 letters A to Z,
    digits, `.`, `_` and `-`, the first one a letter or digit. The file's or preset's name, made to
    fit, where not given."""
    environment: Reference
    """Name of the environment, or `module:NAME` of one's own."""
    seed: int = 0
    """Seed of everything drawn. Any whole number; 0 is a seed like any other."""
    rules: dict[str, Any] = Field(default={})
    """The environment's own configuration, every default filled in."""
    retailers: Annotated[list[Retailer], Field(min_length=1)]
    """Who competes."""
    encoder: Encoder = Encoder()
    """The sentence encoder."""
    tournament: Tournament | None = None
    """Many episodes instead of one: markets x rosters x seeds."""
    study: Study | None = None
    """Many tournaments, one in each cell of a design; played by `market study`."""
    fork: Fork | None = None
    """An episode that goes on from a step of a recorded one; written by `market fork`."""

    inline: bool = False
    """Operational: play scripted policies in the driver's process, without actors."""
    retailers_per_actor: Annotated[int, Field(ge=1)] = 1
    """Operational: seats hosted in one actor."""
    actors_per_node: Annotated[int, Field(ge=1)] = 60
    """Operational: most retailer actors that are started; each takes some 50 MB and 0.2 s."""
    deadline_seconds: Annotated[float, Field(gt=0)] = 30.0
    """Operational: time a retailer's own code has for one decision."""
    address: str | None = None
    """Operational: address of a Ray cluster; null starts one on this machine."""
    language_per_node: bool = False
    """Operational: call models from an actor on each node of the cluster, and not from one."""
    encoder_per_node: bool = False
    """Operational: encode texts in an actor on each node of the cluster, and not in one."""
    on_provider_failure: Literal["suspend", "no_action"] = "suspend"
    """Operational: when a model cannot be reached, stop so that the run can be resumed, or go on
    without the seat's action."""
    budget: Limits = Limits()
    """Operational: what the models of all retailers may take, over all episodes. Where it is used
    up the run stops, and is resumed under a higher one."""
    caps: dict[str, ModelCaps] = Field(default={})
    """Operational: by the name of a model, how hard it may be asked."""
    response_cache: str | None = None
    """Operational: file that keeps models' answers, so that equal requests to models of temperature
    0 are asked once (`cache` of a retailer's options); null keeps none."""
    prices: dict[str, Price] = Field(default={})
    """Operational: what models cost, by their names as configured, in place of litellm's table."""

    @property
    def kind(self) -> EnvironmentKind:
        """What the environment brings."""
        return registry.environment_kind(self.environment)

    @property
    def meetings(self) -> Tournament | None:
        """Which markets, rosters and seeds: of the tournament, or of each cell of the study."""
        return self.study or self.tournament


def recorded(config: Config) -> dict[str, Any]:
    """What affects the results of an episode, as it stands in its journal's header."""
    whole = config.model_dump(mode="json", include=_RECORDED)
    for retailer in whole["retailers"]:
        retailer["options"] = _without(retailer["options"], options.OPERATIONAL)
        del retailer["budget"], retailer["plays"]
        if not retailer["without"]:
            del retailer["without"]
    if config.fork is not None:
        whole["fork"] = config.fork.model_dump(mode="json")
    return whole


def resolved(config: Config) -> dict[str, Any]:
    """The whole configuration with every default filled in; itself a configuration."""
    return config.model_dump(mode="json")


def rules(config: Config) -> Any:
    """The rules of an episode as the environment's own model."""
    return parse(registry.load(config.kind.rules), config.rules)


def seat_ids(config: Config) -> tuple[str, ...]:
    """The seats of the roster, in its order."""
    return seats_of(config.retailers)


def policy(config: Config, retailer: Retailer) -> tuple[str, dict[str, Any]]:
    """What makes a retailer's policy.

    Returns:
        The `module:Class` of the policy and its options as the class takes them: it is called as
        `Class(seat=..., seed=..., **options)`.
    """
    kind = config.kind
    model = options.options_model(options.policy_class(kind, retailer.policy))
    return registry.policy_path(kind, retailer.policy), fields(parse(model, retailer.options))


def seats_of(retailers: Sequence[Retailer]) -> tuple[str, ...]:
    """The seats that some retailers fill.

    Raises:
        ValueError: If two seats have one id.
    """
    return seats.seat_ids(
        [{"name": each.name, "count": each.count, "without": each.without} for each in retailers]
    )


def parse(model: type[M], data: Any) -> M:
    """Check plain data against a model.

    Raises:
        pydantic.ValidationError: If it does not fit.
    """
    # As JSON, since what is strict there is what is strict in YAML: a list is a fine tuple and a
    # text a fine enum, yet "6" is no 6. And in canonical order, as a replay will read it.
    return model.model_validate_json(canonical.dumps(data), strict=True)


def fields(model: BaseModel) -> dict[str, Any]:
    """The fields of a checked model as Python holds them."""
    return {name: getattr(model, name) for name in type(model).model_fields}


_RECORDED = {"environment", "seed", "rules", "retailers", "encoder"}


def _without(value: Any, keys: frozenset[str]) -> Any:
    if isinstance(value, dict):
        return {key: _without(each, keys) for key, each in value.items() if key not in keys}
    return value
