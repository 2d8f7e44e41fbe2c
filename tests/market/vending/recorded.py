"""A recorded run of two operators of a small world."""

from __future__ import annotations

from pathlib import Path

from market.journal import Header, JournalWriter
from market.replay import build_environment
from market.vending import ENVIRONMENT
from tests.market.vending.operations import PUNCTUAL, Stocker, rules


def record(folder: Path, days: int = 20) -> Path:
    """Play and record it; the folder of the run."""
    config = {
        "environment": "vending",
        "seed": 4,
        "rules": rules(**PUNCTUAL, days=days).model_dump(mode="json"),
        "retailers": [
            {"name": name, "policy": "random", "count": 1, "options": {}} for name in ("s", "t")
        ],
        "encoder": {},
    }
    journal = folder / "episodes" / "seed-4" / "journal.jsonl"
    journal.parent.mkdir(parents=True)
    environment = build_environment(config)
    players = {"s": Stocker("s", 0, 6, 3), "t": Stocker("t", 0, 4, 6)}
    asked = environment.start()
    header = Header.of(config, ENVIRONMENT.rules_version, "seed-4")
    with JournalWriter.create(journal, header) as writer:
        while asked:
            given = {d.seat: players[d.seat].act(d) for d in asked}
            writer.append(asked, given)
            asked = environment.apply(given)
        writer.finish(environment.result)
    return folder
