"""What an operator can look at, in pages.

A window of w days is the last w days that are over. Rows are at most 50 a page, and every paged
view says how many there are. Money is in CNY.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from market.environment import Json
from market.vending.accounts import Closing
from market.vending.calendar import Calendar
from market.vending.money import cny
from market.vending.mutations import RefusedError, machine_of, product_of
from market.vending.operator import Operator, Sale
from market.vending.orders import Order
from market.vending.tools import PAGE

Arguments = Mapping[str, Any]

#: Units, money taken and cost of what did not sell.
NOTHING = (0, 0, 0)


@dataclass(frozen=True, slots=True)
class Display:
    """A rival's machines as they stood in the morning.

    Attributes:
        prices: (s, p) posted prices, fen; 0 where a product is not listed.
        in_stock: (s, p) whether there are units on the shelf.
    """

    prices: NDArray[np.int64]
    in_stock: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Scene:
    """What a view is of.

    Attributes:
        operator: Who looks.
        calendar: The days.
        rivals: What the others' machines show, by their public names.
    """

    operator: Operator
    calendar: Calendar
    rivals: Mapping[str, Display] = field(default_factory=dict)


def view_catalog(scene: Scene, arguments: Arguments) -> dict[str, Json]:
    """Products that can be ordered, in the order of their codes."""
    goods = scene.operator.world.catalogue
    wanted = arguments.get("subcategory")
    if wanted is not None and wanted not in goods.subcategories:
        raise RefusedError("there is no such subcategory")
    found = [p for p in goods.products if wanted is None or p.subcategory == wanted]
    return _page(arguments, found, lambda product: facts(scene.operator, product.product))


def facts(operator: Operator, code: str) -> dict[str, Json]:
    """All that anybody is told of a product."""
    product = operator.world.catalogue[operator.world.catalogue.index[code]]
    return {
        "product": product.product,
        "name": product.name,
        "subcategory": product.subcategory,
        "cost": cny(product.cost),
        "reference": cny(product.reference),
        "volume": product.volume,
        "shelf_life": product.shelf_life,
    }


def view_product(scene: Scene, arguments: Arguments) -> dict[str, Json]:
    """One product everywhere."""
    operator, code = scene.operator, arguments["product"]
    product = product_of(operator, code)
    machines = operator.machines
    sold = _summed(_sales(operator, _window(arguments), product=product), "machine")
    columns = (machines.units[:, product].tolist(), machines.prices[:, product].tolist())
    return {
        **facts(operator, code),
        "warehouse": [
            {"units": units, "expires": expires}
            for expires, units in operator.warehouse.batches(product)
        ],
        "under_way": operator.orders.under_way(product),
        "machines": [
            {
                "machine": name,
                "units": units,
                "price": cny(price),
                **_amounts(sold.get(m, NOTHING)),
            }
            for m, (name, units, price) in enumerate(
                zip(operator.world.machines, *columns, strict=True)
            )
            if price
        ],
    }


def view_machine(scene: Scene, arguments: Arguments) -> dict[str, Json]:
    """One machine and what it lists, in the order of the catalogue."""
    operator = scene.operator
    machine = machine_of(operator, arguments["machine"])
    rival = arguments.get("operator")
    if rival is not None:
        return _rival(scene, machine, rival, arguments)
    machines, stock, day = operator.machines, operator.machines.stocks[machine], operator.day
    sold = _summed(_sales(operator, _window(arguments), machine=machine), "product")
    codes = operator.world.catalogue.codes
    prices, units = machines.prices[machine].tolist(), machines.units[machine].tolist()

    def row(product: int) -> dict[str, Json]:
        expired, expires = stock.expiry(product, day)
        of, revenue, cost = sold.get(product, NOTHING)
        return {
            "product": codes[product],
            "price": cny(prices[product]),
            "units": units[product],
            "expired": expired,
            "expires": expires,
            "sold": of,
            "revenue": cny(revenue),
            "gross_profit": cny(revenue - cost),
        }

    return {
        "machine": arguments["machine"],
        "site_type": operator.world.site_types[machine],
        "free_slots": machines.free_slots(machine),
        "free_volume": machines.free_volume(machine),
        **_page(arguments, machines.products(machine), row),
    }


def _rival(scene: Scene, machine: int, name: str, arguments: Arguments) -> dict[str, Json]:
    shown = scene.rivals.get(name)
    if shown is None:
        raise RefusedError("there is no such rival")
    listed = np.flatnonzero(shown.prices[machine]).tolist()
    return {
        "machine": arguments["machine"],
        "operator": name,
        **_page(
            arguments,
            listed,
            lambda product: {
                "product": scene.operator.code(product),
                "price": cny(int(shown.prices[machine, product])),
                "in_stock": bool(shown.in_stock[machine, product]),
            },
        ),
    }


def view_warehouse(scene: Scene, arguments: Arguments) -> dict[str, Json]:
    """Stock in the warehouse, in the order of the catalogue."""
    operator = scene.operator
    stock, day = operator.warehouse, operator.day

    def row(product: int) -> dict[str, Json]:
        expired, expires = stock.expiry(product, day)
        return {
            "product": operator.code(product),
            "units": stock.units(product),
            "expired": expired,
            "expires": expires,
        }

    return {"units": operator.warehouse_units, **_page(arguments, list(stock), row)}


def view_orders(scene: Scene, arguments: Arguments) -> dict[str, Json]:
    """Orders, the latest first."""
    operator = scene.operator
    delivered = arguments.get("status", "under_way") == "delivered"
    orders = operator.orders
    if delivered:
        found = [o for o in reversed(orders.placed) if o.arrives <= operator.day]
    else:
        found = [o for o in orders.waiting() if o.arrives > operator.day]

    def row(order: Order) -> dict[str, Json]:
        return {
            "order": order.number,
            "product": operator.code(order.product),
            "quantity": order.units,
            "cost": cny(order.cost),
            "ordered": order.day,
            "promised": order.promised,
            **({"delivered": order.arrives} if delivered else {}),
        }

    return _page(arguments, found, row)


def view_sales(scene: Scene, arguments: Arguments) -> dict[str, Json]:
    """Sales of a window by product, machine or day."""
    operator, by = scene.operator, arguments.get("by", "product")
    machine = product = None
    if "machine" in arguments:
        machine = machine_of(operator, arguments["machine"])
    if "product" in arguments:
        product = product_of(operator, arguments["product"])
    sales = list(_sales(operator, _window(arguments), machine, product))
    names: dict[str, Callable[[int], Json]] = {
        "product": operator.code,
        "machine": lambda m: operator.world.machines[m],
        "day": lambda d: d,
    }
    sums = _summed(sales, by)
    order = sorted(sums, key=lambda key: key if by == "day" else (-sums[key][0], key))
    return {
        "units": sum(sale.units for _, _, sale in sales),
        "revenue": cny(sum(sale.revenue for _, _, sale in sales)),
        **_page(arguments, order, lambda key: {by: names[by](key), **_amounts(sums[key])}),
    }


def view_finances(scene: Scene, arguments: Arguments) -> dict[str, Json]:
    """The accounts day by day."""
    accounts = scene.operator.accounts
    closings = accounts.closings[-_window(arguments) :]
    return {
        "cash": cny(accounts.cash),
        "net_assets": cny(accounts.net_assets),
        "rows": [{"day": closing.day, **statement(closing)} for closing in closings],
    }


def statement(closing: Closing) -> dict[str, Json]:
    """A day's accounts in CNY."""
    return {
        "revenue": cny(closing.revenue),
        "cost_of_goods": cny(closing.cost_of_goods),
        "write_offs": cny(closing.write_offs),
        "orders": cny(closing.orders),
        "rent": cny(closing.rent),
        "fixed": cny(closing.fixed),
        "visits": cny(closing.visits),
        "fines": cny(closing.fines),
        "profit": cny(closing.profit),
        "cash": cny(closing.cash),
        "net_assets": cny(closing.net_assets),
    }


