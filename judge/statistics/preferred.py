"""How far a judge's grades agree with preferences, which are noisy themselves.

A judge is not right or wrong by a preference: searchers err, and what they could prefer
depends on what they were shown. So the figures are agreement, corrected for the noise of
the pairs and balanced over display order; none of them is an accuracy.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

PAIRS_RIGHT = 0.82
"""Share of single votes that people confirmed: 78.2% to 83.1% for the rules that count skipped
chunks (Joachims et al. 2005). Pairs that several sessions decide should do better, so what is
corrected by it is an upper estimate."""


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """A decided pair whose chunks the judge has graded.

    query: pairs of one query are not independent
    winner_first: the winner stood above the loser where they were shown; None if unknown
    """

    query: Hashable
    winner_grade: float
    loser_grade: float
    winner_first: bool | None = None


@dataclass(frozen=True, slots=True)
class OrderAgreement:
    """Agreement of a judge with decided pairs.

    agree, tied, against: pairs whose winner the judge grades higher, equal, lower
    interval: 95% over queries of `agreement`; None with fewer than five queries
    winner_above, winner_below: agreement where the winner was shown above or below the loser
    """

    n: int
    queries: int
    agree: int
    tied: int
    against: int
    interval: tuple[float, float] | None = None
    winner_above: float | None = None
    winner_below: float | None = None

    @property
    def agreement(self) -> float | None:
        """Return the share of pairs graded apart that are graded the preferred way."""
        apart = self.agree + self.against
        return self.agree / apart if apart else None

    @property
    def half_credit(self) -> float | None:
        """Return agreement over all pairs, a tie counting half."""
        return (self.agree + self.tied / 2) / self.n if self.n else None

    @property
    def balanced(self) -> float | None:
        """Return the mean of both display orders; a judge that repeats the order shown has .5."""
        if self.winner_above is None or self.winner_below is None:
            return None
        return (self.winner_above + self.winner_below) / 2


def agreement_with_preferences(pairs: Sequence[JudgedPair], *, seed: int = 0) -> OrderAgreement:
    """Count how a judge's grades order decided pairs, with an interval over queries."""
    sides = [_side(pair) for pair in pairs]
    by_query: dict[Hashable, list[int]] = {}
    for pair, side in zip(pairs, sides, strict=True):
        by_query.setdefault(pair.query, []).append(side)
    return OrderAgreement(
        n=len(pairs),
        queries=len(by_query),
        agree=sides.count(1),
        tied=sides.count(0),
        against=sides.count(-1),
        interval=_interval(list(by_query.values()), seed),
        winner_above=_share(pairs, sides, first=True),
        winner_below=_share(pairs, sides, first=False),
    )


def corrected_for_noise(agreement: float, pairs_right: float = PAIRS_RIGHT) -> float:
    """Return a of A = a q + (1 - a)(1 - q): what agreement would be if all pairs were right.

    q, `pairs_right`, lies above 1/2: pairs at chance say nothing. Clipped to [0, 1]; a
    perfect judge shows A = q.

    >>> round(corrected_for_noise(0.74, 0.82), 6)
    0.875
    """
    assert 0.5 < pairs_right <= 1, "pairs that are right by chance cannot correct anything"
    return min(1.0, max(0.0, (agreement + pairs_right - 1) / (2 * pairs_right - 1)))


def _side(pair: JudgedPair) -> int:
    return (pair.winner_grade > pair.loser_grade) - (pair.winner_grade < pair.loser_grade)


def _share(pairs: Sequence[JudgedPair], sides: Sequence[int], *, first: bool) -> float | None:
    apart = [
        side == 1
        for pair, side in zip(pairs, sides, strict=True)
        if side and pair.winner_first is first
    ]
    return sum(apart) / len(apart) if apart else None


def _interval(sides_by_query: Sequence[Sequence[int]], seed: int) -> tuple[float, float] | None:
    # A grading without preferences does not need numpy; importing it takes longer than a run.
    import numpy as np

    from judge.statistics.bootstrap import FEWEST_CLUSTERS, bootstrap_t, resample

    if len(sides_by_query) < FEWEST_CLUSTERS:
        return None
    counts = np.array([[sides.count(1), sides.count(-1)] for sides in sides_by_query], dtype=float)

    def share(sums: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return np.asarray(sums[:, 0] / sums.sum(1))

    found = bootstrap_t(share, counts, resample(counts, seed=seed), at_most_1=True)
    return None if found is None else (max(0.0, found.lo), found.hi)
