"""Retailers that come later or leave: who is asked, what is booked, and what others notice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import ValidationError

from market.arena import seating, views
from market.arena.arena import Arena
from market.arena.policies.quitter import Quitter
from market.config import ConfigError, load
from market.environment import Answer, Decision
from market.forms import check
from market.play import Played, Player, play
from tests.market.arena.tea_market import episode, market, name_of, says, seen, standing


def asked(played: Played, kind: str = "bid") -> dict[int, list[str]]:
    """Who was asked in each step, once per round."""
    out: dict[int, list[str]] = {}
    for decision, _ in played.history:
        if decision.kind == kind:
            out.setdefault(decision.step, []).append(decision.seat)
    return out


def leaves_in(step: int, turn: int = 0, player: Player | None = None) -> Player:
    """A player that leaves in a bidding round."""
    stay = player or says()

    def answer(decision: Decision) -> Any:
        if (decision.kind, decision.step, decision.turn) == ("bid", step, turn):
            return Answer({"bids": [{"item": "tea", "quantity": 1, "price": 20}], "exit": True})
        return stay(decision)

    return answer


SELLER = {1: [(6, 12)]}, {1: (15, "Tea")}


def late(**changes: Any) -> Played:
    """Ann sells in the first of two steps, Bob comes in the second."""
    rules = market(entry={"bob": 2}, **changes)
    return episode(rules, ann=says(*SELLER), bob=says({2: [(4, 11)]}))


def test_who_enters_later_is_not_asked_before() -> None:
    played = late()
    assert asked(played) == {1: ["ann"], 2: ["ann", "bob"]}
    assert asked(played, "sell") == {1: ["ann"], 2: ["ann", "bob"]}


def test_funds_come_with_the_entry_and_costs_not_before() -> None:
    played = late(fixed_cost=7)
    before, after = standing(played, "bob", 1), standing(played, "bob", 2)
    assert (before.funds, before.net_worth, before.fixed, before.profit) == (0, 0, 0, 0)
    assert not before.stranded
    # 200 less 4 at 11 and the fixed cost; stock at the lesser of cost and base.
    assert (after.funds, after.net_worth, after.profit) == (149, 149 + 40, -7)
    assert played.scores["bob"] == -7


def test_an_entrant_sees_the_last_step_of_the_market_and_none_of_its_own() -> None:
    view = seen(late(), "bob", 2)
    assert view.private["funds"] == 200
    assert view.private["last"] is None
    assert view.public["market"]["step"] == 1


def test_everybody_is_told_who_came_and_the_rules_tell_when() -> None:
    played = late()
    assert seen(played, "ann", 1).public["entered"] == []
    news = seen(played, "ann", 2).public
    assert (news["entered"], news["left"]) == ([name_of_late(played)], [])
    assert seen(played, "ann", 1).rules["entry"] == {"2": 1}
    (row,) = played.rows("passages")
    assert (row.step, row.seat, row.what, row.funds) == (2, "bob", "entered", 200)


def name_of_late(played: Played) -> str:
    return str(seen(played, "bob", 2).private["name"])


def test_who_is_not_there_yet_stays_in_every_index() -> None:
    played = late()
    index = {(r.step, r.index): r.value for r in played.rows("indices") if r.item == ""}
    assert index[1, "active_sold"] == 0.5
    # Of two net worths, 0 and all: the highest Gini there is.
    assert index[1, "gini_net_worth"] == 0.5
    assert (index[1, "present"], index[2, "present"]) == (1, 2)


def test_metrics_begin_with_the_entry() -> None:
    undefined = late().environment.result.seats["bob"].undefined
    assert undefined["risk_adjusted_return"] == "fewer than two steps"


def test_an_entry_leaves_everybody_elses_luck_in_place() -> None:
    choosy = {
        "attention": {"rho": 0.5, "k_max": 2, "similarity": "none"}, "steps": 3, "buyers": 8,
        "bidding_rounds": 1,
    }  # fmt: skip
    bids = {step: [(5, 12)] for step in (1, 2, 3)}
    shop = dict.fromkeys(bids, (14, "Tea"))
    both = {"ann": says(bids, shop), "cid": says(bids, shop)}
    alone = episode(market(**choosy), **both)
    beside = episode(market(**choosy, entry={"bob": 2}), **both, bob=says())
    for seat in both:
        mine = [row for row in alone.rows("standings") if row.seat == seat]
        assert mine == [row for row in beside.rows("standings") if row.seat == seat]


def test_the_name_of_a_retailer_stands_for_all_its_seats() -> None:
    rules = market(entry={"late": 2})
    seats = ("late", "late-1", "late-02", "later", "late-x")
    entries = seating.entries(rules, seats)
    assert [seat for seat, step in entries.items() if step == 2] == ["late", "late-1", "late-02"]


def test_nobody_in_the_market_is_a_step_without_questions() -> None:
    played = episode(market(entry={"ann": 2}), ann=says(*SELLER))
    assert asked(played) == {2: ["ann"]}
    assert standing(played, "ann", 1).funds == 0


@pytest.mark.parametrize(
    ("terminal", "proceeds"), [({"salvage": 0.5}, 30), ({"salvage": 0.0}, 0), ("cost", 60)]
)
def test_who_leaves_sells_off_its_stock_and_keeps_its_funds(terminal: Any, proceeds: int) -> None:
    bids: Mapping[int, Any] = {1: [(6, 12)]}
    rules = market(exit="voluntary", terminal_stock=terminal, steps=3, fixed_cost=1)
    played = episode(rules, ann=leaves_in(2, player=says(bids)), bob=says())
    # 6 units at 12 cost 72, the lesser of cost and base is 60; one step was paid for.
    funds = 200 - 72 - 1 + proceeds
    for step in (2, 3):
        row = standing(played, "ann", step)
        assert (row.funds, row.stock, row.net_worth, row.solvent) == (funds, 0, funds, True)
    assert standing(played, "ann", 2).liquidated == proceeds - 72
    assert standing(played, "ann", 2).fixed == 0
    assert played.scores["ann"] == funds - 200
    assert asked(played) == {1: ["ann", "bob"], 2: ["ann", "bob"], 3: ["bob"]}
    assert asked(played, "sell")[2] == ["bob"]
    (row,) = played.rows("passages")
    assert (row.step, row.turn, row.seat, row.what, row.funds) == (2, 0, "ann", "left", funds)
    assert seen(played, "bob", 3).public["left"] == [name_of(played, "ann")]


def test_an_answer_that_leaves_bids_nothing() -> None:
    rules = market(exit="voluntary", bidding_rounds=2, steps=1)
    played = episode(
        rules,
        ann=leaves_in(1, 1, says({(1, 1): [(9, 15)]})),
        bob=says({1: [(8, 12)]}),
    )
    provisional, settled = (seen(played, "bob", 1, turn=1), seen(played, "bob", 1, "sell"))
    assert [line["awarded"] for line in provisional.private["bids"]] == [1]
    assert [line["awarded"] for line in settled.private["bids"]] == [8]
    assert not [row for row in played.rows("bids") if row.seat == "ann" and row.settling]


@pytest.mark.parametrize("turn", [0, 1])
def test_a_market_that_all_leave_is_recorded_to_its_end(turn: int) -> None:
    rules = market(exit="voluntary", bidding_rounds=2, steps=3, entry={"cid": 3})
    both = {seat: leaves_in(1, turn) for seat in ("ann", "bob")}
    played = episode(rules, **both, cid=says())
    assert asked(played) == {1: ["ann", "bob"] * (turn + 1), 3: ["cid", "cid"]}
    assert [row.seat for row in played.rows("standings")] == ["ann", "bob", "cid"] * 3
    assert played.scores == {"ann": 0, "bob": 0, "cid": 0}


def test_leaving_has_its_place_in_the_form_where_it_is_allowed_only() -> None:
    leaving = {"bids": [], "exit": True}
    allowed = views.answer_forms(market(exit="voluntary"))["bid"]
    assert check(allowed, leaving) is None
    assert check(allowed, {"bids": []}) is None
    assert check(views.answer_forms(market())["bid"], leaving) is not None


def test_who_says_that_it_does_not_leave_stays() -> None:
    def stays(decision: Decision) -> Answer:
        if decision.kind == "bid":
            return Answer({"bids": [], "exit": False})
        return Answer({"prices": {}, "slogan": ""})

    assert asked(episode(market(exit="voluntary"), ann=stays)) == {1: ["ann"], 2: ["ann"]}


def test_without_entry_and_exit_nothing_is_told_of_them() -> None:
    played = episode(market(), ann=says())
    view = seen(played, "ann", 1)
    assert not {"entered", "left"} & view.public.keys()
    assert not {"entry", "exit"} & view.rules.keys()
    assert "present" not in played.environment.result.totals


def test_a_quitter_leaves_after_steps_of_loss_where_that_is_allowed() -> None:
    losing = {"fixed_cost": 30, "steps": 6, "exit": "voluntary", "buyers": 1}
    quitter = Quitter(seat="ann", seed=1, patience=3)
    played = episode(market(**losing), ann=quitter.act, bob=says())
    profits = [row.profit for row in played.rows("standings") if row.seat == "ann"]
    (left,) = played.rows("passages")
    assert max(profits[left.step - 4 : left.step - 1]) < 0
    assert left.seat == "ann"
    assert not episode(
        market(**{**losing, "exit": "none"}), ann=Quitter(seat="ann", seed=1, patience=3).act
    ).rows("passages")


def test_an_entry_after_the_end_and_a_seat_that_nobody_has_are_refused() -> None:
    with pytest.raises(ValidationError, match="comes after the last step, 2"):
        market(entry={"bob": 3})
    with pytest.raises(ConfigError, match=r"`rules.entry`: there is no seat `nobody`"):
        load("arena/entry", ["rules.entry={nobody: 2}"])
    with pytest.raises(ConfigError, match=r"`rules.entry`: the seat `newcomer-1` is named twice"):
        load("arena/entry", ["rules.entry={newcomer: 2, newcomer-1: 3}"])


def test_the_preset_is_played_with_entry_and_exit() -> None:
    played = play("arena/entry", ["rules.attention.similarity=none"], events=True)
    passages = played.rows("passages")
    assert {row.what for row in passages} == {"entered", "left"}
    assert [row.step for row in passages if row.what == "entered"] == [4] * 6
    present = [row.value for row in played.rows("indices") if row.index == "present"]
    assert present[:4] == [14, 14, 14, 20]
    assert present[-1] == 20 - sum(row.what == "left" for row in passages) - sum(
        not row.solvent for row in played.rows("standings") if row.step == 10
    )


def test_an_entrant_has_its_name_from_the_first_step_on() -> None:
    first = Arena(market(entry={"bob": 2}), ("ann", "bob"), 7).start()
    second = Arena(market(), ("ann", "bob"), 7).start()
    assert first[0].observation.private["name"] == second[0].observation.private["name"]