def view_calendar(scene: Scene, arguments: Arguments) -> dict[str, Json]:
    """Days of a window, today, and what is known of the coming week."""
    today = scene.operator.day
    first = max(1, today - _window(arguments))
    return {
        "past": [scene.calendar.shown(day) for day in range(first, today)],
        "today": scene.calendar.shown(today),
        "forecast": scene.calendar.forecast(today),
    }


#: What answers a view, by tool.
VIEWS: Mapping[str, Callable[[Scene, Arguments], dict[str, Json]]] = {
    "view_catalog": view_catalog,
    "view_product": view_product,
    "view_machine": view_machine,
    "view_warehouse": view_warehouse,
    "view_orders": view_orders,
    "view_sales": view_sales,
    "view_finances": view_finances,
    "view_calendar": view_calendar,
}


def _window(arguments: Arguments) -> int:
    return int(arguments.get("window", 7))


def _page(
    arguments: Arguments, found: Sequence[Any], row: Callable[[Any], dict[str, Json]]
) -> dict[str, Json]:
    """One page of what was found; a page after the last is empty."""
    rows, page = int(arguments.get("rows", PAGE)), int(arguments.get("page", 1))
    shown = found[(page - 1) * rows : page * rows]
    pages = -(-len(found) // rows)
    return {"rows": [row(each) for each in shown], "page": page, "pages": pages, "of": len(found)}


def _sales(
    operator: Operator, window: int, machine: int | None = None, product: int | None = None
) -> Iterable[tuple[int, int, Sale]]:
    """(day, machine, sale) of the last days, those of one machine or product where named."""
    days = list(operator.sales)[-window:]
    for day, sales in enumerate(days, operator.day - len(days)):
        machines = sorted(sales) if machine is None else [machine] if machine in sales else []
        for m in machines:
            for sale in sales[m]:
                if product is None or sale.product == product:
                    yield day, m, sale


def _summed(sales: Iterable[tuple[int, int, Sale]], by: str) -> dict[int, tuple[int, int, int]]:
    """Units, money taken and cost by day, machine or product."""
    sums: dict[int, tuple[int, int, int]] = {}
    for day, machine, sale in sales:
        key = sale.product if by == "product" else machine if by == "machine" else day
        units, revenue, cost = sums.get(key, NOTHING)
        sums[key] = (units + sale.units, revenue + sale.revenue, cost + sale.cost)
    return sums


def _amounts(sums: tuple[int, int, int]) -> dict[str, Json]:
    units, revenue, cost = sums
    return {"sold": units, "revenue": cny(revenue), "gross_profit": cny(revenue - cost)}
