"""The columnar engine against the plain reference and pytrec_eval, for every odd input."""

from __future__ import annotations

import dataclasses
from contextlib import nullcontext
from io import BytesIO

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.errors import InputError
from judge.measures import engine_blocks, engine_gather, engine_qrels, plain
from judge.measures.engine import Engine
from judge.measures.engine_qrels import read_table
from judge.measures.engine_text import Ids
from judge.measures.evaluation import Evaluation
from judge.measures.names import parse_measure
from judge.measures.ranked import rank_lists
from judge.measures.trec import read_qrels, read_run

NAMES = ["nDCG@3", "nDCG", "ERR@3", "P@2", "P(rel=2)@3", "Judged@3", "Hit@2", "R@2", "RR", "AP"]
NAMES += ["AP@2", "ContextPrecision@3", "binary_nDCG@3", "binary_nDCG"]
MEASURES = [parse_measure(name) for name in NAMES]


def by_engine(run: bytes, qrels: bytes, **options: object) -> list[Evaluation]:
    table = read_table(qrels, name="qrels")
    engine = Engine(table, MEASURES, **({"intervals": False} | options))
    return engine.evaluate(lambda: nullcontext(BytesIO(run)), name="run")


def plainly(run: bytes, qrels: bytes, **options: object) -> list[Evaluation]:
    options.pop("block_bytes", None)
    judged = read_qrels(BytesIO(qrels), name="qrels")
    precision = options.pop("precision", "single")
    return [
        plain.evaluate(
            rank_lists(lists, precision=precision),
            judged,
            MEASURES,
            run=tag,
            **({"intervals": False} | options),
        )
        for tag, lists in read_run(BytesIO(run), name="run").items()
    ]


def outcome(evaluate, run: bytes, qrels: bytes, **options: object) -> tuple[object, list[float]]:
    """Return all that can be seen of an evaluation, its values apart, or how it ends."""
    try:
        found = evaluate(run, qrels, **options)
    except InputError as error:
        return str(error), []
    seen = [(one.run, list(one.query_ids), dataclasses.asdict(one.observed)) for one in found]
    columns = [column for one in found for column in one.columns.values()]
    ends = [(c.values, c.lo or (), c.hi or ()) for c in columns]
    return seen, [value for column in ends for end in column for value in end]


def assert_same(run: bytes, qrels: bytes, **options: object) -> None:
    expected, expected_values = outcome(plainly, run, qrels, **options)
    found, values = outcome(by_engine, run, qrels, **options)
    assert found == expected
    assert values == pytest.approx(expected_values, abs=1e-12)


QUERY = st.sampled_from([b"q1", b"q2", b"q", b"query-10", "é".encode()])
DOCUMENT = st.sampled_from(
    [b"d", b"d1", b"d10", b"d9", b"12345678", b"123456789", b"1234567890123456", "ü".encode()]  # noqa: RUF005
    + [b"x" * 64, b"x" * 65, b"x" * 63 + b"y", b"12345678a", b"12345678b"]
)
SCORE = st.sampled_from(
    [b"1", b"1.0", b"-1", b"0", b"-0", b"12.3456789012", b"12.3456789011", b"3e-2", b"inf", b".5"]  # noqa: RUF005
    + [b"0.8471236228942871", b"0.8471236228942872", b"16.000001", b"16.000002", b"16777217"]
) | st.floats(-1e9, 1e9).map(lambda score: repr(score).encode())
BLANK = st.sampled_from([b" ", b" ", b" ", b"\t", b"  ", b" \t"])
END = st.sampled_from([b"\n", b"\n", b"\n", b"\r\n", b" \n", b"\n\n", b"\n \r\n"])
ODD = st.sampled_from([b"", b"\n", b"q1\n", b"q1 0 d\n", b"q Q0 d 1 nan t\n", b"q 0 d one\n"])


