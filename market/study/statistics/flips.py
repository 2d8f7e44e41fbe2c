"""Sign flips: what differences of blocks look like when nothing differs.

If two players are alike in a block, their difference there might as well have had the other sign.
All differences of one block are flipped together, which keeps how they hang together: the error
of a whole family of hypotheses is then held without assuming independence. A difference is divided
by the root of its sum of squares, which flips do not change; this orders flips as Student's t does.

With n blocks there are 2^n flips. Up to 2^14 all are used and p-values are exact; beyond, random
ones and the one that was observed.

The step-down (Romano and Wolf 2005, 2016) compares the largest statistic with the maximum over all
hypotheses, the next with the maximum over those that are left, and so on; p-values never decrease
on the way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from market.rng import generator

Floats = NDArray[np.float64]

#: Up to so many blocks all flips are used.
EXACT_BLOCKS = 14
DRAWS = 9_999
#: Statistics computed at a time.
_AT_ONCE = 2_000_000
#: Statistics that differ by rounding are equal.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class PValues:
    """P-values of hypotheses.

    Attributes:
        raw: Of each by itself.
        adjusted: With the error of the whole family held, by step-down.
    """

    raw: Floats
    adjusted: Floats


def p_values(
    differences: Floats, seed: int = 0, *, two_sided: bool = True, draws: int = DRAWS
) -> PValues:
    """Test whether each difference is zero, or (one-sided) not above zero.

    Args:
        differences: Blocks x hypotheses; NaN where a block says nothing on a hypothesis.
        seed: Seed of the random flips.
        two_sided: Whether a difference may lie on either side.
        draws: Random flips beyond 14 blocks.

    Raises:
        ValueError: If a difference is infinite or the array does not have two axes.
    """
    if differences.ndim != 2:
        raise ValueError(f"differences are blocks x hypotheses, not {differences.ndim} axes")
    if np.isinf(differences).any():
        raise ValueError("differences must be finite, or NaN where there is none")
    scaled = _scaled(differences)
    hypotheses = scaled.shape[1]
    observed = scaled.sum(axis=0)
    if two_sided:
        observed = np.abs(observed)
    order = np.argsort(-observed, kind="stable")
    ranked = observed[order] - _ROUNDING
    alone, family = np.zeros(hypotheses), np.zeros(hypotheses)
    total = 0
    for signs in _signs(len(scaled), seed, draws, max(1, _AT_ONCE // max(1, hypotheses))):
        flipped = signs @ scaled[:, order]
        if two_sided:
            np.abs(flipped, out=flipped)
        alone += (flipped >= ranked).sum(axis=0)
        largest_left = np.maximum.accumulate(flipped[:, ::-1], axis=1)[:, ::-1]
        family += (largest_left >= ranked).sum(axis=0)
        total += len(signs)
    back = np.argsort(order, kind="stable")
    return PValues((alone / total)[back], np.maximum.accumulate(family / total)[back])


def _scaled(differences: Floats) -> Floats:
    """Differences over the root of their sum of squares; a missing one speaks for neither side."""
    known = np.nan_to_num(differences, nan=0.0)
    size = np.sqrt((known**2).sum(axis=0))
    scaled: Floats = np.divide(known, size, out=np.zeros_like(known), where=size > 0)
    return scaled


def _signs(blocks: int, seed: int, draws: int, at_once: int) -> Iterator[Floats]:
    """Rows of signs, the observed one (all plus) among them."""
    if blocks <= EXACT_BLOCKS:
        for start in range(0, 2**blocks, at_once):
            numbers = np.arange(start, min(start + at_once, 2**blocks))
            bits = numbers[:, None] >> np.arange(blocks) & 1
            yield _plus_or_minus(bits)
        return
    yield np.ones((1, blocks))
    rng = generator(seed, "statistics", "sign flips")
    for start in range(0, draws, at_once):
        yield _plus_or_minus(rng.integers(0, 2, (min(at_once, draws - start), blocks)))


def _plus_or_minus(bits: NDArray[np.int64]) -> Floats:
    return 1 - 2 * bits.astype(np.float64)
