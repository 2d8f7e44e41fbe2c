"""The words of the arena's prompts: English, or those of `texts` in the rules.

A language is data: for each phrase of `wordings` one text, or one in every wording, with the same
facts in braces. What it leaves out stays English. A market carries its words in its rules, hence
they are recorded, and everybody in it is asked in them.

    texts:
      turns: {funds: "Deine Kasse: {funds}."}

Whatever a model must write as the form has it, the keys of its JSON, is no word and stays. So do
what is said when an answer was not of the form and must be given again.
"""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import Any

from market.arena import extended_wordings
from market.arena.spellings import REASONS, TOLD
from market.arena.wordings import BRIEF, FURTHER, RULES, TURNS
from market.environment import Json
from market.policies.wording import Phrase, Wording

_FURTHER_NAMES = ("whole", "void", "next_cheapest", "too_high", "to_win", "last_bid", "costs")

#: All phrases by section and name.
PHRASES: Mapping[str, Mapping[str, Phrase]] = {
    "rules": {**RULES, **extended_wordings.RULES},
    "brief": {**BRIEF, **extended_wordings.BRIEF},
    "further": dict(zip(_FURTHER_NAMES, FURTHER, strict=True)),
    "turns": TURNS,
    "told": {**TOLD, **extended_wordings.TOLD},
    "reasons": {**REASONS, **extended_wordings.REASONS},
}

#: A phrase of another language: one text for all wordings, or one each.
Text = str | tuple[str, str, str]


def words(section: str, rules: Mapping[str, Json], wording: int = 0) -> Wording:
    """The phrases of a section as a market's rules have them.

    Args:
        section: A key of `PHRASES`.
        rules: The public rules, whose `texts` come first where there are some.
        wording: In which wording.
    """
    return Wording(_phrases(section, rules), wording)


def further(rules: Mapping[str, Json], wording: int = 0) -> list[str]:
    """The sentences that may follow brief rules, in their order."""
    return [phrase[wording] for phrase in _phrases("further", rules).values()]


def reason(rules: Mapping[str, Json], text: str) -> str:
    """Why something is void or was mended, in a market's own words."""
    own = (rules.get("texts") or {}).get("reasons")
    if not own:
        return text
    return "; ".join(_spelled(own.get(part, part))[0] for part in text.split("; "))


def check(texts: Mapping[str, Mapping[str, Text]]) -> None:
    """Hold a language against the phrases there are.

    Raises:
        ValueError: If it has a phrase that is not known, or one with other facts.
    """
    for section, own in texts.items():
        if section not in PHRASES:
            raise ValueError(f"texts: does not know {section}; there are {', '.join(PHRASES)}")
        for name, given in own.items():
            phrase = PHRASES[section].get(name)
            if phrase is None:
                raise ValueError(f"texts.{section}: does not know {name}")
            wanted = _facts(phrase[0])
            for text in _spelled(given):
                try:
                    found = _facts(text)
                except ValueError as error:
                    raise ValueError(f"texts.{section}.{name}: {error}") from error
                if found != wanted:
                    named = ", ".join(sorted(f"{{{fact}}}" for fact in wanted)) or "none"
                    raise ValueError(f"texts.{section}.{name}: its facts must be {named}")


def _phrases(section: str, rules: Mapping[str, Json]) -> Mapping[str, Phrase]:
    texts: Mapping[str, Any] | None = rules.get("texts")
    own = texts.get(section) if texts else None
    if not own:
        return PHRASES[section]
    return {**PHRASES[section], **{name: _spelled(text) for name, text in own.items()}}


def _spelled(text: Text) -> Phrase:
    """A phrase in every wording."""
    if isinstance(text, str):
        return text, text, text
    first, second, third = text
    return first, second, third


def _facts(text: str) -> set[str]:
    """The names in braces.

    Raises:
        ValueError: If the braces do not match, or one pair stands in another.
    """
    parts = list(string.Formatter().parse(text))
    if any("{" in (spec or "") for _, _, spec, _ in parts):
        raise ValueError("braces within braces")
    return {name for _, name, _, _ in parts if name is not None}
