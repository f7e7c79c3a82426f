"""`judge measure` from files to lines: the traps where established tools disagree."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import pytest

from judge.cli.main import main


class Printed(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def values(self) -> dict[str, float]:
        return {name: float(value) for name, value in (row.split("\t") for row in self.rows)}

    @property
    def rows(self) -> list[str]:
        return self.out.splitlines()


@pytest.fixture
def measure(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Run the command on texts written to files; strings that start with `-` are options."""

    def run(run: str, qrels: str, *options: str) -> Printed:
        (tmp_path / "run.txt").write_bytes(run.encode())
        (tmp_path / "qrels.txt").write_bytes(qrels.encode())
        return invoke(capsys, str(tmp_path / "run.txt"), str(tmp_path / "qrels.txt"), *options)

    return run


def invoke(capsys: pytest.CaptureFixture[str], *argv: str) -> Printed:
    with pytest.raises(SystemExit) as ended:
        main(["measure", *argv])
    out, err = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    return Printed(ended.value.code, out, err)


def trec(*lines: str, tag: str = "sys") -> str:
    """`q1 a 1.0` -> a run line; the rank column is filled with a number that says nothing."""
    rows = (line.split() for line in lines)
    return "".join(f"{q} Q0 {doc} 7 {score} {tag}\n" for q, doc, score in rows)


def qrels(*lines: str) -> str:
    rows = (line.split() for line in lines)
    return "".join(f"{q} 0 {doc} {grade}\n" for q, doc, grade in rows)


FOUR = ["-m", "nDCG@10", "-m", "RR", "-m", "R@10", "-m", "P@10"]


@pytest.mark.parametrize(
    ("run", "judged", "expected"),
    [
        pytest.param(
            trec("q b 1.0", "q a 1.0", "q c 1.0"),
            qrels("q b 1"),
            (0.6309, 0.5, 1.0, 0.1),
            id="ties: document descending, c b a",
        ),
        pytest.param(
            trec("q 10 1.0", "q 9 1.0"),
            qrels("q 9 1"),
            (1, 1, 1, 0.1),
            id="ties are ordered as text: 9 before 10",
        ),
        pytest.param(
            "q Q0 a 2 9.0 s\nq Q0 b 1 8.0 s\n",
            qrels("q b 1"),
            (0.6309, 0.5, 1.0, 0.1),
            id="rank column is ignored",
        ),
        pytest.param(
            trec("q a 4", "q b 3", "q c 2", "q d 1"),
            qrels("q a 1", "q b 2", "q c 0", "q d 3"),
            (0.7463, 1, 1, 0.3),
            id="grades 1,2,0,3 by rank, linear gain",
        ),
        pytest.param(
            trec("q a 2", "q b 1"),
            qrels("q a -1", "q b 2", "q c 1"),
            (0.4796, 0.5, 0.5, 0.1),
            id="a negative grade gains 0",
        ),
        pytest.param(
            trec("q1 a 1"),
            qrels("q1 a 1", "q2 b 1"),
            (0.5, 0.5, 0.5, 0.05),
            id="a query missing from the run counts 0",
        ),
        pytest.param(
            trec("q1 a 1", "q2 b 1"), qrels("q1 a 1"), (1, 1, 1, 0.1), id="a query without qrels"
        ),
        pytest.param(
            trec("q1 a 1", "q2 b 1"),
            qrels("q1 a 1", "q2 b 0"),
            (0.5, 0.5, 0.5, 0.05),
            id="a query judged all 0 counts 0",
        ),
        pytest.param(
            trec("q a 3", "q a 2", "q x 1"),
            qrels("q a 1", "q b 1"),
            (0.6131, 1, 0.5, 0.1),
            id="a duplicate keeps its slot and gains nothing",
        ),
        pytest.param(
            trec("q a 3", "q x 2", "q a 1"),
            qrels("q a 1"),
            (1, 1, 1, 0.1),
            id="of duplicates the first counts",
        ),
        pytest.param(
            trec("q x 3", "q y 2", "q a 1"),
            qrels("q a 1"),
            (0.5, 0.3333, 1, 0.1),
            id="unjudged on top",
        ),
        pytest.param(
            trec("q a 1"),
            qrels("q a 1", "q b 1"),
            (0.6131, 1, 0.5, 0.1),
            id="a short list: P divides by k",
        ),
        pytest.param(
            trec("q a 1"),
            qrels("q a 1", "q b 3"),
            (0.2754, 1, 0.5, 0.1),
            id="the ideal is over all judged",
        ),
        pytest.param(
            "q1\tQ0  a 1 2.0 s\r\nq2 Q0 a 1 1.0 s\r\n\r\nq1 Q0 b 2   1.0\ts",
            "q1 0 b 1\r\nq2\t0\ta  1",
            (0.8155, 0.75, 1, 0.1),
            id="split blocks, tabs, CRLF, blanks, no newline at the end",
        ),
    ],
)
def test_trap(measure, run: str, judged: str, expected: tuple[float, ...]) -> None:
    # Expected: cases/trec_traps.md, column "ours". Split blocks: (.6309 + 1) / 2, (.5 + 1) / 2.
    printed = measure(run, judged, *FOUR)
    assert printed.code == 0
    assert tuple(printed.values.values()) == expected


