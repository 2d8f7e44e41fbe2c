"""What documentation says is held against the code.

In the fenced blocks of a page, in this order:

    python   run in a folder of the page's own. One that begins `# name.py` is a file of it, of
             which tests are run; one that begins with a path of the repository is an excerpt of
             that file and must stand there word for word.
    yaml     load as a configuration, laid over the default market unless they say otherwise. One
             that begins `# name.yaml` is a file.
    sh       `market ...` must parse, with configurations that exist, and `make ...` be a target.

In inline code: commands, flags, presets, keys and their values, modules, paths and names. Links
must lead somewhere. The folder holds the results of a small run in `runs/seven`.
"""

from __future__ import annotations

import importlib
import io
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.main

from actors.cli import app
from actors.progress.audience import OneEpisode
from actors.progress.live import watcher
from actors.run import run
from market import registry
from market.config import Config, documents, load, presets
from market.config.options import options_model, policy_class
from tools import make_docs

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])
BASE = "arena/default"

_FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        language: What stands behind the fence.
        text: What is in it.
        name: The file that its first line names, or empty.
    """

    language: str
    text: str
    name: str


@cache
def blocks(page: Path, language: str) -> list[Block]:
    found = []
    for _, of, text in _FENCE.findall(page.read_text(encoding="utf-8")):
        named = re.match(r"# ([\w./-]+\.(?:py|ya?ml))\n", text)
        found.append(Block(of, text, named[1] if named else ""))
    return [block for block in found if block.language == language]


@cache
def inline(page: Path) -> list[str]:
    """Inline code, each on one line."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    return [" ".join(code.split()) for code in re.findall(r"`([^`]+)`", text)]


def each(pages: Sequence[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("page", pages, ids=lambda page: page.name)


@pytest.fixture(scope="module")
def seven(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of a small run."""
    folder = tmp_path_factory.mktemp("runs") / "seven"
    small = ["inline=true", "rules.steps=2", "rules.attention.similarity=none"]
    with watcher(io.StringIO()) as silent:
        run(load(BASE, small, seed=7), folder, OneEpisode(silent))
    return folder


@pytest.fixture
def folder(
    page: Path, seven: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """A working folder with all files that the page shows."""
    shutil.copytree(seven, tmp_path / "runs" / "seven")
    for block in [*blocks(page, "python"), *blocks(page, "yaml")]:
        if block.name and "/" not in block.name:
            (tmp_path / block.name).write_text(block.text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if (tmp_path / f"{name}.py").exists():
            del sys.modules[name]


@pytest.mark.parametrize("name", make_docs.pages())
def test_generated_pages_say_what_the_code_says(name: str) -> None:
    written = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert written == make_docs.pages()[name], "run `make docs`"


@pytest.mark.parametrize("name", make_docs.pages())
def test_everything_in_the_reference_is_described(name: str) -> None:
    rows = re.findall(r"^\| `(\w+)` \|.*\|(.*)\|$", make_docs.pages()[name], re.MULTILINE)
    assert rows
    assert not [field for field, meaning in rows if not meaning.strip()]


@each([page for page in PAGES if blocks(page, "python")])
def test_python_examples_run(page: Path, folder: Path) -> None:
    for number, block in enumerate(blocks(page, "python")):
        if "/" in block.name:
            excerpt = block.text.partition("\n")[2].strip("\n")
            assert excerpt in (ROOT / block.name).read_text(), f"{block.name} has changed"
            continue
        name = block.name or f"example_{number}.py"
        (folder / name).write_text(block.text)
        module = importlib.import_module(name.removesuffix(".py"))
        tests = [value for key, value in vars(module).items() if key.startswith("test_")]
        assert tests or not name.startswith("test_")
        for test in tests:
            test()


@each([page for page in PAGES if blocks(page, "yaml")])
def test_yaml_examples_load(page: Path, folder: Path) -> None:
    for number, block in enumerate(blocks(page, "yaml")):
        data = documents.parse(block.text, page.name)
        if not data.keys() & {"extends", *Config.model_fields}:
            data = {"rules": data}
        if "environment" not in data:
            data = {"extends": BASE, **data}
        path = folder / f"block-{number}.yaml"
        path.write_text(documents.write(data))
        load(str(path))


@each([page for page in PAGES if blocks(page, "sh")])
def test_commands_parse(page: Path, folder: Path) -> None:
    for block in blocks(page, "sh"):
        for line in block.text.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            while words and re.match(r"[A-Z_]+=", words[0]):
                words = words[1:]
            if words and words[0].endswith("market"):
                _parse(words[1:])
            elif words and words[0] == "make":
                assert set(words[1:]) <= _targets(), line


@each(PAGES)
def test_inline_code_names_what_exists(page: Path, seven: Path) -> None:
    written = (seven / "summary.json").read_text()
    assert not [code for code in inline(page) if not _exists(code) and f'"{code}"' not in written]


@each(PAGES)
def test_links_lead_somewhere(page: Path) -> None:
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"https?:", target):
            continue
        path, _, anchor = target.partition("#")
        there = page.parent / path if path else page
        assert there.exists(), target
        if anchor:
            heads = re.findall(r"^#+ (.*)$", there.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", h).lower().replace(" ", "-") for h in heads}


def test_the_check_itself_finds_what_is_not_there() -> None:
    for stale in (
        "market play", "market run arena/paper --sede 3", "--sede", "arena/papre", "make tea",
        "ties: fair", "tyes: random", "attention.taw", "rules.steps.more", "salvaged_stock",
        "market.arena.action", "market.arena.auction.Hammer", "market/arena/hammer.py",
    ):  # fmt: skip
        assert not _exists(stale), stale


def _parse(words: Sequence[str]) -> None:
    """Parse a command line; whatever is wrong with it raises."""
    command = _commands()[words[0]]
    parameters = command.make_context(words[0], list(words[1:])).params
    if words[0] == "run":
        named = parameters["config"]
        shown = Path(named).exists() or not named.endswith((".yaml", ".json"))
        load(named if shown else BASE, parameters["overrides"] or (), parameters["seed"])


def _exists(code: str) -> bool:
    """Whether what a piece of inline code names is there; true where it names nothing of ours."""
    words = code.split()
    if words[0] == "market" and len(words) > 1:
        command = _commands().get(words[1])
        return command is not None and _flags(words) <= _flags_of(command)
    if code.startswith("--"):
        return any(words[0] in _flags_of(command) for command in _commands().values())
    if words[0] == "make" and len(words) == 2:
        return words[1] in _targets()
    if re.fullmatch(r"(arena|vending)/[a-z0-9-]+", code):
        return code in {preset.name for preset in presets()}
    if code.removeprefix("market.") in registry.environment_kind("arena").indices:
        return True  # an outcome of a study
    if re.fullmatch(r"(market|actors|embeddings)(\.\w+)+", code):
        return _is_module(code)
    if re.fullmatch(r"(market|actors|embeddings|tests|docs|configs|tools)/[\w./-]+", code):
        return (ROOT / code).exists()
    if setting := re.fullmatch(r"([a-z_]\w*(?:\.\w+)*):(?: (.+))?", code):
        return _is_setting(setting[1], setting[2])
    if re.fullmatch(r"[a-z_]\w*(\.\w+)+", code) and code.partition(".")[0] in _keys():
        return _is_setting(code, None)
    if re.fullmatch(r"[a-z]+(_[a-z0-9]+)+", code):
        return re.search(rf"\b{code}\b", _sources()) is not None
    return True


@cache
def _commands() -> dict[str, Any]:
    group: Any = typer.main.get_command(app)
    commands: dict[str, Any] = group.commands
    return commands


def _flags(words: Sequence[str]) -> set[str]:
    return {word.partition("=")[0] for word in words if word.startswith("--")}


def _flags_of(command: Any) -> set[str]:
    return {flag for parameter in command.params for flag in parameter.opts}


@cache
def _targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))


@cache
def _sources() -> str:
    packages = ("market", "actors", "embeddings")
    files = [path for package in packages for path in (ROOT / package).rglob("*.py")]
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


def _is_module(dotted: str) -> bool:
    path = ROOT / dotted.replace(".", "/")
    if path.is_dir() or path.with_suffix(".py").is_file():
        return True
    parent, name = path.parent, path.name
    holder = parent / "__init__.py" if parent.is_dir() else parent.with_suffix(".py")
    return holder.is_file() and re.search(rf"\b{name}\b", holder.read_text()) is not None


def _is_setting(key: str, value: str | None) -> bool:
    """Whether a configuration may have a key, and the key such a value."""
    key = re.sub(r"\.\d+(?=\.|$)", ".N", key)
    named = [schema for path, schema in _paths() if path == key or path.endswith(f".{key}")]
    if value is None or value.startswith(("{", "[")):
        return bool(named)
    return any(_takes(schema, value) for schema in named)


def _takes(schema: Any, value: str) -> bool:
    words = _words(schema)
    return words is None or value in words


def _words(schema: Any) -> set[str] | None:
    """The only words that a value may be; None where it may be something else."""
    if "enum" in schema or "const" in schema:
        return set(schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "null":
        return {"null"}
    if schema.get("type") == "object" or "$ref" in schema:
        return set()
    if "anyOf" not in schema:
        return None
    found: set[str] = set()
    for part in schema["anyOf"]:
        words = _words(part)
        if words is None:
            return None
        found |= words
    return found


@cache
def _keys() -> set[str]:
    return {path.rpartition(".")[2] for path, _ in _paths()}


@cache
def _paths() -> list[tuple[str, Any]]:
    """Every key of a configuration by its dotted path, with its schema."""
    found = [*_below("", Config.model_json_schema())]
    for kind in map(registry.environment_kind, registry.ENVIRONMENTS):
        found += _below("rules.", registry.load(kind.rules).model_json_schema())
        for name in {**registry.POLICIES, **kind.policies}:
            options = options_model(policy_class(kind, name))
            found += _below("retailers.N.options.", options.model_json_schema())
    return [*found, ("extends", {}), ("rules", {})]


def _below(prefix: str, node: Any, whole: Any = None) -> Iterator[tuple[str, Any]]:
    whole = whole or node
    if "$ref" in node:
        node = whole["$defs"][node["$ref"].rpartition("/")[2]]
    for part in (*node.get("anyOf", ()), *node.get("oneOf", ())):
        yield from _below(prefix, part, whole)
    for name, schema in node.get("properties", {}).items():
        yield f"{prefix}{name}", schema
        yield from _below(f"{prefix}{name}.", schema, whole)
    for inner, at in (("items", "N."), ("additionalProperties", "NAME.")):
        if isinstance(node.get(inner), dict):
            yield f"{prefix}{at}".removesuffix("."), node[inner]
            yield from _below(f"{prefix}{at}", node[inner], whole)
