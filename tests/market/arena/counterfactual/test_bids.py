from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from market.arena.auction import ItemTerms, Line, Terms, clear
from market.arena.counterfactual.bids import ORDERS, Bidding, rival_awards
from market.arena.counterfactual.board import Board
from market.arena.counterfactual.scene import Scene
from market.arena.counterfactual.seat import Seat
from tests.market.arena.counterfactual.recordings import recorded_scenes


def auction(folder: Path, *overrides: str, funds: int = 1000, rivals: str = "") -> Scene:
    """Four units at base 10; one rival bids for two at 10, another for one at 12."""
    rivals = rivals or (
        ", {name: two, policy: fixed, options: {bids: [{item: good, quantity: 2, price: 10}]}}"
        ", {name: dear, policy: fixed, options: {bids: [{item: good, quantity: 1, price: 12}]}}"
    )
    folder.mkdir(exist_ok=True)
    (scene,) = recorded_scenes(
        folder / "journal",
        "arena/monopoly",
        "rules.items=[{item: good, tier: plain, quantity: 4, base: 10}]",
        "rules.buyers=4",
        "rules.attention.k_max=4",
        f"rules.initial_funds={funds}",
        *overrides,
        f"retailers=[{{name: own, policy: fixed, options: {{bids: []}}}}{rivals}]",
    )
    return scene


def own(scene: Scene) -> Seat:
    return Seat(Board(scene, 4), list(scene.fronts).index("own"))


def test_what_winning_costs_worked_by_hand(tmp_path: Path) -> None:
    # One unit is left at base; two and three must beat 10, four must beat 12, with all their units.
    menu = Bidding(own(auction(tmp_path))).menus[0]
    assert menu.prices.tolist() == [0, 10, 11, 11, 13]
    assert menu.stakes.tolist() == menu.paid.tolist() == [0, 10, 22, 33, 52]


def test_under_uniform_pricing_all_units_cost_the_highest_losing_bid(tmp_path: Path) -> None:
    menu = Bidding(own(auction(tmp_path, "rules.pricing=uniform"))).menus[0]
    assert menu.stakes.tolist() == [0, 10, 22, 33, 52]
    assert menu.paid.tolist() == [0, 10, 20, 30, 48]


def test_no_bid_passes_the_funds_or_the_cap(tmp_path: Path) -> None:
    assert Bidding(own(auction(tmp_path / "a", funds=40))).menus[0].paid.tolist() == [0, 10, 22, 33]
    capped = auction(tmp_path / "b", "rules.price_cap=1.2")
    assert Bidding(own(capped)).menus[0].paid.tolist() == [0, 10, 22, 33]


@pytest.mark.parametrize("pricing", ["discriminatory", "uniform"])
def test_the_auction_gives_what_the_menu_says(tmp_path: Path, pricing: str) -> None:
    scene = auction(tmp_path, f"rules.pricing={pricing}")
    seat = own(scene)
    menu = Bidding(seat).menus[0]
    terms = Terms({"good": ItemTerms(10, 30)}, pricing=pricing)  # type: ignore[arg-type]
    for units in range(1, 5):
        line = Line("good", units, int(menu.prices[units]), units)
        bids = {**scene.procured.lines, "own": (line,)}
        awards = clear(bids, {"good": 4}, terms, lambda item, name: 0).awards
        assert awards["own"] == ((units, menu.paid[units]),)
        others = [sum(award.units for award in awards[name]) for name in scene.fronts]
        others[seat.column] = 0
        assert rival_awards(seat, 0, units).tolist() == [others]


def test_ties_of_rivals_are_drawn_anew_where_they_are_rationed(tmp_path: Path) -> None:
    bids = "{bids: [{item: good, quantity: 2, price: 10}]}"
    rivals = "".join(f", {{name: r{n}, policy: fixed, options: {bids}}}" for n in range(2))
    scene = auction(tmp_path, "rules.ties=random", rivals=rivals)
    seat = own(scene)
    assert rival_awards(seat, 0, 0).tolist() == [[0, 2, 2]]
    assert rival_awards(seat, 0, 4).tolist() == [[0, 0, 0]]
    halved = rival_awards(seat, 0, 2)
    assert halved.shape == (ORDERS + 1, 3)
    assert {tuple(row) for row in halved.tolist()} <= {(0, 2, 0), (0, 0, 2)}
    recorded = clear(
        {name: lines for name, lines in scene.procured.lines.items() if name != "own"},
        {"good": 2},
        Terms({"good": ItemTerms(10)}, ties="random"),
        lambda item, name: seat.board.bid_luck(0, item, name),
    ).awards
    assert halved[0].tolist() == [0, *(recorded[name][0].units for name in ("r0", "r1"))]


def test_the_best_bid_buys_while_a_unit_brings_more_than_it_costs(tmp_path: Path) -> None:
    # All that is held sells at 20: k units bring 20, 40, 60, 80 and cost 10, 22, 33, 52, so three
    # are best (27 against 28 for four: no, 80 - 52 = 28 is more), and four with enough money.
    bidding = Bidding(own(auction(tmp_path)))
    picks, prices = bidding.best(lambda item, lot: (20, np.full(4, lot.held)))
    assert (picks, prices) == ([4], [20])
    bidding.budget = 40
    assert bidding.best(lambda item, lot: (20, np.full(4, lot.held)))[0] == [3]
    # When only two ever sell, and a unit left is worth its base price of 10: 2 x 20 - 22 = 18.
    assert bidding.best(lambda item, lot: (20, np.minimum(lot.held, np.full(4, 2))))[0] == [2]
    # When nothing sells nothing is bought.
    assert bidding.best(lambda item, lot: (0, np.zeros(4, np.int64)))[0] == [0]


def test_what_is_held_after_a_bid(tmp_path: Path) -> None:
    scene = auction(tmp_path)
    carried = replace(scene.procured, stock={**scene.procured.stock, "own": (3,)})
    lot = Bidding(own(replace(scene, procured=carried))).lot(0, 2)
    assert (lot.held, lot.paid) == (5, 22)
    # In the last step at salvage 1 a unit left is worth the lesser of its cost, 22 / 5, and base.
    assert lot.rest == pytest.approx(4.4)
    assert lot.stocks[:, 1:].tolist() == [[1, 1]] * 5
