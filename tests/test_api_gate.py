"""`judge gate` from end to end: baselines, what they refuse, and the published lessons."""

from __future__ import annotations

import hashlib
import io
import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from judge.api.gating import Asked, gate
from judge.api.grading import open_judge
from judge.api.inputs import Inputs
from judge.cli.gate import command
from judge.comparing.gating import Gate
from judge.errors import InputError, UsageError
from judge.formats import ReadOptions
from judge.report.baseline import read_baseline
from judge.report.gate import gate_lines, gate_markdown
from judge.report.gate_document import gate_document, gate_junit
from judge.run import Golden, KnownGrade, Result, Row, Run
from judge.stopping.outcome import Claim, Outcome, Rule

KEYS = [f"q{i}" for i in range(12)]
Lists = Mapping[str, Sequence[str]]
AT_TOP: Lists = {key: [f"{key}-answer", *(f"{key}-{i}" for i in range(9))] for key in KEYS}
SECOND: Lists = {key: [ids[1], ids[0], *ids[2:]] for key, ids in AT_TOP.items()}


def run(name: str, lists: Lists, *, goldens: bool = True) -> Run:
    return Run(
        name,
        tuple(
            Row(
                key=key,
                query_id=key,
                query=f"what is {key}",
                slice="even" if at % 2 == 0 else "odd",
                results=tuple(Result(id, text=f"about {id}") for id in ids),
                golden=Golden((f"{key}-answer",), query_id=key, complete=True) if goldens else None,
            )
            for at, (key, ids) in enumerate(lists.items())
        ),
    )


@pytest.fixture
def baseline(tmp_path: Path) -> Path:
    path = tmp_path / "baseline.json"
    gate([run("old", AT_TOP)], path, update=True)
    return path


def text(found: Gate) -> str:
    """Return the text on one line, so that wrapping hides nothing."""
    return " ".join(" ".join(gate_lines(found)).split())


def test_the_same_run_passes(baseline: Path) -> None:
    found = gate([run("new", AT_TOP)], baseline)
    assert (found.outcome, found.exit_code) == (Outcome.PASS, 0)


def test_demotion_that_recall_cannot_see_fails_and_says_why(baseline: Path) -> None:
    found = gate([run("new", SECOND)], baseline)
    by_name = {str(m.measure): m for m in found.measures}
    assert found.exit_code == 1
    assert by_name["R@5"].change.difference.value == by_name["R@10"].change.difference.value == 0.0
    assert (by_name["RR"].change.before.value, by_name["RR"].change.after.value) == (1.0, 0.5)
    assert "RR fell from 1.000 to 0.500 while R@5 and R@10 did not" in text(found)
    assert text(found).startswith("new must not go in: RR fell from 1.000 to 0.500")


def test_goldens_alone_gate_by_rank_and_recall_and_only_report_ndcg(baseline: Path) -> None:
    found = gate([run("new", AT_TOP)], baseline)
    assert {str(m.measure): m.gates for m in found.measures} == {
        "nDCG@10": False,
        "RR": True,
        "R@5": False,
        "R@10": True,
    }


