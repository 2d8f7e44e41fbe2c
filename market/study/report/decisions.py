"""Every decision of some episodes, packed for the page's browser of decisions.

An episode is played again, and per decision there is what the seat saw, what it did and noted, the
rows of the tables that came of it (those with a `reason` or `error` are refusals), and for models
the prompt, the raw reply and what the call took. What happens is booked to the seat's last
decision: a price is refused when retail opens, after others were asked something else.

An episode is JSON, compressed and in base64: nothing in it can end its element, and the page puts
nothing of it anywhere but into text nodes. A page holds so many bytes of these at most; of an
episode that does not fit by itself the first decisions are kept.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from market.calls import CallLogError, CallRecord, Outcome, read_calls
from market.environment import OUTSIDE, Answer, Decision, Event, Json, NoAction
from market.journal import JournalError
from market.replay import Moment, Replay, ReplayError
from market.study.estimands.validity import REASONS

#: Most characters of packed episodes in a page.
BUDGET = 8_000_000
#: Most episodes of a page, so that making it does not take as long as playing.
MOST = 24

_KEYS = ("step", "turn", "seat")


@dataclass(frozen=True, slots=True)
class Packed:
    """An episode.

    Attributes:
        id: Its id.
        data: What the browser unpacks.
        shown: Decisions in it.
        decisions: Decisions that there are.
    """

    id: str
    data: str
    shown: int
    decisions: int


@dataclass(frozen=True, slots=True)
class Browser:
    """What the page can browse.

    Attributes:
        episodes: The episodes that it holds.
        recorded: Episodes that there are.
    """

    episodes: tuple[Packed, ...]
    recorded: int

    @property
    def note(self) -> str:
        """What was left out; empty if nothing was."""
        parts = []
        if left := self.recorded - len(self.episodes):
            parts.append(
                f"The page holds {len(self.episodes):,} of {self.recorded:,} episodes; the other "
                f"{left:,} are in their journals."
            )
        parts += [
            f"Of {each.id} it holds the first {each.shown:,} of {each.decisions:,} decisions."
            for each in self.episodes
            if each.shown < each.decisions
        ]
        return " ".join(parts)


def browser(journals: Sequence[Path], budget: int = BUDGET, most: int = MOST) -> Browser:
    """Pack the first episodes, as many as the budget holds; of the first one a part at least.

    Args:
        journals: Of all episodes, in the order in which they are to be kept.
        budget: Characters of all together.
        most: Episodes at most.

    Episodes whose records are damaged, or not of this version's game, are left out.
    """
    kept: list[Packed] = []
    for journal in journals[:most]:
        try:
            episode = _Episode(journal)
        except (JournalError, ReplayError, CallLogError):
            continue
        packed = episode.pack(len(episode.decisions))
        while not kept and len(packed.data) > budget and packed.shown > 1:
            packed = episode.pack(packed.shown // 2)
        if kept and len(packed.data) > budget:
            break
        budget -= len(packed.data)
        kept.append(packed)
    return Browser(tuple(kept), len(journals))


class _Episode:
    """A recorded episode, gathered by decision."""

    def __init__(self, journal: Path) -> None:
        self.id = journal.parent.name
        self.decisions: list[dict[str, Json]] = []
        self._public: list[Mapping[str, Json]] = []
        self._texts: dict[tuple[str, str], int] = {}
        self._columns: dict[str, list[str]] = {}
        self._refused: dict[str, str] = {}
        self._last: dict[str, dict[str, Json]] = {}
        calls: dict[tuple[int, int, str], list[CallRecord]] = {}
        for record in read_calls(journal.with_name("calls.jsonl")).records:
            if record.outcome is not Outcome.SENT:
                calls.setdefault((record.step, record.turn, record.seat), []).append(record)
        replay = Replay(journal)
        self._rules = replay.environment.rules
        for moment in replay:
            self._add(moment, calls)

    def pack(self, first: int) -> Packed:
        """The first decisions, compressed; equal ones are equal bytes."""
        shown = self.decisions[:first]
        batches = max((each["public"] for each in shown), default=-1) + 1
        whole = {
            "rules": self._rules,
            "public": self._public[:batches],
            "texts": [list(text) for text in self._texts],
            "columns": self._columns,
            "refused": self._refused,
            "decisions": shown,
        }
        spelled = json.dumps(whole, ensure_ascii=True, separators=(",", ":"), default=dict)
        data = base64.b64encode(gzip.compress(spelled.encode(), 6, mtime=0)).decode()
        return Packed(self.id, data, len(shown), len(self.decisions))

    def _add(
        self, moment: Moment, calls: Mapping[tuple[int, int, str], Sequence[CallRecord]]
    ) -> None:
        asked = [decision for decision in moment.asked if decision.seat != OUTSIDE]
        if asked:
            self._public.append(asked[0].observation.public)
        for decision in asked:
            key = decision.step, decision.turn, decision.seat
            one = self._decision(decision, moment.answers[decision.seat], calls.get(key, ()))
            self._last[decision.seat] = one
            self.decisions.append(one)
        self._book(moment.events)

    def _decision(
        self, decision: Decision, answer: Answer | NoAction, calls: Iterable[CallRecord]
    ) -> dict[str, Json]:
        one: dict[str, Json] = {
            "step": decision.step,
            "turn": decision.turn,
            "seat": decision.seat,
            "kind": decision.kind,
            "public": len(self._public) - 1,
            "private": decision.observation.private,
        }
        if isinstance(answer, NoAction):
            one["none"] = str(answer.cause)
        else:
            one["action"] = answer.action
            if answer.said is not None:
                one["said"] = answer.said
        if made := [self._call(record) for record in calls]:
            one["calls"] = made
        return one

    def _call(self, record: CallRecord) -> dict[str, Json]:
        told: dict[str, Json] = {
            "attempt": record.attempt,
            "outcome": str(record.outcome),
            "model": record.model,
            "cause": record.cause,
            "error": record.error,
            "prompt": [
                self._texts.setdefault((message.role, message.content), len(self._texts))
                for message in record.messages
            ],
        }
        if record.reply is not None:
            usage = record.reply.usage
            told |= {
                "text": record.reply.text,
                "tools": [[call.name, call.arguments] for call in record.reply.tool_calls],
                "finish": record.reply.finish,
                "tokens in": usage.prompt_tokens,
                "tokens out": usage.completion_tokens,
                "cost": usage.cost_usd,
                "seconds": round(usage.latency_seconds, 3),
                "tries": usage.tries,
                "cached": usage.cached,
            }
        return {name: value for name, value in told.items() if value not in (None, [])}

    def _book(self, events: Iterable[Event]) -> None:
        for event in events:
            one = self._last.get(event.seat)
            if one is None or event.step != one["step"]:
                continue
            table = event.table
            if table not in self._columns:
                names = [each.name for each in fields(event) if each.name not in _KEYS]
                self._columns[table] = names
                reasons = [name for name in REASONS if name in names]
                self._refused.update((table, name) for name in reasons[:1])
            row = [getattr(event, name) for name in self._columns[table]]
            one.setdefault("rows", {}).setdefault(table, []).append(row)
