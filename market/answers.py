"""Answers as text: what a journal keeps and what crosses between processes.

An answer is serialised where it is made, and what is parsed back is what is applied. So a
placement cannot matter, and a recording cannot differ from the game: a tuple becomes a list
before the environment sees it, not only when the journal is read.

The spelling is `{"action":...}`, with `"said":...` where there is any, or `{"none":"late"}`.
"""

from __future__ import annotations

from market import canonical
from market.environment import Answer, Cause, Json, NoAction


def dump(answer: Answer | NoAction) -> str:
    """Serialise to the one spelling.

    Raises:
        ValueError: If the answer is not JSON.
    """
    if isinstance(answer, NoAction):
        return f'{{"none":"{answer.cause}"}}'
    if answer.said is None:
        return f'{{"action":{canonical.dumps(answer.action)}}}'
    return f'{{"action":{canonical.dumps(answer.action)},"said":{canonical.dumps(answer.said)}}}'


def settled(answer: Answer, plain: bool = False) -> tuple[str, Answer]:
    """The one spelling of an answer, and the answer that is parsed back from it.

    Args:
        answer: The answer.
        plain: Whether its action is known to be made of nothing but built-in dictionaries and
            lists, strings, whole numbers and truth values.

    Raises:
        ValueError: If the answer is not JSON.
    """
    text, action = canonical.settled(answer.action, plain)
    if answer.said is None:
        return f'{{"action":{text}}}', Answer(action)
    noted, said = canonical.settled(answer.said)
    return f'{{"action":{text},"said":{noted}}}', Answer(action, said)


def load(text: str) -> Answer | NoAction:
    """Parse what `dump` wrote.

    Raises:
        ValueError: If the text is not JSON or no answer.
    """
    return from_json(canonical.loads(text))


def from_json(data: Json) -> Answer | NoAction:
    """The answer that parsed JSON spells.

    Raises:
        ValueError: If it spells none.
    """
    if isinstance(data, dict):
        if "action" in data and data.keys() <= {"action", "said"}:
            return Answer(data["action"], data.get("said"))
        if data.keys() == {"none"}:
            return NoAction(Cause(data["none"]))
    raise ValueError("it is neither an action nor a reason for none")
