"""Vending in words: what an operator run by a language model reads.

    rules                                      equal for all seats and days
    user       the morning's report, the question
    assistant  calls of tools
    tool       their results, as tables
    user       calls left and cash, the question

A small budget is met twice: the tools that nobody needs in order to play are not offered, and the
example follows what the seat has seen, since a small model plays little else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from market import canonical
from market.environment import Answer, Decision, Json, NoAction, Tool
from market.policies.conversation import Conversation, written_out
from market.policies.tokens import estimate_tokens
from market.policies.untrusted import cleaned
from market.vending import examples, tabular, telling
from market.vending.phrases import PHRASES

#: Below this budget only the core of the tools is offered.
BRIEF = 5_000
#: The tools of a small budget.
CORE = (
    "order_stock",
    "set_prices",
    "load_machine",
    "delist_product",
    "view_catalog",
    "view_warehouse",
    "end_day",
)
#: Most machines whose names a small budget spells out in every schema.
NAMED = 6

#: Tokens of a question with its example.
QUESTION_TOKENS = 70
#: Tokens of a call around its items, and of one item.
CALL_TOKENS = 30
ITEM_TOKENS = 30
#: Characters of a text per token, at the least.
TEXT_CHARACTERS = 3


class VendingPrompts(Conversation):
    """Puts the decisions of vending into words (see `market.policies.prompts.Prompts`)."""

    phrases = PHRASES

    @property
    def _brief(self) -> bool:
        return self._tokens < BRIEF

    def example(self, decision: Decision) -> Json:
        """The next call of a plain way to play, given what was seen."""
        return cleaned(examples.calls(decision), tabular.CELL)

    def tools(self, decision: Decision, tokens: int) -> tuple[Tool, ...]:
        """The tools, held to what the tokens can hold; of a small budget the core of them."""
        offered = decision.form.tools
        if self._brief:
            offered = tuple(tool for tool in offered if tool.name in CORE)
        return tuple(
            replace(tool, parameters=self._narrowed(tool.parameters, decision, tokens))
            for tool in offered
        )

    def _narrowed(
        self, parameters: Mapping[str, Json], decision: Decision, tokens: int
    ) -> Mapping[str, Json]:
        """The schema of a tool's arguments, without what no good call needs."""
        rules, properties = decision.observation.rules, dict(parameters["properties"])
        if "items" in properties:
            items = properties["items"]
            most = max(1, min(items["maxItems"], (tokens - CALL_TOKENS) // ITEM_TOKENS))
            inner = {**items["items"], "properties": self._fields(items["items"], rules)}
            properties["items"] = {**items, "maxItems": most, "items": inner}
        else:
            properties = self._fields(parameters, rules)
        if "text" in properties:
            longest = min(rules["notes"], max(1, (tokens - CALL_TOKENS) * TEXT_CHARACTERS))
            properties["text"] = {**properties["text"], "maxLength": longest}
        return {**parameters, "properties": properties}

    def _fields(self, schema: Mapping[str, Json], rules: Mapping[str, Json]) -> dict[str, Any]:
        fields = dict(schema["properties"])
        if rules["operators"] == 1:
            fields.pop("operator", None)
        if not self._brief:
            return fields
        if "quantity" in fields:
            fields["quantity"] = {**fields["quantity"], "maximum": rules["volume"]}
            fields.pop("price", None)  # there is a tool for that
        if "machine" in fields and len(rules["machines"]) <= NAMED:
            fields["machine"] = {"enum": [each["machine"] for each in rules["machines"]]}
        return fields

    def _explained(self, decision: Decision) -> str:
        rules = decision.observation.rules
        numbers = {
            name: tabular.cell(value)
            for name, value in rules.items()
            if isinstance(value, int | float | str)
        }
        sites: dict[str, list[str]] = {}
        for each in rules["machines"]:
            sites.setdefault(tabular.cell(each["site_type"]), []).append(
                tabular.cell(each["machine"])
            )
        numbers["machines"] = ", ".join(f"{kind} {' '.join(own)}" for kind, own in sites.items())
        numbers["subcategories"] = ", ".join(map(tabular.cell, rules["subcategories"]))
        said = self._say("numbers", **numbers)
        if rules["operators"] > 1:
            said = f"{said}\n{self._say('shared', operators=rules['operators'])}"
        parts = [
            self._say(
                "rules",
                place=numbers["place"],
                days=numbers["days"],
                how=self._say("by_json" if self._written else "by_tools"),
                briefing=" ".join(rules["briefing"]),
                numbers=said,
            )
        ]
        if self._written:
            offered = self.tools(decision, self._tokens)
            parts.append(self._say("tools", tools=written_out(offered)))
        return "\n\n".join(parts)

    def _shown(self, decision: Decision, without_results: bool = False) -> str:
        room = self._room(decision)
        if without_results:  # they were shown before it, in the other half
            return "\n".join([*tabular.within(telling.state(decision, self._say), room // 2), ""])
        found = telling.results(decision)
        told = telling.named(found, room // 2)
        if told:
            told.insert(0, self._say("results"))
        room -= sum(estimate_tokens(part) + 1 for part in told)
        return "\n".join([*tabular.within(telling.state(decision, self._say), room), *told, ""])

    def _question(self, decision: Decision, explained: bool) -> str:  # noqa: ARG002
        example = canonical.dumps(self._noting(decision))
        return self._say("write" if self._written else "call", example=example)

    def _noting(self, decision: Decision) -> Json:
        example: list[Json] = super()._noting(decision)
        # A small model copies one call, so notes are asked for alone; its calls come after.
        return example[-1:] if self._brief else example

    def _questions(self, decision: Decision) -> int:  # noqa: ARG002
        # Examples differ from turn to turn, and no room may hang on that.
        return 2 * QUESTION_TOKENS

    def _result(self, result: Json, tokens: int) -> str:
        return telling.result(result, tokens)

    def _remembered(self, turn: tuple[Decision, Answer | NoAction]) -> str:
        return telling.remembered(turn, self._say, self._room(turn[0]) // 2)
