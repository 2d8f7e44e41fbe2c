"""The arena in words: what a retailer run by a language model reads.

Within a step the conversation only grows, so what a server has read stays valid:

    rules                                      equal for all seats and steps
    user       own state, earlier steps, the question of bidding round 1
    assistant  own bid
    user       what it won, prices to win, the question of the next round
    assistant  own bid
    user       what was settled, own stock, the question of selling

The own state is always whole. News are lines in order of worth, and as many are told as fit after
room was kept for the turns to come; what was left out is said in one line. Only where that room
was not enough, because answers were long and the budget is small, the step's first turns go.

With the context `groups` the conversation goes on through all steps: every message tells its own
news and none is told again, and the oldest answers go with what came of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from market import canonical
from market.arena import examples, rulebook, telling
from market.arena.phrases import words
from market.environment import Decision, Json
from market.language import Message
from market.policies.context import Context, evicted, noted
from market.policies.policy import History
from market.policies.prompts import answered, joined, split, told
from market.policies.tokens import estimate_messages, estimate_tokens

#: Below this budget the rules are told in brief and examples are short.
BRIEF = 2_000

#: Tokens of news that a step begins with even if long answers then cost the step's first turn
#: later on: without them a retailer of a small budget would not learn what its last step brought.
BRIEF_NEWS = 70

#: With `groups`, what one message may take: a part of what the rules leave, for the first one and
#: the two last groups always stay, and of a large budget less, so that many stay.
LEFT_SHARE = 3
BUDGET_SHARE = 8
MESSAGE_TOKENS = 400

#: Most bids, and most prices, of an example.
BRIEF_LINES = (1, 2)
FULL_LINES = (4, 8)

#: Tokens kept free for an own answer still to come, brief and full: per item of the market, and
#: at most.
BRIEF_ANSWER = (30, 120)
FULL_ANSWER = (60, 480)
#: Tokens kept free for a message still to come: its fixed words, one line of an example, one item
#: of the own stock, and, unless the budget is brief, what is told of each item.
TURN_TOKENS = 70
LINE_TOKENS = 22
STOCK_TOKENS = 13
FEEDBACK_TOKENS = 30
#: Tokens of an answer: its frame, one bid, one price. Digits may be a token each.
FRAME_TOKENS = 12
BID_TOKENS = 26
PRICE_TOKENS = 10
#: Characters of a slogan: per token, at the least, and of the shortest that is asked for.
SLOGAN_CHARACTERS = 3
SHORT_SLOGAN = 30
#: Items that a retailer is expected to hold at least after a step's bids are settled.
WON_ITEMS = 4


class ArenaPrompts:
    """Puts the decisions of the arena into words (see `market.policies.prompts.Prompts`)."""

    def __init__(
        self,
        tokens: int,
        instructions: str = "",
        *,
        wording: int = 0,
        context: Context = Context(),  # noqa: B008
        written: bool = False,  # noqa: ARG002
    ) -> None:
        self._tokens = tokens
        self._instructions = instructions
        self._wording = wording
        self._context = context
        self._brief = tokens < BRIEF

    def messages(self, history: History, decision: Decision, spare: int = 0) -> tuple[Message, ...]:
        """The rules, then this step turn by turn."""
        rules = Message("system", self._rules(decision))
        budget = self._tokens - spare
        if self._context.kind == "groups":
            return tuple(self._episode(history, decision, rules, budget))
        earlier, turns = split(history, decision)
        conversation = [rules]
        for turn, given in turns:
            conversation = self._asked(turn, earlier, conversation, budget)
            conversation += answered(given)
        return tuple(self._asked(decision, earlier, conversation, budget))

    def example(self, decision: Decision) -> Json:
        """A plausible answer that is legal in this situation."""
        bids, prices = BRIEF_LINES if self._brief else FULL_LINES
        if decision.kind == "bid":
            return examples.bid(decision, bids)
        return examples.sell(decision, prices)

    def schema(self, decision: Decision, tokens: int) -> Mapping[str, Json]:
        """The form, held to what is on offer or in stock and to what the tokens can hold."""
        if decision.kind == "bid":
            return examples.bid_schema(decision, max(1, (tokens - FRAME_TOKENS) // BID_TOKENS))
        held = len(decision.observation.private["stock"])
        left = tokens - FRAME_TOKENS - held * PRICE_TOKENS
        return examples.sell_schema(decision, max(SHORT_SLOGAN, left * SLOGAN_CHARACTERS))

    def _rules(self, decision: Decision) -> str:
        told_how = rulebook.brief if self._brief else rulebook.full
        rules = decision.observation.rules
        say = words("rules", rules, self._wording)
        notebook = self._context.notebook
        parts = (
            told_how(rules, self._wording),
            say("notebook", characters=self._context.characters) if notebook else "",
            self._instructions,
        )
        return "\n\n".join(part for part in parts if part)

    def _asked(
        self, decision: Decision, earlier: History, conversation: list[Message], budget: int
    ) -> list[Message]:
        """The conversation with one more turn: own state, news as far as they fit, question."""
        question = self._question(decision)
        state = self._state(decision, earlier, alone=decision.turn == 0)
        taken = _taken(conversation, state, question)
        while taken > budget and len(conversation) > 1:
            # Answers were longer than foreseen: this step's first turn goes, question and answer.
            conversation = [conversation[0], *conversation[3:]]
            state = self._state(decision, earlier, alone=True)
            taken = _taken(conversation, state, question)
        room = budget - taken - self._kept_free(decision)
        if decision.turn == 0:
            room = max(room, min(BRIEF_NEWS, budget - taken))
        text = "\n".join([state, *self._news(decision, earlier, room), question])
        return told(conversation, text, self._say(decision, "no_answer"))

    def _episode(
        self, history: History, decision: Decision, rules: Message, budget: int
    ) -> list[Message]:
        """The whole episode as one conversation, as far as it fits."""
        left = (self._tokens - estimate_messages([rules])) // LEFT_SHARE - BRIEF_ANSWER[1]
        room = min(left, max(MESSAGE_TOKENS, self._tokens // BUDGET_SHARE))

        def text(place: int, asked: Decision) -> str:
            before = [turn for turn in history[:place] if turn[0].step == asked.step - 1]
            state = self._state(asked, before, alone=True)
            question = self._question(asked)
            news = room - estimate_tokens(f"{state}\n{question}") - telling.NOTE_TOKENS
            return "\n".join([state, *self._news(asked, before, news), question])

        asked = [*(turn for turn, _ in history), decision]
        texts = [text(place, turn) for place, turn in enumerate(asked)]
        groups = [
            [*answered(given), Message("user", after)]
            for (_, given), after in zip(history, texts[1:], strict=True)
        ]
        left = budget - estimate_messages([rules, Message("user", texts[0])])
        gone = evicted(
            [estimate_messages(group) for group in groups],
            left - telling.NOTE_TOKENS,
            self._context.freed,
        )
        say = words("told", decision.observation.rules)
        note = say("left_out", what=say("turns", count=gone)) + "\n" if gone else ""
        opening = [rules, Message("user", note + texts[0])]
        return joined(opening, groups[gone:], self._say(decision, "no_answer"))

    def _question(self, decision: Decision) -> str:
        example = canonical.dumps(self._context.beside(self.example(decision)))
        return self._say(decision, "answer", example=example)

    def _say(self, decision: Decision, phrase: str, **facts: Json) -> str:
        return words("turns", decision.observation.rules, self._wording)(phrase, **facts)

    def _state(self, decision: Decision, earlier: History, alone: bool) -> str:
        state = telling.state(decision, alone, self._wording)
        notes = ""
        if alone and self._context.notebook:
            said = words("turns", decision.observation.rules, self._wording)
            notes = noted(earlier, said.text("notes"))
        return f"{state}\n{notes}" if notes else state

    def _news(self, decision: Decision, earlier: History, room: int) -> list[str]:
        if decision.turn > 0:
            return telling.feedback(decision, room)
        # The last step is news of this decision, whatever is remembered.
        return telling.earlier_steps(decision, self._context.recent(earlier, decision, 1), room)

    def _kept_free(self, decision: Decision) -> int:
        """Tokens that the rest of the step takes after a turn."""
        rules, held = decision.observation.rules, len(decision.observation.private["stock"])
        items, to_come = len(rules["items"]), rules["bidding_rounds"] - decision.turn
        bids, _ = BRIEF_LINES if self._brief else FULL_LINES
        per_item, most = BRIEF_ANSWER if self._brief else FULL_ANSWER
        message = TURN_TOKENS + bids * LINE_TOKENS + (0 if self._brief else items * FEEDBACK_TOKENS)
        answer = min(most, items * per_item)
        stock = min(items, max(held, WON_ITEMS)) * STOCK_TOKENS
        return int(to_come * (answer + message) + (stock if to_come else 0))


def _taken(conversation: list[Message], state: str, question: str) -> int:
    """Tokens of a conversation and the least that its next message holds."""
    least = Message("user", f"{state}\n{question}")
    return estimate_messages([*conversation, least]) + telling.NOTE_TOKENS
