"""What holds in every game of the arena, whatever its rules and whatever anybody answers."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import asdict, replace
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from market import canonical
from market.arena.books import DEALER, MONEY, SUPPLIER
from market.arena.events import EVENTS
from market.arena.rules import ArenaRules, Salvage
from market.columns import schema
from market.environment import Answer, Answers, Cause, Decision, NoAction
from market.journal import result_json
from market.play import Played, Player, drive, play
from tests.market.arena.games import Game, facts, games

MANY = settings(max_examples=150, deadline=None)
SOME = settings(max_examples=60, deadline=None)


def by_seat(rows: list[Any]) -> dict[str, list[Any]]:
    out = defaultdict(list)
    for row in rows:
        out[row.seat].append(row)
    return out


@MANY
@given(games())
def test_every_unit_and_every_coin_is_accounted_for(game: Game) -> None:
    played = game.play()
    ledger = played.environment._books.ledger
    items = [item.item for item in game.rules.items]
    bids = [row for row in played.rows("bids") if row.settling]
    supplies = [row for row in played.rows("supply") if row.settling]
    standings = by_seat(played.rows("standings"))

    for supply in supplies:
        own = [row for row in bids if (row.step, row.item) == (supply.step, supply.item)]
        assert supply.awarded == sum(row.awarded for row in own) <= supply.quantity
        assert all(row.awarded <= max(0, row.quantity) for row in own)
    assert sum(row.awarded for row in supplies) == sum(
        -ledger.balance(SUPPLIER, item) for item in items
    )
    offers = Counter()
    for row in played.rows("offers"):
        assert row.sold <= min(row.stock, row.asked)
        assert row.revenue == row.sold * row.price
        offers[row.seat, row.step, "sold"] += row.sold
        offers[row.seat, row.step, "revenue"] += row.revenue
    dealt = Counter()
    for flow in ledger.flows:
        if DEALER in (flow.source, flow.target):
            seat = flow.source if flow.target == DEALER else flow.target
            dealt[seat, flow.asset == MONEY] += flow.amount

    initial = game.rules.funds(len(game.seats))
    for seat, rows in standings.items():
        funds, stock = initial, 0
        for row in rows:
            own = [bid for bid in bids if (bid.seat, bid.step) == (seat, row.step)]
            assert row.won == sum(bid.awarded for bid in own)
            assert row.spend == sum(bid.paid for bid in own) <= funds
            if game.rules.retail == "market":
                assert row.sold == offers[seat, row.step, "sold"]
                assert row.revenue == offers[seat, row.step, "revenue"]
            funds += row.revenue - row.spend - (row.holding + row.fixed - row.shortfall)
            stock += row.won - row.sold
            # What the dealer took lies between the books and this count.
            taken, paid = stock - row.stock, row.funds - funds
            assert taken >= 0
            assert paid >= 0
            dealt[seat, False] -= taken
            dealt[seat, True] -= paid
            funds, stock = row.funds, row.stock
    assert not any(dealt.values())


@MANY
@given(games())
def test_profit_is_the_sum_of_step_profits_and_what_the_owner_is_left_with(game: Game) -> None:
    played = game.play()
    terminal = game.rules.terminal_stock
    for seat, rows in by_seat(played.rows("standings")).items():
        account = played.environment._books.accounts[seat]
        if isinstance(terminal, Salvage):
            factor = Fraction(str(terminal.salvage))
            worth = sum(
                int(factor * min(cost, item.base * units))
                for item, units, cost in zip(
                    game.rules.items, account.units, account.cost, strict=True
                )
            )
        else:
            worth = sum(account.cost)
        score = played.scores[seat]
        assert score == sum(row.profit for row in rows)
        assert score == rows[-1].funds + worth - game.rules.funds(len(game.seats))
        assert score == played.environment.result.seats[seat].metrics["profit"]
        for row in rows:
            assert row.profit == (
                row.revenue - row.cost_of_goods - row.holding - row.fixed
                + row.liquidated + row.shortfall - row.write_down
            )  # fmt: skip
            assert row.step == game.rules.steps or row.write_down == 0


@MANY
@given(games(retail="market"))
def test_demand_is_sold_or_priced_out_or_unserved(game: Game) -> None:
    played = game.play()
    wanted, buyers = Counter[int](), Counter[int]()
    for row in played.rows("demand"):
        offers = [
            offer
            for offer in played.rows("offers")
            if (offer.step, offer.item) == (row.step, row.item)
        ]
        assert row.wanted == row.sold + row.priced_out + row.unserved
        assert min(row.sold, row.priced_out, row.unserved, row.wanted - row.buyers) >= 0
        assert row.sold == sum(offer.sold for offer in offers)
        if game.rules.willingness_to_pay is None:
            assert (row.priced_out, row.surplus) == (0, None)
        else:
            assert row.surplus >= 0
        wanted[row.step] += row.wanted
        buyers[row.step] += row.buyers
    assert set(wanted.values()) <= {game.rules.demand}
    assert set(buyers.values()) <= {game.rules.buyers}
    for row in played.rows("standings"):
        assert 0 <= row.failed <= row.attempts <= row.asked
        assert row.sold <= row.asked
        assert row.impressions <= game.rules.buyers


@MANY
@given(games())
def test_nobody_owes_and_who_left_stays_out(game: Game) -> None:
    played = game.play()
    asked = {(decision.step, decision.seat) for decision, _ in played.history}
    for seat, rows in by_seat(played.rows("standings")).items():
        assert len(rows) == game.rules.steps
        left = False
        for row in rows:
            assert min(row.funds, row.stock, row.net_worth) >= 0
            assert ((row.step, seat) in asked) is not left
            if left:
                assert (row.profit, row.won, row.sold, row.net_worth) == (0, 0, 0, 0)
                assert not row.solvent
            if not row.solvent:
                assert (row.funds, row.stock, row.net_worth) == (0, 0, 0)
                assert left or row.shortfall > 0
                assert not row.stranded
            left = not row.solvent
    assert {(row.step, row.seat) for row in played.rows("slogans")} <= asked


@SOME
@given(games())
def test_all_that_is_shown_is_json_and_all_that_happened_fits_its_table(game: Game) -> None:
    played = game.play()
    for decision, _ in played.history:
        assert json.loads(canonical.dumps(asdict(decision)))["seat"] == decision.seat
    canonical.dumps(result_json(played.environment.result))
    for event in EVENTS:
        rows = [{"episode": "e", "seed": 0, **asdict(row)} for row in played.rows(event.table)]
        assert pa.Table.from_pylist(rows, schema=schema(event)).num_rows == len(rows)


class Reversed:
    """An environment whose answers are handed over in reversed order."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def apply(self, answers: Answers) -> Any:
        return self.inner.apply(dict(reversed(list(answers.items()))))


