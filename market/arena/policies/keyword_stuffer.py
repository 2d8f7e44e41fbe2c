"""Says everything at once: as many words of every theme as a slogan may have."""

from __future__ import annotations

from dataclasses import dataclass

from market.arena.policies.markup import Markup
from market.arena.policies.slogans import KEYWORDS
from market.environment import Decision


@dataclass
class KeywordStuffer(Markup):
    """Trades like `markup` and fills its slogan with key words of every theme, in turn."""

    slogan: str = " ".join(KEYWORDS)

    def words(self, decision: Decision) -> str:
        """The slogan, cut to the allowed number of words."""
        return " ".join(self.slogan.split()[: decision.observation.rules["slogan_words"]])
