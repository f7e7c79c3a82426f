"""`judge rrf-cost` from the command line."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from judge.cli.rrf_cost import command
from judge.errors import UsageError


def run(*args: str) -> str:
    result = CliRunner().invoke(command, list(args), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_json_is_one_object_a_constant() -> None:
    out = run("--rrf-k", "60,20,5", "--multiplier", "0.87", "--json")
    assert json.loads(out) == [
        {"rrf_k": 60, "ranks": 9},
        {"rrf_k": 20, "ranks": 3},
        {"rrf_k": 5, "ranks": 0},
    ]


def test_several_multipliers_are_named() -> None:
    out = run("--rrf-k", "20", "--multiplier", "0.95,0.5", "--json")
    assert json.loads(out) == [
        {"rrf_k": 20, "ranks": 1, "multiplier": "0.95"},
        {"rrf_k": 20, "ranks": 20, "multiplier": "0.5"},
    ]


def test_age_and_half_life_make_the_multiplier() -> None:
    out = run("--rrf-k", "60", "--age-days", "6", "--half-life-days", "30")
    assert "×0.8705505633" in out
    assert out.splitlines()[2].split() == ["×0.8705505633", "9"]


def test_table_has_a_line_a_multiplier_and_a_column_a_constant() -> None:
    out = run("--rrf-k", "60,20,5", "--multiplier", "0.87,0.50", "--ties", "lose")
    assert [line.split() for line in out.splitlines()[1:]] == [
        ["rrf_k", "60", "20", "5"],
        ["×0.87", "9", "3", "0"],
        ["×0.50", "61", "21", "6"],
        ["no", "loss", "above", "0.983871", "0.954545", "0.857143"],
    ]


@pytest.mark.parametrize(
    "args",
    [
        ("--rrf-k", "60"),
        ("--rrf-k", "60", "--multiplier", "0.5", "--age-days", "3"),
        ("--rrf-k", "60", "--age-days", "3"),
        ("--rrf-k", "sixty", "--multiplier", "0.5"),
        ("--rrf-k", "60", "--multiplier", "1/0"),
        ("--rrf-k", "1e999999999", "--multiplier", "0.5"),
    ],
)
def test_contradictory_or_unreadable_options_are_refused(args: tuple[str, ...]) -> None:
    with pytest.raises(UsageError):
        run(*args)
