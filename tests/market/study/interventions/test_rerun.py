from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from market.arena.policies.advertiser import Advertiser
from market.environment import Answer, Cause, Decision, NoAction
from market.journal import JournalWriter
from market.play import Player
from market.policies.policy import Policy
from market.replay import ReplayError
from market.study.interventions.rerun import Playing, Rerun, RerunError, recorded
from tests.market.arena.counterfactual.recordings import record as record_market
from tests.market.arena.games import facts
from tests.market.recorded import record

TWO = '[{"name": "a", "policy": "markup"}, {"name": "b", "policy": "advertiser"}]'


def written(rerun: Rerun, path: Path) -> Path:
    """The journal that a counterfactual game would have left."""
    with JournalWriter.create(path, rerun.recording.header) as journal:
        for moment in rerun.moments():
            if moment.asked:
                journal.append(moment.asked, moment.answers)
        journal.finish(moment.environment.result)
    return path


@pytest.mark.parametrize("seed", range(3))
def test_the_original_answers_give_the_original_bytes(tmp_path: Path, seed: int) -> None:
    (tmp_path / "e1").mkdir()
    lemonade = record(tmp_path / "e1" / "journal.jsonl")
    market = record_market(tmp_path / "market.jsonl", "arena/default", "rules.steps=2", seed=seed)
    for path in (lemonade, market):
        again = written(Rerun(recorded(path)), tmp_path / f"{path.parent.name}-again.jsonl")
        assert again.read_bytes() == path.read_bytes()


def test_a_seat_that_decides_anew_by_its_own_policy_gives_the_original_bytes(
    tmp_path: Path,
) -> None:
    path = record_market(
        tmp_path / "market.jsonl", "arena/default", "rules.steps=3", f"retailers={TWO}"
    )
    recording = recorded(path)
    players: dict[str, Player] = {}
    players["b"] = Playing(lambda: Advertiser("b", recording.header.seed))
    again = written(Rerun(recording, players), tmp_path / "again.jsonl")
    assert again.read_bytes() == path.read_bytes()


def says(words: str) -> Player:
    def answer(decision: Decision) -> Answer:
        if decision.kind == "bid":
            return Answer({"bids": [{"item": "item1", "quantity": 1, "price": 50}]})
        return Answer({"prices": {"item1": 60}, "slogan": words})

    return answer


def test_new_words_are_asked_of_the_outside_and_known_ones_are_not(tmp_path: Path) -> None:
    path = record_market(
        tmp_path / "market.jsonl", "arena/default", "rules.steps=2", f"retailers={TWO}"
    )
    recording = recorded(path)
    known = next(iter(recording.rows))
    asked: list[list[str]] = []

    def outside(decision: Decision) -> Answer:
        asked.append(list(decision.observation.private["texts"]))
        return facts(decision)

    for _ in Rerun(recording, {"a": says(known)}).moments():
        pass  # nobody outside is needed
    for _ in Rerun(recording, {"a": says("words never heard")}, outside).moments():
        pass
    assert ["words never heard"] in asked
    assert all(texts in ([], ["words never heard"]) for texts in asked)


def test_new_words_that_nobody_knows_end_the_game_with_a_sentence(tmp_path: Path) -> None:
    path = record_market(
        tmp_path / "market.jsonl", "arena/default", "rules.steps=2", f"retailers={TWO}"
    )
    rerun = Rerun(recorded(path), {"a": says("words never heard")})
    with pytest.raises(RerunError, match=r"step 1.*`words never heard`"):
        list(rerun.moments())


def test_a_seat_without_a_recorded_answer_does_nothing_and_is_counted(tmp_path: Path) -> None:
    (tmp_path / "e1").mkdir()
    recording = recorded(record(tmp_path / "e1" / "journal.jsonl"))
    gone = [key for key in recording.answers if key[2] == "stand-1"]
    for key in gone:
        del recording.answers[key]
    rerun = Rerun(recording)
    given = [m.answers["stand-1"] for m in rerun.moments() if "stand-1" in m.answers]
    assert given == [Answer([])] * len(given)
    assert rerun.unrecorded == {"stand-1": len(given)}


def test_an_unfinished_recording_is_refused(tmp_path: Path) -> None:
    (tmp_path / "e1").mkdir()
    path = record(tmp_path / "e1" / "journal.jsonl", batches=2)
    with pytest.raises(ReplayError, match="unfinished"):
        recorded(path)


@dataclass
class Stumbling(Policy):
    """Counts its turns; raises on one and talks nonsense on another."""

    def __post_init__(self) -> None:
        self.turns = 0

    def act(self, decision: Decision) -> Answer:
        if decision.step == 2:
            self.turns = -100
            raise RuntimeError("stumbled")
        self.turns += 1
        return Answer("nonsense" if decision.step == 3 else [], said=self.turns)


def test_a_policy_is_asked_as_a_run_asks_it(tmp_path: Path) -> None:
    (tmp_path / "e1").mkdir()
    recording = recorded(record(tmp_path / "e1" / "journal.jsonl"))
    player = Playing(lambda: Stumbling("stand-1", 0))
    decisions = [
        decision
        for moment in Rerun(recording, {"stand-1": player}).moments()
        for decision in moment.asked
        if decision.seat == "stand-1"
    ]
    given = dict(zip([d.step for d in decisions], [g for _, g in player.history], strict=True))
    assert given == {
        1: Answer([], said=1),
        2: NoAction(Cause.CRASHED),
        3: NoAction(Cause.MALFORMED),
    }
