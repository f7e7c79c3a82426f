"""`judge.gate`: runs against a committed baseline, from files or objects to an outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from judge.api.baselines import (
    check_goldens,
    ideal_moved,
    other_judge,
    refuse_own_file,
    store,
    stored_baseline,
    without_goldens,
)
from judge.api.comparing import settings_of, with_notices
from judge.api.grading import has_goldens, one_judge
from judge.api.inputs import Inputs
from judge.auditing import LogUse
from judge.cascade import Grading, Settings, grade_runs
from judge.comparing.gating import Gate, gated_measures
from judge.comparing.lacking import has_failed, lacking, textless
from judge.errors import UsageError
from judge.formats.opening import SourceFile
from judge.grades import Source
from judge.judging.judge import Judge
from judge.judging.selector import Selector
from judge.measures.names import Measure
from judge.report.baseline import Baseline, check_settings
from judge.report.phrases import SAID_FIRST
from judge.report.replacing import prepare_file
from judge.run import Run
from judge.stopping.columns import difference_of
from judge.stopping.goals import Width
from judge.stopping.outcome import Rule
from judge.stopping.until import Until, parse_until

_GRADED_SOURCES = {Source.HUMAN, Source.PRIOR, Source.JUDGE}


@dataclass(frozen=True, slots=True)
class Asked:
    """What a gate measures, and how: given measures all gate, default ones as designed."""

    measures: tuple[str, ...] = ()
    k: int = 10
    gain: str = "linear"
    until: str = "all"
    rule: Rule = field(default_factory=Rule)


def gate(
    runs: Sequence[Run | SourceFile],
    baseline: str | Path,
    *,
    asked: Asked | None = None,
    inputs: Inputs | None = None,
    backend: str | None = None,
    prompt: str | None = None,
    cache_dir: Path | None = None,
    judge: Judge | None = None,
    update: bool = False,
) -> Gate:
    """Say whether runs (repeats of one system) are no worse than a stored baseline.

    update: write the first run as the new baseline afterwards, with the whole pool; not if
    the judge broke off or was dry; where no file is there yet, nothing is compared
    Raises InputError for a baseline that cannot be compared with: another schema, cutoff,
    gain, unit or prompt, other goldens, edited by hand.
    """
    inputs, asked = (inputs or Inputs()).with_texts(), asked or Asked()
    path = Path(baseline)
    if not runs:
        raise UsageError("a gate needs at least one run of the candidate")
    if update:
        refuse_own_file(path, runs)
        prepare_file(path)
    candidates = [inputs.run(run) for run in runs]
    before = stored_baseline(path, inputs, update=update)
    known = inputs.known()
    first = without_goldens(before.run if before else candidates[0], candidates, known.goldens)
    every = with_notices([first, *candidates], known.notices)
    settings = settings_of(
        asked.measures,
        goldens=has_goldens(known, every),
        k=asked.k,
        gain=asked.gain,
        grade_max=inputs.options.grade_max,
    )
    until = parse_until(asked.until)
    selector = _selector(until, settings, asked, runs=len(every))
    grade = partial(
        grade_runs,
        every,
        settings=settings,
        goldens=known.goldens,
        known=(*known.grades, *(before.known if before else ())),
        preferences=inputs.pairs(),
        log=LogUse(inputs.log_error, audits=until.kind == "all", settles=False),
        judged_rows=inputs.only_judged,
    )
    with one_judge(backend, judge, prompt, cache_dir, inputs.options) as judge:
        # What cannot be compared is refused before anything is paid for.
        grading = grade()
        if before is not None and not update:
            asked_by = judge.prompt_name if judge is not None else None
            check_settings(before, settings, unit=grading.unit, prompt=asked_by)
            check_goldens(before, grading)
        if judge is not None:
            grading = grade(judge=judge, selector=selector)
    was_dry = judge is not None and judge.is_dry
    if update and grading.stopped is None and not was_dry:
        store(
            candidates[0],
            path,
            grading=grading,
            goldens=known.goldens,
            only_judged=inputs.only_judged,
        )
    return _build(grading, before, asked)


def _selector(until: Until, settings: Settings, asked: Asked, *, runs: int) -> Selector:
    """Return what to ask a judge; `decided` is about the verdict over all that gates."""
    if until.kind == "confident":
        raise UsageError("--until confident finds a sign, not an outcome; gate by decided or all")
    if until.kind == "decided":
        # It needs numpy, which takes longer to load than a small run in all.
        from judge.stopping.verdict import SameVerdict

        gating = [m for m in settings.measures if _gates(m, asked, only_goldens=False)]
        return SameVerdict(gating, runs=runs, scale=settings.scale, rule=asked.rule)
    contrast = difference_of(settings.measures[0], runs=runs, scale=settings.scale)
    return until.selector(contrast, Width(0.0), settings)


def _gates(measure: Measure, asked: Asked, *, only_goldens: bool) -> bool:
    """Tell whether a measure gates or is only reported.

    Measures that were asked for gate, but how much is judged is no quality. Of the default
    ones all but the shallower recall do, and nDCG where something else than goldens grades.
    """
    if asked.measures or measure.name == "Judged":
        return measure.name != "Judged"
    if measure.family == "graded":
        return not only_goldens
    return measure.name != "R" or measure.k == asked.k


def _build(grading: Grading, stored: Baseline | None, asked: Asked) -> Gate:
    pools = [pool for pool in grading.pools if not pool.query.is_answerless]
    only_goldens = (
        grading.backend is None
        and any(pool.query.has_answer for pool in pools)
        and not any(j.source in _GRADED_SOURCES for pool in pools for j in pool.judgments)
    )
    gates = partial(_gates, asked=asked, only_goldens=only_goldens)
    right = grading.if_log_is_right
    return Gate(
        baseline=grading.runs[0].name,
        runs=tuple(run.name for run in grading.runs[1:]),
        rule=asked.rule,
        measures=gated_measures(grading, rule=asked.rule, gates=gates),
        did_not_run=grading.did_not_run,
        ideal_moved=tuple(ideal_moved(grading, stored)) if stored else (),
        until=asked.until,
        first=stored is None,
        by_mock=grading.by_mock,
        broke_off=grading.stopped is not None,
        failed=any(map(has_failed, grading.pools)),
        calls=grading.calls,
        cost_usd=grading.cost_usd,
        notices=(
            *(n.text for n in grading.notices if n.kind in SAID_FIRST),
            *(other_judge(stored, grading) if stored else ()),
            *lacking(grading.pools, [run.name for run in grading.runs]),
            *(textless(grading.pools) if grading.backend is not None else ()),
            *(
                n.text
                for n in grading.notices
                if n.kind != "ignored field" and n.kind not in SAID_FIRST
            ),
        ),
        conflicts=grading.conflicts,
        trust=None if grading.log is None else grading.log.trust,
        by_log=None if right is None else _build(right, stored, asked),
    )


__all__ = ["Asked", "gate"]
