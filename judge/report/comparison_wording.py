"""What a comparison says in words: the sentence first, the tests, the doubts, the last line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from judge.comparing.change import Change, Verdict
from judge.comparing.comparison import Comparison
from judge.comparing.lacking import has_failed, lacking
from judge.grades import Source
from judge.report.by_log import comparison_by_log, hangs_on_log
from judge.report.conflicts import conflict_line
from judge.report.correction_wording import outcome_by_labels, verdict_by_judge, with_labels
from judge.report.differences import BY_MOCK, difference, p_text, span
from judge.report.phrases import MOCK, SAID_FIRST, cost_words, number, plural, said_first
from judge.report.terminal import clean, shorten
from judge.statistics.signs import ALPHA


def headline(comparison: Comparison) -> str:
    """Return the one sentence a manager reads."""
    names = [clean(run.name) for run in comparison.grading.runs]
    if comparison.grading.did_not_run:
        empty = " and ".join(clean(name) for name in comparison.grading.did_not_run)
        return f"{empty} did not run: every one of its lists is empty. There is no verdict."
    if comparison.primary is None:
        return "Nothing could be compared: no row has what the measures asked for need."
    change = comparison.overall[comparison.primary]
    sentence = _SENTENCES[comparison.verdict](comparison, change, names[0], names[1])
    sentence += hangs_on_log(comparison)
    first = said_first(comparison.grading.notices)
    return f"{with_labels(comparison, sentence)}{_by_mock(comparison)}{first}"


def _better(comparison: Comparison, change: Change, before: str, after: str) -> str:
    return f"{after} is better than {before}: {_shown(comparison, change)}."


def _worse(comparison: Comparison, change: Change, before: str, after: str) -> str:
    return f"{after} is worse than {before}: {_shown(comparison, change)}."


def _shown(comparison: Comparison, change: Change) -> str:
    return f"{_moves(comparison, change)}; sign-flip test {p_text(change.flip.p, 4)}"


def _no_difference(comparison: Comparison, change: Change, before: str, after: str) -> str:
    over = "on this one row" if change.rows == 1 else f"on these {plural(change.rows, 'row')}"
    if change.sign == 0:
        return f"No difference: {comparison.primary} of {after} and {before} is equal {over}."
    lo, hi = change.difference.lo, change.difference.hi
    stands = {
        1: f"{after} is {'ahead of' if lo > 0.0 else 'at least as good as'} {before}",
        -1: f"{after} is {'behind' if hi < 0.0 else 'at most as good as'} {before}",
    }[change.sign or 1]
    return (
        f"No difference shown: {stands} {over} ({comparison.primary} {difference(change)}), but"
        " other queries could say otherwise."
    )


def _undecided(comparison: Comparison, change: Change, before: str, after: str) -> str:
    lo, hi = change.difference.lo, change.difference.hi
    could = f"{comparison.primary} could move {span(lo, hi)}"
    if comparison.finding is not None:
        found = comparison.finding
        stands = "ahead of" if found.sign > 0 else "behind"
        return (
            f"{after} is {stands} {before} on these {plural(change.rows, 'row')} with"
            f" {found.confidence:.0%} confidence, not certainty: judging stopped early"
            f" ({found.drawn} of {found.of} open rows drawn at random; {could})."
        )
    waiting, asks = comparison.open_chunks
    same = comparison.identical
    start = (
        f"{same} of {change.rows} lists are identical; in the other {change.rows - same}, "
        if same
        else ""
    )
    failed = sum(map(has_failed, comparison.open_pools))
    if failed:
        chunks = f"{plural(waiting, 'chunk')} without a grade and " if waiting else ""
        what = f"{chunks}{plural(failed, 'row')} that failed to run"
        return f"Undecided: {start}{what}: {could}; judging alone cannot settle it."
    if not asks:
        are = "chunk has" if waiting == 1 else "chunks have"
        return (
            f"Undecided: {start}{waiting:,} {are} no grade and no text to judge: {could}; texts"
            " come with the runs, or from --corpus and --queries."
        )
    price = comparison.price
    about = f", about ${max(price.usd, 0.01):.2f} with {price.model}" if price else ""
    settles = f"judging at most {asks:,} of them settles it{about}"
    how = settles if asks == waiting else f"{asks:,} of them have a text to judge{about}"
    are = "chunk has" if waiting == 1 else "chunks have"
    return f"Undecided: {start}{waiting:,} {are} no grade: {could}; {how}."


_SENTENCES = {
    Verdict.BETTER: _better,
    Verdict.WORSE: _worse,
    Verdict.NO_DIFFERENCE: _no_difference,
    Verdict.UNDECIDED: _undecided,
}


def _moves(comparison: Comparison, change: Change) -> str:
    return f"{comparison.primary} {difference(change)}{_interval(change)}"


def _interval(change: Change) -> str:
    return f", 95% {span(*change.interval)} (t, approximate)" if change.interval else ""


def mark(comparison: Comparison) -> str:
    """Return what follows every figure of the primary measure that the mock had a part in."""
    primary = comparison.primary
    graded = primary is not None and primary.family == "graded"
    return f" ({BY_MOCK})" if graded and comparison.grading.by_mock else ""


def _by_mock(comparison: Comparison) -> str:
    return f" (Graded by the mock: {MOCK}.)" if comparison.grading.by_mock else ""


def significance_lines(comparison: Comparison) -> Iterator[str]:
    """Yield what the test over queries says of the primary measure, and what it cannot say."""
    assert comparison.primary is not None, "a verdict needs a measure"
    change = comparison.overall[comparison.primary]
    if change.rows == 1:
        yield "One row says nothing about other queries: no interval, no test."
        return
    flip, is_shown = change.flip, change.verdict in (Verdict.BETTER, Verdict.WORSE)
    is_open = change.difference.is_open
    every = " or less, whatever is open" if is_open else ""
    lowest = " at the lowest grades" if is_open else ""
    how = "exact" if flip.exact else "sampled"
    size = change.effect_size
    effect = "" if size is None else f", effect size {size:+.2f}{lowest}"
    yield (
        f"{comparison.primary}{mark(comparison)}: {how} sign-flip test"
        f" {p_text(flip.p, 4)}{every}{effect}."
    )
    if flip.smallest > ALPHA and change.sign != 0:
        moved = f"{plural(change.rows, 'row')} with so few differences"
        yield f"{moved} cannot reach p = .05: the smallest possible is {flip.smallest:.4f}."
    if not is_shown and change.detectable:
        yield (
            f"So many rows would show a true change of about {number(change.detectable)}{lowest}"
            " in 4 of 5 cases; a smaller one may be there and not show."
        )


def look_lines(slices: Mapping[str, Change], overall: Change) -> Iterator[str]:
    """Yield what stands out among the looks at one measure besides the difference that decides.

    slices: the measure's; overall: the measure over all rows, itself a look unless it decides
    """
    looks = [(f"slice {shorten(name, 38)}", change) for name, change in slices.items()]
    for name, change in [*looks, ("overall", overall)] if overall.is_exploratory else looks:
        if not (change.stands_out and change.sign and change.p_holm is not None):
            continue
        by = f"{p_text(change.p_holm, 3)}, exploratory: Holm over {plural(change.looks, 'look')}"
        if change.verdict in (Verdict.BETTER, Verdict.WORSE):
            yield f"{name} is {change.verdict} ({by})."
        else:
            stands = "ahead" if change.sign > 0 else "behind"
            yield (
                f"{name} is {stands} on these rows ({by}); the difference that decides is not"
                " shown, so it is a place to look, not a finding."
            )


def doubts(comparison: Comparison) -> Iterator[str]:
    """Yield what a careful reader would want to know before believing the verdict."""
    before, after = comparison.unjudged
    if before or after:
        yield (
            f"Without a grade: {before:.0%} of the baseline's slots,"
            f" {after:.0%} of the candidate's."
        )
    loose = sum(not row.differences[m].exact for m, row in comparison.primary_rows)
    if loose:
        yield (
            f"The bounds of {plural(loose, 'row')} hold, and may be wider than open grades can"
            " make them: too many to try together."
        )
    for source, (was, now) in comparison.source_gaps.items():
        if source is not None:
            yield (
                f"warning: {_SOURCES[source]} grade {was:.0%} of the baseline's slots and {now:.0%}"
                " of the candidate's: part of the difference may be the graders'."
            )
    yield from comparison_by_log(comparison)
    conflicts = conflict_line(comparison.grading.conflicts)
    if conflicts:
        yield clean(conflicts)
    names = [run.name for run in comparison.grading.runs]
    for text in lacking((row.pool for row in comparison.rows), names):
        yield f"note: {clean(text)}."
    for notice in comparison.grading.notices:
        if notice.kind != "ignored field" and notice.kind not in SAID_FIRST:
            yield f"note: {clean(notice.text)}"
    calls = comparison.grading.calls
    if calls.made or calls.cached:
        yield (
            f"Judged until {comparison.until}: {plural(calls.made, 'call')},"
            f" {calls.cached:,} from the cache; {cost_words(comparison.grading)}."
        )


_SOURCES = {
    Source.GOLDEN: "goldens",
    Source.HUMAN: "people's labels",
    Source.PRIOR: "grades from files",
    Source.RULE: "rules",
    Source.PREFERENCE: "read logs",
    Source.JUDGE: "the judge's replies",
}


def outcome(comparison: Comparison) -> str:
    """Return the last line: the verdict with its numbers."""
    verdict = comparison.verdict
    if comparison.primary is None or verdict is Verdict.DID_NOT_RUN:
        return "NO VERDICT"
    change = comparison.overall[comparison.primary]
    label = str(verdict).upper()
    if comparison.finding is not None and verdict is Verdict.UNDECIDED:
        label = f"{'AHEAD' if comparison.finding.sign > 0 else 'BEHIND'} ({comparison.until})"
    label = verdict_by_judge(comparison, label)
    return (
        f"{label} {_moves(comparison, change)} over {plural(change.rows, 'row')},"
        f" given this pool of judged chunks{mark(comparison)}{outcome_by_labels(comparison)}"
    )
