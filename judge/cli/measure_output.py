"""How `judge measure` prints: lines as ir_measures, a table for several files, JSON, notices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from judge.measures.evaluation import Column, Evaluation, Observed
from judge.measures.names import Measure
from judge.visible import cell

_SHOWN_QUERIES = 5
_SHOWN_RUNS = 3


def value_lines(
    evaluations: Sequence[Evaluation], *, per_query: bool, intervals: bool
) -> Iterator[str]:
    """Yield `[run TAB] [query TAB] measure TAB value [TAB lo TAB hi]` for every value.

    The run stands first where there are several; `all` is the mean over the queries.
    """
    several = len(evaluations) > 1
    for one in evaluations:
        head = [one.run] if several else []
        if per_query:
            for index, query in enumerate(one.query_ids):
                for measure, column in one.columns.items():
                    ends = _ends(column, index) if intervals else ()
                    yield _line(*head, query, measure, column.values[index], *ends)
        total = ["all"] if per_query else []
        for measure, column in one.columns.items():
            ends = column.mean_interval if intervals else ()
            yield _line(*head, *total, measure, column.mean, *ends)


def table_lines(evaluations: Sequence[Evaluation], *, intervals: bool) -> Iterator[str]:
    """Yield a table with a line a run: means, each with its lo and hi where asked for."""
    measures = list(evaluations[0].columns)
    tails = ("", " lo", " hi") if intervals else ("",)
    yield _line("run", *(f"{measure}{tail}" for measure in measures for tail in tails))
    for one in evaluations:
        cells: list[float] = []
        for column in one.columns.values():
            cells += [column.mean, *(column.mean_interval if intervals else ())]
        yield _line(one.run, *cells)


def _ends(column: Column, index: int) -> tuple[float, float]:
    assert column.lo is not None and column.hi is not None, "intervals were asked for"
    return column.lo[index], column.hi[index]


def _line(*cells: str | float | Measure) -> str:
    return "\t".join(f"{one:.4f}" if isinstance(one, float) else cell(str(one)) for one in cells)


def document(
    evaluations: Sequence[Evaluation], *, per_query: bool, settings: dict[str, object]
) -> dict[str, object]:
    """Return the report that `--json` prints, every value with its lo and hi."""
    runs = [_run(one, per_query=per_query) for one in evaluations]
    return {"schema": 1, "settings": settings, "runs": runs}


def _run(one: Evaluation, *, per_query: bool) -> dict[str, object]:
    measures = {}
    for measure, column in one.columns.items():
        lo, hi = column.mean_interval
        measures[str(measure)] = {"value": column.mean, "lo": lo, "hi": hi, "n": len(column.values)}
    found: dict[str, object] = {"run": one.run, "measures": measures, "notices": notices(one)}
    if per_query:
        found["rows"] = [
            {
                "query_id": query,
                "measures": {
                    str(measure): _cell(column, index) for measure, column in one.columns.items()
                },
            }
            for index, query in enumerate(one.query_ids)
        ]
    return found


def _cell(column: Column, index: int) -> dict[str, float]:
    lo, hi = _ends(column, index)
    return {"value": column.values[index], "lo": lo, "hi": hi}


def notice_lines(evaluations: Sequence[Evaluation]) -> Iterator[str]:
    """Yield what to know of each run, the first few in full and the rest as a count."""
    if len(evaluations) == 1:
        yield from notices(evaluations[0])
        return
    for one in evaluations[:_SHOWN_RUNS]:
        yield from (f"{one.run}: {text}" for text in notices(one))
    rest = sum(bool(notices(one)) for one in evaluations[_SHOWN_RUNS:])
    if rest:
        yield f"… and notes on {rest} more runs: --run-tag shows one, --json all"


def notices(one: Evaluation) -> list[str]:
    """Return everything about one run that its values alone would hide, a line each."""
    seen = one.observed
    n = len(one.query_ids)
    lines = [
        (
            seen.failed,
            f"{len(seen.failed)} of {_count(n, 'query')} failed in the run, counted as 0; each "
            f"value could be anything from 0 to 1: {_listed(seen.failed)}",
        ),
        (
            seen.missing,
            f"{len(seen.missing)} of {_count(n, 'query')} missing from the run, counted as 0: "
            f"{_listed(seen.missing)}",
        ),
        (
            seen.without_qrels,
            f"{_count(len(seen.without_qrels), 'query')} {_has(seen.without_qrels)} no judgments, "
            f"left out: {_listed(seen.without_qrels)}",
        ),
        (
            seen.irrelevant,
            f"{_count(len(seen.irrelevant), 'query')} {_has(seen.irrelevant)} no relevant "
            f"document, counted as 0: {_listed(seen.irrelevant)}",
        ),
        (
            seen.duplicates,
            f"{_count(seen.duplicates, 'duplicate document')}: the first counts, later ones "
            "gain nothing",
        ),
        (
            seen.ties,
            f"{_count(seen.ties, 'tied result')}: equal scores are ordered by document id, "
            "descending",
        ),
        (seen.short, f"{_count(seen.short, 'list')} shorter than {seen.deepest}"),
        (seen.unjudged, _openness(one, seen)),
    ]
    return [text for present, text in lines if present]


def _openness(one: Evaluation, seen: Observed) -> str:
    """Return how many values are intervals and how wide, or what rests on unjudged results."""
    columns = list(one.columns.values())
    if all(column.lo is None for column in columns):
        top = "the lists" if seen.deepest is None else f"the top {seen.deepest}"
        return (
            f"{_count(seen.unjudged, 'unjudged result')} in {top} of "
            f"{_count(seen.unjudged_in, 'query')} gain nothing here: "
            "--intervals says how wide that leaves the values"
        )
    widths = [width for column in columns for width in column.widths]
    total = sum(len(column.values) for column in columns)
    if not widths:
        return f"none of {total} values is an interval ({seen.unjudged} results are unjudged)"
    mean, widest = sum(widths) / len(widths), max(widths)
    return (
        f"{len(widths)} of {total} values are intervals, {mean:.4f} wide on average, at most "
        f"{widest:.4f} ({_count(seen.unjudged, 'unjudged result')}); what is printed is the "
        "value with unjudged results gaining nothing"
    )


def _has(queries: Sequence[str]) -> str:
    return "has" if len(queries) == 1 else "have"


def _count(n: int, noun: str) -> str:
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{n:,} {noun if n == 1 else plural}"


def _listed(queries: Sequence[str]) -> str:
    head = ", ".join(queries[:_SHOWN_QUERIES])
    return f"{head}, …" if len(queries) > _SHOWN_QUERIES else head
