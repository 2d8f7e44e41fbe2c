"""What a study is bound to: its question and plan, written down before anything is played."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from actors.errors import UserError
from actors.run import refuse_unset, write_json
from market.config import Config, ConfigError, documents, resolved
from market.config.plans import EpisodePlan, PlanError
from market.journal import ConfigChangedError, Header
from market.storage import LOCAL, Storage
from market.study.sweeps import gathering
from market.study.sweeps.amendments import KEYS, Amendment, amend, amendments
from market.study.sweeps.plan import Sweep, described, plan, plans_of, registered

STUDY: Final = "study.json"
CONFIG: Final = "config.json"


def planned(config: Config, out: Path | None = None, extend: bool = False) -> Sweep:
    """The plan of a study.

    Args:
        config: Its configuration.
        out: Its folder, which knows how it was extended; None for a new one.
        extend: Extend it to what the configuration asks for.

    Raises:
        UserError: If the configuration has no study, or one that is too large.
        market.config.ConfigError: If `study.json` is damaged.
        market.study.recording.StudyError: If it cannot be extended so.
        market.journal.ConfigChangedError: If more than that would change.
    """
    if config.study is None:
        raise UserError(f"{config.name} has no `study`; play it with `market run`, or add one.")
    made: tuple[Amendment, ...] = ()
    if out is not None and (out / STUDY).exists():
        told, made = _bound(out / STUDY)
        if extend:
            played = sum(map(gathering.played, gathering.parts(out)))
            made = (*made, amend(out / STUDY, told, registered(config), config, played))
    try:
        return plan(config, made)
    except PlanError as error:
        raise UserError(f"`{'.'.join(map(str, error.key))}`: {error}.") from error


def taken_up(config: Config, out: Path, resume: bool, extend: bool) -> Sweep:
    """The plan of a study that is about to be played in a folder.

    Raises:
        UserError: If it cannot be, or there is nothing to resume; and as `planned`.
    """
    whole = planned(config, out if resume else None, extend)
    if resume and not (out / "parts").exists():
        what, option = ("extend", "--extend") if extend else ("resume", "--resume")
        raise UserError(f"{out} holds no study to {what}; leave out {option}.")
    refuse_unset(ends(whole))
    return whole


def ends(whole: Sweep) -> list[EpisodePlan]:
    """The episodes of the first cell and the last: what they need to be built, any may need."""
    config = whole.config
    return [
        each
        for cell in (whole.cells[0], whole.cells[-1])
        for each in plans_of(config, cell).values()
    ]


@contextmanager
def registered_in(out: Path, whole: Sweep, storage: Storage = LOCAL) -> Iterator[None]:
    """Hold a folder in which question and plan are written down, before anything is played.

    A new study that is refused in the block, before it played anything, leaves nothing behind.

    Raises:
        market.journal.ConfigChangedError: If it holds others.
        market.storage.LockedError: If somebody else plays there.
    """
    storage.make_folder(out / "parts")
    lock = storage.lock(out / STUDY)
    new = not storage.exists(out / STUDY)
    try:
        _register(whole, out, storage)
        yield
    except UserError:
        if new and not storage.names(out / "parts") and not storage.exists(out / "episodes"):
            for name in (STUDY, CONFIG):
                storage.remove(out / name)
        raise
    finally:
        lock.release(remove=True)
        if not storage.exists(out / STUDY):
            with suppress(OSError):  # it may have been there, with other things in it
                (out / "parts").rmdir()
                out.rmdir()


def _register(whole: Sweep, out: Path, storage: Storage) -> None:
    """Write down the question and the plan, or make sure that they are those of the folder."""
    path = out / STUDY
    asked = registered(whole.config)
    begun = storage.exists(path)
    extended = False
    if begun:
        told, made = _bound(path)
        extended = len(made) < len(whole.amendments)
        if extended and whole.amendments[-1].before.sha256 != told.config_digest:
            raise ConfigChangedError(path, KEYS, "it was extended meanwhile; look at it again")
        if not extended and (keys := told.differences(asked)):
            hint = "leave them as they were, or name another folder with --out"
            if all(key.startswith(KEYS) for key in keys):
                hint += "; --extend adds seeds and repetitions, and notes it in the results"
            raise ConfigChangedError(path, keys, hint)
    # First what the plan says: an extension that was interrupted is taken up by the same command.
    # What is operational may be other than it was: whoever goes on by the file asks where this did.
    if extended or not begun or _configured(out / CONFIG) != resolved(whole.config):
        write_json(out / CONFIG, resolved(whole.config), storage)
    if extended or not begun:
        write_json(path, described(whole), storage)


def _configured(path: Path) -> object:
    """What a file holds; None where it cannot be read, and is to be written anew."""
    try:
        return documents.read(path)
    except ConfigError:
        return None


def _bound(path: Path) -> tuple[Header, tuple[Amendment, ...]]:
    data = documents.read(path)
    try:
        return Header(**data["registered"]), amendments(data)
    except (KeyError, TypeError) as error:
        raise ConfigError(f"{path} holds no plan; name another folder with --out.") from error
