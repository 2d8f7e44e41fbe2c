"""What a record asks of its storage."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO, Protocol


class LockedError(RuntimeError):
    """Somebody else writes, or began to; the message says which file."""


class Appender(Protocol):
    """A file that is written at its end and nowhere else."""

    @property
    def size(self) -> int:
        """Bytes it holds."""
        ...

    def append(self, data: bytes, sync: bool) -> None:
        """Write at the end.

        Args:
            data: What to write.
            sync: Whether it must survive a power cut once the call returns, the file's name and
                all that was written before included.

        Raises:
            OSError: If it cannot be written. A part of it may stand at the end.
        """
        ...

    def truncate(self, size: int) -> None:
        """Cut the file to a size.

        Raises:
            OSError: If it cannot be cut.
        """
        ...

    def close(self) -> None:
        """Close it. Safe to call again."""
        ...


class Lock(Protocol):
    """The right to write one file, held until `release`."""

    @property
    def epoch(self) -> int:
        """How many times the file was locked, this time included."""
        ...

    def check(self) -> None:
        """Make sure that nobody took over.

        Raises:
            LockedError: If somebody did.
        """
        ...

    def release(self, remove: bool = False) -> None:
        """Let go; with `remove` for good, because nobody will write again. Safe to call again."""
        ...


class Storage(Protocol):
    """Files in folders. Every method may raise `OSError`."""

    def exists(self, path: Path) -> bool:
        """Whether there is such a file."""
        ...

    def open(self, path: Path) -> BinaryIO:
        """Open a file to read it."""
        ...

    def appender(self, path: Path) -> Appender:
        """Open a file to append to it; a missing one is made. Its folder must exist."""
        ...

    def lock(self, path: Path) -> Lock:
        """Lock a file, which need not exist.

        Raises:
            LockedError: If it is locked.
        """
        ...

    def write(self, path: Path, data: bytes) -> None:
        """Write a whole file: it holds what it held or all of the data, and never a part."""
        ...

    def remove(self, path: Path) -> None:
        """Remove a file, if there is one."""
        ...

    def make_folder(self, folder: Path) -> None:
        """Make a folder and those above it, unless they exist."""
        ...

    def names(self, folder: Path) -> list[str]:
        """Names of the files and folders in a folder, sorted; none if there is no folder."""
        ...
