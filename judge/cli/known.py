"""The options of every command that grades runs: what is read, what is measured, when to stop."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from judge.api.inputs import Inputs
from judge.cli.reading import reading_options, refuse_two_streams, source
from judge.cli.shares import share

_OPTIONS = (
    click.option("--goldens", metavar="FILE", help="Answers known in advance. [those in the runs]"),
    click.option(
        "--judgments",
        metavar="FILE",
        multiple=True,
        help="Grades known before: qrels, judgments.jsonl, …; repeatable. [none]",
    ),
    click.option("--labels", metavar="FILE", help="Human labels; they outrank all else. [none]"),
    click.option(
        "--exclude-from-settling",
        "exclude_labels",
        is_flag=True,
        help="Keep --labels out of settling, to compare the judge with them. [they settle]",
    ),
    click.option(
        "--only-judged",
        is_flag=True,
        help="Leave out rows without any golden, label or grade known before. [all rows]",
    ),
    click.option(
        "--preferences",
        metavar="FILE",
        help="Pairs mined from read logs, as `judge mine` writes them. [none]",
    ),
    click.option(
        "--read-log",
        "read_logs",
        metavar="LOG",
        multiple=True,
        help="Read log to mine for pairs, with the defaults of `judge mine`; repeatable. [none]",
    ),
    click.option(
        "--log-error",
        type=share,
        metavar="SHARE",
        default="10%",
        help="Share of audited pairs that grades may contradict; above it, or unaudited, a log"
        " only says what to ask first. [10%]",
    ),
    click.option(
        "-k",
        "cutoff",
        type=click.IntRange(1),
        default=10,
        help="Cutoff of the default measures. [10]",
    ),
    click.option(
        "-m",
        "--measure",
        "measures",
        multiple=True,
        help="Measure, repeatable: nDCG@10, ERR@10, RR, R@5, …; of runs compared the first nDCG"
        " decides. [nDCG@10; with goldens RR, R@5, R@10]",
    ),
    click.option(
        "--gain",
        type=click.Choice(["linear", "exponential"]),
        default="linear",
        help="Gain of a grade g in nDCG: g, or 2^g - 1. [linear]",
    ),
    click.option(
        "--until",
        default="all",
        metavar="HOW",
        help="Judge all, or only until decided, width=W (of the mean nDCG) or, to compare two runs,"
        " confident=C. [all]",
    ),
)


def known_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add these and the reading options to a command; what they name comes as `inputs`."""

    @functools.wraps(command)
    def with_options(
        *,
        goldens: str | None,
        judgments: tuple[str, ...],
        labels: str | None,
        exclude_labels: bool,
        preferences: str | None,
        read_logs: tuple[str, ...],
        log_error: float,
        only_judged: bool,
        corpus: Any,
        queries: Any,
        options: Any,
        **rest: Any,
    ) -> Any:
        known = (*judgments, goldens, labels, preferences, *read_logs)
        refuse_two_streams(*known, *_arguments(rest), corpus, queries)
        inputs = Inputs(
            goldens=source(goldens),
            judgments=[source(path) for path in judgments],
            labels=source(labels),
            exclude_labels=exclude_labels,
            preferences=source(preferences),
            read_log=[source(path) for path in read_logs] or None,
            log_error=log_error,
            only_judged=only_judged,
            corpus=corpus,
            queries=queries,
            options=options,
        )
        return command(inputs=inputs, **rest)

    wrapped: Callable[..., Any] = reading_options(with_options)
    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped


def _arguments(given: dict[str, Any]) -> list[str]:
    """Return the files among a command's own arguments."""
    names = ("run", "runs", "baseline", "candidate", "others", "against")
    found = [given[name] for name in names if given.get(name) is not None]
    return [path for value in found for path in (value if isinstance(value, tuple) else (value,))]
