"""Goldens from lines, arrays and rows; what is missing is said with the flag to write."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from judge.errors import InputError
from judge.formats import GoldenFile, ReadOptions, read_goldens
from judge.run import Golden


def read(*records: object, text: str | None = None, **options: object) -> GoldenFile:
    content = "\n".join(json.dumps(record) for record in records) if text is None else text
    return read_goldens(io.BytesIO(content.encode()), ReadOptions(**options))  # type: ignore[arg-type]


def refusal(*records: object, text: str | None = None, **options: object) -> list[str]:
    with pytest.raises(InputError) as caught:
        read(*records, text=text, **options)
    return str(caught.value).splitlines()


def test_goldens_are_read_in_the_order_of_the_file() -> None:
    found = read(
        {"query_id": 1, "slice": "entity", "query": " q ", "expected": ["a", 2], "weight": 0.5},
        {"query": "r", "expected": "x", "match": "any"},
        {"query": "s", "expected": [], "complete": True},
    )
    assert found == GoldenFile(
        (
            Golden(("a", "2"), "1", "q", "entity", 0.5, where="<stream>:1"),
            Golden(("x",), None, "r", match="any", where="<stream>:2"),
            Golden((), None, "s", complete=True, where="<stream>:3"),
        )
    )


@pytest.mark.parametrize(
    "text",
    [
        '[{"query":"q","expected":"a"}]',
        '{"goldens":[{"query":"q","expected":"a"}]}',
        '{"rows":[{"query":"q","expected":"a","ranked":["b"]}]}',
    ],
)
def test_arrays_objects_and_runs_hold_goldens_too(text: str) -> None:
    (golden,) = read(text=text).goldens
    assert (golden.query, golden.expected) == ("q", ("a",))


def test_expected_objects_name_ids_or_the_key() -> None:
    (golden,) = read({"query": "q", "expected": [{"chunk_id": 1}, {"id": "b"}]}).goldens
    assert golden.expected == ("1", "b")
    item = {"file_id": "manual.pdf", "page": 12}
    (golden,) = read({"query": "q", "expected": item}, key=("file_id", "page")).goldens
    assert golden.expected == ("manual.pdf|12",)
    (golden,) = read({"query": "q", "expected": ["manual.pdf"]}, key=("file_id",)).goldens
    assert golden.expected == ("manual.pdf",)


def test_home_made_names_are_guessed_aloud_where_one_reading_is_possible() -> None:
    found = read(
        {"question": "q", "expected_doc_ids": [3, 4], "category": "s", "match_mode": "any"}
    )
    assert found.goldens == (Golden(("3", "4"), None, "q", "s", match="any", where="<stream>"),)
    assert {notice.kind for notice in found.notices} == {"guessed field"}
    assert len(found.notices) == 4


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (
            {"query": "q", "answer_docs": ["a"]},
            "<stream>: no field `expected` in an object with "
            "query, answer_docs; if answer_docs holds them: --map answer_docs=expected",
        ),
        (
            {"query": "q", "relevant_docs": ["a"], "expected_sources": ["b"]},
            "<stream>: "
            "'expected_sources' and 'relevant_docs' could both be 'expected'; "
            "say which one is: --map expected_sources=expected, and --map relevant_docs=-",
        ),
        (
            {"expected": ["a"]},
            "<stream>: a golden with neither query_id nor query; give it one, "
            "or say which field it is: --map FIELD=query",
        ),
        (
            {"query": "q", "expected": []},
            "<stream>: expected: an empty list; name an id, "
            'or add "complete": true if the question has no answer',
        ),
        (
            {"query": "q", "expected": None},
            "<stream>: expected: null; name an id, "
            'or add "complete": true if the question has no answer',
        ),
        (
            {"query": "q", "expected": "a", "match": "some"},
            '<stream>: match: \'some\'; write "all" or "any"',
        ),
        (
            {"query": "q", "expected": "a", "complete": "yes"},
            "<stream>: complete: 'yes'; complete is true or false",
        ),
        (
            {"query": "q", "expected": [{"page": 1}]},
            "<stream>: expected[0]: an object with page; give its id, or --key FIELD,…",
        ),
        (
            {"query": "q", "expected": "a", "weight": -1},
            "<stream>: weight: -1; a weight is a number above 0",
        ),
    ],
)
def test_what_is_wrong_is_said_with_what_to_do(record: object, said: str) -> None:
    assert refusal(record) == [said]


def test_a_key_of_several_fields_needs_objects() -> None:
    assert refusal({"query": "q", "expected": ["a", {"file": "b"}]}, key=("file", "page")) == [
        "<stream>: expected[0]: 'a'; with --key write an object with file, page",
        "<stream>: expected[1]: an object with file; it must have file, page",
    ]


def test_pages_beside_files_make_keys_or_ask_for_one() -> None:
    record = {"question": "q", "expected_sources": ["a.pdf"], "expected_pages": [1, 2]}
    (golden,) = read(record, key=("file_id", "page")).goldens
    assert golden.expected == ("a.pdf|1", "a.pdf|2")
    assert refusal(record) == [
        "<stream>: expected pages beside expected files; "
        "name the metadata with file and page, e.g. --key file_id,page, "
        "or leave the pages out: --map expected_pages=-"
    ]
    uneven = record | {"expected_sources": ["a.pdf", "b.pdf", "c.pdf"]}
    assert refusal(uneven, key=("file_id", "page")) == [
        "<stream>: 3 expected files and 2 pages; give one page for each file"
    ]
    (golden,) = read(record, map={"expected_pages": "-"}).goldens
    assert golden.expected == ("a.pdf",)


def test_no_goldens_at_all_is_an_error() -> None:
    assert refusal(text="[]") == ["<stream>: no goldens; give at least one"]
    assert refusal(text="q 0 d 1")[0].startswith("<stream>: not JSON; it starts 'q 0 d 1'")


def test_the_golden_rows_of_soat_are_read(data: Path) -> None:
    found = read_goldens(data / "soat" / "golden_rows.jsonl")
    assert len(found.goldens) == 58
    assert len({golden.slice for golden in found.goldens}) == 5
    assert found.notices == ()


def test_an_unknown_object_around_the_goldens_is_not_taken_for_one() -> None:
    (said,) = refusal({"questions": [{"question": "q", "expected": ["a"]}]})
    assert said.endswith("if questions holds the goldens, give that list alone: jq .questions")


def test_reference_contexts_of_ragas_are_quotes_where_no_ids_are_expected() -> None:
    record = {"user_input": "q", "reference_contexts": ["push the lever", "a fuse"]}
    file = read(record)
    assert [(g.expected, g.quotes) for g in file.goldens] == [((), ("push the lever", "a fuse"))]
    assert [(notice.kind, notice.count) for notice in file.notices] == [("quote", 2)]
    (golden,) = read(record | {"reference_context_ids": ["a"]}).goldens
    assert (golden.expected, golden.quotes) == (("a",), ())
    (said,) = refusal(record | {"reference_contexts": [{"text": "x"}]})[:1]
    assert "reference contexts are texts" in said
