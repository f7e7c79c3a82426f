"""Labels that say something of what nobody labelled, joined with the judge's grades.

A label speaks for others only if its chunk was drawn, not picked by looking. What was picked, or
graded by nobody else, takes no part and is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from judge.formats.labels import Label
from judge.run import Notice
from judge.statistics.paired import GradedUnit

Pair: TypeAlias = tuple[str, str]
"""(query id, chunk id)"""

CHOSEN = "the labels were chosen by looking, not drawn: they correct nothing"
UNKNOWN = "no label says how it was drawn: right only if chance chose what was labelled"


@dataclass(frozen=True, slots=True)
class Drawn:
    """Labels that may enter an estimate, each with its weight 1/pi.

    is_known: they say with what chance they were drawn; else nobody says
    chosen: how many were left out because somebody picked them by looking
    """

    labels: tuple[tuple[Label, float], ...]
    is_known: bool
    chosen: int = 0
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class Units:
    """Chunks that the judge and people graded."""

    units: tuple[GradedUnit, ...]
    notices: tuple[Notice, ...] = ()


def drawn_labels(labels: Iterable[Label]) -> Drawn:
    """Return the labels that were drawn.

    Where the file or another label says with what probability it was drawn, a label that does
    not was chosen by looking and stays out. Where nothing says it, all count alike.
    """
    labels = tuple(labels)
    is_known = any(label.pi is not None or label.chosen for label in labels)
    if not is_known:
        notices = (Notice("no pi", len(labels), UNKNOWN),) if labels else ()
        return Drawn(tuple((label, 1.0) for label in labels), is_known=False, notices=notices)
    drawn = tuple((label, 1.0 / label.pi) for label in labels if label.pi is not None)
    looked = len(labels) - len(drawn)
    are = "label is" if looked == 1 else "labels are"
    text = f"{looked:,} {are} left out: chosen by looking, not drawn (no pi)"
    notices = (Notice("label not drawn", looked, text),) if looked else ()
    return Drawn(drawn, is_known=True, chosen=looked, notices=notices)


def graded_units(judged: Mapping[Pair, int], labels: Sequence[tuple[Label, float]]) -> Units:
    """Join weighted labels with the judge's grades by (query id, chunk id)."""
    humans: dict[Pair, list[int]] = {}
    weights: dict[Pair, float] = {}
    strangers: list[Label] = []
    for label, weight in labels:
        pair = (label.query_id, label.id)
        if pair in judged:
            humans.setdefault(pair, []).append(label.grade)
            weights[pair] = weight
        else:
            strangers.append(label)
    units = [
        GradedUnit(pair[0], judged[pair], tuple(given), weights[pair])
        for pair, given in humans.items()
    ]
    return Units(tuple(units), _not_judged(strangers))


def _not_judged(labels: Sequence[Label]) -> tuple[Notice, ...]:
    if not labels:
        return ()
    first = f"first: query {labels[0].query_id!r}, chunk {labels[0].id!r}"
    text = f"{len(labels):,} labels left out: the judge graded no such chunk ({first})"
    return (Notice("label without judgment", len(labels), text),)
