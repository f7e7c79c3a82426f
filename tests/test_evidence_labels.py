"""Labels that flow back into grading: they narrow, disagreement leaves an interval."""

from __future__ import annotations

import pytest

import judge
from judge.evidence.labels import known_labels
from judge.formats import Label
from judge.grades import Source
from judge.run import Result, Row, Run

RUN = Run("r", (Row(key="q", query_id="q", query="x", results=(Result("a", text="t"),)),))


def test_one_label_is_a_grade_by_a_human():
    (found,) = known_labels([Label("q", "a", 2, rater="ann")])
    assert (found.lo, found.hi, found.source, found.detail) == (2, 2, Source.HUMAN, "ann")


def test_raters_who_disagree_leave_an_interval():
    labels = [Label("q", "a", 3, rater="ann"), Label("q", "a", 1), Label("q", "b", 0)]
    both, other = known_labels(labels)
    assert (both.lo, both.hi, both.detail) == (1, 3, "ann 3, somebody 1")
    assert (other.lo, other.hi) == (0, 0)


@pytest.fixture
def labels(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("query_id,chunk_id,grade,rater\nq,a,1,ann\nq,a,2,ben\n")
    return path


def test_grade_takes_labels_as_human_evidence_without_a_conflict(labels):
    report = judge.grade(RUN, labels=labels)
    (judgment,) = report.rows[0].pool.judgments
    assert (judgment.lo, judgment.hi, judgment.source) == (1, 2, Source.HUMAN)
    assert report.conflicts == ()


def test_labels_for_calibration_settle_nothing(labels):
    report = judge.grade(RUN, labels=labels, exclude_labels=True)
    (judgment,) = report.rows[0].pool.judgments
    assert (judgment.lo, judgment.hi, judgment.source) == (0, 3, None)
    assert [label.grade for label in report.held_out] == [1, 2]


def test_what_a_rater_revised_settles_by_the_last_word():
    (known,) = known_labels([Label("q", "a", 2, "ann", revised=0)])
    assert (known.lo, known.hi) == (0, 0)
