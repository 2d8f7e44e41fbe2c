"""An answer in the words of OpenAI's protocol, whole or in pieces."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from actors.language.rehearsal.reactions import Body, Fails, Says

_ID: Final = "chatcmpl-rehearsal"


def completion(said: Says, asked: Body) -> bytes:
    """The body of an answer that is not streamed."""
    message: dict[str, Any] = {"role": "assistant", "content": said.text or None}
    if not said.calls:
        message["content"] = said.text
    if said.refusal is not None:
        message["refusal"] = said.refusal
    if said.calls:
        message["tool_calls"] = [
            {
                "id": f"call-{index}",
                "type": "function",
                "function": {"name": name, "arguments": arguments},
            }
            for index, (name, arguments) in enumerate(said.calls)
        ]
    choice = {"index": 0, "message": message, "finish_reason": said.finish}
    body = {**_head(said, asked, "chat.completion"), "choices": [choice]}
    if said.usage:
        body["usage"] = _usage(said)
    return json.dumps(body).encode()


def events(said: Says, asked: Body) -> Iterator[bytes]:
    """The server-sent events of a streamed answer, `[DONE]` included unless it breaks off."""
    for chunk in _chunks(said, asked):
        yield b"data: " + json.dumps(chunk).encode() + b"\n\n"
    if said.ends:
        yield b"data: [DONE]\n\n"


def error(failure: Fails) -> bytes:
    """The body of an error."""
    what = {"message": failure.message, "type": "rehearsal", "code": failure.code}
    return json.dumps({"error": what}).encode()


def _chunks(said: Says, asked: Body) -> Iterator[dict[str, Any]]:
    head = _head(said, asked, "chat.completion.chunk")

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": ""})
    for part in _pieces(said.text, said.piece):
        yield chunk({"content": part})
    if said.refusal is not None:
        yield chunk({"refusal": said.refusal})
    for index, (name, arguments) in enumerate(said.calls):
        call = {"index": index, "id": f"call-{index}", "type": "function"}
        yield chunk({"tool_calls": [{**call, "function": {"name": name, "arguments": ""}}]})
        for part in _pieces(arguments, said.piece):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
    if not said.ends:
        return
    yield chunk({}, said.finish)
    if said.usage and (asked.get("stream_options") or {}).get("include_usage"):
        yield {**head, "choices": [], "usage": _usage(said)}


def _pieces(text: str, size: int) -> Iterator[str]:
    for start in range(0, len(text), size):
        yield text[start : start + size]


def _head(said: Says, asked: Body, kind: str) -> dict[str, Any]:
    model = asked.get("model") if said.model is None else said.model
    return {"id": _ID, "object": kind, "created": 1, "model": model}


def _usage(said: Says) -> dict[str, Any]:
    return {
        "prompt_tokens": said.prompt_tokens,
        "completion_tokens": said.completion_tokens,
        "total_tokens": said.prompt_tokens + said.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": said.cached_tokens},
    }
