from __future__ import annotations

import csv
import io
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from market.study import exporting
from market.study.estimands.finding import Finding
from market.study.exporting import latex_text, markdown_text
from market.study.statistics.estimates import Estimate
from tests.market.study.purse import pool, tournament

FORMULA = '=HYPERLINK("http://x","y")'


def line(name: str, value: float | None = -1.5, episodes: str = "valid", **more: int) -> Finding:
    estimate = (
        Estimate.missing("nobody, really") if value is None else Estimate(value, -2, -1, 4, "t")
    )
    about = {"retailer": name, **more}
    return Finding(
        "standings", "mean", "score", about, estimate, "score", "The mean.",
        episodes=episodes,  # type: ignore[arg-type]
    )  # fmt: skip


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_csv_holds_all_that_is_known_of_a_line() -> None:
    rows = exporting.rows([line("a", seats=3), line("b", None), line("a", episodes="all")])
    first, second, third = read(exporting.comma_separated(rows["standings"]))
    assert (first["retailer"], first["seats"], first["value"], first["low"]) == (
        "a", "3", "-1.5", "-2",
    )  # fmt: skip
    assert (second["value"], second["undefined"], second["seats"]) == ("", "nobody, really", "")
    assert [each["episodes_counted"] for each in (first, second, third)] == [
        "valid",
        "valid",
        "all",
    ]


@pytest.mark.parametrize("name", [FORMULA, "+1", "-1", "@sum", "\t=1", " =1"])
def test_no_text_begins_a_formula_in_a_spreadsheet(name: str) -> None:
    (row,) = read(exporting.comma_separated(exporting.rows([line(name)])["standings"]))
    assert row["retailer"][0] == "'"
    assert row["retailer"][1:] == name.strip()
    assert row["value"] == "-1.5"


def test_latex_is_a_table_of_booktabs_in_which_nothing_commands() -> None:
    text = exporting.latex(exporting.rows([line(r"\input{x}_1 & 50% $y$ #1 ~^"), line("b", None)]))
    body = text.splitlines()
    assert r"\toprule" in body
    (row,) = [each for each in body if "input" in each]
    assert row == (
        r"mean & \textbackslash{}input\{x\}\_1 \& 50\% \$y\$ \#1 \textasciitilde{}"
        r"\textasciicircum{} & $-$1.500 & $-$2 to $-$1 & 4 &  \\"
    )
    assert "b & -- &  & 0 & nobody, really" in text
    columns = next(each for each in body if each.startswith(r"\begin{longtable}"))
    assert columns == r"\begin{longtable}{llrrrl}"


def test_markdown_is_a_table_in_which_nothing_marks_up() -> None:
    text = exporting.markdown(exporting.rows([line("a|b <img src=x> [c](http://d) *e* `f`")]))
    head, rule, row = text.splitlines()[2:5]
    assert head.count("|") == rule.count("|") == 7
    assert row.replace(r"\|", "").count("|") == 7
    assert "<img" not in row
    assert r"\[c\]\(http\:\/\/d\)" in row
    assert r"\*e\* \`f\`" in row


def test_hostile_characters_are_cleaned() -> None:
    assert latex_text("a\nb\x00\u202e") == "a b��"
    assert markdown_text("a\n\n# b") == r"a \# b"


def test_lines_on_all_episodes_are_left_to_csv_and_parquet() -> None:
    text = exporting.markdown(exporting.rows([line("a"), line("a", episodes="all")]))
    assert text.count("| mean | a |") == 1


def test_all_findings_of_a_run_are_written(tmp_path: Path) -> None:
    folder = tournament(tmp_path / "run", ["all", "self-play"], pool(a=1, b=2))
    made = exporting.tables(folder)
    assert {"standings", "self-play", "separability", "validity"} <= made.keys()
    paths = exporting.write(made, folder, "csv")
    assert {path.name for path in paths} == {f"{table}.csv" for table in made}
    exporting.write(made, folder, "parquet")
    for table, rows in made.items():
        stored = pq.read_table(folder / "findings" / f"{table}.parquet")
        assert stored.num_rows == len(rows)
        assert str(stored.schema.field("value").type) in ("double", "int64", "null")
    assert exporting.write(made, folder, "latex") == [folder / "findings.tex"]
    assert exporting.write(made, folder, "markdown") == [folder / "findings.md"]
    assert not list(folder.glob("**/*.part"))
