"""A fitted world as a configuration that the simulator runs.

Products that were not sold in the fitted part are left out, as are machines that sold nothing in
it. Weather moves nobody, because its part in the records is in the crowds already, and an empty
machine draws as many visits as a full one, because the fit takes visits for what they were however
full machines were. Costs, volumes and shelf lives are in no record of sales:
they are the values given here, for the user to mend.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np

from market.config.documents import write
from market.vending.calibration.fit import Fit
from market.vending.fitted import Fitted
from market.vending.rules import VendingRules, Weather

#: Significant digits of fitted figures.
DIGITS = 6


def configuration(fit: Fit, cost_share: float = 0.6) -> dict[str, Any]:
    """The configuration of a fitted world, with an idle operator for a beginning.

    Args:
        fit: The fit.
        cost_share: Unit cost over reference price, for all products.
    """
    records, assumed = fit.records, fit.assumed
    sold = np.flatnonzero(fit.sold).tolist()
    products = [
        {
            "name": records.products[p],
            "subcategory": records.subcategories[p],
            "cost": max(0.01, round(float(fit.reference[p]) * cost_share, 2)),
            "reference": float(fit.reference[p]),
            "popularity": _short(fit.popularity[p]),
            "dispersion": _short(fit.dispersion[p]),
        }
        for p in sold
    ]
    sites = [
        {
            "name": name,
            "site_type": records.site_types[m],
            "sensitivity": assumed.sensitivity,
            "traffic": _short(fit.traffic[m]),
            "week": [_short(each) for each in fit.week[m, :7]],
            "holiday": _short(fit.week[m, 7]),
            "crowd": _short(fit.crowd[m]),
            "taste": [_short(fit.taste[m, p]) for p in sold],
        }
        for m, name in enumerate(records.machines)
        if fit.running[m]
    ]
    calm = {
        name: {"probability": each.probability, "traffic": 1.0}
        for name, each in Weather().conditions.items()
    }
    rules: dict[str, Any] = {
        "start": (records.first + timedelta(days=records.days)).isoformat(),
        "demand": {"outside": assumed.outside, "empty_appeal": 1.0},
        "weather": {"conditions": calm, "discomfort": 0.0},
        "fitted": {"products": products, "sites": sites},
    }
    if assumed.country is not None:
        rules["country"] = assumed.country
    VendingRules.model_validate({**rules, "fitted": Fitted.model_validate(rules["fitted"])})
    return {
        "environment": "vending",
        "rules": rules,
        "retailers": [{"name": "idle", "policy": "idle"}],
    }


def save(path: Path, configuration: Mapping[str, Any], comment: str) -> None:
    """Write a configuration as YAML: a product or a site on each line.

    Args:
        path: The file.
        configuration: What `configuration` made.
        comment: What it is, in one line.
    """
    rules = dict(configuration["rules"])
    fitted = rules.pop("fitted")
    lines = [f"# {comment}"]
    lines += write({**configuration, "rules": rules}).splitlines()
    at = lines.index("rules:") + 1
    inner = ["  fitted:"]
    for part in ("products", "sites"):
        inner.append(f"    {part}:")
        inner += [f"      - {json.dumps(each, ensure_ascii=False)}" for each in fitted[part]]
    path.write_text("\n".join([*lines[:at], *inner, *lines[at:], ""]), encoding="utf-8")


def _short(value: float) -> float:
    return float(f"{float(value):.{DIGITS}g}")
