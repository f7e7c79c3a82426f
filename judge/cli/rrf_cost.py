"""`judge rrf-cost`: what a multiplier costs on fused scores, in ranks."""

from __future__ import annotations

import re
from fractions import Fraction

import click

from judge.cli.printing import print_json
from judge.errors import UsageError

# Short plain numbers and ratios: `1e999999999` is a valid Fraction that never ends.
_NUMBER = re.compile(r"\d{1,12}(\.\d{1,12})?|\.\d{1,12}|\d{1,12}/0*[1-9]\d{0,11}")
_HOW = "write numbers as 60, 0.87 or 61/70, several with commas"


@click.command("rrf-cost")
@click.option("--rrf-k", "rrf_ks", required=True, help="Fusion constants, one or several: 60,20,5.")
@click.option("--multiplier", "multipliers", help="Factors above 0, up to 1, one or several.")
@click.option("--age-days", help="Ages, for the factor 2^-(age / half-life).")
@click.option("--half-life-days", help="Half-lives, for the same factor.")
@click.option("--length", type=int, help="Length of the list. [without end]")
@click.option(
    "--ties",
    type=click.Choice(["keep", "lose"]),
    default="keep",
    help="Who stays ahead at an equal score: the penalised item (keep) or the other. [keep]",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
def command(
    rrf_ks: str,
    multipliers: str | None,
    age_days: str | None,
    half_life_days: str | None,
    length: int | None,
    ties: str,
    as_json: bool,
) -> None:
    """Say how many ranks a multiplier costs the first result of a fused list.

    It holds for results of one channel, or with equal ranks in every channel: a
    result that a second channel also returns loses less. Ties are counted in exact
    fractions.

    \b
    judge rrf-cost --rrf-k 60,20,5 --multiplier 0.87
    judge rrf-cost --rrf-k 60 --age-days 6 --half-life-days 30 --length 10
    """
    from judge.retrieval.rrf import rank_cost

    ks = _numbers("--rrf-k", rrf_ks)
    factors = _factors(multipliers, age_days, half_life_days)
    lose = ties == "lose"
    costs = {
        (k, factor): rank_cost(factor, rrf_k=k, ties_lose=lose, length=length)
        for factor in factors.values()
        for k in ks.values()
    }
    table = [
        {"rrf_k": _plain(k), "ranks": costs[k, factor]}
        # One factor needs no name; several would be indistinguishable without.
        | ({"multiplier": name} if len(factors) > 1 else {})
        for name, factor in factors.items()
        for k in ks.values()
    ]
    if as_json:
        print_json(table)
    else:
        click.echo(_table(ks, factors, costs, floor="no loss above" if lose else "no loss from"))


def _factors(
    multipliers: str | None, age_days: str | None, half_life_days: str | None
) -> dict[str, Fraction]:
    from judge.retrieval.rrf import decay

    if multipliers is not None and age_days is None and half_life_days is None:
        return _numbers("--multiplier", multipliers)
    if multipliers is None and age_days is not None and half_life_days is not None:
        ages = _numbers("--age-days", age_days).values()
        half_lives = _numbers("--half-life-days", half_life_days).values()
        factors = [decay(age, half_life_days=half) for half in half_lives for age in ages]
        return {f"{float(factor):.10g}": factor for factor in factors}
    raise UsageError("say either --multiplier, or --age-days together with --half-life-days")


def _numbers(flag: str, text: str) -> dict[str, Fraction]:
    """Return the exact numbers of a comma-separated list, by how they were written."""
    names = [name.strip() for name in text.split(",")]
    if not all(_NUMBER.fullmatch(name) for name in names):
        raise UsageError(f"{flag} {text}: {_HOW}")
    return {name: Fraction(name) for name in names}


def _plain(number: Fraction) -> int | float:
    return int(number) if number.denominator == 1 else float(number)


def _table(
    ks: dict[str, Fraction],
    factors: dict[str, Fraction],
    costs: dict[tuple[Fraction, Fraction], int],
    *,
    floor: str,
) -> str:
    """Return one line a factor, one column a constant, and the factor that costs nothing."""
    from judge.retrieval.rrf import lossless_multiplier

    rows = [("rrf_k", list(ks))]
    for name, factor in factors.items():
        rows.append((f"×{name}", [str(costs[k, factor]) for k in ks.values()]))
    rows.append((floor, [f"{float(lossless_multiplier(k)):.6f}" for k in ks.values()]))
    width = max(len(name) for name, _ in rows)
    column = max(len(cell) for _, cells in rows for cell in cells)
    title = "Ranks that a multiplier costs the first of one channel's results:"
    lines = (
        name.ljust(width) + "".join(f"  {cell:>{column}}" for cell in cells) for name, cells in rows
    )
    return "\n".join([title, *lines])
