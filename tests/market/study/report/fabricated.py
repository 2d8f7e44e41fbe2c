"""A made-up run that looks like a real one, for tests of the report."""

from __future__ import annotations

from itertools import pairwise

from market.rng import draws
from market.study.estimands.indices import (
    concentration_ratio,
    gini,
    gini_corrected,
    hhi,
    rank_mobility,
)
from market.study.report.run_view import (
    InactionView,
    ItemView,
    OfferView,
    RefusalView,
    RetailerView,
    RunView,
    SloganView,
    UsageView,
)

STEPS = 6
FUNDS = 45_000
ITEMS = (
    ItemView("item1", "commodity", 50, 150),
    ItemView("item2", "commodity", 50, 150),
    ItemView("item3", "standard", 150, 450),
    ItemView("item4", "standard", 150, 450),
    ItemView("item5", "standard", 150, 450),
    ItemView("item6", "luxury", 800, 2400),
    ItemView("item7", "luxury", 800, 2400),
    ItemView("item8", "veblen", 2000, 6000),
)
MODELS = {
    "gpt": "openai/gpt-5-mini",
    "sonnet": "anthropic/claude-sonnet-4-5",
    "smol": "local/smollm2-360m-instruct",
    "gemini": "gemini/gemini-2.5-flash",
}
SCRIPTS = {"markup": 6, "undercutter": 4, "learner": 3, "zero-intelligence": 2, "idle": 1}
SLOGANS = {
    "gpt": "Fair prices on everyday goods, green choices and honest quality for every home",
    "sonnet": "Ethically sourced, honestly priced. Limited drops of what lasts.",
    "smol": "Buy our items. They are the best items. Buy our items.",
    "gemini": "Exclusive. Limited. Yours. The trend starts here, made by hand to last",
}


