"""A figure and how sure it is, or the reason why there is none.

What is undefined is None and says why: never 0, never a number that is none, never left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite

from market.environment import Json

#: Below so many blocks no test that flips their signs reaches 5%: with five, the least p-value of
#: both sides is 2/2^5 = 6.25%.
FEW_BLOCKS = 6

#: Share of a figure by which the ends of an interval differ by rounding alone.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its interval.

    Attributes:
        value: The figure; None where it is undefined.
        low: Lower end of the interval; None where value or interval is undefined.
        high: Upper end, likewise.
        blocks: Independent blocks (seeds) behind it.
        method: How the interval was made: "t", "bootstrap-t", "Fieller", "two-way bootstrap", ...
        level: Confidence of the interval.
        undefined: Why value or interval is None; None where neither is.

    Raises:
        ValueError: If something is undefined without a reason, has a reason without being
            undefined, or is no finite number.
    """

    value: float | None
    low: float | None
    high: float | None
    blocks: int
    method: str
    level: float = 0.95
    undefined: str | None = None

    def __post_init__(self) -> None:
        numbers = [x for x in (self.value, self.low, self.high) if x is not None]
        if not all(map(isfinite, numbers)):
            raise ValueError(f"an estimate is a finite number or None with a reason, not {numbers}")
        if (self.low is None) != (self.high is None):
            raise ValueError("an interval has two ends or none")
        if self.value is None and self.low is not None:
            raise ValueError("an interval needs a value")
        if (len(numbers) < 3) != bool(self.undefined):
            raise ValueError("what is undefined has a reason, and nothing else has one")

    @classmethod
    def missing(
        cls, reason: str, *, value: float | None = None, blocks: int = 0, level: float = 0.95
    ) -> Estimate:
        """No interval, and no value unless one is given.

        Args:
            reason: Why.
            value: The figure, where only its interval is undefined.
            blocks: Independent blocks behind it.
            level: Confidence that was asked for.
        """
        return cls(value, None, None, blocks, "none", level, reason)

    def within(self, least: float, most: float) -> Estimate:
        """The same with its interval cut to what the figure can be, which loses no coverage."""
        if self.low is None or self.high is None:
            return self
        return replace(self, low=max(self.low, least), high=min(self.high, most))

    @property
    def decided(self) -> bool:
        """Whether the interval leaves zero out; false where there is none.

        An interval of no width decides nothing below `FEW_BLOCKS`: a few blocks that happen to be
        equal do not show that nothing is random.
        """
        if self.low is None or self.high is None or not (self.low > 0 or self.high < 0):
            return False
        flat = self.high - self.low <= _ROUNDING * max(abs(self.low), abs(self.high))
        return not flat or self.blocks >= FEW_BLOCKS

    def json(self) -> dict[str, Json]:
        """As it stands in a file."""
        return {
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "blocks": self.blocks,
            "method": self.method,
            "level": self.level,
            "undefined": self.undefined,
        }
