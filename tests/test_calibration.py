"""Joining labels with verdicts, weights, several raters, and the answer: may this judge gate?"""

from __future__ import annotations

import math

import pytest
from worked_agreement import HUMAN, JUDGE

from judge.calibration.files import CalibrationReport
from judge.calibration.trust import CalibrationSettings, compare_with_labels
from judge.errors import UsageError
from judge.formats import Label
from judge.report.calibration import bias_text, headline, people_lines
from judge.statistics.paired import Resampling

PAIRS = [(f"q{i // 4}", f"c{i}") for i in range(24)]
JUDGED = dict(zip(PAIRS, JUDGE, strict=True))
LABELS = [Label(query, id, grade) for (query, id), grade in zip(PAIRS, HUMAN, strict=True)]
# The same six queries twice: all coefficients as they were, and queries enough for intervals.
TWICE = [(f"q{i // 4}", f"c{i}") for i in range(48)]
JUDGED_TWICE = dict(zip(TWICE, JUDGE * 2, strict=True))
LABELS_TWICE = [Label(*pair, grade) for pair, grade in zip(TWICE, HUMAN * 2, strict=True)]


def test_worked_example_has_no_interval_over_six_queries():
    found = compare_with_labels(JUDGED, LABELS).overall
    assert (found.queries, found.pairs) == (6, 24)
    quadratic = found.coefficients["kappa_quadratic"]
    assert quadratic.value == pytest.approx(0.871951, abs=5e-7)
    assert quadratic.reason == "CI n/a: 6 queries, at least 10 are needed"
    assert found.confusion[1] == (1, 3, 1, 0)


def test_slices_have_lines_of_their_own():
    slices = {"q0": "entity", "q1": "entity", "q2": "semantic"}
    found = compare_with_labels(JUDGED, LABELS, slices=slices)
    assert {name: part.pairs for name, part in found.slices.items()} == {"entity": 8, "semantic": 4}
    assert found.overall.pairs == 24
    # q0 and q1: human 0 0 1 0 3 2 0 0, judge 0 1 1 0 3 3 0 0: six of eight alike.
    assert found.slices["entity"].coefficients["exact"].value == 0.75
    assert (
        found.slices["entity"].coefficients["exact"].reason
        == "CI n/a: 2 queries, at least 10 are needed"
    )


def test_labels_of_chunks_that_were_not_judged_are_counted_not_dropped_silently():
    found = compare_with_labels(JUDGED, [*LABELS, Label("q9", "x", 3)])
    assert found.overall.pairs == 24
    assert [n.text for n in found.notices if n.kind == "label without judgment"] == [
        "1 labels left out: the judge graded no such chunk (first: query 'q9', chunk 'x')"
    ]


def test_labels_chosen_by_looking_stay_out_of_estimates():
    drawn = [Label(label.query_id, label.id, label.grade, pi=0.5) for label in LABELS[:12]]
    looked_at = [Label(label.query_id, label.id, 0) for label in LABELS[12:]]
    found = compare_with_labels(JUDGED, [*drawn, *looked_at])
    assert found.overall.pairs == 12
    assert found.notices[0].count == 12
    assert "chosen by looking" in found.notices[0].text


def test_labels_weigh_by_the_inverse_of_their_probability():
    # The worked sample: weighted quadratic kappa 0.811024, Kish's n 3.789474.
    human, judge, pi = (0, 1, 1, 2, 3), (0, 0, 1, 2, 3), (0.25, 0.25, 0.5, 1.0, 1.0)
    labels = [Label("q", str(i), h, pi=p) for i, (h, p) in enumerate(zip(human, pi, strict=True))]
    judged = {("q", str(i)): grade for i, grade in enumerate(judge)}
    found = compare_with_labels(judged, labels).overall
    assert found.coefficients["kappa_quadratic"].value == pytest.approx(0.811024, abs=5e-7)
    assert found.effective_pairs == pytest.approx(3.789474, abs=5e-7)


def test_several_raters_of_a_chunk_count_once_together():
    # Judge 2; people 2 and 1: half the chunk agrees exactly, all of it within one.
    labels = [Label("q", "a", 2, rater="ann"), Label("q", "a", 1, rater="ben")]
    found = compare_with_labels({("q", "a"): 2}, labels)
    assert found.overall.pairs == 1
    assert found.overall.coefficients["exact"].value == 0.5
    assert found.overall.coefficients["within_one"].value == 1.0
    assert found.raters == ("ann", "ben")


