"""The books of a day by hand, and books that contradict themselves."""

from __future__ import annotations

import pytest

from market.money import ConservationError
from market.vending import accounts
from market.vending.accounts import Accounts


def test_a_day_by_hand() -> None:
    books = Accounts(10_000)
    books.pay("fixed", 800)
    books.pay("orders", 3_000)
    books.pay("rent", 20)
    books.earn(1_500, 900)
    books.write_off(100)
    books.pay("visits", 350)
    books.pay("fines", 1_000)
    closing = books.close(1)
    # 10,000 - 800 - 3,000 - 20 + 1,500 - 350 - 1,000; stock 3,000 - 900 - 100.
    assert closing.cash == 6_330
    assert closing.net_assets == 8_330
    assert closing.gross_profit == 600
    assert closing.profit == -1_670


def test_days_are_closed_apart() -> None:
    books = Accounts(1_000)
    books.pay("rent", 5)
    books.close(1)
    books.pay("rent", 7)
    assert books.close(2).rent == 7
    assert [closing.profit for closing in books.closings] == [-5, -7]


def test_cash_may_run_below_zero() -> None:
    books = Accounts(100)
    books.pay("fines", 1_000)
    assert books.close(1).cash == -900


def test_units_from_nowhere_are_found_when_the_day_closes() -> None:
    books = Accounts(100)
    books.move("P1", accounts.WAREHOUSE, accounts.SHELVES, 1, "load")
    with pytest.raises(ConservationError, match="P1"):
        books.close(1)


def test_value_from_nowhere_is_found_when_the_day_closes() -> None:
    books = Accounts(100)
    books.inventory += 1
    with pytest.raises(ConservationError, match="net assets"):
        books.close(1)
