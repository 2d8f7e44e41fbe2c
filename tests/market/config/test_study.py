from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from market.config import Config, ConfigError, configure, expand, load, resolved
from market.config.cells import MOST_ID, Cell, cells, laid, representative
from market.config.loading import configured
from market.config.study import Range, Scale, Study

BASE = "arena/paper"


def study(vary: dict[str, Any] | None = None, **more: Any) -> Study:
    return Study.model_validate({"primary": "profit", "vary": vary or {}, **more})


def asked(vary: str, *more: str) -> Config:
    return load(BASE, ["study.primary=profit", f"study.vary={vary}", *more])


def test_a_grid_has_every_combination_and_the_first_of_all_is_the_baseline() -> None:
    found = cells(study({"rules.a": [1, 2], "rules.b": ["x", "y", "z"]}))
    assert [tuple(cell.settings.values()) for cell in found] == [
        (1, "x"), (1, "y"), (1, "z"), (2, "x"), (2, "y"), (2, "z"),
    ]  # fmt: skip


def test_a_study_that_varies_nothing_has_one_cell() -> None:
    assert cells(study()) == (Cell("base", {}),)


@pytest.mark.parametrize(
    ("given", "levels"),
    [
        (Range(low=0.5, high=2.0, levels=4), [0.5, 1.0, 1.5, 2.0]),
        (Range(low=0.5, high=2.0, levels=3, log=True), [0.5, 1.0, 2.0]),
        (Range(low=5, high=80, levels=5, log=True), [5, 10, 20, 40, 80]),
        (Range(low=1, high=3, levels=5), [1, 2, 3]),
        (Scale(scale=[0, 2]), [0.0, 2.0]),
    ],
)
def test_ranges_become_levels(given: Range | Scale, levels: list[float]) -> None:
    found = [cell.settings["rules.a"] for cell in cells(study({"rules.a": given.model_dump()}))]
    assert found == pytest.approx(levels)
    assert {type(each) for each in found} == {type(each) for each in levels}


def test_a_latin_hypercube_takes_each_tenth_of_each_range_once() -> None:
    vary = {"rules.a": {"low": 0.0, "high": 10.0}, "rules.b": {"low": 1.0, "high": 2.0}}
    found = cells(study(vary, design="sample", samples=10))
    for key, low, width in (("rules.a", 0.0, 10.0), ("rules.b", 1.0, 1.0)):
        parts = [int((cell.settings[key] - low) / width * 10) for cell in found]
        assert sorted(parts) == list(range(10))


def test_a_sample_is_drawn_again_from_its_seed_alone() -> None:
    vary = {"rules.a": {"low": 0.0, "high": 1.0}, "rules.b": ["x", "y"]}
    one, again, other = (
        cells(study(vary, design="sample", samples=8, sample_seed=seed)) for seed in (1, 1, 2)
    )
    assert one == again
    assert one != other
    assert sorted(cell.settings["rules.b"] for cell in one) == ["x"] * 4 + ["y"] * 4


def test_cells_keep_their_ids_when_values_are_added() -> None:
    few = cells(study({"rules.a": [1, 2], "rules.b": ["x"]}))
    more = cells(study({"rules.a": [1, 2, 3], "rules.b": ["x", "y"]}))
    assert {cell.id: cell for cell in few}.items() <= {cell.id: cell for cell in more}.items()


def test_ids_name_their_settings_and_are_fit_for_folders() -> None:
    assert cells(study({"rules.attention.tau": [0.2]}))[0].id == "tau-0.2"
    assert cells(study({"rules.a.x": [1], "rules.b.x": [2]}))[0].id == "a-x-1_b-x-2"
    odd = cells(study({"rules.a": ["../..", "a b", "a-b", {"k": "v" * 200}]}))
    assert all(len(cell.id) <= MOST_ID and "/" not in cell.id for cell in odd)
    assert len({cell.id for cell in odd}) == 4


def test_a_star_stands_for_every_name_and_a_scale_multiplies() -> None:
    asked = study({"p.*.s": {"scale": [0.5]}, "l.*.q": [7]})
    before = {"p": {"one": {"s": 0.2}, "two": {"s": 4}}, "l": [{"q": 1}, {"q": 2}]}
    after = laid(before, asked, cells(asked)[0])
    assert after == {"p": {"one": {"s": 0.1}, "two": {"s": 2}}, "l": [{"q": 7}, {"q": 7}]}
    assert before["l"] == [{"q": 1}, {"q": 2}]


