"""Prices: ours, the user's, and what has none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judge.errors import InputError
from judge.judging.budget import Price, price_of, read_prices


def test_a_users_prices_stand_over_ours(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    mine = {
        "gpt-5-mini": {"prompt": 9, "completion": 9},
        "house-model": {"prompt": 0, "completion": 0},
    }
    path.write_text(json.dumps({"usd_per_million_tokens": mine}))
    prices = read_prices(str(path))
    assert price_of("gpt-5-mini", prices) == Price(9.0, 9.0)
    assert price_of("house-model", prices) == Price(0.0, 0.0)
    assert price_of("gpt-5-nano", prices) == read_prices()["gpt-5-nano"]
    assert price_of("gpt-5-nano", read_prices(str(path), ours=False)) is None


def test_a_model_in_no_list_has_no_price() -> None:
    assert price_of("no-such-model", read_prices()) is None


@pytest.mark.parametrize(
    "content",
    [
        "[]",
        "{",
        '{"usd_per_million_tokens": {"m": 3}}',
        '{"usd_per_million_tokens": {"m": {"prompt": -1, "completion": 1}}}',
        '{"usd_per_million_tokens": {"m": {"prompt": true, "completion": 1}}}',
        '{"usd_per_million_tokens": {"m": {"prompt": 1}}}',
    ],
)
def test_what_is_no_price_list_is_an_error(tmp_path: Path, content: str) -> None:
    path = tmp_path / "prices.json"
    path.write_text(content)
    with pytest.raises(InputError, match="not a price"):
        read_prices(str(path))


def test_a_missing_price_list_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_prices(str(tmp_path / "none.json"))
