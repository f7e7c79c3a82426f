"""Turn `--backend` values into backends; a model's library is imported only when asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from judge.errors import UsageError
from judge.judging.backends.backend import Backend
from judge.judging.backends.mock import Mock, ScriptedMock


def open_backend(text: str, *, grade_max: int = 3) -> Backend:
    """Return the backend named by `mock`, `mock:script=FILE`, `replay:FILE`, …

    UsageError lists what exists.
    """
    kind, _, rest = text.partition(":")
    opener = _OPENERS.get(kind)
    if opener is None:
        known = "mock, mock:script=FILE, replay:FILE, openai:MODEL, litellm:MODEL"
        raise UsageError(f"--backend {text}: there is no such backend; use one of {known}")
    return opener(rest, grade_max)


def _mock(rest: str, grade_max: int) -> Backend:
    if not rest:
        return Mock()
    option, _, path = rest.partition("=")
    if option != "script" or not path:
        raise UsageError(f"--backend mock:{rest}: use mock or mock:script=FILE")
    return ScriptedMock(path)


def _replay(rest: str, grade_max: int) -> Backend:
    from judge.judging.backends.replay import Replay

    if not rest:
        raise UsageError("--backend replay: name the file, as in replay:verdicts.jsonl")
    return Replay(rest, grade_max=grade_max)


_OPENERS: Mapping[str, Callable[[str, int], Backend]] = MappingProxyType(
    {"mock": _mock, "replay": _replay}
)
