"""Grades known before: qrels of every kind, `{query: {doc: grade}}`, our judgments.jsonl."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from judge.formats.decoding import Document, Fields, looks_like_json
from judge.formats.families import decode_any, is_family_table, recognised
from judge.formats.fields import FieldReader
from judge.formats.findings import Findings, Place, shown
from judge.formats.ids import id_text
from judge.formats.opening import QRELS, SourceFile, read_text, source_name, uncollected
from judge.formats.options import DEFAULTS, ReadOptions
from judge.formats.qrels_table import plain_qrels
from judge.formats.records import records_of
from judge.formats.scale import Scale
from judge.formats.spellings import GRADE, PLAIN, PLAIN_OF_BEIR
from judge.formats.tables import table_delimiter, table_header, table_records
from judge.formats.textfile import TextFile
from judge.formats.trec import qrels_lines
from judge.formats.values import label
from judge.grades import WORD_OVERLAP, Source
from judge.run import KnownGrade, Notice
from judge.trec_lines import COMMENT

_DIGITS = 18  # more are no grade, and may be more than Python turns into a number
_NAME_THEM = "say which fields they are: --map FIELD=query_id,FIELD=id,FIELD=grade"


@dataclass(frozen=True, slots=True)
class GradeFile:
    """The grades of a file on the scale 0..G, and what was counted on the way."""

    grades: Sequence[KnownGrade]
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class Qrels:
    """Grades as the file has them, negatives too: query -> document -> grade."""

    grades: dict[str, dict[str, int]]
    notices: tuple[Notice, ...] = ()


Interval: TypeAlias = tuple[int, int]
"""lo and hi."""


class Statement(NamedTuple):
    """One line of a file of grades, its grade as written."""

    place: Place
    query_id: str | None
    query: str | None
    id: str
    grade: object
    fields: Fields


def read_grades(source: SourceFile, options: ReadOptions = DEFAULTS) -> GradeFile:
    """Return the grades of a file, as priors on the scale 0..`options.grade_max`.

    Shapes: TREC qrels, BEIR TSV or CSV with a header, `{query: {doc: grade}}`, records with
    `query_id`, `id`, `grade` (our judgments.jsonl, whose open lines keep their interval).
    A grade given twice is counted; two different grades of one pair are an error naming both
    places. Negative grades become 0, counted. Raises InputError naming grades off the scale
    and the flag to write.
    """
    file, findings = read_text(source, inside=QRELS), Findings()
    with uncollected():
        if is_trec(file) and (table := plain_qrels(file, options)) is not None:
            return GradeFile(table)
        placed = _placed_statements(file, options, findings)
        return GradeFile(tuple(_known(*one) for one in placed), findings.notices())


def placed_statements(
    source: SourceFile, options: ReadOptions, findings: Findings
) -> list[tuple[Statement, Interval]]:
    """Return what a file states of each pair, with its interval on the scale; see `read_grades`."""
    return _placed_statements(read_text(source, inside=QRELS), options, findings)


def _placed_statements(
    file: TextFile, options: ReadOptions, findings: Findings
) -> list[tuple[Statement, Interval]]:
    scale = Scale(options, findings, grade_max=options.grade_max)
    placed = _Placed(findings)
    for statement in statements(file, options, findings):
        interval = _interval(statement, scale, options, findings)
        if interval is not None:
            placed.add(statement, interval)
    scale.report()
    findings.check_some(placed.pairs, "grades", file.name)
    return list(placed.pairs.values())


def read_qrels(source: SourceFile, options: ReadOptions = DEFAULTS) -> Qrels:
    """Return grades as `measure` takes them: any whole number, a negative one gains nothing.

    The same shapes and errors as `read_grades`; lines of judgments.jsonl that are open are
    left out and counted. `options.grade_map` applies, `grade_max` does not.
    """
    findings = Findings()
    scale = Scale(options, findings)
    placed = _Placed(findings)
    for statement in statements(read_text(source, inside=QRELS), options, findings):
        if statement.grade is None:
            _count_open(statement, findings)
            continue
        grade = scale.grade(statement.grade, statement.place)
        if grade is not None:
            placed.add(statement, (grade, grade))
    scale.report()
    findings.check_some(placed.pairs, "grades", source_name(source))
    qrels: dict[str, dict[str, int]] = {}
    for (query, id), (_, (grade, _)) in placed.pairs.items():
        qrels.setdefault(query, {})[id] = grade
    return Qrels(qrels, findings.notices())


class _Placed:
    """Grades by (query, id): equal repeats are counted, different ones are a problem."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self.pairs: dict[tuple[str, str], tuple[Statement, Interval]] = {}

    def add(self, statement: Statement, interval: Interval) -> None:
        """Take a statement's interval, unless its pair has one."""
        pair = (statement.query_id or statement.query or "", statement.id)
        first, held = self.pairs.setdefault(pair, (statement, interval))
        if first is statement:
            return
        if held == interval:
            self._findings.count("repeated grade", "grades given twice", place=statement.place)
            return
        found = f"{shown(pair[1])} of query {shown(pair[0])} has another grade at {first.place}"
        raters = first.fields.get("rater"), statement.fields.get("rater")
        fix = "keep one of the two"
        if raters[0] != raters[1]:
            found += f", by another rater ({' and '.join(map(shown, raters))})"
            fix = "give the file as --labels, where raters may differ, or keep one of the two"
        self._findings.problem(statement.place, found, fix)


