"""How many tokens a text takes, without a tokenizer.

A retailer's process holds no vocabulary, so prompts are fitted to their budget by counting
pieces as byte-pair tokenizers of English cut them. Digits count singly, as small models read
them: for a model that reads three digits as one the estimate is high, which is the safe side.
What is not ASCII counts as its bytes in UTF-8, which no byte-level tokenizer exceeds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from market.language import Message

#: Tokens that a chat template adds to each message, and once to open the answer.
MESSAGE_TOKENS = 5
OPENING_TOKENS = 3

#: Letters of a word that one token covers.
WORD = 9
#: Characters of a run of punctuation that one token covers.
RUN = 2
#: Percentage added: names and rare words take more tokens than their length tells.
SAFETY = 5

_PIECES = re.compile(r"(?P<word>[A-Za-z]+)|(?P<run>[!-/:-@\[-`{-~]+)|(?P<one>\d|\n| (?=\d)|  +)")
_WIDE = re.compile(r"[^\x00-\x7f]+")


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text, rather too many than too few."""
    tokens = sum(len(wide.encode("utf-8", "replace")) for wide in _WIDE.findall(text))
    for piece in _PIECES.finditer(text):
        size = piece.end() - piece.start()
        if piece.lastgroup == "word":
            tokens += -(-size // WORD)
        elif piece.lastgroup == "run":
            tokens += -(-size // RUN)
        else:
            tokens += 1
    return -(-tokens * (100 + SAFETY) // 100)


def estimate_messages(messages: Iterable[Message]) -> int:
    """Estimate the tokens of a conversation, what the chat template adds included."""
    return OPENING_TOKENS + sum(
        MESSAGE_TOKENS
        + estimate_tokens(message.content)
        + sum(estimate_tokens(call.name + call.arguments) for call in message.tool_calls)
        for message in messages
    )


def clipped(text: str, room: int) -> str:
    """The text, or as much of its beginning as fits into so many tokens, ended by `…`."""
    if estimate_tokens(text) <= room:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if estimate_tokens(f"{text[:middle]}…") <= room:
            low = middle
        else:
            high = middle - 1
    return f"{text[:low].rstrip()}…"


def fitting(lines: Iterable[str], room: int) -> list[str]:
    """The first lines that fit into a room of so many tokens, a line break each."""
    kept: list[str] = []
    for line in lines:
        room -= estimate_tokens(line) + 1
        if room < 0:
            break
        kept.append(line)
    return kept
