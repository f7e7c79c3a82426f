"""Traces: one row a retriever span, a run before and one after each reranker, no answers."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from judge.errors import InputError, UsageError
from judge.formats import ReadOptions, read_run, read_runs
from judge.run import Result, Row, Run

FIXTURES = Path(__file__).parent / "fixtures"


def read(*spans: object) -> dict[str, Run]:
    return read_runs(io.BytesIO("\n".join(json.dumps(span) for span in spans).encode()))


def span(**attributes: object) -> dict[str, object]:
    named = {name.replace("_", "."): value for name, value in attributes.items()}
    return {"context": {"trace_id": "t", "span_id": "s"}, "attributes": named}


def test_three_retriever_spans_and_one_reranker_are_three_rows_and_two_runs() -> None:
    runs = read_runs(FIXTURES / "trace_flat.jsonl")
    assert {name: [(row.key, row.query) for row in run.rows] for name, run in runs.items()} == {
        "retriever": [("t1/s1", "reset breaker"), ("t1/s2", "fuse size"), ("t2/s3", "wiring plan")],
        "reranker-input": [("t1/s4", "reset breaker")],
        "reranker-output": [("t1/s4", "reset breaker")],
    }


def test_documents_are_ordered_by_their_index_as_a_number() -> None:
    row = read_runs(FIXTURES / "trace_flat.jsonl")["retriever"].rows[0]
    assert row.results == (
        Result("a", text="Push the lever.", metadata={"page": 12}, score=0.9),
        Result("2", text="Ten ampere."),
        Result("c"),
    )


def test_an_empty_span_is_a_row_with_an_empty_list() -> None:
    row = read_runs(FIXTURES / "trace_flat.jsonl")["retriever"].rows[1]
    assert (row.results, row.error) == ((), None)


def test_documents_as_a_json_string_are_read() -> None:
    row = read_runs(FIXTURES / "trace_flat.jsonl")["retriever"].rows[2]
    assert row.results == (Result("d", score=0.95), Result("e", score=0.87))


def test_a_reranker_shows_its_list_before_and_after() -> None:
    runs = read_runs(FIXTURES / "trace_flat.jsonl")
    assert [r.id for r in runs["reranker-input"].rows[0].results] == ["a", "b"]
    assert [r.id for r in runs["reranker-output"].rows[0].results] == ["b", "a"]


def test_no_answer_is_read_anywhere() -> None:
    assert "no judge may see" not in repr(read_runs(FIXTURES / "trace_flat.jsonl"))


def test_other_spans_are_counted() -> None:
    run = read_run(FIXTURES / "trace_flat.jsonl", ReadOptions(run_tag="retriever"))
    assert {notice.kind: notice.count for notice in run.notices} == {"other span": 1}


def test_a_span_that_only_speaks_of_retrieval_is_no_retriever() -> None:
    spans = [span(metadata_retrieval_k=3), span(retrieval_documents=[{"document.id": "a"}])]
    spans[1]["context"] = {"trace_id": "t", "span_id": "u"}
    assert [row.key for row in read(*spans)["retriever"].rows] == ["t/u"]


def test_several_runs_need_a_name() -> None:
    with pytest.raises(UsageError, match="retriever, reranker-input, reranker-output"):
        read_run(FIXTURES / "trace_flat.jsonl")


def test_an_otlp_export_reads_alike_and_an_error_is_a_failed_row() -> None:
    (run,) = read_runs(FIXTURES / "trace_otlp.json").values()
    assert run.rows == (
        Row("t1/s1", "t1/s1", "reset breaker", results=(Result("a", score=0.9), Result("2"))),
        Row("t1/s2", "t1/s2", "fuse size", error="index is closed"),
    )


def test_nested_attributes_read_alike() -> None:
    run = read_run(FIXTURES / "trace_nested.json")
    assert run.rows[0].results == (
        Result("a", text="Push the lever.", metadata={"page": 12}),
        Result("b", text="Ten ampere."),
    )


def test_columns_of_a_table_of_spans_read_alike() -> None:
    row = {
        "context.trace_id": "t",
        "context.span_id": "s",
        "span_kind": "RETRIEVER",
        "attributes.input.value": "q",
        "attributes.retrieval.documents": [{"document.id": "a", "document.content": "x"}],
    }
    assert read([row])["retriever"].rows == (
        Row("t/s", "t/s", "q", results=(Result("a", None, "x"),)),
    )


def test_a_span_without_ids_in_its_documents_uses_their_content() -> None:
    flat = {"retrieval.documents.0.document.content": "reset the breaker"}
    run = read({"context": {"span_id": "s"}, "attributes": flat})["retriever"]
    assert run.rows[0].results[0].id == "sha256:6686a03fe27850e7"


@pytest.mark.parametrize(
    ("spans", "said"),
    [
        ([span(input_value="q")], "<stream>: no retriever or reranker span; export spans of kind"),
        ([span(retrieval_documents=3)], "<stream>: retrieval.documents: 3; documents are a list"),
        ([span(retrieval_documents=[3.5])], "<stream>: results[0]: id 3.5; give each result an id"),
        ([span(retrieval_documents=[{}])], "<stream>: results[0]: a result without id or text"),
        ([span(retrieval_documents=[]), 3], "<stream>:2: 3; a span is an object"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(spans: list[object], said: str) -> None:
    with pytest.raises(InputError) as caught:
        read(*spans)
    assert str(caught.value).splitlines()[0].startswith(said)
