"""`judge.compare`: two runs from files or objects to a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from judge.api import grading as api
from judge.api.grading import has_goldens, one_judge
from judge.api.inputs import Inputs
from judge.auditing import LogUse
from judge.cascade import Grading, Settings, grade_runs
from judge.comparing.comparison import Comparison, build_comparison, corrected_by
from judge.comparing.lineup import Lineup, build_lineup
from judge.contrast import Contrast
from judge.errors import UsageError
from judge.formats import LabelFile, read_grades, read_labels
from judge.formats.opening import SourceFile
from judge.judging.judge import Judge
from judge.judging.selector import Selector
from judge.pricing import price_tag
from judge.run import Notice, Run
from judge.scoring import Scale
from judge.stopping.confident import Confident
from judge.stopping.goals import Sign
from judge.stopping.until import Until, parse_until

_CORRECTS = Notice(
    "labels settle",
    1,
    "labels settle the chunks they name; kept out of settling (--exclude-from-settling), they"
    " correct what the judge says of all rows",
)


def compare(
    baseline: Run | SourceFile,
    candidate: Run | SourceFile,
    *,
    inputs: Inputs | None = None,
    backend: str | None = None,
    prompt: str | None = None,
    cache_dir: Path | None = None,
    judge: Judge | None = None,
    measures: Sequence[str] = (),
    k: int = 10,
    gain: str = "linear",
    until: str = "all",
    sample: bool = False,
) -> Comparison:
    """Compare a candidate with a baseline over one pool of judgments.

    until: "all", "decided", "width=W" or "confident=C"; see `judge.stopping`
    sample: the queries are a random sample of traffic; how excluded labels correct depends on it
    The other arguments are those of `judge.grade`. The first nDCG asked decides (else the
    first measure). Raises what `judge.grade` raises.
    """
    stop, inputs = parse_until(until), (inputs or Inputs()).with_texts()
    kept: LabelFile | None = None
    if inputs.labels is not None and inputs.exclude_labels:
        kept, inputs = read_labels(inputs.labels, inputs.options), replace(inputs, labels=None)
    with one_judge(backend, judge, prompt, cache_dir, inputs.options) as judge:
        grading, selector = grade_pair(
            [inputs.run(baseline), inputs.run(candidate)],
            inputs=inputs,
            measures=measures,
            k=k,
            gain=gain,
            until=stop,
            judge=judge,
        )
    finding = selector.finding if isinstance(selector, Confident) else None
    if kept is None:
        if inputs.labels is not None and judge is not None:
            grading = replace(grading, notices=(*grading.notices, _CORRECTS))
        comparison = build_comparison(grading, until=str(stop), finding=finding)
        price = price_tag(comparison.open_pools) if judge is None else None
        return replace(comparison, price=price)
    grading = replace(grading, notices=(*grading.notices, *kept.notices))
    comparison = build_comparison(grading, until=str(stop), finding=finding)
    return corrected_by(comparison, kept.labels, sample=sample)


def line_up(
    runs: Sequence[Run | SourceFile],
    *,
    inputs: Inputs | None = None,
    judge: Judge | None = None,
    measures: Sequence[str] = (),
    k: int = 10,
    gain: str = "linear",
    against: SourceFile | None = None,
) -> Lineup:
    """Line up several runs over one pool of judgments.

    against: a second source of grades, to see whether it orders the runs alike
    """
    inputs = (inputs or Inputs()).with_texts()
    second = read_grades(against, inputs.options).grades if against is not None else ()
    grading, _ = grade_pair(
        [inputs.run(run) for run in runs],
        inputs=inputs,
        measures=measures,
        k=k,
        gain=gain,
        until=Until(),
        judge=judge,
    )
    return build_lineup(grading, against=second)


def grade_pair(
    runs: Sequence[Run],
    *,
    inputs: Inputs,
    measures: Sequence[str],
    k: int,
    gain: str,
    until: Until,
    judge: Judge | None,
) -> tuple[Grading, Selector]:
    """Grade runs over their union pool, until the sign of the first two is as asked."""
    known = inputs.known()
    settings = settings_of(
        measures,
        goldens=has_goldens(known, runs),
        k=k,
        gain=gain,
        grade_max=inputs.options.grade_max,
    )
    coefficients = (-1.0, 1.0, *[0.0] * (len(runs) - 2))
    contrast = Contrast(settings.measures[0], coefficients, Scale(gain, settings.grade_max))
    selector = until.selector(contrast, Sign(), settings)
    grading = grade_runs(
        with_notices(runs, known.notices),
        settings=settings,
        goldens=known.goldens,
        known=known.grades,
        preferences=inputs.pairs(),
        judge=judge,
        selector=selector,
        log=LogUse(inputs.log_error, audits=until.kind == "all", settles=False),
        judged_rows=inputs.only_judged,
    )
    return grading, selector


def settings_of(
    names: Sequence[str], *, goldens: bool, k: int, gain: str, grade_max: int
) -> Settings:
    """Return what is measured, the measure that decides in front: the first nDCG, if any.

    UsageError for measures or a gain that the scale 0..grade_max does not have.
    """
    settings = api.settings_of(names, goldens=goldens, k=k, gain=gain, grade_max=grade_max)
    measures = settings.measures
    telling = [measure for measure in measures if measure.name != "Judged"]
    if not telling:
        found = f"{measures[0]} tells how much is judged, not how good it is"
        raise UsageError(f"{found}; ask for another measure too, such as -m nDCG@{k}")
    first = next((measure for measure in telling if measure.name == "nDCG"), telling[0])
    return replace(settings, measures=tuple(dict.fromkeys((first, *measures))))


def with_notices(runs: Sequence[Run], notices: Iterable[Notice]) -> list[Run]:
    """Return runs of which the first also tells what reading the known evidence noticed."""
    return [replace(runs[0], notices=(*runs[0].notices, *notices)), *runs[1:]]


__all__ = ["Inputs", "compare", "grade_pair", "line_up"]
