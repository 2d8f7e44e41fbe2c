from __future__ import annotations

import os
import shutil
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from embeddings import EncoderError, model_identity
from embeddings.models import PACKAGED_MODEL, local_folder
from tests.embeddings.models import NO_NETWORK, run_python

ASK_THE_HUB = """
import json, sys
from embeddings import EncoderError, SentenceTransformerEncoder
try:
    SentenceTransformerEncoder("nobody/no-such-encoder")
except EncoderError as error:
    print(json.dumps({"error": str(error), "torch": "torch" in sys.modules}))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that looks like a model, with weights too large to be read whole."""
    model = tmp_path / "model"
    model.mkdir()
    (model / "config.json").write_text("{}")
    (model / "model.safetensors").write_bytes(bytes(2 << 20))
    return model


def test_the_packaged_model_has_its_weights_in_a_local_folder() -> None:
    folder = local_folder(PACKAGED_MODEL)
    assert folder is not None
    assert (folder / "model.safetensors").is_file()
    assert local_folder(f"sentence-transformers/{PACKAGED_MODEL}") == folder


def test_a_name_of_the_hub_has_no_local_folder() -> None:
    assert local_folder("Qwen/Qwen3-Embedding-8B") is None


def test_an_identity_stays_while_nothing_changes(folder: Path) -> None:
    assert model_identity(str(folder)) == model_identity(str(folder))


def test_an_identity_changes_with_the_configuration(folder: Path) -> None:
    before = model_identity(str(folder))
    (folder / "config.json").write_text("[]")
    assert model_identity(str(folder)) != before


def test_an_identity_changes_with_the_size_of_the_weights(folder: Path) -> None:
    before = model_identity(str(folder))
    (folder / "model.safetensors").write_bytes(bytes(3 << 20))
    assert model_identity(str(folder)) != before


def test_an_identity_changes_when_weights_of_equal_size_are_written(folder: Path) -> None:
    weights = folder / "model.safetensors"
    before = model_identity(str(folder))
    weights.write_bytes(b"\1" * (2 << 20))
    os.utime(weights, ns=(0, weights.stat().st_mtime_ns + 1_000_000))
    assert model_identity(str(folder)) != before


def test_an_identity_does_not_depend_on_how_the_folder_is_spelled(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    assert model_identity("./model") == model_identity(str(folder))


def test_a_moved_folder_keeps_its_identity_but_for_its_name(folder: Path, tmp_path: Path) -> None:
    before = model_identity(str(folder))
    (tmp_path / "elsewhere").mkdir()
    moved = shutil.move(folder, tmp_path / "elsewhere" / "model")
    assert model_identity(str(moved)) == before


def test_models_of_the_hub_have_identities_without_being_there() -> None:
    names = ["Qwen/Qwen3-Embedding-8B", "Qwen/Qwen3-Embedding-4B"]
    assert len({model_identity(name) for name in names}) == 2


@pytest.mark.parametrize(
    "name", ["./no/such/folder", "/no/such/folder", "a/b/c", "", "  ", "~no/x"]
)
def test_a_missing_folder_is_an_error_for_people(name: str) -> None:
    with pytest.raises(EncoderError, match="there is no encoder in the folder"):
        model_identity(name)


def test_a_folder_without_a_model_is_an_error_for_people(tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match="there is no encoder in the folder"):
        local_folder(str(tmp_path))


@pytest.mark.parametrize("name", ["no model\nat all", "nobody/--", "x\0y"])
def test_an_impossible_name_is_an_error_for_people(name: str) -> None:
    with pytest.raises(EncoderError, match="can be the name of no model"):
        model_identity(name)


def test_without_a_network_an_unknown_name_fails_fast_with_one_sentence() -> None:
    start = time.perf_counter()
    said = run_python(NO_NETWORK + ASK_THE_HUB, HF_HUB_OFFLINE="0")
    assert time.perf_counter() - start < 30
    assert "`nobody/no-such-encoder` is not, or not wholly, in the local cache" in said["error"]
    assert "cannot be asked for it" in said["error"]
    assert "\n" not in said["error"]
    assert not said["torch"]


def test_offline_mode_is_respected() -> None:
    said = run_python(
        NO_NETWORK + ASK_THE_HUB.replace("json.dumps(", "json.dumps({'tried': tried} | "),
        HF_HUB_OFFLINE="1",
    )
    assert "HF_HUB_OFFLINE forbids to fetch it" in said["error"]
    assert said["tried"] == []


def test_a_hub_that_never_answers_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        start = time.perf_counter()
        said = run_python(ASK_THE_HUB, HF_HUB_OFFLINE="0", HF_ENDPOINT=_address(silent))
    assert time.perf_counter() - start < 30
    assert "cannot be asked for it" in said["error"]


class KnowsNothing(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(404)
        self.send_header("X-Error-Code", "RepoNotFound")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments: object) -> None:
        pass


def test_a_name_that_the_hub_does_not_know_is_said_to_be_unknown() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), KnowsNothing) as hub:
        threading.Thread(target=hub.serve_forever, daemon=True).start()
        said = run_python(ASK_THE_HUB, HF_HUB_OFFLINE="0", HF_ENDPOINT=_address(hub.socket))
        hub.shutdown()
    assert "shows no model `nobody/no-such-encoder`: check the name" in said["error"]


def _address(server: socket.socket) -> str:
    return f"http://127.0.0.1:{server.getsockname()[1]}"
