from __future__ import annotations

from market.config import Config, load
from market.study.sweeps.plan import (
    SHARD_SEATS,
    SHARD_UNITS,
    Sweep,
    plan,
    plans_of,
    registered,
    unit_id,
)


def study(*overrides: str) -> Config:
    return load(
        "arena/paper",
        ["study.primary=profit", "study.vary={rules.attention.tau: [1.0, 0.5]}", *overrides],
    )


def ids(sweep: Sweep) -> list[str]:
    return [
        unit_id(sweep.cells[unit.cell], unit.episode)
        for shard in sweep.shards
        for unit in shard.units
    ]


def test_every_cell_roster_seed_and_repetition_is_played_once() -> None:
    found = ids(plan(study("study.seeds=3", "study.repetitions=2", "study.rosters=[self-play]")))
    assert len(found) == len(set(found)) == 2 * 8 * 3 * 2
    assert "tau-1.0.self-zi-x20.seed-3.rep-2" in found


def test_a_larger_study_has_the_units_that_it_had() -> None:
    small = set(ids(plan(study("study.seeds=2"))))
    more = plan(
        study(
            "study.seeds=4",
            "study.vary={rules.attention.tau: [1.0, 0.5, 0.2]}",
            "study.rosters=[all, self-play]",
            "study.repetitions=2",
        )
    )
    assert small < set(ids(more))


def test_seeds_come_one_after_the_other_each_with_all_cells() -> None:
    found = ids(plan(study("study.seeds=2")))
    assert found == [
        "tau-1.0.all.seed-1.rep-1",
        "tau-0.5.all.seed-1.rep-1",
        "tau-1.0.all.seed-2.rep-1",
        "tau-0.5.all.seed-2.rep-1",
    ]


def test_parts_are_bounded_by_episodes_and_by_seats() -> None:
    many = plan(study("study.seeds=3000"))
    assert max(len(shard.units) for shard in many.shards) == SHARD_UNITS
    large = plan(study("study.seeds=300", "retailers.0.count=1000"))
    seats = [sum(unit.seats for unit in shard.units) for shard in large.shards]
    assert max(seats) <= SHARD_SEATS
    assert [shard.number for shard in large.shards] == list(range(len(large.shards)))


def test_a_unit_is_an_episode_of_its_cells_tournament() -> None:
    config = study("study.seeds=2")
    sweep = plan(config)
    unit = sweep.shards[-1].units[-1]
    episode = plans_of(config, sweep.cells[unit.cell])[unit.episode]
    assert episode.config.rules["attention"]["tau"] == 0.5
    assert (episode.seed, episode.config.seed) == (2, 2)
    assert episode.config.study is None
    assert unit.seats == 20


def test_cells_that_change_the_retailers_have_their_own_episodes() -> None:
    config = study("study.vary={retailers.0.count: [1, 3]}", "study.rosters=[leave-one-out]")
    assert len(ids(plan(config))) == 18 + 20


def test_what_is_registered_changes_with_question_and_plan_and_with_nothing_else() -> None:
    digest = registered(study()).config_digest
    assert registered(study("inline=true", "deadline_seconds=3")).config_digest == digest
    assert registered(study("study.power={deviation: 3.0}")).config_digest == digest
    for other in (
        "study.primary=score",
        "study.seeds=2",
        "study.outcomes=[score]",
        "rules.steps=2",
        "study.vary={rules.attention.tau: [1.0, 0.4]}",
    ):
        assert registered(study(other)).config_digest != digest