def test_people_are_compared_with_each_other():
    # The worked missing-data example, 3 raters x 10 units: alpha ordinal 0.870193 over the
    # nine units that at least two graded.
    raters = {
        "r1": (0, 1, 2, 3, 3, 2, 1, None, None, 0),
        "r2": (0, 1, 2, 3, 2, 2, 1, 1, None, 0),
        "r3": (None, 1, 3, 3, 3, None, 0, 1, 2, 1),
    }
    labels = [
        Label(f"q{unit}", "c", grade, rater=rater)
        for rater, grades in raters.items()
        for unit, grade in enumerate(grades)
        if grade is not None
    ]
    found = compare_with_labels({(f"q{unit}", "c"): 1 for unit in range(10)}, labels)
    assert found.people is not None and found.judge_on_shared is not None
    assert found.people.coefficients["alpha_ordinal"].value == pytest.approx(0.870193, abs=5e-7)
    assert found.people.pairs == found.judge_on_shared.pairs == 9
    assert found.overall.pairs == 10


def test_single_rater_has_nobody_to_be_compared_with():
    assert compare_with_labels(JUDGED, LABELS).people is None


def _answer(judged, labels, **required):
    settings = CalibrationSettings(required=required, resampling=Resampling(200, 0))
    return compare_with_labels(judged, labels, settings=settings).answer


def _quadratic():
    settings = CalibrationSettings(resampling=Resampling(200, 0))
    found = compare_with_labels(JUDGED_TWICE, LABELS_TWICE, settings=settings)
    return found.overall.coefficients["kappa_quadratic"]


def test_lower_end_decides_and_not_the_value():
    found = _quadratic()
    assert found.lo < 0.871951 < found.hi < 1.0
    below, above = found.lo - 0.01, found.hi + 0.01
    assert _answer(JUDGED_TWICE, LABELS_TWICE, kappa_quadratic=below).may_gate is True
    assert _answer(JUDGED_TWICE, LABELS_TWICE, kappa_quadratic=above).may_gate is False
    assert _answer(JUDGED_TWICE, LABELS_TWICE, kappa_quadratic=0.87).may_gate is None


def test_interval_across_the_threshold_says_how_many_queries_more():
    # An interval shrinks with the square root of its queries; its lower arm must clear 0.83.
    found = _quadratic()
    arm = (found.value - found.lo) / (found.value - 0.83)
    answer = _answer(JUDGED_TWICE, LABELS_TWICE, kappa_quadratic=0.83)
    assert (answer.may_gate, answer.more_queries) == (None, math.ceil(12 * arm**2) - 12)


def test_threshold_at_the_value_is_out_of_reach():
    answer = _answer(JUDGED_TWICE, LABELS_TWICE, kappa_quadratic=_quadratic().value)
    assert (answer.may_gate, answer.more_queries) == (None, None)


def test_every_requirement_must_hold_and_the_worst_is_named():
    answer = _answer(JUDGED_TWICE, LABELS_TWICE, kappa_quadratic=0.7, kappa=0.9)  # kappa 0.560
    assert (answer.may_gate, answer.coefficient) == (False, "kappa")


def test_too_few_queries_cannot_tell():
    answer = _answer(JUDGED, LABELS[:8], kappa_quadratic=0.1)
    assert (answer.may_gate, answer.more_queries) == (None, 8)  # two of at least ten


def _biased(off):
    """Return twelve queries of four chunks that the judge grades `off` lower, and labels."""
    people = {(f"q{i}", f"c{j}"): 3 - (i + j) % 2 for i in range(12) for j in range(4)}
    people |= {(f"q{i}", "low"): off[i % len(off)] for i in range(12)}
    judged = {
        pair: max(0, grade - off[int(pair[0][1:]) % len(off)]) for pair, grade in people.items()
    }
    return judged, [Label(*pair, grade) for pair, grade in people.items()]


def test_judge_whose_grades_lie_far_off_may_not_gate_however_it_orders():
    # 1 or 2 grades too low everywhere: 1.4 on average, the order of the chunks mostly right.
    judged, labels = _biased((1, 2, 1, 1, 2, 1))
    found = compare_with_labels(judged, labels)
    assert _answer(judged, labels, kappa_quadratic=0.0).may_gate is False
    assert found.answer.may_gate is not True


