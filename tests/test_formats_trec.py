"""TREC runs: trec_eval's order, and an error with its line for every line that is wrong."""

from __future__ import annotations

import io

import pytest

from judge.errors import InputError
from judge.formats import read_grades
from judge.formats.options import ReadOptions
from judge.formats.trec import TrecRuns, read_trec_run


def read(text: str, **options: object) -> TrecRuns:
    return read_trec_run(io.BytesIO(text.encode()), ReadOptions(**options))  # type: ignore[arg-type]


def order(text: str, **options: object) -> list[str]:
    (lists,) = read(text, **options).runs.values()
    (scored,) = lists.values()
    return [document for document, _ in scored]


def refusal(text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        read(text)
    return str(caught.value).splitlines()


def test_ties_are_ordered_by_id_descending_as_text_and_counted() -> None:
    # trec_traps: a, b, c all at 1.0 in file order b, a, c: trec_eval ranks c, b, a.
    runs = read("q Q0 b 1 1.0 t\nq Q0 a 2 1.0 t\nq Q0 c 3 1.0 t")
    assert runs.runs == {"t": {"q": [("c", 1.0), ("b", 1.0), ("a", 1.0)]}}
    assert [(notice.kind, notice.count) for notice in runs.notices] == [("tied scores", 3)]
    assert order("q Q0 10 1 1.0 t\nq Q0 9 2 1.0 t") == ["9", "10"]


def test_an_id_may_hold_any_blank_that_is_not_ascii_white_space() -> None:
    # trec_eval splits at isspace() of C alone, which information separators are not.
    runs = read("q Q0 a\x1fb 1 2 t\n q\tQ0\x0bé\u00a0 2 1 t\r\n")
    assert runs.runs == {"t": {"q": [("a\x1fb", 2.0), ("é\u00a0", 1.0)]}}


def test_scores_compare_in_single_precision_unless_asked() -> None:
    # 12.3456789012 and ...11 are one float32, 12.345679.
    text = "q Q0 a 1 12.3456789012 t\nq Q0 b 2 12.3456789011 t"
    assert order(text) == ["b", "a"]
    assert order(text, precision="double") == ["a", "b"]


def test_a_score_beyond_single_precision_is_infinite_there() -> None:
    # C casts 1e39 and 2e39 to inf: a tie; doubles tell them apart.
    text = "q Q0 a 1 2e39 t\nq Q0 b 2 1e39 t"
    assert order(text) == ["b", "a"]
    assert order(text, precision="double") == ["a", "b"]


def test_the_rank_column_is_ignored() -> None:
    assert order("q Q0 a 2 9 t\nq Q0 b 1 8 t") == ["a", "b"]


def test_repeats_keep_their_slots_the_best_first() -> None:
    # trec_traps: a@3, x@2, a@1: the first a is the one that counts.
    runs = read("q Q0 a 1 3 t\nq Q0 x 2 2 t\nq Q0 a 3 1 t")
    assert [document for document, _ in runs.runs["t"]["q"]] == ["a", "x", "a"]
    assert [(notice.kind, notice.count) for notice in runs.notices] == [("repeated id", 1)]


def test_split_blocks_tabs_crlf_and_spaces_read_alike() -> None:
    text = "q1\tQ0\ta\t1\t2\tt\r\nq2  Q0 b 1   1 t \r\n\r\nq1 Q0 c 2 3 t"
    assert read(text).runs == {"t": {"q1": [("c", 3.0), ("a", 2.0)], "q2": [("b", 1.0)]}}


def test_several_tags_are_several_runs() -> None:
    assert read("q Q0 a 1 1 x\nq Q0 a 1 1 y").runs.keys() == {"x", "y"}


def test_every_wrong_line_is_named() -> None:
    text = (
        "q Q0 a 1 nan t\nq Q0 b 2 abc t\nq Q0 c 3 1.0\nq Q0 d 4 1_0 t\nq 0 e 1\n"
        '{"query": "x"}\n' + "q Q0 f 5 1 t"
    )
    assert refusal(text) == [
        "<stream>:1: score 'nan' is not a number; correct the line",
        "<stream>:2: score 'abc' is not a number; correct the line",
        "<stream>:3: 5 columns instead of 6: 'q Q0 c 3 1.0'; a run line is: query Q0 document "
        "rank score tag",
        "<stream>:4: score '1_0' is not a number; correct the line",
        "<stream>:5: 4 columns instead of 6: 'q 0 e 1'; a run line is: query Q0 document rank "
        "score tag; four columns are qrels",
        "<stream>:6: a JSON object in a TREC file: two shapes in one file; keep one shape a file",
    ]


def test_comments_are_nothing_to_any_reader() -> None:
    run = "# BM25, k1=.9, and id and query and grade\nq Q0 a 1 2.0 t\n"
    assert order(run) == ["a"]
    judged = "# id, grade, query_id\n#q zero a none\nq 0 a 1\n"
    assert [grade.id for grade in read_grades(io.BytesIO(judged.encode())).grades] == ["a"]
