from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from market import registry
from market.config import Config, ConfigError, configure, expand, load, recorded, resolved, rules
from market.config.documents import write
from market.config.plans import MOST_ID, EpisodePlan
from market.environment import Decision
from market.play import play
from market.policies.policy import Policy
from market.replay import build_environment

LEMONADE = "tests.lemonade:ENVIRONMENT"
RETAILERS = [{"name": "a", "policy": "idle"}, {"name": "b", "policy": "random", "count": 3}]
SMALL = [
    "rules.steps=2",
    "rules.attention.similarity=none",
    "rules.items=[{item: tea, tier: commodity, quantity: 1200, base: 50}]",
    "rules.tier_affinity=null",
]


def lemonade(tournament: Mapping[str, Any] | None = None, **more: Any) -> Config:
    values = {"environment": LEMONADE, "retailers": RETAILERS, "seed": 5, **more}
    return configure(values if tournament is None else {**values, "tournament": dict(tournament)})


def ids(config: Config) -> list[str]:
    return [plan.id for plan in expand(config)]


def arena(*overrides: str) -> dict[str, EpisodePlan]:
    return {
        plan.roster: plan
        for plan in expand(load("arena/paper", [*SMALL, "tournament.seeds=1", *overrides]))
    }


def test_a_configuration_without_a_tournament_is_one_episode() -> None:
    config = lemonade()
    (plan,) = expand(config)
    assert (plan.id, plan.config, plan.seed, plan.preset) == ("seed-5", config, 5, None)


def test_a_tournament_is_rosters_by_seeds_by_repetitions() -> None:
    config = lemonade({"rosters": ["all", "leave-one-out"], "seeds": 3, "repetitions": 2})
    plans = expand(config)
    assert len(plans) == (1 + 4) * 3 * 2
    assert len({plan.id for plan in plans}) == len(plans)
    assert plans[1].id == "without-a.seed-5.rep-1"
    assert [plan.seed for plan in plans[:15]] == [5] * 5 + [6] * 5 + [7] * 5
    for plan in plans:
        assert plan.config.tournament is None
        assert plan.config.seed == plan.seed


@pytest.mark.parametrize(
    ("seeds", "expected"),
    [
        (2, [5, 6]),
        ([9, -1], [9, -1]),
        ({"count": 2}, [5, 6]),
        ({"first": 0, "count": 2}, [0, 1]),
    ],
)
def test_seeds_are_a_number_a_list_or_a_row(seeds: Any, expected: list[int]) -> None:
    assert [plan.seed for plan in expand(lemonade({"seeds": seeds}))] == expected


def test_every_plan_is_a_configuration_and_so_is_the_tournament() -> None:
    config = lemonade({"rosters": ["self-play", "one-among-many"], "seeds": 2})
    assert configure(resolved(config)) == config
    assert expand(configure(resolved(config))) == expand(config)
    for plan in expand(config):
        assert configure(resolved(plan.config)) == plan.config


def test_an_extended_tournament_keeps_the_episodes_that_it_had() -> None:
    subsets = {"design": "subsets", "size": 2, "count": 3}
    small = expand(lemonade({"rosters": [subsets], "seeds": 2}))
    large = expand(
        lemonade({"rosters": ["all", {**subsets, "count": 12}], "seeds": 4, "repetitions": 2})
    )
    assert set(map(str, small)) < set(map(str, large))


def test_ids_are_bounded_names_of_folders() -> None:
    long = "x" * 64
    retailers = [{"name": f"{long[:-1]}{c}", "policy": "idle", "count": 2} for c in "ab"]
    config = lemonade(
        {"rosters": ["one-among-many", "leave-one-out"], "seeds": [10**90, 10**90 + 1]},
        retailers=retailers,
    )
    found = ids(config)
    assert len(set(found)) == len(found) == (2 + 4) * 2
    assert max(map(len, found)) <= MOST_ID < 255
    assert not any("/" in each or each.startswith(".") for each in found)


def test_designs_take_names_where_two_would_make_one_roster() -> None:
    twice = ["all", {"design": "all", "name": "again"}]
    assert ids(lemonade({"rosters": twice})) == ["all.seed-5.rep-1", "again.seed-5.rep-1"]
    chosen = [{"name": "duel", "retailers": ["a", "b-2"]}]
    (duel,) = expand(lemonade({"rosters": chosen}))
    assert duel.roster == "duel"
    assert [(each.name, each.without) for each in duel.config.retailers] == [
        ("a", []),
        ("b", [1, 3]),
    ]
    named = [{"design": "leave-one-out", "of": "retailers", "name": "drop"}]
    assert ids(lemonade({"rosters": named}))[0] == "drop-without-a.seed-5.rep-1"


