"""One account, asked from several nodes: a gate shares a model's caps among its clients.

Permits are leased in blocks, so that a client asks the gate now and then, not once per request. A
client says what it uses of a model and what it wants, and is told what it may use for the next
`LEASE_SECONDS`. All of this is said absolutely, never as "one more", and in numbered messages, of
which only the newest is heard: one that is lost, doubled or late does no harm, and there is nothing
to give back but by wanting less.

Granted is the max-min fair share (D. Bertsekas and R. Gallager, Data Networks, 1992, 6.5.2) of what
all want, but never what another still holds or uses. So caps hold across the cluster at every
moment, and a newcomer gets its share when the others next ask. Where there are fewer permits than
clients, those who were granted least so far come first. The permits of a client that died return
when its lease ends; what it sent counts for its minute.

Plain code; `lease.py` is the client's side of it. A gate that is replaced knows of earlier leases
only when they are renewed, and may grant twice what it grants until then.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from actors.language.caps import MINUTE, Caps, Load
from actors.language.limits import Demand

#: How long a grant holds.
LEASE_SECONDS: Final = 10.0

#: A block is this part of a cap.
_BLOCKS: Final = 16


@dataclass(slots=True)
class _Share:
    """What a client holds of one thing."""

    granted: int = 0
    used: int = 0
    wanted: int = 0
    unit: int = 1
    served: float = 0.0
    until: float = 0.0

    @property
    def held(self) -> int:
        """What nobody else may have."""
        return max(self.granted, self.used)


class _Pot:
    """One cap, shared.

    Args:
        cap: The limit; None is none.
        lingers: Seconds for which what was used still counts when a lease has ended.
    """

    def __init__(self, cap: int | None, lingers: float = 0.0) -> None:
        self._cap = cap
        self._lingers = lingers
        self._shares: dict[str, _Share] = {}

    def grant(self, client: str, used: int, wanted: int, unit: int, now: float) -> int:
        """What a client may use until `now + LEASE_SECONDS`."""
        if self._cap is None:
            return wanted
        self._forget(now)
        share = self._shares.get(client)
        if share is None:
            least = min((other.served for other in self._shares.values()), default=0.0)
            share = self._shares[client] = _Share(served=least)
        block = -(-self._cap // _BLOCKS)
        share.used, share.unit = used, max(1, unit)
        share.wanted = min(-(-wanted // block) * block, self._cap) if wanted else 0
        share.until = now + LEASE_SECONDS
        others = sum(other.held for name, other in self._shares.items() if name != client)
        granted = min(self._fair(client), max(0, self._cap - others))
        share.granted = granted if granted >= min(share.unit, share.wanted) else 0
        share.served += share.granted
        return share.granted

    def _fair(self, client: str) -> int:
        """The max-min fair share of a client, in whole permits."""
        left = self._cap or 0
        given = dict.fromkeys(self._shares, 0)
        hungry = sorted(
            (name for name, share in self._shares.items() if share.wanted),
            key=lambda name: (self._shares[name].served, name),
        )
        while left and hungry:
            each = max(1, left // len(hungry))
            for name in list(hungry):
                share = self._shares[name]
                wants = share.wanted - given[name]
                # Less than its next request takes is of no use to a client.
                part = min(max(each, share.unit - given[name]), wants, left)
                if given[name] + part < min(share.unit, share.wanted):
                    part = 0
                given[name] += part
                left -= part
                if not part or part == wants:
                    hungry.remove(name)
        return given[client]

    def _forget(self, now: float) -> None:
        for name, share in list(self._shares.items()):
            if share.until <= now:
                share.granted = share.wanted = 0
                if share.until + self._lingers <= now or not share.used:
                    del self._shares[name]


class Gate:
    """Leases the caps of models to clients.

    Args:
        caps: Limits per model.
        clock: Seconds on a clock that only goes forward.
    """

    def __init__(
        self, caps: Mapping[str, Caps], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._pots = {
            model: (
                _Pot(cap.in_flight),
                _Pot(cap.requests_per_minute, MINUTE),
                _Pot(cap.tokens_per_minute, MINUTE),
            )
            for model, cap in caps.items()
        }
        self._quiet: dict[str, float] = {}
        self._heard: dict[str, int] = {}

    def renew(
        self,
        client: str,
        number: int,
        demands: Mapping[str, Demand],
        quiet: Mapping[str, float],
    ) -> tuple[dict[str, Load], dict[str, float]]:
        """Renew the leases of a client.

        Args:
            client: Its name, unlike any other's.
            number: Counts its messages: nothing is granted for one that a newer has overtaken.
            demands: What it does and wants, for each model that it uses.
            quiet: For how many seconds providers want to be left alone, as far as it was told.

        Returns:
            What it may use of each model in the `LEASE_SECONDS` from when it asked, and for how
            many seconds providers want to be left alone, as far as anyone was told.
        """
        now = self._clock()
        for provider, seconds in quiet.items():
            self._quiet[provider] = max(self._quiet.get(provider, -math.inf), now + seconds)
        self._quiet = {name: until for name, until in self._quiet.items() if until > now}
        granted: dict[str, Load] = {}
        newest = number > self._heard.get(client, 0)
        self._heard[client] = max(number, self._heard.get(client, 0))
        for model, demand in demands.items() if newest else ():
            at_once, requests, tokens = self._pots[model]
            used, wanted = demand.used, demand.wanted
            # A minute's tokens are granted with those of it that are used.
            unit = used.tokens + demand.unit if demand.unit else 1
            granted[model] = Load(
                at_once.grant(client, used.in_flight, wanted.in_flight, 1, now),
                requests.grant(client, used.requests, wanted.requests, 1, now),
                tokens.grant(client, used.tokens, wanted.tokens, unit, now),
            )
        return granted, {name: until - now for name, until in self._quiet.items()}
