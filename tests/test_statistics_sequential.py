"""`judge.statistics.sequential`: the error over all looks, by fresh simulation."""

from __future__ import annotations

import numpy as np
import pytest

from judge.statistics.sequential import critical_values
from judge.statistics.student import t_quantile

LOOKS = (8, 10, 12, 16, 20, 24, 31, 38)


def test_one_look_is_the_plain_t_test() -> None:
    # scipy.stats.t.ppf(.99, 7)
    assert critical_values((8,), population=20, alpha=0.01) == pytest.approx((2.997952,))


def test_no_look_has_no_value() -> None:
    assert critical_values((), population=8, alpha=0.01) == ()


def test_values_lie_between_one_look_and_bonferroni() -> None:
    for n, value in zip(LOOKS, critical_values(LOOKS, population=43, alpha=0.01), strict=True):
        assert t_quantile(0.99, df=n - 1) < value < t_quantile(1 - 0.01 / 8, df=n - 1)


@pytest.mark.parametrize("alpha", [0.01, 0.05])
def test_error_over_all_looks_on_other_draws(alpha: float) -> None:
    values = np.array(critical_values(LOOKS, population=43, alpha=alpha))
    generator = np.random.default_rng(7)
    wrong = 0
    for _ in range(4000):
        rows = generator.standard_normal(43)
        rows -= rows.mean()
        for n, value in zip(LOOKS, values, strict=True):
            drawn = rows[:n]
            se = drawn.std(ddof=1) / np.sqrt(n) * np.sqrt(1 - n / 43)
            if drawn.mean() / se > value:
                wrong += 1
                break
    # Three standard errors of 4,000 draws above what is aimed at.
    assert wrong / 4000 < alpha + 3 * np.sqrt(alpha / 4000)
