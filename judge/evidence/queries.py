"""One query over all runs in hand: their rows joined with each other and with goldens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from judge.errors import InputError, Problem
from judge.evidence.quotes import resolve_quotes
from judge.evidence.unasked import unasked_notice
from judge.run import Golden, Notice, Row, Run

_SHOWN = 5
_BY_TEXT = "leave the ids out to join by text (--map query_id=-, or --map id=- if so called)"


@dataclass(frozen=True, slots=True)
class Query:
    """A query with one row a run (None where that run lacks it) and its golden, if any.

    key: what names the query in every output
    """

    key: str
    rows: tuple[Row | None, ...]
    query_id: str | None = None
    text: str | None = None
    slice: str | None = None
    weight: float = 1.0
    golden: Golden | None = None

    @property
    def is_answerless(self) -> bool:
        """Tell whether the golden says that nothing answers this query."""
        return self.golden is not None and self.golden.complete and not self.golden.expected

    @property
    def has_answer(self) -> bool:
        """Tell whether golden measures are defined for this query."""
        return self.golden is not None and bool(self.golden.expected)


@dataclass(frozen=True, slots=True)
class Joined:
    """The union of the queries of all runs and goldens, in order of appearance."""

    queries: tuple[Query, ...]
    notices: tuple[Notice, ...] = ()


class _Index:
    """Find queries by id, else by exact text; says where a text is ambiguous."""

    def __init__(self) -> None:
        self.by_id: dict[str, int] = {}
        self.by_text: dict[str, list[int]] = {}

    def add(self, position: int, query_id: str | None, text: str | None) -> None:
        if query_id is not None:
            self.by_id.setdefault(query_id, position)
        if text is not None:
            self.by_text.setdefault(text.strip(), []).append(position)

    def find(self, query_id: str | None, text: str | None, has_id: Sequence[bool]) -> list[int]:
        """Return the positions that this id or text means: none, one, or several."""
        if query_id is not None and query_id in self.by_id:
            return [self.by_id[query_id]]
        if text is None:
            return []
        # Text joins only where one of the two sides has no id: two different ids are
        # two different queries however alike their texts.
        same = self.by_text.get(text.strip(), [])
        return [at for at in same if query_id is None or not has_id[at]]


def join(runs: Sequence[Run], goldens: Iterable[Golden] = ()) -> Joined:
    """Join the rows of `runs` with each other and with `goldens`.

    Rows and goldens join by `query_id` where both have one, else by exact query text.
    A golden whose query one run did not ask becomes a query with an empty list; of several runs
    only what one of them asked is compared. Raises InputError where a text means several queries
    or two goldens mean the same one, or where a row of several runs has neither id nor text.
    """
    if len(runs) > 1:
        _refuse_nameless(runs)
    queries, index, problems = _join_rows(runs)
    apart = _rows_apart(queries)
    notices = _attach_goldens(queries, index, tuple(goldens), len(runs), problems)
    if problems:
        raise InputError(problems)
    if len(runs) > 1:
        # An empty list against an empty list compares nothing and waters down every mean.
        queries = [query for query in queries if any(row is not None for row in query.rows)]
    return _with_quotes(Joined(tuple(queries), (*apart, *notices)), runs)


def _with_quotes(joined: Joined, runs: Sequence[Run]) -> Joined:
    """Return the queries with goldens that name the chunks they quote."""
    quoting = [(q.golden, q.rows) for q in joined.queries if q.golden and q.golden.quotes]
    if not quoting:
        return joined
    resolved = resolve_quotes(quoting, runs)
    named = iter(resolved.goldens)
    queries = tuple(
        replace(query, golden=next(named)) if query.golden and query.golden.quotes else query
        for query in joined.queries
    )
    return Joined(queries, (*joined.notices, *resolved.notices))


def _refuse_nameless(runs: Sequence[Run]) -> None:
    """Raise InputError for rows that nothing joins with another run's: "row 1" is only a place."""
    problems = [
        Problem(
            f"{run.name}: {row.key!r}",
            "neither a query_id nor a query: nothing tells which row of the other run it is",
            "give it one (--map FIELD=query_id names the field)",
        )
        for run in runs
        for row in run.rows
        if row.query_id is None and not (row.query or "").strip()
    ]
    if problems:
        raise InputError(problems)


def _join_rows(runs: Sequence[Run]) -> tuple[list[Query], _Index, list[Problem]]:
    queries: list[Query] = []
    has_id: list[bool] = []
    index = _Index()
    problems: list[Problem] = []
    for at, run in enumerate(runs):
        for row in run.rows:
            found = index.find(row.query_id, row.query, has_id) if at else []
            if len(found) > 1:
                problems.append(
                    Problem(
                        f"{run.name}: row {row.key!r}",
                        f"its text is that of {_rows_at(found, queries)} of another run",
                        "give the rows of both runs a query_id",
                    )
                )
            elif found and queries[found[0]].rows[at] is None:
                known = queries[found[0]]
                rows = (*known.rows[:at], row, *known.rows[at + 1 :])
                queries[found[0]] = replace(
                    known,
                    rows=rows,
                    text=known.text if known.text is not None else row.query,
                    slice=known.slice if known.slice is not None else row.slice,
                    golden=known.golden if known.golden is not None else row.golden,
                )
            else:
                # A row without either goes by the name that every output gives it.
                nameless = row.query_id is None and row.query is None
                index.add(len(queries), row.key if nameless else row.query_id, row.query)
                has_id.append(row.query_id is not None)
                queries.append(_first_seen(row, at, len(runs)))
    return queries, index, problems


