"""`market study`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from actors.commands.telling import (
    Overrides,
    refuse_unusable,
    resuming,
    target_of,
    told,
    warn_of_unasked,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from actors.studies.sweep import Swept
    from market.config import Config
    from market.storage import Storage

#: Troubles of a kind that are told one by one.
SHOWN = 5


def study(
    config: Annotated[str, typer.Argument(help="A file, or a preset such as studies/paper.")],
    overrides: Overrides = None,
    seed: Annotated[int | None, typer.Option(help="Seed; overrides the configuration.")] = None,
    out: Annotated[
        str | None, typer.Option(help="New folder for the results, or a URL.  [runs/NAME]")
    ] = None,
    address: Annotated[str | None, typer.Option(help="Address of a Ray cluster.")] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where an earlier study of the folder ended.")
    ] = False,
    extend: Annotated[
        bool,
        typer.Option("--extend", help="Add seeds or repetitions to a study; noted in its results."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show cells, outcomes and size of the study.")
    ] = False,
    power: Annotated[
        bool, typer.Option("--power", help="Say what difference the study can detect.")
    ] = False,
    pilot: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="With --power: results that show how far seeds scatter."),
    ] = None,
) -> None:
    """Play a study: every cell of a design, thousands of episodes."""
    with told():
        from market.config import load

        checked = load(config, overrides or (), seed)
        if address is not None:
            checked = checked.model_copy(update={"address": address})
        target = target_of(out, f"runs/{checked.name}")
        warn_of_unasked(checked)
        if dry_run:
            from actors.studies.registering import planned
            from actors.studies.text import preview

            typer.echo(preview(planned(checked)), nl=False)
            return
        if power or pilot is not None:
            from actors.studies.piloting import told_power

            typer.echo(told_power(checked, pilot))
            return
        from market.storage.mirror import is_url

        resume = resume or extend
        if not resume and not is_url(target):
            refuse_unusable(Path(target), "parts")

        from actors.studies.sweep import conclude
        from actors.targets import written

        with written(target, resume) as (folder, storage):
            swept = _play(checked, folder, resume, storage, extend)
            conclusion = conclude(swept, folder)
        _tell_troubles(swept, target)
        if conclusion is not None:
            from actors.studies.text import show

            show(swept.sweep, conclusion)
            typer.echo(f"Results are in {target}.")
        if swept.owed is not None:
            typer.echo(f"{swept.owed.rstrip('.')}. {resuming('study', target)}", err=True)
            raise typer.Exit(3)
        if swept.failures:
            raise typer.Exit(1)


def _play(config: Config, folder: Path, resume: bool, storage: Storage, extend: bool) -> Swept:
    """Pack the episodes, or record each where models are asked."""
    from actors.studies.registering import planned
    from actors.studies.sweep import asks_models, sweep

    if asks_models(config):
        from actors.origins import moved
        from actors.progress.audience import audience
        from actors.progress.earlier import earlier
        from actors.studies.recorded import episodes, play_recorded

        plans = episodes(planned(config, folder if resume else None, extend))
        with audience(max(2, len(plans)), earlier(plans, folder)) as watching:
            if resume and (warning := moved(plans, folder)) is not None:
                typer.echo(warning, err=True)
            return play_recorded(config, folder, watching, resume, storage, extend)
    from actors.studies.pace import pace

    with pace() as progress:
        return sweep(config, folder, progress, resume, storage, extend)


def _tell_troubles(swept: Swept, target: str) -> None:
    _tell([f"{unit}: {what} (see {target}/errors)" for unit, what in swept.failures.items()])
    _tell(
        [
            f"{unit}: a worker died over it; played again with its policies apart, {what}"
            for unit, what in swept.apart.items()
        ]
    )


def _tell(troubles: Sequence[str]) -> None:
    for trouble in troubles[:SHOWN]:
        typer.echo(trouble, err=True)
    if len(troubles) > SHOWN:
        typer.echo(f"and {len(troubles) - SHOWN:,} more", err=True)
