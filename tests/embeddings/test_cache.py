from __future__ import annotations

import logging
import multiprocessing
import pickle
import sqlite3
import threading
from pathlib import Path

import numpy as np
import pytest

import embeddings.cache
from embeddings import VectorCache, cache_folder
from tests.embeddings.models import direction

FILE = "vectors-1.sqlite"


def filled(folder: Path, texts: range | tuple[str, ...] = ("text",)) -> VectorCache:
    cache = VectorCache("model", folder)
    cache.put({str(text): direction(str(text)) for text in texts})
    return cache


def test_a_vector_comes_back_to_the_bit_in_the_next_process(tmp_path: Path) -> None:
    filled(tmp_path).close()
    vector = VectorCache("model", tmp_path).get("text")
    assert vector is not None
    assert vector.tobytes() == direction("text").tobytes()


def test_an_unknown_text_has_no_vector(tmp_path: Path) -> None:
    assert filled(tmp_path).get("Text") is None


def test_models_do_not_see_each_others_vectors(tmp_path: Path) -> None:
    filled(tmp_path)
    assert VectorCache("other", tmp_path).get("text") is None


def test_nothing_is_written_before_it_is_needed(tmp_path: Path) -> None:
    VectorCache("model", tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_without_a_folder_vectors_are_kept_in_memory() -> None:
    cache = VectorCache("model", None)
    cache.put({"text": direction("text")})
    assert cache.get("text") is not None


def test_a_kept_vector_cannot_be_changed_by_its_users(tmp_path: Path) -> None:
    vector = filled(tmp_path).get("text")
    assert vector is not None
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 0


@pytest.mark.parametrize("vector", [[0.0, 0.0], [1.0, 1.0], [np.nan, 1.0], []])
def test_what_is_no_unit_vector_is_refused_with_its_whole_batch(
    tmp_path: Path, vector: list[float]
) -> None:
    cache = VectorCache("model", tmp_path)
    with pytest.raises(ValueError, match="not a unit vector"):
        cache.put({"good": direction("good"), "bad": np.array(vector, np.float32)})
    assert cache.get("good") is None


def test_memory_is_bounded_and_the_disk_remembers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embeddings.cache, "MEMORY_TEXTS", 3)
    cache = filled(tmp_path, range(10))
    assert len(cache._memory) == 3
    assert all(cache.get(str(text)) is not None for text in range(10))
    assert len(cache._memory) == 3


def test_a_cache_is_pickled_by_its_model_and_place(tmp_path: Path) -> None:
    again = pickle.loads(pickle.dumps(filled(tmp_path)))
    assert again.get("text") is not None


def test_a_row_that_is_no_vector_is_not_known_and_can_be_written_again(tmp_path: Path) -> None:
    filled(tmp_path).close()
    with sqlite3.connect(tmp_path / FILE) as disk:
        disk.execute("UPDATE vectors SET vector = ?", (b"abc",))
    cache = VectorCache("model", tmp_path)
    assert cache.get("text") is None
    cache.put({"text": direction("text")})
    assert VectorCache("model", tmp_path).get("text") is not None


@pytest.mark.parametrize("damage", [b"no database at all", b"\0" * 10_000])
def test_a_file_that_is_no_database_is_set_aside_with_a_sentence(
    tmp_path: Path, damage: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / FILE).write_bytes(damage)
    cache = filled(tmp_path)
    assert cache.get("text") is not None
    assert VectorCache("model", tmp_path).get("text") is not None
    assert (tmp_path / f"{FILE}.damaged").read_bytes() == damage
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "is set aside" in caplog.text


def test_a_torn_file_is_set_aside_when_a_read_meets_the_damage(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    filled(tmp_path, range(1_000)).close()
    whole = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(whole[: len(whole) // 2])
    cache = VectorCache("model", tmp_path)
    known = [cache.get(str(text)) for text in range(1_000)]
    assert None in known
    assert "is set aside" in caplog.text
    cache.put({"new": direction("new")})
    assert VectorCache("model", tmp_path).get("new") is not None


def test_a_folder_that_cannot_be_made_is_done_without_and_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = VectorCache("model", tmp_path / "file" / "cache")
    for text in ("one", "two"):
        assert cache.get(text) is None
        cache.put({text: direction(text)})
        assert cache.get(text) is not None
    assert len(caplog.records) == 1
    assert "kept in memory only" in caplog.text


def test_a_disk_that_fails_later_is_done_without(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cache = filled(tmp_path)
    with sqlite3.connect(tmp_path / FILE) as disk:
        disk.execute("DROP TABLE vectors")
    cache.put({"new": direction("new")})
    assert cache.get("new") is not None
    assert "kept in memory only" in caplog.text


def _write(folder: Path, number: int) -> None:
    cache = VectorCache("model", folder)
    for text in range(50):
        cache.put({f"{number} {text}": direction(f"{number} {text}")})
        cache.put({f"shared {text}": direction(f"shared {text}")})


def test_processes_share_a_cache(tmp_path: Path) -> None:
    _run_writers(tmp_path)
    cache = VectorCache("model", tmp_path)
    names = [0, 1, 2, "shared"]
    assert all(cache.get(f"{name} {text}") is not None for name in names for text in range(50))


def test_processes_that_meet_one_damaged_file_replace_it_once(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"no database at all")
    _run_writers(tmp_path)
    cache = VectorCache("model", tmp_path)
    assert all(cache.get(f"{name} {text}") is not None for name in range(3) for text in range(50))
    assert (tmp_path / f"{FILE}.damaged").read_bytes() == b"no database at all"


def _run_writers(folder: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    writers = [spawn.Process(target=_write, args=(folder, number)) for number in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0, 0, 0]


def test_threads_share_a_cache(tmp_path: Path) -> None:
    cache = VectorCache("model", tmp_path)

    def write(number: int) -> None:
        for text in range(50):
            cache.put({f"{number} {text}": direction(f"{number} {text}")})

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    again = VectorCache("model", tmp_path)
    assert all(again.get(f"{name} {text}") is not None for name in range(4) for text in range(50))


def test_the_folder_follows_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("MARKET_ARENA_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_folder() == tmp_path / ".cache" / "market-arena"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder() == tmp_path / ".cache" / "market-arena"
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert cache_folder() == Path("/xdg/market-arena")
    monkeypatch.setenv("MARKET_ARENA_CACHE", "~/own")
    assert cache_folder() == tmp_path / "own"
