"""The cluster bootstrap: exact enumeration, seeding, dropped resamples."""

from __future__ import annotations

import numpy as np
import pytest
from worked_agreement import HUMAN, JUDGE

from judge.statistics import agreement
from judge.statistics.bootstrap import Resamples, resample, zero_error_bound


def _six_queries():
    chunks = [slice(4 * i, 4 * i + 4) for i in range(6)]
    return np.stack([agreement.table(HUMAN[c], JUDGE[c], grade_max=3) for c in chunks])


def test_exact_enumeration_of_six_queries():
    # Outside values over all 6^6 = 46,656 resamples: accuracy SE 0.038036, 95% [0.625, 0.75];
    # quadratic kappa SE 0.048408, [0.735849, 0.919192].
    drawn = resample(_six_queries())
    assert drawn.times.sum() == 46_656
    exact, kappa = agreement.exact(drawn.sums), agreement.kappa(drawn.sums, power=2)
    assert np.repeat(exact, drawn.times).std() == pytest.approx(0.038036, abs=5e-7)
    assert drawn.interval(exact) == pytest.approx((0.625, 0.75, 0))
    assert np.repeat(kappa, drawn.times).std() == pytest.approx(0.048408, abs=5e-7)
    assert drawn.interval(kappa) == pytest.approx((0.735849, 0.919192, 0), abs=5e-7)


def test_seven_queries_are_drawn_and_the_seed_repeats_them():
    tables = np.concatenate([_six_queries(), _six_queries()[:1]])
    first, again, other = (resample(tables, draws=50, seed=s).sums for s in (1, 1, 2))
    assert first.shape == (50, 4, 4)
    assert (first == again).all()
    assert (first != other).any()
    assert (first.sum((1, 2)) == 28).all()  # seven queries of four pairs in every resample


def test_drawn_interval_comes_near_the_exact_one():
    # The mean of 0..6 resampled 7 at a time has variance 4 / 7 (var of 0..6 is 4).
    drawn = resample(np.arange(7.0), draws=20_000, seed=3)
    assert (drawn.sums / 7).std() == pytest.approx((4 / 7) ** 0.5, rel=0.02)


def test_undefined_resamples_are_dropped_and_counted():
    values, times = np.array([np.nan, 1.0, 2.0, 3.0]), np.array([2, 1, 1, 1])
    drawn = Resamples(values, times)
    # numpy's linear percentiles of 1, 2, 3: 1 + 0.025 * 2 and 3 - 0.025 * 2.
    assert drawn.interval(values) == pytest.approx((1.05, 2.95, 2))
    assert drawn.interval(np.full(4, np.nan)) is None


def test_no_error_in_30_queries_bounds_the_error_rate():
    assert zero_error_bound(30) == pytest.approx(0.095034, abs=5e-7)  # 1 - 0.05^(1/30)
