"""Attention: whom a buyer considers, given how well each slogan suits the buyer's persona.

A seller's weight with a persona is exp(lambda x similarity / tau); a buyer considers n sellers
drawn without replacement with probability proportional to weight (Plackett-Luce). That draw is
made exactly by giving each seller an exponential time divided by its weight and taking the n
first. Each seller's times come from a stream of its own, read in buyer order: a change of one
seller, its slogan or its absence, leaves every other time in place.

Similarities are integers of 1e-6 and weights depend on their differences only, so a constant
added to all similarities of a persona changes nothing, to the byte.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from market.rng import generator, keys, reopen

#: No seller is out of sight altogether.
LEAST_WEIGHT = 1e-9

#: Buyers whose times are held in memory at once.
BUYERS_AT_ONCE = 16_384

#: Most buyers of whom a seller's times are kept, for the other cells of a study on one seed.
BUYERS_KEPT = 512


def sizes(patience: Sequence[float], most: int, sellers: int) -> list[int]:
    """Sellers that a buyer of each persona considers: min(A, max(1, ceil(rho x K_max))).

    Args:
        patience: rho of each persona.
        most: K_max.
        sellers: Sellers there are.
    """
    return [min(sellers, max(1, math.ceil(rho * most - 1e-9))) for rho in patience]


def weights(
    similarities: Sequence[Sequence[int]], sensitivities: Sequence[float], temperature: float
) -> NDArray[np.float64]:
    """Weights of sellers with personas, relative to the best seller and rounded to 1e-9.

    Args:
        similarities: Per seller present and per persona, in units of 1e-6.
        sensitivities: lambda of each persona.
        temperature: tau.

    Returns:
        Shape (sellers, personas), each from `LEAST_WEIGHT` to 1.
    """
    table = np.empty((len(similarities), len(sensitivities)))
    for persona, sensitivity in enumerate(sensitivities):
        column = [row[persona] for row in similarities]
        best = (max if sensitivity >= 0 else min)(column, default=0)
        for seller, similarity in enumerate(column):
            table[seller, persona] = _weight(similarity - best, sensitivity, temperature)
    return table


@lru_cache(maxsize=4096)
def _weight(difference: int, sensitivity: float, temperature: float) -> float:
    """Slogans are said again and again, and rounding to digits takes its time."""
    exponent = sensitivity * difference / (1e6 * temperature)
    return max(LEAST_WEIGHT, round(math.exp(exponent), 9))


def considered(
    seed: int,
    step: int,
    sellers: Sequence[str],
    weight: NDArray[np.float64],
    size: Sequence[int],
    persona: NDArray[np.int16],
    at_once: int = BUYERS_AT_ONCE,
    favour: NDArray[np.float64] | None = None,
) -> Iterator[tuple[slice, NDArray[np.bool_]]]:
    """Draw the sets that buyers consider, a run of buyers at a time.

    Nothing is drawn where everybody considers every seller.

    Args:
        seed: Seed of the episode.
        step: Step of the episode.
        sellers: Seat ids of the sellers present.
        weight: Shape (sellers, personas), from `weights`.
        size: Per persona the sellers considered, from `sizes`.
        persona: Persona of each buyer, in order of arrival.
        at_once: Buyers per run; no result depends on it.
        favour: Factor on each seller's weight with each buyer, of shape (sellers, buyers), where
            buyers tell them apart by more than the persona.

    Yields:
        A run of buyers, and for it who considers whom, of shape (sellers, buyers of the run).
    """
    if min(size) >= len(sellers):
        for span in _runs(len(persona), at_once):
            yield span, np.ones((len(sellers), span.stop - span.start), np.bool_)
        return
    last = np.array(size) - 1
    if len(persona) <= at_once:
        if len(persona) <= BUYERS_KEPT:
            rows = _rows(seed, step, len(persona))
            times = np.array([rows(seller) for seller in sellers])
        else:
            times = np.empty((len(sellers), len(persona)))
            stream, key = generator(seed, "attention", step), keys(seed, "attention", step)
            for row, seller in zip(times, sellers, strict=True):
                reopen(stream, key(seller))
                stream.standard_exponential(out=row)
        if favour is not None:
            times /= favour
        yield slice(0, len(persona)), first_by_time(times, weight, last, persona)
        return
    streams = [generator(seed, "attention", step, seller) for seller in sellers]
    for span in _runs(len(persona), at_once):
        times = np.empty((len(sellers), span.stop - span.start))
        for row, stream in zip(times, streams, strict=True):
            stream.standard_exponential(out=row)
        if favour is not None:
            times /= favour[:, span]
        yield span, first_by_time(times, weight, last, persona[span])


@lru_cache(maxsize=16)
def _rows(seed: int, step: int, buyers: int) -> Callable[[str], NDArray[np.float64]]:
    """The times of a step's few buyers by seller: all cells of a study meet the same ones."""
    stream, key = generator(seed, "attention", step), keys(seed, "attention", step)

    @lru_cache(maxsize=64)
    def row(seller: str) -> NDArray[np.float64]:
        reopen(stream, key(seller))
        return stream.standard_exponential(buyers)

    return row


def _runs(buyers: int, at_once: int) -> Iterator[slice]:
    for start in range(0, buyers, at_once):
        yield slice(start, min(start + at_once, buyers))


def first_by_time(
    times: NDArray[np.float64],
    weight: NDArray[np.float64],
    last: NDArray[np.int_],
    persona: NDArray[np.int16],
) -> NDArray[np.bool_]:
    """Who is among the first, given times and the rank of the last considered per persona."""
    times /= weight[:, persona]
    ranked = times.T.copy()
    ranked.partition(sorted(set(last.tolist())), axis=1)
    # Equal times, one pair in 10^16, would both be in.
    first: NDArray[np.bool_] = times <= ranked[np.arange(len(persona)), last[persona]]
    return first
