"""What servers refuse in their own words: the run finds the form that they take.

The wordings are those of real servers. Where one is not understood, the plainest request is
tried once.
"""

from __future__ import annotations

import random

import pytest
from fake_server import Answer, FakeClock, FakeServer, Play, Seen, answer, completion, error

from judge.errors import BackendUnavailable
from judge.judging.backends import open_backend
from judge.judging.backends.error_body import read_error
from judge.judging.backends.failures import failure
from judge.judging.exchange import Refused, Rejected, TooLong, Transient
from judge.judging.judge import Judge, Pair, Verdict
from judge.judging.limits import Limits
from judge.judging.prompt import load_prompt


def run(play: Play, n: int = 4, *, text: str = "Salt melts ice.") -> tuple[list[Verdict], list]:
    """Return the verdicts for n pairs, one at a time, and the bodies that were sent."""
    asked = [Pair(f"q{i}", f"why salt the road {i}", f"d{i}", text) for i in range(n)]
    with FakeServer(play) as server:
        backend = open_backend("openai:m", base_url=server.url, api_key="sk-secret")
        limits, chance = Limits(concurrency=1), random.Random(7)
        with Judge([backend], load_prompt(), limits=limits, clock=FakeClock(), chance=chance) as j:
            verdicts = list(j.stream(asked))
        assert server.wire == j.calls.made
    return verdicts, [seen.body for seen in server.seen]


def fastapi(*where: str) -> Answer:
    """Return what FastAPI says of a value that is not among those declared."""
    place = {"type": "literal_error", "loc": ["body", *where], "msg": "Input should be 'text'"}
    return answer(422, {"detail": [{**place, "input": "json_schema"}]})


@pytest.mark.parametrize(
    ("refusal", "minded"),
    [
        (error(400, "This response_format type is unavailable now"), "response_format"),
        (error(422, "This response_format type is unavailable now"), "response_format"),
        (error(400, "Failed to generate JSON.", code="json_validate_failed"), "response_format"),
        (fastapi("response_format", "type"), "response_format"),
        (error(400, "`temperature` is deprecated for this model"), "temperature"),
        (error(400, "temperature must be strictly positive"), "temperature"),
        (error(422, "`temperature` must be strictly positive"), "temperature"),
        (fastapi("temperature"), "temperature"),
        (answer(400, {"message": "extra_forbidden: seed"}), "seed"),
        (
            error(400, "max_tokens is too large: 128. This model supports at most 64 tokens."),
            "max_tokens",
        ),
    ],
)
def test_a_refused_parameter_is_dropped_in_any_words(refusal: Answer, minded: str) -> None:
    def play(seen: Seen) -> Answer:
        return refusal if minded in seen.body else completion()

    verdicts, bodies = run(play)
    assert [verdict.grade for verdict in verdicts] == [2] * 4
    assert len(bodies) <= 4 + 2  # a reply's form has two steps
    assert minded not in bodies[-1]
    others = {"temperature", "seed", "max_tokens"} - {minded}
    assert others <= bodies[-1].keys()


@pytest.mark.parametrize(
    "refusal",
    [
        error(400, "System role not supported"),
        error(400, "Conversation roles must alternate user/assistant/user/assistant/..."),
        error(400, "Developer instruction is not enabled for models/gemma-3-27b-it"),
        error(400, "Unsupported value: 'messages[0].role'", param="messages[0].role"),
        error(400, "?"),
    ],
)
def test_a_refused_system_turn_is_said_in_the_users(refusal: Answer) -> None:
    def play(seen: Seen) -> Answer:
        return refusal if seen.body["messages"][0]["role"] == "system" else completion()

    verdicts, bodies = run(play)
    assert [verdict.grade for verdict in verdicts] == [2] * 4
    assert len(bodies) == 4 + 1
    (turn,) = bodies[-1]["messages"]
    assert turn["content"].startswith("You grade how well one passage")
    assert "<query-" in turn["content"]


