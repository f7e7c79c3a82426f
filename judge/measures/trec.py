"""TREC runs and qrels line by line: the plain reader, whose rules the columnar one keeps.

A line is fields between ASCII white space (tabs, several blanks and CRLF included), in
UTF-8 and without NUL bytes; blank lines and comments are nothing. Everything else is a problem
with its line number, and all of them are reported at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from judge.errors import SHOWN_PROBLEMS, InputError, Problem
from judge.trec_lines import COMMENT, QRELS_FIELDS, RUN_FIELDS, wrong_columns, wrong_score

_GRADE_LIMIT = 2**31
_SHOWN_BYTES = 40
_COMMENT = COMMENT.encode()


@dataclass(frozen=True, slots=True)
class Scored:
    """One document of one list, as its run line has it."""

    document: str
    score: float


Lists = dict[str, list[Scored]]
"""Documents of each query in file order; blocks of one query that stand apart are one list."""


@dataclass(slots=True)
class Problems:
    """Bad lines of one file: the first twenty are kept, all are counted."""

    name: str
    found: list[tuple[int, str, str]] = field(default_factory=list)
    total: int = 0

    def add(self, line: int, found: str, fix: str) -> None:
        """Record one bad line: its number, what stands there, what to do."""
        self.total += 1
        if len(self.found) < SHOWN_PROBLEMS:
            self.found.append((line, found, fix))

    def extend(self, later: Problems, *, lines_before: int) -> None:
        """Add the bad lines of a later part of the file, counted from that part's start."""
        for line, found, fix in later.found:
            self.add(line + lines_before, found, fix)
        self.total += later.total - len(later.found)

    def check(self) -> None:
        """Raise InputError with everything recorded, if anything was."""
        if self.found:
            places = [Problem(f"{self.name}:{line}", *rest) for line, *rest in self.found]
            raise InputError(places, total=self.total)


def read_run(lines: Iterable[bytes], *, name: str) -> dict[str, Lists]:
    """Return the lists of each run tag, tags and queries in the order first met.

    Raises InputError naming every bad line; also where there is no line at all.
    """
    problems = Problems(name)
    runs = run_lists(lines, problems)
    problems.check()
    if not runs:
        raise nothing_in(name, "rows")
    return runs


def run_lists(lines: Iterable[bytes], problems: Problems) -> dict[str, Lists]:
    """Return the lists of each run tag; bad lines go to `problems` and are left out."""
    runs: dict[str, Lists] = {}
    for number, (query, _, document, _, score_text, tag) in _fields(lines, RUN_FIELDS, problems):
        score = parse_score(score_text)
        if score is None:
            if not query.startswith(_COMMENT):
                problems.add(number, *wrong_score(shown(score_text)))
            continue
        lists = runs.setdefault(tag.decode(), {})
        lists.setdefault(query.decode(), []).append(Scored(document.decode(), score))
    return runs


def read_qrels(lines: Iterable[bytes], *, name: str) -> dict[str, dict[str, int]]:
    """Return the grades of each query's documents, negative ones as they are.

    A pair that is graded twice must have one grade. Raises InputError as `read_run`; what it
    is raised for may be an unusual way to write a grade, which `formats.read_qrels` knows.
    """
    qrels: dict[str, dict[str, int]] = {}
    seen_at: dict[tuple[str, str], int] = {}
    problems = Problems(name)
    for number, (query_bytes, _, document_bytes, text) in _fields(lines, QRELS_FIELDS, problems):
        grade = parse_grade(text)
        if grade is None:
            if not query_bytes.startswith(_COMMENT):
                problems.add(number, f"grade {shown(text)} is not an integer", "correct the line")
            continue
        query, document = query_bytes.decode(), document_bytes.decode()
        first = seen_at.setdefault((query, document), number)
        known = qrels.setdefault(query, {}).setdefault(document, grade)
        if known != grade:
            pair = f"document {shown(document_bytes)} of query {shown(query_bytes)}"
            found = f"{pair} has grade {grade}, but {known} on line {first}"
            problems.add(number, found, "keep one of the two lines")
    problems.check()
    if not qrels:
        raise nothing_in(name, "judgments")
    return qrels


def is_line(line: bytes) -> bool:
    """Tell whether this is a line of a run or of qrels, rather than one of a table.

    >>> is_line(b"q1 Q0 smith,2019 1 9.5 bm25"), is_line(b"query, id, grade, rater")
    (True, False)
    """
    fields = line.split()
    if len(fields) == RUN_FIELDS:
        return parse_score(fields[4]) is not None
    return len(fields) == QRELS_FIELDS and parse_grade(fields[3]) is not None


def nothing_in(name: str, what: str) -> InputError:
    """Return the error for a file in which every line is blank."""
    return InputError(Problem(name, f"no {what}", "was the command that wrote it stopped?"))


def parse_score(text: bytes) -> float | None:
    """Return a score, or None where the text is no number that can be ordered.

    >>> parse_score(b"-1.5e3"), parse_score(b"nan"), parse_score(b"1_000")
    (-1500.0, None, None)
    """
    try:
        score = float(text)
    except ValueError:
        return None
    return None if score != score or b"_" in text else score


def parse_grade(text: bytes) -> int | None:
    """Return a grade, or None where the text is no integer of at most 32 bits."""
    digits = text[1:] if text[:1] in (b"-", b"+") else text
    if not digits.isdigit() or len(digits) > 10:
        return None
    grade = int(text)
    return grade if -_GRADE_LIMIT <= grade < _GRADE_LIMIT else None


def shown(text: bytes) -> str:
    """Return bytes of a file as a message may show them: short, quoted, no escapes."""
    head = repr(text[:_SHOWN_BYTES].decode("utf-8", "replace"))
    return head if len(text) <= _SHOWN_BYTES else f"{head}…"


def _fields(
    lines: Iterable[bytes], wanted: int, problems: Problems
) -> Iterator[tuple[int, list[bytes]]]:
    """Yield line number and fields of every line that is shaped as it should be."""
    for number, line in enumerate(lines, start=1):
        fields = line.split()
        if not fields:
            continue
        wrong = wrong_shape(line, len(fields), wanted)
        if wrong is None:
            yield number, fields
        elif not fields[0].startswith(_COMMENT):
            problems.add(number, *wrong)


def wrong_shape(line: bytes, count: int, wanted: int) -> tuple[str, str] | None:
    """Return what is wrong with a line as a whole and what to do, or None."""
    if b"\0" in line:
        return "a NUL byte", "give a text file"
    if not line.isascii():
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            byte = error.object[error.start]
            return f"byte 0x{byte:02x} is not UTF-8", "convert the file: iconv -f latin1 -t utf-8"
    if count != wanted:
        return wrong_columns(count, wanted, shown=shown(line.strip()))
    return None
