"""Correct a mean of the judge's values with the few values people gave, and say how sure.

The unit is a query (or a query's difference of two runs): `judge` holds its value for every
unit, `human` the value from people's grades where there is one. The correction is the mean
of human minus judge over the labelled units, so the units must have been *drawn*: labels
chosen because they looked wrong correct nothing, whatever their number.

A query's weight enters by scaling its values with w / mean(w) first.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from judge.statistics.estimate import Estimate
from judge.statistics.signs import FEWEST_DIFFERENCES
from judge.statistics.strata import realised_design
from judge.statistics.student import t_quantile
from judge.statistics.weights import shares_of

FEWEST_LABELLED = 5
"""Below this many labelled units no corrected value is given."""

FEWEST_APART, MOST_APART, SHARE_APART = 6, 30, 0.75
"""How many labelled units must differ from the rest: this share of them, at least six (or all,
of fewer than six), at most thirty. Where many are alike, rare ones decide, and an interval
from few labels misses them (measured in docs/statistics.md)."""

FEWEST_OF_TRAFFIC = 30
"""Fewer labelled queries of traffic give no interval if no value of any lies below 0, or none
above: a mean of one run, whose values may crowd near 1 and hide the rare low ones."""

_ROUNDING = 1e-12

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Correction:
    """A corrected mean beside what the judge or the labels alone would say.

    estimate: the corrected mean with its interval, or None and the reason
    se: its standard error; 0 where every unit is labelled
    judge_weight: how much of the judge's values is used; 0 is labels alone
    judge_mean: mean of the judge's values over all units, uncorrected
    human_only: mean of the labelled units, the judge ignored, with an interval where a difference
        of two runs may have one
    notes: what the design made it necessary to assume
    """

    method: str
    estimate: Estimate
    se: float | None
    judge_weight: float
    judge_mean: float
    human_only: Estimate
    labelled: int
    units: int
    notes: tuple[str, ...] = ()


def difference_estimator(
    judge: Sequence[float],
    human: Sequence[float | None],
    *,
    strata: Sequence[Hashable] = (),
    chances: Sequence[float] = (),
    of_traffic: bool = False,
    fewest: int = FEWEST_LABELLED,
) -> Correction:
    """Correct the mean of a *fixed* set of units, as a benchmark's queries are.

    strata, chances: of every unit, as `strata.realised_design` takes them

    mean(judge) + mean(human - judge), its error only from the units not labelled: with all
    of them labelled it is the human mean, exactly (Cochran 1977, ch. 7). Of traffic, whose
    sample the units are, the spread of the units themselves comes on top.
    """
    all_judge, labelled = np.asarray(judge, dtype=np.float64), _labelled(human)
    n, units = len(labelled), len(all_judge)
    y = np.array([human[i] for i in labelled], dtype=np.float64)
    if not n:
        none = _t_interval(0.0, None, (), n=0, fewest=fewest)
        return Correction("difference", none, None, 1.0, _mean(all_judge), none, 0, units)
    design = realised_design(labelled, units=units, strata=strata, chances=chances)
    traffic = design.spread(y) / units if of_traffic else 0.0

    def of(values: Array, offset: float) -> tuple[Estimate, float | None]:
        variance, value = design.variance(values), offset + design.mean(values)
        se = None if variance is None else math.sqrt(variance + traffic)
        complete = n == units and not of_traffic
        return (
            _t_interval(
                value, se, values, n=n, fewest=fewest, df=design.degrees, complete=complete
            ),
            se,
        )

    corrected, se = of(y - all_judge[labelled], _mean(all_judge))
    found = Correction(
        "difference" if design.is_simple else "stratified difference",
        corrected,
        se,
        1.0,
        _mean(all_judge),
        _alone(of(y, 0.0)[0], y),
        n,
        units,
        design.notes,
    )
    return _held_back(found, all_judge, y) if of_traffic else found


def prediction_powered(
    judge: Sequence[float],
    human: Sequence[float | None],
    *,
    judge_weight: float | None = None,
    fewest: int = FEWEST_LABELLED,
) -> Correction:
    """Correct the mean of the *traffic* that all units are a random sample of (PPI++).

    judge_weight: lambda in [0, 1]; None takes the one that makes the interval narrowest, 1 is
    plain PPI, 0 the labels alone (Angelopoulos et al. 2023, arXiv 2311.01453). A lambda chosen
    by the units that it then corrects would make them look better than they are: each labelled
    unit gets the one that the others choose, and all moments have n - 1 below.
    """
    all_judge, labelled = np.asarray(judge, dtype=np.float64), _labelled(human)
    n, units = len(labelled), len(all_judge)
    y, f = np.array([human[i] for i in labelled], dtype=np.float64), all_judge[labelled]
    rest = np.delete(all_judge, labelled)
    if not len(rest):
        weights = np.zeros(n)
    elif judge_weight is None:
        weights = np.array([_weight_without(i, y, f, rest) for i in range(n)])
    else:
        weights = np.full(n, judge_weight)
    weight = _mean(weights)
    rest_error = weight * _standard_error(rest) if len(rest) > 1 else 0.0
    # Around the mean of the rest, so that a weight moves a unit by what it is unusual.
    rectified = y - weights * (f - (_mean(rest) if len(rest) else 0.0))
    se = math.hypot(rest_error, _standard_error(rectified)) if n > 1 else None
    alone = _standard_error(y) if n > 1 else None
    found = Correction(
        "ppi++",
        _t_interval(_mean(rectified), se, rectified, n=n, fewest=fewest),
        se,
        weight,
        _mean(all_judge),
        _alone(_t_interval(_mean(y), alone, y, n=n, fewest=fewest), y),
        n,
        units,
    )
    return _held_back(found, all_judge, y)


def labels_needed(spread: float, *, half_width: float) -> int:
    """Return how many labels bring a 95% interval down to +- half_width.

    spread: standard deviation of human minus judge

    >>> labels_needed(0.10, half_width=0.02)
    97
    """
    return math.ceil((1.96 * spread / half_width) ** 2)


def effective_n(weights: Sequence[float]) -> float:
    """Return Kish's effective sample size of weighted units: (sum w)^2 / sum w^2."""
    shares = shares_of(len(weights), weights)
    return 1.0 / math.fsum(share * share for share in shares) if shares else 0.0


