"""`judge run QUERIES`: ask the search system itself and keep what it returned."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from judge.cli.notes import note
from judge.cli.numbers import NumberRange
from judge.cli.reading import reading_options, source
from judge.cli.writing import write_lines
from judge.errors import InputError, Problem, UsageError
from judge.formats.json_value import json_value
from judge.formats.opening import read_text
from judge.formats.options import ReadOptions
from judge.formats.run_writing import run_lines
from judge.formats.texts import filled, read_corpus
from judge.run import Run
from judge.running.asked import Asked, read_asked
from judge.running.asking import Manner, ask_all, run_of
from judge.running.commands import CommandTarget
from judge.running.noise import noise
from judge.running.partial import Answer, PartialRun
from judge.running.targets import Target
from judge.running.urls import UrlTarget

_VARIABLE = re.compile(r"\$\{(\w+)\}")


@click.command("run")
@click.argument("queries_file", metavar="QUERIES")
@click.option("-o", "--output", metavar="FILE", default="run.json", help="The run. [run.json]")
@click.option("--command", "command_line", metavar="CMD", help="A command to ask. [none]")
@click.option("--url", metavar="URL", help="A search API to ask. [none]")
@click.option("--body", metavar="FILE", help="A JSON template to POST to --url. [GET, no body]")
@click.option(
    "--header",
    "headers",
    metavar="'NAME: VALUE'",
    multiple=True,
    help="A header for --url; ${VAR} is taken from the environment; repeatable. [none]",
)
@click.option("--hits", metavar="PATH", help="Where JSON replies hold the results. [a guess]")
@click.option("-k", "k", type=click.IntRange(1), default=10, help="How many results {k} asks. [10]")
@click.option("--name", metavar="NAME", help="What the run is called. [from the output file]")
@click.option("--concurrency", type=click.IntRange(1, 64), default=4, help="At a time. [4]")
@click.option("--retries", type=click.IntRange(0, 20), default=3, help="Further tries. [3]")
@click.option(
    "--timeout",
    "timeout_s",
    type=NumberRange(min=0, min_open=True),
    default=30.0,
    help="Seconds that one try may take. [30]",
)
@click.option(
    "--repeat", type=click.IntRange(1, 100), default=1, help="Ask everything n times. [1]"
)
@reading_options
def command(
    queries_file: str,
    output: str,
    command_line: str | None,
    url: str | None,
    body: str | None,
    headers: tuple[str, ...],
    hits: str | None,
    k: int,
    name: str | None,
    concurrency: int,
    retries: int,
    timeout_s: float,
    repeat: int,
    options: ReadOptions,
    corpus: Any,
    queries: Any,
) -> int:
    """Ask a search system every query and write what it returned as a run.

    QUERIES is a file of queries, goldens or a query set; goldens stay with their rows, and
    ids in `exclude` (or `source`) are dropped from that row's results. A command gets
    {query}, {query_id}, {k} as arguments, without a shell, and prints JSON or one id a line.
    A URL gets them percent-encoded, a --body template inside its strings.

    A query that fails for good is a row that failed, not an empty list. What was answered is
    kept beside the output, so that the same command goes on where it stopped. With --repeat
    the outputs are numbered and the system's own noise is printed.

    \b
    Examples:
      judge run queries.jsonl --command 'my-search --top {k} {query}'
      judge run goldens.jsonl --url 'http://localhost:8080/find?q={query}&n={k}'
      judge run q.tsv --url http://localhost:9200/kb/_search --body query.json \\
        --header 'Authorization: ApiKey ${ES_KEY}' --text-field body
    """
    if queries is not None:
        raise UsageError("judge run: the queries are the argument itself, not --queries")
    asked = read_asked(source(queries_file), options)
    manner = Manner(k=k, hits=hits, concurrency=concurrency, retries=retries)
    template = None if body is None else _template(body)
    settings = (command_line, url, template, hits, k, options.text_field, options.key)
    target = _target(command_line, url, template, headers, timeout_s)
    texts = None if corpus is None else read_corpus(corpus, options)
    runs = []
    for number, path in enumerate(_outputs(Path(output), repeat), start=1):
        digest = _digest(asked.asked, settings, number)
        partial = PartialRun(path.with_name(path.name + ".partial"), asked_of=digest)
        answers = _answers(asked.asked, target, manner, options, partial)
        run = run_of(asked.asked, answers, name=name or path.stem, options=options)
        runs.append(filled(run, texts, None))
        _finish(runs[-1], path, partial)
    for notice in (*asked.notices, *runs[0].notices):
        note(notice.text)
    if repeat > 1:
        _say_noise(runs, k)
    return 0


def _target(
    command_line: str | None,
    url: str | None,
    body: object,
    headers: tuple[str, ...],
    timeout_s: float,
) -> Target:
    if (command_line is None) == (url is None):
        raise UsageError("say what to ask: either --command or --url")
    if command_line is not None:
        if body is not None or headers:
            raise UsageError("--body and --header go with --url, not with --command")
        return CommandTarget.parse(command_line, timeout_s=timeout_s)
    return UrlTarget(
        url=url or "",
        body=body,
        headers=dict(_header(header) for header in headers),
        secrets=tuple(os.environ[name] for text in headers for name in _VARIABLE.findall(text)),
        timeout_s=timeout_s,
        proxies=urllib.request.getproxies(),
    )


def _template(path: str) -> object:
    try:
        return json_value(read_text(path).text)
    except ValueError as error:
        raise InputError(Problem(path, f"not JSON: {error}", "give a JSON template")) from error


def _header(text: str) -> tuple[str, str]:
    """Return a header with its variables filled in; its value is never printed."""
    name, colon, value = (part.strip() for part in text.partition(":"))
    if not (name and colon and value) or not text.isprintable():
        raise UsageError("--header: write 'Name: value'")
    missing = next((v for v in _VARIABLE.findall(value) if v not in os.environ), None)
    if missing is not None:
        raise UsageError(f"--header {name}: there is no variable {missing} in the environment")
    return name, _VARIABLE.sub(lambda match: os.environ[match[1]], value)


def _outputs(path: Path, repeat: int) -> list[Path]:
    if repeat == 1:
        return [path]
    return [path.with_name(f"{path.stem}-{n}{path.suffix}") for n in range(1, repeat + 1)]


def _digest(asked: Sequence[Asked], settings: Sequence[object], number: int) -> str:
    """Return what tells this run's answers from another's; headers are no part of it."""
    queries = [[one.row.key, one.row.query, sorted(one.exclude)] for one in asked]
    text = json.dumps([queries, list(settings), number], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _answers(
    asked: Sequence[Asked],
    target: Target,
    manner: Manner,
    options: ReadOptions,
    partial: PartialRun,
) -> Mapping[str, Answer]:
    known = partial.start()
    if known:
        note(f"going on: {len(known)} of {len(asked)} answered before")
    keep = _counted(partial.add, done=len(known), total=len(asked))
    answers = ask_all(asked, target, manner=manner, options=options, known=known, keep=keep)
    failed = [str(answer["error"]) for answer in answers.values() if "error" in answer]
    if len(failed) == len(asked):
        fix = "check the command or URL; nothing was written"
        raise InputError(Problem("judge run", f"no query was answered: {failed[0]}", fix))
    return answers


def _counted(keep: Callable[[Answer], None], *, done: int, total: int) -> Callable[[Answer], None]:
    """Return `keep` with a live count on stderr where that is a terminal."""
    count = done

    def kept(answer: Answer) -> None:
        nonlocal count
        keep(answer)
        count += 1
        if sys.stderr.isatty():
            end = "\n" if count == total else ""
            click.echo(f"\rasked {count} of {total}{end}", err=True, nl=False)

    return kept


def _finish(run: Run, path: Path, partial: PartialRun) -> None:
    """Write the run, and drop its answers so far unless some are to be asked again."""
    write_lines(run_lines(run), path)
    if all(row.error is None for row in run.rows):
        partial.path.unlink(missing_ok=True)
    _report(run, path)


def _report(run: Run, path: Path) -> None:
    failed = [row for row in run.rows if row.error is not None]
    empty = sum(not row.results for row in run.rows) - len(failed)
    for row in failed[:20]:
        note(f"{row.key}: {row.error}")
    again = "; the same command asks the failed ones again" if failed else ""
    counts = f"{len(run.rows)} queries, {len(failed)} failed, {empty} empty lists"
    click.echo(f"DONE {path}: {counts}{again}")


def _say_noise(runs: Sequence[Run], k: int) -> None:
    found = noise(runs, k=k)
    click.echo(
        f"NOISE top {k} of {found.n_changed} of {found.n_queries} queries changed between "
        f"{len(runs)} repeats; {found.overlap:.3f} of a list stays the same"
    )
