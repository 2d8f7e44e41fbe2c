"""`market dev-server`: serves a rehearsal until it is told to stop."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Callable

from actors.errors import UserError
from actors.language.rehearsal.rehearsal import Rehearsal
from actors.language.rehearsal.server import MODEL, Server
from actors.language.rehearsal.settings import Settings


def serve(settings: Settings, host: str, port: int, say: Callable[[str], None]) -> None:
    """Serve until interrupted or terminated; says where first and what was served at the end.

    Raises:
        UserError: If the address cannot be had.
    """
    asyncio.run(_serve(settings, host, port, say))


async def _serve(settings: Settings, host: str, port: int, say: Callable[[str], None]) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    server = Server(Rehearsal(settings), settings.at_once)
    try:
        await server.start(host, port)
    except OSError as error:
        # asyncio's words repeat the address; those of a failed look-up have no number.
        errno = error.errno or 0
        reason = (os.strerror(errno) if errno > 0 else error.strerror or str(error)).lower()
        raise UserError(
            f"The server cannot listen at {host}, port {port} ({reason}); "
            "name others with --host and --port, 0 for any free port."
        ) from None
    say(f"Rehearsing at {server.address} (counts: {server.address}/counts). In `options`:")
    say(f"  model: openai/{MODEL}")
    say(f"  api_base: {server.api_base}")
    try:
        await stop.wait()
    finally:
        await server.close()
    say(json.dumps(server.counts.as_json()))
