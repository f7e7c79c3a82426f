"""The probability that a model gave each grade, at the token that holds the grade it said."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from judge.judging.verdict import place_of_grade

_ROUNDING = 0.01


def grade_probabilities(
    tokens: Sequence[object], *, field: str, grade_max: int, text: str | None = None
) -> tuple[float, ...] | None:
    """Return the probability of each grade 0..G at the token that held the grade.

    Not renormalised: the sum is the mass that the grades have together. None if the grade's
    token is not found, or what stands there are no log probabilities.
    text: the reply that is graded, where the tokens may hold more: thoughts, marks of its end
    """
    pieces = [_token(token) for token in tokens]
    at = _place("".join(pieces), text, field=field, grade_max=grade_max)
    if at is None:
        return None
    start = 0
    for token, piece in zip(tokens, pieces, strict=True):
        if start <= at < start + len(piece):
            return _mass_of_grades(_get(token, "top_logprobs"), grade_max)
        start += len(piece)
    return None


def _place(said: str, text: str | None, *, field: str, grade_max: int) -> int | None:
    """Return where the graded digit stands in all that was said, by what a verdict is read from."""
    start = said.rfind(text) if text else -1
    if text and start >= 0:
        at = place_of_grade(text, field=field, grade_max=grade_max)
        return None if at is None else start + at
    return place_of_grade(said, field=field, grade_max=grade_max)


def _mass_of_grades(alternatives: object, grade_max: int) -> tuple[float, ...] | None:
    if not isinstance(alternatives, list) or not alternatives:
        return None
    mass = [0.0] * (grade_max + 1)
    for alternative in alternatives:
        token, p = _get(alternative, "token"), _probability(_get(alternative, "logprob"))
        if p is None or not isinstance(token, str):
            return None
        digit = re.fullmatch(r"\W*([0-9])\W*", token[:40])
        if digit is not None and int(digit[1]) <= grade_max:
            mass[int(digit[1])] += p
    return tuple(mass) if sum(mass) <= 1 + _ROUNDING else None


def _probability(logprob: object) -> float | None:
    """Return the probability with a given logarithm, None if it is no such thing."""
    if not isinstance(logprob, int | float) or isinstance(logprob, bool):
        return None
    return math.exp(min(0.0, logprob)) if logprob <= _ROUNDING else None  # nor is NaN


def _token(value: object) -> str:
    token = _get(value, "token")
    return token if isinstance(token, str) else ""


def _get(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else None
