# shellcheck shell=bash disable=SC2154
# Lint and types, from the environment that the README's test command made.

lint() {
  use_venv dev
  (cd "$checkout" && ruff check . && ruff format --check .)
}

types() {
  use_venv dev
  (cd "$checkout" && mypy)
}
