"""Where judgments are kept: one rule for the command line and for Python."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from judge.errors import UsageError


def cache_folder(option: str | Path | None, *, environ: Mapping[str, str]) -> Path:
    """Return where judgments are kept.

    The option, else JUDGE_CACHE_DIR, else `cache/` in a checkout of this project, else the
    user's cache folder: `$XDG_CACHE_HOME/judge`, by default `~/.cache/judge`, on macOS
    `~/Library/Caches/judge`, on Windows `%LOCALAPPDATA%\\judge`. UsageError for a user who has
    no home.
    """
    if named := option or environ.get("JUDGE_CACHE_DIR"):
        return Path(named)
    checkout = Path(__file__).resolve().parents[2]
    if (checkout / "pyproject.toml").is_file() and (checkout / "cache").is_dir():
        return checkout / "cache"
    return _user_cache_folder(environ) / "judge"


def _user_cache_folder(environ: Mapping[str, str]) -> Path:
    if sys.platform == "win32" and (local := environ.get("LOCALAPPDATA")):
        return Path(local)
    if xdg := environ.get("XDG_CACHE_HOME"):
        return Path(xdg)
    try:
        home = Path.home()
    except RuntimeError as error:  # HOME is unset, and the user is in no list of users
        found = "there is no home folder to keep paid judgments in"
        raise UsageError(f"{found}; name one with --cache-dir or JUDGE_CACHE_DIR") from error
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache")
