"""A gate for other programs: as JUnit XML and as JSON."""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import escape as xml_escape
from xml.sax.saxutils import quoteattr

from judge.comparing.gating import Gate, GatedMeasure
from judge.report.by_log import both_readings
from judge.report.comparison_document import change_document
from judge.report.conflicts import conflict_documents
from judge.report.gate import numbers
from judge.report.gate_wording import failed_slices, headline, reasons, shown_measures
from judge.report.preferences import trust_document
from judge.report.terminal import clean
from judge.stopping.outcome import Outcome


def gate_junit(gate: Gate) -> str:
    """Return JUnit XML: a test case a gating measure; undecided is an error, not a failure.

    Without a verdict, as of a run that did not run, it is one case, an error; where there
    was no baseline yet, one that was skipped.
    """
    cases = [found for found in shown_measures(gate) if found.gates]
    if not cases:
        tag = "skipped" if gate.first else "error"
        message = quoteattr(_xml_text(headline(gate)))
        case = f'<testcase classname="judge gate" name="verdict"><{tag} message={message}/>'
        return _suite([f"    {case}</testcase>"], tests=1, failures=0, errors=int(not gate.first))
    tags = {Outcome.FAIL: "failure", Outcome.UNDECIDED: "error"}
    body = []
    for found in cases:
        name = quoteattr(_xml_text(str(found.measure)))
        if found.outcome is Outcome.PASS:
            body.append(f'    <testcase classname="judge gate" name={name}/>')
            continue
        tag = tags[found.outcome]
        message = reasons(found) if found.outcome is Outcome.FAIL else "undecided"
        body.append(
            f'    <testcase classname="judge gate" name={name}>'
            f"<{tag} message={quoteattr(_xml_text(message))}>"
            f"{xml_escape(_xml_text(numbers(found, gate)))}</{tag}></testcase>"
        )
    counts = {tag: sum(found.outcome is o for found in cases) for o, tag in tags.items()}
    return _suite(body, tests=len(cases), failures=counts["failure"], errors=counts["error"])


def _suite(body: list[str], *, tests: int, failures: int, errors: int) -> str:
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<testsuite name="judge gate" tests="{tests}" failures="{failures}"'
            f' errors="{errors}">',
            *body,
            "</testsuite>",
            "",
        ]
    )


def _xml_text(text: str) -> str:
    """Return text without what XML 1.0 cannot hold."""
    return "".join(char for char in clean(text) if char.isprintable())


def gate_document(gate: Gate) -> dict[str, Any]:
    """Return what `judge gate --json` prints."""
    by_log = gate.by_log
    measures = _measures_document(gate)
    if by_log is not None:
        measures = both_readings(measures, _measures_document(by_log))
    return {
        "schema": 1,
        "outcome": "no baseline" if gate.first else str(gate.outcome),
        "sentence": headline(gate),
        "baseline": gate.baseline,
        "runs": list(gate.runs),
        "rule": {
            "margin": gate.rule.margin,
            "strict": gate.rule.margin == 0.0,
            "claim": str(gate.rule.claim),
        },
        "until": gate.until,
        "calls": {
            "made": gate.calls.made,
            "cached": gate.calls.cached,
            "unanswered": gate.calls.unanswered,
        },
        "cost_usd": gate.cost_usd,
        "notices": list(gate.notices),
        "did_not_run": list(gate.did_not_run),
        "ideal_moved": list(gate.ideal_moved),
        "read_log": None if gate.trust is None else trust_document(gate.trust),
        "outcome_by_log": None if by_log is None else str(by_log.outcome),
        "conflicts": conflict_documents(gate.conflicts),
        "measures": measures,
    }


def _measures_document(gate: Gate) -> dict[str, Any]:
    return {str(found.measure): _measure_document(found) for found in shown_measures(gate)}


def _measure_document(found: GatedMeasure) -> dict[str, Any]:
    other = found.elsewhere
    return {
        "outcome": str(found.outcome),
        "gates": found.gates,
        "overall": change_document(found.change),
        "slices": {name: change_document(change) for name, change in found.slices.items()},
        "failed_overall": None in found.ruling.failed,
        "failed_slices": list(failed_slices(found)),
        "open_slices": [name for name in found.ruling.could_fail if name is not None],
        # What the rows show of queries like them, with --claim population.
        "one_sided_95": None if other is None else [other.lower, other.upper],
        "rows_needed": None if other is None else other.rows_needed,
        # Of several repeats: the standard error of their mean by the system's own noise.
        "repeat_se": found.noise,
    }
