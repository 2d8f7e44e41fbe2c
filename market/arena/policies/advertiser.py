"""Finds out which words draw buyers: a bandit over slogans."""

from __future__ import annotations

from dataclasses import dataclass, field

from market.arena.policies.markup import Markup
from market.arena.policies.slogans import THEMES
from market.environment import Decision


@dataclass
class Advertiser(Markup):
    """Trades like `markup`; tries slogans and keeps to the one that drew most buyers.

    A slogan is judged by its mean over the steps it was used in: of the buyers who considered
    the shop, or of the units sold where the market does not tell. It tries new slogans until it
    knows `explore` of them and then uses the best, but for a chance of `epsilon` that any is.

    Attributes:
        themes: The slogans to choose from; without any it says `slogan`.
        explore: Slogans to try before one is preferred.
        epsilon: Chance of using any slogan afterwards.
    """

    themes: list[str] = field(default_factory=lambda: list(THEMES.values()))
    explore: int = 3
    epsilon: float = 0.05

    def __post_init__(self) -> None:
        """Prepare memory: what each slogan has drawn, step by step, and the one in use."""
        super().__post_init__()
        self.drawn: dict[str, list[int]] = {}
        self.said: str | None = None

    def learn(self, decision: Decision) -> None:
        """Credit the last slogan with what it drew."""
        last = decision.observation.private.get("last")
        if last is None or self.said is None:
            return
        seen = last["impressions"]
        if seen is None:
            seen = sum(sale["units"] for sale in last["sold"].values())
        self.drawn.setdefault(self.said, []).append(seen)
        self.said = None

    def words(self, decision: Decision) -> str:
        """Try a new slogan, or use the best."""
        if not self.themes:
            return self.slogan
        draws = self.draws(decision)
        fresh = [slogan for slogan in self.themes if slogan not in self.drawn]
        if not self.drawn or (fresh and len(self.drawn) < self.explore):
            self.said = draws.choice(fresh)
        elif draws.uniform() < self.epsilon:
            self.said = draws.choice(self.themes)
        else:
            self.said = max(self.drawn, key=self._mean)
        return self.said

    def _mean(self, slogan: str) -> float:
        drawn = self.drawn[slogan]
        return sum(drawn) / len(drawn)