def test_exponential_gain(measure) -> None:
    run = trec("q a 4", "q b 3", "q c 2", "q d 1")
    judged = qrels("q a 1", "q b 2", "q c 0", "q d 3")
    assert measure(run, judged, "--gain", "exponential").values == {"nDCG@10": 0.6289}


@pytest.mark.parametrize(("precision", "value"), [("single", 0.5), ("double", 1.0)])
def test_scores_compare_in_single_precision_unless_asked(
    measure, precision: str, value: float
) -> None:
    run = trec("q a 12.3456789012", "q b 12.3456789011")
    printed = measure(run, qrels("q a 1"), "-m", "RR", "--precision", precision)
    assert printed.values == {"RR": value}


@pytest.mark.parametrize(
    ("run", "judged", "says"),
    [
        (trec("q1 a 1"), qrels("q1 a 1", "q2 b 1"), "1 of 2 queries missing from the run"),
        (trec("q1 a 1", "q2 b 1"), qrels("q1 a 1"), "1 query has no judgments, left out: q2"),
        (
            trec("q1 a 1", "q2 b 1"),
            qrels("q1 a 1", "q2 b 0"),
            "1 query has no relevant document, counted as 0: q2",
        ),
        (trec("q b 1.0", "q a 1.0", "q c 1.0"), qrels("q b 1"), "3 tied results"),
        (trec("q a 3", "q a 2"), qrels("q a 1"), "1 duplicate document: the first counts"),
        (trec("q a 3"), qrels("q a 1"), "1 list shorter than 10"),
        (trec("q x 3", "q a 2"), qrels("q a 1"), "1 of 1 values are intervals"),
    ],
)
def test_what_the_value_hides_is_said_on_stderr(measure, run: str, judged: str, says: str) -> None:
    assert says in measure(run, judged).err


@pytest.mark.parametrize(
    ("run", "judged", "says"),
    [
        (
            trec("q a 1"),
            qrels("q a 1", "q a 3"),
            "qrels.txt:2: 'a' of query 'q' has another grade at ",
        ),
        (trec("q a nan"), qrels("q a 1"), "run.txt:1: score 'nan' is not a number"),
        (trec("q b 2", "q a abc"), qrels("q a 1"), "run.txt:2: score 'abc' is not a number"),
        (
            trec("q a 1"),
            qrels("q a 0.9"),
            "qrels.txt:1: grades that are no whole number: 0.9 (first at ",
        ),
        ("q Q0 a 1 2.0\n", qrels("q a 1"), "run.txt:1: 5 columns instead of 6"),
        ("\nq Q0 a 1 2.0 s t\n", qrels("q a 1"), "run.txt:2: 7 columns instead of 6"),
        (trec("q a 1"), "q 0 a\n", "qrels.txt:1: 3 columns instead of 4"),
        ("q Q0 a\0b 1 2.0 s\n", qrels("q a 1"), "run.txt:1: a NUL byte"),
        ("", qrels("q a 1"), "run.txt: no rows"),
        (" \n\r\n", qrels("q a 1"), "run.txt: no rows"),
        (trec("q a 1"), "", "qrels.txt: an empty file"),
    ],
)
def test_bad_line_is_named_and_exits_2(measure, run: str, judged: str, says: str) -> None:
    printed = measure(run, judged)
    assert (printed.code, printed.out) == (2, "")
    assert says in printed.err


