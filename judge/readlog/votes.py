"""Votes of a log, kept as numbers: who preferred which chunk for which query.

A vote is three 64-bit words: (query, chunk), (chunk, kind), voter. When many have come
together they are sorted and repeats merged; when that is still too many they go to a
temporary file, so a log of any size can be mined in constant memory.
"""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from judge.formats.temporary import temporary_root

Words: TypeAlias = NDArray[np.uint64]

WIN, OPPOSED, WEAK_WIN = 1, 4, 16
"""Kinds of a vote of x against y. Two bits each: the same against, of y over x, is twice it."""

_WORDS = 3
_MERGE_AT = 6_000_000  # votes waiting: 144 MB when written out
_SPILL_AT = 12_000_000  # merged votes in memory: 288 MB
_BLOCK = 1_000_000  # votes that are counted at once


class PairVotes(NamedTuple):
    """How voters split over one pair of chunks (a < b) of one query; a log has millions.

    a_wins, a_losses: voters who say a beats b, or who give a reason against that
    b_wins, b_losses: the same for b; opposition makes the two views differ
    a_weak, b_weak: those of the wins that only a weak rule saw
    """

    query: int
    a: int
    b: int
    a_wins: int
    a_losses: int
    b_wins: int
    b_losses: int
    a_weak: int = 0
    b_weak: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """What lists that were read alike say: (winner, loser, kind) by position, among n chunks.

    Compared by identity: most lists of a log share a few patterns.
    """

    n: int
    pairs: Sequence[tuple[int, int, int]]


class _Alike:
    """Lists of one pattern whose votes are yet to be written out."""

    __slots__ = ("chunks", "queries", "voters")

    def __init__(self) -> None:
        self.queries = array("Q")
        self.chunks = array("Q")
        self.voters = array("Q")


class VoteStore:
    """Collect the votes of lists and count them: one a voter, pair and query.

    merge_at: votes after which repeats are merged; spill_at: merged votes kept in memory
    """

    def __init__(self, *, merge_at: int = _MERGE_AT, spill_at: int = _SPILL_AT) -> None:
        self._merge_at = merge_at
        self._spill_at = spill_at
        self._alike: dict[Pattern, _Alike] = {}
        self._n_waiting = 0
        self._runs: list[Words] = []
        self._file: IO[bytes] | None = None

    def add(self, pattern: Pattern, query: int, chunks: Sequence[int], voter: int) -> None:
        """Add one list: its query and chunks as numbers below 2^32, its voter below 2^64."""
        alike = self._alike.get(pattern)
        if alike is None:
            alike = self._alike[pattern] = _Alike()
        alike.queries.append(query)
        alike.chunks.extend(chunks)
        alike.voters.append(voter)
        self._n_waiting += len(pattern.pairs)
        if self._n_waiting >= self._merge_at:
            self._merge_waiting()

    def counts(
        self, query_of: Mapping[int, int] | None = None, *, without: Collection[int] = ()
    ) -> Iterator[PairVotes]:
        """Yield the split over each pair that anyone won, by query and chunks.

        A voter who votes both ways counts for neither. query_of: queries to count as
        another one; without: voters that do not count
        """
        self._merge_waiting()
        runs = self._runs
        if query_of:
            runs = [_merged(_renamed(run, query_of)) for run in runs]
        gone = np.array(sorted(without), dtype=np.uint64)
        for block in _blocks(runs, min(_BLOCK, self._merge_at)):
            counted = block[~np.isin(block[:, 2], gone)] if len(gone) else block
            if len(counted):
                yield from _count(counted)

    def close(self) -> None:
        """Remove the temporary file, if there is one."""
        self._runs = []
        if self._file is not None:
            self._file.close()

    def _merge_waiting(self) -> None:
        votes = [_written_out(pattern, alike) for pattern, alike in self._alike.items()]
        self._alike, self._n_waiting = {}, 0
        if votes:
            self._runs.append(_merged(np.concatenate(votes)))
        if sum(len(run) for run in self._runs if not isinstance(run, np.memmap)) > self._spill_at:
            self._spill()

    def _spill(self) -> None:
        """Move the runs in memory to the temporary file, as one."""
        in_memory = [run for run in self._runs if not isinstance(run, np.memmap)]
        run = _merged(np.concatenate(in_memory))
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="judge-votes-", dir=temporary_root())  # noqa: SIM115
        offset = self._file.seek(0, 2)
        run.tofile(self._file)
        self._file.flush()
        on_disk = np.memmap(self._file, np.uint64, "r", offset, (len(run), _WORDS))
        self._runs = [*(run for run in self._runs if isinstance(run, np.memmap)), on_disk]


