"""TREC files: runs (`query Q0 document rank score tag`), and qrels (`query 0 document grade`).

Results are ordered as trec_eval does: score descending, ties by document id descending,
as text; the rank column is never looked at.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from judge.formats.findings import Findings, Place, shown
from judge.formats.opening import SourceFile, read_text
from judge.formats.options import DEFAULTS, Precision, ReadOptions
from judge.formats.textfile import TextFile
from judge.run import Notice
from judge.trec_lines import COMMENT, QRELS_FIELDS, RUN_FIELDS, wrong_columns, wrong_score

Scored: TypeAlias = tuple[str, float]
"""A document id and its score."""


@dataclass(frozen=True, slots=True)
class TrecRun:
    """The lists of one tag, query -> documents with scores, best first, and their notices."""

    lists: dict[str, list[Scored]]
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class TrecRuns:
    """The runs of a TREC file: tag -> query -> documents with scores, best first.

    A document that a list repeats keeps every slot; the first is the one that counts.
    """

    runs: dict[str, dict[str, list[Scored]]]
    notices: tuple[Notice, ...] = ()


def read_trec_run(source: SourceFile, options: ReadOptions = DEFAULTS) -> TrecRuns:
    """Return every run of a TREC run file, in the order its tags first appear.

    Raises InputError naming each line with a score that is no number, the wrong number of
    columns, or nothing at all.
    """
    findings = Findings()
    runs = trec_runs(read_text(source), options=options, findings=findings)
    return TrecRuns(
        {tag: run.lists for tag, run in runs.items()},
        tuple(notice for run in runs.values() for notice in run.notices),
    )


def trec_runs(file: TextFile, *, options: ReadOptions, findings: Findings) -> dict[str, TrecRun]:
    """Return the runs of a TREC text; raises InputError where `findings` hold problems.

    Ties and repeats are noted with the run they are of: who asks for one tag has no use
    for those of another.
    """
    runs: dict[str, dict[str, list[Scored]]] = {}
    # Lines of a query usually stand together: its list is looked up once.
    last: tuple[str, str] | None = None
    scored: list[Scored] = []
    for query, document, score, tag in _run_lines(file, findings):
        if (tag, query) != last:
            last = tag, query
            scored = runs.setdefault(tag, {}).setdefault(query, [])
        scored.append((document, score))
    findings.check()
    place = Place(file.name)
    return {
        tag: _ordered_run(lists, options.precision, place.at(tag)) for tag, lists in runs.items()
    }


def _ordered_run(lists: dict[str, list[Scored]], precision: Precision, place: Place) -> TrecRun:
    """Return the lists of one tag in order, query by query, so that two copies never stand."""
    findings = Findings()
    for query, scored in lists.items():
        at = Place(place.file, path=f"{place.path} {query}")
        lists[query] = ordered(scored, precision, findings=findings, place=at)
    return TrecRun(lists, findings.notices())


def ordered(
    scored: list[Scored], precision: Precision, *, findings: Findings, place: Place
) -> list[Scored]:
    """Return documents by score descending, then id descending; count ties and repeats.

    precision: "single" compares scores as C floats, as trec_eval 9 and pytrec_eval do
    """
    compared = [score for _, score in scored]
    if precision == "single":
        compared = array("f", compared).tolist()  # the C cast: beyond its range is inf
    order = sorted(range(len(scored)), key=lambda i: scored[i][0], reverse=True)
    order.sort(key=compared.__getitem__, reverse=True)
    if len(set(compared)) < len(compared):
        findings.count(
            "tied scores",
            f"results with the score of another in their list ({precision} precision)",
            place=place,
            consequence="ordered by document id, descending, as trec_eval does",
            n=sum(n for n in Counter(compared).values() if n > 1),
        )
    n_repeats = len(scored) - len({document for document, _ in scored})
    if n_repeats:
        findings.count(
            "repeated id",
            "ids repeated in a list",
            place=place,
            consequence="the first counts, later ones keep their slot and gain nothing",
            n=n_repeats,
        )
    return [scored[i] for i in order]


def qrels_lines(file: TextFile, findings: Findings) -> Iterator[tuple[Place, str, str, str]]:
    """Yield place, query, document and grade, as text, of each line of qrels."""
    for number, line in file.lines():
        columns = line.split() if line.isprintable() else columns_of(line)
        if len(columns) == 4:
            query, _, document, grade = columns
            if not (query.startswith(COMMENT) and _score(grade) is None):
                yield Place(file.name, number), query, document, grade
        elif columns and not columns[0].startswith(COMMENT):
            wrong = wrong_columns(len(columns), QRELS_FIELDS, shown=shown(line.strip()))
            findings.problem(Place(file.name, number), *wrong)


def _run_lines(file: TextFile, findings: Findings) -> Iterator[tuple[str, str, float, str]]:
    for number, line in file.lines():
        columns = line.split() if line.isprintable() else columns_of(line)
        if len(columns) == 6:
            query, _, document, _, text, tag = columns
            score = _score(text)
            if score is not None:
                yield query, document, score, tag
                continue
            if not query.startswith(COMMENT):
                findings.problem(Place(file.name, number), *wrong_score(shown(text)))
        elif columns and not columns[0].startswith(COMMENT):
            findings.problem(Place(file.name, number), *_wrong_columns(line, columns))


def columns_of(line: str) -> list[str]:
    """Split at ASCII white space alone, as trec_eval: an id may hold any other blank.

    >>> columns_of("q1\\t0  a\\x1fb 1")
    ['q1', '0', 'a\\x1fb', '1']
    """
    plain = line.replace("\t", " ").removesuffix("\r")
    if plain.isprintable():  # then it holds no blank but " ", and this is quicker
        return plain.split()
    return [column.decode() for column in line.encode().split()]


def _score(text: str) -> float | None:
    if not text.isascii():
        return None
    try:
        score = float(text)
    except ValueError:
        return None
    return None if math.isnan(score) or "_" in text else score


def _wrong_columns(line: str, columns: list[str]) -> tuple[str, str]:
    if line.lstrip().startswith("{"):
        return "a JSON object in a TREC file: two shapes in one file", "keep one shape a file"
    return wrong_columns(len(columns), RUN_FIELDS, shown=shown(line.strip()))
