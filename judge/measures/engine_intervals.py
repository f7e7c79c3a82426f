"""Intervals of a large run's values, a few hundred queries at a time.

Values need the ranks of judged documents alone. Intervals need to know where the open ones
stand too: at every rank that holds neither a judged document nor a repeat.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice

import numpy as np

from judge.measures.engine_table import Table
from judge.measures.engine_tags import Tag
from judge.measures.engine_text import Ints
from judge.measures.evaluation import Column
from judge.measures.names import Measure
from judge.measures.pool import GradePool
from judge.measures.rows import Row, column

_ROWS_AT_ONCE = 256


def interval_columns(
    tag: Tag,
    table: Table,
    measures: Sequence[Measure],
    *,
    gain: str,
    depth: int | None,
    top: int,
) -> dict[Measure, Column]:
    """Return every measure with the ends of its intervals, as `plain.evaluate`.

    depth: results below it are outside the pool; top: the highest grade an open one may have
    """
    rows = _rows(tag, table, depth=depth, top=top)
    parts: dict[Measure, list[Column]] = {measure: [] for measure in measures}
    while some := list(islice(rows, _ROWS_AT_ONCE)):
        for measure in parts:  # each once, however often it is asked for
            parts[measure].append(column(measure, some, gain=gain, intervals=True))
    return {measure: _joined(of_measure) for measure, of_measure in parts.items()}


def _joined(parts: Sequence[Column]) -> Column:
    ends = [(one.values, one.lo or (), one.hi or ()) for one in parts]
    values, lo, hi = (list(chain.from_iterable(end)) for end in zip(*ends, strict=True))
    return Column(values, lo, hi)


def _rows(tag: Tag, table: Table, *, depth: int | None, top: int) -> Iterator[Row]:
    """Yield each query's list over its pool: judged documents shown, open ones, the rest."""
    judged = tag.judged
    repeats = _by_query(tag.n, *tag.repeats)
    shown_ranks = _by_query(tag.n, judged.queries, judged.ranks)
    shown_grades = _by_query(tag.n, judged.queries, judged.grades)
    all_grades = _by_query(tag.n, table.queries, table.grades)
    for query, length in enumerate(tag.lengths.tolist()):
        places, grades = shown_ranks[query] - 1, shown_grades[query].tolist()
        is_free = np.ones(length, dtype=bool)
        is_free[places] = is_free[repeats[query] - 1] = False
        free = np.flatnonzero(is_free[:depth]).tolist()
        ranking: list[int | None] = [None] * length
        for member, place in enumerate(chain(places.tolist(), free)):
            ranking[place] = member
        not_shown = (Counter(all_grades[query].tolist()) - Counter(grades)).elements()
        known, rest = (tuple(max(grade, 0) for grade in some) for some in (grades, not_shown))
        lo, hi = (known + (end,) * len(free) + rest for end in (0, top))
        yield tuple(ranking), GradePool(lo, hi, grade_max=top)


def _by_query(n: int, queries: Ints, of: Ints) -> list[Ints]:
    """Return the values of each query apart, in the order they come."""
    order = np.argsort(queries, kind="stable")
    return np.split(of[order], np.searchsorted(queries[order], np.arange(1, n)))
