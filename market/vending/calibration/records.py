"""A CSV of sales as units per machine, product and day.

One line is a sale: when, which machine, which product, at what price, and how many units (1 where
no column says so). Three more columns help where there are: the type of site of the machine, the
subcategory of the product, and its stock in the machine before the sale; lines of no unit tell the
stock of other days. Columns may have any names (`--column timestamp=Date`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from market.config.documents import bounded

if TYPE_CHECKING:
    import pandas as pd

#: What is read, and whether there must be a column for it.
COLUMNS: Mapping[str, bool] = {
    "timestamp": True,
    "machine": True,
    "product": True,
    "price": True,
    "quantity": False,
    "site_type": False,
    "subcategory": False,
    "stock": False,
}
#: Longest label that a world keeps.
LONGEST = 64

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class CalibrationError(ValueError):
    """Records that no world can be fitted to; one sentence with file, column and line."""


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
        columns: Names of columns in the file, where they differ from those of `COLUMNS`.

    Raises:
        CalibrationError: If it cannot be read, a column is missing, or a value makes no sense.
    """
    import pandas as pd

    names = {name: (columns or {}).get(name, name) for name in COLUMNS}
    for name in columns or {}:
        if name not in COLUMNS:
            known = ", ".join(COLUMNS)
            raise CalibrationError(f"there is no `{bounded(name)}` to map; there are {known}.")
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise CalibrationError(f"{path} cannot be read as a CSV: {bounded(str(error))}.") from error
    for name, column in names.items():
        asked = name in (columns or {})
        if column not in table.columns and (COLUMNS[name] or asked):
            there = bounded(", ".join(map(str, table.columns)))
            raise CalibrationError(
                f"{path} has no column `{bounded(column)}`; name the one that holds the {name} by "
                f"--column {name}=NAME (there are {there})."
            )
    sales = _checked(table, names, str(path))
    sold = sales[sales["units"] > 0]
    if sold.empty:
        raise CalibrationError(f"{path} holds no sale.")
    found = _records(sold)
    if "stock" not in sales:
        return found
    return replace(found, stock=_stock(found, sales.dropna(subset="stock")))


def _checked(table: pd.DataFrame, names: Mapping[str, str], path: str) -> pd.DataFrame:
    """The columns by their own names and of their types."""
    import pandas as pd

    def refuse(name: str, bad: pd.Series, what: str) -> None:
        if bad.any():
            row = int(bad.to_numpy().argmax())
            value = bounded(str(table[names[name]].iloc[row]))
            raise CalibrationError(
                f"{path}, line {row + 2}, column `{bounded(names[name])}`: `{value}` {what}."
            )

    when = pd.to_datetime(table[names["timestamp"]], errors="coerce", format="ISO8601")
    refuse("timestamp", when.isna(), "is no date or time; write it as 2025-03-31T14:05")
    if getattr(when.dt, "tz", None) is not None:
        when = when.dt.tz_localize(None)
    price = pd.to_numeric(table[names["price"]], errors="coerce")
    refuse("price", ~((price > 0) & (price <= 1e6)), "is no price above 0")
    if names["quantity"] in table:
        quantity = pd.to_numeric(table[names["quantity"]], errors="coerce")
        whole = (quantity >= 0) & (quantity <= 1e6) & (quantity % 1 == 0)
        refuse("quantity", ~whole, "is no whole number of units")
    else:
        quantity = pd.Series(1, table.index)
    found = pd.DataFrame(
        {"day": when.dt.normalize(), "price": price, "units": quantity.astype(float)}
    )
    if names["stock"] in table:
        told = table[names["stock"]]
        found["stock"] = stock = pd.to_numeric(told, errors="coerce")
        whole = (stock >= 0) & (stock <= 1e6) & (stock % 1 == 0)
        refuse("stock", ~whole & (told.str.strip() != ""), "is no whole number of units")
        found["when"] = when
    for name in ("machine", "product"):
        found[name] = table[names[name]].map(label)
        refuse(name, found[name] == "", "is empty")
    kinds = table.get(names["subcategory"])
    found["subcategory"] = "goods" if kinds is None else kinds.map(label).replace("", "goods")
    types = table.get(names["site_type"])
    found["site_type"] = "" if types is None else types.map(label)
    return found


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


def label(text: str) -> str:
    """A name of somebody else's as one short line of what can be shown."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:LONGEST].strip()
