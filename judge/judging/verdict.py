"""Read a judge's reply: a grade, a reason to ask again, or a refusal. Never a guess.

A grade is taken from two places only: a reply that is one bare number, or the declared field
of a JSON object that ends the reply. A digit in prose is not a grade, a value off the scale is
never clamped, and two verdicts that differ are no verdict.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

PARSER = 1
"""Raise it when a reply could be read differently: cached replies are then read again."""

_THINKING = re.compile(r"\A\s*<(think|thinking|reasoning)>", re.IGNORECASE)
_THOUGHT = re.compile(r"\A.*</(?:think|thinking|reasoning)>", re.IGNORECASE | re.DOTALL)
_FENCED = re.compile(r"\A```[\w+-]*[ \t]*\n(?P<inside>.*?)\n?```\Z", re.DOTALL)
_REFUSAL = re.compile(
    r"\A\W*(?:i['’]?m sorry|i am sorry|sorry|i apologi[sz]e|unfortunately|as an ai\b"
    r"|i (?:cannot|can['’]?t|can not|could not|will not|won['’]?t|must decline)"
    r"|i am (?:unable|not able)"
    r"|i['’]m (?:unable|not able))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a reply says: `grade` where status is "grade"; else `reason`.

    status: "grade", "repair" (ask again, naming the reason) or "refused"
    """

    status: str
    grade: int | None = None
    reason: str = ""


class _Unusable(ValueError):
    """A reply that holds no single valid verdict; the message is the reason."""


def parse_reply(reply: str | None, *, field: str = "grade", grade_max: int = 3) -> Parsed:
    """Return the grade in `reply`, or why there is none.

    >>> parse_reply('{"reason": "2 of the 3 facts", "grade": 1}')
    Parsed(status='grade', grade=1, reason='')
    >>> parse_reply('Score: 3. The passage gives 0 wrong facts.').status
    'repair'
    >>> parse_reply("I'm sorry, but I can't help with that.").status
    'refused'
    """
    text = _without_thoughts(reply or "").strip()
    try:
        return Parsed("grade", _grade(text, field, grade_max))
    except _Unusable as error:
        if "{" not in text and _REFUSAL.match(text):
            return Parsed("refused", reason="the model refused")
        return Parsed("repair", reason=str(error))


def _without_thoughts(text: str) -> str:
    text = _THOUGHT.sub("", text)
    # A block that never closes is all thought: nothing in it is a verdict.
    return "" if _THINKING.match(text) else text


def _grade(text: str, field: str, grade_max: int) -> int:
    if not text:
        raise _Unusable("the reply was empty")
    if fenced := _FENCED.match(text):
        text = fenced["inside"].strip()
    if text.isascii() and text.isdigit() and len(text) <= 2:
        return _on_scale(int(text), grade_max)
    grades = {_field(pairs, field, grade_max) for pairs in _objects(text)}
    if len(grades) > 1:
        raise _Unusable("the reply held two verdicts that differ")
    return grades.pop()


def _objects(text: str) -> Iterator[list[tuple[str, object]]]:
    """Yield the JSON objects that stand in the text, the last one at its end."""
    start = text.find("{")
    if start < 0 or text.startswith("["):
        raise _Unusable("the reply was not one JSON object")
    while start >= 0:
        try:
            pairs, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            raise _Unusable("the reply was not valid JSON") from error
        yield pairs
        start = text.find("{", end)
    if text[end:].strip("` \t\r\n"):
        raise _Unusable("text followed the JSON object")


def _field(pairs: list[tuple[str, object]], field: str, grade_max: int) -> int:
    values = [value for name, value in pairs if name == field]
    if not values:
        raise _Unusable(f'the field "{field}" was missing')
    grades = {_on_scale(_integer(value, field), grade_max) for value in values}
    if len(grades) > 1:
        raise _Unusable(f'the field "{field}" stood there twice with different values')
    return grades.pop()


def _integer(value: object, field: str) -> int:
    if isinstance(value, str) and value.isascii() and value.strip().isdigit() and len(value) < 9:
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise _Unusable(f'the field "{field}" was not an integer')


def _on_scale(grade: int, grade_max: int) -> int:
    if not 0 <= grade <= grade_max:
        raise _Unusable(f"the grade was outside 0..{grade_max}")
    return grade


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


# Objects are kept as lists of pairs: a dict would let the last of two duplicate keys win.
_DECODER = json.JSONDecoder(object_pairs_hook=list, parse_constant=_refuse_constant)
