"""Names that match nothing: texts of other ids, rows that have neither id nor text."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from judge.cli.main import main
from judge.errors import InputError
from judge.evidence.queries import join
from judge.formats import read_goldens, read_run

RUN = {"name": "tuesday", "rows": [{"query_id": "q1", "ranked": ["a", "b"]}]}
NAMELESS = {"rows": [{"ranked": ["a"]}, {"ranked": ["b"]}]}


def stream(value: object) -> io.BytesIO:
    return io.BytesIO(json.dumps(value).encode())


def printed(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    with pytest.raises(SystemExit):
        main([*argv])
    return " ".join(capsys.readouterr().out.split())


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, list[str]]:
    (tmp_path / "run.json").write_text(json.dumps(RUN))
    (tmp_path / "corpus.jsonl").write_text('{"id": "doc-7", "text": "x"}\n')
    (tmp_path / "queries.tsv").write_text("41\twho?\n42\twhy?\n")
    flags = ["--corpus", str(tmp_path / "corpus.jsonl"), "--queries", str(tmp_path / "queries.tsv")]
    return str(tmp_path / "run.json"), flags


def test_texts_that_name_nothing_are_said_first(files, capsys) -> None:
    run, flags = files
    first = printed(capsys, "grade", run, *flags).partition(" slice rows ")[0]
    assert "--corpus: its ids ('doc-7') name no result of tuesday, whose ids are 'a', …;" in first
    assert "--queries: its ids ('41', …) name no query of tuesday, whose ids are 'q1';" in first
    first = printed(capsys, "compare", run, run, *flags).partition(" rows before ")[0]
    assert "--corpus: its ids ('doc-7') name no result" in first


def test_doctor_does_not_advise_a_flag_that_was_given(files, capsys) -> None:
    run, flags = files
    shown = printed(capsys, "doctor", run, *flags)
    assert "name no result of tuesday" in shown
    assert "Next: lay an id of the corpus beside one of the run" in shown
    shown = printed(capsys, "doctor", run)
    assert "--corpus corpus.jsonl --backend mock" in shown


def test_texts_of_which_some_match_are_no_trouble() -> None:
    run = read_run(stream(RUN), corpus=stream({"b": "x", "c": "y"}), queries=stream({"q1": "who?"}))
    assert run.notices == ()


def test_rows_without_id_and_text_cannot_be_compared() -> None:
    runs = [read_run(stream({"name": name, **NAMELESS})) for name in ("before", "after")]
    with pytest.raises(
        InputError, match="before: 'row 1': neither a query_id nor a query"
    ) as found:
        join(runs)
    assert len(found.value.problems) == 4


def test_golden_finds_a_row_by_the_name_it_is_shown_under() -> None:
    run = read_run(stream(NAMELESS))
    goldens = read_goldens(stream([{"query_id": "row 2", "expected": "b"}])).goldens
    joined = join([run], goldens)
    assert [query.golden is not None for query in joined.queries] == [False, True]
