"""The notebook of `docs/` is held against the code: it is executed, and holds no results."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[1] / "docs" / "study.ipynb"


def test_the_notebook_is_valid_and_kept_without_results() -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert len(code) >= 8
    assert not [cell for cell in code if cell.outputs or cell.execution_count is not None]


def test_the_notebook_names_no_path_of_a_machine() -> None:
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert not re.findall(r"(?<![\w}.])/(?:home|root|Users|tmp|work|usr|var|opt)\b", text)
    assert set(nbformat.reads(text, 4).metadata.kernelspec) == {"display_name", "language", "name"}


def test_its_links_lead_somewhere() -> None:
    text = NOTEBOOK.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([\w./-]+)\)", text)
    assert links
    assert all((NOTEBOOK.parent / link).exists() for link in links)


@pytest.mark.slow
def test_the_notebook_runs_and_shows_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = Path(sys.executable).parent
    monkeypatch.setenv("PATH", f"{commands}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=200,
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}},
    )
    client.execute()
    shown = {
        cell.source: [output.get("data", {}) for output in cell.outputs]
        for cell in notebook.cells
        if cell.cell_type == "code"
    }
    kinds = {kind for outputs in shown.values() for output in outputs for kind in output}
    assert "application/vnd.plotly.v1+json" in kinds
    (effects,) = (outputs for source, outputs in shown.items() if "'replacement'" in source)
    table = effects[-1]["text/plain"]
    assert all(word in table for word in ("undercutter", "zi", "replacement effect"))
    (lucky,) = (outputs for source, outputs in shown.items() if "luck(scenes" in source)
    assert "adjusted" in lucky[-1]["text/plain"]
