"""Asks language models.

    client = LanguageClient()
    reply = await client.complete(request)      # Reply | ProviderFailure

Every failure of a provider comes back as data. There is exactly one layer of retries, and it is
here: layers multiply, and hide from a budget what was sent. What passes by itself (rate limits,
lost connections, errors of the server) is tried again; what would be rejected again is not.

Keys are read from environment variables when they are used and appear nowhere else: whatever a
provider wrote passes through `redaction.py` before it leaves.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import Final

from actors.language import wire
from actors.language.backoff import Backoff
from actors.language.litellm_transport import LitellmTransport
from actors.language.local import MODEL, SLOTS, LocalModel, LocalModelError
from actors.language.redaction import known_keys, redacted
from actors.language.transport import AttemptError, Completion, FailureCause, Transport
from market.language import ModelSettings, ProviderFailure, Reply, Request, ToolCall, Usage

#: The name of the packaged model in configurations.
LOCAL: Final = "local"

#: Sent to an address of the user's own that was given no key: the protocol has no "none".
_NO_KEY: Final = "no-key"

_DETAIL_LENGTH: Final = 200
_SAYINGS: Final[dict[FailureCause, str]] = {
    "rate_limit": "limits the rate of requests",
    "unreachable": "could not be reached",
    "rejected": "rejected the request",
    "server": "failed",
}


@dataclass(frozen=True, slots=True)
class _Target:
    """Where a request goes."""

    model: str
    api_base: str | None
    api_key: str | None
    free: bool = False


class LanguageClient:
    """Asks models, through litellm or on this machine. Used from one event loop at a time.

    Args:
        timeout_seconds: Longest time of one attempt, from sending to the last token.
        backoff: Waits between attempts.
        transport: How requests get to providers.
        local: The packaged model.
        clock: Seconds on a clock that only goes forward.
        sleep: Waits so many seconds.
        jitter: Where the jitter of the waits is drawn from. No result depends on it.
    """

    def __init__(
        self,
        *,
        timeout_seconds: float = 120.0,
        backoff: Backoff | None = None,
        transport: Transport | None = None,
        local: LocalModel | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: random.Random | None = None,
    ) -> None:
        self._timeout = timeout_seconds
        self._backoff = backoff or Backoff()
        self._transport = transport or LitellmTransport()
        self._local = local or LocalModel()
        self._clock = clock
        self._sleep = sleep
        self._jitter = jitter or random.Random()
        self._warm = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._slots = asyncio.Semaphore(SLOTS)

    async def complete(self, request: Request) -> Reply | ProviderFailure:
        """Ask a model, and again where that may help. Never raises for a provider's sake."""
        tries = 0
        while True:
            target = None
            try:
                target = await self._target(request.model)
                tries += 1
                async with self._turn(target):
                    started = self._clock()
                    completion = await self._attempt(request, target)
                    return _reply(completion, target, self._clock() - started, tries)
            except AttemptError as error:
                trouble = error
            wait = self._backoff.wait(tries, trouble.retry_after, self._jitter.random())
            if trouble.cause == "rejected" or wait is None:
                return _failure(trouble, request.model, target, tries)
            await self._sleep(wait)

    def check(self, settings: ModelSettings) -> str | None:
        """Say in one sentence why a model cannot be asked, as far as is known without asking.

        None if nothing speaks against it. Imports litellm where nothing cheaper decides.
        """
        if (problem := _settings_problem(settings)) is not None:
            return problem
        if settings.model == LOCAL:
            return self._local.missing()
        keyed = settings.api_base is not None or settings.api_key_env is not None
        return self._transport.check(settings.model, keyed)

    async def warm_up(self) -> None:
        """Do now what the first request would wait for, without holding up the event loop."""
        if not self._warm:
            await asyncio.to_thread(self._transport.prepare)
            self._warm = True

    async def close(self) -> None:
        """Close connections and stop the local model."""
        await asyncio.to_thread(self._local.close)
        if self._warm:
            await self._transport.close()

    async def _target(self, settings: ModelSettings) -> _Target:
        if (problem := _settings_problem(settings)) is not None:
            raise AttemptError("rejected", problem)
        await self.warm_up()
        if settings.model == LOCAL:
            try:
                address = await asyncio.to_thread(self._local.start)
            except LocalModelError as error:
                raise AttemptError("rejected", str(error)) from None
            return _Target(f"openai/{MODEL}", address, self._local.api_key, free=True)
        if (problem := self.check(settings)) is not None:
            raise AttemptError("rejected", problem)
        key = None if settings.api_key_env is None else os.environ[settings.api_key_env]
        if settings.api_base is not None and key is None:
            # A key that lies in the environment for some provider is not for this address.
            key = _NO_KEY
        return _Target(settings.model, settings.api_base, key)

    def _turn(self, target: _Target) -> AbstractAsyncContextManager[object]:
        """Keep requests that the local model cannot begin yet from running out of time."""
        if not target.free:
            return nullcontext()
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop, self._slots = loop, asyncio.Semaphore(SLOTS)
        return self._slots

    async def _attempt(self, request: Request, target: _Target) -> Completion:
        parameters = wire.parameters(request, self._wants_schema(request.model))
        parameters |= {"model": target.model, "timeout": self._timeout}
        if target.api_base is not None:
            parameters["api_base"] = target.api_base
        if target.api_key is not None:
            parameters["api_key"] = target.api_key
        try:
            # The transport's timeout is one for each read, and a stream that trickles has many.
            async with asyncio.timeout(self._timeout):
                return await self._transport.send(parameters)
        except TimeoutError:
            raise AttemptError(
                "unreachable", f"no answer within {self._timeout:g} seconds"
            ) from None

    def _wants_schema(self, settings: ModelSettings) -> bool:
        if settings.structured == "auto":
            return settings.model == LOCAL or self._transport.takes_schema(settings.model)
        return settings.structured == "schema"


