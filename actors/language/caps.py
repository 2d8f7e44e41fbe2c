"""What a user allows a model to be asked: at once, per minute, and in tokens per minute.

Minutes slide: in no 60 seconds more is sent than is allowed, unlike with a bucket that refills,
which lets twice as much pass in its first minute. A whole minute's allowance may go at once, since
a batch of a market is only as fast as its last answer.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Final

MINUTE: Final = 60.0


@dataclass(frozen=True, slots=True)
class Caps:
    """Limits for one model. None is no limit.

    Attributes:
        in_flight: Requests at once.
        requests_per_minute: Requests sent in any 60 seconds, tries that failed included.
        tokens_per_minute: Tokens of the requests sent in any 60 seconds: their ceiling (estimated
            prompt and `max_tokens`) until the provider has counted them.
    """

    in_flight: int | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None

    def __post_init__(self) -> None:
        for name in ("in_flight", "requests_per_minute", "tokens_per_minute"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"`{name}` must be at least 1 where it is given")


@dataclass(frozen=True, slots=True)
class Load:
    """An amount of each thing that is capped."""

    in_flight: int = 0
    requests: int = 0
    tokens: int = 0


@dataclass(slots=True)
class Spent:
    """A request that counts towards its minute."""

    at: float
    tokens: int


class Meter:
    """What one model is being asked, held against what is allowed at the moment.

    Args:
        caps: What the user allows.
        leased: Whether what is allowed at the moment is granted by a gate; nothing at first.
    """

    def __init__(self, caps: Caps, leased: bool = False) -> None:
        self.caps = caps
        self._rated = caps.requests_per_minute is not None or caps.tokens_per_minute is not None
        self._in_flight = 0
        self._spent: deque[Spent] = deque()
        self._tokens = 0
        self.allow(Load() if leased else None)

    def allow(self, granted: Load | None, until: float = math.inf) -> None:
        """Set what is allowed from now on, until some time; None: all that the user allows."""
        caps = self.caps
        self._until = until
        self._frozen: tuple[float, float, float] | None = None

        def of(cap: int | None, part: int | None) -> float:
            return math.inf if cap is None else cap if part is None else min(cap, part)

        self._at_once = of(caps.in_flight, None if granted is None else granted.in_flight)
        self._requests = of(caps.requests_per_minute, None if granted is None else granted.requests)
        self._most_tokens = of(caps.tokens_per_minute, None if granted is None else granted.tokens)

    def freeze(self, used: Load) -> None:
        """Allow no more of what is capped than is used, until something is allowed, or `thaw`."""
        self._frozen = self._at_once, self._requests, self._most_tokens
        caps = self.caps
        for name, cap, part in (
            ("_at_once", caps.in_flight, used.in_flight),
            ("_requests", caps.requests_per_minute, used.requests),
            ("_most_tokens", caps.tokens_per_minute, used.tokens),
        ):
            if cap is not None:
                setattr(self, name, min(getattr(self, name), part))

    def thaw(self) -> None:
        """Allow again what was allowed before."""
        if self._frozen is not None:
            self._at_once, self._requests, self._most_tokens = self._frozen
            self._frozen = None

    def counted(self, tokens: int) -> int:
        """What a request counts for: one that is larger than a minute's allowance takes it all."""
        cap = self.caps.tokens_per_minute
        return tokens if cap is None else min(tokens, cap)

    def wait(self, now: float, tokens: int) -> float:
        """Seconds until a request may go by the clock; infinite if only another's end can help."""
        self._forget(now)
        if self._in_flight >= self._at_once or now >= self._until:
            return math.inf
        requests, spent = len(self._spent), self._tokens
        if requests < self._requests and spent + tokens <= self._most_tokens:
            return 0.0
        for old in self._spent:
            requests, spent = requests - 1, spent - old.tokens
            if requests < self._requests and spent + tokens <= self._most_tokens:
                return max(0.0, old.at + MINUTE - now)
        return math.inf

    def begin(self, now: float, tokens: int) -> Spent:
        """Count a request that is sent."""
        spent = Spent(now, tokens)
        self._in_flight += 1
        if self._rated:
            self._spent.append(spent)
            self._tokens += tokens
        return spent

    def end(self, spent: Spent, now: float, tokens: int | None) -> None:
        """Count a request as over; `tokens` as the provider counted them, None if unknown."""
        self._in_flight -= 1
        self._forget(now)
        if tokens is not None and self._rated and spent.at > now - MINUTE:
            counted = self.counted(tokens)
            self._tokens += counted - spent.tokens
            spent.tokens = counted

    def used(self, now: float) -> Load:
        """What is under way, and what counts towards the minute."""
        self._forget(now)
        return Load(self._in_flight, len(self._spent), self._tokens)

    def _forget(self, now: float) -> None:
        while self._spent and self._spent[0].at <= now - MINUTE:
            self._tokens -= self._spent.popleft().tokens
