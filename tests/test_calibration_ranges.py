"""Scales that differ between judge and people are noticed; each gets a map of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from judge.calibration.ranges import range_notices
from judge.cli.calibrate import command
from judge.errors import InputError


@pytest.mark.parametrize(
    ("judge", "people", "said"),
    [
        ((0, 1, 2, 3), (1, 2, 3, 3), "people never use a grade below 1, the judge from 0 on"),
        ((0, 1, 2, 3), (0, 1, 2, 5), "people use grades up to 5, the judge up to 3 only"),
        ((0, 1, 2, 3), (0, 0, 1, 1), "people use grades 0 and 1 alone, the judge 0, 1, 2 and 3"),
        ((0, 3, 3, 0), (0, 1, 2, 3), "people use grades 0, 1, 2 and 3 alone, the judge 0 and 3"),
    ],
)
def test_ranges_that_differ_are_said(judge, people, said):
    (notice,) = range_notices(judge * 5, people * 5)
    assert notice.text.startswith(said)
    assert "--labels-grade-map" in notice.text


def test_rare_grade_may_be_missing_by_chance():
    assert range_notices((0, 1, 2) * 10, (*(0, 1, 2) * 10, 3)) == ()


def test_same_range_and_few_grades_say_nothing():
    assert range_notices((0, 1, 2, 3) * 5, (0, 1, 2, 3) * 5) == ()
    assert range_notices((0, 1, 2, 3) * 5, (1, 2, 3) * 2) == ()


@pytest.fixture
def files(tmp_path):
    """Return a judge's grades 0..3 and people's of the same chunks, written 1..4."""
    grades = {(f"q{i}", f"c{j}"): (i + j) % 4 for i in range(12) for j in range(4)}
    judge, people = tmp_path / "judge.jsonl", tmp_path / "labels.csv"
    judge.write_text(
        "".join(
            json.dumps({"query_id": q, "id": c, "grade": g}) + "\n" for (q, c), g in grades.items()
        )
    )
    lines = [f"{q},{c},{g + 1}" for (q, c), g in grades.items()]
    people.write_text("\n".join(["query_id,chunk_id,grade", *lines, ""]))
    return str(judge), str(people)


def _run(*arguments):
    return CliRunner().invoke(command, list(arguments), standalone_mode=False)


def test_advice_for_labels_names_a_flag_that_leaves_the_judge_alone(files):
    error = _run(*files).exception
    assert isinstance(error, InputError)
    assert "--labels-grade-map 1=0,2=1,3=2,4=3" in str(error)
    done = _run(*files, "--labels-grade-map", "1=0,2=1,3=2,4=3")
    assert done.exception is None, done.output
    assert "over 48 chunks of 12 queries; no disagreement" in " ".join(done.stdout.split())
    assert "warning" not in done.stdout


def test_clipped_labels_lead_to_a_warning_right_under_the_sentence(files):
    said = " ".join(_run(*files, "--clip").stdout.split())
    first, _, _ = said.partition(" agreement value")
    assert "warning: people never use a grade below 1, the judge from 0 on" in first


def test_labels_that_were_all_chosen_calibrate_nothing(files):
    judge, _ = files
    labels = judge.replace("judge.jsonl", "chosen.csv")
    lines = [f"q{i},c0,1," for i in range(7)]
    Path(labels).write_text("\n".join(["query_id,chunk_id,grade,pi", *lines, ""]))
    said = " ".join(_run(judge, labels).stdout.split())
    assert said.startswith("Not calibrated: 7 labels chosen by looking, none drawn at random;")
