"""A policy that answers at random, in every environment: any action of the form, any tool."""

from __future__ import annotations

from dataclasses import dataclass

from market.environment import Answer, Decision, Json, Tool
from market.policies.idle import empty, kind
from market.policies.policy import Policy
from market.rng import Draws

_LETTERS = "abcdefghijklmnopqrstuvwxyz "


@dataclass
class Random(Policy):
    """Answers every decision with a random action of its form.

    The action is of the form and need not be a sensible one: names that only the rules of an
    environment know are mostly missed.

    Attributes:
        longest: Most entries of a list, letters of a text and calls of tools, where the form
            allows that many.
        span: Width of the range of a number to which the form gives no upper bound.
    """

    longest: int = 8
    span: int = 1000

    def act(self, decision: Decision) -> Answer:
        """Draw an action."""
        sample = _Sample(self.draws(decision), self.longest, self.span)
        if decision.form.tools:
            return Answer(sample.calls(decision.form.tools, decision.form.schema))
        return Answer(sample.value(decision.form.schema))


@dataclass(frozen=True, slots=True)
class _Sample:
    """Draws values of JSON schemas."""

    draws: Draws
    longest: int
    span: int

    def calls(self, tools: tuple[Tool, ...], schema: Json) -> list[Json]:
        """Random calls of random tools."""
        called = [self.draws.choice(tools) for _ in range(self._length(schema, "Items"))]
        return [{"tool": t.name, "arguments": self.value(t.parameters)} for t in called]

    def value(self, schema: Json) -> Json:
        """A random value; the keywords are those of `market.policies.idle.empty`."""
        if "enum" in schema:
            return self.draws.choice(schema["enum"])
        for union in ("anyOf", "oneOf"):
            if union in schema:
                return self.value(self.draws.choice(schema[union]))
        if "const" in schema:
            return schema["const"]
        match self._kind(schema):
            case "array":
                length = self._length(schema, "Items")
                return [self.value(schema.get("items", {})) for _ in range(length)]
            case "object":
                return self._object(schema)
            case "string":
                return self._text(self._length(schema, "Length"))
            case "integer":
                return self.draws.integer(*self._bounds(schema))
            case "number":
                low, high = self._bounds(schema)
                return low + self.draws.uniform() * (high - low)
            case "boolean":
                return self.draws.uniform() < 0.5
        return empty(schema)

    def _object(self, schema: Json) -> dict[str, Json]:
        """Every required field, each other one with even chance.

        Where further names are allowed, it uses each of those that are listed (`propertyNames`)
        with even chance, and makes some up where none are.
        """
        required = schema.get("required", ())
        fields = schema.get("properties", {})
        chosen = {
            name: self.value(inner)
            for name, inner in fields.items()
            if name in required or self.draws.uniform() < 0.5
        }
        chosen |= {name: None for name in required if name not in fields}
        others = schema.get("additionalProperties")
        if isinstance(others, dict):
            names = schema.get("propertyNames", {}).get("enum")
            if names is None:
                names = [
                    self._text(self.longest) for _ in range(self._length(schema, "Properties"))
                ]
            for name in names:
                if name not in fields and self.draws.uniform() < 0.5:
                    chosen[name] = self.value(others)
        return chosen

    def _text(self, length: int) -> str:
        return "".join(self.draws.choice(_LETTERS) for _ in range(length))

    def _kind(self, schema: Json) -> str:
        named = schema.get("type")
        return str(self.draws.choice(named)) if isinstance(named, list) else kind(schema)

    def _length(self, schema: Json, of: str) -> int:
        low = schema.get(f"min{of}", 0)
        return self.draws.integer(low, max(low, min(self.longest, schema.get(f"max{of}", 1 << 30))))

    def _bounds(self, schema: Json) -> tuple[int, int]:
        if "minimum" in schema:
            low = schema["minimum"]
            return low, schema.get("maximum", low + self.span)
        high = schema.get("maximum", self.span)
        return min(0, high), high
