from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from actors.progress.live import PlainWatcher, ranked, results, standings, watcher
from actors.progress.watch import Plan, Progress, Work

PLAN = Plan("small", "arena", (("a", "llm", "openai/x"), ("b", "markup", None)), 2)


def progress(step: int, a: int, b: int, **more: Any) -> Progress:
    rows = {"a": {"funds": 10, "profit": a}, "b": {"funds": 2_000, "profit": b}}
    told = {"turn": 0, "phase": "bid", "calls": 0, "tokens": 0, "cost_usd": 0.0, "seconds": 1.0}
    return Progress(step=step, steps=2, standings=rows, **(told | more))


def summary(**more: Any) -> dict[str, Any]:
    def retailer(seat: str, score: int, margin: float | None) -> dict[str, Any]:
        metrics = {"net_profit_margin": margin}
        return {"seat": seat, "policy": "p", "model": None, "score": score, "metrics": metrics}

    return {
        "retailers": [retailer("a", 5, None), retailer("b", 7_000, 0.25)],
        "indices": {"gini": 0.125, "hhi": None},
        "calls": 0,
        "tokens": {"prompt": 0, "completion": 0},
        "cost_usd": 0.0,
    } | more


def shown(what: Any) -> str:
    console = Console(file=io.StringIO(), width=120)
    console.print(what)
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_without_a_terminal_a_step_is_one_line_once_it_is_over() -> None:
    stream = io.StringIO()
    with watcher(stream) as watching:
        assert isinstance(watching, PlainWatcher)
        watching.started(PLAN)
        watching.progressed(progress(1, 0, 0))
        watching.progressed(progress(2, 3, -4))
        watching.progressed(progress(2, 5, 7_000, calls=2, tokens=1_500, cost_usd=None))
        watching.finished(summary())
    lines = stream.getvalue().splitlines()
    assert lines[:3] == [
        "small: arena, 2 retailers, 2 steps",
        "step 1/2, 1.0 s, first a (funds 10, profit 3)",
        "step 2/2, 1.0 s, 2 model calls, 1,500 tokens, cost unknown, 3,000 tokens in the end, "
        "first b (funds 2,000, profit 7,000)",
    ]
    assert "\x1b" not in stream.getvalue()


def test_a_forecast_is_what_was_spent_by_the_share_that_is_done() -> None:
    spent = {"calls": 4, "tokens": 1_000, "cost_usd": 0.25}
    assert "$0.2500, $1.0000 in the end" in shown(
        standings(PLAN, progress(1, 0, 0, turn=1, done=0.25, **spent))
    )
    assert "$0.2500, $0.5000 in the end" in shown(standings(PLAN, progress(2, 0, 0, **spent)))
    for unsure in ({"turn": 1}, {"phase": ""}, {"done": 1.0}):
        assert "in the end" not in shown(standings(PLAN, progress(2, 0, 0, **spent | unsure)))


def test_what_earlier_runs_did_is_no_pace() -> None:
    spent = {"calls": 4, "tokens": 1_000, "cost_usd": 1.0}
    now = progress(1, 0, 0, turn=1, done=0.75, **spent)
    # A quarter took 0.4 dollars, and one is left.
    assert "$1.0000, $1.4000 in the end" in shown(standings(PLAN, now, Work(0.5, 2, 600, 0.6)))
    unpaid = Work(0.5)  # as the past of a fork is
    assert "$1.0000, $2.0000 in the end" in shown(standings(PLAN, now, unpaid))


def test_the_best_stands_first() -> None:
    assert ranked({"a": {"profit": 1}, "b": {"profit": 2}}) == ["b", "a"]
    assert ranked({"a": {"score": 1}, "b": {"score": 2}}) == ["b", "a"]
    assert ranked({"b": {"cash": 1}, "a": {"cash": 2}}) == ["b", "a"]


def test_the_table_has_the_columns_of_the_environment() -> None:
    text = shown(standings(PLAN, progress(1, 0, 5)))
    assert "small: step 1/2, bid, 1.0 s" in text
    assert text.index("b ") < text.index("llm (openai/x)")
    assert "2,000" in text


def test_an_unknown_figure_is_no_zero() -> None:
    text = shown(results(summary(calls=3, tokens={"prompt": None, "completion": 4}, cost_usd=None)))
    assert text.index("7,000") < text.index(" 5 ")
    assert "gini 0.125" in text
    assert "hhi -" in text
    assert "Spent: 3 model calls, tokens unknown, cost unknown" in text


def test_a_narrow_terminal_keeps_names_and_scores() -> None:
    wide = shown(results(summary(), width=120))
    narrow = shown(results(summary(), width=60))
    assert "net profit" in wide
    assert "net profit" not in narrow
    assert "7,000" in narrow


def test_words_are_shown_as_they_are() -> None:
    plan = Plan("[red]x", "arena", (("a", "[bold]p", None),), 2)
    text = shown(standings(plan, progress(1, 0, 0)))
    assert "[red]x" in text
    assert "[bold]p" in text
