"""The main faults of a server again, through litellm: same verdicts, same wire."""

from __future__ import annotations

import importlib.util
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from fake_server import (
    Answer,
    FakeClock,
    FakeServer,
    Hang,
    Play,
    Raw,
    Reset,
    answer,
    completion,
    error,
)

from judge.errors import BackendUnavailable
from judge.judging.backends import open_backend
from judge.judging.cache import JudgmentCache
from judge.judging.judge import Judge, Pair, Verdict
from judge.judging.limits import Limits
from judge.judging.prompt import load_prompt

pytestmark = [
    pytest.mark.local_llm,  # beside the local model: litellm is installed for both
    pytest.mark.skipif(
        importlib.util.find_spec("litellm") is None, reason="litellm is not installed"
    ),
    pytest.mark.filterwarnings("default"),  # litellm's own
]

PAIRS = [Pair(f"q{i}", f"why salt the road {i}", f"d{i}", "Salt melts ice.") for i in range(4)]


def run(
    play: Play,
    *,
    cache: JudgmentCache | None = None,
    asked: list[Pair] = PAIRS,
    model: str = "openai/m",
    **limits: float,
) -> tuple[list[Verdict], Judge, FakeServer]:
    """Judge through litellm; the wire must equal what the judge counted."""
    with FakeServer(play) as server:
        backend = open_backend(f"litellm:{model}", base_url=server.url, api_key="sk-secret")
        judge = Judge(
            [backend],
            load_prompt(),
            cache=cache,
            limits=Limits(concurrency=1, **limits),
            clock=FakeClock(),
            chance=random.Random(7),
        )
        try:
            with judge:
                verdicts = list(judge.stream(asked))
        finally:
            assert server.wire == judge.calls.made
    return verdicts, judge, server


def first(times: int, act: object) -> Play:
    return lambda seen: act if seen.number < times else completion()


@pytest.mark.parametrize(
    "act",
    [
        error(429),
        error(429, retry_after="3"),
        error(500),
        error(503),
        error(529),
        error(408),
        Reset(),
    ],
)
def test_passing_trouble_is_retried_by_one_owner(act: object) -> None:
    verdicts, judge, _ = run(first(2, act))
    assert [verdict.grade for verdict in verdicts] == [2] * 4
    assert judge.calls.retried == 2


def test_a_wait_over_the_cap_stops_cleanly() -> None:
    verdicts, judge, server = run(first(9, error(429, retry_after="3600")))
    assert [verdict.grade for verdict in verdicts] == [None] * 4
    assert server.wire == 1
    assert "come back in 3600 s" in judge.stopped


@pytest.mark.parametrize(
    "refusal",
    [
        error(429, "quota", code="insufficient_quota"),
        error(401),
        error(403),
        error(404, "The model `m` does not exist", code="model_not_found"),
    ],
)
def test_key_quota_and_model_are_fatal_at_once(refusal: Answer) -> None:
    with pytest.raises(BackendUnavailable):
        run(first(99, refusal))


def test_opening_imports_what_a_call_needs_and_sends_nothing() -> None:
    with FakeServer() as server:
        program = f"""
import asyncio, sys
from judge.judging.backends import open_backend
from judge.judging.exchange import Pair, Request
from judge.judging.prompt import load_prompt
prompt = load_prompt()
request = Request(Pair("q", "why", "d", "since"), prompt, prompt.render("why", "since"))
async def once():
    backend = open_backend("litellm:openai/m", base_url={server.url!r}, api_key="k")
    await backend.open()
    before = {{name for name in sys.modules if name.startswith("litellm")}}
    await backend.answer(request)
    late = {{name for name in sys.modules if name.startswith("litellm")}} - before
    await backend.close()
    print(len(late))
asyncio.run(once())
"""
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    # A handful are of one provider's client alone; without the opening's own call it is dozens.
    assert int(done.stdout) < 10
    assert (done.stderr.strip(), server.wire) == ("", 1)


def test_a_wrong_key_costs_one_request_in_a_fresh_process() -> None:
    with FakeServer(first(99, error(401))) as server:
        program = f"""
from judge.errors import BackendUnavailable
from judge.judging.backends import open_backend
from judge.judging.judge import Judge, Pair
from judge.judging.limits import Limits
from judge.judging.prompt import load_prompt
backend = open_backend("litellm:openai/m", base_url={server.url!r}, api_key="k")
limits = Limits(concurrency=8, attempt_s=1.5)
with Judge([backend], load_prompt(), limits=limits) as judge:
    try:
        list(judge.stream([Pair(f"q{{i}}", f"why {{i}}", "d", "Salt.") for i in range(20)]))
    except BackendUnavailable:
        print(judge.calls.made, judge.calls.unanswered)
"""
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (done.stdout.strip(), done.stderr.strip(), server.wire) == ("1 0", "", 1)


