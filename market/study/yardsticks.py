"""What an environment holds its scores against: a floor, and what each seat could have had at most.

An environment names a function of this form as `bounds` of its `EnvironmentKind`:

    def limits(rules, seats, seed, rows): ...

`rules` is its own model, `seats` the ids and `seed` the luck of a finished episode, and
`rows(table)` the recorded rows of one of its tables as mappings of column to value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Rows = Callable[[str], Sequence[Mapping[str, Any]]]


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
