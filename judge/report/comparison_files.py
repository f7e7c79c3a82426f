"""The folder that `judge compare --out` names."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TextIO

from judge.comparing.comparison import Comparison, contrast_of
from judge.comparing.flipping import flipping
from judge.report.comparison_document import comparison_document
from judge.report.files import write_files, write_verdicts
from judge.report.html.comparison import render_comparison


def write_comparison(comparison: Comparison, folder: Path) -> list[Path]:
    """Write comparison.json, comparison.html and verdicts.jsonl; return their paths.

    comparison.json also names the chunks whose judge's grade the verdict hangs on, which
    `judge spotcheck` shows to people first after its random core. Raises InputError where the
    folder cannot be written.
    """

    return write_files(
        folder,
        {
            "comparison.json": partial(_write_document, comparison),
            "comparison.html": partial(_write_page, comparison),
            "verdicts.jsonl": partial(write_verdicts, comparison.grading.verdicts),
        },
    )


def _write_document(comparison: Comparison, stream: TextIO) -> None:
    document = {**comparison_document(comparison), "flips": _flips(comparison)}
    json.dump(document, stream, ensure_ascii=False, allow_nan=False)
    stream.write("\n")


def _write_page(comparison: Comparison, stream: TextIO) -> None:
    stream.write(render_comparison(comparison))


def _flips(comparison: Comparison) -> list[dict[str, str]]:
    if comparison.primary is None:
        return []
    contrast = contrast_of(comparison.grading, comparison.primary)
    found = flipping(contrast.rows, [row.pool for row in comparison.rows])
    return [{"query_id": query_id, "id": id} for query_id, id in found]
