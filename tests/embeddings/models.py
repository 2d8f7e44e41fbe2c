"""Models and processes that the tests of encoders need."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from embeddings import EncoderError
from embeddings.encoder import Vectors

#: Prepended to a script: no socket can reach out, and who tried is remembered.
NO_NETWORK = """
import sys
tried = []
def _forbid(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname"):
        tried.append(arguments)
        raise OSError("no network here")
sys.addaudithook(_forbid)
"""


class CountingEncoder:
    """Directions drawn from a digest of the text; counts what it was asked."""

    name = "counting"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return np.stack([direction(text) for text in texts])


def no_encoder() -> CountingEncoder:
    raise EncoderError("no encoder was expected to be loaded")


def direction(text: str) -> Vectors:
    digest = np.frombuffer(hashlib.sha256(text.encode()).digest(), np.uint8)
    row = digest.astype(np.float64) - 127.5
    return (row / np.linalg.norm(row)).astype(np.float32)


def run_python(script: str, **environment: str) -> Any:
    """Run a script in a fresh process; what it prints last is JSON."""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def save_tiny_qwen3(folder: Path, seed: int = 0) -> Path:
    """A model built like Qwen3-Embedding (last token, normalised), two layers of width 32."""
    import torch
    from sentence_transformers import SentenceTransformer, models
    from tokenizers import Tokenizer, decoders, pre_tokenizers
    from tokenizers.models import BPE
    from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3Model

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: number for number, letter in enumerate(["<|endoftext|>", *alphabet])}
    tokenizer = Tokenizer(BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    source = folder.with_name(f"{folder.name}-transformer")
    end = "<|endoftext|>"
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token=end, pad_token=end, padding_side="left"
    ).save_pretrained(source)
    torch.manual_seed(seed)
    config = Qwen3Config(
        vocab_size=len(vocabulary),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        max_position_embeddings=4096,
    )
    Qwen3Model(config).save_pretrained(source)
    transformer = models.Transformer(str(source))
    pooling = models.Pooling(config.hidden_size, pooling_mode="lasttoken")
    SentenceTransformer(modules=[transformer, pooling, models.Normalize()], device="cpu").save(
        str(folder)
    )
    return folder
