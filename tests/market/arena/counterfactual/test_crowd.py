from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from market.arena import attention
from market.arena.counterfactual import crowd as crowds
from market.arena.counterfactual.crowd import Crowd, Shops
from market.arena.counterfactual.redraws import settle, step_profit
from market.arena.counterfactual.scene import Scene, scenes
from tests.market.arena.counterfactual.recordings import record, record_game
from tests.market.arena.games import Game, games


def holds_as_settled(scene: Scene, said: list[tuple[int, ...]], luck: int) -> None:
    """Sales, surplus and profits of sellers who say something are those of `settle`."""
    shops = Shops(scene)
    texts = [f"\x00{at}" for at in range(len(shops.sellers))]
    fronts = dict(scene.fronts)
    for seat, text in zip(shops.sellers, texts, strict=True):
        fronts[seat] = replace(fronts[seat], slogan=text)
    other = replace(scene, fronts=fronts, similarities=dict(zip(texts, said, strict=True)))
    settled = settle(other, luck)
    crowd = Crowd(shops, luck)
    sales = crowd.sales(shops.weights(said))
    for column, seat in enumerate(shops.sellers):
        for item, offer in settled.seats[seat].offers.items():
            assert (sales.sold[item, column], sales.surplus[item, column]) == offer[1:]
    assert sales.priced_out.tolist() == list(settled.priced_out)
    assert shops.profits(sales, crowd.buyers) == {
        seat: step_profit(other, settled, seat) for seat in scene.fronts
    }


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(game=games(retail="market"), data=st.data())
def test_a_crowd_buys_what_the_arena_sells(
    tmp_path_factory: pytest.TempPathFactory, game: Game, data: Any
) -> None:
    journal = record_game(tmp_path_factory.mktemp("game") / "journal.jsonl", game)
    for scene in scenes(journal):
        similarities = st.integers(-1_000_000, 1_000_000)
        row = st.tuples(*[similarities] * len(scene.rules.personas))
        sellers = len(Shops(scene).sellers)
        said = data.draw(st.lists(row, min_size=sellers, max_size=sellers))
        holds_as_settled(scene, said, data.draw(st.integers(0, 3)))


def test_a_crowd_that_remembers_buys_what_the_arena_sells(tmp_path: Path) -> None:
    path = record(tmp_path / "j.jsonl", "arena/regulars", "rules.steps=3", "rules.buyers=80")
    steps = list(scenes(path))
    assert steps[-1].clientele is not None
    for luck in (0, 1):
        holds_as_settled(steps[-1], list(Shops(steps[-1]).said), luck)


def test_no_sale_depends_on_how_many_buyers_come_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = record(tmp_path / "j.jsonl", "arena/default", "rules.steps=1")
    (scene,) = scenes(path)
    shops = Shops(scene)
    weight = shops.weights(shops.said)
    whole = Crowd(shops, 1).sales(weight)
    assert len(Crowd(shops, 1).buyers) <= attention.BUYERS_AT_ONCE
    monkeypatch.setattr(crowds, "BUYERS_AT_ONCE", 7)
    parts = Crowd(shops, 1).sales(weight)
    assert np.array_equal(whole.sold, parts.sold)
    assert whole.sold.any()
