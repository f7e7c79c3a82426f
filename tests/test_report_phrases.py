"""Words that every report writes alike."""

from __future__ import annotations

import pytest

from judge.cascade import Grading, Settings
from judge.judging.judge import CallCounts
from judge.report.phrases import cost_words


@pytest.mark.parametrize(
    ("cost_usd", "unanswered", "words"),
    [
        (0.5, 0, "$0.5000"),
        (0.5, 1, "at least $0.5000 (1 call without an answer may have been billed)"),
        (0.0, 3, "at least $0.0000 (3 calls without an answer may have been billed)"),
        (None, 0, "cost unknown"),
        (None, 2, "cost unknown (2 calls without an answer may have been billed)"),
    ],
)
def test_a_cost_promises_no_more_than_is_known(
    cost_usd: float | None, unanswered: int, words: str
) -> None:
    calls = CallCounts(made=9, unanswered=unanswered)
    settings = Settings(measures=())
    grading = Grading((), settings, "id", (), calls=calls, cost_usd=cost_usd)
    assert cost_words(grading) == words
