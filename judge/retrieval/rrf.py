"""Reciprocal rank fusion, recency decay, and what a multiplier costs on fused scores.

A channel gives the item at rank r the score 1 / (rrf_k + r); an item's fused score is the
sum over the channels that return it (Cormack, Clarke & Büttcher, SIGIR 2009). The scores
lie close together, so any factor applied afterwards moves an item by many ranks.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from typing import TypeVar

from judge.errors import UsageError

_DIGITS = 60  # of 2^-(age / half-life) where it is irrational, so no tie can hang on it
_MOST_HALF_LIVES = 1000  # 2^-1000 is below any rank anyone looks at

Candidate = TypeVar("Candidate", bound=Hashable)


def fuse(channels: Iterable[Sequence[Candidate]], *, rrf_k: float) -> dict[Candidate, float]:
    """Return each item's fused score; no item may stand twice in one channel.

    >>> fuse([["a", "b"], ["b"]], rrf_k=1)      # b: 1/(1+2) + 1/(1+1)
    {'a': 0.5, 'b': 0.8333333333333333}
    """
    scores: dict[Candidate, float] = {}
    for channel in channels:
        for rank, item in enumerate(channel, start=1):
            scores[item] = scores.get(item, 0.0) + 1.0 / (rrf_k + rank)
    return scores


def decay(age_days: Fraction, *, half_life_days: Fraction) -> Fraction:
    """Return 2^-(age / half-life): exact after whole half-lives, else to 60 digits.

    Only whole half-lives give a rational factor, so only they can tie exactly.

    >>> decay(Fraction(60), half_life_days=Fraction(30))
    Fraction(1, 4)
    >>> float(decay(Fraction(6), half_life_days=Fraction(30)))
    0.8705505632961241
    """
    if half_life_days <= 0 or age_days < 0:
        raise UsageError(
            f"age {age_days} and half-life {half_life_days} days make no decay; "
            "give an age >= 0 and a half-life > 0"
        )
    halvings = age_days / half_life_days
    if halvings > _MOST_HALF_LIVES:
        raise UsageError(
            f"{float(halvings):g} half-lives leave nothing to rank; "
            f"give an age of at most {_MOST_HALF_LIVES} half-lives"
        )
    if halvings.denominator == 1:
        return Fraction(1, 2**halvings.numerator)
    context = Context(prec=_DIGITS)
    exponent = context.divide(Decimal(-halvings.numerator), Decimal(halvings.denominator))
    return Fraction(context.power(Decimal(2), exponent))


def rank_cost(
    multiplier: Fraction,
    *,
    rrf_k: Fraction,
    ties_lose: bool = False,
    length: int | None = None,
) -> int:
    """Return how many ranks the item at rank 1 of one channel loses to its multiplier.

    The item at rank r passes it when 1/(k+r) > m/(k+1), that is when r < (k+1)/m - k.
    Competitors carry no multiplier and come from the same single channel; an item that a
    second channel also returns is safer than this says.

    ties_lose: an item with exactly the same score passes too; by default it stays behind
    length: of the list; the item can fall no lower than its end

    >>> [rank_cost(Fraction("0.87"), rrf_k=Fraction(k)) for k in (60, 20, 5)]
    [9, 3, 0]
    >>> rank_cost(Fraction("0.84"), rrf_k=Fraction(20), ties_lose=True)    # x is exactly 5
    4
    """
    if not 0 < multiplier <= 1:
        raise UsageError(f"multiplier {_shown(multiplier)} is outside (0, 1]")
    if rrf_k < 0:
        raise UsageError(f"rrf_k {_shown(rrf_k)} is negative; fusion needs rrf_k >= 0")
    if length is not None and length < 1:
        raise UsageError(f"a list of length {length} holds no ranks; give --length 1 or more")
    first_safe = (rrf_k + 1) / multiplier - rrf_k
    passed = math.floor(first_safe) - 1 if ties_lose else math.ceil(first_safe) - 2
    cost = max(0, passed)
    return cost if length is None else min(length - 1, cost)


def lossless_multiplier(rrf_k: Fraction) -> Fraction:
    """Return the smallest multiplier that costs rank 1 nothing (it ties with rank 2).

    >>> round(float(lossless_multiplier(Fraction(60))), 6)
    0.983871
    """
    return (rrf_k + 1) / (rrf_k + 2)


def _shown(number: Fraction) -> str:
    return f"{float(number):g}"