@st.composite
def files(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """A run and qrels, mostly well formed; a pair may repeat, lines may be in any order."""
    rows = draw(
        st.lists(
            st.tuples(QUERY, DOCUMENT, SCORE, st.sampled_from([b"t", b"t", b"u"])), max_size=25
        )
    )
    if draw(st.booleans()):
        rows.sort(key=lambda row: (row[3], row[0]))
    blank, end = draw(BLANK), draw(END)
    lines = [blank.join([q, b"Q0", d, b"1", score, tag]) + end for q, d, score, tag in rows]
    judged = draw(
        st.lists(
            st.tuples(QUERY, DOCUMENT, st.integers(-1, 4)), max_size=25, unique_by=lambda j: j[:2]
        )
    )
    blank, end = draw(BLANK), draw(END)
    qrels = [blank.join([q, b"0", d, str(grade).encode()]) + end for q, d, grade in judged]
    if draw(st.integers(0, 9)) == 0:
        lines.insert(draw(st.integers(0, len(lines))), draw(ODD))
    if draw(st.integers(0, 9)) == 0:
        qrels.insert(draw(st.integers(0, len(qrels))), draw(ODD))
    return b"".join(lines), b"".join(qrels)


@pytest.mark.parametrize("precision", [pytest.param("single", marks=pytest.mark.slow), "double"])
@given(pair=files(), block=st.sampled_from([40, 100, 1 << 21]))
@settings(deadline=None)
def test_engine_equals_plain(precision: str, pair: tuple[bytes, bytes], block: int) -> None:
    assert_same(*pair, precision=precision, block_bytes=block)


@pytest.mark.slow
@given(
    pair=files(),
    gain=st.sampled_from(["linear", "exponential"]),
    intervals=st.sampled_from([True, None]),
)
@settings(deadline=None)
def test_intervals_equal_plain(
    pair: tuple[bytes, bytes], gain: str, intervals: bool | None
) -> None:
    assert_same(*pair, gain=gain, intervals=intervals)


@pytest.mark.slow
@given(
    run=st.dictionaries(
        st.sampled_from(["q1", "q2"]),
        st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 5), min_size=1),
        min_size=1,
    ),
    qrels=st.dictionaries(
        st.sampled_from(["q1", "q2"]),
        st.dictionaries(st.sampled_from("abcdefgh"), st.integers(-1, 3), min_size=1),
        min_size=1,
    ),
)
def test_engine_equals_pytrec_eval(
    run: dict[str, dict[str, int]], qrels: dict[str, dict[str, int]]
) -> None:
    names = {"nDCG@3": "ndcg_cut_3", "nDCG": "ndcg", "P@2": "P_2", "R@2": "recall_2"}
    names |= {"RR": "recip_rank", "AP": "map", "AP@2": "map_cut_2", "Hit@2": "success_2"}
    peer = pytrec_eval.RelevanceEvaluator(
        qrels,
        {"ndcg_cut.3", "ndcg", "P.2", "recall.2", "recip_rank", "map", "map_cut.2", "success.2"},
    )
    theirs = peer.evaluate({q: {d: float(s) for d, s in docs.items()} for q, docs in run.items()})
    run_lines = [f"{q} Q0 {d} 0 {s} t\n" for q, docs in run.items() for d, s in docs.items()]
    qrels_lines = [f"{q} 0 {d} {g}\n" for q, docs in qrels.items() for d, g in docs.items()]
    (ours,) = by_engine("".join(run_lines).encode(), "".join(qrels_lines).encode())
    for name, their_name in names.items():
        values = dict(zip(ours.query_ids, ours.columns[parse_measure(name)].values, strict=True))
        for query, found in theirs.items():
            assert values[query] == pytest.approx(found[their_name], abs=1e-9)


def collision() -> tuple[bytes, bytes]:
    """Return two different printable ids of 16 bytes with one hash.

    The hash is Σ word·multiplier mod 2^64: adding m1·t to the first word and taking m0·t
    from the second leaves it as it is. About one t in ten million gives printable ids.
    """
    one = np.array([1, 0], dtype=np.uint64), np.array([0, 1], dtype=np.uint64)
    m0, m1 = (multiplier_of(words) for words in one)
    rng = np.random.default_rng(5)
    first, second = (int.from_bytes(b"a1b2c3d4", "little"), int.from_bytes(b"e5f6g7h8", "little"))
    while True:
        t = rng.integers(1, 1 << 63, 1 << 20, dtype=np.uint64)
        words = np.stack([np.uint64(first) + m1 * t, np.uint64(second) - m0 * t], axis=1)
        letters = words.view(np.uint8)
        good = np.flatnonzero(((letters > 32) & (letters < 127)).all(axis=1))
        if len(good):
            return b"a1b2c3d4e5f6g7h8", words[good[0]].tobytes()


def multiplier_of(words: np.ndarray) -> np.uint64:
    return Ids((words[:1], words[1:])).hashes()[0]


@pytest.mark.slow
def test_ids_with_one_hash_are_told_apart() -> None:
    a, b = collision()
    assert a != b
    for judged, other in ((a, b), (b, a)):
        run = b"q Q0 %s 1 3 t\nq Q0 %s 2 2 t\nq Q0 %s 3 1 t\n" % (other, judged, other)
        assert_same(run, b"q 0 %s 1\n" % judged)
        assert_same(run, b"q 0 %s 1\nq 0 %s 2\n" % (judged, other))