def test_a_deadline_of_our_own_fires() -> None:
    def play(seen: object) -> object:
        return Hang() if "road 0" in seen.said else completion()

    verdicts, _, _ = run(play, attempt_s=0.5, total_s=1)
    assert sorted(str(verdict.grade) for verdict in verdicts) == ["2", "2", "2", "None"]


@pytest.mark.parametrize("name", ["temperature", "max_tokens", "seed"])
def test_a_refused_parameter_is_dropped_once(name: str) -> None:
    def play(seen: object) -> Answer:
        if name in seen.body:
            message = f"Unsupported value: '{name}' is not supported with this model."
            return error(400, message, code="unsupported_value", param=name)
        return completion()

    verdicts, _, server = run(play)
    assert [verdict.grade for verdict in verdicts] == [2] * 4
    assert server.wire == 5


def test_reply_forms_are_stepped_down() -> None:
    def play(seen: object) -> Answer:
        if "response_format" in seen.body:
            return error(400, "'response_format' is not supported")
        return completion()

    verdicts, _, server = run(play)
    assert [verdict.grade for verdict in verdicts] == [2] * 4
    assert server.wire == 6


@pytest.mark.parametrize(
    "act",
    [
        error(400, "The response was filtered", code="content_filter"),
        completion(None, finish="content_filter"),
        completion("I'm sorry, but I can't help with that."),
    ],
)
def test_a_refusal_is_no_grade(act: Answer) -> None:
    verdicts, _, _ = run(first(1, act))
    assert sorted(verdict.status for verdict in verdicts) == ["graded"] * 3 + ["refused"]


@pytest.mark.parametrize(
    "act", [completion('{"gra', finish="length"), completion(None), completion('{"grade": 9}')]
)
def test_a_bad_reply_is_asked_again_once(act: Answer) -> None:
    verdicts, _, server = run(first(1, act))
    assert [verdict.grade for verdict in verdicts] == [2] * 4
    assert server.wire == 5


HTML = Answer(200, b"<html><body>Gateway</body></html>", {"content-type": "text/html"})
JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    "act",
    [
        HTML,
        Answer(200, b"", JSON),
        Answer(200, b"null", JSON),
        Answer(200, b"[]", JSON),
        Answer(200, b"{}", JSON),
        Answer(200, b'"hi"', JSON),
        Answer(200, b'{"choices": null}', JSON),
        Answer(200, b'{"choices": [{"mess', JSON),
        Answer(200, b'{"choices": ["x"]}', JSON),
        Answer(200, b'{"choices": \xff\xfe', JSON),
        completion(7),
    ],
)
def test_a_malformed_response_is_asked_again_once_and_then_open(act: Answer) -> None:
    verdicts, _, server = run(first(1, act), asked=PAIRS[:1])
    assert (verdicts[0].grade, server.wire) == (2, 2)
    verdicts, judge, server = run(first(99, act), asked=PAIRS[:1])
    assert (verdicts[0].status, server.wire) == ("failed", 2)
    assert judge.calls.unanswered == 0