def test_ids_of_a_trec_file_may_hold_commas_and_its_lines_tabs(measure) -> None:
    run = "q1,a Q0 smith,2019 1 2.0 t\nq1,a Q0 b 2 2.0 t\n"
    printed = measure(run, "q1,a 0 b 1\n", "-m", "RR")
    assert printed.values == {"RR": 0.5}
    assert "2 tied results" in printed.err
    printed = measure("q\tQ0 a\t1 2.0 t\nq Q0 a\n", "q 0\ta\t1")
    assert "run.txt:2: 3 columns instead of 6: 'q Q0 a'; a run line is" in printed.err


def test_equal_duplicates_in_the_qrels_are_fine(measure) -> None:
    assert measure(trec("q a 1"), qrels("q a 1", "q a 1"), "-m", "RR").values == {"RR": 1.0}


def test_all_bad_lines_are_reported_at_once(measure) -> None:
    printed = measure(trec(*[f"q d{n} bad" for n in range(30)]), qrels("q a 1"))
    assert printed.err.count("is not a number") == 20
    assert "… and 10 more" in printed.err


def test_unjudged_results_leave_an_interval(measure) -> None:
    # x, y unjudged above the relevant a (grade 3). RR: 1 if x is relevant. nDCG@10, linear:
    # lowest x = y = 0: .5. Highest x = y = 3: a perfect list.
    printed = measure(
        trec("q x 3", "q y 2", "q a 1"), qrels("q a 3"), "-m", "RR,nDCG@10", "--intervals"
    )
    assert printed.rows == ["RR\t0.3333\t0.3333\t1.0000", "nDCG@10\t0.5000\t0.5000\t1.0000"]


def test_context_precision_of_a_perfect_list_is_one(measure) -> None:
    printed = measure(trec("q a 1"), qrels("q a 1"), "-m", "context_precision@1")
    assert printed.rows == ["ContextPrecision@1\t1.0000"]


def test_per_query_lines_end_with_all(measure) -> None:
    run, judged = trec("q1 a 1", "q2 x 1"), qrels("q1 a 1", "q2 b 1")
    assert measure(run, judged, "-m", "RR", "-m", "P@1", "--per-query").rows == [
        "q1\tRR\t1.0000",
        "q1\tP@1\t1.0000",
        "q2\tRR\t0.0000",
        "q2\tP@1\t0.0000",
        "all\tRR\t0.5000",
        "all\tP@1\t0.5000",
    ]


def test_several_tags_stand_first(measure) -> None:
    run = trec("q a 2", "q b 1", tag="first") + trec("q b 2", "q a 1", tag="second")
    judged = qrels("q a 1")
    assert measure(run, judged, "-m", "RR").rows == ["first\tRR\t1.0000", "second\tRR\t0.5000"]
    assert measure(run, judged, "-m", "RR", "--run-tag", "second").rows == ["RR\t0.5000"]
    missing = measure(run, judged, "--run-tag", "third")
    assert missing.code == 2 and "first, second" in missing.err


def test_several_files_are_lines_of_one_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a").write_text(trec("q a 2", "q b 1", tag="A"))
    (tmp_path / "b").write_bytes(gzip.compress(trec("q b 2", "q a 1", tag="B").encode()))
    (tmp_path / "qrels").write_text(qrels("q a 1"))
    files = [str(tmp_path / name) for name in ("a", "b", "qrels")]
    printed = invoke(capsys, *files, "-m", "RR", "-m", "P@1")
    assert printed.rows == ["run\tRR\tP@1", "A\t1.0000\t1.0000", "B\t0.5000\t0.0000"]


