"""The most that a call can take, known before it is made.

Safe, not close: a token of a byte-level tokenizer covers a byte at least, so a prompt has no more
tokens than bytes, whatever the model and whatever rivals wrote into it. That is two to five times
the truth. It costs some concurrency near a limit, and leaves unspent of the limit at most what one
ceiling is above the truth.
"""

from __future__ import annotations

import json

from market.language import Request

#: Tokens that a chat template adds at the most: to a message, to a request, and where an answer's
#: schema or tools are explained.
MESSAGE_TOKENS, REQUEST_TOKENS, TOOLS_TOKENS = 16, 64, 600


def most_tokens(request: Request) -> tuple[int, int]:
    """The most tokens that a call reads and writes."""
    read = REQUEST_TOKENS
    for message in request.messages:
        read += MESSAGE_TOKENS + _bytes(message.content)
        for call in message.tool_calls:
            read += MESSAGE_TOKENS + sum(map(_bytes, (call.id, call.name, call.arguments)))
    explained = [[tool.name, tool.description, dict(tool.parameters)] for tool in request.tools]
    if request.schema is not None:
        explained.append([dict(request.schema)])
    if explained:
        read += TOOLS_TOKENS + _bytes(json.dumps(explained, ensure_ascii=False))
    settings = request.model
    cap = settings.extra.get("max_completion_tokens")
    answers = settings.extra.get("n")
    written = max(settings.max_tokens, cap if isinstance(cap, int) else 0)
    return read, written * max(1, answers if isinstance(answers, int) else 1)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
