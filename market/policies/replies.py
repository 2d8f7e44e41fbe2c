"""Reads what a model wrote, strictly: JSON of the asked form or one line that says what is wrong.

Models wrap JSON in fences, in prose and in their thoughts, so the object is looked for; what is
found is parsed as JSON and as nothing else. Braces are matched with strings respected, hence an
object that was cut off is never mistaken for the smaller object inside it.

What is no JSON, for want of a comma or a closing brace, may be mended by a library first
(`json_repair`). It decides nothing: what it makes must be of the form like anything else, texts
are not made numbers, two readings are none, and an answer that was cut at the token limit is not
completed by guessing. Whether an answer was mended is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from market import canonical, forms
from market.environment import Form, Json
from market.language import Reply, ToolCall
from market.policies.context import KEEP_NOTES, NOTES
from market.policies.untrusted import clean

#: Longest reply that is looked at, in characters. A longer one is malformed.
MAX_CHARACTERS = 4 * forms.MAX_CHARACTERS

#: Longest text that is mended, in characters: the library's time is not bounded otherwise.
MAX_REPAIRED = 8_000

_THOUGHTS = re.compile(r"\s*<think>.*?</think>", re.DOTALL)


class ReplyError(ValueError):
    """A reply holds no answer of the form; the message is one bounded line for the model."""


@dataclass(frozen=True, slots=True)
class Read:
    """What a reply holds.

    Attributes:
        action: The action, of the form.
        notes: What the model noted for itself, as it wrote it.
        repaired: Whether the JSON had to be mended.
    """

    action: Json
    notes: str = ""
    repaired: bool = False


def read(reply: Reply, form: Form, repair: bool = False, notes: bool = False) -> Read:
    """The action a reply holds.

    Args:
        reply: The reply.
        form: What the action must look like.
        repair: Whether JSON that is broken may be mended.
        notes: Whether notes may stand beside the action: as a field of it, in calls of the tool
            for notes or, where calls are written, as text before them.

    Raises:
        ReplyError: If it holds none of the form.
    """
    if len(reply.text) > MAX_CHARACTERS:
        raise ReplyError("the answer is too long")
    text = _THOUGHTS.sub("", reply.text, count=1).strip()
    reader = _Reader(form, repair and reply.finish != "length", notes)
    if form.tools:
        reader.take_calls(reply.tool_calls, text)
    else:
        reader.take_object(reply.tool_calls, text)
    reader.check(reader.action)
    return Read(reader.action, reader.notes, reader.repaired)


class _Reader:
    """Reads one reply."""

    def __init__(self, form: Form, repair: bool, notes: bool) -> None:
        self._form = form
        self._repair = repair
        self._notes = notes
        self.action: Json = None
        self.notes = ""
        self.repaired = False

    def take_object(self, calls: tuple[ToolCall, ...], text: str) -> None:
        """The one JSON object of a text, or the arguments of the one call that gives the answer."""
        if len(calls) > 1:
            raise ReplyError("there is more than one answer")
        _, found = self._find(calls[0].arguments if calls else text, "{}", "JSON object")
        self.action = self._without_notes(found)

    def take_calls(self, calls: tuple[ToolCall, ...], text: str) -> None:
        """Tool calls as an action; a text that holds a JSON list of calls is as good."""
        before = ""
        if calls:
            action = [{"tool": call.name, "arguments": self._arguments(call)} for call in calls]
        else:
            try:
                before, action = self._find(text, "[]", "JSON list")
            except ReplyError as error:
                raise ReplyError("no tool was called") from error
        if self._notes:
            before, action = _without_note_calls(before, action)
        names = [tool.name for tool in self._form.tools]
        for call in action:
            if not isinstance(call, dict) or call.get("tool") not in names:
                given = call.get("tool") if isinstance(call, dict) else call
                raise ReplyError(f"there is no tool {clean(repr(given), 60)}")
        self.action = action
        self.notes = before if self._notes else ""

    def check(self, action: Json) -> None:
        """Raise `ReplyError` unless an action is of the form."""
        try:
            spelled = canonical.dumps(action)
        except ValueError as error:
            raise ReplyError(_line(error)) from error
        if len(spelled) > forms.MAX_CHARACTERS:
            raise ReplyError("the answer is too long")
        problem = forms.check(self._form, action)
        if problem is not None:
            raise ReplyError(_line(problem))

    def _without_notes(self, found: Json) -> Json:
        if not (self._notes and isinstance(found, dict)) or NOTES in self._form.schema.get(
            "properties", ()
        ):
            return found
        notes = found.get(NOTES)
        self.notes = notes if isinstance(notes, str) else ""
        return {name: value for name, value in found.items() if name != NOTES}

    def _find(self, text: str, brackets: str, what: str) -> tuple[str, Any]:
        """What stands before the one JSON value in such brackets, and the value."""
        found: list[tuple[str, Json]] = []
        problem = ReplyError(f"there is no {what} in the answer")
        spans: list[str] = []
        try:
            for start, end in _outermost(text, brackets, what):
                spans.append(text[start:end])
                try:
                    found.append((text[:start], canonical.loads(text[start:end])))
                except ValueError as error:
                    problem = ReplyError(_line(error))
        except ReplyError as error:
            # Whatever was whole before it, the answer is the one that was cut.
            if found:
                raise
            problem = error
        if len(found) > 1:
            raise ReplyError(f"there is more than one {what} in the answer")
        if found:
            return found[0]
        start = text.find(brackets[0])
        if start < 0 or not self._repair:
            raise problem
        return text[:start], self._mended([*spans, text[start:]], brackets, problem)

    def _arguments(self, call: ToolCall) -> Json:
        text = call.arguments or "{}"
        of = f"the arguments of {clean(call.name, 60)} are"
        try:
            arguments = canonical.loads(text)
        except ValueError as error:
            problem = ReplyError(f"{of} {_line(error)}")
            if not self._repair:
                raise problem from error
            arguments = self._only(text, problem)
        if not isinstance(arguments, dict):
            raise ReplyError(f"{of} not a JSON object")
        return arguments

    def _mended(self, texts: list[str], brackets: str, problem: ReplyError) -> Json:
        """The one object or list that can be made of the texts; an object must be of the form."""
        kind = dict if brackets == "{}" else list
        values: dict[str, Json] = {}
        for text in texts:
            with suppress(ReplyError):
                value = self._only(text, problem)
                if not isinstance(value, kind):
                    continue
                if not self._form.tools:
                    self.check(self._without_notes(value))
                values[canonical.dumps(value)] = value
        if len(values) != 1:
            raise problem
        return next(iter(values.values()))

    def _only(self, text: str, problem: ReplyError) -> Json:
        """What the library makes of a text."""
        if len(text) > MAX_REPAIRED:
            raise problem
        # Imported where it is needed: most retailers never do, and each is a process of its own.
        import json_repair

        try:
            value = canonical.loads(canonical.dumps(json_repair.loads(text, skip_json_loads=True)))
        except Exception as error:  # whatever hostile text does to a library, the turn goes on
            raise problem from error
        self.repaired = True
        return value


def _without_note_calls(notes: str, calls: list[Json]) -> tuple[str, list[Json]]:
    """The last notes that were given, and the calls that are none for notes."""
    others = []
    for call in calls:
        if not isinstance(call, dict) or call.get("tool") != KEEP_NOTES:
            others.append(call)
            continue
        text = call["arguments"].get("text") if isinstance(call.get("arguments"), dict) else None
        if not isinstance(text, str):
            raise ReplyError(f"{KEEP_NOTES} takes a `text`")
        notes = text
    return notes, others


def _outermost(text: str, brackets: str, what: str) -> Iterator[tuple[int, int]]:
    """Spans from an outermost opening bracket to the one that closes it."""
    opening, closing = brackets[0], brackets[1]
    depth, start, quoted, escaped = 0, 0, False, False
    for position, character in enumerate(text):
        if quoted:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                quoted = False
        elif character == opening:
            start = position if depth == 0 else start
            depth += 1
        elif depth and character == '"':
            quoted = True
        elif depth and character == closing:
            depth -= 1
            if depth == 0:
                yield start, position + 1
    if depth:
        raise ReplyError(f"the {what} is not closed")


def _line(problem: ValueError | str) -> str:
    """What is wrong, as one bounded line."""
    text = str(problem)
    if isinstance(problem, ValueError) and not isinstance(problem, ReplyError):
        text = text if text.startswith("not JSON") else f"not JSON: {text}"
    return clean(text)
