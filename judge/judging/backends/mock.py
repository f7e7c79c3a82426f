"""The offline judge: word overlap of query and chunk, for demos, tests and dry runs.

It is no judgment and every line that prints a number from it says so. It answers with reply
*text*, so that parser, cache and driver do the same work as with a real model.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from judge.errors import BackendUnavailable, InputError, Problem, UsageError
from judge.formats.json_value import json_value
from judge.judging.exchange import RateLimited, Refused, Rejected, Reply, Request, Transient

_WORD = re.compile(r"[^\W_]+")
_STOP_WORDS = frozenset(
    """
    a about an and are as at be been but by can could did do does for from had has have how i if
    in into is it its me my no not of on or our should so than that the their them then there
    these they this to was we were what when where which who whom why will with would you your
    define definition meaning mean
    """.split()  # noqa: SIM905
)
_ENDINGS = re.compile(r"(?<=\w{3})(?:ies|ing|ed|es|e|s|y)$")
_THRESHOLDS = (0.3, 0.5, 0.7)
"""Overlaps from which the grade is 1, 2 and 3 on a scale of 0..3."""
_ECHO_FROM, _ECHO_COST, _ECHO_MOST = 0.1, 3.0, 0.4
"""What a text loses for being made of the query's words: it echoes, it does not answer.
Without it the mock would prefer plain term matching to every better system (TREC DL 2019:
tau with the human order of 37 systems -.29 without, .34 with it)."""


class Mock:
    """A judge that counts shared words: the same reply for the same request everywhere."""

    name = "mock"
    remote = False
    recorded = False

    def __init__(self) -> None:
        self.settings: Mapping[str, object] = {"kind": "mock", "version": 1}

    async def open(self) -> None:
        """Do nothing: there is nothing to set up."""

    async def answer(self, request: Request) -> Reply:
        """Return the overlap as a JSON reply in the prompt's own form."""
        share = overlap(request.pair.query, request.pair.text)
        grade_max = request.prompt.grade_max
        grade = sum(share >= at for at in _THRESHOLDS) * grade_max // len(_THRESHOLDS)
        note = f"word overlap {share:.2f}, not a judgment"
        kinds: dict[str, object] = {"grade": grade, "text": note}
        reply = {name: kinds[kind] for name, kind in request.prompt.reply}
        return Reply(json.dumps(reply))

    async def close(self) -> None:
        """Do nothing: there is no connection."""


def overlap(query: str, text: str) -> float:
    """Return the share of the query's words found in the text, less what it merely echoes.

    In [-0.4, 1]. Words that say little are left out unless the query has no others; common
    English endings are cut from both sides.

    >>> overlap("treating tension headaches", "A headache from tension is often treated at home"
    ...         " with rest, water and an hour away from the screen; few need a doctor.")
    0.908696
    >>> overlap("treating tension headaches", "Treating tension headaches")
    0.6
    """
    words = set(_words(query))
    telling = {word for word in words if word not in _STOP_WORDS} or words
    if not telling:
        return 0.0
    wanted = {_ENDINGS.sub("", word) for word in telling}
    times = Counter(_words(text))
    found = {word: _ENDINGS.sub("", word) for word in times}
    share = len(wanted.intersection(found.values())) / len(wanted)
    repeats = sum(n for word, n in times.items() if found[word] in wanted)
    density = repeats / max(1, times.total())
    echo = min(_ECHO_MOST, _ECHO_COST * max(0.0, density - _ECHO_FROM))
    return round(share - echo, 6)


def _words(text: str) -> Iterator[str]:
    return (match[0] for match in _WORD.finditer(text.lower()))


class ScriptedMock:
    """Plays given replies and failures in order, one a request; for tests.

    The script is JSONL. A line is `{"reply": "…"}` (optional: `finish`, `prompt_tokens`,
    `completion_tokens`) or `{"failure": NAME, "reason": "…", "retry_after_s": 3}` with a NAME of
    FAILURES. When the script is used up, every further request is rejected.
    """

    remote = False
    recorded = False

    def __init__(self, path: str) -> None:
        self.name = f"mock:script={path}"
        steps = _read_script(path)
        self.settings: Mapping[str, object] = {"kind": "mock", "script": steps}
        self._steps = iter(steps)

    async def open(self) -> None:
        """Do nothing: there is nothing to set up."""

    async def answer(self, request: Request) -> Reply:
        """Return the next reply or raise the next failure of the script."""
        step = next(self._steps, _USED_UP)
        if "failure" in step:
            raise _failure(step)
        return Reply(
            step["reply"],
            finish=step.get("finish", "stop"),
            prompt_tokens=step.get("prompt_tokens"),
            completion_tokens=step.get("completion_tokens"),
        )

    async def close(self) -> None:
        """Do nothing: there is no connection."""


_LASTING: Mapping[str, type[Exception]] = MappingProxyType(
    {"refused": Refused, "rejected": Rejected, "unavailable": BackendUnavailable}
)
_PASSING: Mapping[str, type[Transient]] = MappingProxyType(
    {"transient": Transient, "rate_limited": RateLimited}
)
_USED_UP: Mapping[str, Any] = MappingProxyType(
    {"failure": "rejected", "reason": "the script is used up"}
)
FAILURES = (*_PASSING, *_LASTING)


def _failure(step: Mapping[str, Any]) -> Exception:
    name = step["failure"]
    reason = step.get("reason", name)
    if name in _PASSING:
        return _PASSING[name](reason, retry_after_s=step.get("retry_after_s"))
    return _LASTING[name](reason)


def _read_script(path: str) -> list[Mapping[str, Any]]:
    try:
        lines = Path(path).read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise UsageError(f"mock:script={path}: cannot be read ({why})") from error
    steps: list[Mapping[str, Any]] = []
    problems = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            step = json_value(line)
        except ValueError:
            step = None
        if isinstance(step, dict) and _is_step(step):
            steps.append(step)
        else:
            fix = f'write {{"reply": …}} or {{"failure": one of {", ".join(FAILURES)}}}'
            problems.append(Problem(f"{path}:{number}", "not a step", fix))
    if problems:
        raise InputError(problems)
    return steps


def _is_step(step: Mapping[str, Any]) -> bool:
    """Tell whether a line is a reply (null: none was sent) or a failure that can be played."""
    wait = step.get("retry_after_s")
    if not (wait is None or (isinstance(wait, (int, float)) and wait >= 0)):
        return False
    if "reply" in step:
        return isinstance(step["reply"], str | None)
    return step.get("failure") in FAILURES