def test_gaps_stand_in_the_header_and_only_where_there_are_any() -> None:
    plans = {plan.roster: plan for plan in expand(lemonade({"rosters": ["all", "leave-one-out"]}))}
    entry = recorded(plans["without-b-2"].config)["retailers"][1]
    assert entry["without"] == [2]
    assert "without" not in recorded(plans["all"].config)["retailers"][1]
    assert build_environment(recorded(plans["without-b-2"].config)).seats == ("a", "b-1", "b-3")


def test_who_stays_when_one_is_left_out_keeps_name_luck_and_buyers() -> None:
    plans = arena('tournament.rosters=["all", "leave-one-out"]')
    whole, gap = plans["all"], plans["without-markup-2"]

    def asked(plan: EpisodePlan) -> dict[str, Decision]:
        environment = build_environment(recorded(plan.config))
        return {decision.seat: decision for decision in environment.start()}

    def luck(decision: Decision) -> float:
        zi: type[Policy] = registry.load("market.arena.policies.zi_constrained:ZIConstrained")
        return zi(decision.seat, 1).draws(decision).uniform()

    before, after = asked(whole), asked(gap)
    assert before.keys() - after.keys() == {"markup-2"}
    for seat, decision in after.items():
        assert decision.observation.private == before[seat].observation.private
        assert luck(decision) == luck(before[seat])
    demand = [
        [(row.step, row.item, row.buyers, row.wanted) for row in played.rows("demand")]
        for played in (play(plan.config, events=True) for plan in (whole, gap))
    ]
    assert demand[0] == demand[1]


def test_leaving_out_keeps_the_market_and_what_each_retailer_begins_with() -> None:
    plans = arena('tournament.rosters=["all", "leave-one-out"]')
    whole, gap = rules(plans["all"].config), rules(plans["without-zi-1"].config)
    assert gap.initial_funds == whole.funds(20) == gap.funds(19)
    assert (gap.supply, gap.buyers) == (whole.supply, whole.buyers)


def test_a_market_may_instead_keep_its_size_per_retailer_or_nothing() -> None:
    half = 'tournament.rosters=[{design: self-play, size: 10, name: half}, "all"]'
    plans = arena(half, "tournament.keep=share")
    whole, small = rules(plans["all"].config), rules(plans["half-self-markup-x10"].config)
    assert (whole.supply, small.supply) == ([1200], [600])
    assert (whole.buyers, small.buyers) == (200, 100)
    assert small.funds(10) == whole.funds(20)
    plans = arena(half, "tournament.keep=nothing")
    small = rules(plans["half-self-markup-x10"].config)
    assert (small.supply, small.initial_funds) == ([1200], None)
    assert small.funds(10) == 2 * whole.funds(20)


def test_a_market_that_cannot_shrink_is_refused_with_its_roster() -> None:
    few = "rules.items=[{item: tea, tier: t, quantity: 4, base: 50}, "
    few += "{item: cup, tier: t, quantity: 4, base: 50}]"
    with pytest.raises(ConfigError, match=r"`tournament.keep`: for the roster `x-self-\w+-x7` bu"):
        arena(
            few,
            "rules.demand_ratio=1.0",
            "rules.buyers=8",
            "tournament.keep=share",
            "tournament.rosters=[{design: self-play, size: 7, name: x}]",
        )


def test_rules_may_be_meant_for_another_number_than_the_pool() -> None:
    plans = arena(
        "tournament.rosters=[{design: subsets, size: 6, count: 1}]", "tournament.nominal=6"
    )
    (plan,) = plans.values()
    assert plan.config.rules["initial_funds"] is None


