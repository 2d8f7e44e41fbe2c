"""What an operator can do to its business, item by item.

Each function carries out one item of a batch and says what came of it, or raises `RefusedError`
and moves nothing. A machine counts as visited once an item that needs a visit was carried out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from market.environment import Json
from market.vending import accounts, events
from market.vending.batches import Batch
from market.vending.money import AmountError, cny, fen
from market.vending.operator import Operator

Item = Mapping[str, Any]


class RefusedError(ValueError):
    """An item that is not carried out; the message is the reason."""


def order_stock(operator: Operator, item: Item) -> dict[str, Json]:
    """Order units, paid at once."""
    product, units = _product(operator, item), _quantity(item)
    cost, cash = operator.cost(product, units), operator.accounts.cash
    if cost > cash:
        raise RefusedError(f"it costs {_shown(cost)} and the cash is {_shown(cash)}")
    code = operator.code(product)
    order = operator.orders.place(product, code, units, cost, operator.day)
    operator.accounts.pay("orders", cost)
    operator.accounts.move(code, accounts.SUPPLIER, accounts.UNDER_WAY, units, "order")
    operator.events.append(
        events.Ordered(
            operator.day, operator.turn, operator.seat,
            order.number, code, units, cost, order.promised,
        )
    )  # fmt: skip
    return {"order": order.number, "cost": cny(cost), "promised": order.promised}


def set_prices(operator: Operator, item: Item) -> dict[str, Json]:
    """Change the posted price of a listed product."""
    machine, product = _listed(operator, item)
    _post(operator, machine, product, _price(operator, product, item["price"]))
    return {}


def discard_stock(operator: Operator, item: Item) -> dict[str, Json]:
    """Throw away units in the warehouse, expired ones first."""
    product, units = _product(operator, item), _quantity(item)
    stock, day = operator.warehouse, operator.day
    expired = stock.expired(product, day)
    there = expired if item.get("expired_only", False) else stock.units(product)
    if units > there:
        what = "expired units" if item.get("expired_only", False) else "units"
        raise RefusedError(f"the warehouse has {there} {what} of it")
    taken = stock.take(product, units)
    operator.warehouse_units -= units
    good = _good(taken, day)
    operator.waste(product, good)
    operator.accounts.move(
        operator.code(product), accounts.WAREHOUSE, accounts.SCRAP, units, "discard"
    )
    _moved(operator, None, product, "discard", good, units - good)
    return {"expired": units - good}


def load_machine(operator: Operator, item: Item) -> dict[str, Json]:
    """Put unexpired units on a shelf, and list the product if it is new there."""
    machine, product, units = _machine(operator, item), _product(operator, item), _quantity(item)
    there = operator.warehouse.fresh(product, operator.day)
    if units > there:
        raise RefusedError(f"the warehouse has {there} unexpired units of it")
    machines, goods = operator.machines, operator.world.catalogue[product]
    volume, free = goods.volume * units, machines.free_volume(machine)
    if volume > free:
        raise RefusedError(f"it takes {volume} volume units and {free} are free")
    posted = machines.price(machine, product)
    if posted is None and not machines.free_slots(machine):
        raise RefusedError("no slot is free")
    if item.get("price") is not None:
        price = _price(operator, product, item["price"])
    else:
        price = goods.reference if posted is None else posted
    _post(operator, machine, product, price)
    batches = operator.warehouse.take(product, units, fresh_on=operator.day)
    operator.warehouse_units -= units
    machines.put(machine, product, batches)
    machines.touched.add(machine)
    operator.accounts.move(goods.product, accounts.WAREHOUSE, accounts.SHELVES, units, "load")
    _moved(operator, machine, product, "load", units, 0)
    return {}


def unload_machine(operator: Operator, item: Item) -> dict[str, Json]:
    """Take unexpired units back to the warehouse; the product stays listed."""
    machine, product = _listed(operator, item)
    units = _quantity(item)
    there = operator.machines.stocks[machine].fresh(product, operator.day)
    if units > there:
        raise RefusedError(f"the machine has {there} unexpired units of it")
    _bring_back(
        operator, product, operator.machines.take(machine, product, units, operator.day), "unload"
    )
    operator.machines.touched.add(machine)
    _moved(operator, machine, product, "unload", units, 0)
    return {}


def delist_product(operator: Operator, item: Item) -> dict[str, Json]:
    """Clear the shelf of a product: unexpired units to the warehouse, expired ones scrapped."""
    machine, product = _listed(operator, item)
    batches = operator.machines.delist(machine, product)
    fresh = [batch for batch in batches if batch[0] > operator.day]
    expired = sum(units for expires, units in batches if expires <= operator.day)
    _bring_back(operator, product, fresh, "delist")
    operator.accounts.move(
        operator.code(product), accounts.SHELVES, accounts.SCRAP, expired, "delist"
    )
    operator.machines.touched.add(machine)
    good = _good(fresh, operator.day)
    _moved(operator, machine, product, "delist", good, expired)
    return {"returned": good, "scrapped": expired}


#: What carries out an item, by tool.
MUTATIONS: Mapping[str, Callable[[Operator, Item], dict[str, Json]]] = {
    "order_stock": order_stock,
    "set_prices": set_prices,
    "discard_stock": discard_stock,
    "load_machine": load_machine,
    "unload_machine": unload_machine,
    "delist_product": delist_product,
}


def run(operator: Operator, tool: str, items: list[Item]) -> dict[str, Json]:
    """Carry out a well-formed batch, good items beside refused ones.

    Returns:
        `done` and `refused`: lists of what came of each item, which bear its position as `item`.
    """
    done: list[dict[str, Json]] = []
    refused: list[dict[str, Json]] = []
    for position, item in enumerate(items):
        try:
            done.append({"item": position, **MUTATIONS[tool](operator, item)})
        except RefusedError as error:
            refused.append({"item": position, "reason": str(error)})
    return {"done": done, "refused": refused}


def product_of(operator: Operator, code: str) -> int:
    """The position of a product in the catalogue.

    Raises:
        RefusedError: If there is none.
    """
    found = operator.world.catalogue.index.get(code)
    if found is None:
        raise RefusedError("there is no such product")
    return found


def machine_of(operator: Operator, code: str) -> int:
    """The position of a machine.

    Raises:
        RefusedError: If there is none.
    """
    if code not in operator.world.machines:
        raise RefusedError("there is no such machine")
    return operator.world.machines.index(code)


def _product(operator: Operator, item: Item) -> int:
    return product_of(operator, item["product"])


def _machine(operator: Operator, item: Item) -> int:
    return machine_of(operator, item["machine"])


def _listed(operator: Operator, item: Item) -> tuple[int, int]:
    machine, product = _machine(operator, item), _product(operator, item)
    if operator.machines.price(machine, product) is None:
        raise RefusedError("the machine does not list it")
    return machine, product


def _quantity(item: Item) -> int:
    # JSON schema takes 3.0 for an integer.
    return int(item["quantity"])


def _price(operator: Operator, product: int, amount: float) -> int:
    try:
        price = fen(amount)
    except AmountError as error:
        raise RefusedError(f"a price has at most two decimals: {error}") from error
    cap = operator.rules.highest_price(operator.world.catalogue[product].reference)
    if price > cap:
        raise RefusedError(f"the price is above the highest allowed, {_shown(cap)}")
    return price


def _post(operator: Operator, machine: int, product: int, price: int) -> None:
    before = operator.machines.price(machine, product)
    if price == before:
        return
    operator.machines.list_at(machine, product, price)
    where, code = operator.world.machines[machine], operator.code(product)
    operator.events.append(
        events.Priced(operator.day, operator.turn, operator.seat, where, code, price, before)
    )


def _bring_back(operator: Operator, product: int, batches: list[Batch], cause: str) -> None:
    units = sum(n for _, n in batches)
    for batch in batches:
        operator.warehouse.add(product, batch)
    operator.warehouse_units += units
    code = operator.code(product)
    operator.accounts.move(code, accounts.SHELVES, accounts.WAREHOUSE, units, cause)


def _moved(
    operator: Operator, machine: int | None, product: int, how: str, units: int, expired: int
) -> None:
    where = None if machine is None else operator.world.machines[machine]
    code = operator.code(product)
    operator.events.append(
        events.Moved(operator.day, operator.turn, operator.seat, where, code, how, units, expired)
    )


def _good(batches: list[Batch], day: int) -> int:
    return sum(units for expires, units in batches if expires > day)


def _shown(amount: int) -> str:
    try:
        return f"{cny(amount):.2f}"
    except OverflowError:  # JSON has integers that no float can hold
        return "over 10^306"
