"""Luck and skill: each recorded selling step settled again under redrawn luck.

Redrawn are demand, attention and the ties of retail (`redraws` says exactly what); kept are all
answers, the stock with which retail opened and its cost. So the luck of the auction (ties there),
and what early luck did to later steps (through funds and stock), stay in what is called skill.

With profit y_ir of seat i in redraw r, summed over steps, R redraws and the mean over them m_i:

    adjusted_i  = m_i                       what the answers bring on average
    luck_i      = recorded_i - m_i
    skill share = (Var_i(m) - noise) / Var_i(recorded)
    noise       = mean over r of Var_i(y_ir - m_i), times 1 / (R - 1)

Var_i is the sample variance over seats. The mean over R redraws is itself uncertain, which spreads
the m_i by the `noise`; it is subtracted. It is taken over seats within a redraw because seats share
their buyers, so that errors of the means are correlated. The share may leave [0, 1]: below where
seats differ by less than the noise, above where luck happened to narrow the field.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from market.arena.counterfactual.redraws import REDRAWS, settle, step_profit
from market.arena.counterfactual.scene import Scene


@dataclass(frozen=True, slots=True)
class StepLuck:
    """One step of one seat, in money.

    Attributes:
        step: The step.
        recorded: Recorded profit.
        adjusted: Mean profit over the redraws.
        deviation: Standard deviation of profit over the redraws.
    """

    step: int
    recorded: int
    adjusted: float
    deviation: float


@dataclass(frozen=True, slots=True)
class SeatLuck:
    """All selling steps of one seat, in money.

    Attributes:
        steps: Each of them.
        recorded: Recorded profit.
        adjusted: Mean profit over the redraws.
        deviation: Standard deviation of the sum over steps, whose luck is independent.
        redraws: Redraws behind both.
    """

    steps: tuple[StepLuck, ...]
    recorded: int
    adjusted: float
    deviation: float
    redraws: int

    @property
    def luck(self) -> float:
        """What luck added to the recorded profit."""
        return self.recorded - self.adjusted

    @property
    def error(self) -> float:
        """Standard error of the adjusted profit, which is a mean over finitely many redraws."""
        return float(self.deviation / self.redraws**0.5)


@dataclass(frozen=True, slots=True)
class Luck:
    """An episode.

    Attributes:
        seats: Per seat that ever posted prices.
        skill: Share of the variance of profit between seats that is not luck.
        noise: What was subtracted from the variance of the adjusted profits, in money squared.
        redraws: Redraws per step.
        undefined: Why `skill` is None.
    """

    seats: Mapping[str, SeatLuck]
    skill: float | None
    noise: float | None
    redraws: int
    undefined: str | None = None


def luck(scenes: Iterable[Scene], redraws: int = REDRAWS) -> Luck:
    """Split what each seat earned into what its answers bring on average, and luck.

    Args:
        scenes: Selling steps of one episode (`scene.scenes`).
        redraws: How often each is settled again, at least twice.

    Raises:
        ValueError: If there are fewer than two redraws.
    """
    if redraws < 2:
        raise ValueError(f"{redraws} redraws say nothing of luck; take at least 2")
    steps: dict[str, list[StepLuck]] = {}
    totals: dict[str, list[float]] = {}
    for scene in scenes:
        outcomes = [settle(scene, redraw) for redraw in range(1, redraws + 1)]
        for seat in scene.fronts:
            profits = [step_profit(scene, outcome, seat) for outcome in outcomes]
            before = totals.setdefault(seat, [0.0] * redraws)
            totals[seat] = [a + b for a, b in zip(before, profits, strict=True)]
            steps.setdefault(seat, []).append(
                StepLuck(
                    step=scene.step,
                    recorded=scene.profits[seat],
                    adjusted=float(np.mean(profits)),
                    deviation=float(np.std(profits, ddof=1)),
                )
            )
    seats = {seat: _summed(of, redraws) for seat, of in steps.items()}
    skill, noise, undefined = _skill(
        np.array([one.recorded for one in seats.values()], float),
        np.array([totals[seat] for seat in seats]).reshape(len(seats), redraws),
    )
    return Luck(seats, skill, noise, redraws, undefined)


def _summed(steps: list[StepLuck], redraws: int) -> SeatLuck:
    return SeatLuck(
        steps=tuple(steps),
        recorded=sum(step.recorded for step in steps),
        adjusted=sum(step.adjusted for step in steps),
        deviation=sum(step.deviation**2 for step in steps) ** 0.5,
        redraws=redraws,
    )


def _skill(
    recorded: np.ndarray[tuple[int], np.dtype[np.float64]],
    totals: np.ndarray[tuple[int, int], np.dtype[np.float64]],
) -> tuple[float | None, float | None, str | None]:
    """The share of skill, the noise subtracted, and why there is no share.

    Args:
        recorded: Per seat.
        totals: Shape (seats, redraws).
    """
    if len(recorded) < 2:
        return None, None, "fewer than two seats sold anything: nothing varies between them"
    adjusted = totals.mean(axis=1)
    redraws = totals.shape[1]
    spread = (totals - adjusted[:, None]).var(axis=0, ddof=1)
    noise = float(spread.mean() / (redraws - 1))
    variance = float(recorded.var(ddof=1))
    if not variance:
        return None, noise, "all seats earned the same: there is no variance to share out"
    return (float(adjusted.var(ddof=1)) - noise) / variance, noise, None
