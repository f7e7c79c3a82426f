"""Every fixture in, out, and in again: the same rows, the same grades."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest

from judge.formats import Queries, ReadOptions, read_grades, read_runs
from judge.formats.findings import Findings
from judge.formats.judged import read_judged
from judge.formats.run_writing import run_lines
from judge.formats.writing import WRITERS, WriteOptions, grade_lines
from judge.run import Row, Run

FIXTURES = Path(__file__).parent / "fixtures"
RUNS = (
    "rank_eval_response.json",
    "msearch_response.json",
    "opensearch_search.json",
    "quepid_detailed.csv",
    "quepid_snapshot.csv",
    "trace_flat.jsonl",
    "trace_otlp.json",
    "trace_nested.json",
    "deepeval_cases.json",
    "own_run.jsonl",
    "langfuse_run.jsonl",
    "runs.trec",
)
GRADES = (
    "rank_eval_request.json",
    "rank_eval_response.json",
    "workbench_judgments.json",
    "quepid_ratings.csv",
    "quepid_detailed.csv",
    "qrels.txt",
    "judgments.jsonl",
    "beir/qrels/test.tsv",
)
QUERIES = Queries({"q1": "reset breaker", "q2": "fuse size", "q3": "wiring plan", "q4": "=SUM(A1)"})


def stream(lines: object) -> io.BytesIO:
    return io.BytesIO("".join(f"{line}\n" for line in lines).encode())  # type: ignore[attr-defined]


def bare(run: Run) -> tuple[Row, ...]:
    """Return a run's rows without the places their goldens were read from."""
    return tuple(
        row if row.golden is None else replace(row, golden=replace(row.golden, where=""))
        for row in run.rows
    )


@pytest.mark.parametrize("name", RUNS)
def test_runs_come_back_as_they_were(name: str) -> None:
    for tag, run in read_runs(FIXTURES / name).items():
        (again,) = read_runs(stream(run_lines(run))).values()
        assert again.name == tag
        assert bare(again) == bare(run)


@pytest.mark.parametrize("to", sorted(WRITERS))
@pytest.mark.parametrize("name", GRADES)
def test_grades_come_back_as_they_were(name: str, to: str) -> None:
    judged = read_judged(FIXTURES / name, queries=QUERIES).judged
    lines = grade_lines(judged, to=to, options=WriteOptions(index="kb"), findings=Findings())
    again = read_judged(stream(lines), ReadOptions(), queries=QUERIES).judged
    closed = [one for one in judged if one.grade is not None]

    def named(of: object) -> set[tuple[str | None, str, int]]:
        return {(one.query, one.id, one.lo) for one in of}  # type: ignore[attr-defined]

    assert named(again) >= named(closed)
    assert {(g.query_id or g.query, g.id) for g in read_grades(stream(lines)).grades}


@pytest.mark.parametrize("name", RUNS)
def test_grades_in_a_run_come_back_with_it(name: str) -> None:
    for run in read_runs(FIXTURES / name).values():
        again = read_runs(stream(run_lines(run)))[run.name]
        assert [(g.query_id, g.query, g.id, g.lo, g.hi) for g in again.grades] == [
            (g.query_id, g.query, g.id, g.lo, g.hi) for g in run.grades
        ]
