"""The words between a policy that needs a model and whoever calls models for it.

A policy is pure: instead of calling a model it returns a `Request` and is later given the
`Reply`. Only plain data crosses, so the two sides may live in different processes, and a policy
can be tested without any model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from market.environment import Json, Tool

Role = Literal["system", "user", "assistant", "tool"]
Finish = Literal["stop", "length", "refusal"]
#: Why a provider did not answer.
FailureCause = Literal["rate_limit", "unreachable", "server", "deadline", "rejected"]
#: Whether equal requests share an answer: `auto` where the temperature is 0.
Caching = Literal["auto", "on", "off"]
#: How an answer is asked for: held to a JSON schema, as the arguments of a tool call, or as text.
Output = Literal["schema", "tool", "text"]

#: Name of the tool whose arguments are the answer, where answers are asked for as a tool call.
ANSWER_TOOL = "answer"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call as a model made it; the arguments are unparsed text."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Which model answers, and how it is asked.

    Attributes:
        model: A name that litellm knows (`openai/gpt-4o-mini`), or `local` for the packaged one.
        temperature: Sampling temperature; None leaves it to the provider.
        max_tokens: Most tokens of one answer.
        reasoning_effort: Passed on where given.
        output: How answers are asked for. `schema` sends their JSON schema to the provider, `tool`
            sends it as the arguments of a tool that must be called, `text` sends nothing, and
            `auto` takes the first of these that the provider can do. Where a request offers tools
            of its own, they are offered whatever is said here.
        cache: Whether a request that was answered before is answered from the response cache,
            where there is one. `auto` does so at temperature 0 only; `on` also where answers vary,
            which makes those to equal requests equal.
        stream: Whether answers are streamed: for providers that do nothing else, and connections
            that are cut when they are silent for long. Costs the client three times the work.
            Operational: no part of the result.
        api_base: Address of an OpenAI-compatible server. Operational.
        api_key_env: Name of the environment variable that holds the key. Operational.
        extra: Further parameters, passed on as they are.
    """

    model: str
    temperature: float | None = 0.0
    max_tokens: int = 512
    reasoning_effort: str | None = None
    output: Output | Literal["auto"] = "auto"
    cache: Caching = "auto"
    stream: bool = False
    api_base: str | None = None
    api_key_env: str | None = None
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Request:
    """What a policy wants a model to answer.

    Attributes:
        model: The model and its settings.
        messages: The conversation.
        schema: JSON schema of the wanted answer; None when tools are offered.
        tools: The tools the model may call.
        attempt: 0 for the first ask of a decision, counting its re-asks.
    """

    model: ModelSettings
    messages: tuple[Message, ...]
    schema: Mapping[str, Json] | None = None
    tools: tuple[Tool, ...] = ()
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """What one answer took. None is unknown, and unknown is never counted as 0.

    Attributes:
        model: The model that answered, as the provider names it.
        prompt_tokens: Tokens read.
        completion_tokens: Tokens written.
        cached_tokens: Of the tokens read, those the provider took from its cache.
        cost_usd: Price in US dollars.
        latency_seconds: From sending the request that succeeded to its last token.
        tries: Requests sent until one was answered; above 1 when the provider failed, 0 when the
            answer was cached.
        cached: Whether the answer was given before, to an equal request. It costs nothing, and its
            tokens are those that were read and written then.
        unsure: Of the tries that failed, those that may have been worked on before they did (no
            answer in time, a connection that broke): what they cost nobody knows.
    """

    model: str
    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: int | None
    cost_usd: float | None
    latency_seconds: float
    tries: int = 1
    cached: bool = False
    unsure: int = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered.

    Attributes:
        text: The text; empty when only tools were called.
        finish: `stop`, `length` (cut at the token limit) or `refusal`.
        usage: What it took.
        tool_calls: The tools it called, in order.
        output: How the answer was asked for; None where nobody said.
    """

    text: str
    finish: Finish
    usage: Usage
    tool_calls: tuple[ToolCall, ...] = ()
    output: Output | None = None


@dataclass(frozen=True, slots=True)
class ProviderFailure:
    """The provider did not answer although retried: not the agent's fault, so no action is taken.

    Attributes:
        cause: `rate_limit`, `unreachable`, `server` (it failed), `deadline` (no whole answer in
            time) or `rejected` (key, model name or parameters refused).
        message: One sentence for people; holds no key.
        unsure: Tries that may have been worked on all the same; what they cost nobody knows.
    """

    cause: FailureCause
    message: str
    unsure: int = 0
