"""The TREC readers of `measure` and of everything else keep the same rules."""

from __future__ import annotations

from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.errors import InputError
from judge.formats import ReadOptions, read_trec_run
from judge.formats import read_qrels as read_any_qrels
from judge.measures.ranked import first_slots, rank_lists
from judge.measures.trec import parse_grade, parse_score, read_qrels, read_run

TOKEN = st.sampled_from(["q", "d1", "d10", "d9", "é", "a\u00a0b", "x" * 70])
SCORE = st.sampled_from(["1", "1.0", "-2e3", "nan", "inf", "abc", "1_0", "12.3456789012"])
SCORE |= st.sampled_from(["12.3456789011", "\u0661", ".5", "5.", "."])
BLANK = st.sampled_from([" ", "\t", "  "])
END = st.sampled_from(["\n", "\r\n", "\n\n", " \n"])


@st.composite
def run_text(draw: st.DrawFn) -> bytes:
    lines = []
    for _ in range(draw(st.integers(1, 8))):
        fields = [draw(TOKEN), "Q0", draw(TOKEN), "1", draw(SCORE), draw(st.sampled_from("tu"))]
        if draw(st.integers(0, 19)) == 0:
            fields.pop()
        lines.append(draw(BLANK).join(fields) + draw(END))
    return "".join(lines).encode()


@pytest.mark.parametrize("precision", ["single", "double"])
@given(text=run_text())
def test_runs_are_read_and_their_ties_counted_alike(precision: str, text: bytes) -> None:
    try:
        runs = read_run(BytesIO(text), name="run")
    except InputError as error:
        with pytest.raises(InputError) as other:
            read_trec_run(BytesIO(text))
        assert other.value.total == error.total
        return
    ours = {
        (tag, query): list(ranked.documents)
        for tag, lists in runs.items()
        for query, ranked in rank_lists(lists, precision=precision).items()
    }
    ties = sum(
        ranked.ties
        for lists in runs.values()
        for ranked in rank_lists(lists, precision=precision).values()
    )
    read = read_trec_run(BytesIO(text), ReadOptions(precision=precision))
    assert ties == sum(note.count for note in read.notices if note.kind == "tied scores")
    theirs = {
        (tag, query): list(first_slots(document for document, _ in scored))
        for tag, lists in read.runs.items()
        for query, scored in lists.items()
    }
    assert ours == theirs


@given(
    rows=st.lists(st.tuples(TOKEN, TOKEN, st.integers(-2, 5), BLANK, END), min_size=1, max_size=8)
)
def test_qrels_are_read_alike(rows: list[tuple[str, str, int, str, str]]) -> None:
    text = "".join(b.join([q, "0", d, str(g)]) + end for q, d, g, b, end in rows).encode()
    try:
        qrels = read_qrels(BytesIO(text), name="qrels")
    except InputError:
        with pytest.raises(InputError):
            read_any_qrels(BytesIO(text))
        return
    assert read_any_qrels(BytesIO(text)).grades == qrels


@pytest.mark.parametrize(
    ("text", "score"),
    [
        (b"1.5", 1.5),
        (b"-1e-3", -0.001),
        (b"+2", 2.0),
        (b"inf", float("inf")),
        (b"nan", None),
        (b"1_0", None),
        (b"0x10", None),
        ("\u0661".encode(), None),
        (b"", None),
    ],
)
def test_score(text: bytes, score: float | None) -> None:
    assert parse_score(text) == score


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        (b"2", 2),
        (b"-1", -1),
        (b"+3", 3),
        (b"007", 7),
        (b"0.9", None),
        (b"1e1", None),
        (b"-", None),
        (b"2147483647", 2147483647),
        (b"2147483648", None),
        (b"1" * 5000, None),
    ],
)
def test_grade(text: bytes, grade: int | None) -> None:
    assert parse_grade(text) == grade
