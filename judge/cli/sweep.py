"""`judge sweep`: a search at several values of one knob, read per slice."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from judge.api.inputs import Inputs
from judge.cascade import Settings, grade_runs
from judge.cli.engine_options import engine_options
from judge.cli.judging import (
    JudgingFlags,
    asked_judge,
    interruptible,
    judging_options,
    told_forecast,
)
from judge.cli.notes import note
from judge.cli.outside import OutsideSearch
from judge.cli.printing import print_json
from judge.cli.reading import reading_options
from judge.cli.writing import write_lines
from judge.errors import UsageError
from judge.formats import ReadOptions, read_corpus, read_queries, read_run
from judge.formats.temporary import temporary_root
from judge.measures.names import parse_measure
from judge.report.sweep_document import sweep_document
from judge.report.sweep_svg import sweep_svg
from judge.report.sweep_text import sweep_lines
from judge.run import Run
from judge.sweep import read_sweep


@click.command("sweep")
@click.option(
    "--set",
    "sets",
    multiple=True,
    required=True,
    metavar="KNOB=VALUE,…",
    help="The knob with its values; further ones, with one value each, are held fixed.",
)
@click.option(
    "--command",
    "template",
    metavar="COMMAND",
    help="Your search, with {KNOB} and {out} in it. [the built-in engine]",
)
@click.option("--goldens", metavar="FILE", help="Answers known in advance. [none]")
@click.option(
    "--judgments", metavar="FILE", multiple=True, help="Grades known before; repeatable. [none]"
)
@click.option("--labels", metavar="FILE", help="Human labels; they outrank all else. [none]")
@click.option(
    "-m",
    "--measure",
    "names",
    multiple=True,
    help="Measure, repeatable. [RR and R@10; with grades or a judge nDCG@10 before them]",
)
@click.option("--svg", metavar="FILE", help="Write the picture there. [nothing]")
@click.option("--runs", metavar="DIR", help="Keep the run of every value there. [nothing]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
@engine_options
@reading_options
@judging_options
def command(
    sets: tuple[str, ...],
    template: str | None,
    goldens: str | None,
    judgments: tuple[str, ...],
    labels: str | None,
    names: tuple[str, ...],
    svg: str | None,
    runs: str | None,
    as_json: bool,
    options: ReadOptions,
    corpus: Any,
    queries: Any,
    judging: JudgingFlags,
    **engine: Any,
) -> int:
    """Turn one knob of a search and read, slice by slice, what it does.

    All values are judged by the same evidence and compared, row by row, with the first.
    The system is your own command, which writes a run to {out}, or the built-in engine
    over --corpus with the queries of --goldens.

    \b
    judge sweep --corpus docs.jsonl --goldens g.jsonl --set recency_half_life_days=0,30,365
    judge sweep --command 'my-search --half-life {half_life} --out {out}' \\
        --set half_life=0,30,90 --goldens g.jsonl
    """
    turning = parse_sets(sets)
    evidence = Inputs(goldens=goldens, judgments=judgments, labels=labels, options=options)
    known = evidence.known()
    graded = bool(known.grades or judging.backends)
    if not (known.goldens or graded or queries):
        raise UsageError("nothing to judge by: give --goldens, --judgments, --labels or --backend")
    default = ("nDCG@10", "RR", "R@10") if graded else ("RR", "R@10")
    settings = Settings(
        measures=tuple(dict.fromkeys(map(parse_measure, names or default))),
        grade_max=options.grade_max,
    )
    with ExitStack() as stack:
        stack.enter_context(interruptible())
        folder = Path(runs or stack.enter_context(_passing_folder()))
        _make_folder(folder)
        if template is None:
            run_at = _built_in(turning, corpus, queries or goldens, options, engine, folder)
        else:
            run_at = _outside(turning, template, corpus, queries, options, folder)
        judge = stack.enter_context(asked_judge(judging, grade_max=options.grade_max))
        grading = grade_runs(
            [replace(run_at(value), name=f"{turning.knob}={value}") for value in turning.values],
            settings=settings,
            goldens=known.goldens,
            known=known.grades,
            judge=judge,
        )
    if told_forecast(judging, judge, as_json=as_json):
        return 0
    sweep = read_sweep(grading, knob=turning.knob, values=turning.values)
    if not sweep.lines:
        raise UsageError("no row has what the measures asked for need; give --goldens with answers")
    if svg is not None:
        write_lines([sweep_svg(sweep)], svg)
    if as_json:
        print_json(sweep_document(sweep), indent=1)
    else:
        click.echo("\n".join(sweep_lines(sweep)))
    for notice in (*known.notices, *grading.notices):
        note(notice.text)
    if grading.stopped is not None:
        note(str(grading.stopped))
        return grading.stopped.exit_code
    return 0


@dataclass(frozen=True, slots=True)
class Turning:
    """The knob that is turned and its values; the settings that stay as they are."""

    knob: str
    values: tuple[str, ...]
    fixed: dict[str, str]

    def at(self, value: str) -> dict[str, str]:
        """Return all settings at one value of the knob."""
        return {**self.fixed, self.knob: value}

    def path(self, folder: Path, value: str) -> Path:
        """Return where the run of a value goes; values never become names of files."""
        return folder / f"run-{self.values.index(value) + 1}.json"


def parse_sets(sets: tuple[str, ...]) -> Turning:
    """Return what `--set` says; UsageError unless exactly one knob has several values."""
    settings: dict[str, list[str]] = {}
    for text in sets:
        name, equals, values = text.partition("=")
        if not equals or not name.isidentifier():
            raise UsageError(f"--set {text}: write KNOB=VALUE,VALUE,…")
        if name in settings:
            raise UsageError(f"--set {name}: given twice; write its values with commas")
        settings[name] = list(dict.fromkeys(value.strip() for value in values.split(",")))
    turned = [name for name, values in settings.items() if len(values) > 1]
    if len(turned) != 1:
        found = ", ".join(turned) or "none"
        raise UsageError(f"--set: one knob needs several values, here {found}; turn one at a time")
    fixed = {name: values[0] for name, values in settings.items() if name not in turned}
    return Turning(turned[0], tuple(settings[turned[0]]), fixed)


def _passing_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(dir=temporary_root())


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--runs {folder}: cannot be made ({error.strerror})") from error


def _built_in(
    turning: Turning,
    corpus: Any,
    asked: Any,
    options: ReadOptions,
    engine: dict[str, Any],
    folder: Path,
) -> Callable[[str], Run]:
    from judge.formats.run_writing import run_lines
    from judge.retrieval.corpus import read_items
    from judge.retrieval.engine import Engine
    from judge.retrieval.knobs import Knobs
    from judge.running.asked import read_asked

    if corpus is None or asked is None:
        raise UsageError("the built-in engine needs --corpus and --goldens or --queries")
    rows = [one.row for one in read_asked(asked, options).asked]
    search = Engine(read_items(corpus, options).items)

    def run_at(value: str) -> Run:
        knobs = Knobs(**engine)
        for name, text in turning.at(value).items():
            knobs = knobs.turned(name, text)
        run = search.run(rows, knobs=knobs)
        write_lines(run_lines(run), turning.path(folder, value))
        return run

    return run_at


def _outside(
    turning: Turning,
    template: str,
    corpus: Any,
    queries: Any,
    options: ReadOptions,
    folder: Path,
) -> Callable[[str], Run]:
    search = OutsideSearch.parse(template, knobs=turning.at(turning.values[0]))
    # Read once: either may be standard input.
    texts = None if corpus is None else read_corpus(corpus, options)
    asked = None if queries is None else read_queries(queries, options)

    def run_at(value: str) -> Run:
        out = turning.path(folder, value)
        out.unlink(missing_ok=True)
        search.run(turning.at(value), out=out)
        return read_run(out, options, corpus=texts, queries=asked)

    return run_at
