"""`judge compare` on the command line: exit codes, output, what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from conftest import ROOT, Ran

from judge.cli.compare import command
from judge.errors import UsageError

DEMO = ROOT / "goldens" / "demo"
BEFORE, AFTER = str(DEMO / "before.json"), str(DEMO / "after.json")


def compare(*arguments: str, input: str | None = None) -> Result:
    return CliRunner().invoke(
        command, arguments, standalone_mode=False, catch_exceptions=False, input=input
    )


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (("-m", "P(rel=9)@5"), "rel is above the scale 0..3"),
        (("-m", "Judged@10"), "tells how much is judged, not how good it is"),
    ],
)
def test_measures_that_tell_nothing_are_refused(
    tmp_path: Path, run_judge: Callable[..., Ran], flags: tuple[str, ...], reason: str
) -> None:
    path = tmp_path / "run.json"
    path.write_text('[{"query_id": "q", "results": [{"id": "a"}]}]')
    done = run_judge("compare", path, path, *flags)
    assert (done.code, done.out) == (2, "")
    assert reason in done.err


def test_a_comparison_is_printed_though_its_folder_cannot_be_written(
    tmp_path: Path, run_judge: Callable[..., Ran]
) -> None:
    (tmp_path / "comparison.json").mkdir()  # in the way, and not seen beforehand
    done = run_judge("compare", BEFORE, AFTER, "--out", tmp_path)
    assert done.code == 2
    assert "cannot be written" in done.err
    assert "nDCG@10" in done.out


def test_a_corpus_from_standard_input_serves_both_runs(tmp_path: Path) -> None:
    for name, ids in {"one": "ab", "two": "bc"}.items():
        rows = [{"query_id": "q", "query": "what", "results": [{"id": id} for id in ids]}]
        (tmp_path / name).write_text(json.dumps({"name": name, "rows": rows}))
    corpus = "".join(json.dumps({"id": id, "text": id}) + "\n" for id in "abc")
    files = [str(tmp_path / name) for name in ("one", "two")]
    cache = ("--cache-dir", str(tmp_path / "cache"))
    done = compare(*files, "--corpus", "-", "--backend", "mock", *cache, input=corpus)
    assert "3 calls" in done.output


def test_chunks_without_a_text_are_not_priced(
    tmp_path: Path, run_judge: Callable[..., Ran]
) -> None:
    for name, ids in {"one": "ab", "two": "ba"}.items():
        rows = [{"query_id": "q", "query": "what", "results": [{"id": id} for id in ids]}]
        (tmp_path / name).write_text(json.dumps({"name": name, "rows": rows}))
    done = run_judge("compare", tmp_path / "one", tmp_path / "two")
    assert done.code == 3
    said = " ".join(done.out.split())
    assert "2 chunks have no grade and no text to judge" in said
    assert "$" not in said


def test_without_labels_or_backend_it_answers_what_it_can() -> None:
    done = compare(BEFORE, AFTER, "-m", "nDCG@10")
    first = " ".join(done.output.split("\n\n")[0].split())
    assert done.return_value == 3
    assert first.startswith("Undecided: 1 of 12 lists are identical; in the other 11, ")
    assert "chunks have no grade: nDCG@10 could move -" in first
    assert "with gpt-5-mini." in first
    assert done.output.splitlines()[-1].startswith("UNDECIDED nDCG@10 -")


def test_every_line_fits_80_columns() -> None:
    done = compare(BEFORE, AFTER, "--goldens", str(DEMO / "goldens.jsonl"))
    assert max(map(len, done.output.splitlines())) <= 80


@pytest.mark.parametrize("until", ["all", "decided", "confident=0.9", "width=0.05"])
def test_the_mock_decides(until: str, tmp_path: Path) -> None:
    done = compare(
        *(BEFORE, AFTER, "-m", "nDCG@10", "--backend", "mock", "--until", until),
        *("--goldens", str(DEMO / "goldens.jsonl"), "--cache-dir", str(tmp_path), "--quiet"),
    )
    assert done.return_value == 0
    assert "word overlap, not a judgment" in " ".join(done.output.split())


def test_every_line_of_figures_says_that_they_are_the_mocks(tmp_path: Path) -> None:
    done = compare(
        *(BEFORE, AFTER, "-m", "nDCG@10", "--backend", "mock", "--quiet"),
        *("--goldens", str(DEMO / "goldens.jsonl"), "--cache-dir", str(tmp_path)),
    )
    lines = done.output.splitlines()
    assert max(map(len, lines)) <= 80
    table = [line for line in lines if line.startswith(("overall", "entity", "semantic"))]
    wins = [line for line in lines if line.startswith(("  +", "  -"))]
    assert len(table) == 6 and len(wins) >= 6
    assert all("word overlap" in line for line in (*table, *wins))


def test_an_answer_below_the_cutoff_is_not_called_missing() -> None:
    judged = ("--goldens", str(DEMO / "goldens.jsonl"), "-m", "nDCG@10")
    said = " ".join(compare(BEFORE, AFTER, *judged).output.split())
    assert "setting-quiet-hours (grade 3): rank 2 -> rank 11, too low to count" in said


def test_json_is_the_document_alone() -> None:
    done = compare(BEFORE, AFTER, "--json")
    document = json.loads(done.stdout)
    assert (document["baseline"], document["candidate"]) == ("before", "after")
    assert document["verdict"] == "undecided"
    assert len(document["rows"]) == 12


def test_reports_with_rankings_inside_are_compared(tmp_path: Path) -> None:
    from judge.cli.grade import command as grade

    for name in ("before", "after"):
        arguments = [str(DEMO / f"{name}.json"), "--out", str(tmp_path / name)]
        CliRunner().invoke(
            grade, [*arguments, "--backend", "mock", "--cache-dir", str(tmp_path / "cache")]
        )
    reports = [str(tmp_path / name / "report.json") for name in ("before", "after")]
    document = json.loads(compare(*reports, "-m", "nDCG@10", "--json").stdout)
    # The judge graded both top tens, but for the demo's one chunk without a text.
    assert document["open_chunks"] == 1
    assert document["unjudged"]["baseline"] < 0.01


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-", "-"), "only one file can be standard input"),
        ((BEFORE, AFTER, "--until", "soon"), "decided"),
        ((BEFORE, AFTER, "--against", BEFORE), "third"),
        ((BEFORE, AFTER, BEFORE, "--until", "decided"), "two runs"),
    ],
)
def test_what_cannot_go_together_is_refused(arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        compare(*arguments)
