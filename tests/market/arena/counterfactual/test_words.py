from __future__ import annotations

from dataclasses import replace
from math import comb, exp
from pathlib import Path

import numpy as np
import pytest

from market.arena.counterfactual.redraws import settle
from market.arena.counterfactual.scene import Procured, Scene
from market.arena.counterfactual.words import Direct, direct, market, total, words
from market.arena.rules import ArenaRules
from market.arena.storefront import Storefront
from market.journal import read
from market.replay import ReplayError
from tests.market.arena.counterfactual.recordings import record, recorded_scenes

PERSONAS = {"Thrifty": 0.2, "Quality": 0.5, "Ethical": 0.8, "Hype": 0.9}
LEAD = 300_000
MARGIN = 50


def scene(
    sellers: int = 20,
    buyers: int = 2_000,
    k_max: int = 20,
    tau: float = 1.0,
    personas: dict[str, float] | None = None,
    prices: dict[str, int] | None = None,
    limit: float | None = None,
) -> Scene:
    """One item of cost 100, stock for everybody, and one seller whose words lead by 0.3."""
    lambdas = personas or PERSONAS
    seats = [f"s{k:02}" for k in range(sellers)]
    attention = {"rho": 0.6, "k_max": k_max, "tau": tau}
    rules = ArenaRules.model_validate(
        {
            "steps": 2,
            "items": [{"item": "tea", "tier": "plain", "quantity": buyers, "base": 100}],
            "personas": {
                name: {"share": 1 / len(lambdas), "sensitivity": each, "theme": name}
                for name, each in lambdas.items()
            },
            "buyers": buyers,
            "demand_ratio": 1.0,
            "attention": attention,
            "willingness_to_pay": limit and {name: [limit, limit] for name in lambdas},
        }
    )
    given = prices or {}
    fronts = {
        seat: Storefront(
            {"tea": given.get(seat, 100 + MARGIN)}, "good" if seat == "s00" else "dull"
        )
        for seat in seats
    }
    rows = {"good": (LEAD,) * len(lambdas), "dull": (0,) * len(lambdas)}
    return Scene(
        step=1,
        rules=rules,
        seed=5,
        fronts=fronts,
        stock=dict.fromkeys(seats, (buyers,)),
        costs=dict.fromkeys(seats, (100 * buyers,)),
        funds=dict.fromkeys(seats, 0),
        similarities=rows,
        profits=dict.fromkeys(seats, 0),
        procured=Procured(2, {}, {}, {}, {}, {}),
    )


def chance(weight: float, considered: int = 12, rivals: int = 19) -> float:
    """That a seller of a weight is among the first considered, its rivals' weights being 1.

    The integral over u in (0, 1) of w u^(w-1) P(Binomial(rivals, 1-u) < considered), in
    v = u^w so that it has no pole.
    """
    v = (np.arange(200_000) + 0.5) / 200_000
    u = v ** (1 / weight)
    below = sum(comb(rivals, k) * (1 - u) ** k * u ** (rivals - k) for k in range(considered))
    return float(np.mean(below))


@pytest.mark.parametrize(
    ("sensitivity", "published"), [(0.2, 0.62113), (0.5, 0.65278), (0.8, 0.68414), (0.9, 0.69449)]
)
def test_buyers_consider_a_lead_in_words_as_often_as_the_exact_chance(
    sensitivity: float, published: float
) -> None:
    exact = chance(exp(0.3 * sensitivity))
    assert exact == pytest.approx(published, abs=1e-5)
    told = scene(personas={"all": sensitivity}, buyers=10_000)
    seen = [settle(told, luck).seats["s00"].impressions for luck in range(1, 5)]
    assert sum(seen) / 40_000 == pytest.approx(exact, abs=4 * 0.5 / 200)


