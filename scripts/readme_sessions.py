"""Run every `$ judge …` line of the README and put what it prints below it.

    python scripts/readme_sessions.py           bring the README up to date
    python scripts/readme_sessions.py --check   write nothing; exit 1 and show what differs

A ```console block is a session: its commands run one after the other in a folder that
holds nothing but `goldens/`, with a cache of its own. A command that ends with another
code than 0 is followed by `# exit N`. Below a command, a line `…` alone stands for output
that is left out; such output is kept as written as long as the rest agrees.
"""

from __future__ import annotations

import difflib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
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


def replay(session: str) -> str:
    """Return a session with the output and exit codes that its commands have now."""
    parts = re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]
    if not any(part.startswith("judge ") for part in parts):
        return session
    replayed = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "goldens").symlink_to(ROOT / "goldens")
        for part in parts:
            line, _, written = part.partition("\n")
            command = line.partition("  # exit ")[0].strip()
            code, printed = run(command, folder)
            if ELIDED in written.splitlines() and matches(written.strip("\n"), printed):
                printed = written.strip("\n")
            ending = f"  # exit {code}" if code else ""
            replayed.append(
                f"$ {command}{ending}\n{printed}\n" if printed else f"$ {command}{ending}\n"
            )
    return "\n".join(replayed)


def main() -> int:
    """Write the README, or with --check say where it is out of date."""
    text = README.read_text("utf-8")
    fresh = BLOCK.sub(lambda block: f"```console\n{replay(block[1])}```", text)
    if "--check" not in sys.argv[1:]:
        README.write_text(fresh, "utf-8")
        return 0
    sys.stdout.writelines(
        difflib.unified_diff(
            text.splitlines(keepends=True), fresh.splitlines(keepends=True), "README.md", "now"
        )
    )
    return 1 if fresh != text else 0


if __name__ == "__main__":
    sys.exit(main())
