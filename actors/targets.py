"""Where results are: in a folder, or at a URL (`market/storage/mirror.py`).

What is at a URL is played, and read, in a folder of its own that lasts as long as the command.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from actors.errors import UserError
from market.storage import LOCAL, Storage
from market.storage.mirror import Mirror, is_url


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
    with tempfile.TemporaryDirectory(prefix="market-") as folder:
        with _told():
            _mirror(target, Path(folder)).fetch()
        yield Path(folder)


def _mirror(url: str, folder: Path) -> Mirror:
    with _told():
        return Mirror(url, folder)


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UserError(error.strerror or str(error)) from error
