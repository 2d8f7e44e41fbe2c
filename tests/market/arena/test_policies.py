from __future__ import annotations

import dataclasses
import subprocess
import sys
from itertools import pairwise
from typing import Any

import pytest

from market import canonical, forms, registry
from market.arena.policies import POLICIES
from market.arena.policies.advertiser import Advertiser
from market.arena.policies.bertrand import Bertrand
from market.arena.policies.burdett_judd import BurdettJudd, inverse
from market.arena.policies.clearing import Clearing
from market.arena.policies.fixed import Fixed
from market.arena.policies.induced import Induced, equilibrium
from market.arena.policies.keyword_stuffer import KeywordStuffer
from market.arena.policies.markup import Markup
from market.arena.policies.plans import Ware
from market.arena.policies.response import Response
from market.arena.policies.tier_specialist import TierSpecialist
from market.arena.policies.undercutter import Undercutter
from market.arena.policies.zi_constrained import ZIConstrained
from market.arena.policies.zi_unconstrained import ZIUnconstrained
from market.config.options import options_model
from market.environment import Answer, Decision
from market.policies.policy import Policy, RecallError
from tests.market.arena.observations import NAME, played

INDUCED = {"induced", "zi-induced"}
GAMES: dict[str, dict[str, Any]] = {
    "default": {},
    "paper": {
        "price_cap": 1.5,
        "lines_per_item": 1,
        "over_budget": "void",
        "initial_funds": 22_500,
        "terminal_stock": "cost",
    },
    "no cap": {"price_cap": None},
    "blind": {"bid_feedback": "own", "attention_feedback": "none", "rival_text": "hidden"},
    "monotone": {"round_rule": "monotone", "bidding_rounds": 4},
    "coarse tick": {"tick": 10},
    "poor": {"initial_funds": 900},
    "alone": {"retailers": 1, "initial_funds": 10_000},
}


def policy(name: str, seed: int = 3, **options: Any) -> Policy:
    made: Policy = registry.load(POLICIES[name])(f"{name}-1", seed, **options)
    return made


def game(name: str, rules: str) -> list[tuple[Decision, Any]]:
    return played(policy(name), induced=name in INDUCED, **GAMES[rules])


def bids(history: list[tuple[Decision, Any]]) -> list[tuple[Decision, list[dict[str, Any]]]]:
    return [(d, answer.action["bids"]) for d, answer in history if d.kind == "bid"]


def sales(history: list[tuple[Decision, Any]]) -> list[tuple[Decision, dict[str, int], str]]:
    return [
        (d, answer.action["prices"], answer.action["slogan"])
        for d, answer in history
        if d.kind == "sell"
    ]


every_policy = pytest.mark.parametrize("name", sorted(POLICIES))
every_game = pytest.mark.parametrize("rules", sorted(GAMES))


@every_game
@every_policy
def test_every_answer_has_its_form_and_survives_its_spelling(name: str, rules: str) -> None:
    for decision, answer in game(name, rules):
        assert forms.check(decision.form, answer.action) is None
        assert canonical.loads(canonical.dumps(answer.action)) == answer.action


@every_game
@every_policy
def test_every_bid_line_is_valid_and_all_are_within_funds(name: str, rules: str) -> None:
    for decision, lines in bids(game(name, rules)):
        seen = decision.observation
        items = {item["item"]: item for item in seen.rules["items"]}
        assert sum(line["quantity"] * line["price"] for line in lines) <= seen.private["funds"]
        for line in lines:
            item = items[line["item"]]
            assert line["quantity"] > 0
            assert line["price"] >= item["base"]
            assert item["cap"] is None or line["price"] <= item["cap"]
            assert line["price"] % seen.rules["tick"] == 0
        names = [line["item"] for line in lines]
        assert max(map(names.count, names), default=0) <= seen.rules["lines_per_item"]


@every_game
@every_policy
def test_every_price_is_valid_and_every_slogan_short(name: str, rules: str) -> None:
    for decision, prices, slogan in sales(game(name, rules)):
        seen = decision.observation
        caps = {item["item"]: item["cap"] for item in seen.rules["items"]}
        assert prices.keys() <= seen.private["stock"].keys()
        for item, price in prices.items():
            assert price > 0
            assert caps[item] is None or price <= caps[item]
            assert price % seen.rules["tick"] == 0
        assert len(slogan.split()) <= seen.rules["slogan_words"]


