# shellcheck shell=bash disable=SC2154
# The package as a stranger gets it: sdist, wheel from it, installed far from the checkout.

wheel_in_an_empty_folder() ( # a subshell: the working directory ends with it
  local dist=$work/dist empty=$work/empty
  use_venv dev
  (cd "$checkout" && python -m build --outdir "$dist" . >"$work/build.log" 2>&1) ||
    { tail -50 "$work/build.log" >&2; return 1; }
  fresh_venv wheel
  pip install "$dist"/*.whl
  mkdir "$empty"
  cd "$empty" || return
  judge --version
  judge demo >"$work/demo.out"
  tail -5 "$work/demo.out"
  [ -z "$(ls -A .)" ] || { echo "judge demo left files behind: $(ls -A)" >&2; return 1; }
  # The same job from the installed data, with nothing of the checkout in reach, twice:
  # the second run must find every judgment in the cache of the first.
  local demo
  demo=$(python -c 'import judge, pathlib; print(pathlib.Path(judge.__file__).parent / "_data/goldens/demo")')
  case $demo in "$work"/wheel/*) ;; *) echo "judge is imported from $demo" >&2; return 1 ;; esac
  judge grade "$demo/run.json" --backend mock --cache-dir cache --out first >first.txt
  judge grade "$demo/run.json" --backend mock --cache-dir cache --out second --json >second.json
  python - <<'PY'
import json
from pathlib import Path

first, second = (json.loads(Path(run, "report.json").read_text()) for run in ("first", "second"))
assert first["calls"]["made"] > 0, first["calls"]
assert second["calls"]["made"] == 0, second["calls"]
for report in (first, second):
    for changing in ("calls", "cost_usd", "timing"):
        report.pop(changing)
assert first == second, "the second run's report differs"
printed = json.loads(Path("second.json").read_text())
assert printed["measures"] == second["measures"]
PY
)

startup() { # fast, and without the packages that only a real model needs
  use_venv wheel
  local run=$work/checkout/goldens/demo/run.json
  refuse_imports judge --help
  refuse_imports judge grade "$run" --backend mock --cache-dir "$work/startup-cache"
  refuse_imports judge demo
  best_of 0.25 judge --help
  best_of 2 judge grade "$run" --backend mock --cache-dir "$work/startup-cache"
  best_of 2 judge demo
}

refuse_imports() { # COMMAND…: fail if it loads a package that only real models need
  local trace=$work/importtime found
  python -X importtime "$(command -v "$1")" "${@:2}" >"$work/startup.out" 2>"$trace"
  found=$(grep -oE '\| +(openai|litellm|httpx2?)$' "$trace" | sort -u || true)
  [ -z "$found" ] || { echo "${*} imports $found" >&2; return 1; }
}

best_of() { # SECONDS COMMAND…: the quickest of five runs must need less than SECONDS
  python - "$@" <<'PY'
import resource
import subprocess
import sys
import time


def spent():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


limit, command, walls, busy = float(sys.argv[1]), sys.argv[2:], [], []
for _ in range(5):
    begun, before = time.perf_counter(), spent()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    walls.append(time.perf_counter() - begun)
    busy.append(spent() - before)
shown = " ".join(word.rsplit("/", 1)[-1] for word in command)
print(f"{min(walls):.2f} s, {min(busy):.2f} s of them busy (limit {limit} s): {shown}")
# On a machine that is busy with other things the clock says nothing about the command.
sys.exit(min(*walls, *busy) > limit)
PY
}

clean_checkout() { # no test and no command writes into the source tree
  local left
  left=$(git -C "$checkout" status --porcelain)
  [ -z "$left" ] || { echo "left in the checkout:"$'\n'"$left" >&2; return 1; }
}
