"""What a run will take, said before it starts.

Markets are played in this process, by scripts as they are and by models that answer each prompt
with the example it ends with. So prompts have their real length, and answers a likely one. Of many
seats, rosters and seeds only a few are played, and taken for the others, so that it takes seconds.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace

from actors.budget import owners
from actors.episode import Gathered
from actors.errors import UserError
from actors.language.prices import Prices
from actors.roster import Seat, roster
from actors.run import refuse_unset
from actors.staging import Script, grouped, stage_inline
from actors.wants import Wanted
from market import answers
from market.config import Config, recorded, resolved, rules
from market.config.documents import write
from market.config.plans import EpisodePlan, expand
from market.config.spending import Price
from market.environment import Answer, Cause, Decision, NoAction
from market.language import Reply, Request, Usage
from market.policies.tokens import estimate_messages, estimate_tokens

#: Seats played by pretended models, over all markets that are played.
PRETENDERS = 24
#: Plays the other seats of models.
STAND_IN = "market.policies.random:Random"

#: Tokens that a re-ask adds to a prompt: what was wrong, and the answer that was.
REASK_TOKENS = 200

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Takes:
    """What model calls take.

    Attributes:
        calls: Calls, without re-asks.
        read: Tokens read.
        least: Tokens written, if answers are as long as the examples.
        most: Tokens written, if every answer is as long as it may be.
    """

    calls: float = 0
    read: float = 0
    least: float = 0
    most: float = 0

    def plus(self, other: Takes, times: float = 1) -> Takes:
        """The sum with so many times another."""
        return Takes(
            self.calls + times * other.calls,
            self.read + times * other.read,
            self.least + times * other.least,
            self.most + times * other.most,
        )


@dataclass(frozen=True, slots=True)
class Estimate:
    """What one retailer will take.

    Attributes:
        retailer: Its name.
        model: The model it asks.
        reasks: Most re-asks of a decision.
        takes: What its calls take, over all its seats and episodes.
        price: What the model costs; None where unknown.
    """

    retailer: str
    model: str
    reasks: int
    takes: Takes
    price: Price | None

    def usd(self, written: float) -> float | None:
        """The cost in US dollars if so many tokens are written; nothing is read from a cache."""
        if self.price is None:
            return None
        read = self.takes.read * self.price.input_per_million
        return (read + written * self.price.output_per_million) / _MILLION

    def reasked(self) -> Estimate:
        """The same if every re-ask is needed and every answer is as long as it may be."""
        once = replace(self.takes, least=self.takes.most)
        again = replace(once, read=once.read + REASK_TOKENS * once.calls)
        return replace(self, takes=once.plus(again, self.reasks))


def preview(config: Config, prices: Prices | None = None) -> str:
    """The resolved configuration as YAML, with what it takes in comments.

    Decisions are told where the environment's rules know them: `decisions_per_seat`, the most that
    one seat is asked in an episode.

    Raises:
        UserError: If an environment variable is not set without which nothing can be played.
    """
    lines: list[str] = []
    plans = expand(config)
    refuse_unset(plans)
    if len(plans) > 1:
        lines.append(f"episodes: {len(plans):,}")
    decisions = [(_decisions(plan.config), times) for plan, times in _games(plans)]
    if all(each is not None for each, _ in decisions):
        lines.append(f"decisions: {sum((each or 0) * times for each, times in decisions):,}")
    estimates = estimate(config, prices)
    calls = sum(round(each.takes.calls) for each in estimates)
    most = sum(round(each.reasked().takes.calls) for each in estimates)
    lines.append(f"model calls: {calls:,}, at most {most:,} with re-asks")
    lines += _table(estimates)
    return write(resolved(config)) + "".join(f"# {line}".rstrip() + "\n" for line in lines)


def estimate(config: Config, prices: Prices | None = None) -> list[Estimate]:
    """What each retailer that asks a model will take, over all episodes of a configuration."""
    prices = prices or Prices(config.prices)
    asking = {owner: seat for seat, owner in _with_owners(config) if seat.model is not None}
    if not asking:
        return []
    games = _games(expand(config))
    typical = _typical([plan for plan, _ in games])
    total = dict.fromkeys(asking, Takes())
    for plan, times in games:
        for seat, owner in _with_owners(plan.config):
            if seat.model is not None:
                total[owner] = total[owner].plus(typical[plan.preset, owner], times)
    return [
        Estimate(
            retailer=owner,
            model=seat.model or "",
            reasks=int(seat.casting.options.get("reasks", 0)),
            takes=total[owner],
            price=prices.of(seat.model or ""),
        )
        for owner, seat in asking.items()
    ]


def _games(plans: Sequence[EpisodePlan]) -> list[tuple[EpisodePlan, int]]:
    """The markets with their rosters, each by its first episode, and how often it is played."""
    first = {(plan.preset, plan.roster): plan for plan in reversed(plans)}
    times = Counter((plan.preset, plan.roster) for plan in plans)
    return [(first[game], count) for game, count in times.items()]


def _decisions(config: Config) -> int | None:
    per_seat = getattr(rules(config), "decisions_per_seat", None)
    return None if per_seat is None else per_seat * sum(len(r.seats) for r in config.retailers)


def _with_owners(config: Config) -> list[tuple[Seat, str]]:
    names = owners(config)
    return [(seat, names[seat.casting.seat]) for seat in roster(config)]


def _typical(plans: Sequence[EpisodePlan]) -> dict[tuple[str | None, str], Takes]:
    """What one seat takes in one episode, by market and retailer."""
    chosen: list[tuple[EpisodePlan, set[str]]] = []
    covered: set[tuple[str | None, str]] = set()
    for plan in plans:
        asking = {owner for seat, owner in _with_owners(plan.config) if seat.model is not None}
        new = {owner for owner in asking if (plan.preset, owner) not in covered}
        if new:
            chosen.append((plan, new))
            covered |= {(plan.preset, owner) for owner in new}
    each = max(1, PRETENDERS // sum(len(new) for _, new in chosen)) if chosen else 1
    found = {}
    for plan, new in chosen:
        for owner, takes in asyncio.run(_play(plan.config, new, each)).items():
            found[plan.preset, owner] = takes
    return found


async def _play(config: Config, measured: set[str], each: int) -> dict[str, Takes]:
    """Play one episode with so many pretended models of each measured retailer."""
    pretenders: dict[str, list[str]] = {owner: [] for owner in measured}
    castings = []
    for seat, owner in _with_owners(config):
        casting = seat.casting
        if seat.model is not None:
            if len(pretenders.get(owner, ())) < each and owner in measured:
                pretenders[owner].append(casting.seat)
            else:
                casting = replace(casting, policy=STAND_IN, options={})
        castings.append(casting)
    script = Script(recorded(config), grouped(castings, len(castings)), "", 1.0)
    took = dict.fromkeys((seat for seats in pretenders.values() for seat in seats), Takes())
    episode = stage_inline(script, _PretendedFacts())
    state = await episode.start()
    while state.result is None:
        news = await episode.gather()
        for wanted in news.wanted:
            reply, takes = _pretended(wanted)
            if wanted.request.attempt == 0:
                took[wanted.key[2]] = took[wanted.key[2]].plus(takes)
            await episode.supply({wanted.key: reply})
        if news.gathered is not None:
            _refuse_crashes(news.gathered, took)
            state = await episode.apply()
    return {
        owner: Takes().plus(_sum([took[seat] for seat in seats]), 1 / len(seats))
        for owner, seats in pretenders.items()
    }


def _refuse_crashes(gathered: Gathered, seats: Container[str]) -> None:
    """Refuse a policy that crashes: it asks nothing, which is no estimate."""
    for seat, detail in gathered.failures.items():
        given = answers.load(gathered.texts[seat])
        if seat in seats and isinstance(given, NoAction) and given.cause is Cause.CRASHED:
            last = detail.strip().rpartition("\n")[2]
            raise UserError(f"The policy of the seat `{seat}` fails when it is asked: {last}.")


def _pretended(wanted: Wanted) -> tuple[Reply, Takes]:
    """The example that a prompt ends with, as a model's reply, and what the call takes."""
    request = wanted.request
    example = request.messages[-1].content.rpartition("\n")[2]
    read = estimate_messages(request.messages) + _explained(request)
    written = min(estimate_tokens(example), request.model.max_tokens)
    usage = Usage(request.model.model, read, written, None, None, 0.0)
    return Reply(example, "stop", usage), Takes(1, read, written, request.model.max_tokens)


