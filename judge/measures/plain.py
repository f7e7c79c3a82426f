"""Runs against qrels in plain Python: the reference, and the fast way for small files."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeAlias

from judge.errors import UsageError
from judge.grades import GRADE_MAX
from judge.measures.evaluation import Evaluation, Observed
from judge.measures.names import Measure
from judge.measures.pool import GradePool
from judge.measures.rows import Row, column
from judge.measures.trec import Lists, Scored

Qrels: TypeAlias = Mapping[str, Mapping[str, int]]

# With fewer ways than this to grade the open chunks, their bounds take no time one notices.
_CHEAP_COMPLETIONS = 50_000
_TOP = 1000  # 2^1024 is no double, and the bounds take time and memory by the grade


@dataclass(frozen=True, slots=True)
class Ranked:
    """A list in rank order; None where a document stands again.

    ties: results that share their score with another one
    """

    documents: tuple[str | None, ...] = ()
    ties: int = 0


def rank(results: Iterable[Scored], *, precision: str = "single") -> Ranked:
    """Order by score descending, then document descending, as trec_eval.

    precision: scores compare as 32-bit floats ("single", trec_eval 9) or 64 ("double")

    >>> rank([Scored("b", 1.0), Scored("a", 1.0), Scored("c", 2.0)])
    Ranked(documents=('c', 'b', 'a'), ties=2)
    """
    listed = list(results)
    scores = array({"single": "f", "double": "d"}[precision], [one.score for one in listed])
    ordered = sorted(zip(scores, (one.document for one in listed), strict=True), reverse=True)
    ties = sum(n for n in Counter(scores).values() if n > 1)
    return Ranked(first_slots(document for _, document in ordered), ties)


def rank_lists(lists: Lists, *, precision: str = "single") -> dict[str, Ranked]:
    """Return every query's list in rank order."""
    return {query: rank(results, precision=precision) for query, results in lists.items()}


def first_slots(documents: Iterable[str]) -> tuple[str | None, ...]:
    """Return the documents with every repeat blanked: the first counts, the slot stays.

    >>> first_slots(["a", "b", "a"])
    ('a', 'b', None)
    """
    seen: set[str] = set()
    slots: list[str | None] = []
    for document in documents:
        slots.append(None if document in seen else document)
        seen.add(document)
    return tuple(slots)


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


def quick_to_bound(unjudged: Iterable[int], top: int) -> bool:
    """Tell whether the intervals of queries with so many open documents take no time to find."""
    ways = (math.comb(count + top, top) for count in unjudged)
    return all(total <= _CHEAP_COMPLETIONS for total in accumulate(ways))


def pool_depth(measures: Iterable[Measure]) -> int | None:
    """Return how deep unjudged results belong to the pool: the deepest cutoff asked for.

    None is the whole list: for nDCG without a cutoff, and where no measure has one.

    >>> pool_depth([Measure("nDCG", 10), Measure("RR")])
    10
    """
    cutoffs = [m.k for m in measures if m.k is not None]
    whole = not cutoffs or Measure("nDCG") in measures
    return None if whole else max(cutoffs)


def scale_top(
    highest_grades: Iterable[int], *, grade_max: int | None, gain: str, intervals: bool
) -> int:
    """Return the top of the scale: as asked, else 3 or the highest grade above it.

    Raises UsageError where the qrels go beyond the scale, or beyond what can be worked out.
    """
    highest = max(highest_grades, default=0)
    if grade_max is not None and highest > grade_max:
        raise UsageError(f"the qrels hold grade {highest}, above --grade-max {grade_max}")
    if highest > _TOP and (intervals or gain == "exponential"):
        raise UsageError(
            f"the qrels hold grade {highest}: exponential gain and intervals need a scale of "
            f"at most 0..{_TOP}"
        )
    return max(highest, GRADE_MAX) if grade_max is None else grade_max


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
