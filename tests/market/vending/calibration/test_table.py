"""What is read of a CSV as text, whatever wrote it."""

from __future__ import annotations

from pathlib import Path

import pytest

from market.vending.calibration.table import CalibrationError, Table, read_table

HEAD = "timestamp,machine,product,price"


def table(tmp_path: Path, *lines: str, head: str = HEAD) -> Table:
    path = tmp_path / "sales.csv"
    path.write_text("\n".join([head, *lines, ""]), encoding="utf-8")
    return read_table(path)


def refusal(tmp_path: Path, *lines: str, head: str = HEAD) -> str:
    with pytest.raises(CalibrationError) as error:
        table(tmp_path, *lines, head=head)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_row_knows_its_line_past_blank_lines_and_line_breaks_in_quotes(tmp_path: Path) -> None:
    found = table(tmp_path, "", "1,A,tea,4", "  ", '2,A,"iced', "", 'tea",4', ",,,", "3,A,tea,4")
    assert found.text["timestamp"].tolist() == ["1", "2", "3"]
    assert found.text["product"].tolist() == ["tea", "iced\n\ntea", "tea"]
    assert found.lines == (3, 5, 9)


def test_the_first_bad_field_is_told_with_its_line_and_the_name_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "sales.csv"
    path.write_text("timestamp,machine,product,Paid\n1,A,tea,4\n\n2,A,tea,free\n3,A,tea,no\n")
    found = read_table(path, {"price": "Paid"})
    found.refuse("price", found.numbers("price") < 0, "is below 0")
    with pytest.raises(CalibrationError, match="csv, line 4, column `Paid`: `free` is none"):
        found.refuse("price", found.numbers("price").isna(), "is none")


def test_commas_at_the_ends_of_lines_shift_nothing(tmp_path: Path) -> None:
    found = table(tmp_path, "1,A,tea,4,", "2,A,tea,5, ,")
    assert found.text["timestamp"].tolist() == ["1", "2"]
    assert found.numbers("price").tolist() == [4, 5]


def test_missing_fields_at_the_end_are_empty(tmp_path: Path) -> None:
    found = table(tmp_path, "1,A,tea,4", head=f"{HEAD},stock")
    assert found.text["stock"].tolist() == [""]


def test_fields_without_a_column_are_refused(tmp_path: Path) -> None:
    told = refusal(tmp_path, "1,A,tea,4", "2,A,tea, iced,4")
    assert "line 3 has 5 fields, but the head has 4; put text that holds a separator" in told


def test_a_mark_before_the_head_is_no_part_of_it(tmp_path: Path) -> None:
    found = table(tmp_path, "1,A,tea,4", head=f"\ufeff{HEAD}")
    assert found.names["timestamp"] == "timestamp"


def test_a_table_of_tabs_is_read(tmp_path: Path) -> None:
    found = table(tmp_path, "1\tA\ttea, iced\t4.5", head=HEAD.replace(",", "\t"))
    assert found.text["product"].tolist() == ["tea, iced"]
    assert found.numbers("price").tolist() == [4.5]


def test_between_semicolons_commas_are_decimal(tmp_path: Path) -> None:
    head = HEAD.replace(",", ";")
    with_commas = table(tmp_path, "1;A;tea;4,50", "1;A;tea;4", "1;A;tea;1.000", head=head)
    assert with_commas.numbers("price").iloc[:2].tolist() == [4.5, 4]
    assert with_commas.numbers("price").isna().tolist() == [False, False, True]
    with_dots = table(tmp_path, "1;A;tea;4.50", "1;A;tea;4", head=head)
    assert with_dots.numbers("price").tolist() == [4.5, 4]


def test_between_commas_a_comma_is_not_decimal(tmp_path: Path) -> None:
    assert table(tmp_path, '1,A,tea,"4,50"').numbers("price").isna().all()


def test_two_columns_of_a_name_that_is_read_are_refused(tmp_path: Path) -> None:
    told = refusal(tmp_path, "1,A,tea,4,5", head=f"{HEAD},price")
    assert "2 columns `price`; rename all but the one that holds the price." in told
    assert table(tmp_path, "1,A,tea,4,5,6", head=f"{HEAD},note,note").lines == (2,)


@pytest.mark.parametrize("line", ['1,A,"tea,4', '1,A,"te"a,4'])
def test_quotation_marks_that_do_not_match_are_refused(tmp_path: Path, line: str) -> None:
    told = refusal(tmp_path, "1,A,tea,4", line, "3,A,tea,4")
    assert "line 3: a quotation mark is not closed or not doubled" in told


def test_a_file_that_is_no_text_in_utf_8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "sales.csv"
    path.write_text(f"{HEAD}\n1,A,Käse,4\n", encoding="latin-1")
    with pytest.raises(CalibrationError, match="is no text in UTF-8; save it as CSV in UTF-8"):
        read_table(path)


def test_a_file_that_is_missing_or_empty_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CalibrationError, match="cannot be read"):
        read_table(tmp_path / "none.csv")
    assert "cannot be read as a CSV: it is empty." in refusal(tmp_path, head="")


def test_a_column_that_is_not_there_is_told_with_what_is(tmp_path: Path) -> None:
    told = refusal(tmp_path, head="timestamp,machine,product,paid")
    assert "--column price=NAME (there are timestamp, machine, product, paid)" in told
    with pytest.raises(CalibrationError, match="no `colour` to map; there are timestamp"):
        read_table(tmp_path / "sales.csv", {"colour": "red"})
