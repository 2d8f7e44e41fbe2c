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
"""

from __future__ import annotations

from collections.abc import Mapping

from market import canonical
from market.arena import examples, rulebook, telling
from market.environment import Decision, Json
from market.language import Message
from market.policies.policy import History
from market.policies.prompts import answered, only_json, split, told
from market.policies.tokens import estimate_messages

#: Below this budget the rules are told in brief and examples are short.
BRIEF = 2_000

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

    def __init__(self, tokens: int, instructions: str = "") -> None:
        self._tokens = tokens
        self._instructions = instructions
        self._brief = tokens < BRIEF

    def messages(self, history: History, decision: Decision) -> tuple[Message, ...]:
        """The rules, then this step turn by turn."""
        earlier, turns = split(history, decision)
        conversation = [Message("system", self._rules(decision.observation.rules))]
        for turn, given in turns:
            conversation = self._asked(turn, earlier, conversation)
            conversation += answered(given)
        return tuple(self._asked(decision, earlier, conversation))

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

    def _rules(self, rules: Mapping[str, Json]) -> str:
        text = rulebook.brief(rules) if self._brief else rulebook.full(rules)
        return f"{text}\n\n{self._instructions}" if self._instructions else text

    def _asked(
        self, decision: Decision, earlier: History, conversation: list[Message]
    ) -> list[Message]:
        """The conversation with one more turn: own state, news as far as they fit, question."""
        question = only_json(canonical.dumps(self.example(decision)))
        state = telling.state(decision, alone=decision.turn == 0)
        taken = _taken(conversation, state, question)
        while taken > self._tokens and len(conversation) > 1:
            # Answers were longer than foreseen: this step's first turn goes, question and answer.
            conversation = [conversation[0], *conversation[3:]]
            state = telling.state(decision, alone=True)
            taken = _taken(conversation, state, question)
        room = self._tokens - taken - self._kept_free(decision)
        if decision.turn == 0:
            news = telling.earlier_steps(decision, earlier, room)
        else:
            news = telling.feedback(decision, room)
        return told(conversation, "\n".join([state, *news, question]))

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
