"""What models may take: money, tokens and hours, over all episodes of a run and per retailer.

Before a call its ceiling is reserved, and none starts if what is spent and reserved would pass a
limit with it. A call that may fit once others have come back waits for them, and holds up nobody
who fits; one that can never fit ends its episode for now (`OwedError`), which goes on when the run
is resumed under a higher limit. So no order in which calls begin and end overspends.

What a call cost is known when a reply says so. Of a call that is lost, and of every try that may
have been worked on although no answer came of it, nobody knows: each counts at the call's ceiling,
and is told as unknown. Tries are not reserved one by one, so by these, and by nothing else, a limit
may seem to be passed; what a provider bills for an answer that it did not give is far below it.
The logs of calls hold all this, so a run that is resumed reads from them what was spent; there is
no other state.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from actors.ceilings import most_tokens
from actors.errors import OwedError, UserError
from actors.language.prices import Prices
from actors.roster import roster
from market.calls import CallKey, CallRecord, Calls, Outcome
from market.config import Config
from market.config.spending import Limits
from market.language import ProviderFailure, Reply, Request

#: Money is counted in whole trillionths of a US dollar: sums are exact.
UNITS = 10**12

#: Causes of a failure with which a provider says that it did not answer, where a log of before
#: does not say how many tries are unsure.
DECLINED = frozenset({"rate_limit", "rejected", "server"})

SECONDS_PER_HOUR = 3_600


@dataclass(frozen=True, slots=True)
class Amount:
    """What a call takes, or may take.

    Attributes:
        tokens: Tokens read and written.
        money: Price in `UNITS`; None where nobody knows it.
    """

    tokens: int
    money: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Hold:
    """Room that is reserved for one call.

    Attributes:
        retailer: For whose seat.
        model: The model asked.
        tokens: Most tokens that it reads and that it writes.
        most: The ceiling.
    """

    retailer: str
    model: str
    tokens: tuple[int, int]
    most: Amount


@dataclass(slots=True)
class _Purse:
    """What is spent and reserved under one set of limits; unknown amounts at their most."""

    limits: Limits
    whose: str
    spent: Amount = Amount(0, 0)
    unknown: Amount = Amount(0, 0)
    held: Amount = Amount(0, 0)

    def fits(self, hold: Hold, seconds: float) -> bool:
        """Whether a call may begin now.

        Raises:
            OwedError: If it never may.
        """
        limits, most = self.limits, hold.most
        if limits.hours is not None and seconds >= limits.hours * SECONDS_PER_HOUR:
            played = f"{seconds / SECONDS_PER_HOUR:.2f} hours have been played"
            raise self._owed("hours", f"{limits.hours:g} hours", played)
        if limits.tokens is not None:
            if self.spent.tokens + most.tokens > limits.tokens:
                raise self._owed(
                    "tokens",
                    f"{limits.tokens:,} tokens",
                    f"{self.spent.tokens:,} are spent"
                    f"{_of_which(self.unknown.tokens, f'{self.unknown.tokens:,}')} and the next "
                    f"call may take {most.tokens:,}",
                )
            if self.spent.tokens + self.held.tokens + most.tokens > limits.tokens:
                return False
        if limits.usd is None:
            return True
        whole = round(limits.usd * UNITS)
        if most.money is None:
            raise OwedError(
                f"A budget in US dollars needs a price, and the model {hold.model!r} has none; "
                "give it in `prices`"
            )
        spent, held, unknown = (a.money or 0 for a in (self.spent, self.held, self.unknown))
        if spent + most.money > whole:
            raise self._owed(
                "usd",
                dollars(whole),
                f"{dollars(spent)} are spent{_of_which(unknown, dollars(unknown))} and the next "
                f"call may cost {dollars(most.money)}",
            )
        return spent + held + most.money <= whole

    def _owed(self, key: str, limit: str, why: str) -> OwedError:
        name = f"`budget.{key}`{self.whose}"
        return OwedError(f"The budget of {limit} is used up: {why}. Raise {name} to go on")


class Budget:
    """One budget for all episodes of a run. Used from one event loop.

    Args:
        limits: Limits of the whole run.
        retailers: Further limits, by the names of retailers.
        prices: What models cost.
        clock: Seconds on a clock that only goes forward.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        retailers: Mapping[str, Limits] | None = None,
        prices: Prices | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.prices = prices or Prices()
        self._run = _Purse(limits or Limits(), "")
        self._retailers = {
            name: _Purse(own, f" of the retailer `{name}`")
            for name, own in (retailers or {}).items()
        }
        self._clock = clock
        self._began = clock()
        self._before = 0.0
        self._waiting: dict[Hold, asyncio.Future[None]] = {}

    @property
    def played(self) -> float:
        """Seconds that the run has been played for, those of earlier runs included.

        Of these the time up to their last call is known.
        """
        return self._before + self._clock() - self._began

    @property
    def tokens(self) -> int:
        """Tokens spent so far; where they are unknown the most that it can be."""
        return self._run.spent.tokens

    def count(self, calls: Calls, owners: Mapping[str, str]) -> None:
        """Count what a log of earlier runs says was spent; for each log once.

        Args:
            calls: The log.
            owners: Retailers by the ids of their seats.
        """
        sent: dict[CallKey, CallRecord] = {}
        for record in calls.records:
            self._before = max(self._before, record.played or 0.0)
            if record.outcome is Outcome.SENT:
                sent[record.key] = record
            elif record.outcome is not Outcome.SEAT_FAILED:
                request = sent.pop(record.key, record)
                self._count(request, owners, record.reply, unsure_tries(record))
        for record in sent.values():
            self._count(record, owners, None, 1)

    def _count(
        self,
        request: CallRecord,
        owners: Mapping[str, str],
        reply: Reply | None,
        unsure: int,
    ) -> None:
        owner = owners.get(request.seat, request.seat)
        hold = self._hold(owner, request.model or "", request.ceiling or (0, 0))
        self._spend(hold, *self._took(hold, reply, unsure))

    async def reserve(self, retailer: str, request: Request) -> Hold:
        """Reserve the ceiling of a call, once there is room for it.

        Args:
            retailer: The retailer that asks.
            request: What it asks.

        Raises:
            OwedError: If there will be no room.
        """
        hold = self._hold(retailer, request.model.model, most_tokens(request))
        if self._fits(hold):
            self._book(hold, 1)
            return hold
        admitted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[hold] = admitted
        try:
            await admitted
        except asyncio.CancelledError:
            if admitted.done() and not admitted.cancelled() and admitted.exception() is None:
                self.release(hold)
            raise
        finally:
            self._waiting.pop(hold, None)
        return hold

    def release(self, hold: Hold) -> None:
        """Give back the room of a call that was never sent."""
        self._book(hold, -1)
        self._admit()

    def settle(self, hold: Hold, outcome: Reply | ProviderFailure | None) -> None:
        """Count what a call took instead of its ceiling.

        Args:
            hold: What was reserved for it.
            outcome: What came of it; None if it is lost.
        """
        reply, unsure = None, 1
        if isinstance(outcome, Reply):
            reply, unsure = outcome, outcome.usage.unsure
        elif outcome is not None:
            unsure = outcome.unsure
        self._book(hold, -1)
        self._spend(hold, *self._took(hold, reply, unsure))
        self._admit()

    def _purses(self, retailer: str) -> list[_Purse]:
        own = self._retailers.get(retailer)
        return [self._run] if own is None else [self._run, own]

    def _hold(self, retailer: str, model: str, tokens: tuple[int, int]) -> Hold:
        money = None
        # Prices are looked up where they count: the table takes seconds to load.
        if any(purse.limits.usd is not None for purse in self._purses(retailer)):
            money = _units(self.prices.most(model, *tokens))
        return Hold(retailer, model, tokens, Amount(sum(tokens), money))

    def _took(self, hold: Hold, reply: Reply | None, unsure: int) -> tuple[Amount, Amount]:
        """What a call took with all its tries, and how much of that is only its ceiling."""
        took, guessed = self._answered(hold, reply)
        for _ in range(unsure):
            took, guessed = _plus(took, hold.most), _plus(guessed, hold.most)
        return took, guessed

    def _answered(self, hold: Hold, reply: Reply | None) -> tuple[Amount, Amount]:
        """What an answer took, and how much of that is only its ceiling."""
        if reply is None or reply.usage.cached:
            return Amount(0, 0), Amount(0, 0)
        usage = reply.usage
        known = (usage.prompt_tokens, usage.completion_tokens)
        pairs = list(zip(known, hold.tokens, strict=True))
        tokens = sum(most if count is None else count for count, most in pairs)
        guessed = sum(most for count, most in pairs if count is None)
        money = _units(self.prices.cost(hold.model, usage))
        if money is not None:
            return Amount(tokens, money), Amount(guessed, 0)
        return Amount(tokens, hold.most.money), Amount(guessed, hold.most.money)

    def _fits(self, hold: Hold) -> bool:
        seconds = self.played
        # Every purse is asked: one that never has room is to be told of though another only waits.
        answers = [purse.fits(hold, seconds) for purse in self._purses(hold.retailer)]
        return all(answers)

    def _book(self, hold: Hold, sign: int) -> None:
        for purse in self._purses(hold.retailer):
            purse.held = _plus(purse.held, hold.most, sign)

    def _spend(self, hold: Hold, took: Amount, guessed: Amount) -> None:
        for purse in self._purses(hold.retailer):
            purse.spent = _plus(purse.spent, took)
            purse.unknown = _plus(purse.unknown, guessed)

    def _admit(self) -> None:
        """Let in whoever fits now, the longest waiting first, and send away who never will."""
        for hold, admitted in list(self._waiting.items()):
            if admitted.done():
                continue
            try:
                fits = self._fits(hold)
            except OwedError as owed:
                admitted.set_exception(owed)
                continue
            if fits:
                self._book(hold, 1)
                admitted.set_result(None)


