"""A CSV of sales as units per machine, product and day.

One line is a sale: when, which machine, which product, at what price, and how many units (1 where
no column says so). Three more columns help where there are: the type of site of the machine, the
subcategory of the product, and its stock in the machine before the sale; lines of no unit tell the
stock of other days. Columns may have any names (`--column timestamp=Date`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from market.config.documents import bounded
from market.vending.calibration.table import CalibrationError, Table, read_table

if TYPE_CHECKING:
    import pandas as pd

#: Longest label that a world keeps.
LONGEST = 64
#: Longest period, in years and in days: a longer one is a date that was mistyped.
YEARS, DAYS = 20, 7_305
#: Highest price and most units of a line.
MOST = 1_000_000
#: An offset from universal time, behind a time of day.
OFFSET = r"([T ]\d\d[\d:.]*) ?(?:Z|[+-](?:[01]?\d|2[0-3])(?::?[0-5]\d)?)$"

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Records:
    """Sales as dense arrays over pairs (a machine and a product that it ever sold) and days.

    Attributes:
        first: The first day.
        machines: Names of the machines.
        site_types: The type of each machine's site; its own name where none is told.
        products: Names of the products.
        subcategories: The kind of each product; `goods` where none is told.
        machine: (pairs) position of the machine; pairs are ordered by it.
        product: (pairs) position of the product.
        units: (pairs, days) units sold.
        price: (pairs, days) the last price known, by units sold that day; the first before.
        stock: (pairs, days) units in the machine in the morning, at least those sold; None where
            no column tells.
    """

    first: date
    machines: tuple[str, ...]
    site_types: tuple[str, ...]
    products: tuple[str, ...]
    subcategories: tuple[str, ...]
    machine: Ints
    product: Ints
    units: Floats
    price: Floats
    stock: Floats | None = None

    @property
    def days(self) -> int:
        """Days of the period, the first and the last sale's included."""
        return int(self.units.shape[1])

    def until(self, day: int) -> Records:
        """The first days, with the pairs that sold anything in them."""
        sold = self.units[:, :day].any(1)
        return replace(
            self,
            machine=self.machine[sold],
            product=self.product[sold],
            units=self.units[sold, :day],
            price=self.price[sold, :day],
            stock=None if self.stock is None else self.stock[sold, :day],
        )

    def by_machine(self, values: Floats) -> Floats:
        """(machines, days) sums of (pairs, days) over the pairs of each machine."""
        found = np.zeros((len(self.machines), values.shape[1]))
        np.add.at(found, self.machine, values)
        return found


def read(path: Path | str, columns: Mapping[str, str] | None = None) -> Records:
    """Read a CSV of sales.

    Args:
        path: The file.
        columns: Names of columns in the file, where they differ from those of `table.COLUMNS`.

    Raises:
        CalibrationError: If it cannot be read, a column is missing, or a value makes no sense.
    """
    table = read_table(path, columns)
    sales = _checked(table)
    sold = sales[sales["units"] > 0]
    if sold.empty:
        raise CalibrationError(f"{path} holds no sale.")
    lines = np.array(table.lines)[sold.index]
    first, last = int(sold["day"].argmin()), int(sold["day"].argmax())
    begin, end = sold["day"].iloc[first].date(), sold["day"].iloc[last].date()
    if (end - begin).days > DAYS:
        raise CalibrationError(
            f"{path}: sales reach from {begin} (line {lines[first]}) to {end} (line {lines[last]}),"
            f" over more than {YEARS} years; mend the date that is wrong."
        )
    found = _records(sold)
    if "stock" not in sales:
        return found
    return replace(found, stock=_stock(found, sales.dropna(subset="stock")))


def _checked(table: Table) -> pd.DataFrame:
    """The columns of their types."""
    import pandas as pd

    text = table.text
    when = _local(text["timestamp"])
    table.refuse("timestamp", when.isna(), "is no date or time; write it as 2025-03-31T14:05")
    price = table.numbers("price")
    good = (price > 0) & (price <= MOST)
    table.refuse("price", ~good, f"is no price above 0 and up to {MOST}, such as 4.50")
    units = f"is no whole number of units from 0 to {MOST}"
    if "quantity" in text:
        quantity = table.numbers("quantity")
        refund = "is less than 0; leave out refunds and the sales that they undo"
        table.refuse("quantity", quantity < 0, refund)
        table.refuse("quantity", ~_whole(quantity), units)
    else:
        quantity = pd.Series(1, text.index)
    found = pd.DataFrame(
        {"day": when.dt.normalize(), "price": price, "units": quantity.astype(float)}
    )
    if "stock" in text:
        found["stock"] = stock = table.numbers("stock")
        table.refuse("stock", ~_whole(stock) & (text["stock"].str.strip() != ""), units)
        found["when"] = when
    for name in ("machine", "product"):
        found[name] = labels(text[name])
        table.refuse(name, found[name] == "", "is empty")
    for name, of, unknown in (("site_type", "machine", ""), ("subcategory", "product", "goods")):
        found[name] = _known(table, name, found[of], unknown) if name in text else unknown
    return found


