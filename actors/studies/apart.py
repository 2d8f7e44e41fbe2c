"""Plays an episode of a sweep as a run does: with deadlines, its retailers in another process.

What costs a worker its life, a policy that hangs or ends its process, is here what it is in a run:
a turn without action of that seat (`actors.hosts`), with which the episode goes on.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from actors.episode import Gathered
from actors.places import portable
from actors.ray_actors import spawn_retailers
from actors.roster import roster
from actors.staging import Script, stage_processes
from market.config import recorded
from market.config.plans import EpisodePlan
from market.environment import Answer, ContractError, Decision, Result

#: Seconds in which the policies must be built; what takes longer fails the episode.
READY_SECONDS: Final = 120.0


@dataclass(slots=True)
class Apart:
    """Plays episodes, one after the other, and notes which seats kept silent and why.

    Attributes:
        silent: How often each seat gave no answer, by the seat and the last line of why.
    """

    silent: Counter[tuple[str, str]] = field(default_factory=Counter)

    def play(self, plan: EpisodePlan, outside: Callable[[Decision], Answer]) -> Result:
        """Play an episode to its end; see `packing.play`.

        Raises:
            ContractError: If a policy asks a model.
            TimeoutError: If the policies cannot be built in time.
        """
        return asyncio.run(self._play(plan, outside))

    @property
    def note(self) -> str:
        """One line on what was noted."""
        told = [
            f"{seat} gave no answer {count} times ({why})"
            for (seat, why), count in sorted(self.silent.items())
        ]
        return "; ".join(told) or "all answered this time"

    async def _play(self, plan: EpisodePlan, outside: Callable[[Decision], Answer]) -> Result:
        # One process for all seats: as many episodes are played at once as there are cores.
        castings = tuple(seat.casting for seat in roster(plan.config))
        script = portable(
            Script(recorded(plan.config), (castings,), "", plan.config.deadline_seconds)
        )
        episode, (host,) = stage_processes(script, spawn_retailers, _Knowing(outside))
        try:
            async with asyncio.timeout(READY_SECONDS):
                await host.start()
            state = await episode.start()
            while state.result is None:
                news = await episode.gather()
                if news.gathered is None:
                    raise ContractError(
                        f"seat {news.wanted[0].key[2]} asks a model; play the study as a tournament"
                    )
                self._note(news.gathered)
                state = await episode.apply()
            return state.result
        finally:
            await episode.close()
            if (process := await host.leave()) is not None:
                await process.kill()

    def _note(self, gathered: Gathered) -> None:
        for seat, detail in gathered.failures.items():
            self.silent[seat, detail.strip().rpartition("\n")[2]] += 1


@dataclass(frozen=True, slots=True)
class _Knowing:
    """An `episode.Outside` whose answers may take their time."""

    know: Callable[[Decision], Answer]

    async def answer(self, decision: Decision) -> Answer:
        return await asyncio.to_thread(self.know, decision)
