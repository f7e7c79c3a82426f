"""Measures of known answers, from the ranks where they stand: one small formula each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from judge.measures.names import Measure
from judge.measures.ndcg import discount


def evaluate(measure: Measure, ranks: Sequence[int | None]) -> float:
    """Return a golden measure in [0, 1].

    ranks: for each expected id the 1-based rank of its first slot, None where it was not
    returned; at least one. Where any of the expected ids answers, pass the best one alone.

    >>> evaluate(Measure("ContextPrecision", 3), [1, 3])        # (1/1 + 2/3) / 2
    0.8333333333333333
    >>> evaluate(Measure("R", 5), [2, None]), evaluate(Measure("RR"), [4, 2])
    (0.5, 0.5)
    """
    assert ranks, "a question without an answer has no golden measure"
    k = measure.k
    found = sorted(rank for rank in ranks if rank is not None and (k is None or rank <= k))
    return _FORMULAS[measure.name](found, len(ranks), k) if found else 0.0


# Each takes the ranks found within the cutoff (ascending, at least one), the number of
# expected ids, and the cutoff.
def _hit(found: list[int], expected: int, k: int | None) -> float:
    return 1.0


def _recall(found: list[int], expected: int, k: int | None) -> float:
    return len(found) / expected


def _reciprocal_rank(found: list[int], expected: int, k: int | None) -> float:
    return 1.0 / found[0]


def _context_precision(found: list[int], expected: int, k: int | None) -> float:
    """As RAGAS, without its epsilon: a perfect list is exactly 1."""
    return _sum_of_precisions(found) / len(found)


def _average_precision(found: list[int], expected: int, k: int | None) -> float:
    """As trec_eval's map and map_cut: what was not found counts in the divisor."""
    return _sum_of_precisions(found) / expected


def _binary_ndcg(found: list[int], expected: int, k: int | None) -> float:
    ideal = expected if k is None else min(expected, k)
    return sum(map(discount, found)) / sum(map(discount, range(1, ideal + 1)))


def _sum_of_precisions(found: list[int]) -> float:
    return sum(n / rank for n, rank in enumerate(found, start=1))


_FORMULAS: Mapping[str, Callable[[list[int], int, int | None], float]] = MappingProxyType(
    {
        "Hit": _hit,
        "R": _recall,
        "RR": _reciprocal_rank,
        "ContextPrecision": _context_precision,
        "AP": _average_precision,
        "binary_nDCG": _binary_ndcg,
    }
)
