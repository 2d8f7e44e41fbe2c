"""Whether a run that goes on asks where it asked before.

The address of a model is no part of a result, so nothing keeps a rehearsal from being resumed with
the real provider. That is told before anything is asked: money is about to be spent, and the
results will be of two kinds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from actors.correspondence import server_of
from actors.roster import roster
from actors.tournament import CALLS, JOURNAL, finished, header_of
from market.calls import CallLogError, Outcome, read_calls
from market.config.plans import EpisodePlan


def moved(plans: Sequence[EpisodePlan], folder: Path) -> str | None:
    """One sentence on answers that came from elsewhere; None where all came from here.

    Args:
        plans: The episodes that are gone on with.
        folder: The folder of its run.
    """
    if all(finished(_of(folder, plan.id, JOURNAL), header_of(plan)) for plan in plans):
        return None
    found: Counter[tuple[str, str]] = Counter()
    for plan in plans:
        now = {
            seat.casting.seat: server_of(seat.settings)
            for seat in roster(plan.config)
            if seat.settings is not None
        }
        try:
            records = read_calls(_of(folder, plan.id, CALLS)).records
        except CallLogError:
            continue  # told by whoever plays it
        asked = {one.key: one.address for one in records if one.outcome is Outcome.SENT}
        for one in records:
            before, after = asked.get(one.key), now.get(one.seat)
            if one.outcome is Outcome.REPLIED and None not in (before, after) and before != after:
                found[before or "", after or ""] += 1
    if not found:
        return None
    parts = [
        f"{times:,} came from {_named(before)} and are now asked of {_named(after)}"
        for (before, after), times in found.most_common()
    ]
    return f"Of the answers so far {'; '.join(parts)}: the results will mix them."


def _of(folder: Path, episode: str, name: str) -> Path:
    return folder / "episodes" / episode / name


def _named(server: str) -> str:
    return server or "the provider's own address"
