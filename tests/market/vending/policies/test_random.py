from __future__ import annotations

from collections import Counter

from market.environment import Answer
from market.registry import environment_kind, policy_path
from market.testing import policy_test
from market.vending.policies.random import Random
from tests.market.vending.operations import SMALL, paper, playing


def test_it_keeps_what_is_asked_of_every_policy() -> None:
    kind = environment_kind("vending")
    assert policy_path(kind, "random") == "market.vending.policies.random:Random"
    policy_test(Random, kind, {**SMALL, "days": 8}, ("a", "b"), seed=1)


def test_it_names_real_products_and_machines_and_is_rarely_refused() -> None:
    played = playing(paper(days=40), {"a": Random("a", 2).act}, events=True)
    calls = played.rows("tool_calls")
    assert not [row.error for row in calls if row.error]
    done: Counter[str] = Counter()
    for row in calls:
        done[row.tool] += row.done or 0
    assert min(done[tool] for tool in ("order_stock", "load_machine", "set_prices")) > 20
    metrics = played.environment.result.seats["a"].metrics
    assert metrics["rejected"] < done.total() / 5
    assert metrics["units_sold"] > 0


def test_it_never_sells_what_has_expired() -> None:
    of = paper(days=60, subcategories={"bread": {"shelf_life": 9, "reference": {
        "kind": "uniform", "low": 2, "high": 5}}})  # fmt: skip
    played = playing(of, {"a": Random("a", 2).act}, events=True)
    assert played.rows("expired")
    assert played.environment.result.seats["a"].metrics["fines"] == 0


def test_seats_and_seeds_draw_each_for_themselves() -> None:
    def acted(seat: str, seed: int) -> list[Answer]:
        played = playing(paper(days=3), {seat: Random(seat, seed).act})
        return [answer for _, answer in played.history if isinstance(answer, Answer)]

    assert acted("a", 1) == acted("a", 1)
    assert len({str(acted(*each)) for each in (("a", 1), ("b", 1), ("a", 2))}) == 3