def test_a_slice_that_falls_fails_although_the_mean_rises(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    low = {key: [*ids[1:], ids[0]] for key, ids in AT_TOP.items()}
    gate([run("old", low)], path, update=True)
    # Even rows rise from rank 10 to 1, odd rows lose the answer.
    new = {key: AT_TOP[key] if at % 2 == 0 else AT_TOP[key][1:] for at, key in enumerate(KEYS)}
    found = gate([run("new", new)], path)
    rank = next(m for m in found.measures if str(m.measure) == "RR")
    assert rank.change.difference.value > 0.0
    assert rank.ruling.failed == ("odd",)
    assert found.exit_code == 1
    assert "RR fell from 0.100 to 0.000 in slice odd" in text(found)


def test_a_slice_of_one_row_that_open_chunks_could_sink_is_undecided(tmp_path: Path) -> None:
    # One row of 20 loses its only known chunk for one without a grade: the mean can fall by
    # 1/20 at most, which is within the margin, but the slice of that row by 1.
    path, keys = tmp_path / "baseline.json", [f"q{i}" for i in range(20)]
    asked = Asked(rule=Rule(0.2))
    known = tuple(KnownGrade(f"{key}-1", 3, 3, query_id=key) for key in keys)

    def of(name: str, lists: Lists) -> Run:
        found = run(name, lists, goldens=False)
        small = replace(found.rows[0], slice="small")
        return replace(found, rows=(small, *found.rows[1:]), grades=known)

    lists = {key: [f"{key}-1"] for key in keys}
    new = of("new", {**lists, "q0": ["q0-x"]})
    gate([of("old", lists)], path, update=True)
    found = gate([new], path, asked=asked)
    assert found.outcome is Outcome.UNDECIDED
    assert "chunks without a grade could make slice small fail" in text(found)

    bad, good = (
        replace(new, grades=(*known, KnownGrade("q0-x", g, g, query_id="q0"))) for g in (0, 3)
    )
    assert gate([bad], path, asked=asked).outcome is Outcome.FAIL
    assert gate([good], path, asked=asked).outcome is Outcome.PASS
    # The mock finds the words of "what is q0" in "about q0-x" or not: either way all is known.
    decided, every = (
        gate([new], path, backend="mock", asked=replace(asked, until=until))
        for until in ("decided", "all")
    )
    assert decided.outcome is every.outcome
    assert decided.outcome is not Outcome.UNDECIDED


def test_a_row_that_the_candidate_lost_keeps_its_golden(baseline: Path) -> None:
    # Eleven of twelve answers are left, 1/12 = .083 lower: not refused as if goldens differed.
    found = gate([run("new", {key: AT_TOP[key] for key in KEYS[1:]})], baseline)
    rank = next(m for m in found.measures if str(m.measure) == "RR")
    assert rank.change.rows == 12
    assert rank.change.after.value == pytest.approx(11 / 12)
    assert "new lacks 1 of 12 rows: each counts as a list that found nothing" in text(found)


def test_a_gate_held_open_by_a_failed_row_says_so(baseline: Path) -> None:
    new = run("new", AT_TOP)
    failed = replace(new.rows[0], results=(), error="timeout")
    found = gate([replace(new, rows=(failed, *new.rows[1:]))], baseline)
    assert found.exit_code == 3
    assert "chunks without a grade or rows that failed could still change RR, R@10" in text(found)
    assert "new failed on 1 of 12 rows" in text(found)


@pytest.mark.parametrize("odd", ['{"extra": NaN, ', '{"extra": "\\ud800", ', "[" * 200_000])
def test_a_baseline_with_odd_json_is_refused_and_can_be_replaced(baseline: Path, odd: str) -> None:
    whole = baseline.read_text()
    baseline.write_text(whole.replace("{", odd, 1) if odd.startswith("{") else odd)
    with pytest.raises(InputError, match=r"edited by hand|not JSON"):
        gate([run("new", AT_TOP)], baseline)
    gate([run("old", AT_TOP)], baseline, update=True)
    assert baseline.read_text() == whole


def test_two_unjudged_chunks_on_top_are_undecided(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    gate([run("old", AT_TOP, goldens=False)], path, backend="mock", update=True)
    new = {key: [f"{key}-x", f"{key}-y", *ids[:8]] for key, ids in AT_TOP.items()}
    found = gate([run("new", new, goldens=False)], path)
    assert found.outcome is Outcome.UNDECIDED
    assert found.measures[0].change.difference.is_open
    assert "chunks without a grade could still change nDCG@10" in text(found)
    judged = gate([run("new", new, goldens=False)], path, backend="mock")
    assert not judged.measures[0].change.difference.is_open
    decided = gate(
        [run("new", new, goldens=False)], path, backend="mock", asked=Asked(until="decided")
    )
    assert decided.outcome is judged.outcome


def test_a_row_whose_ideal_moved_is_named(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    lists = {key: [f"{key}-1", f"{key}-2"] for key in KEYS[:3]}
    known = tuple(
        KnownGrade(f"{key}-{i}", 2 - i, 2 - i, query_id=key) for key in lists for i in (1, 2)
    )
    old = replace(run("old", lists, goldens=False), grades=known)
    gate([old], path, update=True)
    # The new run finds a chunk of grade 3 for q0: the old list is no longer the ideal one.
    found = KnownGrade("q0-0", 3, 3, query_id="q0")
    new = run("new", {**lists, "q0": ["q0-0", "q0-1"]}, goldens=False)
    result = gate([replace(new, grades=(found,))], path)
    assert result.ideal_moved == ("q0",)
    assert "The pool grew: the baseline's value moved in 1 row" in text(result)


def test_the_mean_over_repeats_decides_and_its_own_noise_is_told(baseline: Path) -> None:
    # RR is 1 in every row of one repeat and .5 in the other: a mean of .75. Each row varies by
    # .25 / 2 = .125 about its mean: se = sqrt(12 * .125 / 12^2 / 2) = .0722.
    found = gate([run("one", SECOND), run("two", AT_TOP)], baseline)
    rank = next(m for m in found.measures if str(m.measure) == "RR")
    assert rank.noise == pytest.approx(0.0722, abs=5e-5)
    assert found.outcome is Outcome.FAIL
    assert "RR: mean of 2 repeats, standard error 0.072 by the system's own noise." in text(found)
    assert "RR fell from 1.000 to 0.750" in text(found)


def test_a_mean_so_near_the_margin_that_repeats_could_turn_it_says_so(baseline: Path) -> None:
    # One row of twelve at rank 2 in one of two repeats: a mean of 1 - .25 / 12 = .979, se
    # sqrt(.125 / 12^2 / 2) = .021; the margin is .011 away.
    once = {**AT_TOP, "q3": SECOND["q3"]}
    found = gate([run("one", once), run("two", AT_TOP)], baseline)
    assert "standard error 0.021 by the system's own noise; so near the margin" in text(found)


def test_rows_without_answers_are_not_said_to_be_too_few(tmp_path: Path) -> None:
    nothing = run("new", AT_TOP)
    rows = (
        replace(row, golden=Golden((), query_id=row.key, complete=True)) for row in nothing.rows
    )
    new = replace(nothing, rows=tuple(rows))
    gate([new], tmp_path / "baseline.json", update=True)
    found = gate([new], tmp_path / "baseline.json")
    assert found.outcome is Outcome.UNDECIDED
    assert "no row has what a measure that gates needs" in text(found)


def test_a_baseline_is_never_written_over_a_run(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text('{"query_id": "q", "query": "what", "results": [{"id": "a"}]}\n')
    with pytest.raises(UsageError, match="would overwrite the run"):
        gate([path], path, update=True)
    assert path.read_text().startswith('{"query_id"')


def test_a_first_baseline_is_compared_with_nothing(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    found = gate([run("old", AT_TOP)], path, update=True)
    assert path.exists()
    assert (found.first, found.exit_code) == (True, 0)
    assert text(found).startswith("There was no baseline to compare with; old is it now.")
    assert "RR 1.000 over 12 rows" in text(found)
    assert text(found).endswith("NOTHING COMPARED: there was no baseline")
    assert "PASS" not in text(found) + gate_markdown(found)
    document = gate_document(found)
    assert (document["outcome"], document["measures"]) == ("no baseline", {})
    suite = ElementTree.fromstring(gate_junit(found))
    assert [child.tag for child in suite[0]] == ["skipped"]
    assert (suite.attrib["failures"], suite.attrib["errors"]) == ("0", "0")
    assert not gate([run("new", AT_TOP)], path, update=True).first


def test_queries_like_these_take_hundreds_of_rows(tmp_path: Path) -> None:
    # One list of twelve differs, no RR does: these queries pass, others are another matter. For
    # n rows all 0 the ten gamblers have sum((1 + s * .01 / .99) ** n for s in .1, .2, … 1) / 10:
    # 19.86 at n = 422, 20.03 at 423.
    path, claim = tmp_path / "baseline.json", Asked(rule=Rule(claim=Claim.POPULATION))
    gate([run("old", AT_TOP)], path, update=True)
    below = {**AT_TOP, "q0": [*AT_TOP["q0"][:1], *AT_TOP["q0"][:0:-1]]}
    assert gate([run("new", below)], path).outcome is Outcome.PASS
    found = gate([run("new", below)], path, asked=claim)
    assert found.outcome is Outcome.UNDECIDED
    assert "about 423 rows would do" in text(found)
    assert "RR: 12 rows show of queries like them that the difference is above" in text(found)
    document = gate_document(found)["measures"]["RR"]
    assert document["rows_needed"] == 423
    # Byte-identical lists pass: nothing was changed.
    assert gate([run("new", AT_TOP)], path, asked=claim).outcome is Outcome.PASS
    # What fails on these queries fails, and says what it shows of others.
    fails = gate([run("new", {k: ids[1:] for k, ids in AT_TOP.items()})], path, asked=claim)
    assert fails.outcome is Outcome.FAIL
    assert "RR: queries like these fall too, to below" in text(fails)


def test_a_gate_without_a_run_is_refused(baseline: Path) -> None:
    with pytest.raises(UsageError, match="at least one run"):
        gate([], baseline)


def test_the_recall_that_was_asked_for_gates(tmp_path: Path) -> None:
    found = gate([run("old", AT_TOP)], tmp_path / "baseline.json", asked=Asked(k=5), update=True)
    assert {str(m.measure): m.gates for m in found.measures} == {
        "nDCG@5": False,
        "RR": True,
        "R@5": True,
    }


def test_how_much_is_judged_never_gates(tmp_path: Path) -> None:
    path, asked = tmp_path / "baseline.json", Asked(measures=("Judged@5", "RR"))
    found = gate([run("old", AT_TOP)], path, asked=asked, update=True)
    assert {str(m.measure): m.gates for m in found.measures} == {"Judged@5": False, "RR": True}


def test_a_named_judge_that_grades_nothing_leaves_ndcg_open_not_out(tmp_path: Path) -> None:
    # Goldens alone would pass by RR; the judge that was to grade the rest said nothing.
    path = tmp_path / "baseline.json"
    swap = {key: [ids[0], ids[2], ids[1], *ids[3:]] for key, ids in AT_TOP.items()}

    def of(lists: Lists) -> Run:
        whole = run("new", lists)
        rows = (replace(r, golden=Golden((f"{r.key}-answer",), query_id=r.key)) for r in whole.rows)
        return replace(whole, rows=tuple(rows))

    gate([of(AT_TOP)], path, update=True)
    script = tmp_path / "replies.qrels"
    script.write_text("other 0 other 1\n")
    assert gate([of(swap)], path).outcome is Outcome.PASS
    found = gate([of(swap)], path, backend=f"replay:{script}")
    assert found.outcome is Outcome.UNDECIDED


def test_a_margin_of_zero_fails_one_lost_rank(baseline: Path) -> None:
    one = {**AT_TOP, "q3": SECOND["q3"]}
    strict = gate([run("new", one)], baseline, asked=Asked(rule=Rule(0.0)))
    assert strict.exit_code == 1
    assert "RR fell from 1.000 to 0.917 in slice odd" in text(strict)


def test_a_run_that_is_empty_everywhere_gives_no_verdict(baseline: Path) -> None:
    found = gate([run("new", dict.fromkeys(KEYS, ()))], baseline)
    assert found.exit_code == 3
    assert text(found).startswith("new did not run")


def test_an_empty_run_never_becomes_the_baseline(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    with pytest.raises(InputError, match="did not run"):
        gate([run("new", dict.fromkeys(KEYS, ()))], path, update=True)
    assert not path.exists()


@pytest.mark.parametrize(
    "changes", [{"pool": [{"id": 1}]}, {"settings": []}, {"pool": 3}, {"rows": [1]}, {"run": None}]
)
def test_a_baseline_of_odd_parts_is_refused_though_its_checksum_is_right(
    baseline: Path, changes: dict[str, Any]
) -> None:
    document = {**json.loads(baseline.read_text()), **changes}
    mark = document.pop("baseline")
    whole = json.dumps(document, sort_keys=True, ensure_ascii=False)
    mark["sha256"] = hashlib.sha256(whole.encode()).hexdigest()
    baseline.write_text(json.dumps({**document, "baseline": mark}))
    if changes == {"run": None}:  # a name like any other
        assert gate([run("new", AT_TOP)], baseline).outcome is Outcome.PASS
        return
    with pytest.raises(InputError):
        gate([run("new", AT_TOP)], baseline)


def test_what_judging_took_is_said(tmp_path: Path) -> None:
    # Three rows of two chunks without a grade; the mock takes six calls, and costs nothing.
    lists = {key: [f"{key}-1", f"{key}-2"] for key in KEYS[:3]}
    path = tmp_path / "baseline.json"
    found = gate([run("old", lists, goldens=False)], path, backend="mock", update=True)
    assert "Judged until all: 6 calls, 0 from the cache; $0.0000." in text(found)


def test_chunks_that_only_a_baseline_shows_are_judged_by_the_corpus(tmp_path: Path) -> None:
    # The old lists are stored without a judge, and a baseline keeps no texts.
    path, corpus = tmp_path / "baseline.json", tmp_path / "corpus.jsonl"
    old = {key: [f"{key}-1", f"{key}-2"] for key in KEYS[:3]}
    gate([run("old", old, goldens=False)], path, update=True)
    new = run("new", {key: [f"{key}-3", f"{key}-1"] for key in old}, goldens=False)
    mute = gate([new], path, backend="mock")
    assert "3 of 3 chunks without a grade have no text to judge" in text(mute)
    lines = [json.dumps({"id": f"{key}-{i}", "text": f"about {i}"}) for key in old for i in "123"]
    corpus.write_text("\n".join(lines))
    inputs = Inputs(corpus=io.BytesIO(corpus.read_bytes()))
    whole = gate([new, new], path, backend="mock", inputs=inputs)
    assert not whole.measures[0].change.difference.is_open
    assert "no text to judge" not in text(whole)


def test_another_judge_than_the_baselines_is_named(tmp_path: Path) -> None:
    path, replies = tmp_path / "baseline.json", tmp_path / "replies.qrels"
    gate([run("old", AT_TOP, goldens=False)], path, backend="mock", update=True)
    replies.write_text("q0 0 q0-x 1\n")
    new = {**AT_TOP, "q0": ["q0-x", *AT_TOP["q0"]]}
    found = gate([run("new", new, goldens=False)], path, backend=f"replay:{replies}")
    assert "mock graded the baseline's chunks and replay" in text(found)
    again = gate([run("new", new, goldens=False)], path, backend="mock")
    assert "graded the baseline's chunks" not in text(again)


def test_other_slices_and_weights_than_the_baselines_are_counted(baseline: Path) -> None:
    new = run("new", AT_TOP)
    rows = (replace(new.rows[0], slice="other"), replace(new.rows[1], weight=2.0), *new.rows[2:])
    found = gate([replace(new, rows=rows)], baseline)
    assert "new gives 2 of 12 rows another slice or weight; the first run's count" in text(found)


def test_a_golden_that_no_run_answers_counts_in_all_of_them(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    inputs = Inputs(goldens=[Golden(("nowhere",), query="what is new"), Golden(("a",), query="a")])
    old = Run("old", (Row("a", None, "a", results=(Result("a", text="a"),)),))
    gate([old], path, inputs=inputs, update=True)
    found = gate([replace(old, name="new")], path, inputs=inputs)
    assert "new lacks 1 of 2 rows: each counts as a list that found nothing" in text(found)
    assert found.outcome is Outcome.PASS


def test_weights_that_goldens_give_are_nobodys_change(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    heavy = run("new", AT_TOP)
    rows = tuple(
        replace(row, golden=replace(row.golden, weight=3.0)) for row in heavy.rows if row.golden
    )
    gate([replace(heavy, rows=rows)], path, update=True)
    assert "another slice or weight" not in text(gate([replace(heavy, rows=rows)], path))


def edit(path: Path, **changes: Any) -> None:
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, **changes}))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"rows": []}, "edited by hand"),
        ({"schema": 0}, "schema"),
        ({"baseline": {"schema": 0, "sha256": ""}}, "schema"),
        ({"baseline": None}, "no checksum"),
    ],
)
def test_a_baseline_that_is_not_whole_is_refused(
    baseline: Path, changes: dict[str, Any], reason: str
) -> None:
    edit(baseline, **changes)
    with pytest.raises(InputError, match=reason):
        gate([run("new", AT_TOP)], baseline)


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        (Asked(k=5), "settings.measures"),
        (Asked(gain="exponential"), "settings.gain"),
        (Asked(measures=("nDCG@10",)), "settings.measures"),
    ],
)
def test_other_settings_are_refused(baseline: Path, asked: Asked, name: str) -> None:
    with pytest.raises(InputError, match=name):
        gate([run("new", AT_TOP)], baseline, asked=asked)


