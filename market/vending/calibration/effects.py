"""Popularity and tastes from what each pair sold in all.

A machine m sold n units of a product p where it would have sold e at an attraction of 1. Then the
mean of n is e A_mp, and

    log A_mp = level_m + popularity_p + preference_{type, kind} + alignment_{type, p} + own_mp

of which all but the level are drawn towards 0 as far as sales say little (`mixed.py`). Families
that nothing would tell from another are left out: preferences where there is one type or kind,
alignments where there is one type or each machine is one, own tastes of a single machine.

Estimates are the mode of the penalised quasi-likelihood (Breslow and Clayton, 1993): each step is
the linear mixed model of the working response. Only pairs that sold are known, so the mean of n is
that of a negative binomial which is not 0.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from market.vending.calibration.mixed import Mixed
from market.vending.calibration.records import Floats, Ints, Records

#: Where standard deviations begin.
SPREAD = 0.3
#: No step moves a logarithm further.
LONGEST = 1.0
#: Least change of a mean by its logarithm, and largest exponent.
LEAST, MOST = 1e-9, 700.0


class Effects:
    """The effects between two steps.

    Attributes:
        logs: Logarithms: `popularity` (products), `preference` (types, kinds), `alignment` (types,
            products) and `own` (pairs), 0 where they are left out.
        type: (machines) position of each one's type.
        types: How many there are.

    Args:
        records: The pairs.
        spreads: Standard deviations of all families, where they are known; None to estimate them.
    """

    def __init__(self, records: Records, spreads: Mapping[str, float] | None = None) -> None:
        machine, product = self._machine, self._product = records.machine, records.product
        self.type, types = _positions(records.site_types)
        self._kind, kinds = _positions(records.subcategories)
        self.types, machines, products = types, len(records.machines), len(records.products)
        shapes = {
            "popularity": (products,),
            "preference": (types, kinds),
            "alignment": (types, products),
            "own": (len(machine),),
        }
        self.logs = {name: np.zeros(shape) for name, shape in shapes.items()}
        columns = {"popularity": product}
        if min(types, kinds) > 1:
            columns["preference"] = self.type[machine] * kinds + self._kind[product]
        if 1 < types < machines:
            columns["alignment"] = self.type[machine] * products + product
        sizes = [machines, *(self.logs[name].size for name in columns)]
        own = machines > 1
        self._mixed = Mixed([machine, *columns.values()], sizes, own)
        self._families = (*columns, *(["own"] if own else []))
        self._log_spreads = np.log([(spreads or {}).get(name, SPREAD) for name in self._families])
        self._told = spreads is not None
        self._attraction: Floats | None = None

    @property
    def spreads(self) -> dict[str, float]:
        """Standard deviation of the logarithms of each family that is not left out."""
        return dict(zip(self._families, np.exp(self._log_spreads).tolist(), strict=True))

    def tastes(self) -> Floats:
        """(machines, products) log of what each site likes more or less than others do."""
        by_type = self.logs["preference"][:, self._kind] + self.logs["alignment"]
        found: Floats = by_type[self.type]
        found[self._machine, self._product] += self.logs["own"]
        return found

    def step(self, sold: Floats, expected: Floats, dispersion: Floats) -> float:
        """Move all effects once; how far the logarithm of an attraction moved at most.

        Args:
            sold: (pairs) units, above 0.
            expected: (pairs) units at an attraction of 1, above 0.
            dispersion: (pairs) variance over mean, above 1.
        """
        before = np.log(sold / expected) if self._attraction is None else self._attraction
        mean, slope = _of_sold(expected * np.exp(before), dispersion)
        response, information = before + (sold - mean) / slope, slope / dispersion
        if not self._told:
            self._log_spreads = self._mixed.most_likely(self._log_spreads, response, information)
        sums, found, own = self._mixed.predicted(self._log_spreads, response, information)
        moved = np.clip(sums - before, -LONGEST, LONGEST)
        self._attraction = before + moved
        for name, values in zip(self._families, [*found, own], strict=False):
            self.logs[name] = values.reshape(self.logs[name].shape)
        return float(np.abs(moved).max())


def _positions(names: tuple[str, ...]) -> tuple[Ints, int]:
    """The position of each name among all that there are, and how many these are."""
    known = sorted(set(names))
    return np.array([known.index(name) for name in names]), len(known)


def _of_sold(mean: Floats, dispersion: Floats) -> tuple[Floats, Floats]:
    """The mean of units that are not 0, and its derivative by the logarithm of the mean of all.

    A negative binomial of mean u and variance f u is 0 with probability exp(-u log f / (f - 1)).
    """
    none = np.clip(mean * np.log(dispersion) / (dispersion - 1), LEAST, MOST)
    found = mean / -np.expm1(-none)
    return found, np.maximum(found * (1 - none / np.expm1(none)), LEAST)
