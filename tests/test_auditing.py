"""A log earns its trust: a sample of its pairs against grades, and what rests on it since."""

from __future__ import annotations

import pytest

from judge.api.grading import grade
from judge.auditing import Checked, LogTrust, LogUse
from judge.cascade import Grading, Settings, grade_runs
from judge.evidence.joining import PreferenceIndex
from judge.evidence.preferences import Preference
from judge.judging.backends import open_backend
from judge.judging.judge import Judge
from judge.judging.prompt import load_prompt
from judge.measures.names import parse_measure
from judge.report.document import report_document
from judge.report.wording import facts, headline, outcome
from judge.run import Golden, KnownGrade, Result, Row, Run

SETTINGS = Settings((parse_measure("nDCG@10"),))


def texts(at: int) -> dict[str, str]:
    # Word overlap: good repeats the query (3), bad shares no word with it (0).
    return {"top": f"reset vault {at}", "good": f"reset vault {at}", "bad": "opening hours"}


def world(n: int) -> Run:
    """Return n queries whose golden stands on top of two open chunks."""
    rows = []
    for at in range(n):
        results = tuple(Result(f"{name}{at}", text=text) for name, text in texts(at).items())
        golden = Golden((f"top{at}",), query_id=f"q{at}")
        key, query = f"q{at}", f"reset vault {at}"
        rows.append(Row(key, query_id=key, query=query, results=results, golden=golden))
    return Run("run", tuple(rows))


def log(n: int, *, wrong: int = 0) -> list[Preference]:
    """Return one decided pair a query; the first `wrong` of them prefer the bad chunk."""
    sides = [("bad", "good") if at < wrong else ("good", "bad") for at in range(n)]
    return [
        Preference(f"reset vault {at}", f"{won}{at}", f"{lost}{at}", 5, 0, 0.984375, True)
        for at, (won, lost) in enumerate(sides)
    ]


def graded(n: int, *, wrong: int = 0, use: LogUse | None = None, **given: object) -> Grading:
    with Judge([open_backend("mock")], load_prompt()) as judge:
        pairs = PreferenceIndex(log(n, wrong=wrong))
        runs = [world(n)]
        return grade_runs(runs, settings=SETTINGS, preferences=pairs, judge=judge, log=use, **given)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pairs", "contradicted", "words"),
    [
        # scipy 1.12: binomtest(k, n).proportion_ci(.95, "exact").high = .169197, .168433, .264841
        (40, 2, "if the log is right (2 of 40 contradicted, at most .17)"),
        (20, 0, "if the log is right (0 of 20 contradicted, at most .17)"),
    ],
)
def test_words_name_the_sample_and_the_exact_bound(
    pairs: int, contradicted: int, words: str
) -> None:
    trust = LogTrust(Checked(pairs, contradicted), Checked(), 400, 0.10)
    assert trust.condition == words
    assert trust.is_trusted


def test_share_above_the_limit_earns_no_trust() -> None:
    assert not LogTrust(Checked(40, 5), Checked(), 400, 0.10).is_trusted
    assert LogTrust(Checked(40, 5), Checked(), 400, 0.20).is_trusted


def test_known_grades_that_contradict_it_outweigh_a_clean_sample() -> None:
    assert not LogTrust(Checked(20, 0), Checked(20, 10), 400, 0.10).is_trusted


def test_fewer_than_twenty_of_many_is_unknown_and_all_of_a_few_is_known() -> None:
    assert not LogTrust(Checked(19, 0), Checked(), 400, 0.10).is_known
    whole = LogTrust(Checked(8, 1), Checked(), 8, 0.20)
    assert whole.is_trusted
    assert whole.at_most == 1 / 8


def test_trusted_log_saves_the_calls_that_its_audit_leaves() -> None:
    found = graded(30)
    assert found.log.trust.audited == Checked(20, 0)
    # 20 of 30 pairs are shown, two chunks each; in the other ten rows good >= bad settles nDCG.
    assert found.calls.made == 40
    assert found.calls_saved["preference"] == 20


def test_log_that_the_judge_contradicts_settles_nothing() -> None:
    found = graded(30, wrong=15)
    assert found.log.trust.audited.share > 0.10
    assert not found.log.trust.is_trusted
    assert found.if_log_is_right is None
    assert found.calls.made == 60
    assert found.calls_saved["preference"] == 0
    assert len(found.log_conflicts) == 15  # each pair that the judge contradicts is shown


def test_pools_never_hold_what_only_the_log_says() -> None:
    found = graded(30)
    assert all(pool.orders == () for pool in found.pools)
    assert sum(judgment.is_open for pool in found.pools for judgment in pool.judgments) == 20


def test_without_a_judge_twenty_known_pairs_tell() -> None:
    known = [
        KnownGrade(f"{name}{at}", grade, grade, f"q{at}")
        for at in range(20)
        for name, grade in (("good", 3), ("bad", 0))
    ]
    pairs = PreferenceIndex(log(30))
    found = grade_runs([world(30)], settings=SETTINGS, known=known, preferences=pairs)
    assert found.log.trust.known == Checked(20, 0)
    assert found.log.trust.is_trusted
    few = grade_runs([world(30)], settings=SETTINGS, known=known[:38], preferences=pairs)
    assert not few.log.trust.is_trusted


def test_report_gives_both_readings_and_the_condition() -> None:
    report = grade(world(30), preferences=log(30), backend="mock")
    condition = "if the log is right (0 of 20 contradicted, at most .17)"
    # Ten rows keep two open chunks. Top is a 3 at rank 1; at worst good is 0 and bad 3:
    # (3 + 3/2) / (3 + 3/log2(3)) = .919721, and the mean (20 + 10 · .919721) / 30 = .973240.
    mean = report_document(report)["measures"]["overall"]["nDCG@10"]
    assert (mean["lo"], mean["hi"]) == (1.0, 1.0)
    assert mean["lo_without_log"] == pytest.approx(0.973240, abs=1e-6)
    assert mean["hi_without_log"] == 1.0
    rows = report_document(report)["rows"]
    assert sum("lo_without_log" in row["measures"]["nDCG@10"] for row in rows) == 10
    assert "between 0.973 and 1.000" in headline(report)
    assert any(
        line.startswith(f"I{condition[1:]}: overall nDCG@10 1.000") for line in facts(report)
    )
    assert outcome(report).startswith(f"DONE {condition}: nDCG@10 1.000")
    assert "without it nDCG@10" in outcome(report)
    assert report.exit_code == 0
