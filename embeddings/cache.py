"""Vectors of texts that were encoded before, on disk and in memory.

The cache may only save time, never change or stop a run. So it is keyed by what tells one model's
vectors from another's; a row that cannot be a vector is as good as none; a damaged file is set
aside and begun anew; and a disk that fails is done without. Each of the last two is said once.

One SQLite file serves several processes (write-ahead log). It is opened and set aside under a
file lock, so that of many processes that meet a damaged file one replaces it.
"""

from __future__ import annotations

import fcntl
import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

import numpy as np

from embeddings.encoder import Vectors

_log = logging.getLogger(__name__)

#: Vectors kept in memory: 75 MB for 384 dimensions. The oldest go first.
MEMORY_TEXTS = 50_000

_FILE = "vectors-1.sqlite"
_BUSY_SECONDS = 30.0
_TABLE = """
CREATE TABLE IF NOT EXISTS vectors (
    model TEXT NOT NULL, text TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (model, text)
) WITHOUT ROWID
"""
_T = TypeVar("_T")


def cache_folder() -> Path | None:
    """Where caches live: `MARKET_ARENA_CACHE`, else `market-arena` in the user's cache folder.

    The user's cache folder is `XDG_CACHE_HOME` if that is absolute, else `~/.cache`. None if the
    user has no home.
    """
    if own := os.environ.get("MARKET_ARENA_CACHE"):
        return Path(own).expanduser()
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        return (base if base.is_absolute() else Path.home() / ".cache") / "market-arena"
    except RuntimeError:
        return None


class VectorCache:
    """Unit vectors by text, for one model.

    Threads may share it and processes share its file. It is pickled by its two arguments; it must
    not be carried through a fork.
    """

    def __init__(self, identity: str, folder: Path | None) -> None:
        """Name the model and the place; nothing is opened yet.

        Args:
            identity: What tells the vectors of this model from others (`models.model_identity`).
            folder: Made when needed; None keeps vectors in memory only.
        """
        self.identity = identity
        self.folder = folder
        self._path = None if folder is None else folder / _FILE
        self._memory: dict[str, Vectors] = {}
        self._connection: sqlite3.Connection | None = None
        self._lock = threading.Lock()

    def get(self, text: str) -> Vectors | None:
        """The vector of a text, read-only, of shape (d,); None if it is not known."""
        vector = self._memory.get(text)
        if vector is None and self._path is not None:
            vector = _vector(self._on_disk(lambda disk: _select(disk, self.identity, text)))
            if vector is not None:
                self._remember(text, vector)
        return vector

    def put(self, vectors: Mapping[str, Vectors]) -> None:
        """Keep vectors.

        Args:
            vectors: Per text a unit vector of shape (d,), float32.

        Raises:
            ValueError: If one is no unit vector; then none is kept.
        """
        blobs = {text: np.asarray(vector, "<f4").tobytes() for text, vector in vectors.items()}
        for text, blob in blobs.items():
            if _vector(blob) is None:
                raise ValueError(f"not a unit vector, for the text {text[:50]!r}")
        for text, blob in blobs.items():
            self._remember(text, np.frombuffer(blob, "<f4"))
        rows = [(self.identity, text, blob) for text, blob in blobs.items()]
        self._on_disk(lambda disk: _insert(disk, rows))

    def close(self) -> None:
        """Close the file; it is opened again when needed."""
        with self._lock:
            self._disconnect()

    def __reduce__(self) -> tuple[type[VectorCache], tuple[str, Path | None]]:
        return type(self), (self.identity, self.folder)

    def _remember(self, text: str, vector: Vectors) -> None:
        with self._lock:
            self._memory[text] = vector
            while len(self._memory) > MEMORY_TEXTS:
                del self._memory[next(iter(self._memory))]

    def _on_disk(self, work: Callable[[sqlite3.Connection], _T]) -> _T | None:
        """Do something with the file; None if there is none that can be used."""
        with self._lock:
            for _ in range(2):
                if self._path is None:
                    break
                try:
                    if self._connection is None:
                        self._connection = _open(self._path)
                    return work(self._connection)
                except (OSError, sqlite3.OperationalError) as error:
                    self._do_without(error)
                except sqlite3.DatabaseError as error:
                    self._disconnect()
                    self._renew(self._path, error)
            return None

    def _renew(self, path: Path, error: Exception) -> None:
        try:
            aside = _set_aside(path)
        except OSError as failure:
            self._do_without(failure)
            return
        if aside is not None:
            _log.warning(
                "the cache of text vectors `%s` is damaged (%s): it is set aside as `%s` and begun "
                "anew, which only costs encoding again",
                *(path, error, aside.name),
            )

    def _do_without(self, error: Exception) -> None:
        _log.warning(
            "the cache of text vectors `%s` cannot be used (%s): vectors are kept in memory only; "
            "set MARKET_ARENA_CACHE to a folder on a local disk that can be written",
            *(self._path, error),
        )
        self._path = None
        self._disconnect()

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _select(disk: sqlite3.Connection, identity: str, text: str) -> object:
    query = "SELECT vector FROM vectors WHERE model = ? AND text = ?"
    row = disk.execute(query, (identity, text)).fetchone()
    return None if row is None else row[0]


def _insert(disk: sqlite3.Connection, rows: list[tuple[str, str, bytes]]) -> None:
    with disk:
        disk.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)


def _vector(blob: object) -> Vectors | None:
    """Read a unit vector; None if the bytes hold none."""
    if not isinstance(blob, bytes) or not blob or len(blob) % 4:
        return None
    vector = np.frombuffer(blob, "<f4")
    return vector if abs(float(vector @ vector) - 1.0) < 1e-3 else None


def _open(path: Path) -> sqlite3.Connection:
    with _locked(path):
        disk = sqlite3.connect(path, timeout=_BUSY_SECONDS, check_same_thread=False)
        try:
            disk.execute("PRAGMA journal_mode = WAL")
            disk.execute("PRAGMA synchronous = NORMAL")
            disk.execute(_TABLE)
        except sqlite3.Error:
            disk.close()
            raise
    return disk


def _set_aside(path: Path) -> Path | None:
    """Rename a damaged file; None if another process did it already."""
    with _locked(path):
        if _is_sound(path):
            return None
        aside = path.with_name(f"{path.name}.damaged")
        # A write-ahead log that outlived its file would be played into the next one.
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        path.replace(aside)
        return aside


def _is_sound(path: Path) -> bool:
    try:
        with closing(sqlite3.connect(path, timeout=_BUSY_SECONDS)) as disk:
            return disk.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    except sqlite3.Error:
        return False


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(f"{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
