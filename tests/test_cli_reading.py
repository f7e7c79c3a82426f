"""The reading flags: what they build, and what they refuse."""

from __future__ import annotations

import io
from typing import Any

import click
import pytest
from click.testing import CliRunner

from judge.cli.reading import reading_options, source
from judge.errors import UsageError
from judge.formats import ReadOptions


def run(*args: str) -> dict[str, Any]:
    """Return what a command with the reading flags is called with."""
    got: dict[str, Any] = {}

    @click.command()
    @reading_options
    def command(**given: Any) -> None:
        got.update(given)

    result = CliRunner().invoke(command, args, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return got


def test_no_flags_are_the_defaults() -> None:
    assert run() == {"options": ReadOptions(), "corpus": None, "queries": None}


def test_every_flag_reaches_the_options() -> None:
    got = run(
        *("--map", "question=query,docs=expected", "--map", "kind=-"),
        *("--key", "file_id,page", "--run-tag", "bm25", "--grade-max", "4"),
        *("--grade-map", "0=0,1=1,10=2,100=4", "--clip", "--precision", "double"),
        *("--corpus", "c.jsonl", "--queries", "q.tsv"),
    )
    assert got == {
        "options": ReadOptions(
            map={"question": "query", "docs": "expected", "kind": "-"},
            key=("file_id", "page"),
            run_tag="bm25",
            grade_max=4,
            grade_map={"0": 0, "1": 1, "10": 2, "100": 4},
            clip=True,
            precision="double",
        ),
        "corpus": "c.jsonl",
        "queries": "q.tsv",
    }


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--map", "question"), "--map: 'question' is not THEIRS=OURS"),
        (("--map", "=query"), "--map: '=query' is not THEIRS=OURS"),
        (("--map", "a=query,a=slice"), "--map: 'a' is given twice: 'query' and 'slice'"),
        (("--map", "a=quiery"), "--map: there is no field 'quiery'"),
        (("--grade-map", "1=5"), "--grade-map: 1=5 needs a grade 0..3"),
        (("--grade-map", "1=x"), "--grade-map: 1=x needs a grade 0..3"),
    ],
)
def test_wrong_flags_are_usage_errors(args: tuple[str, ...], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        run(*args)
    assert str(caught.value).startswith(said)


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(b"x"))
    monkeypatch.setattr("sys.stdin", stdin)
    assert source("-") is stdin.buffer
    assert source("run.json") == "run.json"
