"""A day's shelves as rows of tables, built only where somebody asks for them."""

from __future__ import annotations

from itertools import repeat

from market.environment import Event
from market.vending import events
from market.vending.metrics import ShelfDay
from market.vending.operator import Operator


def rows(operator: Operator, turn: int, day: ShelfDay) -> list[Event]:
    """Every product on a shelf, and every machine.

    Args:
        operator: Whose they are, before it acts again.
        turn: The last turn of the day.
        day: The day.
    """
    return [*_products(operator, turn, day), *_machines(operator, turn, day)]


def _products(operator: Operator, turn: int, day: ShelfDay) -> list[Event]:
    shelf, world = day.shelf, operator.world
    columns = (shelf.units, shelf.prices, day.sold)
    return [
        *map(
            events.Sold,
            repeat(day.day),
            repeat(turn),
            repeat(operator.seat),
            map(world.machines.__getitem__, shelf.sites.tolist()),
            map(world.catalogue.codes.__getitem__, shelf.products.tolist()),
            *(column.tolist() for column in columns),
        )
    ]


def _machines(operator: Operator, turn: int, day: ShelfDay) -> list[Event]:
    world, shelf = operator.world, day.shelf
    sums = [[0, 0] for _ in world.machines]
    for m, units in zip(shelf.sites.tolist(), shelf.units.tolist(), strict=True):
        sums[m][0] += 1
        sums[m][1] += units
    used = (shelf.fullness * operator.rules.volume).round().astype(int).tolist()
    sales = operator.sales[-1]
    return [
        events.MachineDay(
            day.day,
            turn,
            operator.seat,
            machine=name,
            site_type=world.site_types[m],
            listed=operator.machines.listed[m],
            stocked=sums[m][0],
            units=sums[m][1],
            used=used[m],
            sold=sum(sale.units for sale in sales.get(m, ())),
            revenue=sum(sale.revenue for sale in sales.get(m, ())),
            gross_profit=sum(sale.revenue - sale.cost for sale in sales.get(m, ())),
            visited=m in day.touched,
        )
        for m, name in enumerate(world.machines)
    ]
