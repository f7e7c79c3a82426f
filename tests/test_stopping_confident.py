"""`judge.stopping.confident`: every course of its draws walked, the chance of an error added up."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import pairwise

import pytest
from stopping_pools import CONTRAST, Answering, Rows, true_sign

from judge.stopping.confident import Confident
from judge.stopping.drawing import Candidate


class Course:
    """Draws that take one branch after the other: each course once, with its chance."""

    def __init__(self) -> None:
        self.taken: list[tuple[int, tuple[float, ...]]] = []
        self.at, self.chance = 0, 1.0
        self.drawn = Candidate(0, 1.0, (), ())

    def __call__(self, seed: object) -> Course:
        return self

    def seed(self, seed: object) -> None:
        """Take no seed: nothing here is random."""

    def choices(self, offered: Sequence[Candidate], weights: Sequence[float]) -> list[Candidate]:
        total = sum(weights)
        self.drawn = offered[self._branch(tuple(weight / total for weight in weights))]
        return [self.drawn]

    def random(self) -> float:
        ends = (*self.drawn.reach, 0.0)
        parts = [(high, low) for high, low in pairwise(ends) if high > low]
        high, low = parts[self._branch(tuple(high - low for high, low in parts))]
        return (high + low) / 2.0

    def next(self) -> bool:
        """Turn to the next course; False after the last."""
        while self.taken and self.taken[-1][0] + 1 == len(self.taken[-1][1]):
            self.taken.pop()
        if self.taken:
            branch, chances = self.taken.pop()
            self.taken.append((branch + 1, chances))
        self.at, self.chance = 0, 1.0
        return bool(self.taken)

    def _branch(self, chances: tuple[float, ...]) -> int:
        if self.at == len(self.taken):
            self.taken.append((0, chances))
        branch, known = self.taken[self.at]
        assert known == chances, "what a draw depends on is fixed before it"
        self.at, self.chance = self.at + 1, self.chance * chances[branch]
        return branch


def tiny_rows(seed: int) -> Rows:
    drawn = random.Random(seed)
    made = []
    for _ in range(3):
        grades = {f"c{i}": drawn.choice([0, 0, 1, 2, 3]) for i in range(3)}
        before, after = (drawn.sample(list(grades), 2) for _ in range(2))
        made.append((before, after, grades))
    return made


def findings(
    rows: Rows, confidence: float, limit: int, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[float, int]]:
    """Yield the chance of each course and the sign that it finds, 0 for none."""
    course = Course()
    monkeypatch.setattr("judge.stopping.confident.random.Random", course)
    while True:
        selector = Confident(CONTRAST, confidence=confidence)
        Answering(rows).run(selector, limit=limit)
        yield course.chance, selector.finding.sign if selector.finding else 0
        if not course.next():
            return


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1, 64])
def test_no_course_of_draws_is_wrong_more_often_than_it_says(
    limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    populations = [rows for rows in map(tiny_rows, range(60)) if true_sign(rows)][:6]
    errors = []
    for rows in populations:
        found = list(findings(rows, 0.6, limit, monkeypatch))
        monkeypatch.undo()
        assert sum(chance for chance, _ in found) == pytest.approx(1.0)
        errors.append(sum(chance for chance, sign in found if sign == -true_sign(rows)))
    assert 0.0 < max(errors) <= 0.4 + 1e-9
