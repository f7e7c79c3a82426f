"""`judge goldens make` and `check`, and `judge retrieve`, from the command line."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from conftest import ROOT
from fake_server import FakeServer, completion

from judge.cli import compare, goldens, measure, retrieve
from judge.errors import UsageError
from judge.formats import read_run

CORPUS = ROOT / "goldens" / "corpus.jsonl"
GOLDENS = ROOT / "goldens" / "goldens.jsonl"


def run_goldens(*args: object) -> Result:
    return CliRunner().invoke(goldens.command, [str(a) for a in args], catch_exceptions=False)


def run_retrieve(*args: object) -> Result:
    return CliRunner().invoke(retrieve.command, [str(a) for a in args], catch_exceptions=False)


def hits(report: str) -> dict[str, list[float]]:
    """Return Hit@5 of hybrid, bm25 and hashed by slice, from the printed table."""
    cells = (line.replace("*", "").split() for line in report.splitlines()[2:])
    return {
        name: [float(value) for value in values]
        for name, n, *values in (row for row in cells if len(row) == 5)
        if n.isdigit()
    }


def test_same_corpus_gives_the_same_bytes(tmp_path: Path) -> None:
    one, two = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    for path in (one, two):
        assert run_goldens("make", CORPUS, "-o", path).exit_code == 0
    assert one.read_bytes() == two.read_bytes()
    slices = {json.loads(line)["slice"] for line in one.read_text("utf-8").splitlines()}
    assert slices == {"exact", "phrase", "prefix", "noisy"}


def test_report_lays_the_blame_for_first_tokens_on_the_goldens(tmp_path: Path) -> None:
    args = ("make", CORPUS, "-o", tmp_path / "g.jsonl", "--category", "first-token")
    report = run_goldens(*args).stdout
    assert "This measures the goldens as much as the retrievers" in report
    assert "the goldens' fault, not the engine's" in " ".join(report.split())
    assert max(map(len, report.splitlines())) <= 80


def test_mock_cannot_paraphrase(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot write questions"):
        run_goldens("make", CORPUS, "-o", tmp_path / "g.jsonl", "--backend", "mock")


def test_paraphrases_stand_beside_exact_rows(tmp_path: Path) -> None:
    script = tmp_path / "script.jsonl"
    reply = json.dumps({"reply": json.dumps({"question": "how is it done?", "grade": 3})})
    script.write_text(f"{reply}\n" * 2, encoding="utf-8")
    out = tmp_path / "g.jsonl"
    report = run_goldens(
        *("make", CORPUS, "-o", out, "--category", "exact", "--per-category", 2),
        *("--backend", f"mock:script={script}", "--cache-dir", tmp_path / "cache", "--quiet"),
    ).stdout
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [row["slice"] for row in rows] == ["exact", "exact", "paraphrase", "paraphrase"]
    assert [row["expected"] for row in rows[:2]] == [row["expected"] for row in rows[2:]]
    assert "flatters search by" in report


def test_paraphrases_are_paid_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    reply = json.dumps({"question": "how is it done?", "grade": 3})
    with FakeServer(lambda seen: completion(reply)) as server:
        args = (
            *("make", CORPUS, "--category", "exact", "--per-category", 3),
            *("--backend", "openai:m", "--base-url", server.url),
            *("--cache-dir", tmp_path / "cache", "--quiet"),
        )
        run_goldens(*args, "-o", tmp_path / "1.jsonl")
        assert server.wire == 3
        # The passage and the term to avoid are what the model is shown.
        (golden, *_) = map(json.loads, (tmp_path / "1.jsonl").read_text("utf-8").splitlines())
        assert any(golden["query"] in seen.said for seen in server.seen)
        run_goldens(*args, "-o", tmp_path / "2.jsonl")
        assert server.wire == 3
    assert (tmp_path / "1.jsonl").read_bytes() == (tmp_path / "2.jsonl").read_bytes()


def test_check_ends_with_1_on_an_error_and_0_on_warnings(tmp_path: Path) -> None:
    assert run_goldens("check", GOLDENS, "--corpus", CORPUS).stdout.endswith("76 goldens\n")
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"query_id": "q", "query": "who?", "expected": ["gone"]}\n', encoding="utf-8")
    ended = CliRunner().invoke(
        goldens.command, ["check", str(bad), "--corpus", str(CORPUS)], standalone_mode=False
    )
    assert ended.return_value == 1
    assert "FAIL 1 errors" in ended.stdout


def test_check_as_json_lists_findings() -> None:
    findings = json.loads(run_goldens("check", GOLDENS, "--corpus", CORPUS, "--json").stdout)
    assert {"kind", "is_error", "text", "rows"} == set(findings[0])


def test_retrieve_writes_a_run_that_is_read_back(tmp_path: Path) -> None:
    out = tmp_path / "run.json"
    result = run_retrieve(CORPUS, GOLDENS, "-o", out, "--depth", "3")
    run = read_run(out)
    assert result.stdout == ""
    assert run.name == "hybrid depth=3"
    assert len(run.rows) == 76
    assert {len(row.results) for row in run.rows} == {3}
    assert run.rows[0].slice == "exact_token"
    # Goldens stay with their rows: the run can be graded as it is.
    assert run.rows[0].golden is not None and run.rows[0].golden.complete


def test_retrieve_names_rows_that_came_back_empty(tmp_path: Path) -> None:
    args = (CORPUS, GOLDENS, "-o", tmp_path / "r.json", "--retriever", "hashed")
    result = run_retrieve(*args, "--min-similarity", "0.5")
    assert "lists are empty: exact-token-01, exact-token-02" in result.stderr


@pytest.fixture(scope="module")
def cranfield(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the Cranfield collection as files that judge reads."""
    out = tmp_path_factory.mktemp("cranfield")
    script = ROOT / "scripts" / "cranfield_files.py"
    subprocess.run([sys.executable, script, data / "cranfield", out], check=True)
    return out


