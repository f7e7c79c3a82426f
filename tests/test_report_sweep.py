"""A sweep as text, SVG and JSON: nothing from a file becomes markup or an escape sequence."""

from __future__ import annotations

from xml.etree import ElementTree

from rich.cells import cell_len
from test_sweep import TWO_SLICES, ranks, swept

from judge.report.sweep_document import sweep_document
from judge.report.sweep_svg import sweep_svg
from judge.report.sweep_text import sweep_lines

HOSTILE = '<script>\x1b[31m&"'
SVG = "{http://www.w3.org/2000/svg}"


def test_text_has_table_best_values_bars_and_warning() -> None:
    text = list(sweep_lines(swept([ranks(2, 1), ranks(1, 4)], slices=TWO_SLICES)))
    table = [line.split() for line in text[:5]]
    assert table[1] == ["slice", "rows", "0", "1"]
    assert table[2] == ["a", "6", "0.5000", "1.0000*"]
    assert table[3] == ["b", "2", "1.0000*", "0.2500"]
    assert table[4] == ["overall", "8", "0.6250", "0.8125*"]
    assert f"  1 {'█' * 40} 1.0000" in text
    assert f"  1 {'█' * 10} 0.2500" in text
    assert (
        "warning: the overall line hides what b pays: at knob 1 RR goes from 0.6250 to 0.8125"
        " overall, from 1.0000 to 0.2500 in b"
    ) in " ".join(text)
    assert max(map(len, text)) <= 80
    assert "note: 1 is best overall, and paid for: RR of b from 1.0000 to 0.2500" in text


def test_open_means_are_their_two_ends_and_one_number_says_which_it_is() -> None:
    slices = {"a0": "a"}
    text = list(sweep_lines(swept([{"a0": 1}, {"a0": 2}], slices=slices, measures=["nDCG@2"])))
    assert text[0] == "nDCG@2 by knob (* best of its line, at the lowest grades)"
    # With the golden second: 3/log2(3) / 3 = .6309 where the other is 0, 1 where it is 3.
    assert text[2].split()[-1] == "0.6309..1.0000"
    assert any(line.endswith("0.6309 at the lowest grades") for line in text)
    assert not any("] 0." in line for line in text)


def test_many_values_and_wide_letters_stay_in_80_columns_and_in_line() -> None:
    slices = {key: {"a": "日本語スライス", "b": "b"}[name] for key, name in TWO_SLICES.items()}
    values = [ranks(2, 1)] * 10 + [ranks(1, 4)] * 15
    text = list(sweep_lines(swept(values, slices=slices)))
    assert max(map(cell_len, text)) <= 80
    heads = [line.split() for line in text if line.startswith("slice ")]
    assert len(heads) > 1
    assert [value for head in heads for value in head[2:]] == [str(n) for n in range(25)]
    first, *_ = (at for at, line in enumerate(text) if line.startswith("slice "))
    # "日本語スライス" is 14 cells wide, two a letter; the other names have blanks up to there.
    assert text[first + 1].startswith("日本語スライス     6   0.5000 ")
    assert text[first + 2].startswith("b" + " " * 13 + "     2  1.0000*")


def test_slices_that_no_value_moves_have_no_bars() -> None:
    text = list(sweep_lines(swept([ranks(1, 1), ranks(1, 2)], slices=TWO_SLICES)))
    assert "No value moves a." in text
    assert "RR a" not in text
    assert "RR b" in text


def test_empty_lists_are_named_with_their_value() -> None:
    text = list(sweep_lines(swept([ranks(1, 1), ranks(1, None)], slices=TWO_SLICES)))
    assert "warning: at 1 2 lists came back empty and count 0: b0, b1" in text


def test_hostile_names_reach_neither_terminal_nor_picture() -> None:
    sweep = swept([{"q": 1}, {"q": 2}], slices={"q": HOSTILE})
    text = "\n".join(sweep_lines(sweep))
    assert "\x1b" not in text
    root = ElementTree.fromstring(sweep_svg(sweep))
    assert not list(root.iter(f"{SVG}script"))
    assert any("<script>" in (node.text or "") for node in root.iter(f"{SVG}text"))


