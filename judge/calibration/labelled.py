"""Labels joined with what a judge said of the same chunks; what takes no part is counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from judge.formats.labels import Label
from judge.run import Notice
from judge.statistics.paired import GradedUnit

Pair: TypeAlias = tuple[str, str]
"""(query id, chunk id)"""


@dataclass(frozen=True, slots=True)
class Drawn:
    """Labels that may enter an estimate, each with its weight 1/pi."""

    labels: tuple[tuple[Label, float], ...]
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class Units:
    """Chunks that the judge and people graded."""

    units: tuple[GradedUnit, ...]
    notices: tuple[Notice, ...] = ()


def drawn_labels(labels: Iterable[Label]) -> Drawn:
    """Return the labels that were drawn.

    Where any label says with what probability it was drawn, those that do not were chosen by
    looking and stay out. Where none does, all count alike.
    """
    labels = tuple(labels)
    drawn = tuple((label, 1.0 / label.pi) for label in labels if label.pi is not None)
    if labels and not drawn:
        text = "no label says with what probability it was drawn (pi): all count alike"
        return Drawn(tuple((label, 1.0) for label in labels), (Notice("no pi", len(labels), text),))
    looked = len(labels) - len(drawn)
    text = f"{looked:,} labels left out: chosen by looking, not drawn (they have no pi)"
    return Drawn(drawn, (Notice("label not drawn", looked, text),) if looked else ())


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
