from __future__ import annotations

from market.vending.bound import net_assets
from market.vending.limits import limits
from tests.market.vending.operations import rules


def test_the_floor_pays_the_fixed_fee_every_day_and_the_bound_lies_above_it() -> None:
    small = rules(cash=1_000, fixed_fee=80, days=10)
    found = limits(small, ("a", "b"), 3, lambda table: None)  # type: ignore[arg-type, return-value]
    assert found.floor == 1_000 - 80 * 10
    assert found.bounds == {"a": net_assets(small, 3), "b": net_assets(small, 3)}
    assert found.bounds["a"] > found.floor
