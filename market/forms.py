"""Checks an answer against the form its decision asks for.

The compiled check of the JSON schema decides. Answers of scripts are nearly always of the form, and
a form of few parts is quickly seen to be met (`plainly`), which is a third of the time; whatever is
not seen at once goes to the check, which also says what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import fastjsonschema

from market import canonical
from market.environment import Form, Json
from market.sights import Sight, sight

#: Longest answer, in characters of its canonical spelling. A longer one is malformed.
MAX_CHARACTERS = 65_536


def check(form: Form, action: Json) -> str | None:
    """Say in one line what is wrong with an action; None when it is of the form."""
    try:
        validator(form)(action)
    except fastjsonschema.JsonSchemaValueException as error:
        return str(error.message).replace("data", "answer", 1)
    return None


def validator(form: Form) -> Callable[[Json], Any]:
    """The compiled check of a form, made once per process for equal schemas.

    It raises `fastjsonschema.JsonSchemaValueException` for an action that is not of the form.
    """
    schema = form.schema
    known = _recent.get(id(schema))
    if known is not None and known[0] is schema:
        return known[1]
    compiled = _compiled(canonical.dumps(schema))
    if len(_recent) >= _MOST_RECENT:
        _recent.clear()
    _recent[id(schema)] = schema, compiled
    return compiled


#: Validators by the identity of their schema, which is kept and so keeps its identity: an episode
#: asks for the same few forms thousands of times.
_recent: dict[int, tuple[Mapping[str, Json], Callable[[Json], Any]]] = {}
_MOST_RECENT = 256


def plainly(form: Form, action: Json) -> bool:
    """Whether an action is seen at once to be of the form, and made of built-in types alone.

    False says nothing: ask the validator.
    """
    schema = form.schema
    known = _recent_sights.get(id(schema))
    if known is None or known[0] is not schema:
        if len(_recent_sights) >= _MOST_RECENT:
            _recent_sights.clear()
        known = _recent_sights[id(schema)] = schema, sight(schema)
    return known[1] is not None and known[1](action)


_recent_sights: dict[int, tuple[Mapping[str, Json], Sight | None]] = {}


@lru_cache(maxsize=256)
def _compiled(schema: str) -> Callable[[Json], Any]:
    compiled: Callable[[Json], Any] = fastjsonschema.compile(canonical.loads(schema))
    return compiled
