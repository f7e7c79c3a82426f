"""What keeps large runs quick and small, by what is done and made, not by the clock."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge import run
from judge.cli.main import main
from judge.evidence import rebuilding
from judge.formats import opening
from judge.formats.textfile import StoredText
from judge.measures import bounds
from judge.report.document import write_report
from judge.report.html.rows import ROWS_WITH_TEXT
from judge.report.lines import ReportLines

pytestmark = pytest.mark.slow

N_ROWS, PER_ROW = ROWS_WITH_TEXT + 500, 10


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a run with texts of which every result is graded."""
    rows, grades = [], []
    for at in range(N_ROWS):
        results = [{"id": f"d{at}-{i}", "text": f"text {at} {i}"} for i in range(PER_ROW)]
        rows.append({"query_id": f"q{at}", "query": f"what is {at}", "results": results})
        grades += [f"q{at} 0 d{at}-{i} {(at + i) % 4}" for i in range(PER_ROW)]
    (tmp_path / "run.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "qrels.trec").write_text("\n".join(grades) + "\n")
    return tmp_path


def refuse(what: str) -> Callable[..., Any]:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError(f"{what} is not for a run of which everything is known")

    return refused


def test_a_known_run_is_read_measured_and_written_piece_by_piece(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(opening, "_HELD_BYTES", 0)
    monkeypatch.setattr(StoredText, "text", property(refuse("the whole text of a file")))
    monkeypatch.setattr(run.KnownGrade, "__init__", refuse("an object for each grade"))
    monkeypatch.setattr(rebuilding, "build_pool", refuse("the weighing of sources"))
    monkeypatch.setattr(bounds, "ndcg_contrast_rows", refuse("the bounds of open grades"))

    done: list[str] = []
    largest = 0
    row_line = ReportLines.row

    def noted_row(self: ReportLines, row: Any) -> str:
        done.append("made")
        return row_line(self, row)

    class Stream:
        def write(self, text: str) -> None:
            nonlocal largest
            done.append("written")
            largest = max(largest, len(text))

    monkeypatch.setattr(ReportLines, "row", noted_row)
    reports: list[Any] = []
    monkeypatch.setattr("judge.cli.grade.write_report", lambda report, _: reports.append(report))
    given = ["--judgments", str(folder / "qrels.trec"), "--out", str(folder / "out")]
    with pytest.raises(SystemExit) as ended:
        main(["grade", str(folder / "run.jsonl"), "--json", *given])
    assert ended.value.code == 0, capsys.readouterr().err
    assert gc.isenabled()

    (report,) = reports
    assert report.coverage.graded == N_ROWS * PER_ROW
    distinct = {id(one) for row in report.rows for one in row.pool.judgments}
    assert len(distinct) == 4  # one object a grade, not one a slot
    texts = {result.text for row in report.run.rows for result in row.results}
    assert len(texts) == ROWS_WITH_TEXT * PER_ROW + 1  # of the other rows that there is one

    done.clear()
    write_report(report, Stream())  # type: ignore[arg-type]
    written = [at for at, what in enumerate(done) if what == "made"]
    assert all(done[at + 1] == "written" for at in written)  # each row before the next is made
    assert len(written) == N_ROWS
    assert largest < 10_000  # no part of the report that grows with the run is ever held