def _labelled(human: Sequence[float | None]) -> list[int]:
    return [index for index, value in enumerate(human) if value is not None]


def _mean(values: Array) -> float:
    return float(values.mean()) if len(values) else 0.0


def _standard_error(values: Array) -> float:
    return float(values.std(ddof=1)) / math.sqrt(len(values))


def _weight_without(left_out: int, y: Array, f: Array, rest: Array) -> float:
    """Return the lambda in [0, 1] that the other labelled units find best; 0: the judge is no help.

    It minimises lambda^2 var(f) / N + var(y - lambda f) / n.
    """
    y, f = np.delete(y, left_out), np.delete(f, left_out)
    spread = float(np.concatenate([f, rest]).var(ddof=1)) if len(f) + len(rest) > 1 else 0.0
    if len(y) < 2 or spread == 0.0:
        return 0.0
    covariance = float((y - y.mean()) @ (f - f.mean())) / (len(y) - 1)
    return min(1.0, max(0.0, covariance / ((1.0 + len(y) / len(rest)) * spread)))


def _held_back(found: Correction, judge: Array, people: Array) -> Correction:
    """Return a correction of traffic without intervals where too few labels stand behind them."""
    values = np.concatenate([judge, people])
    if found.labelled >= FEWEST_OF_TRAFFIC or values.min(initial=0.0) < 0.0 < values.max():
        return found
    reason = (
        f"CI n/a: {found.labelled} labelled, traffic whose values all lie on one side of 0"
        f" takes {FEWEST_OF_TRAFFIC}"
    )

    def bare(estimate: Estimate) -> Estimate:
        return estimate if estimate.lo is None else Estimate(estimate.value, reason=reason)

    return replace(found, estimate=bare(found.estimate), human_only=bare(found.human_only))


def _t_interval(
    value: float,
    se: float | None,
    values: Sequence[float] | Array,
    *,
    n: int,
    fewest: int,
    df: int | None = None,
    complete: bool = False,
) -> Estimate:
    """Return value +- t se, or the reason why that would claim too much.

    values: of the labelled units, whose spread the error is made of
    complete: every unit is labelled, so that the value is what it estimates
    """
    if complete:
        return Estimate(value, value, value)
    if n < fewest:
        return Estimate(None, reason=f"{n} labelled, at least {fewest} are needed")
    apart = _apart(values)
    if se is None or not apart:
        return Estimate(value, reason=f"no spread over {n} labelled: no interval to build on it")
    if apart < (least := _least_apart(n)):
        reason = f"only {apart} of {n} labelled differ from the rest: an interval takes {least}"
        return Estimate(value, reason=reason)
    reach = t_quantile(0.975, df=df or n - 1) * se
    return Estimate(value, value - reach, value + reach)


def _alone(estimate: Estimate, values: Array) -> Estimate:
    """Return a mean of labels alone without an interval where too few units are not 0."""
    differing = int(np.count_nonzero(np.abs(values) > _ROUNDING))
    if estimate.lo is None or estimate.lo == estimate.hi or differing >= FEWEST_DIFFERENCES:
        return estimate
    reason = f"only {differing} of {len(values)} labelled are not 0: no interval to build on it"
    return Estimate(estimate.value, reason=reason)


def _least_apart(n: int) -> int:
    """Return how many of n labelled units must differ from the commonest value."""
    return min(n, MOST_APART, max(FEWEST_APART, math.ceil(SHARE_APART * n)))


def _apart(values: Sequence[float] | Array) -> int:
    """Return how many values differ from the commonest one; all, where none occurs twice."""
    # Rounded, because equal scores come out of different sums.
    commonest = max(Counter(np.round(values, 12).tolist()).values())
    return len(values) - commonest if commonest > 1 else len(values)