def test_another_prompt_is_refused(tmp_path: Path) -> None:
    path, prompt = tmp_path / "baseline.json", tmp_path / "mine.txt"
    gate([run("old", AT_TOP, goldens=False)], path, backend="mock", update=True)
    document = json.loads(path.read_text())
    assert document["settings"]["prompt"]
    stored = read_baseline(path, ReadOptions())
    from judge.cascade import Settings
    from judge.measures.names import Measure
    from judge.report.baseline import check_settings

    settings = Settings((Measure("nDCG", 10),))
    check_settings(stored, settings, unit="chunk", prompt=document["settings"]["prompt"])
    with pytest.raises(InputError, match=r"settings\.prompt"):
        check_settings(stored, settings, unit="chunk", prompt="other@2")
    with pytest.raises(InputError, match=r"settings\.unit"):
        check_settings(stored, settings, unit="document", prompt=None)
    assert not prompt.exists()


def test_other_goldens_are_refused(baseline: Path) -> None:
    other = run("new", AT_TOP)
    first = other.rows[0]
    changed = Row(
        key=first.key,
        query_id=first.query_id,
        query=first.query,
        slice=first.slice,
        results=first.results,
        golden=Golden(("q0-3",), query_id="q0", complete=True),
    )
    with open_judge("mock") as judge:
        with pytest.raises(InputError, match="stored with q0-answer"):
            gate([Run("new", (changed, *other.rows[1:]))], baseline, judge=judge)
        assert judge.calls.made == 0, "nothing is paid for"


