"""Numbers on the command line that are numbers: NaN passes every comparison with a bound."""

from __future__ import annotations

import math
from typing import Any

import click


class NumberRange(click.FloatRange):
    """click's range of floats, without NaN: a bound of NaN would bind nothing."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number that an option was given."""
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number
