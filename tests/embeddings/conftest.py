from __future__ import annotations

from pathlib import Path

import pytest

from embeddings import SentenceTransformerEncoder
from tests.embeddings.models import save_tiny_qwen3


@pytest.fixture(scope="session")
def mini_lm() -> SentenceTransformerEncoder:
    return SentenceTransformerEncoder()


@pytest.fixture(scope="session")
def tiny_qwen3(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_qwen3(tmp_path_factory.mktemp("models") / "tiny-qwen3")
