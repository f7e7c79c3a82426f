"""`judge compare --labels --exclude-from-settling`: people correct what the judge says."""

from __future__ import annotations

import json
import math

import pytest
from click.testing import CliRunner

from judge.api.comparing import compare
from judge.api.inputs import Inputs
from judge.calibration.labelled import CHOSEN
from judge.cli.compare import command
from judge.comparing.comparison import corrected_by
from judge.run import Result, Row, Run

SECOND = 1 / math.log2(3)


def _run(name, order, n=10):
    """Return n rows; the mock grades chunk `on` 3, for it says what was asked, and `off` 0."""
    texts = {"on": "how high is everest", "off": "nothing of the kind"}
    rows = [
        Row(key=f"q{i}", query_id=f"q{i}", query="how high is everest", slice="s",
            results=tuple(Result(id, text=texts[id]) for id in order))
        for i in range(n)
    ]  # fmt: skip
    return Run(name, tuple(rows))


BEFORE, AFTER = _run("before", ("off", "on")), _run("after", ("on", "off"))


def _labels(path, rows, *, on, off, pi="0.5"):
    lines = [
        f"q{i},{id},{grade},ann,{pi}" for i in rows for id, grade in (("on", on), ("off", off))
    ]
    path.write_text("\n".join(["query_id,chunk_id,grade,rater,pi", *lines, ""]))
    return path


def _compare(labels, **more):
    inputs = Inputs(labels=labels, exclude_labels=True)
    return compare(BEFORE, AFTER, inputs=inputs, backend="mock", k=2, **more)


def test_labels_that_contradict_the_judge_turn_the_difference_round(tmp_path):
    # By the mock the candidate gains 1 - 1/log2(3) in every row; people find it the other way.
    found = _compare(_labels(tmp_path / "l.csv", range(10), on=0, off=3)).corrected
    assert found.judge_mean == pytest.approx(1 - SECOND)
    assert found.estimate.value == pytest.approx(SECOND - 1)
    assert found.estimate.lo == found.estimate.hi  # every row is labelled


def test_labels_of_some_rows_speak_for_all(tmp_path):
    path = tmp_path / "l.csv"
    _labels(path, range(3), on=0, off=3)
    agreeing = _labels(tmp_path / "m.csv", range(3, 6), on=3, off=0).read_text().splitlines()[1:]
    path.write_text(path.read_text() + "\n".join([*agreeing, ""]))
    found = _compare(path).corrected
    assert (found.labelled, found.units) == (6, 10)
    assert found.estimate.value == pytest.approx(0.0)  # half of the rows turn round
    assert found.estimate.reason == (
        "only 3 of 6 labelled differ from the rest: an interval takes 6"
    )


def test_labels_without_a_chance_in_a_file_of_chances_were_chosen(tmp_path):
    found = _compare(_labels(tmp_path / "l.csv", range(10), on=0, off=3, pi="")).corrected
    assert found.estimate.value is None
    assert found.estimate.reason == CHOSEN


def test_excluded_labels_settle_nothing(tmp_path):
    comparison = _compare(_labels(tmp_path / "l.csv", range(10), on=0, off=3))
    change = comparison.overall[comparison.primary]
    assert change.difference.value == pytest.approx(1 - SECOND)


def test_labels_that_are_not_excluded_settle_and_correct_nothing(tmp_path):
    labels = _labels(tmp_path / "l.csv", range(10), on=0, off=3)
    comparison = compare(BEFORE, AFTER, inputs=Inputs(labels=labels), backend="mock", k=2)
    assert comparison.corrected is None
    assert any("--exclude-from-settling" in n.text for n in comparison.grading.notices)
    change = comparison.overall[comparison.primary]
    assert change.difference.value == pytest.approx(SECOND - 1)


def test_queries_that_are_a_sample_are_corrected_by_ppi(tmp_path):
    labels = _labels(tmp_path / "l.csv", range(6), on=0, off=3)
    assert _compare(labels, sample=True).corrected.method == "ppi++"


def test_without_a_measure_there_is_nothing_to_correct():
    comparison = compare(_run("a", (), 0), _run("b", (), 0), k=2)
    assert corrected_by(comparison, []) == comparison


@pytest.fixture
def files(tmp_path):
    paths = []
    for run in (BEFORE, AFTER):
        rows = [
            {"query_id": row.query_id, "query": row.query,
             "results": [{"id": r.id, "text": r.text} for r in row.results]}
            for row in run.rows
        ]  # fmt: skip
        path = tmp_path / f"{run.name}.json"
        path.write_text(json.dumps({"name": run.name, "rows": rows}))
        paths.append(path)
    return paths


def _command(*arguments):
    return CliRunner().invoke(command, [str(part) for part in arguments], standalone_mode=False)


def test_command_says_both_numbers_and_json_has_them(files, tmp_path):
    labels = _labels(tmp_path / "l.csv", range(10), on=0, off=3)
    flags = ["--backend", "mock", "-k", "2", "--labels", labels, "--exclude-from-settling"]
    said = _command(*files, *flags).stdout
    assert "Corrected by people's labels of 10 of 10 rows: nDCG@2 -0.369" in said
    assert "the mock, which is no judge, says +0.369" in said
    first, last = " ".join(said.split("\n\n")[0].split()), " ".join(said.split())[-260:]
    assert first.startswith("By the mock's grades, after is ")
    correct = "correct that to -0.369, 95% CI -0.369..-0.369: the other way round."
    assert f"People's labels of 10 of 10 rows {correct}" in first
    assert "BETTER BY THE JUDGE ALONE: nDCG@2 +0.369" in last
    assert "corrected by labels -0.369, 95% CI -0.369..-0.369: the other way round" in last
    corrected = json.loads(_command(*files, *flags, "--json").stdout)["corrected"]
    assert corrected["value"] == pytest.approx(SECOND - 1)
    assert corrected["labelled_rows"] == 10


def test_command_says_why_it_corrects_nothing(files, tmp_path):
    labels = _labels(tmp_path / "l.csv", range(3), on=0, off=3)
    flags = ["--backend", "mock", "-k", "2", "--labels", labels, "--exclude-from-settling"]
    said = _command(*files, *flags).stdout
    assert "Not corrected by labels: 3 labelled, at least 5 are needed" in said
