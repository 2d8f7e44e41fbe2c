"""What litellm does at its first call and not again, done before anybody waits for an answer.

The first call of a process imports and builds for a third of a second what later ones share. So
one is made to a provider that knows one answer, on this machine and for as long as the call takes.
Then everything that stays is taken out of the garbage collector's sight (`gc.freeze`): a collection
that walks all of litellm costs as much as a quarter of a call, and comes every few calls.
"""

from __future__ import annotations

import asyncio
import gc
import json
from contextlib import suppress
from typing import Any, Final

_SECONDS: Final = 5.0

_ANSWER: Final = {
    "id": "warm-up",
    "object": "chat.completion",
    "created": 1,
    "model": "warm-up",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": "Warm."},
        }
    ],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}


def warm(litellm: Any) -> None:
    """Make one call that goes nowhere. Called from a thread without an event loop.

    Where it fails (a machine without a loopback) the first call takes longer, and that is all.
    """
    with suppress(Exception):
        asyncio.run(_call(litellm))
    gc.collect()
    gc.freeze()


async def _call(litellm: Any) -> None:
    async with asyncio.timeout(_SECONDS):
        server = await asyncio.start_server(_answer, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            await litellm.acompletion(
                model="openai/warm-up",
                messages=[{"role": "user", "content": "Warm?"}],
                api_base=f"http://127.0.0.1:{port}/v1",
                api_key="no-key",
                max_tokens=1,
                num_retries=0,
                max_retries=0,
            )
            # They belong to the event loop of this thread.
            await litellm.close_litellm_async_clients()


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(asyncio.IncompleteReadError, ConnectionError):
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = next(line for line in head.split(b"\r\n") if line.startswith(b"content-length:"))
        await reader.readexactly(int(length.partition(b":")[2]))
        body = json.dumps(_ANSWER).encode()
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
            b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
        )
        await writer.drain()
    writer.close()
