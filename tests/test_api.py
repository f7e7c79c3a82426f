"""`import judge`: what it offers, what it costs, and that it works inside a running loop."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

import judge
from judge.api import grading as api

DEMO = ROOT / "goldens" / "demo" / "run.json"


def test_all_is_sorted_documented_and_importable() -> None:
    assert sorted(judge.__all__) == judge.__all__
    for name in judge.__all__:
        assert getattr(judge, name).__doc__, name
        assert f"`{name}" in str(judge.__doc__), name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        judge.nothing  # noqa: B018


def test_read_run_and_grade() -> None:
    run = judge.read_run(DEMO)
    report = judge.grade(run, backend="mock", measures=["RR", "nDCG@10"])
    assert isinstance(report, judge.Report) and report.exit_code == 0
    assert {str(m): mean.n for m, mean in report.overall.items()} == {"RR": 11, "nDCG@10": 11}


def test_grade_within_a_running_event_loop() -> None:
    async def main() -> judge.Report:
        return judge.grade(DEMO, backend="mock")

    assert asyncio.run(main()).exit_code == 0


def test_a_cache_folder_is_used_where_one_is_given(tmp_path: Path) -> None:
    calls = [judge.grade(DEMO, backend="mock", cache_dir=tmp_path).grading.calls for _ in "12"]
    assert calls[0].made == calls[1].cached == 81 and calls[1].made == 0


def test_a_gain_that_there_is_not_is_a_clear_error() -> None:
    with pytest.raises(judge.JudgeError, match="no gain 'x'; use one of linear, exponential"):
        judge.grade(DEMO, gain="x")


def test_a_judge_and_a_backend_exclude_each_other() -> None:
    with (
        api.open_judge("mock") as asked,
        pytest.raises(judge.JudgeError, match="not both"),
    ):
        judge.grade(DEMO, backend="mock", judge=asked)


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        "import judge",
        "import judge; judge.grade",
        "import judge.cli.main",
        "import sys; sys.argv[1:] = ['--help']\n"
        "try:\n    import judge.cli.main as m; m.main()\nexcept SystemExit: pass",
    ],
)
def test_neither_openai_nor_litellm_is_imported(code: str) -> None:
    heavy = "import sys; sys.exit(any(m in sys.modules for m in ('openai', 'litellm', 'httpx')))"
    ran = subprocess.run([sys.executable, "-c", f"{code}\n{heavy}"], check=False, cwd=ROOT)
    assert ran.returncode == 0
