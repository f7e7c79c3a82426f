"""A gate as text, and as a Markdown comment."""

from __future__ import annotations

from collections.abc import Iterator

from judge.comparing.change import Change
from judge.comparing.gating import Gate, GatedMeasure
from judge.report.by_log import gate_by_log
from judge.report.conflicts import conflict_line
from judge.report.differences import (
    OVERALL,
    change_cells,
    change_table,
    mean_text,
    signed,
    span,
    wrapped,
)
from judge.report.markdown import code, escape
from judge.report.phrases import MOCK, cost_words, number, plural
from judge.report.terminal import clean, shorten
from judge.stopping.outcome import Outcome

_SHOWN = 5


def gate_lines(gate: Gate) -> Iterator[str]:
    """Yield the lines of the whole text: the sentence first, the outcome last."""
    yield from wrapped(headline(gate))
    yield ""
    for found in gate.measures if not gate.did_not_run else ():
        says = str(found.outcome) if found.gates else "only reported"
        yield f"{found.measure}: {says}{_bounds(gate, found)}"
        by_mock = bool(_mark(gate, found))
        marked = _marked(found)
        yield from change_table("", found.slices, found.change, marked=marked, by_mock=by_mock)
        yield ""
    for paragraph in details(gate):
        yield from wrapped(paragraph)
    yield from wrapped(outcome_line(gate))


def _bounds(gate: Gate, found: GatedMeasure) -> str:
    """Return the bounds that decided over all rows: one-sided, so not the ends of the 95% CI."""
    decision, margin = found.ruling.decision, signed(-gate.rule.margin)
    if not found.gates or decision.bounds is None or decision.overall is not found.outcome:
        return ""
    low, high = map(signed, decision.bounds)
    return {
        Outcome.PASS: f" (one-sided 95% bound {low}, above {margin})",
        Outcome.FAIL: f" (one-sided 95% bound {high}, below {margin})",
        Outcome.UNDECIDED: f" (one-sided 95% bounds {low} and {high}, around {margin})",
    }[found.outcome]


def _mark(gate: Gate, found: GatedMeasure) -> str:
    """Return what follows a measure's figures that the mock had a part in."""
    return " (word overlap)" if gate.by_mock and found.measure.family == "graded" else ""


def _marked(found: GatedMeasure) -> tuple[str, ...]:
    return found.ruling.failed if found.gates else ()


def headline(gate: Gate) -> str:
    """Return the one sentence a manager reads."""
    name = clean(gate.runs[0]) if gate.runs else "the run"
    if gate.did_not_run:
        empty = " and ".join(clean(run) for run in gate.did_not_run)
        return f"{empty} did not run: every one of its lists is empty. There is no verdict."
    sentence = _SENTENCES[gate.outcome](gate, name)
    return f"{sentence} (Graded by the mock: {MOCK}.)" if gate.by_mock else sentence


def _passes(gate: Gate, name: str) -> str:
    worse = "no worse" if gate.rule.strict else f"at most {number(gate.rule.margin)} worse"
    return f"{name} may go in: it is {worse} than the baseline, as far as these queries can tell."


def _fails(gate: Gate, name: str) -> str:
    why = "; ".join(reasons(found) for found in gate.measures if _failed(found))
    return f"{name} must not go in: {why}."


def _undecided(gate: Gate, name: str) -> str:
    waiting = [found for found in gate.measures if found.gates and _is_open(found)]
    if waiting:
        names = ", ".join(str(found.measure) for found in waiting)
        what = (
            "chunks without a grade or rows that failed"
            if gate.failed
            else "chunks without a grade"
        )
        return f"It is undecided whether {name} may go in: {what} could still change {names}."
    return f"It is undecided whether {name} may go in: {_why_closed(gate)}."


def _why_closed(gate: Gate) -> str:
    """Say why a gate is undecided that no grade could decide."""
    gating = [found for found in gate.measures if found.gates]
    if not gating:
        return "no row has what a measure that gates needs"
    within = [f for f in gating if f.outcome is Outcome.UNDECIDED and _only_spread(f)]
    if within:
        names = ", ".join(str(found.measure) for found in within)
        return f"{names} fell, but by no more than its {len(gate.runs)} repeats differ"
    return "these queries are too few to tell"


def _only_spread(found: GatedMeasure) -> bool:
    """Tell whether a measure would fail but for the spread of the repeats."""
    return found.ruling.decision.outcome is Outcome.FAIL


_SENTENCES = {
    Outcome.PASS: _passes,
    Outcome.FAIL: _fails,
    Outcome.UNDECIDED: _undecided,
}


def _failed(found: GatedMeasure) -> bool:
    return found.gates and found.outcome is Outcome.FAIL


def _is_open(found: GatedMeasure) -> bool:
    return found.outcome is Outcome.UNDECIDED and found.ruling.is_open


def reasons(found: GatedMeasure) -> str:
    """Say what failed: overall, slices below the margin, slices fallen to zero."""
    parts = []
    if found.ruling.overall_fails:
        parts.append(_fell(found, found.change, ""))
    failed = found.ruling.failed
    for name in failed[:_SHOWN]:
        gone = " to zero" if name in found.ruling.fallen else ""
        parts.append(f"{_fell(found, found.slices[name], gone)} in slice {clean(name)}")
    if len(failed) > _SHOWN:
        parts.append(f"and in {len(failed) - _SHOWN} more slices")
    return ", ".join(parts)


