"""`judge calibrate` on real and on awkward files: values, sentences, JSON, messages."""

from __future__ import annotations

import csv
import json

import pytest
from click.testing import CliRunner
from worked_agreement import HUMAN, JUDGE

from judge.calibration.files import calibrate
from judge.calibration.trust import CalibrationSettings
from judge.cli.calibrate import command
from judge.errors import InputError, UsageError
from judge.formats import ReadOptions
from judge.statistics.paired import Resampling

FAST = CalibrationSettings(resampling=Resampling(draws=10))

# Column of the published table -> our coefficient.
CELLS = {
    "kappa4": "kappa",
    "alpha4": "alpha_ordinal",
    "kappa_0v123": "kappa_at_1",
    "kappa_01v23": "kappa_at_2",
    "kappa_012v3": "kappa_at_3",
    "alpha_0v123": "alpha_at_1",
    "alpha_01v23": "alpha_at_2",
    "alpha_012v3": "alpha_at_3",
}


@pytest.mark.slow
def test_llmjudge_leaderboard_to_four_decimals(data):
    folder = data / "llmjudge"
    with (folder / "published_leaderboard.tsv").open() as stream:
        published = list(csv.DictReader(stream, delimiter="\t"))
    found, expected = {}, {}
    for row in published:
        name = row["submission"]
        report = calibrate(
            folder / "submissions" / f"{name}.txt",
            folder / "human_test_qrels.txt",
            options=ReadOptions(clip=True),
            settings=FAST,
        )
        coefficients = report.calibration.overall.coefficients
        for column, ours in CELLS.items():
            found[name, column] = coefficients[ours].value
            expected[name, column] = float(row[column])
    assert len(found) == 64
    assert found == pytest.approx(expected, abs=5.001e-5)


@pytest.mark.slow
def test_dl19_agreement_of_gpt4o_with_nist(data):
    folder = data / "dl19"
    report = calibrate(
        folder / "llm_umbrela-gpt4o_dl19.qrels.gz", folder / "human_dl19.qrels.gz", settings=FAST
    )
    overall = report.calibration.overall
    assert (overall.pairs, overall.queries) == (9260, 43)
    found = {name: overall.coefficients[name].value for name in DL19}
    assert found == pytest.approx(DL19, abs=5e-5)


DL19 = {"kappa": 0.3626, "kappa_linear": 0.4865, "kappa_quadratic": 0.5951, "kappa_at_2": 0.5244}


@pytest.fixture
def folder(tmp_path):
    """Return a folder with the worked example twice as verdicts.jsonl, labels.csv and two runs."""
    pairs = [(f"q{i // 4}", f"c{i}") for i in range(48)]
    verdicts = [
        {"query_id": query, "id": id, "status": "graded", "grade": grade, "model": "m", "raw": "{}"}
        for (query, id), grade in zip(pairs, JUDGE * 2, strict=True)
    ]
    verdicts += [
        {"query_id": "q0", "id": "blank", "status": "rule", "grade": 0},
        {"query_id": "q0", "id": "silent", "status": "refused", "grade": None, "reason": "no"},
    ]
    (tmp_path / "verdicts.jsonl").write_text("".join(json.dumps(v) + "\n" for v in verdicts))
    lines = [f"{q};{c};{g};ann;0.5" for (q, c), g in zip(pairs, HUMAN * 2, strict=True)]
    header = "\ufeffquery_id;chunk_id;grade;rater;pi"
    (tmp_path / "labels.csv").write_text("\r\n".join([header, *lines, ""]), newline="")
    for name, step in (("up", 1), ("down", -1)):
        rows = [
            {"query_id": f"q{q}", "slice": "even" if q % 2 == 0 else "odd",
             "query": f"question {q}",
             "results": [{"id": f"c{i}"} for i in range(4 * q, 4 * q + 4)][::step]}
            for q in range(12)
        ]  # fmt: skip
        (tmp_path / f"{name}.json").write_text(json.dumps({"name": name, "rows": rows}))
    return tmp_path


def _run(*arguments):
    return CliRunner().invoke(command, [str(part) for part in arguments], standalone_mode=False)


def test_command_reads_bom_semicolons_and_crlf_and_says_the_sentence_first(folder):
    done = _run(folder, folder / "labels.csv")
    assert done.exception is None, done.output
    first = " ".join(done.stdout.splitlines()[:2])
    assert first.startswith("This judge may gate: quadratic kappa is 0.872 [0.789, 0.924] over 48")
    assert "1 judgments" not in done.stdout
    assert "judgments by 'rule' left out" in " ".join(done.stdout.split())


def test_labels_left_out_are_those_that_spotcheck_wrote(folder):
    assert _run(folder).stdout == _run(folder, folder / "labels.csv").stdout
    with pytest.raises(UsageError, match="name the labels too"):
        raise _run(folder / "verdicts.jsonl").exception


def test_command_orders_runs_by_slice_and_both_sources(folder):
    runs = [part for name in ("up", "down") for part in ("--runs", folder / f"{name}.json")]
    done = _run(folder / "verdicts.jsonl", folder / "labels.csv", *runs)
    assert done.exception is None, done.output
    assert "even" in done.stdout and "odd" in done.stdout
    assert "Order of 2 runs by mean nDCG@10 over 12 queries" in done.stdout
    assert "by labels of 12 of 12 queries" in done.stdout


