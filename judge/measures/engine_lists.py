"""Ranked lists as columns: their order, their repeats, and where judged documents stand."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judge.measures.engine_scores import Floats
from judge.measures.engine_slots import Documents, settle
from judge.measures.engine_table import Table
from judge.measures.engine_text import Ids, Ints, Words, greater, mixed, salts


class Spots(NamedTuple):
    """Results as columns: the list that each one stands in, and its rank there."""

    lists: Ints
    ranks: Ints


class Lists(NamedTuple):
    """What some ranked lists come to against the qrels.

    names: tag and query of each list; queries: its index in the table, -1 for none
    lengths, ties: of each list, as `Observed` counts them
    judged, grades: documents with a grade, each in its first slot
    repeats: results whose document stands higher in their list
    """

    names: list[tuple[bytes, bytes]]
    queries: Ints
    lengths: Ints
    ties: Ints
    judged: Spots
    grades: Ints
    repeats: Spots


def rank_lists(
    names: list[tuple[bytes, bytes]],
    first: Ints,
    ids: Ids,
    scores: Floats,
    table: Table,
    *,
    single: bool,
) -> Lists:
    """Rank lists by score, then document, both descending, and look their documents up.

    first: the line at which each list begins; its lines stand together
    single: scores compare as 32-bit floats
    """
    n_lists = len(names)
    lengths = np.diff(first, append=len(ids))
    ids, tied = _ordered(first, _comparable(scores, single=single), ids, single=single)
    queries = np.array([table.index(query) for _, query in names], dtype=np.int64)
    numbers = np.arange(n_lists)
    list_of = np.repeat(numbers, lengths)
    keys = mixed(ids.hashes(), np.repeat(salts(numbers), lengths))
    entries, sought = table.sought_in(queries)
    settled = settle(Documents(list_of, keys, ids), sought)
    entry_of = np.full(len(ids), -1, dtype=np.int32)
    shown = np.flatnonzero(settled.places >= 0)
    entry_of[settled.places[shown]] = entries[shown]
    lines = np.flatnonzero(entry_of >= 0)

    def spots(of: Ints) -> Spots:
        return Spots(list_of[of], of - first[list_of[of]] + 1)

    ties = np.bincount(list_of[tied], minlength=n_lists)
    grades = table.grades[entry_of[lines]]
    return Lists(names, queries, lengths, ties, spots(lines), grades, spots(settled.later))


def _comparable(scores: Floats, *, single: bool) -> NDArray[Any]:
    """Return scores as they compare; -0 becomes 0."""
    if not single:
        return scores + 0.0
    with np.errstate(over="ignore", under="ignore"):
        return scores.astype(np.float32) + np.float32(0)


def _ordered(first: Ints, scores: NDArray[Any], ids: Ids, *, single: bool) -> tuple[Ids, Ints]:
    """Return documents in rank order, and the lines of those that share their score.

    Most files are in order already; only the lists that are not get sorted.
    """
    wrong = scores[1:] > scores[:-1]
    wrong[first[1:] - 1] = False
    equals = _equals(first, scores)
    wrong[equals] = greater(ids[equals + 1], ids[equals])
    if wrong.any():
        list_of = np.repeat(np.arange(len(first)), np.diff(first, append=len(ids)))
        unsorted = np.zeros(len(first), dtype=bool)
        unsorted[list_of[1:][wrong]] = True
        lines = np.flatnonzero(unsorted[list_of])
        order = np.arange(len(ids))
        order[lines] = lines[_rank_order(list_of[lines], scores[lines], ids[lines], single=single)]
        scores, ids = scores[order], ids[order]
        equals = _equals(first, scores)
    return ids, np.union1d(equals, equals + 1)


def _equals(first: Ints, scores: NDArray[Any]) -> Ints:
    """Return the lines whose score is that of the next line of their list."""
    same = scores[1:] == scores[:-1]
    same[first[1:] - 1] = False
    return np.flatnonzero(same)


def _rank_order(list_of: Ints, scores: NDArray[Any], ids: Ids, *, single: bool) -> Ints:
    """Return the lines of whole lists by score, then document, both descending."""
    if single:
        order = np.argsort((list_of.astype(np.uint64) << np.uint64(32)) | _descending(scores))
    else:
        order = np.lexsort((-scores, list_of))
    scores, list_of = scores[order], list_of[order]
    alike = (scores[1:] == scores[:-1]) & (list_of[1:] == list_of[:-1])
    if alike.any():
        tied = np.flatnonzero(np.append(alike, False) | np.insert(alike, 0, False))
        run_of = np.concatenate(([0], np.cumsum(~alike)))[tied]
        lines = order[tied]
        keys = [~words.byteswap() for words in ids[lines].words]
        order[tied] = lines[np.lexsort((*reversed(keys), run_of))]
    return order


def _descending(scores: NDArray[Any]) -> Words:
    """Return 32-bit floats as integers whose order is the floats' order turned round."""
    bits = scores.view(np.uint32)
    ascending = np.where(bits >> np.uint32(31), ~bits, bits | np.uint32(1 << 31))
    return (~ascending).astype(np.uint64)
