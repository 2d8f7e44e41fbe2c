from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from market.arena.counterfactual.redraws import redraw_seed, settle, step_account, step_profit
from market.arena.counterfactual.scene import scenes
from market.arena.events import Offer, Standing
from market.replay import Replay, ReplayError
from tests.market import recorded
from tests.market.arena.counterfactual.recordings import record, record_game, recorded_scenes
from tests.market.arena.games import Game, games


def rows(journal: Path, kind: type) -> list:  # type: ignore[type-arg]
    return [row for moment in Replay(journal) for row in moment.events if isinstance(row, kind)]


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(game=games(retail="market"), luck=st.integers(0))
def test_the_recorded_answers_under_the_recorded_luck_give_the_recorded_step(
    tmp_path_factory: pytest.TempPathFactory, game: Game, luck: int
) -> None:
    journal = record_game(tmp_path_factory.mktemp("game") / "journal.jsonl", game)
    offers = {(row.step, row.seat, row.item): row for row in rows(journal, Offer)}
    standings = {(row.step, row.seat): row for row in rows(journal, Standing)}
    played = list(scenes(journal))
    for scene in played:
        outcome = settle(scene, 0)
        for seat, front in scene.fronts.items():
            standing = standings[scene.step, seat]
            assert outcome.seats[seat].attempts == standing.attempts
            assert outcome.seats[seat].failed == standing.failed
            for index, offer in outcome.seats[seat].offers.items():
                item = scene.rules.items[index].item
                row = offers.pop((scene.step, seat, item))
                assert (offer.asked, offer.sold) == (row.asked, row.sold)
                assert offer.sold * front.prices[item] == row.revenue
                assert scene.stock[seat][index] == row.stock
            account = step_account(scene, outcome, seat)
            assert account.profit == standing.profit == scene.profits[seat]
            assert account.revenue == standing.revenue
            assert account.cost_of_goods == standing.cost_of_goods
            assert (account.holding, account.fixed) == (standing.holding, standing.fixed)
            assert (account.liquidated, account.shortfall) == (
                standing.liquidated,
                standing.shortfall,
            )
            assert account.write_down == standing.write_down
    assert not offers


def test_a_redraw_is_the_same_luck_whenever_it_is_asked_for(tmp_path: Path) -> None:
    (scene,) = recorded_scenes(tmp_path / "journal", "arena/default", "rules.steps=1")
    first, again, other = settle(scene, 5), settle(scene, 5), settle(scene, 6)
    assert first.seats == again.seats
    assert (first.buyers.limit == again.buyers.limit).all()
    assert (first.buyers.limit != other.buyers.limit).any()
    assert redraw_seed(scene.seed, 0) == scene.seed
    assert len({redraw_seed(scene.seed, redraw) for redraw in range(100)}) == 100


def test_a_redraw_keeps_what_was_answered_and_draws_everything_else(tmp_path: Path) -> None:
    (scene,) = recorded_scenes(tmp_path / "journal", "arena/default", "rules.steps=1")
    outcomes = [settle(scene, redraw) for redraw in range(4)]
    for drawn in ("persona", "item", "limit", "luck"):
        assert len({getattr(outcome.buyers, drawn).tobytes() for outcome in outcomes}) == 4
    assert len({outcome.seats["markup-1"].attempts for outcome in outcomes}) > 1
    for outcome in outcomes:
        assert [set(sold.offers) for sold in outcome.seats.values()] == [
            set(sold.offers) for sold in outcomes[0].seats.values()
        ]


def test_profit_of_a_step_worked_by_hand(tmp_path: Path) -> None:
    # One seller of 950 units bought at 100 asks 150 of buyers worth 100 to 200, and keeps what is
    # left at its cost (salvage 1).
    (scene,) = recorded_scenes(tmp_path / "journal", "arena/monopoly")
    (seat,) = scene.fronts
    for redraw in range(3):
        outcome = settle(scene, redraw)
        sold = int((outcome.buyers.limit >= 150).sum())
        assert step_profit(scene, outcome, seat) == 50 * sold


def test_a_market_without_retail_has_no_scenes(tmp_path: Path) -> None:
    assert recorded_scenes(tmp_path / "journal", "arena/demand-reduction") == []


def test_a_recording_of_another_environment_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReplayError, match="scenes are of the environment arena"):
        list(scenes(recorded.record(tmp_path / "journal")))


def test_slogans_are_known_with_what_they_mean(tmp_path: Path) -> None:
    played = list(scenes(record(tmp_path / "journal", "arena/default", "rules.steps=2")))
    for scene in played:
        said = {front.slogan for front in scene.fronts.values() if front.slogan}
        assert said <= scene.similarities.keys()
        assert all(len(row) == len(scene.rules.personas) for row in scene.similarities.values())
