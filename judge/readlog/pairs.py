"""The preferences file: one pair a line, written by `judge mine`, read by `judge grade`.

    {"query":"reset password","winner":"c7","loser":"c2","wins":6,"losses":1,
     "probability":0.964844,"decided":true}

`hops` (above 1: concluded from other pairs), `weak` (wins that a weak rule alone saw),
`winner_hash`, `loser_hash` and `queries` (further wordings) stand only where they say
something. A line a person writes needs `query`, `winner` and `loser` and counts as decided.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from judge.evidence.preferences import Preference
from judge.formats.decoding import Fields
from judge.formats.findings import Findings, Place, shown
from judge.formats.ids import id_text
from judge.formats.opening import SourceFile, read_text
from judge.formats.records import records


def preference_lines(preferences: Iterable[Preference]) -> Iterator[str]:
    """Yield each preference as a line of JSON, without its line end."""
    for pair in preferences:
        fields: dict[str, object] = {
            "query": pair.query,
            "winner": pair.winner,
            "loser": pair.loser,
            "wins": pair.wins,
            "losses": pair.losses,
            "probability": round(pair.probability, 6),
            "decided": pair.decided,
            "hops": pair.hops if pair.hops > 1 else None,
            "weak": pair.weak or None,
            "winner_hash": pair.winner_hash,
            "loser_hash": pair.loser_hash,
            "queries": list(pair.queries) or None,
        }
        yield json_line({name: value for name, value in fields.items() if value is not None})


def json_line(fields: Mapping[str, object]) -> str:
    """Return fields as one line of JSON that any file can hold."""
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    # A log may hold half of a surrogate pair, which no file can: escape such a line.
    return text if text.isprintable() else json.dumps(fields, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class PreferenceFile:
    """The preferences of a file, in its order."""

    preferences: tuple[Preference, ...]


def read_preferences(source: SourceFile) -> PreferenceFile:
    """Read a preferences file; raise InputError naming every bad place."""
    file = read_text(source)
    findings = Findings()
    read = [
        _preference(record, place, findings)
        for place, record in records(file, findings, under="preferences").items
    ]
    findings.check()
    return PreferenceFile(tuple(pair for pair in read if pair is not None))


def _preference(record: object, place: Place, findings: Findings) -> Preference | None:
    if not isinstance(record, dict):
        findings.problem(place, f"{shown(record)} is no pair", "write one JSON object a line")
        return None
    query = record.get("query")
    ends = [id_text(record.get(name)) for name in ("winner", "loser")]
    if not isinstance(query, str) or not query.strip():
        findings.problem(place, "a pair without a query", "give the query's text")
        return None
    if None in ends or ends[0] == ends[1]:
        found = f"winner {shown(record.get('winner'))}, loser {shown(record.get('loser'))}"
        findings.problem(place, found, "name two different chunk ids")
        return None
    wins, losses, hops, weak = (
        _count(record, name, least, place, findings)
        for name, least in (("wins", 0), ("losses", 0), ("hops", 1), ("weak", 0))
    )
    return Preference(
        query=query,
        winner=str(ends[0]),
        loser=str(ends[1]),
        wins=wins,
        losses=losses,
        probability=_probability(record, place, findings),
        decided=record.get("decided", True) is True,
        hops=hops,
        weak=weak,
        winner_hash=id_text(record.get("winner_hash")),
        loser_hash=id_text(record.get("loser_hash")),
        queries=_wordings(record),
    )


def _count(record: Fields, name: str, least: int, place: Place, findings: Findings) -> int:
    value = record.get(name, least)
    if isinstance(value, int) and not isinstance(value, bool) and value >= least:
        return value
    findings.problem(place.at(name), f"{shown(value)}", f"give a whole number from {least} up")
    return least


def _probability(record: Fields, place: Place, findings: Findings) -> float:
    value = record.get("probability", 1.0)
    if isinstance(value, int | float) and 0 <= value <= 1:
        return float(value)
    findings.problem(place.at("probability"), f"{shown(value)}", "give a number from 0 to 1")
    return 1.0


def _wordings(record: Fields) -> tuple[str, ...]:
    value = record.get("queries")
    return tuple(text for text in value if isinstance(text, str)) if isinstance(value, list) else ()
