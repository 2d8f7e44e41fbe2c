from __future__ import annotations

from pathlib import Path

import pytest

from market.config import ConfigError, load, presets
from market.config.sources import find, layers, merged, suggestion


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "configs"
    (folder / "arena").mkdir(parents=True)
    (folder / "arena" / "small.yaml").write_text("# A small market.\n# More.\nenvironment: x\n")
    (folder / "arena" / "bare.yaml").write_text("environment: x\n# Too late.\n")
    monkeypatch.setattr("market.config.sources._folder", lambda: folder)
    return folder


def test_presets_are_listed_with_the_first_comment_line(shipped: Path) -> None:
    assert [(preset.name, preset.description) for preset in presets()] == [
        ("arena/bare", ""),
        ("arena/small", "A small market."),
    ]


def test_a_file_goes_before_a_preset_of_that_name(shipped: Path, tmp_path: Path) -> None:
    (tmp_path / "arena").mkdir()
    (tmp_path / "arena" / "small").write_text("environment: y")
    assert find("arena/small", tmp_path) == tmp_path / "arena" / "small"
    assert find("arena/bare", tmp_path) == shipped / "arena" / "bare.yaml"


def test_a_missing_reference_names_the_nearest_preset(shipped: Path) -> None:
    with pytest.raises(ConfigError, match=r"no preset `arena/smal`; did you mean `arena/small`"):
        find("arena/smal")
    with pytest.raises(ConfigError, match=r"there are `arena/bare`, `arena/small`"):
        find("zzzzzz\x00")


def test_a_missing_file_is_told_without_a_list_of_presets(shipped: Path, tmp_path: Path) -> None:
    for reference in ("mine.yaml", "./mine", "/no/where"):
        with pytest.raises(ConfigError, match=r"`; look for it where the path leads, or") as error:
            find(reference)
        assert "arena/" not in str(error.value)
    with pytest.raises(ConfigError, match=r"did you mean `arena/bare`"):
        find("arena/bare.yaml")


def test_a_folder_is_told_to_be_one_and_part_of_a_name_with_what_begins_so(
    shipped: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine.yaml").mkdir()
    with pytest.raises(ConfigError, match=r"`mine.yaml` is a folder; name a file in it, or a pre"):
        find("mine.yaml", tmp_path)
    for reference in ("arena", "arena/"):
        with pytest.raises(ConfigError, match=r"begin so are `arena/bare`, `arena/small`\."):
            find(reference, tmp_path)


def test_a_preset_is_found_only_by_its_name(shipped: Path) -> None:
    with pytest.raises(ConfigError):
        find("arena/../arena/small")


def test_extends_is_followed_from_the_furthest(shipped: Path, tmp_path: Path) -> None:
    (tmp_path / "middle.yaml").write_text("extends: arena/small\nseed: 1\n")
    (tmp_path / "sub").mkdir()
    last = tmp_path / "sub" / "last.yaml"
    last.write_text("extends: ../middle.yaml\nseed: 2\n")
    assert [layer.data for layer in layers(last)] == [
        {"environment": "x"},
        {"seed": 1},
        {"seed": 2},
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("extends: a.yaml", "leads back to this file"),
        ("extends: b.yaml", "leads back to this file"),
        ("extends: 3", "must be a preset's name or a path"),
        ("extends: nowhere", "`extends`: There is no file and no preset `nowhere`"),
    ],
)
def test_a_wrong_extends_is_told(shipped: Path, tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "a.yaml").write_text(text)
    (tmp_path / "b.yaml").write_text("extends: a.yaml")
    with pytest.raises(ConfigError, match=told) as error:
        layers(tmp_path / "a.yaml")
    assert str(tmp_path) in str(error.value)


def test_mappings_are_merged_and_all_else_is_replaced() -> None:
    below = {"a": {"x": 1, "y": [1, 2]}, "b": 1, "c": {"z": 1}}
    above = {"a": {"y": [3]}, "b": {"w": 2}, "c": None}
    assert merged(below, above) == {"a": {"x": 1, "y": [3]}, "b": {"w": 2}, "c": None}
    assert below["a"] == {"x": 1, "y": [1, 2]}


def test_a_suggestion_says_what_there_is() -> None:
    assert suggestion("stesp", ["steps", "seats"]) == "did you mean `steps`"
    assert suggestion("zzz", ["steps", "seats"]) == "there are `seats`, `steps`"
    assert suggestion("zzz", []) == "none is known"


@pytest.mark.parametrize(
    "name", [preset.name for preset in presets() if preset.name.startswith("arena/")]
)
def test_every_shipped_preset_loads_and_is_described(name: str) -> None:
    assert load(name).name == name.rpartition("/")[2]
    assert next(preset for preset in presets() if preset.name == name).description
