"""The catalogue is what the rules say, and tells nothing of what is hidden."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from market.vending import catalogue, world
from tests.market.vending.operations import paper


def test_products_are_spread_evenly_over_the_subcategories() -> None:
    goods = catalogue.generated(paper(), 0)
    counts = np.bincount(goods.kind)
    assert len(goods) == 1_372
    assert set(counts) == {76, 77}
    assert [p.product for p in goods.products[:2]] == ["P0001", "P0002"]
    assert goods.index["P1372"] == 1_371


def test_costs_lie_in_their_range_of_the_reference() -> None:
    goods = catalogue.generated(paper(), 0)
    share = goods.cost / goods.reference
    # To the fen: a cost is rounded by at most half of one.
    assert share.min() >= 0.45 - 0.5 / goods.reference.min()
    assert share.max() <= 0.75 + 0.5 / goods.reference.min()
    assert (goods.reference % 50 == 0).all()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_no_visible_field_tells_of_popularity(seed: int) -> None:
    """Given subcategory and price, rank correlations are those of chance."""
    drawn = world.generated(paper(), seed)
    goods = drawn.catalogue
    fields = {
        "product": np.arange(len(goods)),
        "name": np.array([spelled(p.name) for p in goods.products]),
        "cost": goods.cost,
        "cost share": goods.cost / goods.reference,
        "reference": goods.reference,
        "volume": goods.volume,
        "shelf life": np.array([p.shelf_life for p in goods.products]),
    }
    given = np.column_stack([np.eye(18)[goods.kind], stats.rankdata(goods.reference)])
    # Five standard errors: seven fields, three worlds, two targets.
    noise = 5 / np.sqrt(len(goods))
    for target in (drawn.popularity, drawn.appeal.mean(0) / drawn.popularity):
        rest = residual(stats.rankdata(target), given)
        for name, values in fields.items():
            of = residual(stats.rankdata(values), given)
            if of.std() < 1e-6:  # all of it is subcategory and price
                continue
            assert abs(np.corrcoef(of, rest)[0, 1]) < noise, name


def spelled(name: str) -> int:
    """A number that stands for a name: its letters in order."""
    return int.from_bytes(name.encode()[:7].ljust(7), "big")


def residual(values: np.ndarray, given: np.ndarray) -> np.ndarray:
    fitted, *_ = np.linalg.lstsq(given, values, rcond=None)
    return values - given @ fitted
