"""The pipeline end to end, with a judge that plays a script."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge.api.grading import default_measures
from judge.cascade import Grading, Settings, grade_runs
from judge.errors import BackendUnavailable, InputError
from judge.judging.backends import open_backend
from judge.judging.cache import JudgmentCache
from judge.judging.judge import Judge
from judge.judging.limits import Limits
from judge.judging.prompt import load_prompt
from judge.measures.names import parse_measure
from judge.run import Golden, KnownGrade, Result, Row, Run
from judge.scoring import means, score_rows

SETTINGS = Settings((parse_measure("nDCG@10"), parse_measure("RR")))


def row(key: str, *ids: str, text: str | None = "words", error: str | None = None) -> Row:
    results = tuple(Result(id, text=text and f"{text} {id}") for id in ids)
    return Row(key=key, query_id=key, query=f"query {key}", results=results, error=error)


def run(*rows: Row, name: str = "run") -> Run:
    return Run(name, rows)


@pytest.fixture
def mock() -> Iterator[Judge]:
    with Judge([open_backend("mock")], load_prompt()) as judge:
        yield judge


def scripted(folder: Path, *steps: object) -> Judge:
    """Return a judge that gives these replies and failures in order, one at a time."""
    path = folder / "script.jsonl"
    path.write_text("".join(json.dumps(step) + "\n" for step in steps))
    backend = open_backend(f"mock:script={path}")
    return Judge([backend], load_prompt(), limits=Limits(concurrency=1))


def overall(grading: Grading, at: int = 0) -> dict[str, tuple[float, float, float]]:
    settings = grading.settings
    scores = score_rows(grading.pools, settings.measures, run=at, scale=settings.scale)
    weighted = [(p.query.weight, s) for p, s in zip(grading.pools, scores, strict=True)]
    found = means(weighted, settings.measures)
    return {str(m): (v.value, v.lo, v.hi) for m, v in found.items()}


def test_only_what_goldens_leave_open_is_sent(mock: Judge) -> None:
    goldens = [Golden(("a",), query_id="q1", complete=True), Golden(("b",), query_id="q2")]
    grading = grade_runs(
        [run(row("q1", "a", "x"), row("q2", "x", "b", "y"))],
        settings=SETTINGS,
        goldens=goldens,
        judge=mock,
    )
    # q1 is complete; of q2 the golden b is known
    assert [(v.query_id, v.id) for v in grading.verdicts] == [("q2", "x"), ("q2", "y")]
    assert grading.calls.made == 2
    assert not any(j.is_open for pool in grading.pools for j in pool.judgments)


def test_a_row_that_the_bounds_settle_sends_nothing(mock: Judge) -> None:
    known = [KnownGrade("a", 3, 3, "q1")]
    grading = grade_runs([run(row("q1", "a", "b"))], settings=SETTINGS, known=known, judge=mock)
    # [3, b] is in order whatever b is: nDCG is 1
    assert grading.calls.made == 0 and grading.verdicts == ()
    assert overall(grading)["nDCG@10"] == (1.0, 1.0, 1.0)


def test_two_unjudged_chunks_on_top_are_an_interval_not_a_loss() -> None:
    known = [KnownGrade("a", 3, 3, "q1"), KnownGrade("b", 1, 1, "q1")]
    before = grade_runs([run(row("q1", "a", "b"))], settings=SETTINGS, known=known)
    after = grade_runs([run(row("q1", "new1", "new2", "a", "b"))], settings=SETTINGS, known=known)
    assert overall(before)["nDCG@10"] == (1.0, 1.0, 1.0)
    value, lo, hi = overall(after)["nDCG@10"]
    # both 0: (3/2 + 1/log2(5)) / (3 + 1/log2(3)); both 3: 1. The value is no verdict.
    assert value == pytest.approx((1.5 + 1 / math.log2(5)) / (3 + 1 / math.log2(3)))
    assert lo <= value and hi == pytest.approx(1.0)


def test_a_failed_call_leaves_its_chunk_open_with_the_reason(tmp_path: Path) -> None:
    known = [KnownGrade("c", 2, 2, "q1")]
    with scripted(
        tmp_path, {"reply": '{"grade": 0}'}, {"reply": "I cannot judge this passage."}
    ) as judge:
        grading = grade_runs(
            [run(row("q1", "a", "b", "c"))], settings=SETTINGS, known=known, judge=judge
        )
    (pool,) = grading.pools
    failed = {id: j.reason for id, j in zip(pool.ids, pool.judgments, strict=True) if j.is_open}
    assert len(failed) == 1 and all("refused" in reason for reason in failed.values())
    value, lo, hi = overall(grading)["nDCG@10"]
    assert lo <= value < hi


def test_the_cache_pays_once(tmp_path: Path) -> None:
    runs = [run(row("q1", "a", "b", "c"))]
    gradings = []
    for _ in range(2):
        cache = JudgmentCache(tmp_path / "cache")
        with Judge([open_backend("mock")], load_prompt(), cache=cache) as judge:
            gradings.append(grade_runs(runs, settings=SETTINGS, judge=judge))
    assert [(g.calls.made, g.calls.cached) for g in gradings] == [(3, 0), (0, 3)]
    assert gradings[0].pools == gradings[1].pools


def test_permuting_rows_changes_no_pool(mock: Judge) -> None:
    rows = [row("q1", "a", "b"), row("q2", "c"), row("q3", "a")]
    one = grade_runs([run(*rows)], settings=SETTINGS, judge=mock)
    other = grade_runs([run(*reversed(rows))], settings=SETTINGS, judge=mock)
    assert {p.query.key: p for p in one.pools} == {p.query.key: p for p in other.pools}


def test_two_runs_share_one_pool(mock: Judge) -> None:
    runs = [run(row("q1", "a", "b"), name="one"), run(row("q1", "b", "c"), name="two")]
    grading = grade_runs(runs, settings=SETTINGS, judge=mock)
    assert grading.pools[0].ids == ("a", "b", "c")
    assert grading.pools[0].rankings == ((0, 1), (1, 2))
    assert grading.calls.made == 3


def test_a_run_that_is_empty_everywhere_did_not_run_and_is_not_judged(mock: Judge) -> None:
    goldens = [Golden(("a",), query_id="q1")]
    grading = grade_runs([run(row("q1"))], settings=SETTINGS, goldens=goldens, judge=mock)
    assert grading.did_not_run == ("run",) and grading.calls.made == 0


def test_no_expected_id_anywhere_is_refused_before_any_call(mock: Judge) -> None:
    with pytest.raises(InputError, match="0 of 1 expected ids"):
        grade_runs(
            [run(row("q1", "a"))],
            settings=SETTINGS,
            goldens=[Golden(("z",), query_id="q1")],
            judge=mock,
        )
    assert mock.calls.made == 0


def test_a_judge_that_breaks_off_keeps_what_it_said(tmp_path: Path) -> None:
    steps = {"reply": '{"grade": 2}'}, {"failure": "unavailable", "reason": "no quota"}
    with scripted(tmp_path, *steps) as judge:
        grading = grade_runs([run(row("q1", "a", "b", "c"))], settings=SETTINGS, judge=judge)
    assert str(grading.stopped) == "no quota"
    assert [j.grade for j in grading.pools[0].judgments] == [2, None, None]


def test_a_judge_that_never_answers_is_an_error(tmp_path: Path) -> None:
    step = {"failure": "unavailable", "reason": "wrong key"}
    with (
        scripted(tmp_path, step) as judge,
        pytest.raises(BackendUnavailable, match="wrong key"),
    ):
        grade_runs([run(row("q1", "a"))], settings=SETTINGS, judge=judge)


def test_a_judge_that_cannot_be_used_at_all_leaves_what_was_known(tmp_path: Path) -> None:
    known = [KnownGrade("a", 2, 2, "q1")]
    with scripted(tmp_path, {"failure": "unavailable", "reason": "wrong key"}) as judge:
        grading = grade_runs(
            [run(row("q1", "b", "a"))], settings=SETTINGS, known=known, judge=judge
        )
    assert grading.verdicts == ()
    assert "wrong key" in str(grading.stopped)
    assert [j.grade for j in grading.pools[0].judgments] == [None, 2]


def test_grades_of_queries_in_no_run_are_counted() -> None:
    known = [KnownGrade("a", 1, 1, "q9")]
    grading = grade_runs([run(row("q1", "a"))], settings=SETTINGS, known=known)
    assert [(n.kind, n.count) for n in grading.notices] == [("grades_unused", 1)]


def test_stale_ids_are_named_when_a_corpus_is_known() -> None:
    one = Run("run", (row("q1", "a"),), corpus_ids=frozenset({"a", "b"}))
    goldens = [Golden(("a", "gone"), query_id="q1")]
    grading = grade_runs([one], settings=SETTINGS, goldens=goldens)
    assert "gone" in grading.notices[0].text and grading.notices[0].kind == "stale_expected"


@pytest.mark.parametrize(
    ("names", "depth", "reach"),
    [
        (["nDCG@10", "RR", "R@5"], 10, 10),
        (["nDCG@5", "P@20", "R@100"], 20, 100),
        (["nDCG"], None, 10),
        (["RR"], 0, 10),
    ],
)
def test_the_pool_is_as_deep_as_the_deepest_graded_cutoff(
    names: list[str], depth: int | None, reach: int
) -> None:
    settings = Settings(tuple(map(parse_measure, names)))
    assert (settings.depth, settings.reach) == (depth, reach)


def test_default_measures() -> None:
    assert list(map(str, default_measures(goldens=False))) == ["nDCG@10"]
    assert list(map(str, default_measures(goldens=True))) == ["nDCG@10", "RR", "R@5", "R@10"]
    assert list(map(str, default_measures(goldens=True, k=5))) == ["nDCG@5", "RR", "R@5"]
