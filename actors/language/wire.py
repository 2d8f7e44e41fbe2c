"""From a `Request` to the parameters of an OpenAI chat completion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from market.environment import Json, Tool
from market.language import ANSWER_TOOL, Message, Output, Request

#: Parameters that are the client's business; `extra` may not set them.
RESERVED: Final = frozenset(
    {
        *("model", "deployment_id", "messages", "tools", "tool_choice", "response_format"),
        *("max_tokens", "temperature"),
        *("stream", "stream_options", "timeout", "api_base", "base_url", "api_key"),
        *("num_retries", "max_retries", "retry_policy", "fallbacks", "mock_response"),
        *("drop_params", "additional_drop_params"),
    }
)

#: Parameters that `extra` may set, where they are counted before a call (`actors/ceilings.py`), but
#: not `extra_body`, which reaches the provider uncounted.
COUNTED: Final = frozenset({"max_completion_tokens", "n"})

#: What OpenAI's strict mode understands of JSON schema.
_STRICT_WORDS: Final = frozenset(
    {
        *("type", "properties", "required", "additionalProperties", "items", "enum", "const"),
        *("anyOf", "description", "title", "pattern", "minItems", "maxItems"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    }
)


def reserved(extra: Mapping[str, Json]) -> list[str]:
    """Names of what further parameters may not set, neither by themselves nor in `extra_body`."""
    body = extra.get("extra_body")
    names = RESERVED & extra.keys()
    if isinstance(body, Mapping):
        names |= {f"extra_body.{name}" for name in (RESERVED | COUNTED) & body.keys()}
    return sorted(names)


def parameters(request: Request, output: Output) -> dict[str, Json]:
    """The parameters of a request, without address and key.

    Args:
        request: The request. Where tools are offered its schema is not sent: an answer is
            either a call or held to a schema.
        output: How the answer is asked for.
    """
    settings = request.model
    out: dict[str, Json] = {
        **settings.extra,
        "messages": [_message(message) for message in request.messages],
        "max_tokens": settings.max_tokens,
    }
    if settings.temperature is not None:
        out["temperature"] = settings.temperature
    if settings.reasoning_effort is not None:
        out["reasoning_effort"] = settings.reasoning_effort
    if request.tools:
        out["tools"] = [_tool(tool) for tool in request.tools]
    elif request.schema is not None and output == "tool":
        out["tools"] = [_tool(Tool(ANSWER_TOOL, "Gives your answer.", request.schema))]
        out["tool_choice"] = {"type": "function", "function": {"name": ANSWER_TOOL}}
    elif request.schema is not None and output == "schema":
        schema = dict(request.schema)
        out["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": schema, "strict": is_strict(schema)},
        }
    return out


def is_strict(schema: Json) -> bool:
    """Whether OpenAI's strict mode takes a schema: closed objects, every property required.

    What is called strict and is not, a provider rejects; what is not strict only guides a model.
    """
    return isinstance(schema, Mapping) and schema.get("type") == "object" and _closed(schema)


def _closed(schema: Json) -> bool:
    if not isinstance(schema, Mapping) or not schema.keys() <= _STRICT_WORDS:
        return False
    properties = schema.get("properties", {})
    if schema.get("type") == "object" and not (
        schema.get("additionalProperties") is False
        and set(schema.get("required", ())) == properties.keys()
    ):
        return False
    parts: list[Any] = [*properties.values(), *schema.get("anyOf", ())]
    if "items" in schema:
        parts.append(schema["items"])
    return all(_closed(part) for part in parts)


def _message(message: Message) -> dict[str, Json]:
    out: dict[str, Json] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        out["content"] = message.content or None
        out["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        out["tool_call_id"] = message.tool_call_id
    return out


def _tool(tool: Tool) -> dict[str, Json]:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.parameters),
    }
    return {"type": "function", "function": function}
