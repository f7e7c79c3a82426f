"""What the judges of a panel are worth: alone, in pairs, and all together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

from judge.calibration.labelled import Pair, graded_units
from judge.formats.labels import Label
from judge.statistics.estimate import Estimate
from judge.statistics.paired import Agreement, GradedUnit, Resampling, agreement_with_judge
from judge.statistics.panels import effective_votes, error_correlation

Votes = Mapping[Pair, Mapping[str, int]]
Grades = Mapping[Pair, int]


@dataclass(frozen=True, slots=True)
class PanelWorth:
    """Several judges beside people and beside each other.

    single: each judge's agreement with people, over the chunks that it graded
    pairwise: quadratic kappa of each two judges, over all chunks that both graded
    effective: how many independent judges would err as these do together; None if unknown
    """

    single: Mapping[str, Agreement]
    pairwise: Mapping[tuple[str, str], Estimate]
    effective: float | None


def panel_worth(
    votes: Votes,
    labels: Sequence[tuple[Label, float]],
    *,
    grade_max: int,
    resampling: Resampling,
) -> PanelWorth | None:
    """Value each judge of a panel; None where there is but one.

    votes: each model's grade of a (query id, chunk id); labels: with their weights
    """
    models = sorted({model for given in votes.values() for model in given})
    if len(models) < 2:
        return None
    compared = partial(agreement_with_judge, grade_max=grade_max, resampling=resampling)
    by_model = {
        model: {pair: given[model] for pair, given in votes.items() if model in given}
        for model in models
    }
    return PanelWorth(
        single={
            model: compared(graded_units(grades, labels).units)
            for model, grades in by_model.items()
        },
        pairwise={
            (a, b): compared(_paired(by_model[a], by_model[b])).coefficients["kappa_quadratic"]
            for a, b in combinations(models, 2)
        },
        effective=_effective(by_model, labels),
    )


def _paired(first: Grades, second: Grades) -> list[GradedUnit]:
    return [
        GradedUnit(pair[0], second[pair], (grade,))
        for pair, grade in first.items()
        if pair in second
    ]


def _effective(
    by_model: Mapping[str, Grades], labels: Sequence[tuple[Label, float]]
) -> float | None:
    """Return what the votes are worth by how their errors go together where all voted."""
    shared = [
        (pair, label.grade)
        for label, _ in labels
        if all((pair := (label.query_id, label.id)) in grades for grades in by_model.values())
    ]
    errors = [[grades[pair] - human for pair, human in shared] for grades in by_model.values()]
    correlation = error_correlation(errors)
    if correlation is None:
        return None
    # Errors that happen to go against each other are no proof of a panel better than its size.
    return effective_votes(len(by_model), correlation=max(0.0, correlation))
