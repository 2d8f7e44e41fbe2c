from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from market.study.recording import load
from market.study.report.tournament import TournamentView, gather
from market.study.report.writing import material, render
from market.tables import write_tables
from tests.market.study.purse import paid, pool, tournament
from tests.market.study.report import hostile


@pytest.fixture(scope="module")
def purse(tmp_path_factory: pytest.TempPathFactory) -> TournamentView:
    """Who names more gets more: 10 per unit named, less what all others name."""
    folder = tmp_path_factory.mktemp("run") / "purse"
    rosters = ["all", "self-play", "one-among-many"]
    tournament(folder, rosters, pool(ref=10, low=1, high=30), seeds=6)
    run = load(folder)
    return gather(run, run.findings())


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hostile.tournament(tmp_path_factory.mktemp("run") / "hostile")


def test_the_leaderboard_has_means_intervals_and_rank_sets_best_first(purse) -> None:
    (board,) = purse.standings
    assert [line.name for line in board.lines] == ["high", "ref", "low"]
    assert [line.rank for line in board.lines] == [1, 2, 3]
    for line in board.lines:
        assert line.mean.blocks == 6
        assert line.mean.bar is not None
        assert re.fullmatch(r"\d( to \d)?", line.ranks)
        assert line.episodes == 6
    assert board.conditional


def test_pairs_are_seen_from_both_sides(purse) -> None:
    (board,) = purse.standings
    above, below = board.pairs[0][2], board.pairs[2][0]
    assert board.pairs[1][1] is None
    assert above is not None
    assert below is not None
    assert above.shown == below.shown.removeprefix("−")
    assert (above.apart, below.apart) == (1, -1)
    assert above.p == below.p == "0.03"
    assert above.sentence.startswith("high gets")
    assert "more than low" in above.sentence
    assert board.apart == (3, 3)


def test_the_matrix_says_what_a_copy_of_the_host_would_gain(purse) -> None:
    (matrix,) = purse.invasions
    cells = {
        (entrant, host): cell
        for entrant, row in matrix.rows
        for host, cell in zip(matrix.hosts, row, strict=True)
    }
    assert cells["high", "high"] is None
    gain, loss = cells["high", "low"], cells["low", "high"]
    assert gain is not None
    assert loss is not None
    assert gain[0].endswith("*")
    assert loss[0].startswith("−")
    assert gain[1] > 0.5
    assert loss[1] < -0.5
    assert gain[2].startswith("What one of 3 low would gain by becoming high")


def test_sections_have_what_the_design_allows_and_notes_the_rest(purse) -> None:
    assert [table.title for table in purse.sections["self-play"]] == ["self-play outcome"]
    assert purse.sections["effects"] == []
    assert any("`replacement`" in note for note in purse.notes)
    assert purse.sections["welfare"] == []
    assert purse.sections["cost"] == []
    assert purse.capital == ()
    assert purse.market == ("", "all")
    associations = purse.sections["associations"]
    assert {table.title for table in associations} == {"within episodes", "between retailers"}
    assert purse.others["associations"]


@pytest.mark.parametrize(
    ("design", "told", "not_told"),
    [
        ("leave-one-out", "where its seat is empty", "in its place"),
        ({"design": "replacement", "reference": "ref"}, "gains over ref in its place", "is empty"),
    ],
)
def test_the_lead_of_effects_tells_of_the_design_that_was_played(
    tmp_path: Path, design: object, told: str, not_told: str
) -> None:
    folder = tournament(tmp_path / "t", ["all", design], pool(ref=10, low=1, high=30), seeds=2)
    run = load(folder)
    lead = gather(run, run.findings()).effects
    assert told in lead
    assert not_told not in lead


def test_a_design_without_effects_has_no_lead_for_them(purse) -> None:
    assert purse.effects == ""


def test_the_leaderboard_says_what_it_is_over_and_that_others_are_over_more(tmp_path: Path) -> None:
    folder = tournament(tmp_path / "t", ["all", "leave-one-out"], pool(a=1, b=2, c=3), seeds=2)
    write_tables(folder)
    shown = words(folder)
    assert "over the 2 valid episodes of the design all ; seeds are the blocks" in shown
    assert "summary.json have other means" in shown
    assert "whatever the design; 8 were finished." in shown


