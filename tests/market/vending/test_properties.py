"""Whatever a seat calls, money and units are conserved, and what expired stays off sale."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.market.vending.operations import Call, Game, rules

BRIEF = {
    "bread": {"shelf_life": 2, "reference": {"kind": "uniform", "low": 2, "high": 6}},
    "water": {"shelf_life": 4, "reference": {"kind": "uniform", "low": 2, "high": 6}},
}
HASTY = rules(
    days=9,
    products=6,
    slots=2,
    volume=12,
    cash=400.0,
    fine=5.0,
    subcategories=BRIEF,
    lead_promised=1,
    lead_time={"kind": "categorical", "values": [1, 2], "probabilities": [0.7, 0.3]},
    demand={"outside": 3},
)

PRODUCTS = st.sampled_from(["P0001", "P0002", "P0003", "P0004", "P0006", "P0001", "P0099", ""])
MACHINES = st.sampled_from(["M01", "M02", "M03", "M01", "M77"])
QUANTITIES = st.one_of(
    st.integers(1, 8), st.integers(1, 8), st.sampled_from([0, -1, 10**30, 1.5, "3", None])
)
PRICES = st.sampled_from([0.5, 3.0, 5.25, 1e9, -2, 3.333, None])
ITEMS = st.fixed_dictionaries(
    {"product": PRODUCTS},
    optional={
        "machine": MACHINES,
        "quantity": QUANTITIES,
        "price": PRICES,
        "expired_only": st.booleans(),
    },
)
FIELDS = {
    "order_stock": ("product", "quantity"),
    "set_prices": ("machine", "product", "price"),
    "discard_stock": ("product", "quantity", "expired_only"),
    "load_machine": ("machine", "product", "quantity", "price"),
    "unload_machine": ("machine", "product", "quantity"),
    "delist_product": ("machine", "product"),
}


@st.composite
def calls(draw: st.DrawFn) -> Call:
    tool = draw(st.sampled_from([*FIELDS, "load_machine", "order_stock", "end_day", "view_sales"]))
    if tool not in FIELDS:
        return {"tool": tool, "arguments": {}}
    items = draw(st.lists(ITEMS, max_size=4))
    # Mostly the fields of the tool; now and then any, which makes the batch malformed.
    if draw(st.integers(0, 9)):
        items = [{f: item[f] for f in FIELDS[tool] if f in item} for item in items]
    return {"tool": tool, "arguments": {"items": items}}


def total(rows: list[Any], column: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for row in rows:
        found[row.product] += getattr(row, column)
    return found


def expired_on_shelves(game: Game) -> int:
    day, machines = game.decision.step, game.operator.machines
    return sum(stock.expired(p, day) for stock in machines.stocks for p in stock)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(calls(), max_size=6), min_size=6, max_size=24), st.integers(0, 50))
def test_nothing_is_made_or_lost(turns: list[list[Call]], seed: int) -> None:
    game = Game(HASTY, seed)
    # Something to play with: without stock most calls are refused.
    first = [{"product": f"P000{i}", "quantity": 9} for i in (1, 2, 3, 4)]
    game.do(
        {"tool": "order_stock", "arguments": {"items": first}}, {"tool": "end_day", "arguments": {}}
    )
    for turn in turns:
        if game.decision.step == HASTY.days:
            break
        before = game.decision.step, expired_on_shelves(game)
        game.do(*turn)
        if game.decision.step == before[0]:
            assert expired_on_shelves(game) <= before[1]
        check_units(game)
        check_machines(game)
    check_money(game)


def check_units(game: Game) -> None:
    """Units by product: ordered, delivered, on shelves, in the warehouse, sold, thrown away."""
    ordered, delivered = (total(game.rows(t), "units") for t in ("orders", "deliveries"))
    sold = total(game.rows("sales"), "sold")
    scrapped = total(game.rows("movements"), "expired")
    scrapped += total([row for row in game.rows("movements") if row.how == "discard"], "units")
    there: Counter[str] = Counter()
    for stock in (game.operator.warehouse, *game.operator.machines.stocks):
        for product in stock:
            there[game.operator.code(product)] += stock.units(product)
    assert delivered == there + sold + scrapped
    under_way = ordered - delivered
    assert under_way.total() == game.operator.orders.units_under_way


def check_machines(game: Game) -> None:
    machines, goods = game.operator.machines, game.environment.world.catalogue
    for m, stock in enumerate(machines.stocks):
        used = sum(goods[product].volume * stock.units(product) for product in stock)
        assert used == machines.used[m] <= HASTY.volume
        assert len(machines.products(m)) == machines.listed[m] <= HASTY.slots
        assert set(stock) <= set(machines.products(m))
    cap = goods.reference * HASTY.price_cap
    assert (machines.prices <= cap).all()


def check_money(game: Game) -> None:
    days = game.rows("days")
    flows = sum(d.revenue - d.orders - d.rent - d.fixed - d.visits - d.fines for d in days)
    for row in days:
        visits = [v for v in game.rows("visits") if v.step == row.step]
        assert row.visits == 3_500 * len(visits)
        touched = {m.machine for m in game.rows("movements") if m.step == row.step and m.machine}
        assert {v.machine for v in visits} == touched
    if days:
        assert days[-1].cash == 40_000 + flows
        assert days[-1].net_assets - 40_000 == sum(day.profit for day in days)
    assert sum(row.fine for row in game.rows("fines")) == sum(row.fines for row in days)
