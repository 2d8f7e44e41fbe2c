"""Calls providers through litellm: the only module that imports it.

litellm takes seconds and some 200 MB to import, hence it is imported when first used. It is held
to doing one thing, a single attempt: its retries, downloads, token guesses and logs are off.
Nothing of it leaves this module, neither its exceptions nor its objects.

Parameters that a model does not take are an error, not silently dropped (`drop_params`): a
result whose configuration says `reasoning_effort: high` must not come from a model that was
never told.
"""

from __future__ import annotations

import email.utils
import functools
import logging
import os
import re
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from actors.language.stream import Assembly, Tap
from actors.language.transport import AttemptError, Completion
from actors.language.warming import warm
from market.environment import Json
from market.language import FailureCause

#: Read by litellm when it is imported. It must fetch nothing and read no `.env` file.
_ENVIRONMENT: Final = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_OFFLINE_MODE": "True",
    "LITELLM_MODE": "PRODUCTION",
    # How many connections there may be is decided in `limits.py`: more than it ever allows.
    "AIOHTTP_CONNECTOR_LIMIT": "10000",
    "AIOHTTP_CONNECTOR_LIMIT_PER_HOST": "10000",
}
#: They log addresses, which hold a key with some providers, or whole requests.
_LOGGERS: Final = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "openai", "httpx", "httpcore")

#: Statuses that pass by themselves though they are below 500.
_RATE_LIMIT, _TIMEOUT, _CONFLICT = 429, 408, 409
#: Codes of a 429 that waiting does not cure.
_SPENT: Final = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
#: Codes of a 400 that is the model's refusal of the prompt.
_REFUSED: Final = frozenset({"content_filter", "content_policy_violation"})

#: What the HTTP clients below call a connection that was never there.
_NO_CONNECTION: Final = frozenset(
    {"ConnectError", "ConnectTimeout", "ClientConnectorError", "ClientConnectorDNSError"}
)
#: How far an error is followed to what it came of.
_DEPTH: Final = 8
#: A provider that wants to be left alone for longer is not waited for by anybody: a day.
_LONGEST: Final = 86_400.0

#: What litellm puts in front of a provider's own words.
_PREFIX: Final = re.compile(
    r"^(?:(?:litellm\.)?\w*(?:Error|Timeout)(?: Error)?:\s*|\w+Exception\s+-\s*)+"
)


class LitellmTransport:
    """The transport to every provider that litellm knows."""

    def prepare(self) -> None:
        """Import litellm and make a first call, which goes nowhere."""
        _warm()

    async def send(self, parameters: Mapping[str, Json], stream: bool = False) -> Completion:
        """Try once; see `Transport.send`."""
        model = str(parameters["model"])
        assembly = Assembly()
        try:
            with _unlogged():
                if stream:
                    await _send_streamed(parameters, assembly)
                else:
                    answer = await _load().acompletion(**parameters, num_retries=0, max_retries=0)
                    assembly.add_whole(answer)
        except Exception as error:
            if _refused(error):
                return Completion("", "refusal", model=model)
            raise _attempt_error(error) from None
        return assembly.completion(lambda usage: _cost(model, usage))

    def takes_schema(self, model: str) -> bool:
        """Whether litellm says that the provider takes a JSON schema."""
        return _supports("response_schema", model)

    def takes_tools(self, model: str) -> bool:
        """Whether litellm says that the provider takes tools."""
        return _supports("function_calling", model)

    def check(self, model: str, keyed: bool) -> str | None:
        """Whether litellm knows the provider and, unless keyed, finds its key."""
        litellm = _load()
        provider = model.partition("/")[0]
        if provider not in litellm.provider_list:
            try:
                provider = litellm.get_llm_provider(model)[1]
            except Exception:
                return (
                    f"The provider of the model {model!r} is not known; "
                    "write provider/model, such as openai/gpt-4o-mini."
                )
        if keyed:
            return None
        found = litellm.validate_environment(model)
        names = [name for name in found["missing_keys"] if name.endswith("_API_KEY")]
        # Azure also takes tokens of its directory in place of a key.
        if found["keys_in_environment"] or not names or provider == "azure":
            return None
        return (
            f"The model {model!r} needs a key in the environment variable {' or '.join(names)}, "
            "or in one that api_key_env names."
        )

    async def close(self) -> None:
        """Close litellm's connections."""
        await _load().close_litellm_async_clients()


@contextmanager
def _unlogged() -> Iterator[None]:
    """Spare litellm the record that it makes of a call for loggers, of which there are none."""
    flag = _is_internal()
    if flag is None:
        yield
        return
    token = flag.set(True)
    try:
        yield
    finally:
        flag.reset(token)