def _known(statement: Statement, interval: Interval) -> KnownGrade:
    lo, hi = interval
    document, reason = (statement.fields.get(name) for name in ("document_id", "reason"))
    return KnownGrade(
        id=statement.id,
        lo=lo,
        hi=hi,
        query_id=statement.query_id,
        query=statement.query,
        document_id=None if document is None else id_text(document),
        source=Source.PRIOR,
        # A mock's grade stays one, however often its file is passed on.
        # Else the file alone is named: a million places would be a million texts.
        detail=WORD_OVERLAP if reason == WORD_OVERLAP else statement.place.file,
    )


def _interval(
    statement: Statement, scale: Scale, options: ReadOptions, findings: Findings
) -> Interval | None:
    """Return what a statement says of the grade; None where it says nothing or is wrong."""
    lo, hi = (_whole(statement.fields.get(name)) for name in ("lo", "hi"))
    if statement.grade is not None:
        stated, ends = _whole(statement.grade), {lo, hi} - {None}
        if stated is not None and ends - {stated}:
            found = f"grade {stated} beside lo {lo}, hi {hi}"
            findings.problem(statement.place, found, "a grade is both ends: keep what is right")
            return None
        grade = scale.grade(statement.grade, statement.place)
        return None if grade is None else (grade, grade)
    if statement.fields.get("lo") is None and statement.fields.get("hi") is None:
        _count_open(statement, findings)
        return None
    if lo is None or hi is None or not 0 <= lo <= hi <= options.grade_max:
        found = ", ".join(f"{name} {shown(statement.fields.get(name))}" for name in ("lo", "hi"))
        fix = f"they are grades, 0 <= lo <= hi <= {options.grade_max}"
        findings.problem(statement.place, found, fix)
        return None
    if (lo, hi) == (0, options.grade_max):
        _count_open(statement, findings)
        return None
    return lo, hi


def _whole(value: object) -> int | None:
    """Return a whole number, also one that a table has as text."""
    text = id_text(value)
    if text is None or len(text) > _DIGITS or not (text.isascii() and text.isdigit()):
        return None
    return int(text)


def _count_open(statement: Statement, findings: Findings) -> None:
    then = "nothing is known of them, they stay open"
    findings.count("open grade", "lines without a grade", place=statement.place, consequence=then)


def statements(file: TextFile, options: ReadOptions, findings: Findings) -> Iterator[Statement]:
    """Yield what a file of grades states, line by line; bad places go to `findings`."""
    decoded = decode_any(file, findings)
    if decoded is None:
        if _has_header(file):
            is_beir = {"query-id", "corpus-id"} <= set(table_header(file))
            plain = PLAIN_OF_BEIR if is_beir else PLAIN
            yield from _recorded(table_records(file, findings), options, findings, plain=plain)
        else:
            for place, query, document, grade in qrels_lines(file, findings):
                yield Statement(place, query, None, document, grade, {})
        return
    family = recognised(decoded)
    value = decoded.value if isinstance(decoded, Document) else None
    if family is not None:
        yield from _recorded(
            family.records("grades", decoded, options, findings), options, findings
        )
    elif isinstance(value, dict) and value and all(isinstance(v, dict) for v in value.values()):
        yield from _nested(value, Place(file.name))
    else:
        yield from _recorded(records_of(decoded, under="judgments").items, options, findings)


def is_trec(file: TextFile) -> bool:
    """Tell whether a file is lines of qrels: neither JSON nor a table with a header."""
    return not (looks_like_json(file) or is_family_table(file) or _has_header(file))


def _has_header(file: TextFile) -> bool:
    delimiter = table_delimiter(file)
    known = {name for ours, spellings in GRADE.items() for name in (ours, *spellings)}
    header = next(iter(file.first_lines()), "").lstrip().split(delimiter)
    if header[0].strip() != COMMENT and header[0].startswith(COMMENT):  # `#` alone counts lines
        return False
    return len(known & {cell.strip().strip('"') for cell in header}) > 1


def _nested(value: Fields, place: Place) -> Iterator[Statement]:
    """Yield `{query: {doc: grade}}`; a key may be the query's id or its text."""
    nothing: Fields = {}
    for query, grades in value.items():
        if isinstance(grades, dict):
            for document, grade in grades.items():
                at = place.at(shown(query)).at(shown(document))
                yield Statement(at, query, query.strip(), document, grade, nothing)


def _recorded(
    records: Iterable[tuple[Place, object]],
    options: ReadOptions,
    findings: Findings,
    *,
    plain: frozenset[str] = PLAIN,
) -> Iterator[Statement]:
    reader = FieldReader("grade", GRADE, findings=findings, renames=options.map, plain=plain)
    for place, record in records:
        if not isinstance(record, dict):
            findings.problem(place, shown(record), "a grade is an object with query_id, id, grade")
            continue
        fields = reader.read(record, place)
        id = id_text(fields.get("id"))
        query_id = label(fields, "query_id", place, findings)
        query = label(fields, "query", place, findings)
        if id is None or (query_id is None and query is None):
            missing = "id" if id is None else "query_id or query"
            findings.problem(place, f"a grade without {missing}", _NAME_THEM)
            continue
        yield Statement(place, query_id, query, id, fields.get("grade"), fields)
    reader.report()
