"""Orders as a graph of pairs (a, b), "a at least b": what a reaches, and where it goes round."""

from __future__ import annotations

from collections.abc import Collection, Container, Hashable
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def closure(pairs: Collection[tuple[T, T]]) -> dict[T, frozenset[T]]:
    """Return, for each a that begins a pair, everything that a path of pairs reaches.

    >>> sorted(closure([("a", "b"), ("b", "c")])["a"])
    ['b', 'c']
    """
    direct: dict[T, list[T]] = {}
    for winner, loser in pairs:
        direct.setdefault(winner, []).append(loser)
    reached: dict[T, frozenset[T]] = {}
    for start in direct:
        seen: set[T] = set()
        stack = list(direct[start])
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            # A start that is done has its whole answer; it saves the walk below it.
            if node in reached:
                seen |= reached[node]
            else:
                stack.extend(direct.get(node, ()))
        reached[start] = frozenset(seen)
    return reached


def without_cycles(pairs: Collection[tuple[T, T]]) -> tuple[set[tuple[T, T]], set[tuple[T, T]]]:
    """Split pairs into an acyclic set and those that lie on a cycle."""
    below = closure(pairs)
    cyclic = {(a, b) for a, b in pairs if a in below.get(b, ())}
    return set(pairs) - cyclic, cyclic


def bridged(pairs: Collection[tuple[T, T]], kept: Container[T]) -> list[tuple[T, T]]:
    """Return the orders among `kept` that follow from acyclic pairs: a path may leave and return.

    A path through another kept one is left to its parts, so that nothing is said twice over.

    >>> bridged([("a", "m"), ("m", "b"), ("b", "c")], {"a", "b", "c"})
    [('a', 'b'), ('b', 'c')]
    """
    direct: dict[T, list[T]] = {}
    for winner, loser in pairs:
        direct.setdefault(winner, []).append(loser)
    found: dict[tuple[T, T], None] = {}
    for start, losers in direct.items():
        if start not in kept:
            continue
        seen: set[T] = set()
        stack = list(reversed(losers))
        while stack:
            node = stack.pop()
            if node in kept:
                found[start, node] = None
            elif node not in seen:
                seen.add(node)
                stack.extend(reversed(direct.get(node, ())))
    return list(found)