def _written_out(pattern: Pattern, alike: _Alike) -> Words:
    """Return every vote of lists of one pattern, the smaller chunk first.

    The kind says which of the two it speaks for.
    """
    winners, losers, kinds = (
        np.array(column, dtype=np.intp) for column in zip(*pattern.pairs, strict=True)
    )
    chunks = np.frombuffer(alike.chunks, dtype=np.uint64).reshape(-1, pattern.n)
    won, lost = chunks[:, winners], chunks[:, losers]
    query = np.frombuffer(alike.queries, dtype=np.uint64)[:, None]
    voter = np.frombuffer(alike.voters, dtype=np.uint64)[:, None]
    kind = np.where(won > lost, kinds << 1, kinds).astype(np.uint64)
    votes = np.empty((*won.shape, _WORDS), dtype=np.uint64)
    votes[..., 0] = query << np.uint64(32) | np.minimum(won, lost)
    votes[..., 1] = np.maximum(won, lost) << np.uint64(32) | kind
    votes[..., 2] = voter
    # Two ids with one text are one chunk: nobody preferred it to itself.
    return np.ascontiguousarray(votes[won != lost])


def _merged(votes: Words) -> Words:
    """Return votes sorted, those of one voter on one pair of one query made one."""
    if not len(votes):
        return votes
    votes = votes[np.lexsort((votes[:, 2], *_pair_keys(votes)))]
    pair = votes[:, 1] >> 32
    starts = _starts(votes[:, 0], pair, votes[:, 2])
    merged = votes[starts]
    merged[:, 1] = np.bitwise_or.reduceat(votes[:, 1], starts)
    return merged


def _pair_keys(votes: Words) -> tuple[NDArray[np.uint64], ...]:
    """Return what sorts votes by query and pair, least significant first.

    Where the numbers of a log are small enough, one word holds all three: a third less to sort.
    """
    query_and_a, b = votes[:, 0], votes[:, 1] >> np.uint64(32)
    query, a = query_and_a >> np.uint64(32), query_and_a & np.uint64(0xFFFFFFFF)
    bits = int(b.max()).bit_length()  # a < b
    if int(query.max()).bit_length() + 2 * bits > 64:
        return b, query_and_a
    return ((query << np.uint64(bits) | a) << np.uint64(bits) | b,)


def _starts(*columns: NDArray[np.generic]) -> NDArray[np.intp]:
    """Return where a new combination of values begins in sorted columns."""
    new = np.zeros(len(columns[0]), dtype=bool)
    new[0] = True
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(new)


def _renamed(votes: Words, query_of: Mapping[int, int]) -> Words:
    names = np.arange((int(votes[:, 0].max()) >> 32) + 1, dtype=np.uint64)
    for query, name in query_of.items():
        if query < len(names):
            names[query] = name
    renamed = np.array(votes)
    renamed[:, 0] = names[votes[:, 0] >> 32] << 32 | votes[:, 0] & 0xFFFFFFFF
    return renamed


def _blocks(runs: Sequence[Words], size: int) -> Iterator[Words]:
    """Yield the votes of sorted runs in blocks of whole queries, about `size` at a time."""
    runs = [run for run in runs if len(run)]
    at = [0] * len(runs)
    while any(begin < len(run) for begin, run in zip(at, runs, strict=True)):
        share = max(1, size // len(runs))
        # The block ends with the first query that some run's share does not reach.
        queries = [
            int(run[min(begin + share, len(run)) - 1, 0]) >> 32
            for begin, run in zip(at, runs, strict=True)
            if begin < len(run)
        ]
        last = min(queries)
        ends = [
            begin
            + int(np.searchsorted(run[begin:, 0], np.uint64(last << 32 | 0xFFFFFFFF), "right"))
            for begin, run in zip(at, runs, strict=True)
        ]
        parts = [run[b:e] for b, e, run in zip(at, ends, runs, strict=True)]
        yield _merged(np.concatenate(parts)) if len(parts) > 1 else np.asarray(parts[0])
        at = ends


def _count(votes: Words) -> Iterator[PairVotes]:
    kinds = votes[:, 1]

    def has(bit: int) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = np.not_equal(kinds & np.uint64(bit), 0)
        return found

    a_for = has(WIN) | has(WEAK_WIN)
    b_for = has(WIN << 1) | has(WEAK_WIN << 1)
    a_against, b_against = b_for | has(OPPOSED << 1), a_for | has(OPPOSED)
    columns = (
        a_for & ~a_against, a_against & ~a_for, b_for & ~b_against, b_against & ~b_for,
        a_for & ~a_against & ~has(WIN), b_for & ~b_against & ~has(WIN << 1),
    )  # fmt: skip
    starts = _starts(votes[:, 0], kinds >> np.uint64(32))
    sums = np.add.reduceat(np.column_stack(columns).astype(np.int64), starts, axis=0)
    won = np.flatnonzero(sums[:, 0] + sums[:, 2])
    heads = votes[starts[won]]
    names = np.column_stack((heads[:, 0] >> 32, heads[:, 0] & 0xFFFFFFFF, heads[:, 1] >> 32))
    for name, split in zip(names.tolist(), sums[won].tolist(), strict=True):
        yield PairVotes(*name, *split)
