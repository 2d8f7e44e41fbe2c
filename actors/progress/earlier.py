"""What earlier runs did of the episodes of a run that goes on, from their records.

A pace, and what it comes to in the end, is that of what is done now: who counts what was done
before as left, or as done now, forecasts too much or too little.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from actors.progress.status import State, episode_status
from actors.progress.watch import Work
from actors.tournament import JOURNAL
from market.config import rules
from market.config.plans import EpisodePlan


def earlier(plans: Iterable[EpisodePlan], folder: Path) -> dict[str, Work]:
    """What was done of each episode that was begun, by its id; of a damaged one, nothing.

    Args:
        plans: The episodes.
        folder: The folder of their run.
    """
    found = {}
    for plan in plans:
        path = folder / "episodes" / plan.id
        if not (path / JOURNAL).exists():
            continue
        status = episode_status(path, getattr(rules(plan.config), "steps", None), planned=True)
        over = status.state is State.FINISHED
        share = 1.0 if over else status.steps_done / status.steps if status.steps else 0.0
        spend = status.spend
        found[plan.id] = Work(share, spend.calls, spend.tokens or 0, spend.cost_usd)
    return found
