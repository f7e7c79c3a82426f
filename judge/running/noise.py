"""How much a system differs from itself when it is asked the same again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from judge.run import Run


@dataclass(frozen=True, slots=True)
class Noise:
    """How repeated runs of one system differ in their top k.

    n_queries: queries answered in every repeat
    n_changed: those of them whose top k was not the same list each time
    overlap: mean share of a top k that the first repeat and another have in common, in [0, 1]
    """

    k: int
    n_queries: int
    n_changed: int
    overlap: float


def noise(repeats: Sequence[Run], *, k: int) -> Noise:
    """Return how the repeats differ; rows that failed in one of them are left out.

    An empty list agrees with an empty list. With one repeat there is no noise.
    """
    lists = [
        [tuple(result.id for result in row.results[:k]) for row in rows]
        for rows in zip(*(run.rows for run in repeats), strict=True)
        if all(row.error is None for row in rows)
    ]
    shares = [_overlap(of_query[0], other) for of_query in lists for other in of_query[1:]]
    return Noise(
        k=k,
        n_queries=len(lists),
        n_changed=sum(len(set(of_query)) > 1 for of_query in lists),
        overlap=sum(shares) / len(shares) if shares else 1.0,
    )


def _overlap(a: tuple[str, ...], b: tuple[str, ...]) -> float:
    longest = max(len(a), len(b))
    # Slot for slot: a list that repeats an id still agrees with itself.
    return (Counter(a) & Counter(b)).total() / longest if longest else 1.0