@every_policy
def test_later_rounds_do_not_retreat_where_they_must_not(name: str) -> None:
    rounds: dict[int, list[list[dict[str, Any]]]] = {}
    for decision, lines in bids(game(name, "monotone")):
        rounds.setdefault(decision.step, []).append(lines)
    for step in rounds.values():
        for before, after in pairwise(step):
            earlier = {line["item"]: line for line in before}
            for line in after:
                assert line["quantity"] <= earlier[line["item"]]["quantity"]
                assert line["price"] >= earlier[line["item"]]["price"]


@every_policy
def test_all_but_those_of_the_auction_alone_trade(name: str) -> None:
    options: dict[str, Any] = {"refill": 5} if name == "bertrand" else {}
    history = played(policy(name, **options), induced=name in INDUCED)
    assert any(lines for _, lines in bids(history))
    assert any(prices for _, prices, _ in sales(history)) == (name not in INDUCED)


@every_game
@every_policy
def test_memory_is_a_function_of_history(name: str, rules: str) -> None:
    history = game(name, rules)
    for cut in (1, 5, len(history) - 1):
        again = policy(name)
        again.recall(history[:cut])
        for decision, answer in history[cut:]:
            assert again.act(decision) == answer


def test_a_history_of_another_policy_is_not_recalled() -> None:
    with pytest.raises(RecallError):
        policy("markup", markup=0.5).recall(game("markup", "default"))


@every_policy
def test_every_option_is_documented_and_checked(name: str) -> None:
    loaded = registry.load(POLICIES[name])
    documented = "\n".join(c.__doc__ or "" for c in loaded.__mro__ if c is not object)
    options = [f.name for f in dataclasses.fields(loaded) if f.name not in ("seat", "seed")]
    assert [o for o in options if f"\n        {o}: " not in documented] == []
    assert list(options_model(loaded).model_fields) == options
    options_model(loaded)()


@every_policy
def test_one_seat_and_seed_give_one_game(name: str) -> None:
    assert game(name, "default") == game(name, "default")


@pytest.mark.parametrize("name", ["random-valid", "zi-constrained", "zi-unconstrained"])
def test_another_seed_gives_a_random_policy_another_game(name: str) -> None:
    one = [answer for _, answer in played(policy(name, seed=3))]
    assert one != [answer for _, answer in played(policy(name, seed=4))]


