"""The journal is the truth (law 4): one append-only file per episode.

    {"config":{...},"config_digest":...,"environment":...,"episode":...,"format":1,...}
    {"answers":{"markup":{"action":{...}},"late-1":{"none":"late"}},"digest":...,"step":1,"turn":0}
    ...
    {"result":{...}}

It holds only what is reproducible, no clock, host or placement, so equal games have equal bytes,
and a game is named by the SHA-256 of its file. A line is canonical JSON.

Two chains run through it. A batch's `digest` covers what the environment showed: the digest
before it, the step, the turn and, of every seat asked, the kind and the views. Rules and forms
are functions of the configuration, so leaving them out costs nothing and saves most of the time.
A replay recomputes it and can say where two games part. A line's `witness` covers the witness
before it and the line's own bytes, so that a damaged file is recognised without a replay; it is
so called to be the last key of a line.

A line is on disk in one piece or not at all: one without its newline, left by a writer that
died, is cut.
"""

from __future__ import annotations

from market.journal.chain import Chain
from market.journal.header import ConfigChangedError, Header, JournalError
from market.journal.reading import (
    Batch,
    Journal,
    JournalReader,
    has_header,
    journal_digest,
    read,
    result_from_json,
    result_json,
)
from market.journal.writing import JournalLockedError, JournalWriter

__all__ = [
    "Batch",
    "Chain",
    "ConfigChangedError",
    "Header",
    "Journal",
    "JournalError",
    "JournalLockedError",
    "JournalReader",
    "JournalWriter",
    "has_header",
    "journal_digest",
    "read",
    "result_from_json",
    "result_json",
]
