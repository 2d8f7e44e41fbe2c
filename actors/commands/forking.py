"""`market fork`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from actors.commands.telling import (
    Options,
    Overrides,
    journals_of,
    refuse_unusable,
    target_of,
    told,
)

#: What there is of each arm where a fork was begun.
BEGUN = "*/episodes"


def fork(
    target: Annotated[str, typer.Argument(metavar="DIR", help="Results of a run, or their URL.")],
    step: Annotated[int, typer.Option(min=1, help="The first step that is played live.")],
    where: Annotated[str, typer.Option("--out", help="New folder for the results.")],
    seeds: Annotated[int, typer.Option(min=1, help="Repetitions, each with other luck.")] = 10,
    episode: Annotated[
        str | None, typer.Option(help="The episode, where the run has several.")
    ] = None,
    swap: Annotated[
        str | None,
        typer.Option(metavar="SEAT=POLICY", help="Also play with another policy on one seat."),
    ] = None,
    options: Options = None,
    overrides: Overrides = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where an earlier fork in the folder ended.")
    ] = False,
) -> None:
    """Go on live from a step of a recorded episode, several times."""
    with told():
        out = _folder(where, resume)

        from actors import forking
        from actors.errors import UserError
        from actors.progress.audience import audience
        from actors.progress.earlier import earlier
        from actors.run import write_json
        from actors.targets import read
        from market.config.seating import read_options, read_swap
        from market.study.interventions import fork as forks

        change = None
        if options and swap is None:
            raise UserError("--option belongs to --swap; add it, or leave it out.")
        if swap is not None:
            seat, policy = read_swap(swap)
            change = forks.Swap(seat, policy, read_options(options or []))
        with read(target) as folder:
            journals_of(folder)
            config, journal = forking.recorded_episode(folder, episode, overrides or ())
            arms = forks.arms(config, journal, step, seeds, change)
            for arm, playing in arms.items():
                plans = forking.begun(playing, journal, out / arm)
                with audience(seeds, earlier(plans, out / arm)) as watching:
                    outcome = forking.play(playing, journal, out / arm, watching)
                for failure in outcome.failed:
                    typer.echo(" ".join(failure.split()), err=True)
                if outcome.owed is not None:
                    typer.echo(
                        f"{outcome.owed.rstrip('.')}. Say the same with --resume to go on.",
                        err=True,
                    )
                    raise typer.Exit(3)
                if outcome.failed:
                    raise typer.Exit(1)
            journals = {arm: sorted(out.glob(f"{arm}/episodes/*/journal.jsonl")) for arm in arms}
            found = forks.outlooks(
                journal, journals[forks.ORIGINAL], journals.get(forks.SWAPPED, ())
            )
        rows = [outlook.json() for outlook in found]
        write_json(out / "outlook.json", {"step": step, "swap": swap, "seats": rows})
        typer.echo(forking.as_text(found), nl=False)
        typer.echo(f"Results are in {out}.")


def _folder(where: str, resume: bool) -> Path:
    """The folder to play in; raises `UserError` where it cannot be played or gone on there."""
    from actors.errors import UserError
    from market.storage.mirror import is_url

    if is_url(target_of(where, where)):
        raise UserError(f"{where} is a URL; a fork needs a folder, so name one with --out.")
    out = Path(where)
    if not resume:
        refuse_unusable(out, BEGUN)
    elif not any(out.glob(BEGUN)):
        raise UserError(f"{out} holds no fork to resume; leave out --resume.")
    return out
