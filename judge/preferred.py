"""What decided preferences say of a grading: how the judge and the ranking keep them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judge.evidence.joining import PreferenceIndex
from judge.evidence.pool import QueryPool
from judge.judging.judge import Verdict
from judge.measures.preference import ppref, wpref
from judge.statistics.preferred import (
    PAIRS_RIGHT,
    JudgedPair,
    OrderAgreement,
    agreement_with_preferences,
    corrected_for_noise,
)


@dataclass(frozen=True, slots=True)
class OrdersKept:
    """ppref and wpref at k over rows of which nothing but preferences is known.

    rows: those with an ordered pair, over which the means run
    unordered: those of whose pairs no chunk is in the top k
    """

    k: int
    ppref: float | None
    wpref: float | None
    rows: int
    unordered: int


@dataclass(frozen=True, slots=True)
class Preferred:
    """What decided pairs say of a grading.

    judge: its own grades against the pairs; None if it graded no pair
    run: the first run's rows without any grade; None if there are none
    pairs_right: share of pairs taken to be right in `corrected`
    """

    judge: OrderAgreement | None
    run: OrdersKept | None
    pairs_right: float = PAIRS_RIGHT

    @property
    def corrected(self) -> float | None:
        """Return the judge's agreement if only that share of pairs is right."""
        if self.judge is None or self.judge.agreement is None:
            return None
        return corrected_for_noise(self.judge.agreement, self.pairs_right)


def preferred(
    pools: Sequence[QueryPool],
    verdicts: Sequence[Verdict],
    preferences: PreferenceIndex | None,
    *,
    k: int,
) -> Preferred | None:
    """Compare verdicts and the first run with decided pairs; None without preferences."""
    if preferences is None:
        return None
    agreement = judge_agreement(pools, verdicts, preferences)
    return Preferred(agreement, orders_kept(pools, preferences, k=k))


def judge_agreement(
    pools: Sequence[QueryPool], verdicts: Sequence[Verdict], preferences: PreferenceIndex
) -> OrderAgreement | None:
    """Compare the judge's own grades with decided pairs; None if it graded no pair.

    Where a row shows both chunks, their ranks in the first run are their display order.
    """
    grades: dict[str, dict[str, int]] = {}
    for verdict in verdicts:
        if verdict.grade is not None:
            grades.setdefault(verdict.query_id, {})[verdict.id] = verdict.grade
    pairs = []
    for pool in pools:
        said = grades.get(pool.query.key, {})
        ranks = _ranks(pool)
        for winner, loser in preferences.join(pool.query).pairs if said else ():
            if winner in said and loser in said:
                shown = winner in ranks and loser in ranks
                first = ranks[winner] < ranks[loser] if shown else None
                pairs.append(JudgedPair(pool.query.key, said[winner], said[loser], first))
    return agreement_with_preferences(pairs) if pairs else None


def orders_kept(
    pools: Sequence[QueryPool], preferences: PreferenceIndex, *, k: int
) -> OrdersKept | None:
    """Return ppref and wpref of the first run's rows without a single grade, or None."""
    plain, weighted, unordered = [], [], 0
    for pool in pools:
        if pool.query.rows[0] is None or not all(j.is_open for j in pool.judgments):
            continue
        pairs = preferences.join(pool.query).pairs
        value = ppref(_ranks(pool), pairs, k=k)
        heavier = wpref(_ranks(pool), pairs, k=k)
        if value is not None and heavier is not None:
            plain.append(value)
            weighted.append(heavier)
        elif pairs:
            unordered += 1
    if not plain and not unordered:
        return None
    n = len(plain)
    return OrdersKept(
        k=k,
        ppref=sum(plain) / n if n else None,
        wpref=sum(weighted) / n if n else None,
        rows=n,
        unordered=unordered,
    )


def _ranks(pool: QueryPool) -> Mapping[str, int]:
    row = pool.query.rows[0]
    ranks: dict[str, int] = {}
    for rank, result in enumerate(row.results if row else (), 1):
        ranks.setdefault(result.id, rank)
    return ranks
