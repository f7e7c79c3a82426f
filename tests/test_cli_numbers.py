"""Numbers on the command line."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from judge.cli.main import app


@pytest.mark.parametrize("option", ["--max-cost", "--rpm", "--tpm", "--timeout"])
def test_a_bound_that_is_no_number_is_not_taken_for_no_bound(option: str) -> None:
    done = CliRunner().invoke(app, ["grade", "-", "--backend", "mock", option, "nan"])
    assert done.exit_code == 2
    assert f"'{option}': 'nan' is not a number" in done.output
