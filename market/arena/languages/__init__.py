"""Languages of prompts that come with the arena: one file of phrases each, named by its code.

English is no file: it is what `wordings` and `spellings` say, in several wordings.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

#: The language of prompts that have no other words.
ENGLISH = "en"

_FOLDER = Path(__file__).parent


def names() -> list[str]:
    """The codes of all languages, English first."""
    return [ENGLISH, *sorted(path.stem for path in _FOLDER.glob("*.yaml"))]


@cache
def texts(language: str) -> Mapping[str, Mapping[str, Any]]:
    """The phrases of a language by section and name; none for English.

    Raises:
        ValueError: If there is no such language.
    """
    if language not in names():
        raise ValueError(f"there is no language {language}; there are {', '.join(names())}")
    if language == ENGLISH:
        return {}
    # Only where such a market is run, for it takes a moment.
    from market.config import documents

    return documents.read(_FOLDER / f"{language}.yaml")