@pytest.mark.parametrize(
    "act",
    [
        Raw(b"SSH-2.0-OpenSSH_9\r\n\r\n"),
        Raw(b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n"),
        Answer(200, b"", {"x": "y" * 2**20}),
        Answer(200, b"not gzip", {"content-encoding": "gzip"}),
    ],
    ids=["no HTTP", "no header", "endless header", "not gzip"],
)
def test_what_nobody_can_read_is_asked_for_three_times(act: object) -> None:
    verdicts, _, server = run(first(99, act), asked=PAIRS[:1])
    assert (verdicts[0].status, server.wire) == ("failed", 3)
    assert "no valid HTTP response" in verdicts[0].reason


def test_a_stray_byte_does_not_spoil_the_verdict_beside_it() -> None:
    body = completion('{"grade": 1, "why": "?"}').body.replace(b"?", b"\xff")
    verdicts, _, server = run(first(9, Answer(200, body, JSON)), asked=PAIRS[:1])
    assert (verdicts[0].grade, server.wire) == (1, 1)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("model", ["openai/m", "anthropic/m"])
def test_a_redirect_is_rejected_and_the_key_goes_nowhere_else(status: int, model: str) -> None:
    with FakeServer() as elsewhere:
        there = Answer(status, b"", {"location": f"{elsewhere.url}/chat/completions"})
        verdicts, judge, server = run(first(9, there), asked=PAIRS[:1], model=model)
        assert (verdicts[0].status, server.wire, elsewhere.wire) == ("failed", 1, 0)
    assert "redirects elsewhere" in verdicts[0].reason
    assert judge.calls.unanswered == 0


def test_missing_usage_is_unknown() -> None:
    verdicts, judge, _ = run(first(9, completion(prompt_tokens=None)))
    assert [verdict.grade for verdict in verdicts] == [2] * 4
    assert {verdict.prompt_tokens for verdict in verdicts} == {None}
    assert {verdict.completion_tokens for verdict in verdicts} == {None}
    assert judge.cost_usd is None


@pytest.mark.parametrize(
    "said",
    [{"code": 401}, {"code": "invalid_api_key"}, {"code": 429, "type": "insufficient_quota"}],
)
def test_a_lasting_error_within_a_success_is_fatal(said: dict) -> None:
    with pytest.raises(BackendUnavailable):
        run(first(99, answer(200, {"error": {"message": "no", **said}})))


@pytest.mark.parametrize("code", [429, 503, "server_error"])
def test_a_passing_error_within_a_success_is_retried(code: object) -> None:
    act = answer(200, {"error": {"message": "later", "code": code}})
    verdicts, judge, _ = run(first(2, act))
    assert [verdict.grade for verdict in verdicts] == [2] * 4
    assert judge.calls.retried == 2


def test_a_lost_connection_may_have_been_billed() -> None:
    _, judge, _ = run(first(1, Reset()), asked=PAIRS[:1])
    assert judge.calls.unanswered == 1


def test_odd_replies_leave_stderr_alone() -> None:
    with FakeServer(first(2, Answer(200, b'{"choices": ["x"]}', JSON))) as server:
        program = f"""
from judge.judging.backends import open_backend
from judge.judging.judge import Judge, Pair
from judge.judging.prompt import load_prompt
backend = open_backend("litellm:openai/m", base_url={server.url!r}, api_key="k")
with Judge([backend], load_prompt()) as judge:
    print([v.grade for v in judge.stream([Pair(str(i), str(i), "d", "Salt.") for i in range(3)])])
"""
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (done.stdout.count("2"), done.stderr.strip()) == (2, "")


def test_a_chunk_that_is_too_long_is_shortened_once() -> None:
    def play(seen: object) -> Answer:
        if len(seen.said) > 15000:
            return error(400, "maximum context length", code="context_length_exceeded")
        return completion(prompt_tokens=5000)

    verdicts, _, server = run(play, asked=[Pair("q", "why", "d", "salt " * 4000)])
    assert (verdicts[0].grade, server.wire) == (2, 2)


def test_the_second_run_imports_no_litellm(tmp_path: Path) -> None:
    with FakeServer() as server:
        program = f"""
import sys
from pathlib import Path
from judge.judging.backends import open_backend
from judge.judging.cache import JudgmentCache
from judge.judging.judge import Judge, Pair
from judge.judging.prompt import load_prompt
backend = open_backend("litellm:openai/m", base_url={server.url!r}, api_key="k")
with Judge([backend], load_prompt(), cache=JudgmentCache(Path({str(tmp_path)!r}))) as judge:
    list(judge.stream([Pair("q", "why salt", "d", "Salt melts ice.")]))
print(judge.calls.made, "litellm" in sys.modules)
"""
        outputs = []
        for _ in range(2):
            command = [sys.executable, "-c", program]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            outputs.append((done.stdout.strip(), done.stderr.strip()))
    assert outputs == [("1 True", ""), ("0 False", "")]


@pytest.mark.parametrize("model", ["openai/m", "gemini/m", "azure/m"])
def test_a_key_that_is_not_there_ends_the_run_at_once(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.endswith(("_KEY", "_TOKEN", "_BASE"))]:
        monkeypatch.delenv(name)
    backend = open_backend(f"litellm:{model}")
    with Judge([backend], load_prompt(), clock=FakeClock()) as judge:
        with pytest.raises(
            BackendUnavailable, match=r"(?i)litellm cannot ask .*(?:key|credential)"
        ):
            list(judge.stream(PAIRS))
        assert judge.calls.made == 1
