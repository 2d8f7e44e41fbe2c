"""What is seen of a tournament while it is played: how far it is and what it will have cost."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from actors.driver import Played
from actors.run import run
from actors.scoreboard import Scoreboard
from actors.tournament import Ended
from actors.watch import Plan, Progress
from market.config import configure
from market.config.plans import EpisodePlan, expand
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