def test_policies_load_nothing_heavy() -> None:
    modules = sorted({path.partition(":")[0] for path in POLICIES.values()})
    modules += ["market.policies.idle", "market.policies.random", "market.policies.replay"]
    code = (
        "import importlib, sys\n"
        f"for name in {modules!r}: importlib.import_module(name)\n"
        "heavy = {'numpy', 'pandas', 'numba', 'torch', 'litellm', 'pydantic', 'scipy'}\n"
        "print(sorted(heavy & sys.modules.keys()))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_markup_asks_unit_cost_and_its_markup() -> None:
    for decision, prices, _ in sales(played(Markup("m", 1, markup=0.25))):
        for item, price in prices.items():
            held = decision.observation.private["stock"][item]
            assert price == int(-(-held["cost"] // held["units"]) * 1.25)


def test_an_undercutter_is_one_below_its_cheapest_rival_or_one_above_cost() -> None:
    market: dict[str, Any] | None = None
    for decision, answer in played(Undercutter("u", 1)):
        market = decision.observation.public.get("market", market)
        if decision.kind == "bid" or market is None:
            continue
        for item, price in answer.action["prices"].items():
            rivals = [s["prices"][item] for n, s in market["retailers"].items() if n != NAME]
            held = decision.observation.private["stock"][item]
            assert price == max(min(rivals) - 1, -(-held["cost"] // held["units"]) + 1)


def test_clearing_bids_above_the_price_to_win_within_its_limit() -> None:
    history = played(Clearing("c", 1, limit=1.1, increment=0.02))
    later = [(d, lines) for d, lines in bids(history) if d.turn == 1]
    assert later
    for decision, lines in later:
        items = {item["item"]: item for item in decision.observation.rules["items"]}
        for line in lines:
            told = decision.observation.public["clearing"][line["item"]]
            item = items[line["item"]]
            scarce = told["asked"] > item["quantity"]
            wanted = told["price_to_win"] + (int(item["base"] * 0.02) if scarce else 0)
            assert line["price"] == min(wanted, int(item["base"] * 1.1))


def test_clearing_without_feedback_raises_what_lost_and_lowers_what_won() -> None:
    for decision, lines in bids(played(Clearing("c", 1, increment=0.02), bid_feedback="own")):
        if decision.turn == 0:
            continue
        before = {line["item"]: line for line in decision.observation.private["bids"]}
        base = {item["item"]: item["base"] for item in decision.observation.rules["items"]}
        for line in lines:
            item, earlier = line["item"], before[line["item"]]
            step = int(base[item] * 0.02) * (-1 if earlier["awarded"] == earlier["quantity"] else 1)
            assert line["price"] == min(
                max(base[item], earlier["price"] + step), int(base[item] * 1.15)
            )


def test_a_specialist_deals_in_one_tier() -> None:
    for _, lines in bids(played(TierSpecialist("s", 1, tier="luxury"))):
        assert {line["item"] for line in lines} <= {"item6", "item7"}
    drawn = {
        tuple(line["item"] for line in bids(played(TierSpecialist("s", seed)))[0][1])
        for seed in range(20)
    }
    assert len(drawn) == 4


def test_an_advertiser_keeps_to_the_slogan_that_drew_most() -> None:
    history = played(Advertiser("a", 1, explore=2, epsilon=0.0))
    said = [slogan for _, _, slogan in sales(history)]
    drawn = [
        d.observation.private["last"]["impressions"]
        for d, _ in history
        if d.turn == 0 and d.step > 1
    ]
    assert said[0] != said[1]
    assert said[2] == (said[0] if drawn[0] >= drawn[1] else said[1])
    assert len(set(said)) == 2


def test_an_advertiser_without_slogans_says_its_own() -> None:
    history = played(Advertiser("a", 1, themes=[], slogan="Hello"))
    assert {slogan for _, _, slogan in sales(history)} == {"Hello"}


def test_a_stuffer_fills_its_slogan() -> None:
    for words in (25, 7):
        for _, _, slogan in sales(played(KeywordStuffer("k", 1), slogan_words=words)):
            assert len(slogan.split()) == words


def test_constrained_zero_intelligence_never_asks_less_than_cost() -> None:
    below = {ZIConstrained: 0, ZIUnconstrained: 0}
    for kind in below:
        for seed in range(5):
            for decision, prices, _ in sales(played(kind("z", seed), price_cap=1.5)):
                for item, price in prices.items():
                    held = decision.observation.private["stock"][item]
                    below[kind] += price * held["units"] < held["cost"]
    assert below[ZIConstrained] == 0
    assert below[ZIUnconstrained] > 0


def test_constrained_zero_intelligence_bids_no_more_than_buyers_paid() -> None:
    market: dict[str, Any] | None = None
    for decision, lines in bids(played(ZIConstrained("z", 1))):
        market = decision.observation.public.get("market", market)
        base = {item["item"]: item["base"] for item in decision.observation.rules["items"]}
        for line in lines:
            item = line["item"]
            if market is None:
                assert line["price"] <= 1.25 * base[item]
                continue
            shops = market["retailers"].values()
            sold = sum(shop["sold"].get(item, 0) for shop in shops)
            paid = sum(shop["sold"].get(item, 0) * shop["prices"].get(item, 0) for shop in shops)
            assert line["price"] <= max(base[item], paid / sold)


def test_fixed_says_what_it_is_told() -> None:
    lines = [{"item": "item1", "quantity": 1, "price": 60}]
    history = played(Fixed("f", 1, bids=lines, multiple=1.5, slogan="Hi"))
    assert all(said == lines for _, said in bids(history))
    assert all(price == 75 for _, prices, _ in sales(history) for price in prices.values())
    assert {slogan for _, _, slogan in sales(history)} == {"Hi"}


def test_two_bertrand_sellers_meet_one_above_cost() -> None:
    sellers = {name: Bertrand(name, 1) for name in ("a", "b")}
    price, path = {"a": 150, "b": 150}, []
    decision = next(d for d, _ in played(Bertrand("a", 1)) if d.kind == "sell")
    for step in range(1, 61):
        for name, seller in sellers.items():
            market = {"retailers": {n: {"prices": {"item1": p}} for n, p in price.items()}}
            first = {"round": 1, "offers": [], "market": market if step > 1 else None}
            stock = {"item1": {"units": 500, "cost": 50_000}}
            rules = {**decision.observation.rules}
            rules["items"] = [{**rules["items"][0], "base": 100, "cap": 200}]
            private = {"name": name, "funds": 0, "stock": stock}
            for kind, public in (("bid", first), ("sell", {"clearing": None})):
                seen = dataclasses.replace(
                    decision.observation, rules=rules, public=public, private=private
                )
                answer = seller.act(dataclasses.replace(decision, kind=kind, observation=seen))
                assert isinstance(answer, Answer)
            path.append(answer.action["prices"]["item1"])
        price = {"a": path[-2], "b": path[-1]}
    assert path[:4] == [150, 150, 149, 149]
    assert set(path[2 * 49 :]) == {101}
    assert path[2 * 49 - 1] == 102


def test_burdett_judd_prices_have_the_known_distribution() -> None:
    def f(p: float) -> float:
        return 1 - (2 - p) / (2 * (p - 1))

    for chance in (0.0, 0.2, 0.5, 0.9, 0.999):
        assert f(inverse(chance, 2.0, 0.5)) == pytest.approx(chance)
    assert inverse(0.0, 2.0, 0.5) == pytest.approx(4 / 3)
    prices = [
        price / 2000
        for seed in range(60)
        for _, shelf, _ in sales(played(BurdettJudd("b", seed)))
        for item, price in shelf.items()
        if item == "item8"
    ]
    mean = 4 / 3 + sum(1 - f(4 / 3 + (k + 0.5) / 1500) for k in range(1000)) / 1500
    assert min(prices) >= 1.333
    assert sum(prices) / len(prices) == pytest.approx(mean, abs=0.03)


def test_the_equilibrium_bid_of_the_auction_is_the_known_one() -> None:
    assert equilibrium(0.7, 5, 1) == pytest.approx(0.8 * 0.7)
    assert equilibrium(1.0, 20, 8) == pytest.approx(0.6)
    assert equilibrium(0.5, 20, 8) == pytest.approx(0.4395, abs=5e-5)
    assert equilibrium(1e-6, 20, 8) == pytest.approx(1e-6, rel=0.1)
    assert equilibrium(0.9, 8, 8) == 0.0


@pytest.mark.parametrize("scale", [0.9, 1.0, 1.1])
def test_induced_bids_are_scaled_and_never_miss_a_winning_value(scale: float) -> None:
    for decision, lines in bids(played(Induced("i", 1, scale=scale), induced=True)):
        values = decision.observation.private["values"]
        items = {item["item"]: item for item in decision.observation.rules["items"]}
        said = {line["item"]: line["price"] for line in lines}
        for item, price in said.items():
            ware = items[item]
            best = equilibrium(values[item] / 10_000, 20, ware["quantity"]) * 10_000 * scale
            assert price == min(max(ware["base"], int(best + 0.5)), ware["cap"])
        assert said.keys() == {i for i, value in values.items() if value >= items[i]["base"]}


def _market(*offers: tuple[int, int]) -> dict[str, Any]:
    """Public history of an item `a`: (price, units sold) of each retailer."""
    shops = {
        str(k): {"slogan": None, "prices": {"a": price}, "sold": {"a": sold} if sold else {}}
        for k, (price, sold) in enumerate(offers)
    }
    return {"step": 1, "retailers": shops}


def test_the_response_to_prices_begins_as_a_belief_and_ends_as_what_was_seen() -> None:
    wares = {"a": Ware("a", "t", 100, 100, 300, 1, 0)}
    response = Response(highest=2.0)
    believed = response.expected("t")
    assert believed[0] == pytest.approx(1.0)
    assert believed[-1] == pytest.approx(0.0)
    for _ in range(200):
        response.observe(_market((100, 4), (150, 20), (250, 0)), wares, retailers=10)
    seen = dict(zip(response.multiples, response.expected("t"), strict=True))
    assert seen[1.0] == pytest.approx(0.4, abs=0.01)
    assert seen[1.5] == pytest.approx(2.0, abs=0.01)
    assert seen[2.0] == pytest.approx(0.0, abs=0.01)


def test_unequal_offers_are_pooled_in_equal_shares_of_their_items() -> None:
    wares = {
        "a": Ware("a", "t", 100, 100, 300, 1, 0),
        "b": Ware("b", "t", 10, 1000, 3000, 1, 0),
    }
    response = Response(highest=2.0)
    shop = {"prices": {"a": 120, "b": 1200}, "sold": {"a": 5, "b": 1}}
    for _ in range(200):
        response.observe({"retailers": {"x": shop}}, wares, retailers=10)
    assert response.expected("t")[2] == pytest.approx((0.5 + 1.0) / 2, abs=0.001)