def test_never_may_gate_above_a_bias_without_a_word_of_it():
    # A fifth of the chunks one grade low: surely below people's, within the half a grade allowed.
    people = {(f"q{i}", f"c{j}"): (i + j) % 4 for i in range(20) for j in range(5)}
    judged = {p: g - 1 if g and (int(p[0][1:]) + int(p[1][1:])) % 5 == 0 else g
              for p, g in people.items()}  # fmt: skip
    found = compare_with_labels(judged, [Label(*p, g) for p, g in people.items()])
    said = headline(CalibrationReport(found))
    assert found.answer.may_gate is True
    assert said.startswith("This judge may gate: ")
    assert "below people's on average" in said and "a single run's figures are too low" in said
    assert "severe" not in bias_text(found.overall.coefficients["bias"])
    assert "lower than people's" in bias_text(found.overall.coefficients["bias"])


def test_judge_and_people_are_compared_in_the_same_way():
    # Two people who each give 0 and 1 by turns and agree on half; the judge gives 1 to all but one.
    # Over both orders people: po 1/2, shares 1/2 each: kappa 0. Judge against a person, chunks
    # (0,0) (1,1) (0,1) (1,0), judge 1 1 1 0: table of person\\judge by half chunks
    # 00 1/2, 01 3/2, 10 1/2, 11 3/2 of 4; both orders: 00 1/2, 01 and 10 1 each, 11 3/2: po 1/2,
    # shares of 0 3/8, of 1 5/8: pe 34/64, kappa (32 - 34) / (64 - 34) = -1/15. Cohen's is 0.
    given = {"a": (0, 0), "b": (1, 1), "c": (0, 1), "d": (1, 0)}
    labels = [
        Label("q", id, grade, rater=rater)
        for id, grades in given.items()
        for rater, grade in zip(("ann", "ben"), grades, strict=True)
    ]
    judged = {("q", "a"): 1, ("q", "b"): 1, ("q", "c"): 1, ("q", "d"): 0}
    found = compare_with_labels(judged, labels)
    assert found.people.coefficients["kappa"].value == pytest.approx(0.0)
    assert found.judge_on_shared.coefficients["kappa"].value == pytest.approx(-1 / 15)
    assert found.overall.coefficients["kappa"].value == pytest.approx(0.0)
    said = people_lines(found)
    assert "both orders" in said[0] and len(said) == 5
    assert said[-2:] == [
        "  Cohen's kappa, people with each other  0.000",
        "  Cohen's kappa, judge with a person     -0.067",
    ]


def test_perfect_judge_may_gate_by_what_is_sure():
    labels = [Label(f"q{i}", "c", i % 4) for i in range(30)]
    judged = {(f"q{i}", "c"): i % 4 for i in range(30)}
    found = compare_with_labels(judged, labels)
    exact = found.overall.coefficients["exact"]
    assert exact.lo == pytest.approx(1 - 0.095034, abs=5e-7)  # 0.05^(1/30), not [1, 1]
    assert found.overall.coefficients["kappa"].lo is None
    assert found.answer.may_gate is True


def test_nothing_to_compare_is_not_calibrated():
    found = compare_with_labels({}, [])
    assert found.answer.may_gate is None
    assert found.overall.coefficients["exact"].reason == "no human-judge pairs"


@pytest.mark.parametrize("name", ["bias", "mae", "cohen"])
def test_only_agreements_can_be_required(name):
    with pytest.raises(UsageError, match="cannot be required; use one of exact, within_one, kappa"):
        CalibrationSettings(required={name: 0.5})


