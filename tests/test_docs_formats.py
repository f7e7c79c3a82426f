"""The commands that docs/formats shows are run, on the fixtures of the same names."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import ROOT

from judge.cli.main import app

PAGES = sorted((ROOT / "docs" / "formats").glob("*.md"))
FIXTURES = Path(__file__).parent / "fixtures"
COMMANDS = [
    (page.name, command)
    for page in PAGES
    # `judge run` asks a system that is not there; test_cli_run.py runs it against one.
    for command in re.findall(r"^    (judge (?!run ).+)$", page.read_text("utf-8"), re.MULTILINE)
]


@pytest.mark.parametrize(("page", "command"), COMMANDS)
def test_a_documented_command_runs(
    page: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(FIXTURES, tmp_path / "files")
    monkeypatch.chdir(tmp_path / "files")
    result = CliRunner().invoke(app, shlex.split(command)[1:], catch_exceptions=False)
    # 3: the fixtures leave judgments open, as no judge is asked.
    assert result.exit_code in (0, 3), result.output


def test_every_page_is_in_the_table_of_contents() -> None:
    contents = (ROOT / "docs" / "formats" / "README.md").read_text("utf-8")
    assert {page.name for page in PAGES} - set(re.findall(r"\((\w+\.md)\)", contents)) == {
        "README.md"
    }
