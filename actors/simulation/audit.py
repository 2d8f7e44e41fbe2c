"""What must hold, whatever strikes: the books of what was asked, answered, logged and used.

The auditor sees what reaches the disk, line by line, and what reaches the provider. At once:

- a request arrives only while an intent of it is on disk and no answer;
- what the provider worked on is within the budget, and what it is asked at once within the caps;
- a batch is recorded only when every answer of a model in it is on disk.

And in the end: a model answered a request once, and once more at most for each time that the
answer was lost on its way (by a death of the driver or the language process, or a failed write);
every request that was sent is settled; and the journals are those of an undisturbed run.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from actors.simulation.limits import Allowance
from market.calls import CallKey, Outcome
from market.environment import Json
from market.language import Request
from market.prompt_names import message_name, unrolled

JOURNAL, CALLS = "journal.jsonl", "calls.jsonl"

#: Seats of models, whose answers are paid for.
PAID = "model"


class BrokenError(RuntimeError):
    """Something that must hold does not."""


def conversation(request: Request) -> str:
    """What names a request: everything said in it, and which attempt it is."""
    return _named([message_name(message) for message in request.messages], request.attempt)


def _named(names: list[str], attempt: int) -> str:
    return sha256(f"{attempt}{names}".encode()).hexdigest()


@dataclass(slots=True)
class Book:
    """What one answer log says.

    Attributes:
        read: Bytes read.
        named: The conversation of each call.
        sent: The names of the messages that each seat sent last.
        open: How many intents of a call are not settled.
        replied: The calls that were answered, and how often.
        lost: Calls recorded as lost.
    """

    read: int = 0
    named: dict[CallKey, str] = field(default_factory=dict)
    sent: dict[str, list[str]] = field(default_factory=dict)
    open: Counter[CallKey] = field(default_factory=Counter)
    replied: Counter[CallKey] = field(default_factory=Counter)
    lost: int = 0

    def add(self, line: Mapping[str, Json]) -> None:
        """Read a line."""
        if "outcome" not in line or line["outcome"] == Outcome.SEAT_FAILED:
            return
        key = _key(line)
        if line["outcome"] == Outcome.SENT:
            seat = line["seat"]
            self.sent[seat] = unrolled(line["messages"], self.sent.get(seat, ()))
            self.named[key] = _named(self.sent[seat], key[3])
            self.open[key] += 1
            return
        self.open[key] -= 1
        if line["outcome"] == Outcome.REPLIED:
            self.replied[key] += 1
        elif line["outcome"] == Outcome.LOST:
            self.lost += 1


class Books:
    """The books of a seed. Whatever breaks is kept in `broken`, since tasks swallow exceptions."""

    def __init__(self, allowance: Allowance) -> None:
        self.broken: list[str] = []
        self.worked_on = 0
        self.gates = 0
        self._allowance = allowance
        self._under_way = 0
        self.answers: Counter[str] = Counter()
        self.requests: Counter[str] = Counter()
        self._excused: Counter[str] = Counter()
        self._books: dict[Path, Book] = {}
        self._calls: dict[str, tuple[Book, CallKey]] = {}
        self._journals: dict[Path, int] = {}

    def arrived(self, asked: str) -> None:
        """A request arrived at the provider."""
        self.requests[asked] += 1
        if asked not in self._calls:
            self._break(f"the request {asked[:8]} was sent without an intent on disk")
            return
        book, key = self._calls[asked]
        if book.replied[key]:
            self._break(f"the request of {key} was sent although its answer is logged")
        elif book.open[key] < 1:
            self._break(f"the request of {key} was sent without an intent on disk")

    def worked(self) -> None:
        """The provider worked on a request, and bills it."""
        self.worked_on += 1
        if not self._allowance.affords(self.worked_on):
            self._break(f"{self.worked_on} answers were paid for, which the budget does not allow")

    def under_way(self, change: int) -> None:
        """So many more requests are under way at the provider."""
        self._under_way += change
        caps = self._allowance.caps
        # A gate that is replaced may grant twice until it is told of the leases of the one before.
        if caps is not None and self._under_way > (caps.in_flight or 0) * max(1, self.gates):
            self._break(f"{self._under_way} requests are under way, more than the caps allow")

    def answered(self, asked: str) -> None:
        """An answer reached the client."""
        self.answers[asked] += 1

    def excuse(self, asked: str) -> None:
        """Whoever called died: what it knew of this request is lost."""
        self._excused[asked] = self.answers[asked]

    def synced(self, path: Path, content: bytes) -> None:
        """A file reached the disk."""
        if path.name == CALLS:
            book = self._books.setdefault(path, Book())
            book.read += self._read(book, content[book.read :])
        elif path.name == JOURNAL:
            seen = self._journals.get(path, 0)
            for raw in _whole_lines(content[seen:]):
                seen += len(raw)
                self._check_used(path, json.loads(raw))
            self._journals[path] = seen

    def reread(self, files: Mapping[Path, bytes], lost: bool) -> None:
        """A life of the driver is over: believe what the disk holds now.

        Args:
            files: What it holds.
            lost: Whether answers may have been lost, since the driver died or could not log them.
        """
        self._books.clear()
        self._calls.clear()
        self._journals = {path: content.rfind(b"\n") + 1 for path, content in files.items()}
        for path, content in files.items():
            if path.name == CALLS:
                self.synced(path, content)
        if lost:
            for asked in self.answers:
                book, key = self._calls.get(asked, (Book(), (0, 0, "", 0)))
                if not book.replied[key]:
                    self.excuse(asked)

    def close(self) -> None:
        """Check what must hold in the end."""
        for book in self._books.values():
            if unsettled := sorted(+book.open):
                self._break(f"the log does not say what became of {unsettled[0]}")
            if twice := [key for key, times in book.replied.items() if times > 1]:
                self._break(f"the log has two answers to {twice[0]}")
        for asked, times in self.answers.items():
            if times > 1 + self._excused[asked]:
                _, key = self._calls.get(asked, (None, asked[:8]))
                self._break(
                    f"the request of {key} was answered {times} times, of which "
                    f"{self._excused[asked]} may be repetitions"
                )

    def keys(self) -> dict[Path, frozenset[CallKey]]:
        """The calls that were answered, by log."""
        return {path: frozenset(book.replied) for path, book in self._books.items()}

    @property
    def lost(self) -> int:
        """Calls that the logs hold as lost."""
        return sum(book.lost for book in self._books.values())

    def _read(self, book: Book, content: bytes) -> int:
        read = 0
        for raw in _whole_lines(content):
            read += len(raw)
            try:
                line = json.loads(raw)
            except ValueError:
                self._break("a log has a damaged line that is not its last")
                continue
            book.add(line)
            if line.get("outcome") == Outcome.SENT:
                key = _key(line)
                self._calls[book.named[key]] = book, key
        return read

    def _check_used(self, path: Path, line: Mapping[str, Json]) -> None:
        book = self._books.get(path.with_name(CALLS), Book())
        for seat, given in line.get("answers", {}).items():
            if not seat.startswith(PAID) or given.get("none") in ("late", "crashed"):
                continue
            decision = (line["step"], line["turn"], seat)
            calls = [key for key in book.named if key[:3] == decision]
            if not calls or any(not book.replied[key] for key in calls):
                self._break(f"the answer of {decision} was used before it was on disk")

    def _break(self, what: str) -> None:
        self.broken.append(what)


def _key(line: Mapping[str, Json]) -> CallKey:
    return line["step"], line["turn"], line["seat"], line["attempt"]


def _whole_lines(content: bytes) -> list[bytes]:
    return [raw for raw in content.splitlines(keepends=True) if raw.endswith(b"\n")]
