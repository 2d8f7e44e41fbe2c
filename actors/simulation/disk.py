"""A disk that is full, tears what is written to it and forgets what was not synced."""

from __future__ import annotations

import errno
import io
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from actors.simulation.clock import Killed
from actors.simulation.faults import Fault, Faults
from market.storage import LockedError


@dataclass(slots=True)
class File:
    """A file.

    Attributes:
        content: What whoever reads it sees.
        synced: What was on disk at the last sync; None as long as its name is not.
        epoch: How many times it was locked.
        holder: Who holds its lock.
    """

    content: bytes = b""
    synced: bytes | None = None
    epoch: int = 0
    holder: object = None


@dataclass
class Disk:
    """What outlives a driver.

    Attributes:
        files: The files by their path.
        watch: Is told of a file and its content whenever it reached the disk.
    """

    files: dict[Path, File] = field(default_factory=dict)
    watch: Callable[[Path, bytes], None] = lambda *_: None

    def lose_power(self, faults: Faults) -> None:
        """Forget an arbitrary part of what was not synced."""
        for path, file in list(self.files.items()):
            file.content = _after_power_cut(file, faults)
            if file.synced is None and faults.draws.uniform() < 0.5:
                del self.files[path]
            else:
                file.synced = file.content

    def settle(self) -> None:
        """What was written to a disk that keeps its power reaches it in the end."""
        for file in self.files.values():
            file.holder = None
            file.synced = file.content


class PretendedStorage:
    """A `Storage` for one life of a driver.

    Args:
        disk: The disk.
        faults: What strikes.

    Attributes:
        failed: Files that a fault of the disk struck in this life.
        dead: Whether the life is over: nothing that is done then has any effect.
        open_files: Files that are open to be written.
    """

    def __init__(self, disk: Disk, faults: Faults) -> None:
        self.disk = disk
        self.faults = faults
        self.open_files: dict[int, Path] = {}
        self.failed: set[Path] = set()
        self.dead = False
        self._full = False

    def die(self) -> None:
        """End the life."""
        self.dead = True

    def exists(self, path: Path) -> bool:
        """See `Storage.exists`."""
        self._live()
        return path in self.disk.files

    def open(self, path: Path) -> BinaryIO:
        """See `Storage.open`."""
        self._live()
        if path not in self.disk.files:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory")
        return io.BytesIO(self.disk.files[path].content)

    def appender(self, path: Path) -> PretendedAppender:
        """See `Storage.appender`."""
        self._live()
        return PretendedAppender(path, self.disk.files.setdefault(path, File()), self)

    def lock(self, path: Path) -> PretendedLock:
        """See `Storage.lock`."""
        self._live()
        file = self.disk.files.setdefault(path.with_name(path.name + ".lock"), File())
        if file.holder is not None or self.faults.strikes(Fault.LOCKED, str(path)):
            self.failed.add(path)
            raise LockedError(f"{path} is being written by another process")
        return PretendedLock(path, file, self)

    def write(self, path: Path, data: bytes) -> None:
        """See `Storage.write`."""
        self._live()
        self.hit(path)
        self.disk.files.setdefault(path, File()).content = data

    def remove(self, path: Path) -> None:
        """See `Storage.remove`."""
        self._live()
        self.disk.files.pop(path, None)

    def make_folder(self, folder: Path) -> None:  # noqa: ARG002
        """See `Storage.make_folder`."""
        self._live()

    def names(self, folder: Path) -> list[str]:
        """See `Storage.names`."""
        self._live()
        below = [path.relative_to(folder) for path in self.disk.files if folder in path.parents]
        return sorted({path.parts[0] for path in below})

    def hit(self, path: Path) -> None:
        """Fail, if the disk is or becomes full."""
        if self._full or self.faults.strikes(Fault.FULL, str(path)):
            self._full = True
            self.failed.add(path)
            raise OSError(errno.ENOSPC, "No space left on device")

    def _live(self) -> None:
        if self.dead:
            raise OSError(errno.EIO, "the process of the driver is dead")


class PretendedAppender:
    """An `Appender` of a pretended file."""

    def __init__(self, path: Path, file: File, storage: PretendedStorage) -> None:
        self._path = path
        self._file = file
        self._storage = storage
        storage.open_files[id(self)] = path

    @property
    def size(self) -> int:
        """See `Appender.size`."""
        return len(self._file.content)

    def append(self, data: bytes, sync: bool) -> None:
        """See `Appender.append`."""
        self._storage._live()
        faults, file = self._storage.faults, self._file
        part = _torn(data, faults)
        if faults.strikes(Fault.TORN, str(self._path)):
            file.content += data if faults.draws.uniform() < 0.3 else part
            raise Killed
        try:
            self._storage.hit(self._path)
        except OSError:
            file.content += part
            raise
        file.content += data
        if sync and faults.strikes(Fault.UNSYNCED, str(self._path)):
            self._storage.failed.add(self._path)
            raise OSError(errno.EIO, "Input/output error")
        if sync:
            file.synced = file.content
            self._storage.disk.watch(self._path, file.content)

    def truncate(self, size: int) -> None:
        """See `Appender.truncate`. It may fail where a write has failed before."""
        self._storage._live()
        if self._path in self._storage.failed and self._storage.faults.draws.uniform() < 0.2:
            raise OSError(errno.EIO, "Input/output error")
        self._file.content = self._file.content[:size]

    def close(self) -> None:
        """See `Appender.close`."""
        self._storage.open_files.pop(id(self), None)


class PretendedLock:
    """A `Lock` on a pretended file."""

    def __init__(self, target: Path, file: File, storage: PretendedStorage) -> None:
        self._target = target
        self._file = file
        self._storage = storage
        file.holder = self
        file.epoch += 1
        self.epoch = file.epoch

    def check(self) -> None:
        """See `Lock.check`."""
        self._storage._live()
        if self._file.holder is not self:
            raise LockedError(f"{self._target} was taken over by another writer")

    def release(self, remove: bool = False) -> None:  # noqa: ARG002
        """See `Lock.release`."""
        if self._file.holder is self:
            self._file.holder = None


def _torn(data: bytes, faults: Faults) -> bytes:
    """The beginning of some lines: whole ones, and a part of the next.

    Drawn in lines, since a log's lines hold clocks and differ a little in length.
    """
    lines = data.splitlines(keepends=True)
    whole = faults.draws.integer(0, len(lines) - 1)
    torn = lines[whole]
    return b"".join(lines[:whole]) + torn[: int(faults.draws.uniform() * len(torn))]


def _after_power_cut(file: File, faults: Faults) -> bytes:
    """What stands on the disk: what was synced and an arbitrary part of what was not."""
    synced = file.synced or b""
    if not file.content.startswith(synced):  # cut, and perhaps written again: either may be there
        return synced if faults.draws.uniform() < 0.5 else file.content
    new = file.content[len(synced) :]
    kept = _torn(new, faults) if new and faults.draws.uniform() < 0.8 else new
    # A file may have its new length before its new content.
    zeros = b"\0" * (len(new) - len(kept)) if faults.draws.uniform() < 0.2 else b""
    return synced + kept + zeros
