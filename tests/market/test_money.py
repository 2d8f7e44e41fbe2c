from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market.money import ConservationError, Flow, Ledger, floor_share, half_up

BIG = st.integers(-(10**30), 10**30)


@pytest.mark.parametrize(
    ("numerator", "denominator", "rounded"),
    [(0, 7, 0), (1, 2, 1), (3, 2, 2), (149, 100, 1), (-1, 2, 0), (-3, 2, -1), (-151, 100, -2)],
)
def test_a_half_goes_up(numerator: int, denominator: int, rounded: int) -> None:
    assert half_up(numerator, denominator) == rounded


@given(BIG, st.integers(1, 10**15))
def test_half_up_is_never_further_away_than_a_half(numerator: int, denominator: int) -> None:
    error = half_up(numerator, denominator) - Fraction(numerator, denominator)
    assert -Fraction(1, 2) < error <= Fraction(1, 2)


@pytest.mark.parametrize("denominator", [0, -3])
def test_a_fraction_of_nothing_is_refused(denominator: int) -> None:
    with pytest.raises(ValueError, match="above 0"):
        half_up(1, denominator)


@given(st.integers(0, 10**18), st.lists(st.integers(0, 10**6), min_size=1).filter(any))
def test_floor_shares_never_exceed_the_total_and_lose_less_than_one_each(
    total: int, parts: list[int]
) -> None:
    whole = sum(parts)
    shares = [floor_share(total, part, whole) for part in parts]
    assert total - len(parts) < sum(shares) <= total


@pytest.mark.parametrize(("part", "whole"), [(1, 0), (-1, 2), (3, 2)])
def test_what_is_no_share_is_refused(part: int, whole: int) -> None:
    with pytest.raises(ValueError, match="no share"):
        floor_share(10, part, whole)


MOVES = st.lists(
    st.tuples(
        st.sampled_from(["money", "lemons"]),
        st.sampled_from(["#bank", "ann", "bob"]),
        st.sampled_from(["#bank", "ann", "bob"]),
        st.integers(0, 10**20),
        st.sampled_from(["sale", "gift"]),
    )
)


@given(MOVES)
def test_every_asset_sums_to_nothing_whatever_moves(
    moves: list[tuple[str, str, str, int, str]],
) -> None:
    ledger = Ledger(["#bank", "ann", "bob"])
    for move in moves:
        ledger.move(*move)
    ledger.check()
    for asset in ("money", "lemons"):
        assert sum(ledger.balance(account, asset) for account in ("#bank", "ann", "bob")) == 0


@given(MOVES, MOVES)
def test_flows_explain_every_balance_across_periods(
    first: list[tuple[str, str, str, int, str]], second: list[tuple[str, str, str, int, str]]
) -> None:
    ledger = Ledger(["#bank", "ann", "bob"])
    flows: list[Flow] = []
    for moves in (first, second):
        for move in moves:
            ledger.move(*move)
        flows += ledger.close()
    assert ledger.flows == ()
    for (account, asset), held in ledger.balances.items():
        came = sum(f.amount for f in flows if (f.asset, f.target) == (asset, account))
        went = sum(f.amount for f in flows if (f.asset, f.source) == (asset, account))
        assert came - went == held


def test_movements_are_summed_by_cause() -> None:
    ledger = Ledger(["#buyers"])
    ledger.move("money", "#buyers", "ann", 3, "sale")
    ledger.move("money", "#buyers", "ann", 4, "sale")
    ledger.move("money", "#buyers", "ann", 1, "tip")
    ledger.move("money", "#buyers", "ann", 0, "nothing")
    assert ledger.close() == (
        Flow("money", "#buyers", "ann", "sale", amount=7, moves=2),
        Flow("money", "#buyers", "ann", "tip", amount=1, moves=1),
    )


@pytest.mark.parametrize("amount", [-1, 1.0, True, "1", None])
def test_an_amount_that_is_no_count_is_refused_and_moves_nothing(amount: object) -> None:
    ledger = Ledger(["#bank"])
    with pytest.raises(ConservationError, match="cannot move"):
        ledger.move("money", "#bank", "ann", amount, "loan")  # type: ignore[arg-type]
    assert ledger.balances == {}


def test_a_figure_that_the_ledger_does_not_confirm_is_an_error() -> None:
    ledger = Ledger(["#bank"])
    ledger.move("money", "#bank", "ann", 5, "loan")
    ledger.expect("ann", "money", 5)
    with pytest.raises(ConservationError, match="ann should hold 6 money"):
        ledger.expect("ann", "money", 6)


def test_an_overdrawn_account_inside_does_not_pass_the_check() -> None:
    ledger = Ledger(["#bank"])
    ledger.move("lemons", "ann", "bob", 1, "sale")
    with pytest.raises(ConservationError, match="ann holds -1 lemons"):
        ledger.check()


def test_an_asset_on_credit_may_be_overdrawn() -> None:
    ledger = Ledger(["#bank"], overdraft=["money"])
    ledger.move("money", "ann", "bob", 1, "sale")
    ledger.check()


@pytest.mark.parametrize("account", ["ann", "#bank"])
def test_money_made_behind_the_ledgers_back_does_not_pass_the_check(account: str) -> None:
    ledger = Ledger(["#bank"])
    ledger.move("money", "#bank", "ann", 5, "loan")
    ledger._balances[account, "money"].held += 1
    with pytest.raises(ConservationError, match="from nowhere"):
        ledger.check()


def test_a_shift_between_two_accounts_that_nobody_moved_does_not_pass_the_check() -> None:
    ledger = Ledger(["#bank"])
    ledger.move("money", "#bank", "ann", 5, "loan")
    ledger.move("money", "#bank", "bob", 5, "loan")
    ledger._balances["ann", "money"].held += 1
    ledger._balances["bob", "money"].held -= 1
    with pytest.raises(ConservationError, match="moved there"):
        ledger.check()


def test_goods_of_several_kinds_move_at_once_as_one_by_one() -> None:
    together, alone = Ledger(["#supplier"]), Ledger(["#supplier"])
    goods = [("tea", 3), ("pen", 0), ("tea", 2), ("ink", 1)]
    together.move_all("#supplier", "ann", "procurement", goods)
    for asset, amount in goods:
        alone.move(asset, "#supplier", "ann", amount, "procurement")
    assert together.flows == alone.flows
    assert together.balances == alone.balances
    together.check()
    with pytest.raises(ConservationError, match="cannot move -1 ink"):
        together.move_all("ann", "#supplier", "back", [("ink", -1)])
