"""The settings of a rehearsal are on its page."""

from __future__ import annotations

import re
from pathlib import Path

from actors.language.rehearsal.settings import Settings

ROOT = Path(__file__).parents[4]


def test_every_setting_and_no_other_is_described_on_the_page() -> None:
    page = (ROOT / "docs" / "rehearsal.md").read_text()
    rows = dict(re.findall(r"^\| `(\w+)` \| (?:.*) \| (.*) \|$", page, re.MULTILINE))
    assert rows == {name: field.description for name, field in Settings.model_fields.items()}
