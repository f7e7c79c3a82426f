"""What may be spent: calls and money, counted before a request goes out."""

from __future__ import annotations

from dataclasses import dataclass

from judge.judging.exchange import StopAsking


@dataclass(slots=True)
class Budget:
    """Bounds on one run; None is no bound.

    max_calls: requests that may go out, retries and repairs included
    max_cost_usd: money that may be spent
    """

    max_calls: int | None = None
    max_cost_usd: float | None = None
    calls: int = 0
    spent_usd: float = 0.0

    def take(self) -> None:
        """Count one request, or raise StopAsking when a bound is reached."""
        if self.max_calls is not None and self.calls >= self.max_calls:
            raise StopAsking(f"--max-calls {self.max_calls} reached")
        if self.max_cost_usd is not None and self.spent_usd >= self.max_cost_usd:
            raise StopAsking(f"--max-cost {self.max_cost_usd:g} reached")
        self.calls += 1
