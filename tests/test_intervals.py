"""Evidence only narrows: intervals, precedence and contradictions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.evidence.intervals import narrow
from judge.grades import PRECEDENCE, Evidence, Judgment, Source

HUMAN, GOLDEN, PRIOR, RULE, JUDGE = PRECEDENCE


def exactly(source: Source, grade: int) -> Evidence:
    return Evidence(source, grade, grade)


@st.composite
def evidence(draw: st.DrawFn) -> Evidence:
    lo = draw(st.integers(0, 3))
    return Evidence(draw(st.sampled_from(PRECEDENCE)), lo, draw(st.integers(lo, 3)))


def test_nothing_known_is_the_whole_scale_without_a_source() -> None:
    assert narrow([], grade_max=3).judgment == Judgment(0, 3)


@pytest.mark.parametrize(
    ("said", "lo", "hi", "source", "contradictions"),
    [
        ([exactly(JUDGE, 2)], 2, 2, JUDGE, 0),
        ([exactly(JUDGE, 2), exactly(PRIOR, 2)], 2, 2, PRIOR, 0),
        # human > golden > prior > rule > judge decides which stands
        ([exactly(GOLDEN, 3), exactly(HUMAN, 1)], 1, 1, HUMAN, 1),
        ([exactly(PRIOR, 0), exactly(GOLDEN, 3)], 3, 3, GOLDEN, 1),
        ([exactly(RULE, 0), exactly(PRIOR, 2), exactly(JUDGE, 1)], 2, 2, PRIOR, 2),
        # an interval that leaves room is narrowed by the next source, which then speaks last
        ([Evidence(HUMAN, 1, 3), exactly(JUDGE, 2)], 2, 2, JUDGE, 0),
        ([Evidence(HUMAN, 2, 3), exactly(JUDGE, 1)], 2, 3, HUMAN, 1),
        # raters who disagree leave the span between them, and a contradiction
        ([exactly(HUMAN, 1), exactly(HUMAN, 3)], 1, 3, HUMAN, 1),
        ([exactly(HUMAN, 1), exactly(HUMAN, 3), exactly(JUDGE, 3)], 3, 3, JUDGE, 1),
        ([Evidence(HUMAN, 0, 2), Evidence(HUMAN, 1, 3)], 1, 2, HUMAN, 0),
        # of two priors only the one that fits what already stands is heard
        ([exactly(HUMAN, 2), exactly(PRIOR, 2), exactly(PRIOR, 0)], 2, 2, HUMAN, 1),
        # [0,2], [1,1] and [2,2] have no grade in common, though the first fits both others
        ([Evidence(PRIOR, 0, 2), exactly(PRIOR, 1), exactly(PRIOR, 2)], 1, 2, PRIOR, 1),
    ],
)
def test_sources_by_precedence(
    said: list[Evidence], lo: int, hi: int, source: Source, contradictions: int
) -> None:
    narrowed = narrow(said, grade_max=3)
    judgment = narrowed.judgment
    assert (judgment.lo, judgment.hi, judgment.source) == (lo, hi, source)
    assert len(narrowed.contradictions) == contradictions


def test_the_contradiction_names_what_stands_and_what_is_set_aside() -> None:
    golden, judge = exactly(GOLDEN, 3), exactly(JUDGE, 0)
    assert narrow([judge, golden], grade_max=3).contradictions == ((golden, judge),)


def test_the_contradiction_names_the_one_of_a_source_that_is_contradicted() -> None:
    said = [Evidence(HUMAN, 0, 1), exactly(HUMAN, 1), exactly(GOLDEN, 0)]
    narrowed = narrow(said, grade_max=3)
    assert narrowed.judgment.grade == 1
    assert narrowed.contradictions == ((exactly(HUMAN, 1), exactly(GOLDEN, 0)),)


@given(st.lists(evidence(), max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_arrival_changes_nothing(said: list[Evidence], random: object) -> None:
    shuffled = list(said)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert narrow(said, grade_max=3) == narrow(shuffled, grade_max=3)


@given(st.lists(evidence(), max_size=5), evidence())
def test_more_evidence_narrows_or_is_a_contradiction(said: list[Evidence], one: Evidence) -> None:
    before, after = narrow(said, grade_max=3), narrow([*said, one], grade_max=3)
    narrows = before.judgment.lo <= after.judgment.lo and after.judgment.hi <= before.judgment.hi
    assert narrows or any(one in pair for pair in after.contradictions)


@given(st.lists(evidence(), max_size=6))
def test_the_strongest_source_is_never_overruled(said: list[Evidence]) -> None:
    judgment = narrow(said, grade_max=3).judgment
    assert 0 <= judgment.lo <= judgment.hi <= 3
    for source in PRECEDENCE:
        group = [item for item in said if item.source == source]
        if group:
            assert judgment.lo >= min(item.lo for item in group)
            assert judgment.hi <= max(item.hi for item in group)
            break