def test_no_baseline_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--update-baseline"):
        gate([run("new", AT_TOP)], tmp_path / "none.json")


def test_a_baseline_does_not_change_when_nothing_did(baseline: Path) -> None:
    before = baseline.read_text()
    gate([run("old", AT_TOP)], baseline, update=True)
    assert baseline.read_text() == before
    rows = [line for line in before.splitlines() if line.startswith('{"query_id": "q3"')]
    assert len(rows) == 1 + 10, "one line a row and one a pool member, to diff well"


def test_junit_of_a_run_that_did_not_run_is_an_error_and_no_failure(baseline: Path) -> None:
    found = gate([run("new", dict.fromkeys(KEYS, ()))], baseline)
    suite = ElementTree.fromstring(gate_junit(found))
    assert (suite.attrib["failures"], suite.attrib["errors"]) == ("0", "1")
    assert suite[0][0].attrib["message"].startswith("new did not run")
    assert "could make slice" not in text(found)


def test_junit_and_markdown_hold_hostile_names(baseline: Path) -> None:
    found = gate([run("<b>&\x1b[31m|`new`", SECOND)], baseline)
    suite = ElementTree.fromstring(gate_junit(found))
    assert suite.attrib["failures"] == "1"
    assert [case.attrib["name"] for case in suite] == ["RR", "R@10"]
    assert "<b>" not in gate_markdown(found)


def test_the_command_exits_with_the_outcome(tmp_path: Path, baseline: Path) -> None:
    path = tmp_path / "run.json"
    rows = [
        {
            "query_id": key,
            "query": f"what is {key}",
            "expected": [f"{key}-answer"],
            "complete": True,
            "results": [{"id": id, "text": f"about {id}"} for id in ids],
        }
        for key, ids in SECOND.items()
    ]
    path.write_text(json.dumps({"name": "new", "rows": rows}))
    done = CliRunner().invoke(
        command, [str(path), "--baseline", str(baseline)], standalone_mode=False
    )
    assert done.return_value == 1
    assert "FAIL RR 0.500 < baseline 1.000 (margin 0.010" in done.output.splitlines()[-1]
