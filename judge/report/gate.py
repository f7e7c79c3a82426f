"""A gate as text, and as a Markdown comment."""

from __future__ import annotations

from collections.abc import Iterator

from judge.comparing.gating import Gate, GatedMeasure
from judge.report.differences import (
    OVERALL,
    change_cells,
    change_table,
    difference,
    mean_text,
    signed,
    wrapped,
)
from judge.report.gate_wording import details, failed_slices, headline, mark, shown_measures
from judge.report.markdown import code, escape
from judge.report.phrases import number
from judge.report.terminal import clean, shorten


def gate_lines(gate: Gate) -> Iterator[str]:
    """Yield the lines of the whole text: the sentence first, the outcome last."""
    yield from wrapped(headline(gate))
    yield ""
    for found in shown_measures(gate):
        yield f"{found.measure}: {_says(gate, found)}"
        yield from change_table(
            "",
            found.slices,
            found.change,
            marked=_marked(found),
            by_mock=bool(mark(gate, found)),
            interval=False,
        )
        yield ""
    for paragraph in details(gate):
        yield from wrapped(paragraph)
    yield from wrapped(outcome_line(gate))


def _says(gate: Gate, found: GatedMeasure) -> str:
    says = str(found.outcome) if found.gates else "only reported"
    if found.elsewhere is None:
        return says
    return f"{says} (queries like these: above {signed(found.elsewhere.lower)}, 95% confidence)"


def _marked(found: GatedMeasure) -> tuple[str, ...]:
    return failed_slices(found) if found.gates else ()


def _table(gate: Gate) -> list[list[str]]:
    """Return the cells of one table of all measures, for Markdown."""
    rows = [["measure", "slice", "rows", "before", "after", "difference", "gate"]]
    for found in gate.measures:
        for name, change in found.slices.items():
            label = "FAIL" if name in _marked(found) else ""
            rows.append(
                [
                    mark(gate, found),
                    shorten(name, 40),
                    *change_cells(change, interval=False),
                    label,
                ]
            )
        label = str(found.outcome) if found.gates else "reported"
        name = f"{found.measure}{mark(gate, found)}"
        rows.append([name, OVERALL, *change_cells(found.change, interval=False), label])
    return rows


def outcome_line(gate: Gate) -> str:
    """Return the last line: the outcome, the measure that decides it, its numbers."""
    label = str(gate.outcome).upper()
    gating = [found for found in gate.measures if found.gates]
    if gate.first and not gate.did_not_run:
        return "NOTHING COMPARED: there was no baseline"
    if gate.did_not_run or not gating:
        return f"{label}: no verdict"
    found = next((g for g in gating if g.outcome is gate.outcome), gating[0])
    return f"{label} {numbers(found, gate)}"


def numbers(found: GatedMeasure, gate: Gate) -> str:
    """Return what one measure's outcome rests on, of the slice that failed if one did."""
    failed = () if None in found.ruling.failed else failed_slices(found)
    change = found.slices[failed[0]] if failed else found.change
    where = f" in slice {clean(failed[0])}" if failed else ""
    sign = "<" if change.difference.hi < 0.0 else ">=" if change.difference.lo >= 0.0 else "?"
    whose = "these queries"
    if found.elsewhere is not None and not failed:
        whose = f"queries like these: above {signed(found.elsewhere.lower)}"
    return (
        f"{found.measure}{where} {mean_text(change.after)} {sign}"
        f" baseline {mean_text(change.before)} (margin {number(gate.rule.margin)}, difference"
        f" {difference(change)}, {whose}){mark(gate, found)}"
    )


def gate_markdown(gate: Gate) -> str:
    """Return a comment for a pull request."""
    label = "BASELINE" if gate.first else str(gate.outcome).upper()
    lines = [f"**{label}** {escape(headline(gate))}", ""]
    if shown_measures(gate):
        head, *rows = _table(gate)
        lines += [f"| {' | '.join(head)} |", "|" + " --- |" * len(head)]
        lines += [f"| {' | '.join(escape(cell) for cell in row)} |" for row in rows] + [""]
    if gate.measures and not gate.did_not_run:
        lines += [f"- {escape(line)}" for line in details(gate)]
    return "\n".join([*lines, "", code(outcome_line(gate)), ""])
