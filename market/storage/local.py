"""The file system of this machine."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from typing import BinaryIO, Final

from market.storage.port import LockedError

#: Ends the name of what is being written, until it is whole.
PART: Final = ".part"

#: How often a lock is tried, and seconds between: whoever only looks whether it is held takes it
#: for a moment too.
TRIES: Final = 10
TRY_SECONDS: Final = 0.005


class LocalStorage:
    """Files of this machine, or of a network drive that looks like one."""

    def __init__(self) -> None:
        self._unsynced: set[Path] = set()

    def exists(self, path: Path) -> bool:
        """See `Storage.exists`."""
        return path.exists()

    def open(self, path: Path) -> BinaryIO:
        """See `Storage.open`."""
        return path.open("rb")

    def appender(self, path: Path) -> LocalAppender:
        """See `Storage.appender`."""
        return LocalAppender(path, self)

    def lock(self, path: Path) -> LocalLock:
        """See `Storage.lock`."""
        return LocalLock(path)

    def write(self, path: Path, data: bytes) -> None:
        """See `Storage.write`."""
        part = path.with_name(path.name + PART)
        part.write_bytes(data)
        part.replace(path)

    def remove(self, path: Path) -> None:
        """See `Storage.remove`."""
        path.unlink(missing_ok=True)

    def make_folder(self, folder: Path) -> None:
        """See `Storage.make_folder`."""
        new = [each for each in (folder, *folder.parents) if not each.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        self._unsynced.update(new)

    def names(self, folder: Path) -> list[str]:
        """See `Storage.names`."""
        return sorted(each.name for each in folder.iterdir()) if folder.is_dir() else []

    def sync_name(self, path: Path) -> None:
        """Put on disk that a file is where it is, in folders that may be new themselves."""
        _sync(path.parent)
        for folder in path.parents:
            if folder in self._unsynced:
                _sync(folder.parent)
                self._unsynced.discard(folder)


class LocalAppender:
    """A file that is open to append to it."""

    __slots__ = ("_descriptor", "_named", "_path", "_storage")

    def __init__(self, path: Path, storage: LocalStorage) -> None:
        self._path = path
        self._storage = storage
        self._named = False
        self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    @property
    def size(self) -> int:
        """See `Appender.size`."""
        return os.fstat(self._descriptor).st_size

    def append(self, data: bytes, sync: bool) -> None:
        """See `Appender.append`."""
        if os.write(self._descriptor, data) != len(data):
            raise OSError(0, "the line was written in part")
        if sync:
            os.fsync(self._descriptor)
            if not self._named:
                self._storage.sync_name(self._path)
                self._named = True

    def truncate(self, size: int) -> None:
        """See `Appender.truncate`."""
        os.ftruncate(self._descriptor, size)

    def close(self) -> None:
        """See `Appender.close`."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


class LocalLock:
    """`flock` on `<file>.lock`, which holds an epoch number.

    The kernel lets it go when its process dies, so there is no stale lock to clear. On file
    systems that forget locks (some network ones) a second writer may get in all the same: each
    acquisition writes the next epoch number, and the holder checks, before every write, that the
    number is still its own.

    Attributes:
        epoch: How many times the file was locked, this time included.

    Raises:
        LockedError: If another process, or another holder in this one, has it.
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
        """See `Lock.check`."""
        if self._current(self._descriptor) and self._read() == self.epoch:
            return
        raise LockedError(f"{self._target} was taken over by another writer")

    def release(self, remove: bool = False) -> None:
        """See `Lock.release`."""
        if self._descriptor < 0:
            return
        if remove and self._current(self._descriptor):
            self._path.unlink()
        os.close(self._descriptor)
        self._descriptor = -1

    def _acquire(self) -> int:
        tries = 0
        while True:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                os.close(descriptor)
                tries += 1
                if tries == TRIES:
                    what = f"{self._target} is being written by another process"
                    raise LockedError(what) from error
                time.sleep(TRY_SECONDS)
                continue
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


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


#: The file system of this machine.
LOCAL = LocalStorage()
