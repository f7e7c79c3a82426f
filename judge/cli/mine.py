"""`judge mine LOG…`: turn what searchers and agents did with results into preferences."""

from __future__ import annotations

import sys

import click

from judge.cli.notes import note
from judge.cli.printing import print_json
from judge.cli.writing import write_lines
from judge.errors import InputError, Problem, UsageError

_STRATEGIES = ("skip-above", "last-skip-above", "skip-previous", "no-click-next")


@click.command("mine")
@click.argument("logs", nargs=-1, required=True, type=click.Path(allow_dash=True))
@click.option("-o", "--out", metavar="FILE", help="Write the pairs there, one a line. [nowhere]")
@click.option(
    "--strategy", "strategies", multiple=True, type=click.Choice(_STRATEGIES),
    help="Rule for lists that people read from; may be repeated; default skip-above.",
)  # fmt: skip
@click.option("--tau", default=0.95, show_default=True, help="Probability that decides a pair.")
@click.option("--min-sources", default=5, show_default=True, help="Fewest sources for a winner.")
@click.option("--hops", default=2, show_default=True, help="Pairs in a row to conclude from.")
@click.option("--window", default=1800.0, show_default=True, help="Seconds from list to read.")
@click.option(
    "--max-searches", default=30, show_default=True, help="Searches a minute of a person."
)
@click.option(
    "--set-aside", "actors", multiple=True,
    help="Actor whose sessions have no vote; default evaluation, dashboard, robot, test.",
)  # fmt: skip
@click.option(
    "--read-action", "read_actions", multiple=True,
    help="UBI action that means a read; default click, item_click.",
)  # fmt: skip
@click.option("--reformulations", is_flag=True, help="Join a session's wordings of one query.")
@click.option("--chains", is_flag=True, help="Let later wordings vote for earlier ones (weak).")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON on stdout.")
def command(
    logs: tuple[str, ...],
    out: str | None,
    strategies: tuple[str, ...],
    tau: float,
    min_sources: int,
    hops: int,
    window: float,
    max_searches: int,
    actors: tuple[str, ...],
    read_actions: tuple[str, ...],
    reformulations: bool,
    chains: bool,
    as_json: bool,
) -> None:
    """Mine read logs: which chunk was preferred to which, and what that decides.

    LOGS are logs of judge.ReadLog, or OpenSearch UBI queries and events (bulk NDJSON or
    JSONL), plain or gzip; - is stdin. Rotated files of one log are named together.

    \b
    judge mine reads.jsonl -o preferences.jsonl
    judge mine reads.jsonl* --strategy skip-previous --tau 0.9 --json
    """
    from judge.readlog.deciding import Rule
    from judge.readlog.mining import MiningOptions, mine
    from judge.readlog.pairs import preference_lines
    from judge.readlog.summary import summary_lines, summary_record
    from judge.readlog.ubi import READ_ACTIONS
    from judge.readlog.visits import VisitRules

    if out == "-" and as_json:
        raise UsageError("--json and -o - both write to standard output; give -o a file")
    rules = VisitRules(window_s=window, searches_per_minute=max_searches)
    if actors:
        rules = VisitRules(window, max_searches, frozenset(actors))
    options = MiningOptions(
        rule=Rule(tau=tau, min_sources=min_sources, hops=hops),
        visits=rules,
        strategies=strategies or _STRATEGIES[:1],
        reformulations=reformulations,
        chains=chains,
        read_actions=frozenset(read_actions) or READ_ACTIONS,
    )
    mined = mine([sys.stdin.buffer if log == "-" else log for log in logs], options)
    if not mined.tally.events and not mined.tally.unused:
        fix = "was the command that wrote it stopped?"
        raise InputError(Problem(", ".join(logs), "an empty file", fix))
    if out is not None:
        write_lines(preference_lines(mined.preferences), out)
    if as_json:
        print_json(summary_record(mined, options.rule), indent=2)
    for line in summary_lines(mined, options.rule):
        note(line)
