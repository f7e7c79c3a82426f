"""What a file or a server says cannot steer a terminal or forge a line."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Ran

from judge.errors import BackendUnavailable, Problem
from judge.visible import cell, shown_controls

# ESC, C0, DEL, C1 (CSI as one byte), bidi overrides and isolates, zero width, separators, tags.
STEERING = ("\x1b]0;owned\x07", "\x1b[2J", "\x00", "\x08", "\x7f", "\x9b2J", "\x85")
STEERING += ("\u202e", "\u2066", "\u200b", "\u200f", "\u2028", "\u2029", "\ufeff", "\U000e0041")


@pytest.mark.parametrize("text", STEERING)
def test_what_steers_is_shown_and_json_stays_what_it_was(text: str) -> None:
    shown = shown_controls(f"a{text}b")
    assert text[0] not in shown
    assert cell(f"a{text}b") == shown
    if ord(text[0]) < 0x10000:
        assert json.loads(f'"{shown}"') == f"a{text}b"


@pytest.mark.parametrize(
    "text",
    ["two\nlines\tand a tab\n", "\rasked 3 of 4\r", "a\r\nb", "\x1b[1;32mDONE\x1b[0m", "ä 漢 👩‍🔬"],
)
def test_our_own_lines_tables_and_colours_pass(text: str) -> None:
    assert shown_controls(text) == text


def test_a_return_inside_a_line_does_not_overwrite_it() -> None:
    assert shown_controls("FAIL\rPASS") == "FAIL\\u000dPASS"


def test_styles_that_hide_text_are_shown() -> None:
    assert "\x1b" not in shown_controls("\x1b[8mhidden \x1b[30;40mblack \x1b[5mblink")


def test_a_long_row_of_style_numbers_is_read_in_one_go() -> None:
    # A pattern that tried each way to split 3;1 would never come back.
    assert shown_controls("\x1b[" + "31" * 50_000).startswith("\\u001b[3131")


def test_a_name_of_a_run_forges_no_row(run_judge: Callable[..., Ran], tmp_path: Path) -> None:
    qrels = tmp_path / "qrels.json"
    qrels.write_text('{"q": {"d": 1}}')
    for number, name in enumerate(("evil\nafter\t1.0000", "plain\x1b[2J")):
        rows = [{"query_id": "q\n", "query": "q", "results": [{"id": "d"}]}]
        (tmp_path / f"{number}.json").write_text(json.dumps({"name": name, "rows": rows}))
    ran = run_judge("measure", tmp_path / "0.json", tmp_path / "1.json", qrels, "-m", "RR")
    lines = ran.out.splitlines()
    assert [line.partition("\t")[0] for line in lines] == [
        "run",
        r"evil\u000aafter\u00091.0000",
        r"plain\u001b[2J",
    ]
    assert "\x1b" not in ran.out + ran.err


def test_problems_and_errors_stand_on_one_line(
    run_judge: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert str(Problem("a\nb", "c\x1bd", "e\u2028f")) == r"a\nb: c\x1bd; e\u2028f"

    def refused(*_: object) -> None:
        raise BackendUnavailable("HTTP 401: no\nPASS nDCG@10\n::set-output \x9b2J")

    monkeypatch.setattr("judge.judging.prompt.load_prompt", refused)
    ran = run_judge("prompts", "relevance")
    assert ran.err == "judge: HTTP 401: no\\nPASS nDCG@10\\n::set-output \\x9b2J\n"


@pytest.mark.slow
def test_standard_output_is_cleaned_for_a_terminal_and_left_alone_for_a_file(
    tmp_path: Path,
) -> None:
    rows = [{"query_id": "q", "query": "q", "results": [{"id": "d"}]}]
    run, qrels = tmp_path / "run.json", tmp_path / "qrels.json"
    run.write_text(json.dumps({"name": "\x9b2J\u202e", "rows": rows}))
    qrels.write_text('{"q": {"d": 1}}')
    words = [sys.executable, "-m", "judge", "measure", str(run), str(qrels), "--json"]
    to_file = subprocess.run(words, capture_output=True, check=True, encoding="utf-8").stdout
    assert json.loads(to_file)["runs"][0]["run"] == "\x9b2J\u202e"
    assert "\x9b2J\u202e" in to_file

    reader, terminal = pty.openpty()
    subprocess.run(words, stdout=terminal, check=True)
    os.close(terminal)
    shown = os.read(reader, 1 << 16).decode()
    os.close(reader)
    assert json.loads(shown)["runs"][0]["run"] == "\x9b2J\u202e"
    assert not {"\x9b", "\u202e"} & set(shown)
