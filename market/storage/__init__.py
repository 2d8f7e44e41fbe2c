"""Where records are kept: the few things that a record asks of whatever stores it.

The journal and the answer log are append-only files with one writer each. They ask to append and
be sure of it, to cut a torn end, to read, and to keep a second writer out; everything else about
a file system is kept from them. `LOCAL` is the file system of this machine.

The port exists so that a simulation can put a storage below the real code that tears, fails and
forgets (`actors.simulation`), and so that records can go to another kind of store.
"""

from __future__ import annotations

from market.storage.local import LOCAL, LocalStorage
from market.storage.port import Appender, Lock, LockedError, Storage

__all__ = ["LOCAL", "Appender", "LocalStorage", "Lock", "LockedError", "Storage"]