def _explained(request: Request) -> int:
    """Tokens of the tools or of the answer's schema, which providers count as read."""
    sent = [[tool.name, tool.description, dict(tool.parameters)] for tool in request.tools]
    if not sent and request.schema is not None and request.model.output != "text":
        sent = [[dict(request.schema)]]
    return estimate_tokens(json.dumps(sent)) if sent else 0


class _PretendedFacts:
    """Finds that no text is like another, without an encoder."""

    async def answer(self, decision: Decision) -> Answer:
        asked = decision.observation.private
        if not {"texts", "references"} <= asked.keys():
            return Answer(decision.form.example)
        crowd = sum(1 for text in asked.get("crowd", ()) if text)
        return Answer(
            {
                "similarities": [[0] * len(asked["references"]) for _ in asked["texts"]],
                "convergence": 0 if crowd > 1 else None,
            }
        )


def _sum(parts: Sequence[Takes]) -> Takes:
    total = Takes()
    for part in parts:
        total = total.plus(part)
    return total


def _table(estimates: Sequence[Estimate]) -> list[str]:
    """What calls take, per retailer and in all, in columns."""
    if not estimates:
        return []
    rows = [("retailer", "model", "calls", "tokens read", "tokens written", "US dollars")]
    for each in estimates:
        rows.append((each.retailer, each.model, *_figures([each])))
    if len(estimates) > 1:
        rows.append(("in all", "", *_figures(estimates)))
    reasked = [each.reasked() for each in estimates]
    if any(each.reasks for each in estimates):
        figures = _figures(
            [replace(r, takes=replace(r.takes, least=r.takes.most)) for r in reasked]
        )
        rows.append(("at most", "", *figures))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if index < 2 else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


def _figures(estimates: Sequence[Estimate]) -> tuple[str, str, str, str]:
    total = _sum([each.takes for each in estimates])
    least = [each.usd(each.takes.least) for each in estimates]
    most = [each.usd(each.takes.most) for each in estimates]
    usd = "unknown"
    if None not in least and None not in most:
        usd = _span(*(f"{sum(part or 0.0 for part in costs):,.4f}" for costs in (least, most)))
    return (
        f"{total.calls:,.0f}",
        f"{total.read:,.0f}",
        _span(f"{total.least:,.0f}", f"{total.most:,.0f}"),
        usd,
    )


def _span(least: str, most: str) -> str:
    return least if least == most else f"{least} to {most}"
