from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market import canonical
from market.environment import OUTSIDE
from market.replay import Replay, ReplayError, build_environment, replay, verify
from tests.market.recorded import config, header, record

BUY = [{"tool": "buy_lemons", "arguments": {"quantity": 1}}]


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(tmp_path_factory.mktemp("recording") / "j", config(days=2))


def forge(path: Path, change: Callable[[list[dict[str, object]]], object]) -> Path:
    """A copy after a change by somebody who knows how witnesses are made."""
    data = [canonical.loads(line) for line in path.read_text("utf-8").split("\n")[:-1]]
    for line in data:
        del line["witness"]
    change(data)
    witness, content = "", ""
    for line in data:
        body = canonical.dumps(line)
        witness = hashlib.sha256((witness + body).encode()).hexdigest()
        content += f'{body[:-1]},"witness":"{witness}"}}\n'
    copy = path.with_name("forged")
    copy.write_text(content, "utf-8")
    return copy


def test_a_recorded_game_is_played_again_to_its_result(recording: Path) -> None:
    replayed = verify(recording)
    assert replayed.finished
    assert replayed.asked == ()
    assert replayed.batches == recording.read_bytes().count(b"\n") - 2
    assert replayed.environment.result.totals.keys() == {"fees"}


@pytest.mark.parametrize("batches", [0, 1, 4])
def test_an_unfinished_journal_replays_as_far_as_it_goes(tmp_path: Path, batches: int) -> None:
    path = record(tmp_path / "j", batches=batches)
    path.write_bytes(path.read_bytes() + b'{"answers"')
    replayed = replay(path)
    assert (replayed.finished, replayed.batches, replayed.torn) == (False, batches, 10)
    step, turn = replayed.asked[0].step, replayed.asked[0].turn
    with pytest.raises(ReplayError, match=f"unfinished: it ends before step {step}, turn {turn}"):
        verify(path)


def test_a_journal_that_lacks_only_its_result_is_unfinished(recording: Path) -> None:
    lines = recording.read_bytes().splitlines(keepends=True)
    copy = recording.with_name("no-result")
    copy.write_bytes(b"".join(lines[:-1]))
    assert replay(copy).asked == ()
    with pytest.raises(ReplayError, match="unfinished: it ends before its result"):
        verify(copy)


def test_histories_hold_what_each_seat_was_asked_and_what_was_applied(recording: Path) -> None:
    histories = replay(recording, histories=True).histories
    moments = list(Replay(recording))
    for seat in ("stand-1", "stand-2"):
        asked = [d for moment in moments for d in moment.asked if d.seat == seat]
        applied = [m.answers[seat] for m in moments if seat in m.answers]
        assert histories[seat] == list(zip(asked, applied, strict=True))
    assert OUTSIDE not in histories
    assert replay(recording).histories == {}


def test_moments_carry_the_events_of_their_call(recording: Path) -> None:
    moments = [(moment.step, moment.turn, len(moment.events)) for moment in Replay(recording)]
    assert moments[0] == (0, 0, 0)
    assert sum(count for _, _, count in moments) > 4
    assert moments[1:] == sorted(moments[1:])


@given(st.data())
def test_a_forged_digest_is_found_at_its_batch(recording: Path, data: st.DataObject) -> None:
    lines = recording.read_text("utf-8").split("\n")[:-1]
    number = data.draw(st.integers(1, len(lines) - 2))
    batch = canonical.loads(lines[number])
    forged = forge(recording, lambda d: d[number].update(digest="0" * 64))
    with pytest.raises(ReplayError) as raised:
        replay(forged)
    where = f"step {batch['step']}, turn {batch['turn']}: the game shows the seats something else"
    assert where in str(raised.value)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (
            lambda d: d[1]["answers"].update({"stand-1": {"action": BUY, "said": 1}}),
            "step 1, turn 1: ",
        ),
        (
            lambda d: d[1]["answers"].update({"stand-1": {"action": [{}]}}),
            "cannot take the answers",
        ),
        (lambda d: d[1]["answers"].pop("stand-1"), "do not ask the same seats: stand-1"),
        (lambda d: d[1].update(turn=3), "step 1, turn 3: the game is at step 1, turn 0"),
        (lambda d: d[-1]["result"]["totals"].update(fees=1), "another result"),
        (lambda d: d.pop(-2), "the journal ends, but the game goes on at step 2"),
        (lambda d: d.insert(-1, d[-2]), "the journal goes on, but the game is over"),
        (
            lambda d: d[0].update(rules_version=2),
            "played by rules version 2 of .*; this is version 1",
        ),
    ],
)
def test_a_game_that_differs_from_its_recording_says_where_first(
    recording: Path, change: Callable[[list[dict[str, object]]], object], complaint: str
) -> None:
    with pytest.raises(ReplayError, match=complaint):
        replay(forge(recording, change))


def test_rules_that_are_no_longer_valid_are_refused(tmp_path: Path) -> None:
    path = record(tmp_path / "j", batches=0)

    def change(data: list[dict[str, object]]) -> None:
        settings = config(sugar=1)
        data[0].update(config=settings, config_digest=canonical.digest(canonical.dumps(settings)))

    with pytest.raises(ReplayError, match=r"the configuration of episode .* is refused"):
        replay(forge(path, change))


def test_an_environment_is_built_from_the_configuration_alone() -> None:
    environment = build_environment(header(config(seed=5, seats=3, days=7)).config)
    assert environment.seats == ("stand-1", "stand-2", "stand-3")
    assert environment.rules["days"] == 7
