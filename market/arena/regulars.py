"""Buyers who come back and remember: loyalty and grudges (`buyer_memory`).

Without it the buyers of a step are strangers. With it they fill places that last: place k is taken
in each step by whoever had it before, with the chance `returning`, or else by somebody new. Who
returns keeps persona and memory; what is wanted, how much, the limit and the order of arrival are
drawn anew. A newcomer remembers nothing.

A buyer's memory holds one number per retailer, 0 at first. With every step it is multiplied by
`decay`, and then

    + loyalty   if the buyer bought there
    - grudge    if it came for goods and found the shelf empty, or turned away at the price

and retailer i is drawn with weight exp(lambda s / tau) x exp(memory) instead of the first alone
(`attention`). Where everybody considers everybody nothing is drawn and memory changes nothing.

Numbers are kept in whole thousandths, products cut toward zero, within plus and minus `MOST`, and
exp(memory) is looked up in a table rounded to 1e-9: whole numbers and single IEEE operations. Who
returns, who arrives when and who is new belong to (seed, step): no retailer's action moves them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from market.arena.fields import Model, Share, exact, round_half_up
from market.rng import generator

#: Memory is kept in units of 1 / `UNIT`, and never beyond plus or minus `MOST` of them.
UNIT = 1_000
MOST = 10 * UNIT

#: A place that nobody has had yet.
NOBODY = -1

#: What a visit was to a buyer; 0 where there was none.
BOUGHT, LET_DOWN = 1, 2

Feeling = Annotated[float, Field(ge=0, le=MOST // UNIT, allow_inf_nan=False)]


class BuyerMemory(Model):
    """Which buyers return, and what they make of what they met."""

    returning: Share
    """Chance that a buyer of the last step comes again; else somebody new comes."""
    loyalty: Feeling
    """Added to the logarithm of a retailer's weight for each step of buying there."""
    grudge: Feeling
    """Taken from it for each step of meeting an empty shelf or too high a price there."""
    decay: Share
    """What is left of a memory a step later."""


@dataclass(frozen=True, slots=True, eq=False)
class Clientele:
    """The buyers' places between two steps.

    Attributes:
        step: The last step that is in it.
        persona: Persona of whoever had the place last; `NOBODY` before the first step.
        memory: By seat, the memory of whoever had the place last, in units of 1 / `UNIT`; none
            where nobody met the retailer yet.
    """

    step: int
    persona: NDArray[np.int16]
    memory: Mapping[str, NDArray[np.int64]]


@dataclass(frozen=True, slots=True, eq=False)
class Arrivals:
    """Who comes in a step, in order of arrival.

    Attributes:
        place: The place of each buyer.
        returns: Whether it is who had it before.
    """

    place: NDArray[np.int64]
    returns: NDArray[np.bool_]


class Regulars:
    """How the buyers of an episode return and remember; a state is passed in and given back.

    Args:
        memory: The rules of it.
        seed: Seed of the episode.
        buyers: Buyers per step.
        newcomers: The personas of a step's buyers in order of arrival, were all of them new.
    """

    def __init__(
        self,
        memory: BuyerMemory,
        seed: int,
        buyers: int,
        newcomers: Callable[[int], NDArray[np.int16]],
    ) -> None:
        self._returning = memory.returning
        self._decay = round_half_up(exact(memory.decay) * UNIT)
        self._gain = np.array(
            [
                0,
                round_half_up(exact(memory.loyalty) * UNIT),
                -round_half_up(exact(memory.grudge) * UNIT),
            ]
        )
        self._seed = seed
        self._buyers = buyers
        self._newcomers = newcomers

    def opening(self) -> Clientele:
        """The places before the first step."""
        return Clientele(0, np.full(self._buyers, NOBODY, np.int16), {})

    def before(self, clientele: Clientele, step: int) -> Clientele:
        """The places as a step finds them, after steps in which nothing was sold, if any."""
        while clientele.step < step - 1:
            arrivals = self.arrivals(clientele, clientele.step + 1)
            persona = self.personas(clientele, arrivals)
            clientele = self.after(clientele, arrivals, persona, {})
        return clientele

    def arrivals(self, clientele: Clientele, step: int) -> Arrivals:
        """Who comes in a step that finds the places so."""
        place = generator(self._seed, "arrival", step).permutation(self._buyers)
        uniform = generator(self._seed, "returning", step).random(self._buyers)
        returns = (uniform < self._returning) & (clientele.persona != NOBODY)
        return Arrivals(place, returns[place])

    def personas(self, clientele: Clientele, arrivals: Arrivals) -> NDArray[np.int16]:
        """Their personas: kept, or those of newcomers."""
        new = self._newcomers(clientele.step + 1)
        personas: NDArray[np.int16] = np.where(
            arrivals.returns, clientele.persona[arrivals.place], new
        )
        return personas

    def favour(
        self, clientele: Clientele, arrivals: Arrivals, sellers: Sequence[str]
    ) -> NDArray[np.float64]:
        """The factor on each seller's weight, of shape (sellers, buyers)."""
        favour = np.ones((len(sellers), self._buyers))
        for row, seat in zip(favour, sellers, strict=True):
            if seat in clientele.memory:
                known = clientele.memory[seat][arrivals.place]
                row[:] = _factors()[MOST + np.where(arrivals.returns, known, 0)]
        return favour

    def repeats(
        self, clientele: Clientele, arrivals: Arrivals, visits: Mapping[str, NDArray[np.int8]]
    ) -> tuple[int, int]:
        """Purchases where the retailer was remembered well before, and all purchases."""
        repeated = bought = 0
        for seat, met in visits.items():
            bought += int(np.count_nonzero(met == BOUGHT))
            if seat in clientele.memory:
                liked = arrivals.returns & (clientele.memory[seat][arrivals.place] > 0)
                repeated += int(np.count_nonzero(liked & (met == BOUGHT)))
        return repeated, bought

    def after(
        self,
        clientele: Clientele,
        arrivals: Arrivals,
        persona: NDArray[np.int16],
        visits: Mapping[str, NDArray[np.int8]],
    ) -> Clientele:
        """The places after a step.

        Args:
            clientele: As the step found them.
            arrivals: Who came.
            persona: Their personas.
            visits: By seat, what each buyer met there: `BOUGHT`, `LET_DOWN`, or 0.
        """
        place = arrivals.place
        personas = np.empty_like(clientele.persona)
        personas[place] = persona
        memory = {}
        for seat in dict.fromkeys([*clientele.memory, *visits]):
            known = np.zeros(self._buyers, np.int64)
            if seat in clientele.memory:
                known = np.where(arrivals.returns, clientele.memory[seat][place], 0)
                known = np.sign(known) * (np.abs(known) * self._decay // UNIT)
            if seat in visits:
                known = np.clip(known + self._gain[visits[seat]], -MOST, MOST)
            kept = np.empty_like(known)
            kept[place] = known
            memory[seat] = kept
        return Clientele(clientele.step + 1, personas, memory)


@cache
def _factors() -> NDArray[np.float64]:
    """exp(memory), from the least memory to the highest."""
    return np.array([round(math.exp(known / UNIT), 9) for known in range(-MOST, MOST + 1)])
