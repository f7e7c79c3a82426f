"""Turn `--backend` values into backends; a model's library is imported only when asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypedDict

from judge.errors import UsageError
from judge.grades import GRADE_MAX
from judge.judging.backends.backend import Backend
from judge.judging.backends.mock import Mock, ScriptedMock


@dataclass(frozen=True, slots=True)
class _Options:
    grade_max: int
    base_url: str | None
    api_key: str | None
    logprobs: bool


def open_backend(
    text: str,
    *,
    grade_max: int = GRADE_MAX,
    base_url: str | None = None,
    api_key: str | None = None,
    logprobs: bool = False,
) -> Backend:
    """Return the backend named by `mock`, `mock:script=FILE`, `replay:FILE`, `openai:MODEL` or
    `litellm:MODEL`. UsageError lists what exists.

    base_url: a compatible server; None for the provider's own
    api_key: None where the server needs none or the provider's library finds it
    """
    kind, _, rest = text.partition(":")
    opener = _OPENERS.get(kind)
    if opener is None:
        known = "mock, mock:script=FILE, replay:FILE, openai:MODEL, litellm:MODEL"
        raise UsageError(f"--backend {text}: there is no such backend; use one of {known}")
    return opener(rest, _Options(grade_max, base_url, api_key, logprobs))


def server_of(text: str, base_url: str | None, *, environ: Mapping[str, str]) -> str | None:
    """Return the server that a backend's texts go to; None for the provider's own.

    The one that was given, else for `openai:` that of OPENAI_BASE_URL: its key is read from
    the environment too, and belongs to that server.
    """
    if base_url:
        return base_url
    return (environ.get("OPENAI_BASE_URL") or None) if text.startswith("openai:") else None


def _mock(rest: str, options: _Options) -> Backend:
    if not rest:
        return Mock()
    option, _, path = rest.partition("=")
    if option != "script" or not path:
        raise UsageError(f"--backend mock:{rest}: use mock or mock:script=FILE")
    return ScriptedMock(path)


def _replay(rest: str, options: _Options) -> Backend:
    from judge.judging.backends.replay import Replay

    if not rest:
        raise UsageError("--backend replay: name the file, as in replay:verdicts.jsonl")
    return Replay(rest, grade_max=options.grade_max)


def _openai(rest: str, options: _Options) -> Backend:
    from judge.judging.backends.openai import OpenAIBackend

    return OpenAIBackend(_model("openai", rest), **_server(options))


def _litellm(rest: str, options: _Options) -> Backend:
    from judge.judging.backends.litellm import LiteLLMBackend

    return LiteLLMBackend(_model("litellm", rest), **_server(options))


def _model(kind: str, rest: str) -> str:
    if not rest:
        raise UsageError(f"--backend {kind}: name the model, as in {kind}:gpt-5-mini")
    return rest


class _Server(TypedDict):
    base_url: str | None
    api_key: str | None
    logprobs: bool


def _server(options: _Options) -> _Server:
    if options.logprobs and options.grade_max > 9:
        raise UsageError("--logprobs needs grades of one digit; the scale goes above 9")
    return _Server(base_url=options.base_url, api_key=options.api_key, logprobs=options.logprobs)


_OPENERS: Mapping[str, Callable[[str, _Options], Backend]] = MappingProxyType(
    {"mock": _mock, "replay": _replay, "openai": _openai, "litellm": _litellm}
)
