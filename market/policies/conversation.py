"""The conversation of a step, or of a whole episode: which turns are told, and what must go.

An environment's words are put in by a subclass: what the rules say, what is seen, what is asked,
how the result of a call reads and what is remembered of an earlier turn. What is left here is the
same for all of them. Within a step the conversation only grows; with `groups` it goes on through
all steps; a call is never parted from its result; and a prompt keeps to its budget, in which the
tools that are offered count as well.

The results of tool calls are taken from the list `results` of the next private view, one per
call in order, and are told as the answers of the tools. Where a model is offered no tools, calls
and results are written out instead.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from market import canonical
from market.environment import Answer, Decision, Json, NoAction, Tool
from market.language import Message, ToolCall
from market.policies.context import KEEP_NOTES, KEPT_GROUPS, Context, evicted, noted, notes_of
from market.policies.policy import History
from market.policies.prompts import answered, joined, own, split, told
from market.policies.tokens import estimate_messages, estimate_tokens, estimate_tools, fitting
from market.policies.wording import Phrase, Wording

#: A step that outgrows the budget loses its oldest turns, so many at once: what is left then
#: stays as it is for some turns, and a server can keep what it has read.
DROPPED_AT_ONCE = 8

#: Least tokens of an observation, however long the rules are.
LEAST = 60
#: Tokens of the words around an observation, and the part of a budget kept for an own answer.
FRAME_TOKENS = 40
ANSWER_SHARE = 12

#: The result of a call for notes, and of a call whose result nobody told.
KEPT = "kept"
DONE = "(done)"

#: Groups whose messages are remembered.
PARTS = 1_000


@dataclass(slots=True)
class _Part:
    """A group of a conversation: of which turns it is, its size, and its messages if remembered."""

    turn: Decision
    given: Answer | NoAction
    after: Decision
    explained: bool
    size: int
    messages: list[Message] | None

    def of(
        self, turn: Decision, given: Answer | NoAction, after: Decision, explained: bool
    ) -> bool:
        """Whether it is that of these very turns."""
        same = self.turn is turn and self.given is given and self.after is after
        return same and self.explained == explained


class Conversation(ABC):
    """Puts the decisions of an environment into words (see `market.policies.prompts.Prompts`).

    Attributes:
        phrases: The words of a subclass, by name.
    """

    phrases: ClassVar[Mapping[str, Phrase]]

    def __init__(
        self,
        tokens: int,
        instructions: str = "",
        *,
        wording: int = 0,
        context: Context = Context(),  # noqa: B008
        written: bool = False,
    ) -> None:
        self._tokens = tokens
        self._instructions = instructions
        self._wording = wording
        self._say = Wording(self.phrases, wording)
        self._context = context
        self._written = written
        self._rooms: dict[str, int] = {}
        self._offers: dict[str, int] = {}
        self._parts: list[_Part] = []

    @abstractmethod
    def _explained(self, decision: Decision) -> str:
        """The rules, equal for every step."""

    @abstractmethod
    def _shown(self, decision: Decision, without_results: bool = False) -> str:
        """What is seen, which takes no more than the room of an observation.

        Args:
            decision: The decision.
            without_results: Whether the results were told already, in the half of the room.
        """

    @abstractmethod
    def _question(self, decision: Decision, explained: bool) -> str:
        """What is asked, an example of the answer last.

        Args:
            decision: The decision.
            explained: Whether the kind of decision was explained before in the conversation.
        """

    @abstractmethod
    def _result(self, result: Json, tokens: int) -> str:
        """What came of a call, in so many tokens."""

    @abstractmethod
    def _remembered(self, turn: tuple[Decision, Answer | NoAction]) -> str:
        """An earlier turn, and what was answered."""

    def messages(self, history: History, decision: Decision, spare: int = 0) -> tuple[Message, ...]:
        """The rules, earlier steps as far as they fit, and this step turn by turn."""
        whole = self._context.kind == "groups"
        earlier, turns = ([], history) if whole else split(history, decision)
        asked = [turn for turn, _ in turns] + [decision]
        rules = Message("system", self._system(decision))
        opening = self._shown(asked[0]) + self._question(asked[0], explained=False)
        notes = noted(earlier) if self._context.notebook else ""
        room = self._tokens - spare - self._offer(decision)
        room -= estimate_messages([rules, Message("user", f"{notes}\n{opening}")])
        # Half of the room is for what was, half for what this step still brings.
        past = self._past(earlier, decision, room // 2)
        room -= sum(estimate_tokens(line) + 1 for line in past)
        explained, parts = {asked[0].kind}, list[_Part]()
        for (turn, given), after in zip(turns, asked[1:], strict=True):
            parts.append(self._part(len(parts), turn, given, after, after.kind in explained))
            if not whole:  # there the message that explained it may go
                explained.add(after.kind)
        sizes = [part.size for part in parts]
        gone = evicted(sizes, room, self._context.freed) if whole else _dropped(sizes, room)
        if gone:
            of = "the episode" if whole else "this step"
            past.append(f"(Left out: turns after the first of {of}, {gone} of them.)")
        first = told([rules], "\n".join(part for part in (notes, *past, opening) if part))
        return tuple(joined(first, [part.messages or self._again(part) for part in parts[gone:]]))

    def example(self, decision: Decision) -> Json:
        """The example that the environment gives."""
        return decision.form.example

    def schema(self, decision: Decision, tokens: int) -> Mapping[str, Json]:  # noqa: ARG002
        """The form's own."""
        return decision.form.schema

    def tools(self, decision: Decision, tokens: int) -> tuple[Tool, ...]:  # noqa: ARG002
        """The form's own."""
        return decision.form.tools

    def _noting(self, decision: Decision) -> Json:
        """The example, notes beside it where a step begins."""
        offered = bool(decision.form.tools) and not self._written and decision.turn == 0
        return self._context.beside(self.example(decision), offered)

    def _system(self, decision: Decision) -> str:
        parts = [
            self._explained(decision),
            self._context.rule(decision.form, self._written),
            self._instructions,
        ]
        return "\n\n".join(part for part in parts if part)

    def _part(
        self,
        place: int,
        turn: Decision,
        given: Answer | NoAction,
        after: Decision,
        explained: bool,
    ) -> _Part:
        """A group and its size, which are made once: a conversation may have thousands."""
        if place < len(self._parts):
            known = self._parts[place]
            if known.of(turn, given, after, explained):
                return known
            del self._parts[place:]
        messages = self._group(turn, given, after, explained)
        part = _Part(turn, given, after, explained, estimate_messages(messages), messages)
        self._parts.append(part)
        if len(self._parts) > PARTS:  # the size is all that is needed of what is long gone
            self._parts[-PARTS - 1].messages = None
        return part

    def _again(self, part: _Part) -> list[Message]:
        return self._group(part.turn, part.given, part.after, part.explained)

    def _group(
        self, turn: Decision, given: Answer | NoAction, after: Decision, explained: bool
    ) -> list[Message]:
        """An own answer and what was shown after it."""
        question = self._question(after, explained)
        called = turn.form.tools and not self._written
        if not called or isinstance(given, NoAction) or not given.action:
            return [*answered(given), Message("user", self._shown(after) + question)]
        made = [
            ToolCall(f"call-{turn.step}-{turn.turn}-{i}", call["tool"], own(call["arguments"]))
            for i, call in enumerate(given.action)
        ]
        results: Json = after.observation.private.get("results")
        known = isinstance(results, list | tuple) and len(results) == len(made)
        share = max(self._room(after) // 2 // len(made), LEAST // 2)
        texts = [self._result(result, share) for result in results] if known else [DONE] * len(made)
        if notes := notes_of(given):
            made.insert(0, noting_call(turn, notes))
            texts.insert(0, KEPT)
        return [
            Message("assistant", "", tool_calls=tuple(made)),
            *(
                Message("tool", text, tool_call_id=call.id)
                for call, text in zip(made, texts, strict=True)
            ),
            Message("user", self._shown(after, without_results=known) + question),
        ]

    def _room(self, decision: Decision) -> int:
        """Tokens that one observation may take, so that those fit which stand in any prompt.

        Equal for all decisions of a kind, whose rules and form are those of the whole episode, so
        that what was shown once is shown the same way ever after.
        """
        if decision.kind not in self._rooms:
            shown = 1 + (KEPT_GROUPS if self._context.kind == "groups" else 1)
            fixed = estimate_tokens(self._system(decision)) + self._offer(decision)
            fixed += self._questions(decision) + shown * FRAME_TOKENS
            fixed += (shown - 1) * self._tokens // ANSWER_SHARE
            self._rooms[decision.kind] = max((self._tokens - fixed) // shown, 2 * LEAST)
        return self._rooms[decision.kind]

    def _questions(self, decision: Decision) -> int:
        """Tokens of a question with and without its explanation, equal for all of a kind."""
        both = (self._question(decision, explained) for explained in (False, True))
        return sum(map(estimate_tokens, both))

    def _offer(self, decision: Decision) -> int:
        """Tokens of the tools that are offered beside the messages."""
        if not decision.form.tools or self._written:
            return 0
        if decision.kind not in self._offers:
            offered = [*self.tools(decision, self._tokens)]
            if self._context.notebook:
                offered.append(self._context.tool(self._tokens))
            self._offers[decision.kind] = estimate_tools(offered)
        return self._offers[decision.kind]

    def _past(self, earlier: History, decision: Decision, room: int) -> list[str]:
        """Earlier turns in their order, the newest that fit, and how many were left out."""
        recent = self._context.recent(earlier, decision)
        kept = fitting(map(self._remembered, reversed(recent)), room)
        left_out = len(earlier) - len(kept)
        note = [f"(Left out: the first {left_out} turns of the episode.)"] if left_out else []
        return note + kept[::-1]


def noting_call(decision: Decision, notes: str) -> ToolCall:
    """The call by which notes were kept."""
    return ToolCall(f"notes-{decision.step}-{decision.turn}", KEEP_NOTES, own({"text": notes}))


def written_out(tools: Sequence[Tool]) -> str:
    """Tools as JSON, for a model that is offered none."""
    return canonical.dumps(
        [
            {"tool": tool.name, "description": tool.description, "arguments": tool.parameters}
            for tool in tools
        ]
    )


def _dropped(sizes: Sequence[int], room: int) -> int:
    """How many of a step's oldest groups must go for the rest to fit; the last one never does."""
    for dropped in range(0, len(sizes), DROPPED_AT_ONCE):
        if sum(sizes[dropped:]) <= room:
            return dropped
    return max(len(sizes) - 1, 0)
