"""`judge.statistics.weights`: shares and means by weights of any size."""

from __future__ import annotations

import pytest

from judge.statistics.significance import moments
from judge.statistics.weights import shares_of, weighted_mean


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ([1e308, 1e308, 1e308], 0.3),
        ([5e-324, 5e-324, 5e-324], 0.3),
        ([1.0, 2.0, 1.0], 0.3),
        # One has all the weight that doubles can hold.
        ([1e308, 5e-324, 5e-324], 0.1),
        ([3.0, 1.0, 0.0625], (0.3 + 0.3 + 0.5 * 0.0625) / 4.0625),
    ],
)
def test_means_by_weights_of_any_size(weights: list[float], expected: float) -> None:
    values = [0.1, 0.3, 0.5]
    assert weighted_mean(values, weights) == pytest.approx(expected)
    shares = shares_of(3, weights)
    assert sum(shares) == pytest.approx(1.0)
    assert sum(p * v for p, v in zip(shares, values, strict=True)) == pytest.approx(expected)


def test_no_weights_are_equal_ones() -> None:
    assert shares_of(4, None) == [0.25] * 4


def test_a_mean_of_ones_is_one() -> None:
    assert all(weighted_mean([1.0] * n, [0.1] * n) == 1.0 for n in range(1, 200))


@pytest.mark.parametrize("weight", [1e308, 5e-324])
def test_moments_by_huge_and_tiny_weights_are_those_of_equal_ones(weight: float) -> None:
    assert moments([0.1, 0.2, 0.6], weights=[weight] * 3) == moments([0.1, 0.2, 0.6])
