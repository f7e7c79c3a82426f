"""`judge cache`: look after the judgments that were paid for."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import click

from judge.cli.notes import note
from judge.errors import InputError, Problem, UsageError, printable
from judge.judging import cache_care
from judge.judging.cache import JudgmentCache
from judge.judging.cache_files import holds_judgments, those_set_aside
from judge.judging.cache_folder import cache_folder
from judge.judging.cache_trouble import IF_DAMAGED, CacheDamaged, CacheTrouble

_folder_option = click.option(
    "--cache-dir",
    metavar="DIR",
    help="Folder of paid judgments. [JUDGE_CACHE_DIR, else cache/ in a checkout, else the user's]",
)


@click.group(name="cache")
def command() -> None:
    """Look after the judgments that were paid for.

    They live in one folder: --cache-dir, else JUDGE_CACHE_DIR, else cache/ in a checkout of this
    project, else the user's cache folder.
    """


@contextmanager
def _open(folder: str | None, *, make: bool = False) -> Iterator[JudgmentCache]:
    """Open the cache to write; a folder that was named must be one, unless it is to be made."""
    path = _folder(folder, make=make)
    with _said(JudgmentCache(path)) as cache:
        if cache.only_reads:
            raise CacheTrouble("; ".join(cache.notices))
        yield cache


@contextmanager
def _open_to_read(folder: str | None) -> Iterator[JudgmentCache]:
    """Open the cache and change nothing in its folder."""
    with _said(JudgmentCache(_folder(folder), to_read=True)) as cache:
        yield cache


def _folder(folder: str | None, *, make: bool = False) -> Path:
    path = cache_folder(folder, environ=os.environ)
    if not make and not (holds_judgments(path) or those_set_aside(path)):
        named = f"--cache-dir {folder}" if folder else str(path)
        raise UsageError(f"{named}: no judgments are kept there")
    return path


@contextmanager
def _said(cache: JudgmentCache) -> Iterator[JudgmentCache]:
    """Yield a cache and close it, after saying on stderr what is wrong with it, if anything."""
    with closing(cache):
        for notice in cache.notices:
            note(notice)
        try:
            yield cache
        except sqlite3.Error as error:
            raise CacheTrouble(f"cache {cache.folder}: {error}; {IF_DAMAGED}") from error


@command.command()
@_folder_option
def stats(cache_dir: str | None) -> int:
    """Count entries by model, prompt and status, and what they cost."""
    with _open_to_read(cache_dir) as cache:
        found = cache_care.stats(cache)
        click.echo(f"{cache.folder}: {found.bytes / 1e6:.1f} MB")
    for (model, prompt, status), n in sorted(found.statuses.items()):
        click.echo(printable(f"{n:>8}  {model}  {prompt}  {status}"))
    cost = f"${found.cost_usd:.2f} paid"
    if found.unpriced:
        cost += f", and an unknown amount for {found.unpriced} entries"
    click.echo(f"{found.entries} entries, {found.texts} texts, {cost}")
    return 0


@command.command()
@_folder_option
def verify(cache_dir: str | None) -> int:
    """Check the database, every entry, and every key against its texts. Exit 1 if unsound."""
    try:
        with _open_to_read(cache_dir) as cache:
            found = cache_care.verify(cache)
    except CacheDamaged as damage:
        click.echo(printable(f"FAIL {damage}"))
        return 1
    if found.database != "ok":
        click.echo(f"database: {found.database}")
    for key in found.misfiled[:20]:
        click.echo(printable(f"misfiled: {key}"))
    if found.unchecked:
        click.echo(f"{found.unchecked} entries without their texts: keys not checked")
    outcome = "OK" if found.is_sound else "FAIL"
    click.echo(
        f"{outcome} {found.entries} entries, {found.unreadable} unreadable,"
        f" {len(found.misfiled)} misfiled"
    )
    return 0 if found.is_sound else 1


@command.command()
@click.argument("query")
@click.argument("chunk")
@_folder_option
def explain(query: str, chunk: str, cache_dir: str | None) -> int:
    """Show every reply recorded for QUERY and CHUNK, and what it was given under.

    Both are texts as they stood in the run, or @FILE for the content of a file.
    """
    with _open_to_read(cache_dir) as cache:
        found = cache_care.explain(cache, _text(query), _text(chunk))
    for explained in found:
        entry = explained.entry
        outcome = f"grade {entry.grade}" if entry.status == "graded" else entry.status
        named = f"{entry.key[:12]}  {entry.model}  {entry.prompt}"
        click.echo(printable(f"{named}  {outcome}  {entry.reason}"))
        click.echo(f"  settings  {json.dumps(explained.settings, sort_keys=True)}")
        click.echo(f"  sent      {json.dumps(entry.sent, sort_keys=True)}")
        click.echo(f"  reply     {json.dumps(entry.raw)}")
    if not found:
        click.echo("No reply is recorded for this pair: the texts must be equal to the last space.")
    return 0 if found else 1


def _text(argument: str) -> str:
    if not argument.startswith("@"):
        return argument
    try:
        return Path(argument[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(Problem(argument[1:], f"cannot be read ({error})")) from error


@command.command(name="export")
@click.option("--with-texts", is_flag=True, help="Write queries and chunks too. [keys only]")
@_folder_option
def export_(with_texts: bool, cache_dir: str | None) -> int:
    """Write the valid verdicts to stdout as JSON lines, sorted, to share or to commit."""
    with _open_to_read(cache_dir) as cache:
        for line in cache_care.export(cache, with_texts=with_texts):
            click.echo(line)
    return 0


@command.command(name="import")
@click.argument("file")
@_folder_option
def import_(file: str, cache_dir: str | None) -> int:
    """Add verdicts that `judge cache export` wrote; FILE `-` is standard input.

    A verdict that is there already stands.
    """
    with _open(cache_dir, make=True) as cache:
        done = cache_care.import_lines(cache, _lines(file), where=file)
    click.echo(
        f"{done.added} added, {done.same} there already, {done.differ} there with another grade"
    )
    return 0


def _lines(file: str) -> Iterator[str]:
    if file == "-":
        yield from sys.stdin
        return
    try:
        with Path(file).open(encoding="utf-8-sig") as lines:
            yield from lines
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(Problem(file, f"cannot be read ({error})")) from error


@command.command()
@click.option("--failed", is_flag=True, help="Refusals and failures: they are never served.")
@click.option("--model", metavar="NAME", help="Entries of one judge, as `openai:gpt-5-mini`.")
@click.option("--prompt", metavar="NAME", help="Entries under one prompt, as `relevance@1`.")
@click.option("--texts", is_flag=True, help="All stored texts; verdicts stay.")
@_folder_option
def prune(
    failed: bool, model: str | None, prompt: str | None, texts: bool, cache_dir: str | None
) -> int:
    """Delete entries that fit all the conditions given, and texts nothing refers to any more."""
    if not (failed or model or prompt or texts):
        raise UsageError("say what to delete: --failed, --model, --prompt or --texts")
    with _open(cache_dir) as cache:
        done = cache_care.prune(cache, failed=failed, model=model, prompt=prompt, texts=texts)
    click.echo(f"{done.entries} entries and {done.texts} texts deleted")
    return 0


@command.command()
@_folder_option
def salvage(cache_dir: str | None) -> int:
    """Bring back what can be read of a damaged database, page by page.

    A database that is damaged is set aside with its log first; those set aside earlier are
    read too. They stay where they are: delete them when you are content.
    """
    done = cache_care.salvage(_folder(cache_dir))
    if done.moved is not None:
        click.echo(f"The database is damaged; moved to {done.moved.name}")
    for found in done.read:
        click.echo(
            f"{found.database.name}: {found.entries} entries and {found.values} texts and settings"
            f" can be read, {found.unreadable} cannot"
        )
    click.echo(f"{done.added} entries brought back" if done.read else "Nothing is damaged.")
    return 0
