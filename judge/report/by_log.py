"""What holds only if a read log is right, printed beside what holds without it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from judge.comparing.change import Change, Verdict
from judge.comparing.comparison import Comparison
from judge.comparing.gating import Gate
from judge.report.differences import span
from judge.report.phrases import capitalised
from judge.stopping.outcome import Outcome


def hangs_on_log(comparison: Comparison) -> str:
    """Return the sentence about a verdict that only the log would decide, else nothing."""
    found = comparison.by_log
    if found is None or comparison.verdict is not Verdict.UNDECIDED:
        return ""
    if found.primary is None or found.verdict is Verdict.UNDECIDED:
        return ""
    moved = _span(found.overall[found.primary])
    return f" It hangs on the log: {comparison.log_condition}, {found.primary} is {moved}."


def comparison_by_log(comparison: Comparison) -> Iterator[str]:
    """Yield the differences that a trusted log narrows, those without it beside them."""
    found = comparison.by_log
    if found is None or found.primary is None:
        return
    measure = found.primary
    named = {name: of.get(measure) for name, of in comparison.slices.items()}
    lines = [("overall", comparison.overall[measure], found.overall[measure])]
    lines += [(name, of, found.slices[name][measure]) for name, of in named.items() if of]
    told = [
        f"{name} {_span(by_log)}, without it {_span(bare)}"
        for name, bare, by_log in lines
        if _span(by_log) != _span(bare)
    ]
    if told:
        yield f"{capitalised(comparison.log_condition)}: {measure} {'; '.join(told)}."


def gate_by_log(gate: Gate) -> Iterator[str]:
    """Yield what a trusted log would narrow of each measure, and an outcome that hangs on it."""
    found = gate.by_log
    if found is None:
        return
    told = [
        f"{bare.measure} {_span(by_log.change)}, without it {_span(bare.change)}"
        for bare, by_log in zip(gate.measures, found.measures, strict=True)
        if _span(by_log.change) != _span(bare.change)
    ]
    if told:
        yield f"{capitalised(gate.log_condition)}: {'; '.join(told)}."
    if gate.outcome is Outcome.UNDECIDED and found.outcome is not Outcome.UNDECIDED:
        yield f"The outcome hangs on the log: {gate.log_condition}, it is a {found.outcome}."


def both_readings(bare: Mapping[str, Any], by_log: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON object in which each `lo`, `hi` that the log narrows stands in both readings.

    `lo` and `hi` are those with the log, `lo_without_log` and `hi_without_log` those without
    it; whatever is concluded (`verdict`, `outcome`, intervals over queries) stays without it.

    >>> both_readings({"d": {"lo": -1, "hi": 1, "verdict": "?"}}, {"d": {"lo": -1, "hi": 0}})
    {'d': {'lo': -1, 'hi': 0, 'verdict': '?', 'lo_without_log': -1, 'hi_without_log': 1}}
    """
    found = dict(bare)
    for name, value in bare.items():
        other = by_log.get(name)
        if isinstance(value, Mapping) and isinstance(other, Mapping):
            found[name] = both_readings(value, other)
    ends = [name for name in ("value", "lo", "hi") if name in bare and name in by_log]
    if "lo" in ends and any(bare[name] != by_log[name] for name in ends):
        found |= {name: by_log[name] for name in ends}
        found |= {f"{name}_without_log": bare[name] for name in ends}
    return found


def _span(change: Change) -> str:
    return span(change.difference.lo, change.difference.hi)
