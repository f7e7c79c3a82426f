"""What is taken from a response, however odd it is."""

from __future__ import annotations

import json
import math

import pytest

from judge.judging.backends.chat import ChatDialect
from judge.judging.backends.token_probabilities import grade_probabilities
from judge.judging.exchange import Pair, Reply, Request
from judge.judging.prompt import load_prompt

PROMPT = load_prompt()
REQUEST = Request(Pair("q", "why", "d", "since"), PROMPT, PROMPT.render("why", "since"))


def reply(response: object) -> Reply:
    dialect = ChatDialect("m", logprobs=False)
    return dialect.reply(dialect.body(REQUEST), response, REQUEST)


def probabilities(logprob: object, *, times: int = 1) -> tuple[float, ...] | None:
    top = [{"token": "2", "logprob": logprob}] * times
    token = {"token": '{"grade":2}', "top_logprobs": top}
    return grade_probabilities([token], field="grade", grade_max=3)


@pytest.mark.parametrize(
    "logprob", [math.nan, math.inf, 1.5, True, False, "-0.1", None, [], {"x": 1}]
)
def test_what_is_no_log_probability_is_not_taken_for_certainty(logprob: object) -> None:
    assert probabilities(logprob) is None


def test_log_probabilities_are_read() -> None:
    assert probabilities(-math.inf) == (0.0, 0.0, 0.0, 0.0)
    assert probabilities(0) == (0.0, 0.0, 1.0, 0.0)
    assert probabilities(1e-7) == (0.0, 0.0, 1.0, 0.0)  # some servers round so


def test_more_than_all_of_the_probability_is_none() -> None:
    assert probabilities(-0.1, times=2) is None  # 1.81 in all


@pytest.mark.parametrize("said", [-1, "900", 900.0, True, None, 10**10, 10**308, 10**400])
def test_what_is_no_count_of_tokens_is_unknown(said: object) -> None:
    got = reply({"usage": {"prompt_tokens": said, "completion_tokens": said}})
    assert (got.prompt_tokens, got.completion_tokens) == (None, None)


def test_a_stray_byte_spoils_neither_verdict_nor_usage() -> None:
    content = '{"grade": 2, "reason": "a caf? in town"}'
    body = json.dumps(
        {"choices": [{"message": {"content": content}}], "usage": {"prompt_tokens": 7}}
    ).encode()
    got = reply(body.replace(b"caf?", b"caf\xe9"))
    assert got.text == content.replace("?", "\ufffd")
    assert got.prompt_tokens == 7
