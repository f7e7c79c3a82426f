"""ppref and wpref against the worked values of statistics.md A.6."""

from __future__ import annotations

import pytest

from judge.measures.preference import ppref, wpref

PREFERENCES = [("c2", "c1"), ("c2", "c3"), ("c1", "c4"), ("c4", "c3"), ("c5", "c3"), ("c5", "c6")]


def ranks(*ids):
    return {id: rank for rank, id in enumerate(ids, 1)}


def test_worked_run():
    run = ranks("c1", "c2", "c3", "c4", "c5")
    assert ppref(run, PREFERENCES, k=3) == pytest.approx(0.400000, abs=5e-7)
    assert wpref(run, PREFERENCES, k=3) == pytest.approx(0.449177, abs=5e-7)


def test_worked_run_that_keeps_every_ordered_pair():
    run = ranks("c2", "c1", "c4", "c3", "c6")
    assert (ppref(run, PREFERENCES, k=3), wpref(run, PREFERENCES, k=3)) == (1.0, 1.0)


def test_no_pair_inside_the_top_k_is_no_value_and_not_zero():
    assert ppref(ranks("x"), PREFERENCES, k=3) is None
    assert wpref(ranks("x", "y", "z", "c1", "c2"), PREFERENCES, k=3) is None
