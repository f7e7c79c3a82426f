"""Is the change real, or would other queries say otherwise? Paired tests on differences.

The t test is the best calibrated and among the most powerful for such differences
(Smucker, Allan & Carterette 2007; Urbano, Lima & Hanjalic 2019); the sign-flip test
beside it assumes nothing about their distribution. Both speak of *other queries*; what
open grades could still change is the business of `measures.bounds` and `noninferiority`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from judge.statistics.student import t_quantile, t_tail

POWER = 0.8
ALPHA = 0.05
EXACT_FLIPS = 16
"""With at most this many non-zero differences all 2^n sign flips are tried."""

FLIP_SAMPLES = 10_000
_ROUNDING = 1e-9
_MODERATE = 500  # in powers of two


@dataclass(frozen=True, slots=True)
class Moments:
    """A weighted mean of differences and how well n queries determine it.

    sd: standard deviation of one difference; se: standard error of the mean; both None
        for a single query (or where one query has all the weight)
    df: degrees of freedom of se, n - 1 for equal weights
    """

    n: int
    mean: float
    sd: float | None
    se: float | None
    df: float


@dataclass(frozen=True, slots=True)
class PairedTest:
    """Paired t test of "the mean difference is 0", two-sided, with its 95% interval.

    t, p, lo, hi, effect_size, detectable: None where one query cannot tell
    effect_size: mean / sd corrected for small n (Hedges)
    detectable: the true difference that this many queries would find with 80% power
    """

    moments: Moments
    t: float | None
    p: float | None
    lo: float | None
    hi: float | None
    effect_size: float | None
    detectable: float | None

    @property
    def mean(self) -> float:
        """Return the weighted mean difference."""
        return self.moments.mean


@dataclass(frozen=True, slots=True)
class SignFlip:
    """Sign-flip (randomisation) test of "each difference could as well have had the other sign".

    p: two-sided; p_greater: one-sided, for "the mean is above 0"
    smallest: the smallest two-sided p that so many non-zero differences can give
    exact: all flips were tried, none drawn
    """

    p: float
    p_greater: float
    smallest: float
    exact: bool


def moments(differences: Sequence[float], *, weights: Sequence[float] | None = None) -> Moments:
    """Return the weighted mean, its standard error and degrees of freedom; n >= 1.

    Weights say how much a query counts, not how often it was seen. With shares
    p_i = w_i/Σw the variance of one difference is Σp(d-m)² / (1 - Σp²), unbiased for any
    weights, and se² = that times Σp²; n_eff = 1/Σp² (Kish) takes the place of n. Equal
    weights give the usual formulas.
    """
    assert differences, "a mean needs at least one difference"
    shares = shares_of(len(differences), weights)
    mean = math.fsum(p * d for p, d in zip(shares, differences, strict=True))
    spread = math.fsum(p * (d - mean) ** 2 for p, d in zip(shares, differences, strict=True))
    squares = math.fsum(p * p for p in shares)
    if 1.0 - squares <= _ROUNDING:
        return Moments(len(differences), mean, None, None, 0.0)
    sd = math.sqrt(spread / (1.0 - squares))
    return Moments(len(differences), mean, sd, sd * math.sqrt(squares), df=1.0 / squares - 1.0)


def shares_of(count: int, weights: Sequence[float] | None) -> list[float]:
    """Return weights that add up to 1; equal ones where none are given."""
    if weights is None:
        return [1.0 / count] * count
    moderate = moderate_weights(weights)
    total = math.fsum(moderate)
    return [weight / total for weight in moderate]


def moderate_weights(weights: Sequence[float]) -> Sequence[float]:
    """Return weights in the same proportions whose sums and products stay within a double's reach.

    They are multiplied by a power of two, which changes no digit, and only where they must be:
    1e308 twice is beyond every double, and 5e-324 times a half is 0.
    """
    exponent = math.frexp(max(weights))[1]
    if abs(exponent) <= _MODERATE:
        return weights
    return [math.ldexp(weight, -exponent) for weight in weights]


def paired_test(
    differences: Sequence[float], *, weights: Sequence[float] | None = None
) -> PairedTest:
    """Return the paired t test with a 95% interval; all differences 0 give p = 1."""
    found = moments(differences, weights=weights)
    if found.sd is None or found.se is None:
        return PairedTest(found, None, None, None, None, None, None)
    if found.se <= _ROUNDING * max(abs(found.mean), 1e-3):
        same = abs(found.mean) <= _ROUNDING
        t, p, effect = (0.0, 1.0, 0.0) if same else (math.copysign(math.inf, found.mean), 0.0, None)
        return PairedTest(found, t, p, found.mean, found.mean, effect, 0.0)
    t = found.mean / found.se
    half = t_quantile(1.0 - ALPHA / 2, df=found.df) * found.se
    return PairedTest(
        moments=found,
        t=t,
        p=2.0 * t_tail(abs(t), df=found.df),
        lo=found.mean - half,
        hi=found.mean + half,
        effect_size=found.mean / found.sd * (1.0 - 3.0 / (4.0 * found.df - 1.0)),
        detectable=detectable(found.se),
    )


def sign_flip(
    differences: Sequence[float],
    *,
    weights: Sequence[float] | None = None,
    samples: int = FLIP_SAMPLES,
    seed: int = 0,
) -> SignFlip:
    """Return the sign-flip test of the (weighted) mean: exact for few queries, else sampled.

    A flip counts as extreme within a tolerance, because equal sums differ in their last
    bits. Zero differences change nothing and are not flipped. Sampled,
    p = (1 + hits)/(1 + samples), so it is never 0.
    """
    shares = shares_of(len(differences), weights) if differences else []
    terms = [p * d for p, d in zip(shares, differences, strict=True) if d != 0.0]
    smallest = min(1.0, 2.0 ** (1 - len(terms)))
    if not terms:
        return SignFlip(1.0, 1.0, 1.0, exact=True)
    observed = math.fsum(terms)
    slack = _ROUNDING * math.fsum(map(abs, terms))
    exact = len(terms) <= EXACT_FLIPS
    sums = _all_flips(terms) if exact else _drawn_flips(terms, samples, seed)
    both = sum(abs(total) >= abs(observed) - slack for total in sums)
    above = sum(total >= observed - slack for total in sums)
    extra = 0 if exact else 1
    count = len(sums) + extra
    return SignFlip((both + extra) / count, (above + extra) / count, smallest, exact)


def _all_flips(terms: Sequence[float]) -> list[float]:
    sums = [0.0]
    for term in terms:
        sums = [total + term for total in sums] + [total - term for total in sums]
    return sums


def _drawn_flips(terms: Sequence[float], samples: int, seed: int) -> list[float]:
    import numpy as np

    # Python's generator gives the same bits in every version; numpy's need not.
    drawn = random.Random(seed)  # noqa: S311
    width = (len(terms) + 7) // 8
    values = np.array(terms)
    sums: list[float] = []
    for start in range(0, samples, 1000):
        count = min(1000, samples - start)
        raw = np.frombuffer(drawn.randbytes(count * width), dtype=np.uint8)
        bits = np.unpackbits(raw.reshape(count, width), axis=1)[:, : len(terms)]
        sums += ((2.0 * bits - 1.0) @ values).tolist()
    return sums


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values adjusted for looking at all of them at once (Holm 1979), in their order.

    >>> holm([.004, .03, .02, .3, .012])
    [0.02, 0.06, 0.06, 0.3, 0.048]
    """
    adjusted = [1.0] * len(p_values)
    largest = 0.0
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    for rank, at in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[at]))
        adjusted[at] = largest
    return adjusted


