"""A language model as a policy, without the model: decision to request, reply to answer.

    act(decision)  -> Request                     the conversation that asks the decision
    resume(reply)  -> Answer | NoAction           the turn is over
                    | Request                     a re-ask that says what was wrong

What the model says is read strictly (`market.policies.replies`). A malformed reply is asked again
with the error and the example; a refusal is final at once. Memory is the history of decisions
and what was applied for them, and prompts are a pure function of it: after a crash, `recall`
takes the history over and the next prompt is the one that would have been asked anyway. What the
model noted for itself, and that its JSON had to be mended, is in `Answer.said`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from market import canonical
from market.environment import Answer, Cause, Decision, Json, NoAction, Tool
from market.language import Caching, Message, ModelSettings, Output, Reply, Request
from market.policies.context import ANSWER_SHARE, KEEP_NOTES, NOTES, Context, Kind
from market.policies.conversation import KEPT, noting_call
from market.policies.policy import History, Policy
from market.policies.prompts import Prompts, only_json
from market.policies.replies import Read, ReplyError, read
from market.policies.tokens import estimate_messages, estimate_tokens, estimate_tools
from market.policies.untrusted import clean
from market.policies.wording import wording_of
from market.registry import load

#: What a turn ends with.
Given = TypeVar("Given", Answer, NoAction)

#: Renders every environment that brings no words of its own.
DEFAULT_PROMPTS = "market.policies.json_prompts:JsonPrompts"

#: Most characters of a malformed reply that are shown to the model again.
ECHO = 300

#: Field of what is said beside an answer whose JSON had to be mended.
REPAIRED = "repaired"

#: Least budget of a prompt in which one conversation can go on over all steps.
GROUPS_TOKENS = 2_000

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
        output: How answers are asked for. `schema` sends their JSON schema to the provider, `tool`
            sends it as the arguments of a tool that must be called, `text` sends nothing, and
            `auto` takes the first of these that the provider can do. In an environment of tools
            these are offered, unless `text` has their calls written out.
        repair: Whether JSON that is broken, not cut, may be mended by a library.
        cache: Whether a request that was answered before is answered from the response cache,
            where there is one. `auto` does so at temperature 0 only; `on` also where answers vary,
            which makes those to equal requests equal.
        stream: Whether answers are streamed: for providers that do nothing else, and connections
            that are cut when they are silent for long.
        api_base: Address of an OpenAI-compatible server.
        api_key_env: Name of the environment variable that holds the key.
        extra: Further parameters of the request, passed on as they are.
        prompt_tokens: Budget of a prompt, in estimated tokens, tools that are offered included.
            The rules and the own state are always shown; what is remembered of others and of
            earlier steps is cut to fit.
        context: What is told of the past. `full`: all earlier steps as far as they fit. `last`: the
            last `last_steps`. `notebook`: only notes that the model writes itself. `groups`: one
            conversation over all steps, whose oldest turns go when it outgrows the budget.
        last_steps: Earlier steps that are told with `context: last`.
        notebook_characters: Most characters of notes with `context: notebook`.
        evict_tokens: Tokens that are freed at least when turns go with `context: groups`. None: a
            quarter of `prompt_tokens`.
        wording: In which of three wordings that say the same the model is asked; `rotate` draws one
            per episode and seat.
        reasks: Most re-asks of one decision. A truncated reply is asked again at most once.
        instructions: Text put at the end of the rules, such as a persona or a strategy.
        prompts: `module:Class` that puts decisions into words; set by whoever hosts the seat to
            that of the environment. Empty: observations are shown as JSON.
    """

    model: str
    temperature: float | None = 0.0
    max_tokens: int = 512
    reasoning_effort: str | None = None
    output: Output | Literal["auto"] = "auto"
    cache: Caching = "auto"
    stream: bool = False
    repair: bool = True
    api_base: str | None = None
    api_key_env: str | None = None
    extra: Mapping[str, Json] = field(default_factory=dict)
    prompt_tokens: int = 6_000
    context: Kind = "full"
    last_steps: int = 1
    notebook_characters: int = 600
    evict_tokens: int | None = None
    wording: Literal[0, 1, 2, "rotate"] = 0
    reasks: int = 2
    instructions: str = ""
    prompts: str = ""

    def __post_init__(self) -> None:
        if self.max_tokens < 1 or self.prompt_tokens < 1 or self.reasks < 0:
            raise ValueError(
                "`max_tokens` and `prompt_tokens` must be at least 1 and `reasks` at least 0"
            )
        freed = self.prompt_tokens // 4 if self.evict_tokens is None else self.evict_tokens
        if self.last_steps < 0 or self.notebook_characters < 1 or freed < 0:
            raise ValueError(
                "`last_steps` and `evict_tokens` must be at least 0 and `notebook_characters` at "
                "least 1"
            )
        if self.context == "groups" and self.prompt_tokens < GROUPS_TOKENS:
            raise ValueError(f"`context: groups` needs `prompt_tokens` of at least {GROUPS_TOKENS}")
        self._settings = ModelSettings(
            model=self.model,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            reasoning_effort=self.reasoning_effort,
            output=self.output,
            cache=self.cache,
            stream=self.stream,
            api_base=self.api_base,
            api_key_env=self.api_key_env,
            extra=self.extra,
        )
        self._context = Context(self.context, self.last_steps, self.notebook_characters, freed)
        self._wording = wording_of(self.wording, self.seed, self.seat)
        self._prompts: Prompts = load(self.prompts or DEFAULT_PROMPTS)(
            self.prompt_tokens,
            self.instructions,
            wording=self._wording,
            context=self._context,
            written=self.output == "text",
        )
        self._history: list[tuple[Decision, Answer | NoAction]] = []
        self._asked: Request | None = None
        self._decision: Decision | None = None
        self._truncations = 0
        self._noted = ""

    def act(self, decision: Decision) -> Request:
        """The request that asks the model for a decision."""
        if self._decision is not None:
            # Nobody came back with a reply, so the turn passed. Prompts name no cause.
            self._close(NoAction(Cause.LATE))
        self._decision = decision
        self._truncations = 0
        self._noted = ""
        self._asked = Request(
            model=self._settings,
            messages=self._prompts.messages(self._history, decision),
            schema=None if decision.form.tools else self._schema(decision),
            tools=self._tools(decision),
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
            found = read(reply, self._decision.form, self.repair, self._context.notebook)
        except ReplyError as problem:
            return self._again(reply, str(problem))
        self._noted = found.notes or self._noted
        if found.notes and not found.action and self._can_go_on():
            return self._go_on()
        return self._close(Answer(found.action, self._said(found)))

    def recall(self, history: History) -> None:
        """Take over a history; the model is not asked."""
        self._history = list(history)
        self._decision = self._asked = None

    def _schema(self, decision: Decision) -> Mapping[str, Json]:
        """What the provider may hold the model to, spelled as examples and answers are.

        Some servers make a model write the properties in the schema's order.
        """
        schema = self._prompts.schema(decision, self.max_tokens - self._noting)
        schema = self._context.schema(schema, self._noting)
        ordered: Mapping[str, Json] = canonical.loads(canonical.dumps(schema))
        return ordered

    @property
    def _noting(self) -> int:
        """Most tokens of notes in an answer."""
        return self.max_tokens // ANSWER_SHARE if self._context.notebook else 0

    def _tools(self, decision: Decision) -> tuple[Tool, ...]:
        """The tools that are offered, that for notes among them where there is a notebook."""
        if self.output == "text" or not decision.form.tools:
            return ()
        offered = self._prompts.tools(decision, self.max_tokens - self._noting)
        return (*offered, self._context.tool(self._noting)) if self._context.notebook else offered

    def _can_go_on(self) -> bool:
        """Whether notes without a call may be followed by one more ask."""
        assert self._asked is not None
        return bool(self._asked.tools) and self._asked.attempt < self.reasks

    def _go_on(self) -> Request:
        """Ask for calls after notes that came alone: some models make one call at a time."""
        assert self._asked is not None
        assert self._decision is not None
        call = noting_call(self._decision, self._context.kept(self._noted, self.prompt_tokens))
        example = canonical.dumps(self._prompts.example(self._decision))
        more = (
            Message("assistant", "", tool_calls=(call,)),
            Message("tool", KEPT, tool_call_id=call.id),
            Message("user", f"Now call the other tools that you need.\n{example}"),
        )
        spare = estimate_messages(more)
        self._asked = Request(
            model=self._settings,
            messages=(*self._prompts.messages(self._history, self._decision, spare), *more),
            tools=tuple(tool for tool in self._asked.tools if tool.name != KEEP_NOTES),
            attempt=self._asked.attempt + 1,
        )
        return self._asked

    def _said(self, found: Read) -> Json:
        """What is kept beside an answer; None where there is nothing."""
        said: dict[str, Json] = {}
        if notes := self._context.kept(self._noted, self.prompt_tokens):
            said[NOTES] = notes
        if found.repaired:
            said[REPAIRED] = True
        return said or None

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
        model goes on as it sees itself begin. Only the last failure is told of. Where even that
        does not fit, less is told of the past.
        """
        assert self._asked is not None
        assert self._decision is not None
        asked = self._prompts.messages(self._history, self._decision)
        example = self._context.beside(self._prompts.example(self._decision))
        how = only_json(example, self._wording)
        # Tools are part of what a prompt takes.
        budget = self.prompt_tokens - estimate_tools(self._asked.tools)
        if self._decision.form.tools:
            offered = self._asked.tools or self._decision.form.tools
            names = ", ".join(tool.name for tool in offered)
            how = (
                f"Call one or more of the tools {names}. Written out, calls look like:\n"
                f"{canonical.dumps(example)}"
            )
        text = f"Your answer was not accepted: {problem}.\n{how}"
        if reply.tool_calls or "{" in reply.text:
            calls = (f"{call.name}({call.arguments})" for call in reply.tool_calls)
            written = Message("assistant", clean(" ".join([reply.text, *calls]), ECHO))
            longer = (*asked, written, Message("user", text))
            if estimate_messages(longer) <= budget:
                return longer
        again = _extended(asked, text)
        if estimate_messages(again) <= budget:
            return again
        spare = estimate_tokens(text) + 2
        return _extended(self._prompts.messages(self._history, self._decision, spare), text)

    def _close(self, given: Given) -> Given:
        """End the turn and remember what was applied."""
        assert self._decision is not None
        self._history.append((self._decision, given))
        self._decision = self._asked = None
        return given


def _extended(asked: tuple[Message, ...], text: str) -> tuple[Message, ...]:
    """A conversation whose last message goes on."""
    return (*asked[:-1], Message("user", f"{asked[-1].content}\n\n{text}"))
