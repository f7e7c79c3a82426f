"""`judge.contrast`: weighted sums of runs' scores, with failures, repeats, other measures."""

from __future__ import annotations

from dataclasses import replace

import pytest

from judge.cascade import Grading, Settings, grade_runs
from judge.contrast import Contrast
from judge.grades import Source
from judge.measures.names import Measure
from judge.measures.pool import Bounded
from judge.run import Golden, KnownGrade, Result, Row, Run
from judge.scoring import Scale

SCALE = Scale("linear", 3)
NDCG = Measure("nDCG", 10)


def run(ids: str, *, error: str | None = None, golden: Golden | None = None) -> Run:
    results = tuple(Result(id, text=id) for id in ids)
    return Run(ids or "empty", (Row("q", "q", "q", results=results, error=error, golden=golden),))


def graded(*runs: Run, measure: Measure = NDCG, **grades: int) -> Grading:
    known = [KnownGrade(id, g, g, query_id="q", source=Source.PRIOR) for id, g in grades.items()]
    return grade_runs(runs, settings=Settings((measure,)), known=known)


def row(grading: Grading, *coefficients: float, measure: Measure = NDCG) -> Bounded | None:
    (found,) = Contrast(measure, coefficients, SCALE).rows(grading.pools)
    return found


def test_difference_of_known_lists() -> None:
    # a 3, b 0: the list ba is worth 1/log2(3) = .630930 of the ideal.
    found = row(graded(run("ab"), run("ba"), a=3, b=0), -1.0, 1.0)
    assert found is not None
    assert found.value == found.lo == found.hi == pytest.approx(0.630930 - 1, abs=1e-6)


def test_the_mean_of_two_repeats_against_a_baseline() -> None:
    found = row(graded(run("ab"), run("ba"), run("ab"), a=3, b=0), -1.0, 0.5, 0.5)
    assert found is not None
    assert found.value == pytest.approx((0.630930 - 1) / 2, abs=1e-6)


@pytest.mark.parametrize("measure", [NDCG, Measure("ERR", 10), Measure("P", 5, rel=2)])
def test_equal_lists_differ_by_nothing_whatever_is_open(measure: Measure) -> None:
    found = row(graded(run("ab"), run("ab"), measure=measure), -1.0, 1.0, measure=measure)
    assert found is not None
    assert (found.lo, found.value, found.hi) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("measure", [NDCG, Measure("ERR", 10), Measure("P", 5, rel=1)])
@pytest.mark.parametrize("lists", [("jcaebfgdhi",), ("badcfehgji", "cabfdehigj", "bacdefghij")])
def test_chunks_of_one_grade_that_change_places_are_no_difference(
    measure: Measure, lists: tuple[str, ...]
) -> None:
    # Every list is perfect. Their discounts and thirds do not add up to 0 in floating point,
    # and the same trace of rounding in all rows would be a difference without any spread.
    runs = [run("abcdefghij"), *map(run, lists)]
    grading = graded(*runs, measure=measure, **dict.fromkeys("abcdefghij", 1))
    repeats = [1 / len(lists)] * len(lists)
    assert row(grading, -1.0, *repeats, measure=measure) == Bounded(0.0, 0.0, 0.0)


@pytest.mark.parametrize("measure", [NDCG, Measure("ERR", 10)])
def test_a_run_that_failed_could_have_been_anything(measure: Measure) -> None:
    grading = graded(run("ab"), run("ba", error="timeout"), measure=measure, a=3, b=0)
    found = row(grading, -1.0, 1.0, measure=measure)
    baseline = row(grading, 1.0, 0.0, measure=measure)
    assert found is not None and baseline is not None
    assert (found.lo, found.hi) == pytest.approx((-baseline.value, 1 - baseline.value))


def test_a_chunk_that_one_list_shows_counts_at_its_own_ends() -> None:
    measure = Measure("P", 2, rel=2)
    # Only a is open: P@2 of ab in [0, .5], of bc 0.
    grading = graded(run("ab"), run("bc"), measure=measure, b=0, c=0)
    found = row(grading, -1.0, 1.0, measure=measure)
    assert found is not None
    assert (found.lo, found.value, found.hi) == (-0.5, 0.0, 0.0)


def test_golden_measures_need_a_golden() -> None:
    rank = Measure("RR")
    assert row(graded(run("ab"), run("ba"), measure=rank), -1.0, 1.0, measure=rank) is None
    golden = Golden(("a",), query_id="q", complete=True)
    grading = graded(run("ab", golden=golden), run("ba"), measure=rank)
    found = row(grading, -1.0, 1.0, measure=rank)
    assert found == Bounded(-0.5, -0.5, -0.5)


def test_a_question_without_an_answer_has_no_contrast() -> None:
    nothing = Golden((), query_id="q", complete=True)
    assert row(graded(run("ab", golden=nothing), run("ba")), -1.0, 1.0) is None


def test_weights_are_those_of_the_ranks() -> None:
    grading = graded(run("ab"), run("ba"))
    weights = Contrast(NDCG, (-1.0, 1.0), SCALE).weights(grading.pools[0])
    # 1/log2(3) - 1 for a, the same the other way for b.
    assert weights == pytest.approx([-0.369070, 0.369070], abs=1e-6)
    whole = replace(Contrast(NDCG, (-1.0, 1.0), SCALE), measure=Measure("nDCG"))
    assert whole.cutoff(grading.pools[0]) == 2
