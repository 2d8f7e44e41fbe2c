"""What asking models costs this machine: calls a second against a provider that answers at once.

    python benchmarks/language.py            about five minutes

Every figure is taken beside bare litellm in the same run, in turns, since a machine that others
use is not the same machine a minute later. The provider is a process of its own that does no more
than litellm needs.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import psutil

from actors.cluster import connected
from actors.ray_language import RemoteLanguage
from market.language import Message, ModelSettings, Reply, Request

PROMPT = "What do you bid? " * 100
CALLS = 1_000
AT_ONCE = 50
REPEATS = 3
MANY, LONG = 1_000, 10.0
EARLY, LATE = 4_000, 20_000

Ask = Callable[[], Awaitable[Any]]


def request(base: str, **settings: Any) -> Request:
    return Request(
        ModelSettings("openai/any", api_base=base, **settings), (Message("user", PROMPT),)
    )


async def calls_per_second(ask: Ask, calls: int = CALLS, at_once: int = AT_ONCE) -> float:
    async def worker(share: int) -> None:
        for _ in range(share):
            await ask()

    await asyncio.gather(*(worker(2) for _ in range(at_once)))
    began = time.perf_counter()
    await asyncio.gather(*(worker(calls // at_once) for _ in range(at_once)))
    return calls / (time.perf_counter() - began)


def client_ask(client: Any, asked: Request) -> Ask:
    async def ask() -> None:
        reply = await client.complete(asked)
        assert isinstance(reply, Reply), reply

    return ask


async def bare(base: str) -> float:
    import litellm

    async def ask() -> None:
        await litellm.acompletion(
            model="openai/any",
            messages=[{"role": "user", "content": PROMPT}],
            api_base=base,
            api_key="no-key",
            max_tokens=512,
            temperature=0.0,
            num_retries=0,
        )

    return await calls_per_second(ask)


async def one_client(base: str, **settings: Any) -> float:
    from actors.language.client import LanguageClient

    client = LanguageClient()
    try:
        return await calls_per_second(client_ask(client, request(base, **settings)))
    finally:
        await client.close()


async def one_actor(base: str) -> float:
    language = RemoteLanguage("speed")
    try:
        return await calls_per_second(client_ask(language, request(base)))
    finally:
        await language.close()


async def many(base: str) -> float:
    """Seconds for a thousand calls at once, each of which takes ten."""
    language = RemoteLanguage("many")
    try:
        await client_ask(language, request(base))()
        began = time.perf_counter()
        await asyncio.gather(*(client_ask(language, request(base))() for _ in range(MANY)))
        return time.perf_counter() - began
    finally:
        await language.close()


async def memory(base: str) -> tuple[float, float]:
    """Resident megabytes of a language actor after so many calls, and after many more."""
    language = RemoteLanguage("memory")
    try:
        ask = client_ask(language, request(base))
        sizes = []
        done = 0
        for calls in (EARLY, LATE):
            await calls_per_second(ask, calls - done - 2 * AT_ONCE)
            done = calls
            sizes.append(actor().memory_info().rss / 2**20)
        return sizes[0], sizes[1]
    finally:
        await language.close()


def actor() -> psutil.Process:
    """The language actor's process."""
    found = [
        process
        for process in psutil.process_iter(["cmdline"])
        if "ray::LanguageActor" in " ".join(process.info["cmdline"] or ())
    ]
    return max(found, key=lambda process: process.create_time())


MEASURES: dict[str, Callable[[str], Any]] = {
    "bare": bare,
    "client": one_client,
    "streamed": lambda base: one_client(base, stream=True),
    "actor": one_actor,
    "many": many,
    "memory": memory,
}
ON_RAY = {"actor", "many", "memory"}


def measure(name: str, base: str) -> Any:
    with connected(None) if name in ON_RAY else contextlib.nullcontext():
        return asyncio.run(MEASURES[name](base))


def apart(name: str, base: str) -> Any:
    """A measurement in a process of its own, so that none is warmed by another."""
    environment = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    done = subprocess.run(
        [sys.executable, __file__, name, base],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


@contextlib.contextmanager
def provider(latency: float = 0.0) -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, __file__, "serve", str(latency)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
    finally:
        process.terminate()
        process.wait()


async def serve(latency: float) -> None:
    """A provider that reads no more of a request than it must."""
    head = {"id": "1", "created": 1, "model": "stub"}
    usage = {"prompt_tokens": 401, "completion_tokens": 12, "total_tokens": 413}
    text = '{"bids":[{"item":"item1","quantity":10,"price":52}]}'

    def said(kind: str, usage: Any = None, **choice: Any) -> bytes:
        choices = [{"index": 0, "finish_reason": None, **choice}] if choice else []
        return json.dumps({**head, "object": kind, "choices": choices, "usage": usage}).encode()

    message = {"role": "assistant", "content": text}
    whole = said("chat.completion", usage, message=message, finish_reason="stop")
    chunks = [
        *(
            said("chat.completion.chunk", delta={"content": text[i : i + 5]})
            for i in range(0, 55, 5)
        ),
        said("chat.completion.chunk", delta={}, finish_reason="stop"),
        said("chat.completion.chunk", usage),
        b"[DONE]",
    ]
    streamed = b"".join(b"data: " + chunk + b"\n\n" for chunk in chunks)

    def response(kind: str, body: bytes) -> bytes:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
        return head.encode() + body

    answers = response("application/json", whole), response("text/event-stream", streamed)

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                lines = (await reader.readuntil(b"\r\n\r\n")).lower().split(b"\r\n")
                length = next(line for line in lines if line.startswith(b"content-length:"))
                body = await reader.readexactly(int(length.partition(b":")[2]))
                if latency:
                    await asyncio.sleep(latency)
                writer.write(answers[b'"stream":true' in body.replace(b": ", b":")])
        writer.close()

    server = await asyncio.start_server(connection, "127.0.0.1", 0, backlog=4_096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def main() -> None:
    from benchmarks._measure import table

    with provider() as base:
        names = ("bare", "client", "streamed", "actor")
        speeds: dict[str, list[float]] = {name: [] for name in names}
        for _ in range(REPEATS):
            for name in names:
                speeds[name].append(apart(name, base))
        first, later = apart("memory", base)
    with provider(LONG) as base:
        seconds = apart("many", base)

    def ratio(name: str) -> str:
        pairs = zip(speeds[name], speeds["bare"], strict=True)
        return f"{statistics.median(one / other for one, other in pairs):.2f}"

    label = {
        "bare": "litellm by itself",
        "client": "`LanguageClient`",
        "streamed": "`LanguageClient`, `stream: true`",
        "actor": "one language actor on Ray",
    }
    table(
        ("Calls to a provider that answers at once", "calls/s", "best", "of bare litellm"),
        (
            (label[name], f"{statistics.median(each):.0f}", f"{max(each):.0f}", ratio(name))
            for name, each in speeds.items()
        ),
    )
    table(
        ("One language actor", "measured", "bar"),
        (
            (f"{MANY:,} calls at once of {LONG:g} s, seconds", f"{seconds:.1f}", "all at once"),
            (
                f"memory from call {EARLY:,} to {LATE:,}, MB",
                f"{first:.0f} to {later:.0f} ({100 * (later / first - 1):+.1f}%)",
                "within 5%",
            ),
        ),
    )
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        asyncio.run(serve(float(sys.argv[2])))
    elif len(sys.argv) == 3:
        print(json.dumps(measure(*sys.argv[1:])))
    else:
        main()
