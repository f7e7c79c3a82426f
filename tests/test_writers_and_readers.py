"""What is written is read again as it was, by the same flags, whatever stands in ids and texts."""

from __future__ import annotations

import io
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.errors import InputError
from judge.formats import ReadOptions, read_labels, read_run
from judge.formats.findings import Findings
from judge.formats.judged import Judged, read_judged
from judge.formats.run_writing import run_lines
from judge.formats.spreadsheets import defused, restored
from judge.formats.writing import WRITERS, WriteOptions, grade_lines
from judge.labelling.store import Entry, LabelStore
from judge.run import Result, Row, Run

# Ids and texts of people and programs: formulas, quotes, separators, line breaks of every kind,
# comments of TREC, signs of other scripts. Ids never begin or end with white space: readers trim.
ODD = st.sampled_from([
    "=cmd|' /C calc'!A0", "-1", "+1", "@SUM(A1)", "#1", "# a 0 b", '"', '""', "a,b", "a;b", "a\tb",
    "a\nb", "a\rb", "a\r\nb", "a\u2028b", "a\x85b", "a b", "a/b", "{", "[1]", "null", "1.0", "ſ",
    "词", "\ufefff", "\U0001f600", "a\x1fb", "query_id", "q#2",
])  # fmt: skip
WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8)
IDS = (ODD | WORDS).map(str.strip).filter(bool)


def stream(lines: object) -> io.BytesIO:
    return io.BytesIO("".join(f"{line}\n" for line in lines).encode())  # type: ignore[attr-defined]


@pytest.mark.parametrize("to", sorted(WRITERS))
@given(pairs=st.dictionaries(st.tuples(IDS, IDS), st.integers(0, 3), min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_grades(to: str, pairs: dict[tuple[str, str], int]) -> None:
    judged = [
        Judged(query_id=query, query=query, id=id, lo=grade, hi=grade)
        for (query, id), grade in pairs.items()
    ]
    findings = Findings()
    try:
        lines = grade_lines(judged, to=to, options=WriteOptions(index="kb"), findings=findings)
    except InputError:
        return  # refused, with its reason: nothing wrong is written
    again = read_judged(stream(lines), ReadOptions()).judged
    index = "kb/" if to == "rank-eval" else ""
    found = {(one.query_id or one.query, one.id.removeprefix(index)): one.lo for one in again}
    assert found == pairs


@given(ids=st.lists(IDS, min_size=1, max_size=4, unique=True), text=ODD | WORDS)
@settings(max_examples=60, deadline=None)
def test_runs(ids: list[str], text: str) -> None:
    rows = tuple(
        Row(id, id, text, text, results=tuple(Result(id, text=text) for id in ids)) for id in ids
    )
    again = read_run(stream(run_lines(Run("r", rows))))
    shown = [(row.key, row.query, row.slice, [(r.id, r.text) for r in row.results]) for row in rows]
    assert [
        (row.key, row.query, row.slice, [(r.id, r.text) for r in row.results]) for row in again.rows
    ] == shown


@given(entries=st.dictionaries(st.tuples(IDS, IDS), IDS, min_size=1, max_size=3))
@settings(max_examples=40, deadline=None)
def test_labels(entries: dict[tuple[str, str], str]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "labels.csv"
        store = LabelStore(path)
        for (query, id), rater in entries.items():
            store.add(Entry(query, id, rater, 2, note=rater))
        held = {(e.query_id, e.id): (e.rater, e.note) for e in LabelStore(path).entries()}
        assert held == {pair: (rater, rater) for pair, rater in entries.items()}
        read = {(one.query_id, one.id): one.rater for one in read_labels(path).labels}
        assert read == entries
        cells = path.read_text(encoding="utf-8").replace('"', "").replace("\n", ",").split(",")
        assert not any(cell.startswith(("=", "+", "@")) for cell in cells)


@given(st.text(" =+-@\t\r\n\u2028a1", max_size=5))
def test_formula_is_text_and_comes_back(cell: str) -> None:
    assert restored(defused(cell)) == cell
    assert not defused(cell).startswith(("=", "+", "-", "@", "\t", "\r"))