def test_grades_of_documents_count_for_their_chunks(measure) -> None:
    chunks = [("d1#1", "d1"), ("d1#2", "d1"), ("d2", "d2"), ("d3#1", "d3")]
    results = [{"id": id, "document_id": document} for id, document in chunks]
    run = json.dumps({"name": "r", "rows": [{"query_id": "q", "results": results}]})
    # d1 holds two slots, of which the second gains nothing; d3 stands at rank 4.
    printed = measure(run, qrels("q d1 1", "q d3 1"), "-m", "AP", "-m", "P@2")
    assert printed.values == {"AP": 0.75, "P@2": 0.5}
    by_chunk = measure(run, qrels("q d1#2 1"), "-m", "RR")
    assert by_chunk.values == {"RR": 0.5}


def test_json_has_intervals_and_nothing_else_on_stdout(measure) -> None:
    printed = measure(trec("q x 2", "q a 1"), qrels("q a 1"), "-m", "RR", "--json", "--per-query")
    report = json.loads(printed.out)
    assert report["runs"][0]["measures"] == {"RR": {"value": 0.5, "lo": 0.5, "hi": 1.0, "n": 1}}
    assert report["runs"][0]["rows"] == [
        {"query_id": "q", "measures": {"RR": {"value": 0.5, "lo": 0.5, "hi": 1.0}}}
    ]


def test_run_on_standard_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(trec("q a 1").encode()))
    monkeypatch.setattr("sys.stdin", stdin)
    (tmp_path / "qrels").write_text(qrels("q a 1"))
    assert invoke(capsys, "-", str(tmp_path / "qrels"), "-m", "RR").rows == ["RR\t1.0000"]


def test_other_shapes_than_trec(measure) -> None:
    run = '{"q": {"a": 2.5, "b": 1.5}}'
    table = "query-id\tcorpus-id\tscore\nq\tb\t1\n"
    for judged in ('{"q": {"b": 1}}', table, qrels("q b 1")):
        assert measure(run, judged, "-m", "RR").rows == ["RR\t0.5000"]


def test_grades_of_another_scale_need_a_map(measure) -> None:
    run, judged = trec("q a 2", "q b 1"), '{"q": {"a": "10.000", "b": "100.000"}}'
    # grades 2, 3 in rank order: (2 + 3 * .6309) / (3 + 2 * .6309)
    options = ["--grade-map", "10=2,100=3"]
    assert measure(run, judged, *options).rows == ["nDCG@10\t0.9134"]
    assert measure(run, qrels("q a 10", "q b 100"), *options).rows == ["nDCG@10\t0.9134"]
    refused = measure(run, '{"q": {"a": "good"}}')
    assert refused.code == 2 and "qrels.txt" in refused.err and "--grade-map" in refused.err


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["a", "b", "--grade-map", "1=x"], "needs a whole grade"),
        (["only.run"], "two files at least"),
        (["-", "-"], "one file only"),
        (["no.run", "no.qrels"], "no such file"),
        (["a", "b", "-m", "bpref"], "there is no measure 'bpref'"),
    ],
)
def test_wrong_usage_exits_2(
    capsys: pytest.CaptureFixture[str], argv: list[str], says: str
) -> None:
    printed = invoke(capsys, *argv)
    assert printed.code == 2 and says in printed.err


def dl19(data: Path) -> list[str]:
    folder = data / "dl19"
    return [str(folder / "all37_top20.trecrun.gz"), str(folder / "human_dl19.qrels.gz")]


