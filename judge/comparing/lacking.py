"""Rows that a run lacks or failed on: what they count as, said aloud."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from judge.evidence.pool import NO_TEXT, QueryPool


def has_failed(pool: QueryPool) -> bool:
    """Tell whether some run failed on this query, so that no judging closes its bounds."""
    return any(row is not None and row.error is not None for row in pool.query.rows)


def lacking(pools: Iterable[QueryPool], names: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for each run that lacks rows, and for each that failed on some.

    names: of the runs, in the order of each query's rows
    """
    counted = [pool for pool in pools if not pool.query.is_answerless]
    for run, name in enumerate(names):
        rows = [pool.query.rows[run] for pool in counted]
        absent = sum(row is None for row in rows)
        failed = sum(row is not None and row.error is not None for row in rows)
        of = f"of {len(rows):,} rows"
        if absent:
            yield f"{name} lacks {absent:,} {of}: each counts as a list that found nothing"
        if failed:
            yield (
                f"{name} failed on {failed:,} {of}: their lists could have been anything,"
                " and no judging settles that"
            )
        changed = sum(_is_described_otherwise(pool, run) for pool in counted)
        if changed:
            yield f"{name} gives {changed:,} {of} another slice or weight; the first run's count"


def textless(pools: Iterable[QueryPool]) -> Iterator[str]:
    """Yield a sentence where chunks have no text that a judge could be sent."""
    open_judgments = [j for pool in pools for j in pool.judgments if j.is_open]
    count = sum(judgment.reason == NO_TEXT for judgment in open_judgments)
    if count:
        of = f"{count:,} of {len(open_judgments):,} chunks without a grade"
        verb = "has" if count == 1 else "have"
        yield f"{of} {verb} no text to judge; a baseline keeps none: --corpus gives them"


def _is_described_otherwise(pool: QueryPool, run: int) -> bool:
    """Tell whether a run gives a query another slice or weight than the first one that has it."""
    row = pool.query.rows[run]
    if row is None:
        return False
    first = next(row for row in pool.query.rows if row is not None)
    golden = pool.query.golden
    by_golden = golden is not None and golden.weight is not None
    return (row.weight != first.weight and not by_golden) or (
        row.slice is not None and first.slice is not None and row.slice != first.slice
    )
