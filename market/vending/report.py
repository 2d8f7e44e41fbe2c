"""The daily report: what a seat is told each morning without asking."""

from __future__ import annotations

from market.environment import Json
from market.vending.money import cny
from market.vending.operator import Operator
from market.vending.views import statement

#: Days within which units count as expiring.
SOON = 7


def daily_report(operator: Operator, name: str) -> dict[str, Json]:
    """The report of a morning; its size does not grow with the episode.

    Args:
        operator: Whose it is.
        name: Its public name.
    """
    accounts, orders = operator.accounts, operator.orders
    week = accounts.closings[-7:]
    return {
        "operator": name,
        "cash": cny(accounts.cash),
        "net_assets": cny(accounts.net_assets),
        "yesterday": statement(week[-1]) if week else None,
        "last_7_days": {
            "revenue": cny(sum(closing.revenue for closing in week)),
            "profit": cny(sum(closing.profit for closing in week)),
        },
        "warehouse": _warehouse(operator),
        "under_way": {"units": orders.units_under_way, "cost": cny(orders.cost_under_way)},
        "delivered": {
            "orders": len(operator.arrived),
            "units": sum(order.units for order in operator.arrived),
        },
        "machines": _machines(operator),
    }


def _warehouse(operator: Operator) -> dict[str, Json]:
    expired, soon = operator.warehouse.aged(operator.day, operator.day + SOON)
    return {"units": operator.warehouse_units, "expired": expired, "expiring": soon}


def _machines(operator: Operator) -> dict[str, Json]:
    machines, day = operator.machines, operator.day
    on_shelves = machines.units.sum(1).tolist()
    stocked = (machines.units > 0).sum(1).tolist()
    yesterday = operator.sales[-1] if operator.sales else {}
    found: dict[str, Json] = {}
    for m, name in enumerate(operator.world.machines):
        expired, soon = machines.stocks[m].aged(day, day + SOON)
        sales = yesterday.get(m, ())
        found[name] = {
            "listed": machines.listed[m],
            "stocked": stocked[m],
            "units": on_shelves[m],
            "used_volume": machines.used[m],
            "expired": expired,
            "expiring": soon,
            "sold": sum(sale.units for sale in sales),
            "revenue": cny(sum(sale.revenue for sale in sales)),
        }
    return found
