"""Which chunks people see, in which order; reading a graded folder; the command."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from click.testing import CliRunner

from judge.cli.spotcheck import command
from judge.errors import InputError, UsageError
from judge.formats.outfolder import GradedRow as OutRow
from judge.formats.outfolder import OutFolder, StoredConflict, StoredVerdict, read_out_folder
from judge.run import Result, Row, Run
from judge.spotcheck import Plan, Why, build_queue, find_sources, find_texts


def _out(grades, *, conflicts=(), flips=(), **verdict):
    """Return a graded run of one chunk a query: grades by chunk number, slices alternate."""
    rows = tuple(
        OutRow(f"q{i}", f"question {i}", "even" if i % 2 == 0 else "odd")
        for i in range(len(grades))
    )
    verdicts = tuple(
        StoredVerdict(f"q{i}", f"c{i}", grade, **{k: v[i] for k, v in verdict.items() if i in v})
        for i, grade in enumerate(grades)
    )
    return OutFolder("run", 3, rows, verdicts, conflicts, flips)


def _texts(out):
    return {(v.query_id, v.id): f"text of {v.id}" for v in out.verdicts}


def test_core_is_drawn_within_grades_and_slices_with_its_probability():
    out = _out([i % 4 for i in range(80)])  # grades 0 and 2 are even, 1 and 3 odd: 20 each
    queue = build_queue(out, _texts(out), plan=Plan(core=16))
    core = [item for item in queue.items if item.why is Why.CORE]
    assert len(core) == 16
    assert min(Counter(item.judge_grade for item in core).values()) >= 3
    share = Counter(item.judge_grade for item in core)
    assert all(item.pi == pytest.approx(share[item.judge_grade] / 20) for item in core)


def test_whole_rows_are_drawn_within_slices():
    rows = tuple(OutRow(f"q{i}", "x", "even" if i < 6 else "odd") for i in range(8))
    verdicts = tuple(StoredVerdict(f"q{i}", id, 1) for i in range(8) for id in "ab")
    out = OutFolder("run", 3, rows, verdicts, ())
    core = build_queue(out, _texts(out), plan=Plan(rows=4)).items
    assert len(core) == 8
    by_row = Counter(item.query_id for item in core)
    assert set(by_row.values()) == {2}
    # One row a slice at least, the rest where most are: 3 of 6 and 1 of 2.
    assert {item.pi for item in core} == {0.5}
    assert [item.query_id for item in core[::2]] == [item.query_id for item in core[1::2]]


def test_active_draw_prefers_what_the_judge_is_unsure_of():
    # 40 chunks, ten of them with spread 1: .8 * 16 / 10 cut at .8, plus .2 * 16 / 40 for all.
    out = _out([1] * 40, spread=dict.fromkeys(range(10), 1.0))
    core = [
        item
        for item in build_queue(out, _texts(out), plan=Plan(core=16, active=True)).items
        if item.why is Why.CORE
    ]
    unsure = [item for item in core if int(item.id[1:]) < 10]
    assert len(unsure) >= 7
    assert all(item.pi == pytest.approx(0.88) for item in unsure)
    assert all(item.pi == pytest.approx(0.08) for item in core if item not in unsure)


def test_whole_rows_are_not_drawn_actively():
    with pytest.raises(UsageError, match="leave out --active or --rows"):
        Plan(rows=3, active=True)


def test_queue_is_the_same_for_the_same_seed_only():
    out = _out([i % 4 for i in range(80)])
    first, again, other = (
        build_queue(out, _texts(out), plan=Plan(core=16, seed=s)) for s in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_what_is_worth_a_look_follows_the_core_without_a_probability():
    out = _out(
        [0, 1, 2, 3],
        conflicts=(StoredConflict("q1", "c1", "golden", "judge"),),
        flags={0: ("instruction-like text",)},
        spread={2: 0.3, 3: 0.2},
        flips=(("q3", "c3"),),
    )
    queue = build_queue(out, _texts(out), plan=Plan(core=0))
    assert [(item.id, item.why, item.detail) for item in queue.items] == [
        ("c3", Why.FLIP, ""),
        ("c1", Why.CONFLICT, "golden against judge"),
        ("c2", Why.UNSURE, "variance 0.30"),
        ("c0", Why.FLAGGED, "instruction-like text"),
    ]
    assert {item.pi for item in queue.items} == {None}


def test_chunk_of_the_core_is_not_asked_twice():
    out = _out([0, 1], flags={0: ("instruction-like text",), 1: ("instruction-like text",)})
    queue = build_queue(out, _texts(out), plan=Plan(core=2))
    assert sorted(item.id for item in queue.items) == ["c0", "c1"]
    assert {item.why for item in queue.items} == {Why.CORE}


def test_chunks_without_text_are_counted():
    out = _out([0, 1, 2])
    queue = build_queue(out, {("q0", "c0"): "text", ("q1", "c1"): "  "})
    assert [item.id for item in queue.items] == ["c0"]
    assert queue.notices[0].count == 2


def test_no_text_at_all_says_what_to_name():
    with pytest.raises(InputError, match="no judged chunk has a text; name the run"):
        build_queue(_out([1, 2]), {})


def test_nothing_judged_says_so():
    with pytest.raises(InputError, match="the judge graded nothing here"):
        build_queue(_out([]), {})


def test_texts_come_from_the_run_first_and_from_the_corpus_else():
    out = _out([0, 1])
    run = Run("run", (Row(key="q0", results=(Result("c0", text="in the run"),)),))
    corpus = {"c0": "in the corpus", "c1": "in the corpus"}
    assert find_texts(out, [run], corpus) == {
        ("q0", "c0"): "in the run",
        ("q1", "c1"): "in the corpus",
    }


def _write(folder, verdicts):
    row = {"query_id": "q", "query": "how so?", "slice": "s"}
    report = {
        "run": "r",
        "settings": {"grade_max": 3},
        "rows": [row],
        "conflicts": [],
        "flips": [{"query_id": "q", "id": "b"}],
    }
    (folder / "report.json").write_text(json.dumps(report))
    (folder / "verdicts.jsonl").write_text("".join(json.dumps(v) + "\n" for v in verdicts))


def test_folder_is_read_and_rules_are_left_out(tmp_path):
    # Votes 0, 2, 2: mean 4/3, variance 8/9. Probabilities .05 .2 .5 .15 of .9: 0.583333.
    _write(
        tmp_path,
        [
            {"query_id": "q", "id": "a", "status": "graded", "grade": 2, "reason": "why",
             "votes": [{"grade": 0}, {"grade": 2}, {"grade": 2}, {"grade": None}]},
            {"query_id": "q", "id": "b", "status": "graded", "grade": 2,
             "probabilities": [0.05, 0.2, 0.5, 0.15]},
            {"query_id": "q", "id": "c", "status": "rule", "grade": 0},
            {"query_id": "q", "id": "d", "status": "failed", "grade": None},
        ],
    )  # fmt: skip
    found = read_out_folder(tmp_path)
    assert [verdict.id for verdict in found.verdicts] == ["a", "b", "d"]
    assert found.verdicts[0].spread == pytest.approx(8 / 9)
    assert found.verdicts[1].spread == pytest.approx(0.583333, abs=5e-7)
    assert found.verdicts[2].spread == 0.0
    assert found.flips == (("q", "b"),)
    assert found.rows == (OutRow("q", "how so?", "s"),)


def test_line_break_inside_a_text_is_no_end_of_a_line(tmp_path):
    verdict = {
        "query_id": "q",
        "id": "a",
        "status": "graded",
        "grade": 2,
        "reason": "\u2028why\x85",
    }
    _write(tmp_path, [])
    line = json.dumps(verdict, ensure_ascii=False)
    (tmp_path / "verdicts.jsonl").write_text(line + "\n", encoding="utf-8")
    assert [one.reason for one in read_out_folder(tmp_path).verdicts] == ["\u2028why\x85"]


def test_folder_without_a_report_says_what_to_name(tmp_path):
    with pytest.raises(InputError, match=r"no report\.json in this folder"):
        read_out_folder(tmp_path)


def test_broken_lines_are_all_named(tmp_path):
    _write(tmp_path, [{"query_id": "q", "id": "a"}, {"query_id": 3, "id": "a", "status": "rule"}])
    with pytest.raises(InputError, match=r"verdicts\.jsonl:1: status: Field required"):
        read_out_folder(tmp_path)


def test_command_asks_in_the_terminal_and_keeps_labels(tmp_path):
    _write(tmp_path, [{"query_id": "q", "id": "a", "status": "graded", "grade": 1}])
    run = {"name": "r", "rows": [{"query_id": "q", "results": [{"id": "a", "text": "so"}]}]}
    (tmp_path / "run.json").write_text(json.dumps(run))
    arguments = [str(tmp_path), "--run", str(tmp_path / "run.json"), "--rater", "ann"]
    done = CliRunner().invoke(command, arguments, input="2 nearly\n", standalone_mode=False)
    assert done.exception is None, done.output
    assert "You gave 2, the judge 1" in done.output
    assert (tmp_path / "labels.csv").read_text() == (
        "query_id,chunk_id,grade,rater,pi,note,revised\nq,a,2,ann,1.0,nearly,\n"
    )


def test_source_of_a_text_is_what_the_run_says_of_it():
    results = (
        Result("a", metadata={"title": "Handbook", "page": 3, "score": 1}, document_id="d1"),
        Result("b", document_id="d2"),
        Result("c"),
    )
    found = find_sources([Run("run", (Row(key="q0", results=results),))])
    assert found == {("q0", "a"): "Handbook · page 3 · d1", ("q0", "b"): "d2"}
