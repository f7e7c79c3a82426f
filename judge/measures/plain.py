"""Runs against qrels in plain Python: the reference, and the fast way for small files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from judge.measures.evaluation import Evaluation, Observed
from judge.measures.limits import pool_depth, quick_to_bound, scale_top
from judge.measures.names import Measure
from judge.measures.pool import GradePool
from judge.measures.ranked import Ranked
from judge.measures.rows import Row, column

Qrels: TypeAlias = Mapping[str, Mapping[str, int]]


def evaluate(
    ranked: Mapping[str, Ranked],
    qrels: Qrels,
    measures: Sequence[Measure],
    *,
    run: str,
    gain: str = "linear",
    grade_max: int | None = None,
    intervals: bool | None = None,
) -> Evaluation:
    """Return what a run scored, over the queries of the qrels.

    grade_max: top of the scale; None: 3, or the highest grade of the qrels above it
    intervals: compute lo and hi; None: only where that is quick
    """
    highest = (max(grades.values()) for grades in qrels.values())
    top = scale_top(highest, grade_max=grade_max, gain=gain, intervals=bool(intervals))
    depth = pool_depth(measures)
    lists = [ranked.get(query, Ranked()).documents for query in qrels]
    judged = list(qrels.values())
    unjudged = [
        [
            document
            for document in documents[:depth]
            if document is not None and document not in grades
        ]
        for documents, grades in zip(lists, judged, strict=True)
    ]
    if intervals is None:
        intervals = quick_to_bound(map(len, unjudged), top)
    free = unjudged if intervals else [[] for _ in unjudged]
    rows = [_row(*of_query, top) for of_query in zip(lists, judged, free, strict=True)]
    columns = {one: column(one, rows, gain=gain, intervals=intervals) for one in measures}
    return Evaluation(run, tuple(qrels), columns, _observe(ranked, qrels, unjudged, depth))


def _row(
    documents: Sequence[str | None], grades: Mapping[str, int], free: Sequence[str], top: int
) -> Row:
    """Return a list over the pool of its query: judged documents, and those left open."""
    place = {document: index for index, document in enumerate((*grades, *free))}
    ranking = tuple(place.get(document) if document is not None else None for document in documents)
    known = tuple(max(grade, 0) for grade in grades.values())
    lo, hi = known + (0,) * len(free), known + (top,) * len(free)
    return ranking, GradePool(lo, hi, grade_max=top)


def _observe(
    ranked: Mapping[str, Ranked], qrels: Qrels, unjudged: Sequence[Sequence[str]], depth: int | None
) -> Observed:
    evaluated = [ranked[query] for query in qrels if query in ranked]
    return Observed(
        missing=[query for query in qrels if query not in ranked],
        without_qrels=[query for query in ranked if query not in qrels],
        irrelevant=[query for query, grades in qrels.items() if max(grades.values()) < 1],
        ties=sum(one.ties for one in evaluated),
        duplicates=sum(one.documents.count(None) for one in evaluated),
        deepest=depth,
        short=sum(depth is not None and len(one.documents) < depth for one in evaluated),
        unjudged=sum(map(len, unjudged)),
        unjudged_in=sum(map(bool, unjudged)),
    )
