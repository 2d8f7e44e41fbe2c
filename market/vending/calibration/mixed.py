"""A linear mixed model with crossed families of effects, one value per observation and family.

    response = level + an effect of each family + own + error,    error ~ N(0, 1 / information)

Levels are free. Effects of a family are normal around 0 with the family's variance, as own effects
of single observations are with theirs; these are integrated out. Variances have their restricted
maximum likelihood (Patterson and Thompson, 1971), which counts what the levels cost; given them,
effects are the best linear unbiased predictions. The system of all effects is sparse, and its
Cholesky-like factors give both.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.sparse.linalg import splu

from market.vending.calibration.records import Floats, Ints

#: Bounds of standard deviations.
SPREADS = (0.01, 3.0)
#: Precision of a level that no observation speaks of.
TINY = 1e-9


class Mixed:
    """The model of some observations (n).

    Args:
        columns: (n) position of the level of each observation, then of its effect in each family.
        sizes: How many levels there are, then how many effects in each family.
        own: Whether observations have effects of their own, too.
    """

    def __init__(self, columns: Sequence[Ints], sizes: Sequence[int], own: bool) -> None:
        n = len(columns[0])
        self._bounds = np.cumsum([0, *sizes])
        self._sizes, self._own = np.array(sizes[1:], int), own
        rows = np.tile(np.arange(n), len(columns))
        places = np.concatenate(columns) + np.repeat(self._bounds[:-1], n)
        shape = (n, int(self._bounds[-1]))
        self._design = sparse.csr_array((np.ones(len(rows)), (rows, places)), shape=shape)

    def most_likely(self, start: Floats, response: Floats, information: Floats) -> Floats:
        """Log standard deviations of the families, and of own effects if there are any.

        Args:
            start: Where to begin.
            response: (n) the observations.
            information: (n) their precisions, above 0.
        """
        found: Floats = minimize(
            lambda logs: self._solved(logs, response, information)[0],
            start,
            method="L-BFGS-B",
            bounds=[tuple(np.log(SPREADS))] * len(start),
        ).x
        return found

    def predicted(
        self, log_spreads: Floats, response: Floats, information: Floats
    ) -> tuple[Floats, list[Floats], Floats]:
        """Sums of (n) each observation, effects of each family, and (n) own effects.

        Args:
            log_spreads: Log standard deviations, as of `most_likely`.
            response: (n) the observations.
            information: (n) their precisions, above 0.
        """
        _, found, own = self._solved(log_spreads, response, information)
        return self._design @ found + own, np.split(found, self._bounds[1:-1])[1:], own

    def _solved(
        self, log_spreads: Floats, response: Floats, information: Floats
    ) -> tuple[float, Floats, Floats]:
        """Less the restricted log likelihood, levels and effects, and own effects."""
        variance = np.exp(2 * log_spreads)
        families, of_own = variance[: len(self._sizes)], variance[-1] if self._own else 0.0
        weight = information / (1 + of_own * information)
        free = np.full(self._bounds[1], TINY)
        prior = np.concatenate([free, np.repeat(1 / families, self._sizes)])
        weighted = self._design.multiply(weight[:, None])
        factors = splu(
            sparse.csc_array(self._design.T @ weighted + sparse.diags_array(prior)),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
        found = factors.solve(self._design.T @ (weight * response))
        left = response - self._design @ found
        likelihood = (
            np.log(weight).sum()
            - np.log(np.abs(factors.U.diagonal())).sum()
            - (self._sizes * np.log(families)).sum()
            - (weight * left**2).sum()
            - (prior * found**2).sum()
        ) / 2
        return -float(likelihood), found, of_own * weight * left