def _settings_problem(settings: ModelSettings) -> str | None:
    if taken := sorted(wire.RESERVED & settings.extra.keys()):
        return f"The parameter {taken[0]!r} of the model {settings.model!r} cannot be in extra."
    if settings.api_key_env is not None and not os.environ.get(settings.api_key_env):
        return f"The environment variable {settings.api_key_env} (api_key_env) is not set."
    return None


def _keys(target: _Target | None) -> set[str]:
    used = set() if target is None or target.api_key is None else {target.api_key}
    return known_keys() | used


def _reply(completion: Completion, target: _Target, latency: float, tries: int) -> Reply:
    keys = _keys(target)
    return Reply(
        text=redacted(completion.text, keys),
        finish=completion.finish,
        usage=Usage(
            model=redacted(completion.model, keys) or target.model,
            prompt_tokens=completion.prompt_tokens,
            completion_tokens=completion.completion_tokens,
            cached_tokens=completion.cached_tokens,
            cost_usd=0.0 if target.free else completion.cost_usd,
            latency_seconds=latency,
            tries=tries,
        ),
        tool_calls=tuple(
            ToolCall(*(redacted(part, keys) for part in (call.id, call.name, call.arguments)))
            for call in completion.tool_calls
        ),
    )


def _failure(
    trouble: AttemptError, settings: ModelSettings, target: _Target | None, tries: int
) -> ProviderFailure:
    # Redacted while whole: a key that is cut in two is not found.
    detail = " ".join(redacted(trouble.detail, _keys(target)).split())
    detail = "".join(letter for letter in detail if letter.isprintable())
    if tries == 0:  # our own sentence: nothing was sent
        return ProviderFailure(trouble.cause, detail)
    if len(detail) > _DETAIL_LENGTH:
        detail = detail[:_DETAIL_LENGTH].rstrip() + "..."
    elif not detail.endswith("."):
        detail += "."
    times = "" if tries == 1 else f" ({tries} tries)"
    sentence = f"The model {settings.model!r} {_SAYINGS[trouble.cause]}{times}: {detail}"
    return ProviderFailure(trouble.cause, sentence)
