"""Did this ranking change make retrieval better, and how sure are we?

`judge` grades what a search or RAG system returned, from golden answers first, then from
read logs, then with a cached LLM judge, and reports graded nDCG with honest intervals.

| name | what it does |
| --- | --- |
| `grade(run, goldens=…, backend=…)` | grade a run and return its `Report` |
| `read_run(path)` | read a run in any shape people have |
| `compare(baseline, candidate)` | say whether a candidate ranks better, and what is not known |
| `gate(runs, baseline)` | say whether a change may go in, against a stored baseline |
| `calibrate(judgments, labels)` | say how far a judge agrees with people's labels |
| `ReadLog(path)` | log what searchers and agents do with results, for `judge mine` |
| `Report` | means overall and by slice, rows, coverage, conflicts |
| `Run` | what one system returned, as `read_run` gives it |
| `JudgeError` | anything that `judge` says no to |

Names are imported when they are used, so `import judge` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "JudgeError": "judge.errors",
    "Report": "judge.report.model",
    "Run": "judge.run",
    "ReadLog": "judge.readlog.writer",
    "calibrate": "judge.calibration.files",
    "compare": "judge.api.comparing",
    "gate": "judge.api.gating",
    "grade": "judge.api.grading",
    "read_run": "judge.formats",
}

__all__ = [
    "JudgeError",
    "ReadLog",
    "Report",
    "Run",
    "calibrate",
    "compare",
    "gate",
    "grade",
    "read_run",
]


def __getattr__(name: str) -> Any:
    """Import a public name from where it lives."""
    if name not in _HOMES:
        raise AttributeError(f"module 'judge' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """List public names, imported or not."""
    return sorted({*globals(), *__all__})
