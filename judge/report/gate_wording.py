"""What a gate says in words: the sentence first, why it failed, what qualifies it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from judge.comparing.change import Change
from judge.comparing.gating import Gate, GatedMeasure
from judge.report.by_log import gate_by_log
from judge.report.conflicts import conflict_line
from judge.report.differences import mean_text, signed
from judge.report.phrases import MOCK, cost_words, number, plural
from judge.report.terminal import clean, shorten
from judge.stopping.outcome import Outcome

_SHOWN = 5


def shown_measures(gate: Gate) -> tuple[GatedMeasure, ...]:
    """Return the measures that have numbers: none where a run did not run or nothing is compared.

    An empty list is not a bad ranking, and a run is not compared with itself.
    """
    return () if gate.did_not_run or gate.first else gate.measures


def mark(gate: Gate, found: GatedMeasure) -> str:
    """Return what follows a measure's figures that the mock had a part in."""
    return " (word overlap)" if gate.by_mock and found.measure.family == "graded" else ""


def headline(gate: Gate) -> str:
    """Return the one sentence a manager reads."""
    name = clean(gate.runs[0]) if gate.runs else "the run"
    if gate.did_not_run:
        empty = " and ".join(clean(run) for run in gate.did_not_run)
        return f"{empty} did not run: every one of its lists is empty. There is no verdict."
    if gate.first:
        became = (
            "none is written, since judging broke off" if gate.broke_off else f"{name} is it now"
        )
        return f"There was no baseline to compare with; {became}."
    sentence = _SENTENCES[gate.outcome](gate, name)
    return f"{sentence} (Graded by the mock: {MOCK}.)" if gate.by_mock else sentence


def _passes(gate: Gate, name: str) -> str:
    by = f" by more than {number(gate.rule.margin)}" if gate.rule.margin else ""
    held = f"on these queries no measure that gates fell{by}, overall or in a slice"
    if any(found.elsewhere for found in gate.measures):
        held += ", nor does any, overall, on queries like these (95% confidence)"
    return f"{name} may go in: {held}."


def _fails(gate: Gate, name: str) -> str:
    why = "; ".join(reasons(found) for found in gate.measures if _failed(found))
    return f"{name} must not go in: {why}."


def _undecided(gate: Gate, name: str) -> str:
    gating = [found for found in gate.measures if found.gates]
    start = f"It is undecided whether {name} may go in"
    if not gating:
        return f"{start}: no row has what a measure that gates needs."
    waiting = [found for found in gating if _is_open(found)]
    if waiting:
        names = ", ".join(str(found.measure) for found in waiting)
        return f"{start}: {_what_is_open(gate)} could still change {names}."
    lose = f"no more than {number(gate.rule.margin)}" if gate.rule.margin else "nothing"
    return (
        f"{start}: these queries lose {lose}, but are too few to show that for queries like"
        f" them{_enough(gating)}."
    )


def _enough(gating: Sequence[GatedMeasure]) -> str:
    """Say how many rows would do, if some number would."""
    short = [f.elsewhere.rows_needed for f in gating if f.elsewhere and not f.ruling.shown[1]]
    if not short or None in short:
        return ""
    return f"; about {max(filter(None, short)):,} rows would do"


def _what_is_open(gate: Gate) -> str:
    if gate.failed:
        return "chunks without a grade or rows that failed"
    return "chunks without a grade"


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
    """Say what failed: the mean over all rows, the slices."""
    parts = []
    if None in found.ruling.failed:
        parts.append(_fell(found, found.change))
    failed = failed_slices(found)
    for name in failed[:_SHOWN]:
        change = found.slices[name]
        row = " (1 row)" if change.rows == 1 else ""
        parts.append(f"{_fell(found, change)} in slice {clean(name)}{row}")
    if len(failed) > _SHOWN:
        parts.append(f"and in {len(failed) - _SHOWN} more slices")
    return ", ".join(parts)


def failed_slices(found: GatedMeasure) -> tuple[str, ...]:
    """Return the slices that fail whatever is open."""
    return tuple(name for name in found.ruling.failed if name is not None)


def _fell(found: GatedMeasure, change: Change) -> str:
    return f"{found.measure} fell from {mean_text(change.before)} to {mean_text(change.after)}"


def details(gate: Gate) -> Iterator[str]:
    """Yield what explains the outcome or qualifies it."""
    if gate.first:
        yield from _first(gate)
    else:
        yield from _demotion(gate)
    for found in shown_measures(gate):
        yield from _noise(gate, found)
        yield from _elsewhere(gate, found)
        certain = found.outcome is Outcome.FAIL or not found.gates
        for name in () if certain else filter(None, found.ruling.could_fail):
            yield f"{found.measure}: {_what_is_open(gate)} could make slice {clean(name)} fail."
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


def _first(gate: Gate) -> Iterator[str]:
    """Say what the new baseline scores, which is all there is to say of it."""
    if not gate.did_not_run:
        for found in gate.measures:
            after, rows = mean_text(found.change.after), plural(found.change.rows, "row")
            yield f"{found.measure}{mark(gate, found)} {after} over {rows}"


def _noise(gate: Gate, found: GatedMeasure) -> Iterator[str]:
    """Say how steady the candidate's mean is, where it was run more than once."""
    if found.noise is None:
        return
    said = (
        f"{found.measure}: mean of {len(gate.runs)} repeats, standard error {number(found.noise)}"
    )
    away = abs(found.change.difference.value + gate.rule.margin)
    near = found.gates and found.noise > 0.0 and away < 2.0 * found.noise
    doubt = "; so near the margin other repeats could say otherwise" if near else ""
    yield f"{said} by the system's own noise{doubt}."


def _elsewhere(gate: Gate, found: GatedMeasure) -> Iterator[str]:
    """Say what these rows show of other queries, and how many more would show it."""
    other, margin = found.elsewhere, gate.rule.margin
    if other is None:
        return
    if found.outcome is Outcome.FAIL:
        if other.upper < -margin:
            yield f"{found.measure}: queries like these fall too, to below {signed(other.upper)}."
        else:
            yield f"{found.measure}: whether other queries fall too, these rows do not show."
    elif not found.ruling.shown[0]:
        rows = plural(found.change.rows, "row")
        needed = (
            "no number of rows that differ as these do shows"
            if other.rows_needed is None
            else f"about {other.rows_needed:,} that differ as these do would show"
        )
        yield (
            f"{found.measure}: {rows} show of queries like them that the difference is above"
            f" {signed(other.lower)}; {needed} that it is above {signed(-margin)}."
        )


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
