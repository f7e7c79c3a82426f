# shellcheck shell=bash disable=SC2154
# Where CI works: away from this machine's settings, on a clone, in fresh environments.

isolate() {
  unset PYTHONPATH PYTHONSTARTUP VIRTUAL_ENV JUDGE_CACHE_DIR
  unset "${!OPENAI_@}" "${!ANTHROPIC_@}" "${!LITELLM_@}" "${!PYTEST_@}"
  export HOME=$work/home XDG_CACHE_HOME=$work/home/.cache PYTHONNOUSERSITE=1
  export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_QUIET=1
  mkdir -p "$HOME"
  "$python" -c 'import sys; print("Python", sys.version); sys.exit(sys.version_info < (3, 11))'
}

clone_head() {
  git -c advice.detachedHead=false clone --quiet --no-hardlinks "$source_dir" "$checkout"
  if [ -n "$(git -C "$source_dir" status --porcelain)" ]; then
    echo "note: uncommitted changes are not part of this run"
  fi
  # Published test data lies beside a checkout and is read only.
  if [ -d "$source_dir/../shared/data" ]; then
    ln -s "$(cd "$source_dir/../shared" && pwd)" "$work/shared"
  else
    echo "note: no ../shared: tests on published data will be skipped"
  fi
  git -C "$checkout" log -1 --format='%h %s'
}

start_services() { # what tests need beside Python packages, one function each
  install_browser
}

install_browser() { # Debian's Chromium, for the tests of the pages that judge serves or writes
  if ! command -v chromium >/dev/null || ! command -v chromedriver >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    {
      apt-get -q update
      apt-get -q install -y --no-install-recommends chromium chromium-driver
    } >"$work/apt.log" 2>&1 || { tail -20 "$work/apt.log" >&2; return 1; }
  fi
  chromium --version
}

fresh_venv() { # NAME: make $work/NAME and put it first on the PATH, for this step
  "$python" -m venv "$work/$1"
  use_venv "$1"
}

use_venv() { # NAME: put an environment made earlier first on the PATH, for this step
  [ -d "$work/$1" ] || { echo "the step that makes the environment '$1' failed" >&2; return 1; }
  export PATH=$work/$1/bin:$base_path
  hash -r
}

readme_command() { # PATTERN: the one command line of the README that matches
  local lines
  lines=$(grep -E "^(\\$ )?pip install .*$1" "$checkout/README.md" | sed 's/^\$ //' | sort -u)
  [ "$(grep -c . <<<"$lines")" = 1 ] || { echo "README: not one command with '$1': $lines" >&2; return 1; }
  printf '%s\n' "$lines"
}