def test_picture_has_a_panel_a_measure_and_a_line_a_slice() -> None:
    sweep = swept([ranks(2, 1), ranks(1, 4)], slices=TWO_SLICES, measures=("RR", "R@5"))
    root = ElementTree.fromstring(sweep_svg(sweep))
    assert len(root.findall(f"{SVG}g")) == 2
    assert len(list(root.iter(f"{SVG}polyline"))) == 2 * 3
    heights = [
        float(node.get("y", "0"))
        for node in root.findall(f"{SVG}g")[0].findall(f"{SVG}text")
        if "fill" in node.get("style", "")
    ]
    assert all(abs(a - b) >= 16 for i, a in enumerate(heights) for b in heights[i + 1 :])


def test_picture_shows_open_grades_hollow_with_a_stem_over_their_range() -> None:
    sweep = swept([{"a0": 1}, {"a0": 2}], slices={"a0": "a"}, measures=["nDCG@2", "RR"])
    is_open, known = ElementTree.fromstring(sweep_svg(sweep)).findall(f"{SVG}g")
    stems = [line for line in is_open.findall(f"{SVG}line") if line.get("class") == "open"]
    # y is 48 + (1 - share) * 236. Golden first, the other open: 1 if it is 0, 1/1.6309 =
    # .6131 if it is 3; golden second: .6309 and 1. In the slice and overall.
    assert {(line.get("y1"), line.get("y2")) for line in stems} == {
        ("139.3", "48.0"),
        ("135.1", "48.0"),
    }
    hollow = [c.get("cy") for c in is_open.findall(f"{SVG}circle") if c.get("fill") == "#fff"]
    assert hollow == ["48.0", "135.1"] * 2
    texts = [node.text or "" for node in is_open.iter(f"{SVG}text")]
    assert (
        "hollow: at the lowest grades of what is open; the stem spans what others would give"
        in texts
    )
    assert "overall 0.631..1.000" in texts
    assert not [line for line in known.findall(f"{SVG}line") if line.get("class") == "open"]
    assert not any("hollow" in (node.text or "") for node in known.iter(f"{SVG}text"))


def test_document_names_the_interval_and_has_the_test_behind_every_claim() -> None:
    document = sweep_document(swept([ranks(1, 1), ranks(2, 3)], slices=TWO_SLICES))
    lines = document["measures"]["RR"]  # type: ignore[index]
    first, other = lines["overall"]["changes"]
    assert other["method"] == "t, approximate"
    assert "method" not in first
    # Sign flips: 2/2^6, 2/2^2 and 2/2^8 of the lines a, b, overall; Holm takes them 3, 2, 1 times.
    assert lines["slices"]["a"]["p_behind"] == [1.0, 2 / 2**6 * 2]
    assert lines["slices"]["b"]["p_behind"] == [1.0, 0.5]
    assert lines["overall"]["p_behind"] == [1.0, 2 / 2**8 * 3]


def test_document_has_every_mean_change_and_warning() -> None:
    document = sweep_document(swept([ranks(2, 1), ranks(1, None)], slices=TWO_SLICES))
    assert document["values"] == ["0", "1"]
    lines = document["measures"]["RR"]  # type: ignore[index]
    assert lines["overall"]["best"] == "1"
    assert lines["overall"]["n"] == 8
    assert lines["slices"]["b"]["means"][1] == {"value": 0.0, "lo": 0.0, "hi": 0.0}
    assert lines["slices"]["a"]["changes"][1]["value"] == 0.5
    assert document["hidden"] == [
        {
            "measure": "RR",
            "slice": "b",
            "at": "1",
            "also": [],
            "change": -1.0,
            "overall_change": 0.125,
        }
    ]
    assert document["empty"] == {"1": ["b0", "b1"]}
