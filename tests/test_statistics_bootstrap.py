"""The cluster bootstrap: seeding, studentised intervals, what is undefined, rank correlations."""

from __future__ import annotations

import math
import runpy

import numpy as np
import pytest
from conftest import ROOT

from judge.statistics.bootstrap import bootstrap_t, resample, widest_interval, zero_error_bound


def test_the_seed_repeats_a_draw():
    clusters = np.arange(28.0).reshape(7, 4)
    first, again, other = (resample(clusters, draws=50, seed=s) for s in (1, 1, 2))
    assert first.sums.shape == (50, 4)
    assert (first.sums == again.sums).all()
    assert (first.sums != other.sums).any()
    assert (first.counts.sum(1) == 7).all()
    assert (first.counts @ clusters == first.sums).all()


def test_interval_of_a_mean_is_the_textbook_s():
    # The mean m of clusters, studentised: t* = |m* - m| / (s* / sqrt(n)), its 95% quantile times
    # s / sqrt(n), all with n - 1 below: computed here from the drawn counts alone.
    values = np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0, 5.0, 8.0])
    n = len(values)
    pairs = np.stack([values, np.ones(n)], axis=1)
    drawn = resample(pairs, draws=400, seed=1)
    means = drawn.counts @ values / n
    squares = (drawn.counts * (values[None, :] - means[:, None]) ** 2).sum(1) / (n - 1)
    t = np.abs(means - values.mean()) / np.sqrt(squares / n)
    reach = np.quantile(t, 0.95, method="higher") * values.std(ddof=1) / math.sqrt(n)
    found = bootstrap_t(lambda sums: sums[:, 0] / sums[:, 1], pairs, drawn)
    assert (found.lo, found.hi) == pytest.approx(
        (values.mean() - reach, values.mean() + reach), rel=1e-4
    )
    assert found.dropped == 0


def test_cells_and_clusters_give_the_same_slopes():
    # Three cells in use of twelve clusters, or twelve cells of four: both ways round are taken.
    generator = np.random.default_rng(0)
    wide = generator.integers(0, 5, (4, 12)).astype(float)

    def ratio(sums):
        return sums[:, :6].sum(1) / sums.sum(1)

    narrow = np.stack([wide[:, :6].sum(1), wide[:, 6:].sum(1)], axis=1)
    found = [
        bootstrap_t(statistic, sides, resample(sides, draws=200, seed=3))
        for statistic, sides in ((ratio, wide), (lambda s: s[:, 0] / s.sum(1), narrow))
    ]
    assert found[0].lo == pytest.approx(found[1].lo, rel=1e-3)


def test_agreement_passes_neither_1_nor_its_own_value():
    generator = np.random.default_rng(2)
    hits = np.stack([generator.integers(8, 11, 12), np.full(12, 10)], axis=1).astype(float)
    drawn = resample(hits, draws=300, seed=0)
    found = bootstrap_t(lambda s: s[:, 0] / s[:, 1], hits, drawn, at_most_1=True)
    value = hits[:, 0].sum() / 120
    assert found.lo < value < found.hi <= 1.0


def test_undefined_resamples_are_dropped_and_counted():
    # Defined only where cluster 0 was drawn: (1 - 1/12)^12, about a third of the draws, is not.
    sides = np.array([[1.0, 5.0]] + [[0.0, float(i)] for i in range(11)])
    drawn = resample(sides, draws=200, seed=0)
    missing = int((drawn.counts[:, 0] == 0).sum())

    def statistic(sums):
        return np.where(sums[:, 0] > 0, sums[:, 1], np.nan)

    assert missing > 0
    assert bootstrap_t(statistic, sides, drawn).dropped == missing


def test_no_difference_between_clusters_gives_no_interval():
    same = np.ones((12, 2))
    drawn = resample(same, draws=50, seed=0)
    assert bootstrap_t(lambda s: s[:, 0] / s[:, 1], same, drawn) is None


def test_rank_correlation_lies_in_its_own_interval():
    # Resampled orders fall apart more than the order itself: percentiles alone left it out.
    found = widest_interval(0.939, np.full(12, 0.93) + 0.001 * np.arange(12), np.full(50, 0.9))
    assert found[0] == pytest.approx(0.9) and found[1] > 0.939


def test_rank_correlation_that_can_be_undefined_has_no_interval():
    assert widest_interval(1.0, np.array([1.0, np.nan]), np.ones(5)) is None
    assert widest_interval(1.0, np.ones(12), np.full(5, np.nan)) is None


def test_no_error_in_30_queries_bounds_the_error_rate():
    assert zero_error_bound(30) == pytest.approx(0.095034, abs=5e-7)  # 1 - 0.05^(1/30)


@pytest.mark.slow
def test_intervals_over_ten_queries_keep_their_promise():
    # The small form of scripts/check_agreement.py; its page says 94-97% of 300 draws.
    check = runpy.run_path(str(ROOT / "scripts" / "check_agreement.py"))
    kind = check["KINDS"]["a judge that errs much"]
    _, (_, found) = check["coverage"](kind, "kappa_quadratic", 10, samples=200, seed=3)
    assert found[:, 0].mean() >= 0.92
    assert found[:, 1].mean() <= 0.045  # the lower end, which lets a judge gate
    shares = check["shares"]("chunks", 30, samples=200, seed=3)
    assert (shares[:, :, 0].mean(0) >= 0.92).all()
