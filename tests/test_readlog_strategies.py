"""What one list and its reads say, rule by rule."""

from __future__ import annotations

import pytest

from judge.readlog.strategies import STRATEGIES, cited_over_uncited, opposed

# A list of five (0..4) of which 2 was read, then 4: session s1 of statistics.md A.3, where
# c is 2 and e is 4: c>a, c>b, e>a, e>b, e>d.
READ = (2, 4)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("skip-above", {(2, 0), (2, 1), (4, 0), (4, 1), (4, 3)}),
        ("last-skip-above", {(4, 0), (4, 1), (4, 3)}),
        ("skip-previous", {(2, 1), (4, 3)}),
        ("no-click-next", {(2, 3)}),
    ],
)
def test_rule_gives_the_worked_pairs(name, expected):
    assert set(STRATEGIES[name].pairs(READ, 5)) == expected


def test_only_the_rule_that_repeats_the_shown_order_is_weak():
    assert [name for name, rule in STRATEGIES.items() if rule.weak] == ["no-click-next"]


def test_last_read_is_the_latest_in_time_not_the_lowest():
    assert set(STRATEGIES["last-skip-above"].pairs((4, 2), 5)) == {(2, 0), (2, 1)}


def test_citations_speak_in_both_directions():
    assert set(cited_over_uncited((1, 2), 4)) == {(1, 0), (1, 3), (2, 0), (2, 3)}


def test_opposition_is_what_stood_unread_below_a_read():
    assert set(opposed((0,), 3)) == {(0, 1), (0, 2)}
    assert set(opposed(READ, 5)) == {(2, 3)}
