"""`market ...`: a thin shell over the packages.

Whatever is heavy is imported inside the commands, so that `market --help` is quick. A mistake of
the user ends in one sentence on the standard error, status 2 and nothing written. Other statuses:
1 when an episode failed by a bug, whose traceback lies in its folder; 3 when a provider failed and
the run waits to be resumed; 130 and 143 when interrupted. A bug of the command keeps its traceback.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated, NoReturn

import typer

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="A laboratory for markets of competing retailer agents.",
)

#: Errors that are told and not traced, by the module that defines them. A module that was never
#: loaded has raised nothing, so none is imported for this.
_TOLD = (
    ("market.config.documents", "ConfigError"),
    ("market.journal.header", "JournalError"),
    ("market.storage.port", "LockedError"),
    ("market.calls", "CallLogError"),
    ("market.study.loading", "ReportError"),
    ("market.replay", "ReplayError"),
    ("market.calls", "CallLogError"),
    ("embeddings.encoder", "EncoderError"),
    ("actors.errors", "UserError"),
)

Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Replace one value; may be repeated."),
]


def main() -> None:
    """Run the command line. Modules of the working folder may hold policies of one's own."""
    sys.path.append(os.getcwd())
    app()


@app.command()
def run(
    config: Annotated[str, typer.Argument(help="A file, or a preset such as arena/quickstart.")],
    overrides: Overrides = None,
    seed: Annotated[int | None, typer.Option(help="Seed; overrides the configuration.")] = None,
    out: Annotated[
        str | None,
        typer.Option(help="New folder for the results, or a URL.  [runs/NAME-SEED]"),
    ] = None,
    address: Annotated[str | None, typer.Option(help="Address of a Ray cluster.")] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where an earlier run of the folder ended.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the resolved configuration and its size.")
    ] = False,
) -> None:
    """Play one episode."""
    with _told():
        from market.config import load

        checked = load(config, overrides or (), seed)
        if address is not None:
            checked = checked.model_copy(update={"address": address})
        if dry_run:
            from actors.estimate import preview

            typer.echo(preview(checked), nl=False)
            return
        from market.storage.mirror import is_url

        target = out or f"runs/{checked.name}-{checked.seed}"
        if not resume and not is_url(target):
            _refuse_unusable(Path(target))

        from actors.audience import audience
        from actors.run import run as play
        from actors.targets import written
        from market.config.plans import expand

        with (
            written(target, resume) as (folder, storage),
            audience(len(expand(checked))) as watching,
        ):
            outcome = play(checked, folder, watching, resume, storage)
        for failure in outcome.failed:
            typer.echo(" ".join(failure.replace(str(folder), target).split()), err=True)
        if outcome.owed is not None:
            hint = f"Resume with: market run {config} --out {target} --resume"
            typer.echo(f"{outcome.owed.rstrip('.')}. {hint}", err=True)
            raise typer.Exit(3)
        if outcome.summary is not None:
            typer.echo(f"Results are in {target}.")
        if outcome.failed:
            raise typer.Exit(1)


@app.command("list")
def list_() -> None:
    """Show presets, environments and policies with their options."""
    with _told():
        from actors.catalogue import catalogue

        typer.echo(catalogue(), nl=False)


@app.command()
def replay(
    target: Annotated[str, typer.Argument(metavar="DIR", help="Results of a run, or their URL.")],
) -> None:
    """Play every recorded episode again and compare it with its journal."""
    with _told():
        from actors.targets import read
        from market.journal import journal_digest
        from market.replay import verify

        with read(target) as folder:
            for path in _journals(folder):
                replayed = verify(path)
                typer.echo(
                    f"{str(path).replace(str(folder), target)}: played again, {replayed.batches} "
                    f"batches and the result are the same ({journal_digest(path)})."
                )


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Results of a run.")],
) -> None:
    """Make `report.html` and the tables of a run anew from its journals."""
    with _told():
        _journals(folder)

        from market.study.report import write_report
        from market.tables import write_tables

        write_tables(folder)
        typer.echo(f"Wrote {write_report(folder)}.")


@app.command()
def status(
    target: Annotated[str, typer.Argument(metavar="DIR", help="Results of a run, or their URL.")],
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Say how far a run is and what it spent, from its records alone."""
    with _told():
        from actors import status as statuses
        from actors.targets import read

        with read(target) as folder:
            found = statuses.status(folder)
        typer.echo(statuses.as_json(found) if as_json else statuses.as_text(found), nl=False)


@app.command("dev-server")
def dev_server(
    settings: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Settings in YAML; without, all is calm.")
    ] = None,
    overrides: Overrides = None,
    latency: Annotated[float | None, typer.Option(help="Median seconds of an answer.")] = None,
    rate_limit: Annotated[float | None, typer.Option(help="Share answered with 429.")] = None,
    errors: Annotated[float | None, typer.Option(help="Share answered with 500 or 503.")] = None,
    hangs: Annotated[float | None, typer.Option(help="Share never answered.")] = None,
    drops: Annotated[float | None, typer.Option(help="Share whose connection is lost.")] = None,
    seed: Annotated[int | None, typer.Option(help="Decides what happens to whom.")] = None,
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 for any free port.")] = 0,
) -> None:
    """Serve a pretended model provider, to rehearse without spending."""
    with _told():
        from actors.language.rehearsal.command import serve
        from actors.language.rehearsal.settings import load

        flags = {
            "latency": latency,
            "rate_limit": rate_limit,
            "errors": errors,
            "hangs": hangs,
            "drops": drops,
            "seed": seed,
        }
        serve(load(settings, overrides or (), flags), host, port, typer.echo)


@contextmanager
def _told() -> Iterator[None]:
    """Turn mistakes and interruptions into a sentence and a status."""
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("Interrupted.", err=True)
        raise typer.Exit(128 + signal.SIGINT) from None
    except SystemExit as error:
        # Ray replaces the handler by one that exits with the signal's bare number.
        if error.code not in (signal.SIGTERM, 128 + signal.SIGTERM):
            raise
        typer.echo("Terminated.", err=True)
        raise typer.Exit(128 + signal.SIGTERM) from None
    except Exception as error:
        if not isinstance(error, _told_errors()):
            raise
        typer.echo(" ".join(str(error).split()), err=True)
        raise typer.Exit(2) from None
    finally:
        signal.signal(signal.SIGTERM, before)


def _told_errors() -> tuple[type[BaseException], ...]:
    loaded = ((sys.modules.get(module), name) for module, name in _TOLD)
    return tuple(getattr(module, name) for module, name in loaded if module is not None)


def _terminate(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + signal.SIGTERM)


def _refuse_unusable(folder: Path) -> None:
    from actors.errors import UserError

    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not existing.is_dir():
        raise UserError(f"{existing} is no folder; name another one with --out.")
    if existing == folder and any(folder.iterdir()):
        raise UserError(
            f"{folder} is not empty; name a new folder with --out, or go on with it by --resume."
        )
    if not os.access(existing, os.W_OK | os.X_OK):
        raise UserError(f"{existing} cannot be written to; name another folder with --out.")


def _journals(folder: Path) -> list[Path]:
    from actors.errors import UserError

    journals = sorted(folder.glob("episodes/*/journal.jsonl"))
    if not journals:
        raise UserError(f"{folder} holds no recorded episode; name the folder of a run.")
    return journals
