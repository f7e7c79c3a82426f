"""Correct how often each grade occurs, from a table of what people say at each judge grade."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from judge.statistics.estimate import Estimate

Z95 = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True, slots=True)
class PostStratified:
    """The distribution of human grades that the judge's grades and the labels imply.

    shares: of each human grade 0..G, or None with the reason in `mean`
    expected: mean human grade at each judge grade; None where nothing was labelled
    mean: mean human grade with its interval
    """

    shares: tuple[float, ...] | None
    expected: tuple[float | None, ...]
    mean: Estimate
    se: float | None


def post_stratify(labelled: Sequence[Sequence[int]], sizes: Sequence[int]) -> PostStratified:
    """Correct a distribution of grades by strata of the judge's grade.

    labelled[g][h]: of the chunks the judge graded g, drawn at random, how many a human graded h
    sizes[g]: how many chunks the judge graded g in all, the labelled ones included

    Needs no assumption on prevalence and inverts nothing. A judge grade with chunks and no
    label makes it undefined; one label alone makes the interval undefined.
    """
    drawn = [sum(row) for row in labelled]
    expected = tuple(
        math.fsum(h * count for h, count in enumerate(row)) / n if n else None
        for row, n in zip(labelled, drawn, strict=True)
    )
    bare = [g for g, (n, size) in enumerate(zip(drawn, sizes, strict=True)) if size and not n]
    if bare or not sum(sizes):
        reason = f"no label of judge grade {bare[0]}" if bare else "the judge graded nothing"
        return PostStratified(None, expected, Estimate(None, reason=reason), None)
    total = sum(sizes)
    strata = [
        (size / total, [count / n for count in row], n, size)
        for row, n, size in zip(labelled, drawn, sizes, strict=True)
        if size
    ]
    shares = tuple(
        math.fsum(share * row[h] for share, row, _, _ in strata) for h in range(len(labelled[0]))
    )
    mean = math.fsum(h * share for h, share in enumerate(shares))
    variances = [_variance_of_mean(row, n, size) for _, row, n, size in strata]
    known = [variance for variance in variances if variance is not None]
    if len(known) < len(variances):
        reason = "a judge grade has a single label: no interval"
        return PostStratified(shares, expected, Estimate(mean, reason=reason), None)
    se = math.sqrt(math.fsum(share**2 * v for (share, *_), v in zip(strata, known, strict=True)))
    return PostStratified(shares, expected, _normal(mean, se), se)


def corrected_shares(tables: NDArray[np.float64], sizes: Sequence[int]) -> NDArray[np.float64]:
    """Return `post_stratify`'s shares for a stack of tables, human in rows, judge in columns.

    tables: (..., q, q) weights of the labelled chunks; the result is (..., q), NaN where a judge
    grade that occurs has no label.
    """
    occurs = np.asarray(sizes) > 0
    weights = np.asarray(sizes, dtype=np.float64)[occurs] / sum(sizes)
    labelled = tables[..., occurs]
    drawn = labelled.sum(-2, keepdims=True)
    by_grade = np.where(drawn > 0, labelled / np.where(drawn > 0, drawn, 1.0), np.nan)
    return np.asarray((by_grade * weights).sum(-1))


def expected_gains(
    labelled: Sequence[Sequence[int]], gain: Callable[[float], float]
) -> tuple[float | None, ...]:
    """Return E[gain(human grade)] at each judge grade, which is not the gain of the mean."""
    return tuple(
        math.fsum(gain(h) * count for h, count in enumerate(row)) / sum(row) if sum(row) else None
        for row in labelled
    )


def rogan_gladen(
    observed: tuple[int, int], *, sensitivity: tuple[int, int], specificity: tuple[int, int]
) -> Estimate:
    """Correct a yes/no rate for a judge that errs both ways (Rogan & Gladen 1978).

    observed: (judged yes, judged in all); sensitivity: (judged yes, of those a human calls yes);
    specificity: (judged no, of those a human calls no). The interval is the delta method's,
    clipped to [0, 1]. Refused where the judge is no better than chance.
    """
    for part, whole in (observed, sensitivity, specificity):
        if whole == 0:
            return Estimate(None, reason="nothing judged or nothing labelled on one side")
        assert 0 <= part <= whole, f"{part} of {whole} is no rate"
    p, tpr, tnr = (part / whole for part, whole in (observed, sensitivity, specificity))
    skill = tpr + tnr - 1.0
    if skill <= 0.0:
        return Estimate(None, reason="the judge is no better than chance: nothing to correct by")
    rate = min(1.0, max(0.0, (p + tnr - 1.0) / skill))
    variance = (
        p * (1.0 - p) / observed[1]
        + rate**2 * tpr * (1.0 - tpr) / sensitivity[1]
        + (1.0 - rate) ** 2 * tnr * (1.0 - tnr) / specificity[1]
    )
    interval = _normal(rate, math.sqrt(variance) / skill)
    assert interval.lo is not None and interval.hi is not None
    return Estimate(rate, max(0.0, interval.lo), min(1.0, interval.hi))


def _variance_of_mean(shares: Sequence[float], n: int, size: int) -> float | None:
    """Return the variance of a stratum's mean grade, its finite size counted."""
    if n == size:
        return 0.0
    if n == 1:
        return None
    mean = math.fsum(h * share for h, share in enumerate(shares))
    spread = math.fsum(share * (h - mean) ** 2 for h, share in enumerate(shares))
    return (1.0 - n / size) * spread / (n - 1)


def _normal(value: float, se: float) -> Estimate:
    return Estimate(value, value - Z95 * se, value + Z95 * se)
