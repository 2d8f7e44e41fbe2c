from __future__ import annotations

from dataclasses import replace

import pytest

from market.arena.indices import (
    ItemStep,
    MarketStep,
    Trade,
    bid_price,
    bluff,
    figures,
    item_figures,
    means,
    welfare,
)

TEA = ItemStep(
    item="tea",
    base=100,
    revenue=(1200, 0, 0, 1300),
    sold=(10, 0, 0, 10),
    prices=(120, 150, None, 130),
    provisional=(100.0, 110.0, None, 120.0),
    final=(110.0, 110.0, 105.0, None),
)
GOLD = ItemStep(
    item="gold",
    base=1000,
    revenue=(0, 0, 0, 0),
    sold=(0, 0, 0, 0),
    prices=(None, 2000, None, None),
    provisional=(None, 1000.0, None, None),
    final=(None, 1500.0, None, None),
)
STEP = MarketStep(
    net_worth=(40, 30, 20, 10),
    revenue=(1200, 0, 0, 1300),
    cost_of_goods=(1050, 0, 0, 1150),
    profit=(150, -20, 0, 150),
    sold=(10, 0, 0, 10),
    offered=(1, 2, 0, 1),
    won=(12, 1, 5, 10),
    items=(TEA, GOLD),
    trade=Trade(spend=3000, won_value=2800, sold_value=2000, surplus=400, bound=1200.0),
    convergence=250_000,
)
NOTHING = MarketStep(
    net_worth=(0, 0),
    revenue=(0, 0),
    cost_of_goods=(0, 0),
    profit=(0, 0),
    sold=(0, 0),
    offered=(0, 0),
    won=(0, 0),
    items=(ItemStep("tea", 100, (0, 0), (0, 0), (None, None), (None, None), (None, None)),),
    trade=Trade(0, 0, 0, None, None),
    convergence=None,
)


def test_a_step_worked_by_hand():
    row = figures(STEP)
    assert row["gini_net_worth"] == pytest.approx(0.25)
    assert row["gini_net_worth_corrected"] == pytest.approx(1 / 3)
    assert row["hhi_net_worth"] == pytest.approx(0.30)
    assert row["cr4_net_worth"] == pytest.approx(1.0)
    assert row["hhi_revenue"] == pytest.approx(0.48**2 + 0.52**2)
    assert row["effective_number_revenue"] == pytest.approx(1 / (0.48**2 + 0.52**2))
    assert (row["active_sold"], row["active_offered"], row["active_won"]) == (0.5, 0.75, 1.0)
    assert row["slogan_convergence"] == 0.25
    assert row["gross_margin"] == pytest.approx(300 / 2500)
    assert row["net_margin"] == pytest.approx(280 / 2500)


def test_the_first_step_has_no_mobility_and_a_reversed_second_has_all():
    assert figures(STEP)["rank_mobility_net_worth"] is None
    reversed_step = replace(STEP, net_worth=(10, 20, 30, 40))
    assert figures(reversed_step, STEP)["rank_mobility_net_worth"] == 1.0
    assert figures(reversed_step, STEP)["rank_mobility_profit"] == 0.0


def test_a_market_without_trade_or_wealth_has_no_figures_and_no_zeros_for_them():
    row = figures(NOTHING, NOTHING)
    defined = {name for name, figure in row.items() if figure is not None}
    assert defined == {
        "active_sold",
        "active_offered",
        "active_won",
        "retailer_surplus",
        "supplier_surplus",
    }


def test_items_carry_their_own_concentration_and_prices():
    tea, gold = item_figures(STEP)["tea"], item_figures(STEP)["gold"]
    assert tea["price_mean"] == pytest.approx(400 / 3 / 100)
    assert (tea["price_low"], tea["price_high"]) == (1.2, 1.5)
    assert tea["paid"] == 1.25
    assert tea["price_dispersion"] == pytest.approx((1400 / 9) ** 0.5 / (400 / 3))
    assert (tea["sellers"], tea["sold"]) == (3, 20)
    assert gold["hhi_revenue"] is None
    assert gold["paid"] is None
    assert gold["price_dispersion"] is None


def test_every_item_and_step_has_the_same_columns():
    rows = item_figures(STEP)
    assert rows["tea"].keys() == rows["gold"].keys()
    assert figures(STEP).keys() == figures(NOTHING).keys()


def test_bluff_counts_only_who_bid_in_both_rounds():
    # tea: 0.1 and 0; gold: 0.5
    assert bluff([TEA, GOLD]) == pytest.approx(0.2)
    assert bluff(NOTHING.items) is None


def test_a_schedule_of_bids_is_represented_by_its_mean_price():
    assert bid_price([(3, 100)]) == 100
    assert bid_price([(3, 100), (1, 140), (0, 900)]) == 110
    assert bid_price([(0, 100)]) is None
    assert bid_price([]) is None


def test_welfare_adds_up_to_worth_less_base_price_when_all_that_was_won_is_sold():
    # 10 units, base 100, bought at 110, sold at 130, worth 170 each
    trade = Trade(spend=1100, won_value=1000, sold_value=1000, surplus=400, bound=1000.0)
    row = welfare(trade, revenue=1300, profit=200)
    gains = ("consumer_surplus", "retailer_surplus", "supplier_surplus")
    assert [row[name] for name in gains] == [400, 200, 100]
    assert sum(row[name] for name in gains) == 1700 - 1000
    assert row["allocative_efficiency"] == pytest.approx(0.7)


def test_buyers_without_a_limit_have_no_surplus():
    row = welfare(Trade(1100, 1000, 1000, None, None), revenue=1300, profit=200)
    assert row["consumer_surplus"] is None
    assert row["allocative_efficiency"] is None


def test_means_leave_out_steps_where_a_figure_is_undefined():
    rows = [{"a": 1, "b": None}, {"a": 3, "b": None}, {"a": None, "b": None}]
    assert means(rows) == {"a": 2.0, "b": None}
    assert means([]) == {}
