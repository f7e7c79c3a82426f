"""Which field of a foreign record means what: `--map` first, our names, then known spellings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from judge.formats.decoding import Fields
from judge.formats.findings import Findings, Place, shown
from judge.formats.spellings import LEFT_OUT, Spellings


@dataclass(slots=True)
class Layout:
    """How the records with one set of field names are read, and how many there were.

    as_is: what a record has under our names needs no renaming and nothing left out
    """

    theirs: dict[str, str]
    guessed: tuple[str, ...]
    ignored: tuple[str, ...]
    as_is: bool
    first: Place
    count: int = 0


class FieldReader:
    """Reads records of one kind; a record's set of field names is looked at once.

    kind: what a record is called in messages ("row", "result")
    strict: fields for which two candidates in one record are an error; for the others
        the likeliest spelling wins and the rest counts as ignored
    plain: spellings that are documented as ours too, so that taking them is no guess
    """

    def __init__(
        self,
        kind: str,
        spellings: Spellings,
        *,
        findings: Findings,
        renames: Mapping[str, str],
        strict: frozenset[str] = frozenset(),
        plain: frozenset[str] = frozenset(),
    ) -> None:
        self._kind = kind
        self._spellings = spellings
        self._findings = findings
        self._renames = renames
        self._strict = strict
        self._plain = plain
        self._layouts: dict[tuple[str, ...], Layout] = {}

    def read(self, record: Fields, place: Place) -> Fields:
        """Return the record under our names; what is not ours stays out and is counted."""
        layout = self.layout(tuple(record), place)
        layout.count += 1
        if layout.as_is:
            return record
        return {ours: record[theirs] for ours, theirs in layout.theirs.items()}

    def layout(self, names: tuple[str, ...], place: Place) -> Layout:
        """Return how records with these names are read; whoever reads one so counts it there."""
        layout = self._layouts.get(names)
        if layout is None:
            layout = self._layouts[names] = self._laid_out(names, place)
        return layout

    def report(self) -> None:
        """Count guessed and ignored fields over all the records read."""
        for layout in self._layouts.values():
            for ours in layout.guessed:
                name = layout.theirs[ours]
                self._findings.count(
                    "guessed field",
                    f"{self._kind} field {shown(name)} read as {ours!r}",
                    place=layout.first,
                    consequence=f"--map {name}={ours} says so, --map {name}=- leaves it out",
                    n=layout.count,
                )
            for name in layout.ignored:
                what = f"{self._kind} field {shown(name)} ignored"
                self._findings.count("ignored field", what, place=layout.first, n=layout.count)

    def _laid_out(self, names: tuple[str, ...], place: Place) -> Layout:
        theirs, left_out = self._mapped(names, place)
        free = [name for name in names if name not in left_out and name not in theirs.values()]
        for ours in self._spellings:
            if ours in free and ours not in theirs:
                theirs[ours] = ours
                free.remove(ours)
        guessed = []
        for ours, spellings in self._spellings.items():
            candidates = [name for name in spellings if name in free]
            if ours in theirs or not candidates:
                continue
            if len(candidates) > 1 and ours in self._strict:
                self._ambiguous(candidates, ours, place)
            theirs[ours] = candidates[0]
            free.remove(candidates[0])
            if candidates[0] not in self._plain:
                guessed.append(ours)
        as_is = not left_out and all(ours == name for ours, name in theirs.items())
        return Layout(theirs, tuple(guessed), tuple(free), as_is, place)

    def _mapped(self, names: tuple[str, ...], place: Place) -> tuple[dict[str, str], set[str]]:
        """Return what `--map` says about these names: ours -> theirs, and those left out."""
        theirs: dict[str, str] = {}
        left_out = set()
        for name in names:
            ours = self._renames.get(name)
            if ours == LEFT_OUT:
                # `id=-` is about rows and goldens: a result, text or grade is nothing without.
                if name != "id" or name not in self._spellings:
                    left_out.add(name)
            elif ours is not None and ours in self._spellings:
                if ours in theirs:
                    self._ambiguous([theirs[ours], name], ours, place)
                theirs[ours] = name
        return theirs, left_out

    def _ambiguous(self, candidates: list[str], ours: str, place: Place) -> None:
        names = " and ".join(shown(name) for name in candidates)
        fix = f"say which one is: --map {candidates[0]}={ours}, and --map {candidates[1]}=-"
        self._findings.problem(place, f"{names} could both be {ours!r}", fix)
