"""A judge against decided pairs: agreement that is never an accuracy."""

from __future__ import annotations

import pytest

from judge.statistics.preferred import (
    JudgedPair,
    agreement_with_preferences,
    corrected_for_noise,
)


def pairs(*grades, first=None, query="q"):
    return [JudgedPair(query, winner, loser, first) for winner, loser in grades]


@pytest.mark.parametrize(
    ("agreement", "right", "expected"),
    [(0.74, 0.82, 0.875), (0.82, 0.82, 1.0), (0.9, 0.82, 1.0), (0.1, 0.82, 0.0), (0.6, 1.0, 0.6)],
)  # statistics.md A.6: A=.74, q=.82; a perfect judge shows A = q
def test_noise_of_the_pairs_is_taken_out(agreement, right, expected):
    assert corrected_for_noise(agreement, right) == pytest.approx(expected)


def test_ties_are_counted_apart_and_half_in_the_other_variant():
    found = agreement_with_preferences(pairs((3, 1), (2, 1), (1, 1), (0, 2)))
    assert (found.agree, found.tied, found.against) == (2, 1, 1)
    assert found.agreement == pytest.approx(2 / 3)
    assert found.half_credit == pytest.approx(2.5 / 4)


def test_judge_that_repeats_the_shown_order_has_a_balanced_half():
    # It grades whatever stood higher better: right on 3 winners shown above, wrong on 1 below.
    found = agreement_with_preferences(
        pairs((2, 1), (2, 1), (2, 1), first=True) + pairs((1, 2), first=False)
    )
    assert (found.agreement, found.balanced) == (0.75, 0.5)


def test_one_display_order_alone_cannot_be_balanced():
    assert agreement_with_preferences(pairs((2, 1), first=False)).balanced is None


def test_no_pair_graded_apart_has_no_agreement():
    found = agreement_with_preferences(pairs((1, 1)))
    assert (found.agreement, found.half_credit) == (None, 0.5)


def test_fewer_than_ten_queries_have_no_interval():
    many = [pair for name in "abcdefghi" for pair in pairs((2, 1), (1, 2), query=name)]
    assert agreement_with_preferences(many).interval is None


def test_interval_resamples_queries_and_not_pairs():
    # Twelve queries of ten pairs each, all right or all wrong: 120 independent pairs of which half
    # are right would give about .5 +- .09, twelve queries say much less (.5 +- .29 by the normal).
    ends = [(2, 1), (1, 2)] * 6
    many = [pair for at, end in enumerate(ends) for pair in pairs(*[end] * 10, query=str(at))]
    lo, hi = agreement_with_preferences(many).interval
    assert lo < 0.25 and hi > 0.75
