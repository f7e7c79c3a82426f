"""Runs and qrels in, evaluations out: reads the files and picks the way that suits them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, TypeAlias

from judge.errors import UsageError
from judge.formats.opening import open_bytes, source_name
from judge.measures import plain
from judge.measures.evaluation import Evaluation
from judge.measures.names import Measure, parse_measure
from judge.measures.trec import read_qrels, read_run

Source: TypeAlias = str | Path | BinaryIO

DEFAULT_MEASURES = ("nDCG@10",)


def measure(
    runs: Sequence[Source],
    qrels: Source,
    measures: Sequence[str | Measure] = DEFAULT_MEASURES,
    *,
    gain: str = "linear",
    precision: str = "single",
    run_tag: str | None = None,
    grade_max: int | None = None,
    intervals: bool | None = None,
) -> list[Evaluation]:
    """Return an evaluation for every run of every file, in the order of the files.

    run_tag: of TREC files with several runs, take this one alone
    grade_max: top of the scale that unjudged results may reach; None: 3, or the highest
        grade of the qrels above it
    intervals: compute lo and hi of each value; None: only where that is quick
    Raises InputError naming every bad line, UsageError for options that do not fit.
    """
    asked = [parse_measure(one) if isinstance(one, str) else one for one in measures]
    grades = _read_qrels(qrels, grade_max)
    return [
        plain.evaluate(
            ranked, grades, asked, run=name, gain=gain, grade_max=grade_max, intervals=intervals
        )
        for name, ranked in _chosen(runs, precision, run_tag)
    ]


def _chosen(
    runs: Sequence[Source], precision: str, run_tag: str | None
) -> list[tuple[str, Mapping[str, plain.Ranked]]]:
    """Return every run that is asked for; its name is its tag, with its file where tags repeat."""
    found = [
        (tag, source_name(source), ranked)
        for source in runs
        for tag, ranked in _read_runs(source, precision).items()
    ]
    tags = Counter(tag for tag, _, _ in found)
    if run_tag is not None and run_tag not in tags:
        raise UsageError(f"no run is tagged {run_tag!r}; there are: {', '.join(tags)}")
    return [
        (tag if tags[tag] == 1 else f"{file}:{tag}", ranked)
        for tag, file, ranked in found
        if run_tag in (None, tag)
    ]


def _read_runs(source: Source, precision: str) -> dict[str, dict[str, plain.Ranked]]:
    with open_bytes(source) as stream:
        if not _is_json(stream):
            runs = read_run(stream, name=source_name(source))
            return {
                tag: plain.rank_lists(lists, precision=precision) for tag, lists in runs.items()
            }
        from judge.formats import read_run as read_json_run

        run = read_json_run(stream)
    rows = {
        row.key: plain.Ranked(plain.first_slots(result.id for result in row.results))
        for row in run.rows
    }
    return {run.name: rows}


def _read_qrels(source: Source, grade_max: int | None) -> dict[str, dict[str, int]]:
    with open_bytes(source) as stream:
        if not _is_json(stream) and not _head(stream).startswith(b"query-id"):
            return read_qrels(stream, name=source_name(source))
        from judge.formats import ReadOptions, read_grades

        options = ReadOptions() if grade_max is None else ReadOptions(grade_max=grade_max)
        known = read_grades(stream, options).grades
    qrels: dict[str, dict[str, int]] = {}
    for grade in known:
        if grade.lo == grade.hi:
            qrels.setdefault(grade.query_id or grade.query or "", {})[grade.id] = grade.lo
    return qrels


def _is_json(stream: BinaryIO) -> bool:
    return _head(stream).lstrip()[:1] in (b"{", b"[")


def _head(stream: BinaryIO) -> bytes:
    """Return the first bytes of a buffered stream without taking them."""
    peek = getattr(stream, "peek", None)
    head: bytes = peek(64)[:64] if peek is not None else b""
    return head
