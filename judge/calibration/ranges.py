"""Do judge and people grade on one scale? Ranges that differ, noticed before any kappa is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from judge.run import Notice

_ENOUGH = 20
"""Fewer grades than this may leave a grade out by chance."""

_CURE = "if their scale is another one, say what its grades mean: --labels-grade-map VALUE=GRADE,…"


def range_notices(judged: Iterable[int], people: Iterable[int]) -> tuple[Notice, ...]:
    """Return what to say where one side uses grades that the other never does.

    judged, people: all grades of each side; said of each side with at least 20 of them
    """
    judge, labels = tuple(judged), tuple(people)
    if min(len(judge), len(labels)) < _ENOUGH:
        return ()
    return tuple(
        Notice("ranges differ", 1, f"{text}; {_CURE}") for text in _differences(judge, labels)
    )


def _differences(judge: tuple[int, ...], people: tuple[int, ...]) -> Iterator[str]:
    of_judge, of_people = sorted(set(judge)), sorted(set(people))
    if len(of_people) == 2 < len(of_judge) or len(of_judge) == 2 < len(of_people):
        yield f"people use grades {_listed(of_people)} alone, the judge {_listed(of_judge)}"
        return
    for who, other, used, others, own, theirs in (
        ("people", "the judge", of_people, of_judge, people, judge),
        ("the judge", "people", of_judge, of_people, judge, people),
    ):
        verb = "use" if who == "people" else "uses"
        # A rare grade may be missing by chance; one that the other side gives often is not.
        if used[0] > others[0] and _often(grade < used[0] for grade in theirs):
            yield f"{who} never {verb} a grade below {used[0]}, {other} from {others[0]} on"
        if used[-1] > others[-1] and _often(grade > others[-1] for grade in own):
            yield f"{who} {verb} grades up to {used[-1]}, {other} up to {others[-1]} only"


def _often(beyond: Iterable[bool]) -> bool:
    found = tuple(beyond)
    return sum(found) >= len(found) / 10


def _listed(grades: list[int]) -> str:
    *head, last = map(str, grades)
    return f"{', '.join(head)} and {last}" if head else last
