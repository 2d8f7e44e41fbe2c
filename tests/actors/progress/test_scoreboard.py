"""What is seen of a tournament while it is played: how far it is and what it will have cost."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from actors.driver import Played
from actors.progress.earlier import earlier
from actors.progress.scoreboard import Scoreboard
from actors.progress.watch import Plan, Progress, Work
from actors.run import run
from actors.tournament import Ended
from market.config import configure
from market.config.plans import EpisodePlan, expand
from market.config.tournament import Seeds, Tournament
from tests.actors.test_ray import RULES

CONFIG = configure(
    {
        "environment": "arena",
        "rules": RULES,
        "inline": True,
        "retailers": [{"name": "markup", "policy": "markup", "count": 2}],
    }
)


def progress(step: int, turn: int = 0, cost: float | None = 0.0, **more: Any) -> Progress:
    told = {"phase": "bid", "standings": {}, "seconds": 1.0, "calls": 5, "tokens": 1_000}
    return Progress(step=step, steps=4, turn=turn, cost_usd=cost, **{**told, **more})


def board() -> tuple[Scoreboard, list[float]]:
    now = [0.0]
    return Scoreboard(2, lambda _: None, lambda _: None, lambda: now[0]), now


def over(plan: EpisodePlan) -> Ended:
    return Ended(plan, Played(None, None))


def test_the_share_is_of_decisions_and_else_of_steps_that_are_over() -> None:
    shown, _ = board()
    shown.progressed("a", progress(3))
    assert shown.share == pytest.approx(0.25)
    shown.progressed("a", progress(3, turn=1))
    assert shown.share == pytest.approx(0.25)
    shown.progressed("b", progress(1, turn=1, done=0.1))
    assert shown.share == pytest.approx(0.3)


def test_the_line_tells_what_all_will_have_cost() -> None:
    shown, now = board()
    now[0] = 60.0
    (plan,) = expand(CONFIG)
    shown.progressed(plan.id, progress(4, phase="", cost=0.5, done=1.0))
    shown.ended(over(plan))
    shown.progressed("b", progress(1, turn=1, cost=0.25, done=0.5))
    assert shown.line() == (
        "1/2 episodes, 1:00 so far, 0:20 to go, 10 model calls, 2,000 tokens, $0.7500, "
        "$1.0000 in the end"
    )


def test_where_a_price_is_unknown_tokens_are_forecast() -> None:
    shown, _ = board()
    shown.progressed("a", progress(1, turn=1, cost=None, done=0.5))
    assert shown.line().endswith("1,000 tokens, cost unknown, 4,000 tokens in the end")


def test_a_tournament_that_goes_on_forecasts_what_is_left_at_the_pace_of_now() -> None:
    plans = expand(CONFIG.model_copy(update={"tournament": Tournament(seeds=Seeds(count=4))}))
    before = {
        plans[0].id: Work(1.0, 5, 1_000, 1.0),
        plans[1].id: Work(1.0, 5, 1_000, 1.0),
        plans[2].id: Work(0.5, 5, 500, 0.5),
    }
    now = [0.0]
    shown = Scoreboard(4, lambda _: None, lambda _: None, lambda: now[0], before)
    assert shown.line() == ("2/4 episodes, 0:00 so far, 15 model calls, 2,500 tokens, $2.5000")
    now[0] = 60.0
    shown.progressed(plans[2].id, None)
    assert shown.share == pytest.approx(2.5 / 4)
    shown.progressed(plans[2].id, progress(4, phase="", cost=1.5, done=1.0))
    shown.ended(over(plans[2]))
    # Half an episode took a minute and a dollar; one is left.
    assert shown.line() == (
        "3/4 episodes, 1:00 so far, 2:00 to go, 15 model calls, 3,000 tokens, $3.5000, "
        "$5.5000 in the end"
    )


def test_of_an_episode_that_is_owed_or_failed_only_what_was_played_is_done() -> None:
    plans = expand(CONFIG.model_copy(update={"tournament": Tournament(seeds=Seeds(count=3))}))
    now = [0.0]
    shown = Scoreboard(3, lambda _: None, lambda _: None, lambda: now[0])
    now[0] = 60.0
    for plan in plans:
        shown.progressed(plan.id, progress(3, turn=1, cost=None, done=0.5))
    shown.ended(Ended(plans[0], Played(None, "no room in the budget")))
    shown.ended(Ended(plans[1], None, "the disk is full"))
    shown.ended(over(plans[2]))
    assert shown.share == pytest.approx(2 / 3)
    assert shown.line() == (
        "1/3 episodes, 1 owed, 1 failed, 1:00 so far, 0:30 to go, 15 model calls, 3,000 tokens, "
        "cost unknown, 4,500 tokens in the end"
    )


def test_what_was_done_before_is_read_from_the_records(tmp_path: Path) -> None:
    config = CONFIG.model_copy(update={"tournament": Tournament(seeds=Seeds(count=3))})
    plans = expand(config)
    run(config, tmp_path / "run", Listening())
    unfinished = tmp_path / "run" / "episodes" / plans[1].id / "journal.jsonl"
    lines = unfinished.read_bytes().splitlines(keepends=True)
    unfinished.write_bytes(b"".join(lines[: 1 + (len(lines) - 2) * 2 // 3]))
    shutil.rmtree(tmp_path / "run" / "episodes" / plans[2].id)
    found = earlier(plans, tmp_path / "run")
    assert {name: work.share for name, work in found.items()} == {
        plans[0].id: 1.0,
        plans[1].id: pytest.approx(1 / 3),
    }


class Listening:
    """An audience that keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[Progress] = []

    def watch(self, plan: EpisodePlan) -> Listening:
        return self

    def ended(self, ended: Ended) -> None: ...

    def started(self, plan: Plan) -> None: ...

    def progressed(self, progress: Progress) -> None:
        self.told.append(progress)

    def finished(self, summary: Mapping[str, Any]) -> None: ...


def test_an_episode_says_how_much_of_it_is_decided(tmp_path: Path) -> None:
    listening = Listening()
    run(CONFIG, tmp_path / "run", listening)
    # Two rounds of bids and one of prices in each of three steps; facts are no decisions.
    shares = list(dict.fromkeys(one.done for one in listening.told))
    assert shares == pytest.approx([n / 9 for n in range(1, 10)])
