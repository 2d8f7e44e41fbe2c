"""What prompts tell of linked markets, entry, exit and owners, in every wording."""

from __future__ import annotations

from typing import Any

import pytest

from market.arena.prompts import ArenaPrompts
from market.environment import Answer, Decision
from market.forms import check
from market.play import Played, play
from market.policies.tokens import estimate_messages
from market.policies.wording import WORDINGS
from tests.market.arena.tea_market import episode, market, says
from tests.market.arena.test_linked import linked_market, trader

QUIET = "rules.attention.similarity=none"
every_wording = pytest.mark.parametrize("wording", range(WORDINGS))
every_size = pytest.mark.parametrize("tokens", [1_200, 8_000])


def told(played: Played, seat: str, step: int, turn: int = 0, **options: Any) -> str:
    """All that a seat is told with a decision."""
    own = [turn for turn in played.history if turn[0].seat == seat]
    at = next(i for i, (d, _) in enumerate(own) if (d.step, d.turn) == (step, turn))
    prompts = ArenaPrompts(options.pop("tokens", 8_000), **options)
    return "\n".join(m.content for m in prompts.messages(tuple(own[:at]), own[at][0]))


@every_size
@every_wording
def test_markets_their_fees_and_how_to_move_goods_are_told(wording: int, tokens: int) -> None:
    played = episode(linked_market(), ann=says())
    text = told(played, "ann", 1, wording=wording, tokens=tokens)
    assert "north, south" in text
    assert '"ship": [{"item": "tea", "from": "north", "to": "south", "quantity": 1}]' in text
    assert "tea 3" in text
    assert "tea@south" in text


@every_size
@every_wording
def test_entry_and_exit_are_told(wording: int, tokens: int) -> None:
    rules = market(entry={"bob": 2}, exit="voluntary", terminal_stock={"salvage": 0.5})
    text = told(episode(rules, ann=says(), bob=says()), "ann", 1, wording=wording, tokens=tokens)
    assert "1 in step 2" in text
    assert '"exit": true' in text
    assert "0.5 x" in text


@every_size
@every_wording
def test_the_score_is_the_owners(wording: int, tokens: int) -> None:
    played = episode(market(owners={"house": ["ann", "bob"]}), ann=says(), bob=says())
    text = told(played, "ann", 1, wording=wording, tokens=tokens)
    assert "all retailers of your owner" in text
    assert "house" not in text


def test_what_is_off_is_not_told() -> None:
    text = told(episode(market(), ann=says(), bob=says()), "ann", 1)
    for word in ("ship", "exit", "owner", "in step"):
        assert word not in text


def test_an_entrant_is_told_how_the_market_stands() -> None:
    rules = market(entry={"bob": 2})
    played = episode(
        rules, ann=says({1: [(6, 12)], 2: [(1, 12)]}, {1: (15, "Fine tea")}), bob=says()
    )
    text = told(played, "bob", 2)
    assert "Step 1, prices/units sold" in text
    assert 'tea 15/6 "Fine tea"' in text
    assert "Came into the market: " in text
    assert "Step 1, prices/units sold" in told(played, "ann", 2)


def test_sisters_are_told_with_the_question_and_when_selling() -> None:
    played = episode(
        market(owners={"house": ["ann", "bob"]}),
        ann=says({1: [(2, 14)]}),
        bob=says({1: [(3, 13)]}),
    )
    for step, turn in ((1, 1), (2, 0)):
        assert ": 161; tea 3; tea 3@13 won 3" in told(played, "ann", step, turn)
    assert ": 200; none; none" in told(played, "ann", 1)


def test_who_left_is_told() -> None:
    def leaves(decision: Decision) -> Answer:
        return Answer({"bids": [], "exit": True})

    played = episode(market(exit="voluntary"), ann=says(), bob=leaves)
    assert "Left the market: " in told(played, "ann", 2)


def test_what_became_of_shipments_is_told_without_strange_characters() -> None:
    played = episode(
        linked_market(),
        ann=trader(
            [(4, 12, "tea@north")], {},
            ("tea", "north", "south", 2), ("tea", "north", "e\x1b[31m\nast", 1),
        ),
    )  # fmt: skip
    text = told(played, "ann", 2)
    assert "moved 2 tea from north to south for 6" in text
    assert "refused: unknown market" in text
    assert "\x1b" not in text


@pytest.mark.parametrize("preset", ["arena/linked", "arena/entry", "arena/merger"])
@pytest.mark.parametrize("tokens", [1_200, 6_000])
def test_prompts_stay_within_their_budget_and_examples_within_the_rules(
    preset: str, tokens: int
) -> None:
    played = play(preset, [QUIET, "rules.steps=5"])
    for seat in ("markup-1", "newcomer-1", "trader-2", "alpha-3"):
        own = [turn for turn in played.history if turn[0].seat == seat]
        for at, (decision, _) in enumerate(own):
            prompts = ArenaPrompts(tokens)
            assert estimate_messages(prompts.messages(tuple(own[:at]), decision)) <= tokens
            assert check(decision.form, prompts.example(decision)) is None


def test_a_model_is_held_to_the_goods_it_can_move_and_to_the_markets() -> None:
    played = episode(linked_market(), ann=trader([(4, 12, "tea@north")], {}))
    selling = next(d for d, _ in played.history if d.kind == "sell")
    schema = ArenaPrompts(8_000).schema(selling, 400)
    ship = schema["properties"]["ship"]["items"]["properties"]
    assert ship["item"]["enum"] == ["tea"]
    assert ship["from"]["enum"] == ["north", "south"]
    assert schema["properties"]["prices"]["properties"].keys() == {"tea@north", "tea@south"}
