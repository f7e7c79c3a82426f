"""Secrets that servers quote."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_server import FakeServer, error

from judge.errors import BackendUnavailable
from judge.judging.backends import open_backend
from judge.judging.backends.masking import masked, secrets_in
from judge.judging.cache import JudgmentCache
from judge.judging.judge import Judge, Pair
from judge.judging.prompt import load_prompt


def test_the_longest_secret_goes_first_and_short_words_stay() -> None:
    secrets = ["abcdef", "abcdefgh", "none", "", None]
    assert masked("abcdefgh abcdef none", secrets) == "*** *** none"


def test_keys_headers_passwords_and_queries_are_secrets() -> None:
    environ = {
        "OPENAI_API_KEY": "sk-one",
        "HF_TOKEN": "hf-two",
        "HOME": "three rooms",
        "OPENAI_CUSTOM_HEADERS": "X-Gate: Bearer four\nX-Other: five",
    }
    found = set(secrets_in(environ, "https://me:si%2Fx@host/v1?code=seven"))
    assert found - {""} == {"sk-one", "hf-two", "Bearer four", "four", "five", "si/x", "seven"}


@pytest.mark.parametrize("status", [400, 401])
def test_a_key_that_the_server_quotes_stands_nowhere(
    status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-quoted-by-the-server")
    answer = error(status, "Incorrect API key provided: sk-quoted-by-the-server")
    said = ""
    with FakeServer(lambda seen: answer) as server:
        backend = open_backend("openai:m", base_url=server.url)
        with Judge([backend], load_prompt(), cache=JudgmentCache(tmp_path)) as judge:
            try:
                said += str(list(judge.stream([Pair("q", "why", "d", "since")])))
            except BackendUnavailable as unavailable:
                said += str(unavailable)
    assert "API key provided: ***" in said
    assert "sk-quoted" not in said
    assert not any(b"sk-quoted" in path.read_bytes() for path in tmp_path.iterdir())
