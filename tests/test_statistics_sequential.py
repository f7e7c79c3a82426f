"""`judge.statistics.sequential`: the error over all looks, by fresh simulation."""

from __future__ import annotations

import numpy as np
import pytest

from judge.statistics.sequential import critical_values
from judge.statistics.student import t_quantile

LOOKS = (10, 12, 14, 17, 21, 25, 30, 36)


def test_no_look_has_no_value() -> None:
    assert critical_values((), population=8, alpha=0.01) == ()


def test_several_looks_and_skewed_rows_ask_for_more_than_one_plain_test() -> None:
    values = critical_values(LOOKS, population=43, alpha=0.01)
    assert all(v > t_quantile(0.99, df=n - 1) for n, v in zip(LOOKS, values, strict=True))
    assert list(values) == sorted(values, reverse=True)
    (single,) = critical_values((20,), population=43, alpha=0.01)
    assert t_quantile(0.99, df=19) < single < values[LOOKS.index(21)]


@pytest.mark.parametrize("alpha", [0.01, 0.05])
@pytest.mark.parametrize("shape", ["normal", "skewed down", "skewed up", "uniform"])
def test_error_over_all_looks_on_other_draws(alpha: float, shape: str) -> None:
    values = np.array(critical_values(LOOKS, population=43, alpha=alpha))
    generator = np.random.default_rng(7)
    drawn = {
        "normal": generator.standard_normal((4000, 43)),
        "skewed down": -generator.gamma(4.0, size=(4000, 43)),
        "skewed up": generator.gamma(4.0, size=(4000, 43)),
        "uniform": generator.random((4000, 43)),
    }[shape]
    rows = drawn - drawn.mean(axis=1, keepdims=True)
    passed = np.zeros(4000, dtype=bool)
    for n, value in zip(LOOKS, values, strict=True):
        mean, sd = rows[:, :n].mean(axis=1), rows[:, :n].std(axis=1, ddof=1)
        passed |= mean / (sd / np.sqrt(n) * np.sqrt(1 - n / 43)) > value
    # Three standard errors of 4,000 draws above what is aimed at.
    assert passed.mean() < alpha + 3 * np.sqrt(alpha / 4000)
