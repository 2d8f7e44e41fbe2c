"""Plays a run on a Ray that shows everything, and keeps what Ray knew and logged.

    python -m tests.actors.leaky FOLDER market-arguments...

A process of its own: Ray hands its environment, in which the keys are, to its workers.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any


def main(folder: Path, arguments: list[str]) -> int:
    import ray
    from ray._private import state
    from ray.experimental.internal_kv import _internal_kv_get, _internal_kv_list
    from ray.util.state import list_actors, list_tasks, list_workers

    from actors.cli import app

    there = tempfile.mkdtemp(prefix="ma-", dir="/tmp")
    try:
        ray.init(include_dashboard=True, _temp_dir=there)
        status = app(arguments, standalone_mode=False)
        here = ray.get_runtime_context().gcs_address
        told: dict[str, Any] = {
            "actors": list_actors(here, detail=True, limit=1_000),
            "tasks": list_tasks(here, detail=True, limit=9_000),
            "workers": list_workers(here, detail=True, limit=1_000),
            "timeline": ray.timeline(),
            "actor table": state.actors(),
            "jobs": state.jobs(),  # type: ignore[no-untyped-call]
            "keys and values": {
                str(key): str(_internal_kv_get(key, namespace=space))
                for space in (None, b"fun", b"session", b"job", b"tracing", b"serve", b"cluster")
                for key in _internal_kv_list(b"", namespace=space)
            },
        }
        (folder / "ray.json").write_text(json.dumps(told, default=str))
        ray.shutdown()
        for path in Path(there).rglob("*"):
            if path.is_file():
                kept = folder / "session" / path.relative_to(there)
                kept.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, kept)
    finally:
        shutil.rmtree(there, ignore_errors=True)
    return int(status or 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
