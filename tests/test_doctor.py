"""What `judge doctor` sees in a run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT, Ran

from judge.doctor import FAIL, MARGIN, OK, WARN, diagnose
from judge.run import Golden, Result, Row, Run
from judge.stopping.outcome import MARGIN as GATE_MARGIN


def row(key: str, *results: Result, query: str | None = "how?", **fields: object) -> Row:
    return Row(key=key, query_id=key, query=query, results=results, **fields)  # type: ignore[arg-type]


def chunk(id: str, text: str | None = "text", score: float | None = None) -> Result:
    return Result(id, text=text, score=score)


TEN = tuple(chunk(f"d{at}") for at in range(10))


@pytest.mark.parametrize(
    ("rows", "level", "said"),
    [
        ([row("q1")], FAIL, "the run did not run"),
        ([row("q1", *TEN), row("q2")], WARN, "1 (q2) returned nothing"),
        ([row("q1", *TEN), row("q2", error="timeout")], WARN, "1 (q2) failed to run"),
        ([row("q1", chunk("a", None))], FAIL, "no result has a text"),
        ([row("q1", chunk("a"), chunk("b", None))], WARN, "1 of 2 results in the top 10"),
        ([row("q1", *TEN)], OK, "every result in the top 10 has a text"),
        ([row("q1", *TEN, query=None)], WARN, "1 (q1) has no query text"),
        ([row("q1", chunk("a"))], WARN, "1 (q1) returned fewer than 10"),
        ([row("q1", chunk("a"), chunk("a"))], WARN, "1 (q1) returned an id twice"),
        ([row("q1", chunk("a", score=2.0), chunk("b", score=2.0))], WARN, "a tie for rank 1"),
        ([row("q1", chunk("a", "How? "))], WARN, "the query itself as a result"),
        ([row("q1", *TEN)], WARN, "no goldens"),
        ([row("q1", *TEN)], WARN, "no slices"),
        ([row("q1", *TEN, slice="entity")], WARN, "1 (entity (1))"),
    ],
)
def test_each_finding(rows: list[Row], level: str, said: str) -> None:
    findings = diagnose(Run("run", tuple(rows))).findings
    assert any(f.level == level and said in f.text for f in findings), findings


def test_how_many_queries_a_small_change_needs() -> None:
    # statistics.md E: sd .15 needs 444 queries for .02 (t power), and 50 queries find .059431
    run = Run("run", tuple(row(f"q{at}", *TEN) for at in range(50)))
    (said,) = [f.text for f in diagnose(run).findings if "0.02" in f.text]
    assert "about 444 queries; 50 find one of 0.06" in said


def test_goldens_none_of_which_occur() -> None:
    run = Run("run", (row("q1", *TEN),))
    findings = diagnose(run, [Golden(("z",), query_id="q1")]).findings
    assert any(f.level == FAIL and "0 of 1 expected ids occur" in f.text for f in findings)


def test_goldens_that_occur_and_rows_without() -> None:
    run = Run("run", (row("q1", *TEN), row("q2", *TEN)))
    texts = [f.text for f in diagnose(run, [Golden(("d3",), query_id="q1")]).findings]
    assert "1 of 2 rows have goldens" in texts and "1 (q2) has no golden" in texts
    assert "1 of 1 expected chunks were returned" in texts


def test_a_question_without_answer_may_return_nothing() -> None:
    run = Run("run", (row("q1", *TEN), row("q2")))
    golden = Golden((), query_id="q2", complete=True)
    assert not any("returned nothing" in f.text for f in diagnose(run, [golden]).findings)


@pytest.mark.parametrize(
    ("rows", "goldens", "step"),
    [
        ([row("q1")], [], "run the search again"),
        ([row("q1", chunk("a", None))], [], "--corpus"),
        ([row("q1", *TEN)], [], "judge grade run.json --backend mock"),
        ([row("q1", *TEN, query=None)], [], "--queries"),
        ([row("q1", *TEN)], [Golden(("z",), query_id="q1")], "lay one expected id beside"),
        ([row("q1", *TEN)], [Golden(("d1",), query_id="q1")], "judge grade run.json --backend"),
    ],
)
def test_there_is_one_next_step(rows: list[Row], goldens: list[Golden], step: str) -> None:
    assert step in diagnose(Run("run", tuple(rows)), goldens).next_step


def test_the_command_reads_several_runs(run_judge: Callable[..., Ran]) -> None:
    demo = ROOT / "goldens" / "demo"
    ran = run_judge("doctor", demo / "before.json", demo / "after.json")
    assert ran.code == 0 and ran.out.count("Next: ") == 2
    assert all(len(line) <= 80 for line in ran.out.splitlines() if str(demo) not in line)


def test_the_next_step_keeps_the_options_that_were_given(
    run_judge: Callable[..., Ran], tmp_path: Path
) -> None:
    demo = ROOT / "goldens" / "demo"
    argv = ("--goldens", demo / "goldens.jsonl", "--corpus", demo / "corpus.jsonl", "--clip")
    ran = run_judge("doctor", demo / "before.json", *argv)
    said = " ".join(ran.out.split())
    for word in argv:
        assert str(word) in said.partition("Next: ")[2]


def test_only_one_file_is_standard_input(run_judge: Callable[..., Ran]) -> None:
    assert "standard input" in run_judge("doctor", "-", "-").err


def test_the_command_refuses_what_it_cannot_read(
    run_judge: Callable[..., Ran], tmp_path: Path
) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"rows": 3}))
    assert run_judge("doctor", path).code == 2


def test_says_what_a_gate_on_so_many_rows_can_claim() -> None:
    # sum((1 + s * .01 / .99) ** 423 for s in .1, .2, … 1) / 10 is the first over 20.
    few, many = (
        diagnose(Run("r", tuple(row(f"q{i}", *TEN) for i in range(n)))).findings for n in (11, 423)
    )
    (said,) = (found.text for found in few if "judge gate" in found.text)
    assert said.startswith("`judge gate` decides about these 11 queries; to show of queries like")
    assert "takes 423 or more: 11, if none differs, show 0.31" in said
    (said,) = (found.text for found in many if "judge gate" in found.text)
    assert said.endswith("and can about others like them (--claim population)")
    assert MARGIN == GATE_MARGIN
