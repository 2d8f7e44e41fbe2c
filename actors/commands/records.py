"""`market list`, `replay`, `report` and `status`: what there is, and what a run left."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from actors.commands.telling import Options, journals_of, told


class Form(StrEnum):
    """What a report is written as."""

    HTML = "html"
    CSV = "csv"
    PARQUET = "parquet"
    LATEX = "latex"
    MARKDOWN = "markdown"


def list_() -> None:
    """Show presets, environments and policies with their options."""
    with told():
        from actors.catalogue import catalogue

        typer.echo(catalogue(), nl=False)


def replay(
    target: Annotated[str, typer.Argument(metavar="DIR", help="Results of a run, or their URL.")],
    swap: Annotated[
        str | None,
        typer.Option(
            metavar="SEAT=POLICY", help="Put another policy on one seat; see what differs."
        ),
    ] = None,
    options: Options = None,
    live: Annotated[
        bool, typer.Option("--live", help="With --swap: let rivals that are scripts respond.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="With --swap: for programs.")] = False,
) -> None:
    """Play recorded episodes again and compare every byte."""
    with told():
        from actors.targets import read

        if swap is not None:
            from actors import swapping
            from market.config.seating import read_options, read_swap

            seat, policy = read_swap(swap)
            chosen = read_options(options or [])
            with read(target) as folder:
                played = swapping.seating(journals_of(folder), seat)
                found = [swapping.swapped(path, seat, policy, chosen, live) for path in played]
            typer.echo(swapping.as_json(found) if as_json else swapping.as_text(found), nl=False)
            return
        if options or live or as_json:
            from actors.errors import UserError

            raise UserError(
                "--option, --live and --json belong to --swap; add it, or leave them out."
            )

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
    target: Annotated[
        str, typer.Argument(metavar="DIR", help="Results of a run or a study, or their URL.")
    ],
    form: Annotated[
        Form, typer.Option("--format", help="The page, or all findings as files.")
    ] = Form.HTML,
    counterfactuals: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Compute luck, regret and the value of words for so many episodes first.",
        ),
    ] = 0,
) -> None:
    """Make the report and the tables of a run or study anew."""
    with told():
        from actors.collecting import relaxed
        from actors.targets import remade
        from market.study.report import Gathered, write_report
        from market.tables import write_tables

        def computing(episode: str) -> None:
            typer.echo(f"Settling {episode} again.", err=True)

        left_out: Mapping[str, str] = {}
        with remade(target) as folder, relaxed():
            if counterfactuals:
                _refuse_unsettled(folder, target)
            if (folder / "study.json").exists():
                from actors.studies.sweep import retell

                written = [retell(folder)]
            else:
                journals_of(folder)
                gathered = Gathered()
                left_out = write_tables(folder, gathered.play).left_out
                written = [write_report(folder, counterfactuals, computing, gathered)]
            if form is not Form.HTML:
                written = _exported(folder, form)
        for path in written:
            typer.echo(f"Wrote {str(path).replace(str(folder), target)}.")
        for why in left_out.values():
            typer.echo(f"Left out: {why.replace(str(folder), target)}", err=True)
        if left_out:
            raise typer.Exit(1)


def _refuse_unsettled(folder: Path, target: str) -> None:
    """Raise `UserError` where luck, regret and the value of words are not computed."""
    from actors.errors import UserError
    from market.study.recording import load
    from market.study.report.counterfactuals import ENVIRONMENT

    if (folder / "study.json").exists():
        raise UserError(
            f"{target} is a study, for which --counterfactuals computes nothing; leave it out."
        )
    journals_of(folder)
    run = load(folder)
    if run.kind.name != ENVIRONMENT or run.config.get("rules", {}).get("retail") == "induced":
        raise UserError(
            f"{target} is no run of `{ENVIRONMENT}` in which buyers choose, and only there "
            "--counterfactuals computes anything; leave it out."
        )


def _exported(folder: Path, form: Form) -> list[Path]:
    from market.study import exporting

    return exporting.write(exporting.tables(folder), folder, form)


def package(
    target: Annotated[
        str, typer.Argument(metavar="DIR", help="Results of a run or a study, or their URL.")
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The package.  [NAME-replication.zip]")
    ] = None,
    without_replies: Annotated[
        bool, typer.Option("--without-replies", help="Leave out prompts and replies of models.")
    ] = False,
) -> None:
    """Put all that others need to check a run into one file."""
    with told():
        from actors.errors import UserError
        from actors.targets import read
        from market.study import exporting
        from market.study.replication import damaged, pack

        file = out or Path(f"{Path(target).name}-replication.zip")
        if file.suffix != ".zip" or file.is_dir():
            raise UserError(f"{file} is no file to write; name one that ends in .zip with --out.")
        if not file.absolute().parent.is_dir():
            raise UserError(f"There is no folder {file.parent}; make it, or name another file.")
        with read(target) as folder:
            if not (folder / "study.json").exists():
                journals_of(folder)
            if not (folder / "config.json").exists():
                raise UserError(
                    f"{target} holds no config.json, without which nobody can play it again; "
                    "name the folder that `market run` or `market study` wrote."
                )
            if found := damaged(folder):
                for why in found:
                    typer.echo(f"Not packed: {why.replace(str(folder), target)}.", err=True)
                raise typer.Exit(1)
            exporting.write(exporting.tables(folder), folder, "csv")
            digests = pack(folder, file, replies=not without_replies)
        typer.echo(f"Wrote {file} with {len(digests)} files; its README.md says how to verify it.")


def status(
    target: Annotated[str, typer.Argument(metavar="DIR", help="Results of a run, or their URL.")],
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Say how far a run is and what it spent, from its records."""
    with told():
        from actors.progress import status as statuses
        from actors.targets import read

        with read(target) as folder:
            if (folder / "study.json").exists():
                from actors.studies import status as study_status

                study = study_status.status(folder)
                told_as = study_status.as_json if as_json else study_status.as_text
                typer.echo(told_as(study).replace(str(folder), target), nl=False)
                return
            found = statuses.status(folder)
        typer.echo(statuses.as_json(found) if as_json else statuses.as_text(found), nl=False)
