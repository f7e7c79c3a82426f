"""A row's pool as people grade it: what they say in place of the judge, and what he never saw."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeAlias

from judge.evidence.pool import QueryPool
from judge.formats.labels import Label
from judge.grades import Judgment, Source

LabelsByQuery: TypeAlias = Mapping[str, Mapping[str, list[Label]]]
"""query -> chunk -> its labels"""


def labels_by_query(labels: Iterable[Label]) -> LabelsByQuery:
    """Return labels by the name of their query, then by chunk."""
    found: dict[str, dict[str, list[Label]]] = {}
    for label in labels:
        found.setdefault(label.query_id, {}).setdefault(label.id, []).append(label)
    return found


def labels_of(pool: QueryPool, by_query: LabelsByQuery) -> Mapping[str, list[Label]]:
    """Return the labels of a pool's query by chunk; a label names it by id, key or text."""
    names = (pool.query.query_id, pool.query.key, pool.query.text)
    return next((by_query[name] for name in names if name is not None and name in by_query), {})


def needs_label(judgment: Judgment) -> bool:
    """Tell whether only a judge, an earlier file or nobody has graded this.

    A file of grades does not say who gave them, and holds a judge's as often as not.
    """
    return judgment.is_open or judgment.source in (Source.JUDGE, Source.PRIOR)


def relabelled(pool: QueryPool, given: Mapping[str, list[Label]]) -> QueryPool | None:
    """Return the pool under people's grades, or None where they left out a chunk of it.

    Chunks that people graded and no run returned far enough up are part of what people find
    best, so they join the pool. Raters who disagree count by their lower median.
    """
    judgments = []
    for id, judgment in zip(pool.ids, pool.judgments, strict=True):
        if id in given:
            judgment = by_people(given[id])
        elif needs_label(judgment):
            return None
        judgments.append(judgment)
    outside = _outside(pool, given)
    # People outrank an order from logs; one that they contradict would narrow their grades.
    return replace(
        pool,
        ids=(*pool.ids, *outside),
        judgments=(*judgments, *(by_people(given[id]) for id in outside)),
        asks=(*pool.asks, *(() for _ in outside)) if pool.asks else (),
        orders=(),
    )


def by_people(labels: Iterable[Label]) -> Judgment:
    """Return the lower median of what people gave, as a judgment of theirs."""
    grades = sorted(label.grade for label in labels)
    grade = grades[(len(grades) - 1) // 2]
    return Judgment(grade, grade, Source.HUMAN)


def _outside(pool: QueryPool, given: Mapping[str, list[Label]]) -> list[str]:
    """Return the labelled chunks that are no unit of the pool, nor part of a document that is."""
    document = {
        result.id: result.document_id
        for row in pool.query.rows
        for result in (row.results if row else ())
    }
    units = set(pool.ids)
    return [id for id in given if id not in units and document.get(id) not in units]
