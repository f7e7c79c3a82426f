"""What a report says, in each of its forms."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from judge.cascade import Grading, Settings, grade_runs
from judge.errors import InputError
from judge.judging.exchange import Verdict
from judge.measures.names import parse_measure
from judge.measures.pool import Bounded
from judge.report import wording
from judge.report.document import report_document, write_report
from judge.report.estimates import in_cell, in_words
from judge.report.files import write_folder, write_qrels, write_verdicts
from judge.report.markdown import escape, render_markdown
from judge.report.model import Report, build_report
from judge.report.terminal import print_report, shorten
from judge.run import Golden, KnownGrade, Result, Row, Run

MEASURES = tuple(map(parse_measure, ("nDCG@10", "RR")))


def row(key: str, *ids: str, **fields: object) -> Row:
    results = tuple(Result(id, text=f"text {id}") for id in ids)
    return Row(key=key, query_id=key, query=f"query {key}", results=results, **fields)  # type: ignore[arg-type]


def graded(*rows: Row, goldens: tuple[Golden, ...] = (), **evidence: object) -> Grading:
    return grade_runs(
        [Run("run", rows)],
        settings=Settings(MEASURES),
        goldens=goldens,
        **evidence,  # type: ignore[arg-type]
    )


def report(*rows: Row, goldens: tuple[Golden, ...] = (), **evidence: object) -> Report:
    return build_report(graded(*rows, goldens=goldens, **evidence))


def printed(report: Report, width: int = 80) -> str:
    stream = io.StringIO()
    print_report(report, stream, width=width)
    return stream.getvalue()


COMPLETE = Golden(("a",), query_id="q1", complete=True)
ANSWER = Golden(("c",), query_id="q2")


@pytest.fixture
def mixed() -> Report:
    """One settled row, and one with an open chunk above its golden."""
    return report(
        row("q1", "a", "b", slice="entity"),
        row("q2", "x", "c", slice="semantic"),
        goldens=(COMPLETE, ANSWER),
    )


class TestModel:
    def test_slices_overall_and_coverage(self, mixed: Report) -> None:
        ndcg, rr = MEASURES
        assert mixed.overall[rr].value == pytest.approx(0.75)  # (1 + 1/2) / 2
        assert mixed.slices["entity"][ndcg].is_open is False
        assert (mixed.slices["semantic"][ndcg].lo, mixed.slices["semantic"][ndcg].hi) == (
            pytest.approx(0.63093, abs=1e-5),
            pytest.approx(1.0),
        )
        coverage = mixed.coverage
        assert (coverage.rows, coverage.slots, coverage.graded, coverage.open) == (2, 4, 3, 1)
        assert coverage.by_source == {"golden": 3}
        assert coverage.open_by_reason == {"not judged": 1}

    def test_exit_codes(self, mixed: Report) -> None:
        assert mixed.exit_code == 3
        assert report(row("q1", "a", "b"), goldens=(COMPLETE,)).exit_code == 0
        assert report(row("q1"), goldens=(COMPLETE,)).exit_code == 3

    def test_a_row_that_could_not_be_read_is_missing_and_misranked_nothing(self) -> None:
        found = report(row("q1", *"bcdefghijkla"), goldens=(COMPLETE,))
        assert [(m.kind, m.rank) for m in found.misses] == [("misranked", 12)]

    def test_nothing_measured_is_not_complete(self) -> None:
        answerless = Golden((), query_id="q1", complete=True)
        found = report(row("q1", "a"), goldens=(answerless,))
        assert found.overall == {} and found.exit_code == 3


class TestWording:
    @pytest.mark.parametrize(
        ("bounded", "sentence", "cell"),
        [
            (Bounded(0.5, 0.5, 0.5), "0.500", "0.500"),
            (Bounded(0.5, 0.25, 1.0), "between 0.250 and 1.000", "0.250..1.000"),
            # as many digits as it takes: an open number never looks like a known one
            (Bounded(0.5, 0.5, 0.50002), "between 0.50000 and 0.50002", "0.50000..0.50002"),
            (Bounded(-0.0001, -0.0001, -0.0001), "0.000", "0.000"),
        ],
    )
    def test_numbers(self, bounded: Bounded, sentence: str, cell: str) -> None:
        assert (in_words(bounded), in_cell(bounded)) == (sentence, cell)

    def test_a_mean_over_fewer_rows_says_how_many(self) -> None:
        # RR knows one of the two rows: q1's answer is first.
        found = report(row("q1", "a", "b"), row("q2", "x"), goldens=(COMPLETE,))
        assert wording.summary_columns(found)["RR"][-1] == "1.000 (n=1)"
        assert "RR 1.000 (1 row)" in wording.outcome(found)
        assert "1.000 (n=1)" in printed(found) and "1.000 \\(n=1" not in render_markdown(found)

    def test_an_interval_names_its_method_and_slices_of_four_have_none(self) -> None:
        known = [KnownGrade("a", 3, 3, f"q{i}") for i in range(9)]
        rows = [row(f"q{i}", "a", slice="five" if i < 5 else "four") for i in range(9)]
        found = report(*rows, known=known)
        # Five ones and a 0 and a 1: mean 6/7, sd sqrt(1/7), se = sd/sqrt(7) = 1/7, t6 2.446912:
        # .857143 - .349559 = .507584. Nine: 10/11 - 2.228139/11 = .706533.
        assert wording.summary_columns(found)["nDCG@10 95% CI"] == [
            "0.508..1.000",
            "-",
            "0.707..1.000",
        ]
        assert wording.confidence_line(found) == (
            "95% CI of nDCG@10 over queries like these: 0.707 to 1.000"
            " (plus two: Student's t with one 0 and one 1 added)"
        )
        document = report_document(found)
        slices = document["measures"]["slices"]
        assert slices["four"]["nDCG@10"]["ci95"] is None
        assert slices["five"]["nDCG@10"]["ci95"] == pytest.approx([0.507584, 1.0], abs=1e-6)
        assert document["ci95_method"] == "plus two"

    def test_the_sentence_leads_with_what_is_not_known(self, mixed: Report) -> None:
        assert wording.headline(mixed) == (
            "run: nDCG@10 is between 0.815 and 1.000 over 2 rows: 1 chunk of 4 is without a grade."
        )

    def test_a_single_run_says_what_its_pool_hides(self, mixed: Report) -> None:
        assert "not what it failed to find" in " ".join(wording.pool_lines(mixed))

    def test_worst_rows_are_those_that_are_certainly_bad(self) -> None:
        known = [KnownGrade(id, grade, grade, "q1") for id, grade in (("a", 0), ("b", 3))]
        found = report(row("q1", "a", "b"), row("q2", "x"), known=known)
        # q2 could still be 1; q1 is 1/log2(3) whatever happens
        assert [r.query.key for r in wording.worst_rows(found)] == ["q1"]

    def test_lists_shorter_than_the_cutoff_are_counted(self, mixed: Report) -> None:
        assert wording.short_lists(mixed) == "2 lists shorter than 10"


class TestTerminal:
    def test_fits_the_width_and_ends_with_the_outcome(self, mixed: Report) -> None:
        lines = printed(mixed).rstrip().splitlines()
        assert all(len(line.rstrip()) <= 80 for line in lines)
        assert lines[-1].startswith("INCOMPLETE nDCG@10 between 0.815 and 1.000, RR 0.750")

    def test_the_table_shows_no_open_number_as_a_known_one(self, mixed: Report) -> None:
        (line,) = [line for line in printed(mixed).splitlines() if line.startswith("semantic")]
        assert line.split()[1:3] == ["1", "0.631..1.000"]

    def test_many_measures_become_several_tables(self) -> None:
        settings = Settings(tuple(parse_measure(f"nDCG@{k}") for k in range(1, 9)))
        grading = grade_runs([Run("run", (row("q1", *"abcdefgh"),))], settings=settings)
        lines = printed(build_report(grading)).splitlines()
        assert sum(line.startswith("overall") for line in lines) > 1
        assert all(len(line) <= 80 for line in lines)

    def test_shorten_counts_cells_not_characters(self) -> None:
        assert shorten("日本語日本語", 7) == "日本語…"
        assert shorten("a\nb\x1b", 80) == "a b\\x1b"


class TestDocument:
    def test_ids_and_texts_of_any_kind_survive(self) -> None:
        odd = 'a"b\\c\n{}'
        found = report_document(report(row(odd, odd), known=[KnownGrade(odd, 1, 1, odd)]))
        (first,) = found["rows"]
        assert first["query_id"] == first["results"][0]["id"] == found["pool"][0]["id"] == odd

    def test_one_line_a_row_and_a_pool_member(self, mixed: Report) -> None:
        stream = io.StringIO()
        write_report(mixed, stream)
        lines = stream.getvalue().splitlines()
        assert sum(line.startswith('{"query_id"') for line in lines) == 2 + 4

    def test_a_slot_outside_the_pool_has_no_grade(self) -> None:
        found = report_document(report(row("q1", *"abcdefghijkl")))
        assert len(found["pool"]) == 10
        assert found["rows"][0]["results"][11] == {
            "id": "l", "document_id": None, "rank": 12, "grade": None, "lo": 0, "hi": 3,
            "source": None,
        }  # fmt: skip

    def test_goldens_are_kept_for_a_later_comparison(self, mixed: Report) -> None:
        first = report_document(mixed)["rows"][0]
        assert (first["expected"], first["match"], first["complete"]) == (["a"], "all", True)


class TestFiles:
    def test_a_folder_that_cannot_be_written(self, mixed: Report, tmp_path: object) -> None:
        blocked = tmp_path / "file"  # type: ignore[operator]
        blocked.write_text("")
        with pytest.raises(InputError, match="choose another --out"):
            write_folder(mixed, blocked)

    def test_qrels_hold_grades_only_and_no_spaces(self) -> None:
        known = [KnownGrade("a b", 2, 2, "q 1")]
        stream = io.StringIO()
        write_qrels(report(row("q 1", "a b", "c"), known=known), stream)
        assert stream.getvalue() == "q%201 0 a%20b 2\n"

    def test_two_ids_stay_two_in_qrels(self) -> None:
        known = [KnownGrade("x y", 0, 0, "q"), KnownGrade("x%20y", 3, 3, "q")]
        stream = io.StringIO()
        write_qrels(report(row("q", "x y", "x%20y"), known=known), stream)
        assert stream.getvalue() == "q 0 x%20y 0\nq 0 x%2520y 3\n"

    def test_a_lone_surrogate_is_written_as_its_escape(self, tmp_path: object) -> None:
        paths = write_folder(report(row("q\ud800", "a")), tmp_path)  # type: ignore[arg-type]
        assert json.loads(paths[0].read_text())["rows"][0]["query_id"] == "q\ud800"


class TestMarkdown:
    def test_text_is_never_markup(self) -> None:
        found = report(row("<img src=x> **b** | [l](http://x)", "a", slice="a|b"))
        text = render_markdown(found)
        assert "<img" not in text and "**b**" not in text and "](http" not in text
        assert "| a\\|b | 1 |" in text

    def test_escape(self) -> None:
        assert escape("a_b\n# c") == "a\\_b \\# c"

    def test_a_slice_named_overall_is_told_apart(self) -> None:
        text = render_markdown(report(row("q1", "a", slice="overall")))
        assert '| slice "overall" |' in text and "| overall |" in text

    def test_starts_with_the_sentence_and_ends_with_the_outcome(self, mixed: Report) -> None:
        lines = render_markdown(mixed).strip().splitlines()
        assert lines[0].startswith(r"**run: nDCG\@10 is between") and lines[-1].startswith(
            "**INCOM"
        )


def test_a_verdict_is_written_as_its_plain_form() -> None:
    said: Any = {"status": "graded", "grade": 2, "lo": 2, "hi": 2, "model": "m"}
    verdicts = [
        Verdict("q", "a", **said),
        Verdict("é", 'b"', **said, cost_usd=0),
        Verdict("q", "c", **said, cost_usd=0.0, probabilities=(0.5, 0.5, 0.0, 0.0)),
        Verdict("q", "d", "failed", None, 0, 3, "\ud800", votes=(Verdict("q", "d", **said),)),
        Verdict("q", "e", "refused", None, 0, 3, flags=("instruction-like text",), cost_usd=None),
    ]
    stream = io.StringIO()
    write_verdicts([*verdicts, *verdicts], stream)
    expected = [json.dumps(verdict.plain()) for verdict in verdicts]
    assert stream.getvalue().splitlines() == expected * 2
