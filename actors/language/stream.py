"""Reads a chat completion, whole or in the pieces of a stream."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any, Final

from actors.language.transport import AttemptError, Completion
from market.language import Finish, ToolCall

_CUT: Final = frozenset({"length", "max_tokens"})
_REFUSED: Final = frozenset({"content_filter", "refusal", "safety"})


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class Assembly:
    """Takes one answer, whole or chunk by chunk, in litellm's spelling of OpenAI's."""

    def __init__(self) -> None:
        self.model = ""
        self.refused = False
        self._text: list[str] = []
        self._calls: dict[int, _Call] = {}
        self._finish: str | None = None
        self._usage: Any = None

    def add(self, chunk: Any) -> None:
        """Take the next chunk."""
        self.model = getattr(chunk, "model", None) or self.model
        self._usage = getattr(chunk, "usage", None) or self._usage
        for choice in chunk.choices[:1]:
            delta = choice.delta
            self._text.append(getattr(delta, "content", None) or "")
            self.refused |= bool(getattr(delta, "refusal", None))
            for part in getattr(delta, "tool_calls", None) or ():
                call = self._calls.setdefault(part.index, _Call())
                call.id = part.id or call.id
                call.name = part.function.name or call.name
                call.arguments.append(part.function.arguments or "")
            self._finish = choice.finish_reason or self._finish

    def add_whole(self, response: Any) -> None:
        """Take an answer that was not streamed."""
        self.model = getattr(response, "model", None) or self.model
        self._usage = getattr(response, "usage", None)
        for choice in response.choices[:1]:
            message = choice.message
            self._text.append(getattr(message, "content", None) or "")
            self.refused |= bool(getattr(message, "refusal", None))
            for index, call in enumerate(getattr(message, "tool_calls", None) or ()):
                arguments = [call.function.arguments or ""]
                self._calls[index] = _Call(call.id or "", call.function.name or "", arguments)
            self._finish = choice.finish_reason

    def completion(self, price: Callable[[Any], float | None]) -> Completion:
        """The whole answer.

        Args:
            price: Gives the US dollars for a usage.

        Raises:
            AttemptError: If the stream ended before the answer did.
        """
        if self._finish is None or self._finish == "error":
            raise AttemptError("server", "the answer broke off", unsure=True)
        # A prompt has at least one token: a count of none is litellm's filling for no count.
        usage = self._usage if getattr(self._usage, "prompt_tokens", 0) else None
        # litellm leaves the model and the ids of calls as the server wrote them, text or not.
        return Completion(
            text="".join(self._text),
            finish=self._ended(),
            tool_calls=tuple(
                ToolCall(str(call.id or f"call-{index}"), call.name, "".join(call.arguments))
                for index, call in sorted(self._calls.items())
            ),
            model=str(self.model),
            prompt_tokens=None if usage is None else usage.prompt_tokens,
            completion_tokens=None if usage is None else usage.completion_tokens,
            cached_tokens=getattr(
                getattr(usage, "prompt_tokens_details", None), "cached_tokens", None
            ),
            cost_usd=None if usage is None else price(usage),
        )

    def _ended(self) -> Finish:
        if self.refused or self._finish in _REFUSED:
            return "refusal"
        return "length" if self._finish in _CUT else "stop"


class Tap:
    """A raw stream that passes through unchanged, watched for what is lost behind it."""

    def __init__(self, stream: Any) -> None:
        self.refused = False
        self.model = ""
        self._stream = stream
        self._chunks: AsyncIterator[Any] = stream.__aiter__()

    def __aiter__(self) -> Tap:
        return self

    async def __anext__(self) -> Any:
        chunk = await self._chunks.__anext__()
        self.model = getattr(chunk, "model", None) or self.model
        for choice in getattr(chunk, "choices", None) or ():
            self.refused |= bool(getattr(getattr(choice, "delta", None), "refusal", None))
        return chunk

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
