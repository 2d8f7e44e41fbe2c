"""`market calibrate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from actors.commands.telling import told


def calibrate(
    sales: Annotated[Path, typer.Argument(metavar="CSV", help="Sales, one per line.")],
    out: Annotated[
        Path | None, typer.Option(help="New file for the fitted world.  [CSV's name, .yaml]")
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            metavar="NAME=COLUMN",
            help="The column that holds timestamp, machine, product, price, quantity, stock, "
            "site_type or subcategory; may be repeated.",
        ),
    ] = None,
    share: Annotated[
        float,
        typer.Option(
            min=0.05,
            max=1,
            help="Share of the days that is fitted to; with 1, nothing is foretold.",
        ),
    ] = 0.8,
    country: Annotated[
        str | None, typer.Option(help="Two letters: whose public holidays count as such.")
    ] = None,
    sensitivity: Annotated[
        float, typer.Option(min=0, max=20, help="Response to price that is taken for granted.")
    ] = 2.0,
    cost_share: Annotated[
        float, typer.Option(min=0.01, max=1, help="Unit cost over price, for the fitted world.")
    ] = 0.6,
) -> None:
    """Fit a vending world to real sales, and test it on the rest."""
    with told():
        from actors.errors import UserError
        from market.vending.calibration.fit import Assumed, fit
        from market.vending.calibration.holdout import hold_out
        from market.vending.calibration.preset import configuration, save
        from market.vending.calibration.records import read
        from market.vending.calibration.text import as_text

        target = out or Path(f"{sales.stem}.yaml")
        if target.exists():
            raise UserError(f"{target} exists; name another file with --out.")
        if not target.absolute().parent.is_dir():
            raise UserError(f"{target.parent} is no folder; name another file with --out.")
        named = {}
        for text in columns or ():
            name, given, column = text.partition("=")
            if not given or not column:
                raise UserError(f"--column {text}: write NAME=COLUMN, as in timestamp=Date.")
            named[name] = column
        assumed = Assumed(sensitivity=sensitivity, country=country)
        records, holdout = read(sales, named), None
        if share == 1:
            found = fit(records, assumed)
        else:
            found, holdout = hold_out(records, assumed, share)
        save(target, configuration(found, cost_share), "A world fitted to sales.")
        typer.echo(as_text(found, holdout), nl=False)
        typer.echo(f"The fitted world is in {target}; play it with: market run {target}")
