"""What one seat would have come to with another policy, its rivals' answers as recorded.

The counterfactual is *open-loop*: the seat acts on what it now sees, its rivals say what they said.
Up to the first decision that is answered differently both games are one, and the step of that
decision, settled under the same luck, is the only one whose difference the swap alone has caused.
In later steps rivals answer a market that is no longer the recorded one, so the difference over
the whole episode is described and not called an effect. With `live` the rivals that are scripts
answer what they see, which closes the loop as far as nobody has to be paid for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from market import answers as spelling
from market import registry
from market.config import configure
from market.config import policy as policy_of
from market.config.options import asks_a_model, policy_class
from market.config.schema import Config, Retailer
from market.config.seating import cast, refuse_unknown
from market.environment import Answer, Json, NoAction
from market.play import Player
from market.policies.policy import Policy
from market.replay import Moment, luck
from market.seats import seat_ids
from market.study.interventions.rerun import Playing, Recording, Rerun, recorded

#: What a seat's live figures were, by seat and figure.
Standings = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Difference:
    """The first decision that is answered differently: its step, turn, kind and seat."""

    step: int
    turn: int
    kind: str
    seat: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Lines of answers that broke a rule and were void, or mended: by whom, what and why."""

    seat: str
    what: str
    reason: str


@dataclass(frozen=True, slots=True)
class Swapped:
    """An episode with one seat swapped, beside the recorded one.

    Pairs are (recorded, swapped).

    Attributes:
        episode: Id of the episode.
        seat: The seat.
        policy: The policy that plays it instead.
        live: Whether rivals that are scripts responded.
        first_difference: Where the two games part; None where they are the same to the byte.
        step_standings: For each seat its live figures at the end of that step; empty where
            nothing differs. Of all differences this one alone is caused by the swap.
        scores: For each seat its score of the episode.
        refused: How many lines were refused.
        unrecorded: For each seat, decisions that the recording has no answer to; it did nothing.
        still_recorded: With `live`, the seats that answered as recorded because they ask a model.
        batches: Batches of both games.
    """

    episode: str
    seat: str
    policy: str
    live: bool
    first_difference: Difference | None
    step_standings: Mapping[str, Mapping[str, tuple[int, int]]]
    scores: Mapping[str, tuple[float, float]]
    refused: Mapping[Refused, tuple[int, int]]
    unrecorded: Mapping[str, int]
    still_recorded: tuple[str, ...]
    batches: tuple[int, int]

    @property
    def gain(self) -> float:
        """What the seat scored more."""
        before, after = self.scores[self.seat]
        return after - before

    @property
    def refusals(self) -> tuple[int, int]:
        """Refused lines of all seats, recorded and swapped."""
        pairs = list(self.refused.values())
        return sum(before for before, _ in pairs), sum(after for _, after in pairs)

    @property
    def note(self) -> str:
        """What may be concluded, in a sentence."""
        if self.first_difference is None:
            return "Nothing differs: the game is the recorded one, to the byte."
        rivals = "rivals' recorded answers" if not self.live else "scripted rivals' responses"
        if self.still_recorded:
            rivals += f" and the recorded ones of {', '.join(self.still_recorded)}"
        return (
            f"Only the difference of step {self.first_difference.step} is caused by the swap; "
            f"all later ones also hang on {rivals}."
        )


@dataclass(slots=True)
class _Watched:
    """What is compared of a game."""

    standings: dict[int, Standings] = field(default_factory=dict)
    refused: Counter[Refused] = field(default_factory=Counter)
    batches: int = 0
    scores: dict[str, float] = field(default_factory=dict)

    def watch(self, moment: Moment) -> None:
        """Take note of a moment; the last one of a step leaves the step's standings."""
        for event in moment.events:
            reason = getattr(event, "reason", None)
            if reason is not None:
                what = getattr(event, "what", event.table.removesuffix("s"))
                self.refused[Refused(event.seat, str(what), str(reason))] += 1
        if moment.asked:
            self.batches += 1
            self.standings[moment.step] = {
                seat: dict(figures) for seat, figures in moment.environment.standings.items()
            }

    def end(self, moment: Moment) -> None:
        """Take note of the result."""
        seats = moment.environment.result.seats
        self.scores = {seat: result.score for seat, result in seats.items()}


