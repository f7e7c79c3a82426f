"""Runs and qrels in, evaluations out: looks into the files and picks the way that suits them.

Small files are evaluated in plain Python, which never imports numpy; large ones by the
columnar engine, in constant memory. Both give the same values for every input.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from io import BufferedRandom, BytesIO
from pathlib import Path
from typing import BinaryIO, TypeAlias

from judge.errors import InputError, UsageError
from judge.formats.opening import QRELS, member, open_bytes, read_whole, source_name
from judge.formats.options import Precision, ReadOptions
from judge.formats.temporary import temporary_root
from judge.measures.evaluation import Evaluation, with_failures
from judge.measures.names import Measure, parse_measure
from judge.measures.ranked import Ranked, rank_lists
from judge.measures.trec import is_line, read_qrels, read_run
from judge.trec_lines import COMMENT

Source: TypeAlias = str | Path | BinaryIO

DEFAULT_MEASURES = ("nDCG@10",)

# About 25,000 lines: less than this is done before numpy is even imported.
_SMALL_BYTES = 1 << 20


def measure(
    runs: Sequence[Source],
    qrels: Source,
    measures: Sequence[str | Measure] = DEFAULT_MEASURES,
    *,
    gain: str = "linear",
    precision: Precision = "single",
    run_tag: str | None = None,
    grade_max: int | None = None,
    grade_map: Mapping[str, int] | None = None,
    intervals: bool | None = None,
    field_map: Mapping[str, str] | None = None,
    key: Sequence[str] = (),
) -> list[Evaluation]:
    """Return an evaluation for every run of every file, in the order of the files.

    runs, qrels: paths or binary streams; TREC, or any shape that `read_runs` and `read_qrels`
        take; qrels may be a BEIR folder or archive
    run_tag: of files with several runs, take this one alone
    grade_max: top of the scale that unjudged results may reach; None: 3, or the highest
        grade of the qrels above it
    grade_map: a grade as the qrels write it -> the grade it is
    intervals: compute lo and hi of each value; None: only where that is quick
    field_map: of files that are not TREC, their field -> ours
    key: metadata fields that make a result's id
    Raises InputError naming every bad line, UsageError for options that do not fit.

    >>> run, judged = BytesIO(b"q Q0 a 1 9.5 bm25"), BytesIO(b"q 0 a 2")
    >>> measure([run], judged)[0].columns[Measure("nDCG", 10)].mean
    1.0
    """
    asked = _Asked(
        tuple(parse_measure(one) if isinstance(one, str) else one for one in measures),
        gain=gain,
        grade_max=grade_max,
        intervals=intervals,
        reading=ReadOptions(
            map=field_map or {}, key=tuple(key), grade_map=grade_map, precision=precision
        ),
    )
    with ExitStack() as copies:
        files = [_look_into(source, copies) for source in (*runs, member(qrels, QRELS))]
        evaluate = _evaluate_small if all(file.is_small for file in files) else _evaluate_large
        *run_files, qrels_file = files
        return _chosen(evaluate(run_files, qrels_file, asked), run_tag)


_Found: TypeAlias = list[tuple[str, Evaluation]]
"""Evaluations, each with the name of the file it comes from."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked of every run."""

    measures: tuple[Measure, ...]
    gain: str
    grade_max: int | None
    intervals: bool | None
    reading: ReadOptions


@dataclass(frozen=True, slots=True)
class _File:
    """A file that was looked into.

    start: its first line, which tells its shape; open: opens it at its start, every time
    """

    name: str
    start: bytes
    is_small: bool
    open: Callable[[], AbstractContextManager[BinaryIO]]

    @property
    def is_trec(self) -> bool:
        """Tell whether this is lines of fields: neither JSON nor a table of three columns."""
        if self.start.startswith((b"{", b"[")):
            return False
        is_table = b"," in self.start or self.start.count(b"\t") == 2
        return not is_table or is_line(self.start)  # ids may hold commas

    def read(self) -> bytes:
        """Return all of it."""
        with self.open() as stream:
            return bytes(read_whole(stream, self.name))


def _look_into(source: Source, copies: ExitStack) -> _File:
    """Return a source with its size class; a large stream is copied to a temporary file.

    copies: closes those files
    """
    name = source_name(source)
    with open_bytes(source) as stream:
        head = stream.read(_SMALL_BYTES + 1)
        start = _first_line(head)
        is_small = len(head) <= _SMALL_BYTES
        file = _File(name, start, is_small, lambda: nullcontext(_Named(name, head)))
        if file.is_small:
            return file
        # Only a file can be read twice: a pipe that has a path gives its data once.
        if isinstance(source, (str, Path)) and Path(source).is_file():
            return replace(file, open=lambda: open_bytes(source))
        return replace(file, open=_spooled(name, head, stream, copies))


def _first_line(head: bytes) -> bytes:
    """Return the first line that says something: neither blank nor a comment."""
    start = head.lstrip()
    while start.startswith(COMMENT.encode()):
        start = start.partition(b"\n")[2].lstrip()
    return start.partition(b"\n")[0]


