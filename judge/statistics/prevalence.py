"""Correct how often each grade occurs, from a table of what people say at each judge grade."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from judge.statistics.estimate import Estimate
from judge.statistics.student import t_quantile

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


@dataclass(frozen=True, slots=True)
class LabelledChunks:
    """Chunks that the judge and people graded, aligned.

    queries: an index of each chunk's query; judge: its grade; weights: 1/pi
    people: (chunks, grades), how people's grades of a chunk are spread, adding up to 1
    """

    queries: NDArray[np.int64]
    judge: NDArray[np.int64]
    people: NDArray[np.float64]
    weights: NDArray[np.float64]


def post_stratified_shares(
    chunks: LabelledChunks, sizes: Sequence[int]
) -> tuple[tuple[float, float, float], ...]:
    """Return share, lo and hi of each human grade, had people graded all that the judge did.

    sizes: how many chunks the judge gave each grade 0..G; each that occurs has a label

    Within each of the judge's grades people's are a sample (`_wilson`); the limits are put
    together by how far each lies from its share (MOVER; Zou & Donner 2008, Yan & Su 2010), so
    that a grade that no label shows is not claimed to be absent. Labels that stand in few
    queries count for as many as they are worth (`_design_effect`).
    """
    total, n = sum(sizes), len(chunks.judge)
    part = np.zeros((n, len(sizes)))  # of each labelled chunk's stratum: its weight in it
    for grade, size in enumerate(sizes):
        of_grade = np.where(chunks.judge == grade, chunks.weights, 0.0)
        part[:, grade] = of_grade / of_grade.sum() if size else 0.0
    by_grade = part.T @ chunks.people
    whole = np.array(sizes) / total
    effect = _design_effect(chunks, part @ whole, by_grade)
    quantile = t_quantile(0.975, df=max(1, len(np.unique(chunks.queries)) - 1))
    shares = whole @ by_grade
    below, above = np.zeros(len(shares)), np.zeros(len(shares))
    for grade, size in enumerate(sizes):
        drawn = int((chunks.judge == grade).sum())
        if not size or drawn >= size:
            continue  # nothing of this grade is left to chance
        worth = 1.0 / float((part[:, grade] ** 2).sum()) / effect / (1.0 - drawn / size)
        lo, hi = _wilson(by_grade[grade], worth, quantile)
        below += (whole[grade] * (by_grade[grade] - lo)) ** 2
        above += (whole[grade] * (hi - by_grade[grade])) ** 2
    lows = np.maximum(0.0, shares - np.sqrt(below))
    highs = np.minimum(1.0, shares + np.sqrt(above))
    return tuple(zip(shares.tolist(), lows.tolist(), highs.tolist(), strict=True))


def _design_effect(
    chunks: LabelledChunks, counted: NDArray[np.float64], by_grade: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return by what each share's variance grows because chunks of one query go together.

    counted: what each labelled chunk counts for in the shares
    At least 1, and at least what all shares together say: a rare grade tells little by itself.
    """
    off = counted[:, None] * (chunks.people - by_grade[chunks.judge])
    queries = int(chunks.queries.max()) + 1
    together = np.zeros((queries, off.shape[1]))
    np.add.at(together, chunks.queries, off)
    queries_seen = len(np.unique(chunks.queries))
    grown = (together**2).sum(0) * queries_seen / max(1, queries_seen - 1)
    apart = (off**2).sum(0)
    if not apart.any():
        return np.ones(len(apart))
    alone = np.where(apart > 0.0, grown / np.where(apart > 0.0, apart, 1.0), 0.0)
    return np.asarray(np.maximum(max(1.0, float(grown.sum() / apart.sum())), alone))


def _wilson(
    share: NDArray[np.float64], n: NDArray[np.float64], z: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return Wilson's limits of shares seen among n (Wilson 1927)."""
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return np.minimum(share, middle - reach), np.maximum(share, middle + reach)


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
