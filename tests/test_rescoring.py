"""Runs scored under the judge and under people: orders and corrected means."""

from __future__ import annotations

import math
import statistics

import pytest

from judge.calibration.rescoring import Scoring, corrected_means, score_runs, sources, system_orders
from judge.formats import Label
from judge.measures.names import parse_measure
from judge.run import Result, Row, Run
from judge.statistics.paired import Resampling

HOW = Scoring(parse_measure("nDCG@2"))
SECOND = 1 / math.log2(3)  # discount of rank 2


def _run(name, lists):
    rows = [
        Row(key=query, query_id=query, results=tuple(Result(id) for id in ids))
        for query, ids in lists.items()
    ]
    return Run(name, tuple(rows))


def test_several_people_count_by_their_lower_median():
    labels = [Label("q", "a", grade, rater=str(grade)) for grade in (3, 0, 2, 1)]
    assert sources({}, labels).people == {"q": {"a": 1}}


def test_shared_holds_what_both_graded_and_whole_what_people_completed():
    both = sources(
        {("q1", "a"): 1, ("q1", "b"): 2, ("q2", "a"): 3},
        [Label("q1", "a", 0), Label("q2", "a", 3), Label("q2", "z", 1), Label("q3", "a", 1)],
    )
    assert both.shared.judge == {"q1": {"a": 1}, "q2": {"a": 3}}
    # What people graded and the judge did not is part of what they find best.
    assert both.shared.people == {"q1": {"a": 0}, "q2": {"a": 3, "z": 1}}
    assert both.wholly_labelled == ("q2",)


def test_scores_count_a_missing_row_and_a_repeated_slot_as_nothing():
    grades = {"q1": {"a": 3, "b": 1}, "q2": {"a": 1}}
    run = _run("r", {"q1": ["b", "b", "a"]})
    # q1: 1 at rank 1, the repeat gains nothing: 1 / (3 + 1 SECOND).
    assert score_runs([run], grades, HOW)[0] == pytest.approx([1 / (3 + SECOND), 0.0])


def test_rows_are_found_by_query_text_where_there_is_no_id():
    run = Run("r", (Row(key="row 1", query="how so?", results=(Result("a"),)),))
    assert score_runs([run], {"how so?": {"a": 2}}, HOW).tolist() == [[1.0]]


def test_orders_that_differ():
    # Judge prefers x first, people y first: the two systems swap.
    judged = {("q1", "x"): 3, ("q1", "y"): 0}
    labels = [Label("q1", "x", 0), Label("q1", "y", 3)]
    runs = [_run("A", {"q1": ["x"]}), _run("B", {"q1": ["y"]})]
    found = system_orders(runs, sources(judged, labels), HOW)
    assert found.means == {"A": (1.0, 0.0), "B": (0.0, 1.0)}
    assert found.correlations["tau_b"].value == -1.0
    assert found.correlations["tau_b"].reason == "CI n/a: 1 query, at least 40 are needed"


@pytest.mark.parametrize(("queries", "printed"), [(39, False), (40, True)])
def test_order_of_systems_has_an_interval_from_forty_queries(queries, printed):
    # Every query: the judge x first, people x first but in each third y.
    judged = {(f"q{i}", id): grade for i in range(queries) for id, grade in (("x", 3), ("y", 0))}
    labels = [
        Label(f"q{i}", id, grade)
        for i in range(queries)
        for id, grade in zip("xy", (0, 3) if i % 3 == 0 else (3, 0), strict=True)
    ]
    runs = [_run(id, {f"q{i}": [id] for i in range(queries)}) for id in "xy"]
    found = system_orders(runs, sources(judged, labels), HOW, resampling=Resampling(draws=20))
    for correlation in found.correlations.values():
        assert correlation.value == pytest.approx(1.0)
        assert (correlation.lo is not None) is printed
        assert correlation.reason == (
            "" if printed else "CI n/a: 39 queries, at least 40 are needed"
        )


def test_orders_without_a_shared_query_have_a_reason():
    runs = [_run("A", {}), _run("B", {})]
    found = system_orders(runs, sources({("q", "a"): 1}, []), HOW)
    assert found.queries == 0
    assert found.overlap is None
    assert found.correlations["tau_ap"].reason == "undefined: constant"


def test_one_run_has_no_order():
    found = system_orders(
        [_run("A", {"q": ["a"]})], sources({("q", "a"): 1}, [Label("q", "a", 1)]), HOW
    )
    assert found.correlations["spearman"].reason == "undefined: n<2"


