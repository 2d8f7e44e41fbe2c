"""Fields that a configuration gained after the first journals were written.

A journal's header holds every field of the rules, each default filled in, and its bytes are
digested. A new field would therefore change the digest of every game that does not use it, and
journals of before could not be resumed. So a field made with `extension` stands in a record, and
in whatever else is dumped from the rules, only where it differs from its default: a game without
it has the header that it always had.

Two things follow. The default of an extension never changes, since records that lack it mean that
one. And an extension that is off changes no outcome: the tests hold the digests of the markets that
were there before.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field


def extension(default: Any = None) -> Any:
    """A field that is left out of what is dumped while it has its default.

    Args:
        default: The value of old records: what the configuration meant without the field.
    """
    return Field(default=default, exclude_if=lambda value: bool(value == default))


def is_extension(field: Any) -> bool:
    """Whether a field of a pydantic model, one of `model_fields`, was made so."""
    return field.exclude_if is not None
