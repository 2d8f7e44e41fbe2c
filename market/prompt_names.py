"""How an answer log names what was sent: messages by their hashes, and runs of them by their place.

Prompts repeat themselves. A conversation over many steps is sent again with every call, a few
messages longer or a few older ones shorter, so its names alone would outgrow all else in the log:
at 500 messages a call and 50 calls a day, 180 days are 150 MB. A run of messages that stands in the
seat's request before is therefore written as `[place, count]` there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache

from market.environment import Json
from market.language import Message

#: Shortest run that is named by its place: shorter ones are easier to read as they are.
LEAST_RUN = 4

#: Messages whose names are remembered: those of three long conversations, some 10 MB.
REMEMBERED = 2**11


@lru_cache(maxsize=REMEMBERED)
def message_name(message: Message) -> str:
    """What a log names a message by: a hash of its content."""
    return hashlib.sha256(spelled(asdict(message)).encode()).hexdigest()[:32]


def spelled(data: Json) -> str:
    """JSON as the log has it, in ASCII: models write halves of surrogate pairs, UTF-8 has none.

    Raises:
        ValueError: If a figure is NaN or infinite.
    """
    return json.dumps(data, allow_nan=False, sort_keys=True, separators=(",", ":"))


def rolled(names: Sequence[str], before: Sequence[str]) -> list[Json]:
    """Names of messages, those in runs of the request before by their place in it.

    Args:
        names: Of the request.
        before: Of the seat's request before; empty if there is none.
    """
    places = {name: place for place, name in reversed([*enumerate(before)])}
    entries: list[Json] = []
    at = 0
    while at < len(names):
        start = places.get(names[at])
        count = 0 if start is None else _shared(names[at:], before[start:])
        if count < LEAST_RUN:
            entries.append(names[at])
            at += 1
        else:
            entries.append([start, count])
            at += count
    return entries


def unrolled(entries: Sequence[Json], before: Sequence[str]) -> list[str]:
    """The names that `rolled` wrote.

    Raises:
        ValueError: If there is no such run in the request before.
    """
    names: list[str] = []
    for entry in entries:
        if isinstance(entry, str):
            names.append(entry)
            continue
        start, count = entry
        if not 0 <= start < start + count <= len(before):
            raise ValueError(f"the request before has no messages {start} to {start + count}")
        names += before[start : start + count]
    return names


def _shared(names: Sequence[str], others: Sequence[str]) -> int:
    """How many names two lists begin with in common."""
    most = min(len(names), len(others))
    return next((i for i in range(most) if names[i] != others[i]), most)
