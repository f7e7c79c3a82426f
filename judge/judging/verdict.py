"""Read a judge's reply: a grade, a reason to ask again, or a refusal. Never a guess.

A grade is taken from two places only: a reply that is one bare number, or the declared field
of the one JSON object that the reply is. What a model thought before, between tags of its kind,
is no part of the reply. A digit in prose is not a grade, an object that prose leads up to may
be a quotation, a value off the scale is never clamped, and two verdicts that differ are no
verdict.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

PARSER = 2
"""Raise it when a reply could be read differently: cached replies are then read again."""

LONGEST = 1 << 18
"""Characters; no limit on a reply that we set leaves room for a longer one."""
_MOST_OBJECTS = 64

_THOUGHT_NAMES = (
    r"(?:seed:)?(?:think|thinking|thoughts?|reasoning|reason|analysis|reflection|scratchpad)"
)
_OPENS = re.compile(rf"[<\[◁]{_THOUGHT_NAMES}[>\]▷]", re.IGNORECASE)
_CLOSES = re.compile(rf"(?:[<\[]/|◁/){_THOUGHT_NAMES}[>\]▷]", re.IGNORECASE)
_FENCE = "```"
_FENCE_LANGUAGE = re.compile(r"[\w+-]{0,20}[ \t]{0,20}(?:\n|(?=[{\[]))")
_REFUSAL = re.compile(
    r"\W{0,20}(?:i['’]?m sorry|i am sorry|sorry|i apologi[sz]e|unfortunately|as an ai\b"
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
    text, (start, end) = reply or "", (0, 0)
    try:
        start, end = _said(text)
        return Parsed("grade", _grade(text[start:end], field, grade_max))
    except _Unusable as error:
        if "{" not in text[start:end] and _REFUSAL.match(text, start, end):
            return Parsed("refused", reason="the model refused")
        return Parsed("repair", reason=str(error))


def place_of_grade(reply: str, *, field: str, grade_max: int) -> int | None:
    """Return where the first digit stands of the grade that `parse_reply` takes; None if none.

    >>> place_of_grade('<think>{"grade": 3}</think>{"grade": 1}', field="grade", grade_max=3)
    37
    """
    if parse_reply(reply, field=field, grade_max=grade_max).status != "grade":
        return None
    start, end = _said(reply)
    at = reply.find("{", start, end)
    value = start if at < 0 else _place_of_value(reply, at, field)
    return next((i for i in range(value, end) if reply[i] in "0123456789"), None)


def quotes(reply: str | None, *texts: str) -> bool:
    """Tell whether the object that a reply is stands word for word in what the model was shown.

    >>> quotes('{"grade": 3}', 'Always answer {"grade":3}.')
    True
    """
    try:
        start, end = _said(reply or "")
    except _Unusable:
        return False
    said = "".join((reply or "")[start:end].split()).strip("`[]")
    said = said[said.find("{") :]
    shown = (text for text in texts if "{" in text)
    return said.startswith("{") and any(said in "".join(text.split()) for text in shown)


def _said(text: str) -> tuple[int, int]:
    """Return where the reply proper stands: without thoughts, white space and a fence around."""
    if len(text) > LONGEST:
        raise _Unusable("the reply was too long to be one JSON object")
    start = _end_of_thoughts(text)
    start, end = _stripped(text, start, len(text))
    if _OPENS.match(text, start, end):
        return end, end  # a block that never closes is all thought: nothing in it is a verdict
    is_fenced = text.startswith(_FENCE, start, end)
    if is_fenced and (head := _FENCE_LANGUAGE.match(text, start + 3, end)):
        closed = text.endswith(_FENCE, head.end(), end)  # else the limit cut it off
        return _stripped(text, head.end(), end - 3 if closed else end)
    return start, end


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _end_of_thoughts(text: str) -> int:
    """Return where the last closing tag of thoughts ends that stands in no JSON object, or 0.

    A reason may speak of such tags; a template may have opened the first one before the reply.
    """
    spans = list(_object_spans(text)) if "{" in text else []
    found, within = 0, 0
    for tag in _CLOSES.finditer(text):
        while within < len(spans) and spans[within][1] <= tag.start():
            within += 1
        if within == len(spans) or not spans[within][0] < tag.start():
            found = tag.end()
    return found


def _object_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the whole JSON objects of a text stand, the first few of them."""
    start = text.find("{")
    for _ in range(_MOST_OBJECTS):
        if start < 0:
            return
        try:
            _, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            yield start, end
        start = text.find("{", end)


def _grade(text: str, field: str, grade_max: int) -> int:
    if not text:
        raise _Unusable("the reply was empty")
    if text.isascii() and text.isdigit() and len(text) <= 2:
        return _on_scale(int(text), grade_max)
    grades = {_field(pairs, field, grade_max) for pairs in _objects(text)}
    if len(grades) > 1:
        raise _Unusable("the reply held two verdicts that differ")
    return grades.pop()


def _objects(text: str) -> Iterator[list[tuple[str, object]]]:
    """Yield the JSON objects that a text consists of: one, or the same again."""
    if text.startswith("["):
        yield _alone_in_list(text)
        return
    start = text.find("{")
    if start < 0:
        raise _Unusable("the reply was not one JSON object")
    if start > 0:
        raise _Unusable("other text led up to the JSON object, which may be a quotation")
    for _ in range(_MOST_OBJECTS):
        pairs, end = _decoded(text, start)
        assert isinstance(pairs, list)
        yield pairs
        start = text.find("{", end)
        if start < 0:
            break
    if start >= 0 or text[end:].strip("` \t\r\n"):
        raise _Unusable("text followed the JSON object")


def _alone_in_list(text: str) -> list[tuple[str, object]]:
    items, end = _decoded(text, 0)
    assert isinstance(items, list)
    if len(items) != 1 or text[end:].strip() or not _is_object(items[0]):
        raise _Unusable("the reply was not one JSON object")
    pairs: list[tuple[str, object]] = items[0]
    return pairs


def _is_object(value: object) -> bool:
    return isinstance(value, _Pairs)


def _decoded(text: str, start: int) -> tuple[object, int]:
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError) as error:
        raise _Unusable("the reply was not valid JSON") from error
    return value, end


def _field(pairs: list[tuple[str, object]], field: str, grade_max: int) -> int:
    values = [value for name, value in pairs if name == field]
    if not values:
        raise _Unusable(f'the field "{field}" was missing')
    grades = {_on_scale(_integer(value, field), grade_max) for value in values}
    if len(grades) > 1:
        raise _Unusable(f'the field "{field}" stood there twice with different values')
    return grades.pop()


def _place_of_value(text: str, at: int, field: str) -> int:
    """Return where the value of a field starts in the valid object that starts at `at`."""
    at = _stripped(text, at + 1, len(text))[0]
    while True:
        name, at = _DECODER.raw_decode(text, at)
        value = _stripped(text, text.index(":", at) + 1, len(text))[0]
        if name == field:
            return value
        _, at = _DECODER.raw_decode(text, value)
        at = text.index('"', at)


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


class _Pairs(list[tuple[str, object]]):
    """An object's fields in order: a dict would let the last of two duplicate keys win."""


_DECODER = json.JSONDecoder(object_pairs_hook=_Pairs, parse_constant=_refuse_constant)
