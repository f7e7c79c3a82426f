"""The chat-completions dialect: build a request body, read a response, remember refusals.

Every compatible server takes some subset of it. What a model refuses is dropped once and
remembered for the run; what was really sent is recorded with each reply.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from judge.judging.exchange import Adjusted, Reply, Request

FORMS = ("json_schema", "json_object", "prompt")
"""How a reply is held to JSON, strictest first."""

LENGTH_NAMES = ("max_tokens", "max_completion_tokens")
_TOP_LOGPROBS = 20
_MOST_TOKENS = 10**9
"""No exchange has so many: what is said to is no count."""
_ROUNDING = 0.01
_UNSUPPORTED = re.compile(
    r"unsupported|not supported|does not support|doesn't support|unrecognized|unknown"
    r"|unexpected|not permitted|not allowed|invalid|only the default",
    re.IGNORECASE,
)
_FORMATTING = re.compile(r"response_format|json_schema|json_object|structured output|grammar", re.I)


class ChatDialect:
    """What one model takes: sampling parameters, a name for the length limit, a reply form."""

    def __init__(self, model: str, *, logprobs: bool, length_name: str = LENGTH_NAMES[0]) -> None:
        self._model = model
        self._logprobs = logprobs
        self._sampling: dict[str, object] = {"temperature": 0.0, "seed": 0}
        if logprobs:
            self._sampling |= {"logprobs": True, "top_logprobs": _TOP_LOGPROBS}
        self._length_names = sorted(LENGTH_NAMES, key=lambda name: name != length_name)
        self._form = 0

    def body(self, request: Request) -> dict[str, object]:
        """Return the request body."""
        messages = [{"role": turn.role, "content": turn.content} for turn in request.messages]
        body: dict[str, object] = {"model": self._model, "messages": messages, **self._sampling}
        if self._length_names:
            body[self._length_names[0]] = request.max_tokens
        form = FORMS[self._form]
        if form == "json_schema":
            named = {"name": "verdict", "strict": True, "schema": request.prompt.schema}
            body["response_format"] = {"type": form, "json_schema": named}
        elif form == "json_object":
            body["response_format"] = {"type": form}
        return body

    def adjust(self, body: Mapping[str, object], message: str, parameter: str) -> Adjusted | None:
        """Drop what a 400 for `body` says the model refuses; None if it is about something else.

        message, parameter: of the server's error. Several requests may be refused at once for
        the same reason: only what the refused body really held is dropped, and only once.
        """
        if not _UNSUPPORTED.search(message) and not parameter:
            return None
        if "response_format" in body and (
            parameter.startswith("response_format") or _FORMATTING.search(message)
        ):
            return self._step_down(body)
        for name in LENGTH_NAMES:
            # The longer name holds the shorter one's words: the one that was sent is meant.
            if name in body and (parameter == name or re.search(rf"\b{name}\b", message)):
                self._length_names = [other for other in self._length_names if other != name]
                return Adjusted(f"{name} refused")
        for name in ("top_logprobs", "logprobs", "temperature", "seed"):
            if name in body and (parameter == name or re.search(rf"\b{name}\b", message)):
                # One of the logprobs is of no use without the other.
                for dropped in ("logprobs", "top_logprobs") if "logprobs" in name else (name,):
                    self._sampling.pop(dropped, None)
                return Adjusted(f"{name} refused")
        return None

    def _step_down(self, body: Mapping[str, Any]) -> Adjusted:
        refused = FORMS.index(body["response_format"]["type"])
        self._form = max(self._form, refused + 1)
        return Adjusted(f"{FORMS[refused]} refused")

    def reply(self, body: Mapping[str, object], response: object, request: Request) -> Reply:
        """Return the reply in a response, whatever of it is there.

        A response that is no chat completion is a reply without text.
        """
        sent = {name: body[name] for name in body if name not in ("model", "messages")}
        if isinstance(held_to := sent.get("response_format"), dict):
            sent["response_format"] = held_to["type"]
        if isinstance(response, str | bytes):
            response = _json(response)
        choice = _first(_get(response, "choices"))
        message = _get(choice, "message")
        usage = _get(response, "usage")
        finish = str(_get(choice, "finish_reason") or "none")
        refusal = ""
        if finish == "content_filter":
            refusal = "the server's content filter stopped the reply"
        elif _get(message, "refusal"):
            refusal = "the model refused"
        prompt_tokens = _count(_get(usage, "prompt_tokens")) or None
        # No prompt is empty: who read nothing of it did not count.
        counted = prompt_tokens is not None or _get(usage, "prompt_tokens") is None
        text = _text(_get(message, "content")) or _text(_get(message, "reasoning_content"))
        return Reply(
            text,
            finish=finish,
            refusal=refusal,
            prompt_tokens=prompt_tokens,
            completion_tokens=_count(_get(usage, "completion_tokens")) if counted else None,
            probabilities=self._probabilities(choice, request),
            sent=sent,
        )

    def _probabilities(self, choice: object, request: Request) -> tuple[float, ...] | None:
        tokens = _get(_get(choice, "logprobs"), "content") if self._logprobs else None
        if not isinstance(tokens, list):
            return None
        return grade_probabilities(
            tokens, field=request.prompt.field, grade_max=request.prompt.grade_max
        )


def grade_probabilities(
    tokens: Sequence[object], *, field: str, grade_max: int
) -> tuple[float, ...] | None:
    """Return the probability of each grade 0..G at the token that held the grade.

    Not renormalised: the sum is the mass that the grades have together. None if the grade's
    token is not found, or what stands there are no log probabilities.
    """
    pieces = [str(_get(token, "token") or "") for token in tokens]
    at = _place_of_grade("".join(pieces), field)
    if at is None:
        return None
    start = 0
    for token, piece in zip(tokens, pieces, strict=True):
        if start <= at < start + len(piece):
            return _mass_of_grades(_get(token, "top_logprobs"), grade_max)
        start += len(piece)
    return None


def _place_of_grade(text: str, field: str) -> int | None:
    found = re.search(rf'"{re.escape(field)}"\s*:\s*"?(?=[0-9])', text)
    if found is not None:
        return found.end()
    bare = re.fullmatch(r"\s*(?=[0-9])[0-9]\s*", text)
    return None if bare is None else text.index(text.strip())


def _mass_of_grades(alternatives: object, grade_max: int) -> tuple[float, ...] | None:
    if not isinstance(alternatives, list) or not alternatives:
        return None
    mass = [0.0] * (grade_max + 1)
    for alternative in alternatives:
        token, p = _get(alternative, "token"), _probability(_get(alternative, "logprob"))
        if p is None or not isinstance(token, str):
            return None
        digit = re.fullmatch(r"\W*([0-9])\W*", token)
        if digit is not None and int(digit[1]) <= grade_max:
            mass[int(digit[1])] += p
    return tuple(mass) if sum(mass) <= 1 + _ROUNDING else None


def _probability(logprob: object) -> float | None:
    """Return the probability with a given logarithm, None if it is no such thing."""
    if not isinstance(logprob, int | float) or isinstance(logprob, bool):
        return None
    return math.exp(min(0.0, logprob)) if logprob <= _ROUNDING else None  # nor is NaN


def _json(text: str | bytes) -> object:
    """Return the JSON value in a body, None if it is none.

    A stray byte in a model's words spoils neither the verdict beside it nor the bill.
    """
    try:
        try:
            return json.loads(text)
        except UnicodeDecodeError as error:
            return json.loads(error.object.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def _get(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else None


def _first(value: object) -> object:
    return value[0] if isinstance(value, list) and value else None


def _text(content: object) -> str | None:
    """Return a message's content as text: a string, or the text parts of a list."""
    if isinstance(content, str):
        return content if content.strip() else None
    if isinstance(content, list):
        parts = [_get(item, "text") for item in content]
        return "".join(part for part in parts if isinstance(part, str)) or None
    return None


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= _MOST_TOKENS else None
