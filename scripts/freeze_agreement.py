"""Freeze what independent libraries say about random pairs of grades and scores.

pip install numpy==1.26.4 scipy==1.12.0 scikit-learn==1.9.1 krippendorff==0.9.0 irrCAC==0.4.4
python scripts/freeze_agreement.py > tests/reference/agreement.json
"""

from __future__ import annotations

import json
import warnings

import krippendorff
import numpy as np
import pandas as pd
from irrCAC.raw import CAC
from scipy import stats
from sklearn.metrics import cohen_kappa_score

GRADES = [0, 1, 2, 3]
LEVELS = ("nominal", "ordinal", "interval")
WEIGHTS = {"kappa": None, "kappa_linear": "linear", "kappa_quadratic": "quadratic"}
GWET = {"ac1": "identity", "ac2_linear": "linear", "ac2_quadratic": "quadratic"}


def graded_pairs(seed: int, n: int) -> dict[str, object]:
    """Return random grades of two sources that lean on a common truth."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 4, n)
    human, judge = (np.clip(truth + random.integers(-1, 2, n), 0, 3) for _ in range(2))
    frame = pd.DataFrame({"human": human, "judge": judge})
    expected: dict[str, float] = {}
    for name, weights in WEIGHTS.items():
        expected[name] = cohen_kappa_score(human, judge, labels=GRADES, weights=weights)
    for name, weights in GWET.items():
        gwet = CAC(frame, weights=weights, categories=GRADES, digits=10).gwet()
        expected[name] = gwet["est"]["coefficient_value"]
    for level in LEVELS:
        expected[f"alpha_{level}"] = krippendorff.alpha(
            np.array([human, judge]), level_of_measurement=level, value_domain=GRADES
        )
    for cut in (1, 2, 3):
        sides = np.array([human >= cut, judge >= cut]).astype(int)
        expected[f"kappa_at_{cut}"] = cohen_kappa_score(*sides)
        expected[f"alpha_at_{cut}"] = krippendorff.alpha(
            sides, level_of_measurement="nominal", value_domain=[0, 1]
        )
    return {"human": human.tolist(), "judge": judge.tolist(), "expected": expected}


def many_raters(seed: int, raters: int, units: int) -> dict[str, object]:
    """Return grades of several raters with a third of them missing."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 4, units)
    grades = np.clip(truth + random.integers(-1, 2, (raters, units)), 0, 3).astype(float)
    grades[random.random((raters, units)) < 0.33] = np.nan
    expected = {
        level: krippendorff.alpha(grades, level_of_measurement=level, value_domain=GRADES)
        for level in LEVELS
    }
    listed = [[None if np.isnan(g) else int(g) for g in row] for row in grades]
    return {"raters": listed, "expected": expected}


def paired_scores(seed: int, n: int) -> dict[str, object]:
    """Return paired scores with ties."""
    random = np.random.default_rng(seed)
    x = np.round(random.random(n), 1)
    y = np.round((x + random.random(n)) / 2, 1)
    expected = {
        "kendall_tau_b": stats.kendalltau(x, y).statistic,
        "spearman": stats.spearmanr(x, y).statistic,
        "pearson": stats.pearsonr(x, y).statistic,
    }
    return {"x": x.tolist(), "y": y.tolist(), "expected": expected}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    frozen = {
        "command": "python scripts/freeze_agreement.py > tests/reference/agreement.json",
        "graded_pairs": [graded_pairs(seed, n) for seed, n in enumerate((10, 25, 60, 60))],
        "many_raters": [many_raters(seed, 3 + seed, 15) for seed in range(4)],
        "paired_scores": [paired_scores(seed, n) for seed, n in enumerate((6, 12, 40))],
    }
    print(json.dumps(frozen, indent=None, default=float))
