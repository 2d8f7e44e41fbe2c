"""An example of calls that are possible in the very situation: the next step of plain play.

Look for products, order one, end the day; once there is stock, load it into a machine. Which
subcategory and machine are named goes round with the days, so that the example favours none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from market.environment import Decision, Json

#: Units that the example orders and loads at most.
ORDERED, LOADED = 6, 3


def calls(decision: Decision) -> list[Json]:
    """One call, as an action."""
    seen = decision.observation
    report, results = seen.private.get("report"), seen.private.get("results") or ()
    if report is not None:
        stocked = report["warehouse"]["units"] > report["warehouse"]["expired"]
        return _look(decision, stocked)
    last: Mapping[str, Any] = results[-1] if results else {}
    rows = last.get("rows") or ()
    if last.get("tool") == "view_catalog" and rows:
        item = {"product": _turned(rows, decision)["product"], "quantity": ORDERED}
        return _call("order_stock", items=[item])
    good = [row for row in rows if row.get("units", 0) > row.get("expired", 0)]
    if last.get("tool") == "view_warehouse" and good:
        row = _turned(good, decision)
        units = min(LOADED, row["units"] - row["expired"])
        machine = _turned(seen.rules["machines"], decision)["machine"]
        item = {"machine": machine, "product": row["product"], "quantity": units}
        return _call("load_machine", items=[item])
    if last.get("tool") == "load_machine":
        return _look(decision, stocked=False)
    return _call("end_day")


def _look(decision: Decision, stocked: bool) -> list[Json]:
    if stocked:
        return _call("view_warehouse", rows=5)
    kinds = decision.observation.rules["subcategories"]
    return _call("view_catalog", subcategory=kinds[(decision.step - 1) % len(kinds)], rows=5)


def _turned(choices: Any, decision: Decision) -> Any:
    return choices[(decision.step - 1) % len(choices)]


def _call(tool: str, **arguments: Json) -> list[Json]:
    return [{"tool": tool, "arguments": arguments}]
