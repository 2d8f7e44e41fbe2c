"""Reads what a model wrote, strictly: JSON of the asked form or one line that says what is wrong.

Models wrap JSON in fences, in prose and in their thoughts, so the object is looked for; what is
found is parsed as JSON and as nothing else. Braces are matched with strings respected, hence an
object that was cut off is never mistaken for the smaller object inside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from market import canonical, forms
from market.environment import Form, Json
from market.language import Reply, ToolCall
from market.policies.untrusted import clean

#: Longest reply that is looked at, in characters. A longer one is malformed.
MAX_CHARACTERS = 4 * forms.MAX_BYTES

_THOUGHTS = re.compile(r"\s*<think>.*?</think>", re.DOTALL)
_FENCE = re.compile(r"```[A-Za-z]*\s*\n(.*?)```", re.DOTALL)


class ReplyError(ValueError):
    """A reply holds no answer of the form; the message is one bounded line for the model."""


def read(reply: Reply, form: Form) -> Json:
    """The action a reply holds.

    Raises:
        ReplyError: If it holds none of the form.
    """
    if len(reply.text) > MAX_CHARACTERS:
        raise ReplyError("the answer is too long")
    text = _THOUGHTS.sub("", reply.text, count=1).strip()
    action = _calls(reply.tool_calls, text, form) if form.tools else _object(text)
    try:
        spelled = canonical.dumps(action)
    except ValueError as error:
        raise ReplyError(_line(error)) from error
    if len(spelled.encode()) > forms.MAX_BYTES:
        raise ReplyError("the answer is too long")
    problem = forms.check(form, action)
    if problem is not None:
        raise ReplyError(_line(problem))
    return action


def _object(text: str) -> Json:
    """The one JSON object of a text, bare, fenced or surrounded by prose."""
    found: list[Json] = []
    problem: ValueError = ReplyError("there is no JSON object in the answer")
    for span in _outermost(text):
        try:
            found.append(canonical.loads(span))
        except ValueError as error:
            problem = error
    if len(found) > 1:
        raise ReplyError("there is more than one JSON object in the answer")
    if not found:
        raise ReplyError(_line(problem))
    return found[0]


def _outermost(text: str) -> Iterator[str]:
    """Spans from an outermost opening brace to the brace that closes it."""
    depth, start, quoted, escaped = 0, 0, False, False
    for position, character in enumerate(text):
        if quoted:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                quoted = False
        elif character == "{":
            start = position if depth == 0 else start
            depth += 1
        elif depth and character == '"':
            quoted = True
        elif depth and character == "}":
            depth -= 1
            if depth == 0:
                yield text[start : position + 1]
    if depth:
        raise ReplyError("the JSON object is not closed")


def _calls(calls: tuple[ToolCall, ...], text: str, form: Form) -> Json:
    """Tool calls as an action; a text that is a JSON list of calls is as good."""
    names = [tool.name for tool in form.tools]
    action = [{"tool": call.name, "arguments": _arguments(call)} for call in calls]
    if not calls:
        fenced = _FENCE.fullmatch(text)
        try:
            action = canonical.loads(fenced[1] if fenced else text)
        except ValueError as error:
            raise ReplyError("no tool was called") from error
        if not isinstance(action, list):
            raise ReplyError("no tool was called")
    for call in action:
        if not isinstance(call, dict) or call.get("tool") not in names:
            given = call.get("tool") if isinstance(call, dict) else call
            raise ReplyError(f"there is no tool {clean(repr(given), 60)}")
    return action


def _arguments(call: ToolCall) -> Json:
    try:
        arguments = canonical.loads(call.arguments or "{}")
    except ValueError as error:
        raise ReplyError(f"the arguments of {clean(call.name, 60)} are {_line(error)}") from error
    if not isinstance(arguments, dict):
        raise ReplyError(f"the arguments of {clean(call.name, 60)} are not a JSON object")
    return arguments


def _line(problem: ValueError | str) -> str:
    """What is wrong, as one bounded line."""
    text = str(problem)
    if isinstance(problem, ValueError) and not isinstance(problem, ReplyError):
        text = text if text.startswith("not JSON") else f"not JSON: {text}"
    return clean(text)
