"""What a calibration found, as text for people."""

from __future__ import annotations

from market.vending.calibration.fit import Fit
from market.vending.calibration.holdout import Holdout

#: Most machines that are named.
NAMED = 10


def as_text(fit: Fit, holdout: Holdout | None) -> str:
    """The fit and, where there is a rest, its forecasts, each beside the simple ones."""
    records = fit.records
    spreads = ", ".join(f"{name} {value:.2f}" for name, value in fit.spreads.items())
    fitted = (
        f"Fitted to {records.days} days: {int(fit.running.sum())} machines, "
        f"{int(fit.sold.sum())} products, {records.units.sum():,.0f} units.\n"
        f"{_left_out(fit)}"
        f"Standard deviations of logarithms: {spreads}.\n"
    )
    return fitted if holdout is None else fitted + _foretold(holdout)


def _left_out(fit: Fit) -> str:
    """Which machines and how many products sold nothing in these days; empty for none."""
    machines = [
        name for name, runs in zip(fit.records.machines, fit.running, strict=True) if not runs
    ]
    products = len(fit.sold) - int(fit.sold.sum())
    more = f" and {len(machines) - NAMED} more" if len(machines) > NAMED else ""
    parts = [f"{len(machines)} machines ({', '.join(machines[:NAMED])}{more})"] if machines else []
    parts += [f"{products} products"] if products else []
    if not parts:
        return ""
    return f"Left out, as they sold nothing in these days: {', '.join(parts)}.\n"


def _foretold(holdout: Holdout) -> str:
    spearman = "undefined" if holdout.spearman is None else f"{holdout.spearman:.3f}"
    rows = (
        ("WAPE, units per machine and day", f"{holdout.wape:.3f}"),
        ("  the machine's mean", f"{holdout.wape_naive:.3f}"),
        ("  the day before", f"{holdout.wape_persistence:.3f}"),
        ("total volume, foretold over sold", f"{1 + holdout.volume:.3f}"),
        ("distance of product shares", f"{holdout.tvd:.3f}"),
        ("  shares alike in each machine", f"{holdout.tvd_naive:.3f}"),
        ("rank correlation within machines", spearman),
    )
    width = max(len(name) for name, _ in rows)
    return f"Foretold, {holdout.days} days:\n" + "".join(
        f"  {name:<{width}}  {figure}\n" for name, figure in rows
    )
