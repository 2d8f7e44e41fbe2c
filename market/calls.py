"""The answer log: how each answer was made, and what was paid for it (`calls.jsonl`).

Beside every journal, which holds only what is reproducible, lies a log of what is not: model,
tokens, cost, latency, prompts, raw replies, hosts and versions. A record is on disk before its
answer is used. So a run that died takes the answers it had paid for, but not applied, from here
(`paid_replies`) and pays nothing twice.

The first line of each writer says where and with what it ran; then comes one line per record.
Prompts repeat themselves, so each message is stored in the first record that sends it and
named in later ones (`market.prompt_names`).
"""

from __future__ import annotations

import json
import math
import platform
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from market.environment import Json
from market.language import Message, Reply, ToolCall, Usage
from market.prompt_names import message_name, rolled, spelled, unrolled
from market.storage import LOCAL, Appender, Storage

#: Version of the file's format. In 1 every message was named by its hash; such logs are read too.
FORMAT = 2

#: Longest error text kept, in characters.
MAX_ERROR = 2_000

#: Packages whose versions may explain an answer.
PACKAGES = (
    "market-arena",
    "json-repair",
    "litellm",
    "numpy",
    "ray",
    "sentence-transformers",
    "xllamacpp",
)

T = TypeVar("T")

#: Names a call: step, turn, seat and attempt, within its episode.
CallKey = tuple[int, int, str, int]


class CallLogError(RuntimeError):
    """An answer log that cannot be read or written; one sentence that names the file."""