@MANY
@given(games())
def test_a_game_played_again_is_the_same_in_any_order_of_answers(game: Game) -> None:
    one = game.play()
    other = drive(Reversed(game.arena()), game.players(), outside=facts, events=True)
    assert one.history == other.history
    assert one.events == other.events
    assert result_json(one.environment.result) == result_json(other.environment.result)


@SOME
@given(games(retail="market", fixed_cost=0, holding_cost=0.0), st.integers(0, 2**32))
def test_two_rosters_on_one_seed_meet_the_same_buyers(game: Game, temper: int) -> None:
    names = ("newcomer", *game.seats[1:], "seat-99")
    one = game.play()
    other = replace(game, temper=temper, seats=names, rules=game.rules).play()

    def demand(played: Played) -> list[Any]:
        return [(row.step, row.item, row.buyers, row.wanted) for row in played.rows("demand")]

    assert demand(one) == demand(other)
    last, again = (played.environment._records[-1].outcome.buyers for played in (one, other))
    for column in ("persona", "item", "units", "limit", "luck"):
        assert (getattr(last, column) == getattr(again, column)).all()


@SOME
@given(games(initial_funds=2_000))
def test_a_seat_that_does_nothing_can_be_left_out(game: Game) -> None:
    def rows(game: Game, players: dict[str, Player]) -> tuple[list[Any], set[int]]:
        played = drive(game.arena(), players, outside=facts, events=True)
        found = [
            replace(row, **{"name": ""} if hasattr(row, "name") else {})
            for table in ("supply", "bids", "offers", "refusals", "slogans", "demand", "standings")
            for row in played.rows(table)
            if row.seat != "idle"
        ]
        return found, {decision.step for decision, _ in played.history}

    fuller = replace(game, seats=("idle", *game.seats))
    players = {"idle": lambda decision: NoAction(Cause.LATE), **game.players()}
    alone, asked = rows(game, game.players())
    beside, _ = rows(fuller, players)
    # Where everybody else is insolvent, the idle one alone keeps the market open.
    assert alone == [
        row for row in beside if row.step in asked or row.table not in ("supply", "demand")
    ]


