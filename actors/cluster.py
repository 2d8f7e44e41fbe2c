"""A Ray of one's own, or a place in somebody else's cluster; quiet either way."""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from actors.errors import UserError

#: Read when Ray is imported, here and in its workers.
_QUIET = {
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}

#: Seconds to wait for somebody at an address; Ray itself would try for minutes.
_PATIENCE = 10.0


#: The token of local clusters, instead of the one that Ray keeps in the home for everybody. Ray
#: remembers the first it sees, so it is one for the life of this process.
_TOKEN = secrets.token_hex(32)

#: Says, on every start, that token authentication is on.
_CHATTER = "ray._private.authentication.authentication_token_setup"


@contextmanager
def connected(address: str | None) -> Iterator[None]:
    """Start a local Ray, or join the cluster at an address, for the time of a block.

    A local one is always new: it never joins what happens to run on the machine, listens to
    nobody else, sends no usage reports and leaves nothing behind. A connection that this process
    already has is used and left open.

    Raises:
        UserError: If the cluster cannot be reached or refuses.
    """
    before = {name: os.environ.get(name) for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN")}
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    if address is None:
        os.environ["RAY_AUTH_TOKEN"] = _TOKEN
        logging.getLogger(_CHATTER).setLevel(logging.ERROR)
    import ray

    if ray.is_initialized():
        yield
        return
    if address is not None:
        _knock(address)
    # Sockets live there, and the path of a socket may have 107 bytes.
    folder = None if address else tempfile.mkdtemp(prefix="ma-", dir="/tmp")
    on_terminate = signal.getsignal(signal.SIGTERM)
    try:
        try:
            with _hushed():
                ray.init(
                    address=address or "local",
                    include_dashboard=None if address else False,
                    log_to_driver=False,
                    logging_level=logging.CRITICAL,
                    configure_logging=False,
                    _temp_dir=folder,
                )
        except Exception as error:
            if address is None:
                raise
            reason = " ".join(str(error).split())[:200]
            raise _refused(address, reason) from None
        if callable(on_terminate) and threading.current_thread() is threading.main_thread():
            # Ray's own handler prints a trace of the stack first.
            signal.signal(signal.SIGTERM, on_terminate)
        yield
    finally:
        with _hushed():
            ray.shutdown()
        for name, earlier in before.items():
            if earlier is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = earlier
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _hushed() -> Iterator[None]:
    """Lose what is written to the standard error meanwhile: Ray's C++ writes past all loggers."""
    sys.stderr.flush()
    kept = os.dup(2)
    void = os.open(os.devnull, os.O_WRONLY)
    os.dup2(void, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(void)
        os.close(kept)


def _knock(address: str) -> None:
    """Make sure that somebody listens at `host:port`; other kinds of address are Ray's business."""
    host, _, port = address.rpartition(":")
    if "/" in address or not host or not port.isdigit():
        return
    try:
        socket.create_connection((host, int(port)), timeout=_PATIENCE).close()
    except OSError as error:
        raise _refused(address, error.strerror or type(error).__name__) from None


def _refused(address: str, reason: str) -> UserError:
    return UserError(
        f"the Ray cluster at {address} cannot be joined ({reason}); check the address, and the "
        "token (RAY_AUTH_MODE=token with RAY_AUTH_TOKEN) if it asks for one."
    )
