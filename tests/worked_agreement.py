"""The example whose agreement was worked out with outside libraries: 6 queries of 4 pairs."""

HUMAN = (0, 0, 1, 0, 3, 2, 0, 0, 0, 0, 0, 1, 2, 1, 0, 0, 3, 1, 2, 0, 0, 0, 3, 1)
JUDGE = (0, 1, 1, 0, 3, 3, 0, 0, 0, 0, 1, 2, 2, 1, 0, 1, 2, 1, 2, 0, 0, 0, 3, 0)
