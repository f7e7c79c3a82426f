"""Read a chat completion, whatever of it is there: text, thoughts, tokens, how it ended."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from judge.judging.backends.token_probabilities import grade_probabilities
from judge.judging.exchange import Reply, Request

_MOST_TOKENS = 10**9
"""No exchange has so many: what is said to is no count."""
_READ = 3200
"""Of what came instead of a reply; it is cut further once secrets are out of it, whole."""

# What servers call the end of a reply is read by what the word is about: there are as many words
# as servers. Filters go first ("ERROR_TOXIC"), then limits ("ERROR_LIMIT").
_ENDINGS = (
    (
        "content_filter",
        re.compile(
            r"filter|safety|prohibit|recitation|blocklist|spii|sensitive|guardrail|refus|tox"
        ),
    ),
    ("length", re.compile(r"length|limit|max_?(?:output_?|completion_?|new_?)?tokens|truncat")),
    ("error", re.compile(r"error|abort|cancel|fail|malformed|timeout|exception")),
)
_THOUGHTS = ("reasoning_content", "reasoning")


def read_reply(
    response: object, request: Request, *, sent: Mapping[str, object], logprobs: bool
) -> Reply:
    """Return the reply in a response, a body or its JSON value.

    A response that is no chat completion is a reply without text, and `instead` says what it
    holds. Thoughts are read only where nothing else came, they are one whole object, and the
    model was not cut off in the midst of them.
    """
    content, response = response, _json(response)
    choice = _first(_get(response, "choices"))
    message = _get(choice, "message")
    usage = _get(response, "usage")
    prompt_tokens = _count(_get(usage, "prompt_tokens")) or None
    # No prompt is empty: who read nothing of it did not count.
    counted = prompt_tokens is not None or _get(usage, "prompt_tokens") is None
    completion_tokens = _count(_get(usage, "completion_tokens")) if counted else None
    finish = _finish(choice, completion_tokens, request.max_tokens)
    text = _text(_get(message, "content"))
    if text is None and finish != "length":
        text = _whole_object_in_thoughts(message)
    return Reply(
        text,
        finish=finish,
        refusal=_refusal(response, message, finish),
        prompt_tokens=prompt_tokens,
        cached_tokens=_cached(usage),
        completion_tokens=completion_tokens,
        probabilities=_probabilities(choice, text, request) if logprobs else None,
        sent=sent,
        instead="" if text is not None else _instead(content, response, message),
    )


def _finish(choice: object, completion_tokens: int | None, max_tokens: int) -> str:
    said = str(_get(choice, "finish_reason") or "none")
    for meaning, pattern in _ENDINGS:
        if pattern.search(said[:60].lower()):
            return meaning
    if said != "stop" and completion_tokens is not None and completion_tokens >= max_tokens:
        return "length"
    return said


def _refusal(response: object, message: object, finish: str) -> str:
    blocked = _get(_get(response, "promptFeedback"), "blockReason")
    if finish == "content_filter" or blocked:
        return "the server's content filter stopped the reply"
    return "the model refused" if _get(message, "refusal") else ""


def _whole_object_in_thoughts(message: object) -> str | None:
    for name in _THOUGHTS:
        text = (_text(_get(message, name)) or "").strip()
        if text.startswith("{") and text.endswith("}") and isinstance(_json(text), dict):
            return text
    return None


def _probabilities(choice: object, text: str | None, request: Request) -> tuple[float, ...] | None:
    tokens = _get(_get(choice, "logprobs"), "content")
    if not isinstance(tokens, list):
        return None
    prompt = request.prompt
    return grade_probabilities(tokens, field=prompt.field, grade_max=prompt.grade_max, text=text)


def _instead(content: object, response: object, message: object) -> str:
    """Return in a few words what a response holds that is no text of a model."""
    if _get(message, "tool_calls") or _get(message, "function_call"):
        return "a call of a tool"
    if isinstance(response, dict) and not response.get("choices"):
        for name in ("error", "message", "detail", "base_resp"):
            if said := response.get(name):
                return _short(said)
    if response is None and isinstance(content, str | bytes):
        head = content[:_READ]
        text = head.decode("utf-8", "replace") if isinstance(head, bytes) else head
        if text.lstrip().startswith("data:"):
            return f"a stream of events, which nobody asked for: {_short(text)}"
        return _short(text)
    return ""


def _short(said: object) -> str:
    if isinstance(said, dict):
        inner = said.get("message") or said.get("status_msg") or said
        said = inner if isinstance(inner, str) else json.dumps(said)[:_READ]
    return " ".join(str(said)[:_READ].split())


def _cached(usage: object) -> int:
    """Return how many tokens a server says to have had in memory.

    Some count them in `prompt_tokens`, some beside it.
    """
    named = [_get(_get(usage, "prompt_tokens_details"), "cached_tokens")]
    names = ("cache_read_input_tokens", "cache_creation_input_tokens", "prompt_cache_hit_tokens")
    named += [_get(usage, name) for name in names]
    return sum(_count(value) or 0 for value in named)


def _json(content: object) -> object:
    """Return the JSON value in a body, None if it is none; what is no body, as it is.

    A stray byte in a model's words spoils neither the verdict beside it nor the bill.
    """
    if not isinstance(content, str | bytes):
        return content
    try:
        try:
            return json.loads(content)
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
        parts = [_get(item, "text") for item in content if _get(item, "type") in _TEXT_PARTS]
        return "".join(part for part in parts if isinstance(part, str)) or None
    return None


_TEXT_PARTS = (None, "text", "output_text")
"""A part of another kind holds thoughts, an image, a call."""


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= _MOST_TOKENS else None
