"""Run every `$ judge …` line of the README and the tutorial; put what it prints below it.

    python scripts/readme_sessions.py           bring both up to date
    python scripts/readme_sessions.py --check   write nothing; exit 1 and show what differs

A ```console block is a session: its commands run one after the other in a folder that
holds nothing but `goldens/` and `docs/`, with a cache of its own. The tutorial is one session
from beginning to end. A command that ends with another code than 0 is followed by `# exit N`.
Below a command, a line `…` alone stands for output that is left out; it stays left out as
long as the other lines can be found again, be their numbers what they may.
"""

from __future__ import annotations

import difflib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
TUTORIAL = ROOT / "docs" / "tutorial.md"
BLOCK = re.compile(r"^```console\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
ELIDED = "…"


def run(command: str, folder: Path) -> tuple[int, str]:
    """Run a command as a newcomer would, 80 columns wide; return its exit code and stdout."""
    environment = {name: os.environ[name] for name in os.environ if "_API_" not in name}
    environment |= {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "JUDGE_CACHE_DIR": str(folder / "cache"),
        "COLUMNS": "80",
    }
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if "Traceback" in done.stderr:
        sys.exit(f"$ {command}\n{done.stderr}")
    return done.returncode, "\n".join(line.rstrip() for line in done.stdout.strip().splitlines())


def matches(written: str, printed: str) -> bool:
    """Tell whether output agrees with what is written, whose line `…` stands for any lines."""
    patterns = [
        r"(?:.*\n)*?" if line.strip() == ELIDED else re.escape(line) + "\n"
        for line in written.splitlines()
    ]
    return re.fullmatch("".join(patterns), f"{printed}\n") is not None


def shape(line: str) -> str:
    """Return a line without its numbers and the width of its columns."""
    return re.sub(r"[-+]?[\d.]*\d|\s+", " ", line).strip()


def elided(written: str, printed: str) -> str:
    """Return output with the same parts left out as in what is written, if they are found."""
    lines, kept, at = printed.splitlines(), [], 0
    for line in written.splitlines():
        if line.strip() == ELIDED:
            kept.append(ELIDED)
            continue
        found = next((n for n in range(at, len(lines)) if shape(lines[n]) == shape(line)), None)
        if found is None:
            return printed
        kept.append(lines[found])
        at = found + 1
    short = "\n".join(kept)
    return short if matches(short, printed) else printed


def replay(session: str, folder: Path) -> str:
    """Return a session with the output and exit codes that its commands have now."""
    parts = re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]
    if not any(part.startswith("judge ") for part in parts):
        return session
    replayed = []
    for part in parts:
        line, _, written = part.partition("\n")
        command = line.partition("  # exit ")[0].strip()
        code, printed = run(command, folder)
        if ELIDED in written.splitlines():
            printed = elided(written.strip("\n"), printed)
        ending = f"  # exit {code}" if code else ""
        replayed.append(
            f"$ {command}{ending}\n{printed}\n" if printed else f"$ {command}{ending}\n"
        )
    return "\n".join(replayed)


@contextmanager
def newcomers_folder() -> Iterator[Path]:
    """Yield an empty folder but for what a checkout offers to try things on."""
    with tempfile.TemporaryDirectory() as name:
        for part in ("goldens", "docs"):
            (Path(name) / part).symlink_to(ROOT / part)
        yield Path(name)


def refreshed(text: str, *, one_session: bool) -> str:
    """Return a page with every session replayed, in one folder or in one each."""

    def block(found: re.Match[str]) -> str:
        if one_session:
            return f"```console\n{replay(found[1], shared)}```"
        with newcomers_folder() as folder:
            return f"```console\n{replay(found[1], folder)}```"

    with newcomers_folder() as shared:
        return BLOCK.sub(block, text)


def main() -> int:
    """Write the pages, or with --check say where they are out of date."""
    stale = False
    for page in (README, TUTORIAL):
        text = page.read_text("utf-8")
        fresh = refreshed(text, one_session=page == TUTORIAL)
        stale |= fresh != text
        if "--check" not in sys.argv[1:]:
            page.write_text(fresh, "utf-8")
            continue
        old, new = text.splitlines(keepends=True), fresh.splitlines(keepends=True)
        sys.stdout.writelines(difflib.unified_diff(old, new, page.name, "now"))
    return 1 if stale and "--check" in sys.argv[1:] else 0


if __name__ == "__main__":
    sys.exit(main())