def test_any_field_can_be_varied_and_each_cell_is_a_tournament() -> None:
    config = asked(
        "{retailers.0.count: [1, 4], encoder.model: [one], rules.attention.tau: [0.5],"
        " retailers.2.options.markup: [0.3]}",
        "study.seeds=3",
        "study.rosters=[leave-one-out]",
    )
    assert config.study is not None
    first, second = (configured(config, cell) for cell in cells(config.study))
    assert first.study is None
    assert first.tournament is not None
    assert first.tournament.seeds == 3
    assert (first.retailers[0].count, second.retailers[0].count) == (1, 4)
    assert first.encoder.model == "one"
    assert first.rules["attention"]["tau"] == 0.5
    assert first.retailers[2].options["markup"] == 0.3


def test_a_resolved_study_is_itself_a_configuration() -> None:
    config = asked("{rules.price_cap: {low: 1.5, high: 2.0, levels: 2}}")
    assert configure(resolved(config)) == config


@pytest.mark.parametrize(
    ("overrides", "told"),
    [
        (["study.vary={rules.attention.taw: [1]}"], "rules.attention.taw`: is no key here; did"),
        (["study.vary={rules.price_cap: [1.5, 0.2]}"], "price_cap`: should be greater than or"),
        (["study.vary={seed: [1, 2]}"], "study.vary.seed`: it cannot be varied; write"),
        (["study.vary={tournament.seeds: [1]}"], "cannot be varied"),
        (["study.vary={retailers.9.count: [1]}"], "`retailers` is a list of 8"),
        (["study.vary={retailers.0.options.hue: [1]}"], "retailers.0.options.hue`: is no key"),
        (["study.vary={rules.*.x: [1]}"], "rules.steps` is a single value"),
        (["study.vary={nothing.*.x: [1]}"], "nothing at `nothing`"),
        (["study.vary={rules.items.*.tier: {scale: [2]}}"], "is no number that could be scaled"),
        (["study.vary={rules.steps: [1, 1]}"], "two cells have the same settings"),
        (["study.vary={rules.steps: []}"], "study.vary.rules.steps`: name one value at least"),
        (["study.vary={rules.steps: {low: 1, high: 5}}"], "a grid needs `levels`"),
        (
            ["study.vary={rules.steps: {low: 5, high: 1, levels: 2}}"],
            "study.vary.rules.steps.high`: it is not above low",
        ),
        (
            ["study.vary={rules.steps: {low: 0, high: 1, log: true, levels: 2}}"],
            "study.vary.rules.steps.log`: factors need a low end above 0",
        ),
        (["study.samples=5"], "study.samples`: is given exactly with `design: sample`"),
        (["study.design=sample"], "study.samples`: is given exactly with"),
        (["tournament.seeds=2"], "take out `tournament`"),
        (["study.presets=[arena/nothing]"], "study.presets.0`"),
        (["study.published={profit: {low: 1}}"], "give this, or low and high"),
        (["study.primary=a b"], "study.primary`"),
    ],
)
def test_what_cannot_be_played_is_refused_with_its_key(overrides: list[str], told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(BASE, ["study.primary=profit", *overrides])
    assert told in str(caught.value)


def test_a_study_needs_a_primary_outcome() -> None:
    with pytest.raises(ConfigError, match=r"`study\.primary`: is missing"):
        load(BASE, ["study.seeds=2"])


def test_of_very_many_cells_each_value_is_checked_alone_and_some_together() -> None:
    made = cells(study({"rules.a": list(range(100)), "rules.b": list(range(100))}))
    shown = representative(made, 300)
    assert len(shown) <= 600
    assert {cell.settings["rules.a"] for cell in shown} == set(range(100))
    assert {cell.settings["rules.b"] for cell in shown} == set(range(100))
    assert any(cell.settings["rules.a"] and cell.settings["rules.b"] for cell in shown)


def test_a_study_may_be_over_presets_with_the_settings_laid_over_each(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "environment: arena\n"
        "retailers: [{name: markup, policy: markup, count: 2}]\n"
        "study:\n"
        "  primary: profit\n"
        "  presets: [arena/paper, arena/default]\n"
        "  vary: {rules.steps: [1, 2]}\n"
    )
    config = load(str(path))
    assert config.study is not None

    episodes = expand(configured(config, cells(config.study)[1]))
    found = {each.preset: each.config.rules for each in episodes}
    assert {name: rules["steps"] for name, rules in found.items()} == {"default": 2, "paper": 2}
    assert (found["paper"]["demand_ratio"], found["default"]["demand_ratio"]) == (0.95, 1.4)
