"""What a panel of judges is worth, against worked values."""

from __future__ import annotations

import pytest

from judge.statistics.panels import effective_votes, error_correlation, majority_accuracy


@pytest.mark.parametrize(("votes", "expected"), [(3, 0.896), (5, 0.94208), (9, 0.980419)])
def test_majority_of_independent_judges(votes, expected):
    assert majority_accuracy(votes, accuracy=0.8) == pytest.approx(expected, abs=5e-7)


def test_nine_correlated_judges_are_two():
    assert effective_votes(9, correlation=0.4375) == pytest.approx(2.0)
    assert effective_votes(5, correlation=0.0) == 5.0
    assert effective_votes(5, correlation=1.0) == 1.0


def test_correlation_of_errors():
    # Errors 1 0 -1 and 1 0 -1 move together, -1 0 1 against both: (1 - 1 - 1) / 3.
    errors = [[1, 0, -1], [1, 0, -1], [-1, 0, 1]]
    assert error_correlation(errors) == pytest.approx(-1 / 3)
    assert error_correlation([[0, 0, 0], [1, 0, 1]]) is None
