"""`judge goldens make` and `judge goldens check`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

import click

from judge.cascade import Settings, grade_runs
from judge.cli.engine_options import map_option
from judge.cli.judging import JudgingFlags, asked_judge, judging_options
from judge.cli.notes import note
from judge.cli.printing import print_json
from judge.cli.propose import command as propose
from judge.cli.writing import write_lines
from judge.errors import UsageError
from judge.formats import ReadOptions, read_goldens
from judge.measures.names import parse_measure
from judge.report.differences import wrapped
from judge.report.sweep_text import table_lines
from judge.report.terminal import clean
from judge.retrieval.checking import check_goldens
from judge.retrieval.corpus import read_items
from judge.retrieval.engine import Chunk, Engine
from judge.retrieval.knobs import RETRIEVERS, Knobs
from judge.retrieval.making import DEFAULT_CATEGORIES, golden_lines, make_goldens
from judge.retrieval.paraphrasing import PROMPT, paraphrase
from judge.run import Golden, Row
from judge.sweep import read_sweep


@click.group("goldens")
def command() -> None:
    """Make goldens from your own corpus, or find what is wrong with a golden set."""


command.add_command(propose)


@command.command("make")
@click.argument("corpus", type=click.Path())
@click.option("-o", "--out", required=True, metavar="FILE", help="Write the goldens there.")
@click.option(
    "--category",
    "categories",
    multiple=True,
    help="exact, phrase, prefix, noisy, first-token; repeatable. [the first four]",
)
@click.option(
    "--per-category", type=click.IntRange(1), default=50, help="Rows of each kind, at most. [50]"
)
@click.option("--seed", type=int, default=0, help="Another seed takes other passages. [0]")
@map_option
@judging_options
def make(
    corpus: str,
    out: str,
    categories: tuple[str, ...],
    per_category: int,
    seed: int,
    options: ReadOptions,
    judging: JudgingFlags,
) -> None:
    """Make goldens from CORPUS without a person; the same corpus and seed give the same file.

    exact asks for a passage's rarest term if it stands nowhere else (the row is then
    `complete`), phrase for words that follow each other, prefix for the beginning of a
    rare word, noisy for a phrase with typing mistakes. With --backend a model writes a
    paraphrase for the passage of every exact row. first-token, the first word of a
    passage, is there to show what bad goldens do.
    """
    engine = Engine(read_items(corpus, options).items)
    made = make_goldens(
        engine.index(Knobs()).chunks,
        categories=categories or DEFAULT_CATEGORIES,
        per_category=per_category,
        seed=seed,
    )
    goldens = made.goldens
    if judging.backends:
        exact = [golden for golden in goldens if golden.slice == "exact"]
        goldens = (*goldens, *_paraphrased(exact, made.passages, judging))
    if not goldens:
        raise UsageError(f"{corpus}: no passage gave a question of {', '.join(made.passed_over)}")
    write_lines(golden_lines(goldens), out)
    _print_hits(engine, goldens)
    for name, count in made.passed_over.items():
        if count:
            note(f"{count} passages gave no {name} question")
    note(f"{len(goldens)} goldens in {out}")


@command.command("check")
@click.argument("goldens", type=click.Path())
@click.option("--corpus", required=True, metavar="FILE|DIR", help="What the goldens are about.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
@map_option
def check(goldens: str, corpus: str, as_json: bool, options: ReadOptions) -> int:
    """Find what is wrong with GOLDENS, before a bad question is taken for a bad ranking.

    Errors: expected ids and quotes that the corpus lacks, one query with two answers, a
    complete row whose identifier also stands elsewhere. Warnings: near duplicates of the
    answer, queries copied from it, slices under ten rows, rows that no retriever can miss.
    Ends with 1 if there are errors.
    """
    read = read_goldens(goldens, options).goldens
    findings = check_goldens(read, Engine(read_items(corpus, options).items))
    errors = sum(finding.is_error for finding in findings)
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            click.echo("\n".join(wrapped(clean(str(finding)))))
        outcome = f"{errors} errors, {len(findings) - errors} warnings in {len(read)} goldens"
        click.echo(f"{'FAIL' if errors else 'OK'} {outcome}")
    return 1 if errors else 0


def _paraphrased(
    exact: Sequence[Golden], passages: Mapping[str, Chunk], judging: JudgingFlags
) -> tuple[Golden, ...]:
    if "mock" in judging.backends:
        raise UsageError("the mock cannot write questions; name a model: --backend openai:MODEL")
    if judging.dry_run:
        raise UsageError("--dry-run would make goldens without paraphrases; leave --backend out")
    if judging.redact:
        raise UsageError("--redact keeps no replies, and a paraphrase is a reply; leave it out")
    with asked_judge(replace(judging, prompt=judging.prompt or PROMPT)) as judge:
        assert judge is not None
        written = paraphrase(exact, passages, judge=judge)
    for why, count in written.failed.items():
        note(f"{count} passages gave no paraphrase: {why}")
    return written.goldens


_REMARKS = {
    "first-token": (
        "first words are seldom rare, so such a question has many right answers of which one "
        "is written down. A low figure here is the goldens' fault, not the engine's."
    ),
    "paraphrase": (
        "a model that has just read a passage leans on its words, which flatters search by "
        "words; read it beside exact, which asks for the same passages."
    ),
}


def _print_hits(engine: Engine, goldens: Sequence[Golden]) -> None:
    """Print how often each retriever has the answer among its first five, and what that means."""
    asked = [Row(g.query_id or "", query_id=g.query_id, query=g.query) for g in goldens]
    runs = [engine.run(asked, knobs=Knobs(retriever=name)) for name in RETRIEVERS]
    settings = Settings(measures=(parse_measure("Hit@5"),))
    grading = grade_runs(runs, settings=settings, goldens=goldens)
    sweep = read_sweep(grading, knob="retriever", values=RETRIEVERS)
    click.echo("\n".join(table_lines(sweep, sweep.measures[0])))
    click.echo(
        "\nThis measures the goldens as much as the retrievers: whether a question of\n"
        "each kind points at one passage, and whether its words lead there."
    )
    for name, remark in _REMARKS.items():
        if any(golden.slice == name for golden in goldens):
            click.echo("\n".join(wrapped(f"{name}: {remark}")))
