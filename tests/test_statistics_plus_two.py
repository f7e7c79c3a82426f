"""`judge.statistics.plus_two`: worked values, weights, open rows, and how often it holds."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.statistics.plus_two import plus_two


def interval(*values: float, weights: list[float] | None = None) -> tuple[float, float]:
    found = plus_two([(value, value) for value in values], weights=weights)
    assert found is not None
    return found


# statistics.md H: Student's interval of the values with one 0 and one 1, cut to [0, 1]. For the
# ten values of statistics.md E: scipy.stats.t.interval(0.95, 11, loc=numpy.mean(x),
# scale=scipy.stats.sem(x)) with x = [*b, 0, 1], scipy 1.12.
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0] * 3, (0.2447, 1.0)),
        ([1.0] * 2, (0.0, 1.0)),
        ([1.0] * 30, (0.9050, 1.0)),
        ([*[1.0] * 9, 0.0], (0.5860, 1.0)),
        ([1, 1, 0.984, 0.689, 0.673, 1, 1, 1, 1, 0, 1], (0.5709, 1.0)),
        ([0.58, 0.60, 0.41, 0.84, 0.45, 0.79, 0.25, 0.72, 0.65, 0.50], (0.3936, 0.7380)),
    ],
)
def test_worked_intervals(values: list[float], expected: tuple[float, float]) -> None:
    assert interval(*values) == pytest.approx(expected, abs=5e-5)


def test_one_row_says_nothing_about_others() -> None:
    assert plus_two([(0.5, 0.5)]) is None


def test_equal_weights_are_none_whatever_their_size() -> None:
    values = (1.0, 0.5, 0.0, 1.0)
    for weight in (1.0, 3.0, 1e308, 5e-324):
        assert interval(*values, weights=[weight] * 4) == pytest.approx(interval(*values))


def test_weights_count_as_the_equal_rows_they_amount_to() -> None:
    # Weights 3, 1, 1, 1: Kish's n is 36 / 12 = 3, so 0 and 1 weigh 12 / 6 = 2 each, and the six
    # shares are .3 .1 .1 .1 .2 .2 with Σp² = .2: five equal values in effect, 4 degrees of
    # freedom. All ones: mean .8, variance (.8·.2)/(1 - .2) = .2, se = √(.2·.2) = .2, t = 2.776445.
    found = interval(1.0, 1.0, 1.0, 1.0, weights=[3.0, 1.0, 1.0, 1.0])
    assert found == pytest.approx((0.8 - 2.776445 * 0.2, 1.0), abs=1e-6)


def test_a_row_with_all_the_weight_leaves_everything_open() -> None:
    # As one row in effect: 0, 1 and the value, 2 degrees of freedom.
    assert interval(0.5, 1.0, 1.0, weights=[1e9, 1.0, 1.0]) == (0.0, 1.0)


ends = st.tuples(st.floats(0, 1), st.floats(0, 1)).map(lambda pair: (min(pair), max(pair)))


@given(
    st.lists(ends, min_size=2, max_size=5),
    st.lists(st.sampled_from([1.0, 4.0]), min_size=5, max_size=5),
)
@settings(max_examples=25, deadline=None)
def test_it_holds_for_every_completion(rows: list[tuple[float, float]], drawn: list[float]) -> None:
    weights = drawn[: len(rows)]
    found = plus_two(rows, weights=weights)
    assert found is not None
    for corner in itertools.product(*rows):
        inner = interval(*corner, weights=weights)
        assert found[0] <= inner[0] + 1e-9 and inner[1] <= found[1] + 1e-9


def test_very_many_open_rows_are_wider_and_still_hold() -> None:
    rows = [(0.5, 1.0)] * 1001
    found = plus_two(rows)
    exact = plus_two(rows[:1000])
    assert found is not None and exact is not None
    for values in ([0.5] * 1001, [1.0] * 1001, [0.5, 1.0] * 500 + [1.0]):
        inner = interval(*values)
        assert found[0] <= inner[0] and inner[1] <= found[1]
    assert found == pytest.approx(exact, abs=0.05)


@pytest.mark.parametrize("n", [5, 11, 30, 100])
@pytest.mark.parametrize("share", [0.95, 0.5])
def test_it_holds_the_true_mean_of_zeros_and_ones_in_93_percent(n: int, share: float) -> None:
    # No draws: each number k of ones has its binomial chance. Student's own interval has .23 to
    # .87 at a share of .95.
    held = 0.0
    for k in range(n + 1):
        lo, hi = interval(*[1.0] * k, *[0.0] * (n - k))
        held += (lo <= share <= hi) * math.comb(n, k) * share**k * (1 - share) ** (n - k)
    assert held >= 0.93
