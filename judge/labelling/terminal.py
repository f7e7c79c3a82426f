"""Labelling in a terminal: the same queue, keys and store as the page, one line at a time."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console
from rich.text import Text

from judge.errors import UsageError
from judge.labelling.marking import mark
from judge.labelling.scale import INSTRUCTION, meanings
from judge.labelling.session import Session
from judge.labelling.store import Entry
from judge.spotcheck import Item

HELP = "grade, then if you like a note · s skip · u undo · q quit"


def label_in_terminal(
    session: Session, rater: str, *, read: Callable[[], str], console: Console
) -> None:
    """Ask for one chunk after another until all are graded, `q`, or the input ends.

    read: returns a line of input, "" at its end. Each label is on disk before the next chunk
    shows; the judge's grade shows only after the person's.
    """
    item = session.next(rater)
    if item is not None:
        console.print(Text(f"\n{INSTRUCTION}"))
    while item is not None:
        _show(session, rater, item, console)
        answer: Item | None = item
        while answer is item:
            console.print(Text(f"{HELP}\n> "), end="")
            line = read()
            if not line or line.strip() == "q":
                console.print(Text(f"\nThe labels are in {session.store.path}."))
                return
            answer = _act(session, rater, item, line.strip(), console)
        item = answer
    console.print(Text(f"\nEvery chunk is graded. The labels are in {session.store.path}."))


def _show(session: Session, rater: str, item: Item, console: Console) -> None:
    progress = session.progress(rater)
    console.print(Text(f"\n── {progress.graded} of {progress.total} graded ──\n"))
    console.print(Text(f"Query: {_plain(item.query)}\n", style="bold"))
    if item.source:
        console.print(Text(f"Source: {_plain(item.source)}\n"))
    segments = [(_plain(text), "bold underline" if marked else "") for text, marked in _marks(item)]
    console.print(Text.assemble(*segments, "\n"))
    for grade, words in enumerate(meanings(session.queue.grade_max)):
        console.print(Text(f"  {grade}  {words}"))


def _marks(item: Item) -> list[tuple[str, bool]]:
    return [(segment.text, segment.marked) for segment in mark(item.text, item.query)]


def _act(session: Session, rater: str, item: Item, line: str, console: Console) -> Item | None:
    """Do what a line asks; return the chunk to show next, the same one where it asks nothing."""
    if line == "u":
        undone = session.undo(rater)
        if undone is None:
            console.print(Text("Nothing to take back."))
            return item
        item, entry = undone
        console.print(Text(_taken_back(entry)))
        return item
    word, _, note = line.partition(" ")
    if word != "s" and not (word.isascii() and word.isdigit()):
        console.print(Text(f"{word!r} is no grade."))
        return item
    grade = None if word == "s" else int(word)
    try:
        session.label(rater, item.pair, grade, note=note.strip())
    except UsageError as error:
        console.print(Text(str(error)))
        return item
    console.print(Text(_revealed(item, grade)))
    return session.next(rater)


def _revealed(item: Item, grade: int | None) -> str:
    if grade is None:
        return "Skipped; it comes again at the end."
    judge = "no grade" if item.judge_grade is None else str(item.judge_grade)
    reason = f": {_plain(item.judge_reason)}" if item.judge_reason else ""
    return f"You gave {grade}, the judge {judge}{reason} ({item.why})."


def _taken_back(entry: Entry) -> str:
    if entry.grade is None:
        return "Skip taken back."
    return f"Grade again. Your first grade, {entry.grade}, is kept beside the new one."


def _plain(text: str) -> str:
    """Return text whose control characters no terminal obeys; line ends stay."""
    return "".join(char if char.isprintable() or char == "\n" else " " for char in text)