def test_presets_are_played_under_the_rules_laid_over_them(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("extends: arena/default\nrules: {buyers: 150}\n")
    values = {
        "rules": {"steps": 2},
        "retailers": [{"name": "markup", "policy": "markup", "count": 2}],
        "tournament": {"presets": ["arena/paper", "own.yaml"]},
    }
    (tmp_path / "t.yaml").write_text(write(values))
    config = load(str(tmp_path / "t.yaml"))
    own, paper = expand(config)
    assert (paper.id, own.id) == ("paper.all.seed-0.rep-1", "own.all.seed-0.rep-1")
    assert (paper.config.rules["buyers"], own.config.rules["buyers"]) == (200, 150)
    assert paper.config.rules["steps"] == own.config.rules["steps"] == 2
    assert paper.config.environment == "arena"
    # What was recorded needs the files no more, and takes later options as the file did.
    again = configure(resolved(config))
    assert expand(again) == (own, paper)
    recorded_file = tmp_path / "again.yaml"
    recorded_file.write_text(write(resolved(config)))
    longer = expand(load(str(recorded_file), ["rules.steps=3"]))
    assert [plan.config.rules["steps"] for plan in longer] == [3, 3]


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"seeds": 0}, "`tournament.seeds`"),
    ({"seeds": [1, 1]}, "`tournament.seeds`: a seed is named twice."),
    ({"rosters": []}, "`tournament.rosters`"),
    ({"rosters": ["al"]}, "`tournament.rosters.0`"),
    ({"rosters": ["all", "all"]}, "`tournament.rosters.1`: there is a roster `all` already;"),
    ({"rosters": [{"design": "subsets", "size": 2}]}, "`tournament.rosters.0.count`: the design"),
    ({"rosters": [{"design": "subsets", "size": 9, "count": 1}]}, "a subset of 9 cannot be drawn"),
    ({"rosters": [{"design": "all", "size": 2}]}, "`tournament.rosters.0.size`: the design `all`"),
    ({"rosters": [{"name": "x", "retailers": ["c"]}]}, "there is no retailer and no seat `c`"),
    ({"rosters": [{"retailers": ["a"]}]}, "`tournament.rosters.0.name`: the design `chosen`"),
    ({"presets": ["arena/papre"]}, "`tournament.presets.0`: There is no file and no preset"),
    ({"presets": ["arena/paper"]}, "`paper` is a market of the environment `arena`"),
    ({"presets": []}, "`tournament.presets`: name one at least"),
    (
        {"presets": {"../up": {"environment": LEMONADE, "rules": {}}}},
        "`tournament.presets`: `../up` cannot be the name of a folder.",
    ),
    ({"keep": "share", "rosters": ["leave-one-out"]}, "`tournament.keep`: the environment"),
    ({"seeds": 100_000, "repetitions": 2}, "`tournament`: it has more than 100,000 episodes."),
    ({"seads": 3}, "`tournament.seads`: is no key here; did you mean `seeds`."),
]


@pytest.mark.parametrize(("tournament", "told"), REFUSED)
def test_a_tournament_that_cannot_be_played_is_refused_in_one_sentence(
    tournament: dict[str, Any], told: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        lemonade(tournament)
    assert told in str(raised.value)
    assert str(raised.value).endswith(".")


def test_presets_that_the_rules_make_one_market_are_refused() -> None:
    whole = load("arena/paper").rules
    with pytest.raises(ConfigError, match="`default` and `paper` are one market"):
        configure(
            {
                "rules": whole | {"tier_affinity": None, "willingness_to_pay": None},
                "retailers": [{"name": "a", "policy": "idle"}],
                "tournament": {"presets": ["arena/paper", "arena/default"]},
            }
        )


def test_seats_that_two_retailers_would_share_are_refused_where_a_design_makes_them() -> None:
    retailers = [{"name": "a", "policy": "idle"}, {"name": "a-2", "policy": "idle"}]
    with pytest.raises(ConfigError, match=r"`tournament.rosters.0`: the seat `a-2` is taken"):
        lemonade({"rosters": ["one-among-many"]}, retailers=retailers)


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"count": 2, "without": [3]}, "retailer `a` has no seat 3 to go without"),
        ({"count": 2, "without": [1, 2]}, "retailer `a` goes without all its seats"),
        ({"without": [1]}, "retailer `a` goes without all its seats"),
    ],
)
def test_gaps_that_are_none_are_refused(entry: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        lemonade(retailers=[{"name": "a", "policy": "idle", **entry}])


@pytest.mark.parametrize(
    ("preset", "episodes"), [("tournaments/arena-scripted", 80), ("tournaments/models", 180)]
)
def test_the_shipped_tournaments_expand(preset: str, episodes: int) -> None:
    assert len(expand(load(preset))) == episodes
