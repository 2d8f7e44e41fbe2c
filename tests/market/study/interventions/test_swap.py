from __future__ import annotations

from pathlib import Path

import pytest

from market.arena.policies.markup import Markup
from market.config import ConfigError, configure, load
from market.config import recorded as recorded_of
from market.config.seating import reseated
from market.environment import Answer
from market.play import play
from market.study.interventions.rerun import RerunError, recorded
from market.study.interventions.swap import Refused, swap
from tests.market.arena.counterfactual.recordings import record, write
from tests.market.arena.games import facts

OWN = ("adaptive-1", "advertiser-2", "undercutter-3", "clearing-1", "stuffer", "zi-2")


@pytest.fixture(scope="module")
def market(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("swap") / "journal.jsonl"
    return record(path, "arena/default", "rules.steps=3", seed=3)


def duel(path: Path, a: str, b: str, *rules: str) -> Path:
    """Two shops and one item, nobody's words heard."""
    items = '[{"item": "tea", "tier": "commodity", "quantity": 20, "base": 10}]'
    return record(
        path,
        "arena/default",
        f"retailers=[{{name: a, policy: {a}}}, {{name: b, policy: {b}}}]",
        f"rules.items={items}",
        "rules.tier_affinity=null",
        "rules.buyers=20",
        "rules.attention.similarity=none",
        *rules,
    )


@pytest.mark.parametrize("seat", OWN)
def test_a_seats_own_policy_changes_nothing(market: Path, seat: str) -> None:
    entries = recorded(market).header.config["retailers"]
    (own,) = [entry for entry in entries if seat.startswith(entry["name"])]
    swapped = swap(market, seat, own["policy"], own["options"])
    assert swapped.first_difference is None
    assert swapped.gain == 0
    assert "to the byte" in swapped.note


def test_a_seats_recording_changes_nothing(market: Path) -> None:
    swapped = swap(market, "markup-1", "replay")
    assert swapped.first_difference is None
    assert swapped.step_standings == {}
    assert all(before == after for before, after in swapped.scores.values())
    assert all(before == after for before, after in swapped.refused.values())


def test_with_live_rivals_the_game_is_the_one_of_the_changed_roster(market: Path) -> None:
    config = configure(recorded(market).header.config)
    changed = reseated(config, "markup-2", "undercutter", {"premium": 0.1})
    played = play(changed, outside=facts)
    swapped = swap(market, "markup-2", "undercutter", {"premium": 0.1}, live=True, outside=facts)
    assert {seat: after for seat, (_, after) in swapped.scores.items()} == played.scores
    assert swapped.gain != 0
    assert swapped.still_recorded == ()


def test_of_one_seller_the_swap_is_the_game_played_so(tmp_path: Path) -> None:
    path = record(tmp_path / "journal.jsonl", "arena/monopoly", seed=5)
    options = {"multiple": 1.25, "premium": 0.0}
    swapped = swap(path, "monopolist", "fixed", options)
    config = configure(recorded(path).header.config)
    played = play(reseated(config, "monopolist", "fixed", options), seed=5)
    before, after = swapped.scores["monopolist"]
    assert after == played.scores["monopolist"]
    assert before > after  # 1.5 is the best price


def test_the_first_step_that_differs_is_named_and_alone_called_causal(tmp_path: Path) -> None:
    path = duel(tmp_path / "j.jsonl", "markup", "markup, options: {markup: 0.5}", "rules.steps=3")
    swapped = swap(path, "a", "markup", {"markup": 0.3})
    first = swapped.first_difference
    assert first is not None
    assert (first.step, first.turn, first.kind, first.seat) == (1, 2, "sell", "a")
    before, after = swapped.step_standings["a"]["profit"]
    assert before != after
    assert "Only the difference of step 1 is caused" in swapped.note


def test_the_effect_of_a_price_is_what_a_hand_counts(tmp_path: Path) -> None:
    # One buyer per unit, who pays up to 20; the shop has ten units of cost 10 and nobody else any.
    path = duel(
        tmp_path / "j.jsonl",
        "markup, options: {premium: 0.0, markup: 0.5}",
        "idle",
        "rules.steps=1",
        "rules.demand_ratio=1.0",
        "rules.holding_cost=0.0",
        "rules.willingness_to_pay={Thrifty: [2, 2], Ethical: [2, 2], Hype: [2, 2], "
        "Quality: [2, 2]}",
    )
    swapped = swap(path, "a", "markup", {"premium": 0.0, "markup": 0.9})
    assert swapped.step_standings["a"]["sold"] == (10, 10)
    assert swapped.scores["a"] == (10 * 5, 10 * 9)
    assert swapped.gain == 40


def test_what_became_illegal_is_refused_and_counted(tmp_path: Path) -> None:
    path = duel(tmp_path / "j.jsonl", "idle", "markup", "rules.steps=1", "rules.initial_funds=900")
    everything = {"premium": 1.0, "appetite": 2.0}
    swapped = swap(path, "a", "markup", everything)
    assert swapped.refused[Refused("b", "price", "not held")] == (0, 1)
    assert swapped.refusals == (0, 1)
    assert swapped.gain != 0


def test_a_rival_that_lives_longer_than_it_was_recorded_does_nothing(tmp_path: Path) -> None:
    path = duel(
        tmp_path / "j.jsonl",
        "markup, options: {premium: 1.0, appetite: 2.0}",
        "markup",
        "rules.steps=4",
        "rules.initial_funds=400",
        "rules.fixed_cost=150",
        "rules.terminal_stock=cost",
    )
    swapped = swap(path, "a", "idle")
    assert swapped.unrecorded["b"] > 0


def test_a_policy_that_asks_a_model_is_refused(market: Path) -> None:
    with pytest.raises(RerunError, match="market fork"):
        swap(market, "markup-1", "llm", {"model": "local"})


@pytest.mark.parametrize(
    ("seat", "policy", "options", "said"),
    [
        ("nobody", "markup", {}, "no seat `nobody`"),
        ("markup-1", "nonsense", {}, "no policy `nonsense`"),
        ("markup-1", "markup", {"colour": "red"}, "colour"),
    ],
)
def test_a_mistake_is_told_in_a_sentence(
    market: Path, seat: str, policy: str, options: dict[str, str], said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        swap(market, seat, policy, options)


def test_seats_that_ask_a_model_stay_recorded_and_are_named(tmp_path: Path) -> None:
    config = load(
        "arena/default",
        [
            "rules.steps=2",
            "retailers=[{name: a, policy: markup}, "
            "{name: b, policy: llm, options: {model: local}}, {name: c, policy: markup}]",
        ],
    )
    players = {seat: Markup(seat, config.seed).act for seat in "abc"}
    model = write(tmp_path / "model.jsonl", recorded_of(config), players)
    swapped = swap(model, "a", "markup", {"markup": 0.6}, live=True, outside=facts)
    assert swapped.still_recorded == ("b",)
    assert "recorded ones of b" in swapped.note
    assert isinstance(recorded(model).answers[1, 0, "b"], Answer)
