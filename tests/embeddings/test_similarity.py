from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embeddings import (
    Answer,
    EncoderError,
    SentenceTransformerEncoder,
    Similarities,
    VectorCache,
    model_identity,
)
from tests.embeddings.models import CountingEncoder, direction, no_encoder, run_python

WORDS = st.sampled_from(["cheap", "fair", "trendy", "solid", "  ", ""])


def in_memory() -> Similarities:
    return Similarities(CountingEncoder, VectorCache("counting", None))


def planar(**degrees: float) -> Similarities:
    """Texts whose directions are given as angles in a plane."""
    similarities = Similarities(no_encoder, VectorCache("planar", None))
    angles = np.radians(list(degrees.values()))
    rows = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    similarities.store(list(degrees), rows)
    return similarities


def test_similarities_are_cosines_in_millionths() -> None:
    answer = planar(a=0, b=60, c=90, d=180, e=135).answer(["a"], ["a", "b", "c", "d", "e"], [])
    assert answer["similarities"] == [[1_000_000, 500_000, 0, -1_000_000, -707_107]]


def test_there_is_a_row_per_text_and_a_column_per_reference() -> None:
    answer = planar(a=0, b=60, c=90).answer(["a", "b", "a"], ["b", "c"], [])
    assert answer["similarities"] == [[500_000, 0], [1_000_000, 866_025], [500_000, 0]]


def test_a_blank_text_is_similar_to_nothing() -> None:
    answer = planar(a=0).answer(["", " \n", "a"], ["a", ""], ["", "a"])
    assert answer == {"similarities": [[0, 0], [0, 0], [1_000_000, 0]], "convergence": None}


def test_blank_texts_alone_load_no_encoder() -> None:
    similarities = Similarities(no_encoder, VectorCache("none", None))
    assert similarities.answer([""], [" "], ["", ""])["similarities"] == [[0]]


@pytest.mark.parametrize(
    ("crowd", "convergence"),
    [
        ([], None),
        (["a"], None),
        (["a", ""], None),
        (["a", "a"], 1_000_000),
        (["a", "b"], 500_000),
        (["a", "d"], -1_000_000),
        (["a", "a", "c"], 333_333),
        (["a", "", "c", " "], 0),
    ],
)
def test_convergence_is_the_mean_over_pairs(crowd: list[str], convergence: int | None) -> None:
    assert planar(a=0, b=60, c=90, d=180).answer([], [], crowd)["convergence"] == convergence


@given(st.lists(WORDS, max_size=12), st.randoms(use_true_random=False))
def test_convergence_agrees_with_every_pair_and_no_order(crowd: list[str], random: object) -> None:
    similarities = in_memory()
    said = [text for text in crowd if text.strip()]
    answer = similarities.answer(said, said, crowd)
    shuffled = [*crowd]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert similarities.answer([], [], shuffled)["convergence"] == answer["convergence"]
    if len(said) < 2:
        assert answer["convergence"] is None
    else:
        pairs = itertools.combinations(range(len(said)), 2)
        mean = np.mean([answer["similarities"][one][other] for one, other in pairs])
        assert answer["convergence"] == pytest.approx(mean, abs=1)


@given(st.lists(WORDS, max_size=6), st.lists(WORDS, max_size=4))
def test_a_similarity_does_not_depend_on_what_else_is_asked(
    texts: list[str], references: list[str]
) -> None:
    together = in_memory().answer(texts, references, texts)["similarities"]
    alone = [
        [
            in_memory().answer([text], [reference], [])["similarities"][0][0]
            for reference in references
        ]
        for text in texts
    ]
    assert together == alone


def test_each_new_text_is_encoded_once() -> None:
    encoder = CountingEncoder()
    similarities = Similarities(lambda: encoder, VectorCache("counting", None))
    similarities.answer(["cheap", "cheap"], ["fair", "cheap"], ["fair", "solid"])
    similarities.answer(["solid"], ["fair"], ["cheap"])
    assert encoder.asked == ["cheap", "fair", "solid"]


def test_a_text_beyond_the_cut_is_missing_and_stored_in_its_cut_form() -> None:
    similarities = Similarities(no_encoder, VectorCache("model", None))
    long = "a" * 5_000
    missing = similarities.missing([long, "", "b", long, "b\ud800"])
    assert missing == ["a" * 2_000, "b", "b?"]
    similarities.store(missing, np.stack([direction(text) for text in missing]))
    assert similarities.missing([long, "", "b", "b\ud800"]) == []
    assert similarities.answer([long], ["a" * 3_000], [])["similarities"] == [[1_000_000]]


def test_vectors_and_texts_that_differ_in_number_are_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        in_memory().store(["a", "b"], direction("a")[None])


def test_the_encoders_error_reaches_the_caller() -> None:
    with pytest.raises(EncoderError, match="no encoder was expected"):
        Similarities(no_encoder, VectorCache("model", None)).answer(["a"], ["b"], [])


def test_a_warm_cache_gives_what_a_cold_one_gave_and_imports_no_torch(
    tmp_path: Path, mini_lm: SentenceTransformerEncoder
) -> None:
    themes = ["price, cheap, good value", "exclusive, limited, trendy"]
    texts = ["cheap bargain low price", "Only for the few."]
    cold = Similarities(lambda: mini_lm, VectorCache(model_identity(mini_lm.name), tmp_path))
    expected: Answer = cold.answer(texts, themes, texts)
    said = run_python(
        f"""
import json, sys
from pathlib import Path
from embeddings import SentenceTransformerEncoder, Similarities, VectorCache, model_identity
cache = VectorCache(model_identity({mini_lm.name!r}), Path({str(tmp_path)!r}))
answer = Similarities(SentenceTransformerEncoder, cache).answer({texts}, {themes}, {texts})
heavy = {{"torch", "sentence_transformers", "transformers", "market", "actors", "ray"}}
print(json.dumps({{"answer": answer, "heavy": sorted(heavy & set(sys.modules))}}))
"""
    )
    assert said == {"answer": expected, "heavy": []}


def test_a_vector_that_is_stored_anew_is_compared_anew() -> None:
    similarities = planar(a=0, b=60)
    assert similarities.answer(["a"], ["b"], ["a", "b"])["convergence"] == 500_000
    angle = np.radians([90.0])
    similarities.store(["b"], np.stack([np.cos(angle), np.sin(angle)], axis=1).astype(np.float32))
    assert similarities.answer(["a"], ["b"], ["a", "b"]) == {
        "similarities": [[0]],
        "convergence": 0,
    }


def test_what_a_caller_does_to_an_answer_changes_no_other() -> None:
    similarities = planar(a=0, b=60)
    similarities.answer(["a"], ["b"], [])["similarities"][0].append(7)
    assert similarities.answer(["a"], ["b"], [])["similarities"] == [[500_000]]
