from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest
from rich.console import Console

from actors.budget import owners
from actors.progress.live import results
from actors.summary import summarise
from market import canonical
from market.calls import Outcome
from market.config import Config, configure, expand, resolved
from market.journal import journal_digest
from market.journal import read as read_journal
from tests.actors.progress.test_status import TOURNAMENT, call, log, play

RETAILERS = [{"name": "a", "policy": "idle", "count": 2}, {"name": "b", "policy": "idle"}]


def tournament(rosters: list[str], **more: object) -> Config:
    section = {"rosters": rosters, "seeds": 3}
    return configure(TOURNAMENT | {"retailers": RETAILERS, "tournament": section} | more)


def played(folder: Path, config: Config, episodes: int | None = None) -> dict:
    """Record the first episodes of a tournament and sum them up."""
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(resolved(config)))
    for plan in expand(config)[:episodes]:
        play(folder, plan)
    return summed(folder, config)


def summed(folder: Path, config: Config, seconds: float = 1.0) -> dict:
    seats = [
        {"seat": seat, "policy": each.policy, "model": None}
        for each in config.retailers
        for seat in each.seats
    ]
    return summarise(folder, config, seats, seconds)


MODELS = [
    {"name": "a", "policy": "llm", "count": 2, "options": {"model": "openai/gpt"}},
    {"name": "b", "policy": "idle"},
]


def told(summary: dict) -> str:
    console = Console(width=120)
    with console.capture() as captured:
        console.print(results(summary))
    return captured.get()


def test_retailers_of_a_tournament_are_summed_up_per_entry_and_seat(tmp_path: Path) -> None:
    config = tournament(["all", "leave-one-out"])
    summary = played(tmp_path, config)
    entries = {entry["name"]: entry for entry in summary["retailers"]}
    assert list(entries["a"]["seats"]) == ["a-1", "a-2"]
    # One roster of four is without b; one each without a seat of a.
    assert (entries["a"]["episodes"], entries["b"]["episodes"]) == (12, 9)
    assert entries["a"]["seats"]["a-1"]["episodes"] == 9
    assert entries["a"]["seeds"] == 3
    assert summary["episodes"] == 12
    assert summary["states"]["finished"] == 12
    assert summary["rosters"] == ["all", "without-a-1", "without-a-2", "without-b"]


def test_retailers_in_neutral_seats_are_summed_up_by_their_own_names(tmp_path: Path) -> None:
    config = tournament(["latin"])
    entries = {entry["name"]: entry for entry in played(tmp_path, config)["retailers"]}
    assert entries.keys() == {"a", "b"}
    assert list(entries["b"]["seats"]) == ["seat-3", "seat-2", "seat-1"]
    assert owners(expand(config)[0].config) == {"seat-1": "a", "seat-2": "a", "seat-3": "b"}


def test_scores_are_those_of_the_journals(tmp_path: Path) -> None:
    config = tournament(["all"])
    summary = played(tmp_path, config)
    scores = []
    for path in tmp_path.glob("episodes/*/journal.jsonl"):
        result = read_journal(path).result
        assert result is not None
        scores.append(result.seats["b"].score)
    (entry,) = [entry for entry in summary["retailers"] if entry["name"] == "b"]
    assert entry["score"] == pytest.approx(fmean(scores))


def test_the_digest_is_that_of_the_sorted_list(tmp_path: Path) -> None:
    summary = played(tmp_path, tournament(["all"]))
    digests = sorted(map(journal_digest, tmp_path.glob("episodes/*/journal.jsonl")))
    assert len(digests) == 3
    assert summary["journal_digest"] == canonical.digest(canonical.dumps(digests))


def test_what_is_not_finished_is_counted_and_not_averaged(tmp_path: Path) -> None:
    config = tournament(["all"])
    play(tmp_path, expand(config)[2], batches=2)
    summary = played(tmp_path, config, episodes=1)
    assert summary["states"] == {
        "finished": 1,
        "running": 0,
        "owed": 1,
        "failed": 0,
        "not begun": 1,
    }
    assert summary["episodes"] == 1
    assert summary["retailers"][0]["score_error"] is None
    assert "1 owed, 1 not begun: means are of the others." in told(summary)