def planted(told: Scene, considered: int) -> float:
    """What the lead is worth: among equal prices a buyer takes any of those it considers."""
    sellers, lambdas = len(told.fronts), [p.sensitivity for p in told.rules.personas.values()]
    more = [
        chance(exp(0.3 * each / told.rules.attention.tau), considered, sellers - 1)
        - considered / sellers
        for each in lambdas
    ]
    return MARGIN * told.rules.demand * float(np.mean(more)) / considered


@pytest.mark.parametrize(("k_max", "considered"), [(20, 12), (10, 6), (5, 3)])
def test_a_planted_effect_of_words_is_recovered(k_max: int, considered: int) -> None:
    told = scene(k_max=k_max, tau=0.2)
    found = direct([told], redraws=8)["s00"]
    assert found.error > 0
    assert found.value == pytest.approx(planted(told, considered), abs=4 * found.error)
    assert found.value > 10 * found.error


def test_words_are_worth_more_of_the_profit_the_fewer_are_considered() -> None:
    shares, exact = [], []
    for k_max, considered in ((20, 12), (10, 6), (5, 3), (2, 2)):
        told = scene(k_max=k_max, tau=0.2)
        found = direct([told], redraws=4)["s00"]
        shares.append(found.value / found.profit)
        value = planted(told, considered)
        exact.append(value / (value + MARGIN * told.rules.demand / 20))
    assert exact == sorted(exact)
    assert shares == sorted(shares)
    assert shares == pytest.approx(exact, abs=0.04)


@pytest.mark.parametrize("idle", [{"tau": 1e9}, {"k_max": 100}])
def test_words_are_worth_nothing_where_they_cannot_matter(idle: dict[str, float]) -> None:
    told = scene(sellers=6, buyers=300, limit=2.0, **idle)  # type: ignore[arg-type]
    assert {each.value for each in direct([told], redraws=3).values()} == {0}
    value = market([told], redraws=3).value
    assert (value.profit, value.surplus, value.gini) == (0, 0, 0)


def test_own_words_are_held_against_the_mean_of_rivals_persona_by_persona() -> None:
    told = scene(sellers=3, buyers=400, k_max=1, tau=0.1, personas={"x": 0.9, "y": 0.9})
    rows = {"good": (LEAD, 0), "dull": (0, 0), "odd": (100_000, 600_000)}
    fronts = {**told.fronts, "s02": replace(told.fronts["s02"], slogan="odd")}
    told = replace(told, fronts=fronts, similarities=rows)
    found = direct([told], redraws=2)["s00"]
    mean = {**rows, "good": (50_000, 300_000)}
    for luck in (1, 2):
        told_sold = settle(told, luck).seats["s00"].offers[0].sold
        mean_sold = settle(replace(told, similarities=mean), luck).seats["s00"].offers[0].sold
        found = replace(found, value=found.value - MARGIN * (told_sold - mean_sold) / 2)
    assert found.value == pytest.approx(0)


def test_two_sellers_of_one_slogan_are_told_apart() -> None:
    told = scene(sellers=2, buyers=400, k_max=1, tau=0.1)
    same = {seat: replace(front, slogan="good") for seat, front in told.fronts.items()}
    assert {d.value for d in direct([replace(told, fronts=same)], redraws=2).values()} == {0}


def test_silence_costs_what_the_rivals_words_would_have_brought() -> None:
    told = scene(sellers=2, buyers=2_000, k_max=1, tau=0.1, personas={"all": 0.9})
    silent = {**told.fronts, "s01": replace(told.fronts["s01"], slogan="")}
    found = direct([replace(told, fronts=silent)], redraws=4)
    # 1 of 2, lead 0.3, tau 0.1: seen with 0.93703, or with 0.5 at equal words.
    lost = MARGIN * 2_000 * (0.5 - 0.93703)
    assert found["s01"].value == pytest.approx(lost, abs=4 * found["s01"].error)
    assert found["s00"].value == pytest.approx(-lost, abs=4 * found["s00"].error)


