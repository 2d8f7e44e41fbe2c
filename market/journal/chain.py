"""The chain of digests over what the seats are shown."""

from __future__ import annotations

from market import canonical
from market.environment import ContractError, Decisions, Json


class Chain:
    """The chain of digests over what the seats are shown.

    It may run where the environment runs and the journal be written elsewhere.

    Attributes:
        digest: The digest of the last batch; before the first, where the chain begins.
    """

    __slots__ = ("digest",)

    def __init__(self, begin: str) -> None:
        self.digest = begin

    def extend(self, decisions: Decisions) -> str:
        """Go on to the next batch and return its digest.

        Raises:
            ContractError: If the decisions are of several turns or a view is not JSON.
        """
        first = decisions[0]
        step, turn, public = first.step, first.turn, first.observation.public
        asked: dict[str, list[Json]] = {}
        for decision in decisions:
            seen = decision.observation
            if decision.step != step or decision.turn != turn:
                raise ContractError(f"a batch of step {step}, turn {turn} asks for another turn")
            asked[decision.seat] = entry = [decision.kind, seen.private]
            if seen.public is not public and seen.public != public:
                entry.append(seen.public)
        try:
            text = canonical.dumps([self.digest, step, turn, public, asked])
        except ValueError as error:
            raise ContractError(f"a view of step {step}, turn {turn} is {error}") from error
        self.digest = canonical.digest(text)
        return self.digest
