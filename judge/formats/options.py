"""What the reading flags say: how to take foreign fields, ids, grades and scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal, TypeAlias

from judge.grades import GRADE_MAX

Precision: TypeAlias = Literal["single", "double"]


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How files are read; the defaults suit files that follow the documentation.

    map: their field name -> ours (`--map question=query`); ours `-` leaves a field out
    key: metadata fields that make a result's id (`--key file_id,page`); empty: its own id
    run_tag: which run of a TREC file with several
    grade_max: G, the top of the grade scale 0..G
    grade_map: a grade as the file writes it -> a grade on the scale, None: as it stands
    labels_grade_map: the same of people's labels, which may stand on a scale of their own; None:
        as `grade_map` says
    map_flag: which flag maps the grades of the file in hand
    clip: grades off the scale become its nearest end, counted
    text_field: fields of a search engine's documents that make up a chunk's text
    texts_of: how many rows of a run keep their texts, None: all. Of the other texts it is only
        kept that they are there, which saves most of the memory where nobody reads them
    precision: how TREC scores compare: "single" as trec_eval 9, "double" as trec_eval 10
    """

    map: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    key: tuple[str, ...] = ()
    run_tag: str | None = None
    grade_max: int = GRADE_MAX
    grade_map: Mapping[str, int] | None = None
    labels_grade_map: Mapping[str, int] | None = None
    map_flag: str = "--grade-map"
    clip: bool = False
    text_field: tuple[str, ...] = ()
    precision: Precision = "single"
    texts_of: int | None = None

    @property
    def of_labels(self) -> ReadOptions:
        """Return how people's labels are read."""
        own = self.labels_grade_map
        of_all = self.grade_map if own is None else own
        return replace(self, grade_map=of_all, map_flag="--labels-grade-map")


DEFAULTS = ReadOptions()
