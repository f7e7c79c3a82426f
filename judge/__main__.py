"""`python -m judge`: the same as `judge`."""

from judge.cli.main import main

main()
