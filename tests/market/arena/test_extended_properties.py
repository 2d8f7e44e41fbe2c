"""What holds of any game with entry, exit, owners and linked markets, whatever is answered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from market import canonical, forms
from market.arena.arena import Arena
from market.arena.books import CARRIER, DEALER, MONEY
from market.arena.counterfactual.scene import scenes
from market.arena.linked import apart
from market.arena.rules import ArenaRules
from market.arena.seating import entries
from market.environment import Answer, Decision, NoAction
from market.play import Played, Player, drive
from market.replay import ReplayError
from market.rng import draws
from tests.market.arena.counterfactual.recordings import record_game, recorded_scenes
from tests.market.arena.games import Game, anything, facts, games

AS_MANY = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


class Extended(Game):
    """A game whose players also leave and move goods."""

    def players(self) -> dict[str, Player]:
        """Somebody for every seat who answers anything."""
        return {seat: restless(self.rules, self.temper) for seat in self.seats}


def restless(rules: ArenaRules, temper: int) -> Player:
    """As `anything`, and now and then leaving or moving goods."""
    inner = anything(apart(rules), temper)

    def answer(decision: Decision) -> Answer | NoAction:
        found = inner(decision)
        if not isinstance(found, Answer):
            return found
        luck = draws(temper, "extended", decision.step, decision.turn, decision.seat)
        more: dict[str, Any] = {}
        if decision.kind == "bid" and rules.exit == "voluntary" and luck.uniform() < 0.2:
            more["exit"] = luck.uniform() < 0.6
        if decision.kind == "sell" and rules.markets is not None:
            places = (*rules.markets, "nowhere")
            more["ship"] = [
                {
                    "item": luck.choice(rules.items).item,
                    "from": luck.choice(places),
                    "to": luck.choice(places),
                    "quantity": luck.choice((-1, 0, 1, 1, 2, 3, 9, 10**30)),
                }
                for _ in range(luck.integer(0, 4))
            ]
        assert forms.check(decision.form, {**found.action, **more}) is None
        return Answer({**found.action, **more})

    return answer


@st.composite
def extended_games(draw: Callable[..., Any], linked: bool | None = None) -> Extended:
    """Any small market with any extensions on the side of sellers."""
    game = draw(games(retail="market"))
    steps = game.rules.steps
    share = draw(st.sampled_from((0.0, 0.3, 0.5)))
    markets = {
        "n": {"supply": share, "buyers": 1 - share, "base": draw(st.sampled_from((0.7, 1.0, 2.0)))},
        "s": {"supply": 1 - share, "buyers": share},
    }
    has_markets = draw(st.booleans()) if linked is None else linked
    changed = {
        **game.rules.model_dump(mode="json"),
        "entry": draw(st.sampled_from((None, {"seat-1": steps, "seat-3": min(2, steps)}))),
        "exit": draw(st.sampled_from(("none", "voluntary", "voluntary"))),
        "owners": draw(st.sampled_from((None, {"a": ["seat-1", "seat-2"], "b": ["seat-4"]}))),
        "markets": markets if has_markets else None,
        "transport": draw(st.sampled_from((0.0, 0.1, 1.0))) if has_markets else 0.0,
    }
    try:
        rules = ArenaRules.model_validate(changed)
    except ValidationError as error:
        assume("tick:" not in str(error))
        raise
    return Extended(rules, game.seats, game.seed, game.temper)


def played(game: Game) -> tuple[Arena, Played]:
    arena = game.arena()
    return arena, drive(arena, game.players(), outside=facts, events=True)


@AS_MANY
@given(game=extended_games())
def test_profit_is_what_the_owner_is_left_with_and_goods_end_where_they_went(
    game: Extended,
) -> None:
    arena, found = played(game)
    books, ledger = arena._books, arena._books.ledger
    since = entries(game.rules, game.seats)
    last = {row.seat: row for row in found.rows("standings")}
    for seat, account in books.accounts.items():
        steps = [row.profit for row in found.rows("standings") if row.seat == seat]
        assert account.profit == sum(steps) == found.scores[seat]
        assert not any(steps[: since[seat] - 1])
        worth = sum(
            books._terminal_value(item, units, cost)
            for item, (units, cost) in enumerate(zip(account.units, account.cost, strict=True))
        )
        assert account.profit == account.funds + worth - books.funds
        assert last[seat].funds == account.funds == ledger.balance(seat, MONEY)
    fees = sum(row.fee for row in found.rows("shipments"))
    assert ledger.balance(CARRIER, MONEY) == fees
    for item in game.rules.items if game.rules.markets else ():
        pairs = [f"{item.item}@{market}" for market in game.rules.markets or ()]
        assert sum(ledger.balance(CARRIER, pair) for pair in pairs) == 0
    assert ledger.balance(DEALER, MONEY) <= 0


@AS_MANY
@given(game=extended_games())
def test_who_is_not_in_the_market_is_not_asked_and_nothing_of_it_changes(game: Extended) -> None:
    _, found = played(game)
    since = entries(game.rules, game.seats)
    out = {row.seat: row.step for row in found.rows("passages") if row.what == "left"}
    asked = {(decision.seat, decision.step) for decision, _ in found.history}
    for seat, step in asked:
        assert since.get(seat, 1) <= step <= out.get(seat, game.rules.steps)
    for row in found.rows("standings"):
        if row.step < since[row.seat]:
            assert (row.funds, row.stock, row.net_worth, row.fixed) == (0, 0, 0, 0)
        if row.step > out.get(row.seat, game.rules.steps):
            assert (row.stock, row.profit, row.fixed, row.won) == (0, 0, 0, 0)


@AS_MANY
@given(game=extended_games(linked=True))
def test_in_every_market_what_is_wanted_is_sold_or_priced_out_or_unserved(game: Extended) -> None:
    _, found = played(game)
    wanted: dict[int, int] = {}
    for row in found.rows("demand"):
        assert row.wanted == row.sold + row.priced_out + row.unserved
        wanted[row.step] = wanted.get(row.step, 0) + row.wanted
    assert set(wanted.values()) <= {game.rules.demand}


@AS_MANY
@given(game=extended_games())
def test_all_that_is_shown_is_json_and_a_game_played_again_is_the_same(game: Extended) -> None:
    (_, first), (_, second) = played(game), played(game)
    for (one, answer), (other, again) in zip(first.history, second.history, strict=True):
        for part in ("rules", "public", "private"):
            text = canonical.dumps(getattr(one.observation, part))
            assert text == canonical.dumps(getattr(other.observation, part))
        assert answer == again
    assert first.events == second.events
    assert first.environment.result == second.environment.result


@AS_MANY
@given(game=extended_games(linked=False))
def test_a_recorded_game_with_entry_exit_and_owners_has_its_scenes(
    tmp_path_factory: pytest.TempPathFactory, game: Extended
) -> None:
    journal = record_game(tmp_path_factory.mktemp("game") / "journal.jsonl", game)
    _, found = played(game)
    sold = {decision.step for decision, _ in found.history if decision.kind == "sell"}
    assert {scene.step for scene in scenes(journal)} == sold


def test_a_recorded_game_of_linked_markets_has_no_scenes_and_says_so(tmp_path: Any) -> None:
    with pytest.raises(ReplayError, match="scenes are of one market"):
        recorded_scenes(tmp_path / "journal", "arena/linked", "rules.steps=1")


@AS_MANY
@given(game=games())
def test_owners_change_no_outcome_and_rules_that_are_off_are_not_recorded(game: Game) -> None:
    owned = game.rules.model_copy(update={"owners": {"all": ("seat",)}})
    one, other = game.play(), replace(game, rules=owned).play()
    assert one.scores == other.scores
    assert one.rows("standings") == other.rows("standings")
    off = {"markets", "transport", "entry", "exit", "owners"}
    assert not off & game.rules.model_dump(mode="json").keys()
