"""Goldens by quoted spans: they find the chunk that holds the span, however it was cut."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest

from judge.errors import InputError
from judge.evidence.queries import join
from judge.evidence.quotes import resolve_quotes
from judge.formats import read_goldens
from judge.run import Golden, Result, Row, Run

LEVER = "Push the\n  red LEVER."


def golden(*expected: object, **fields: object) -> Golden:
    record = {"query": "q", "expected": list(expected), **fields}
    (found,) = read_goldens(io.BytesIO(json.dumps(record).encode())).goldens
    return found


def run(*texts: str | None) -> Run:
    results = tuple(Result(f"c{i}", text=text) for i, text in enumerate(texts, start=1))
    return Run("r", (Row("q", None, "q", results=results),))


def resolved(
    one: Golden, *runs: Run, **texts: str | None
) -> tuple[tuple[str, ...], str, list[str]]:
    runs = tuple(replace(run, corpus=texts) for run in runs)
    found = resolve_quotes([(one, [run.rows[0] for run in runs])], runs)
    return found.goldens[0].expected, found.goldens[0].match, [n.kind for n in found.notices]


def test_a_quote_is_read_beside_ids() -> None:
    found = golden("a", {"quote": "red lever"})
    assert (found.expected, found.quotes) == (("a",), ("red lever",))
    with pytest.raises(InputError, match="an object with quote; give its id"):
        golden({"quote": " "})


def test_white_space_and_case_are_folded() -> None:
    one = golden({"quote": "the red  lever"})
    assert resolved(one, run("Ten ampere.", LEVER)) == (("c2",), "all", [])


def test_a_quote_survives_cutting_anew() -> None:
    one = golden({"quote": "red lever"})
    assert resolved(one, run(LEVER))[0] == ("c1",)
    assert resolved(one, run("Push the", "red lever.", "Ten."))[0] == ("c2",)


def test_overlapping_chunks_answer_one_quote_each() -> None:
    one = golden({"quote": "red lever"})
    assert resolved(one, run("a red lever", "x", "red lever b")) == (("c1", "c3"), "any", [])


def test_where_all_of_several_are_wanted_the_best_ranked_chunk_stands_for_each() -> None:
    one = golden({"quote": "red lever"}, {"quote": "ten ampere"})
    found = resolved(one, run("x", "red lever", "ten ampere", "red lever"), z="red lever")
    assert found == (("c2", "c3"), "all", ["quote"])


def test_a_quote_that_was_not_returned_is_found_in_the_corpus() -> None:
    assert resolved(golden({"quote": "red lever"}), run("x", None), z=LEVER) == (("z",), "all", [])


def test_a_quote_in_no_chunk_is_stale_and_never_found() -> None:
    assert resolved(golden({"quote": "blue"}), run(LEVER), z=LEVER) == (
        ("quote 'blue'",),
        "all",
        ["stale quote"],
    )


def test_joining_resolves_quotes_over_all_runs() -> None:
    one = golden({"quote": "red lever"})
    (query,) = join([run("x", LEVER), run(LEVER)], [one]).queries
    assert query.golden is not None
    # c1 of the second run stands at rank 1, c2 of the first at rank 2; c1 is "x" in the first.
    assert (query.golden.expected, query.golden.quotes) == (("c2",), ())


def test_goldens_without_quotes_pass_unchanged() -> None:
    one = golden("a")
    (query,) = join([run(LEVER)], [one]).queries
    assert query.golden == one


def test_a_stale_quote_is_noticed_when_joined() -> None:
    joined = join([run(LEVER)], [golden({"quote": "blue"})])
    assert [notice.kind for notice in joined.notices] == ["stale quote"]
