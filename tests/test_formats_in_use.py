"""Files of other tools through `judge grade`, unchanged: the values that must come out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from judge.cli.main import app
from judge.errors import InputError

FIXTURES = Path(__file__).parent / "fixtures"


def graded(*args: object) -> dict[str, Any]:
    """Return the report of `judge grade … --json`; open judgments are no error here."""
    command = ["grade", *map(str, args), "--json"]
    result = CliRunner().invoke(app, command, catch_exceptions=False)
    assert result.exit_code in (0, 3), result.output
    report: dict[str, Any] = json.loads(result.stdout)
    return report


def rounded(bounded: dict[str, float]) -> tuple[float, float, float]:
    return round(bounded["value"], 4), round(bounded["lo"], 4), round(bounded["hi"], 4)


def written(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_rank_eval_values_stand_on_all_that_was_rated() -> None:
    report = graded(
        FIXTURES / "rank_eval_response.json",
        *("--judgments", FIXTURES / "rank_eval_request.json", "-m", "nDCG@10"),
    )
    values = {row["query_id"]: rounded(row["measures"]["nDCG@10"]) for row in report["rows"]}
    assert values["q1"] == (0.6309, 0.6309, 1.0)
    assert values["q2"] == (0.4693, 0.4693, 0.4693)
    failed = {row["query_id"]: row["error"] for row in report["rows"] if "error" in row}
    assert failed == {"q3": "all shards failed"}
    assert any("q3" in notice["text"] for notice in report["notices"])


def test_two_unjudged_results_above_the_answer_are_not_a_loss(tmp_path: Path) -> None:
    # a=3 at rank 3: 3/log2(4) over 3 = .5; one judged of three.
    run = written(
        tmp_path / "run.jsonl", {"query_id": "q", "query": "q", "ranked": ["x", "y", "a"]}
    )
    qrels = tmp_path / "qrels"
    qrels.write_text("q 0 a 3\n", encoding="utf-8")
    report = graded(run, "--judgments", qrels, "-m", "nDCG@10", "-m", "Judged@10")
    measures = report["measures"]["overall"]
    assert rounded(measures["nDCG@10"]) == (0.5, 0.5, 1.0)
    assert measures["Judged@10"]["value"] == pytest.approx(1 / 3)


def test_a_key_makes_goldens_survive_rechunking(tmp_path: Path) -> None:
    pages = [{"id": "1", "metadata": {"file_id": "manual.pdf", "page": page}} for page in (11, 12)]
    query = {"query": "reset breaker"}
    run = written(tmp_path / "run.jsonl", {**query, "results": [*pages, {"id": "3"}]})
    golden = {**query, "expected": [{"file_id": "manual.pdf", "page": 12}]}
    goldens = written(tmp_path / "goldens.jsonl", golden)
    report = graded(run, "--goldens", goldens, "--key", "file_id,page", "-m", "RR")
    assert report["measures"]["overall"]["RR"]["value"] == 0.5
    assert [n["count"] for n in report["notices"] if n["kind"] == "unmatched slot"] == [1]


@pytest.mark.parametrize(("match", "recall"), [("any", 1.0), ("all", 1 / 7)])
def test_any_of_seven_at_rank_one_is_all_there_is_to_recall(
    tmp_path: Path, match: str, recall: float
) -> None:
    golden = {"question": "q", "expected_doc_ids": list("abcdefg"), "match_mode": match}
    run = written(tmp_path / "run.jsonl", {"query": "q", "ranked": ["a", "x", "y"]})
    goldens = written(tmp_path / "goldens.jsonl", golden)
    report = graded(run, "--goldens", goldens, "-m", "R@5")
    assert report["measures"]["overall"]["R@5"]["value"] == pytest.approx(recall)


def test_expected_ids_that_occur_nowhere_were_reminted(tmp_path: Path) -> None:
    run = written(tmp_path / "run.jsonl", {"query": "q", "ranked": ["a"]})
    goldens = written(tmp_path / "goldens.jsonl", {"query": "q", "expected": ["z"]})
    with pytest.raises(InputError, match=r"0 of 1 expected ids occur .*re-minted"):
        graded(run, "--goldens", goldens)


def test_a_workbench_list_grades_rows_by_their_text(tmp_path: Path) -> None:
    run = written(tmp_path / "run.jsonl", {"query": "reset breaker", "ranked": ["b", "a"]})
    judgments = FIXTURES / "workbench_judgments.json"
    report = graded(run, "--judgments", judgments, "-m", "nDCG@10")
    # a=3 at rank 2: 3/log2(3) over 3 = .6309.
    assert rounded(report["measures"]["overall"]["nDCG@10"]) == (0.6309, 0.6309, 0.6309)


def test_grades_keyed_by_text_reach_rows_that_have_ids_too(tmp_path: Path) -> None:
    row = {"query_id": "q1", "query": "reset breaker", "ranked": ["b", "a"]}
    run = written(tmp_path / "run.jsonl", row)
    judgments = FIXTURES / "workbench_judgments.json"
    report = graded(run, "--judgments", judgments, "-m", "nDCG@10")
    assert rounded(report["measures"]["overall"]["nDCG@10"]) == (0.6309, 0.6309, 0.6309)
