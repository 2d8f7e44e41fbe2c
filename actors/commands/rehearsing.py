"""`market dev-server`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from actors.commands.telling import Overrides, told


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
    """Serve a pretended model provider, to rehearse for free."""
    with told():
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
