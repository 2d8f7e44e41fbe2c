"""Reads journals, and says where one is damaged."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from market import answers as spelling
from market import canonical
from market.environment import Answer, Json, NoAction, Result, SeatResult
from market.journal.header import FORMAT, Header, JournalError
from market.storage import LOCAL, Storage

_WITNESS = ',"witness":"'
_TAIL = len(_WITNESS) + 64 + len('"}\n')


@dataclass(frozen=True, slots=True)
class Batch:
    """One line between header and result: what was asked at once, and the answers.

    Attributes:
        step: Step of the episode.
        turn: Turn of the step.
        digest: The chain's digest up to what the seats were shown.
        answers: Answer or no action of every seat asked.
    """

    step: int
    turn: int
    digest: str
    answers: Mapping[str, Answer | NoAction]


@dataclass(frozen=True, slots=True)
class Journal:
    """A journal as read.

    Attributes:
        header: Its header.
        batches: Its batches in order.
        result: The result; None if the episode is not finished.
        torn: Bytes of a last line without newline, which were ignored.
    """

    header: Header
    batches: tuple[Batch, ...]
    result: Result | None
    torn: int


class JournalReader:
    """Reads a journal line by line; iterating yields the batches, once, and closes the file.

    Attributes:
        path: The file.
        header: Its header, read at once.
        result: The result, once the iteration is over; None if there is none.
        torn: Bytes of a last line without newline, once the iteration is over.
        size: Bytes of the whole lines read so far.
        digest: The chain's digest at the last batch read.
        witness: The witness of the last line read.

    Raises:
        JournalError: If the file is missing, damaged or no journal; also while iterating.
    """

    def __init__(self, path: Path | str, storage: Storage = LOCAL) -> None:
        self.path = Path(path)
        self.result: Result | None = None
        self.torn = self.size = 0
        self.witness = ""
        self._line = 0
        self._file = self._open(storage)
        try:
            data = self._next()
            if data is None:
                raise JournalError(f"{self.path} has no header")
            self.header = self._header(data)
        except BaseException:
            self._file.close()
            raise
        self.digest = self.header.digest

    def __iter__(self) -> Iterator[Batch]:
        """Yield the batches and close the file."""
        with self._file:
            while (data := self._next()) is not None:
                if self.result is not None:
                    raise self._error("comes after the result")
                if "result" in data:
                    self.result = self._result(data)
                else:
                    batch = self._batch(data)
                    self.digest = batch.digest
                    yield batch

    def close(self) -> None:
        """Close the file of a reader that was not iterated to its end."""
        self._file.close()

    def _open(self, storage: Storage) -> BinaryIO:
        try:
            return storage.open(self.path)
        except OSError as error:
            raise JournalError(f"{self.path} cannot be read: {error.strerror}") from error

    def _next(self) -> dict[str, Json] | None:
        """Parse the next line; None at the end of the file or of its whole lines."""
        raw = self._file.readline()
        if not raw.endswith(b"\n"):
            self.torn = len(raw)
            return None
        self._line += 1
        body = raw[:-_TAIL] + b"}"
        witness, line = seal(self.witness, body)
        if line != raw:
            raise self._error("was changed after it was written")
        try:
            data = canonical.loads(body.decode())
        except ValueError as error:
            raise self._error(f"is {error}") from error
        if not isinstance(data, dict):
            raise self._error("is no JSON object")
        self.size += len(raw)
        self.witness = witness
        return data

    def _header(self, data: dict[str, Json]) -> Header:
        if data.get("format") != FORMAT:
            raise self._error(f"is no header of a journal of format {FORMAT}")
        try:
            header = Header(**data)
            expected = Header.of(header.config, header.rules_version, header.episode)
        except (TypeError, KeyError, ValueError) as error:
            raise self._error("is no header") from error
        if header != expected:
            raise self._error("is a header that contradicts itself")
        return header

    def _batch(self, data: dict[str, Json]) -> Batch:
        try:
            given = {seat: spelling.from_json(answer) for seat, answer in data["answers"].items()}
            return Batch(int(data["step"]), int(data["turn"]), str(data["digest"]), given)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise self._error("is no batch of answers") from error

    def _result(self, data: dict[str, Json]) -> Result:
        try:
            return result_from_json(data["result"])
        except (KeyError, TypeError, AttributeError) as error:
            raise self._error("is no result") from error

    def _error(self, what: str) -> JournalError:
        return JournalError(f"{self.path}, line {self._line} {what}")


def has_header(path: Path, storage: Storage = LOCAL) -> bool:
    """Whether there is a journal with a whole first line."""
    if not storage.exists(path):
        return False
    with storage.open(path) as file:
        return file.readline().endswith(b"\n")


def read(path: Path | str, storage: Storage = LOCAL) -> Journal:
    """Read a whole journal.

    Raises:
        JournalError: If it is missing, damaged or no journal.
    """
    reader = JournalReader(path, storage)
    batches = tuple(reader)
    return Journal(reader.header, batches, reader.result, reader.torn)


def journal_digest(path: Path | str) -> str:
    """The SHA-256 of the file, in hexadecimal: the name of the game it records."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def result_json(result: Result) -> dict[str, Json]:
    """A result as JSON: `{"seats": {seat: {"score", "metrics", "undefined"}}, "totals": {}}`."""
    # By hand, as `asdict` would take a twentieth of a scripted episode.
    seats = {
        seat: {
            "score": ended.score,
            "metrics": dict(ended.metrics),
            "undefined": dict(ended.undefined),
        }
        for seat, ended in result.seats.items()
    }
    return {"seats": seats, "totals": dict(result.totals)}


def result_from_json(data: Json) -> Result:
    """The result that `result_json` made the data of."""
    seats = {seat: SeatResult(**ended) for seat, ended in data["seats"].items()}
    return Result(seats, data["totals"])


def seal(previous: str, body: bytes) -> tuple[str, bytes]:
    """Make a line of a JSON object: return its witness and its bytes, newline included."""
    witness = hashlib.sha256(previous.encode() + body).hexdigest()
    return witness, body[:-1] + f'{_WITNESS}{witness}"}}\n'.encode()
