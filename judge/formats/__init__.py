"""Foreign files in and out, one module a family.

What is read becomes the frozen dataclasses of `judge.run`; whatever is wrong with a file
is an InputError that names every bad place.

Names are imported when they are used: `judge measure` opens files and needs no reader of
any family. `__init__.pyi` tells type checkers what they are.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "Corpus": "texts",
    "GoldenFile": "goldens",
    "GradeFile": "grades",
    "Label": "labels",
    "LabelFile": "labels",
    "Qrels": "grades",
    "Queries": "texts",
    "ReadOptions": "options",
    "TrecRuns": "trec",
    "read_corpus": "texts",
    "read_goldens": "goldens",
    "read_grades": "grades",
    "read_labels": "labels",
    "read_qrels": "grades",
    "read_queries": "texts",
    "read_run": "runs",
    "read_runs": "runs",
    "read_trec_run": "trec",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    """Import a public name from the module of its family."""
    if name not in _HOMES:
        raise AttributeError(f"module 'judge.formats' has no attribute {name!r}")
    return getattr(importlib.import_module(f"judge.formats.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    """List public names, imported or not."""
    return sorted({*globals(), *_HOMES})
