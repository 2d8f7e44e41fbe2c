"""Shapley's split of what a change of several things brings among the things (Shapley 1953).

A thing's part is its marginal contribution, averaged over the orders in which the things may be
changed. Parts are fractions and not floats: they add up to the whole exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import factorial


def subsets(players: Sequence[str]) -> Iterator[frozenset[str]]:
    """All subsets, small ones first."""
    for size in range(len(players) + 1):
        yield from map(frozenset, combinations(players, size))


def shapley(
    players: Sequence[str], worth: Mapping[frozenset[str], float | Fraction]
) -> dict[str, Fraction]:
    """Split the worth of all players.

    Args:
        players: Who shares.
        worth: Of every subset, the empty one included.

    Returns:
        Each player's part; together exactly worth(all) - worth(none).

    Raises:
        KeyError: If a subset is missing.
    """
    exact = {subset: Fraction(worth[subset]) for subset in subsets(players)}
    count = len(players)
    parts = {}
    for player in players:
        others = [other for other in players if other != player]
        parts[player] = sum(
            (
                Fraction(factorial(len(before)) * factorial(count - len(before) - 1))
                * (exact[before | {player}] - exact[before])
                for before in subsets(others)
            ),
            Fraction(0),
        ) / factorial(count)
    return parts
