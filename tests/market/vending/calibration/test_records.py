"""What is read of a CSV, and what is refused."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import numpy as np
import pytest

from market.vending.calibration import offers
from market.vending.calibration.records import Records, read
from market.vending.calibration.table import CalibrationError

HEAD = "timestamp,machine,product,price,quantity"


def records(tmp_path: Path, *lines: str, head: str = HEAD) -> Records:
    path = tmp_path / "sales.csv"
    path.write_text("\n".join([head, *lines, ""]), encoding="utf-8")
    return read(path)


def test_sales_of_a_day_are_summed_and_prices_carried_on(tmp_path: Path) -> None:
    found = records(
        tmp_path,
        "2025-03-01T09:00,A,tea,4.00,1",
        "2025-03-01T22:10:05,A,tea,4.00,2",
        "2025-03-03,A,tea,6.00,1",
        "2025-03-03 08:00,A,tea,5.00,1",
        "2025-03-02,B,tea,3.00,1",
        "2025-03-02,B,nuts,9.5,0",
    )
    assert (found.first, found.days) == (date(2025, 3, 1), 3)
    assert (found.machines, found.products) == (("A", "B"), ("tea",))
    assert found.units.tolist() == [[3, 0, 2], [0, 1, 0]]
    assert found.price.tolist() == [[4, 4, 5.5], [3, 3, 3]]
    assert found.site_types == ("A", "B")
    assert found.subcategories == ("goods",)


def test_a_line_without_a_quantity_is_one_unit(tmp_path: Path) -> None:
    head = "timestamp,machine,product,price,site_type,subcategory"
    found = records(tmp_path, "2025-03-01,A,tea,4,school,drinks", head=head)
    assert found.units.tolist() == [[1]]
    assert (found.site_types, found.subcategories) == (("school",), ("drinks",))


def test_stock_is_that_of_the_morning_and_what_was_left(tmp_path: Path) -> None:
    found = records(
        tmp_path,
        "2025-03-01T12:00,A,tea,4,2,3",
        "2025-03-01T09:00,A,tea,4,1,4",
        "2025-03-02,A,tea,4,1,",
        "2025-03-04,A,tea,4,0,6",
        "2025-03-05,A,tea,4,7,",
        "2025-03-05,A,nuts,4,0,2",
        head=f"{HEAD},stock",
    )
    # 4 less 3; all sold; none; refilled; sold 7, so that there were as many.
    assert found.stock is not None
    assert found.stock.tolist() == [[4, 1, 0, 6, 7]]
    assert offers.sold_out(found).tolist() == [[False, True, False, False, True]]
    assert found.until(2).stock is not None
    offered = offers.offered(found, np.array([4.0]), 2.0, 3.0)
    assert offered[0, 2] == 0
    assert offered[0, 3] == pytest.approx(1 - np.exp(-2))
    assert offers.carried(found, offered) == pytest.approx(offered.mean(1))


def test_a_stock_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CalibrationError, match="line 2, column `stock`: `few` is no whole number"):
        records(tmp_path, "2025-03-01,A,tea,4,1,few", head=f"{HEAD},stock")


def test_without_stock_nothing_sells_out(tmp_path: Path) -> None:
    found = records(tmp_path, "2025-03-01,A,tea,4,1", "2025-03-02,A,tea,8,2")
    assert found.stock is None
    assert not offers.sold_out(found).any()
    # The reference is 8, the median unit's; at half of it attraction is e as strong.
    offered = offers.offered(found, offers.references(found), 2.0, 3.0)
    assert offered[0] == pytest.approx([np.e, 1])
    assert offers.carried(found, offered) == pytest.approx([1])


def test_local_time_decides_the_day(tmp_path: Path) -> None:
    found = records(tmp_path, "2025-03-01T23:30:00+08:00,A,tea,4,1")
    assert found.first == date(2025, 3, 1)


@pytest.mark.parametrize("offset", ["", "Z", "+02:00", "-0930", " +02", "-12:00"])
def test_offsets_may_change_from_line_to_line(tmp_path: Path, offset: str) -> None:
    found = records(
        tmp_path,
        "2025-03-29T23:59:59+01:00,A,tea,4,1",
        f"2025-03-30T00:00{offset},A,tea,4,2",
        " 2025-03-30 23:59:59.5 ,A,tea,4,4",
    )
    assert found.units.tolist() == [[1, 6]]


def test_a_period_that_no_records_have_is_a_date_that_was_mistyped(tmp_path: Path) -> None:
    lines = ("2025-03-02,A,tea,4,1", "2005-03-02,A,tea,4,1", "0025-03-01,A,tea,4,0")
    assert records(tmp_path, *lines).days == 7_306
    with pytest.raises(CalibrationError) as error:
        records(tmp_path, *lines, "", "2025-03-03,A,tea,4,1")
    assert (
        "sales reach from 2005-03-02 (line 3) to 2025-03-03 (line 6), over more than 20 years; "
        "mend the date that is wrong."
    ) in str(error.value)


def test_what_some_lines_tell_of_a_machine_or_product_holds_for_all(tmp_path: Path) -> None:
    found = records(
        tmp_path,
        "2025-03-01,A,tea,4,1,,",
        "2025-03-01,A,tea,4,1,school,drinks",
        "2025-03-01,A,nuts,4,1,,",
        "2025-03-01,B,nuts,4,1,,",
        head=f"{HEAD},site_type,subcategory",
    )
    assert found.site_types == ("school", "B")
    assert found.subcategories == ("goods", "drinks")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "2025-03-02,A,nuts,4,1,office,food",
            "line 4, column `site_type`: `office` is not what line 3 says of `A`, which is "
            "`school`; let all its lines say the same or nothing.",
        ),
        (
            "2025-03-02,B,tea,4,1,,food",
            "line 4, column `subcategory`: `food` is not what line 3 says of `tea`, which is "
            "`drinks`; let all its lines say the same or nothing.",
        ),
    ],
)
def test_a_machine_of_two_types_and_a_product_of_two_kinds_are_refused(
    tmp_path: Path, line: str, told: str
) -> None:
    before = ("2025-03-01,A,tea,4,1,,", "2025-03-01,A,tea,4,1,school,drinks")
    with pytest.raises(CalibrationError) as error:
        records(tmp_path, *before, line, head=f"{HEAD},site_type,subcategory")
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("now,A,tea,4,1", "line 2, column `timestamp`: `now` is no date"),
        ("2025-03-01T08:00+25:00,A,tea,4,1", "`2025-03-01T08:00+25:00` is no date"),
        ("2025-03-01,A,tea,1e7,1", "`1e7` is no price above 0 and up to 1000000"),
        ("2025-03-01,A,tea,4,1000001", "no whole number of units from 0 to 1000000"),
        ("soon,A,tea,4,1", "line 2, column `timestamp`: `soon` is no date"),
        ("2025-03-01,,tea,4,1", "column `machine`: `` is empty"),
        ("2025-03-01,A,tea,free,1", "column `price`: `free` is no price above 0"),
        ("2025-03-01,A,tea,-4,1", "column `price`: `-4` is no price above 0"),
        ("2025-03-01,A,tea,nan,1", "column `price`: `nan` is no price above 0"),
        ("2025-03-01,A,tea,4,1.5", "column `quantity`: `1.5` is no whole number"),
        ("2025-03-01,A,tea,4,-1", "column `quantity`: `-1` is less than 0; leave out refunds"),
        ("2025-03-01,A,tea,4,0", "holds no sale"),
    ],
)
def test_what_makes_no_sense_is_told_with_its_line(tmp_path: Path, line: str, told: str) -> None:
    with pytest.raises(CalibrationError) as error:
        records(tmp_path, line)
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_names_are_one_short_line(tmp_path: Path) -> None:
    found = records(
        tmp_path, f'2025-03-01,A,"  iced\n tea\x1b[31m ",4,1\n2025-03-01,A,{"x" * 100},4,1'
    )
    assert found.products == ("iced tea [31m", "x" * 64)


def test_long_names_that_begin_alike_stay_different(tmp_path: Path) -> None:
    names = (f"{'x' * 64}z", f"{'x' * 64}y", "x" * 64, f"{'x' * 61} ~2")
    found = records(tmp_path, *(f"2025-03-01,A,{name},4,1" for name in names))
    ends = (" ~2", " ~3", " ~4", "xxx")
    assert found.products == tuple(f"{'x' * 61}{end}" for end in ends)


def part(units: list[list[float]], price: list[list[float]] | None = None) -> Records:
    """Records of one machine that sells a product per row."""
    n = len(units)
    return Records(
        first=date(2025, 3, 3),
        machines=("A",),
        site_types=("A",),
        products=tuple(f"p{i}" for i in range(n)),
        subcategories=("goods",) * n,
        machine=np.zeros(n, int),
        product=np.arange(n),
        units=np.array(units, float),
        price=np.array(price if price is not None else np.ones_like(units), float),
    )


def test_a_product_counts_as_offered_some_while_around_its_sales() -> None:
    days = 200
    daily, once, monthly = [0.0] * days, [0.0] * days, [0.0] * days
    for day in range(80, 100):
        daily[day] = 1
    once[10] = 5
    for day in (60, 90, 120):
        monthly[day] = 1
    listed = offers.listed(part([daily, once, monthly]))
    assert np.flatnonzero(listed[0]).tolist() == [*range(80 - 28, 99 + 28 + 1)]
    assert listed[1].all()
    # Three gaps of 30 days around the first and the last sale.
    assert np.flatnonzero(listed[2]).tolist() == [*range(0, days)]


def test_the_reference_is_the_median_price_of_a_unit() -> None:
    found = offers.references(part([[1, 1, 3]], [[9, 5, 4]]))
    assert found.tolist() == [4]
    assert offers.references(part([[0, 0, 0]])).tolist() == [1]


def test_a_holiday_has_a_slot_of_its_own() -> None:
    monday = date(2025, 4, 28)
    assert offers.slots(monday, range(7), None).tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert offers.slots(monday, range(7), "DE").tolist() == [0, 1, 2, offers.HOLIDAY, 4, 5, 6]
    with pytest.raises(CalibrationError, match="`XX`"):
        offers.slots(monday, range(7), "XX")


def test_the_first_part_holds_what_sold_in_it() -> None:
    found = part([[1, 0, 2], [0, 0, 4]]).until(2)
    assert found.units.tolist() == [[1, 0]]
    assert found.product.tolist() == [0]
    assert found.days == 2
