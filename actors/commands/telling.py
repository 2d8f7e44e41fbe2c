"""What commands share: mistakes and interruptions told in a sentence, and checks of folders.

A mistake of the user ends in one sentence on the standard error, status 2 and nothing written. A
bug of the command keeps its traceback.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from market.config import Config

#: Errors that are told and not traced, by the module that defines them. A module that was never
#: loaded has raised nothing, so none is imported for this.
_TOLD = (
    ("market.config.documents", "ConfigError"),
    ("market.journal.header", "JournalError"),
    ("market.storage.port", "LockedError"),
    ("market.calls", "CallLogError"),
    ("market.study.report.loading", "ReportError"),
    ("market.study.recording", "StudyError"),
    ("market.replay", "ReplayError"),
    ("market.study.interventions.rerun", "RerunError"),
    ("market.vending.calibration.table", "CalibrationError"),
    ("embeddings.encoder", "EncoderError"),
    ("actors.errors", "UserError"),
)

#: Errors of the system that are about a file or the room for it, and no bug.
_OF_FILES = frozenset(
    {
        errno.EACCES,
        errno.EDQUOT,
        errno.EIO,
        errno.EISDIR,
        errno.ENAMETOOLONG,
        errno.ENOENT,
        errno.ENOSPC,
        errno.ENOTDIR,
        errno.EPERM,
        errno.EROFS,
    }
)

Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Replace one value; may be repeated."),
]

Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="KEY=VALUE",
        help="An option of the policy that --swap names; may be repeated.",
    ),
]


@contextmanager
def told() -> Iterator[None]:
    """Turn mistakes and interruptions into a sentence and a status."""
    terminated = False

    def terminate(_signal: int, frame: FrameType | None) -> None:
        nonlocal terminated
        terminated = True
        on_interrupt = signal.getsignal(signal.SIGINT)
        if not callable(on_interrupt):
            raise SystemExit(128 + signal.SIGTERM)
        # An interrupt is what asyncio knows to end tasks for, and to say nothing about them.
        on_interrupt(signal.SIGINT, frame)

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("Terminated." if terminated else "Interrupted.", err=True)
        number = signal.SIGTERM if terminated else signal.SIGINT
        raise typer.Exit(128 + number) from None
    except SystemExit as error:
        # Ray replaces the handler by one that exits with the signal's bare number.
        if error.code not in (signal.SIGTERM, 128 + signal.SIGTERM):
            raise
        typer.echo("Terminated.", err=True)
        raise typer.Exit(128 + signal.SIGTERM) from None
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _OF_FILES:
            sentence = _of_file(error)
        elif isinstance(error, _told_errors()):
            sentence = str(error)
        else:
            raise
        typer.echo(" ".join(sentence.split()), err=True)
        raise typer.Exit(2) from None
    finally:
        signal.signal(signal.SIGTERM, before)


def _told_errors() -> tuple[type[BaseException], ...]:
    loaded = ((sys.modules.get(module), name) for module, name in _TOLD)
    return tuple(getattr(module, name) for module, name in loaded if module is not None)


def _of_file(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return (
            f"{os.strerror(error.errno)}; make room and say it again, with --resume where results "
            "were begun."
        )
    return f"{error.filename or 'A file'}: {error.strerror}; mend that, or name another."


def target_of(out: str | None, otherwise: str) -> str:
    """Where results go; raises `UserError` where that is said to be nowhere."""
    from actors.errors import UserError

    if out is not None and not out.strip():
        raise UserError("--out is empty; name a folder.")
    return otherwise if out is None else out


def resuming(command: str, target: str) -> str:
    """How to go on, in a sentence.

    What a folder says that it was played with is asked for, and not the file that the user named:
    options of the command line may have made another run of that, at another address.
    """
    from market.storage.mirror import is_url

    if is_url(target):
        return "Say the same with --resume to go on."
    config, out = quote(f"{target}/config.json"), quote(target)
    return (
        f"Resume with: market {command} {config} --out {out} --resume (add by --set what is to "
        "change, such as a budget)"
    )


def warn_of_unasked(config: Config) -> None:
    """Tell of caps and prices for models that no retailer asks."""
    if config.caps or config.prices:
        from market.config.asked import unasked

        for sentence in unasked(config):
            typer.echo(sentence, err=True)


def refuse_unusable(folder: Path, *begun: str) -> None:
    """Raise `UserError` unless a folder can take new results.

    Args:
        folder: The folder.
        begun: Patterns of what is in it where --resume can go on.
    """
    from actors.errors import UserError

    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not existing.is_dir():
        raise UserError(f"{existing} is no folder; name another one with --out.")
    if existing == folder and any(folder.iterdir()):
        more = ", or go on with it by --resume" if _holds(folder, begun) else ""
        raise UserError(f"{folder} is not empty; name a new folder with --out{more}.")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise UserError(f"{existing} cannot be written to; name another folder with --out.")


def _holds(folder: Path, patterns: Sequence[str]) -> bool:
    return any(path for pattern in patterns for path in folder.glob(pattern))


def journals_of(folder: Path) -> list[Path]:
    """The journals of a run; raises `UserError` where there is none."""
    from actors.errors import UserError

    if folder.is_file():
        raise UserError(f"{folder} is a file; name the folder of a run.")
    if not folder.is_dir():
        raise UserError(f"There is no folder {folder}; name that of a run.")
    journals = sorted(folder.glob("episodes/*/journal.jsonl"))
    if not journals and (folder / "study.json").exists():
        raise UserError(
            f"{folder} is a study of scripts, whose episodes leave no journal; play one of its "
            "cells by `market run` with --set study=null, and name the folder of that."
        )
    if not journals:
        raise UserError(f"{folder} holds no recorded episode; name the folder of a run.")
    return journals
