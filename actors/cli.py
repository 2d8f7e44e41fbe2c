"""`market ...`: a thin shell over the packages.

Whatever is heavy is imported inside the commands, so that `market --help` is quick. Statuses: 2
for a mistake of the user, told in one sentence; 1 when an episode failed by a bug, whose traceback
lies in its folder; 3 when a provider failed and the run waits to be resumed; 130 and 143 when
interrupted.
"""

from __future__ import annotations

import os
import sys

import typer

from actors.commands.calibrating import calibrate
from actors.commands.forking import fork
from actors.commands.records import list_, package, replay, report, status
from actors.commands.rehearsing import dev_server
from actors.commands.running import run
from actors.commands.studying import study

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="A laboratory for markets of competing retailer agents.",
)

for command, name in (
    (run, "run"),
    (study, "study"),
    (list_, "list"),
    (replay, "replay"),
    (fork, "fork"),
    (calibrate, "calibrate"),
    (report, "report"),
    (package, "package"),
    (status, "status"),
    (dev_server, "dev-server"),
):
    app.command(name)(command)


def main() -> None:
    """Run the command line. Modules of the working folder may hold policies of one's own."""
    sys.path.append(os.getcwd())
    app()
