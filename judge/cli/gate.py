"""`judge gate RUN --baseline FILE`: may this change go in?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from judge.api.gating import Asked, gate
from judge.api.inputs import Inputs
from judge.cli.judging import JudgingFlags, asked_judge, judging_options, told_forecast
from judge.cli.known import known_options
from judge.cli.numbers import NumberRange
from judge.cli.printing import print_json, print_lines
from judge.cli.reading import source
from judge.cli.writing import code_with, prepare_outputs, write_lines
from judge.comparing.gating import Gate
from judge.errors import UsageError
from judge.report.gate import gate_lines, gate_markdown
from judge.report.gate_document import gate_document, gate_junit
from judge.stopping.outcome import MARGIN, Claim, Rule


@click.command("gate")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option("--baseline", required=True, metavar="FILE", help="The stored baseline.")
@click.option(
    "--update-baseline", "update", is_flag=True, help="Write the first RUN as the new baseline."
)
@click.option(
    "--margin",
    type=NumberRange(0.0, 1.0),
    default=MARGIN,
    help=f"How much lower a mean may be; at 0 any drop fails. [{MARGIN}]",
)
@click.option(
    "--claim",
    type=click.Choice([claim.value for claim in Claim]),
    default=Claim.SET.value,
    help="A pass speaks of these queries (set), or of queries like these too (population). [set]",
)
@click.option("--strict", is_flag=True, help="The same as --margin 0. [no]")
@click.option("--markdown", metavar="FILE", help="Write a comment for a pull request there. [no]")
@click.option("--junit", metavar="FILE", help="Write JUnit XML there. [no]")
@known_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
@judging_options
def command(
    runs: tuple[str, ...],
    baseline: str,
    update: bool,
    margin: float,
    claim: str,
    strict: bool,
    markdown: str | None,
    junit: str | None,
    measures: tuple[str, ...],
    cutoff: int,
    gain: str,
    until: str,
    as_json: bool,
    inputs: Inputs,
    judging: JudgingFlags,
) -> int:
    """Gate RUN against a committed baseline.

    A measure passes when its mean over these queries, and over each slice of them, is not
    lower than the baseline's by more than the margin, whatever the chunks without a grade
    turn out to be. With --claim population these queries must show besides, with 95%
    confidence, that queries like them lose no more overall; that takes hundreds of rows.
    Several RUNs are repeats of one system: their mean counts. The baseline is scored anew
    from its stored rankings over the common pool.

    Exits 0 for a pass, 1 for a fail, 3 when undecided, 2 for input that cannot be used, 4
    when the judge cannot be reached; after --dry-run 0.

    \b
    Examples:
      judge gate run.json --baseline baseline.json --update-baseline
      judge gate run.json --baseline baseline.json
      judge gate run.json --baseline baseline.json --backend mock --until decided
    """
    asked = Asked(measures, cutoff, gain, until, Rule(0.0 if strict else margin, Claim(claim)))
    files = {"--markdown": markdown, "--junit": junit}
    prepare_outputs(
        {
            **files,
            "--json": "-" if as_json else None,
            "--update-baseline": baseline if update else None,
        },
        inputs=(*runs, *inputs.files, *(() if update else (baseline,))),
    )
    with asked_judge(judging, grade_max=inputs.options.grade_max) as judge:
        found = gate(
            [source(run) for run in runs],
            baseline,
            asked=asked,
            inputs=inputs,
            judge=judge,
            update=update,
        )
    if told_forecast(judging, judge, as_json=as_json, until=until):
        return 0
    unwritten = _write(found, files)
    if as_json:
        print_json(gate_document(found))
    elif "-" not in files.values():
        print_lines(gate_lines(found))
    if update and not found.broke_off:
        click.echo(f"Wrote {Path(baseline)}", err=True)
    code = 0 if update and not found.broke_off else found.exit_code
    return code_with(unwritten, code, paid=judge is not None and judge.calls.made > 0)


def _write(found: Gate, files: Mapping[str, str | None]) -> UsageError | None:
    """Write the files before anything is printed: a closed pipe must not cost them.

    Returns the first error, for after the report is printed.
    """
    texts = {"--markdown": gate_markdown, "--junit": gate_junit}
    unwritten = None
    for flag, path in files.items():
        if path is not None:
            try:
                write_lines(texts[flag](found).removesuffix("\n").split("\n"), path)
            except UsageError as error:
                unwritten = unwritten or error
    return unwritten
