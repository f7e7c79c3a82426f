"""Could each difference as well have had the other sign? The test behind "better" and "worse".

If nothing but chance made one system come out ahead in a row, the row's difference could as
well have had the other sign; p is the share of all 2^n choices of signs whose mean is at
least as far from 0. Nothing is assumed of the distribution of the differences.

While grades are open a row's difference is only known to lie in [lo, hi]. That the mean is
at least as large with other signs means that a sum of some rows' differences is at most 0;
such a sum rises with every difference in it. So the one-sided p is largest at the lowest
differences, and a p that holds in every completion needs no search.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from judge.statistics.weights import shares_of

ALPHA = 0.05
EXACT_FLIPS = 16
"""With at most this many non-zero differences all 2^n sign flips are tried."""

FEWEST_DIFFERENCES = 6
"""So many rows must differ, in every completion, before Student's interval of a difference is
printed. With five non-zero differences no sign-flip test reaches .05 either."""

FLIP_SAMPLES = 10_000
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class SignFlip:
    """Sign-flip (randomisation) test of "each difference could as well have had the other sign".

    p: two-sided; p_greater, p_less: one-sided, for "the mean is above 0" and "below 0"
    smallest: the smallest two-sided p that so many non-zero differences can give
    exact: all flips were tried, none drawn
    """

    p: float
    p_greater: float
    p_less: float
    smallest: float
    exact: bool


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
        return SignFlip(1.0, 1.0, 1.0, 1.0, exact=True)
    observed = math.fsum(terms)
    slack = _ROUNDING * math.fsum(map(abs, terms))
    exact = len(terms) <= EXACT_FLIPS
    sums = _all_flips(terms) if exact else _drawn_flips(terms, samples, seed)
    both = sum(abs(total) >= abs(observed) - slack for total in sums)
    above = sum(total >= observed - slack for total in sums)
    below = sum(total <= observed + slack for total in sums)
    extra = 0 if exact else 1
    count = len(sums) + extra
    return SignFlip(
        p=(both + extra) / count,
        p_greater=(above + extra) / count,
        p_less=(below + extra) / count,
        smallest=smallest,
        exact=exact,
    )


def sign_flip_in_every(
    rows: Sequence[tuple[float, float]], *, weights: Sequence[float] | None = None
) -> SignFlip:
    """Return the test of which every p is the largest that some completion has.

    rows: [lo, hi] of each row's difference. Where the sign of the mean is open the two-sided
    p is 1: some completion has the mean 0, or as good as. `smallest` counts the rows that
    may differ.

    >>> sign_flip_in_every([(.1, .2)] * 6).p, sign_flip_in_every([(-.1, .2)] * 6).p
    (0.03125, 1.0)
    """
    lows, highs = [lo for lo, _ in rows], [hi for _, hi in rows]
    if lows == highs:
        return sign_flip(lows, weights=weights)
    at_lows, at_highs = (sign_flip(ends, weights=weights) for ends in (lows, highs))
    differ = sum(lo != 0.0 or hi != 0.0 for lo, hi in rows)
    return SignFlip(
        p=min(1.0, 2.0 * min(at_lows.p_greater, at_highs.p_less)),
        p_greater=at_lows.p_greater,
        p_less=at_highs.p_less,
        smallest=min(1.0, 2.0 ** (1 - differ)),
        exact=at_lows.exact and at_highs.exact,
    )


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
