"""How many requests a provider takes at once, found out by asking.

Additive increase, multiplicative decrease, begun by a slow start: what the congestion control of
TCP does (M. Allman et al., RFC 5681, 2009), and what lets clients that know nothing of each other
come to equal shares (D.-M. Chiu and R. Jain, Computer Networks and ISDN Systems 17, 1989).

One thing differs. An answer of a model takes seconds, a rejection comes at once; so what tells of
room is not the answer but that a request was not rejected for `ACCEPTED_SECONDS`. A round of the
slow start then lasts a tenth of a second whatever the model's latency is.
"""

from __future__ import annotations

from typing import Final

#: A request that was not rejected for so long counts as accepted.
ACCEPTED_SECONDS: Final = 0.1

#: Requests at once when nothing is known: a batch of the usual market.
FIRST: Final = 32

#: Requests at once that are never exceeded. Each takes a connection.
MOST: Final = 1_000

#: A cut is made good for within so many windows of accepted requests.
_RECOVERY: Final = 32


class Window:
    """The window of one provider.

    Attributes:
        size: Requests that may be under way at once; at least 1. Its fraction counts up.
    """

    def __init__(self, first: int = FIRST, most: int = MOST) -> None:
        self.size = float(min(first, most))
        self._most = float(most)
        self._threshold = self._most
        self._step = 1.0
        self._last_of_round = -1

    def accepted(self, under_way: int) -> None:
        """Note that a request was accepted.

        Args:
            under_way: Requests under way. Where they fill less than half of the window, that one
                more was accepted says nothing of room beyond it.
        """
        if 2 * under_way < self.size:
            return
        # Requests that last long do not come round again: for the rounds of the slow start to
        # double, each that was accepted makes room for two.
        growth = 2.0 if self.size < self._threshold else self._step / self.size
        self.size = min(self.size + growth, self._most)

    def rejected(self, number: int, latest: int, under_way: int) -> bool:
        """Note that a request was rejected; gives whether that cut the window.

        Requests sent before the last cut were sent by the larger window: that they too are
        rejected is no news. So there is one cut for each round trip, not one for each rejection.

        Args:
            number: Of the request, counted in the order of sending.
            latest: Number of the request sent last.
            under_way: Requests under way, the rejected one included.
        """
        if number <= self._last_of_round:
            return False
        self.size = max(1.0, min(self.size, under_way) / 2)
        self._threshold = self.size
        self._step = max(1.0, self.size / _RECOVERY)
        self._last_of_round = latest
        return True
