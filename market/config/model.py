"""The base of what a configuration is made of."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

#: What a name looks like that may be a folder's.
NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
#: A name that the registry knows, or `module:NAME`.
REFERENCE = r"^([A-Za-z0-9_-]+|[A-Za-z_][\w.]*:[A-Za-z_]\w*)$"
#: A figure of an episode or of a cell.
OUTCOME = r"^[A-Za-z0-9][\w.-]*$"

#: The patterns in words, after "should".
PATTERNS = {
    NAME: "begin with a letter or digit and hold only letters A to Z, digits, `.`, `_` and `-`",
    REFERENCE: "be a name of letters, digits, `_` and `-`, or `module:NAME`",
    OUTCOME: "begin with a letter or digit and hold only letters, digits, `.`, `_` and `-`",
}

Name = Annotated[str, Field(pattern=NAME, max_length=64)]


class Model(BaseModel):
    """Immutable; unknown keys are mistakes, and "6" is no 6."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False, use_attribute_docstrings=True
    )