def test_the_leaderboard_shows_means_and_says_what_they_are_worth(tmp_path: Path) -> None:
    summary = played(tmp_path, tournament(["all"]))
    text = told(summary)
    assert "mean score" in text
    assert "95% interval" in text
    assert "a rank holds in this company only" in text


def test_with_several_rosters_the_leaderboard_asks_to_compare_within_them(tmp_path: Path) -> None:
    text = told(played(tmp_path, tournament(["all", "leave-one-out"])))
    assert "in this company only" not in text
    assert "Means are over 4 rosters" in text


def test_one_episode_is_summed_up_as_ever(tmp_path: Path) -> None:
    config = tournament(["all"], tournament=None)
    summary = played(tmp_path, config)
    assert [entry["seat"] for entry in summary["retailers"]] == ["a-1", "a-2", "b"]
    assert summary["episodes"] == 1
    assert "states" not in summary
    (path,) = tmp_path.glob("episodes/*/journal.jsonl")
    assert summary["journal_digest"] == journal_digest(path)


@pytest.mark.parametrize("section", [None, {"seeds": [0]}])
def test_what_was_not_asked_for_is_not_counted(tmp_path: Path, section: object) -> None:
    config = tournament(["all"], tournament=section)
    calm = played(tmp_path / "calm", config)
    other = tournament(["all"], tournament={"seeds": [8]})
    log(play(tmp_path / "run", expand(other)[0]), call(Outcome.REPLIED))
    found = played(tmp_path / "run", config)
    for summary in (calm, found):
        summary.pop("states", None)  # these are those of `market status`, which tells of all
    assert found == calm


def test_answers_from_the_cache_are_told_apart_and_take_nothing(tmp_path: Path) -> None:
    config = tournament(["all"], tournament=None, retailers=MODELS)
    path = tmp_path / "episodes" / "seed-0" / "journal.jsonl"
    path.parent.mkdir(parents=True)
    seat = {"seat": "a-1"}
    first, again = call(Outcome.REPLIED), call(Outcome.REPLIED, 1, 0.0, cached=True)
    log(path, replace(first, **seat), replace(again, **seat))
    summary = played(tmp_path, config)
    spent = {
        "calls": 1,
        "calls_cached": 1,
        "calls_lost": 0,
        "tokens": {"prompt": 100, "completion": 20},
        "cost_usd": 0.25,
    }
    assert summary.items() >= spent.items()
    assert next(e["spend"] for e in summary["retailers"] if e["name"] == "a-1") == spent
    line = "Spent: 1 model calls, 120 tokens, $0.2500, 1 answers from the cache"
    assert line in told(summary)


@pytest.mark.parametrize(("section", "name"), [(None, "a-1"), ({"seeds": [0]}, "a")])
def test_what_a_damaged_log_holds_is_unknown_for_all_who_ask_models(
    tmp_path: Path, section: object, name: str
) -> None:
    config = tournament(["all"], tournament=section, retailers=MODELS)
    (plan,) = expand(config)
    path = tmp_path / "episodes" / plan.id / "calls.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("garbage\n")
    summary = played(tmp_path, config)
    unknown = {"tokens": {"prompt": None, "completion": None}, "cost_usd": None}
    assert summary.items() >= unknown.items()
    spent = {entry["name"]: entry["spend"] for entry in summary["retailers"]}
    assert spent[name].items() >= unknown.items()
    assert spent["b"]["cost_usd"] == 0


def test_the_time_of_play_is_what_is_known_or_more_if_a_log_says_so(tmp_path: Path) -> None:
    config = tournament(["all"], tournament=None)
    assert played(tmp_path, config)["wall_seconds"] == 1.0
    path = tmp_path / "episodes" / "seed-0" / "journal.jsonl"
    log(path, call(Outcome.REPLIED, played=60.5))
    assert summed(tmp_path, config)["wall_seconds"] == 60.5
    path.with_name("calls.jsonl").unlink()
    assert summed(tmp_path, config, 0.0)["wall_seconds"] is None
