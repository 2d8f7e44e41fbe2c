"""Which environments there are, and what each brings.

An environment is one folder whose `__init__` holds an `EnvironmentKind`. It is found by name, or
as `module:NAME` when it lives outside this project. Classes are named by `module:Class` and
imported when used, so that a retailer's process loads one policy and not all of them.
"""

from __future__ import annotations

import importlib
import inspect
import signal
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: The environments of this project.
ENVIRONMENTS: Mapping[str, str] = {
    "arena": "market.arena:ENVIRONMENT",
    "vending": "market.vending:ENVIRONMENT",
}

#: The policies that serve every environment.
POLICIES: Mapping[str, str] = {
    "idle": "market.policies.idle:Idle",
    "random": "market.policies.random:Random",
    "replay": "market.policies.replay:Replay",
    "llm": "market.policies.llm:LanguageModel",
}


@dataclass(frozen=True, slots=True)
class EnvironmentKind:
    """What an environment's folder brings.

    Attributes:
        name: Its name in configurations.
        rules_version: Grows when equal answers would give another game.
        rules: `module:Class` of the pydantic model of its own configuration (`rules:`).
        environment: `module:Class`, called as `Class(rules, seats, seed)`.
        policies: Its own policies, name to `module:Class`.
        prompts: `module:Class` that puts its decisions into words for language models.
        events: `module:NAME` of the tuple of its event classes, one table each.
        metrics: Metrics of a seat in the order in which people want them; others follow.
        indices: Figures of the whole in that order; what fits a summary's first lines.
        references: `module:function` of rules and number of seats that gives named profits per
            seat, such as `competitive` and `cartel`, which results are held against; None where
            one is undefined.
        bounds: `module:function` of the floor and the most that each seat of a recorded episode
            could have had (`market.study.yardsticks`); empty for none.
        pages: `module:function` of a run and an episode that gives sections of its page
            (`market.study.pages`); empty for none.
        gain: Metric of what a seat gained, told per US dollar too where the score holds more than
            that; empty where it does not.
        variables: `module:function` of rules that gives the environment variables without which
            an episode cannot be built, each with what it holds (`market.variables`); empty for
            none.
        facts: Whether an episode may ask for facts from outside, for which a sentence encoder is
            held ready and must be usable.
    """

    name: str
    rules_version: int
    rules: str
    environment: str
    policies: Mapping[str, str] = field(default_factory=dict)
    prompts: str = "market.policies.json_prompts:JsonPrompts"
    events: str = ""
    metrics: tuple[str, ...] = ()
    indices: tuple[str, ...] = ()
    references: str = ""
    bounds: str = ""
    pages: str = ""
    gain: str = ""
    variables: str = ""
    facts: bool = True


#: What a process exits with that was asked to end, here and on Ray: no mistake of a module.
_TERMINATED = (signal.SIGTERM, 128 + signal.SIGTERM)


class UnknownNameError(LookupError):
    """A name that nothing answers to; the message lists what there is."""


def load(path: str) -> Any:
    """Import what `module:name` names.

    Raises:
        UnknownNameError: If there is no such module or no such name in it, or if the module, one of
            the user's own, fails while it is imported.
    """
    module_name, _, attribute = path.partition(":")
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:
        if isinstance(error, SystemExit) and error.code in _TERMINATED:
            raise
        missing = getattr(error, "name", None) if isinstance(error, ModuleNotFoundError) else None
        if missing is not None and module_name.startswith(missing):
            raise UnknownNameError(
                f"there is no module `{module_name}` in the folder in which the command runs "
                f"({Path.cwd()}), nor among what is installed"
            ) from error
        if module_name.partition(".")[0] == __name__.partition(".")[0]:
            raise
        raise UnknownNameError(
            f"module `{module_name}` cannot be imported: {told(error)}"
        ) from error
    try:
        return getattr(module, attribute)
    except AttributeError as error:
        raise UnknownNameError(f"module `{module_name}` has no `{attribute}`") from error


def told(error: BaseException, within: type | None = None) -> str:
    """An error, and the line of the user's that it came from; a syntax error names its own.

    Args:
        error: What was raised.
        within: The class in whose file to look for the line: that of its `class` where no line of
            the file was under way.
    """
    what = f"{type(error).__name__}: {error}"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [(frame.filename, frame.lineno) for frame in frames if frame.filename[:1] != "<"]
    if within is not None:
        lines = _lines_within(within, lines)
    if isinstance(error, SyntaxError) or not lines:
        return what
    file, line = lines[-1]
    return f"{what} ({Path(file).name}, line {line})"


def _lines_within(
    within: type, lines: list[tuple[str, int | None]]
) -> list[tuple[str, int | None]]:
    try:
        file, (_, first) = inspect.getfile(within), inspect.getsourcelines(within)
    except (OSError, TypeError):  # made where no source is kept
        return []
    return [line for line in lines if line[0] == file] or [(file, first)]


def environment_kind(name: str) -> EnvironmentKind:
    """Find an environment by name or as `module:NAME`.

    Raises:
        UnknownNameError: If there is none.
    """
    path = ENVIRONMENTS.get(name, name)
    if ":" not in path:
        raise UnknownNameError(f"unknown environment `{name}`; there are {', '.join(ENVIRONMENTS)}")
    kind = load(path)
    if not isinstance(kind, EnvironmentKind):
        raise UnknownNameError(f"`{path}` is no EnvironmentKind")
    return kind


def policy_path(kind: EnvironmentKind, name: str) -> str:
    """The `module:Class` of a policy, found by name or given as such.

    Raises:
        UnknownNameError: If the environment knows no such policy.
    """
    known = {**POLICIES, **kind.policies}
    if name in known:
        return known[name]
    if ":" in name:
        return name
    raise UnknownNameError(f"unknown policy `{name}`; there are {', '.join(sorted(known))}")