def swap(
    journal: Path | str,
    seat: str,
    policy: str,
    options: Mapping[str, Json] | None = None,
    live: bool = False,
    outside: Player | None = None,
) -> Swapped:
    """Play a recorded episode with another policy on one seat.

    Args:
        journal: The recording, of a finished episode.
        seat: The seat.
        policy: The policy that plays it instead, by name or as `module:Class`. `replay` without
            options is what the seat did, and changes nothing.
        options: Options of that policy.
        live: Whether rivals that are scripts respond.
        outside: Knows facts that the recording does not, such as what a new slogan means.

    Raises:
        market.config.ConfigError: If there is no such seat or policy, or it refuses the options.
        market.study.interventions.rerun.RerunError: If the policy asks a model, or a fact is not
            known.
        market.journal.JournalError: If the journal is damaged.
        market.replay.ReplayError: If it is unfinished, or of another version's game.
    """
    before, after = _Watched(), _Watched()
    last: Moment | None = None

    def watched(moment: Moment) -> None:
        nonlocal last
        last = moment
        before.watch(moment)

    recording = recorded(journal, watched)
    assert last is not None
    before.end(last)
    header = recording.header
    seats = seat_ids(header.config["retailers"])
    refuse_unknown(seat, seats)
    players, still = _rivals(header.config, seat) if live else ({}, ())
    swapped = _swapped(recording, seat, policy, options or {})
    rerun = Rerun(recording, {**players, **swapped}, outside)
    first: Difference | None = None
    for moment in rerun.moments():
        last = moment
        after.watch(moment)
        first = first or _difference(recording, moment)
    after.end(last)
    step = first.step if first else 0
    return Swapped(
        episode=header.episode,
        seat=seat,
        policy=policy,
        live=live,
        first_difference=first,
        step_standings=_pairs(before.standings[step], after.standings[step]) if first else {},
        scores={each: (before.scores[each], after.scores[each]) for each in seats},
        refused={
            line: (before.refused[line], after.refused[line])
            for line in sorted(before.refused | after.refused, key=_by_text)
        },
        unrecorded=rerun.unrecorded,
        still_recorded=still,
        batches=(before.batches, after.batches),
    )


def _swapped(
    recording: Recording, seat: str, policy: str, options: Mapping[str, Json]
) -> dict[str, Player]:
    """Who plays the seat instead; nobody where that is what the seat did."""
    config = recording.header.config
    if policy in ("replay", registry.POLICIES["replay"]):
        options = {"journal": str(recording.path), **options}
        if options["journal"] == str(recording.path) and options.get("of", "") in ("", seat):
            return {}
    alone = cast(config, seat, policy, options)
    return {seat: Playing(_maker(alone, alone.retailers[0], seat))}


def _maker(config: Config, entry: Retailer, seat: str) -> Callable[[], Policy]:
    """Makes the policy of a seat afresh."""
    path, options = policy_of(config, entry)
    seed = luck(config.seed, config.fork.model_dump() if config.fork else None)
    return partial(registry.load(path), seat=seat, seed=seed, **options)


def _rivals(values: Mapping[str, Json], seat: str) -> tuple[dict[str, Player], tuple[str, ...]]:
    """The scripts on all other seats, and the seats that ask a model."""
    config = configure(values, "the recorded configuration")
    players: dict[str, Player] = {}
    still = []
    for entry in config.retailers:
        asks = asks_a_model(policy_class(config.kind, entry.policy))
        for each in entry.seats:
            if each == seat:
                continue
            if asks:
                still.append(each)
            else:
                players[each] = Playing(_maker(config, entry, each))
    return players, tuple(still)


def _difference(recording: Recording, moment: Moment) -> Difference | None:
    """The first decision of a batch that is answered otherwise than the recording."""
    for decision in moment.asked:
        given = recording.answers.get((decision.step, decision.turn, decision.seat))
        if given is None or _text(given) != _text(moment.answers[decision.seat]):
            return Difference(decision.step, decision.turn, decision.kind, decision.seat)
    return None


def _text(given: Answer | NoAction) -> str:
    """As the journal spells it: 1, 1.0 and true are different answers."""
    return spelling.dump(given)


def _pairs(before: Standings, after: Standings) -> dict[str, dict[str, tuple[int, int]]]:
    return {
        seat: {name: (value, after[seat][name]) for name, value in figures.items()}
        for seat, figures in before.items()
    }


def _by_text(line: Refused) -> tuple[str, str, str]:
    return line.seat, line.what, line.reason
