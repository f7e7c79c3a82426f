"""What `judge calibrate` found, in sentences and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from judge.calibration.files import CalibrationReport
from judge.calibration.panel_worth import PanelWorth
from judge.calibration.rescoring import SystemOrders
from judge.calibration.trust import Answer, Calibration
from judge.report.phrases import MOCK, number, plural
from judge.statistics.correction import Correction
from judge.statistics.estimate import Estimate
from judge.statistics.paired import Agreement

SCHEMA = 1

NAMES: Mapping[str, str] = MappingProxyType(
    {
        "exact": "exact agreement",
        "within_one": "within one grade",
        "kappa": "Cohen's kappa",
        "kappa_linear": "linear kappa",
        "kappa_quadratic": "quadratic kappa",
        "ac1": "Gwet's AC1",
        "ac2_linear": "Gwet's AC2, linear",
        "ac2_quadratic": "Gwet's AC2, quadratic",
        "alpha_nominal": "Krippendorff's alpha, nominal",
        "alpha_ordinal": "Krippendorff's alpha, ordinal",
        "alpha_interval": "Krippendorff's alpha, interval",
        "mae": "mean absolute error",
        "bias": "bias (judge - human)",
    }
)
"""Coefficients as people call them; the cuts of the scale are named by `full_name`."""


def full_name(coefficient: str) -> str:
    """Return a coefficient's name for people.

    >>> full_name("kappa_at_2"), full_name("ac1")
    ('kappa of grade >= 2', "Gwet's AC1")
    """
    kind, at, cut = coefficient.partition("_at_")
    return f"{kind} of grade >= {cut}" if at else NAMES[coefficient]


def estimate_text(estimate: Estimate) -> str:
    """Return `0.595 [0.449, 0.710]`; "-" where it is undefined."""
    if estimate.value is None:
        return "-"
    if estimate.lo is None or estimate.hi is None:
        return number(estimate.value)
    return f"{number(estimate.value)} [{number(estimate.lo)}, {number(estimate.hi)}]"


def headline(report: CalibrationReport) -> str:
    """Return the sentence that answers: may this judge gate?"""
    calibration = report.calibration
    overall, answer = calibration.overall, calibration.answer
    if overall.pairs == 0 and calibration.chosen:
        labels = plural(calibration.chosen, "label")
        return (
            f"Not calibrated: {labels} chosen by looking, none drawn at random; `judge spotcheck"
            " --core N` draws some."
        )
    if overall.pairs == 0:
        return "Not calibrated: no human-judge pairs."
    size = f"{plural(overall.pairs, 'chunk')} of {_queries(overall.queries)}"
    name, found = full_name(answer.coefficient), estimate_text(answer.estimate)
    who = _who(report)
    if answer.may_gate is not None:
        verdict = f"{who.capitalize()} {'may' if answer.may_gate else 'may not'} gate"
        side = _side(answer)
        return f"{verdict}: {name} is {found} over {size}, {side}.{_but_biased(calibration)}"
    if answer.estimate.value is None:
        return (
            f"Cannot tell whether this judge may gate: {name} of {size}: {answer.estimate.reason}."
        )
    return f"Too few labels to tell whether {who} may gate: {_why_not(answer, size)}."


def _side(answer: Answer) -> str:
    if answer.coefficient == "bias":
        return f"{'within' if answer.may_gate else 'beyond'} the {answer.least:g} grades allowed"
    return f"{'above' if answer.may_gate else 'below'} the {answer.least:g} required"


def _but_biased(calibration: Calibration) -> str:
    """Say beside "may gate" that the judge leans, where it surely does."""
    found = calibration.overall.coefficients["bias"]
    if not calibration.answer.may_gate or not is_sure(found) or found.value is None:
        return ""
    way, moved = ("above", "high") if found.value > 0 else ("below", "low")
    return (
        f" Its grades lie {number(abs(found.value))} {way} people's on average: what two runs"
        f" have in common cancels, a single run's figures are too {moved}."
    )


def is_sure(bias: Estimate) -> bool:
    """Tell whether a bias has a sign: its interval leaves out 0."""
    return bias.lo is not None and bias.hi is not None and not bias.lo <= 0.0 <= bias.hi


def _who(report: CalibrationReport) -> str:
    return f"this judge ({MOCK})" if "mock" in report.models else "this judge"


def _why_not(answer: Answer, size: str) -> str:
    name, found = full_name(answer.coefficient), estimate_text(answer.estimate)
    more = _queries(answer.more_queries) if answer.more_queries else ""
    if answer.estimate.lo is None:
        why = f"an interval needs at least {more} more" if more else answer.estimate.reason
        return f"{name} is {found} over {size}; {why}"
    near = "it lies so near that no number of labels worth giving would tell"
    tail = f"about {more} more would tell" if more else near
    limit = (
        f"{answer.least:g} grades allowed"
        if name == NAMES["bias"]
        else f"{answer.least:g} required"
    )
    return f"{name} is {found} over {size}, on both sides of the {limit}; {tail}"


def _queries(count: int | None) -> str:
    return "1 query" if count == 1 else f"{count:,} queries"


def bias_text(estimate: Estimate) -> str:
    """Return whether the judge grades higher or lower than people, as far as the interval tells."""
    if estimate.value is None:
        return f"bias unknown: {estimate.reason}"
    leaning = "neither higher nor lower than people's for sure"
    if is_sure(estimate):
        leaning = "higher than people's" if estimate.value > 0 else "lower than people's"
    return f"bias {estimate_text(estimate)} grades: {leaning}"


def people_lines(calibration: Calibration) -> list[str]:
    """Return how people agree with each other, and the judge on the same chunks."""
    people, judge = calibration.people, calibration.judge_on_shared
    if people is None or judge is None:
        return []
    shared = plural(people.pairs, "chunk")
    lines = [
        f"On the {shared} that several people graded, each pair of graders in both orders (so that"
        " judge and people are compared in the same way):"
    ]
    for name in dict.fromkeys((decisive(calibration), "kappa")):
        lines += [
            f"  {full_name(name)}, people with each other  "
            f"{estimate_text(people.coefficients[name])}",
            f"  {full_name(name)}, judge with a person     "
            f"{estimate_text(judge.coefficients[name])}",
        ]
    return lines


def decisive(calibration: Calibration) -> str:
    """Return the coefficient to show where one must do: the one that decides, or is required."""
    name = calibration.answer.coefficient
    return name if name != "bias" else next(iter(calibration.settings.required))


def share_lines(report: CalibrationReport) -> list[str]:
    """Return how often each grade occurs by the judge, and how often people would give it."""
    calibration = report.calibration
    judge = ", ".join(f"{g} {share:.1%}" for g, share in enumerate(calibration.judge_shares))
    lines = [f"Grades by {_who(report)}: {judge}."]
    first = calibration.shares[0]
    if first.value is None:
        return [*lines, f"By people, had they graded all of it: unknown, {first.reason}."]
    people = ", ".join(f"{g} {_percent(share)}" for g, share in enumerate(calibration.shares))
    return [*lines, f"By people, had they graded all of it: {people}."]


def _percent(share: Estimate) -> str:
    if share.value is None or share.lo is None or share.hi is None:
        return "-" if share.value is None else f"{share.value:.1%}"
    return f"{share.value:.1%} [{share.lo:.1%}, {share.hi:.1%}]"


def panel_lines(calibration: Calibration) -> list[str]:
    """Return what each judge of a panel is worth alone, in pairs and all together."""
    panel = calibration.panel
    if panel is None:
        return []
    name = decisive(calibration)
    lines = [f"The panel's judges one by one, {full_name(name)} with people:"]
    lines += [
        f"  {model}  {estimate_text(found.coefficients[name])}"
        for model, found in panel.single.items()
    ]
    lines.append("Quadratic kappa of each two of them:")
    lines += [f"  {a}, {b}  {estimate_text(found)}" for (a, b), found in panel.pairwise.items()]
    if panel.effective is not None:
        size = len(panel.single)
        lines.append(f"Their errors go together: {size} votes are worth {panel.effective:.1f}.")
    return lines


def calibration_document(report: CalibrationReport) -> dict[str, Any]:
    """Return the report as JSON; what is undefined is null with a reason."""
    calibration, answer = report.calibration, report.calibration.answer
    settings = calibration.settings
    return {
        "schema": SCHEMA,
        "may_gate": answer.may_gate,
        "sentence": headline(report),
        "models": list(report.models),
        "more_queries": answer.more_queries,
        "settings": {
            "required": dict(settings.required),
            "most_bias": settings.most_bias,
            "grade_max": settings.grade_max,
            "draws": settings.resampling.draws,
            "seed": settings.resampling.seed,
        },
        "overall": _agreement(calibration.overall),
        "slices": {name: _agreement(part) for name, part in calibration.slices.items()},
        "shares": {
            "judge": list(calibration.judge_shares),
            "people": [share.as_json() for share in calibration.shares],
        },
        "raters": list(calibration.raters),
        "people": _optional(calibration.people),
        "judge_on_shared": _optional(calibration.judge_on_shared),
        "panel": None if calibration.panel is None else _panel(calibration.panel),
        "orders": None if report.orders is None else _orders(report.orders),
        "corrected": {name: _correction(found) for name, found in report.corrected.items()},
        "notices": list(
            dict.fromkeys(notice.text for notice in (*report.notices, *calibration.notices))
        ),
    }


def _optional(agreement: Agreement | None) -> dict[str, Any] | None:
    return None if agreement is None else _agreement(agreement)


def _agreement(agreement: Agreement) -> dict[str, Any]:
    return {
        "queries": agreement.queries,
        "pairs": agreement.pairs,
        "effective_pairs": agreement.effective_pairs,
        "coefficients": {name: found.as_json() for name, found in agreement.coefficients.items()},
        "confusion": [list(row) for row in agreement.confusion],
        "precision": list(agreement.precision),
        "recall": list(agreement.recall),
    }


def _panel(panel: PanelWorth) -> dict[str, Any]:
    return {
        "judges": {model: _agreement(found) for model, found in panel.single.items()},
        "pairwise_kappa_quadratic": [
            {"judges": list(pair), **found.as_json()} for pair, found in panel.pairwise.items()
        ],
        "effective_votes": panel.effective,
    }


def _orders(orders: SystemOrders) -> dict[str, Any]:
    overlap = orders.overlap
    return {
        "measure": str(orders.measure),
        "queries": orders.queries,
        "means": {name: {"judge": j, "human": h} for name, (j, h) in orders.means.items()},
        **{name: found.as_json() for name, found in orders.correlations.items()},
        "rbo": None
        if overlap is None
        else {"extrapolated": overlap.extrapolated, "minimum": overlap.minimum},
    }


def _correction(correction: Correction) -> dict[str, Any]:
    return {
        "method": correction.method,
        **correction.estimate.as_json(),
        "judge": correction.judge_mean,
        "human_only": correction.human_only.as_json(),
        "labelled_queries": correction.labelled,
        "queries": correction.units,
        "notes": list(correction.notes),
    }