def test_a_market_of_two_is_worth_what_a_hand_counts() -> None:
    told = scene(
        sellers=2, buyers=2_000, k_max=1, tau=0.1, personas={"all": 0.9},
        prices={"s00": 200}, limit=3.0,
    )  # fmt: skip
    found = market([told], redraws=16)
    # The dear seller (margin 100, buyers gain 100) is seen with 0.93703, the other (50, 150) else.
    heard, lead = found.heard, 0.93703
    assert heard.profit == pytest.approx(2_000 * (100 * lead + 50 * (1 - lead)), rel=0.01)
    assert heard.surplus == pytest.approx(2_000 * (100 * lead + 150 * (1 - lead)), rel=0.01)
    assert found.deaf.profit == pytest.approx(2_000 * 75, rel=0.01)
    assert found.deaf.surplus == pytest.approx(2_000 * 125, rel=0.01)
    assert found.value.profit == heard.profit - found.deaf.profit
    assert found.value.gini is not None
    assert found.value.gini > 0


def test_without_limits_there_is_no_surplus() -> None:
    assert market([scene(sellers=3, buyers=100)], redraws=1).value.surplus is None


def test_the_recorded_luck_gives_the_recorded_profits(tmp_path: Path) -> None:
    steps = recorded_scenes(tmp_path / "j.jsonl", "arena/default", "rules.steps=2")
    found = direct(steps, redraws=0)
    for seat in steps[0].fronts:
        assert found[seat].profit == sum(scene.profits[seat] for scene in steps)
    assert all(isinstance(each, Direct) and each.error == 0 for each in found.values())


ROSTER = (
    "retailers=[{name: a, policy: markup}, {name: b, policy: advertiser}, "
    "{name: c, policy: keyword-stuffer}]"
)
SMALL = ("rules.steps=2", "rules.buyers=60", "rules.attention.k_max=2", ROSTER)


def test_episodes_of_one_seed_are_one_block(tmp_path: Path) -> None:
    journals = [
        record(tmp_path / f"{name}.jsonl", "arena/default", *SMALL, seed=seed)
        for name, seed in (("one", 1), ("again", 1), ("two", 2))
    ]
    found = words(journals, redraws=2)
    twice = words(journals[:2], redraws=2)
    assert found.direct["c"].blocks == found.market.profit.blocks == 2
    assert twice.direct["c"].blocks == 1
    assert twice.direct["c"].low is None
    assert twice.direct["c"].undefined
    assert found.share["c"].value is not None


def test_the_total_value_is_the_paired_difference_of_the_arms(tmp_path: Path) -> None:
    heard = [record(tmp_path / f"h{s}", "arena/default", *SMALL, seed=s) for s in (1, 2, 3)]
    deaf = [
        record(tmp_path / f"d{s}", "arena/default", *SMALL, "rules.attention.tau=1e9", seed=s)
        for s in (2, 1, 4)
    ]
    found = total(heard, deaf)
    assert found.market.profit.blocks == 2

    def scores(paths: list[Path]) -> dict[str, float]:
        ended = [read(path).result for path in paths]
        return {s: sum(each.seats[s].score for each in ended if each) / 2 for s in "abc"}

    ours, theirs = scores(heard[:2]), scores(deaf[:2])
    for seat in "abc":
        assert found.seats[seat].value == pytest.approx(ours[seat] - theirs[seat])
    gain = sum(ours.values()) - sum(theirs.values())
    assert found.market.profit.value == pytest.approx(gain)
    assert gain != 0


def test_the_total_value_of_equal_arms_is_nothing(tmp_path: Path) -> None:
    arm = [record(tmp_path / f"h{s}", "arena/default", *SMALL, seed=s) for s in (1, 2)]
    found = total(arm, arm).market
    assert (found.profit.value, found.surplus.value, found.gini.value) == (0, 0, 0)


def test_an_unfinished_episode_is_no_part_of_an_arm(tmp_path: Path) -> None:
    path = record(tmp_path / "j.jsonl", "arena/default", *SMALL)
    cut = tmp_path / "cut.jsonl"
    cut.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    with pytest.raises(ReplayError, match="unfinished"):
        total([cut], [path])
