"""How long to wait before trying a provider again."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """Exponential backoff with full jitter, after what the provider asked for.

    Full jitter (a uniform draw from zero to the bound) spreads those who failed together best:
    M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.

    Attributes:
        tries: Most attempts for one request, the first included.
        limited_tries: The same where the last one was rejected for the rate of requests: that
            says nothing against the request, and the provider may need a minute.
        first_seconds: Bound of the wait after the first failure; doubles with each further one.
        longest_seconds: No bound is above it.
        patience_seconds: A provider that asks for a longer wait is not asked again.
    """

    tries: int = 5
    limited_tries: int = 10
    first_seconds: float = 1.0
    longest_seconds: float = 30.0
    patience_seconds: float = 120.0

    def wait(
        self, failures: int, asked: float | None, draw: float, limited: bool = False
    ) -> float | None:
        """Seconds to wait after a failure; None to give up.

        Args:
            failures: How many attempts have failed, at least 1.
            asked: Seconds the provider asks to wait; None if it does not say.
            draw: A uniform draw in [0, 1).
            limited: Whether the last failure was a rate limit.
        """
        asked = asked or 0.0
        tries = self.limited_tries if limited else self.tries
        if failures >= tries or asked > self.patience_seconds:
            return None
        bound = min(self.longest_seconds, self.first_seconds * 2.0 ** (failures - 1))
        return asked + draw * bound
