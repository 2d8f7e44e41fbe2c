"""A policy that does nothing, in every environment: the floor of every comparison."""

from __future__ import annotations

from dataclasses import dataclass

from market.environment import Answer, Decision, Json
from market.policies.policy import Policy


@dataclass
class Idle(Policy):
    """Answers every decision with the emptiest action of its form."""

    def act(self, decision: Decision) -> Answer:
        """Do nothing; where tools are offered, call none."""
        return Answer(empty(decision.form.schema))


def empty(schema: Json) -> Json:
    """The emptiest value of a JSON schema.

    Lists are empty, objects hold only what is required, texts are blank and numbers are the
    least allowed, or 0. The schema may use `type`, `enum`, `const`, `required`, `properties`,
    `items`, `minItems`, `minLength`, `minimum`, `maximum`, `anyOf` and `oneOf`.
    """
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return empty(schema[union][0])
    match kind(schema):
        case "array":
            return [empty(schema.get("items", {})) for _ in range(schema.get("minItems", 0))]
        case "object":
            fields = schema.get("properties", {})
            return {name: empty(fields.get(name, {})) for name in schema.get("required", ())}
        case "string":
            return "-" * schema.get("minLength", 0)
        case "integer" | "number":
            return schema.get("minimum", min(0, schema.get("maximum", 0)))
        case "boolean":
            return False
    return None


def kind(schema: Json) -> str:
    """The type a schema asks for; `null` where it allows null or says nothing."""
    named = schema.get("type", "null")
    if isinstance(named, str):
        return named
    return "null" if "null" in named else str(named[0])
