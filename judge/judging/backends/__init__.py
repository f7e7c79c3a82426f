"""The seam to a judge model: one `Backend`, several ways to answer."""

from judge.judging.backends.opening import open_backend

__all__ = ["open_backend"]
