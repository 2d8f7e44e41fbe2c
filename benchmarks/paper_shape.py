"""The published market, played by scripts, next to what its paper reports (docs/paper-shape.md).

    python -m benchmarks.paper_shape

Ten games of each variant of `arena/paper`, and thirty pairs for what a slogan is worth: some twelve
seconds on one core. The paper's retailers are language models, ours are scripts: shapes can be
compared, levels cannot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean

from benchmarks._measure import (
    MIXED,
    Estimate,
    by_policy,
    correlation,
    earned,
    encoder,
    gain,
    games,
    table,
)
from market.arena.policies.slogans import GENERIC, THEMES
from market.config import load, recorded
from market.environment import Answer, Decision, NoAction
from market.play import Played, Player, drive, scripts
from market.replay import build_environment

SEEDS = range(1, 11)
#: Changes to `arena/paper`; the preset itself has a cap of 1.5 and refuses offers without stock.
VARIANTS: Mapping[str, tuple[str, ...]] = {
    "cap 1.25": ("rules.price_cap=1.25",),
    "cap 1.5": (),
    "cap 2": ("rules.price_cap=2.0",),
}
PRESET = "cap 1.5"
STOCKLESS = "cap 1.5, stockless"
#: What a shop asks for goods that it does not hold, in multiples of base.
LISTED = 1.25
PAPER_INDICES = {
    "gini_net_worth": "0.07 to 0.21",
    "cr4_net_worth": "0.23 to 0.33",
    "cr4_revenue": "",
    "hhi_net_worth": "",
    "hhi_revenue": "0.08 to 0.10",
    "active_sold": "falls toward 0.4",
    "active_offered": "",
    "active_won": "",
    "slogan_convergence": "",
}
PAPER_CORRELATIONS = {
    "fill_rate": "+0.88",
    "stockout_rate": "-0.88",
    "bid_efficiency": "+0.68",
    "mean_match": "+0.16",
}
SPEAKERS: Mapping[str, tuple[str, dict[str, float]]] = {
    "markup (cost + 25%)": ("markup", {}),
    "1.5 x base": ("fixed", {"multiple": 1.5}),
}
PAPER_BEST = {
    "profit": "36,589",
    "net_profit_margin": "0.190",
    "fill_rate": "0.418",
    "order_stability": "1.000",
}


def main() -> None:
    """Print every table."""
    played = {
        name: games(load("arena/paper", changes), SEEDS, events=True)
        for name, changes in VARIANTS.items()
    }
    played[STOCKLESS] = [stockless(seed) for seed in SEEDS]
    print("### Paths\n")
    steps = range(1, 7)
    table(
        ["index", *(f"step {step}" for step in steps), "paper"],
        (
            [name, *(f"{path(played[PRESET], name, step):.3f}" for step in steps), said or "-"]
            for name, said in PAPER_INDICES.items()
        ),
    )
    print("### Paths by variant: first to last step\n")
    table(
        ["index", *played, "paper"],
        (
            [
                name,
                *(
                    f"{path(group, name, 1):.3f} to {path(group, name, 6):.3f}"
                    for group in played.values()
                ),
                said or "-",
            ]
            for name, said in PAPER_INDICES.items()
        ),
    )
    print("### Correlation with profit over the 20 retailers, means of ten games\n")
    table(
        ["metric", *played, "paper"],
        (
            [name, *(with_profit(group, name) for group in played.values()), said]
            for name, said in PAPER_CORRELATIONS.items()
        ),
    )
    print("### The best retailer, means of ten games\n")
    table(
        ["metric", *played, "paper"],
        (
            [name, *(highest(group, name) for group in played.values()), said]
            for name, said in PAPER_BEST.items()
        ),
    )
    print("### What the slogan of `hype` is worth to one seat, over a generic one\n")
    table(
        ["seat", "generic", "hype", "gain"],
        [slogan_row(label, *policy) for label, policy in SPEAKERS.items()],
    )
    print("### Profit per seat\n")
    roster = [{"name": line.name} for line in load("arena/paper").retailers]
    found = {name: by_policy(group, roster) for name, group in played.items()}
    table(
        ["policy", *played],
        (
            [
                entry["name"],
                *(Estimate.of(profit[entry["name"]]).money() for profit in found.values()),
            ]
            for entry in roster
        ),
    )


def slogan_row(label: str, policy: str, options: Mapping[str, float]) -> list[str]:
    """Profit of one seat among mixed rivals, by slogan, in 30 paired games."""
    plain, hype = (
        earned(policy, MIXED, preset="arena/paper", slogan=slogan, **options)
        for slogan in (GENERIC, THEMES["hype"])
    )
    worth = gain(hype, plain).percent(mean(plain))
    return [label, Estimate.of(plain).money(), Estimate.of(hype).money(), worth]


def stockless(seed: int) -> Played:
    """A game in which every shop lists everything, whether or not it holds it."""
    config = load("arena/paper", ["rules.stockless_offers=allowed"])
    players = {seat: listing(player) for seat, player in scripts(config, seed).items()}
    environment = build_environment({**recorded(config), "seed": seed})
    return drive(environment, players, outside=encoder().answer_now, events=True)


def listing(player: Player) -> Player:
    """A player that also prices what it does not hold. A script alone would not."""

    def act(decision: Decision) -> Answer | NoAction:
        answer = player(decision)
        if decision.kind != "sell" or not isinstance(answer, Answer):
            return answer
        listed = {
            item["item"]: int(item["base"] * LISTED) for item in decision.observation.rules["items"]
        }
        return Answer({**answer.action, "prices": {**listed, **answer.action["prices"]}})

    return act


def path(played: Sequence[Played], index: str, step: int) -> float:
    """Mean of an index of the whole market at the end of a step."""
    return mean(
        row.value
        for game in played
        for row in game.rows("indices")
        if (row.index, row.item, row.step) == (index, "", step) and row.value is not None
    )


def means(played: Sequence[Played], metric: str) -> dict[str, float]:
    """A metric's mean over games, for each seat where it is ever defined."""
    found: dict[str, list[float]] = {}
    for game in played:
        for seat, result in game.environment.result.seats.items():
            value = result.metrics[metric]
            if value is not None:
                found.setdefault(seat, []).append(value)
    return {seat: mean(values) for seat, values in found.items()}


def with_profit(played: Sequence[Played], metric: str) -> str:
    """Correlation of a metric with profit over seats, with its interval."""
    values, profit = means(played, metric), means(played, "profit")
    r, low, high = correlation(list(values.values()), [profit[seat] for seat in values])
    return f"{r:+.2f} ({low:+.2f} to {high:+.2f})"


def highest(played: Sequence[Played], metric: str) -> str:
    """The seat with the highest mean of a metric."""
    values = means(played, metric)
    seat = max(values, key=lambda seat: values[seat])
    figure = f"{values[seat]:,.0f}" if metric == "profit" else f"{values[seat]:.3f}"
    return f"{figure} ({seat})"


if __name__ == "__main__":
    main()
