"""What may be spent: calls and money, set aside before a request goes out.

Prices come from a file of ours that the user can override; a model that is in neither has no
price, and its cost is unknown, never 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from judge.errors import InputError, Problem
from judge.formats.json_value import json_value
from judge.formats.values import number
from judge.judging.exchange import Reply, Request, StopAsking

_CHARACTERS_A_TOKEN = 3
"""Fewer than common tokenisers have for prose: a pace that is rather too careful."""


_EXPECTED_TOKENS = {"grade": 8, "text": 30}
"""About what a field of a reply takes, its name included."""


@dataclass(frozen=True, slots=True)
class Price:
    """Prices of one model, in USD a million tokens."""

    prompt: float
    completion: float

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Return the cost in USD of so many tokens.

        >>> Price(prompt=0.25, completion=2.0).of(1000, 10)
        0.00027
        """
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1e6


FREE = Price(0.0, 0.0)


def read_prices(path: str | None = None, *, ours: bool = True) -> dict[str, Price]:
    """Return prices by model: ours unless told not to, and over them the user's file's.

    InputError names every entry of the user's file that is not a price.
    """
    prices = {}
    if ours:
        shipped = resources.files("judge.judging").joinpath("prices.json")
        prices = _parse(shipped.read_bytes(), "prices.json")
    if path is not None:
        try:
            prices |= _parse(Path(path).read_bytes(), path)
        except OSError as error:
            raise InputError(Problem(path, f"cannot be read ({error.strerror})")) from error
    return prices


def _parse(data: bytes, where: str) -> dict[str, Price]:
    fix = 'write {"usd_per_million_tokens": {"MODEL": {"prompt": 0.25, "completion": 2}}}'
    try:
        table = json_value(data)["usd_per_million_tokens"].items()
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(Problem(where, "not a price list", fix)) from error
    bad = [Problem(f"{where}: {model}", "not a price", fix) for model, p in table if not _price(p)]
    if bad:
        raise InputError(bad)
    return {model: Price(float(p["prompt"]), float(p["completion"])) for model, p in table}


def _price(value: object) -> bool:
    return isinstance(value, dict) and all(
        (price := number(value.get(part))) is not None and price >= 0
        for part in ("prompt", "completion")
    )


def price_of(model: str, prices: Mapping[str, Price]) -> Price | None:
    """Return a model's price, by its full name or without a provider before it.

    >>> price_of("anthropic/claude-x", {"claude-x": Price(2.0, 10.0)})
    Price(prompt=2.0, completion=10.0)
    """
    return prices.get(model) or prices.get(model.rpartition("/")[2])


def estimated_tokens(request: Request) -> int:
    """Return about how many tokens a prompt has, rather too many."""
    return sum(len(turn.content) for turn in request.messages) // _CHARACTERS_A_TOKEN


@dataclass(frozen=True, slots=True)
class Forecast:
    """What judging would send: requests without retries, tokens and cost, all about.

    cached: pairs that need no request
    cost_usd: None where a model has no price
    """

    calls: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = 0.0

    def plus(self, request: Request, price: Price | None) -> Forecast:
        """Return the forecast with one more request."""
        prompt_tokens = sum(len(turn.content) for turn in request.messages) // 4
        completion_tokens = sum(_EXPECTED_TOKENS[kind] for _, kind in request.prompt.reply)
        cost_usd = None
        if price is not None and self.cost_usd is not None:
            cost_usd = self.cost_usd + price.of(prompt_tokens, completion_tokens)
        return Forecast(
            self.calls + 1,
            self.cached,
            self.prompt_tokens + prompt_tokens,
            self.completion_tokens + completion_tokens,
            cost_usd,
        )

    def plain(self) -> dict[str, object]:
        """Return the forecast as a JSON object."""
        return {name: getattr(self, name) for name in self.__slots__}

    def __str__(self) -> str:
        """Return the forecast as one line."""
        cost = "unknown" if self.cost_usd is None else f"about ${self.cost_usd:.4f}"
        tokens = f"about {self.prompt_tokens:,} + {self.completion_tokens:,} tokens"
        return f"{self.calls:,} calls to make, {self.cached:,} cached, {tokens}, cost {cost}"


@dataclass(slots=True)
class Budget:
    """Bounds on one run; None is no bound.

    max_calls: requests that may go out, retries and repairs included
    max_cost_usd: money that may be spent; what requests in flight may cost is set aside, so
        the bound holds at any concurrency
    """

    max_calls: int | None = None
    max_cost_usd: float | None = None
    calls: int = 0
    spent_usd: float = 0.0
    reserved_usd: float = 0.0
    lost_usd: float = 0.0
    in_flight: int = 0

    def take(self, request: Request, price: Price | None) -> float:
        """Count one request and set aside its highest cost, which is returned.

        StopAsking when a bound would be passed.
        """
        if self.max_calls is not None and self.calls >= self.max_calls:
            raise StopAsking(f"--max-calls {self.max_calls} reached")
        most = _highest_cost(request, price)
        if self.max_cost_usd is not None:
            if price is None:
                raise StopAsking("--max-cost needs a price for this model; give --prices FILE")
            if self.spent_usd + most > self.max_cost_usd:
                raise StopAsking(f"--max-cost {self.max_cost_usd:g} reached{self._of_it_lost()}")
        self.calls += 1
        self.in_flight += 1
        self.reserved_usd += most
        return most

    def must_wait(self, request: Request, price: Price | None) -> bool:
        """Tell whether a request fits only once those in flight cost less than they might."""
        if self.max_cost_usd is None or not self.in_flight:
            return False
        most = _highest_cost(request, price)
        fits_alone = self.spent_usd + most <= self.max_cost_usd
        return fits_alone and self.spent_usd + self.reserved_usd + most > self.max_cost_usd

    def _of_it_lost(self) -> str:
        if not self.lost_usd:
            return ""
        return f", ${self.lost_usd:.2g} of it the most that requests without an answer can cost"

    def settle(
        self, reserved: float, reply: Reply | None, price: Price | None, *, lost: bool = False
    ) -> float | None:
        """Give back what was set aside, book what a reply really cost, and return that.

        None where price or usage is unknown; the reserve then stays booked, since something was
        paid. It stays booked too for a request that may have been billed though its answer was
        `lost`. Any other request without a reply costs nothing.
        """
        self.in_flight -= 1
        self.reserved_usd = self.reserved_usd - reserved if self.in_flight else 0.0
        if lost:
            self.spent_usd += reserved
            self.lost_usd += reserved
            return None
        if reply is None:
            return 0.0
        if price is None or reply.prompt_tokens is None or reply.completion_tokens is None:
            self.spent_usd += reserved
            return 0.0 if price == FREE else None
        cost = price.of(reply.prompt_tokens, reply.completion_tokens)
        self.spent_usd += cost
        return cost


def _highest_cost(request: Request, price: Price | None) -> float:
    """Return what a request may cost at most: no tokeniser makes more tokens than bytes."""
    if price is None:
        return 0.0
    size = sum(len(turn.content.encode()) for turn in request.messages)
    return price.of(size, request.max_tokens)