def test_json_holds_no_nan_and_reasons_for_null(folder):
    labels = folder / "one.csv"
    labels.write_text("query_id,chunk_id,grade\nq0,c0,0\n")
    done = _run(folder, labels, "--json")
    report = json.loads(done.stdout, parse_constant=pytest.fail)
    assert report["may_gate"] is None
    kappa = report["overall"]["coefficients"]["kappa"]
    assert kappa["value"] is None
    assert kappa["reason"] == "only grade 0 used; raw agreement 1.000 (n=1)"
    assert report["sentence"].startswith("Cannot tell whether this judge may gate")


def test_no_shared_chunk_is_said_in_the_first_line(folder):
    labels = folder / "none.csv"
    labels.write_text("query_id,chunk_id,grade\nq77,c0,0\n")
    done = _run(folder, labels)
    assert done.stdout.splitlines()[0] == "Not calibrated: no human-judge pairs."
    assert "1 labels left out: the judge graded no such chunk" in " ".join(done.stdout.split())


def test_slices_come_from_the_folder_s_own_report(folder):
    rows = [{"query_id": f"q{i}", "slice": "first" if i < 6 else "last"} for i in range(12)]
    report = {"run": "r", "settings": {"grade_max": 3}, "rows": rows}
    (folder / "report.json").write_text(json.dumps(report))
    found = calibrate(folder, folder / "labels.csv", settings=FAST).calibration
    assert {name: part.pairs for name, part in found.slices.items()} == {"first": 24, "last": 24}


@pytest.mark.slow
def test_panel_is_read_from_its_votes(folder):
    verdicts = folder / "verdicts.jsonl"
    lines = [json.loads(line) for line in verdicts.read_text().splitlines()]
    for line in lines:
        votes = [{"model": "m1", "grade": line["grade"]}, {"model": "m2", "grade": 0}]
        line["votes"] = votes if line["grade"] is not None else [{"model": "m1", "grade": None}]
    verdicts.write_text("".join(json.dumps(line) + "\n" for line in lines))
    said = " ".join(_run(folder, folder / "labels.csv").stdout.split())
    assert "m1 0.872 [0.789, 0.924] m2 0.000" in said
    assert "2 votes are worth" in said
    report = json.loads(_run(folder, folder / "labels.csv", "--json").stdout)
    assert set(report["panel"]["judges"]) == {"m1", "m2"}


def test_mock_says_that_it_is_no_judge(folder):
    verdicts = folder / "verdicts.jsonl"
    verdicts.write_text(verdicts.read_text().replace('"model": "m"', '"model": "mock"'))
    first = " ".join(_run(folder, folder / "labels.csv").stdout.split())
    assert first.startswith("This judge (word overlap, not a judgment) may gate")


def test_labels_above_the_scale_are_clipped_only_when_asked(folder):
    labels = folder / "labels.csv"
    labels.write_text(labels.read_text("utf-8-sig").replace("q1;c4;3;", "q1;c4;4;"), "utf-8")
    with pytest.raises(InputError, match="--clip"):
        calibrate(folder, labels, settings=FAST)
    done = _run(folder, labels, "--clip")
    assert "quadratic kappa is 0.872" in " ".join(done.stdout.split())  # 4 is taken for 3
    assert "grade 4 clipped to 3: 1" in " ".join(done.stdout.split())


def test_bias_allowed_is_a_setting(folder):
    done = _run(folder, folder / "labels.csv", "--require", "bias=0.01")
    said = " ".join(done.stdout.split())
    assert "bias (judge - human) is 0.125" in said
    assert "on both sides of the 0.01 grades allowed" in said


def test_threshold_is_a_setting(folder):
    done = _run(folder, folder / "labels.csv", "--require", "kappa_quadratic=0.95")
    assert done.stdout.startswith("This judge may not gate")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--require", "kappa_quadratic=high"), "needs a number"),
        (("--require", "mae=0.1"), "cannot be required"),
        (("-m", "RR"), "sees no grades"),
    ],
)
def test_wrong_settings_are_named(folder, arguments, message):
    done = _run(folder, folder / "labels.csv", *arguments)
    assert isinstance(done.exception, UsageError)
    assert message in str(done.exception)


def test_folder_without_verdicts_says_what_to_name(tmp_path):
    with pytest.raises(InputError, match=r"no verdicts\.jsonl in this folder"):
        calibrate(tmp_path, tmp_path / "labels.csv")


def test_two_runs_of_one_name_are_refused(folder):
    with pytest.raises(UsageError, match="two runs are named 'up'"):
        calibrate(folder, folder / "labels.csv", runs=[folder / "up.json", folder / "up.json"])


def test_two_grades_by_one_rater_are_named_with_both_places(folder):
    labels = folder / "twice.csv"
    labels.write_text("query_id,chunk_id,grade,rater\nq0,c0,0,ann\nq0,c0,3,ann\nq0,c1,9,ann\n")
    with pytest.raises(InputError) as caught:
        calibrate(folder, labels)
    assert "twice.csv:3" in str(caught.value) and "twice.csv:2" in str(caught.value)
    assert "twice.csv:4" in str(caught.value)  # the grade off the scale, in the same message
