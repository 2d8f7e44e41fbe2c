"""What moves profit in the default market, and what its references are (docs/default-market.md).

    python -m benchmarks.default_market

Prints the tables of that page, from 30 paired games per figure with the packaged encoder: some two
and a half minutes on one core.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from benchmarks._measure import (
    MIXED,
    PLAIN,
    SEEDS,
    Entry,
    Estimate,
    by_policy,
    earned,
    gain,
    games,
    market,
    table,
)
from market.arena.bounds import (
    best_multiple,
    cartel,
    clearing_multiple,
    competitive,
    industry_bound,
)
from market.arena.policies.clearing import Clearing
from market.arena.policies.plans import Ware
from market.arena.policies.slogans import GENERIC, THEMES
from market.arena.references import demands, references, seat_bounds
from market.config import load
from market.config import rules as rules_of

RIVALS: Mapping[str, list[Entry]] = {"19 markup": PLAIN, "mixed": MIXED}
MULTIPLES = (1.05, 1.15, 1.25, 1.35, 1.5, 1.75, 2.0, 3.0)
PREMIUMS = (0.0, 0.01, 0.02, 0.03, 0.05, 0.1, 0.15, 0.2, 0.3)
#: The multiple at which slogans are compared: one that leaves stock to be sold by words.
WORDY = 1.5
HYPE = THEMES["hype"]
#: Buys whatever it can of the dearest goods, and tells those who like them.
CORNER: dict[str, Any] = {
    "tier": "veblen", "appetite": 20.0, "premium": 0.1, "markup": 0.7, "slogan": HYPE,
}  # fmt: skip
#: Every kind of script, and seats that do nothing.
LADDER: list[Entry] = [
    {"name": "adaptive", "policy": "adaptive", "count": 4},
    {"name": "clearing", "policy": "clearing", "count": 4},
    {"name": "markup", "policy": "markup", "count": 4},
    {"name": "constrained", "policy": "zi-constrained", "count": 3},
    {"name": "unconstrained", "policy": "zi-unconstrained", "count": 3},
    {"name": "idle", "policy": "idle", "count": 2},
]


@dataclass
class OneAboveBase(Clearing):
    """Trades like `clearing` but for its bids, which are the base price and one unit of money."""

    def offer(self, ware: Ware) -> int:
        """Base + 1."""
        return ware.bid(ware.base + 1)


def main() -> None:
    """Print every table."""
    for title, show in (
        ("Price", show_prices),
        ("Bids", show_bids),
        ("Words", show_words),
        ("References", show_references),
        ("Results of the shipped roster", show_results),
        ("Order of the scripts", show_ladder),
        ("Market power", show_power),
    ):
        print(f"### {title}\n")
        show()


def prices(rivals: Sequence[Entry], multiples: Iterable[float]) -> dict[float, list[float]]:
    """Profit per seed of a seat that asks a multiple of base, and is like `markup` otherwise."""
    return {multiple: earned("fixed", rivals, multiple=multiple) for multiple in multiples}


def best(found: Mapping[Any, Sequence[float]]) -> Any:
    """The setting with the highest mean."""
    return max(found, key=lambda setting: mean(found[setting]))


def show_prices() -> None:
    """Profit by price, and the best price against a modest mark-up."""
    found = {name: prices(rivals, MULTIPLES) for name, rivals in RIVALS.items()}
    modest = {name: earned("markup", rivals, markup=0.15) for name, rivals in RIVALS.items()}
    table(
        ["price, x base", *RIVALS],
        [
            *([m, *(Estimate.of(found[name][m]).money() for name in RIVALS)] for m in MULTIPLES),
            ["cost + 15%", *(Estimate.of(modest[name]).money() for name in RIVALS)],
        ],
    )
    tops = {name: best(found[name]) for name in RIVALS}

    def over(other: Mapping[str, Sequence[float]]) -> dict[str, Estimate]:
        return {name: gain(found[name][tops[name]], other[name]) for name in RIVALS}

    above = over(modest)
    table(
        ["best price", *RIVALS],
        [
            ["x base", *tops.values()],
            [
                "gain over cost + 15%",
                *(above[name].percent(mean(modest[name])) for name in RIVALS),
            ],
            *(
                [
                    f"gain over {m} x base, money",
                    *(each.money() for each in over({n: found[n][m] for n in RIVALS}).values()),
                ]
                for m in (1.05, 3.0)
            ),
        ],
    )


def show_bids() -> None:
    """Profit by premium on the base price, and learned bids against base + 1."""
    found = {
        premium: [earned("fixed", r, multiple=1.25, premium=premium) for r in RIVALS.values()]
        for premium in PREMIUMS
    }
    table(
        ["bid, x base", *RIVALS],
        ([f"{1 + p:.2f}", *(Estimate.of(values).money() for values in found[p])] for p in PREMIUMS),
    )
    learned = [earned("clearing", rivals) for rivals in RIVALS.values()]
    plain = [earned("benchmarks.default_market:OneAboveBase", r) for r in RIVALS.values()]
    table(
        ["bids", *RIVALS],
        [
            ["base + 1", *(Estimate.of(values).money() for values in plain)],
            ["learned", *(Estimate.of(values).money() for values in learned)],
            ["gain", *(gain(a, b).percent(mean(b)) for a, b in zip(learned, plain, strict=True))],
        ],
    )


def show_words() -> None:
    """Profit by slogan, and the best slogan for retailers of different strength."""
    plain = [earned("fixed", rivals, multiple=WORDY) for rivals in RIVALS.values()]
    rows = []
    for name, slogan in {**THEMES, "nothing": ""}.items():
        said = [earned("fixed", r, multiple=WORDY, slogan=slogan) for r in RIVALS.values()]
        rows += [
            [name, *(gain(a, b).percent(mean(b)) for a, b in zip(said, plain, strict=True))],
        ]
    table(
        [f"slogan, at {WORDY} x base", *RIVALS],
        [["generic", *(Estimate.of(values).money() for values in plain)], *rows],
    )
    kinds: dict[str, tuple[str, dict[str, Any]]] = {
        "markup (cost + 25%)": ("markup", {}),
        "1.75 x base": ("fixed", {"multiple": 1.75}),
        "adaptive": ("adaptive", {}),
    }
    rows = []
    for label, (policy, options) in kinds.items():
        silent = earned(policy, MIXED, **options, slogan=GENERIC)
        loud = earned(policy, MIXED, **options, slogan=HYPE)
        rows.append(
            [label, *(Estimate.of(values).money() for values in (silent, loud)),
             gain(loud, silent).percent(mean(silent))]
        )  # fmt: skip
    table(["mixed rivals", "generic", "hype", "gain"], rows)


def show_references() -> None:
    """The references per item and step, and per seat and episode."""
    rules = rules_of(load("arena/default"))
    rows = [
        [item, f"{d.base:,}", f"{d.supply:,}", f"{d.units:.0f}", f"{clearing_multiple(d):.3f}",
         f"{best_multiple(d):.3f}", f"{competitive(d):,.0f}", f"{cartel(d):,.0f}",
         f"{industry_bound(d):,.0f}"]
        for item, d in demands(rules).items()
    ]  # fmt: skip
    table(
        ["item, a step", "base", "supply", "demand", "clearing at", "cartel at", "competitive",
         "cartel", "industry bound"],
        rows,
    )  # fmt: skip
    found = references(rules, 20)
    table(
        ["per seat and episode", "floor", "competitive", "cartel", "industry bound"],
        [["profit", 0, *(f"{value:,.0f}" for value in
          (found.competitive, found.cartel, found.industry_bound))]],
    )  # fmt: skip


def show_results() -> None:
    """What each policy of the shipped roster earns, next to the references."""
    config = load("arena/default")
    roster: list[Entry] = [{"name": line.name, "count": line.count} for line in config.retailers]
    played = games(config)
    rules = rules_of(config)
    few = SEEDS[:5]
    bounded = [
        seat_bounds(rules, seed, game.rows("bids")) or {}
        for seed, game in zip(few, games(config, few, events=True), strict=True)
    ]
    own = {
        line["name"]: mean(
            bound
            for bounds in bounded
            for seat, bound in bounds.items()
            if seat.startswith(line["name"])
        )
        for line in roster
    }
    show_shares(by_policy(played, roster), own)


def show_ladder() -> None:
    """What the scripts earn against each other, with seats that do nothing and seats that err."""
    show_shares(by_policy(games(market(LADDER)), LADDER))


def show_shares(
    found: Mapping[str, Sequence[float]], own: Mapping[str, float] | None = None
) -> None:
    """Profit per seat by policy, highest first, as shares of bounds; the floor is 0."""
    bounds = references(rules_of(load("arena/default")), 20)
    table(
        ["policy", "profit per seat", "of competitive", "of cartel", "of industry bound",
         *(["of seat bound"] if own else [])],
        [
            [name, Estimate.of(found[name]).money(),
             *(f"{100 * mean(found[name]) / bound:.0f}%"
               for bound in (bounds.competitive, bounds.cartel, bounds.industry_bound,
                             own and own[name]) if bound)]
            for name in sorted(found, key=lambda name: -mean(found[name]))
        ],
    )  # fmt: skip


def show_power() -> None:
    """Whether a seat can corner supply, what it earns, and what stops it."""
    rows = []
    for count in (1, 3, 10, 20):
        roster: list[Entry] = [{"name": "adaptive", "policy": "adaptive", "count": count}]
        if count < 20:
            roster.append({"name": "markup", "policy": "markup", "count": 20 - count})
        played = games(market(roster), events=True)
        found = by_policy(played, roster)
        rows.append(
            [count, *(Estimate.of(v).money() for v in found.values()), *["-"] * (2 - len(found)),
             *(f"{100 * largest(played, item):.0f}%" for item in ("item1", "item6", "item8"))]
        )  # fmt: skip
    table(
        ["adaptive seats of 20", "adaptive", "markup", "largest share of item1", "item6", "item8"],
        rows,
    )
    rows = []
    for count in (1, 2, 5, 10):
        roster = [
            {"name": "corner", "policy": "tier-specialist", "count": count, "options": CORNER},
            {"name": "markup", "policy": "markup", "count": 20 - count},
        ]
        played = games(market(roster), events=True)
        found = by_policy(played, roster)
        share = f"{100 * largest(played, 'item8'):.0f}%"
        rows.append([count, *(Estimate.of(v).money() for v in found.values()), share])
    table(["seats that corner item8", "each", "markup", "largest share of item8"], rows)
    crowds = {**RIVALS, "19 adaptive": [{"name": "rival", "policy": "adaptive", "count": 19}]}
    table(
        ["one seat corners item8, against", "profit"],
        (
            [name, Estimate.of(earned("tier-specialist", rivals, **CORNER)).money()]
            for name, rivals in crowds.items()
        ),
    )
    changes = [f"funds_alpha={alpha}" for alpha in (1.0, 1.5, 6.0)]
    changes += ["attention.k_max=34", "demand_ratio=1.2", "demand_ratio=1.0"]
    table(
        ["rules, against 19 markup", "one seat corners item8", "one adaptive"],
        (
            [
                f"`{change}`" if change else "as shipped",
                *(
                    Estimate.of(
                        earned(policy, PLAIN, *([f"rules.{change}"] if change else []), **options)
                    ).money()
                    for policy, options in (("tier-specialist", CORNER), ("adaptive", {}))
                ),
            ]
            for change in ["", *changes]
        ),
    )


def largest(played: Sequence[Any], item: str) -> float:
    """Mean over steps, the first left out, of the largest share of an item that one seat won."""
    shares = []
    for game in played:
        won: dict[int, dict[str, int]] = {}
        for row in game.rows("bids"):
            if row.settling and row.item == item and row.step > 1:
                seats = won.setdefault(row.step, {})
                seats[row.seat] = seats.get(row.seat, 0) + row.awarded
        shares += [max(step.values()) / sum(step.values()) for step in won.values()]
    return mean(shares)


if __name__ == "__main__":
    main()
