"""The notebooks of examples/python: each runs from start to end, and is kept without outputs."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "python"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def read(file: Path) -> Any:
    nbformat: Any = pytest.importorskip("nbformat", reason="notebooks need nbformat")
    book = nbformat.read(file, as_version=nbformat.NO_CONVERT)
    nbformat.validate(book)
    return book


def test_there_are_five_notebooks() -> None:
    names = {"captures", "careful-resume", "first-race", "own-scheme", "paper-figure"}
    assert {file.stem for file in NOTEBOOKS} == names


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_is_kept_without_outputs(file: Path) -> None:
    book = read(file)
    assert (book.nbformat, book.nbformat_minor) == (4, 5)
    assert [cell.id for cell in book.cells] == [f"{file.stem}-{number:02}" for number in range(1, len(book.cells) + 1)]
    for cell in book.cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None
    assert file.stat().st_size < 20_000


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_runs_from_start_to_end(file: Path, tmp_path: Path) -> None:
    nbclient: Any = pytest.importorskip("nbclient", reason="notebooks need nbclient")
    pytest.importorskip("ipykernel", reason="notebooks need ipykernel")
    for module in ("matplotlib", "polars"):
        pytest.importorskip(module, reason=f"the notebooks use {module}")
    book = read(file)
    began = time.monotonic()
    client = nbclient.NotebookClient(book, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}})
    # A cell that raises ends the run with CellExecutionError, which has the cell and the traceback.
    client.execute()
    took = time.monotonic() - began
    errors = [
        output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs if output.output_type == "error"
    ]
    assert errors == []
    warnings = "".join(
        output.text
        for cell in book.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if output.get("name") == "stderr"
    )
    assert re.findall(r"(?i)warning", warnings) == [], warnings
    assert list(tmp_path.iterdir()) == [], "a notebook leaves no file"
    assert took < 60, f"{took:.0f} s"
