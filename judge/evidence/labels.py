"""Labels as evidence: what people gave narrows like a golden; where they differ, to an interval."""

from __future__ import annotations

from collections.abc import Iterable

from judge.formats.labels import Label
from judge.grades import Source
from judge.run import KnownGrade, Notice


def known_labels(labels: Iterable[Label]) -> tuple[KnownGrade, ...]:
    """Return one known grade a (query, chunk): from the lowest to the highest that was given.

    People who disagree are no conflict: the truth lies somewhere between them.

    >>> [(g.lo, g.hi, g.detail) for g in known_labels([Label("q", "a", 1, "ann"),
    ...                                                Label("q", "a", 2, "ben")])]
    [(1, 2, 'ann 1, ben 2')]
    """
    given: dict[tuple[str, str], list[Label]] = {}
    for label in labels:
        given.setdefault((label.query_id, label.id), []).append(label)
    return tuple(
        KnownGrade(
            id=id,
            lo=min(label.latest for label in of_chunk),
            hi=max(label.latest for label in of_chunk),
            query_id=query_id,
            source=Source.HUMAN,
            detail=_who(of_chunk),
        )
        for (query_id, id), of_chunk in given.items()
    )


def disagreements(labels: Iterable[KnownGrade]) -> tuple[Notice, ...]:
    """Return what to say of chunks on which people differ: their range is all that is known."""
    apart = [label for label in labels if label.lo < label.hi]
    if not apart:
        return ()
    first = apart[0]
    are = "chunk has" if len(apart) == 1 else "chunks have"
    text = f"{len(apart)} {are} labels that differ; only their range is known"
    where = f" (first: {first.query_id} {first.id}: {first.detail})"
    return (Notice("labels_differ", len(apart), text + where),)


def _who(labels: list[Label]) -> str:
    if len(labels) == 1:
        return labels[0].rater or ""
    return ", ".join(f"{label.rater or 'somebody'} {label.latest}" for label in labels)