@pytest.mark.parametrize("status", [400, 422])
def test_an_unexplained_refusal_tries_the_plainest_form_once_and_keeps_it(status: int) -> None:
    def play(seen: Seen) -> Answer:
        plain = seen.body.keys() == {"model", "messages"} and len(seen.body["messages"]) == 1
        return completion() if plain else error(status, "La requête est incorrecte")

    verdicts, bodies = run(play)
    assert [verdict.grade for verdict in verdicts] == [2] * 4
    assert len(bodies) == 4 + 1


def test_a_plain_form_that_does_not_help_is_tried_once() -> None:
    with pytest.raises(BackendUnavailable, match="La requête"):
        run(lambda seen: error(400, "La requête est incorrecte"), 99)


def test_a_refusal_of_one_text_changes_nothing_for_the_others() -> None:
    def play(seen: Seen) -> Answer:
        return error(400, "La requête est incorrecte") if "road 2" in seen.said else completion()

    verdicts, bodies = run(play)
    assert [verdict.grade for verdict in verdicts] == [2, 2, None, 2]
    assert len(bodies) == 4
    assert "response_format" in bodies[-1]


OVERFLOWS = [
    # OpenAI, Azure, DeepSeek, OpenRouter, xAI
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 8545"
    " tokens. Please reduce the length of the messages.",
    "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000.",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000.",
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    # vLLM, SGLang, llama.cpp, LM Studio, TGI, TensorRT-LLM, Ollama, llama-cpp-python
    "You passed 4097 input tokens and requested 0 output tokens. However, the model's context"
    " length is only 4096 tokens.",
    "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
    "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
    "the request exceeds the available context size, try increasing it",
    "The number of tokens to keep from the initial prompt is greater than the context length",
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000",
    "Input validation error: `inputs` must have less than 1024 tokens. Given: 2000",
    "prompt length (5000) exceeds maximum input length (4096)",
    "the input length exceeds the context length",
    "Requested tokens (5000) exceed context window of 4096",
    # Anthropic, Bedrock, Gemini, Vertex
    "prompt is too long: 213462 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 199000 + 4096 > 200000",
    "Input is too long for requested model.",
    "Too many input tokens. Max input tokens: 8192, request input token count: 9000",
    "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
    "Unable to submit request because the input token count is 40000 but model only supports up"
    " to 32768.",
    # Mistral, Cohere, Groq, Cerebras, Fireworks, MiniMax, Moonshot, Zhipu, DashScope, watsonx
    "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum"
    " context length",
    "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4700.",
    "Please reduce the length of the messages or completion.",
    "The prompt is too long: 5000, model maximum context length: 4095",
    "invalid params, context window exceeds limit",
    "Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)",
    "Prompt exceeds max length",
    "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]",
    "the number of input tokens 5000 cannot exceed the total tokens limit 4096 for this model",
]


@pytest.mark.parametrize("status", [400, 422])
@pytest.mark.parametrize("message", OVERFLOWS)
def test_a_context_that_is_too_small_is_known_in_any_words(status: int, message: str) -> None:
    found = read_error(status, {}, {"error": {"message": message}}, now=0)
    assert type(failure(found, name="m")) is TooLong


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, {"error": {"code": "context_length_exceeded", "message": "?"}}),
        (400, {"error": {"type": "exceed_context_size_error", "n_ctx": 4096}}),
        (413, {"error": {"code": "tokens_limit_reached"}}),
        (413, None),
        (500, {"error": "input is too large to process. increase the physical batch size"}),
        (400, {"error": {"metadata": {"raw": '{"message": "prompt is too long: 9 > 8"}'}}}),
        (400, [{"error": {"message": "The input token count (9) exceeds the maximum (8)."}}]),
        (422, {"detail": [{"loc": ["body", "messages"], "msg": "prompt exceeds max length"}]}),
    ],
)
def test_a_context_that_is_too_small_is_known_in_any_shape(status: int, body: object) -> None:
    assert type(failure(read_error(status, {}, body, now=0), name="m")) is TooLong


