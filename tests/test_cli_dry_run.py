"""`--dry-run`: what a judge would take, with nothing sent and nothing written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import ROOT, Ran
from fake_server import FakeServer, completion

DEMO = ROOT / "goldens" / "demo"
BEFORE, AFTER = DEMO / "before.json", DEMO / "after.json"
GOLDENS = ("--goldens", DEMO / "goldens.jsonl")
RunJudge = Callable[..., Ran]


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    """Return a server that grades 2 whatever it is asked, as `--backend openai:m`."""
    with FakeServer(lambda seen: completion(prompt_tokens=9999)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server


def written(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize(
    "words",
    [
        ("grade", AFTER, "--out", "out"),
        ("compare", BEFORE, AFTER, "--out", "out"),
        ("compare", BEFORE, AFTER, BEFORE),
        ("compare", BEFORE, AFTER, "--labels", "labels.csv", "--exclude-from-settling"),
        (
            *("gate", AFTER, "--baseline", "baseline.json", "--update-baseline"),
            *("--markdown", "gate.md", "--junit", "gate.xml"),
        ),
    ],
    ids=["grade", "compare", "line-up", "corrected", "gate"],
)
def test_nothing_is_sent_and_nothing_written(
    words: tuple[object, ...],
    served: FakeServer,
    run_judge: RunJudge,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("labels.csv").write_text("query_id,id,grade\ncode,error-qb-4107,3\n")
    before = written(tmp_path)
    ran = run_judge(*words, *GOLDENS, "--backend", "openai:m", "--dry-run")
    assert (ran.code, served.wire) == (0, 0), ran.err
    assert ran.out.startswith("Dry run: ")
    assert ran.out.count("\n") == 1
    assert written(tmp_path) == before


@pytest.mark.parametrize("until", ["all", "decided"])
def test_what_is_foretold_is_what_is_sent(
    until: str, served: FakeServer, run_judge: RunJudge
) -> None:
    words = ("compare", BEFORE, AFTER, "-m", "nDCG@10", *GOLDENS, "--backend", "openai:m")
    foretold = run_judge(*words, "--until", until, "--dry-run", "--json")
    dry = json.loads(foretold.out)["dry_run"]
    assert (dry["cached"], dry["cost_usd"], dry["at_most"]) == (0, None, until != "all")
    report = json.loads(run_judge(*words, "--until", until, "--json", "--quiet").out)
    if until == "all":
        assert report["calls"]["made"] == served.wire == dry["calls"] > 0
    else:
        assert 0 < report["calls"]["made"] == served.wire <= dry["calls"]
    # Now that it is paid for, a dry run finds it in the cache.
    again = run_judge(*words, "--until", until, "--dry-run", "--json")
    rest = json.loads(again.out)["dry_run"]
    assert (rest["calls"], rest["cached"]) == (0, report["calls"]["made"])


def test_a_stored_baseline_is_gated_dry(
    served: FakeServer, run_judge: RunJudge, tmp_path: Path
) -> None:
    baseline = ("--baseline", tmp_path / "baseline.json", *GOLDENS, "--backend", "openai:m")
    assert run_judge("gate", BEFORE, *baseline, "--update-baseline", "--quiet").code == 0
    stored, sent = (tmp_path / "baseline.json").read_bytes(), served.wire
    ran = run_judge("gate", AFTER, *baseline, "--update-baseline", "--dry-run")
    assert (ran.code, served.wire) == (0, sent)
    assert (tmp_path / "baseline.json").read_bytes() == stored
    calls = int(ran.out.split()[2])
    assert 0 < calls < sent  # what the baseline's own lists hold is paid for


def test_until_decided_says_that_it_may_need_less(served: FakeServer, run_judge: RunJudge) -> None:
    ran = run_judge("grade", AFTER, "--until", "decided", "--backend", "openai:m", "--dry-run")
    assert ran.out.rstrip().endswith("cost unknown; --until decided may need less")


@pytest.mark.parametrize("words", [("grade", AFTER), ("compare", BEFORE, AFTER)])
def test_without_a_judge_there_is_nothing_to_foretell(
    words: tuple[object, ...], run_judge: RunJudge
) -> None:
    ran = run_judge(*words, "--dry-run")
    assert ran.code == 2
    assert "--dry-run says what a judge would take; name one with --backend" in ran.err


def test_a_sweep_is_foretold(served: FakeServer, run_judge: RunJudge) -> None:
    ran = run_judge(
        *("sweep", "--corpus", DEMO / "corpus.jsonl", "--goldens", DEMO / "goldens.jsonl"),
        *("--set", "retriever=bm25,hashed", "--backend", "openai:m", "--dry-run"),
    )
    assert (ran.code, served.wire) == (0, 0), ran.err
    assert ran.out.startswith("Dry run: ")


def test_no_goldens_are_made_dry(served: FakeServer, run_judge: RunJudge, tmp_path: Path) -> None:
    made = tmp_path / "made.jsonl"
    words = ("goldens", "make", DEMO / "corpus.jsonl", "-o", made, "--backend", "openai:m")
    ran = run_judge(*words, "--dry-run")
    assert (ran.code, served.wire, made.exists()) == (2, 0, False)
    assert "leave --backend out" in ran.err
