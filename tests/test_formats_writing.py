"""Grades out and in again: every format gives back what it was given, or says what it cannot."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.errors import InputError
from judge.formats import Queries, ReadOptions, read_grades, read_run
from judge.formats.findings import Findings
from judge.formats.judged import Judged, read_judged
from judge.formats.run_writing import ragas_lines, run_lines
from judge.formats.writing import WITH_INTERVALS, WRITERS, WriteOptions, grade_lines
from judge.run import Golden, Result, Row, Run

FIXTURES = Path(__file__).parent / "fixtures"
ESCI = {"0": 0, "1": 1, "10": 2, "100": 3}
JUDGED = (
    Judged("q1", "reset breaker", "a", 3, 3, "golden", "expected"),
    Judged("q1", "reset breaker", "b", 0, 0, "judge", "off topic"),
    Judged("q2", "fuse size", "a", 1, 1),
)


def written(judged: object, to: str, **options: object) -> str:
    lines = grade_lines(judged, to=to, options=WriteOptions(**options), findings=Findings())  # type: ignore[arg-type]
    return "".join(f"{line}\n" for line in lines)


def stream(text: str) -> io.BytesIO:
    return io.BytesIO(text.encode())


@pytest.mark.parametrize(
    ("to", "text"),
    [
        ("trec", "q1 0 a 3\nq1 0 b 0\nq2 0 a 1\n"),
        ("beir", "query-id\tcorpus-id\tscore\nq1\ta\t3\nq1\tb\t0\nq2\ta\t1\n"),
        (
            "quepid",
            "query,docid,rating\nreset breaker,a,3\nreset breaker,b,0\nfuse size,a,1\n",
        ),
        (
            "csv",
            "query_id,query,id,grade,lo,hi,source,reason\n"
            "q1,reset breaker,a,3,3,3,golden,expected\n"
            "q1,reset breaker,b,0,0,0,judge,off topic\n"
            "q2,fuse size,a,1,1,1,,\n",
        ),
    ],
)
def test_lines_are_what_the_tool_reads(to: str, text: str) -> None:
    assert written(JUDGED, to) == text


def test_a_workbench_list_is_ready_to_import() -> None:
    assert json.loads(written(JUDGED, "workbench", values={3: "100.000"}, name="n")) == {
        "name": "n",
        "description": "",
        "type": "IMPORT_JUDGMENT",
        "judgmentRatings": [
            {
                "query": "reset breaker",
                "ratings": [{"docId": "a", "rating": "100.000"}, {"docId": "b", "rating": "0"}],
            },
            {"query": "fuse size", "ratings": [{"docId": "a", "rating": "1"}]},
        ],
    }


def test_rank_eval_ratings_name_their_index() -> None:
    requests = json.loads(written(JUDGED, "rank-eval", index="kb"))["requests"]
    assert requests[1] == {
        "id": "q2",
        "request": {"query": {"simple_query_string": {"query": "fuse size"}}},
        "ratings": [{"_index": "kb", "_id": "a", "rating": 1}],
    }
    split = json.loads(written([Judged("q", None, "kb/a/b", 1, 1)], "rank-eval"))["requests"]
    assert split[0]["ratings"] == [{"_index": "kb", "_id": "a/b", "rating": 1}]
    with pytest.raises(InputError, match="no index for the id 'a'; name it with --index NAME"):
        written(JUDGED, "rank-eval")


names = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=6)
texts = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1, max_size=9).map(
    lambda text: text.strip() or "x"
)


@given(
    st.sampled_from(sorted(WRITERS)),
    st.dictionaries(st.tuples(names, names), st.integers(0, 3), min_size=1, max_size=6),
)
def test_grades_survive_every_format(to: str, grades: dict[tuple[str, str], int]) -> None:
    judged = [Judged(query, None, id, grade, grade) for (query, id), grade in grades.items()]
    if to == "beir" and any('"' in name for pair in grades for name in pair):
        return
    text = written(judged, to, index="kb")
    found = read_grades(stream(text)).grades
    assert {(g.query_id or g.query, g.id): g.lo for g in found} == grades


@given(st.dictionaries(st.tuples(texts, texts), st.integers(0, 3), min_size=1, max_size=6))
def test_csv_and_workbench_hold_any_text(grades: dict[tuple[str, str], int]) -> None:
    judged = [Judged(None, query, id, grade, grade) for (query, id), grade in grades.items()]
    for to in ("csv", "quepid", "workbench", "jsonl"):
        found = read_judged(stream(written(judged, to))).judged
        assert {(one.query, one.id): one.lo for one in found} == grades


def test_provenance_and_intervals_survive_where_there_is_room() -> None:
    judged = (*JUDGED, Judged("q2", "fuse size", "c", 1, 3, "preference", "a is better"))
    for to in sorted(WITH_INTERVALS):
        assert read_judged(stream(written(judged, to))).judged == judged


def test_open_judgments_are_left_out_and_counted_where_there_is_no_room() -> None:
    findings = Findings()
    judged = [*JUDGED, Judged("q2", None, "c", 1, 3)]
    lines = grade_lines(judged, to="trec", options=WriteOptions(), findings=findings)
    assert len(lines) == 3
    assert [(notice.kind, notice.count) for notice in findings.notices()] == [("open grade", 1)]


@pytest.mark.parametrize(
    ("to", "one", "said"),
    [
        ("trec", Judged(None, "reset breaker", "a", 1, 1), "TREC cannot hold the query 'reset br"),
        ("trec", Judged("q", None, "a b", 1, 1), "query 'q': TREC cannot hold the id 'a b'; give"),
        (
            "beir",
            Judged("q", None, "a\tb", 1, 1),
            r"a tab-separated file cannot hold the id 'a\tb'",
        ),
    ],
)
def test_what_a_format_cannot_hold_is_an_error(to: str, one: Judged, said: str) -> None:
    with pytest.raises(InputError) as caught:
        written([one], to)
    assert said in str(caught.value)


def test_cells_that_a_spreadsheet_would_run_are_defused_and_read_back() -> None:
    text = written([Judged(None, "=SUM(A1)", "-1", 2, 2)], "quepid")
    assert text == "query,docid,rating\n =SUM(A1), -1,2\n"
    assert read_judged(stream(text)).judged == (Judged(None, "=SUM(A1)", "-1", 2, 2),)


def test_queries_give_texts_and_ids_that_the_file_lacks() -> None:
    queries = Queries({"q1": "reset breaker"})
    by_id = read_judged(stream("q1 0 a 2"), queries=queries).judged
    by_text = read_judged(FIXTURES / "quepid_ratings.csv", queries=queries).judged
    assert by_id == (Judged("q1", "reset breaker", "a", 2, 2),)
    assert by_text[0] == Judged("q1", "reset breaker", "a", 3, 3)
    nested = read_judged(stream('{"reset breaker": {"a": 2}}'), queries=queries).judged
    assert nested == by_id


def test_esci_goes_out_again_without_loss(data: Path) -> None:
    source = data / "esci_ubi" / "esci_us_judgments.json"
    judged = read_judged(source, ReadOptions(grade_map=ESCI)).judged
    values = {3: "100.000", 2: "10.000", 1: "1.000", 0: "0.000"}
    text = written(judged, "workbench", values=values)
    ratings = json.loads(source.read_text("utf-8"))["judgmentRatings"]
    assert json.loads(text)["judgmentRatings"] == ratings
    assert read_judged(stream(text), ReadOptions(grade_map=ESCI)).judged == judged


RUN = Run(
    "before",
    (
        Row(
            "q1",
            "q1",
            "reset breaker",
            "semantic",
            2.0,
            (Result("a", "d", "x", {"page": 1}, 0.5), Result("b")),
            golden=Golden(
                ("a",), "q1", "reset breaker", "semantic", 2.0, "any", True, "", ("the lever",)
            ),
        ),
        Row("q2", None, "q2", error="timeout"),
        Row("row 3"),
    ),
)


def test_a_run_survives_run_json() -> None:
    text = "\n".join(run_lines(RUN))
    again = read_run(stream(text))
    golden = again.rows[0].golden
    assert golden is not None
    assert (golden.expected, golden.match, golden.complete) == (("a",), "any", True)
    assert golden.quotes == ("the lever",)
    assert [
        (r.key, r.query_id, r.query, r.slice, r.weight, r.results, r.error) for r in again.rows
    ] == [(r.key, r.query_id, r.query, r.slice, r.weight, r.results, r.error) for r in RUN.rows]
    assert again.name == "before"


def test_a_ragas_sample_names_what_is_known_to_answer() -> None:
    lines = [json.loads(line) for line in ragas_lines(RUN, JUDGED, rel=2)]
    assert lines[0] == {
        "user_input": "reset breaker",
        "retrieved_context_ids": ["a", "b"],
        "reference_context_ids": ["a"],
    }
    run = read_run(stream("\n".join(json.dumps(line) for line in lines)))
    assert run.rows[0].results == (Result("a"), Result("b"))


@pytest.mark.parametrize("text", ["two\nlines", "a\r\nb", "a\rb", 'quo"ted', "a,b", "=1+1"])
@pytest.mark.parametrize("to", ["csv", "quepid"])
def test_a_cell_of_any_signs_comes_back(to: str, text: str) -> None:
    judged = [Judged("q1", text, "d1", 2, 2)]
    lines = grade_lines(judged, to=to, options=WriteOptions(), findings=Findings())
    (again,) = read_judged(io.BytesIO("".join(f"{line}\n" for line in lines).encode())).judged
    assert again.query == text