def _local(text: pd.Series) -> pd.Series:
    """Dates and times as clocks on the spot show them; NaT for what is none."""
    import pandas as pd

    local = text.str.strip().str.replace(OFFSET, r"\1", regex=True)
    # What begins otherwise may be a word for the present, such as `now`.
    dates = local.where(local.str.match(r"\d"))
    return pd.to_datetime(dates, errors="coerce", format="ISO8601")


def _whole(numbers: pd.Series) -> pd.Series:
    return (numbers >= 0) & (numbers <= MOST) & (numbers % 1 == 0)


def _known(table: Table, name: str, of: pd.Series, unknown: str) -> pd.Series:
    """What any line tells of each row's machine or product, which all others must not deny."""
    each = labels(table.text[name])
    told = each != ""
    known = of.map(each[told].groupby(of[told]).first())
    denied = told & (each != known)
    if denied.any():
        row = int(denied.to_numpy().argmax())
        before = int((told & (of == of.iloc[row])).to_numpy().argmax())
        table.refuse(
            name,
            denied,
            f"is not what line {table.lines[before]} says of `{bounded(of.iloc[row])}`, which is "
            f"`{bounded(each.iloc[before])}`; let all its lines say the same or nothing",
        )
    return known.fillna(unknown)


def _records(sales: pd.DataFrame) -> Records:
    machines = tuple(sorted(sales["machine"].unique()))
    products = tuple(sorted(sales["product"].unique()))
    first = sales["day"].min()
    day = (sales["day"] - first).dt.days.to_numpy()
    m = np.searchsorted(machines, sales["machine"].to_numpy(str))
    p = np.searchsorted(products, sales["product"].to_numpy(str))
    keys, pair = np.unique(m * len(products) + p, return_inverse=True)
    shape = len(keys), int(day.max()) + 1
    units, money = np.zeros(shape), np.zeros(shape)
    amount = sales["units"].to_numpy()
    np.add.at(units, (pair, day), amount)
    np.add.at(money, (pair, day), amount * sales["price"].to_numpy())
    types = sales.groupby("machine")["site_type"].first()
    kinds = sales.groupby("product")["subcategory"].first()
    return Records(
        first=first.date(),
        machines=machines,
        site_types=tuple(str(types[name]) or name for name in machines),
        products=products,
        subcategories=tuple(str(kinds[name]) for name in products),
        machine=keys // len(products),
        product=keys % len(products),
        units=units,
        price=_carried(units, money),
    )


def _stock(records: Records, told: pd.DataFrame) -> Floats:
    """Stock in the morning: as the day's first line tells, else what was left the day before."""
    pairs = {
        (records.machines[m], records.products[p]): i
        for i, (m, p) in enumerate(zip(records.machine, records.product, strict=True))
    }
    told = told.sort_values("when", kind="stable").drop_duplicates(["machine", "product", "day"])
    day = (told["day"].dt.date - records.first).map(lambda gone: gone.days).to_numpy()
    names = zip(told["machine"], told["product"], strict=True)
    pair = np.array([pairs.get(key, -1) for key in names])
    known = (pair >= 0) & (day >= 0) & (day < records.days)
    found = np.full(records.units.shape, np.nan)
    found[pair[known], day[known]] = told["stock"].to_numpy()[known]
    left = np.zeros(len(found))
    for each, sold in zip(found.T, records.units.T, strict=True):
        each[:] = np.maximum(np.where(np.isnan(each), left, each), sold)
        left = each - sold
    return found


def _carried(units: Floats, money: Floats) -> Floats:
    """Prices of days with sales, carried on to those without."""
    known = units > 0
    days = np.arange(units.shape[1])
    last = np.maximum.accumulate(np.where(known, days, -1), axis=1)
    last = np.where(last < 0, known.argmax(1)[:, None], last)
    price = np.divide(money, units, out=np.ones_like(money), where=known)
    found: Floats = np.take_along_axis(price, last, 1)
    return found


def labels(names: pd.Series) -> pd.Series:
    """Somebody else's names as short lines of what can be shown.

    Names that are too long are cut, and numbered where that makes them the same as others.
    """
    whole = {name: _shown(name) for name in names.unique()}
    kept = {name: name for name in whole.values() if len(name) <= LONGEST}
    taken, times = set(kept), Counter[str]()
    for name in sorted(set(whole.values()) - taken):
        short = name[:LONGEST].strip()
        while (found := _numbered(short, times[short])) in taken:
            times[short] += 1
        taken.add(found)
        kept[name] = found
    return names.map({name: kept[each] for name, each in whole.items()})


def _shown(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _numbered(name: str, times: int) -> str:
    end = f" ~{times + 1}" if times else ""
    return name[: LONGEST - len(end)].strip() + end
