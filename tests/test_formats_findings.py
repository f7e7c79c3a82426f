"""Findings: every bad place at once, twenty shown; counts as one line each."""

from __future__ import annotations

import pytest

from judge.errors import InputError
from judge.formats.findings import Findings, Place, shown
from judge.run import Notice


def test_places_name_file_line_and_path() -> None:
    assert str(Place("run.json")) == "run.json"
    assert str(Place("run.jsonl", 12).at("results[2]").at("id")) == "run.jsonl:12: results[2].id"


def test_twenty_problems_are_shown_and_the_rest_counted() -> None:
    findings = Findings()
    for number in range(1, 24):
        findings.problem(Place("f", number), "wrong", "mend it")
    with pytest.raises(InputError) as caught:
        findings.check()
    lines = str(caught.value).splitlines()
    assert lines[0] == "f:1: wrong; mend it"
    assert lines[19:] == ["f:20: wrong; mend it", "… and 3 more like these"]


def test_nothing_from_a_file_steers_the_terminal() -> None:
    findings = Findings()
    place = Place("f").at("\x1b[2Jx")
    findings.problem(place, "found \x07", "--map \n=query")
    findings.count("kind", "\x9b31m", place=place)
    with pytest.raises(InputError) as caught:
        findings.check()
    assert str(caught.value) == r"f: \x1b[2Jx: found \x07; --map \n=query"
    assert findings.notices()[0].text == r"\x9b31m: 1 (first at f: \x1b[2Jx)"


def test_no_problem_is_no_error() -> None:
    Findings().check()


def test_counts_keep_the_first_place() -> None:
    findings = Findings()
    findings.count("kind", "ids given twice", place=Place("f", 3), consequence="so what")
    findings.count("kind", "ids given twice", place=Place("f", 9), consequence="so what", n=2)
    assert findings.notices() == (Notice("kind", 3, "ids given twice: 3; so what (first at f:3)"),)


def test_twenty_lines_of_a_kind_are_kept_and_the_rest_summed_up() -> None:
    findings = Findings()
    for number in range(1, 24):
        findings.count("ignored field", f"field {number}", place=Place("f", number), n=2)
    findings.count("other", "one", place=Place("f"))
    texts = [notice.text for notice in findings.notices()]
    assert len(texts) == 22
    assert texts[20:] == ["one: 1 (first at f)", "ignored field: 3 more, 6 times (first at f:21)"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        ("a\x1b[31m\nb", r"'a\x1b[31m\nb'"),
        ([1, 2], "a list of 2"),
        ({"b": 1, "a": 2}, "an object with b, a"),
        ({}, "an object with no fields"),
        (10**400, "a number of more than 60 digits"),
        (float("nan"), "nan"),
    ],
)
def test_values_are_shown_short_and_on_one_line(value: object, text: str) -> None:
    assert shown(value) == text
