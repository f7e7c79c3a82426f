"""Fixtures every test module may use."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of published data beside the checkout, or skip."""
    folder = ROOT.parent / "shared"
    if not (folder / "data").is_dir():
        pytest.skip("published test data (../shared) is not beside this checkout")
    return folder


@pytest.fixture(scope="session")
def data(shared: Path) -> Path:
    """Return the folder with real runs, grades and logs, or skip."""
    return shared / "data"