def detectable(se: float) -> float:
    """Return the true difference found with 80% power at a two-sided .05, given the error.

    >>> round(detectable(.10 / 200 ** .5), 6)
    0.01981
    """
    normal = NormalDist()
    return (normal.inv_cdf(1.0 - ALPHA / 2) + normal.inv_cdf(POWER)) * se


def queries_to_detect(difference: float, *, sd: float) -> int:
    """Return how many queries a two-sided paired t test needs to find a true difference.

    sd: of one query's difference. Power 80%, by the normal approximation of the
    noncentral t distribution (Johnson & Welch 1940).

    >>> queries_to_detect(.02, sd=.10)
    199
    """
    low, high = 1, 2
    while _power(difference / sd, high) < POWER:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _power(difference / sd, middle) >= POWER else (middle, high)
    return high


def _power(effect: float, n: int) -> float:
    df = n - 1
    critical = t_quantile(1.0 - ALPHA / 2, df=df)
    centre = abs(effect) * math.sqrt(n) - critical * (1.0 - 1.0 / (4.0 * df))
    return NormalDist().cdf(centre / math.sqrt(1.0 + critical**2 / (2.0 * df)))


def queries_to_pass(margin: float, *, sd: float) -> int:
    """Return how many queries a gate needs to pass a change that changes nothing, 80% of the time.

    >>> queries_to_pass(.02, sd=.10), queries_to_pass(.02, sd=.15)
    (155, 348)
    """
    normal = NormalDist()
    z = normal.inv_cdf(1.0 - ALPHA) + normal.inv_cdf(POWER)
    return math.ceil((z * sd / margin) ** 2)
