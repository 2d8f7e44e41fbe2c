"""Forks and swaps as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from actors.cli import app
from actors.errors import UserError
from actors.forking import play, recorded_episode
from actors.progress.audience import OneEpisode
from actors.progress.live import watcher
from actors.progress.status import State, status
from actors.retailer import Ask, Casting, Retailers, Said, Stage
from actors.roster import roster
from actors.run import run
from actors.swapping import as_text
from market.calls import read_calls
from market.config import load
from market.config.plans import expand
from market.environment import Form
from market.journal import read
from market.replay import verify
from market.rng import ForkedSeed
from market.study.interventions.fork import ORIGINAL, SWAPPED, Swap, arms
from market.study.interventions.swap import Difference, Swapped

ROSTER = (
    "retailers=[{name: markup, policy: markup, count: 2}, {name: under, policy: undercutter}, "
    "{name: zi, policy: zi-constrained}]"
)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small run, and of nothing but words that mean nothing."""
    out = tmp_path_factory.mktemp("runs") / "one"
    settings = ["rules.steps=3", "rules.attention.similarity=none", "inline=true", ROSTER]
    config = load("arena/default", settings, seed=4)
    with watcher() as watching:
        run(config, out, OneEpisode(watching))
    return out


def market(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_a_swap_is_told_with_its_first_difference(played: Path) -> None:
    told = market("replay", played, "--swap", "markup-1=markup", "--option", "markup=0.4")
    assert told.exit_code == 0, told.output
    assert "first difference is at step 1, turn 2 (sell of markup-1)" in told.stdout
    assert "Only the difference of step 1 is caused by the swap" in told.stdout


def test_figures_of_a_swap_are_told_to_the_hundredth() -> None:
    scores = {"a": (39200.0, 38957.8199999999997)}
    first = Difference(1, 0, "bid", "a")
    found = Swapped("e1", "a", "idle", False, first, {"a": {}}, scores, {}, {}, (), (1, 1))
    assert "score 38,957.82 instead of 39,200.0 (-242.18)\n" in as_text([found])


def test_a_swap_by_the_recording_changes_nothing(played: Path) -> None:
    told = market("replay", played, "--swap", "markup-1=replay")
    assert "the game is the recorded one, to the byte" in told.stdout


def test_a_swap_is_told_to_programs(played: Path) -> None:
    told = market("replay", played, "--swap", "under=idle", "--live", "--json")
    (found,) = json.loads(told.stdout)
    assert found["first_difference"] == {"step": 1, "turn": 0, "kind": "bid", "seat": "under"}
    assert found["live"] is True
    assert set(found["scores"]) == {"markup-1", "markup-2", "under", "zi"}
    assert "caused by the swap" in found["note"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["replay", "--swap", "markup-1"], "write `seat=policy`"),
        (["replay", "--swap", "nobody=idle"], "no seat `nobody`"),
        (["replay", "--swap", "under=nonsense"], "no policy `nonsense`"),
        (["replay", "--swap", "under=markup", "--option", "markup"], "write `key=value`"),
        (["replay", "--live"], "belong to --swap"),
        (["fork", "--step", "9", "--out", "new"], "no step 9"),
        (["fork", "--step", "2", "--episode", "other", "--out", "new"], "no episode `other`"),
        (["fork", "--step", "2", "--swap", "x=idle", "--out", "new"], "no seat `x`"),
    ],
)
def test_a_mistake_is_told_in_a_sentence_and_leaves_nothing(
    played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    told = market(arguments[0], played, *arguments[1:])
    assert told.exit_code == 2
    assert said in told.stderr
    assert told.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_fork_is_a_run_like_any_other(played: Path, tmp_path: Path) -> None:
    config, journal = recorded_episode(played, None)
    for arm, asked in arms(config, journal, 2, 1, Swap("zi", "markup", {})).items():
        with watcher() as watching:
            outcome = play(asked, journal, tmp_path / arm, OneEpisode(watching))
        assert outcome.failed == ()
        assert outcome.owed is None
        (episode,) = status(tmp_path / arm).episodes
        assert (episode.state, episode.planned) == (State.FINISHED, True)
        path = tmp_path / arm / "episodes" / episode.id / "journal.jsonl"
        assert verify(path).finished
        assert not read_calls(path.with_name("calls.jsonl")).records
        past = [batch.answers for batch in read(journal).batches if batch.step < 2]
        assert [batch.answers for batch in read(path).batches][: len(past)] == past
    # Finished arms are not played again.
    (plan,) = expand(asked)
    before = path.read_bytes()
    with watcher() as watching:
        play(asked, journal, tmp_path / SWAPPED, OneEpisode(watching))
    assert path.read_bytes() == before
    assert plan.id == episode.id


def test_a_fork_is_not_begun_by_a_run(played: Path, tmp_path: Path) -> None:
    config, journal = recorded_episode(played, None)
    asked = arms(config, journal, 2, 1)[ORIGINAL]
    with watcher() as watching, pytest.raises(UserError, match="market fork"):
        run(asked, tmp_path / "new", OneEpisode(watching))
    assert not (tmp_path / "new").exists()


def test_policies_of_a_fork_have_its_luck_and_a_newcomer_its_step(played: Path) -> None:
    config, journal = recorded_episode(played, None)
    (plan,) = expand(arms(config, journal, 2, 1, Swap("under", "idle", {}))[SWAPPED])
    castings = {seat.casting.seat: seat.casting for seat in roster(plan.config)}
    assert {seat: casting.since for seat, casting in castings.items()} == {
        "markup-1": 0, "markup-2": 0, "under": 2, "zi": 0,
    }  # fmt: skip
    seed = castings["zi"].seed
    assert isinstance(seed, ForkedSeed)
    assert (int(seed), seed.step) == (4, 2)


def test_a_newcomer_is_told_nothing_of_the_steps_before_it_came() -> None:
    stage = Stage({}, {"bid": Form({}, None)})
    casting = Casting("a", "tests.actors.counting:Counting", {}, 1, since=2)
    hosted = Retailers([casting], stage)
    asks = [Ask(step, 0, {}, {"a": ("bid", {})}) for step in (1, 2, 3)]
    first = hosted.act(asks[1])["a"]
    assert isinstance(first, Said)
    hosted.restore({"a": [(asks[0], Said('{"action":"another\'s"}')), (asks[1], first)]})
    again = Retailers([casting], stage)
    again.act(asks[1])
    assert hosted.act(asks[2]) == again.act(asks[2])


@pytest.mark.slow
def test_a_fork_ends_with_a_table_of_paired_differences(played: Path, tmp_path: Path) -> None:
    out = tmp_path / "fork"
    told = market("fork", played, "--step", 2, "--seeds", 2, "--swap", "under=markup", "--out", out)
    assert told.exit_code == 0, told.output
    assert "difference" in told.stdout
    rows = json.loads((out / "outlook.json").read_text())["seats"]
    assert {row["seat"] for row in rows} == {"markup-1", "markup-2", "under", "zi"}
    assert all(row["difference"]["blocks"] == 2 for row in rows)
    assert market("status", out / ORIGINAL).exit_code == 0
    assert market("replay", out / SWAPPED).exit_code == 0
