from __future__ import annotations

import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest

from embeddings import EncoderError, SentenceTransformerEncoder, model_identity
from tests.embeddings.models import NO_NETWORK, run_python, save_tiny_qwen3

SLOGANS = ["cheap bargain low price", "Hand-made to last.", "wenig Verpackung, faire Löhne 🌱"]


def test_meaning_shows_in_the_vectors(mini_lm: SentenceTransformerEncoder) -> None:
    slogan, thrifty, trendy = mini_lm.encode(
        ["cheap bargain low price", "price, cheap, good value", "exclusive, limited, trendy"]
    )
    assert slogan @ thrifty > slogan @ trendy + 0.2


def test_rows_are_float32_of_length_one(mini_lm: SentenceTransformerEncoder) -> None:
    vectors = mini_lm.encode(SLOGANS)
    assert (vectors.shape, vectors.dtype) == ((3, 384), np.float32)
    assert np.linalg.norm(vectors.astype(np.float64), axis=1) == pytest.approx([1, 1, 1], abs=1e-6)


def test_no_texts_give_no_rows(mini_lm: SentenceTransformerEncoder) -> None:
    assert len(mini_lm.encode([])) == 0


def test_a_text_has_the_same_vector_alone_and_among_others(
    mini_lm: SentenceTransformerEncoder,
) -> None:
    among = mini_lm.encode(["a much longer text " * 20, *SLOGANS])[1:]
    alone = [mini_lm.encode([text])[0] for text in SLOGANS]
    assert among.tobytes() == np.stack(alone).tobytes()


@pytest.mark.parametrize("text", ["", "  \n"])
def test_a_blank_text_is_refused(mini_lm: SentenceTransformerEncoder, text: str) -> None:
    with pytest.raises(ValueError, match="blank"):
        mini_lm.encode(["something", text])


@pytest.mark.parametrize(
    "text", ["\ud800", "a\0b", "[SEP][CLS]" * 9, "💥" * 5_000, "\u202e", "a" * 10**6]
)
def test_hostile_texts_are_encoded_like_others(
    mini_lm: SentenceTransformerEncoder, text: str
) -> None:
    assert np.isfinite(mini_lm.encode([text])).all()


def test_what_lies_beyond_the_cut_changes_nothing(tiny_qwen3: Path) -> None:
    encoder = SentenceTransformerEncoder(str(tiny_qwen3))
    one, other, within = encoder.encode(["a" * 2_000 + "b", "a" * 2_000 + "c", "a" * 1_999 + "b"])
    assert one.tobytes() == other.tobytes()
    assert one.tobytes() != within.tobytes()


def test_an_encoder_is_pickled_by_its_name(tiny_qwen3: Path) -> None:
    encoder = SentenceTransformerEncoder(str(tiny_qwen3))
    pickled = pickle.dumps(encoder)
    assert len(pickled) < 1_000
    again = pickle.loads(pickled)
    assert again.name == encoder.name
    assert again.encode(SLOGANS).tobytes() == encoder.encode(SLOGANS).tobytes()


def test_a_model_built_like_qwen3_embedding_is_loaded_by_the_same_class(tiny_qwen3: Path) -> None:
    encoder = SentenceTransformerEncoder(str(tiny_qwen3))
    vectors = encoder.encode(SLOGANS)
    assert vectors.shape == (3, 32)
    assert np.linalg.norm(vectors.astype(np.float64), axis=1) == pytest.approx([1, 1, 1], abs=1e-6)
    assert len({row.tobytes() for row in vectors}) == 3
    assert encoder.encode(SLOGANS[1:2]).tobytes() == vectors[1].tobytes()


def test_other_weights_in_a_folder_are_another_identity(tiny_qwen3: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_qwen3, tmp_path / "model")
    before = model_identity(str(folder))
    other = save_tiny_qwen3(tmp_path / "other", seed=1)
    shutil.copy(other / "model.safetensors", folder / "model.safetensors")
    assert model_identity(str(folder)) != before


def test_damaged_weights_are_an_error_for_people(tiny_qwen3: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_qwen3, tmp_path / "model")
    (folder / "model.safetensors").write_bytes(b"torn")
    with pytest.raises(EncoderError, match="cannot be loaded") as caught:
        SentenceTransformerEncoder(str(folder))
    assert str(folder) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_weights_that_give_no_direction_are_an_error_for_people(
    tiny_qwen3: Path, tmp_path: Path
) -> None:
    from safetensors.numpy import load_file, save_file

    folder = shutil.copytree(tiny_qwen3, tmp_path / "model")
    weights = load_file(folder / "model.safetensors")
    broken = {name: np.full_like(values, np.nan) for name, values in weights.items()}
    save_file(broken, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(EncoderError, match="without direction"):
        SentenceTransformerEncoder(str(folder)).encode(["text"])


def test_the_packaged_model_never_touches_the_network() -> None:
    said = run_python(
        NO_NETWORK
        + """
import json
from embeddings import SentenceTransformerEncoder
rows = SentenceTransformerEncoder().encode(["cheap"])
print(json.dumps({"tried": len(tried), "shape": rows.shape}))
""",
        HF_HUB_OFFLINE="0",
    )
    assert said == {"tried": 0, "shape": [1, 384]}


COMMIT = "0123456789abcdef0123456789abcdef01234567"
LOAD_BY_NAME = """
import json
from embeddings import EncoderError, SentenceTransformerEncoder, model_identity
said = {"identity": model_identity("somebody/tiny")}
try:
    said["rows"] = SentenceTransformerEncoder("somebody/tiny").encode(["cheap"]).tolist()
except EncoderError as error:
    said["error"] = str(error)
print(json.dumps(said | {"tried": len(tried)}))
"""


def users_cache(home: Path, model: Path) -> Path:
    """Lay out a folder as the hub's client does; returns where the model's files lie."""
    repository = home / "models--somebody--tiny"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text(COMMIT)
    return Path(shutil.copytree(model, repository / "snapshots" / COMMIT))


def test_a_model_in_the_users_cache_is_loaded_without_the_network(
    tiny_qwen3: Path, tmp_path: Path
) -> None:
    users_cache(tmp_path, tiny_qwen3)
    said = run_python(
        NO_NETWORK + LOAD_BY_NAME, HF_HUB_OFFLINE="0", SENTENCE_TRANSFORMERS_HOME=str(tmp_path)
    )
    assert said["tried"] == 0
    assert said["rows"] == SentenceTransformerEncoder(str(tiny_qwen3)).encode(["cheap"]).tolist()
    assert said["identity"] != model_identity("somebody/tiny")


def test_a_model_that_another_library_cached_in_part_is_not_taken_for_whole(
    tiny_qwen3: Path, tmp_path: Path
) -> None:
    (users_cache(tmp_path, tiny_qwen3) / "modules.json").unlink()
    said = run_python(
        NO_NETWORK + LOAD_BY_NAME, HF_HUB_OFFLINE="1", SENTENCE_TRANSFORMERS_HOME=str(tmp_path)
    )
    assert "is not, or not wholly, in the local cache" in said["error"]
