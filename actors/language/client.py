"""Asks language models.

    client = LanguageClient()
    reply = await client.complete(request)      # Reply | ProviderFailure

Every failure comes back as data, with a cause and, by its type, an owner:

| cause       | what happened              | comes as                     | asked again         |
| ----------- | -------------------------- | ---------------------------- | ------------------- |
| rate limit  | a 429                      | failure `rate_limit`         | yes, after a rest   |
| transient   | no connection, or it broke | failure `unreachable`        | yes                 |
|             | an error of the server     | failure `server`             | yes                 |
| deadline    | no whole answer in time    | failure `deadline`           | yes                 |
| permanent   | key or parameters refused  | failure `rejected`           | no                  |
| refusal     | the model declined         | reply, finish `refusal`      | no                  |
| truncated   | cut at `max_tokens`        | reply, finish `length`       | by the policy, once |
| malformed   | not of the asked form      | reply, finish `stop`         | by the policy       |
| over budget | no room for its ceiling    | `OwedError`, nothing is sent | when there is room  |

A failure (`ProviderFailure`) is the provider's, or of whoever set it up, and never held against the
agent: the episode waits, or goes on without an answer, as its user chose. What a reply is worth is
the agent's own doing: its turn passes as `refused`, `truncated` or `malformed`. The budget is the
user's, and kept by who asks (`actors/budget.py`).

There is exactly one layer of retries, and it is here: layers multiply, and hide from a budget what
was sent. What passes by itself is tried again; what would be rejected again is not. When a request
may be sent is decided in `limits.py`, for a whole provider at a time.

A client knows requests, not decisions. A decision that is asked for twice is joined by whoever has
its episode's log open (`actors/correspondence.py`), of whom there is only one, so clients that
serve several drivers need not know the keys of any. Equal requests of different decisions are
joined here, where there is a response cache.

Keys are read from environment variables when they are used and appear nowhere else: whatever a
provider wrote passes through `redaction.py` before it leaves.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from actors.language import wire
from actors.language.backoff import Backoff
from actors.language.caps import Caps
from actors.language.lease import Leasing, Lessee
from actors.language.limits import Limits, Slot, Ticket
from actors.language.litellm_transport import LitellmTransport
from actors.language.local import MODEL, SLOTS, LocalModel, LocalModelError, calling
from actors.language.redaction import know, known_keys, redacted
from actors.language.response_cache import ResponseCache, Sharing, digest, is_shared
from actors.language.transport import AttemptError, Completion, Transport
from market.config.addresses import is_server
from market.language import (
    FailureCause,
    ModelSettings,
    Output,
    ProviderFailure,
    Reply,
    Request,
    ToolCall,
    Usage,
)
from market.policies.tokens import estimate_messages, estimate_tokens

#: The name of the packaged model in configurations.
LOCAL: Final = "local"

#: Sent to an address of the user's own that was given no key: the protocol has no "none".
_NO_KEY: Final = "no-key"

_DETAIL_LENGTH: Final = 200

#: The transport's own timeout is longer by so much than ours, which tells better what happened.
_MARGIN_SECONDS: Final = 5.0
_SAYINGS: Final[dict[FailureCause, str]] = {
    "rate_limit": "limits the rate of requests",
    "unreachable": "could not be reached",
    "deadline": "did not answer in time",
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
        caps: Limits per model, by the name in configurations.
        gate: Who shares the caps among several clients; without one this client has them alone.
        name: This client's name at the gate, unlike any other's.
        cache: Answers to share between equal requests.
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
        caps: Mapping[str, Caps] | None = None,
        gate: Leasing | None = None,
        name: str = "",
        cache: ResponseCache | None = None,
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
        self._sound: set[tuple[str, bool, str | None]] = set()
        self._caps = dict(caps or {})
        local_caps = self._caps.get(LOCAL, Caps())
        # Requests that the local model cannot begin yet must not run out of time.
        self._caps[LOCAL] = replace(local_caps, in_flight=local_caps.in_flight or SLOTS)
        self._limits = Limits(
            self._caps,
            leased=self._caps.keys() - {LOCAL} if gate is not None else (),
            clock=clock,
            sleep=sleep,
        )
        self._lessee = (
            None if gate is None else Lessee(name or uuid.uuid4().hex, gate, self._limits)
        )
        self._sharing = None if cache is None else Sharing(cache)

    async def complete(self, request: Request) -> Reply | ProviderFailure:
        """Ask a model, and again where that may help. Never raises for a provider's sake."""
        if self._sharing is None or not is_shared(request.model):
            return await self._ask(request)
        await self.warm_up()
        if self._problem(request.model) is not None:
            return await self._ask(request)
        parameters = wire.parameters(request, self._output(request))
        key = digest(request.model.api_base, request.model.model, parameters)
        return await self._sharing.answer(key, lambda: self._ask(request))

    async def _ask(self, request: Request) -> Reply | ProviderFailure:
        tries = unsure = 0
        ticket: Ticket | None = None
        while True:
            target = None
            try:
                target = await self._target(request.model)
                if ticket is None:
                    ticket = self._ticket(request)
                async with self._limits.slot(ticket) as slot:
                    tries += 1
                    started = self._clock()
                    completion = await self._attempt(request, target, slot)
                    latency = self._clock() - started
                took = latency, tries, unsure
                return _reply(completion, target, took, self._output(request))
            except AttemptError as error:
                trouble = error
                unsure += error.unsure and not (target is not None and target.free)
            wait = self._backoff.wait(
                tries,
                trouble.retry_after,
                self._jitter.random(),
                limited=trouble.cause == "rate_limit",
            )
            if trouble.cause == "rejected" or wait is None:
                return _failure(trouble, request.model, target, tries, unsure)
            await self._sleep(wait)

    def check(self, settings: ModelSettings) -> str | None:
        """Say in one sentence why a model cannot be asked, as far as is known without asking.

        None if nothing speaks against it. Imports litellm where nothing cheaper decides.
        """
        know(settings.api_key_env)
        if (problem := _settings_problem(settings)) is not None:
            return problem
        if settings.model == LOCAL:
            return self._local.missing()
        keyed = settings.api_base is not None or settings.api_key_env is not None
        return self._transport.check(settings.model, keyed)

    def _problem(self, settings: ModelSettings) -> str | None:
        """As `check`, which takes a millisecond, but only until nothing is found."""
        which = settings.model, settings.api_base is None, settings.api_key_env
        if which not in self._sound:
            if (problem := self.check(settings)) is not None:
                return problem
            self._sound.add(which)
        return _settings_problem(settings)

    async def warm_up(self) -> None:
        """Do now what the first request would wait for, without holding up the event loop."""
        if not self._warm:
            await asyncio.to_thread(self._transport.prepare)
            self._warm = True

    async def close(self) -> None:
        """Close connections and stop the local model."""
        if self._lessee is not None:
            await self._lessee.close()
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
        if (problem := self._problem(settings)) is not None:
            raise AttemptError("rejected", problem)
        key = None if settings.api_key_env is None else os.environ[settings.api_key_env]
        if settings.api_base is not None and key is None:
            # A key that lies in the environment for some provider is not for this address.
            key = _NO_KEY
        return _Target(settings.model, settings.api_base, key)

    def _ticket(self, request: Request) -> Ticket:
        """A place in the queue of the account that is asked."""
        settings = request.model
        provider = settings.model.partition("/")[0]
        account = " ".join([provider, settings.api_base or "", settings.api_key_env or ""])
        caps = self._caps.get(settings.model)
        counts = caps is not None and caps.tokens_per_minute is not None
        most = _prompt_tokens(request) + settings.max_tokens if counts else 0
        return self._limits.ticket(account, settings.model, most)

    async def _attempt(self, request: Request, target: _Target, slot: Slot) -> Completion:
        try:
            completion = await self._send(request, target)
        except AttemptError as error:
            # Who asks for more than anyone's patience is not waited for, but reported.
            wait = error.retry_after or 0.0
            wait = wait if wait <= self._backoff.patience_seconds else 0.0
            if error.cause == "rate_limit":
                slot.rejected(wait)
            else:
                slot.failed(wait)
            raise
        read, written = completion.prompt_tokens, completion.completion_tokens
        slot.answered(None if read is None or written is None else read + written)
        return completion

    async def _send(self, request: Request, target: _Target) -> Completion:
        parameters = wire.parameters(request, self._output(request))
        if target.free and "tools" in parameters:
            parameters = calling(parameters)
        parameters |= {"model": target.model, "timeout": self._timeout + _MARGIN_SECONDS}
        if target.api_base is not None:
            parameters["api_base"] = target.api_base
        if target.api_key is not None:
            parameters["api_key"] = target.api_key
        # A model on this machine writes on unless it cannot send what it writes.
        stream = target.free or request.model.stream
        try:
            async with asyncio.timeout(self._timeout):
                return await self._transport.send(parameters, stream)
        except TimeoutError:
            late = f"no answer within {self._timeout:g} seconds"
            raise AttemptError("deadline", late, unsure=True) from None

    def _output(self, request: Request) -> Output:
        """How the answer is asked for: as configured, or as the provider can."""
        settings = request.model
        if request.tools:
            return "tool"
        if request.schema is None:
            return "text"
        if settings.output != "auto":
            return settings.output
        if settings.model == LOCAL or self._transport.takes_schema(settings.model):
            return "schema"
        return "tool" if self._transport.takes_tools(settings.model) else "text"