@functools.cache
def _is_internal() -> ContextVar[bool] | None:
    """By what litellm marks its own calls, which it does not log; None where it has no such thing.

    There is no public switch for this.
    """
    _load()
    try:
        from litellm._internal_context import is_internal_call
    except ImportError:
        return None
    flag: ContextVar[bool] = is_internal_call
    return flag


@functools.cache
def _supports(what: str, model: str) -> bool:
    return bool(getattr(_load(), f"supports_{what}")(model=model))


async def _send_streamed(parameters: Mapping[str, Json], assembly: Assembly) -> None:
    stream = await _load().acompletion(
        **parameters,
        stream=True,
        stream_options={"include_usage": True},
        num_retries=0,
        max_retries=0,
    )
    # litellm drops what OpenAI streams in `refusal`, so the raw stream is watched too.
    tap = Tap(stream.completion_stream) if stream.completion_stream is not None else None
    if tap is not None:
        stream.completion_stream = tap
    async for chunk in stream:
        assembly.add(chunk)
    if tap is not None:
        assembly.refused |= tap.refused
        assembly.model = tap.model or assembly.model


@functools.cache
def _load() -> Any:
    """Import litellm, quiet and offline."""
    os.environ.update(_ENVIRONMENT)
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    import litellm

    litellm.suppress_debug_info = True
    litellm.drop_params = False
    litellm.num_retries = None
    litellm.telemetry = False
    litellm.disable_streaming_logging = True
    litellm.turn_off_message_logging = True
    # Without counts of the provider litellm would count with a tokenizer of another model.
    litellm.disable_token_counter = True
    return litellm


#: Warming ends by closing clients, so nobody may make one before it is over.
_WARMING = threading.Lock()


def _warm() -> None:
    with _WARMING:
        _warm_once()


@functools.cache
def _warm_once() -> None:
    with _unlogged():
        warm(_load())


@functools.cache
def table_entry(model: str) -> Mapping[str, Any] | None:
    """What litellm's table says of a model; None unless it is priced both ways.

    A price of zero counts as none: in the table it is more often a gap than a gift.
    """
    litellm = _load()
    try:
        entry: Mapping[str, Any] = litellm.model_cost[litellm.get_model_info(model)["key"]]
    except Exception:
        return None
    priced = entry.get("input_cost_per_token") and entry.get("output_cost_per_token")
    return entry if priced else None


def _cost(model: str, usage: Any) -> float | None:
    """US dollars by litellm's table; None where it has no price."""
    if table_entry(model) is None:
        return None
    try:
        return float(sum(_load().cost_per_token(model=model, usage_object=usage)))
    except Exception:
        return None


def _refused(error: Exception) -> bool:
    litellm = _load()
    refusal = isinstance(error, litellm.ContentPolicyViolationError)
    return refusal or _is_one_of(getattr(error, "code", None), _REFUSED)


def _attempt_error(error: Exception) -> AttemptError:
    error = getattr(error, "original_exception", None) or error
    status = getattr(error, "status_code", None)
    detail = _PREFIX.sub("", str(error))
    if "litellm" in detail:  # advice on litellm's own switches
        detail = re.split(r"(?:To drop|Learn more|Pass model as|Received Model)", detail)[0]
    retry_after = _retry_after(getattr(getattr(error, "response", None), "headers", None) or {})
    cause = _cause(error, status)
    unsure = cause == "unreachable" and not _never_sent(error)
    return AttemptError(cause, detail, retry_after, unsure)


def _cause(error: Exception, status: object) -> FailureCause:
    if status == _RATE_LIMIT:
        body = getattr(error, "body", None)
        code = body.get("code") if isinstance(body, Mapping) else None
        return "rejected" if _is_one_of(code, _SPENT) else "rate_limit"
    if status in (_TIMEOUT, _CONFLICT) or _is_connection(error):
        return "unreachable"
    return "rejected" if isinstance(status, int) and 400 <= status < 500 else "server"


def _is_one_of(code: object, codes: frozenset[str]) -> bool:
    return isinstance(code, str) and code in codes


def _is_connection(error: BaseException | None) -> bool:
    """Whether a connection failed: litellm says `500` of those too."""
    import openai

    return any(isinstance(one, openai.APIConnectionError | OSError) for one in _causes(error))


def _never_sent(error: BaseException | None) -> bool:
    """Whether there was no connection to send anything over."""
    return any(
        isinstance(one, ConnectionRefusedError | socket.gaierror)
        or type(one).__name__ in _NO_CONNECTION
        for one in _causes(error)
    )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error and what it came of."""
    for _ in range(_DEPTH):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds of a `Retry-After` header, which holds seconds or a date (RFC 9110, 10.2.3)."""
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
        except (ValueError, OverflowError):
            return None
    return min(max(0.0, seconds), _LONGEST)