@pytest.mark.parametrize(
    "error",
    [
        {"message": "messages must be a list"},
        {"message": "temperature must be less than 2", "param": "temperature"},
        {"message": "max_tokens is too large: 4096. This model supports at most 64 tokens"},
        {
            "message": "max_tokens must be less than or equal to 8192, the maximum value for"
            " max_tokens is less than the context_window for this model",
            "param": "max_tokens",
        },
        {"message": "bad", "input": "prompt is too long", "messages": "context overflow"},
    ],
)
def test_other_limits_are_no_matter_of_the_context(error: dict) -> None:
    assert type(failure(read_error(400, {}, {"error": error}, now=0), name="m")) is Rejected


def test_a_server_error_is_no_matter_of_the_context_unless_it_says_so() -> None:
    for message in ("maximum number of requests in the queue", "reduce your load", "message bus"):
        assert (
            type(failure(read_error(500, {}, {"message": message}, now=0), name="m")) is Transient
        )


def test_a_chunk_longer_than_any_that_was_answered_is_shortened_in_no_words_at_all() -> None:
    def play(seen: Seen) -> Answer:
        fits = len(seen.said) < 9_000
        return completion(prompt_tokens=2000) if fits else error(400, "Bad Request")

    verdicts, bodies = run(play, 3, text="salt " * 2500)
    assert [verdict.grade for verdict in verdicts] == [2] * 3
    assert verdicts[0].flags[0].startswith("chunk shortened to ")
    assert len(bodies) == 1 + 2 * 3  # the plainest form once, then each as it is and shortened


FILTERS = [
    (403, {"error": {"code": 403, "message": "Your input was flagged"}}),
    (403, {"error": {"message": "?", "metadata": {"reasons": ["violence"], "flagged_input": "x"}}}),
    (403, {"error": "Content violates usage guidelines. Team: 1, Safety Check Type: BIO"}),
    (400, {"code": "data_inspection_failed", "message": "Input data may be inappropriate."}),
    (400, {"error": {"message": "<400> InternalError.Algo.DataInspectionFailed: Input data"}}),
    (400, {"error": {"message": "Content Exists Risk", "type": "invalid_request_error"}}),
    (400, {"error": {"message": "Output blocked by content filtering policy"}}),
    (
        400,
        {"error": {"message": "your prompt was flagged as potentially violating our usage policy"}},
    ),
    (400, {"error": {"message": "The request was rejected because it was considered high risk"}}),
    (
        400,
        {
            "contentFilter": [{"level": 1}],
            "error": {"message": "系统检测到输入内容可能包含不安全或敏感内容"},
        },
    ),
    (451, None),
]


@pytest.mark.parametrize(("status", "body"), FILTERS)
def test_a_filter_that_refuses_one_text_ends_nothing(status: int, body: object) -> None:
    def play(seen: Seen) -> Answer:
        return answer(status, body) if "road 0" in seen.said else completion()

    verdicts, bodies = run(play)
    assert [verdict.status for verdict in verdicts] == ["refused"] + ["graded"] * 3
    assert len(bodies) == 4


def test_a_403_in_words_of_its_own_is_of_this_text_where_others_are_answered() -> None:
    def play(seen: Seen) -> Answer:
        return error(403, "Non!") if "road 2" in seen.said else completion()

    verdicts, _ = run(play, 9)
    assert [verdict.status for verdict in verdicts].count("refused") == 1
    assert verdicts[2].status == "refused"


def test_a_403_for_everything_ends_the_run_though_there_were_answers() -> None:
    with pytest.raises(BackendUnavailable, match="access was denied"):
        run(lambda seen: completion() if seen.number < 3 else error(403, "Non!"), 99)


@pytest.mark.parametrize("status", [500, 503, 529])
def test_a_server_that_says_when_to_come_back_is_left_alone(status: int) -> None:
    verdicts, bodies = run(lambda seen: error(status, retry_after="3600"), 200)
    assert len(bodies) == 1
    assert all("come back in 3600 s" in verdict.reason for verdict in verdicts)


def test_a_refusal_type_is_an_outcome_of_its_own() -> None:
    found = read_error(400, {}, {"error": {"message": "Your input was flagged"}}, now=0)
    assert type(failure(found, name="m")) is Refused