@pytest.mark.slow
def test_bm25_reaches_what_porter_stemming_gives_on_cranfield(cranfield: Path) -> None:
    out = cranfield / "run.json"
    run_retrieve(
        *(cranfield / "corpus.jsonl", cranfield / "queries.jsonl", "-o", out),
        *("--retriever", "bm25", "--chunk-size", "0"),
    )
    args = [str(out), str(cranfield / "qrels.trec"), "--grade-max", "4", "-m", "nDCG@10"]
    printed = CliRunner().invoke(measure.command, args, catch_exceptions=False).stdout
    assert round(float(printed.split()[1]), 3) == 0.361


@pytest.mark.slow
def test_bm25_beats_a_random_order_of_its_own_results(cranfield: Path, tmp_path: Path) -> None:
    ordered, mixed = cranfield / "bm25.json", cranfield / "mixed.json"
    run_retrieve(
        *(cranfield / "corpus.jsonl", cranfield / "queries.jsonl", "-o", ordered),
        *("--retriever", "bm25", "--chunk-size", "0"),
    )
    run = json.loads(ordered.read_text("utf-8"))
    chance = random.Random(0)
    for row in run["rows"]:
        chance.shuffle(row["results"])
    mixed.write_text(json.dumps(run | {"name": "mixed"}), encoding="utf-8")
    # As TREC does, take what nobody judged for not relevant: left open, it could reorder all.
    judged = (cranfield / "qrels.trec").read_text("utf-8")
    known = {tuple(line.split()[:3:2]) for line in judged.splitlines()}
    shown = [(row["query_id"], found["id"]) for row in run["rows"] for found in row["results"]]
    full = tmp_path / "qrels.trec"
    full.write_text(judged + "".join(f"{q} 0 {d} 0\n" for q, d in shown if (q, d) not in known))
    args = [str(mixed), str(ordered), "--judgments", str(full)]
    printed = CliRunner().invoke(
        compare.command, [*args, "--grade-max", "4", "--json"], catch_exceptions=False
    )
    found = json.loads(printed.stdout)["measures"]["overall"]["nDCG@10"]
    assert found["difference"]["value"] > 0
    assert found["p"] < 0.001
    assert found["p_sign_flip"] < 0.001


@pytest.mark.slow
def test_exact_goldens_are_found_and_first_tokens_are_not(cranfield: Path) -> None:
    args = ("make", cranfield / "corpus.jsonl", "-o", cranfield / "g.jsonl", "--per-category", 100)
    named = ("--category", "exact", "--category", "first-token")
    found = hits(run_goldens(*args, *named).stdout)
    assert found["exact"][1] >= 0.95
    assert found["first-token"][1] == pytest.approx(0.2, abs=0.1)


@pytest.mark.parametrize("category", ["exact"])
def test_exact_goldens_of_the_published_corpus_are_found(
    data: Path, tmp_path: Path, category: str
) -> None:
    corpus = data / "soat" / "corpus.jsonl"
    args = ("make", corpus, "-o", tmp_path / "g.jsonl", "--category", category)
    assert hits(run_goldens(*args).stdout)[category][1] >= 0.95


def test_foreign_fields_are_renamed(tmp_path: Path) -> None:
    corpus, queries = tmp_path / "c.jsonl", tmp_path / "q.jsonl"
    corpus.write_text(
        '{"page": "a", "body": "the red fox"}\n{"page": "b", "body": "a wolf"}\n', encoding="utf-8"
    )
    queries.write_text('{"nr": 1, "ask": "fox"}\n{"nr": 2, "ask": "wolf"}\n', encoding="utf-8")
    out = tmp_path / "run.json"
    run_retrieve(corpus, queries, "-o", out, "--map", "page=id,body=text,nr=query_id,ask=query")
    first, second = read_run(out).rows
    assert (first.query_id, first.results[0].id) == ("1", "a")
    assert (second.query_id, second.results[0].id) == ("2", "b")


def test_path_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    gone = tmp_path / "gone" / "file"
    with pytest.raises(UsageError, match="gone/file: cannot be written"):
        run_retrieve(CORPUS, GOLDENS, "-o", gone)
    with pytest.raises(UsageError, match="gone/file: cannot be written"):
        run_goldens("make", CORPUS, "-o", gone)
