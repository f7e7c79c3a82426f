"""`judge gate` as a command: what it writes where, and what it refuses before it asks a judge."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Ran

Judge = Callable[..., Ran]


def run_file(path: Path, lists: dict[str, list[str]]) -> Path:
    rows = [
        {"query_id": key, "query": f"what is {key}", "results": [{"id": i, "text": i} for i in ids]}
        for key, ids in lists.items()
    ]
    path.write_text(json.dumps({"name": path.stem, "rows": rows}))
    return path


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return run_file(tmp_path / "old.json", {f"q{i}": [f"q{i}", "b", "c"] for i in range(4)})


@pytest.fixture
def baseline(tmp_path: Path, old: Path, run_judge: Judge) -> Path:
    path = tmp_path / "baseline.json"
    assert run_judge("gate", old, "--baseline", path, "--update-baseline").code == 0
    return path


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (("--markdown", "{folder}/none/gate.md"), "none/gate.md: cannot be written"),
        (("--junit", "{folder}"), "cannot be written (it is a folder)"),
        (("--markdown", "{folder}/a", "--junit", "{folder}/a"), "--junit would overwrite"),
        (("--markdown", "{folder}/new.json"), "--markdown would overwrite"),
        (("--junit", "{folder}/baseline.json"), "--junit would overwrite"),
        (("--json", "--markdown", "-"), "would overwrite standard output"),
        (("--update-baseline", "--markdown", "{folder}/baseline.json"), "would overwrite"),
    ],
)
def test_what_cannot_be_written_is_refused_before_any_call(
    tmp_path: Path,
    baseline: Path,
    run_judge: Judge,
    flags: tuple[str, ...],
    reason: str,
) -> None:
    new = run_file(tmp_path / "new.json", {f"q{i}": ["b", f"q{i}"] for i in range(4)})
    before = new.read_text()
    named = [flag.format(folder=tmp_path) for flag in flags]
    done = run_judge("gate", new, "--baseline", baseline, "--backend", "mock", *named)
    assert (done.code, done.out) == (2, "")
    assert reason in done.err
    assert not (tmp_path / "judge-cache").exists(), "nothing was judged"
    assert new.read_text() == before


def test_a_baseline_that_cannot_be_written_is_refused_before_any_call(
    tmp_path: Path, old: Path, run_judge: Judge
) -> None:
    where = tmp_path / "none" / "baseline.json"
    flags = ("--update-baseline", "--backend", "mock")
    done = run_judge("gate", old, "--baseline", where, *flags)
    assert done.code == 2
    assert done.err.startswith(f"judge: {where}: cannot be written")
    assert not (tmp_path / "judge-cache").exists(), "nothing was judged"


def test_a_dash_prints_the_comment_in_place_of_the_table(
    old: Path, baseline: Path, run_judge: Judge
) -> None:
    done = run_judge("gate", old, "--baseline", baseline, "--markdown", "-")
    assert done.out.startswith("**PASS** old may go in")
    assert done.out.count("old may go in") == 1


def test_json_of_a_run_that_did_not_run_has_no_verdict_on_any_measure(
    tmp_path: Path, baseline: Path, run_judge: Judge
) -> None:
    empty = run_file(tmp_path / "new.json", {f"q{i}": [] for i in range(4)})
    done = run_judge("gate", empty, "--baseline", baseline, "--json")
    found = json.loads(done.out)
    assert (done.code, found["outcome"]) == (3, "undecided")
    assert found["did_not_run"] == ["new"]
    assert found["measures"] == {}
    done = run_judge("compare", baseline, empty, "--json")
    found = json.loads(done.out)
    assert (done.code, found["verdict"]) == (3, "did not run")
    assert found["measures"] == {"overall": {}, "slices": {}}


def test_a_repeat_that_did_not_run_makes_no_baseline(
    tmp_path: Path, old: Path, run_judge: Judge
) -> None:
    # No judge is asked where a run did not run, so the baseline would lack its grades.
    empty = run_file(tmp_path / "new.json", {f"q{i}": [] for i in range(4)})
    path = tmp_path / "baseline.json"
    done = run_judge("gate", old, empty, "--baseline", path, "--update-baseline")
    assert done.code == 2
    assert "new did not run" in done.err
    assert not path.exists()


def test_a_baseline_written_with_reading_flags_is_read_with_the_same(
    tmp_path: Path, run_judge: Judge
) -> None:
    results = [
        {"chunk": n, "metadata": {"file": "a", "page": n}, "text": "a fuse"} for n in range(3)
    ]
    run = tmp_path / "run.json"
    run.write_text(json.dumps({"rows": [{"qid": "q", "question": "fuse", "results": results}]}))
    flags = ("--key", "file,page", "--map", "question=query", "--backend", "mock")
    words = ("gate", run, "--baseline", tmp_path / "baseline.json", *flags)
    assert run_judge(*words, "--update-baseline").code == 0
    done = run_judge(*words)
    assert "PASS" in done.out and "error" not in done.err, done
