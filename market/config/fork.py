"""The `fork` section: an episode that begins as a recorded one did and goes on live from a step.

Its journal is an ordinary one, which begins with the recorded answers of the earlier steps and says
in its header where they are from. Luck is the recorded luck up to that step, and from it on that of
the fork's own seed.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from market.config.model import Model


class Fork(Model):
    """Where a forked episode comes from. Written by `market fork`."""

    journal: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    """SHA-256 of the journal of the recorded episode."""
    step: Annotated[int, Field(ge=1)]
    """The first step that is played live."""
    seed: int = 1
    """Decides the luck from that step on; each further repetition has the next one."""
    taken: list[str] = Field(default=[])
    """Seats that another policy takes over at that step; it remembers nothing of earlier ones."""

    def repeated(self, repetition: int) -> Fork:
        """The same for a repetition, counted from 1."""
        return self.model_copy(update={"seed": self.seed + repetition - 1})
