"""Things a shop can say. Which of them buyers care about is for the scripts to find out."""

from __future__ import annotations

from collections.abc import Mapping

#: Says nothing that anybody looks for.
GENERIC = "Welcome to our shop"

#: One slogan per theme of advertising.
THEMES: Mapping[str, str] = {
    "value": "Cheap prices and good value for your money",
    "green": "Green, fair and eco-friendly goods",
    "hype": "Exclusive, limited and trendy",
    "quality": "Fine craft and quality made to last",
    "service": "Friendly service and fast delivery",
}

#: Words of every theme, in turns, so that any cut leaves some of each.
KEYWORDS: tuple[str, ...] = (
    "cheap", "green", "exclusive", "quality", "friendly",
    "value", "fair", "limited", "craft", "service",
    "price", "eco", "trendy", "fine", "fast",
    "deal", "ethical", "luxury", "durable", "delivery",
    "bargain", "sustainable", "hype", "handmade", "welcome",
)  # fmt: skip
