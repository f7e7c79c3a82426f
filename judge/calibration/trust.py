"""How far a judge can be trusted: its grades against people's, per slice and overall."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType

import numpy as np

from judge.calibration.labelled import Drawn, Pair, drawn_labels, graded_units
from judge.calibration.panel_worth import PanelWorth, panel_worth
from judge.errors import UsageError
from judge.formats.labels import Label
from judge.grades import GRADE_MAX
from judge.run import Notice
from judge.statistics.agreement import ERRORS, coefficients
from judge.statistics.bootstrap import FEWEST_CLUSTERS
from judge.statistics.estimate import Estimate
from judge.statistics.paired import (
    RESAMPLING,
    Agreement,
    GradedUnit,
    Resampling,
    agreement_among_people,
    agreement_with_a_person,
    agreement_with_judge,
    grade_shares,
)

# More queries than this still to label means: the judge is at the threshold.
_FAR = 1_000


@dataclass(frozen=True, slots=True)
class CalibrationSettings:
    """What a judge must reach to gate, and how intervals are drawn.

    required: coefficient -> the least that its 95% interval may reach down to. By default a
        quadratic kappa of 0.4, below which agreement beyond chance is called poor (Fleiss 1981)
    most_bias: how many grades the judge may lie above or below people on average, by its whole
        interval; half a grade, from which on the next grade is nearer
    """

    grade_max: int = GRADE_MAX
    required: Mapping[str, float] = field(
        default_factory=lambda: MappingProxyType({"kappa_quadratic": 0.4})
    )
    most_bias: float = 0.5
    resampling: Resampling = RESAMPLING

    def __post_init__(self) -> None:
        if not self.required:
            raise UsageError("name at least one coefficient that a judge must reach")
        usable = [name for name in coefficients(self.grade_max) if name not in ERRORS]
        for name in self.required:
            if name not in usable:
                listed = ", ".join(usable)
                raise UsageError(f"{name!r} cannot be required; use one of {listed}")


@dataclass(frozen=True, slots=True)
class Answer:
    """May this judge gate? And the requirement that decides it.

    may_gate: None where the labels are too few to tell
    least: what the coefficient must reach; of bias, the most that it may be either way
    more_queries: about how many more would tell; None where that is unknown or above 1,000
    """

    may_gate: bool | None
    coefficient: str
    least: float
    estimate: Estimate
    more_queries: int | None = None


@dataclass(frozen=True, slots=True)
class Calibration:
    """What a judge's grades are worth beside people's.

    people: the raters among themselves, over the chunks that several of them graded; None
        where there is none. judge_on_shared: the judge over the same chunks, in the same way.
    chosen: how many labels stayed out because somebody picked them by looking
    panel: the judges of a panel one by one; None where a single one judged
    judge_shares: how often the judge gave each grade 0..G; shares: how often people would have,
        had they graded all of it
    """

    settings: CalibrationSettings
    answer: Answer
    overall: Agreement
    slices: Mapping[str, Agreement]
    judge_shares: tuple[float, ...]
    shares: tuple[Estimate, ...]
    raters: tuple[str, ...]
    people: Agreement | None = None
    judge_on_shared: Agreement | None = None
    panel: PanelWorth | None = None
    chosen: int = 0
    notices: tuple[Notice, ...] = ()


def compare_with_labels(
    judged: Mapping[Pair, int],
    labels: Iterable[Label],
    *,
    slices: Mapping[str, str] = MappingProxyType({}),
    votes: Mapping[Pair, Mapping[str, int]] = MappingProxyType({}),
    settings: CalibrationSettings | None = None,
) -> Calibration:
    """Compare the judge's grades with people's labels.

    judged: the judge's own grade of each (query id, chunk id)
    slices: slice of each query id, for the lines per slice
    votes: of a panel, each model's grade of a (query id, chunk id)

    What takes no part is counted in `notices`: labels of chunks that the judge did not grade,
    and labels that were chosen by looking where others were drawn.
    """
    settings = settings or CalibrationSettings()
    labels = tuple(labels)
    drawn = drawn_labels(labels)
    found = graded_units(judged, drawn.labels)
    shared = [unit for unit in found.units if len(unit.humans) > 1]
    by_slice: dict[str, list[GradedUnit]] = {}
    for unit in found.units:
        if unit.query_id in slices:
            by_slice.setdefault(slices[unit.query_id], []).append(unit)
    scale, draws = settings.grade_max, settings.resampling
    with_judge = partial(agreement_with_judge, grade_max=scale, resampling=draws)
    among_people = partial(agreement_among_people, grade_max=scale, resampling=draws)
    overall = with_judge(found.units)
    given = Counter(judged.values())
    sizes = [given[grade] for grade in range(scale + 1)]
    return Calibration(
        settings=settings,
        answer=_answer(overall, settings),
        overall=overall,
        slices={name: with_judge(part) for name, part in sorted(by_slice.items())},
        judge_shares=tuple(size / max(len(judged), 1) for size in sizes),
        shares=grade_shares(found.units, sizes=sizes),
        raters=tuple(sorted({label.rater for label in labels if label.rater})),
        people=among_people(shared) if shared else None,
        judge_on_shared=agreement_with_a_person(shared, grade_max=scale, resampling=draws)
        if shared
        else None,
        panel=panel_worth(votes, drawn.labels, grade_max=scale, resampling=draws),
        notices=(*_said_of(drawn, all_judged=len(found.units) == len(judged)), *found.notices),
        chosen=drawn.chosen,
    )


def _said_of(drawn: Drawn, *, all_judged: bool) -> tuple[Notice, ...]:
    """Return what to say of how labels were drawn: nothing where all the judge did is labelled."""
    return () if all_judged and not drawn.is_known else drawn.notices


def _answer(overall: Agreement, settings: CalibrationSettings) -> Answer:
    """Return the answer of the requirement that is furthest from met."""
    answers = [_requirement(name, least, overall) for name, least in settings.required.items()]
    answers.append(_bias_within(settings.most_bias, overall))
    return min(answers, key=lambda answer: _SEVERITY[answer.may_gate])


_SEVERITY = {False: 0, None: 1, True: 2}


def _requirement(name: str, least: float, overall: Agreement) -> Answer:
    found, exact = overall.coefficients[name], overall.coefficients["exact"]
    if found.value is None:
        return Answer(None, name, least, found)
    if exact.value == 1.0 and exact.lo is not None:
        # No resample shows a disagreement; what is sure is how rare they are.
        return Answer(
            _were_it_rare(name, overall, 1.0 - exact.lo) >= least or None, name, least, found
        )
    if found.lo is None or found.hi is None:
        few = FEWEST_CLUSTERS - overall.queries
        return Answer(None, name, least, found, few if few > 0 else None)
    if found.lo >= least or found.hi < least:
        return Answer(found.lo >= least, name, least, found)
    return Answer(
        None,
        name,
        least,
        found,
        _more_queries(found.value, found.lo, found.hi, least, overall.queries),
    )


def _bias_within(most: float, overall: Agreement) -> Answer:
    """Say whether the judge's grades lie near enough to people's, on average."""
    found, exact = overall.coefficients["bias"], overall.coefficients["exact"]
    if found.value is None:
        return Answer(None, "bias", most, found)
    if exact.value == 1.0 and exact.lo is not None:
        top = len(overall.confusion) - 1
        return Answer((1.0 - exact.lo) * top <= most or None, "bias", most, found)
    if found.lo is None or found.hi is None:
        few = FEWEST_CLUSTERS - overall.queries
        return Answer(None, "bias", most, found, few if few > 0 else None)
    if -most <= found.lo and found.hi <= most:
        return Answer(True, "bias", most, found)
    if found.lo > most or found.hi < -most:
        return Answer(False, "bias", most, found)
    value, lo, hi = abs(found.value), *sorted((abs(found.lo), abs(found.hi)))
    more = _more_queries(value, min(lo, value), max(hi, value), most, overall.queries)
    return Answer(None, "bias", most, found, more)


def _were_it_rare(name: str, overall: Agreement, rate: float) -> float:
    """Return a coefficient if a share of the chunks that agree disagreed as much as can be.

    Where nearly all have one grade, a few disagreements that no label happened to show would
    leave nothing of a kappa of 1.
    """
    counts = np.array(overall.confusion)
    top = len(counts) - 1
    spoiled = counts * (1.0 - rate)
    for grade, count in enumerate(counts.diagonal()):
        spoiled[grade, top if grade < top - grade else 0] += rate * count
    return float(coefficients(top)[name](spoiled))


def _more_queries(value: float, lo: float, hi: float, least: float, queries: int) -> int | None:
    """Return how many more queries shrink the interval until it clears the threshold.

    An interval shrinks with the square root of its queries.
    """
    reach, gap = (value - lo if value >= least else hi - value), abs(value - least)
    if gap * math.sqrt(1.0 + _FAR / queries) < reach:
        return None
    return math.ceil(queries * (reach / gap) ** 2) - queries
