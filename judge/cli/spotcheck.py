"""`judge spotcheck OUT`: let people grade the chunks that tell what a judge is worth."""

from __future__ import annotations

import getpass
import secrets
import sys
from pathlib import Path
from urllib.parse import urlencode

import click
from rich.console import Console

from judge.cli.notes import note
from judge.cli.output import terminal
from judge.cli.reading import reading_options, source
from judge.errors import UsageError
from judge.formats import ReadOptions, read_corpus, read_runs
from judge.formats.outfolder import read_out_folder
from judge.labelling.session import Session
from judge.labelling.store import LabelStore
from judge.labelling.terminal import label_in_terminal
from judge.spotcheck import Plan, build_queue, find_sources, find_texts


@click.command("spotcheck")
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--run",
    "runs",
    metavar="FILE",
    multiple=True,
    help="The run that was graded, for the chunks' texts; repeatable. [texts from --corpus]",
)
@click.option("--web", is_flag=True, help="Serve a page on this machine. [ask in the terminal]")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Of the page. [any free]")
@click.option("--rater", help="Your name in the labels. [your user name; the page asks]")
@click.option("--labels", metavar="FILE", help="Where labels go. [OUT/labels.csv]")
@click.option(
    "--core",
    type=click.IntRange(0),
    default=100,
    help="How many chunks are drawn at random, for calibration. [100]",
)
@click.option(
    "--rows",
    type=click.IntRange(0),
    default=0,
    help="Draw whole rows in place of chunks: means can be corrected by them. [chunks]",
)
@click.option(
    "--active",
    is_flag=True,
    help="Draw more where the judge is unsure; each label keeps its chance. [all alike]",
)
@click.option("--seed", type=click.IntRange(0), default=0, help="Seed of the draw. [0]")
@reading_options
def command(
    out: Path,
    runs: tuple[str, ...],
    web: bool,
    port: int,
    rater: str | None,
    labels: str | None,
    core: int,
    rows: int,
    active: bool,
    seed: int,
    options: ReadOptions,
    corpus: object,
    queries: object,
) -> int:
    """Queue chunks of a graded run for people to grade, and take their labels.

    OUT is a folder that `judge grade --out` wrote. First comes a random core that suffices
    for `judge calibrate`; then conflicts, unsure verdicts and suspicious texts, which are
    looked at but never enter an estimate. The judge's grade shows only after yours. Every
    label is on disk before the next chunk shows; stop and go on whenever you like.

    \b
    Examples:
      judge spotcheck out/ --run run.json --web
      judge spotcheck out/ --corpus corpus.jsonl --rater ann
      judge calibrate out/ out/labels.csv
    """
    graded = read_out_folder(out)
    read = [run for path in runs for run in read_runs(source(path) or path, options).values()]
    texts = read_corpus(corpus, options).texts if corpus else {}  # type: ignore[arg-type]
    plan = Plan(core=core, rows=rows, active=active, seed=seed)
    found = find_texts(graded, read, texts)
    queue = build_queue(graded, found, sources=find_sources(read), plan=plan)
    for notice in queue.notices:
        note(notice.text)
    session = Session(queue, LabelStore(Path(labels) if labels else out / "labels.csv"))
    session.stamp_drawn()
    session.progress("")  # a labels file that is not ours is refused before anybody labels
    if web:
        _serve(session, port=port, rater=rater)
    else:
        _ask(session, rater or _user())
    return 0


def _ask(session: Session, rater: str) -> None:
    width, color = terminal()
    console = Console(width=width, force_terminal=color, no_color=not color, highlight=False)
    label_in_terminal(session, rater, read=sys.stdin.readline, console=console)


def _user() -> str:
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError) as error:
        raise UsageError("this machine knows no user name: say yours with --rater") from error


def _serve(session: Session, *, port: int, rater: str | None) -> None:
    try:
        from judge.labelling.web import listen, server
    except ImportError as error:
        raise UsageError(
            "the page needs the extra `web`: pip install 'context-judge[web]'; "
            "without --web the terminal asks"
        ) from error
    listening = listen(port)
    host, port = listening.getsockname()
    token = secrets.token_urlsafe(24)
    query = urlencode({"token": token} | ({"rater": rater} if rater else {}))
    click.echo(f"Open http://{host}:{port}/?{query}")
    click.echo("Only this machine can, with that address. Ctrl-C ends it; every label is kept.")
    server(session, listening, token=token).run(sockets=[listening])
