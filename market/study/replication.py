"""Everything that somebody else needs to check a run and to play it again, in one file.

    README.md             what this is, and the commands that verify it and play it again
    config.json           the configuration, which can be run as it is
    study.json            of a study, the plan that was written down before it was played
    episodes/*/journal.jsonl    the games, byte by byte
    episodes/*/calls.jsonl      how models answered; without prompts and replies if so asked
    parts/*.parquet       of a study, what its episodes came to
    summary.json, findings/*.csv        what was made of them
    versions.json         Python and every package that this was packed with
    SHA256SUMS            digests of all of these

The package of equal records is equal to the byte: names are sorted, and no clock is in it. Nothing
tells whose machine it was: hosts are numbered, and absolute paths in errors are cut to their last
part. Keys never were in the records.
"""

from __future__ import annotations

import hashlib
import io
import json
import platform
import re
import zipfile
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from market.calls import CallLogError, read_calls
from market.config import ConfigError, documents
from market.environment import Json
from market.journal import JournalError, read

#: What a summary tells of the clock, which is no part of the results.
_CLOCKS = frozenset({"wall_seconds", "play_seconds"})
#: The first moment that a zip file can tell.
_NO_TIME = (1980, 1, 1, 0, 0, 0)

#: A path from the root on, of two parts at least.
_PATH = re.compile(r"(?<![\w.:/])/(?:[\w.+@ -]+/)+([\w.+@-]+)")

_WHOLE = ("study.json", "summary.json", "outlook.json")
_LISTED = ("episodes/*/journal.jsonl", "parts/*.parquet", "findings/*.csv")


def pack(folder: Path, target: Path, replies: bool = True) -> dict[str, str]:
    """Write a replication package, whole or not at all.

    Args:
        folder: Of a run or a study.
        target: The file, which ends in `.zip`.
        replies: Whether prompts and replies of models go into it.

    Returns:
        SHA-256 by name of what is in it.
    """
    files = dict(_files(folder, replies))
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    listed = "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items()))
    files["SHA256SUMS"] = listed.encode()
    sink = io.BytesIO()
    root = target.name.removesuffix(".zip")
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(f"{root}/{name}", _NO_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            entry.create_system = 3
            archive.writestr(entry, content)
    part = target.with_name(f"{target.name}.part")
    part.write_bytes(sink.getvalue())
    part.replace(target)
    return digests


def damaged(folder: Path) -> list[str]:
    """What is wrong with each record that is not as it was written; nothing where all are."""
    found = []
    for name in ("config.json", *_WHOLE):
        try:
            if (folder / name).exists():
                documents.read(folder / name)
        except ConfigError as error:
            found.append(str(error).rstrip("."))
    for path in sorted(folder.glob("episodes/*/journal.jsonl")):
        try:
            read(path)
            read_calls(path.with_name("calls.jsonl"))
        except (JournalError, CallLogError) as error:
            found.append(str(error))
    return found


def _files(folder: Path, replies: bool) -> Iterator[tuple[str, bytes]]:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    yield "config.json", _json(without_paths(config))
    for name in _WHOLE:
        if (folder / name).exists():
            data = json.loads((folder / name).read_text(encoding="utf-8"))
            timeless = {key: value for key, value in data.items() if key not in _CLOCKS}
            yield name, _json(without_paths(timeless))
    for pattern in _LISTED:
        for path in sorted(folder.glob(pattern)):
            yield path.relative_to(folder).as_posix(), path.read_bytes()
    hosts: dict[str, str] = {}
    logs = sorted(folder.glob("episodes/*/calls.jsonl"))
    for path in logs:
        yield path.relative_to(folder).as_posix(), _calls(path, hosts, replies)
    yield "versions.json", _json(versions())
    yield "README.md", _readme(config, folder, bool(logs), replies).encode()


def versions() -> dict[str, Json]:
    """Python, the system and the version of every package that is installed."""
    packages = {
        each.metadata["Name"]: each.version for each in metadata.distributions() if each.metadata
    }
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "packages": dict(sorted(packages.items(), key=lambda entry: entry[0].lower())),
    }


def without_paths(value: Json) -> Json:
    """Data whose absolute paths are cut to their last part."""
    if isinstance(value, str):
        return _PATH.sub(r"\1", value)
    if isinstance(value, Mapping):
        return {name: without_paths(each) for name, each in value.items()}
    if isinstance(value, list):
        return [without_paths(each) for each in value]
    return value


def _calls(path: Path, hosts: dict[str, str], replies: bool) -> bytes:
    """An answer log without what tells whose machine it was; a torn last line is cut."""
    lines = []
    for line in path.read_bytes().splitlines(keepends=True):
        if not line.endswith(b"\n"):
            break
        data: dict[str, Any] = json.loads(line)
        if data.get("host"):
            data["host"] = hosts.setdefault(data["host"], f"host-{len(hosts) + 1}")
        if "error" in data:
            data["error"] = without_paths(data["error"])
        if not replies:
            for name in ("messages", "texts"):
                data.pop(name, None)
            if isinstance(data.get("reply"), dict):
                data["reply"] = {**data["reply"], "text": "", "tool_calls": []}
        lines.append(json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":")))
    return "".join(f"{line}\n" for line in lines).encode(errors="surrogatepass")


def _readme(config: Mapping[str, Json], folder: Path, models: bool, replies: bool) -> str:
    name = config.get("name") or folder.name
    study = (folder / "study.json").exists()
    verb = "study" if study else "run"
    verify = (
        "The parts were played without journals; playing the study again gives equal parts:\n\n"
        "    market study config.json --out again\n"
        if study
        else "Play every journal again and compare each digest and the result:\n\n"
        "    market replay .\n\nMake tables and report from the journals:\n\n    market report .\n"
    )
    if not models:
        told = "No model was called."
    elif replies:
        told = (
            "A model that is asked again may answer otherwise: only the journals reproduce the "
            "games of models. `calls.jsonl` holds prompts and replies as they were."
        )
    else:
        told = (
            "A model that is asked again may answer otherwise: only the journals reproduce the "
            "games of models. Prompts and raw replies were left out of `calls.jsonl`."
        )
    return (
        f"# Replication package: {name}\n\n"
        f"Environment {config.get('environment')}, seed {config.get('seed')}. `versions.json` says "
        "what this was packed with.\n\n"
        "Check that nothing was changed:\n\n    sha256sum --check SHA256SUMS\n\n"
        f"{verify}\nPlay it anew:\n\n    market {verb} config.json --out anew\n\n{told} Policies "
        "of one's own (`module:Class` in `config.json`) are not in here.\n"
    )


def _json(data: Json) -> bytes:
    return (json.dumps(data, indent=2, ensure_ascii=False, sort_keys=True) + "\n").encode()
