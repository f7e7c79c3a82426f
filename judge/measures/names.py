"""Measure names as people write them (`nDCG@10`, `mrr`, `P(rel=2)@5`), parsed once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from judge.errors import UsageError


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a measure's name allows: its family, a cutoff (needed or not), a threshold."""

    family: str
    needs_k: bool = False
    takes_rel: bool = True


_KINDS: Mapping[str, _Kind] = MappingProxyType(
    {
        "nDCG": _Kind("graded", takes_rel=False),
        "ERR": _Kind("graded", takes_rel=False),
        "P": _Kind("graded", needs_k=True),
        "Judged": _Kind("graded", needs_k=True, takes_rel=False),
        "Hit": _Kind("golden", needs_k=True),
        "R": _Kind("golden", needs_k=True),
        "RR": _Kind("golden"),
        "ContextPrecision": _Kind("golden"),
        "AP": _Kind("golden"),
        "binary_nDCG": _Kind("golden"),
    }
)

_ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "mrr": "RR",
        "map": "AP",
        "recall": "R",
        "precision": "P",
        "success": "Hit",
        "context_precision": "ContextPrecision",
        # As trec_eval and ranx call them.
        "ndcg_cut": "nDCG",
        "map_cut": "AP",
        "average_precision": "AP",
        "recip_rank": "RR",
        "reciprocal_rank": "RR",
        "hit_rate": "Hit",
    }
)

_SPELLINGS: Mapping[str, str] = MappingProxyType(
    {name.lower(): name for name in _KINDS} | dict(_ALIASES)
)

_PATTERN = re.compile(
    r"(?P<name>[A-Za-z_]{0,40}[A-Za-z])(\(rel=(?P<rel>[0-9]{1,9})\))?([@._](?P<k>[0-9]{1,9}))?",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure as an expression; `str()` is its canonical name, as ir_measures writes it.

    k: cutoff, None for the whole list
    rel: lowest grade that counts as relevant, for measures that see relevant or not
    """

    name: str
    k: int | None = None
    rel: int = 1

    @property
    def family(self) -> str:
        """Return "golden" (positions of known answers) or "graded" (grades in rank order)."""
        return _KINDS[self.name].family

    def __str__(self) -> str:
        rel = "" if self.rel == 1 else f"(rel={self.rel})"
        cutoff = "" if self.k is None else f"@{self.k}"
        return f"{self.name}{rel}{cutoff}"


def parse_measure(text: str) -> Measure:
    """Return the measure that `text` names; upper and lower case are the same.

    Raises UsageError that lists what exists.

    >>> str(parse_measure("ndcg@10")), str(parse_measure("mrr")), str(parse_measure("recall@5"))
    ('nDCG@10', 'RR', 'R@5')
    >>> str(parse_measure("ndcg_cut_10")), str(parse_measure("P.5"))  # as trec_eval
    ('nDCG@10', 'P@5')
    >>> parse_measure("P(rel=2)@5")
    Measure(name='P', k=5, rel=2)
    """
    match = _PATTERN.fullmatch(text.strip())
    name = _SPELLINGS.get(match["name"].lower()) if match else None
    if match is None or name is None:
        raise UsageError(f"there is no measure {text!r}; use one of {_catalogue()}")
    kind = _KINDS[name]
    k = int(match["k"]) if match["k"] else None
    if k == 0:
        raise UsageError(f"measure {text!r}: a cutoff is at least 1")
    if k is None and kind.needs_k:
        raise UsageError(f"measure {text!r} needs a cutoff, for example {name}@10")
    rel = int(match["rel"]) if match["rel"] else 1
    if match["rel"] and not kind.takes_rel:
        raise UsageError(f"measure {text!r}: {name} has no threshold, leave out (rel={rel})")
    if rel == 0:
        raise UsageError(f"measure {text!r}: grade 0 is never relevant, rel is at least 1")
    return Measure(name, k, rel)


def _catalogue() -> str:
    """Return every name with the shape of its cutoff, for messages."""
    cutoff = {True: "@k", False: "[@k]"}
    return ", ".join(name + cutoff[kind.needs_k] for name, kind in _KINDS.items())
