from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from market.replay import Replay
from market.study.report import decisions
from market.study.report.decisions import Gathered, Packed, browser
from market.tables import write_tables
from tests.market.study.report import hostile


@pytest.fixture(scope="module")
def journals(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = hostile.tournament(tmp_path_factory.mktemp("run") / "hostile", seeds=1)
    return sorted(folder.glob("episodes/*/journal.jsonl"))


def unpacked(packed: Packed) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(packed.data)))
    return found


def everything(journals: list[Path]) -> dict[str, Any]:
    (packed,) = [each for each in browser(journals).episodes if each.id.startswith("all")]
    return unpacked(packed)


def test_every_decision_of_a_seat_is_there_with_what_it_saw_did_and_noted(journals) -> None:
    whole = everything(journals)
    own = [each for each in whole["decisions"] if each["seat"] == "gpt"]
    assert [(each["step"], each["kind"]) for each in own] == [
        (step, kind) for step in (1, 2, 3) for kind in ("bid", "sell")
    ]
    first = own[0]
    assert first["action"]["bids"][1]["item"] == hostile.ATTACK[:40]
    assert first["said"] == {"note": hostile.ATTACK}
    assert first["private"]["funds"] > 0
    assert "offers" in whole["public"][first["public"]]
    assert own[4]["none"] == own[5]["none"] == "malformed"
    assert {each["seat"] for each in whole["decisions"]} == {
        "markup-1",
        "markup-2",
        "undercutter",
        "gpt",
    }


def test_what_was_refused_stands_by_the_decision_that_asked_for_it(journals) -> None:
    whole = everything(journals)
    bid, sell = [each for each in whole["decisions"] if each["seat"] == "gpt"][:2]
    reason = whole["columns"]["bids"].index(whole["refused"]["bids"])
    assert [row[reason] for row in bid["rows"]["bids"]] == [None, "unknown item"]
    (refusal,) = sell["rows"]["refusals"]
    assert dict(zip(whole["columns"]["refusals"], refusal, strict=True))["what"] == "price"
    assert "standings" in sell["rows"]


def test_calls_have_prompt_reply_and_what_they_took(journals) -> None:
    whole = everything(journals)
    (call,) = next(each for each in whole["decisions"] if each["seat"] == "gpt")["calls"]
    assert [whole["texts"][at] for at in call["prompt"]] == [
        ["system", hostile.PROMPT],
        ["user", hostile.ATTACK],
    ]
    assert (call["text"], call["cost"], call["seconds"]) == (hostile.ATTACK, 0.002, 1.5)


def test_no_packed_episode_can_end_its_element(journals) -> None:
    for packed in browser(journals).episodes:
        assert set(packed.data) <= set(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
        )


def test_equal_journals_pack_to_equal_bytes(journals) -> None:
    assert browser(journals) == browser(journals)


def test_what_does_not_fit_is_left_out_and_said(journals) -> None:
    whole = browser(journals)
    assert whole.note == ""
    size = len(whole.episodes[0].data)
    first = browser(journals, budget=size + 10)
    assert [each.id for each in first.episodes] == [whole.episodes[0].id]
    assert first.note.startswith(f"The page holds 1 of {len(journals)} episodes")
    part = browser(journals[:1], budget=size - 100)
    (packed,) = part.episodes
    assert 0 < packed.shown < packed.decisions
    assert len(unpacked(packed)["decisions"]) == packed.shown
    assert f"the first {packed.shown} of {packed.decisions} decisions" in part.note
    assert len(browser(journals, most=2).episodes) == 2


def test_damaged_records_are_left_out(journals, tmp_path) -> None:
    damaged = tmp_path / "bad" / "journal.jsonl"
    damaged.parent.mkdir()
    damaged.write_text("{}\n")
    found = browser([damaged, journals[0]])
    assert [each.id for each in found.episodes] == [journals[0].parent.name]
    assert "1 of 2" in found.note


def test_what_was_gathered_with_the_tables_is_not_played_again(tmp_path, monkeypatch) -> None:
    folder = hostile.tournament(tmp_path / "run", seeds=1)
    journals = sorted(folder.glob("episodes/*/journal.jsonl"))
    alone, tables = browser(journals), write_tables(folder)
    gathered = Gathered()
    assert write_tables(folder, gathered.play) == tables

    def played(journal: Path) -> None:
        raise AssertionError(f"{journal} is played again")

    monkeypatch.setattr(decisions, "_played", played)
    assert browser(journals, gathered=gathered) == alone


def test_no_more_is_gathered_than_a_page_holds(journals) -> None:
    size = len(browser(journals).episodes[0].data)
    gathered = Gathered(budget=size + 10)
    for journal in journals:
        for _ in gathered.play(journal):
            pass
    assert [gathered.episode(journal) is not None for journal in journals[:2]] == [True, False]
    assert type(gathered.play(journals[-1])) is Replay
