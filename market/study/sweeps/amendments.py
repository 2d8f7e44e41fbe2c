"""A study that was given more seeds or repetitions after it was begun.

Question and plan are written down before the first episode, and a study is bound to them. More
seeds or repetitions are the one change that keeps all that was played, since episodes keep their
ids and their games. It is not harmless: who looks at results and adds seeds until an interval
leaves zero out finds differences that are not there. So it is done where it is asked for and only
there, stands beside the plan for good, and is told wherever results are.

Parts were cut for the plan that they were played for. What an amendment adds is cut by itself and
numbered on, so that every part stays what it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from market.config.plans import seeds_of
from market.config.schema import Config
from market.config.tournament import Seeds
from market.journal import ConfigChangedError, Header
from market.study.recording import StudyError

#: What may be amended.
KEYS = ("study.seeds", "study.repetitions")


@dataclass(frozen=True, slots=True)
class Plan:
    """What an amendment changes: seeds as they are configured, how many, and repetitions."""

    sha256: str
    seeds: Any
    count: int
    repetitions: int


@dataclass(frozen=True, slots=True)
class Amendment:
    """One extension of a study.

    Attributes:
        before: The plan until then.
        after: The plan from then on.
        played: Episodes that were played by then: results that could be seen.
    """

    before: Plan
    after: Plan
    played: int

    @property
    def sentence(self) -> str:
        """What happened, for people."""
        parts = [
            f"from {one:,} to {other:,} {what}"
            for one, other, what in (
                (self.before.count, self.after.count, "seeds"),
                (self.before.repetitions, self.after.repetitions, "repetitions"),
            )
            if one != other
        ]
        when = (
            f"after results were seen ({self.played:,} episodes)"
            if self.played
            else "before anything was played"
        )
        return f"Extended {' and '.join(parts)} {when}."

    def json(self) -> dict[str, Any]:
        """As it stands in `study.json` and `summary.json`."""
        return {
            "before": _plain(self.before),
            "after": _plain(self.after),
            "played": self.played,
            "sentence": self.sentence,
        }


def amendments(told: Mapping[str, Any]) -> tuple[Amendment, ...]:
    """Those that `study.json` holds, the first one first."""
    return tuple(
        Amendment(Plan(**each["before"]), Plan(**each["after"]), each["played"])
        for each in told.get("amendments", ())
    )


def amend(path: Path, told: Header, asked: Header, config: Config, played: int) -> Amendment:
    """Extend a study.

    Args:
        path: Its `study.json`.
        told: What it is bound to.
        asked: What it is to be bound to.
        config: The configuration of that.
        played: Episodes that were played.

    Raises:
        StudyError: If there would be nothing new, or something would be lost.
        market.journal.ConfigChangedError: If anything but seeds and repetitions would change.
    """
    keys = told.differences(asked)
    if other := tuple(key for key in keys if not key.startswith(KEYS)):
        raise ConfigChangedError(path, other, "--extend adds seeds and repetitions only")
    if not keys:
        raise StudyError(f"{path} has these seeds and repetitions already; ask for more of them")
    study = told.config["study"]
    earlier = _staged(config, study["seeds"], study["repetitions"])
    before, after = (_seeds(each) for each in (earlier, config))
    assert config.study is not None
    if set(before) - set(after) or study["repetitions"] > config.study.repetitions:
        raise StudyError(
            f"{path} was begun with {len(before):,} seeds from {before[0]} on and "
            f"{study['repetitions']:,} repetitions; --extend keeps all of them and adds others"
        )
    seeds = asked.config["study"]["seeds"]
    return Amendment(
        Plan(told.config_digest, study["seeds"], len(before), study["repetitions"]),
        Plan(asked.config_digest, seeds, len(after), config.study.repetitions),
        played,
    )


def stages(config: Config, made: Iterable[Amendment]) -> list[Config]:
    """The configurations that a study had, the last one being what it is given."""
    earlier = [_staged(config, each.before.seeds, each.before.repetitions) for each in made]
    return [*earlier, config]


def _staged(config: Config, seeds: Any, repetitions: int) -> Config:
    assert config.study is not None
    given = Seeds(**seeds) if isinstance(seeds, Mapping) else seeds
    study = config.study.model_copy(update={"seeds": given, "repetitions": repetitions})
    return config.model_copy(update={"study": study})


def _seeds(config: Config) -> list[int]:
    assert config.study is not None
    return list(seeds_of(config, config.study))


def _plain(plan: Plan) -> dict[str, Any]:
    return {name: getattr(plan, name) for name in Plan.__slots__}
