"""A sweep as JSON, for other programs; fields are added, never changed.

`p_behind`: the sign-flip test of each value against the best, by Holm over all looks; only
a p of at most .05 sets a value apart. The intervals of `changes` are approximate.
"""

from __future__ import annotations

from judge.report.differences import METHOD
from judge.statistics.estimate import Estimate
from judge.sweep import Line, Sweep


def sweep_document(sweep: Sweep) -> dict[str, object]:
    """Return the whole sweep as plain values; lists go in the order of `values`."""
    return {
        "schema": 1,
        "knob": sweep.knob,
        "values": list(sweep.values),
        "backend": sweep.backend,
        "measures": {
            str(measure): {
                "overall": _line(sweep, sweep.of(measure)[-1]),
                "slices": {
                    line.slice: _line(sweep, line) for line in sweep.of(measure) if line.slice
                },
            }
            for measure in sweep.measures
        },
        "hidden": [
            {
                "measure": str(hidden.line.measure),
                "slice": hidden.line.slice,
                "at": sweep.values[hidden.at],
                "also": [sweep.values[place] for place in hidden.also],
                "change": hidden.line.change(hidden.at),
                "overall_change": hidden.overall.change(hidden.at),
            }
            for hidden in sweep.hidden()
        ],
        "empty": {
            value: list(rows) for value, rows in zip(sweep.values, sweep.empty, strict=True) if rows
        },
    }


def _line(sweep: Sweep, line: Line) -> dict[str, object]:
    return {
        "n": line.means[0].n,
        "means": [{"value": m.value, "lo": m.lo, "hi": m.hi} for m in line.means],
        "changes": [_change(change) for change in line.changes],
        "best": sweep.values[line.best],
        "p_behind": list(line.p_behind),
    }


def _change(change: Estimate) -> dict[str, float | str | None]:
    return change.as_json() | ({} if change.lo is None else {"method": METHOD})
