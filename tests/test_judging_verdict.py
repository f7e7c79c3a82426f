"""What counts as a verdict: the shared cases, and the raw replies of three real judges."""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.judging.verdict import parse_reply


def test_every_shared_case(shared: Path) -> None:
    lines = (shared / "cases" / "replies.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [json.loads(line) for line in lines]
    assert len(cases) == 38
    for case in cases:
        parsed = parse_reply(case["reply"])
        got = parsed.grade if parsed.status == "grade" else parsed.status
        assert got == case["expect"], case


@pytest.mark.parametrize(
    ("reply", "expect"),
    [
        (None, "repair"),
        ('The answer:\n```json\n{"grade": 2}\n```', 2),
        ('I weighed 1 and 3. {"grade": 2}', 2),
        ('{"grade": 2} but it could be 3', "repair"),
        ('{"grade": 2} then again {"grade": 3', "repair"),
        ('<think>never closed {"grade": 3}', "repair"),
        ('open tag in the template </think>{"grade": 3}', 3),
        ('{"verdict": {"grade": 3}}', "repair"),
        ('{"Grade": 3}', "repair"),
        ("{" * 100_000, "repair"),
        ('{"grade": ' + "9" * 5000 + "}", "repair"),
        ('{"grade": 1e999}', "repair"),
        ("３", "repair"),
        ("3.0", "repair"),
        ("03", 3),
        ('I am sorry. {"grade": 0}', 0),
    ],
)
def test_replies_beyond_the_shared_cases(reply: str | None, expect: int | str) -> None:
    parsed = parse_reply(reply)
    assert (parsed.grade if parsed.status == "grade" else parsed.status) == expect


@given(st.text())
def test_any_text_is_a_grade_on_the_scale_a_repair_or_a_refusal(reply: str) -> None:
    parsed = parse_reply(reply)
    if parsed.status == "grade":
        assert parsed.grade in range(4)
    else:
        assert parsed.status in ("repair", "refused")
        assert parsed.grade is None
        assert parsed.reason


def replies(data: Path, name: str) -> list[dict[str, str]]:
    (path,) = (data / "raw_responses").glob(f"*{name}*")
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_bare_digits_are_the_authors_grades(data: Path) -> None:
    counts: Counter[str] = Counter()
    for row in replies(data, "prompt_simple"):
        parsed = parse_reply(row["response"])
        counts[parsed.status] += 1
        if parsed.status == "grade":
            assert parsed.grade == int(float(row["O_score"]))
    assert counts == {"grade": 1531, "repair": 18}


def test_the_declared_field_is_read_from_objects_with_others(data: Path) -> None:
    counts: Counter[str] = Counter()
    for row in replies(data, "prompt_thomas"):
        parsed = parse_reply(row["response"], field="O")
        counts[parsed.status] += 1
        if parsed.status == "grade":
            assert parsed.grade == int(float(row["O_score"]))
        else:
            assert "O" not in json.loads(row["response"])
    assert counts == {"grade": 1535, "repair": 10}


def test_no_grade_is_mined_from_prose(data: Path) -> None:
    statuses = {parse_reply(row["response"]).status for row in replies(data, "Upadhyay")}
    assert statuses == {"repair"}
