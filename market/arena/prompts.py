"""The arena in words: what a retailer run by a language model reads.

Within a step the conversation only grows, so what a server has read stays valid:

    rules                                      equal for all seats and steps
    user       own state, earlier steps, the question of bidding round 1
    assistant  own bid
    user       what it won, prices to win, the question of the next round
    assistant  own bid
    user       what was settled, own stock, the question of selling

The own state is always whole. News are lines in order of worth, and as many are told as fit after
room was kept for the turns to come; what was left out is said in one line.
"""

from __future__ import annotations

from collections.abc import Mapping

from market import canonical
from market.arena import examples, rulebook, telling
from market.environment import Decision, Json
from market.language import Message
from market.policies.policy import History
from market.policies.prompts import answered, only_json, split
from market.policies.tokens import estimate_messages, estimate_tokens

#: Below this budget the rules are told in brief and examples are short.
BRIEF = 2_000

#: Most bids, and most prices, of an example.
BRIEF_LINES = (1, 3)
FULL_LINES = (4, 8)

#: Tokens kept free for each own answer still to come within the step.
ANSWER_TOKENS = 120
#: Tokens kept free for each message still to come, the own stock apart.
TURN_TOKENS = 70


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
            conversation += [self._told(turn, earlier, conversation), answered(given)]
        return (*conversation, self._told(decision, earlier, conversation))

    def example(self, decision: Decision) -> Json:
        """A plausible answer that is legal in this situation."""
        bids, prices = BRIEF_LINES if self._brief else FULL_LINES
        if decision.kind == "bid":
            return examples.bid(decision, bids)
        return examples.sell(decision, prices)

    def _rules(self, rules: Mapping[str, Json]) -> str:
        text = rulebook.brief(rules) if self._brief else rulebook.full(rules)
        return f"{text}\n\n{self._instructions}" if self._instructions else text

    def _told(self, decision: Decision, earlier: History, before: list[Message]) -> Message:
        """The message of one turn: own state, news as far as they fit, question."""
        state = telling.state(decision)
        question = only_json(canonical.dumps(self.example(decision)))
        fixed = estimate_messages([*before, Message("user", f"{state}\n{question}")])
        room = self._tokens - fixed - _kept_free(decision)
        if decision.turn == 0:
            news = telling.earlier_steps(decision, earlier, room)
        else:
            news = telling.feedback(decision, room)
        return Message("user", "\n".join([state, *news, question]))


def _kept_free(decision: Decision) -> int:
    """Tokens that the rest of the step takes after this message."""
    to_come = decision.observation.rules["bidding_rounds"] - decision.turn
    stock = estimate_tokens(telling.stock(decision)) if to_come else 0
    return int(to_come * (ANSWER_TOKENS + TURN_TOKENS)) + stock
