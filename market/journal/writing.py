"""Writes journals: one writer, one line at a time, on disk before the next is asked."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Self

from market import answers as spelling
from market import canonical
from market.environment import Answers, Decisions, Result, check_answers
from market.journal.chain import Chain
from market.journal.header import ConfigChangedError, Header, JournalError
from market.journal.reading import JournalReader, has_header, result_json, seal
from market.storage import LOCAL, Lock, LockedError, Storage


class JournalLockedError(JournalError, LockedError):
    """Another writer has the journal, or took it over."""


class JournalWriter:
    """The one writer of a journal; made by `create` or `reopen`.

    Every line is handed to the operating system before the call returns, and with `durable` is
    on disk. After a failed write nothing more is written: `reopen` cuts what was left.

    Attributes:
        path: The file.
        header: Its header.
        durable: Whether every line is synced to disk.
        storage: Where the file is.
        epoch: How many times the journal was opened for writing, this time included.
        chain: The chain of digests, at the last batch written.
    """

    def __init__(
        self,
        path: Path,
        header: Header,
        lock: Lock,
        durable: bool,
        reader: JournalReader | None,
        storage: Storage,
    ) -> None:
        self.path = path
        self.header = header
        self.durable = durable
        self.storage = storage
        self.epoch = lock.epoch
        self.chain = Chain(reader.digest if reader else header.digest)
        self._witness = reader.witness if reader else ""
        self._lock = lock
        self._closed = False
        try:
            self._file = storage.appender(path)
            self._file.truncate(reader.size if reader else 0)
        except OSError as error:
            raise JournalError(f"{path} cannot be written: {error.strerror}") from error
        if reader is None:
            self._write(header.line)

    @classmethod
    def create(
        cls, path: Path | str, header: Header, durable: bool = False, storage: Storage = LOCAL
    ) -> JournalWriter:
        """Begin a journal.

        Raises:
            JournalError: If there is one already, or it is locked.
        """
        path = Path(path)
        lock = _lock(path, storage)
        try:
            if storage.exists(path):
                raise JournalError(f"{path} exists already")
            return cls(path, header, lock, durable, None, storage)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def reopen(
        cls, path: Path | str, header: Header, durable: bool = False, storage: Storage = LOCAL
    ) -> JournalWriter:
        """Go on with an unfinished journal; one that is missing, or has no header yet, is begun.

        Raises:
            ConfigChangedError: If it was begun with another configuration.
            JournalError: If it is damaged, finished or locked.
        """
        path = Path(path)
        lock = _lock(path, storage)
        try:
            if not has_header(path, storage):
                return cls(path, header, lock, durable, None, storage)
            reader = JournalReader(path, storage)
            for _ in reader:
                pass
            if keys := reader.header.differences(header):
                raise ConfigChangedError(path, keys)
            if reader.result is not None:
                raise JournalError(f"{path} is finished")
            return cls(path, header, lock, durable, reader, storage)
        except BaseException:
            lock.release()
            raise

    def append(
        self, decisions: Decisions, answers: Answers, texts: Mapping[str, str] | None = None
    ) -> str:
        """Write the answers to a batch and return the batch's digest.

        Args:
            decisions: The batch as asked.
            answers: The answer to each.
            texts: Answers by seat as `market.answers.dump` spells them, where that was done.

        Raises:
            ContractError: If the answers are not those asked for.
            ValueError: If an answer is not JSON. Nothing was written.
            JournalError: If it cannot be written.
        """
        check_answers(decisions, answers)
        known = texts or {}
        spelled = {
            seat: known[seat] if seat in known else spelling.dump(answer)
            for seat, answer in answers.items()
        }
        chain = Chain(self.chain.digest)
        chain.extend(decisions)
        self.append_texts(decisions[0].step, decisions[0].turn, chain.digest, spelled)
        return chain.digest

    def append_texts(self, step: int, turn: int, digest: str, texts: Mapping[str, str]) -> None:
        """Write a batch whose digest was computed, and whose answers were spelled, elsewhere.

        Raises:
            ValueError: If a text holds a line break, which no canonical text does.
            JournalError: If it cannot be written.
        """
        answers = ",".join([f"{_key(seat)}:{texts[seat]}" for seat in sorted(texts)])
        body = f'{{"answers":{{{answers}}},"digest":"{digest}","step":{step},"turn":{turn}}}'
        if "\n" in body:
            raise ValueError(f"an answer of step {step}, turn {turn} is not canonical JSON")
        self._write(body)
        self.chain.digest = digest

    def finish(self, result: Result) -> None:
        """Write the result and close.

        Raises:
            ValueError: If the result is not JSON, for instance holds NaN.
            JournalError: If it cannot be written.
        """
        self._write(canonical.dumps({"result": result_json(result)}))
        self._close(finished=True)

    def close(self) -> None:
        """Close the file and let the lock go. Safe to call again."""
        self._close(finished=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _close(self, finished: bool) -> None:
        self._closed = True
        self._file.close()
        self._lock.release(remove=finished)

    def _write(self, body: str) -> None:
        if self._closed:
            raise JournalError(f"{self.path} is closed")
        witness, line = seal(self._witness, body.encode())
        try:
            self._lock.check()
            self._file.append(line, self.durable)
        except LockedError as error:
            self.close()
            raise JournalLockedError(str(error)) from error
        except OSError as error:
            self.close()
            raise JournalError(f"{self.path} cannot be written: {error.strerror}") from error
        self._witness = witness


@lru_cache(maxsize=4096)
def _key(seat: str) -> str:
    """A seat's id as a JSON key."""
    return canonical.dumps(seat)


def _lock(path: Path, storage: Storage) -> Lock:
    try:
        return storage.lock(path)
    except LockedError as error:
        raise JournalLockedError(str(error)) from error
    except OSError as error:
        raise JournalError(f"{path} cannot be written: {error.strerror}") from error
