"""What an operator sees, in words: the morning's report, what came of calls, earlier turns.

Everything is lines in order of worth, of which as many are told as fit. What is zero for a whole
machine is not told machine by machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from market.environment import Answer, Decision, Json, NoAction
from market.policies.prompts import own
from market.policies.tokens import clipped
from market.policies.wording import Wording
from market.vending import tabular
from market.vending.tabular import cell

#: What of a day's accounts the cash line tells already.
TOLD = ("cash", "net_assets")
#: The private views that have words of their own.
KNOWN = ("cash", "calls_left", "results", "report")


def state(decision: Decision, say: Wording) -> list[str]:
    """What is seen at a turn, but for the results of calls."""
    seen = decision.observation
    private = seen.private
    cash, calls = cell(private["cash"]), cell(private["calls_left"])
    report = private.get("report")
    if report is None:
        told = [say("between", cash=cash, calls=calls)]
    else:
        told = [
            _morning(decision, say),
            say("money", cash=cash, net_assets=cell(report["net_assets"]), calls=calls),
            *_stock(report, say),
            *_accounts(report, say),
            *_machines(report["machines"], say),
        ]
    if "forecast" in seen.public:
        told.append(say("forecast", days=", ".join(map(_weather, seen.public["forecast"]))))
    return told + [
        f"{cell(name)}: {_anything(value)}" for name, value in private.items() if name not in KNOWN
    ]


def results(decision: Decision) -> list[Json]:
    """The results of the calls before, without days that ended as they should."""
    return [
        value
        for value in decision.observation.private.get("results") or ()
        if value != {"tool": "end_day"}
    ]


def result(value: Json, tokens: int) -> str:
    """What came of a call, without the name of its tool, in so many tokens."""
    if not isinstance(value, Mapping):
        return clipped(cell(value), tokens)
    rest = {name: inner for name, inner in value.items() if name != "tool"}
    if value.get("tool") == "read_notes" and "text" in rest:
        # As the seat wrote them, in the spelling of its calls: one line that nothing inside ends.
        return clipped(f"text {own(rest['text'])}", tokens)
    return "\n".join(tabular.within(tabular.lines(_short(rest)) or ["done"], tokens))


def named(found: Sequence[Json], tokens: int) -> list[str]:
    """Results with the names of their tools, for where no call stands beside them."""
    share = tokens // max(len(found), 1)
    return [
        f"{cell(value.get('tool'))}: {result(value, share)}"
        for value in found
        if isinstance(value, Mapping)
    ]


def remembered(turn: tuple[Decision, Answer | NoAction], say: Wording, tokens: int) -> str:
    """An earlier turn on few lines: what came of the calls before it, and its own calls."""
    decision, given = turn
    private = decision.observation.private
    lines = [say("earlier", day=decision.step, turn=decision.turn, cash=cell(private["cash"]))]
    lines += named(results(decision), tokens // 2)
    calls = given.action if isinstance(given, Answer) else []
    made = "; ".join(f"{cell(call['tool'])} {own(call['arguments'])}" for call in calls)
    lines.append(say("called", calls=clipped(made, tokens // 2) or "-"))
    return "\n".join(lines)


def _short(value: dict[str, Any]) -> dict[str, Any]:
    """A batch whose good items have nothing to tell, by their number; refused ones keep theirs."""
    done = value.get("done")
    if isinstance(done, list) and all(row.keys() == {"item"} for row in done):
        value = {**value, "done": f"{len(done)} of {len(done) + len(value['refused'])} items"}
    return {name: inner for name, inner in value.items() if name != "refused" or inner}


def _morning(decision: Decision, say: Wording) -> str:
    today = decision.observation.public["today"]
    holiday = f", {cell(today['holiday'])}" if today["holiday"] else ""
    return say(
        "morning",
        day=decision.step,
        days=decision.observation.rules["days"],
        date=f"{cell(today['weekday'])} {cell(today['date'])}{holiday}",
        weather=cell(today["weather"]),
        temperature=cell(today["temperature"]),
    )


def _weather(day: Mapping[str, Json]) -> str:
    holiday = f" ({cell(day['holiday'])})" if day["holiday"] else ""
    return f"{cell(day['weekday'])} {cell(day['weather'])}{holiday}"


def _stock(report: Mapping[str, Json], say: Wording) -> list[str]:
    warehouse, coming, delivered = report["warehouse"], report["under_way"], report["delivered"]
    return [
        say(
            "stock",
            **{name: cell(units) for name, units in warehouse.items()},
            coming=cell(coming["units"]),
            cost=cell(coming["cost"]),
            delivered=cell(delivered["units"]),
        )
    ]


def _accounts(report: Mapping[str, Json], say: Wording) -> list[str]:
    yesterday = report["yesterday"]
    if yesterday is None:
        return []
    told = {name: amount for name, amount in yesterday.items() if name not in TOLD}
    week = report["last_7_days"]
    return [say("yesterday", facts=tabular.facts(told)), say("week", facts=tabular.facts(week))]


def _machines(machines: Mapping[str, Mapping[str, Json]], say: Wording) -> list[str]:
    rows = [{"machine": name, **told} for name, told in machines.items() if any(told.values())]
    empty = len(machines) - len(rows)
    table = [say("machines"), *tabular.table(rows)] if rows else []
    return [*table, say("empty", count=empty)] if empty else table


def _anything(value: Json) -> str:
    """A view that has no words of its own, on one line."""
    return tabular.facts(value) if isinstance(value, Mapping) else cell(value)
