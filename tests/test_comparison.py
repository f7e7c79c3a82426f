"""`judge.compare`: verdicts of two runs over one pool, and what is not known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from judge.api.comparing import compare
from judge.api.inputs import Inputs
from judge.comparing.change import Verdict
from judge.comparing.comparison import Comparison
from judge.errors import UsageError
from judge.grades import Source
from judge.measures.names import Measure
from judge.report.comparison import comparison_lines
from judge.report.comparison_document import comparison_document
from judge.report.comparison_wording import headline, outcome
from judge.run import Golden, KnownGrade, Result, Row, Run

NDCG = Measure("nDCG", 10)
Lists = Mapping[str, Sequence[str]]


def run(name: str, lists: Lists, grades: Mapping[tuple[str, str], int] | None = None) -> Run:
    rows = tuple(
        Row(
            key=key,
            query_id=key,
            query=f"what is {key}",
            slice="even" if at % 2 == 0 else "odd",
            results=tuple(Result(id, text=f"about {id}") for id in ids),
        )
        for at, (key, ids) in enumerate(lists.items())
    )
    known = tuple(
        KnownGrade(id, grade, grade, query_id=key, source=Source.PRIOR)
        for (key, id), grade in (grades or {}).items()
    )
    return Run(name, rows, known)


def flat(found: Comparison) -> str:
    """Return the text on one line, so that wrapping hides nothing."""
    return " ".join(" ".join(comparison_lines(found)).split())


KEYS = [f"q{i}" for i in range(12)]
OLD = {key: [f"{key}-a", f"{key}-b", f"{key}-c"] for key in KEYS}
# Member a answers, b is related, c is not.
SWAPPED = {key: [ids[1], ids[0], ids[2]] for key, ids in OLD.items()}
GRADES = {(key, f"{key}-{c}"): g for key in KEYS for c, g in (("a", 3), ("b", 1), ("c", 0))}


def test_identical_lists_need_no_grades() -> None:
    found = compare(run("old", OLD), run("new", OLD))
    assert found.overall[NDCG].sign == 0
    assert found.verdict is Verdict.NO_DIFFERENCE
    assert found.exit_code == 0
    assert found.identical == 12
    assert headline(found) == "No difference: nDCG@10 of new and old is equal on these 12 rows."


def test_two_unjudged_chunks_on_top_are_undecided_not_a_loss() -> None:
    new = {key: [f"{key}-x", f"{key}-y", *OLD[key]] for key in KEYS}
    found = compare(run("old", OLD, GRADES), run("new", new))
    change = found.overall[NDCG]
    # Counted as irrelevant, a (3) falls from rank 1 to 3 and b (1) from 2 to 4:
    # DCG 3 + .630930 = 3.630930 -> 1.5 + .430677 = 1.930677, ratio .531730.
    assert change.difference.value == pytest.approx(0.531730 - 1, abs=1e-6)
    assert change.difference.lo < change.difference.value + 1e-9
    assert change.difference.hi > 0.0
    assert found.verdict is Verdict.UNDECIDED
    assert found.exit_code == 3
    text = flat(found)
    assert "Undecided: 24 chunks have no grade: nDCG@10 could move" in text
    assert "judging at most 24 of them settles it" in text
    assert "worse" not in text


@pytest.mark.parametrize(
    ("grade", "verdict"), [(3, Verdict.BETTER), (0, Verdict.WORSE)], ids=["good", "bad"]
)
def test_judging_the_two_chunks_gives_the_true_verdict(grade: int, verdict: Verdict) -> None:
    new = {key: [f"{key}-x", f"{key}-y", *OLD[key]] for key in KEYS}
    judged = {(key, f"{key}-{c}"): grade for key in KEYS for c in "xy"}
    # One row differs a little, so that the interval over queries is not a point.
    judged["q0", "q0-x"] = 1
    found = compare(run("old", OLD, GRADES), run("new", new, judged))
    assert found.verdict is verdict
    assert found.exit_code == 0


def test_a_small_sample_shows_no_difference() -> None:
    # Two of three queries improve by a swap of ranks 1 and 2, one gets worse.
    lists = {key: OLD[key] for key in KEYS[:3]}
    new = {key: [ids[1], ids[0], ids[2]] for key, ids in lists.items()}
    grades = {**GRADES, ("q0", "q0-a"): 1, ("q0", "q0-b"): 3}
    found = compare(run("old", lists, grades), run("new", new))
    assert found.verdict is Verdict.NO_DIFFERENCE
    assert "other queries could say otherwise" in headline(found)
    assert found.overall[NDCG].flip.smallest == 0.25


def test_a_run_that_is_empty_everywhere_gives_no_verdict() -> None:
    found = compare(run("old", OLD, GRADES), run("new", dict.fromkeys(KEYS, ())))
    assert found.verdict is Verdict.DID_NOT_RUN
    assert found.exit_code == 3
    assert headline(found).startswith("new did not run: every one of its lists is empty.")
    assert outcome(found) == "NO VERDICT"


def test_a_difference_that_all_rows_share_is_worse_by_the_sign_flip_test() -> None:
    # All rows lose the same: no interval, for t would make it a point, but a test there is: 2 of
    # 2^12 sign patterns. The slices have 2 of 2^6 = .03125 each, twice that after Holm.
    found = compare(run("old", OLD, GRADES), run("new", {k: ids[::-1] for k, ids in OLD.items()}))
    assert found.verdict is Verdict.WORSE
    assert found.overall[NDCG].interval is None
    assert "exact sign-flip test p = 0.0005" in flat(found)
    assert {of[NDCG].p_holm for of in found.slices.values()} == {0.0625}
    assert {of[NDCG].verdict for of in found.slices.values()} == {Verdict.NO_DIFFERENCE}
    assert "t test" not in flat(found)


def test_slices_and_other_measures_are_looks_by_holm_over_all_of_them() -> None:
    # With the answer at ranks 1 and 2: nDCG@10 decides; RR and nDCG@10 of two slices, and RR of
    # all rows, are five looks. All rows of RR: 2 / 2^12, times 5; its slices 2 / 2^6, times 4.
    old, new = (run(name, lists) for name, lists in (("old", OLD), ("new", SWAPPED)))
    goldens = [Golden((f"{key}-a",), query_id=key) for key in KEYS]
    found = compare(
        old, new, inputs=Inputs(goldens=goldens), measures=["nDCG@10", "RR"], backend="mock"
    )
    rank = found.overall[Measure("RR")]
    assert (rank.looks, rank.p_holm) == (5, pytest.approx(5 * 2 / 2**12))
    assert found.slices["even"][Measure("RR")].p_holm == pytest.approx(4 * 2 / 2**6)
    document = comparison_document(found)["measures"]
    assert document["overall"]["nDCG@10"]["exploratory"] is False
    assert document["overall"]["RR"]["exploratory"] is True
    assert document["slices"]["odd"]["nDCG@10"]["exploratory"] is True


def test_shares_of_sources_that_differ_are_a_warning() -> None:
    new = {key: [f"{key}-x", *OLD[key]] for key in KEYS}
    found = compare(run("old", OLD, GRADES), run("new", new), backend="mock")
    # Of the new run's 48 slots 12 are the judge's, of the old one's 36 none.
    assert found.source_gaps[Source.JUDGE] == (0.0, 0.25)
    assert "the judge's replies grade 0% of the baseline's slots and 25%" in flat(found)


def test_biggest_wins_name_the_chunks_that_moved() -> None:
    new = {**OLD, "q3": ["q3-c", "q3-a", "q3-b"]}
    found = compare(run("old", OLD, GRADES), run("new", new))
    assert [row.pool.query.key for row in found.largest(wins=False)] == ["q3"]
    assert found.largest(wins=True) == []
    assert "q3-a (grade 3): rank 1 -> rank 2" in flat(found)


def test_the_document_is_plain_json_without_nan() -> None:
    import json

    new = {key: [f"{key}-x", *OLD[key]] for key in KEYS}
    document = comparison_document(compare(run("old", OLD, GRADES), run("new", new)))
    assert json.loads(json.dumps(document, allow_nan=False))["verdict"] == "undecided"


def test_until_decided_asks_less_than_everything() -> None:
    # Only the last ranks differ: their bounds settle the sign before all is judged.
    new = {key: [*ids[:2], f"{key}-x"] for key, ids in OLD.items()}
    new["q0"] = ["q0-x", "q0-a", "q0-b"]
    runs = run("old", OLD), run("new", new)
    everything = compare(*runs, backend="mock")
    decided = compare(*runs, backend="mock", until="decided")
    assert decided.overall[NDCG].sign is not None
    assert decided.overall[NDCG].sign == everything.overall[NDCG].sign
    assert len(decided.grading.verdicts) <= len(everything.grading.verdicts)


def test_until_decided_needs_ndcg() -> None:
    with pytest.raises(UsageError, match="needs nDCG"):
        compare(
            run("old", OLD),
            run("new", OLD),
            inputs=Inputs(),
            measures=["ERR@10"],
            until="decided",
        )


def test_rows_that_a_run_lacks_count_as_zero() -> None:
    fewer = {key: ids for key, ids in OLD.items() if key != "q5"}
    found = compare(run("old", OLD, GRADES), run("new", fewer))
    change = found.overall[NDCG]
    assert change.rows == 12
    assert change.difference.value == pytest.approx(-1 / 12)


def test_an_undecided_comparison_says_what_judging_costs() -> None:
    new = {key: [f"{key}-x", *OLD[key]] for key in KEYS}
    found = compare(run("old", OLD, GRADES), run("new", new))
    assert found.price is not None
    assert found.price.usd > 0.0
    assert "about $0.01 with gpt-5-mini" in flat(found)
    assert compare(run("old", OLD, GRADES), run("new", new), backend="mock").price is None


def test_rows_that_a_run_lacks_or_failed_on_are_told() -> None:
    known = {(f"q{i}", "a"): 3 for i in range(4)}
    old = run("old", {f"q{i}": ["a"] for i in range(4)}, known)
    short = run("short", {f"q{i}": ["a"] for i in range(3)})
    assert "short lacks 1 of 4 rows: each counts as a list that found nothing" in flat(
        compare(old, short)
    )
    same = run("new", {f"q{i}": ["a"] for i in range(4)})
    failed = replace(same.rows[0], results=(), error="timeout")
    found = compare(old, replace(same, rows=(failed, *same.rows[1:])))
    assert "new failed on 1 of 4 rows" in flat(found)
    assert "judging at most" not in headline(found)


def test_no_judging_is_promised_to_settle_a_row_that_failed() -> None:
    # The failed list could be the ideal one, +1, or nothing, as the old one is: 0. The other
    # row drops from 1 to 1/log2(3) = .631: a mean of (0 - .369)/2 to (1 - .369)/2.
    known = {("q0", "a"): 3, ("q0", "b"): 0, ("q1", "a"): 3, ("q1", "b"): 0}
    old = run("old", {"q0": ["b"], "q1": ["a"]}, known)
    new = run("new", {"q0": [], "q1": ["b", "a"]})
    found = compare(old, replace(new, rows=(replace(new.rows[0], error="timeout"), new.rows[1])))
    assert (found.verdict, found.exit_code) == (Verdict.UNDECIDED, 3)
    assert headline(found) == (
        "Undecided: 1 row that failed to run: nDCG@10 could move -0.185..+0.315;"
        " judging alone cannot settle it."
    )
