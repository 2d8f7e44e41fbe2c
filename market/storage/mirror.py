"""Records that go to an object store by URL: `s3://...`, `gs://...`, `memory://...`.

An object store cannot append. What is played is therefore kept in a folder of this machine, which
everything reads, and written through: a file that is open to append to grows there by numbered
parts, `NAME.parts/OFFSET`, each on its way before the call returns that must be sure of it, and is
put there whole when it is closed. Who goes on fetches whole files and parts, so nothing that was
durable is lost with a machine.

    mirror = Mirror("s3://bucket/models", folder)
    mirror.take()                        from now on this is the writer
    mirror.fetch()                       what is there already
    ...                                  play with `storage=mirror`
    mirror.publish()                     what was made beside the records

Nobody can be sure whether a writer elsewhere still lives, so nobody is refused: the latest writer
takes over, and an earlier one stops before it sends anything more. For who only looks, a writer
shows now and then that it lives (`beat`). Any of fsspec's stores will do
whose objects appear whole or not at all; each but the built-in ones needs its own package (`s3fs`,
`gcsfs`, ...).
"""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from market.storage.local import PART, LocalAppender, LocalLock, LocalStorage
from market.storage.port import LockedError

#: What need not be sure is sent in parts of this many bytes.
PART_BYTES: Final = 2**20

_PARTS: Final = ".parts"
_WRITER: Final = "writer"
_ALIVE: Final = "alive"
#: Objects about the writer, which are no part of the run.
_ABOUT: Final = frozenset({_WRITER, _ALIVE})


