"""Which chunks a person should grade, and in which order.

First a random core that alone suffices to calibrate the judge: each chunk is drawn with a known
probability. Then what is worth a look for its own sake: conflicts, unsure verdicts, suspicious
text. Those were chosen, not drawn: they have no probability and stay out of every estimate.
"""

from __future__ import annotations

import math
import random
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from judge.errors import InputError, Problem, UsageError
from judge.formats.outfolder import OutFolder, StoredVerdict
from judge.run import Notice, Result, Run
from judge.statistics.sampling import inclusion_probabilities, poisson_draw, stratified

CORE = 100
UNSURE = 0.25
"""Variance from which a verdict counts as unsure: half a grade of standard deviation."""

Pair = tuple[str, str]

# How much people's grades vary where a judge said 0 … 3: it is sure of the extremes, and a rare
# grade needs its labels. Only the draw's efficiency rests on them, never its validity.
_TYPICAL_SPREAD = (0.3, 0.6, 0.8, 0.5)


class Why(StrEnum):
    """Why a chunk is in the queue, in the order in which a person sees them."""

    CORE = "random core"
    FLIP = "could flip the verdict"
    CONFLICT = "conflict"
    UNSURE = "unsure judge"
    FLAGGED = "flagged text"


@dataclass(frozen=True, slots=True)
class Item:
    """One chunk to grade.

    pi: the probability with which it was drawn; None: it was chosen
    source: what the text is from (title, document, page), as far as the run says
    judge_grade, judge_reason: what the judge said; a person sees it only after grading
    """

    query_id: str
    query: str
    id: str
    text: str
    why: Why
    detail: str = ""
    pi: float | None = None
    judge_grade: int | None = None
    judge_reason: str = ""
    source: str = ""

    @property
    def pair(self) -> Pair:
        """Return what identifies the chunk."""
        return self.query_id, self.id


@dataclass(frozen=True, slots=True)
class Plan:
    """How the random core is drawn.

    core: how many chunks, within the judge's grades and slices
    rows: in place of that, how many whole rows, within slices: fewer different queries for
        the same work, but means can be corrected by them (`judge.calibration.correcting`)
    active: chunks of which the judge is unsure have a higher chance; about `core` in all
    """

    core: int = CORE
    rows: int = 0
    active: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if self.active and self.rows:
            raise UsageError("whole rows are drawn all alike: leave out --active or --rows")


@dataclass(frozen=True, slots=True)
class Queue:
    """What a person is asked to grade, in order; grade_max: on the scale 0..grade_max.

    run: the name of what was graded
    """

    items: tuple[Item, ...]
    grade_max: int
    notices: tuple[Notice, ...] = ()
    run: str = ""


def build_queue(
    out: OutFolder,
    texts: Mapping[Pair, str],
    *,
    sources: Mapping[Pair, str] = MappingProxyType({}),
    plan: Plan | None = None,
) -> Queue:
    """Queue a graded run's chunks for a person.

    texts: text of each (query id, chunk id); a chunk without one cannot be graded, counted
    sources: what each text is from; its id where nothing says it
    plan: how the random core is drawn

    The same folder and plan give the same queue. Raises InputError where no chunk has a text.
    """
    shown = [v for v in out.verdicts if texts.get((v.query_id, v.id), "").strip()]
    if not shown:
        raise _nothing_to_show(out)
    by_pair = {(v.query_id, v.id): v for v in shown}
    queries = {row.query_id: row for row in out.rows}
    chosen: dict[Pair, tuple[Why, str, float | None]] = {}
    for pair, pi in _drawn(shown, out, plan or Plan()):
        chosen[pair] = (Why.CORE, "", pi)
    for why, pair, detail in _worth_a_look(out, shown):
        chosen.setdefault(pair, (why, detail, None))
    items = [
        Item(
            query_id=pair[0],
            query=queries[pair[0]].query if pair[0] in queries else pair[0],
            id=pair[1],
            text=texts[pair],
            why=why,
            detail=detail,
            pi=pi,
            judge_grade=by_pair[pair].grade if pair in by_pair else None,
            judge_reason=by_pair[pair].reason if pair in by_pair else "",
            source=sources.get(pair, pair[1]),
        )
        for pair, (why, detail, pi) in chosen.items()
        if texts.get(pair, "").strip()
    ]
    return Queue(tuple(items), out.grade_max, _without_text(out, shown), out.run)


def _drawn(shown: Sequence[StoredVerdict], out: OutFolder, plan: Plan) -> list[tuple[Pair, float]]:
    """Return the random core with its probabilities, in a random order.

    Whoever stops early has still graded a random part of it.
    """
    slices = {row.query_id: row.slice for row in out.rows}
    if plan.rows:
        return _whole_rows(shown, slices, plan)
    graded = sorted((v for v in shown if v.grade is not None), key=lambda v: (v.query_id, v.id))
    chances = _active(graded, plan) if plan.active else _stratified(graded, slices, out, plan)
    return [((graded[at].query_id, graded[at].id), pi) for at, pi in _shuffled(chances, plan)]


