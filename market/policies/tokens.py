"""How many tokens a text takes, without a tokenizer.

A retailer's process holds no vocabulary, so prompts are fitted to their budget by counting
pieces as byte-pair tokenizers of English cut them. Digits count singly, as small models read
them: for a model that reads three digits as one the estimate is high, which is the safe side.
What is not ASCII counts as its bytes in UTF-8, which no byte-level tokenizer exceeds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import asdict
from functools import lru_cache

from market.environment import Tool
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

#: One match is one token: a regular expression counts ten times as fast as Python does.
_PIECES = re.compile(rf"[A-Za-z]{{1,{WORD}}}|[!-/:-@\[-`{{-~]{{1,{RUN}}}|\d|\n| (?=\d)|  +")
_WIDE = re.compile(r"[^\x00-\x7f]+")


#: Longest text whose estimate is remembered: a line that many seats are told.
LINE = 400


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text, rather too many than too few."""
    return _line_tokens(text) if len(text) <= LINE else _tokens(text)


def _tokens(text: str) -> int:
    tokens = len(_PIECES.findall(text))
    if not text.isascii():
        tokens += sum(len(wide.encode("utf-8", "replace")) for wide in _WIDE.findall(text))
    return -(-tokens * (100 + SAFETY) // 100)


_line_tokens = lru_cache(maxsize=2**13)(_tokens)


def estimate_messages(messages: Iterable[Message]) -> int:
    """Estimate the tokens of a conversation, what the chat template adds included."""
    return OPENING_TOKENS + sum(
        MESSAGE_TOKENS
        + estimate_tokens(message.content)
        + sum(estimate_tokens(call.name + call.arguments) for call in message.tool_calls)
        for message in messages
    )


def estimate_tools(tools: Iterable[Tool]) -> int:
    """Estimate the tokens of tools as they are offered, which is as JSON with spaces in it."""
    return sum(
        MESSAGE_TOKENS + estimate_tokens(json.dumps({**asdict(tool), "type": "function"}))
        for tool in tools
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
