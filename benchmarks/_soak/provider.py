"""The provider of a soak, in a process of its own: calm, or with the trouble that a seed draws."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator

#: What models say depends on the content alone; the same in the undisturbed run.
SLIPS = {"truncated": 0.03, "malformed": 0.05, "refusals": 0.02, "empty": 0.02}
TROUBLES = {
    "latency": 0.15,
    "spread": 0.5,
    "rate_limit": 0.05,
    "retry_after": 1,
    "errors": 0.04,
    "drops": 0.03,
    "breaks": 0.02,
    "hangs": 0.0005,
}


@contextlib.contextmanager
def provider(seed: int | None) -> Iterator[str]:
    """A provider in a process of its own; gives its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", __spec__.name, "" if seed is None else str(seed)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


def counts(address: str) -> tuple[int, int]:
    """Whole answers that a provider gave, and those to a content that had had one."""
    with urllib.request.urlopen(f"{address}/counts") as response:
        told = json.load(response)
    whole = ("answered", *SLIPS)
    return sum(told["outcomes"].get(name, 0) for name in whole), told["answered_again"]


async def serve(seed: int | None) -> None:
    """Serve a rehearsal: calm, or with the trouble that a seed draws."""
    from actors.language.rehearsal.reactions import Asked, Reaction, Says
    from actors.language.rehearsal.rehearsal import Rehearsal
    from actors.language.rehearsal.server import Server
    from actors.language.rehearsal.settings import Settings

    model = Rehearsal(Settings(vary=0.3, **SLIPS))  # type: ignore[arg-type]
    troubled = Rehearsal(Settings(seed=seed or 0, **TROUBLES))  # type: ignore[arg-type]

    def behaviour(asked: Asked) -> Reaction:
        reaction = model(asked)
        if seed is None:
            return reaction
        trouble = troubled(asked)
        if isinstance(trouble, Says) and trouble.ends and isinstance(reaction, Says):
            return reaction
        return trouble

    server = Server(behaviour)
    await server.start()
    print(server.address, flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]) if sys.argv[1] else None))