def with_slogan(players: dict[str, Player], seat: str, slogan: str) -> dict[str, Player]:
    """The same players, but one always says the same."""
    before = players[seat]

    def answer(decision: Decision) -> Any:
        given = before(decision)
        if decision.kind != "sell" or not isinstance(given, Answer):
            return given
        return Answer({**given.action, "slogan": slogan})

    return {**players, seat: answer}


def said(game: Game, seat: str, slogan: str) -> Played:
    players = with_slogan(game.players(), seat, slogan)
    return drive(game.arena(), players, outside=facts, events=True)


@SOME
@given(games(retail="market"))
def test_where_buyers_see_everybody_words_change_no_sale(game: Game) -> None:
    personas = {name: {**p.model_dump(), "rho": 1.0} for name, p in game.rules.personas.items()}
    seeing = game.rules.model_dump() | {
        "personas": personas,
        "attention": {"rho": 1.0, "k_max": 10, "tau": 0.05},
    }
    game = replace(game, rules=ArenaRules.model_validate(seeing))
    one, other = (said(game, game.seats[-1], slogan) for slogan in ("", "Limited edition"))
    for table in ("supply", "bids", "offers", "demand", "standings"):
        rows, others = (
            [replace(row, turn=0) for row in played.rows(table)] for played in (one, other)
        )
        assert rows == others  # but for the turn: a new text is asked about in one of its own


@MANY
@given(
    games(
        retail="market", steps=1, initial_funds=10**9, stockless_offers="allowed",
        attention={"rho": 0.5, "k_max": 4, "tau": 0.3},
    )
)  # fmt: skip
def test_a_changed_slogan_leaves_every_other_draw_in_place(game: Game) -> None:
    # Only the speaker's own times change, so every rival gains buyers' attention, or every one
    # loses it, and the speaker gains what they lose. All hear alike, or personas would differ.
    (heard, *_) = game.rules.personas.values()
    alike = game.rules.model_dump() | {
        "personas": {"Everybody": heard.model_dump() | {"share": 1.0}},
        "tier_affinity": None,
        "willingness_to_pay": None,
    }
    game = replace(game, rules=ArenaRules.model_validate(alike))
    speaker = game.seats[0]
    before, after = (
        {row.seat: row.impressions for row in said(game, speaker, slogan).rows("slogans")}
        for slogan in ("Cheap and good", "Limited edition, only today")
    )
    changes = {seat: after[seat] - before[seat] for seat in after}
    assert sum(changes.values()) == 0
    gained = changes.pop(speaker)
    assert all(change * gained <= 0 for change in changes.values())


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["markup", "adaptive"])
@pytest.mark.parametrize("ties", ["random", "prorata"])
def test_a_seat_is_worth_nothing_in_itself(policy: str, ties: str) -> None:
    # A two-way layout without interaction: 20 seats, 200 seeds, F-test of the seats.
    overrides = [
        f"retailers=[{{name: copy, policy: {policy}, count: 20}}]",
        f"rules.ties={ties}",
        "rules.attention.similarity=none",
        "rules.steps=2",
        "rules.buyers=40",
        "rules.supply_scale=0.2",
    ]
    profits = [
        list(play("arena/default", overrides, seed=seed).scores.values()) for seed in range(200)
    ]
    seeds, seats = len(profits), len(profits[0])
    grand = sum(map(sum, profits)) / (seeds * seats)
    of_seed = [sum(row) / seats - grand for row in profits]
    of_seat = [sum(row[seat] for row in profits) / seeds - grand for seat in range(seats)]
    between = seeds * sum(effect**2 for effect in of_seat) / (seats - 1)
    rest = sum(
        (profit - grand - of_seed[i] - of_seat[j]) ** 2
        for i, row in enumerate(profits)
        for j, profit in enumerate(row)
    ) / ((seats - 1) * (seeds - 1))
    assert rest > 0
    assert stats.f.sf(between / rest, seats - 1, (seats - 1) * (seeds - 1)) > 0.001
    winners = Counter(row.index(max(row)) for row in profits)
    assert stats.chisquare([winners[seat] for seat in range(seats)]).pvalue > 0.001
