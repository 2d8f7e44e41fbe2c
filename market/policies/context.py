"""What a language model is told of its past: a pure function of the seat's history.

    full        all earlier steps, the newest first, as far as the budget goes
    last        the last so many steps
    notebook    nothing but notes that the model itself writes beside its answers
    groups      one conversation over the whole episode; at the budget whole groups go

A *group* is an own answer with everything that came of it: the calls of tools, their results and
what was asked next. It goes whole, for a result without its call is an error to providers. The
rules, the first message of the user and the last two groups always stay.

Notes are kept in `Answer.said`, hence in the journal. They are the agent's own words, yet may
hold what rivals wrote, so they are cleaned and bounded like any other words before they are kept,
and are shown in quotes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from market.environment import Answer, Decision, Form, Json, Tool
from market.policies.policy import History
from market.policies.tokens import clipped
from market.policies.untrusted import clean

Kind = Literal["full", "last", "notebook", "groups"]

#: The field of an answer, and of what is kept of it, that holds notes.
NOTES = "notes"

#: The tool by which notes are kept where calls of tools are the answer. It is the policy's own: no
#: environment sees a call of it.
KEEP_NOTES = "keep_notes"

#: Groups that never go.
KEPT_GROUPS = 2

#: Share of a prompt's budget that notes may take, and of an answer's tokens, as a divisor.
PROMPT_SHARE = 6
ANSWER_SHARE = 4
#: Characters of notes per token, at the least.
NOTE_CHARACTERS = 3

#: Begins a prompt in which notes are shown.
NOTED = 'Your own notes, of step {step}: "{notes}"'

#: Stands in an example where notes may be written.
EXAMPLE_NOTES = "what to remember"


@dataclass(frozen=True, slots=True)
class Context:
    """How much is told.

    Attributes:
        kind: The policy of what is told.
        steps: Earlier steps that are told, where `kind` is `last`.
        characters: Most characters of notes, where `kind` is `notebook`.
        freed: Tokens that are freed at least when groups go, where `kind` is `groups`.
    """

    kind: Kind = "full"
    steps: int = 1
    characters: int = 600
    freed: int = 1_000

    @property
    def notebook(self) -> bool:
        """Whether the model keeps notes."""
        return self.kind == "notebook"

    def recent(self, earlier: History, decision: Decision, least: int = 0) -> History:
        """The turns of earlier steps that may be told.

        Args:
            earlier: The turns of all earlier steps.
            decision: What is asked now.
            least: Steps that are told in any case: those of which the decision itself brings news.
        """
        if self.kind not in ("last", "notebook"):
            return earlier
        steps = max(least, self.steps if self.kind == "last" else 0)
        return [turn for turn in earlier if turn[0].step >= decision.step - steps]

    def rule(self, form: Form, written: bool = False) -> str:
        """What the rules say of notes; empty without a notebook.

        Args:
            form: The form of answers.
            written: Whether calls of tools are written as text.
        """
        if not self.notebook:
            return ""
        where = f"A text `{NOTES}` in your answer"
        if form.tools:
            where = "Text before your calls" if written else f"What you give to `{KEEP_NOTES}`"
        return (
            f"{where} is your notebook (at most {self.characters} characters). It replaces what "
            "you noted before and is all that you are shown of earlier steps later on. Only you "
            "see it."
        )

    def beside(self, example: Json, offered: bool = False) -> Json:
        """An example with notes beside the action, where there is a notebook.

        Args:
            example: The action.
            offered: Whether it is a list of calls of tools, that for notes among them.
        """
        if not self.notebook:
            return example
        if isinstance(example, Mapping):
            return {NOTES: EXAMPLE_NOTES, **example}
        if offered:
            # Last: what stands last is what a small model copies.
            return [*example, {"tool": KEEP_NOTES, "arguments": {"text": EXAMPLE_NOTES}}]
        return example

    def tool(self, tokens: int) -> Tool:
        """The tool by which notes are kept.

        Args:
            tokens: Most tokens of the notes.
        """
        text = {"type": "string", "maxLength": self._longest(tokens)}
        return Tool(
            KEEP_NOTES,
            "Replace your notes, which are shown to you in later steps. It uses up no call.",
            {
                "type": "object",
                "properties": {"text": text},
                "required": ["text"],
                "additionalProperties": False,
            },
        )

    def schema(self, schema: Mapping[str, Json], tokens: int) -> Mapping[str, Json]:
        """A schema of answers with room for notes.

        Args:
            schema: The schema of the action.
            tokens: Most tokens of the notes.
        """
        if not self.notebook or schema.get("type") != "object":
            return schema
        notes = {"type": "string", "maxLength": self._longest(tokens)}
        return {**schema, "properties": {**schema.get("properties", {}), NOTES: notes}}

    def _longest(self, tokens: int) -> int:
        return min(self.characters, tokens * NOTE_CHARACTERS)

    def kept(self, notes: str, tokens: int) -> str:
        """Notes as they are kept: on one line, bounded, and fit for a prompt of so many tokens."""
        return clipped(clean(notes, self.characters), tokens // PROMPT_SHARE)


def noted(history: History, line: str = NOTED) -> str:
    """The newest notes of a history as a line of a prompt; empty if there are none."""
    for decision, given in reversed(history):
        notes = notes_of(given) if isinstance(given, Answer) else ""
        if notes:
            # Cleaned when they were kept, so nothing in them can close the quote.
            return line.format(step=decision.step, notes=notes)
    return ""


def notes_of(given: Answer) -> str:
    """The notes that were kept of an answer."""
    if not isinstance(given.said, Mapping):
        return ""
    notes = given.said.get(NOTES, "")
    return notes if isinstance(notes, str) else ""


def evicted(sizes: Sequence[int], room: int, freed: int) -> int:
    """How many of the oldest groups are gone by the time the last one has come.

    Whenever a group does not fit, the oldest go until the rest fits and at least so much was
    freed: what is left then stays as it is for some turns, and a server can keep what it has read.

    Args:
        sizes: Tokens of each group, in their order.
        room: Most tokens of the groups that stay.
        freed: Tokens that are freed at least at once.
    """
    gone, held = 0, 0
    for count, size in enumerate(sizes, start=1):
        held += size
        if held <= room:
            continue
        least = held - freed
        while gone < count - KEPT_GROUPS and (held > room or held > least):
            held -= sizes[gone]
            gone += 1
    return gone
