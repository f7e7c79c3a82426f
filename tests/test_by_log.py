"""Compare and gate with a read log: nothing is concluded that does not hold without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.api.comparing import compare
from judge.api.gating import gate
from judge.api.inputs import Inputs
from judge.comparing.change import Verdict
from judge.comparing.comparison import Comparison
from judge.evidence.preferences import Preference
from judge.measures.names import Measure
from judge.report.by_log import both_readings
from judge.report.comparison import comparison_lines
from judge.report.comparison_document import comparison_document
from judge.report.comparison_wording import headline
from judge.report.gate import gate_lines
from judge.report.gate_document import gate_document
from judge.run import KnownGrade, Result, Row, Run
from judge.stopping.outcome import Outcome

NDCG = Measure("nDCG", 10)
BELIEVED = "if the log is right (nobody checked)"


def run(name: str, *ids: str, grades: dict[str, int] | None = None) -> Run:
    results = tuple(Result(id, text="words") for id in ids)
    known = tuple(KnownGrade(id, g, g, "q1") for id, g in (grades or {}).items())
    return Run(name, (Row("q1", query_id="q1", query="reset vault", results=results),), known)


def pair(winner: str, loser: str) -> Preference:
    return Preference("reset vault", winner, loser, 5, 0, 0.984375, True)


# The log says a > m > b; no run returned m.
THROUGH = [pair("a", "m"), pair("m", "b")]


def compared(*, log_error: float) -> Comparison:
    inputs = Inputs(preferences=THROUGH, log_error=log_error)
    return compare(run("x", "a", "b"), run("y", "b", "a"), inputs=inputs)


def test_unchecked_log_narrows_nothing() -> None:
    found = compared(log_error=0.10)
    difference = found.overall[NDCG].difference
    # At the ends one of the two is a 3 and the other a 0: ±(1 - 1/log2(3)).
    assert (difference.lo, difference.hi) == (
        pytest.approx(-0.369070, abs=1e-6),
        pytest.approx(0.369070, abs=1e-6),
    )
    assert found.by_log is None
    assert (
        "nobody checked its pairs; 20 are needed, so they only say what to ask first"
        in " ".join(" ".join(comparison_lines(found)).split())
    )


def test_verdict_that_only_the_log_decides_is_undecided_and_says_so() -> None:
    found = compared(log_error=1.0)
    assert found.verdict is Verdict.UNDECIDED
    assert found.exit_code == 3
    assert f"It hangs on the log: {BELIEVED}, nDCG@10 is -0.369..0.000." in headline(found)
    text = " ".join(" ".join(comparison_lines(found)).split())
    told = "If the log is right (nobody checked): nDCG@10 overall -0.369..0.000,"
    assert f"{told} without it -0.369..+0.369." in text


def test_json_has_both_readings_beside_each_other() -> None:
    document = comparison_document(compared(log_error=1.0))
    difference = document["measures"]["overall"]["nDCG@10"]["difference"]
    assert difference["hi"] == 0.0
    assert difference["hi_without_log"] == pytest.approx(0.369070, abs=1e-6)
    assert document["verdict"] == "undecided"
    assert document["verdict_by_log"] == "no difference shown"
    assert document["read_log"]["condition"] == BELIEVED
    assert document["rows"][0]["differences"]["nDCG@10"]["hi_without_log"] > 0.36


def test_pair_that_grades_contradict_is_a_conflict_in_compare() -> None:
    before = run("x", "a", "b", grades={"a": 0, "b": 3})
    found = compare(before, run("y", "b", "a"), inputs=Inputs(preferences=[pair("a", "b")]))
    told = "Conflicts: 1: a (q1): prior stands over preference"
    assert told in " ".join(" ".join(comparison_lines(found)).split())
    [conflict] = comparison_document(found)["conflicts"]
    assert conflict["against"]["source"] == "preference"


def test_gate_that_only_the_log_decides_is_undecided_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    gate([run("x", "b", "a")], path, update=True)
    inputs = Inputs(preferences=THROUGH, log_error=1.0)
    found = gate([run("y", "a", "b")], path, inputs=inputs)
    assert found.outcome is Outcome.UNDECIDED
    assert found.by_log is not None
    text = " ".join(" ".join(gate_lines(found)).split())
    told = "If the log is right (nobody checked): nDCG@10 0.000..+0.369,"
    assert f"{told} without it -0.369..+0.369." in text
    overall = gate_document(found)["measures"]["nDCG@10"]["overall"]
    assert overall["difference"]["lo"] == 0.0
    assert overall["difference"]["lo_without_log"] == pytest.approx(-0.369070, abs=1e-6)


@pytest.mark.parametrize("preferences", [THROUGH, None])
def test_baseline_written_with_a_trusted_log_moves_no_ideal(
    tmp_path: Path, preferences: list[Preference] | None
) -> None:
    path = tmp_path / "baseline.json"
    before = run("x", "b", "a", "c", grades={"c": 1})
    gate([before], path, inputs=Inputs(preferences=THROUGH, log_error=1.0), update=True)
    assert "without_log" not in path.read_text(encoding="utf-8")
    found = gate([before], path, inputs=Inputs(preferences=preferences, log_error=1.0))
    assert found.ideal_moved == ()


def test_pair_that_grades_contradict_is_a_conflict_in_a_gate(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    before = run("x", "a", "b", grades={"a": 0, "b": 3})
    gate([before], path, update=True)
    found = gate([run("y", "b", "a")], path, inputs=Inputs(preferences=[pair("a", "b")]))
    assert "Conflicts: 1: a (q1)" in " ".join(" ".join(gate_lines(found)).split())
    assert gate_document(found)["conflicts"][0]["against"]["source"] == "preference"


def test_equal_readings_stand_once() -> None:
    same = {"value": 0.5, "lo": 0.5, "hi": 0.5}
    assert both_readings(same, dict(same)) == same
