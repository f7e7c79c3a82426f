"""What the reference engine searches, documents and memories."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from judge.errors import InputError, Problem
from judge.formats.decoding import Fields
from judge.formats.findings import Findings, Place, shown
from judge.formats.ids import id_text
from judge.formats.opening import SourceFile, read_text, source_name
from judge.formats.options import DEFAULTS, ReadOptions
from judge.formats.spellings import TEXT, Spellings
from judge.formats.texts import text_records
from judge.formats.values import number, words
from judge.run import Notice

DOCUMENT = "document"
MEMORY = "memory"

_ITEM: Spellings = MappingProxyType({**TEXT, "kind": (), "age_days": ()})
_TEXT_SUFFIXES = frozenset({".md", ".rst", ".txt"})


@dataclass(frozen=True, slots=True)
class Item:
    """A document, which is cut into chunks, or a memory, which is not and may decay.

    age_days: of a memory; one without an age counts as new
    document_id: where the item is itself a piece of something larger
    """

    id: str
    text: str
    kind: str = DOCUMENT
    age_days: float = 0.0
    document_id: str | None = None

    @property
    def is_memory(self) -> bool:
        """Tell whether this is a memory."""
        return self.kind == MEMORY

    @property
    def document(self) -> str:
        """Return what the item belongs to: itself where nothing larger is given."""
        return self.id if self.document_id is None else self.document_id


@dataclass(frozen=True, slots=True)
class Items:
    """A corpus in its order, and what was counted while it was read."""

    items: tuple[Item, ...]
    notices: tuple[Notice, ...] = ()


def read_items(source: SourceFile, options: ReadOptions = DEFAULTS) -> Items:
    """Return a corpus from a file, as `--corpus` reads it, or from a folder of texts.

    In a file `"kind": "memory"` and `"age_days": 30` mark memories. In a folder every .md,
    .rst and .txt file is a document, named by its path inside the folder. Raises InputError
    naming every bad place.
    """
    if isinstance(source, (str, Path)) and Path(source).is_dir():
        return _read_folder(Path(source))
    findings = Findings()
    items: dict[str, Item] = {}
    for place, _, fields in text_records(read_text(source), _ITEM, options, findings):
        item = _item(fields, place, findings)
        if item is None:
            continue
        if item.id in items:
            findings.problem(place, f"the id {shown(item.id)} again", "one item an id")
        items[item.id] = item
    findings.check_some(items, "items", source_name(source))
    return Items(tuple(items.values()), findings.notices())


def _item(fields: Fields, place: Place, findings: Findings) -> Item | None:
    id, text = id_text(fields.get("id")), words(fields, "text", place, findings)
    title = words(fields, "title", place, findings)
    if id is None or text is None:
        findings.problem(place, "an item without id or text", "name them: --map FIELD=id")
        return None
    kind, age = fields.get("kind"), fields.get("age_days")
    if kind not in (None, DOCUMENT, MEMORY):
        then = "ranked as documents"
        findings.count("other kind", f"items of kind {shown(kind)}", place=place, consequence=then)
    age_days = 0.0 if age is None else number(age)
    if age_days is None or age_days < 0:
        findings.problem(place.at("age_days"), shown(age), "an age is a number of days from 0 up")
        return None
    return Item(
        id,
        f"{title}\n{text}" if title and title.strip() else text,
        MEMORY if kind == MEMORY else DOCUMENT,
        age_days,
        id_text(fields.get("document_id")),
    )


def _read_folder(folder: Path) -> Items:
    findings = Findings()
    items = tuple(_files(folder, findings))
    findings.check()
    if not items:
        fix = f"give a folder with {', '.join(sorted(_TEXT_SUFFIXES))} files"
        raise InputError(Problem(str(folder), "no texts", fix))
    return Items(items, findings.notices())


def _files(folder: Path, findings: Findings) -> Iterator[Item]:
    then = "left out of the corpus"
    for path in sorted(folder.rglob("*")):
        name, place = path.relative_to(folder).as_posix(), Place(str(path))
        if not path.is_file():
            continue
        if path.suffix.lower() not in _TEXT_SUFFIXES:
            what = f"files ending in {shown(path.suffix)}"
            findings.count("left out", what, place=place, consequence=then)
        elif path.stat().st_size == 0:
            findings.count("left out", "empty files", place=place, consequence=then)
        elif not _is_utf8(name):
            # The name becomes the document's id, which files and terminals must be able to hold.
            findings.problem(place, "a file name that is not UTF-8", "rename the file")
        else:
            yield from _file(path, name, findings)


def _file(path: Path, name: str, findings: Findings) -> Iterator[Item]:
    """Yield the document of a file, or note what is wrong with it and go on to the next."""
    try:
        yield Item(name, read_text(path).text)
    except InputError as error:
        for problem in error.problems:
            findings.problem(problem.where, problem.found, problem.fix)


def _is_utf8(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