class Outcome(StrEnum):
    """What a record tells."""

    SENT = "sent"  #: the request is about to be sent; what it costs is owed from here on
    REPLIED = "replied"  #: the model answered
    PROVIDER_FAILED = "provider_failed"  #: the provider did not answer, retries included
    LOST = "lost"  #: nothing will come back of a request that was sent; its cost is unknown
    SEAT_FAILED = "seat_failed"  #: the agent's own failure: late, crashed, malformed, ...


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One model call, or one failure of a seat.

    Attributes:
        episode: Id of the episode.
        step: Step of the decision.
        turn: Turn of the decision.
        seat: Seat that was asked.
        attempt: 0 for the first ask of the decision, counting its re-asks.
        outcome: What happened.
        model: The model asked, as configured; None where no model was.
        messages: The rendered prompt.
        reply: The raw reply and what it took: model, tokens, cost, latency, tries.
        cause: The `Cause` of a seat's failure, or the cause of a `ProviderFailure`.
        error: What went wrong, for people; cut at `MAX_ERROR` characters.
        host: Where the call was made; None for the writer's own.
        ceiling: Of a request that is sent, the most tokens that it may read and write.
        played: Seconds that the run had been played for, those of earlier runs included.
        unsure: Of a call that failed, the tries of which nobody knows what they cost.
        address: Of a request that is sent, the server; empty for the provider's own address.
    """

    episode: str
    step: int
    turn: int
    seat: str
    attempt: int
    outcome: Outcome
    model: str | None = None
    messages: tuple[Message, ...] = ()
    reply: Reply | None = None
    cause: str | None = None
    error: str | None = None
    host: str | None = None
    ceiling: tuple[int, int] | None = None
    played: float | None = None
    unsure: int | None = None
    address: str | None = None

    @property
    def key(self) -> CallKey:
        """What names the call within its episode."""
        return self.step, self.turn, self.seat, self.attempt


#: Fields that are written as they are.
_PLAIN = [field.name for field in fields(CallRecord) if field.name not in ("messages", "reply")]


@dataclass(frozen=True, slots=True)
class Calls:
    """An answer log as read.

    Attributes:
        writers: One mapping per writer, in order: `host`, `python`, `packages`.
        records: All records, in the order in which they were written.
    """

    writers: tuple[Mapping[str, Json], ...] = ()
    records: tuple[CallRecord, ...] = ()


@cache
def about_this_process() -> dict[str, Json]:
    """Where and with what this process runs: host, Python and package versions."""
    return {
        "host": platform.node(),
        "python": platform.python_version(),
        "packages": {name: version for name in PACKAGES if (version := _version(name))},
    }


class CallLog:
    """Appends to an answer log; may be used from several threads of one process.

    Whoever holds the journal's lock is the one writer. The file is opened at the first record,
    and a torn last line is cut then: most episodes of scripts have nothing to log.

    Args:
        path: The file, made when missing.
        about: What the writer's own line says; by default `about_this_process()`.
        storage: Where the file is.
    """

    def __init__(
        self,
        path: Path | str,
        about: Mapping[str, Json] | None = None,
        storage: Storage = LOCAL,
    ) -> None:
        self.path = Path(path)
        self._storage = storage
        self._lock = threading.Lock()
        self._about = about
        self._stored: set[str] = set()
        self._before: dict[str, list[str]] = {}
        self._file: Appender | None = None
        self._closed = False

    def append(self, *records: CallRecord) -> None:
        """Write records; they are on disk when the call returns.

        Raises:
            CallLogError: If they cannot be written.
            ValueError: If a figure is NaN or infinite.
        """
        with self._lock:
            if self._closed:
                raise CallLogError(f"{self.path} is closed")
            try:
                if self._file is None:
                    self._file = self._open()
                new: set[str] = set()
                sent: dict[str, list[str]] = {}
                self._write(self._file, [self._spell(record, new, sent) for record in records])
            except OSError as error:
                raise CallLogError(f"{self.path} cannot be written: {error.strerror}") from error
            self._stored |= new
            self._before |= sent

    def close(self) -> None:
        """Close the file. Safe to call again."""
        with self._lock:
            self._closed = True
            self._leave()

    def _open(self) -> Appender:
        size = 0
        self._stored.clear()
        self._before.clear()
        if self._storage.exists(self.path):
            for data, end in _lines(self.path, self._storage):
                try:
                    self._stored.update(data.get("texts", ()))
                    _sent(data, self._before)
                except (KeyError, TypeError, ValueError) as error:
                    raise CallLogError(f"{self.path} names messages that it lacks") from error
                size = end
        file = self._storage.appender(self.path)
        about = about_this_process() if self._about is None else self._about
        try:
            file.truncate(size)
            self._write(file, [{"format": FORMAT, **about}])
        except BaseException:
            file.close()
            raise
        return file

    def _leave(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> CallLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _spell(
        self, record: CallRecord, new: set[str], sent: dict[str, list[str]]
    ) -> dict[str, Json]:
        """A record as JSON, with the messages that neither the file nor `new` holds."""
        error = record.error[:MAX_ERROR] if record.error else None
        data = {name: getattr(record, name) for name in _PLAIN}
        data["error"] = error
        data["reply"] = None if record.reply is None else asdict(record.reply)
        names = [message_name(message) for message in record.messages]
        before = sent.get(record.seat) or self._before.get(record.seat) or ()
        if names:
            sent[record.seat] = names
        data["messages"], data["texts"] = rolled(names, before), {}
        for name, message in zip(names, record.messages, strict=True):
            if name not in self._stored and name not in new:
                new.add(name)
                data["texts"][name] = asdict(message)
        return {key: value for key, value in data.items() if value not in (None, [], {})}

    def _write(self, file: Appender, entries: Sequence[Mapping[str, Json]]) -> None:
        content = "".join([spelled(entry) + "\n" for entry in entries]).encode()
        start = file.size
        try:
            file.append(content, sync=True)
        except OSError:
            try:
                file.truncate(start)
            except OSError:
                self._leave()  # what stands at the end is cut when the file is opened again
            raise


def read_calls(path: Path | str, storage: Storage = LOCAL) -> Calls:
    """Read an answer log; a missing one is empty, and a torn last line is ignored.

    Raises:
        CallLogError: If a line other than a torn last one is damaged.
    """
    path = Path(path)
    if not storage.exists(path):
        return Calls()
    writers: list[Mapping[str, Json]] = []
    records: list[CallRecord] = []
    texts: dict[str, Message] = {}
    before: dict[str, list[str]] = {}
    for number, (data, _) in enumerate(_lines(path, storage), 1):
        try:
            if "format" in data:
                writers.append(_writer(data))
            else:
                records.append(_record(data, texts, before))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise CallLogError(f"{path}, line {number} is no record of a call") from error
    return Calls(tuple(writers), tuple(records))


def paid_replies(calls: Calls) -> dict[CallKey, CallRecord]:
    """The calls that a model answered, by their key; the latest where there are several."""
    return {call.key: call for call in calls.records if call.reply is not None}


def unsettled(calls: Calls) -> dict[CallKey, CallRecord]:
    """The requests that were sent and of which nothing came back: they may have cost money."""
    open_calls: dict[CallKey, CallRecord] = {}
    for call in calls.records:
        if call.outcome is Outcome.SENT:
            open_calls[call.key] = call
        else:
            open_calls.pop(call.key, None)
    return open_calls


def _sent(data: Mapping[str, Any], before: dict[str, list[str]]) -> list[str]:
    """The names of the messages of a record, which take the place of those of its seat before."""
    if not (entries := data.get("messages")):
        return []
    before[data["seat"]] = unrolled(entries, before.get(data["seat"], ()))
    return before[data["seat"]]


def _writer(data: dict[str, Any]) -> Mapping[str, Json]:
    about = {key: value for key, value in data.items() if key != "format"}
    if not isinstance(about.get("packages", {}), dict):
        raise TypeError("packages are named with their versions")
    return about


def _record(
    data: dict[str, Any], texts: dict[str, Message], before: dict[str, list[str]]
) -> CallRecord:
    for name, content in data.pop("texts", {}).items():
        texts[name] = _made(Message, content, tool_calls=_tool_calls(content))
    messages = tuple(texts[name] for name in _sent(data, before))
    data.pop("messages", None)
    raw = data.pop("reply", None)
    reply = None
    if raw is not None:
        usage = _made(Usage, raw["usage"])
        reply = _made(Reply, raw, usage=usage, tool_calls=_tool_calls(raw))
    made: dict[str, object] = {
        "outcome": Outcome(data["outcome"]),
        "messages": messages,
        "reply": reply,
    }
    if "ceiling" in data:
        most_read, most_written = data["ceiling"]
        made["ceiling"] = (int(most_read), int(most_written))
    return _made(CallRecord, data, **made)


def _tool_calls(data: Mapping[str, Any]) -> tuple[ToolCall, ...]:
    return tuple(_made(ToolCall, call) for call in data["tool_calls"])


def _made(cls: type[T], data: Mapping[str, Json], **made: object) -> T:
    """An object of fields that were read and of parts that were made of such.

    Raises:
        TypeError: If a field has a value of another type than it can have, or is missing.
        KeyError: If there is no such field.
    """
    kinds = _KINDS[cls]
    for name, value in data.items():
        if name not in made and type(value) not in kinds[name]:
            raise TypeError(f"{name} cannot be {value!r}")
    return cls(**{**data, **made})


def _read_as(hint: Any) -> tuple[type, ...]:
    if get_origin(hint) is Literal:
        return (str,)
    if parts := get_args(hint):
        return tuple(kind for part in parts for kind in _read_as(part))
    return (float, int) if hint is float else (hint,)


#: For each class that a line is made of, the types that its fields are read as.
_KINDS: Mapping[Any, Mapping[str, tuple[type, ...]]] = {
    cls: {name: _read_as(hint) for name, hint in get_type_hints(cls).items()}
    for cls in (CallRecord, Reply, Usage, Message, ToolCall)
}


def _lines(path: Path, storage: Storage) -> Iterator[tuple[dict[str, Json], int]]:
    """Yield each whole line, parsed, and the offset of its end."""
    end = 0
    with storage.open(path) as file:
        for number, raw in enumerate(file, 1):
            if not raw.endswith(b"\n"):
                return
            try:
                data = json.loads(raw, parse_constant=_finite, parse_float=_finite)
            except (ValueError, RecursionError) as error:
                raise CallLogError(f"{path}, line {number} is not JSON") from error
            if not isinstance(data, dict):
                raise CallLogError(f"{path}, line {number} is no JSON object")
            end += len(raw)
            yield data, end


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is no number of JSON")
    return number


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
