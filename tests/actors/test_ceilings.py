"""No call takes more tokens than its ceiling."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from actors.ceilings import most_tokens
from market.language import ModelSettings, Request
from tests.actors.correspondent import MODEL, request


@given(st.text(max_size=300), st.integers(1, 50))
def test_the_ceiling_counts_every_byte_and_every_answer(text: str, most: int) -> None:
    read, written = most_tokens(request(text, most))
    assert read > len(text.encode("utf-8", "surrogatepass"))
    assert written == most
    several = Request(ModelSettings(MODEL, extra={"n": 3}, max_tokens=most), ())
    assert most_tokens(several)[1] == 3 * most
