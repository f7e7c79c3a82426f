"""`judge compare BASELINE CANDIDATE`: is the candidate better, and how sure are we?"""

from __future__ import annotations

from pathlib import Path

import click

from judge.api.comparing import compare, line_up
from judge.api.inputs import Inputs
from judge.cli.judging import JudgingFlags, asked_judge, judging_options, told_forecast
from judge.cli.known import known_options
from judge.cli.printing import print_json, print_lines
from judge.cli.reading import source
from judge.cli.writing import code_with, tried
from judge.comparing.comparison import Comparison
from judge.comparing.lineup import Lineup
from judge.errors import UsageError
from judge.report.comparison import comparison_lines
from judge.report.comparison_document import comparison_document
from judge.report.comparison_files import write_comparison
from judge.report.files import prepare_folder
from judge.report.lineup import lineup_document, lineup_lines


@click.command("compare")
@click.argument("baseline")
@click.argument("candidate")
@click.argument("others", nargs=-1)
@known_options
@click.option(
    "--traffic-sample",
    "sample",
    is_flag=True,
    help="The queries are a random sample of traffic, for correction by labels. [a fixed set]",
)
@click.option(
    "--against",
    metavar="FILE",
    help="For more than two runs: a second source of grades; do both order the runs alike? [none]",
)
@click.option(
    "--out", metavar="DIR", help="Write comparison.json, comparison.html, … there. [nothing]"
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
@judging_options
def command(
    baseline: str,
    candidate: str,
    others: tuple[str, ...],
    against: str | None,
    measures: tuple[str, ...],
    cutoff: int,
    gain: str,
    until: str,
    sample: bool,
    out: str | None,
    as_json: bool,
    inputs: Inputs,
    judging: JudgingFlags,
) -> int:
    """Say whether CANDIDATE ranks better than BASELINE.

    Both are runs, or reports with rankings inside, and are scored over one pool of
    judgments. What has no grade is left open: the answer says what it could still change.
    With --backend it is judged, with --until decided only as far as the answer needs it.

    Exits 0 when decided, 3 when not, 2 for input that cannot be used, 4 when the judge
    cannot be reached; after --dry-run 0.

    With more than two runs, a table of all of them and no verdict.

    \b
    Examples:
      judge compare before.json after.json
      judge compare before.json after.json --backend mock --until decided
      judge compare a.json b.json --backend mock --labels labels.csv --exclude-from-settling
      judge compare a.trec b.trec --judgments qrels.txt -m nDCG@10 -m RR
    """
    if against is not None and not others:
        raise UsageError("--against orders more than two runs; name a third one")
    if others and (until != "all" or out is not None or sample):
        raise UsageError("--until, --out and --traffic-sample are for two runs, not for more")
    if out is not None and not judging.dry_run:
        prepare_folder(Path(out))
    with asked_judge(judging, grade_max=inputs.options.grade_max) as judge:
        if others:
            lineup = line_up(
                [source(run) for run in (baseline, candidate, *others)],
                inputs=inputs,
                judge=judge,
                measures=measures,
                k=cutoff,
                gain=gain,
                against=source(against),
            )
        else:
            comparison = compare(
                source(baseline),
                source(candidate),
                inputs=inputs,
                judge=judge,
                measures=measures,
                k=cutoff,
                gain=gain,
                until=until,
                sample=sample,
            )
    if told_forecast(judging, judge, as_json=as_json, until=until):
        return 0
    if others:
        return _print(lineup, as_json=as_json)
    return _shown(comparison, None if out is None else Path(out), as_json=as_json)


def _shown(comparison: Comparison, folder: Path | None, *, as_json: bool) -> int:
    """Write and print a comparison; return the exit code."""
    unwritten = None if folder is None else tried(lambda: write_comparison(comparison, folder))
    if as_json:
        print_json(comparison_document(comparison))
    else:
        print_lines(comparison_lines(comparison))
    return code_with(unwritten, comparison.exit_code, paid=comparison.grading.calls.made > 0)


def _print(lineup: Lineup, *, as_json: bool) -> int:
    if as_json:
        print_json(lineup_document(lineup))
    else:
        print_lines(lineup_lines(lineup))
    return lineup.exit_code
