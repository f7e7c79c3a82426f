"""Runs in every shape: recognised by content, read soundly or refused with every bad place."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from judge.errors import InputError, JudgeError, UsageError
from judge.formats import ReadOptions, read_run, read_runs
from judge.grades import Source
from judge.run import Golden, KnownGrade, Result, Row, Run


def read(
    content: object, *, corpus: object = None, queries: object = None, **options: object
) -> Run:
    """Read a run from text, or from a value written as JSON."""
    return read_run(
        stream(content),
        ReadOptions(**options),  # type: ignore[arg-type]
        corpus=None if corpus is None else stream(corpus),
        queries=None if queries is None else stream(queries),
    )


def stream(content: object) -> io.BytesIO:
    return io.BytesIO((content if isinstance(content, str) else json.dumps(content)).encode())


def lines(*records: object) -> str:
    return "\n".join(json.dumps(record) for record in records)


def refusal(content: object, **options: object) -> list[str]:
    with pytest.raises(JudgeError) as caught:
        read(content, **options)
    return str(caught.value).splitlines()


def noticed(run: Run) -> dict[str, int]:
    return {notice.kind: notice.count for notice in run.notices}


def ids(row: Row) -> list[str]:
    return [result.id for result in row.results]


FULL = {
    "query_id": "q1",
    "query": " reset breaker ",
    "slice": "semantic",
    "weight": 2,
    "results": [
        {"id": "c1", "document_id": "d1", "text": "t", "metadata": {"page": 1}, "score": 0.5},
        {"id": 17},
        "c3",
    ],
}
FULL_ROW = Row(
    key="q1",
    query_id="q1",
    query="reset breaker",
    slice="semantic",
    weight=2.0,
    results=(
        Result("c1", "d1", "t", {"page": 1}, 0.5),
        Result("17"),
        Result("c3"),
    ),
)


@pytest.mark.parametrize(
    "content",
    [{"rows": [FULL]}, [FULL], FULL, lines(FULL) + "\n\n", json.dumps([FULL], indent=1)],
)
def test_rows_read_alike_in_an_object_an_array_and_lines(content: object) -> None:
    run = read(content)
    assert run.rows == (FULL_ROW,)
    assert run.notices == ()


def test_a_run_has_the_name_it_gives_itself_else_its_file(tmp_path: Path) -> None:
    assert read({"name": "before", "rows": [FULL]}).name == "before"
    path = tmp_path / "after.v2.json"
    path.write_text(json.dumps([FULL]), encoding="utf-8")
    assert read_run(path).name == "after.v2"
    assert read("q Q0 d 1 1 bm25").name == "bm25"


def test_a_short_row_carries_its_golden() -> None:
    record = {"slice": "entity", "query": "q", "expected": ["a", 17, "a"], "ranked": ["b", 17]}
    run = read(lines(record, {**record, "query": "r", "expected": "b", "match": "any"}))
    assert [ids(row) for row in run.rows] == [["b", "17"], ["b", "17"]]
    assert [row.golden for row in run.rows] == [
        Golden(("a", "17"), None, "q", "entity", where="<stream>:1"),
        Golden(("b",), None, "r", "entity", match="any", where="<stream>:2"),
    ]
    assert noticed(run) == {"repeated expected id": 1}


def test_rag_rows_use_ids_where_given_and_hashes_where_not() -> None:
    rag = {"user_input": "q", "retrieved_contexts": ["reset the breaker", "b"], "response": "no"}
    run = read(lines(rag, {**rag, "user_input": "r", "retrieved_context_ids": [1, "x"]}))
    # printf 'reset the breaker' | sha256sum
    assert ids(run.rows[0])[0] == "sha256:6686a03fe27850e7"
    assert run.rows[0].results[0].text == "reset the breaker"
    assert run.rows[1].results == (Result("1", text="reset the breaker"), Result("x", text="b"))
    assert noticed(run) == {"content id": 2, "ignored field": 2}


def test_rag_ids_and_contexts_must_be_as_many() -> None:
    row = {"user_input": "q", "retrieved_contexts": ["a", "b"], "retrieved_context_ids": ["1"]}
    assert refusal([row]) == [
        "<stream>: [0]: retrieved_contexts is a list of 2, retrieved_context_ids is a list of 1; "
        "give one id for each context"
    ]


def test_query_doc_score_is_ordered_by_score_then_id_descending() -> None:
    run = read({"q1": {"a": 1.0, "b": 2, "c": 1.0}, "q2": {}})
    assert [(row.key, row.query_id, row.query, ids(row)) for row in run.rows] == [
        ("q1", "q1", None, ["b", "c", "a"]),
        ("q2", "q2", None, []),
    ]
    assert noticed(run) == {"guessed field": 2, "tied scores": 2}


def test_query_doc_score_keyed_by_text_gives_queries() -> None:
    (row,) = read({"reset breaker": {"a": 1.0}}).rows
    assert (row.key, row.query_id, row.query) == ("reset breaker", None, "reset breaker")


def test_trec_rows_have_ids_and_no_texts() -> None:
    run = read("q2 Q0 a 1 1.0 t\nq1 Q0 b 1 1.0 t")
    assert run == Run(
        "t",
        (
            Row("q2", "q2", results=(Result("a", score=1.0),)),
            Row("q1", "q1", results=(Result("b", score=1.0),)),
        ),
    )


def test_one_of_several_tags_is_chosen_by_name() -> None:
    text = "q Q0 a 1 1 x\nq Q0 b 1 1 y"
    assert read(text, run_tag="y").rows[0].results == (Result("b", score=1.0),)
    assert refusal(text) == ["<stream>: 2 runs; name one with --run-tag: x, y"]
    assert refusal(text, run_tag="z") == ["<stream>: 2 runs; none is called 'z': x, y"]
    with pytest.raises(UsageError):
        read(text)
    assert list(read_runs(stream(text))) == ["x", "y"]
    assert list(read_runs(stream({"name": "n", "rows": [FULL]}))) == ["n"]


def test_keys_are_ids_then_texts_then_numbers_and_never_shared() -> None:
    rows = [
        {"query": q, "query_id": i, "ranked": []}
        for q, i in [("a", None), ("a", None), ("b", "a#2"), (None, None), (None, 7), ("7", None)]
    ]
    assert [row.key for row in read(rows).rows] == ["a", "a#3", "a#2", "row 4", "7", "7#2"]


def test_a_query_id_given_twice_names_both_places() -> None:
    assert refusal(lines({"query_id": 1, "ranked": []}, {"query_id": "1", "ranked": []})) == [
        "<stream>:2: query_id '1' again, first at <stream>:1; one row a query: remove or rename one"
    ]


def test_a_failed_row_keeps_its_reason() -> None:
    run = read(
        [
            {"query": "a", "error": "timeout"},
            {"query": "b", "error": {"code": 5}},
            {"query": "c", "error": None, "ranked": ["x"]},
            {"query": "d", "error": True},
        ]
    )
    assert [row.error for row in run.rows] == ["timeout", '{"code": 5}', None, "failed"]
    assert run.notices == ()


def test_rows_without_results_are_empty_and_counted() -> None:
    run = read([{"query": "a"}, {"query": "b", "ranked": ["x"]}])
    assert [ids(row) for row in run.rows] == [[], ["x"]]
    assert noticed(run) == {"no results": 1}


def test_goldens_in_place_of_a_run_are_told_where_they_go() -> None:
    assert refusal([{"query": "a", "expected": ["x"]}]) == [
        "<stream>: [0]: none of 1 rows has results; "
        "name the field that holds them: --map FIELD=results; goldens go to --goldens"
    ]


def test_repeated_ids_keep_their_slots_and_are_counted() -> None:
    run = read([{"query": "q", "ranked": ["a", "b", "a", "a"]}])
    assert ids(run.rows[0]) == ["a", "b", "a", "a"]
    assert noticed(run) == {"repeated id": 2}


def test_grades_in_results_come_with_the_run() -> None:
    rows = [
        {"query": "q", "results": [{"id": "a", "grade": 2}, {"id": "b", "grade": None}]},
        {"results": [{"id": "a", "grade": "1"}]},
    ]
    assert read(rows).grades == (
        KnownGrade("a", 2, 2, None, "q", None, Source.PRIOR, "in the run"),
        KnownGrade("a", 1, 1, "row 2", None, None, Source.PRIOR, "in the run"),
    )


def test_the_key_makes_ids_from_metadata_and_leaves_slots_that_match_nothing() -> None:
    results = [
        {"id": "c1", "metadata": {"file_id": "manual.pdf", "page": 11}},
        {"id": "c2", "metadata": {"file_id": "manual.pdf", "page": "12"}},
        {"id": "c3", "metadata": {"page": 12}},
        {"id": "c4"},
    ]
    golden = [{"file_id": "manual.pdf", "page": 12}]
    run = read([{"query": "q", "expected": golden, "results": results}], key=("file_id", "page"))
    (row,) = run.rows
    assert ids(row)[:2] == ["manual.pdf|11", "manual.pdf|12"]
    assert ids(row)[2] != ids(row)[3]
    assert row.golden is not None
    assert row.golden.expected == ("manual.pdf|12",)
    assert noticed(run)["unmatched slot"] == 2


def test_renamed_fields_are_ours_and_left_out_ones_are_not_read() -> None:
    record = {"frage": "q", "slice": "s", "treffer": [{"nr": 1, "inhalt": "t"}]}
    renames = {"frage": "query", "treffer": "results", "nr": "id", "inhalt": "text", "slice": "-"}
    assert read([record], map=renames).rows == (
        Row("q", None, "q", results=(Result("1", None, "t"),)),
    )


def test_known_spellings_are_taken_and_said_aloud() -> None:
    record = {
        "question": "q",
        "category": "s",
        "hits": [{"chunk_id": 1, "doc_id": 2, "content": "t"}],
    }
    run = read([record])
    assert run.rows == (Row("q", None, "q", "s", results=(Result("1", "2", "t"),)),)
    assert {notice.text.partition(":")[0] for notice in run.notices} == {
        "row field 'question' read as 'query'",
        "row field 'category' read as 'slice'",
        "row field 'hits' read as 'results'",
        "result field 'chunk_id' read as 'id'",
        "result field 'doc_id' read as 'document_id'",
        "result field 'content' read as 'text'",
    }


def test_two_readings_of_a_row_are_an_error_with_the_flag_to_write() -> None:
    assert refusal([{"query": "q", "type": "a", "kind": "b", "ranked": ["x"]}]) == [
        "<stream>: [0]: 'type' and 'kind' could both be 'slice'; "
        "say which one is: --map type=slice, and --map kind=-"
    ]


def test_unknown_fields_are_ignored_and_counted() -> None:
    run = read([{"query": "q", "x": 1, "ranked": ["a"]}, {"query": "r", "x": 2, "ranked": ["a"]}])
    assert noticed(run) == {"ignored field": 2}


def test_texts_come_from_the_corpus_and_queries() -> None:
    run = read(
        "q1 Q0 a 1 2 t\nq1 Q0 b 2 1 t",
        corpus=lines({"_id": "a", "title": "T", "text": "x"}, {"_id": "c", "text": ""}),
        queries="q1\treset breaker\n",
    )
    (row,) = run.rows
    assert (row.query, [result.text for result in row.results]) == ("reset breaker", ["T\nx", None])
    assert run.corpus_ids == {"a", "c"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "<stream>: an empty file; was the command that wrote it stopped?"),
        ("[]", "<stream>: no rows; give at least one"),
        ("{}", "<stream>: no rows; give at least one"),
        ('{"rows": []}', "<stream>: no rows; give at least one"),
        ("[1]", "<stream>: [0]: 1; a row is an object"),
        (
            '"text"',
            "<stream>:1: 1 column instead of 6: '\"text\"'; a run line is: query Q0 document",
        ),
        ('[{"query": "q", "ranked": 3}]', "<stream>: [0].results: 3; results are a list"),
        ('[{"query": "q", "ranked": [null]}]', "<stream>: [0].results[0]: null; a result is"),
        ('[{"query": "q", "ranked": [{}]}]', "<stream>: [0].results[0]: a result without id or te"),
        ('[{"query": "q", "ranked": [""]}]', "<stream>: [0].results[0]: id ''; give each"),
        ('[{"query": "q", "ranked": [true]}]', "<stream>: [0].results[0]: id true; give each"),
        ('[{"query": ["q"], "ranked": []}]', "<stream>: [0].query: a list of 1; query is text"),
        ('[{"query": "q", "weight": 0, "ranked": []}]', "<stream>: [0].weight: 0; a weight is a"),
        ('[{"query": "q", "weight": NaN, "ranked": []}]', "<stream>: [0].weight: nan; a weight is"),
        ('[{"query": "q", "weight": true, "ranked": []}]', "<stream>: [0].weight: true; a weight"),
        ('[{"query": "q", "weight": 1e999, "ranked": []}]', "<stream>: [0].weight: inf; a weight"),
        ('[{"query": "q", "expected": [], "ranked": []}]', "<stream>: [0].expected: an empty list"),
        ('[{"query": "q", "expected": [1.5], "ranked": []}]', "<stream>: [0].expected[0]: 1.5; an"),
        ('{"q": {"d": "1"}}', "<stream>: 'q'.'d': '1'; a score is a number"),
        (
            '[{"query": "q", "ranked": [{"id": "a", "grade": 7}]}]',
            "<stream>: [0].results[0]: grades",
        ),
    ],
)
def test_bad_input_names_the_place_and_what_to_do(content: str, said: str) -> None:
    (message,) = refusal(content)
    assert message.startswith(said)
    assert ";" in message


def test_mixed_shapes_are_named_both() -> None:
    rag, ours = {"user_input": "a", "retrieved_contexts": ["x"]}, {"query": "b", "ranked": ["y"]}
    assert refusal(lines(rag, ours)) == [
        "<stream>:2: a row with results in a file that began with a RAG row (retrieved_contexts) "
        "at <stream>:1; keep one shape a file"
    ]
    with pytest.raises(InputError, match="two shapes in one file"):
        read(lines(ours) + "\nq Q0 d 1 1 t")


def test_every_bad_place_is_collected() -> None:
    rows = [{"query": "q", "weight": 0, "ranked": [None, {"id": "a", "text": 3}]}, 4]
    assert [message.split("; ")[0] for message in refusal(rows)] == [
        "<stream>: [0].weight: 0",
        "<stream>: [0].results[0]: null",
        "<stream>: [0].results[1].text: 3",
        "<stream>: [1]: 4",
    ]


def test_a_slice_may_be_called_overall_and_a_text_may_be_large() -> None:
    text = "word " * 1_000_000
    (row,) = read([{"query": "q", "slice": "overall", "results": [{"id": 1, "text": text}]}]).rows
    assert row.slice == "overall"
    assert row.results[0].text == text


def test_many_rows_with_one_text_are_numbered_in_one_pass() -> None:
    run = read([{"query": "q", "ranked": ["a"]}] * 20_000)
    assert [row.key for row in run.rows[:3]] == ["q", "q#2", "q#3"]
    assert run.rows[-1].key == "q#20000"


@pytest.mark.slow
def test_a_hundred_thousand_rows_are_read() -> None:
    content = "".join(f'{{"query_id":{i},"ranked":["a","b"]}}\n' for i in range(100_000))
    run = read(content)
    assert (len(run.rows), run.rows[-1].key) == (100_000, "99999")


def test_all_37_official_runs_of_dl19_are_read(data: Path) -> None:
    runs = read_runs(data / "dl19" / "all37_top20.trecrun.gz")
    assert len(runs) == 37
    assert {len(run.rows) for run in runs.values()} == {43}


def test_ties_of_a_run_that_is_not_asked_for_are_not_noted() -> None:
    text = "q Q0 a 1 2 one\nq Q0 b 2 1 one\nq Q0 a 1 2 two\nq Q0 b 2 2 two\n"
    assert noticed(read(text, run_tag="one")) == {}
    assert noticed(read(text, run_tag="two")) == {"tied scores": 2}


@pytest.mark.parametrize("field", ["_id", "docid"])
@pytest.mark.parametrize("text", ["passage", "contents"])
def test_spellings_that_the_documentation_names_are_no_guess(field: str, text: str) -> None:
    run = read([{"query": "q", "results": [{field: "a", text: "t"}]}])
    assert (run.rows[0].results, noticed(run)) == ((Result("a", None, "t"),), {})


def test_leaving_out_ids_of_rows_leaves_those_of_results() -> None:
    record = {"id": "q1", "query": "how?", "results": [{"id": "a", "text": "t"}]}
    (row,) = read([record], map={"id": "-"}, corpus=[{"id": "a", "text": "t"}]).rows
    assert (row.key, row.query_id, row.results[0].id) == ("how?", None, "a")
