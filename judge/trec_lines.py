"""What a line of a TREC file is, and what to say of one that is wrong: for every reader."""

from __future__ import annotations

RUN_FIELDS = 6
QRELS_FIELDS = 4

_SHAPES = {
    RUN_FIELDS: "a run line is: query Q0 document rank score tag",
    QRELS_FIELDS: "a qrels line is: query 0 document grade",
}
_MEANT = {
    (QRELS_FIELDS, RUN_FIELDS): "; four columns are qrels",
    (RUN_FIELDS, QRELS_FIELDS): "; six columns are a run",
}

COMMENT = "#"
"""How a comment begins, as in trec_eval 10. What is a whole line of data all the same is data:
a query may be called `#1`, and trec_eval 9 knows no comments."""


def wrong_columns(count: int, wanted: int, *, shown: str) -> tuple[str, str]:
    """Return what is found and what to do where a line has `count` columns. shown: the line."""
    fix = _SHAPES[wanted] + _MEANT.get((count, wanted), "")
    return f"{count} {'column' if count == 1 else 'columns'} instead of {wanted}: {shown}", fix


def wrong_score(shown: str) -> tuple[str, str]:
    """Return what is found and what to do where a score is no number."""
    return f"score {shown} is not a number", "correct the line"