def _prompt_tokens(request: Request) -> int:
    tools = sum(estimate_tokens(json.dumps(dict(tool.parameters))) for tool in request.tools)
    schema = 0 if request.schema is None else estimate_tokens(json.dumps(dict(request.schema)))
    return estimate_messages(request.messages) + tools + schema


def _settings_problem(settings: ModelSettings) -> str | None:
    if taken := wire.reserved(settings.extra):
        return f"The parameter {taken[0]!r} of the model {settings.model!r} cannot be in extra."
    for name in sorted(wire.COUNTED & settings.extra.keys()):
        if type(settings.extra[name]) is not int:
            return f"{name!r} in extra of the model {settings.model!r} must be a whole number."
    if settings.api_base is not None and not is_server(settings.api_base):
        return (
            f"The model {settings.model!r} cannot be asked at its api_base, which is no address; "
            "write one such as http://localhost:8000/v1."
        )
    if settings.api_key_env is not None and not os.environ.get(settings.api_key_env):
        return f"The environment variable {settings.api_key_env} (api_key_env) is not set."
    return None


def _keys(target: _Target | None) -> set[str]:
    used = set() if target is None or target.api_key is None else {target.api_key}
    return known_keys() | used


def _reply(
    completion: Completion, target: _Target, took: tuple[float, int, int], output: Output
) -> Reply:
    keys = _keys(target)
    latency, tries, unsure = took
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
            unsure=unsure,
        ),
        tool_calls=tuple(
            ToolCall(*(redacted(part, keys) for part in (call.id, call.name, call.arguments)))
            for call in completion.tool_calls
        ),
        output=output,
    )


def _failure(
    trouble: AttemptError,
    settings: ModelSettings,
    target: _Target | None,
    tries: int,
    unsure: int,
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
    return ProviderFailure(trouble.cause, sentence, unsure)