class Mirror:
    """A folder of this machine that is kept at a URL too.

    Args:
        url: Where.
        folder: The folder, which nothing else writes.

    Raises:
        OSError: If the URL cannot be used; the message says what is missing.
    """

    def __init__(self, url: str, folder: Path) -> None:
        import fsspec
        from fsspec.implementations.local import LocalFileSystem

        self.url = url
        self.folder = folder
        self._local = LocalStorage()
        self._me = uuid.uuid4().hex.encode()
        try:
            self._store, self._root = fsspec.core.url_to_fs(url)
        except (ImportError, ValueError) as error:
            raise OSError(0, f"{url} cannot be used: {error}") from error
        # Of fsspec's own stores this one alone lets a half-written object be read.
        self._in_files = isinstance(self._store, LocalFileSystem)

    def occupied(self) -> bool:
        """Whether anything is at the URL."""
        return bool(self._found() - _ABOUT)

    def take(self) -> None:
        """Become the writer."""
        self.put(_WRITER, self._me)

    def check(self) -> None:
        """Make sure that nobody else became the writer.

        Raises:
            LockedError: If somebody did.
        """
        if self._content(_WRITER) != self._me:
            raise LockedError(f"{self.url} was taken over by another writer")

    def beat(self) -> None:
        """Show that the writer lives, by the time of day. Where another took over it shows that."""
        self.put(_ALIVE, b"%d" % time.time())

    def rest(self) -> None:
        """Show no more that the writer lives."""
        self.drop(_ALIVE)

    def silence(self) -> float:
        """Seconds since a writer showed that it lives; infinite for one that is over, or none."""
        shown = self._content(_ALIVE) or b""
        return max(0.0, time.time() - int(shown)) if shown.isdigit() else math.inf

    def fetch(self) -> None:
        """Bring the records and all else that is at the URL into the folder.

        Raises:
            OSError: If a part is missing.
        """
        found = self._found()
        names = {name.rpartition(f"{_PARTS}/")[0] or name for name in found} - _ABOUT
        for name in sorted(names):
            content = self._get(name) if name in found else b""
            for part in sorted(each for each in found if each.startswith(f"{name}{_PARTS}/")):
                content = _joined(content, self._get(part), part)
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def publish(self) -> None:
        """Put what lies beside the episodes there: what was made of them."""
        self.check()
        for path in sorted(self.folder.rglob("*")):
            name = self._name(path)
            if path.is_file() and not name.startswith("episodes/"):
                self.put(name, path.read_bytes())

    def exists(self, path: Path) -> bool:
        """See `Storage.exists`."""
        return self._local.exists(path)

    def open(self, path: Path) -> BinaryIO:
        """See `Storage.open`."""
        return self._local.open(path)

    def appender(self, path: Path) -> MirrorAppender:
        """See `Storage.appender`."""
        return MirrorAppender(self._local.appender(path), path, self._name(path), self)

    def lock(self, path: Path) -> LocalLock:
        """See `Storage.lock`. Who took over elsewhere is noticed when something is sent."""
        return self._local.lock(path)

    def write(self, path: Path, data: bytes) -> None:
        """See `Storage.write`."""
        self._local.write(path, data)
        self.check()
        self.put(self._name(path), data)

    def remove(self, path: Path) -> None:
        """See `Storage.remove`."""
        if self._local.exists(path):
            self.drop(self._name(path))
        self._local.remove(path)

    def make_folder(self, folder: Path) -> None:
        """See `Storage.make_folder`."""
        self._local.make_folder(folder)

    def names(self, folder: Path) -> list[str]:
        """See `Storage.names`."""
        return self._local.names(folder)

    def put(self, name: str, data: bytes) -> None:
        """Put an object there, whole."""
        path = self._at(name)
        with self._told(name):
            try:
                self._pipe(path, data)
            except FileNotFoundError:  # a store with folders
                self._store.makedirs(path.rpartition("/")[0], exist_ok=True)
                self._pipe(path, data)

    def drop(self, name: str) -> None:
        """Remove an object, if it is there."""
        with self._told(name):
            if self._store.exists(self._at(name)):
                self._store.rm_file(self._at(name))

    def parts(self, name: str) -> list[str]:
        """The parts of a file that are there, in order."""
        return sorted(self._found(f"{name}{_PARTS}"))

    def _found(self, below: str = "") -> set[str]:
        """The names of all objects below a name, relative to the URL."""
        with self._told(below):
            self._store.invalidate_cache()
            try:
                paths = self._store.find(self._at(below))
            except FileNotFoundError:
                return set()
        names = {path[len(self._root) :].lstrip("/") for path in paths}
        return {name for name in names if not name.endswith(PART)} if self._in_files else names

    def _pipe(self, path: str, data: bytes) -> None:
        if self._in_files:
            self._local.write(Path(path), data)
        else:
            self._store.pipe_file(path, data)

    def _content(self, name: str) -> bytes | None:
        """What an object holds now; None if there is none."""
        with self._told(name):
            try:
                data: bytes = self._store.cat_file(self._at(name))
            except FileNotFoundError:
                return None
        return data

    def _get(self, name: str) -> bytes:
        content = self._content(name)
        if content is None:
            raise OSError(0, f"{self.url}/{name} is gone")
        return content

    def _name(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix()

    def _at(self, name: str) -> str:
        return f"{self._root.rstrip('/')}/{name}".rstrip("/")

    @contextmanager
    def _told(self, name: str) -> Iterator[None]:
        """Every store has errors of its own."""
        try:
            yield
        except Exception as error:
            what = " ".join(str(error).split()) or type(error).__name__
            raise OSError(0, f"{self.url}/{name}: {what}") from error


class MirrorAppender:
    """A file that is open to append to it, here and there."""

    def __init__(self, local: LocalAppender, path: Path, name: str, mirror: Mirror) -> None:
        self._local = local
        self._path = path
        self._name = name
        self._mirror = mirror
        self._sent = local.size
        self._starts: list[int] = []
        self._closed = False

    @property
    def size(self) -> int:
        """See `Appender.size`."""
        return self._local.size

    def append(self, data: bytes, sync: bool) -> None:
        """See `Appender.append`."""
        self._local.append(data, sync=False)  # what counts is there
        if sync or self.size - self._sent >= PART_BYTES:
            self._send()

    def truncate(self, size: int) -> None:
        """See `Appender.truncate`."""
        if size == self.size:
            return
        # From the end, so that what stands there is the beginning of the file at any moment.
        while self._starts and self._starts[-1] >= size:
            self._mirror.drop(_part(self._name, self._starts.pop()))
        self._local.truncate(size)
        if self._sent > size:
            if self._starts:
                start = self._starts[-1]
                self._mirror.put(_part(self._name, start), self._read(start))
            else:
                self._whole()
            self._sent = size

    def close(self) -> None:
        """See `Appender.close`."""
        if self._closed:
            return
        self._closed = True
        try:
            self._whole()
        finally:
            self._local.close()

    def _send(self) -> None:
        start = self._sent
        self._mirror.check()
        self._mirror.put(_part(self._name, start), self._read(start))
        self._starts.append(start)
        self._sent = self.size

    def _whole(self) -> None:
        """Put the file there whole, and only then remove its parts, the last one first."""
        self._mirror.check()
        self._mirror.put(self._name, self._read(0))
        for part in reversed(self._mirror.parts(self._name)):
            self._mirror.drop(part)
        self._starts = []
        self._sent = self.size

    def _read(self, start: int) -> bytes:
        with self._path.open("rb") as file:
            file.seek(start)
            return file.read()


def _part(name: str, start: int) -> str:
    return f"{name}{_PARTS}/{start:015d}"


def _joined(content: bytes, part: bytes, name: str) -> bytes:
    start = int(name.rpartition("/")[2])
    if start > len(content):
        raise OSError(0, f"the part before {name} is missing")
    if content[start : start + len(part)] == part:
        return content  # put there whole since
    return content[:start] + part


def is_url(target: str) -> bool:
    """Whether a target is a URL and no path."""
    return "://" in target
