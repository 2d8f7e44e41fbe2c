"""Money and goods are whole numbers in a ledger (law 3).

A ledger is double entry over (account, asset): every movement has a source, a target and a
cause, so what goes out comes in. Whatever stands outside the market (buyers, the bank, the
supplier) is an account too, one that may run below zero; summed over all accounts every asset
is 0, always.

The balances and the movements by cause are kept apart, so that `check` compares two records
and not one with itself. An environment that keeps faster books of its own holds them against
the ledger with `expect`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


class ConservationError(RuntimeError):
    """Money or goods came from nowhere, or went there. A bug of the environment, never data."""


def half_up(numerator: int, denominator: int) -> int:
    """The whole number nearest to a fraction; a half goes up, towards plus infinity.

    Raises:
        ValueError: If the denominator is not above 0.
    """
    if denominator <= 0:
        raise ValueError(f"the denominator must be above 0, not {denominator}")
    return (2 * numerator + denominator) // (2 * denominator)


def floor_share(total: int, part: int, whole: int) -> int:
    """The share `part / whole` of a total, rounded down; what is lost stays with the total.

    Raises:
        ValueError: If `whole` is not above 0, or the share is not between nothing and all.
    """
    if whole <= 0 or not 0 <= part <= whole:
        raise ValueError(f"{part} of {whole} is no share")
    return total * part // whole


@dataclass(frozen=True, slots=True)
class Flow:
    """All movements of one asset from one account to another for one cause.

    Attributes:
        asset: What moved.
        source: Whose it was.
        target: Whose it became.
        cause: Why.
        amount: How much, in whole units of the asset.
        moves: In how many movements.
    """

    asset: str
    source: str
    target: str
    cause: str
    amount: int
    moves: int


@dataclass(slots=True)
class _Balance:
    """What an account holds of an asset.

    `free` may run below zero; `came` is what the movements that were checked brought it to.
    """

    account: str
    asset: str
    free: bool
    held: int = 0
    came: int = 0


@dataclass(slots=True)
class _Stream:
    """The sum of a flow under way, the two balances that it changes, and how much was checked."""

    giver: _Balance
    taker: _Balance
    amount: int = 0
    moves: int = 0
    checked: int = 0


class Ledger:
    """Balances per account and asset, changed by movements alone.

    Args:
        outside: Accounts that stand outside the market and may run below zero.
        overdraft: Assets, such as money on credit, of which an account inside may hold less
            than nothing at a check.
    """

    __slots__ = ("_assets", "_balances", "_flows", "_outside", "_overdraft", "_routes")

    def __init__(self, outside: Iterable[str], overdraft: Iterable[str] = ()) -> None:
        self._outside = frozenset(outside)
        self._overdraft = frozenset(overdraft)
        self._balances: dict[tuple[str, str], _Balance] = {}
        self._assets: dict[str, list[_Balance]] = {}
        self._flows: dict[tuple[str, str, str, str], _Stream] = {}
        #: The flows of each source, target and cause, by asset.
        self._routes: dict[tuple[str, str, str], dict[str, _Stream]] = {}

    def move(self, asset: str, source: str, target: str, amount: int, cause: str) -> None:
        """Move an amount. Nothing, and something to oneself, is no movement.

        Raises:
            ConservationError: If the amount is negative or no Python integer.
        """
        self.move_all(source, target, cause, ((asset, amount),))

    def move_all(
        self, source: str, target: str, cause: str, amounts: Iterable[tuple[str, int]]
    ) -> None:
        """Move amounts of several assets from one account to another for one cause.

        Raises:
            ConservationError: If an amount is negative or no Python integer.
        """
        route = self._routes.get((source, target, cause))
        if route is None:
            route = self._routes[source, target, cause] = {}
        for asset, amount in amounts:
            if type(amount) is not int or amount < 0:
                raise ConservationError(
                    f"{cause}: cannot move {amount!r} {asset} from {source} to {target}"
                )
            if amount == 0 or source == target:
                continue
            stream = route.get(asset)
            if stream is None:
                stream = route[asset] = _Stream(
                    self._balance(source, asset), self._balance(target, asset)
                )
                self._flows[asset, source, target, cause] = stream
            stream.giver.held -= amount
            stream.taker.held += amount
            stream.amount += amount
            stream.moves += 1

    def _balance(self, account: str, asset: str) -> _Balance:
        balance = self._balances.get((account, asset))
        if balance is None:
            free = account in self._outside or asset in self._overdraft
            balance = self._balances[account, asset] = _Balance(account, asset, free)
            self._assets.setdefault(asset, []).append(balance)
        return balance

    def balance(self, account: str, asset: str) -> int:
        """How much of an asset an account holds; 0 for one that was never moved to or from."""
        balance = self._balances.get((account, asset))
        return balance.held if balance else 0

    @property
    def balances(self) -> Mapping[tuple[str, str], int]:
        """Every balance by (account, asset), as a copy."""
        return {name: balance.held for name, balance in self._balances.items()}

    @property
    def flows(self) -> tuple[Flow, ...]:
        """The movements since the last `close`, summed by cause, in the order of their first."""
        return tuple(Flow(*name, flow.amount, flow.moves) for name, flow in self._flows.items())

    def expect(self, account: str, asset: str, amount: int) -> None:
        """Hold a figure of other books against the ledger.

        Raises:
            ConservationError: If they differ.
        """
        self.expect_all(account, ((asset, amount),))

    def expect_all(self, account: str, amounts: Iterable[tuple[str, int]]) -> None:
        """Hold figures of other books about one account against the ledger, asset by asset.

        Raises:
            ConservationError: If one differs.
        """
        find = self._balances.get
        for asset, amount in amounts:
            balance = find((account, asset))
            held = balance.held if balance else 0
            if held != amount:
                raise ConservationError(
                    f"{account} should hold {amount} {asset}, but the ledger says {held}"
                )

    def check(self) -> None:
        """Check that nothing was made or lost and that no account inside is overdrawn.

        Raises:
            ConservationError: If an asset does not sum to 0, a balance is not what all movements
                brought it to, or an account inside holds less than nothing.
        """
        for stream in self._flows.values():
            amount = stream.amount - stream.checked
            stream.checked = stream.amount
            stream.giver.came -= amount
            stream.taker.came += amount
        for asset, balances in self._assets.items():
            made, wrong = 0, None
            for balance in balances:
                held = balance.held
                made += held
                if held != balance.came:
                    wrong = balance
                if held < 0 and not balance.free:
                    raise ConservationError(f"{balance.account} holds {held} {asset}")
            if made:
                raise ConservationError(f"{made} {asset} came from nowhere")
            if wrong is not None:
                raise ConservationError(
                    f"{wrong.account} holds {wrong.held} {asset}, but {wrong.came} moved there"
                )

    def close(self) -> tuple[Flow, ...]:
        """Check, read out the movements of the period and begin the next.

        Raises:
            ConservationError: As `check`.
        """
        flows = self.flows
        self.settle()
        return flows

    def settle(self) -> None:
        """Check and begin the next period, for those who read no movements.

        Raises:
            ConservationError: As `check`.
        """
        self.check()
        self._flows.clear()
        self._routes.clear()
