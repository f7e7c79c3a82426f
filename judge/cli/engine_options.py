"""The options of the commands that search a corpus: knobs, and names of its fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from judge.cli.reading import pairs
from judge.formats.options import ReadOptions

_Command = TypeVar("_Command", bound=Callable[..., Any])


def engine_options(command: _Command) -> _Command:
    """Add the engine's options to a command; their names are those of `Knobs`."""
    options = (
        click.option(
            "--retriever",
            type=click.Choice(["hybrid", "bm25", "hashed"]),
            default="hybrid",
            help="Words and vectors, stemmed words alone, or vectors alone. [hybrid]",
        ),
        click.option("--rrf-k", type=float, default=60, help="Fusion constant. [60]"),
        click.option(
            "--min-similarity", type=float, help="Lowest cosine of the vector channel. [off]"
        ),
        click.option(
            "--recency-half-life-days",
            type=float,
            default=0,
            help="Age at which a memory's fused score is halved. [0, off]",
        ),
        click.option("--depth", type=int, default=10, help="Results a query. [10]"),
        click.option(
            "--chunk-size",
            type=int,
            default=1000,
            help="Characters a chunk, 0 for whole documents. [1000]",
        ),
        click.option(
            "--chunk-overlap",
            type=int,
            default=200,
            help="Characters that neighbours share. [200]",
        ),
        click.option(
            "--vectors",
            type=click.Choice(["hash", "wordllama"]),
            default="hash",
            help="Feature hash, or the model of the extra `vectors`. [hash]",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def map_option(command: _Command) -> _Command:
    """Add `--map` to a command; it gets them as `options`."""
    return click.option(
        "--map",
        "options",
        metavar="THEIRS=OURS,…",
        multiple=True,
        callback=lambda _ctx, _param, values: ReadOptions(map=pairs("--map", values)),
        help="Rename fields of your files, e.g. body=text; =- leaves one out. [none]",
    )(command)
