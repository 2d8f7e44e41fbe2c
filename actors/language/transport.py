"""One attempt at asking a provider, as plain data: what a transport is given and gives back.

`client.py` decides whether and when to try again; a transport tries once. The one that calls
providers is `litellm_transport.py`; tests may write their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from market.environment import Json
from market.language import FailureCause, Finish, ToolCall


@dataclass(frozen=True, slots=True)
class Completion:
    """What a provider answered to one attempt. None is unknown.

    Attributes:
        text: The text.
        finish: Why it ended.
        tool_calls: The tools called, in order.
        model: The model as the provider names it.
        prompt_tokens: Tokens read.
        completion_tokens: Tokens written.
        cached_tokens: Of the tokens read, those from the provider's cache.
        cost_usd: Price in US dollars.
    """

    text: str
    finish: Finish
    tool_calls: tuple[ToolCall, ...] = ()
    model: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: float | None = None


class AttemptError(Exception):
    """One attempt failed, through no fault of the one who asked.

    Attributes:
        cause: As in `ProviderFailure`. Whatever is `rejected` would be rejected again.
        detail: A few words on it, in the provider's words or ours; may hold a key.
        retry_after: Seconds that the provider asks to wait; None if it does not say.
        unsure: Whether the request may have been worked on, and paid for, all the same.
    """

    def __init__(
        self,
        cause: FailureCause,
        detail: str,
        retry_after: float | None = None,
        unsure: bool = False,
    ) -> None:
        super().__init__(detail)
        self.cause: FailureCause = cause
        self.detail = detail
        self.retry_after = retry_after
        self.unsure = unsure


class Transport(Protocol):
    """How requests get to providers."""

    def prepare(self) -> None:
        """Do what takes long and is needed once. Called from a thread, perhaps more than once."""
        ...

    async def send(self, parameters: Mapping[str, Json], stream: bool = False) -> Completion:
        """Try once, with OpenAI's parameters of a chat completion.

        Args:
            parameters: The parameters, the model among them.
            stream: Whether the answer travels in pieces. It comes back whole in either case.

        Raises:
            AttemptError: If there is no answer.
        """
        ...

    def takes_schema(self, model: str) -> bool:
        """Whether the provider of a model can hold its answers to a JSON schema."""
        ...

    def takes_tools(self, model: str) -> bool:
        """Whether the provider of a model takes tools."""
        ...

    def check(self, model: str, keyed: bool) -> str | None:
        """One sentence on why a model cannot be asked, as far as can be known without asking.

        Args:
            model: The model.
            keyed: Whether a key is given, or an address that may need none.
        """
        ...

    async def close(self) -> None:
        """Close connections."""
        ...
