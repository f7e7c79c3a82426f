"""The tails of distributions that a core install computes without scipy, against scipy's."""

from __future__ import annotations

import ast

import pytest
from conftest import ROOT
from scipy import stats

from judge.readlog.chi_square import chi_square_tail
from judge.statistics.proportion import upper_share


@pytest.mark.parametrize("df", [1, 2, 3, 4, 9, 10, 99])
@pytest.mark.parametrize("x", [0.01, 1.0, 9.5, 120.0])
def test_chi_square_tail_is_scipys(df: int, x: float) -> None:
    assert chi_square_tail(x, df=df) == pytest.approx(stats.chi2.sf(x, df), rel=1e-10)


@pytest.mark.parametrize(("found", "drawn"), [(0, 1), (0, 20), (2, 40), (39, 40), (7, 5000)])
def test_upper_share_is_the_quantile_of_beta(found: int, drawn: int) -> None:
    expected = stats.beta.ppf(0.975, found + 1, drawn - found)
    assert upper_share(found, drawn) == pytest.approx(expected, rel=1e-9)


def test_no_module_imports_scipy() -> None:
    """A core install does not bring it."""
    for path in (ROOT / "judge").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                named = [alias.name for alias in node.names]
            else:
                named = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert "scipy" not in {name.split(".")[0] for name in named}, path