def test_dl19_every_topic_and_mean_as_trec_eval(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = invoke(capsys, *dl19(data), "-m", "nDCG@10", "--per-query")
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for run, query, _, value in (row.split("\t") for row in printed.rows):
        found[run][query] = value
    with (data / "dl19/per_topic_ndcg_cut_10.trec_eval.csv").open() as table:
        rows = [row for row in csv.DictReader(table) if row["topic"] != "average"]
    assert len(rows) == 1591
    assert all(found[row["runid"]][row["topic"]] == row["ndcg_cut_10"] for row in rows)
    official = json.loads((data / "dl19/nist_official_ndcg_cut_10.json").read_text())
    assert len(official) == 37
    assert {run: float(values["all"]) for run, values in found.items()} == official


def test_dl19_exponential_gain(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["-m", "nDCG@10", "--run-tag", "bm25base_p", "--gain", "exponential"]
    assert invoke(capsys, *dl19(data), *options).rows == ["nDCG@10\t0.4364"]


def test_home_made_files_are_read_by_map_and_key(measure) -> None:
    pages = [{"metadata": {"file": "m.pdf", "page": page}} for page in (11, 12)]
    run = json.dumps([{"ask": "reset", "results": pages}])
    graded = json.dumps([{"ask": "reset", "id": "m.pdf|12", "worth": 3}])
    options = ("--map", "ask=query,worth=grade", "--key", "file,page", "-m", "RR")
    assert measure(run, graded, *options).values == {"RR": 0.5}  # page 12 stands at rank 2
    wrong = measure(run, graded, "--map", "ask=nothing")
    assert (wrong.code, "--map: there is no field 'nothing'" in wrong.err) == (2, True)


FAILED = '{"rows": [{"query_id": "q1", "query": "a", "ranked": ["a"]}, %s]}'
UNREACHED = '{"query_id": "q2", "query": "b", "ranked": ["b"], "error": "timeout"}'


def test_query_that_failed_could_have_any_value(measure) -> None:
    # q1 is perfect: 1. q2 is 0, or anything up to 1, whatever stands in its list: mean 1/2 .. 1.
    args = ("-m", "nDCG@10", "-m", "RR", "--json", "--per-query")
    printed = measure(FAILED % UNREACHED, qrels("q1 a 1", "q2 b 1"), *args)
    (run,) = json.loads(printed.out)["runs"]
    assert run["measures"]["nDCG@10"] == {"value": 0.5, "lo": 0.5, "hi": 1.0, "n": 2}
    assert run["measures"]["RR"] == {"value": 0.5, "lo": 0.5, "hi": 1.0, "n": 2}
    assert run["rows"][1]["measures"]["RR"] == {"value": 0.0, "lo": 0.0, "hi": 1.0}
    says = "1 of 2 queries failed in the run, counted as 0; each value could be anything from 0 to"
    assert says in printed.err


def test_failure_of_rank_eval_could_have_any_value(measure) -> None:
    run = {
        "metric_score": 1.0,
        "details": {
            "q1": {"hits": [{"hit": {"_id": "a", "_index": "i"}, "rating": 1}], "metric_score": 1.0}
        },
        "failures": {"q2": {"error": {"reason": "no such index"}}},
    }
    printed = measure(json.dumps(run), qrels("q1 a 1", "q2 b 1"), "-m", "RR", "--intervals")
    assert printed.out == "RR\t0.5000\t0.5000\t1.0000\n"


@pytest.mark.parametrize(
    ("run", "judged"),
    [
        (trec("q a 1"), "# made by hand, twice\n\nq 0 a 2\n"),
        (trec("q a 1"), "#query zero document grade\nq 0 a 2\n"),
        ("# BM25, k1=.9\n" + trec("q a 1"), qrels("q a 2")),
        (trec("q a 1"), qrels("q a 2.0", "q a 2")),
    ],
)
def test_comments_are_nothing_and_2_point_0_is_2(measure, run: str, judged: str) -> None:
    assert measure(run, judged, "-m", "ndcg_cut_10").out == "nDCG@10\t1.0000\n"


def test_query_may_be_called_as_a_comment_begins(measure) -> None:
    printed = measure(trec("#1 a 1"), qrels("#1 a 2"), "-m", "RR", "--per-query")
    assert printed.out.startswith("#1\tRR\t1.0000\n")
