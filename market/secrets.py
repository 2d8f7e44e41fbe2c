"""Which names would hold a secret, and so have no place in a configuration.

A configuration is copied into every result. A key in it would be published with them, hence a
configuration may only name the environment variable that holds a key (`api_key_env`).
"""

from __future__ import annotations

import re

#: A name of these last words holds a secret, in the singular and the plural.
_SECRET = re.compile(
    r"(api|secret|access|private|signing|subscription|auth)keys?$"
    r"|secrets?$|pass(word|wd|phrase)s?$|authorization$|bearer$|credentials?$|cookies?$"
    r"|(?<!per)token$|(api|access|auth|refresh|session|bearer|secret)tokens$"
)
_SEPARATORS = re.compile(r"[^a-z0-9]+")


def forbidden_key(name: str) -> bool:
    """Say whether a name is that of a secret (`api_key`, `X-Auth-Token`, `headers.Authorization`).

    Case and separators do not matter, and one forbidden part of a dotted name is enough. Names
    that only speak of secrets or of tokens of text are none: `api_key_env`, `max_tokens`,
    `token_budget`, `input_cost_per_token`.
    """
    parts = re.split(r"[.\[\]/]", name.lower())
    return any(_SECRET.search(_SEPARATORS.sub("", part)) for part in parts)
