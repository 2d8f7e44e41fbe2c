"""Retail settlement: by hand, against a slow reference, and what must hold of every market."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from market.arena.buyers import NO_LIMIT, Buyers
from market.arena.retail import Sales, seller_luck, settle
from market.rng import generator
from tests.market.arena.slow_retail import slow_settle


def population(*rows: tuple[int, int, int | None], luck=None) -> Buyers:
    """Buyers from rows (item, units, limit)."""
    item, units, limit = zip(*rows, strict=True) if rows else ((), (), ())
    words = luck if luck is not None else range(len(rows))
    return Buyers(
        persona=np.zeros(len(rows), np.int16),
        item=np.array(item, np.int16),
        units=np.array(units, np.int64),
        limit=np.array([NO_LIMIT if bound is None else bound for bound in limit], np.int64),
        luck=np.array(words, np.uint64),
    )


def sell(buyers, prices, stock, considered=None, luck=None) -> tuple[Sales, np.ndarray]:
    """Settle from plain lists; everybody considers everybody unless said."""
    prices = np.array(prices, np.int64)
    stock = np.array(stock, np.int64)
    items, sellers = prices.shape
    if considered is None:
        considered = np.ones((sellers, len(buyers)), np.bool_)
    if luck is None:
        luck = np.arange(sellers, dtype=np.uint64)
    sales = Sales.none(items, sellers)
    settle(buyers, np.array(considered, np.bool_), prices, stock, luck, sales)
    return sales, stock


def test_a_buyer_goes_from_the_cheapest_up_and_takes_parts():
    sales, stock = sell(population((0, 6, None)), [[30, 10, 20]], [[9, 3, 2]])
    assert sales.sold.tolist() == [[1, 3, 2]]
    assert sales.asked.tolist() == [[1, 6, 3]]
    assert sales.attempts.tolist() == [1, 1, 1]
    assert sales.failed.tolist() == [0, 0, 0]
    assert stock.tolist() == [[8, 0, 0]]


def test_a_seller_without_stock_is_an_attempt_that_fails():
    sales, _ = sell(population((0, 2, None), (0, 1, None)), [[10, 20]], [[0, 2]])
    assert sales.attempts.tolist() == [2, 2]
    assert sales.failed.tolist() == [2, 1]
    assert sales.asked.tolist() == [[3, 3]]
    assert sales.unserved.tolist() == [1]


def test_a_buyer_stops_at_the_first_price_above_its_limit_without_an_attempt():
    sales, _ = sell(population((0, 5, 20)), [[10, 20, 21]], [[1, 2, 9]])
    assert sales.sold.tolist() == [[1, 2, 0]]
    assert sales.attempts.tolist() == [1, 1, 0]
    assert sales.priced_out.tolist() == [2]
    assert sales.unserved.tolist() == [0]
    assert sales.surplus.tolist() == [[10, 0, 0]]


def test_units_are_unserved_and_not_priced_out_when_no_seller_is_left():
    sales, _ = sell(population((0, 5, 20), (1, 2, 9)), [[10], [0]], [[1], [7]])
    assert sales.unserved.tolist() == [4, 2]
    assert sales.priced_out.tolist() == [0, 0]
    assert sales.attempts.tolist() == [1]


def test_only_considered_sellers_are_visited_and_every_look_is_an_impression():
    considered = [[False, True], [True, True], [True, False]]
    sales, _ = sell(
        population((0, 1, None), (1, 1, None)),
        [[10, 20, 30], [0, 0, 5]],
        [[5, 5, 5], [5, 5, 5]],
        considered,
    )
    assert sales.sold.tolist() == [[0, 1, 0], [0, 0, 0]]
    assert sales.unserved.tolist() == [0, 1]
    assert sales.impressions.tolist() == [1, 2, 1]


def test_ties_are_fair_and_drawn_per_buyer():
    count = 60_000
    words = generator(1, "words", 1).integers(2**64, size=count, dtype=np.uint64)
    sales, _ = sell(
        population(*[(0, 1, None)] * count, luck=words),
        [[10] * 5],
        [[count] * 5],
        luck=seller_luck(1, 1, ["a", "b", "c", "d", "e"]),
    )
    error = (count * 0.2 * 0.8) ** 0.5
    assert abs(sales.sold - count / 5).max() < 4 * error


def test_a_seller_that_leaves_does_not_change_the_order_of_the_rest():
    names = ["a", "b", "c", "d"]
    luck = seller_luck(7, 1, names)

    def order(word: int, present: list[int]) -> list[int]:
        """Sellers in the order in which a buyer of this word visits them."""
        visits, stock = [], np.zeros((1, 4), np.int64)
        prices = np.zeros((1, 4), np.int64)
        prices[0, present] = 10
        while len(visits) < len(present):
            stock[:] = [[0 if seller in visits else 1 for seller in range(4)]]
            sales = Sales.none(1, 4)
            settle(
                population((0, 1, None), luck=[word]),
                np.ones((4, 1), np.bool_),
                prices,
                stock,
                luck,
                sales,
            )
            visits.append(int(sales.sold[0].argmax()))
        return visits

    orders = set()
    for word in range(50):
        full = order(word, [0, 1, 2, 3])
        orders.add(tuple(full))
        assert order(word, [0, 2, 3]) == [seller for seller in full if seller != 1]
    assert len(orders) > 10


def test_seller_luck_belongs_to_the_seat_and_not_to_its_position():
    assert seller_luck(1, 2, ["a", "b", "c"])[2] == seller_luck(1, 2, ["c"])[0]
    assert seller_luck(1, 2, ["c"])[0] != seller_luck(1, 3, ["c"])[0]


@pytest.mark.parametrize(("items", "sellers", "count"), [(0, 0, 0), (1, 0, 3), (2, 3, 0)])
def test_markets_without_sellers_or_buyers_settle(items, sellers, count):
    buyers = population(*[(0, 2, None)] * count)
    sales, _ = sell(
        buyers, np.zeros((items, sellers)), np.zeros((items, sellers)), np.ones((sellers, count))
    )
    assert sales.unserved.sum() == 2 * count
    assert sales.sold.sum() == 0


@st.composite
def markets(draw):
    items, sellers = draw(st.integers(1, 3)), draw(st.integers(1, 6))
    count = draw(st.integers(0, 25))

    def grid(cell):
        row = st.lists(cell, min_size=sellers, max_size=sellers)
        return draw(st.lists(row, min_size=items, max_size=items))

    buyer = st.tuples(st.integers(0, items - 1), st.integers(1, 6), st.none() | st.integers(0, 16))
    words = st.integers(0, 2**64 - 1)
    seen = st.lists(st.booleans(), min_size=count, max_size=count)
    return {
        "rows": draw(st.lists(buyer, min_size=count, max_size=count)),
        "words": draw(st.lists(words, min_size=count, max_size=count)),
        # Few different prices, hence many ties.
        "prices": grid(st.sampled_from([0, 10, 11, 15])),
        "stock": grid(st.integers(0, 8)),
        "luck": draw(st.lists(words, min_size=sellers, max_size=sellers, unique=True)),
        "considered": draw(st.lists(seen, min_size=sellers, max_size=sellers)),
    }


@settings(max_examples=300)
@given(markets(), st.integers(0, 25))
def test_the_compiled_settlement_equals_the_slow_one_in_one_run_or_two(market, cut):
    buyers = population(*market["rows"], luck=market["words"])
    prices, stock = np.array(market["prices"]), np.array(market["stock"])
    considered = np.array(market["considered"], np.bool_).reshape(len(prices[0]), len(buyers))
    sales = Sales.none(*prices.shape)
    for span in (slice(0, cut), slice(cut, len(buyers))):
        settle(
            buyers.part(span),
            np.ascontiguousarray(considered[:, span]),
            prices,
            stock,
            np.array(market["luck"], np.uint64),
            sales,
        )

    grid = {
        (item, seller): price
        for item, row in enumerate(market["prices"])
        for seller, price in enumerate(row)
        if price
    }
    held = {
        (item, seller): units
        for item, row in enumerate(market["stock"])
        for seller, units in enumerate(row)
    }
    expected = slow_settle(
        [(*row, word) for row, word in zip(market["rows"], market["words"], strict=True)],
        [set(np.flatnonzero(seen).tolist()) for seen in considered.T],
        grid,
        held,
        market["luck"],
    )
    for column in fields(Sales):
        fast = getattr(sales, column.name)
        slow = np.zeros_like(fast)
        for place, amount in getattr(expected, column.name).items():
            slow[place] = amount
        assert fast.tolist() == slow.tolist(), column.name
    assert stock.tolist() == [
        [held[item, seller] for seller in range(prices.shape[1])] for item in range(len(prices))
    ]


@given(markets())
def test_units_are_conserved(market):
    buyers = population(*market["rows"], luck=market["words"])
    sales, stock = sell(
        buyers,
        market["prices"],
        market["stock"],
        np.array(market["considered"]).reshape(len(market["luck"]), len(buyers)),
        np.array(market["luck"], np.uint64),
    )
    before = np.array(market["stock"])
    assert (stock >= 0).all()
    assert (before - stock == sales.sold).all()
    wanted = np.bincount(buyers.item, weights=buyers.units, minlength=len(before))
    assert (sales.sold.sum(axis=1) + sales.priced_out + sales.unserved == wanted).all()
    assert (sales.asked >= sales.sold).all()
    assert (sales.surplus >= 0).all()
    assert (sales.failed <= sales.attempts).all()