def _stratified(
    graded: Sequence[StoredVerdict],
    slices: Mapping[str, str | None],
    out: OutFolder,
    plan: Plan,
) -> Mapping[int, float]:
    strata = [(verdict.grade, slices.get(verdict.query_id)) for verdict in graded]
    spreads: dict[Hashable, float] | None = None
    if out.grade_max == len(_TYPICAL_SPREAD) - 1:
        spreads = {stratum: _TYPICAL_SPREAD[stratum[0] or 0] for stratum in strata}
    return stratified(strata, n=plan.core, spreads=spreads, seed=plan.seed)


def _active(graded: Sequence[StoredVerdict], plan: Plan) -> Mapping[int, float]:
    """Draw each chunk by itself, the likelier the less sure the judge is of its grade."""
    unsure = [math.sqrt(verdict.spread) for verdict in graded]
    chances = inclusion_probabilities(unsure, budget=plan.core)
    return {at: chances[at] for at in poisson_draw(chances, seed=plan.seed)}


def _whole_rows(
    shown: Sequence[StoredVerdict], slices: Mapping[str, str | None], plan: Plan
) -> list[tuple[Pair, float]]:
    """Draw rows; every chunk of one that the judge was asked about, row after row."""
    chunks: dict[str, list[Pair]] = {}
    for verdict in shown:
        chunks.setdefault(verdict.query_id, []).append((verdict.query_id, verdict.id))
    queries = sorted(chunks)
    strata = [slices.get(query) for query in queries]
    drawn = stratified(strata, n=plan.rows, floor=1, seed=plan.seed)
    return [(pair, pi) for at, pi in _shuffled(drawn, plan) for pair in chunks[queries[at]]]


def _shuffled(drawn: Mapping[int, float], plan: Plan) -> list[tuple[int, float]]:
    items = sorted(drawn.items())
    return random.Random(plan.seed).sample(items, len(items))  # noqa: S311  reproducible


def _worth_a_look(
    out: OutFolder, shown: Iterable[StoredVerdict]
) -> Iterable[tuple[Why, Pair, str]]:
    for pair in out.flips:
        yield Why.FLIP, pair, ""
    for conflict in out.conflicts:
        detail = f"{conflict.stands} against {conflict.against}"
        yield Why.CONFLICT, (conflict.query_id, conflict.id), detail
    for verdict in sorted(shown, key=lambda v: -v.spread):
        if verdict.spread >= UNSURE:
            yield Why.UNSURE, (verdict.query_id, verdict.id), f"variance {verdict.spread:.2f}"
    for verdict in shown:
        if verdict.flags:
            yield Why.FLAGGED, (verdict.query_id, verdict.id), "; ".join(verdict.flags)


def _without_text(out: OutFolder, shown: list[StoredVerdict]) -> tuple[Notice, ...]:
    missing = len(out.verdicts) - len(shown)
    if not missing:
        return ()
    text = f"{missing:,} judged chunks left out: no text to show; name the run or --corpus"
    return (Notice("no text", missing, text),)


def _nothing_to_show(out: OutFolder) -> InputError:
    if not out.verdicts:
        found, fix = "the judge graded nothing here", "grade with --backend first"
    else:
        found, fix = "no judged chunk has a text", "name the run that was graded, or --corpus"
    return InputError(Problem(out.run, found, fix))


def find_texts(
    out: OutFolder, runs: Iterable[Run], corpus: Mapping[str, str | None]
) -> dict[Pair, str]:
    """Return the text of each judged (query id, chunk id): from the runs, else the corpus."""
    shown = {
        (name, result.id): result.text
        for run in runs
        for row in run.rows
        for result in row.results
        if result.text is not None
        for name in (row.key, row.query_id)
        if name is not None
    }
    asked = [(v.query_id, v.id) for v in out.verdicts] + [(c.query_id, c.id) for c in out.conflicts]
    texts = {pair: shown.get(pair, corpus.get(pair[1])) for pair in asked}
    return {pair: text for pair, text in texts.items() if text is not None}


# What names the origin of a text to a person, in the order in which it is shown.
_ORIGIN = ("title", "source", "url", "file", "file_name", "path", "section", "page")


def find_sources(runs: Iterable[Run]) -> dict[Pair, str]:
    """Return what each (query, chunk id)'s text is from, where its run says anything."""
    return {
        (name, result.id): origin
        for run in runs
        for row in run.rows
        for result in row.results
        if (origin := _origin(result))
        for name in (row.key, row.query_id)
        if name is not None
    }


def _origin(result: Result) -> str:
    metadata = result.metadata or {}
    named = {
        str(metadata[field]): field
        for field in _ORIGIN
        if isinstance(metadata.get(field), (str, int)) and str(metadata[field]).strip()
    }
    if result.document_id is not None and result.document_id != result.id:
        named.setdefault(result.document_id, "document")
    return " · ".join(f"page {text}" if field == "page" else text for text, field in named.items())
