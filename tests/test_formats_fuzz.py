"""Whatever a file holds, reading it gives a sound value or one clear JudgeError, never more."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from judge.errors import JudgeError
from judge.formats import (
    ReadOptions,
    read_corpus,
    read_goldens,
    read_grades,
    read_labels,
    read_qrels,
    read_queries,
    read_run,
    read_runs,
    read_trec_run,
)
from judge.run import Run

READERS: tuple[Callable[..., object], ...] = (
    read_run,
    read_runs,
    read_trec_run,
    read_goldens,
    read_grades,
    read_qrels,
    read_labels,
    read_corpus,
    read_queries,
)
ROW = {
    "query_id": "q1",
    "query": "reset breaker",
    "slice": "s",
    "weight": 1.5,
    "expected": ["c1", {"id": "c2"}],
    "match": "any",
    "complete": True,
    "error": None,
    "results": [
        {"id": "c1", "document_id": 2, "text": "t", "metadata": {"p": 1}, "grade": 2},
        "c2",
    ],
}
RAG = {"user_input": "q", "retrieved_contexts": ["a", "b"], "retrieved_context_ids": [1, 2]}
FIXTURES = Path(__file__).parent / "fixtures"
SEEDS = (
    {"name": "n", "rows": [ROW]},
    [ROW, RAG],
    RAG,
    {"q": {"d": 1.5, "e": 0}},
    [{"query_id": "q", "id": "d", "grade": None, "lo": 0, "hi": 2}],
    {"_id": "a", "title": "T", "text": "x"},
    *(json.loads(path.read_text("utf-8")) for path in sorted(FIXTURES.glob("*.json"))),
)
TEXTS = (
    "q Q0 d 1 2.5 t\nq Q0 e 2 1.5 t\n",
    "q 0 d 1\nq 0 e -1\n",
    "query_id;chunk_id;grade;rater;pi\r\nq;d;2;ann;0.5\r\n",
    *(json.dumps(seed) for seed in SEEDS),
    *(path.read_text("utf-8") for path in sorted(FIXTURES.glob("*.csv"))),
    *(path.read_text("utf-8") for path in sorted(FIXTURES.glob("*.jsonl"))),
    "\n".join(json.dumps(seed) for seed in (ROW, RAG)),
)
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=10**300, max_value=10**320),
    st.floats(),
    st.text(st.characters(), max_size=5),
    st.just([]),
    st.just({}),
    st.just([[[]]]),
    st.just({"id": {"id": []}}),
)


def read_all(data: bytes, options: ReadOptions) -> None:
    """Read bytes in every way; only a JudgeError with a message may come out."""
    for reader in READERS:
        try:
            found = reader(io.BytesIO(data), options)
        except JudgeError as error:
            assert str(error)
            continue
        for run in (found,) if isinstance(found, Run) else ():
            assert run.rows
            assert len({row.key for row in run.rows}) == len(run.rows)
            assert all(isinstance(result.id, str) for row in run.rows for result in row.results)


@st.composite
def mutated_values(draw: st.DrawFn) -> object:
    """Return a seed with some of its values, at any depth, replaced, removed or wrapped."""

    def mutate(value: object) -> object:
        what = draw(st.sampled_from(["keep", "keep", "keep", "odd", "wrap", "drop"]))
        if what == "odd":
            return draw(ODD)
        if what == "wrap":
            return draw(st.sampled_from([[value], {"x": value}, [value, value]]))
        if isinstance(value, dict):
            kept = [key for key in value if what == "keep" or draw(st.booleans())]
            return {key: mutate(value[key]) for key in kept}
        if isinstance(value, list):
            return [mutate(item) for item in value]
        return value

    return mutate(draw(st.sampled_from(SEEDS)))


options = st.builds(
    ReadOptions,
    map=st.sampled_from([{}, {"query": "query_id"}, {"x": "results", "text": "-"}]),
    key=st.sampled_from([(), ("p",), ("p", "q")]),
    clip=st.booleans(),
    grade_map=st.sampled_from([None, {"2": 3, "x": 0}]),
)


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(mutated_values(), options)
def test_mutated_values_never_escape(value: object, options: ReadOptions) -> None:
    read_all(json.dumps(value).encode(), options)


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(st.sampled_from(TEXTS), st.data(), options)
def test_mutated_bytes_never_escape(text: str, data: st.DataObject, options: ReadOptions) -> None:
    content = text.encode()
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(content)))
        end = data.draw(st.integers(start, min(len(content), start + 9)))
        content = content[:start] + data.draw(st.binary(max_size=6)) + content[end:]
    read_all(content, options)


@settings(deadline=None, max_examples=100)
@given(st.binary(max_size=60), options)
@example(b"\x1f\x8b\x08\x00", ReadOptions())
@example(b'"', ReadOptions())
@example(b"\xff\xfe{\x00", ReadOptions())
def test_any_bytes_never_escape(content: bytes, options: ReadOptions) -> None:
    read_all(content, options)


@pytest.mark.parametrize(
    "content",
    [
        "[" * 50_000,
        '{"a":' * 50_000 + "1" + "}" * 50_000,
        json.dumps([{"query": "q", "results": [{"id": 1, "metadata": {}}]}]).replace(
            "{}", '{"a":' * 900 + "1" + "}" * 900
        ),
        '[{"query": "q", "ranked": [' + "9" * 4000 + "]}]",
        '[{"query": "q", "ranked": [1' + "0" * 4000 + ".0]}]",
        "q Q0 d 1 " + "9" * 5000 + " t",
        "q 0 d " + "9" * 5000,
        "query_id,chunk_id,grade\n" + "x" * 200_000 + ",a,1\n",
        '{"q": {"d": 1e400}}',
    ],
)
def test_bombs_never_escape(content: str) -> None:
    read_all(content.encode(), ReadOptions())


LARGE = ("deepeval_cases.json", "msearch_response.json", "trace_nested.json")


@pytest.mark.slow
@pytest.mark.parametrize("path", [FIXTURES / name for name in LARGE], ids=lambda path: path.name)
def test_ten_megabytes_never_escape(path: Path) -> None:
    value = json.loads(path.read_text("utf-8"))
    text = json.dumps(value)
    lists = (
        [value] if isinstance(value, list) else [v for v in value.values() if v.__class__ is list]
    )
    for held in lists:
        held *= 10 * 2**20 // len(text)
    long = text.replace('": "', '": "' + "x" * (10 * 2**20 // (1 + text.count('": "'))))
    deep = text.replace(": null", ': {"a": ' * 200 + "1" + "}" * 200)
    for content in (json.dumps(value), long, deep):
        read_all(content.encode(), ReadOptions())
