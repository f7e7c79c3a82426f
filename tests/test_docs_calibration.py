"""The sessions that docs/calibration.md shows are run, one after the other."""

from __future__ import annotations

import re
import runpy
import shutil

import pytest
from conftest import ROOT

PAGE = ROOT / "docs" / "calibration.md"
SESSIONS = runpy.run_path(str(ROOT / "scripts" / "readme_sessions.py"))


@pytest.mark.slow
def test_sessions_print_what_the_page_says(tmp_path):
    shutil.copytree(ROOT / "goldens", tmp_path / "goldens")
    blocks = re.findall(r"^```console\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    assert len(blocks) == 2
    for part in "".join(blocks).removeprefix("$ ").split("\n$ "):
        command, _, written = part.partition("\n")
        code, printed = SESSIONS["run"](command, tmp_path)
        assert code in (0, 3), command
        assert SESSIONS["matches"](written, printed) if written.strip() else not printed


def test_pictures_are_there():
    for name in re.findall(r"\]\(([^)]*\.png)\)", PAGE.read_text("utf-8")):
        assert (PAGE.parent / name).is_file()
