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


def found_at(path: Path, ranks: dict[str, int], *, weights: dict[str, float] | None = None) -> Path:
    """Write a run in which each query's answer stands at a rank; slices are its first letters."""
    rows = [
        {
            "query_id": key,
            "query": f"what is {key}",
            "slice": key[0],
            "expected": ["answer"],
            "weight": (weights or {}).get(key, 1.0),
            "results": [{"id": f"{key}-{i}"} for i in range(rank - 1)] + [{"id": "answer"}],
        }
        for key, rank in ranks.items()
    ]
    path.write_text(json.dumps({"name": path.stem, "rows": rows}))
    return path


def test_claims_and_margins_of_the_command(tmp_path: Path, run_judge: Judge) -> None:
    # RR falls from 1/9 to 1/10 in one of two rows: -.0056 overall, -.0111 in its slice.
    base, flags = tmp_path / "b.json", ("-m", "RR", "--baseline", tmp_path / "b.json")
    before = found_at(tmp_path / "before.json", {"a1": 9, "b1": 1})
    run_judge("gate", before, *flags, "--update-baseline")
    assert base.exists()
    after = found_at(tmp_path / "after.json", {"a1": 10, "b1": 1})
    assert run_judge("gate", after, *flags).code == 1
    assert run_judge("gate", after, *flags, "--margin", "0.02").code == 0
    for zero in (("--strict",), ("--margin", "0")):
        assert run_judge("gate", after, *flags, *zero).code == 1
    other = run_judge("gate", after, *flags, "--margin", "0.02", "--claim", "population", "--json")
    document = json.loads(other.out)
    assert (other.code, document["outcome"]) == (3, "undecided")
    assert document["rule"] == {"margin": 0.02, "strict": False, "claim": "population"}
    assert document["measures"]["RR"]["rows_needed"] > 200


@pytest.mark.parametrize("weight", [5e-324, 1e308])
def test_weights_of_any_size_gate_and_compare(
    tmp_path: Path, run_judge: Judge, weight: float
) -> None:
    # Three rows of one weight: RR 1, 1/2, 1/4 become 1/2, 1, 1/4: the mean stays.
    keys = {"a1": weight, "a2": weight, "a3": weight}
    before = found_at(tmp_path / "before.json", {"a1": 1, "a2": 2, "a3": 4}, weights=keys)
    after = found_at(tmp_path / "after.json", {"a1": 2, "a2": 1, "a3": 4}, weights=keys)
    flags = ("-m", "RR", "--baseline", tmp_path / "b.json")
    run_judge("gate", before, *flags, "--update-baseline")
    assert run_judge("gate", after, *flags).code == 0
    done = run_judge("compare", before, after, "-m", "RR", "--json")
    overall = json.loads(done.out)["measures"]["overall"]["RR"]
    assert overall["before"]["value"] == pytest.approx(7 / 12)
    assert overall["difference"]["value"] == pytest.approx(0.0)
    assert overall["ci95"] is None


def test_rows_of_very_unequal_weight_are_not_said_to_be_one(
    tmp_path: Path, run_judge: Judge
) -> None:
    weights = {"a1": 1e12, "a2": 1.0}
    runs = [
        found_at(tmp_path / f"{name}.json", {"a1": rank, "a2": 2}, weights=weights)
        for name, rank in (("before", 1), ("after", 2))
    ]
    done = run_judge("compare", *runs, "-m", "RR")
    assert "One row" not in done.out
    assert "behind before on these 2 rows" in " ".join(done.out.split())
