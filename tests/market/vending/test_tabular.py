from __future__ import annotations

from market.policies.tokens import estimate_tokens
from market.vending.tabular import cell, lines, table, within


def test_an_object_is_its_plain_values_and_a_table_per_list_of_rows() -> None:
    value = {
        "units": 3,
        "page": 1,
        "rows": [{"product": "P1", "price": 2.5}, {"product": "P2", "price": 3.0}],
        "today": {"day": 4, "holiday": None},
        "empty": [],
    }
    assert lines(value) == [
        "units 3, page 1, empty none",
        "rows:",
        "product,price",
        "P1,2.5",
        "P2,3",
        "today: day 4, holiday -",
    ]


def test_columns_are_those_of_the_first_row() -> None:
    assert table([{"a": 1}, {"b": 2, "a": 3}, {}]) == ["a", "1", "3", "-"]


def test_a_cell_holds_neither_comma_nor_line_break() -> None:
    assert cell("a, b\nc") == "a; b c"
    assert cell(True) == "yes"
    assert cell([1, "x,y"]) == "1 x;y"
    assert cell(10**30) == "over 10^15"
    assert cell(float(10**20)) == "over 10^15"
    assert len(cell("x" * 500)) <= 80


def test_a_long_text_stands_alone_and_keeps_its_commas() -> None:
    (told,) = lines({"text": "buy water, then bread. " * 10})
    assert told.startswith("text: buy water, then")


def test_lines_that_do_not_fit_are_counted() -> None:
    told = [f"line {number} of many" for number in range(100)]
    kept = within(told, 60)
    assert sum(estimate_tokens(line) + 1 for line in kept) <= 60
    assert kept[-1] == f"(left out: {101 - len(kept)} lines)"
    assert within(told[:2], 60) == told[:2]


def test_one_line_that_is_too_long_is_clipped() -> None:
    (kept,) = within(["word " * 200], 40)
    assert kept.endswith("…")
    assert within(["word " * 200, "more"], 40)[1] == "(left out: 1 lines)"
