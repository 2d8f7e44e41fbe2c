"""Draws what becomes of a request from a seed and from the request itself.

What the model says is keyed by the seed and the content; what the provider does to a request by
how often the content was asked before, too. Neither is keyed by when a request arrived.
"""

from __future__ import annotations

import email.utils
import itertools
import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from actors.language.rehearsal.answers import Answer, answer
from actors.language.rehearsal.reactions import Asked, Body, Drops, Fails, Hangs, Reaction, Says
from actors.language.rehearsal.settings import SLIPS, TROUBLES, Settings, Slip
from market.rng import Draws, draws

#: Characters of a token, counted when tokens are told: about what English and JSON take.
CHARACTERS: Final = 4
#: Characters of a streamed piece.
PIECE: Final = 24

_REFUSAL: Final = "I'm sorry, but I can't help with that."

#: Ways to spoil JSON.
_SPOILED: Final[tuple[Callable[[str], str], ...]] = (
    lambda text: text[:-1],
    lambda text: text.replace('"', "'"),
    lambda text: text.replace(":", "=", 1),
    lambda _: '{"thoughts": "I would rather think about it."}',
    lambda _: "Let me think about what the market needs now.",
)

Name = TypeVar("Name")


class Rehearsal:
    """A `Behaviour` that is set by a seed and shares.

    Args:
        settings: Its settings.
        wall_clock: Seconds since the epoch, for Retry-After as a date.
    """

    def __init__(self, settings: Settings, wall_clock: Callable[[], float] = time.time) -> None:
        self._settings = settings
        self._wall_clock = wall_clock
        self._arrivals = itertools.count()

    def __call__(self, asked: Asked) -> Reaction:
        """What becomes of a request."""
        settings = self._settings
        said = draws(settings.seed, "rehearsal answer", asked.digest)
        slip = _drawn(SLIPS, [getattr(settings, name) for name in SLIPS], said.uniform())
        sent = draws(settings.seed, "rehearsal provider", asked.digest, asked.earlier)
        trouble = _drawn(TROUBLES, [getattr(settings, name) for name in TROUBLES], sent.uniform())
        arrival = next(self._arrivals)
        if arrival < len(settings.script):
            name = settings.script[arrival]
            trouble = next((each for each in TROUBLES if each == name), None)
            slip = next((each for each in SLIPS if each == name), None)
        after = settings.latency
        if settings.spread:
            after *= math.exp(settings.spread * _normal(sent))
        match trouble:
            case "rate_limit":
                return self._limited(sent, after)
            case "errors":
                status = 500 if sent.uniform() < 0.5 else 503
                return Fails(status, "rehearsed: the server failed", after=after)
            case "hangs":
                return Hangs()
            case "drops":
                return Drops(after)
        says = replace(self._says(asked.body, slip, said), after=after)
        if trouble == "breaks":
            return _broken(says)
        if trouble == "trickles":
            return replace(says, pause=settings.trickle_pause, outcome="trickles")
        return says

    def _limited(self, sent: Draws, after: float) -> Fails:
        seconds = sent.integer(1, self._settings.retry_after)
        wait = str(seconds)
        if sent.uniform() < 0.5:
            # A date has whole seconds, and one that is rounded down would ask for less.
            at = math.ceil(self._wall_clock() + seconds)
            wait = email.utils.formatdate(at, usegmt=True)
        return Fails(
            429, "rehearsed: too many requests", None, wait, after=after, outcome="rate_limit"
        )

    def _says(self, body: Body, slip: Slip | None, said: Draws) -> Says:
        if self._settings.text is not None:
            given = Answer(self._settings.text)
        else:
            given = answer(body, self._settings.vary, said)
        says = _within(Says(given.text, given.calls, model=None, piece=PIECE), body)
        match slip:
            case "refusals" if said.uniform() < 0.5:
                says = replace(says, text="", calls=(), finish="content_filter")
            case "refusals":
                says = replace(says, text="", calls=(), finish="stop", refusal=_REFUSAL)
            case "truncated":
                says = _cut(says, said.uniform())
            case "malformed":
                says = _spoiled(says, said)
            case "empty":
                says = replace(says, text="", calls=(), finish="stop")
        written = len(says.text) + len(says.refusal or "") + sum(len(a) for _, a in says.calls)
        return replace(
            says,
            outcome=slip or says.outcome,
            prompt_tokens=_tokens(len(json.dumps([body.get("messages"), body.get("tools")]))),
            completion_tokens=_tokens(written),
        )


def _drawn(names: Sequence[Name], shares: Sequence[float], draw: float) -> Name | None:
    """The name on whose share a draw falls; None beyond all of them."""
    for name, share in zip(names, shares, strict=True):
        draw -= share
        if draw < 0:
            return name
    return None


def _normal(sent: Draws) -> float:
    """A standard normal draw (Box and Muller)."""
    radius = math.sqrt(-2.0 * math.log(1.0 - sent.uniform()))
    return radius * math.cos(2.0 * math.pi * sent.uniform())


def _tokens(characters: int) -> int:
    return max(1, -(-characters // CHARACTERS))


def _within(says: Says, body: Body) -> Says:
    """An answer cut where the tokens that were asked for end."""
    limit = body.get("max_completion_tokens") or body.get("max_tokens")
    if says.calls:
        says = replace(says, finish="tool_calls")
    written = len(says.text) + sum(len(arguments) for _, arguments in says.calls)
    if not isinstance(limit, int) or written <= limit * CHARACTERS:
        return says
    return replace(_cut(says, limit * CHARACTERS / written), outcome="answered")


def _cut(says: Says, share: float) -> Says:
    """The first part of an answer, at least one character short."""
    if says.calls:
        name, arguments = says.calls[-1]
        kept = arguments[: int(share * len(arguments))]
        return replace(says, calls=(*says.calls[:-1], (name, kept)), finish="length")
    return replace(says, text=says.text[: int(share * len(says.text))], finish="length")


def _spoiled(says: Says, said: Draws) -> Says:
    name, written = says.calls[0] if says.calls else ("", says.text)
    # Not every way spoils every text: `{}` holds no quote to swap.
    spoiled = said.choice([text for spoil in _SPOILED if (text := spoil(written)) != written])
    if says.calls:
        return replace(says, calls=((name, spoiled), *says.calls[1:]))
    return replace(says, text=spoiled)


def _broken(says: Says) -> Says:
    """An answer whose connection closes half way."""
    half = replace(_cut(says, 0.5), finish=says.finish)
    return replace(half, ends=False, outcome="breaks")
