"""Scores from their text, a column at a time, each the very float that `float()` returns.

Plain decimals of up to 24 characters are read eight digits at once, in one word. Where
that cannot be exact, and for everything else (exponents, infinities, many digits), the
text is parsed one by one: speed never decides a value.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from judge.measures.engine_text import WORD, Column, Flags, Ints, Words, pick
from judge.measures.trec import parse_score

Floats: TypeAlias = NDArray[np.float64]

_MOST_WORDS = 3
_MOST_ALIKE = 16  # bytes: at most 15 digits
_EXACT = np.uint64(1 << 53)
_EXACT_TENS = 22  # 10**22 is the last power of ten that a double holds exactly
_TENS = 10.0 ** np.arange(_EXACT_TENS + 1)
_MINUS = ord("-")


def parse_scores(column: Column, *, single: bool) -> Floats | None:
    """Return the scores, or None if a text is no number.

    single: scores are compared as 32-bit floats, so a double that rounds as the exact one
        does will do
    """
    found = _alike(column)
    return _each(column, single=single) if found is None else found


def _alike(column: Column) -> Floats | None:
    """Return scores that are all `digits.digits` with as many decimals as the first, or None.

    Most runs are written so. No dot has to be searched for then, and with at most 15 digits
    every value is exact.
    """
    _, dot, after = column.token(0).partition(b".")
    shortest, longest = int(column.lengths.min()), column.longest
    if not dot or longest > _MOST_ALIKE or shortest < len(after) + 2:
        return None
    # A score stands behind four fields, so that its last eight bytes are bytes of the text.
    ends = column.starts + column.lengths
    digits = column.text.words_at(ends - WORD) ^ _ZERO
    if shortest < WORD:
        digits &= pick(_OWN, np.minimum(column.lengths, WORD))
    if len(after) < WORD:
        closed = _close_up(digits, digits_after=len(after))
        if closed is None:
            return None
        digits = closed
    if _beyond_nine(digits).any():
        return None
    number = _number(digits)
    if longest > WORD:
        leading = _leading_digits(column, ends, dot_at=len(after) + 1)
        if leading is None:
            return None
        number += leading * (_TEN_7 if len(after) < WORD else _TEN_8)
    values: Floats = number / _TENS[len(after)]
    return values


def _close_up(digits: Words, *, digits_after: int) -> Words | None:
    """Return each word's digits without the dot among them; None where it is missing."""
    bits_before = 8 * (WORD - 1 - digits_after)
    before, dot = np.uint64((1 << bits_before) - 1), np.uint64(0xFF << bits_before)
    if ((digits & dot) != (_DOT & dot)).any():
        return None
    return ((digits & before) << _8) | (digits & ~(before | dot))


def _leading_digits(column: Column, ends: Ints, *, dot_at: int) -> Words | None:
    """Return the number that stands before the last eight bytes: few, so one at a time.

    dot_at: the dot's distance from the end; None where a byte is no digit
    """
    number = np.zeros(len(column), dtype=np.uint64)
    for back in range(column.longest, WORD, -1):
        digits = pick(column.text.bytes, ends - back) ^ _ZERO_BYTE
        if back == dot_at:
            if (digits != _DOT_BYTE).any():
                return None
            continue
        digits *= column.lengths >= back
        if digits.max() > 9:
            return None
        number = number * _10 + digits
    return number


def _each(column: Column, *, single: bool) -> Floats | None:
    """Return scores of any shape, or None if a text is no number."""
    found = _decimals(column)
    negative = np.flatnonzero(~found.valid)
    negative = negative[column.text.bytes[column.starts[negative]] == _MINUS]
    if len(negative):
        unsigned = Column(column.text, column.starts[negative] + 1, column.lengths[negative] - 1)
        found.take_negated(_decimals(unsigned), negative)
    for index in np.flatnonzero(~found.settled(single=single)).tolist():
        score = parse_score(column.token(index))
        if score is None:
            return None
        found.values[index] = score
    return found.values


class _Decimals(NamedTuple):
    """Values so far: `valid` where the text is a plain decimal, `exact` where that is it."""

    values: Floats
    valid: Flags
    exact: Flags

    def take_negated(self, others: _Decimals, at: Ints) -> None:
        self.values[at] = -others.values
        self.valid[at] = others.valid
        self.exact[at] = others.exact

    def settled(self, *, single: bool) -> Flags:
        done = self.valid & self.exact
        if single and not done.all():
            # Converting and dividing err by less than 4 units in the last place of a double.
            margin = np.abs(self.values) * 1e-15
            low, high = self.values - margin, self.values + margin
            done |= self.valid & (low.astype(np.float32) == high.astype(np.float32))
        return done


