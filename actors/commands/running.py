"""`market run`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from actors.commands.telling import (
    Overrides,
    refuse_unusable,
    resuming,
    target_of,
    told,
    warn_of_unasked,
)

#: What there is where a run was begun; who was killed at once left nothing but a lock.
BEGUN = ("episodes", "config.json.lock")


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
    """Play an episode, or a tournament of many."""
    with told():
        from market.config import load

        checked = load(config, overrides or (), seed)
        if address is not None:
            checked = checked.model_copy(update={"address": address})
        target = target_of(out, f"runs/{checked.name}-{checked.seed}")
        warn_of_unasked(checked)
        if dry_run:
            from actors.estimate import preview

            typer.echo(preview(checked), nl=False)
            return
        from market.storage.mirror import is_url

        if not resume and not is_url(target):
            refuse_unusable(Path(target), *BEGUN)

        from actors.origins import moved
        from actors.progress.audience import audience
        from actors.progress.earlier import earlier
        from actors.run import run as play
        from actors.targets import written
        from market.config.plans import expand

        plans = expand(checked)
        with (
            written(target, resume) as (folder, storage),
            audience(len(plans), earlier(plans, folder)) as watching,
        ):
            if resume and (warning := moved(plans, folder)) is not None:
                typer.echo(warning, err=True)
            outcome = play(checked, folder, watching, resume, storage)
        for failure in outcome.failed:
            typer.echo(" ".join(failure.replace(str(folder), target).split()), err=True)
        if outcome.owed is not None:
            typer.echo(f"{outcome.owed.rstrip('.')}. {resuming('run', target)}", err=True)
            raise typer.Exit(3)
        if outcome.summary is not None:
            typer.echo(f"Results are in {target}.")
        if outcome.failed:
            raise typer.Exit(1)
