"""`--until`: how far to ask the judge, as the user writes it."""

from __future__ import annotations

from dataclasses import dataclass

from judge.cascade import Settings, select_all
from judge.contrast import Contrast
from judge.errors import UsageError
from judge.judging.selector import Selector
from judge.scoring import Scale
from judge.stopping.goals import Goal, Width


@dataclass(frozen=True, slots=True)
class Until:
    """A way to stop: `all`, `decided`, `width` (with its W) or `confident` (with its C)."""

    kind: str = "all"
    value: float = 0.0

    def __str__(self) -> str:
        return f"{self.kind}={self.value:g}" if self.kind in _RANGES else self.kind

    def selector(self, contrast: Contrast, goal: Goal, settings: Settings) -> Selector:
        """Return the selector that stops so; `goal` is what `decided` means here.

        Only nDCG can be looked ahead: UsageError for another measure.
        """
        if self.kind == "all":
            return select_all(settings)
        if not contrast.is_ndcg:
            raise UsageError(
                f"--until {self} needs nDCG as the first measure, not {contrast.measure};"
                " add -m nDCG@10 or use --until all"
            )
        # They need numpy, which takes longer to load than a small run in all.
        from judge.stopping.confident import Confident
        from judge.stopping.directed import Directed

        if self.kind == "confident":
            return Confident(contrast, confidence=self.value)
        return Directed(contrast, Width(self.value) if self.kind == "width" else goal)


def grading_selector(until: Until, settings: Settings) -> Selector | None:
    """Return the selector that grades one run so far: its mean of the first nDCG counts.

    None for `all`: everything open is asked about, what is settled apart.
    With a single run `decided` means known exactly. UsageError for `confident`, which finds
    the sign of a difference.
    """
    if until.kind == "confident":
        raise UsageError("--until confident compares two runs; use all, decided or width=W here")
    if until.kind == "all":
        return None
    measures = [*(m for m in settings.measures if m.name == "nDCG"), *settings.measures]
    contrast = Contrast(measures[0], (1.0,), Scale(settings.gain, settings.grade_max))
    return until.selector(contrast, Width(0.0), settings)


_RANGES = {"width": (0.0, 2.0), "confident": (0.5, 1.0)}


def parse_until(text: str) -> Until:
    """Return what `--until` says: all, decided, width=W or confident=C.

    >>> parse_until("width=0.02")
    Until(kind='width', value=0.02)
    """
    kind, equals, number = text.strip().partition("=")
    if kind in ("all", "decided") and not equals:
        return Until(kind)
    limits = _RANGES.get(kind)
    try:
        value = float(number)
    except ValueError:
        limits = None
        value = 0.0
    if limits is None or not limits[0] < value < limits[1]:
        raise UsageError(
            f"--until {text!r}: use all, decided, width=W (the mean to within W, such as 0.02)"
            " or confident=C (a sign that is right with this chance, such as 0.99)"
        )
    return Until(kind, value)