def test_one_design_of_which_all_is_valid_has_one_mean_only(tmp_path: Path) -> None:
    folder = tournament(tmp_path / "t", ["all"], pool(a=1, b=2), seeds=2)
    write_tables(folder)
    shown = words(folder)
    assert "over the 2 valid episodes of the design all" in shown
    assert "have other means" not in shown


def test_what_is_named_in_notes_is_set_as_code_and_shows_no_backtick(attacked: Path) -> None:
    html = render(material(attacked))
    notes = html.partition("What this run cannot say")[2].partition("</ul>")[0]
    assert "add the design <code>replacement</code>" in notes
    assert "`" not in notes


def test_seats_of_the_example_have_the_colour_of_their_retailer(attacked: Path) -> None:
    html = render(material(attacked))
    coloured = {
        name: colour
        for colour, name in re.findall(
            r'<i class="swatch (c\d) \w*" aria-hidden="true"></i><bdi class="seat">([^<]+)</bdi>',
            html.partition('<section id="standings">')[2].partition("</section>")[0],
        )
    }
    example = re.findall(
        r'<i class="swatch (\w+) \w*" aria-hidden="true"></i><bdi class="seat">([^<]+)</bdi>',
        html.partition('<section id="leaderboard">')[2].partition("</section>")[0],
    )
    seen = {name: colour for colour, name in example if colour != "quiet"}
    assert coloured.keys() == {"markup", "undercutter", "gpt"}
    assert seen == {"gpt": coloured["gpt"]}


def test_the_words_of_one_episode_are_those_of_its_seats(tmp_path: Path) -> None:
    one = hostile.tournament(tmp_path / "one", tournament={"rosters": ["all"], "seeds": 1})
    said = material(one).words
    assert said is not None
    assert {point.name for point in said.points} == {"markup-1", "markup-2", "undercutter", "gpt"}


def test_costs_are_shown_once_something_cost_or_is_unknown(tmp_path: Path) -> None:
    folder = tournament(tmp_path / "t", ["all"], pool(a=1, b=2), seeds=2)
    paid(folder, "all.seed-0.rep-1", "a", 0.5)
    paid(folder, "all.seed-1.rep-1", "a", 0.25)
    run = load(folder)
    found = gather(run, run.findings())
    assert found.sections["cost"][0].title == "cost"
    assert [(name, cost) for name, cost, _, _ in found.points] == [("a", 0.375), ("b", 0)]


def test_paths_are_means_over_seeds_with_their_intervals(attacked: Path) -> None:
    run = load(attacked)
    found = gather(run, run.findings())
    path = {path.name: path for path in found.capital}["undercutter"]
    worth = run.table("standings")
    worth = worth[worth["episode"].str.startswith("all.") & (worth["seat"] == "undercutter")]
    last = worth[worth["step"] == 3]["net_worth"]
    assert len(path.mean) == 3
    assert path.mean[2] == pytest.approx(last.mean())
    half = 4.302653 * last.std() / 3**0.5
    assert path.low[2] == pytest.approx(last.mean() - half, rel=1e-4)
    assert path.high[2] == pytest.approx(last.mean() + half, rel=1e-4)
    assert found.example(run) == "all.seed-1.rep-1"
    assert len(found.indices["gini_net_worth"].mean) == 3


def words(folder: Path) -> str:
    body = render(material(folder)).partition("<body>")[2].partition("<footer>")[0]
    return " ".join(re.sub(r"<[^>]+>", " ", body).split())


def test_one_market_of_all_together_is_called_conditional(attacked: Path) -> None:
    shown = words(attacked)
    assert "This order is conditional on its company." in shown
    assert "everything here is exploratory" in shown


def test_the_primary_outcome_is_marked_and_all_else_is_exploratory(
    attacked: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "named"
    shutil.copytree(attacked, folder)
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "study": {"primary": "score"}}))
    html = render(material(folder))
    for section, tag in (("standings", "primary"), ("separability", "primary"), ("cost", "")):
        heading = re.search(rf'<section id="{section}">\s*<h2>(.*?)</h2>', html, re.DOTALL)
        assert heading is not None
        assert ("tag primary" in heading[1]) == (tag == "primary"), section


def test_a_report_of_equal_records_has_equal_bytes(attacked: Path) -> None:
    assert render(material(attacked)) == render(material(attacked))