def run() -> RunView:
    luck = draws(7, "fabricated")
    kinds = [(name, "llm", model) for name, model in MODELS.items()]
    kinds += [
        (f"{policy}-{i}", policy, None) for policy, n in SCRIPTS.items() for i in range(1, n + 1)
    ]
    worth = {seat: [] for seat, _, _ in kinds}
    profits = {seat: [] for seat, _, _ in kinds}
    offers, slogans, revenues = [], [], []
    for step in range(1, STEPS + 1):
        revenue = dict.fromkeys(worth, 0)
        for seat, policy, model in kinds:
            if policy == "idle" or (seat == "smol" and step > 4):
                profit = 0
            else:
                skill = {"llm": 2600, "markup": 1500, "undercutter": 300, "learner": 2900}
                profit = int(skill.get(policy, -600) + 5200 * (luck.uniform() - 0.45))
                profit -= 4500 if seat == "smol" else 0
                for item in ITEMS:
                    if luck.uniform() < 0.55:
                        continue
                    high = 0.7 if model else 0.45
                    price = int(item.base * (1.04 + high * luck.uniform() + 0.03 * step))
                    sold = int(14 * max(0.0, luck.uniform() - (price / item.base - 1)))
                    offers.append(OfferView(item.item, step, seat, price, sold))
                    revenue[seat] += price * sold
            profits[seat].append(profit)
            worth[seat].append((worth[seat][-1] if worth[seat] else FUNDS) + profit)
            words = SLOGANS.get(seat, "" if policy == "idle" else "Good value, every day")
            match = None if not words else round(0.1 + 0.25 * luck.uniform(), 6)
            slogans.append(SloganView(seat, step, words, luck.integer(20, 110), match))
        revenues.append(list(revenue.values()))
    seats = list(worth)
    by_step = [[worth[seat][t] for seat in seats] for t in range(STEPS)]
    gains = [[profits[seat][t] for seat in seats] for t in range(STEPS)]
    active = [sum(r > 0 for r in row) / len(seats) for row in revenues]

    def later(rows):
        moved = [rank_mobility(a, b) for a, b in pairwise(rows)]
        return (None, *moved)

    def noise(low, high):
        return tuple(low + (high - low) * luck.uniform() for _ in range(STEPS))

    return RunView(
        title="arena/default",
        environment="arena",
        seed=7,
        steps=STEPS,
        retailers=tuple(
            _retailer(seat, policy, model, worth[seat][-1] - FUNDS, luck)
            for seat, policy, model in kinds
        ),
        settings=(
            ("preset", "arena/default"),
            ("retailers", "20"),
            ("items, units per step", "8, 1,000"),
            ("demand", "1.4 × supply, 200 buyers"),
            ("attention", "6 of 20 considered, tau 0.2"),
            ("willingness to pay", "Thrifty 1–1.6, Ethical 1–2, Hype 1–3, Quality 1–2.5"),
            ("price cap", "3 × base"),
            ("ties, over budget", "prorata, trim"),
            ("terminal stock", "salvage 0.5"),
            ("encoder", "all-MiniLM-L6-v2"),
        ),
        config='{\n  "environment": "arena",\n  "extends": "arena/default",\n  "seed": 7\n}',
        funds=FUNDS,
        capital={seat: tuple(path) for seat, path in worth.items()},
        indices={
            "gini_net_worth": tuple(map(gini, by_step)),
            "gini_net_worth_corrected": tuple(map(gini_corrected, by_step)),
            "hhi_revenue": tuple(map(hhi, revenues)),
            "hhi_net_worth": tuple(map(hhi, by_step)),
            "cr4_revenue": tuple(map(concentration_ratio, revenues)),
            "cr4_net_worth": tuple(map(concentration_ratio, by_step)),
            "rank_mobility_net_worth": later(by_step),
            "rank_mobility_profit": later(gains),
            "active_sold": tuple(active),
            "active_offered": tuple(min(1.0, a + 0.1) for a in active),
            "active_won": tuple(max(0.0, a - 0.15) for a in active),
            "slogan_convergence": noise(0.3, 0.5),
            "bluff": noise(0.02, 0.2),
            "price_dispersion": noise(0.08, 0.18),
            "gross_margin": noise(0.2, 0.3),
            "net_margin": noise(0.12, 0.2),
            "consumer_surplus": noise(60_000, 90_000),
            "retailer_surplus": noise(30_000, 60_000),
            "supplier_surplus": noise(5_000, 22_000),
            "allocative_efficiency": noise(0.55, 0.8),
        },
        items=ITEMS,
        offers=tuple(offers),
        slogans=tuple(slogans),
        refusals=(
            RefusalView("smol", 1, "bid", "item9", "100 at 50", "unknown item"),
            RefusalView("smol", 1, "bid", "item1", "2,000 at 5", "below base"),
            RefusalView("smol", 2, "bid", "item1", "2,000 at 5", "below base"),
            RefusalView("smol", 2, "bid", "item1", "2,000 at 5", "below base"),
            RefusalView("sonnet", 3, "slogan", "", "", "cut at 25 words"),
            RefusalView("gpt", 2, "bid", "item8", "12 at 2,100", "over budget"),
            RefusalView("gemini", 4, "price", "item6", "2,600", "above cap"),
        ),
        inactions=(
            InactionView("smol", 3, "bid", "malformed"),
            InactionView("smol", 3, "sell", "malformed"),
            InactionView("smol", 5, "bid", "truncated"),
            InactionView("gemini", 6, "sell", "late"),
        ),
        usage=(
            UsageView("openai/gpt-5-mini", 19, 41_220, 6_130, 0.0226),
            UsageView("anthropic/claude-sonnet-4-5", 18, 40_975, 5_120, 0.1997),
            UsageView("gemini/gemini-2.5-flash", 18, 41_004, 4_877, 0.0245),
            UsageView("local/smollm2-360m-instruct", 31, 70_120, 9_904, None),
        ),
        wall_seconds=97.3,
        journal_digest="9f2c4e0b7a6d51c83e9b04f7a12d6c58e7b39f0a4d216c8be5f37091a2b4c6d8",
        versions=(("market-arena", "0.1.0"), ("rules", "arena 1"), ("numpy", "2.4.6")),
    )


def _retailer(seat, policy, model, profit, luck) -> RetailerView:
    if policy == "idle":
        names = ("net_profit_margin", "risk_adjusted_return", "inventory_efficiency")
        names += ("stockout_rate", "fill_rate", "bid_efficiency", "bid_efficiency_by_value")
        names += ("order_stability", "mean_match")
        reasons = {"fill_rate": "no attempts", "bid_efficiency": "no bids"}
        undefined = {name: reasons.get(name, "no revenue") for name in names}
        return RetailerView(
            seat, policy, model, 0, {"profit": 0, **dict.fromkeys(names)}, undefined
        )
    fill = min(1.0, max(0.05, 0.5 + profit / 40_000))
    return RetailerView(
        seat,
        policy,
        model,
        profit,
        {
            "profit": profit,
            "net_profit_margin": profit / 90_000,
            "risk_adjusted_return": profit / 9_000,
            "inventory_efficiency": 0.4 + 0.5 * luck.uniform(),
            "stockout_rate": 1 - fill,
            "fill_rate": fill,
            "bid_efficiency": luck.uniform(),
            "bid_efficiency_by_value": luck.uniform(),
            "order_stability": luck.uniform(),
            "mean_match": 0.1 + 0.2 * luck.uniform(),
        },
    )
