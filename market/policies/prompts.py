"""Decisions in words: what a language model reads before it answers.

A prompt is a pure function of a policy's own history and the decision it is asked, so memory is
the history itself. Its shape is the same for every environment:

- the first message holds the rules, equal for every seat and step of an episode, so that a
  server can keep what it has read;
- a step is one conversation that only grows: what is seen, the own answer as it was applied,
  what is seen next. After a turn without an answer the user's message goes on instead, for small
  models would copy whatever stood there;
- a new step begins a new conversation, with what is worth remembering of earlier steps in its
  first message, as far as the context (`market.policies.context`) and the budget go. With `groups`
  the conversation goes on through all steps instead;
- the last message ends with an example of the answer, possible in this very situation.

`JsonPrompts` (`market.policies.json_prompts`) serves every environment by showing its observations
as JSON. An environment that can say it better brings its own class; `market.policies.conversation`
holds what such classes of tool environments have in common.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from market import canonical
from market.environment import Answer, Decision, Json, NoAction, Tool
from market.language import Message
from market.policies.context import NOTES, Context, notes_of
from market.policies.policy import History
from market.policies.wording import Phrase

#: Begins what is told after a turn that passed without an answer.
NO_ANSWER = "(You gave no valid answer, so nothing was done.)"

#: Ends every question for JSON, its one-line example last.
ONLY_JSON: Phrase = (
    "Answer with one JSON object only, like:\n{example}",
    "Reply with a single JSON object, such as:\n{example}",
    "Give just one JSON object, for example:\n{example}",
)


class Prompts(Protocol):
    """Puts the decisions of one environment into words."""

    def __init__(
        self,
        tokens: int,
        instructions: str = "",
        *,
        wording: int = 0,
        context: Context = Context(),  # noqa: B008
        written: bool = False,
    ) -> None:
        """Make a renderer.

        Args:
            tokens: Budget of a whole prompt. The rules and the own state are never cut; what is
                told besides takes the room that is left.
            instructions: Text of whoever configured the seat, put at the end of the rules.
            wording: In which of the wordings that say the same.
            context: What is told of the past.
            written: Whether calls of tools are written as text, by a model that is offered none.
        """

    def messages(self, history: History, decision: Decision, spare: int = 0) -> tuple[Message, ...]:
        """The conversation that asks for a decision, after a history of earlier ones.

        Args:
            history: The seat's whole past.
            decision: What is asked.
            spare: Tokens of the budget to leave free, for words that will be added.
        """
        ...

    def example(self, decision: Decision) -> Json:
        """A plausible action for a decision, of its form."""
        ...

    def schema(self, decision: Decision, tokens: int) -> Mapping[str, Json]:
        """The schema that a provider may hold the model to.

        The form's own, or a narrower one that leaves out what no good answer needs: a small model
        that is let go on goes on until its tokens end, and a truncated answer is none.

        Args:
            decision: The decision.
            tokens: Most tokens of the answer.
        """
        ...

    def tools(self, decision: Decision, tokens: int) -> tuple[Tool, ...]:
        """The tools that a provider offers the model; asked where a decision has tools only.

        The form's own, or fewer of them with narrower schemas, for the same reason. They are the
        same for all decisions of a kind: providers read them before everything else.

        Args:
            decision: The decision.
            tokens: Most tokens of the answer.
        """
        ...


def only_json(example: Json, wording: int = 0) -> str:
    """The words with which every question for JSON ends, its one-line example last."""
    return ONLY_JSON[wording].format(example=canonical.dumps(example))


def split(history: History, decision: Decision) -> tuple[History, History]:
    """A history cut in two: earlier steps, and the turns of the decision's own step."""
    cut = len(history)
    while cut and history[cut - 1][0].step == decision.step:
        cut -= 1
    return history[:cut], history[cut:]


def answered(given: Answer | NoAction) -> list[Message]:
    """An own past answer as the assistant's message, in the spelling that was applied, if any.

    Notes stand beside it as they were kept.
    """
    if isinstance(given, NoAction):
        return []
    notes = notes_of(given)
    if notes and isinstance(given.action, Mapping):
        return [Message("assistant", own({NOTES: notes, **given.action}))]
    return [Message("assistant", f"{notes}\n{own(given.action)}" if notes else own(given.action))]


def told(conversation: Sequence[Message], text: str, no_answer: str = NO_ANSWER) -> list[Message]:
    """A conversation with one more text of the user, so that roles take turns."""
    if conversation[-1].role != "user":
        return [*conversation, Message("user", text)]
    joined = f"{conversation[-1].content}\n\n{no_answer}\n{text}"
    return [*conversation[:-1], Message("user", joined)]


def joined(
    conversation: Sequence[Message],
    groups: Sequence[Sequence[Message]],
    no_answer: str = NO_ANSWER,
) -> list[Message]:
    """A conversation with groups of messages after it, so that roles take turns."""
    whole = list(conversation)
    for message in (message for group in groups for message in group):
        if message.role == "user":
            whole = told(whole, message.content, no_answer)
        else:
            whole.append(message)
    return whole


def own(value: Json) -> str:
    """What the seat itself wrote, unchanged as JSON, yet without the signs of chat templates."""
    return canonical.dumps(value).replace("<", "\\u003c")
