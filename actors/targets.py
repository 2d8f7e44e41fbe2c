"""Where results are: in a folder, or at a URL (`market/storage/mirror.py`).

What is at a URL is played, and read, in a folder of its own that lasts as long as the command. Who
writes there shows now and then that it lives (`Mirror.beat`); while its last sign is young, a copy
that is read has its journals, and the plan of a study, locked as they are where it is written.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from actors.errors import UserError
from market.storage import LOCAL, Storage
from market.storage.mirror import Mirror, is_url

#: Seconds between two signs of a writer, and after which one that gave none is taken for gone.
BEAT_SECONDS, SILENT_SECONDS = 20.0, 90.0


@contextmanager
def written(target: str, resume: bool) -> Iterator[tuple[Path, Storage]]:
    """The folder to play in and the storage of its records.

    Args:
        target: A folder or a URL.
        resume: Whether to go on with what is there.

    Raises:
        UserError: If a URL cannot be used, or holds a run where a new one was to begin.
    """
    if not is_url(target):
        yield Path(target), LOCAL
        return
    with tempfile.TemporaryDirectory(prefix="market-") as folder:
        mirror = _mirror(target, Path(folder))
        with _told():
            occupied = mirror.occupied()
            if occupied and not resume:
                raise UserError(
                    f"{target} is not empty; name another with --out, or go on with it by --resume."
                )
            if resume and not occupied:
                raise UserError(f"{target} holds no run to resume; leave out --resume.")
            mirror.take()
            mirror.fetch()
        with _beating(mirror):
            yield Path(folder), mirror
            with _told():
                mirror.publish()


@contextmanager
def read(target: str) -> Iterator[Path]:
    """The folder to read results from.

    Raises:
        UserError: If a URL cannot be used.
    """
    if not is_url(target):
        yield Path(target)
        return
    with tempfile.TemporaryDirectory(prefix="market-") as folder, ExitStack() as locks:
        with _told():
            mirror = _mirror(target, Path(folder))
            mirror.fetch()
            if mirror.silence() < SILENT_SECONDS:
                found = sorted(Path(folder).glob("episodes/*/journal.jsonl"))
                for path in (*found, *Path(folder).glob("study.json")):
                    locks.callback(LOCAL.lock(path).release)
        with _named(folder, target):
            yield Path(folder)


@contextmanager
def remade(target: str) -> Iterator[Path]:
    """The folder in which to make anew what is made of the records: tables and report.

    At a URL these are put there in the end, and nothing else; nobody who plays there is disturbed.

    Raises:
        UserError: If a URL cannot be used.
    """
    if not is_url(target):
        yield Path(target)
        return
    with tempfile.TemporaryDirectory(prefix="market-") as name:
        folder = Path(name)
        with _told():
            mirror = _mirror(target, folder)
            mirror.fetch()
        with _named(name, target):
            yield folder
        with _told():
            made = ("report.html", "tables/*", "counterfactuals/*", "findings/*", "findings.*")
            for path in sorted(path for pattern in made for path in folder.glob(pattern)):
                mirror.put(path.relative_to(folder).as_posix(), path.read_bytes())


@contextmanager
def _beating(mirror: Mirror) -> Iterator[None]:
    """Show that the writer lives, from a thread, until the block ends."""
    over = threading.Event()

    def beat() -> None:
        while not over.wait(BEAT_SECONDS):
            # A sign that is lost is followed by another; whoever sends a record notices the rest.
            with suppress(OSError):
                mirror.beat()

    with suppress(OSError):
        mirror.beat()
    thread = threading.Thread(target=beat, name="beat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        with suppress(OSError):
            mirror.rest()


def _mirror(url: str, folder: Path) -> Mirror:
    with _told():
        return Mirror(url, folder)


@contextmanager
def _named(folder: str, target: str) -> Iterator[None]:
    """Speak of the URL and not of the copy that is read."""
    try:
        yield
    except UserError as error:
        raise UserError(str(error).replace(folder, target)) from error


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UserError(error.strerror or str(error)) from error
