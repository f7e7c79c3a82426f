"""`judge export`: files of one tool become files of another."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from judge.cli.export import command
from judge.errors import UsageError

FIXTURES = Path(__file__).parent / "fixtures"


def run(*args: object) -> Result:
    return CliRunner().invoke(command, [str(arg) for arg in args], catch_exceptions=False)


def test_a_workbench_list_becomes_qrels_with_ids_from_the_queries(tmp_path: Path) -> None:
    queries = tmp_path / "queries.tsv"
    queries.write_text("q1\treset breaker\nq2\tfuse size\n", encoding="utf-8")
    result = run(FIXTURES / "workbench_judgments.json", "--to", "trec", "--queries", queries)
    assert result.stdout == "q1 0 a 3\nq1 0 b 0\nq2 0 a 1\n"


def test_values_and_output_are_as_asked(tmp_path: Path) -> None:
    out = tmp_path / "list.json"
    result = run(
        *(FIXTURES / "quepid_ratings.csv", "--to", "workbench", "--values", "3=100.000,0=0.000"),
        *("-o", out),
    )
    assert result.stdout == ""
    ratings = json.loads(out.read_text("utf-8"))["judgmentRatings"]
    assert ratings[0] == {
        "query": "reset breaker",
        "ratings": [{"docId": "a", "rating": "100.000"}],
    }
    assert "note: lines without a grade: 1" in result.stderr


def test_a_reranker_becomes_two_runs() -> None:
    for tag, ids in {"reranker-input": ["a", "b"], "reranker-output": ["b", "a"]}.items():
        result = run(FIXTURES / "trace_flat.jsonl", "--run-tag", tag, "--to", "run")
        document = json.loads(result.stdout)
        assert document["name"] == tag
        assert [one["id"] for one in document["rows"][0]["results"]] == ids


def test_ragas_needs_a_run() -> None:
    with pytest.raises(UsageError, match="--to ragas needs the run"):
        run(FIXTURES / "rank_eval_request.json", "--to", "ragas")
    result = run(
        *(FIXTURES / "rank_eval_request.json", "--to", "ragas"),
        *("--run", FIXTURES / "rank_eval_response.json"),
    )
    assert json.loads(result.stdout.splitlines()[1])["reference_context_ids"] == ["x", "y", "z"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--values", "x=1"), "--values: 'x' is no grade"),
        (("-o", "/nowhere/file"), "/nowhere/file: cannot be written"),
    ],
)
def test_wrong_flags_are_usage_errors(args: tuple[str, ...], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        run(FIXTURES / "rank_eval_request.json", "--to", "trec", *args)
    assert str(caught.value).startswith(said)
