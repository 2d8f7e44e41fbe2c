"""Python's collector of cyclic garbage, set for a process that plays episode after episode.

An episode leaves next to no cycles behind, but makes so many objects that the collector, as Python
sets it, takes a sixth of the time to look through them, and through all that was imported.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

#: Objects made, less those freed, between two looks at the youngest; 700 is Python's own. Then how
#: many looks at a generation make one at the next.
RELAXED = (50_000, 10, 10)


def relax() -> None:
    """Look less often, and no more at what is there now, which stays for good.

    Called after what the process needs is imported; only the first call does anything.
    """
    if gc.get_threshold() == RELAXED:
        return
    gc.collect()
    gc.freeze()
    gc.set_threshold(*RELAXED)


@contextmanager
def relaxed() -> Iterator[None]:
    """The same for a while, in a process that has other things to do afterwards."""
    before = gc.get_threshold()
    if before == RELAXED:
        yield
        return
    relax()
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
