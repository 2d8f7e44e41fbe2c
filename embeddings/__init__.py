"""Texts to unit vectors, and how alike two texts are. Knows nothing of markets.

Importing this package imports neither torch nor sentence-transformers: they come with the first
text that no cache knows.
"""

from embeddings.cache import VectorCache, cache_folder
from embeddings.encoder import MAX_CHARACTERS, Encoder, EncoderError, bounded
from embeddings.models import PACKAGED_MODEL, model_identity
from embeddings.sentence_transformer import SentenceTransformerEncoder
from embeddings.similarity import Answer, Similarities

__all__ = [
    "MAX_CHARACTERS",
    "PACKAGED_MODEL",
    "Answer",
    "Encoder",
    "EncoderError",
    "SentenceTransformerEncoder",
    "Similarities",
    "VectorCache",
    "bounded",
    "cache_folder",
    "model_identity",
]
