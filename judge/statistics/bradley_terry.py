"""Strengths from pairwise wins, for putting near-ties at the top in order."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

PSEUDO_WINS = 0.5
_CLOSE = 1e-12
_ROUNDS = 100_000


def log_strengths(
    wins: Sequence[Sequence[float]], *, pseudo_wins: float = 0.0
) -> tuple[float, ...] | None:
    """Return each player's log strength, mean 0, by maximum likelihood; P(i beats j) is
    s_i / (s_i + s_j) (Bradley & Terry 1952; minorise-maximise after Hunter 2004).

    wins[i][j]: how often i beat j. pseudo_wins: added both ways to every pair that met, which
    keeps strengths finite. None where they are unbounded: some group of players never lost
    to, or never met, the others.
    """
    won = np.asarray(wins, dtype=np.float64)
    met = won + won.T
    won = won + pseudo_wins * (met > 0)
    np.fill_diagonal(won, 0.0)
    if not _strongly_connected(won > 0):
        return None
    met = won + won.T
    strengths = np.ones(len(won))
    for _ in range(_ROUNDS):
        expected = (met / (strengths[:, None] + strengths[None, :])).sum(1)
        after = won.sum(1) / expected
        after /= math.exp(float(np.log(after).mean()))
        moved = float(np.abs(np.log(after / strengths)).max())
        strengths = after
        if moved < _CLOSE:
            break
    return tuple(float(value) for value in np.log(strengths))


def _strongly_connected(beats: NDArray[np.bool_]) -> bool:
    """Tell whether everybody reaches everybody along wins."""
    reach = beats | np.eye(len(beats), dtype=bool)
    for _ in range(len(beats)):
        reach = reach @ reach
    return bool(reach.all())
