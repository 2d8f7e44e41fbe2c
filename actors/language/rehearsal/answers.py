"""What a model with nothing in its head answers: the example that the prompt ends with.

Prompts of this project end with a line of JSON that would be a fair answer, so saying it back is
a valid action in every environment. Where tools are offered it is said as calls: the calls of the
example, or the first tool with the example as arguments, or else the least that its schema takes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from actors.language.rehearsal.reactions import Body
from market.rng import Draws

#: Names of numbers that are lowered and not raised when an example is varied: to ask for less at
#: a higher price stays affordable.
_QUANTITIES: Final = frozenset({"quantity", "units"})

#: Deepest that a schema is followed; one that refers to itself has no end.
_DEPTH: Final = 32

#: Said where a prompt holds no example and wants none.
FINE: Final = "Fine."


@dataclass(frozen=True, slots=True)
class Answer:
    """A text, or calls of tools with their arguments."""

    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()


def answer(body: Body, vary: float, draws: Draws) -> Answer:
    """The answer to a request.

    Args:
        body: The request.
        vary: How far numbers of the example are changed, from 0 to 1.
        draws: Decides how far each is.
    """
    example = _example(body)
    if example is not None and vary:
        example = _varied(example, vary, draws)
    tools = [tool["function"] for tool in body.get("tools") or ()]
    if tools and body.get("tool_choice") != "none":
        return Answer(calls=tuple(_calls(tools, example)))
    if example is None:
        schema = ((body.get("response_format") or {}).get("json_schema") or {}).get("schema")
        return Answer(FINE if schema is None else json.dumps(least(schema)))
    return Answer(json.dumps(example, ensure_ascii=False))


def least(schema: Any, root: Any = None, depth: int = 0) -> Any:
    """A small value of a JSON schema; of what schemas can say, the words that tools use."""
    root = schema if root is None else root
    if not isinstance(schema, Mapping) or depth > _DEPTH:
        return None
    if "$ref" in schema:
        return least(_referred(schema["$ref"], root), root, depth + 1)
    for name in ("const", "default"):
        if name in schema:
            return schema[name]
    for name in ("enum", "examples"):
        if schema.get(name):
            return schema[name][0]
    for name in ("anyOf", "oneOf", "allOf"):
        if schema.get(name):
            return least(schema[name][0], root, depth + 1)
    kind = schema.get("type", "object" if "properties" in schema else None)
    if isinstance(kind, Sequence) and not isinstance(kind, str):
        kind = kind[0]
    match kind:
        case "object":
            properties = schema.get("properties", {})
            return {
                name: least(properties.get(name), root, depth + 1)
                for name in schema.get("required", ())
            }
        case "array":
            items = schema.get("items")
            return [least(items, root, depth + 1) for _ in range(schema.get("minItems", 0))]
        case "string":
            return "x" * schema.get("minLength", 0)
        case "integer" | "number":
            return _least_number(schema)
        case "boolean":
            return False
    return None


def _least_number(schema: Mapping[str, Any]) -> float:
    """The whole number nearest to zero within the bounds."""
    number: float = 0
    for bound in (schema.get("minimum"), _beside(schema.get("exclusiveMinimum"), 1)):
        number = number if bound is None else max(number, bound)
    for bound in (schema.get("maximum"), _beside(schema.get("exclusiveMaximum"), -1)):
        number = number if bound is None else min(number, bound)
    return number


def _beside(bound: float | None, step: int) -> float | None:
    return None if bound is None else bound + step


def _referred(reference: str, root: Any) -> Any:
    """What a reference within the schema leads to."""
    found = root
    for part in reference.removeprefix("#/").split("/"):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _example(body: Body) -> Any:
    """The last line of JSON in the last message of the user; None if there is none."""
    for message in reversed(body.get("messages") or ()):
        if message.get("role") == "user":
            return _last_json(_text(message.get("content")))
    return None


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content)
    return content or ""


def _last_json(text: str) -> Any:
    for line in reversed(text.splitlines()):
        if line[:1] in ("{", "["):
            try:
                return json.loads(line)
            except ValueError:
                continue
    return None


def _calls(tools: Sequence[Any], example: Any) -> list[tuple[str, str]]:
    if isinstance(example, list) and example and _are_calls(example, tools):
        return [(call["tool"], json.dumps(call["arguments"])) for call in example]
    first = tools[0]
    schema = first.get("parameters") or {}
    fits = (
        isinstance(example, dict)
        and {*schema.get("required", ())} <= example.keys() <= {*schema.get("properties", ())}
        and example
    )
    return [(first["name"], json.dumps(example if fits else least(schema) or {}))]


def _are_calls(example: list[Any], tools: Sequence[Any]) -> bool:
    names = {tool["name"] for tool in tools}
    return all(
        isinstance(call, dict) and call.keys() == {"tool", "arguments"} and call["tool"] in names
        for call in example
    )


def _varied(value: Any, most: float, draws: Draws, name: str = "") -> Any:
    """A value with its whole numbers changed, none of them below 1."""
    if isinstance(value, dict):
        return {key: _varied(part, most, draws, key) for key, part in value.items()}
    if isinstance(value, list):
        return [_varied(part, most, draws, name) for part in value]
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        return value
    change = most * draws.uniform()
    return max(1, round(value * (1 - change if name in _QUANTITIES else 1 + change)))
