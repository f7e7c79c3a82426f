"""Markup is made by `tag` alone, and no text can steer the page or its reader."""

from __future__ import annotations

import pytest

from judge.report.html.elements import tag


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x00b\x1b[2J", "a\ufffdb\ufffd[2J"),
        ("\u202egnp.exe", "\ufffdgnp.exe"),
        ("line\n\ttab", "line\n\ttab"),
        ("👩\u200d🔬 می\u200cخواهم", "👩\u200d🔬 می\u200cخواهم"),
    ],
)
def test_controls_are_shown_where_they_were(text: str, shown: str) -> None:
    assert tag("p", text, title=text) == f'<p title="{shown}">{shown}</p>'
