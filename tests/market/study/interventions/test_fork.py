from __future__ import annotations

from pathlib import Path

import pytest

from market.config import Config, ConfigError, configure, recorded
from market.config.plans import expand
from market.environment import OUTSIDE, Result, SeatResult
from market.journal import Header, JournalWriter, journal_digest, read
from market.play import scripts
from market.replay import Replay, ReplayError, replay, verify
from market.study.interventions.fork import ORIGINAL, SWAPPED, Swap, arms, begin, outlooks
from tests.market.arena.counterfactual.recordings import record
from tests.market.arena.games import facts

STEP = 3


@pytest.fixture(scope="module")
def market(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fork") / "journal.jsonl"
    return record(path, "arena/default", "rules.steps=4", seed=3)


def config_of(journal: Path) -> Config:
    return configure(read(journal).header.config)


def headers(config: Config) -> list[Header]:
    return [
        Header.of(recorded(plan.config), config.kind.rules_version, plan.id)
        for plan in expand(config)
    ]


def begun(journal: Path, folder: Path, config: Config) -> list[Path]:
    paths = []
    for header in headers(config):
        paths.append(folder / header.episode / "journal.jsonl")
        begin(journal, paths[-1], header)
    return paths


def finish(path: Path, config: Config) -> Path:
    """Go on with a journal as a run does, with scripts that need no memory."""
    so_far = replay(path)
    players = {**scripts(config, config.seed), OUTSIDE: facts}
    asked, environment = so_far.asked, so_far.environment
    with JournalWriter.reopen(path, so_far.header) as journal:
        while asked:
            given = {decision.seat: players[decision.seat](decision) for decision in asked}
            journal.append(asked, given)
            asked = environment.apply(given)
        journal.finish(environment.result)
    return path


def test_a_fork_begins_with_the_recorded_answers_and_says_where_they_are_from(
    market: Path, tmp_path: Path
) -> None:
    config = arms(config_of(market), market, STEP, seeds=2)[ORIGINAL]
    past = [batch for batch in read(market).batches if batch.step < STEP]
    for seed, path in enumerate(begun(market, tmp_path, config), start=1):
        found = read(path)
        assert found.header.config["fork"] == {
            "journal": journal_digest(market), "step": STEP, "seed": seed, "taken": [],
        }  # fmt: skip
        assert [batch.answers for batch in found.batches] == [batch.answers for batch in past]
        assert replay(path).asked[0].step == STEP
        assert list(path.parent.iterdir()) == [path]


def sales(path: Path) -> dict[int, list[tuple[str, str, int]]]:
    """Units asked of each offer, by step."""
    found: dict[int, list[tuple[str, str, int]]] = {}
    for moment in Replay(path):
        for row in moment.events:
            if row.table == "offers":
                found.setdefault(row.step, []).append((row.seat, row.item, row.asked))  # type: ignore[attr-defined]
    return found


def test_luck_is_the_recorded_one_up_to_the_step_and_then_of_each_repetition(
    market: Path, tmp_path: Path
) -> None:
    roster = "retailers=[{name: a, policy: markup}, {name: b, policy: undercutter}]"
    journal = record(tmp_path / "duel.jsonl", "arena/default", "rules.steps=4", roster)
    config = arms(config_of(journal), journal, STEP, seeds=2)[ORIGINAL]
    one, other = (finish(path, config) for path in begun(journal, tmp_path, config))
    past, ours, theirs = sales(journal), sales(one), sales(other)
    for step in range(1, STEP):
        assert ours[step] == theirs[step] == past[step]
    assert len({tuple(each[STEP]) for each in (past, ours, theirs)}) == 3
    assert verify(one).finished


def test_a_seat_taken_over_by_its_own_policy_changes_nothing(market: Path, tmp_path: Path) -> None:
    roster = "retailers=[{name: a, policy: markup, count: 3}, {name: b, policy: clearing}]"
    journal = record(tmp_path / "four.jsonl", "arena/default", "rules.steps=4", roster)
    made = arms(config_of(journal), journal, STEP, 3, Swap("a-2", "markup", {}))
    finished = {
        arm: [finish(path, config) for path in begun(journal, tmp_path / arm, config)]
        for arm, config in made.items()
    }
    for outlook in outlooks(journal, finished[ORIGINAL], finished[SWAPPED]):
        assert outlook.difference is not None
        assert (outlook.difference.value, outlook.difference.blocks) == (0, 3)
        assert outlook.original == outlook.swapped


def test_the_swapped_arm_keeps_every_seat_in_its_place(market: Path) -> None:
    made = arms(config_of(market), market, STEP, 1, Swap("markup-2", "undercutter", {}))
    (plain,), (swapped,) = (expand(made[arm]) for arm in (ORIGINAL, SWAPPED))
    seats = [[s for r in plan.config.retailers for s in r.seats] for plan in (plain, swapped)]
    assert seats[0] == seats[1]
    policies = {s: r.policy for r in swapped.config.retailers for s in r.seats}
    assert (policies["markup-1"], policies["markup-2"]) == ("markup", "undercutter")
    assert swapped.config.fork is not None
    assert swapped.config.fork.taken == ["markup-2"]
    assert plain.config.fork == swapped.config.fork.model_copy(update={"taken": []})


@pytest.mark.parametrize("step", [5, 9])
def test_a_step_that_was_never_reached_is_no_place_to_fork(
    market: Path, tmp_path: Path, step: int
) -> None:
    with pytest.raises(ConfigError, match=f"step {step}"):
        arms(config_of(market), market, step, seeds=1)


def test_a_recording_of_another_game_is_refused(market: Path, tmp_path: Path) -> None:
    other = record(tmp_path / "other.jsonl", "arena/default", "rules.steps=4", seed=4)
    with pytest.raises(ConfigError, match="seed"):
        arms(config_of(market), other, STEP, seeds=1)
    (header,) = headers(arms(config_of(market), market, STEP, seeds=1)[ORIGINAL])
    with pytest.raises(ReplayError, match="something else"):
        begin(other, tmp_path / "fork" / "journal.jsonl", header)
    assert not list((tmp_path / "fork").iterdir())


def test_a_fork_is_not_forked_again(market: Path, tmp_path: Path) -> None:
    config = arms(config_of(market), market, STEP, seeds=1)[ORIGINAL]
    (path,) = begun(market, tmp_path, config)
    with pytest.raises(ConfigError, match="is a fork itself"):
        arms(config_of(path), path, STEP, seeds=1)


def fabricated(path: Path, seed: int, scores: dict[str, int]) -> Path:
    """A journal of nothing but a result."""
    config = {"environment": "arena", "seed": 0, "fork": {"seed": seed}}
    seats = {seat: SeatResult(score, {}) for seat, score in scores.items()}
    with JournalWriter.create(path, Header.of(config, 1, path.stem)) as journal:
        journal.finish(Result(seats))
    return path


def test_differences_are_taken_in_pairs_of_equal_luck(tmp_path: Path) -> None:
    past = fabricated(tmp_path / "past", 0, {"a": 7, "b": 9})
    ours = [fabricated(tmp_path / f"o{k}", k, {"a": 10 * k, "b": 5}) for k in (1, 2, 3)]
    theirs = [fabricated(tmp_path / f"s{k}", k, {"a": 10 * k + d, "b": 5})
              for k, d in ((4, 99), (3, 1), (2, 2), (1, 3))]  # fmt: skip
    a, b = outlooks(past, ours, theirs)
    assert (a.seat, a.recorded, a.original.value) == ("a", 7, 20)
    assert a.swapped is not None
    assert a.difference is not None
    assert a.swapped.value == 22
    # Differences 3, 2 and 1: mean 2, standard error 1/sqrt(3), t(2) = 4.3027.
    assert a.difference.value == 2
    assert a.difference.low == pytest.approx(2 - 4.3027 / 3**0.5, abs=1e-3)
    assert b.difference is not None
    assert (b.difference.value, b.difference.low) == (0, 0)


def test_without_a_swap_there_is_no_difference(tmp_path: Path) -> None:
    past = fabricated(tmp_path / "past", 0, {"a": 7})
    (only,) = outlooks(past, [fabricated(tmp_path / "o1", 1, {"a": 4})])
    assert only.swapped is only.difference is None
    assert (only.original.value, only.original.low) == (4, None)
