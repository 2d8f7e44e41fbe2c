"""`market list`, `replay`, `report` and `status`: what there is, and what a run left."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from actors.commands.telling import journals_of, told


def list_() -> None:
    """Show presets, environments and policies with their options."""
    with told():
        from actors.catalogue import catalogue

        typer.echo(catalogue(), nl=False)


def replay(
    target: Annotated[str, typer.Argument(metavar="DIR", help="Results of a run, or their URL.")],
) -> None:
    """Play every recorded episode again and compare it with its journal."""
    with told():
        from actors.targets import read
        from market.journal import journal_digest
        from market.replay import verify

        with read(target) as folder:
            for path in journals_of(folder):
                replayed = verify(path)
                typer.echo(
                    f"{str(path).replace(str(folder), target)}: played again, {replayed.batches} "
                    f"batches and the result are the same ({journal_digest(path)})."
                )


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Results of a run.")],
) -> None:
    """Make `report.html` and the tables of a run anew from its journals."""
    with told():
        journals_of(folder)

        from market.study.report import write_report
        from market.tables import write_tables

        write_tables(folder)
        typer.echo(f"Wrote {write_report(folder)}.")


def status(
    target: Annotated[str, typer.Argument(metavar="DIR", help="Results of a run, or their URL.")],
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Say how far a run is and what it spent, from its records alone."""
    with told():
        from actors import status as statuses
        from actors.targets import read

        with read(target) as folder:
            found = statuses.status(folder)
        typer.echo(statuses.as_json(found) if as_json else statuses.as_text(found), nl=False)
