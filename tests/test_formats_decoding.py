"""JSON and JSON lines: told apart by content, and everything a file can do to a parser."""

from __future__ import annotations

import json

import pytest

from judge.errors import InputError
from judge.formats.decoding import Document, Lines, decode
from judge.formats.findings import Findings, Place
from judge.formats.textfile import TextFile


def refusal(text: str) -> str:
    findings = Findings()
    with pytest.raises(InputError) as caught:
        decoded = decode(TextFile("f", text), findings)
        if isinstance(decoded, Lines):
            list(decoded.records)
        findings.check()
    return str(caught.value)


@pytest.mark.parametrize("text", ['[{"a": 1}]', '\n [\n{"a": 1}\n]\n', '{"a":\n1}', '{"a": 1}\n\n'])
def test_one_value_is_a_document(text: str) -> None:
    decoded = decode(TextFile("f", text), Findings())
    assert decoded == Document(Place("f"), json.loads(text))


def test_a_value_a_line_is_json_lines_with_their_numbers() -> None:
    decoded = decode(TextFile("f", '{"a": 1}\r\n\n[2]\r\n'), Findings())
    assert isinstance(decoded, Lines)
    assert [(str(place), value) for place, value in decoded.records] == [
        ("f:1", {"a": 1}),
        ("f:3", [2]),
    ]


def test_a_document_with_one_value_a_line_is_no_json_lines() -> None:
    text = '{"name": "n", "rows": [\n{"a": 1}\n]}\n'
    assert decode(TextFile("f", text), Findings()) == Document(Place("f"), json.loads(text))


def test_a_broken_first_line_does_not_hide_that_it_is_json_lines() -> None:
    message = refusal('{"a": \n{"a": 1}\n{"b"}\n')
    assert [line.split(" ")[0] for line in message.splitlines()] == ["f:1:", "f:3:"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1}{"a": 2}', "f:1: more text after the end of a JSON value (column 9)"),
        ('{\n"a": 1\n}\n{\n"a": 2\n}', "f:4: more text after the end of a JSON value (column 1)"),
        ('{"a": 1,\n "b": }', "f:2: not JSON: Expecting value (column 7)"),
        ('{"a": 1, "a": 2}', "f: the key 'a' occurs twice in one object; keep one of them"),
        ("[" * 100_000, "f: JSON nested too deep to read"),
        ('{"a":' * 100_000, "f: JSON nested too deep to read"),
        ('{"a": ' + "9" * 5000 + "}", "f: a number that cannot be read"),
        ('{"a": "\t"}', "f:1: not JSON: Invalid control character (column 8)"),
        ('{"a": 1}\nq Q0 d 1 2.0 t', "f:2: a TREC line in a file of JSON lines: two shapes"),
    ],
)
def test_what_is_no_json_is_named_with_its_place(text: str, said: str) -> None:
    assert refusal(text).startswith(said)


def test_half_a_surrogate_pair_is_replaced_and_counted() -> None:
    findings = Findings()
    text = r'["\ud83d\ude00", "cut \ud83d", "\\ud83d"]'
    decoded = decode(TextFile("f", text), findings)
    assert decoded == Document(Place("f"), ["\U0001f600", "cut \ufffd", r"\ud83d"])
    assert [notice.kind for notice in findings.notices()] == ["surrogates"]


def test_whole_surrogate_pairs_are_no_finding() -> None:
    findings = Findings()
    decode(TextFile("f", r'["\uD83D\uDE00"]'), findings)
    assert findings.notices() == ()