class _Named(BytesIO):
    """Bytes under the name that messages use for them."""

    def __init__(self, name: str, data: bytes) -> None:
        """Take the name of the file and what it holds."""
        super().__init__(data)
        self.name = name


class _Copy(BufferedRandom):
    """A copy of a stream under the name that messages use for that."""

    name = ""


def _spooled(
    name: str, head: bytes, rest: BinaryIO, copies: ExitStack
) -> Callable[[], AbstractContextManager[BinaryIO]]:
    """Return an opener of a stream that can be read once: it goes to a file that can be reread."""
    import shutil
    import tempfile

    copy = _Copy(tempfile.TemporaryFile(buffering=0, dir=temporary_root()))  # noqa: SIM115 - `copies` closes it
    copies.enter_context(copy)
    copy.name = name
    copy.write(head)
    shutil.copyfileobj(rest, copy)

    @contextmanager
    def reopen() -> Iterator[BinaryIO]:
        copy.seek(0)
        yield copy

    return reopen


def _evaluate_small(runs: Sequence[_File], qrels: _File, asked: _Asked) -> _Found:
    # The bounds and what needs them: not for large files.
    from judge.measures import plain

    judged = _read_qrels(qrels, asked)
    found = []
    for file in runs:
        ranked_runs = _read_ranked(file, asked.reading, lambda query: judged.get(query, {}))
        for name, ranked in ranked_runs.items():
            evaluation = plain.evaluate(
                ranked,
                judged,
                asked.measures,
                run=name,
                gain=asked.gain,
                grade_max=asked.grade_max,
                intervals=asked.intervals,
            )
            found.append((file.name, with_failures(evaluation, _failed(ranked))))
    return found


def _evaluate_large(runs: Sequence[_File], qrels: _File, asked: _Asked) -> _Found:
    # numpy and what needs it: not for small files.
    from judge.measures.engine import Engine
    from judge.measures.engine_qrels import read_table, table_of

    if qrels.is_trec and asked.reading.grade_map is None:
        try:
            table = read_table(qrels.read(), name=qrels.name)
        except InputError:
            table = table_of(_read_unusual_qrels(qrels, asked))
    else:
        table = table_of(_read_qrels(qrels, asked))
    engine = Engine(
        table,
        asked.measures,
        gain=asked.gain,
        precision=asked.reading.precision,
        grade_max=asked.grade_max,
        intervals=asked.intervals,
    )
    found: _Found = []
    for file in runs:
        if file.is_trec:
            evaluations = engine.evaluate(file.open, name=file.name)
        else:
            ranked = _read_ranked(
                file, asked.reading, lambda query: table.grades_of(table.index(query.encode()))
            )
            evaluations = [
                with_failures(engine.evaluate_ranked(lists, run=run), _failed(lists))
                for run, lists in ranked.items()
            ]
        found += [(file.name, evaluation) for evaluation in evaluations]
    return found


def _read_ranked(
    file: _File, reading: ReadOptions, judged_of: Callable[[str], Collection[str]]
) -> dict[str, dict[str, Ranked]]:
    """Return every run of a file with its lists in rank order.

    judged_of: query to the ids that the qrels grade, which are documents or chunks
    """
    if file.is_trec:
        with file.open() as stream:
            runs = read_run(stream, name=file.name)
        return {tag: rank_lists(lists, precision=reading.precision) for tag, lists in runs.items()}
    # Reads every other shape, and costs more to import than a small TREC run to evaluate.
    from judge.matching import matched_runs

    with file.open() as stream:
        return matched_runs(stream, reading, file=file.name, judged_of=judged_of)


def _read_qrels(file: _File, asked: _Asked) -> dict[str, dict[str, int]]:
    if file.is_trec and asked.reading.grade_map is None:
        try:
            with file.open() as stream:
                return read_qrels(stream, name=file.name)
        except InputError:
            pass
    return _read_unusual_qrels(file, asked)


def _read_unusual_qrels(file: _File, asked: _Asked) -> dict[str, dict[str, int]]:
    """Return qrels as `grade` reads them, of any shape; raises InputError in the same words.

    What the quick readers of TREC lines refuse comes here too: `1.0` is a whole grade.
    """
    from judge.formats import read_qrels as read_any_qrels

    with file.open() as stream:
        return read_any_qrels(stream, asked.reading).grades


def _failed(ranked: Mapping[str, Ranked]) -> set[str]:
    return {query for query, one in ranked.items() if one.failed}


def _chosen(found: _Found, run_tag: str | None) -> list[Evaluation]:
    """Return those asked for, under their tags; where tags repeat, with their files."""
    tags = Counter(one.run for _, one in found)
    if run_tag is not None and run_tag not in tags:
        raise UsageError(f"no run is tagged {run_tag!r}; there are: {', '.join(tags)}")
    return [
        one if tags[one.run] == 1 else replace(one, run=f"{file}:{one.run}")
        for file, one in found
        if run_tag in (None, one.run)
    ]
