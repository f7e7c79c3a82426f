"""Every pattern of the package takes time in proportion to the text, whoever wrote the text.

Checked by the structure of the pattern, not by a clock: what makes a backtracking matcher
quadratic is a repeat without bound whose characters the next one takes too, or one that has to
be tried from each of its own characters.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator, Sequence
from functools import reduce
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]

import pytest
from conftest import ROOT
from test_layering import MODULES, module_name

from judge.judging.backends.waits import retry_after_s
from judge.judging.prompt import load_prompt
from judge.judging.verdict import parse_reply

SAMPLE = frozenset(map(chr, range(256))) | set("“”‘’…　－éあ中가ｇ｜◁▷\u200b\u2028")
MANY = 1000
"""A repeat that may take so many is one without bound."""

REPEATS = {op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT}
ASSERTIONS = {op.AT, op.ASSERT, op.ASSERT_NOT}


def characters(item: tuple, flags: int) -> frozenset[str]:
    """Return which characters of the sample an item of a parsed pattern can take."""
    kind, value = item
    if kind in ASSERTIONS:
        return frozenset()
    if kind is op.GROUPREF:
        return SAMPLE
    if kind in REPEATS:
        return every(value[2], flags)
    if kind is op.SUBPATTERN:
        return every(value[3], flags)
    if kind is op.ATOMIC_GROUP:
        return every(value, flags)
    if kind is op.BRANCH:
        return reduce(frozenset.union, (every(branch, flags) for branch in value[1]))
    one = re.compile(_source(kind, value), flags & ~re.VERBOSE)
    return frozenset(c for c in SAMPLE if one.fullmatch(c))


CLASSES = {
    op.CATEGORY_DIGIT: r"\d",
    op.CATEGORY_NOT_DIGIT: r"\D",
    op.CATEGORY_SPACE: r"\s",
    op.CATEGORY_NOT_SPACE: r"\S",
    op.CATEGORY_WORD: r"\w",
    op.CATEGORY_NOT_WORD: r"\W",
}


def _source(kind: object, value: object) -> str:
    """Return a pattern for one character."""
    if kind is op.LITERAL:
        return re.escape(chr(value))
    if kind is op.NOT_LITERAL:
        return f"[^{re.escape(chr(value))}]"
    if kind is op.ANY:
        return "."
    assert kind is op.IN, kind
    inside = ""
    for part, what in value:
        if part is op.NEGATE:
            inside = "^" + inside
        elif part is op.LITERAL:
            inside += re.escape(chr(what))
        elif part is op.RANGE:
            inside += f"{re.escape(chr(what[0]))}-{re.escape(chr(what[1]))}"
        else:
            inside += CLASSES[what]
    return f"[{inside}]"


def every(items: Sequence[tuple], flags: int) -> frozenset[str]:
    return reduce(frozenset.union, (characters(item, flags) for item in items), frozenset())


def opening(items: Sequence[tuple], flags: int) -> frozenset[str]:
    """Return the characters that a sequence may start with."""
    found: frozenset[str] = frozenset()
    for item in items:
        bodies = list(inner(item)) if item[0] not in ASSERTIONS else []
        starts = [opening(flat(list(body)), flags) for body in bodies]
        found |= reduce(frozenset.union, starts) if starts else characters(item, flags)
        if not is_nullable(item):
            break
    return found


def is_nullable(item: tuple) -> bool:
    kind, value = item
    if kind in ASSERTIONS:
        return True
    if kind in REPEATS:
        return value[0] == 0 or all(map(is_nullable, value[2]))
    if kind is op.SUBPATTERN:
        return all(map(is_nullable, value[3]))
    if kind is op.ATOMIC_GROUP:
        return all(map(is_nullable, value))
    if kind is op.BRANCH:
        return any(all(map(is_nullable, branch)) for branch in value[1])
    return False


def is_unbounded(item: tuple) -> bool:
    return item[0] in REPEATS and item[1][1] >= MANY


def inner(item: tuple) -> Iterator[Sequence[tuple]]:
    """Yield the sequences within an item, assertions included: they are tried as well."""
    kind, value = item
    if kind in REPEATS:
        yield value[2]
    elif kind is op.SUBPATTERN:
        yield value[3]
    elif kind is op.ATOMIC_GROUP:
        yield value
    elif kind is op.BRANCH:
        yield from value[1]
    elif kind in (op.ASSERT, op.ASSERT_NOT):
        yield value[1]


def flat(items: Sequence[tuple]) -> list[tuple]:
    """Return a sequence with its plain groups opened: what stands side by side."""
    found: list[tuple] = []
    for item in items:
        is_group = item[0] is op.SUBPATTERN
        found += flat(item[1][3]) if is_group else [item]
    return found


def faults(pattern: str, flags: int) -> list[str]:
    """Return what makes a pattern more than linear on some text."""
    parsed = flat(list(_parser.parse(pattern, flags & ~re.DEBUG)))
    return list(_in_sequence(parsed, flags, is_outermost=True))


def _in_sequence(
    items: Sequence[tuple], flags: int, *, is_outermost: bool = False
) -> Iterator[str]:
    before: frozenset[str] = frozenset()
    is_anchored = bool(items) and items[0] == (op.AT, op.AT_BEGINNING_STRING)
    for at, item in enumerate(items):
        rest = items[at + 1 :]
        if is_unbounded(item):
            own = characters(item, flags)
            for follower in rest:
                if is_unbounded(follower) and own & opening([follower], flags):
                    yield f"two repeats without bound side by side share {_some(own)}"
                if not is_nullable(follower):
                    break
            again = before if at else own
            is_last = all(map(is_nullable, rest)) and not any(i[0] in ASSERTIONS for i in rest)
            if is_outermost and not is_anchored and not is_last and own & (again or own):
                yield f"a search starts anew within its own repeat of {_some(own)}"
            for body in inner(item):
                nested = flat(list(body))
                for place, part in enumerate(nested):
                    others = nested[:place] + nested[place + 1 :]
                    is_clear = any(
                        not is_nullable(other)
                        and not characters(other, flags) & characters(part, flags)
                        for other in others
                    )
                    if is_unbounded(part) and not is_clear:
                        yield "a repeat without bound within another"
        before |= characters(item, flags)
        for sequence in inner(item):
            yield from _in_sequence(flat(list(sequence)), flags)


def _some(found: frozenset[str]) -> str:
    return repr("".join(sorted(found)[:5]))


def patterns() -> Iterator[tuple[str, str, int]]:
    """Yield each pattern of the package: constants of modules, and literals where one is used."""
    for path in MODULES:
        name = module_name(path)
        if name in ("judge.__main__",):
            continue
        module = importlib.import_module(name)
        for variable, value in vars(module).items():
            for found in value if isinstance(value, tuple | list) else (value,):
                for compiled in found if isinstance(found, tuple | list) else (found,):
                    if isinstance(compiled, re.Pattern) and isinstance(compiled.pattern, str):
                        yield f"{name}.{variable}", compiled.pattern, compiled.flags
        for node in ast.walk(ast.parse((ROOT / path).read_text("utf-8"))):
            is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            if is_call and isinstance(node.func.value, ast.Name) and node.func.value.id == "re":
                first = node.args[0] if node.args else None
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    anchor = r"\A" if node.func.attr in ("match", "fullmatch") else ""
                    flags = re.compile(first.value).flags
                    yield f"{name}:{node.lineno}", anchor + first.value, flags


@pytest.mark.parametrize(
    ("pattern", "is_linear"),
    [
        (r"<(?=\s*/?\s*(?:query|chunk)\b)", False),
        (r"grade|score\s*(?:is)?\s*[0-9]", False),
        (r"(?:a+)+b", False),
        (r"\s*x", False),
        (r"<[^>]*>", False),
        (r"a.*b.*c", False),
        (r"\s{0,8}/?\s{0,8}x", True),
        (r"\w+(?:[-.]\w+)*", True),
        (r"\{(\w+)\}", True),
        (r"\A\s*# system", True),
    ],
)
def test_what_is_linear_is_told_by_structure(pattern: str, is_linear: bool) -> None:
    assert (faults(pattern, re.compile(pattern).flags) == []) is is_linear


@pytest.mark.slow
def test_every_pattern_is_linear() -> None:
    found = {name: why for name, pattern, flags in patterns() if (why := faults(pattern, flags))}
    assert found == {}


MEGABYTE = 1_000_000
HOSTILE = [
    "<" + " " * MEGABYTE,
    "grade" + " " * MEGABYTE,
    "<|" * (MEGABYTE // 2),
    "this passage is " + "very " * (MEGABYTE // 5),
    "give " * (MEGABYTE // 5) + "grade",
    "ignore " * (MEGABYTE // 7),
    "{" * MEGABYTE,
    '{"a":' * (MEGABYTE // 5),
    "[/" * (MEGABYTE // 2),
    "</think>" * (MEGABYTE // 8),
    "1h" * (MEGABYTE // 2),
    "a " * (MEGABYTE // 2),
    "\u0301" * MEGABYTE,
]


@pytest.mark.slow
@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:9]))
def test_a_megabyte_against_the_grain_is_read_to_its_end(text: str) -> None:
    from judge.judging.prompt_injection import flags

    load_prompt().render("query", text)
    flags(text)
    assert parse_reply(text).status == "repair"
    assert parse_reply(text[: 1 << 18]).status == "repair"
    retry_after_s({}, text, now=0)
