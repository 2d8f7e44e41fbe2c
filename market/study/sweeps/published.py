"""Our figures beside somebody else's, with a sentence on each difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from market.config.study import Published
from market.study.statistics.estimates import Estimate
from market.study.sweeps.contrasts import Told
from market.study.text import decimal


@dataclass(frozen=True, slots=True)
class Beside:
    """One figure.

    Attributes:
        outcome: Its name.
        ours: Ours in words, with its interval.
        published: Theirs in words.
        sentence: How they compare, and what may explain it.
    """

    outcome: str
    ours: str
    published: str
    sentence: str


def beside(told: Sequence[Told], published: Mapping[str, Published]) -> list[Beside]:
    """What was published beside what the baseline cell says, in the order of publication.

    Args:
        told: What the sweep says.
        published: By outcome.
    """
    baseline: dict[str, Estimate] = {}
    for line in told:
        baseline.setdefault(line.outcome, line.estimate)
    return [
        Beside(
            outcome,
            spelled(baseline[outcome]),
            " to ".join(dict.fromkeys(map(figure, said.bounds))),
            f"{comparison(baseline[outcome], said)} {said.note}".strip(),
        )
        for outcome, said in published.items()
        if outcome in baseline
    ]


def comparison(ours: Estimate, published: Published) -> str:
    """How a figure of ours lies to a published one, as a sentence."""
    low, high = published.bounds
    if ours.value is None:
        return f"Ours is undefined: {ours.undefined}."
    if low <= ours.value <= high:
        return "Ours lies where theirs does."
    side = "above" if ours.value > high else "below"
    if ours.low is None or ours.high is None:
        return f"Ours lies {side} theirs; how sure that is, is not known."
    if ours.low <= high and ours.high >= low:
        return f"Ours lies {side} theirs, but within its interval cannot be told from it."
    return f"Ours lies {side} theirs, by more than its interval."


def spelled(estimate: Estimate) -> str:
    """An estimate in words: `0.102 (0.098 to 0.106)`."""
    if estimate.value is None:
        return f"undefined: {estimate.undefined}"
    if estimate.low is None or estimate.high is None:
        return figure(estimate.value)
    return f"{figure(estimate.value)} ({figure(estimate.low)} to {figure(estimate.high)})"


def figure(value: float) -> str:
    """A number with as many decimals as its size asks for."""
    return decimal(value, 0 if abs(value) >= 1000 else 1 if abs(value) >= 100 else 3)
