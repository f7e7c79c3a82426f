"""What each grade means, in the words that a person labelling sees."""

from __future__ import annotations

INSTRUCTION = (
    "Read the query, then the chunk. Grade how well the chunk by itself answers the query, "
    "whatever you know of the matter. Between two grades take the lower one. What the judge said "
    "shows only after your grade."
)
"""What a person reads before the first chunk."""

_FOUR = (
    "irrelevant",
    "related, does not answer",
    "answers in part or unclearly",
    "answers exactly",
)


def meanings(grade_max: int) -> tuple[str, ...]:
    """Return the meaning of each grade 0..grade_max, the scale's own words where it is 0..3.

    >>> meanings(1)
    ('irrelevant', 'the best there is')
    """
    if grade_max == len(_FOUR) - 1:
        return _FOUR
    between = ("between the two",) * (grade_max - 1)
    return ("irrelevant", *between, "the best there is")
