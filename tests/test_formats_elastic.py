"""What Elasticsearch and OpenSearch write: hits, ratings, failures, texts, several indices."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path

import pytest

from judge.errors import InputError
from judge.formats import ReadOptions, read_goldens, read_grades, read_qrels, read_run
from judge.run import KnownGrade, Run

FIXTURES = Path(__file__).parent / "fixtures"


def read(value: object, **options: object) -> Run:
    return read_run(io.BytesIO(json.dumps(value).encode()), ReadOptions(**options))  # type: ignore[arg-type]


def load(name: str) -> object:
    return json.loads((FIXTURES / name).read_text("utf-8"))


def noticed(run: Run) -> dict[str, int]:
    return {notice.kind: notice.count for notice in run.notices}


def search(*hits: object, **beside: object) -> dict[str, object]:
    return {"hits": {"hits": list(hits)}, **beside}


def test_a_rank_eval_response_is_a_run_with_grades() -> None:
    run = read_run(FIXTURES / "rank_eval_response.json")
    assert [(row.key, [result.id for result in row.results]) for row in run.rows] == [
        ("q1", ["a", "b"]),
        ("q2", ["x"]),
        ("q3", []),
    ]
    assert [(grade.query_id, grade.id, grade.lo) for grade in run.grades] == [
        ("q1", "b", 3),
        ("q2", "x", 3),
    ]


def test_a_query_in_failures_is_a_row_that_failed() -> None:
    run = read_run(FIXTURES / "rank_eval_response.json")
    assert run.rows[2].error == "all shards failed"
    assert noticed(run) == {"unrated": 1, "failed query": 1}
    assert run.notices[0].text.endswith(
        "(first at " + str(FIXTURES / "rank_eval_response.json") + ": details['q1'].'a')"
    )


def test_a_rank_eval_request_holds_ratings_of_what_was_not_retrieved() -> None:
    file = read_grades(FIXTURES / "rank_eval_request.json")
    assert [(grade.query_id, grade.id, grade.hi) for grade in file.grades] == [
        ("q1", "b", 3),
        ("q2", "x", 3),
        ("q2", "y", 3),
        ("q2", "z", 3),
        ("q3", "w", 2),
    ]


def test_ratings_of_the_response_are_qrels_too() -> None:
    assert read_qrels(FIXTURES / "rank_eval_response.json").grades == {
        "q1": {"b": 3},
        "q2": {"x": 3},
    }


def test_the_worked_ndcg_of_response_and_request() -> None:
    # q1: a unrated at 1, b=3 at 2: 3/log2(3) over 3 = .6309. q2: x=3 at 1 of three rated 3:
    # 3 / (3 + 3/log2(3) + 3/log2(4)) = .4693, where _rank_eval itself says 1.0.
    run = read_run(FIXTURES / "rank_eval_response.json")
    rated = read_qrels(FIXTURES / "rank_eval_request.json").grades
    values = []
    for row in run.rows[:2]:
        gains = [rated[row.key].get(result.id, 0) for result in row.results]
        ideal = sorted(rated[row.key].values(), reverse=True)
        dcg, idcg = (sum(g / math.log2(i + 2) for i, g in enumerate(of)) for of in (gains, ideal))
        values.append(round(dcg / idcg, 4))
    assert values == [0.6309, 0.4693]


def test_msearch_responses_are_rows_and_errors_are_failures() -> None:
    run = read_run(FIXTURES / "msearch_response.json")
    assert [row.key for row in run.rows] == ["row 1", "row 2", "row 3"]
    assert run.rows[1].error == "no such index [plans]"
    assert run.rows[2].results == ()
    assert noticed(run)["partial result"] == 1


def test_ids_name_the_index_where_a_query_spans_several() -> None:
    run = read_run(FIXTURES / "msearch_response.json")
    assert [result.id for result in run.rows[0].results] == ["manuals/1", "faq/1"]
    one = read(search({"_index": "a", "_id": "1"}, {"_index": "a", "_id": "2"}))
    assert [result.id for result in one.rows[0].results] == ["1", "2"]


def test_texts_are_guessed_aloud_or_joined_from_highlights() -> None:
    run = read_run(FIXTURES / "msearch_response.json")
    assert [result.text for result in run.rows[0].results] == [
        "Breaker\nPush the red lever to reset it.",
        "reset twice … wait for the breaker",
    ]
    assert noticed(run)["guessed field"] == 1


def test_the_text_field_says_what_the_text_is() -> None:
    hits = [
        {"_id": "1", "_source": {"a": {"b": "x"}, "c": ["y", "z"], "text": "no"}},
        {"_id": "2", "_source": {"text": "no"}, "fields": {"c": ["f"]}},
        {"_id": "3"},
    ]
    run = read(search(*hits), text_field=("a.b", "c"))
    assert [result.text for result in run.rows[0].results] == ["x\ny\nz", "f", None]
    assert noticed(run) == {"no text": 1}


def test_a_response_beside_our_fields_keeps_them() -> None:
    lines = [search({"_id": "1"}, query="a", slice="s"), search({"_id": "2"}, query="b")]
    content = "\n".join(json.dumps(line) for line in lines)
    run = read_run(io.BytesIO(content.encode()))
    assert [(row.key, row.slice) for row in run.rows] == [("a", "s"), ("b", None)]


def test_the_key_reaches_the_document_and_its_index() -> None:
    hit = {"_index": "kb", "_id": "1", "_source": {"file": "f.pdf", "page": 3}}
    (row,) = read(search(hit), key=("file", "page")).rows
    assert row.results[0].id == "f.pdf|3"
    (row,) = read(search(hit), key=("_index", "_id")).rows
    assert row.results[0].id == "kb|1"


def test_hits_have_no_score_order_of_ours() -> None:
    run = read(
        search({"_id": "1", "_score": 1.0}, {"_id": "2", "_score": None}, {"_id": "3", "_score": 9})
    )
    assert [result.id for result in run.rows[0].results] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (
            {"details": {"q": None}, "metric_score": 1},
            "<stream>: details['q']: no list of hits; give",
        ),
        (
            {"details": {"q": {"hits": [3]}}, "metric_score": 1},
            "<stream>: details['q'].results[0]: null",
        ),
        ({"responses": [3]}, "<stream>: responses[0]: 3; give the response as the server wrote it"),
        ({"responses": [{}]}, "<stream>: responses[0]: no hits in an object with no fields; give"),
        (search(None), "<stream>: results[0]: null; a result is an id or an object"),
        (search({"_id": None}), "<stream>: results[0]: a result without id or text; give each"),
        ({"responses": []}, "<stream>: no rows; give at least one"),
        (
            {"requests": []},
            "<stream>: a _rank_eval request, which holds grades; give a file with a run",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_place(value: object, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read(value)
    assert str(caught.value).startswith(said)


def test_a_response_is_no_file_of_goldens() -> None:
    with pytest.raises(InputError, match="a _rank_eval response, which holds runs and grades"):
        read_goldens(FIXTURES / "rank_eval_response.json")


def test_grades_read_the_same_from_a_response_as_with_the_run() -> None:
    run = read_run(FIXTURES / "rank_eval_response.json")
    file = read_grades(FIXTURES / "rank_eval_response.json")

    def bare(grades: tuple[KnownGrade, ...]) -> list[tuple[str | None, str, int]]:
        return [(grade.query_id, grade.id, grade.lo) for grade in grades]

    assert bare(run.grades) == bare(file.grades)


def test_texts_that_came_as_fields_are_guessed_too() -> None:
    hit = {"_index": "kb", "_id": "1", "fields": {"body": ["push", "the lever"], "title": ["T"]}}
    run = read(search(hit))
    assert run.rows[0].results[0].text == "T\npush\nthe lever"
    assert noticed(run) == {"guessed field": 1}


@pytest.mark.parametrize("score", [None, "NaN", 0.5])
def test_a_response_whose_queries_all_failed_is_known_by_its_failures(score: object) -> None:
    failures = {"q1": {"error": {"type": "x", "reason": "no such field"}}}
    run = read({"metric_score": score, "details": {}, "failures": failures})
    assert [(row.query_id, row.error) for row in run.rows] == [("q1", "no such field")]


def test_an_error_in_place_of_a_response_is_a_row_that_failed() -> None:
    error = {"root_cause": [], "type": "index_not_found", "reason": "no such index [kb]"}
    assert read({"error": error, "status": 404}).rows[0].error == "no such index [kb]"
