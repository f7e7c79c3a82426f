"""The offline backends, and which backends there are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judge.errors import BackendUnavailable, InputError, UsageError
from judge.judging.backends import open_backend
from judge.judging.backends.mock import overlap
from judge.judging.cache import JudgmentCache
from judge.judging.judge import Judge, Pair, Verdict
from judge.judging.limits import Limits
from judge.judging.prompt import load_prompt

PAIRS = [Pair(f"q{i}", "why salt roads in winter", f"d{i}", "Salt melts ice.") for i in range(4)]


def judged(name: str, *, cache: JudgmentCache | None = None) -> tuple[list[Verdict], Judge]:
    with Judge([open_backend(name)], load_prompt(), cache=cache) as judge:
        return sorted(judge.stream(PAIRS), key=lambda verdict: verdict.id), judge


@pytest.mark.parametrize("name", ["gpt", "mock:fast", "mock:script=", "replay:", "openai:", ""])
def test_what_is_no_backend_is_a_usage_error(name: str) -> None:
    with pytest.raises(UsageError, match="--backend"):
        open_backend(name)


def test_a_missing_key_is_said_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(BackendUnavailable, match="set OPENAI_API_KEY"):
        judged("openai:gpt-5-mini")


def test_an_answer_scores_above_an_echo_and_an_echo_above_nothing() -> None:
    query = "why is salt spread on winter roads"
    answer = (
        "Road crews spread salt in winter because brine freezes at a lower temperature than"
        " plain water, which keeps the surface of roads free of ice for longer."
    )
    assert overlap(query, answer) > overlap(query, "salt spread winter roads")
    assert overlap(query, "salt spread winter roads") > overlap(query, "A list of bus stops.")


def test_a_query_of_stop_words_has_an_overlap() -> None:
    assert overlap("who is it", "it is who it is") > 0
    assert overlap("", "anything") == 0
    assert overlap("???", "anything") == 0


def test_the_mock_answers_in_the_prompts_own_form(tmp_path: Path) -> None:
    path = tmp_path / "mto.md"
    header = "grade_max: 3\nfield: O\nreply: M, why:text, O"
    path.write_text(f"---\n{header}\n---\n# user\n{{query}} {{chunk}}\n")
    with Judge([open_backend("mock")], load_prompt(str(path))) as judge:
        verdicts = list(judge.stream(PAIRS))
    assert all(set(json.loads(verdict.raw or "")) == {"M", "why", "O"} for verdict in verdicts)
    assert all(verdict.grade is not None for verdict in verdicts)


def test_a_script_plays_replies_and_failures_in_order(tmp_path: Path) -> None:
    script = tmp_path / "script.jsonl"
    steps = [
        {"reply": '{"grade": 3}', "prompt_tokens": 900, "completion_tokens": 5},
        {"failure": "refused", "reason": "not this one"},
        {"failure": "rejected"},
        {"reply": "no verdict"},
        {"reply": '{"grade": 1}'},
    ]
    script.write_text("\n".join(map(json.dumps, steps)))
    # The same text four times is one request: give each pair its own.
    pairs = [Pair(f"q{i}", f"query {i}", f"d{i}", "Salt.") for i in range(5)]
    backend = open_backend(f"mock:script={script}")
    with Judge([backend], load_prompt(), limits=Limits(concurrency=1)) as judge:
        verdicts = {verdict.id: verdict for verdict in judge.stream(pairs)}
    assert [(v.grade, v.status, v.attempts) for v in verdicts.values()] == [
        (3, "graded", 1),
        (None, "refused", 1),
        (None, "failed", 1),
        (1, "graded", 2),
        (None, "failed", 1),  # the script is used up
    ]
    assert judge.calls.made == 6


def test_bad_lines_of_a_script_are_all_named(tmp_path: Path) -> None:
    script = tmp_path / "script.jsonl"
    script.write_text('{"reply": "ok"}\n{"failure": "boom"}\nnot json\n')
    with pytest.raises(InputError) as caught:
        open_backend(f"mock:script={script}")
    assert [problem.where for problem in caught.value.problems] == [f"{script}:2", f"{script}:3"]


def test_replay_answers_from_any_grades_file(tmp_path: Path) -> None:
    path = tmp_path / "grades.qrels"
    path.write_text("q0 0 d0 3\nq1 0 d1 0\nq2 0 other 2\n")
    verdicts, judge = judged(f"replay:{path}")
    assert [verdict.grade for verdict in verdicts] == [3, 0, None, None]
    assert verdicts[2].reason.startswith("no grade in ")
    assert verdicts[0].cached
    assert (judge.calls.made, judge.calls.cached, judge.calls.failed) == (0, 2, 2)
    assert judge.cost_usd == 0


def test_replay_reads_verdicts(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    lines = [
        {"query_id": "q0", "id": "d0", "status": "graded", "grade": 2},
        {"query_id": "q1", "id": "d1", "status": "refused", "grade": None},
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    verdicts, _ = judged(f"replay:{path}")
    assert [verdict.grade for verdict in verdicts] == [2, None, None, None]


def test_replay_leaves_the_cache_alone(tmp_path: Path) -> None:
    path = tmp_path / "grades.qrels"
    path.write_text("q0 0 d0 3\n")
    judged(f"replay:{path}", cache=JudgmentCache(tmp_path / "cache"))
    assert list(JudgmentCache(tmp_path / "cache").entries()) == []


def test_a_missing_recording_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        open_backend(f"replay:{tmp_path / 'none'}")
