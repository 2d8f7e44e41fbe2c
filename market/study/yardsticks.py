"""What an environment holds its scores against: a floor, and what each seat could have had at most.

An environment names a function of this form as `bounds` of its `EnvironmentKind`:

    def limits(rules, seats, seed, rows): ...

`rules` is its own model, `seats` the ids and `seed` the luck of a finished episode, and
`rows(table)` the recorded rows of one of its tables as a frame. Episodes come ordered by seed, so
that what they share can be kept from one to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

Rows = Callable[[str], "pd.DataFrame"]


@dataclass(frozen=True, slots=True)
class Yardsticks:
    """What the scores of one episode are held against.

    Attributes:
        floor: The score of a seat that does nothing.
        bounds: A score that each seat could not have exceeded; a seat without one is not there.
        undefined: Why seats without a bound have none.
    """

    floor: float
    bounds: Mapping[str, float]
    undefined: str
