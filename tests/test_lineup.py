"""`judge.comparing.lineup`: several runs in one table, and whether two judgment sources agree."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from judge.api.comparing import line_up
from judge.api.inputs import Inputs
from judge.cli.compare import command
from judge.errors import UsageError
from judge.formats import read_runs
from judge.measures.names import Measure
from judge.report.lineup import lineup_document, lineup_lines
from judge.run import Result, Row, Run


def run(name: str, ids: str) -> Run:
    rows = tuple(
        Row(key=key, query_id=key, query=key, results=tuple(Result(id, text=id) for id in ids))
        for key in ("q1", "q2", "q3")
    )
    return Run(name, rows)


@pytest.fixture
def qrels(tmp_path: Path) -> Path:
    path = tmp_path / "qrels.txt"
    lines = [f"{q} 0 {id} {g}" for q in ("q1", "q2", "q3") for id, g in (("a", 3), ("b", 0))]
    path.write_text("\n".join([*lines, ""]))
    return path


def test_three_runs_in_one_table(qrels: Path) -> None:
    found = line_up(
        [run("worst", "ba"), run("best", "ab"), run("half", "b")],
        inputs=Inputs(judgments=[qrels]),
        against=qrels,
    )
    means = {s.run: s.mean.value for s in found.standings[Measure("nDCG", 10)]}
    # 3/log2(3) over 3, 1, and 0.
    assert means == pytest.approx({"worst": 0.630930, "best": 1.0, "half": 0.0}, abs=1e-6)
    assert found.exit_code == 0
    text = "\n".join(lineup_lines(found))
    assert text.startswith("Of 3 runs best has the highest nDCG@10, 1.000")
    assert found.orders is not None
    # A source agrees with itself.
    assert found.orders.correlations["tau_b"].value == pytest.approx(1.0)
    json.dumps(lineup_document(found), allow_nan=False)


def test_open_grades_are_shown_and_end_with_three(tmp_path: Path) -> None:
    found = line_up([run("one", "ab"), run("two", "ba"), run("three", "b")])
    assert found.exit_code == 3
    text = "\n".join(lineup_lines(found))
    assert "0.000..1.000" in text
    # Any of them could be the best yet; all are 0 at the lowest.
    assert " ".join(text.split()).startswith(
        "Of 3 runs none is sure to have the highest nDCG@10: grades are open. With every open chunk"
        " at its lowest grade 3 of them share it, 0.000; compare two"
    )


def test_runs_that_share_the_lead_are_not_ranked(qrels: Path) -> None:
    twins = [run("one", "ab"), run("two", "ab"), run("three", "ba")]
    text = "\n".join(lineup_lines(line_up(twins, inputs=Inputs(judgments=[qrels]))))
    assert text.startswith("Of 3 runs 2 share the highest nDCG@10, 1.000")
    assert "plus two: Student's t with one 0 and one 1" in text


def test_a_second_source_needs_a_third_run(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text('{"rows": [{"query": "q", "results": [{"id": "a", "text": "a"}]}]}')
    with pytest.raises(UsageError, match="third"):
        CliRunner().invoke(
            command,
            [str(path), str(path), "--against", str(path)],
            standalone_mode=False,
            catch_exceptions=False,
        )


@pytest.mark.slow
def test_dl19_systems_under_people_and_gpt4o(data: Path) -> None:
    # statistics of the data folder: Kendall tau-b of the 37 systems, people against GPT-4o.
    folder = data / "dl19"
    runs = list(read_runs(folder / "all37_top20.trecrun.gz").values())
    found = line_up(
        runs,
        inputs=Inputs(judgments=[folder / "human_dl19.qrels.gz"]),
        against=folder / "llm_umbrela-gpt4o_dl19.qrels.gz",
    )
    assert found.orders is not None
    assert found.orders.correlations["tau_b"].value == pytest.approx(0.9159, abs=5e-5)
    with gzip.open(folder / "topics_dl19.tsv.gz", "rt", encoding="utf-8") as file:
        assert found.orders.queries == len(file.readlines()) == 43
