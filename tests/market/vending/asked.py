"""A model with nothing in its head: it calls what the prompt's last line shows, one at a time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from market.environment import Answer, Decision, NoAction
from market.language import Reply, Request, ToolCall, Usage
from market.policies.llm import LanguageModel
from market.vending.vending import Vending
from tests.market.vending.operations import PUNCTUAL, rules

PROMPTS = "market.vending.prompts:VendingPrompts"
USAGE = Usage("fake", 1, 1, None, None, 0.0)


def policy(**options: Any) -> LanguageModel:
    """The language model of the seat `a`."""
    return LanguageModel("a", 3, **{"model": "fake", "prompts": PROMPTS, **options})


def called(*calls: tuple[str, Any]) -> Reply:
    """A reply that calls tools."""
    made = [ToolCall("x", tool, json.dumps(arguments)) for tool, arguments in calls]
    return Reply("", "stop", USAGE, tuple(made))


def copied(request: Request) -> Reply:
    """The last call of the example that a prompt ends with."""
    call = json.loads(request.messages[-1].content.splitlines()[-1])[-1]
    return called((call["tool"], call["arguments"]))


@dataclass
class Story:
    """An episode that a copying model played.

    Attributes:
        requests: The requests, re-asks included, with the decision that each was for.
        history: Decisions and what was applied.
        game: The environment, at its end.
    """

    game: Vending
    requests: list[tuple[Decision, Request]] = field(default_factory=list)
    history: list[tuple[Decision, Answer | NoAction]] = field(default_factory=list)


def story(options: dict[str, Any], replies: Sequence[Reply] = (), **changes: Any) -> Story:
    """Let a model play: first what is given, then what it copies."""
    told = Story(
        Vending(rules(**{"days": 5, "calls_per_day": 6, **PUNCTUAL, **changes}), ("a",), 3)
    )
    seat, given = policy(**options), iter(replies)
    decisions = told.game.start()
    while decisions:
        (decision,) = decisions
        outcome: Answer | NoAction | Request = seat.act(decision)
        while isinstance(outcome, Request):
            told.requests.append((decision, outcome))
            outcome = seat.resume(next(given, None) or copied(outcome))
        told.history.append((decision, outcome))
        decisions = told.game.apply({"a": outcome})
    return told
