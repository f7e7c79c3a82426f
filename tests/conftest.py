"""Fixtures every test module may use."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import Phase, settings

from judge.cli.main import main

ROOT = Path(__file__).resolve().parent.parent

# The same examples on every machine, however slow; `--hypothesis-profile explore` looks
# further, with new examples each time.
SHORT = (Phase.explicit, Phase.generate, Phase.shrink)  # no `explain`: it can take minutes
settings.register_profile("steady", derandomize=True, deadline=None, phases=SHORT)
settings.register_profile("explore", max_examples=1000, deadline=None)
settings.load_profile("steady")


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


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Return a way to import a module of scripts/ by its name."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return importlib.import_module


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Give each test a cache of its own: from Python too, judgments are kept by default."""
    monkeypatch.setenv("JUDGE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


@dataclass(frozen=True)
class Ran:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str


@pytest.fixture
def run_judge(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., Ran]:
    """Return a function that runs `judge` in this process, with a cache of its own."""
    monkeypatch.setenv("JUDGE_CACHE_DIR", str(tmp_path / "judge-cache"))

    def run(*argv: object) -> Ran:
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in argv])
        printed = capsys.readouterr()
        return Ran(int(ended.value.code or 0), printed.out, printed.err)

    return run
