"""What it would cost to judge what is still open, quoted before anybody pays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from judge.evidence.pool import QueryPool
from judge.judging.budget import Forecast, price_of, read_prices
from judge.judging.exchange import Request
from judge.judging.judge import Pair
from judge.judging.prompt import load_prompt

PRICED_MODEL = "gpt-5-mini"
"""The model whose price is quoted where none was named."""


@dataclass(frozen=True, slots=True)
class PriceTag:
    """What judging would cost, about, with one model."""

    model: str
    usd: float


def price_tag(pools: Iterable[QueryPool], *, model: str = PRICED_MODEL) -> PriceTag | None:
    """Return about what judging all open chunks of these pools costs; None without a price."""
    price, prompt = price_of(model, read_prices()), load_prompt(None)
    if price is None:
        return None
    forecast = Forecast()
    for pool in pools:
        query = pool.query.text or ""
        for chunk in (chunk for chunks in pool.asks for chunk in chunks):
            pair = Pair(pool.query.key, query, chunk, pool.texts[chunk])
            messages = prompt.render(query, pool.texts[chunk])
            forecast = forecast.plus(Request(pair, prompt, messages), price)
    return None if forecast.cost_usd is None else PriceTag(model, forecast.cost_usd)
