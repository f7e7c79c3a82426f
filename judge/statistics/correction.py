"""Correct a mean of the judge's values with the few values people gave, and say how sure.

The unit is a query (or a query's difference of two runs): `judge` holds its value for every
unit, `human` the value from people's grades where there is one. The correction is the mean
of human minus judge over the labelled units, so the units must have been *drawn*: labels
chosen because they looked wrong correct nothing, whatever their number.

A query's weight enters by scaling its values with w / mean(w) first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from judge.statistics.estimate import Estimate
from judge.statistics.student import t_quantile

FEWEST_LABELLED = 5
"""Below this many labelled units no corrected value is given."""

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Correction:
    """A corrected mean beside what the judge or the labels alone would say.

    estimate: the corrected mean with its interval, or None and the reason
    se: its standard error; 0 where every unit is labelled
    judge_weight: how much of the judge's values is used; 0 is labels alone
    judge_mean: mean of the judge's values over all units, uncorrected
    human_only: mean of the labelled units with its interval, the judge ignored
    """

    method: str
    estimate: Estimate
    se: float | None
    judge_weight: float
    judge_mean: float
    human_only: Estimate
    labelled: int
    units: int


def difference_estimator(
    judge: Sequence[float], human: Sequence[float | None], *, fewest: int = FEWEST_LABELLED
) -> Correction:
    """Correct the mean of a *fixed* set of units, as a benchmark's queries are.

    mean(judge) + mean(human - judge), its error only from the units not labelled: with all
    of them labelled it is the human mean, exactly (Cochran 1977, ch. 7).
    """
    all_judge, labelled = np.asarray(judge, dtype=np.float64), _labelled(human)
    n, units = len(labelled), len(all_judge)
    y = np.array([human[i] for i in labelled], dtype=np.float64)
    sampled = 1.0 - n / units if units else 0.0

    def of(values: Array, offset: float) -> tuple[Estimate, float | None]:
        se = _standard_error(values, ddof=1) * math.sqrt(sampled) if n > 1 else None
        value, complete = offset + _mean(values), n == units > 0
        return _t_interval(value, se, n=n, fewest=fewest, complete=complete), se

    corrected, se = of(y - all_judge[labelled], _mean(all_judge))
    return Correction("difference", corrected, se, 1.0, _mean(all_judge), of(y, 0.0)[0], n, units)


def prediction_powered(
    judge: Sequence[float],
    human: Sequence[float | None],
    *,
    judge_weight: float | None = None,
    fewest: int = FEWEST_LABELLED,
) -> Correction:
    """Correct the mean of the *traffic* that all units are a random sample of (PPI++).

    judge_weight: lambda in [0, 1]; None takes the one that makes the interval narrowest, 1 is
    plain PPI, 0 the labels alone (Angelopoulos et al. 2023, arXiv 2311.01453). Moments as in
    their ppi-python.
    """
    all_judge, labelled = np.asarray(judge, dtype=np.float64), _labelled(human)
    n, units = len(labelled), len(all_judge)
    y, f = np.array([human[i] for i in labelled], dtype=np.float64), all_judge[labelled]
    rest = np.delete(all_judge, labelled)
    weight = _best_weight(y, f, all_judge, len(rest)) if judge_weight is None else judge_weight
    rest_error = weight * _standard_error(rest, ddof=0) if len(rest) else 0.0
    offset = weight * (_mean(rest) if len(rest) else _mean(f))
    rectifier = y - weight * f
    se = math.hypot(rest_error, _standard_error(rectifier, ddof=0)) if n > 1 else None
    alone = _standard_error(y, ddof=0) if n > 1 else None
    return Correction(
        "ppi++",
        _t_interval(offset + _mean(rectifier), se, n=n, fewest=fewest),
        se,
        weight,
        _mean(all_judge),
        _t_interval(_mean(y), alone, n=n, fewest=fewest),
        n,
        units,
    )


def inverse_probability(
    judge: Sequence[float],
    human: Sequence[float | None],
    pi: Sequence[float],
    *,
    fewest: int = FEWEST_LABELLED,
) -> Correction:
    """Correct the mean of a fixed set whose units were labelled with unequal chances.

    pi: the probability in (0, 1], fixed before anyone looked, with which each unit was drawn.
    mean(judge) + sum(xi/pi (human - judge)) / N, unbiased for any pi; its variance is the
    Poisson design's (Horvitz & Thompson 1952; Zrnic & Candes 2024). The judge's values all 0
    give the plain Horvitz-Thompson mean.
    """
    assert all(0.0 < p <= 1.0 for p in pi), "a sampling probability lies in (0, 1]"
    all_judge, labelled = np.asarray(judge, dtype=np.float64), _labelled(human)
    n, units = len(labelled), len(all_judge)
    chance = np.asarray(pi, dtype=np.float64)[labelled]
    y = np.array([human[i] for i in labelled], dtype=np.float64)
    complete = n == units > 0 and bool((chance == 1.0).all())

    def of(values: Array, offset: float) -> tuple[Estimate, float]:
        total = float((values / chance).sum())
        se = math.sqrt(float(((1.0 - chance) * (values / chance) ** 2).sum())) / units
        value = offset + total / units
        return _t_interval(value, se, n=n, fewest=fewest, complete=complete), se

    corrected, se = of(y - all_judge[labelled], _mean(all_judge))
    return Correction(
        "inverse probability", corrected, se, 1.0, _mean(all_judge), of(y, 0.0)[0], n, units
    )


def labels_needed(spread: float, *, half_width: float) -> int:
    """Return how many labels bring a 95% interval down to +- half_width.

    spread: standard deviation of human minus judge

    >>> labels_needed(0.10, half_width=0.02)
    97
    """
    return math.ceil((1.96 * spread / half_width) ** 2)


def effective_n(weights: Sequence[float]) -> float:
    """Return Kish's effective sample size of weighted units: (sum w)^2 / sum w^2."""
    total, squares = math.fsum(weights), math.fsum(w * w for w in weights)
    return total * total / squares if squares else 0.0


def _labelled(human: Sequence[float | None]) -> list[int]:
    return [index for index, value in enumerate(human) if value is not None]


def _mean(values: Array) -> float:
    return float(values.mean()) if len(values) else 0.0


def _standard_error(values: Array, *, ddof: int) -> float:
    return float(values.std(ddof=ddof)) / math.sqrt(len(values))


def _best_weight(y: Array, f: Array, all_judge: Array, rest: int) -> float:
    """Return the lambda in [0, 1] that minimises the variance; 0 where the judge is no help."""
    spread = float(all_judge.var(ddof=1)) if len(all_judge) > 1 else 0.0
    if rest == 0 or len(y) == 0 or spread == 0.0:
        return 0.0
    covariance = float(((y - y.mean()) * (f - f.mean())).mean())
    return min(1.0, max(0.0, covariance / ((1.0 + len(y) / rest) * spread)))


def _t_interval(
    value: float, se: float | None, *, n: int, fewest: int, complete: bool = False
) -> Estimate:
    """Return value +- t_{n-1} se, or the reason why that would claim too much.

    complete: every unit is labelled and counted once, so that the value is what it estimates
    """
    if complete:
        return Estimate(value, value, value)
    if n < fewest:
        return Estimate(None, reason=f"{n} labelled, at least {fewest} are needed")
    assert se is not None, "n >= fewest >= 2 has a standard error"
    if se == 0.0:
        return Estimate(value, reason=f"no spread over {n} labelled: no interval to build on it")
    reach = t_quantile(0.975, df=n - 1) * se
    return Estimate(value, value - reach, value + reach)
