"""The figures of one episode.

Highlighted retailers (language models, or the best few where there are none) have a colour and a
dash of their own, everybody else is a quiet grey.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import sqrt

from market.study.report.drawing import (
    COLOURS,
    DASHES,
    SYMBOLS,
    Spec,
    Style,
    figure,
    label,
    legend_of,
    spread_labels,
    steps_axis,
    tick_format,
)
from market.study.report.run_view import Figure, ItemView, OfferView, RunView
from market.study.text import clean, count, decimal

#: Retailers highlighted when no language model plays.
BEST = 5

#: How money is spelled where one rests on it; along an axis by its size.
MONEY = ",.0f"
#: Panels of market indices: title, how to read it, number format, {index: label}.
PANELS: tuple[tuple[str, str, str, Mapping[str, str]], ...] = (
    (
        "Inequality",
        "Gini of net worth: 0 equal, 1 one has all",
        ".2f",
        {"gini_net_worth": "Gini", "gini_net_worth_corrected": "× n/(n−1)"},
    ),
    (
        "Concentration",
        "HHI: 1/n equal, 1 monopoly",
        ".2f",
        {"hhi_revenue": "revenue", "hhi_net_worth": "net worth"},
    ),
    (
        "Share of the four largest",
        "CR4",
        ".0%",
        {"cr4_revenue": "revenue", "cr4_net_worth": "net worth"},
    ),
    (
        "Active retailers",
        "share of all who began",
        ".0%",
        {"active_sold": "sold", "active_offered": "offered", "active_won": "won stock"},
    ),
    (
        "Rank mobility",
        "0 order stands, 0.5 chance, 1 reversed",
        ".2f",
        {"rank_mobility_net_worth": "net worth", "rank_mobility_profit": "step profit"},
    ),
    (
        "Margins",
        "of revenue, whole market",
        ".0%",
        {"gross_margin": "gross", "net_margin": "net"},
    ),
    (
        "Prices and words",
        "spread of prices, bluff in bids, likeness of slogans",
        ".2f",
        {
            "price_dispersion": "price dispersion",
            "bluff": "bluff",
            "slogan_convergence": "slogan convergence",
        },
    ),
    (
        "Who gains",
        "surplus per step, money",
        MONEY,
        {
            "consumer_surplus": "buyers",
            "retailer_surplus": "retailers",
            "supplier_surplus": "supplier",
        },
    ),
    (
        "Allocative efficiency",
        "share of the greatest gain of a step's supply; earlier stock can add to it",
        ".0%",
        {"allocative_efficiency": "efficiency"},
    ),
)


def styles(view: RunView) -> dict[str, Style]:
    """A style for each seat."""
    ranked = view.ranked()
    chosen = [r.seat for r in ranked if r.model is not None] or [r.seat for r in ranked[:BEST]]
    out = {retailer.seat: Style() for retailer in ranked}
    for i, seat in enumerate(chosen):
        turn = i // len(COLOURS) % len(DASHES)
        out[seat] = Style(COLOURS[i % len(COLOURS)], DASHES[turn], SYMBOLS[turn])
    return out


def like_retailers(
    view: RunView, retailers: Mapping[str, str], looks: Mapping[str, Style]
) -> dict[str, Style]:
    """The same styles with each highlighted seat in the colour of its retailer.

    Args:
        view: The episode.
        retailers: The retailer in each seat.
        looks: A style for each retailer; its further seats differ in dash and symbol.
    """
    out = styles(view)
    seen: Counter[str] = Counter()
    for seat, own in out.items():
        name = retailers.get(seat, seat)
        if own.colour and name in looks:
            look = looks[name]
            turn = (DASHES.index(look.dash) + seen[name]) % len(DASHES)
            out[seat] = Style(look.colour, DASHES[turn], SYMBOLS[turn])
            seen[name] += 1
    return out


def capital(view: RunView, style: Mapping[str, Style] | None = None) -> Spec | None:
    """Net worth of every retailer over the steps; None without data."""
    if not view.capital:
        return None
    style = style or styles(view)
    ranked = [r.seat for r in view.ranked() if r.seat in view.capital]
    start = [] if view.funds is None else [view.funds]
    first = 1 - len(start)
    paths = {seat: [*start, *view.capital[seat]] for seat in ranked}
    # Highlighted lines come last, so that they lie on top.
    order = sorted(ranked, key=lambda seat: bool(style[seat].colour))
    traces = [
        {
            "type": "scatter",
            "mode": "lines+markers" if style[seat].colour else "lines",
            "name": label(seat),
            "x": list(range(first, first + len(paths[seat]))),
            "y": paths[seat],
            "line": {
                "color": style[seat].variable,
                "width": 2.5 if style[seat].colour else 1,
                "dash": style[seat].dash,
            },
            "marker": {"size": 6, "symbol": style[seat].symbol},
            "hovertemplate": "%{y:,}",
        }
        for seat in order
    ]
    named = [seat for seat in ranked if style[seat].colour or seat == ranked[0]]
    ends = {seat: next((y for y in reversed(paths[seat]) if y is not None), 0) for seat in named}
    values = [y for path in paths.values() for y in path if y is not None]
    places = spread_labels(ends, gap=0.055 * (max(values) - min(values)) if values else 0)
    annotations = [
        {
            "x": view.steps,
            "y": places[seat],
            "text": label(seat, longest=18),
            "xanchor": "left",
            "xshift": 8,
            "showarrow": False,
            "font": {"color": style[seat].variable if style[seat].colour else "var(--soft)"},
        }
        for seat in named
    ]
    return figure(
        "capital",
        f"Net worth of {len(ranked)} retailers over {view.steps} steps",
        traces,
        {
            "xaxis": steps_axis(view.steps, first) | {"title": {"text": "step"}},
            "yaxis": {"tickformat": tick_format(values), "title": {"text": "net worth"}},
            "margin": {"l": 56, "r": 132, "t": 8, "b": 40},
            "annotations": annotations,
            "hovermode": "closest",
        },
    )


def index_panels(view: RunView) -> list[Spec]:
    """One small figure per group of market indices that has data."""
    panels: list[Spec] = []
    for title, note, number, series in PANELS:
        known = {name: text for name, text in series.items() if _any(view.indices.get(name, ()))}
        if not known:
            continue
        traces = [
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": text,
                "x": list(range(1, view.steps + 1)),
                "y": list(view.indices[name]),
                "line": {"color": f"var(--{COLOURS[i]})", "width": 2, "dash": DASHES[i]},
                "marker": {"size": 5, "symbol": SYMBOLS[i]},
                "hovertemplate": f"%{{y:{number}}}",
            }
            for i, (name, text) in enumerate(known.items())
        ]
        panel = figure(
            f"index-{len(panels)}",
            f"{title} per step: {', '.join(known.values())}",
            traces,
            {
                "xaxis": steps_axis(view.steps, 1),
                "yaxis": {
                    "tickformat": axis_format(
                        number, (y for name in known for y in view.indices[name])
                    ),
                    "nticks": 5,
                    "rangemode": "tozero",
                },
                "margin": {"l": 42, "r": 8, "t": 6, "b": 24},
                "hovermode": "x unified",
            },
        )
        legend = [
            legend_of(Style(COLOURS[i], DASHES[i]), text) for i, text in enumerate(known.values())
        ]
        panels.append(panel | {"title": title, "note": note, "legend": legend})
    return panels


def axis_format(number: str, values: Iterable[Figure]) -> str:
    """How the figures of a panel are spelled along its axis."""
    return tick_format(values) if number == MONEY else number


def price_panels(view: RunView, style: Mapping[str, Style] | None = None) -> list[Spec]:
    """One small figure per item: prices asked in multiples of base, filled where units sold."""
    style = style or styles(view)
    place = {retailer.seat: i for i, retailer in enumerate(view.ranked())}
    panels: list[Spec] = []
    for item in view.items:
        offers = [offer for offer in view.offers if offer.item == item.item]
        if not offers:
            continue
        most = max(offer.sold for offer in offers)
        quiet = [offer for offer in offers if not style[offer.seat].colour]
        groups = [("scripted", Style(), quiet)] if quiet else []
        groups += [
            (seat, style[seat], [offer for offer in offers if offer.seat == seat])
            for seat in sorted(
                {o.seat for o in offers if style[o.seat].colour}, key=place.__getitem__
            )
        ]
        traces = [
            _offer_trace(name, look, group, item, most, place) for name, look, group in groups
        ]
        traces.append(_paid_trace(offers, item))
        asked = [offer.price / item.base for offer in offers]
        low, high = min(1.0, *asked), max(1.0, *asked)
        room = 0.08 * (high - low or 1)
        shapes = [_level(1.0, "solid", "var(--axis)")]
        if item.cap is not None:
            shapes.append(_level(item.cap / item.base, "dot", "var(--soft)"))
        panel = figure(
            f"prices-{len(panels)}",
            f"Prices of {clean(item.item)} per step in multiples of the base price {item.base}",
            traces,
            {
                "xaxis": steps_axis(view.steps, 1) | {"range": [0.5, view.steps + 0.5]},
                "yaxis": {
                    "tickformat": ".2~f",
                    "nticks": 6,
                    "ticksuffix": "×",
                    "range": [low - room, high + room],
                },
                "margin": {"l": 46, "r": 8, "t": 6, "b": 24},
                "hovermode": "closest",
                "shapes": shapes,
            },
        )
        note = f"{clean(item.tier)} · base {count(item.base)}" + (
            "" if item.cap is None else f" · cap {count(item.cap)}"
        )
        panels.append(panel | {"title": clean(item.item), "note": note, "legend": []})
    return panels


def _offer_trace(
    name: str,
    look: Style,
    offers: Sequence[OfferView],
    item: ItemView,
    most: int,
    place: Mapping[str, int],
) -> Spec:
    """Points of one retailer, or of all in the background; beside each other within a step."""
    width = 0.7 / max(1, len(place))
    middle = (len(place) - 1) / 2
    return {
        "type": "scatter",
        "mode": "markers",
        "name": label(name),
        "x": [offer.step + (place[offer.seat] - middle) * width for offer in offers],
        "y": [offer.price / item.base for offer in offers],
        "text": [
            f"{label(offer.seat)}, step {offer.step}: {count(offer.price)} "
            f"({decimal(offer.price / item.base, 2)}×), {count(offer.sold)} sold"
            for offer in offers
        ],
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {
            "color": look.variable,
            "opacity": 0.9 if look.colour else 0.7,
            "size": [
                round(5 + 7 * sqrt(offer.sold / most), 2) if offer.sold else 5 for offer in offers
            ],
            "symbol": [look.symbol + ("" if offer.sold else "-open") for offer in offers],
            "line": {"width": 1, "color": "var(--paper)" if look.colour else look.variable},
        },
    }


def _paid_trace(offers: Sequence[OfferView], item: ItemView) -> Spec:
    """The mean multiple paid per step, as a line with gaps where nothing sold."""
    steps = sorted({offer.step for offer in offers})
    paid: list[Figure] = []
    for step in steps:
        sales = [offer for offer in offers if offer.step == step and offer.sold]
        units = sum(offer.sold for offer in sales)
        money = sum(offer.sold * offer.price for offer in sales)
        paid.append(money / (units * item.base) if units else None)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "mean paid",
        "x": steps,
        "y": paid,
        "line": {"color": "var(--ink)", "width": 1.5},
        "hovertemplate": "mean paid %{y:.3f}×<extra></extra>",
    }


def _level(y: float, dash: str, colour: str) -> Spec:
    return {
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": y,
        "y1": y,
        "layer": "below",
        "line": {"color": colour, "width": 1, "dash": dash},
    }


def _any(values: Iterable[Figure]) -> bool:
    return any(value is not None for value in values)
