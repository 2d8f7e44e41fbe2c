"""The options of a policy: the fields of its dataclass, checked before anything starts.

A policy stays a plain dataclass, because the process that plays it must not import pydantic. The
check is made here from its annotations, once, where the configuration is read.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import reprlib
import typing
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.errors import PydanticSchemaGenerationError

from market import registry
from market.policies.policy import Policy
from market.registry import EnvironmentKind

#: Options that say where a model is reached, not what it answers: no part of the record.
OPERATIONAL = frozenset({"api_base", "api_key_env", "stream"})

_MODULE = re.compile(r"\b(?:[a-z_]+\.)+(?=[A-Z])")


def policy_class(kind: EnvironmentKind, name: str) -> type[Policy]:
    """The class of a policy, by its name in configurations.

    Raises:
        UnknownNameError: If there is no such policy, or it is none.
    """
    path = registry.policy_path(kind, name)
    found = registry.load(path)
    if not (isinstance(found, type) and issubclass(found, Policy)):
        raise registry.UnknownNameError(f"`{path}` is no policy")
    return found


def asks_a_model(policy: type[Policy]) -> bool:
    """Whether a policy may need a language model: it knows how to go on from a reply."""
    return policy.resume is not Policy.resume


@lru_cache(maxsize=256)
def options_model(policy: type[Policy]) -> type[BaseModel]:
    """A pydantic model of a policy's options, which knows no other keys.

    Raises:
        Exception: Whatever is wrong with the annotations of a class of the user's own.
    """
    hints = typing.get_type_hints(policy, include_extras=True)
    inherited = {field.name for field in dataclasses.fields(Policy)}
    fields: dict[str, Any] = {}
    for field in dataclasses.fields(policy):
        if field.name in inherited or field.name.startswith("_") or not field.init:
            continue
        if field.default is not dataclasses.MISSING:
            default: Any = Field(default=field.default)
        elif field.default_factory is not dataclasses.MISSING:
            default = Field(default_factory=field.default_factory)
        else:
            default = Field()
        fields[field.name] = (hints[field.name], default)
    try:
        return create_model(
            f"{policy.__name__}Options",
            __config__=ConfigDict(extra="forbid", strict=True, allow_inf_nan=False),
            **fields,
        )
    except PydanticSchemaGenerationError as error:
        what = error.message.partition(". ")[0].rpartition(" for ")[2]
        raise TypeError(f"{what} is no type of an option") from error


def described(policy: type[Policy]) -> str:
    """The first line of a policy's documentation."""
    lines = (inspect.getdoc(policy) or "").splitlines()
    return lines[0] if lines else ""


def signature(policy: type[Policy]) -> dict[str, str]:
    """Each option with its type and default, for people: `{"markup": "float = 0.25"}`."""
    out = {}
    for name, field in options_model(policy).model_fields.items():
        kind = field.annotation
        shown = kind.__name__ if type(kind) is type else _MODULE.sub("", str(kind))
        if not field.is_required():
            default = reprlib.repr(field.get_default(call_default_factory=True))
            shown = f"{shown} = {default}"
        out[name] = shown
    return out