def _rows_apart(queries: Sequence[Query]) -> tuple[Notice, ...]:
    """Say so where no row of any run meets one of another, though texts would.

    So it is with traces, whose ids are new each time: every row would be missing in a run.
    """
    if not queries or len(queries[0].rows) < 2:
        return ()
    if any(sum(row is not None for row in query.rows) > 1 for query in queries):
        return ()
    runs_of: dict[str, set[int]] = {}
    for query in queries:
        asking = {at for at, row in enumerate(query.rows) if row is not None}
        runs_of.setdefault((query.text or "").strip(), set()).update(asking)
    n = sum(bool(text) and len(asking) > 1 for text, asking in runs_of.items())
    text = f"no id of one run is in another, though {n} texts are: {_BY_TEXT}"
    return (Notice("rows_apart", n, text),) if n else ()


def _rows_at(found: Sequence[int], queries: Sequence[Query]) -> str:
    more = ", …" if len(found) > _SHOWN else ""
    return f"{len(found)} rows ({', '.join(queries[at].key for at in found[:_SHOWN])}{more})"


def _first_seen(row: Row, at: int, n_runs: int) -> Query:
    rows: list[Row | None] = [None] * n_runs
    rows[at] = row
    golden = row.golden
    return Query(
        key=row.key,
        rows=tuple(rows),
        query_id=row.query_id,
        text=row.query,
        slice=row.slice if row.slice is not None or golden is None else golden.slice,
        weight=row.weight if golden is None or golden.weight is None else golden.weight,
        golden=golden,
    )


def _attach_goldens(
    queries: list[Query],
    index: _Index,
    goldens: Sequence[Golden],
    n_runs: int,
    problems: list[Problem],
) -> tuple[Notice, ...]:
    taken: dict[int, Golden] = {}
    replaced = alike = 0
    resliced: list[str] = []
    unmatched: list[Query] = []
    has_id = [query.query_id is not None for query in queries]
    for golden in goldens:
        found = index.find(golden.query_id, golden.query, has_id)
        where = golden.where or "goldens"
        if len(found) > 1:
            problems.append(
                Problem(
                    where,
                    f"the query {golden.query!r} is that of {_rows_at(found, queries)}",
                    _one_golden_a_row([queries[at] for at in found]),
                )
            )
        elif not found:
            query = _golden_alone(golden, n_runs)
            unmatched.append(query)
            alike += (golden.query or "").strip() in index.by_text
            index.add(len(queries), golden.query_id, golden.query)
            has_id.append(golden.query_id is not None)
            taken[len(queries)] = golden
            queries.append(query)
        elif found[0] in taken:
            problems.append(
                Problem(
                    where,
                    f"a second golden for {queries[found[0]].key!r}"
                    f" (the first: {taken[found[0]].where or 'goldens'})",
                    "keep one; several answers go into one `expected` list",
                )
            )
        else:
            known = queries[found[0]]
            replaced += known.golden is not None and known.golden.expected != golden.expected
            if None not in (known.slice, golden.slice) and known.slice != golden.slice:
                resliced.append(f"{known.key}: {known.slice}, not {golden.slice}")
            taken[found[0]] = golden
            queries[found[0]] = replace(
                known,
                golden=golden,
                text=known.text if known.text is not None else golden.query,
                slice=known.slice if known.slice is not None else golden.slice,
                weight=known.weight if golden.weight is None else golden.weight,
            )
    notices = _notices(replaced, resliced)
    if not unmatched:
        return notices
    return (*notices, _unasked(unmatched, queries, alike=alike, n_runs=n_runs))


def _one_golden_a_row(asking: Sequence[Query]) -> str:
    """Return what to do where a golden without an id asks what several rows ask."""
    by_run = zip(*(query.rows for query in asking), strict=True)
    if all(sum(row is not None for row in rows) < 2 for rows in by_run):
        return _BY_TEXT
    if asking[0].query_id is None:
        return "give the rows a query_id each, and write a golden with it for each of them"
    named = f'"query_id": "{asking[0].query_id}"'
    return f"write a golden for each row it answers, with that row's id ({named})"


def _golden_alone(golden: Golden, n_runs: int) -> Query:
    key = golden.query_id if golden.query_id is not None else (golden.query or golden.where)
    return Query(
        key=key,
        rows=(None,) * n_runs,
        query_id=golden.query_id,
        text=golden.query,
        slice=golden.slice,
        weight=1.0 if golden.weight is None else golden.weight,
        golden=golden,
    )


def _unasked(
    unmatched: Sequence[Query], queries: Iterable[Query], *, alike: int, n_runs: int
) -> Notice:
    """Return what to say of goldens without a row; alike: those whose text other ids ask."""
    asked = [query.text or query.key for query in queries if any(query.rows)]
    hint = f"; {alike} of them ask what rows with other ids ask: {_BY_TEXT}" if alike else ""
    names = [query.text or query.key for query in unmatched]
    return unasked_notice(names, asked, n_runs=n_runs, hint=hint)


def _notices(replaced: int, resliced: list[str]) -> tuple[Notice, ...]:
    notices = []
    if resliced:
        shown = "; ".join(resliced[:_SHOWN]) + ("; …" if len(resliced) > _SHOWN else "")
        text = f"rows in another slice than their golden's; the run's stands: {len(resliced)}"
        notices.append(Notice("golden_slice", len(resliced), f"{text} ({shown})"))
    if replaced:
        text = f"rows whose expected ids differ from --goldens, which stands: {replaced}"
        notices.append(Notice("golden_replaced", replaced, text))
    return tuple(notices)
