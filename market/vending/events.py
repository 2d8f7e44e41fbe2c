"""Everything that happens in a vending operation, as rows of tables.

Money is in fen, hundredths of a CNY. Products and machines bear their codes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from market.environment import Event


@dataclass(frozen=True, slots=True)
class Today(Event):
    """A day as it was, the same for every seat.

    Attributes:
        date: Its date.
        holiday: The name of a public holiday; null on other days.
        weather: The condition of the weather.
        temperature: Mean temperature, degrees Celsius.
    """

    table: ClassVar[str] = "calendar"

    date: str
    holiday: str | None
    weather: str
    temperature: int


@dataclass(frozen=True, slots=True)
class Call(Event):
    """A tool call.

    Attributes:
        tool: The tool, as it was named.
        error: Why nothing was done; null when the call was carried out.
        done: Items of a batch that were carried out; null for other tools.
        refused: Items of a batch that were refused; null for other tools.
    """

    table: ClassVar[str] = "tool_calls"

    tool: str
    error: str | None
    done: int | None
    refused: int | None


@dataclass(frozen=True, slots=True)
class Ordered(Event):
    """An order line.

    Attributes:
        order: Its number among the operator's.
        product: The product.
        units: Units ordered.
        cost: What was paid, fen.
        promised: The day on which it should arrive.
    """

    table: ClassVar[str] = "orders"

    order: int
    product: str
    units: int
    cost: int
    promised: int


@dataclass(frozen=True, slots=True)
class Delivered(Event):
    """An order line that arrived in the warehouse.

    Attributes:
        order: Its number among the operator's.
        product: The product.
        units: Units delivered.
        late: Days after the promised one.
        expires: The first day on which they are expired.
    """

    table: ClassVar[str] = "deliveries"

    order: int
    product: str
    units: int
    late: int
    expires: int


@dataclass(frozen=True, slots=True)
class Moved(Event):
    """Units moved by hand.

    Attributes:
        machine: The machine; null for what was discarded in the warehouse.
        product: The product.
        how: `load`, `unload`, `delist` or `discard`.
        units: Unexpired units moved: into the machine, back to the warehouse, or away.
        expired: Expired units scrapped.
    """

    table: ClassVar[str] = "movements"

    machine: str | None
    product: str
    how: str
    units: int
    expired: int


@dataclass(frozen=True, slots=True)
class Priced(Event):
    """A price that was set.

    Attributes:
        machine: The machine.
        product: The product.
        price: The new price of a unit, fen.
        before: The price before, fen; null for a product listed anew.
    """

    table: ClassVar[str] = "prices"

    machine: str
    product: str
    price: int
    before: int | None


@dataclass(frozen=True, slots=True)
class Sold(Event):
    """A product on the shelf of a machine on one day; also where nothing was sold.

    Attributes:
        machine: The machine.
        product: The product.
        units: Units on the shelf when sales began.
        price: Price of a unit, fen.
        sold: Units sold.
    """

    table: ClassVar[str] = "sales"

    machine: str
    product: str
    units: int
    price: int
    sold: int


@dataclass(frozen=True, slots=True)
class Fined(Event):
    """Expired units that were sold.

    Attributes:
        machine: The machine.
        product: The product.
        units: Expired units sold.
        fine: The fine, fen.
    """

    table: ClassVar[str] = "fines"

    machine: str
    product: str
    units: int
    fine: int


@dataclass(frozen=True, slots=True)
class Visited(Event):
    """A machine that was touched.

    Attributes:
        machine: The machine.
        fee: The visit fee, fen.
    """

    table: ClassVar[str] = "visits"

    machine: str
    fee: int


@dataclass(frozen=True, slots=True)
class Expired(Event):
    """Units that reached the age of their batch.

    Attributes:
        machine: The machine they are in; null for the warehouse.
        product: The product.
        units: Units.
        cost: What they had cost, fen.
    """

    table: ClassVar[str] = "expired"

    machine: str | None
    product: str
    units: int
    cost: int


@dataclass(frozen=True, slots=True)
class MachineDay(Event):
    """A machine on one day.

    Attributes:
        machine: The machine.
        site_type: The type of its site.
        listed: Slots in use when sales began.
        stocked: Products with units on the shelf then.
        units: Units on the shelf then.
        used: Volume units in use then.
        sold: Units sold.
        revenue: Money taken, fen.
        gross_profit: Money taken less the cost of unexpired units sold, fen.
        visited: Whether it was touched.
    """

    table: ClassVar[str] = "machines"

    machine: str
    site_type: str
    listed: int
    stocked: int
    units: int
    used: int
    sold: int
    revenue: int
    gross_profit: int
    visited: bool


@dataclass(frozen=True, slots=True)
class DayClosed(Event):
    """The accounts of a day. Money is in fen, hundredths of a CNY.

    Attributes:
        revenue: Money taken from customers.
        cost_of_goods: Cost of the unexpired units sold.
        write_offs: Cost of units that expired or were discarded unexpired.
        orders: Paid for orders.
        rent: Warehouse rent.
        fixed: Fixed fee.
        visits: Visit fees.
        fines: Fines.
        profit: Growth of net assets.
        cash: Money in the evening.
        net_assets: Cash and unexpired units at cost, wherever they are.
        shelf_units: Units on shelves in the evening.
        warehouse_units: Units in the warehouse in the evening.
        units_under_way: Units ordered and not yet delivered.
        sold: Units sold.
        wasted: Units that expired or were discarded unexpired.
        calls: Tool calls.
        refused: Items and calls that were refused.
    """

    table: ClassVar[str] = "days"

    revenue: int
    cost_of_goods: int
    write_offs: int
    orders: int
    rent: int
    fixed: int
    visits: int
    fines: int
    profit: int
    cash: int
    net_assets: int
    shelf_units: int
    warehouse_units: int
    units_under_way: int
    sold: int
    wasted: int
    calls: int
    refused: int


EVENTS: tuple[type[Event], ...] = (
    Today, Call, Ordered, Delivered, Moved, Priced, Sold, Fined, Visited, Expired, MachineDay,
    DayClosed,
)  # fmt: skip
