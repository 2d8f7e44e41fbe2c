"""What a shelf sells in the mean until somebody comes, as a fluid.

A product of demand r, were it fully present, sells r (1 - exp(-n / k)) a day with n units left.
The differential equation dn/dt = -r (1 - exp(-n / k)) has the solution

    exp(n(t) / k) - 1 = (exp(n(0) / k) - 1) exp(-r t / k)
"""

from __future__ import annotations

import numpy as np

from market.vending.world import Floats


def units_left(units: Floats, demand: Floats, days: float, presence: float) -> Floats:
    """Units left after some days.

    Args:
        units: Units at the start.
        demand: Mean units sold a day were the product fully present.
        days: Days without a visit.
        presence: k.
    """
    with np.errstate(divide="ignore"):
        full = np.log(-np.expm1(-units / presence))
    left: Floats = presence * np.logaddexp(0.0, units / presence + full - demand * days / presence)
    return left


def present(units: Floats, presence: float) -> Floats:
    """The share of full attraction that so many units have."""
    found: Floats = -np.expm1(-units / presence)
    return found
