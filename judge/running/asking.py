"""Ask every query, a few at a time, again where it is worth it; one failure is one row's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from threading import Event

from judge.formats.findings import Findings, Place
from judge.formats.options import ReadOptions
from judge.formats.rows import read_rows
from judge.run import Row, Run
from judge.running.answers import NoResults, results_of
from judge.running.asked import Asked
from judge.running.partial import Answer
from judge.running.targets import AskFailed, Target

_LONGEST_WAIT_S = 30.0
_SIGNALS_EVERY_S = 0.2


@dataclass(frozen=True, slots=True)
class Manner:
    """How a system is asked.

    k: how many results are wanted, for the `{k}` of a command or template
    hits: where the results stand in a JSON reply, None: where they usually do
    concurrency, retries: queries at a time; further tries of one that failed
    """

    k: int = 10
    hits: str | None = None
    concurrency: int = 4
    retries: int = 3
    backoff_s: float = 0.5


def ask_all(
    asked: Sequence[Asked],
    target: Target,
    *,
    manner: Manner,
    options: ReadOptions,
    known: Mapping[str, Answer],
    keep: Callable[[Answer], None],
    sleep: Callable[[float], object] | None = None,
) -> dict[str, Answer]:
    """Return an answer for each query by key, `known` ones as they are.

    keep: called in this thread with each new answer as it comes
    sleep: how to wait before a further try; None: until it is all given up at most
    Raises BackendUnavailable at once where the system refuses us altogether.
    """
    answers = dict(known)
    given_up = Event()
    wait = sleep or given_up.wait
    done: SimpleQueue[Future[Answer]] = SimpleQueue()
    wanted = [one for one in asked if one.row.key not in known]
    with ThreadPoolExecutor(max_workers=manner.concurrency) as pool:
        try:
            futures: list[Future[Answer]] = [
                pool.submit(_ask, one, target, manner, options, wait, given_up) for one in wanted
            ]
            for future in futures:
                future.add_done_callback(done.put)
            for _ in futures:
                answer = _next(done).result()
                answers[str(answer["key"])] = answer
                keep(answer)
        except BaseException:
            given_up.set()
            target.stop()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return answers


def run_of(
    asked: Sequence[Asked], answers: Mapping[str, Answer], *, name: str, options: ReadOptions
) -> Run:
    """Return the run of the answers, in the order of the queries.

    Excluded ids are dropped and counted. Raises InputError where an answer's results cannot
    be read, naming the query.
    """
    findings = Findings()
    rows = []
    for one in asked:
        answer = answers[one.row.key]
        record = {"query_id": one.row.query_id, "query": one.row.query, "slice": one.row.slice}
        outcome = {name: answer[name] for name in ("results", "error") if name in answer}
        rows.append((Place(f"query {one.row.key}"), {**record, "weight": one.row.weight} | outcome))
    read = read_rows(rows, options=options, findings=findings)
    findings.check()
    kept = tuple(_finished(row, one, findings) for row, one in zip(read.rows, asked, strict=True))
    return Run(name, kept, read.grades, notices=findings.notices())


def _next(done: SimpleQueue[Future[Answer]]) -> Future[Answer]:
    """Return the next future that is done.

    A signal that comes just before a wait without end is not looked at until the wait ends.
    """
    while True:
        with suppress(Empty):
            return done.get(timeout=_SIGNALS_EVERY_S)


def _ask(
    one: Asked,
    target: Target,
    manner: Manner,
    options: ReadOptions,
    sleep: Callable[[float], object],
    given_up: Event,
) -> Answer:
    """Return the answer to one query, after as many tries as it takes or may take."""
    values = {**one.values, "k": str(manner.k)}
    failure = AskFailed("never asked", worth_a_retry=False)
    for attempt in range(manner.retries + 1):
        if attempt:
            wait_s = max(manner.backoff_s * 2 ** (attempt - 1), failure.retry_after_s)
            sleep(min(wait_s, _LONGEST_WAIT_S))
            if given_up.is_set():
                break
        try:
            reply = target.ask(values)
            results = results_of(reply, path=manner.hits, options=options)
            return {"key": one.row.key, "results": results}
        except NoResults as error:
            # A reply cut short looks like this too.
            failure = AskFailed(str(error), worth_a_retry=True)
        except AskFailed as error:
            failure = error
        if not failure.worth_a_retry or given_up.is_set():
            break
    return {"key": one.row.key, "error": str(failure)}


def _finished(row: Row, one: Asked, findings: Findings) -> Row:
    """Return a row with its golden, and without the results it must not hold."""
    kept = tuple(
        result
        for result in row.results
        if result.id not in one.exclude and result.document not in one.exclude
    )
    dropped = len(row.results) - len(kept)
    if dropped:
        findings.count(
            "excluded",
            "results left out as their query's own source",
            place=Place(f"query {row.key}"),
            consequence="the ranks close up",
            n=dropped,
        )
    return replace(row, key=one.row.key, results=kept, golden=one.row.golden)