def test_labels_move_the_corrected_mean():
    # Ten queries of chunks a and b; the judge says 3 and 0 everywhere (nDCG 1). People graded
    # six: nDCG 0, S, (1 + 3 S) / (3 + S), (1 + 2 S) / (2 + S), (2 + 3 S) / (3 + 2 S) and 1.
    judged = {(f"q{i}", id): grade for i in range(10) for id, grade in (("a", 3), ("b", 0))}
    people = {(0, 0): 0.0, (0, 3): SECOND, (1, 3): 0.796708, (1, 2): 0.859719, (2, 3): 0.913402,
              (3, 3): 1.0}  # fmt: skip
    labels = [
        Label(f"q{i}", id, grade)
        for i, grades in enumerate(people)
        for id, grade in zip("ab", grades, strict=True)
    ]
    run = _run("A", {f"q{i}": ["a", "b"] for i in range(10)})
    found = corrected_means([run], sources(judged, labels), HOW)["A"]
    assert found.judge_mean == 1.0
    assert found.estimate.value == pytest.approx(sum(people.values()) / 6, abs=1e-6)
    # (1 - 6/10) of the variance; t with 5 degrees of freedom is 2.570582.
    reach = 2.570582 * math.sqrt(0.4 * statistics.variance(people.values()) / 6)
    assert found.estimate.hi - found.estimate.value == pytest.approx(reach, abs=1e-5)
    # Labels alone: a mean in [0, 1], so "plus two". The six with 0 and 1: mean 5.200759 / 8 =
    # .650095, variance .175035, t with 7 degrees of freedom 2.364624: +- .349766.
    assert found.human_only.value == pytest.approx(found.estimate.value)
    assert found.human_only.lo == pytest.approx(0.300329, abs=1e-5)
    assert found.human_only.hi == pytest.approx(0.999861, abs=1e-5)


def test_corrected_mean_is_people_s_own_where_they_graded_more_than_the_judge():
    # The judge: a 1, b 0, nDCG 1. People: a 1, b 0, c 3: 1 / (3 + S) = .2754.
    judged = {("q", "a"): 1, ("q", "b"): 0}
    labels = [Label("q", "a", 1), Label("q", "b", 0), Label("q", "c", 3)]
    run = _run("A", {"q": ["a", "b"]})
    both = sources(judged, labels)
    assert corrected_means([run], both, HOW)["A"].estimate.value == pytest.approx(1 / (3 + SECOND))
    judge, people = system_orders([run], both, HOW).means["A"]
    assert (judge, people) == pytest.approx((1.0, 1 / (3 + SECOND)))


def test_slice_counts_as_it_was_labelled():
    # 8 queries of slice s (all labelled 0 by people) and 2 of t (both at 1), judge 1 everywhere;
    # 4 of s and both of t labelled: 8/10 * 0 + 2/10 * 1, not the 2/6 of the labels.
    judged = {(f"q{i}", "a"): 3 for i in range(10)}
    labels = [Label(f"q{i}", "a", 0 if i < 8 else 3, pi=0.5) for i in (0, 1, 2, 3, 8, 9)]
    slices = {f"q{i}": "s" if i < 8 else "t" for i in range(10)}
    run = _run("A", {f"q{i}": ["a"] for i in range(10)})
    found = corrected_means([run], sources(judged, labels), HOW, slices=slices)["A"]
    assert found.estimate.value == pytest.approx(0.2)


def test_query_labelled_in_part_corrects_nothing():
    judged = {(f"q{i}", id): 3 for i in range(10) for id in "ab"}
    labels = [Label(f"q{i}", "a", 0) for i in range(10)]
    run = _run("A", {f"q{i}": ["a", "b"] for i in range(10)})
    found = corrected_means([run], sources(judged, labels), HOW)["A"]
    assert found.estimate.reason == "0 labelled, at least 5 are needed"


@pytest.mark.slow
def test_dl19_systems_are_ordered_alike(data):
    from judge.formats import read_labels, read_runs
    from judge.formats.verdicts import read_verdicts

    folder = data / "dl19"
    both = sources(
        read_verdicts(folder / "llm_umbrela-gpt4o_dl19.qrels.gz").grades,
        read_labels(folder / "human_dl19.qrels.gz").labels,
    )
    runs = list(read_runs(folder / "all37_top20.trecrun.gz").values())
    how = Scoring(parse_measure("nDCG@10"))
    found = system_orders(runs, both, how, resampling=Resampling(draws=10))
    assert (len(found.means), found.queries) == (37, 43)
    assert found.correlations["tau_b"].value == pytest.approx(0.9159, abs=5e-5)
    assert found.means["ICT-BERT2"][1] == pytest.approx(0.665, abs=5e-5)  # NIST's own mean
