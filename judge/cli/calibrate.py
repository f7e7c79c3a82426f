"""`judge calibrate JUDGMENTS LABELS`: may this judge gate?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from judge.calibration.files import calibrate
from judge.calibration.trust import CalibrationSettings
from judge.cli.output import terminal
from judge.cli.printing import print_json
from judge.cli.reading import pairs, reading_options, source
from judge.errors import UsageError
from judge.formats import ReadOptions
from judge.report.calibration import calibration_document
from judge.report.calibration_terminal import print_calibration
from judge.statistics.paired import Resampling


@click.command("calibrate")
@click.argument("judgments")
@click.argument("labels", required=False)
@click.option(
    "--runs",
    metavar="FILE",
    multiple=True,
    help="Runs to order under both sources, and whose rows name the slices; repeatable. [none]",
)
@click.option("-m", "--measure", "name", default="nDCG@10", help="What orders runs. [nDCG@10]")
@click.option(
    "--gain",
    type=click.Choice(["linear", "exponential"]),
    default="linear",
    help="Gain of a grade g in nDCG: g, or 2^g - 1. [linear]",
)
@click.option(
    "--require",
    "required",
    metavar="COEFFICIENT=X",
    multiple=True,
    help="What the 95% interval must reach to gate (bias: stay within), repeatable."
    " [kappa_quadratic=0.4, bias=0.5]",
)
@click.option("--draws", type=click.IntRange(100), default=2000, help="Bootstrap draws. [2000]")
@click.option("--seed", type=click.IntRange(0), default=0, help="Seed of the bootstrap. [0]")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON and nothing else.")
@reading_options
def command(
    judgments: str,
    labels: str | None,
    runs: tuple[str, ...],
    name: str,
    gain: str,
    required: tuple[str, ...],
    draws: int,
    seed: int,
    as_json: bool,
    options: ReadOptions,
    corpus: object,
    queries: object,
) -> int:
    """Say how far a judge's grades can be trusted, from labels that people gave.

    JUDGMENTS holds the judge's grades: a folder that `judge grade --out` wrote, its
    verdicts.jsonl, qrels, …; only the judge's own are taken, never what a golden settled.
    LABELS holds people's: CSV with query_id, chunk_id, grade and if wanted rater and pi,
    or any file of grades; left out, it is the folder's labels.csv, which `judge spotcheck`
    writes. Intervals are 95% over queries.

    Exits 0 whatever the answer; 2 for input that cannot be used.

    \b
    Examples:
      judge calibrate out/
      judge calibrate llm.qrels human.qrels --runs runs.trec --clip
      judge calibrate out/ labels.csv --require kappa_at_2=0.5 --json
    """
    labels = labels or _labels_of(judgments)
    files = (judgments, labels, *runs)
    if files.count("-") > 1:
        raise click.UsageError("`-` (standard input) can stand for one file only")
    settings = CalibrationSettings(
        grade_max=options.grade_max, resampling=Resampling(draws, seed), **_required(required)
    )
    report = calibrate(
        source(judgments) or judgments,
        source(labels) or labels,
        runs=[source(run) or run for run in runs],
        measure=name,
        gain=gain,
        options=options,
        settings=settings,
    )
    if as_json:
        print_json(calibration_document(report), indent=2)
    else:
        width, color = terminal()
        print_calibration(report, sys.stdout, width=width, color=color)
    return 0


def _labels_of(judgments: str) -> str:
    """Return where `judge spotcheck` keeps the labels of a folder."""
    if not Path(judgments).is_dir():
        raise UsageError("name the labels too: judge calibrate JUDGMENTS LABELS")
    return str(Path(judgments) / "labels.csv")


def _required(values: tuple[str, ...]) -> dict[str, Any]:
    """Return `kappa_quadratic=0.4` as a setting; nothing where the flag was not given."""
    required: dict[str, float] = {}
    for name, least in pairs("--require", values).items():
        try:
            required[name] = float(least)
        except ValueError as error:
            raise UsageError(f"--require: {name}={least} needs a number, as {name}=0.4") from error
    settings: dict[str, Any] = {}
    if "bias" in required:
        settings["most_bias"] = required.pop("bias")
    return settings | ({"required": required} if required else {})
