"""What a file can and cannot support, and the one next step."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from judge.evidence.goldens import decide_unit, returned_nothing, stale_ids
from judge.evidence.queries import Query, join
from judge.run import Golden, Row, Run
from judge.statistics.significance import detectable, queries_to_detect

OK = "ok"
WARN = "warn"
FAIL = "fail"

FEW_ROWS = 10
SMALL_CHANGE = 0.02
# As a gate has it by default.
MARGIN = 0.01
# Differences of two rankings of one system vary by .10 to .20 from query to query in
# nDCG@10; `judge compare` prints what they do in yours.
USUAL_SD = 0.15
DEFAULT_DEPTH = 10


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    level: "ok", "warn" (numbers will say less than they could) or "fail" (cannot work)
    """

    level: str
    text: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What was found in one run, in the order looked at, and what to do first."""

    run: str
    findings: tuple[Finding, ...]
    next_step: str


def diagnose(
    run: Run,
    goldens: Iterable[Golden] = (),
    *,
    given: str = "run.json",
    depth: int = DEFAULT_DEPTH,
) -> Diagnosis:
    """Look at a run, with goldens if there are any, down to rank `depth`.

    given: the file and options as the user gave them, for the next step. Raises InputError
    where goldens and run cannot be joined.
    """
    goldens = tuple(goldens)
    joined = join([run], goldens)
    notices = (*run.notices, *joined.notices)
    findings = [
        *(finding for look in _LOOKS for finding in look(run, joined.queries, depth)),
        *(Finding(WARN, notice.text) for notice in notices),
    ]
    return Diagnosis(run.name, tuple(findings), _next_step(run, joined.queries, given, depth))


_Look = Callable[[Run, Sequence[Query], int], Iterable[Finding]]


def _rows(run: Run, queries: Sequence[Query], depth: int) -> Iterable[Finding]:
    if returned_nothing(run.rows):
        yield Finding(FAIL, f"every one of {len(run.rows):,} lists is empty: the run did not run")
        return
    slots = sum(len(row.results) for row in run.rows)
    yield Finding(OK, f"{len(run.rows):,} rows, {slots:,} results")
    failed = [row.key for row in run.rows if row.error is not None]
    if failed:
        yield Finding(WARN, f"{_some(failed)} failed to run: measures there are 0 to 1")
    empty = [query.key for query in queries if _is_empty(query) and not query.is_answerless]
    if empty:
        yield Finding(WARN, f"{_some(empty)} returned nothing: counted as 0")
    short = [row.key for row in run.rows if 0 < len(row.results) < depth]
    if short:
        yield Finding(WARN, f"{_some(short)} returned fewer than {depth} results")


def _is_empty(query: Query) -> bool:
    return all(row is None or not (row.results or row.error) for row in query.rows)


def _texts(run: Run, queries: Sequence[Query], depth: int) -> Iterable[Finding]:
    shown = [result for row in run.rows for result in row.results[:depth]]
    if not shown:
        return
    absent = sum(result.text is None for result in shown)
    if absent == len(shown):
        yield Finding(FAIL, "no result has a text: a judge cannot grade anything (give --corpus)")
    elif absent:
        said = f"{absent:,} of {len(shown):,} results in the top {depth} have no text"
        yield Finding(WARN, f"{said}: they stay open (give --corpus)")
    else:
        yield Finding(OK, f"every result in the top {depth} has a text")
    silent = [row.key for row in run.rows if not (row.query or "").strip()]
    if silent:
        yield Finding(
            WARN, f"{_some(silent)} has no query text: nothing to judge it by (--queries)"
        )


def _goldens(run: Run, queries: Sequence[Query], depth: int) -> Iterable[Finding]:
    having = [query for query in queries if query.has_answer]
    if not having:
        yield Finding(WARN, "no goldens: no RR and recall, and every grade needs a judge")
        return
    answerless = sum(query.is_answerless for query in queries)
    and_none = f", {answerless:,} of them for questions without an answer" if answerless else ""
    given = len(having) + answerless
    yield Finding(OK, f"{given:,} of {len(queries):,} rows have goldens{and_none}")
    bare = [query.key for query in queries if query.golden is None]
    if bare:
        yield Finding(WARN, f"{_some(bare)} has no golden")
    unit = decide_unit(queries)
    expected = [id for query in having for id in _expected(query)]
    found = sum(_is_returned(id, query) for query in having for id in _expected(query))
    if not found and not run.corpus_ids & set(expected):
        said = f"0 of {len(expected):,} expected ids occur in the run or the corpus"
        yield Finding(FAIL, f"{said}: were ids re-minted?")
    else:
        yield Finding(OK, f"{found:,} of {len(expected):,} expected {unit}s were returned")
    stale = stale_ids(queries, run.corpus_ids)
    if stale:
        yield Finding(WARN, f"stale expected ids, not in the corpus: {_some(stale)}")


def _expected(query: Query) -> tuple[str, ...]:
    return query.golden.expected if query.golden else ()


def _is_returned(id: str, query: Query) -> bool:
    return any(
        id in (result.id, result.document)
        for row in query.rows
        for result in (row.results if row else ())
    )


def _ids(run: Run, queries: Sequence[Query], depth: int) -> Iterable[Finding]:
    repeated = [row.key for row in run.rows if _repeats(row)]
    if repeated:
        said = "an id twice: the first counts, the later gain nothing"
        yield Finding(WARN, f"{_some(repeated)} returned {said}")
    else:
        yield Finding(OK, "no id is returned twice for one query")


def _repeats(row: Row) -> bool:
    return len({result.id for result in row.results}) < len(row.results)


def _ties(run: Run, queries: Sequence[Query], depth: int) -> Iterable[Finding]:
    tied = [
        row.key
        for row in run.rows
        if len(row.results) > 1
        and row.results[0].score is not None
        and row.results[0].score == row.results[1].score
    ]
    if tied:
        yield Finding(WARN, f"{_some(tied)} has a tie for rank 1: its order is arbitrary")


def _echoes(run: Run, queries: Sequence[Query], depth: int) -> Iterable[Finding]:
    echoed = [row.key for row in run.rows if _echoes_query(row, depth)]
    if echoed:
        said = "returned the query itself as a result: was it indexed?"
        yield Finding(WARN, f"{_some(echoed)} {said}")


def _echoes_query(row: Row, depth: int) -> bool:
    query = (row.query or "").strip().casefold()
    texts = (result.text for result in row.results[:depth])
    return bool(query) and any((text or "").strip().casefold() == query for text in texts)


def _slices(run: Run, queries: Sequence[Query], depth: int) -> Iterable[Finding]:
    sizes = Counter(query.slice for query in queries if query.slice is not None)
    small = [f"{name} ({n})" for name, n in sizes.items() if n < FEW_ROWS]
    if not sizes:
        yield Finding(WARN, "no slices: a change that helps most and ruins some would not show")
    elif small:
        yield Finding(WARN, f"slices with fewer than {FEW_ROWS} rows say little: {_some(small)}")


def _size(run: Run, queries: Sequence[Query], depth: int) -> Iterable[Finding]:
    rows = sum(not query.is_answerless for query in queries)
    if rows < 2:
        return
    needed = queries_to_detect(SMALL_CHANGE, sd=USUAL_SD)
    seen = detectable(USUAL_SD / math.sqrt(rows))
    level = OK if rows >= needed else WARN
    yield Finding(
        level,
        f"to find a true change of {SMALL_CHANGE:.2f} takes about {needed} queries; {rows:,} find"
        f" one of {seen:.2f} (sd of a query's difference {USUAL_SD:.2f}, power 80%)",
    )
    yield _gate(rows)


def _gate(rows: int) -> Finding:
    """Say what a gate on these rows can claim of them, and of other queries at the best."""
    from judge.statistics.betting_bound import lower_mean_bound, rows_to_show

    # A change that moves no row is the easiest to prove harmless.
    needed = rows_to_show([0.0], -MARGIN) or 0
    lost = -lower_mean_bound([0.0] * rows)
    found = f"`judge gate` decides about these {rows:,} queries"
    if rows >= needed:
        return Finding(OK, f"{found}, and can about others like them (--claim population)")
    return Finding(
        OK,
        f"{found}; to show of queries like them that they lose at most {MARGIN:.2f} (--claim"
        f" population) takes {needed:,} or more: {rows:,}, if none differs, show {lost:.2f}",
    )


_LOOKS: tuple[_Look, ...] = (_rows, _texts, _goldens, _ids, _ties, _echoes, _slices, _size)


def _next_step(run: Run, queries: Sequence[Query], given: str, depth: int) -> str:
    if returned_nothing(run.rows):
        return "run the search again and look at its log: it returned nothing at all"
    having = [query for query in queries if query.has_answer]
    expected = {id for query in having for id in _expected(query)}
    if expected and not _any_occurs(expected, having, run):
        return "lay one expected id beside one returned id; --key makes ids from metadata"
    command = f"judge grade {given}"
    options = shlex.split(given)
    if all(result.text is None for row in run.rows for result in row.results[:depth]):
        if "--corpus" in options:
            return (
                "lay an id of the corpus beside one of the run: --map FIELD=id or --key FIELD reads"
                " the one that both have"
            )
        return f"{command} --corpus corpus.jsonl --backend mock"
    if not any((query.text or "").strip() for query in queries):
        if "--queries" in options:
            return (
                "lay an id of the queries beside one of the run: --map FIELD=query_id reads the one"
                " that both have"
            )
        return f"{command} --queries queries.jsonl --backend mock"
    if not having:
        return f"{command} --backend mock"
    return f"{command} --backend mock --out out/"


def _any_occurs(expected: set[str], queries: Sequence[Query], run: Run) -> bool:
    returned = (_is_returned(id, query) for query in queries for id in _expected(query))
    return bool(expected & run.corpus_ids) or any(returned)


def _some(names: Sequence[str], *, shown: int = 3) -> str:
    """Return `3 rows (a, b, c)`-like text: how many, and the first few."""
    more = ", …" if len(names) > shown else ""
    return f"{len(names):,} ({', '.join(names[:shown])}{more})"
