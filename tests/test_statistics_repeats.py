"""`judge.statistics.repeats`: by hand, and smaller the more repeats there are."""

from __future__ import annotations

import numpy as np
import pytest

from judge.statistics.repeats import standard_error


def test_worked_by_hand() -> None:
    # Row variances over three repeats: of 0, .3, .6 it is .09, of .5, .5, .8 it is .03. Shares
    # 3/4 and 1/4: (9/16 * .09 + 1/16 * .03) / 3 = .0175, its root .132288.
    repeats = [[0.0, 0.5], [0.3, 0.5], [0.6, 0.8]]
    assert standard_error(repeats, [3.0, 1.0]) == pytest.approx(0.132288, abs=1e-6)


def test_repeats_that_agree_have_none() -> None:
    assert standard_error([[0.2, 0.4]] * 5, [1.0, 1.0]) == 0.0


def test_more_repeats_make_it_smaller() -> None:
    drawn = np.random.default_rng(1)
    found = [
        standard_error(drawn.normal(0.5, 0.1, (n, 40)).tolist(), [1.0] * 40) for n in (3, 5, 10)
    ]
    assert found == sorted(found, reverse=True)