def _decimals(column: Column) -> _Decimals:
    """Read `digits[.digits]` from the right, a word at a time."""
    n_words = min(-(-column.longest // WORD), _MOST_WORDS)
    ends = column.starts + column.lengths
    valid = column.lengths <= WORD * _MOST_WORDS
    number = decimals = dots = np.zeros(len(column), dtype=np.uint64)
    unit: Words | np.uint64 = np.uint64(1)
    for place in range(n_words):
        # Only at the start of a text can this lie before it, and then no byte belongs here.
        words = column.text.words_at(np.maximum(ends - WORD * (place + 1), 0))
        value, dot, after, is_number = _eight_digits(words, column.lengths - WORD * place)
        valid &= is_number
        if place == _MOST_WORDS - 1:
            valid &= value < np.uint64(100)  # at most 18 digits: they fit in a word
        number = number + value * unit
        if dot is not None:
            decimals = decimals + (after + np.uint64(WORD * place)) * dot
            dots = dots + dot
        if place + 1 < n_words:
            unit = unit * (_TEN_8 if dot is None else np.where(dot, _TEN_7, _TEN_8))
    valid &= (dots <= np.uint64(1)) & (column.lengths > dots.astype(np.int64))
    exact = (number < _EXACT) & (decimals <= np.uint64(_EXACT_TENS))
    tens = np.minimum(decimals, np.uint64(_EXACT_TENS)).astype(np.int64)
    values = number / pick(_TENS, tens)
    return _Decimals(values, valid, exact)


def _spread(byte: int) -> np.uint64:
    """Return a word of eight equal bytes."""
    return np.uint64(byte * 0x0101010101010101)


_ZERO, _ONE, _TOP_BIT = _spread(ord("0")), _spread(1), _spread(0x80)
_DOT = _spread(ord(".") ^ ord("0"))
_ZERO_BYTE, _DOT_BYTE = np.uint8(ord("0")), np.uint8(ord(".") ^ ord("0"))
_NINE_TO_TOP = _spread(0x80 - 10)
_OWN = np.array([~((1 << 8 * (WORD - n)) - 1) & (2**64 - 1) for n in range(WORD + 1)], np.uint64)
_BYTES_AFTER = np.uint64(0x0706050403020100)
_TEN_7, _TEN_8 = np.uint64(10**7), np.uint64(10**8)
_1, _7, _8, _10, _56 = (np.uint64(number) for number in (1, 7, 8, 10, 56))


def _eight_digits(words: Words, rest: Ints) -> tuple[Words, Words | None, Words, Flags]:
    """Return the number in each word, whether it has a dot, the digits after it, if it is one.

    rest: how many of a word's last bytes belong to the token, less than 0 for none and more
        than 8 for all; the others count as "0". No dot anywhere is None.
    """
    digits = (words ^ _ZERO) & pick(_OWN, np.clip(rest, 0, WORD))
    crossed = digits ^ _DOT
    dot_bit = (crossed - _ONE) & ~crossed & _TOP_BIT
    has_dot = dot_bit != 0
    any_dot = has_dot.any()
    if any_dot:
        dot_bit &= ~dot_bit + _1  # of several dots the first; the others fail as digits
        before, after = (dot_bit >> _7) - _1, ~((dot_bit << _1) - _1)
        closed = ((digits & before) << _8) | (digits & after)
        digits = closed if has_dot.all() else np.where(has_dot, closed, digits)
    is_number = _beyond_nine(digits) == 0
    digits_after = ((dot_bit >> _7) * _BYTES_AFTER) >> _56
    dots = has_dot.astype(np.uint64) if any_dot else None
    return _number(digits), dots, digits_after, is_number


def _beyond_nine(digits: Words) -> Words:
    """Return the top bit of each byte that is no digit."""
    return (digits | (digits + _NINE_TO_TOP)) & _TOP_BIT


def _number(digits: Words) -> Words:
    """Return the number of eight digits, one a byte, the first in the lowest byte."""
    pairs = (digits * np.uint64(10) + (digits >> np.uint64(8))) & np.uint64(0x00FF00FF00FF00FF)
    fours = (pairs * np.uint64(100) + (pairs >> np.uint64(16))) & np.uint64(0x0000FFFF0000FFFF)
    return (fours * np.uint64(10000) + (fours >> np.uint64(32))) & np.uint64(0xFFFFFFFF)
