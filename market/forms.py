"""Checks an answer against the form its decision asks for."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import fastjsonschema

from market import canonical
from market.environment import Form, Json

#: Longest answer, in bytes of its canonical spelling. A larger one is malformed.
MAX_BYTES = 65_536


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
    return _compiled(canonical.dumps(form.schema))


@lru_cache(maxsize=256)
def _compiled(schema: str) -> Callable[[Json], Any]:
    compiled: Callable[[Json], Any] = fastjsonschema.compile(canonical.loads(schema))
    return compiled
