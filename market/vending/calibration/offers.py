"""What records of sales let one say about what was offered: which products, at what prices, when.

Where records tell the stock, a product is offered while there is any, and more of it attracts more.
Where they do not, a product that was not sold counts as offered from its first sale to its last,
and some while before and after: three of its mean gaps between days with sales, four weeks at
least. One that was sold on a single day counts as offered throughout.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta

import numpy as np
from numpy.typing import NDArray

from market.vending.calendar import public_holidays
from market.vending.calibration.records import Floats, Ints, Records
from market.vending.calibration.table import CalibrationError

#: Least days of grace, and how many mean gaps.
GRACE, GAPS = 28, 3
#: The slot of public holidays, after the weekdays.
HOLIDAY = 7


def offered(records: Records, reference: Floats, sensitivity: float, presence: float) -> Floats:
    """(pairs, days) the factor of attraction of what is offered; 0 where a product is not.

    Args:
        records: The records.
        reference: (products) reference prices.
        sensitivity: b.
        presence: k, by which stock is taken where it is known.
    """
    there = listed(records) if records.stock is None else -np.expm1(-records.stock / presence)
    found: Floats = there * response(records.price, reference[records.product], sensitivity)
    return found


def sold_out(records: Records) -> NDArray[np.bool_]:
    """(pairs, days) whether all units were sold, as far as stock is known."""
    if records.stock is None:
        return np.zeros(records.units.shape, bool)
    found: NDArray[np.bool_] = (records.units > 0) & (records.units >= records.stock)
    return found


def carried(records: Records, offered: Floats) -> Floats:
    """(pairs) what is offered from the last day on, for all that is known then.

    Stock goes up and down, so where it is known it is the mean of the last weeks.

    Args:
        records: The records.
        offered: (pairs, days) what was offered.
    """
    last = 1 if records.stock is None else GRACE
    found: Floats = offered[:, -last:].mean(1)
    return found


def listed(records: Records) -> Floats:
    """(pairs, days) 1 where a product counts as offered, else 0."""
    sold, days = records.units > 0, np.arange(records.days)
    first, last = sold.argmax(1), records.days - 1 - sold[:, ::-1].argmax(1)
    times = sold.sum(1)
    gap = (last - first) / np.maximum(times - 1, 1)
    grace = np.where(times > 1, np.maximum(GRACE, GAPS * gap), records.days)
    open_, close = (first - grace)[:, None], (last + grace)[:, None]
    found: Floats = ((days >= open_) & (days <= close)).astype(float)
    return found


def response(price: Floats, reference: Floats, sensitivity: float) -> Floats:
    """(pairs, days) the factor of attraction at a price.

    Args:
        price: (pairs, days) prices.
        reference: (pairs) reference prices.
        sensitivity: b.
    """
    found: Floats = np.exp(-sensitivity * (price / reference[:, None] - 1))
    return found


def references(records: Records) -> Floats:
    """(products) the median over units of a product's price; 1 for one that was not sold."""
    found = np.ones(len(records.products))
    order = np.argsort(records.product, kind="stable")
    bounds = np.searchsorted(records.product[order], np.arange(len(found) + 1))
    for p in range(len(found)):
        pairs = order[bounds[p] : bounds[p + 1]]
        units, price = records.units[pairs].ravel(), records.price[pairs].ravel()
        if units.any():
            ranked = np.argsort(price, kind="stable")
            half = np.searchsorted(units[ranked].cumsum(), units.sum() / 2)
            found[p] = round(float(price[ranked][half]), 2)
    return np.maximum(found, 0.01)


def slots(first: date, days: Sequence[int], country: str | None) -> Ints:
    """(days) the weekday of each, 0 for Monday, or `HOLIDAY`.

    Args:
        first: The date of day 0.
        days: The days.
        country: Whose public holidays count as such; None for none.

    Raises:
        CalibrationError: If nobody keeps the holidays of the country.
    """
    dates = [first + timedelta(days=day) for day in days]
    kept: Mapping[date, str] = {}
    if country is not None:
        try:
            kept = public_holidays(country, dates)
        except ValueError as error:
            raise CalibrationError(f"{error}.") from error
    return np.array([HOLIDAY if when in kept else when.weekday() for when in dates])
