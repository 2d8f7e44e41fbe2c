"""The tools of an operator: their names, arguments and purpose.

An answer is a list of calls. What a call says is held against its tool's schema by the
environment, so that one malformed call is refused alone and the others are carried out.
"""

from __future__ import annotations

from market import forms
from market.environment import Form, Json, Tool
from market.vending.rules import VendingRules

#: Most items of a batch.
MOST_ITEMS = 100
#: Rows of a page: how many there are, and the most that can be asked for.
PAGE, MOST_ROWS = 20, 50
#: Days that views can look back.
WINDOWS = (1, 3, 7, 30)

_MACHINE: Json = {"type": "string", "minLength": 1, "maxLength": 16}
_PRODUCT: Json = {"type": "string", "minLength": 1, "maxLength": 16}
_QUANTITY: Json = {"type": "integer", "minimum": 1}
_PRICE: Json = {"type": "number", "minimum": 0.01, "description": "CNY, at most two decimals"}
_WINDOW: Json = {"enum": [*WINDOWS], "description": "days back, today not included"}
_PAGES: dict[str, Json] = {
    "page": {"type": "integer", "minimum": 1, "maximum": 10_000},
    "rows": {"type": "integer", "minimum": 1, "maximum": MOST_ROWS},
}


def _object(required: dict[str, Json], optional: dict[str, Json] | None = None) -> Json:
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": [*required],
        "additionalProperties": False,
    }


def _batch(
    name: str, description: str, required: dict[str, Json], optional: dict[str, Json] | None = None
) -> Tool:
    items = {
        "type": "array",
        "minItems": 1,
        "maxItems": MOST_ITEMS,
        "items": _object(required, optional),
    }
    return Tool(name, description, _object({"items": items}))


def tools(rules: VendingRules) -> tuple[Tool, ...]:
    """The tools under some rules."""
    machine, product = {"machine": _MACHINE}, {"product": _PRODUCT}
    quantity = {"quantity": _QUANTITY}
    return (
        _batch(
            "order_stock",
            "Order units from the supplier, paid at once and delivered to the warehouse.",
            {**product, **quantity},
        ),
        _batch(
            "set_prices",
            "Set prices of products that machines list; needs no visit.",
            {**machine, **product, "price": _PRICE},
        ),
        _batch(
            "discard_stock",
            "Throw away units in the warehouse, those that expire first before others.",
            {**product, **quantity},
            {"expired_only": {"type": "boolean"}},
        ),
        _batch(
            "load_machine",
            "Visit: put unexpired units from the warehouse into a machine. Without a price the "
            "posted one stays; a product new there is sold at its reference price.",
            {**machine, **product, **quantity},
            {"price": _PRICE},
        ),
        _batch(
            "unload_machine",
            "Visit: take unexpired units back to the warehouse.",
            {**machine, **product, **quantity},
        ),
        _batch(
            "delist_product",
            "Visit: clear a product from a machine and free its slot; unexpired units go to the "
            "warehouse, expired ones are scrapped.",
            {**machine, **product},
        ),
        Tool(
            "view_catalog",
            "Products that can be ordered.",
            _object({}, {"subcategory": {"type": "string", "maxLength": 64}, **_PAGES}),
        ),
        Tool(
            "view_product",
            "A product: its stock by batch, orders under way, and each machine that lists it.",
            _object(product, {"window": _WINDOW}),
        ),
        Tool(
            "view_machine",
            "A machine: the products it lists, their stock, prices and sales. With `operator`, "
            "what a rival's machine at the site showed this morning.",
            _object(
                machine,
                {"window": _WINDOW, "operator": {"type": "string", "maxLength": 32}, **_PAGES},
            ),
        ),
        Tool("view_warehouse", "Stock in the warehouse.", _object({}, {**_PAGES})),
        Tool(
            "view_orders",
            "Orders, the latest first: those under way, or those delivered.",
            _object({}, {"status": {"enum": ["under_way", "delivered"]}, **_PAGES}),
        ),
        Tool(
            "view_sales",
            "Units and money by product, machine or day, the most first; of one machine or "
            "product where named.",
            _object(
                {},
                {
                    "window": _WINDOW,
                    "by": {"enum": ["product", "machine", "day"]},
                    **machine,
                    **product,
                    **_PAGES,
                },
            ),
        ),
        Tool("view_finances", "The accounts day by day.", _object({}, {"window": _WINDOW})),
        Tool(
            "view_calendar",
            "Dates, holidays and weather of past days, today and the coming week.",
            _object({}, {"window": _WINDOW}),
        ),
        Tool("read_notes", "Read your notebook.", _object({})),
        Tool(
            "write_notes",
            f"Replace what is in your notebook, at most {rules.notes} characters.",
            _object({"text": {"type": "string"}}),
        ),
        Tool("end_day", "End your day: machines sell, and the next morning comes.", _object({})),
    )


def form(rules: VendingRules) -> Form:
    """The form of a turn: a list of calls."""
    call = {
        "type": "object",
        "properties": {
            "tool": {"type": "string", "maxLength": 64},
            "arguments": {"type": "object"},
        },
        "required": ["tool", "arguments"],
        "additionalProperties": False,
    }
    return Form(
        # More than a day's calls are refused one by one, beyond reason the whole answer is.
        schema={"type": "array", "maxItems": 2 * rules.calls_per_day, "items": call},
        example=[
            {"tool": "view_catalog", "arguments": {"subcategory": "water"}},
            {"tool": "order_stock", "arguments": {"items": [{"product": "P0001", "quantity": 6}]}},
            {"tool": "end_day", "arguments": {}},
        ],
        tools=tools(rules),
    )


class Checks:
    """Holds the arguments of calls against the schemas of their tools."""

    def __init__(self, offered: tuple[Tool, ...]) -> None:
        self._forms = {tool.name: Form(tool.parameters, None) for tool in offered}

    def error(self, tool: str, arguments: Json) -> str | None:
        """What is wrong with a call, in a bounded line; None when it is well-formed."""
        if tool not in self._forms:
            return "there is no such tool"
        problem = forms.check(self._forms[tool], arguments)
        return None if problem is None else problem.replace("answer", "arguments", 1)[:200]
