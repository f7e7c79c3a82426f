"""Evaluation datasets of other frameworks, and BEIR folders and archives."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest

from judge.errors import InputError
from judge.formats import read_corpus, read_goldens, read_grades, read_queries, read_run
from judge.run import Golden, Result, Row
from judge.running.asked import read_asked

FIXTURES = Path(__file__).parent / "fixtures"
RESET = "sha256:6686a03fe27850e7"  # printf 'reset the breaker' | sha256sum


def golden(*records: object) -> tuple[Golden, ...]:
    return read_goldens(io.BytesIO(json.dumps(list(records)).encode())).goldens


def test_deepeval_cases_are_rows_with_hashes_as_ids() -> None:
    run = read_run(FIXTURES / "deepeval_cases.json")
    assert [(row.query, [r.text for r in row.results]) for row in run.rows] == [
        ("How do I reset the breaker?", ["Ten ampere.", "reset the breaker"])
    ]
    assert run.rows[0].results[1].id == RESET
    assert "no judge may see" not in repr(run)


def test_deepeval_contexts_are_expected_by_their_hash() -> None:
    file = read_goldens(FIXTURES / "deepeval_cases.json")
    assert [(g.query, g.expected) for g in file.goldens] == [
        ("How do I reset the breaker?", (RESET,))
    ]


def test_records_with_our_own_fields_are_ours() -> None:
    (found,) = golden({"input": "q", "context": ["x"], "expected": ["a"]})
    assert (found.query, found.expected) == ("q", ("a",))
    row = {"input": "q", "retrieval_context": ["x"], "ranked": ["a"]}
    run = read_run(io.BytesIO(json.dumps([row]).encode()))
    assert run.rows[0].results == (Result("a"),)
    assert "retrieved_contexts beside results ignored" in {n.text[:41] for n in run.notices}


def test_a_llamaindex_dataset_holds_goldens_queries_and_texts() -> None:
    source = FIXTURES / "llamaindex_dataset.json"
    assert [(g.query_id, g.query, g.expected) for g in read_goldens(source).goldens] == [
        ("q1", "reset breaker", ("n1",)),
        ("q2", "fuse size", ("n2",)),
    ]
    assert read_queries(source).texts == {"q1": "reset breaker", "q2": "fuse size"}
    assert read_corpus(source).texts == {"n1": "Push the lever.", "n2": "Ten ampere."}


def test_langsmith_examples_are_goldens_by_their_inner_fields() -> None:
    file = read_goldens(FIXTURES / "langsmith_examples.jsonl")
    assert [(g.query_id, g.query, g.expected, g.slice) for g in file.goldens] == [
        ("e1", "reset breaker", ("a", "2"), "semantic"),
        ("e2", "fuse size", ("b",), None),
    ]
    assert {notice.kind for notice in file.notices} == {"guessed field"}


def test_langfuse_items_are_goldens_whose_input_may_be_text_or_fields() -> None:
    file = read_goldens(FIXTURES / "langfuse_items.json")
    assert [(g.query_id, g.query, g.expected, g.slice, g.match) for g in file.goldens] == [
        ("i1", "reset breaker", ("a",), "semantic", "all"),
        ("i2", "fuse size", ("b",), None, "any"),
    ]


def test_an_expected_answer_in_prose_names_no_chunk() -> None:
    item = {"datasetName": "kb", "id": 1, "input": "q", "expectedOutput": "Push the lever."}
    with pytest.raises(InputError, match=r"no field `expected` in .*--map expectedOutput=expected"):
        golden(item)


BEIR = {
    "corpus.jsonl": '{"_id": "d1", "title": "T", "text": "x"}\n{"_id": "d2", "text": "y"}\n',
    "queries.jsonl": '{"_id": "q1", "text": "reset breaker"}\n',
    "qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t1\n",
}


def check_beir(source: Path) -> None:
    assert read_corpus(source).texts == {"d1": "T\nx", "d2": "y"}
    assert read_queries(source).texts == {"q1": "reset breaker"}
    assert [(g.query_id, g.id, g.hi) for g in read_grades(source).grades] == [("q1", "d1", 1)]


def test_a_beir_folder_is_read_by_the_names_of_its_files(tmp_path: Path) -> None:
    for name, text in BEIR.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    check_beir(tmp_path)


def test_a_beir_archive_is_read_without_unpacking_it(tmp_path: Path) -> None:
    path = tmp_path / "kb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in BEIR.items():
            archive.writestr(f"kb/{name}", text)
    check_beir(path)


def test_a_folder_or_archive_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a folder without corpus\.jsonl or"):
        read_corpus(tmp_path)
    path = tmp_path / "other.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme", "x")
    with pytest.raises(InputError, match=r"a zip archive without queries\.jsonl or"):
        read_queries(path)
    path.write_bytes(path.read_bytes()[:-8] + b"\0" * 8)
    with pytest.raises(InputError):
        read_grades(path)


def test_ragas_samples_are_rows_with_their_reference_ids_as_goldens() -> None:
    sample = {
        "user_input": "q",
        "retrieved_contexts": ["x", "y"],
        "retrieved_context_ids": ["a", "b"],
        "reference_context_ids": ["b"],
        "response": "An answer.",
        "reference": "Prose.",
    }
    run = read_run(io.BytesIO(json.dumps(sample).encode()))
    assert run.rows == (
        Row(
            "q",
            None,
            "q",
            results=(Result("a", text="x"), Result("b", text="y")),
            golden=Golden(("b",), None, "q", where="<stream>"),
        ),
    )


def test_a_page_of_langfuse_is_read_without_what_is_archived() -> None:
    items = [
        {"datasetName": "kb", "id": "i1", "input": "q", "expectedOutput": ["a"]},
        {"datasetName": "kb", "id": "i2", "status": "ARCHIVED", "input": "x"},
    ]
    page = json.dumps({"data": items, "meta": {"page": 1}}).encode()
    file = read_goldens(io.BytesIO(page))
    assert [(g.query_id, g.query, g.expected) for g in file.goldens] == [("i1", "q", ("a",))]
    assert "archived items left out: 1" in " ".join(notice.text for notice in file.notices)


def test_beir_files_need_no_guess(tmp_path: Path) -> None:
    queries = read_queries(io.BytesIO(b'{"_id": "q1", "text": "how?"}\n'))
    assert (queries.texts, queries.notices) == ({"q1": "how?"}, ())
    grades = read_grades(io.BytesIO(b"query-id\tcorpus-id\tscore\nq1\ta\t2\n"))
    assert [(g.query_id, g.id, g.lo) for g in grades.grades] == [("q1", "a", 2)]
    assert grades.notices == ()


@pytest.mark.parametrize("name", ["langsmith_examples.jsonl", "langfuse_items.json"])
def test_examples_can_be_asked_and_keep_their_goldens(name: str) -> None:
    asked = read_asked(FIXTURES / name).asked
    assert [one.row.query for one in asked] == ["reset breaker", "fuse size"]
    assert [one.row.golden and one.row.golden.expected[0] for one in asked] == ["a", "b"]
    assert list(read_queries(FIXTURES / name).texts.values()) == ["reset breaker", "fuse size"]
