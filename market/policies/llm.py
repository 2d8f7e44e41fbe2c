"""A language model as a policy, without the model: decision to request, reply to answer.

    act(decision)  -> Request                     the conversation that asks the decision
    resume(reply)  -> Answer | NoAction           the turn is over
                    | Request                     a re-ask that says what was wrong

What the model says is read strictly (`market.policies.replies`). A malformed reply is asked again
with the error and the example; a refusal is final at once. Memory is the history of decisions
and what was applied for them, and prompts are a pure function of it: after a crash, `recall`
takes the history over and the next prompt is the one that would have been asked anyway.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from market import canonical
from market.environment import Answer, Cause, Decision, Json, NoAction
from market.language import Message, ModelSettings, Reply, Request, Structured
from market.policies.policy import History, Policy
from market.policies.prompts import Prompts, only_json
from market.policies.replies import ReplyError, read
from market.policies.tokens import estimate_messages
from market.policies.untrusted import clean
from market.registry import load

#: What a turn ends with.
Given = TypeVar("Given", Answer, NoAction)

#: Renders every environment that brings no words of its own.
DEFAULT_PROMPTS = "market.policies.prompts:JsonPrompts"

#: Most characters of a malformed reply that are shown to the model again.
ECHO = 300

#: A reply cut at the token limit is asked again so often.
TRUNCATION_REASKS = 1


@dataclass
class LanguageModel(Policy):
    """Asks a language model.

    Attributes:
        model: A name that litellm knows (`openai/gpt-4o-mini`), or `local` for the packaged one.
        temperature: Sampling temperature; None leaves it to the provider.
        max_tokens: Most tokens of one answer.
        reasoning_effort: Passed on to the provider where given.
        structured: `schema` sends the JSON schema to the provider, `text` does not, `auto` asks
            litellm whether the provider can take it.
        api_base: Address of an OpenAI-compatible server.
        api_key_env: Name of the environment variable that holds the key.
        extra: Further parameters of the request, passed on as they are.
        prompt_tokens: Budget of a prompt, in estimated tokens. The rules and the own state are
            always shown; what is remembered of others and of earlier steps is cut to fit.
        reasks: Most re-asks of one decision. A truncated reply is asked again at most once.
        instructions: Text put at the end of the rules, such as a persona or a strategy.
        prompts: `module:Class` that puts decisions into words; set by whoever hosts the seat to
            that of the environment. Empty: observations are shown as JSON.
    """

    model: str
    temperature: float | None = 0.0
    max_tokens: int = 512
    reasoning_effort: str | None = None
    structured: Structured = "auto"
    api_base: str | None = None
    api_key_env: str | None = None
    extra: Mapping[str, Json] = field(default_factory=dict)
    prompt_tokens: int = 6_000
    reasks: int = 2
    instructions: str = ""
    prompts: str = ""

    def __post_init__(self) -> None:
        if self.max_tokens < 1 or self.prompt_tokens < 1 or self.reasks < 0:
            raise ValueError(
                "`max_tokens` and `prompt_tokens` must be at least 1 and `reasks` at least 0"
            )
        self._settings = ModelSettings(
            model=self.model,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            reasoning_effort=self.reasoning_effort,
            structured=self.structured,
            api_base=self.api_base,
            api_key_env=self.api_key_env,
            extra=self.extra,
        )
        self._prompts: Prompts = load(self.prompts or DEFAULT_PROMPTS)(
            self.prompt_tokens, self.instructions
        )
        self._history: list[tuple[Decision, Answer | NoAction]] = []
        self._asked: Request | None = None
        self._decision: Decision | None = None
        self._truncations = 0

    def act(self, decision: Decision) -> Request:
        """The request that asks the model for a decision."""
        if self._decision is not None:
            # Nobody came back with a reply, so the turn passed. Prompts name no cause.
            self._close(NoAction(Cause.LATE))
        self._decision = decision
        self._truncations = 0
        self._asked = Request(
            model=self._settings,
            messages=self._prompts.messages(self._history, decision),
            schema=None if decision.form.tools else self._schema(decision),
            tools=decision.form.tools,
        )
        return self._asked

    def resume(self, reply: Reply) -> Answer | NoAction | Request:
        """Read the model's reply: an answer, a re-ask, or a turn without an action.

        Raises:
            RuntimeError: If nothing was asked.
        """
        if self._decision is None or self._asked is None:
            raise RuntimeError(f"the policy of seat {self.seat} asked nothing")
        if reply.finish == "refusal":
            return self._close(NoAction(Cause.REFUSED))
        try:
            return self._close(Answer(read(reply, self._decision.form)))
        except ReplyError as problem:
            return self._again(reply, str(problem))

    def recall(self, history: History) -> None:
        """Take over a history; the model is not asked."""
        self._history = list(history)
        self._decision = self._asked = None

    def _schema(self, decision: Decision) -> Mapping[str, Json]:
        """What the provider may hold the model to, spelled as examples and answers are.

        Some servers make a model write the properties in the schema's order.
        """
        schema = self._prompts.schema(decision, self.max_tokens)
        ordered: Mapping[str, Json] = canonical.loads(canonical.dumps(schema))
        return ordered

    def _again(self, reply: Reply, problem: str) -> NoAction | Request:
        """Ask once more, or give up."""
        assert self._asked is not None
        assert self._decision is not None
        spent = self._asked.attempt >= self.reasks
        if reply.finish == "length":
            if spent or self._truncations >= TRUNCATION_REASKS:
                return self._close(NoAction(Cause.TRUNCATED))
            self._truncations += 1
            problem = f"it was cut off after {self.max_tokens} tokens; answer in fewer"
        elif spent:
            return self._close(NoAction(Cause.MALFORMED))
        self._asked = Request(
            model=self._settings,
            messages=self._complaint(reply, problem),
            schema=self._asked.schema,
            tools=self._asked.tools,
            attempt=self._asked.attempt + 1,
        )
        return self._asked

    def _complaint(self, reply: Reply, problem: str) -> tuple[Message, ...]:
        """The conversation once more, ending with one line that says what was wrong.

        A failed reply is shown again, shortened, if it was an attempt and there is room: a small
        model goes on as it sees itself begin. Only the last failure is told of.
        """
        assert self._decision is not None
        asked = self._prompts.messages(self._history, self._decision)
        example = canonical.dumps(self._prompts.example(self._decision))
        how = only_json(example)
        if self._decision.form.tools:
            names = ", ".join(tool.name for tool in self._decision.form.tools)
            how = f"Call one or more of the tools {names}. Written out, calls look like:\n{example}"
        text = f"Your answer was not accepted: {problem}.\n{how}"
        if reply.tool_calls or "{" in reply.text:
            calls = (f"{call.name}({call.arguments})" for call in reply.tool_calls)
            written = Message("assistant", clean(" ".join([reply.text, *calls]), ECHO))
            longer = (*asked, written, Message("user", text))
            if estimate_messages(longer) <= self.prompt_tokens:
                return longer
        return (*asked[:-1], Message("user", f"{asked[-1].content}\n\n{text}"))

    def _close(self, given: Given) -> Given:
        """End the turn and remember what was applied."""
        assert self._decision is not None
        self._history.append((self._decision, given))
        self._decision = self._asked = None
        return given