def test_panel_is_valued_judge_by_judge():
    # Truth 0 3 0 3 … over eight queries. b and c err together on q0 and q1, a on q0 alone.
    truth = [0, 3] * 4
    wrong = [1, 2, *truth[2:]]
    near = [1, *truth[1:]]
    pairs = [(f"q{i}", "c") for i in range(8)]
    votes = {pair: {"a": n, "b": w, "c": w} for pair, n, w in zip(pairs, near, wrong, strict=True)}
    labels = [Label(*pair, grade) for pair, grade in zip(pairs, truth, strict=True)]
    judged = dict(zip(pairs, wrong, strict=True))
    found = compare_with_labels(judged, labels, votes=votes).panel
    assert found.single["a"].coefficients["exact"].value == 0.875
    assert found.single["b"].coefficients["exact"].value == 0.75
    assert found.pairwise["b", "c"].value == pytest.approx(1.0)
    assert found.pairwise["a", "b"].value < 1.0
    # Errors a: 1 0 …, mean 1/8, variance 7/64; b: 1 -1 0 …, mean 0, variance 1/4. Their product
    # has mean 1/8: r = 1/8 / sqrt(7/256) = 0.755929. Three votes: 3 / (1 + 2 (2r + 1) / 3).
    assert found.effective == pytest.approx(3 / (1 + 2 * (2 * 0.755929 + 1) / 3), rel=1e-5)


def test_single_judge_is_no_panel():
    assert compare_with_labels(JUDGED, LABELS).panel is None


def test_no_requirement_at_all_is_refused():
    with pytest.raises(UsageError, match="name at least one coefficient"):
        CalibrationSettings(required={})


def test_grades_of_all_chunks_are_corrected_by_those_that_people_graded():
    # The judge gave 0 to 60 chunks and 3 to 40; of six labelled ones each, people found one of the
    # 0s to be a 3 and two of the 3s to be 0: shares 0.6 * 5/6 + 0.4 * 2/6 and the rest.
    judged = {(f"q{i}", "c"): 0 if i < 60 else 3 for i in range(100)}
    given = [3, 0, 0, 0, 0, 0, 0, 0, 3, 3, 3, 3]
    chosen = [*range(6), *range(60, 66)]
    labels = [Label(f"q{i}", "c", grade) for i, grade in zip(chosen, given, strict=True)]
    found = compare_with_labels(judged, labels)
    assert found.judge_shares == (0.6, 0.0, 0.0, 0.4)
    assert found.shares[0].value == pytest.approx(0.6 * 5 / 6 + 0.4 * 2 / 6)
    assert found.shares[3].value == pytest.approx(0.6 / 6 + 0.4 * 4 / 6)
    assert found.shares[0].lo < found.shares[0].value < found.shares[0].hi


def test_judge_grade_without_a_label_leaves_the_shares_unknown():
    found = compare_with_labels({**JUDGED, ("q9", "z"): 3}, LABELS[:4])  # no label of a 3
    assert found.shares[0].value is None
    assert found.shares[0].reason == "no label of judge grade 2"


@pytest.mark.parametrize(
    ("queries", "said"),
    [
        (11, "kappa is 0.000 over 22 chunks of 11 queries; judge used a single grade; CI n/a"),
        (9, "kappa is 0.000 over 18 chunks of 9 queries; an interval needs at least 1 query more"),
    ],
)
def test_sentence_without_an_interval_says_why_there_is_none(queries, said):
    pairs = [(f"q{i}", id) for i in range(queries) for id in "ab"]
    labels = [Label(*pair, 0 if pair[1] == "a" else 2) for pair in pairs]
    calibration = compare_with_labels(dict.fromkeys(pairs, 1), labels)
    assert said in headline(CalibrationReport(calibration))


def test_perfect_judge_of_one_rare_grade_has_yet_to_show_it():
    # 99 zeros and one 2 over 10 queries: kappa 1, yet 1 - 0.05^(1/10): 25.9% of the queries may
    # hold a disagreement. Were it 0 -> 3 and 2 -> 0, the squared distance is, observed,
    # (99 x 9 + 1 x 4) 0.259 / 100 = 2.318; by chance (human 0.99 at 0, 0.01 at 2; judge 0.736
    # at 0, 0.007 at 2, 0.256 at 3) 0.99 (0.256 x 9 + 0.007 x 4) + 0.01 (0.736 x 4 + 0.256) =
    # 2.341: a kappa of 0.01.
    pairs = [(f"q{i // 10}", f"c{i}") for i in range(100)]
    judged = {pair: 2 if i == 7 else 0 for i, pair in enumerate(pairs)}
    found = compare_with_labels(judged, [Label(*pair, judged[pair]) for pair in pairs])
    assert found.overall.coefficients["kappa_quadratic"].value == 1.0
    assert found.answer.may_gate is None
    assert "no disagreement in 10 queries" in headline(CalibrationReport(found))
