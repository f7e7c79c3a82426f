"""Qrels that cover a part of the rows: how many have no grade is said first, or they stay out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import judge
from judge.api.inputs import Inputs
from judge.cli.main import main
from judge.errors import InputError

QRELS = "q1 0 a 3\nq1 0 b 0\n"


def write_run(folder: Path, name: str, *ranked: str) -> Path:
    rows = [
        {"query_id": f"q{n}", "query": f"query {n}", "ranked": list(ranked)} for n in range(1, 5)
    ]
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"name": name, "rows": rows}))
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str, str]:
    (tmp_path / "qrels.trec").write_text(QRELS)
    before, after = write_run(tmp_path, "before", "b", "a"), write_run(tmp_path, "after", "a", "b")
    return str(before), str(after), str(tmp_path / "qrels.trec")


def printed(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        main([*argv])
    assert isinstance(ended.value.code, int)
    return ended.value.code, " ".join(capsys.readouterr().out.split())


UNGRADED = "3 of 4 rows have no grade at all (q2, q3, q4): --only-judged leaves such rows out"
LEFT_OUT = "--only-judged left out 3 of 4 rows that have no grade at all: q2, q3, q4"


def test_rows_without_a_grade_are_counted_first(files, capsys) -> None:
    before, after, qrels = files
    _, text = printed(capsys, "grade", before, "--judgments", qrels)
    assert UNGRADED in text.partition("slice")[0]
    _, text = printed(capsys, "compare", before, after, "--judgments", qrels)
    assert UNGRADED in text.partition("before after")[0]
    _, text = printed(capsys, "compare", before, after, after, "--judgments", qrels)
    assert UNGRADED in text.partition("rows mean")[0]


def test_only_rows_with_a_grade_are_graded(files, capsys) -> None:
    # q1: a (3) at rank 2: nDCG = (3 / log2 3) / 3 = .63093.
    before, after, qrels = files
    code, text = printed(capsys, "grade", before, "--judgments", qrels, "--only-judged")
    assert code == 0
    assert text.startswith(f"before: nDCG@10 is 0.631 over 1 row. {LEFT_OUT}.")
    _, text = printed(capsys, "compare", before, after, "--judgments", qrels, "--only-judged")
    assert LEFT_OUT in text.partition("before after")[0]
    assert "+0.369" in text


def test_gate_keeps_to_rows_with_a_grade(files, capsys, tmp_path) -> None:
    before, after, qrels = files
    known = ("--judgments", qrels, "--only-judged", "--baseline", str(tmp_path / "base.json"))
    assert printed(capsys, "gate", after, *known, "--update-baseline")[0] == 0
    code, text = printed(capsys, "gate", before, *known)
    assert (code, LEFT_OUT in text) == (1, True)
    assert [
        row["query_id"] for row in json.loads((tmp_path / "base.json").read_text())["rows"]
    ] == ["q1"]


def test_goldens_and_labels_count_as_grades(files, tmp_path) -> None:
    before, _, qrels = files
    (tmp_path / "goldens.jsonl").write_text('{"query_id": "q2", "expected": ["a"]}\n')
    (tmp_path / "labels.csv").write_text("query_id,id,grade\nq4,a,2\n")
    report = judge.grade(
        before,
        goldens=tmp_path / "goldens.jsonl",
        labels=tmp_path / "labels.csv",
        judgments=[qrels],
        only_judged=True,
    )
    assert [row.query.key for row in report.rows] == ["q1", "q2", "q4"]
    comparison = judge.compare(before, before, inputs=Inputs(judgments=[qrels], only_judged=True))
    assert len(comparison.rows) == 1


def test_no_row_with_a_grade_is_an_error(files) -> None:
    with pytest.raises(
        InputError, match="none of 4 rows has a golden or a grade; give --judgments"
    ):
        judge.grade(files[0], only_judged=True)


def test_nothing_is_said_where_no_grade_is_given_or_a_judge_asked(files) -> None:
    before, _, qrels = files
    for report in (judge.grade(before), judge.grade(before, judgments=[qrels], backend="mock")):
        assert not any(n.kind == "rows_without_grades" for n in report.grading.notices)
