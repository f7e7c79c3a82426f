"""The results of a row: ids as text, `--key`, texts, and grades that stand beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import repeat
from math import isfinite
from typing import Any, NamedTuple

from judge.formats.decoding import Fields
from judge.formats.fields import FieldReader
from judge.formats.findings import Findings, Place, shown
from judge.formats.ids import content_id, id_text, key_id
from judge.formats.options import ReadOptions
from judge.formats.scale import Scale
from judge.formats.spellings import PLAIN_OF_RESULT, RESULT
from judge.formats.values import number
from judge.run import Result

_NO_ID = "give each result an id, or say which field it is: --map FIELD=id"


_NONE = type(None)
# In the order in which a result takes them.
_PLAIN_VALUES: Mapping[str, frozenset[type]] = {
    "id": frozenset({str}),
    "document_id": frozenset({str, _NONE}),
    "text": frozenset({str, _NONE}),
    "metadata": frozenset({dict, _NONE}),
    "score": frozenset({float, _NONE}),
}
_TEXT = list(_PLAIN_VALUES).index("text")
_THERE = "(text)"
"""Stands for each text that nobody will read; one that says nothing stays what it is."""


class Ranked(NamedTuple):
    """The results of one row, and those of them that came with a grade."""

    results: tuple[Result, ...] = ()
    graded: tuple[tuple[Result, int], ...] = ()


class ResultReader:
    """Turns lists of foreign results into results, and remembers what it met."""

    def __init__(self, options: ReadOptions, findings: Findings) -> None:
        self._key = options.key
        self._findings = findings
        self._fields = FieldReader(
            "result", RESULT, findings=findings, renames=options.map, plain=PLAIN_OF_RESULT
        )
        self._scale = Scale(options, findings, grade_max=options.grade_max)
        self._texts_of = options.texts_of
        self._n_rows = 0

    def ranked(self, items: list[object], place: Place) -> Ranked:
        """Return the results of one row; a repeated id keeps its slot and is counted."""
        self._n_rows += 1
        plain = self._plain(items, place)
        if plain is not None:
            self._count_repeats(plain, place)
            return Ranked(tuple(plain))
        results: list[Result] = []
        graded: list[tuple[Result, int]] = []
        for index, item in enumerate(items):
            if isinstance(item, str) and item and not self._key:
                results.append(Result(item))
                continue
            fields = self._as_fields(item, place, index)
            result = self._result(fields, item, place, index) if fields is not None else None
            if fields is None or result is None:
                continue
            results.append(result)
            if "grade" in fields:
                graded += self._grade(fields["grade"], result, place, index)
        self._count_repeats(results, place)
        return Ranked(tuple(results), tuple(graded))

    def report(self) -> None:
        """Record what is true of the results of all rows together."""
        self._fields.report()
        self._scale.report()

    def _plain(self, items: list[object], place: Place) -> list[Result] | None:
        """Return results that are as usual; None where one of them needs a closer look.

        A run may have millions: objects of one layout with our names and plain values.
        """
        records = [item for item in items if isinstance(item, dict)]
        alike = set(map(tuple, records))
        if self._key or len(records) != len(items) or len(alike) != 1:
            return None
        layout = self._fields.layout(alike.pop(), place)
        if not layout.as_is or "grade" in layout.theirs:
            return None
        columns: list[Iterable[Any]] = []
        for name, kinds in _PLAIN_VALUES.items():
            values = [record[name] for record in records] if name in layout.theirs else None
            if values is not None and not kinds.issuperset(map(type, values)):
                return None
            columns.append(repeat(None) if values is None else values)
        if self._texts_of is not None and self._n_rows > self._texts_of:
            columns[_TEXT] = (
                _THERE if text and not text.isspace() else text for text in columns[_TEXT]
            )
        if "id" not in layout.theirs or not all(columns[0]):
            return None
        results = list(map(Result, *columns))
        if "score" in layout.theirs and not all(map(_is_finite, results)):
            return None
        layout.count += len(records)
        return results

    def _as_fields(self, item: object, place: Place, index: int) -> Fields | None:
        if isinstance(item, dict):
            return self._fields.read(item, place)
        if isinstance(item, (str, int, float)):
            return {"id": item}
        self._findings.problem(_slot(place, index), shown(item), "a result is an id or an object")
        return None

    def _result(self, fields: Fields, item: object, place: Place, index: int) -> Result | None:
        given, text, metadata = fields.get("id"), fields.get("text"), fields.get("metadata")
        document, score = fields.get("document_id"), fields.get("score")
        if text is not None and not isinstance(text, str):
            self._findings.problem(_slot(place, index).at("text"), shown(text), "text is text")
            return None
        if metadata is not None and not isinstance(metadata, dict):
            where = _slot(place, index).at("metadata")
            self._findings.problem(where, shown(metadata), "metadata is an object")
            return None
        id = id_text(given)
        if self._key or not id:
            id = self._made_id(fields, item, id, place, index)
            if id is None:
                return None
        if document is not None and document.__class__ is not str:
            document = self._document(document, place, index)
        return Result(id, document, text, metadata, None if score is None else number(score))

    def _document(self, value: object, place: Place, index: int) -> str | None:
        document = id_text(value)
        if document is None:
            where = _slot(place, index).at("document_id")
            self._findings.problem(where, shown(value), "an id is text or a whole number")
        return document

    def _grade(
        self, value: object, result: Result, place: Place, index: int
    ) -> list[tuple[Result, int]]:
        grade = None if value is None else self._scale.grade(value, _slot(place, index))
        return [] if grade is None else [(result, grade)]

    def _made_id(
        self, fields: Fields, item: object, own: str | None, place: Place, index: int
    ) -> str | None:
        """Return the id by `--key`, or one made from the text where a result has none."""
        given, text = fields.get("id"), fields.get("text")
        if self._key:
            return self._key_id(fields, item, own, place, index)
        if given is not None or not isinstance(text, str):
            found = "a result without id or text" if given is None else f"id {shown(given)}"
            self._findings.problem(_slot(place, index), found, _NO_ID)
            return None
        then = "each gets a hash of its text as id"
        self._findings.count("content id", "results without id", place=place, consequence=then)
        return content_id(text)

    def _key_id(
        self, fields: Fields, item: object, own: str | None, place: Place, index: int
    ) -> str:
        """Return the id made of `--key`'s fields, or one that matches nothing else."""
        metadata = fields.get("metadata")
        held = (
            {**item, **metadata} if isinstance(item, dict) and isinstance(metadata, dict) else item
        )
        id = key_id(held, self._key) if isinstance(held, dict) else None
        if id is not None:
            return id
        what = f"results without {','.join(self._key)}"
        then = "each keeps its slot and matches no expected id"
        self._findings.count("unmatched slot", what, place=place, consequence=then)
        text = fields.get("text")
        name = own or (content_id(text) if isinstance(text, str) else str(_slot(place, index)))
        return f"(no {','.join(self._key)}) {name}"

    def _count_repeats(self, results: list[Result], place: Place) -> None:
        n_repeats = len(results) - len({result.id for result in results})
        if n_repeats:
            then = "the first counts, later ones keep their slot and gain nothing"
            self._findings.count(
                "repeated id", "ids repeated in a list", place=place, consequence=then, n=n_repeats
            )


def _is_finite(result: Result) -> bool:
    return result.score is None or isfinite(result.score)


def _slot(place: Place, index: int) -> Place:
    return place.at(f"results[{index}]")
