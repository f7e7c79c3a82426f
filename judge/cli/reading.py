"""The flags that say how files are read, shared by every command that reads any."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, overload

import click

from judge.errors import UsageError
from judge.formats.options import ReadOptions
from judge.formats.spellings import LEFT_OUT, OUR_FIELDS

_TARGETS = OUR_FIELDS | {LEFT_OUT}
_FLAGS = (
    click.option(
        "--map",
        "field_map",
        metavar="THEIRS=OURS,…",
        multiple=True,
        help="Rename fields of your files, e.g. question=query; =- leaves one out. [none]",
    ),
    click.option(
        "--key",
        metavar="FIELD,…",
        default="",
        help="Metadata fields that make a result's id, e.g. file_id,page. [its own id]",
    ),
    click.option(
        "--run-tag",
        metavar="TAG",
        help="Which run of a TREC file that holds several. [the only one]",
    ),
    click.option(
        "--grade-max",
        metavar="G",
        type=click.IntRange(min=1, max=100),
        default=3,
        help="Top of the grade scale 0..G. [3]",
    ),
    click.option(
        "--grade-map",
        metavar="VALUE=GRADE,…",
        multiple=True,
        help="Grades of your files on the scale, e.g. 0=0,1=1,10=2,100=3. [as written]",
    ),
    click.option(
        "--labels-grade-map",
        metavar="VALUE=GRADE,…",
        multiple=True,
        help="The same for people's labels, where their scale is another. [as --grade-map]",
    ),
    click.option("--clip", is_flag=True, help="Clip grades off the scale. [an error]"),
    click.option(
        "--precision",
        type=click.Choice(["single", "double"]),
        default="single",
        help="How TREC scores compare: single as trec_eval 9, double as trec_eval 10. [single]",
    ),
    click.option(
        "--text-field",
        metavar="FIELD,…",
        default="",
        help="Fields of search hits that hold the text, e.g. title,body. [a guess]",
    ),
    click.option(
        "--corpus",
        type=click.UNPROCESSED,
        metavar="FILE",
        callback=lambda _ctx, _param, value: source(value),
        help="Texts of chunks (JSONL: id, text, title). [in the run]",
    ),
    click.option(
        "--queries",
        type=click.UNPROCESSED,
        metavar="FILE",
        callback=lambda _ctx, _param, value: source(value),
        help="Texts of queries (JSONL or id<TAB>text). [in the run]",
    ),
)


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the reading flags to a command; it gets `options`, `corpus` and `queries`."""

    @functools.wraps(command)
    def with_options(
        *,
        field_map: tuple[str, ...],
        key: str,
        text_field: str,
        run_tag: str | None,
        grade_max: int,
        grade_map: tuple[str, ...],
        labels_grade_map: tuple[str, ...],
        clip: bool,
        precision: Any,
        **rest: Any,
    ) -> Any:
        options = ReadOptions(
            map=renames(field_map),
            key=names(key),
            text_field=names(text_field),
            run_tag=run_tag,
            grade_max=grade_max,
            grade_map=_grades("--grade-map", grade_map, grade_max),
            labels_grade_map=_grades("--labels-grade-map", labels_grade_map, grade_max),
            clip=clip,
            precision=precision,
        )
        return command(options=options, **rest)

    wrapped: Callable[..., Any] = with_options
    for flag in reversed(_FLAGS):
        wrapped = flag(wrapped)
    return wrapped


@overload
def source(value: str) -> str | BinaryIO: ...
@overload
def source(value: str | None) -> str | BinaryIO | None: ...
def source(value: str | None) -> str | BinaryIO | None:
    """Return what a FILE argument names: standard input for "-", else the path."""
    return sys.stdin.buffer if value == "-" else value


def refuse_two_streams(*files: str | BinaryIO | None) -> None:
    """Raise UsageError if more than one file is standard input: it can be read once."""
    if sum(file == "-" or file is sys.stdin.buffer for file in files) > 1:
        raise UsageError("only one file can be standard input (`-`)")


def pairs(flag: str, values: tuple[str, ...]) -> Mapping[str, str]:
    """Return `a=b,c=d` as a mapping; UsageError where a part is no such pair.

    >>> pairs("--map", ("question=query,docs=expected",))
    {'question': 'query', 'docs': 'expected'}
    """
    found: dict[str, str] = {}
    for part in (part for value in values for part in value.split(",") if part.strip()):
        theirs, equals, ours = (piece.strip() for piece in part.partition("="))
        if not (theirs and equals and ours):
            raise UsageError(f"{flag}: {part!r} is not THEIRS=OURS")
        if found.setdefault(theirs, ours) != ours:
            raise UsageError(f"{flag}: {theirs!r} is given twice: {found[theirs]!r} and {ours!r}")
    return found


def names(value: str) -> tuple[str, ...]:
    """Return the names in a list with commas between them."""
    return tuple(name.strip() for name in value.split(",") if name.strip())


def renames(values: tuple[str, ...]) -> Mapping[str, str]:
    """Return what --map says, their field -> ours; UsageError for a field we do not have."""
    found = pairs("--map", values)
    unknown = next((ours for ours in found.values() if ours not in _TARGETS), None)
    if unknown is not None:
        known = ", ".join(sorted(OUR_FIELDS))
        raise UsageError(
            f"--map: there is no field {unknown!r}; it is {LEFT_OUT} or one of {known}"
        )
    return found


def _grades(flag: str, values: tuple[str, ...], grade_max: int) -> Mapping[str, int] | None:
    """Return the grade map, or None where the flag was not given."""
    if not values:
        return None
    grades: dict[str, int] = {}
    for value, grade in pairs(flag, values).items():
        if not grade.isascii() or not grade.isdigit() or int(grade) > grade_max:
            raise UsageError(f"{flag}: {value}={grade} needs a grade 0..{grade_max}")
        grades[value] = int(grade)
    return grades
