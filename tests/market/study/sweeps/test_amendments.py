"""What may be added to a study that was begun, and what that leaves of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from market.config import Config
from market.journal import ConfigChangedError
from market.study import StudyError
from market.study.sweeps.amendments import Amendment, amend, amendments
from market.study.sweeps.plan import Unit, described, plan, registered
from tests.market.study.sweeps.swept import study

WHERE = Path("study.json")


def amended(before: Config, after: Config, played: int = 8) -> Amendment:
    return amend(WHERE, registered(before), registered(after), after, played)


def units(config: Config, *made: Amendment) -> list[Unit]:
    return [unit for shard in plan(config, made).shards for unit in shard.units]


def test_what_is_added_is_cut_by_itself_and_numbered_on() -> None:
    before, after = study(), study("study.seeds=6")
    made = amended(before, after)
    old, new = plan(before), plan(after, (made,))
    assert new.shards[: len(old.shards)] == old.shards
    assert [shard.number for shard in new.shards] == list(range(len(new.shards)))
    assert sorted(map(repr, units(after, made))) == sorted(map(repr, units(after)))
    assert new.units == 2 * 6


def test_a_study_can_be_extended_again_by_repetitions() -> None:
    first, second = study("study.seeds=[3, 1]"), study("study.seeds=[1, 2, 3]")
    third = study("study.seeds=[1, 2, 3]", "study.repetitions=2")
    made = (amended(first, second, 0), amended(second, third))
    assert len(units(third, *made)) == len(set(units(third, *made))) == 2 * 3 * 2
    assert plan(third, made).shards[:4] == plan(first).shards
    assert made[0].sentence == "Extended from 2 to 3 seeds before anything was played."
    assert made[1].sentence == (
        "Extended from 1 to 2 repetitions after results were seen (8 episodes)."
    )
    told = described(plan(third, made))
    assert amendments(told) == made
    assert told["amendments"][0]["after"]["sha256"] == told["amendments"][1]["before"]["sha256"]
    assert told["primary_and_plan_sha256"] == made[1].after.sha256


def test_a_study_that_was_never_extended_says_nothing_of_it() -> None:
    assert "amendments" not in described(plan(study()))


@pytest.mark.parametrize(
    "change",
    ["study.seeds=3", "study.seeds={first: 2, count: 9}", "study.repetitions=1", "study.seeds=[7]"],
)
def test_nothing_that_was_planned_is_lost(change: str) -> None:
    before = study("study.repetitions=2")
    with pytest.raises(StudyError, match="keeps all of them and adds others"):
        amended(before, study("study.repetitions=2", change))


def test_an_extension_by_nothing_is_refused() -> None:
    with pytest.raises(StudyError, match="has these seeds and repetitions already"):
        amended(study(), study())


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ("study.primary=score", "study.primary"),
        ("study.vary={rules.attention.tau: [1.0, 0.5, 0.2]}", "study.vary.rules.attention.tau"),
        ("rules.steps=3", "rules.steps"),
        ("seed=5", "seed"),
    ],
)
def test_question_design_and_rules_are_not_amended(change: str, key: str) -> None:
    with pytest.raises(ConfigChangedError, match="adds seeds and repetitions only") as caught:
        amended(study(), study("study.seeds=9", change))
    assert key in caught.value.keys
