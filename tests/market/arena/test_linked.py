"""Linked markets: pairs of good and market, shipments, where buyers buy, and the price gap."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from market.arena import linked, views
from market.arena.arena import Arena
from market.arena.books import CARRIER, MONEY
from market.arena.extended import market_figures
from market.arena.indices import ItemStep
from market.arena.linked import Roads, apart, price_gap, roads
from market.arena.locality import considered_at_home
from market.arena.selling import Selling
from market.environment import Answer, Decision
from market.forms import check
from market.play import Played, Player, play
from tests.market.arena.tea_market import SEED, episode, market, says, seen, standing

TWO = {
    "north": {"supply": 0.6, "buyers": 0.5},
    "south": {"supply": 0.4, "buyers": 0.5, "base": 1.25},
}


def linked_market(**changes: Any) -> Any:
    """Tea in two markets: 6 units at 10 in the north, 4 at 13 in the south, moved for 3."""
    return market(**{"markets": TWO, "transport": 0.25, **changes})


def trader(
    bids: list[tuple[int, int, str]], prices: dict[str, int], *ship: tuple[str, str, str, Any]
) -> Player:
    """Bids, moves and prices in the first step."""

    def answer(decision: Decision) -> Any:
        if decision.step > 1:
            return says()(decision)
        if decision.kind == "bid":
            lines = [{"item": i, "quantity": q, "price": p} for q, p, i in bids]
            return Answer({"bids": lines})
        lines = [{"item": i, "from": a, "to": b, "quantity": n} for i, a, b, n in ship]
        return Answer({"prices": prices, "slogan": "", "ship": lines})

    return answer


def test_every_item_is_a_good_of_its_own_in_every_market() -> None:
    rules = linked_market(supply_scale=2.0)
    pairs = apart(rules)
    assert [(item.item, pairs.quantity(item), item.base) for item in pairs.items] == [
        ("tea@north", 12, 10),
        ("tea@south", 8, 13),
    ]
    assert roads(rules) == Roads(("tea",), ("north", "south"), (10,), (3,))
    assert apart(market()) == market()
    assert roads(market()) is None


def test_initial_funds_are_the_value_of_what_is_offered_at_the_prices_of_its_markets() -> None:
    # (6 x 10 + 4 x 13) x 1.5 / 2
    assert linked_market(initial_funds=None).funds(2) == 84


def test_goods_are_moved_at_average_cost_and_the_fee_becomes_part_of_it() -> None:
    played = episode(
        linked_market(),
        ann=trader(
            [(5, 12, "tea@north"), (1, 13, "tea@north")],
            {"tea@north": 15, "tea@south": 20},
            ("tea", "north", "south", 4),
        ),
    )
    # 6 units cost 73, so 4 of them floor(73 x 4 / 6) = 48; with 4 x 3 for the way they cost 60.
    rows = {row.item: row for row in played.rows("offers") if row.step == 1}
    assert (rows["tea@north"].stock, rows["tea@south"].stock) == (2, 4)
    assert rows["tea@south"].sold > 0
    assert rows["tea@south"].cost == 15 * rows["tea@south"].sold
    revenue = sum(row.revenue for row in rows.values())
    assert standing(played, "ann", 1).funds == 200 - 73 - 12 + revenue
    (row,) = played.rows("shipments")
    assert (row.item, row.source, row.target, row.quantity, row.fee, row.reason) == (
        "tea", "north", "south", 4, 12, None,
    )  # fmt: skip


def test_what_the_carrier_takes_it_hands_out_and_its_fee_is_booked() -> None:
    arena = Arena(linked_market(steps=1), ("ann",), SEED)
    ann = trader([(6, 12, "tea@north")], {}, ("tea", "north", "south", 4))
    asked = arena.start()
    while asked:
        asked = arena.apply({decision.seat: ann(decision) for decision in asked})
    ledger = arena._books.ledger
    assert ledger.balance(CARRIER, MONEY) == 12
    assert ledger.balance(CARRIER, "tea@north") == 4
    assert ledger.balance(CARRIER, "tea@south") == -4
    assert ledger.balance("ann", "tea@south") == 4


def test_each_line_of_a_shipment_is_judged_by_itself_after_those_before_it() -> None:
    played = episode(
        linked_market(initial_funds=100),
        ann=trader(
            [(6, 14, "tea@north")],  # leaves 16, which pays for 5 units
            {},
            ("tea", "north", "south", 2),
            ("coffee" * 30, "north", "south", 1),
            ("tea", "north", "east", 1),
            ("tea", "south", "south", 1),
            ("tea", "north", "south", 0),
            ("tea", "north", "south", 5),
            ("tea", "north", "south", 4),
            ("tea", "north", "south", 1.0),
            ("tea", "south", "north", 3),
            ("tea", "south", "north", 2),
        ),
    )
    reasons = [None, "unknown item", "unknown market", "same market", "not positive", "not held",
               "over budget", None, "over budget", None]  # fmt: skip
    lines = played.rows("shipments")
    assert [line.reason for line in lines] == reasons
    assert [line.fee for line in lines] == [6, 0, 0, 0, 0, 0, 0, 3, 0, 6]
    told = seen(played, "ann", 2).private["last"]["shipped"]
    assert [line["reason"] for line in told] == reasons
    assert told[1]["item"] == ("coffee" * 30)[:64]
    assert (told[0]["from"], told[0]["to"], told[0]["quantity"]) == ("north", "south", 2)


def test_what_was_moved_away_cannot_be_priced_and_what_came_can() -> None:
    played = episode(
        linked_market(),
        ann=trader(
            [(2, 12, "tea@north")],
            {"tea@north": 15, "tea@south": 20},
            ("tea", "north", "south", 2),
        ),
    )
    assert [row.item for row in played.rows("offers")] == ["tea@south"]
    (refused,) = played.rows("refusals")
    assert (refused.item, refused.reason) == ("tea@north", "not held")


def test_buyers_are_those_of_the_market_without_links_and_live_somewhere() -> None:
    prices = {"willingness_to_pay": {"Secretive": [1.0, 3.0]}, "buyers": 400, "supply_scale": 100}
    alone = Selling(market(**prices), 3).buyers(1)
    even = {"north": {"supply": 0.6, "buyers": 0.25}, "south": {"supply": 0.4, "buyers": 0.75}}
    apart = Selling(linked_market(**prices, markets=even), 3).buyers(1)
    for drawn in ("persona", "units", "limit", "luck"):
        assert (getattr(alone, drawn) == getattr(apart, drawn)).all()
    assert (apart.item // 2 == alone.item).all()
    assert np.mean(apart.item % 2) == pytest.approx(0.75, abs=0.07)


def test_limits_are_multiples_of_the_base_price_where_the_buyer_lives() -> None:
    rules = linked_market(willingness_to_pay={"Secretive": [2.0, 2.0]})
    buyers = Selling(rules, 3).buyers(1)
    assert (buyers.limit == np.where(buyers.item % 2, 26, 20)).all()


def both_sell(**changes: Any) -> Played:
    """Ann has tea in the north only, Bob in the south only, enough for all."""
    big = {"supply_scale": 100, "demand_ratio": 0.1, "buyers": 50, "initial_funds": 100_000}
    return episode(
        linked_market(**big, **changes),
        ann=trader([(600, 10, "tea@north")], {"tea@north": 12}),
        bob=trader([(400, 13, "tea@south")], {"tea@south": 30}),
    )


@pytest.mark.parametrize("most", [1, 20])
def test_a_buyer_considers_and_buys_in_its_own_market_only(most: int) -> None:
    played = both_sell(attention={"rho": 1.0, "k_max": most, "similarity": "none"})
    demand = {row.item: row for row in played.rows("demand") if row.step == 1}
    for pair in ("tea@north", "tea@south"):
        assert demand[pair].sold == demand[pair].wanted > 0
    seen_by = {row.seat: row.impressions for row in played.rows("standings") if row.step == 1}
    assert seen_by == {"ann": demand["tea@north"].buyers, "bob": demand["tea@south"].buyers}


def test_a_market_draws_attention_as_if_it_were_alone() -> None:
    whole = np.array([[1, 0, 1], [0, 1, 0], [1, 1, 1]], bool)

    def draw(among: Any) -> Any:
        for span in (slice(0, 2), slice(2, 3)):
            yield span, whole[among][:, span]

    offered = np.array([[1, 0, 1], [0, 1, 0]], bool)
    runs = list(considered_at_home(draw, offered, np.array([0, 1, 1])))
    assert [span for span, _ in runs] == [slice(0, 2), slice(2, 3)]
    assert np.hstack([seen for _, seen in runs]).astype(int).tolist() == [
        [1, 0, 0],
        [0, 1, 0],
        [1, 0, 0],
    ]


def test_a_market_without_sellers_serves_nobody_in_it() -> None:
    played = episode(
        linked_market(), ann=trader([(6, 12, "tea@north")], {"tea@north": 12}), bob=says()
    )
    demand = {row.item: row for row in played.rows("demand") if row.step == 1}
    assert demand["tea@south"].unserved == demand["tea@south"].wanted


def test_the_price_gap_is_between_mean_prices_paid_in_multiples_of_base() -> None:
    ways = Roads(("tea", "gem", "wine"), ("north", "south", "west"), (10, 100, 5), (0, 0, 0))
    sold = [6, 5, 0, 1, 0, 0, 2, 2, 2]
    revenue = [66, 100, 0, 130, 0, 0, 10, 12, 20]
    # Tea: 11, 20 and nothing; gems in one market only; wine: 5, 6 and 10.
    assert price_gap(ways, revenue, sold) == {"tea": 0.9, "gem": None, "wine": 1.0}


def test_the_gap_and_each_market_stand_among_the_indices() -> None:
    index = {(r.index, r.item): r.value for r in both_sell().rows("indices") if r.step == 1}
    assert index["price_gap", ""] == index["price_gap", "tea"] == 1.8
    assert index["paid", "@north"] == 1.2
    assert index["paid", "@south"] == pytest.approx(30 / 13)
    assert index["sellers", "@south"] == 1
    assert index["hhi_revenue", "@north"] == 1
    assert index["sold", "@north"] == index["sold", "tea@north"]


def test_figures_of_a_market_are_over_all_its_goods() -> None:
    def pair(name: str, base: int, sold: tuple[int, ...], prices: tuple[Any, ...]) -> ItemStep:
        money = tuple(units * (price or 0) for units, price in zip(sold, prices, strict=True))
        return ItemStep(name, base, money, sold, prices, (), ())

    ways = Roads(("tea", "gem"), ("n", "s"), (10, 20), (1, 2))
    goods = [
        pair("tea@n", 10, (3, 0), (12, None)), pair("tea@s", 10, (0, 0), (None, None)),
        pair("gem@n", 20, (1, 1), (24, 40)), pair("gem@s", 20, (0, 0), (30, None)),
    ]  # fmt: skip
    figures = market_figures(ways, goods)
    # 36 + 24 of one seller and 40 of the other; 5 units worth 70 at base.
    assert figures["@n"]["hhi_revenue"] == pytest.approx(0.36 + 0.16)
    assert (figures["@n"]["sellers"], figures["@n"]["sold"]) == (2, 5)
    assert figures["@n"]["paid"] == pytest.approx(100 / 70)
    assert (figures["@s"]["sellers"], figures["@s"]["sold"], figures["@s"]["paid"]) == (1, 0, None)


def test_the_rules_tell_of_markets_and_fees_and_not_where_buyers_live() -> None:
    view = seen(episode(linked_market(), ann=says()), "ann", 1)
    assert view.rules["markets"] == ["north", "south"]
    assert view.rules["transport"] == {"tea": 3}
    assert [item["item"] for item in view.rules["items"]] == ["tea@north", "tea@south"]
    assert [offer["quantity"] for offer in view.public["offers"]] == [6, 4]
    assert "markets" not in seen(episode(market(), ann=says()), "ann", 1).rules


def test_shipments_have_their_place_in_the_form_where_markets_are_linked_only() -> None:
    rules = linked_market()
    line = {"item": "tea", "from": "north", "to": "south", "quantity": 1}
    form = views.answer_forms(apart(rules), roads(rules))["sell"]
    assert check(form, {"prices": {}, "slogan": "", "ship": [line]}) is None
    assert check(form, {"prices": {}, "slogan": ""}) is None
    assert check(form, {"prices": {}, "slogan": "", "ship": [{"item": "tea"}]}) is not None
    alone = views.answer_forms(market())["sell"]
    assert check(alone, {"prices": {}, "slogan": "", "ship": []}) is not None


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"markets": None}, "transport: goods are moved between"),
        ({"markets": {"n": {"supply": 1, "buyers": 1}}}, "a link has two ends"),
        (
            {"markets": {n: {"supply": 0.5, "buyers": 0.6} for n in "ns"}},
            "the shares of buyers add up to 1.2",
        ),
        ({"markets": {n: {"supply": 0.5, "buyers": 0.5} for n in ("n@", "s")}}, "is in no name"),
        (
            {"markets": {n: {"supply": 0.5, "buyers": 0.5} for n in ("n" * 62, "s")}},
            "longer than 64",
        ),
        ({"retail": "induced", "induced": {}}, "stock that is redeemed has no market"),
        (
            {"buyer_memory": {"returning": 1, "loyalty": 1, "grudge": 1, "decay": 1}},
            "do not remember",
        ),
        ({"price_cap": 1.1, "tick": 5}, "between the base price of tea@south"),
    ],
)
def test_rules_that_do_not_go_together_are_refused(changes: Any, named: str) -> None:
    with pytest.raises(ValidationError, match=named):
        linked_market(**changes)


def gaps(policy: str, transport: float) -> list[Any]:
    """The price gap of each step with twenty retailers of a policy."""
    played = play(
        "arena/linked",
        [
            f"rules.transport={transport}",
            "rules.attention.similarity=none",
            f"retailers=[{{name: one, policy: {policy}, count: 20}}]",
        ],
        events=True,
    )
    return [r.value for r in played.rows("indices") if (r.index, r.item) == ("price_gap", "")]


@pytest.mark.parametrize("transport", [0.0, 0.2])
def test_with_arbitrage_prices_come_to_differ_by_the_transport_and_no_more(
    transport: float,
) -> None:
    found = gaps("arbitrage", transport)
    assert found[0] > transport + 0.08
    assert found[-1] == pytest.approx(transport, abs=0.01)


def test_without_arbitrage_the_gap_stays() -> None:
    found = gaps("clearing", 0.0)
    assert min(found) > 0.35


def test_where_markets_are_not_linked_arbitrage_trades_like_clearing() -> None:
    def scores(policy: str) -> list[Any]:
        roster = f"retailers=[{{name: one, policy: {policy}, count: 4}}]"
        quiet = ["rules.attention.similarity=none", "rules.steps=2", roster]
        return list(play("arena/default", quiet).scores.values())

    assert scores("arbitrage") == scores("clearing")


def test_the_most_money_is_that_of_the_pairs() -> None:
    rules = linked_market()
    assert sum(item.quantity for item in linked.goods(rules)) == 10
    dear = {**TWO, "south": {**TWO["south"], "base": 1e9}}
    with pytest.raises(ValidationError, match="more money could change hands"):
        linked_market(markets=dear, supply_scale=100, holding_cost=1e6)
