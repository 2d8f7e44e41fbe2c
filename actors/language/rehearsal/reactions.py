"""What may become of a request."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

Body = Mapping[str, Any]

#: Parts of a request that say how an answer travels, and not what is asked.
_TRAVEL: Final = frozenset({"stream", "stream_options"})


@dataclass(frozen=True)
class Says:
    """An answer.

    Attributes:
        text: The text.
        calls: Tools and their arguments, in order.
        finish: Why the answer ends.
        refusal: The words of a refusal in the field that OpenAI has for them.
        model: The model as the provider names it; None repeats the name that was asked for.
        prompt_tokens: Tokens read.
        completion_tokens: Tokens written.
        cached_tokens: Of those read, the ones from a cache.
        usage: Whether the tokens are told.
        ends: Whether the answer ends; otherwise the connection breaks before it did.
        after: Seconds before the first byte.
        piece: Characters of a streamed piece.
        pause: Seconds before each further piece.
        outcome: What it counts as.
    """

    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    finish: str = "stop"
    refusal: str | None = None
    model: str | None = "stub-model-1"
    prompt_tokens: int = 11
    completion_tokens: int = 7
    cached_tokens: int = 0
    usage: bool = True
    ends: bool = True
    after: float = 0.0
    piece: int = 5
    pause: float = 0.0
    outcome: str = "answered"


@dataclass(frozen=True)
class Fails:
    """An HTTP error with OpenAI's error body."""

    status: int = 500
    message: str = "the stub fails"
    code: str | None = None
    retry_after: str | None = None
    after: float = 0.0
    outcome: str = "errors"


@dataclass(frozen=True)
class Hangs:
    """Takes the request and says nothing until the client or the server goes."""

    outcome: str = "hangs"


@dataclass(frozen=True)
class Drops:
    """Closes the connection without an answer."""

    after: float = 0.0
    outcome: str = "drops"


Reaction = Says | Fails | Hangs | Drops


@dataclass(frozen=True)
class Asked:
    """A request as it arrived.

    Attributes:
        body: What is asked.
        authorization: The header.
        digest: Names the content: equal for requests that ask the same.
        earlier: How often the same was asked before.
        at: Seconds on a clock that only goes forward.
    """

    body: Body
    authorization: str | None = None
    digest: str = ""
    earlier: int = 0
    at: float = field(default_factory=time.monotonic)


#: Decides what becomes of a request.
Behaviour = Callable[[Asked], Reaction]


def digest(body: Body) -> str:
    """The name of a request's content, whatever the order of its keys and however it travels."""
    content = {name: value for name, value in body.items() if name not in _TRAVEL}
    spelled = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(spelled.encode(), digest_size=8).hexdigest()