def _fell(found: GatedMeasure, change: Change, to: str) -> str:
    before, after = number(change.before.value), number(change.after.value)
    return f"{found.measure} fell{to} from {before} to {after}"


def _table(gate: Gate) -> list[list[str]]:
    """Return the cells of one table of all measures, for Markdown."""
    rows = [["measure", "slice", "rows", "before", "after", "difference", "95% CI", "gate"]]
    for found in gate.measures:
        for name, change in found.slices.items():
            label = "FAIL" if name in _marked(found) else ""
            rows.append([_mark(gate, found), shorten(name, 40), *change_cells(change), label])
        label = str(found.outcome) if found.gates else "reported"
        name = f"{found.measure}{_mark(gate, found)}"
        rows.append([name, OVERALL, *change_cells(found.change), label])
    return rows


def details(gate: Gate) -> Iterator[str]:
    """Yield what explains the outcome or qualifies it."""
    yield from _demotion(gate)
    for found in gate.measures:
        if found.spread:
            inside = ": the drop lies inside it" if found.in_spread else ""
            spread = f"{len(gate.runs)} repeats spread over {number(found.spread)}"
            yield f"{found.measure}: {spread}{inside}."
        certain = found.outcome is Outcome.FAIL or not found.gates or gate.did_not_run
        for name in () if certain else found.ruling.could_fail:
            what = "what is open" if gate.failed else "chunks without a grade"
            yield f"{found.measure}: {what} could make slice {clean(name)} fail."
    yield from gate_by_log(gate)
    conflicts = conflict_line(gate.conflicts)
    if conflicts:
        yield clean(conflicts)
    if gate.ideal_moved:
        shown = ", ".join(shorten(key, 30) for key in gate.ideal_moved[:_SHOWN])
        more = ", …" if len(gate.ideal_moved) > _SHOWN else ""
        yield (
            f"The pool grew: the baseline's value moved in {len(gate.ideal_moved)} rows although"
            f" its rankings did not ({shown}{more})."
        )
    if gate.calls.made or gate.calls.cached:
        made, cached = plural(gate.calls.made, "call"), f"{gate.calls.cached:,} from the cache"
        yield f"Judged until {gate.until}: {made}, {cached}; {cost_words(gate)}."
    for notice in gate.notices:
        yield f"note: {clean(notice)}"


def _demotion(gate: Gate) -> Iterator[str]:
    """Say it where answers are still found but lower: recall cannot see that."""
    by_name = {str(found.measure): found for found in gate.measures}
    rank = by_name.get("RR")
    recalls = [found for name, found in by_name.items() if name.startswith("R@")]
    if rank is None or not recalls or rank.change.difference.value >= 0.0:
        return
    if all(found.change.difference.value >= 0.0 for found in recalls):
        names = " and ".join(str(found.measure) for found in recalls)
        yield (
            f"RR fell from {number(rank.change.before.value)} to"
            f" {number(rank.change.after.value)} while {names} did not: the answers are still"
            " found, but lower in the lists."
        )


def outcome_line(gate: Gate) -> str:
    """Return the last line: the outcome, the measure that decides it, its numbers."""
    label = str(gate.outcome).upper()
    gating = [found for found in gate.measures if found.gates]
    if gate.did_not_run or not gating:
        return f"{label}: no verdict"
    found = next((g for g in gating if g.outcome is gate.outcome), gating[0])
    return f"{label} {numbers(found, gate)}"


def numbers(found: GatedMeasure, gate: Gate) -> str:
    """Return what one measure's outcome rests on, of the slice that failed if one did."""
    overall_fails = found.ruling.overall_fails
    failed = () if overall_fails else found.ruling.failed
    change = found.slices[failed[0]] if failed else found.change
    where = f" in slice {clean(failed[0])}" if failed else ""
    sign = "<" if change.difference.hi < 0.0 else ">=" if change.difference.lo >= 0.0 else "?"
    ci = "" if change.ci is None else f", 95% CI {span(*change.ci)}"
    rule = "strict" if gate.rule.strict else f"margin {number(gate.rule.margin)}"
    return (
        f"{found.measure}{where} {mean_text(change.after)} {sign}"
        f" baseline {mean_text(change.before)} ({rule}{ci}){_mark(gate, found)}"
    )


def gate_markdown(gate: Gate) -> str:
    """Return a comment for a pull request."""
    lines = [f"**{str(gate.outcome).upper()}** {escape(headline(gate))}", ""]
    if gate.measures and not gate.did_not_run:
        head, *rows = _table(gate)
        lines += [f"| {' | '.join(head)} |", "|" + " --- |" * len(head)]
        lines += [f"| {' | '.join(escape(cell) for cell in row)} |" for row in rows]
        lines += ["", *(f"- {escape(line)}" for line in details(gate))]
    return "\n".join([*lines, "", code(outcome_line(gate)), ""])
