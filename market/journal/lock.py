"""One writer per file: an exclusive lock with an epoch number.

The lock is `flock` on `<file>.lock`, which the kernel lets go when its process dies, so there is
no stale lock to clear. On file systems that forget locks (some network ones) a second writer
may get in all the same: each acquisition writes the next epoch number, and the holder checks,
before every write, that the number is still its own.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


class LockedError(RuntimeError):
    """Somebody else writes, or began to; the message says which file."""


class WriterLock:
    """The right to write one file, held until `release`.

    Attributes:
        epoch: How many times the file was opened for writing, this time included.

    Raises:
        LockedError: If another process, or another writer in this one, holds it.
    """

    __slots__ = ("_descriptor", "_path", "_target", "epoch")

    def __init__(self, target: Path) -> None:
        self._target = target
        self._path = target.with_name(target.name + ".lock")
        self._descriptor = self._acquire()
        self.epoch = self._read() + 1
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, str(self.epoch).encode(), 0)

    def check(self) -> None:
        """Make sure that nobody took over.

        Raises:
            LockedError: If somebody did.
        """
        if self._current(self._descriptor) and self._read() == self.epoch:
            return
        raise LockedError(f"{self._target} was taken over by another writer")

    def release(self, remove: bool = False) -> None:
        """Let go; with `remove` delete the lock file too, because nobody will write again."""
        if self._descriptor < 0:
            return
        if remove and self._current(self._descriptor):
            self._path.unlink()
        os.close(self._descriptor)
        self._descriptor = -1

    def _acquire(self) -> int:
        while True:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                os.close(descriptor)
                raise LockedError(f"{self._target} is being written by another process") from error
            if self._current(descriptor):
                return descriptor
            os.close(descriptor)  # its last holder removed it while we opened it

    def _current(self, descriptor: int) -> bool:
        """Whether the path still leads to the file that is locked."""
        try:
            return os.path.samestat(os.fstat(descriptor), os.stat(self._path))
        except FileNotFoundError:
            return False

    def _read(self) -> int:
        text = os.pread(self._descriptor, 20, 0)
        return int(text) if text.isdigit() else 0