@pytest.mark.parametrize("where", [0, 1_000, 2_999])
@pytest.mark.parametrize(
    "line",
    [b"q Q0 d\0x 1 2 t\n", b"q Q0 d 1 nan t\n", b"q Q0 d 1\n", b"q Q0 \xff 1 2 t\n"],
)
def test_bad_line_of_many_blocks_is_named(line: bytes, where: int) -> None:
    lines = [b"q%d Q0 d%d 1 %d t\n" % (n // 10, n, 1000 - n % 10) for n in range(3_000)]
    lines[where] = line
    with pytest.raises(InputError) as caught:
        by_engine(b"".join(lines), b"q 0 d 1\n", block_bytes=1000)
    assert str(caught.value).startswith(f"run:{where + 1}: ")
    assert caught.value.total == 1


def test_line_longer_than_a_block_is_exact() -> None:
    long = b"x" * 3_000
    run = b"q Q0 %s 1 2 t\nq Q0 b 2 1 t\nr Q0 b 1 1 t\n" % long
    assert_same(run, b"q 0 %s 1\nr 0 b 1\n" % long, block_bytes=100)


def test_endless_line_is_an_error_with_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_blocks, "LONGEST_LINE", 1000)
    run = b"q Q0 a 1 2 t\nq Q0 b 2 1 t\n" + b"x" * 3_000
    with pytest.raises(InputError, match="run:3: a line of more than"):
        by_engine(run, b"q 0 a 1\n", block_bytes=100)
    monkeypatch.setattr(engine_gather, "LONGEST_LINE", 1000)
    apart = b"q Q0 a 1 2 t\np Q0 a 1 2 t\n" * 200 + run
    with pytest.raises(InputError, match="run:403: a line of more than"):
        by_engine(apart, b"q 0 a 1\n", block_bytes=100)
    monkeypatch.setattr(engine_qrels, "LONGEST_LINE", 1000)
    with pytest.raises(InputError, match="qrels:3: a line of more than"):
        by_engine(b"q Q0 a 1 2 t\n", b"q 0 a 1\nq 0 b 1\n" + b"x" * 3_000)


def test_a_measure_asked_twice_keeps_its_values_with_their_queries() -> None:
    # Intervals come some hundreds of queries at a time; the last query alone has its a at rank 2.
    lines = [b"q%d Q0 a 1 1 t\n" % n for n in range(600)] + [b"last Q0 b 1 2 t\nlast Q0 a 2 1 t"]
    table = read_table(b"".join(b"q%d 0 a 1\n" % n for n in range(600)) + b"last 0 a 1", name="q")
    engine = Engine(table, [parse_measure("RR"), parse_measure("mrr")], intervals=True)
    (found,) = engine.evaluate(lambda: nullcontext(BytesIO(b"".join(lines))), name="run")
    (values,) = found.columns.values()
    assert list(values.values) == [1.0] * 600 + [0.5]


@pytest.mark.parametrize("grade", [1100, 2**31 - 1])
def test_err_of_grades_beyond_any_power_of_two(grade: int) -> None:
    # 2^g is no double, (2^g - 1) / 2^g is one all the same; half that share at rank 2.
    run, qrels = b"q Q0 a 1 1 t\nr Q0 b 1 2 t\nr Q0 a 2 1 t", b"q 0 a %d\nr 0 a %d" % (grade, grade)
    for evaluate in (plainly, by_engine):
        (found,) = evaluate(run, qrels)
        assert found.columns[parse_measure("ERR@3")].values == [1.0, 0.5]


def test_query_in_two_places_is_one_list() -> None:
    near = [b"q%d Q0 a 1 2 t\n" % n for n in range(2_000)]
    run = b"".join([b"q Q0 x 1 9 t\n", *near, b"q Q0 a 2 8 t\n", b"q Q0 x 3 7 t"])
    assert_same(run, b"q 0 a 1\nq7 0 a 2\n", block_bytes=1000)


def test_shuffled_file_of_many_blocks() -> None:
    rng = np.random.default_rng(3)
    rows = [(q, d, s) for q in range(30) for d, s in enumerate(rng.permutation(40))]
    lines = [b"q%d Q0 doc-%d 0 %d.5 t\n" % row for row in rows]
    rng.shuffle(lines)
    qrels = b"".join(b"q%d 0 doc-%d %d\n" % (q, d, d % 4) for q in range(30) for d in range(30))
    assert_same(b"".join(lines), qrels, block_bytes=500)


def test_same_query_of_two_tags_in_one_block() -> None:
    run = b"q Q0 a 1 2 t\nq Q0 b 2 1 t\nq Q0 b 1 2 u\nq Q0 a 2 1 u\n"
    assert_same(run, b"q 0 a 1\n")
