"""Lists in rank order: by score, then by document, as trec_eval ranks."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from judge.measures.trec import Lists, Scored


@dataclass(frozen=True, slots=True)
class Ranked:
    """A list in rank order; None where a document stands again.

    ties: results that share their score with another one
    failed: the system gave an error for this query: the list could have been anything
    """

    documents: tuple[str | None, ...] = ()
    ties: int = 0
    failed: bool = False


def rank(results: Iterable[Scored], *, precision: str = "single") -> Ranked:
    """Order by score descending, then document descending, as trec_eval.

    precision: scores compare as 32-bit floats ("single", trec_eval 9) or 64 ("double")

    >>> rank([Scored("b", 1.0), Scored("a", 1.0), Scored("c", 2.0)])
    Ranked(documents=('c', 'b', 'a'), ties=2, failed=False)
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
