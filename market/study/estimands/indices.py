"""Indices of inequality, concentration and mobility, on plain numbers.

Every function takes a sequence of numbers and gives a float, or None where the index is not
defined: a share of nothing is unknown, never 0. Only sums by `math.fsum`, exact IEEE operations
and `math.sqrt` are used, so equal inputs give equal bits on every machine.

An index of shares (Gini, HHI, concentration ratio) is not defined without values, for a total of
zero, or when a value is negative: a loss is no share of anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, sqrt

Numbers = Sequence[int] | Sequence[float]


def shares(values: Numbers) -> list[float] | None:
    """Each value's share of the total; None if empty, if one is negative or all are zero."""
    if not values or min(values) < 0:
        return None
    total = fsum(values)
    return [value / total for value in values] if total > 0 else None


def gini(values: Numbers) -> float | None:
    """Gini coefficient in [0, 1 - 1/n]: half the mean absolute difference over the mean.

    Computed from the ordered values x_1 <= ... <= x_n as sum (2 i - n - 1) x_i / (n sum x_i),
    which equals the mean over all n^2 pairs, a value's pair with itself included.
    """
    if shares(values) is None:
        return None
    n = len(values)
    weighted = fsum((2 * i - n - 1) * value for i, value in enumerate(sorted(values), start=1))
    return weighted / (n * fsum(values))


def gini_corrected(values: Numbers) -> float | None:
    """Gini x n/(n-1), in [0, 1] for every n; None for fewer than two values."""
    coefficient = gini(values)
    n = len(values)
    return None if coefficient is None or n < 2 else min(1.0, coefficient * n / (n - 1))


def hhi(values: Numbers) -> float | None:
    """Herfindahl-Hirschman index in [1/n, 1]: the sum of squared shares."""
    parts = shares(values)
    return None if parts is None else fsum(part * part for part in parts)


def hhi_normalised(values: Numbers) -> float | None:
    """HHI moved to [0, 1]: (HHI - 1/n) / (1 - 1/n); None for fewer than two values."""
    index = hhi(values)
    n = len(values)
    return None if index is None or n < 2 else max(0.0, (index - 1 / n) / (1 - 1 / n))


def effective_number(values: Numbers) -> float | None:
    """How many equal sellers would be as concentrated: 1/HHI, in [1, n]."""
    index = hhi(values)
    return None if index is None else 1 / index


def concentration_ratio(values: Numbers, largest: int = 4) -> float | None:
    """Share of the largest few together (CR4 by default), in [k/n, 1]."""
    parts = shares(values)
    return None if parts is None else min(1.0, fsum(sorted(parts)[-largest:]))


def kendall_tau_b(x: Numbers, y: Numbers) -> float | None:
    """Kendall's tau-b, in [-1, 1]: agreement of two orders, corrected for ties.

    (concordant - discordant) / sqrt(pairs untied in x times pairs untied in y). None for fewer
    than two values or when one side is constant: then it orders nothing.

    Raises:
        ValueError: If the sequences differ in length.
    """
    balance = untied_x = untied_y = 0
    pairs = list(zip(x, y, strict=True))
    for i, (xi, yi) in enumerate(pairs):
        for xj, yj in pairs[:i]:
            in_x = (xi > xj) - (xi < xj)
            in_y = (yi > yj) - (yi < yj)
            balance += in_x * in_y
            untied_x += in_x != 0
            untied_y += in_y != 0
    return balance / sqrt(untied_x * untied_y) if untied_x and untied_y else None


def rank_mobility(before: Numbers, after: Numbers) -> float | None:
    """(1 - tau-b)/2, in [0, 1]: 0 when the order stands, 0.5 under chance, 1 when it is reversed.

    None where tau-b is not defined.
    """
    tau = kendall_tau_b(before, after)
    return None if tau is None else (1 - tau) / 2


def mean(values: Numbers) -> float | None:
    """Arithmetic mean; None without values."""
    return fsum(values) / len(values) if values else None


def deviation(values: Numbers, *, sample: bool) -> float | None:
    """Standard deviation, of a sample (n - 1) or of a population (n).

    Exactly 0 for equal values. None without values, and for a sample of one.
    """
    freedom = len(values) - sample
    if freedom < 1:
        return None
    if min(values) == max(values):
        return 0.0
    centre = fsum(values) / len(values)
    gaps = [value - centre for value in values]
    return sqrt(fsum(gap * gap for gap in gaps) / freedom)


def coefficient_of_variation(values: Numbers) -> float | None:
    """Population standard deviation over the mean; None unless the mean is positive."""
    centre = mean(values)
    if centre is None or centre <= 0:
        return None
    spread = deviation(values, sample=False)
    return None if spread is None else spread / centre
