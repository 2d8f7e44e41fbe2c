"""Whole episodes: the order of a day, operators alone and together, records that replay."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from market import canonical
from market.config import configure, recorded
from market.config.plans import expand
from market.environment import Answer, ContractError, Decision
from market.journal import Header, JournalWriter
from market.play import drive, scripts
from market.policies.idle import Idle
from market.policies.random import Random
from market.registry import environment_kind
from market.replay import build_environment, replay, verify
from market.study.interventions.fork import ORIGINAL, arms, begin
from market.testing import environment_test
from market.vending import ENVIRONMENT
from market.vending.vending import Vending
from tests.market.vending.operations import (
    END,
    PUNCTUAL,
    SMALL,
    Game,
    Stocker,
    call,
    paper,
    playing,
    rules,
    stocked,
)


def spelled(history: list[tuple[Decision, Any]]) -> list[str]:
    """What was asked, without whom."""
    return [
        canonical.dumps([d.step, d.turn, d.observation.public, d.observation.private])
        for d, _ in history
    ]


@pytest.mark.parametrize("operation", ["alone", "shared"])
@pytest.mark.parametrize("seats", [("a",), ("a", "b", "c")])
def test_the_environment_keeps_the_contract(operation: str, seats: tuple[str, ...]) -> None:
    changes = {**SMALL, "days": 4, "operation": operation}
    environment_test(environment_kind("vending"), changes, seats, 3)


def test_an_idle_operator_pays_the_fixed_fee_and_nothing_else() -> None:
    played = playing(paper(), {"a": Idle("a", 0).act})
    (result,) = played.environment.result.seats.values()
    assert result.score == 40_000 - 180 * 80
    assert result.metrics["empty_machine_days"] == 1
    assert len(played.history) == 180


def test_the_least_share_of_empty_machine_days_is_that_of_the_lead_time() -> None:
    """Ordered on day 1, loaded on day 4 and never sold out: 3 of 180 days."""
    of = paper(**PUNCTUAL, cash=1e6)
    policy = Stocker("a", 0, products=20, units=12, every=3)
    played = playing(of, {"a": policy.act})
    (result,) = played.environment.result.seats.values()
    assert result.metrics["empty_machine_days"] == 3 / 180


def test_an_order_of_day_1_can_be_shelved_on_day_4_and_sells_that_day() -> None:
    game = Game(rules(**PUNCTUAL, demand={"outside": 0.001}))
    game.do(call("order_stock", {"product": "P0001", "quantity": 9}), END)
    game.wait(2)
    assert game.decision.step == 4
    item = {"machine": "M01", "product": "P0001", "quantity": 9}
    game.do(call("load_machine", item), END)
    assert [row.sold for row in game.rows("sales") if row.step == 4] != [0]


def test_fees_are_due_before_the_seat_acts() -> None:
    game = Game()
    assert game.decision.observation.private["cash"] == 2_000 - 80


def test_fees_may_make_cash_negative_and_the_operation_goes_on() -> None:
    played = playing(rules(cash=100.0, days=5), {"a": Idle("a", 0).act})
    assert played.environment.result.seats["a"].score == 100 - 5 * 80


def test_seats_that_play_alone_play_what_they_would_by_themselves() -> None:
    of = rules(**PUNCTUAL, days=12)
    together = playing(
        of, {"x": Stocker("x", 0, 6, 3).act, "i": Idle("i", 0).act, "y": Stocker("y", 0, 6, 2).act}
    )
    for seat, policy in (("x", Stocker("x", 0, 6, 3)), ("y", Stocker("y", 0, 6, 2))):
        apart = playing(of, {seat: policy.act})
        mine = [turn for turn in together.history if turn[0].seat == seat]
        assert spelled(mine) == spelled(apart.history)
        assert together.environment.result.seats[seat] == apart.environment.result.seats[seat]


def test_one_operator_in_a_shared_world_is_alone_to_the_byte() -> None:
    found = []
    for operation in ("alone", "shared"):
        of = rules(**PUNCTUAL, days=12, operation=operation)
        played = playing(of, {"x": Stocker("x", 0, 6, 3).act}, events=True)
        found.append(
            (
                spelled(played.history),
                canonical.dumps(played.environment.rules),
                played.events,
                played.environment.result,
            )
        )
    assert found[0] == found[1]


def test_rivals_take_customers_from_each_other() -> None:
    def sold(*seats: str) -> int:
        of = rules(**PUNCTUAL, operation="shared", days=12)
        played = playing(of, {seat: Stocker(seat, 0, 6, 6).act for seat in seats})
        return int(played.environment.result.seats["a"].metrics["units_sold"])

    assert sold("a") > sold("a", "b") > sold("a", "b", "c", "d") > 0


def test_equal_rivals_fare_equally_wherever_they_sit() -> None:
    of = rules(**PUNCTUAL, operation="shared", days=12)
    played = playing(of, {seat: Stocker(seat, 0, 6, 4).act for seat in "abc"})
    assert len({seat.score for seat in played.environment.result.seats.values()}) == 1


def test_more_than_twenty_cannot_share_a_world() -> None:
    with pytest.raises(ValueError, match="at most 20"):
        Vending(rules(operation="shared"), tuple(f"s{i}" for i in range(21)), 0)


def test_what_is_done_to_one_machine_never_moves_the_sales_of_another() -> None:
    def sold(*more: dict[str, Any]) -> dict[tuple[int, str, str], int]:
        game = stocked(rules(**PUNCTUAL))
        game.do(*more, END)
        game.wait(3)
        return {(r.step, r.machine, r.product): r.sold for r in game.rows("sales")}

    one = sold()
    items = [{"machine": "M01", "product": f"P{i:04}", "price": 2.0} for i in range(1, 7)]
    two = sold(call("set_prices", *items), call("unload_machine", {**items[0], "quantity": 1}))
    assert one != two
    others = {key: n for key, n in one.items() if key[1] != "M01"}
    assert others == {key: n for key, n in two.items() if key[1] != "M01"}


def test_an_informed_seat_is_told_the_hidden_world_and_no_other_is() -> None:
    environment = Vending(rules(informed=["planner"], world=5), ("a", "planner"), 0)
    one, two = (decision.observation.private for decision in environment.start())
    assert "hidden" not in one
    assert two["hidden"]["world"] == 5
    assert two["hidden"]["rules"]["demand"]["outside"] == 10


def test_nothing_hidden_is_in_the_shown_rules() -> None:
    rules_shown = Game(paper()).decision.observation.rules
    shown = canonical.dumps({k: v for k, v in rules_shown.items() if k != "briefing"})
    for word in ("demand", "sensitivity", "week", "traffic", "popularity", "seed", "outside"):
        assert word not in shown


def test_a_finished_or_unstarted_episode_says_so() -> None:
    environment = Vending(rules(days=1), ("a",), 0)
    with pytest.raises(ContractError):
        _ = environment.result
    environment.start()
    assert environment.apply({"a": Answer([END])}) == ()
    assert environment.result.seats["a"].score == 1_920


def test_observations_do_not_grow_with_the_episode() -> None:
    played = playing(paper(days=60), {"a": Stocker("a", 0).act})
    sizes = [
        len(canonical.dumps(d.observation.private["report"]))
        for d, _ in played.history
        if d.turn == 0
    ]
    assert max(sizes) < 4_000


def test_a_recorded_episode_replays_to_the_byte(tmp_path: Path) -> None:
    config = {
        "environment": "vending",
        "seed": 4,
        "rules": rules(days=6).model_dump(mode="json"),
        "retailers": [
            {"name": "s", "policy": "random", "count": 1, "options": {}},
            {"name": "r", "policy": "random", "count": 1, "options": {}},
        ],
        "encoder": {},
    }
    found = []
    for name in ("one", "two"):
        path = tmp_path / f"{name}.jsonl"
        environment = build_environment(config)
        players = {"s": Stocker("s", 0, 6, 3), "r": Random("r", 0)}
        asked = environment.start()
        header = Header.of(config, ENVIRONMENT.rules_version, "e")
        with JournalWriter.create(path, header) as journal:
            while asked:
                given = {d.seat: players[d.seat].act(d) for d in asked}
                journal.append(asked, given)
                asked = environment.apply(given)
            journal.finish(environment.result)
        assert verify(path).finished
        found.append(path.read_bytes())
    assert found[0] == found[1]


@pytest.mark.parametrize("step", [2, 5, 9])
def test_an_episode_can_be_forked_at_every_step(tmp_path: Path, step: int) -> None:
    players = [{"name": "s", "policy": "random"}, {"name": "r", "policy": "idle"}]
    config = configure(
        {
            "environment": "vending",
            "seed": 4,
            "rules": {**SMALL, "demand": {"outside": 10}},
            "retailers": players,
        }
    )
    (plan,) = expand(config)
    played = drive(build_environment(recorded(plan.config)), scripts(plan.config, 4))
    source, target = tmp_path / "journal.jsonl", tmp_path / "fork" / "journal.jsonl"
    version = ENVIRONMENT.rules_version
    header = Header.of(recorded(plan.config), version, plan.id)
    with JournalWriter.create(source, header) as journal:
        for _, batch in groupby(played.history, key=lambda turn: (turn[0].step, turn[0].turn)):
            turns = [*batch]
            journal.append(
                [decision for decision, _ in turns], {d.seat: given for d, given in turns}
            )
        journal.finish(played.environment.result)
    (fork, *_) = expand(arms(config, source, step, seeds=1)[ORIGINAL])
    begin(source, target, Header.of(recorded(fork.config), version, fork.id))
    assert replay(target).asked[0].step == step


def test_every_day_is_told_once() -> None:
    game = Game(rules(days=3))
    game.wait(3)
    assert [row.step for row in game.rows("calendar")] == [1, 2, 3]


def test_events_tell_all_that_was_sold() -> None:
    of = rules(**PUNCTUAL)
    played = playing(of, {"a": Stocker("a", 0, 6, 3).act}, events=True)
    sold = sum(row.sold for row in played.rows("sales"))
    assert sold == sum(row.sold for row in played.rows("machines")) > 0
    assert sold == sum(row.sold for row in played.rows("days"))
    assert sold == played.environment.result.totals["units_sold"]
    machines = played.rows("machines")
    assert np.mean([row.used / 40 for row in machines]) == pytest.approx(
        played.environment.result.seats["a"].metrics["shelf_utilisation"]
    )