def budget_of(
    config: Config, prices: Prices | None = None, clock: Callable[[], float] = time.monotonic
) -> Budget:
    """The budget of a configuration, nothing spent.

    Raises:
        UserError: If there is a limit in US dollars for a model without a price.
    """
    prices = prices or Prices(config.prices)
    models = {seat.casting.seat: seat.model for seat in roster(config)}
    unpriced: dict[str, None] = {}
    for retailer in config.retailers:
        if config.budget.usd is None and retailer.budget.usd is None:
            continue
        for model in {models[seat] for seat in retailer.seats} - {None}:
            assert model is not None
            if prices.of(model) is None:
                unpriced[model] = None
    if unpriced:
        names = ", ".join(repr(name) for name in unpriced)
        raise UserError(
            f"A budget in US dollars needs the price of every model, and none is known of {names}; "
            "give it in `prices`, or set a budget in `tokens`."
        )
    own = {retailer.name: retailer.budget for retailer in config.retailers}
    return Budget(config.budget, own, prices, clock)


def owners(config: Config) -> dict[str, str]:
    """The names of the retailers, by the ids of their seats."""
    return {seat: retailer.retailer for retailer in config.retailers for seat in retailer.seats}


def unsure_tries(record: CallRecord) -> int:
    """The tries of a call that is over of which nobody knows what they cost."""
    if record.reply is not None:
        return record.reply.usage.unsure
    if record.outcome is Outcome.PROVIDER_FAILED:
        declined = record.cause in DECLINED
        return int(not declined) if record.unsure is None else record.unsure
    return int(record.outcome is Outcome.LOST)


def dollars(units: int) -> str:
    """Money for people, as many digits as it takes."""
    text = f"{units / UNITS:,.6f}".rstrip("0")
    whole, _, cents = text.partition(".")
    return f"${whole}.{cents:0<2}"


def _of_which(unknown: int, text: str) -> str:
    return f" ({text} of it unknown, taken at its most)" if unknown else ""


def _units(usd: float | None) -> int | None:
    return None if usd is None else round(usd * UNITS)


def _plus(left: Amount, right: Amount, sign: int = 1) -> Amount:
    # Money that nobody knows is only ever added where no limit in US dollars needs it.
    return Amount(left.tokens + sign * right.tokens, (left.money or 0) + sign * (right.money or 0))
