"""A recorded game played again with some seats decided anew and the rest as recorded.

The environment is made from the journal's header, so it has the recorded luck; a recorded answer
is found by (step, turn, seat). Where the new game asks what the recording never was asked, a seat
does nothing: that is counted, and nothing is made up for it. Facts from outside are taken from the
recording as far as it knows them, by the text and not by the time, because a text means the same
whoever says it and whenever.

Answers that became illegal are given all the same: refusing them, with a reason, is the
environment's part. With no seat decided anew the game is the recorded one, to the byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from market import answers as spelling
from market import forms
from market.environment import OUTSIDE, Answer, Cause, Decision, Environment, Json, NoAction
from market.journal import Header
from market.language import Request
from market.play import Player
from market.policies.idle import empty
from market.policies.policy import Policy
from market.replay import Moment, Replay, ReplayError, build

#: Names a decision: step, turn and seat.
Key = tuple[int, int, str]


class RerunError(RuntimeError):
    """A recorded game that cannot be played again as asked; one sentence."""


@dataclass(slots=True)
class Recording:
    """What a journal knows: who answered what, and what texts mean.

    Attributes:
        path: The journal.
        header: Its header.
        answers: Every answer.
        kinds: What was asked.
        rows: For each text, its similarities with the references.
        crowds: For each crowd of texts, how alike they are.
    """

    path: Path
    header: Header
    answers: dict[Key, Answer | NoAction] = field(default_factory=dict)
    kinds: dict[Key, str] = field(default_factory=dict)
    rows: dict[str, Sequence[int]] = field(default_factory=dict)
    crowds: dict[tuple[str, ...], int | None] = field(default_factory=dict)

    def keep(self, moment: Moment) -> None:
        """Take note of a batch."""
        for decision in moment.asked:
            given = moment.answers[decision.seat]
            key = (decision.step, decision.turn, decision.seat)
            self.answers[key], self.kinds[key] = given, decision.kind
            if decision.kind == "similarities" and isinstance(given, Answer):
                asked = decision.observation.private
                rows = given.action["similarities"]
                self.rows.update(zip(asked["texts"], rows, strict=True))
                self.crowds[tuple(asked["crowd"])] = given.action["convergence"]

    def answer(self, decision: Decision) -> Answer | NoAction | None:
        """What the seat answered to the same kind of question at the same turn; None if nothing."""
        key = (decision.step, decision.turn, decision.seat)
        return self.answers.get(key) if self.kinds.get(key) == decision.kind else None


@dataclass(slots=True)
class Rerun:
    """A recorded game with other answers.

    Attributes:
        recording: What is known.
        players: Who decides anew, by seat; every other seat answers as recorded.
        outside: Knows the facts that the recording does not; None where nobody does.
        unrecorded: For each seat, decisions it was asked that the recording has no answer to.
    """

    recording: Recording
    players: Mapping[str, Player] = field(default_factory=dict)
    outside: Player | None = None
    unrecorded: dict[str, int] = field(default_factory=dict)

    def moments(self) -> Iterator[Moment]:
        """Play, and yield one moment per call of the environment, the start first.

        Raises:
            RerunError: If a fact is needed that nobody knows.
            ReplayError: If this version plays other rules.
        """
        environment: Environment = build(self.recording.header)
        asked = environment.start()
        yield Moment(0, 0, (), {}, environment)
        while asked:
            now, given = asked, {decision.seat: self._answer(decision) for decision in asked}
            asked = environment.apply(given)
            yield Moment(now[0].step, now[0].turn, now, given, environment)

    def _answer(self, decision: Decision) -> Answer | NoAction:
        if decision.seat == OUTSIDE:
            return self._fact(decision)
        player = self.players.get(decision.seat)
        if player is not None:
            return player(decision)
        given = self.recording.answer(decision)
        if given is None:
            self.unrecorded[decision.seat] = self.unrecorded.get(decision.seat, 0) + 1
            return Answer(empty(decision.form.schema))
        return given

    def _fact(self, decision: Decision) -> Answer | NoAction:
        """What texts mean: what is recorded, and of the rest what the outside says.

        How alike a crowd is moves no seat; where nobody knows it, it is undefined.
        """
        if decision.kind != "similarities":
            return self._told(decision, f"`{decision.kind}`")
        asked = decision.observation.private
        crowd, known = tuple(asked["crowd"]), self.recording
        new = [text for text in asked["texts"] if text not in known.rows]
        rows, alike = known.rows, known.crowds.get(crowd)
        if new or (crowd not in known.crowds and self.outside is not None):
            seen = replace(decision.observation, private={**asked, "texts": new})
            what = f"what `{new[0][:60]}` means" if new else "how alike slogans are"
            told = self._told(replace(decision, observation=seen), what)
            assert isinstance(told, Answer)
            rows = {**rows, **dict(zip(new, told.action["similarities"], strict=True))}
            alike = told.action["convergence"]
        return Answer(
            {"similarities": [list(rows[t]) for t in asked["texts"]], "convergence": alike}
        )

    def _told(self, decision: Decision, what: str) -> Answer | NoAction:
        if self.outside is None:
            raise RerunError(
                f"{self.recording.path}, step {decision.step}: the recording does not say {what}; "
                "name somebody who knows (`outside`), such as the sentence encoder."
            )
        return self.outside(decision)


def recorded(path: Path | str, watch: Callable[[Moment], None] = lambda _: None) -> Recording:
    """Read a finished journal, proving on the way that this code still plays its game.

    Args:
        path: The journal.
        watch: Is shown every moment.

    Raises:
        market.journal.JournalError: If the file is damaged.
        ReplayError: If it is unfinished, or the recording of another game.
    """
    replay = Replay(path)
    found = Recording(Path(path), replay.header)
    for moment in replay:
        found.keep(moment)
        watch(moment)
    if not replay.finished:
        raise ReplayError(f"{path} is unfinished; only a whole game can be played with a swap.")
    return found


@dataclass(slots=True)
class Playing:
    """A policy that decides by itself, asked as a run asks it: what it does wrong is its own.

    Attributes:
        make: Makes the policy afresh.
        policy: The policy.
        history: What it was asked and what it gave.
    """

    make: Callable[[], Policy]
    policy: Policy = field(init=False)
    history: list[tuple[Decision, Answer | NoAction]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Make the policy."""
        self.policy = self.make()

    def __call__(self, decision: Decision) -> Answer | NoAction:
        """Its answer, as a journal would keep it.

        Raises:
            RerunError: If it asks a language model.
        """
        given = self._act(decision)
        self.history.append((decision, given))
        return given

    def _act(self, decision: Decision) -> Answer | NoAction:
        try:
            given: Json = self.policy.act(decision)
        except Exception:
            self.policy = self.make()
            self.policy.recall(self.history)
            return NoAction(Cause.CRASHED)
        if isinstance(given, Request):
            raise RerunError(
                f"{type(self.policy).__name__} on seat {decision.seat} asks a language model, "
                "which a replay does not; go on live from a step with `market fork`."
            )
        if isinstance(given, NoAction):
            return given
        try:
            text = spelling.dump(given)
            forms.validator(decision.form)(given.action)
        except (ValueError, AttributeError):
            return NoAction(Cause.MALFORMED)
        return (
            spelling.load(text) if len(text) <= forms.MAX_CHARACTERS else NoAction(Cause.MALFORMED)
        )
