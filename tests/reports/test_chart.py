"""Charts and tables of sweeps: everything inside the picture, every number said."""

from __future__ import annotations

import csv
import io
import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.model.rounding import Precision
from tacit.model.sweep import Cell, ItemsetSweep, Lowest, RoundingSweep, Setting
from tacit.reports.pictures import WIDTH, Canvas, Curve, line_chart
from tacit.reports.sweep import (
    report_itemset_sweep,
    report_rounding_sweep,
)

SVG = "{http://www.w3.org/2000/svg}"
CELLS = (
    Cell(500, 5, 7, 6, 2, 0, 0, 0, 0, "clean"),
    Cell(500, 10, 7, 6, 2, 3, 1, None, 9, "exposed"),
    Cell(100, 5, 40, 30, 9, 12, 4, None, 20, "exposed"),
    Cell(100, 10, 40, 30, 9, 1200, 4, None, 30, "exposed"),
)
SWEEP = ItemsetSweep(1000, CELLS, (Lowest(5, 400, 420, True), Lowest(10, None, None, False)))


def chart(curves: list[Curve]) -> Canvas:
    return line_chart(curves, name="c", title="T < 1", description="D & E", x_label="x", y_label="y", unit=" %")


def drawn(curves: list[Curve]) -> ET.Element:
    return ET.fromstring(chart(curves).standalone())


def places(element: ET.Element) -> list[tuple[float, float]]:
    """Where marks and ends of lines lie."""
    found = [(float(c.attrib["cx"]), float(c.attrib["cy"])) for c in element.iter(f"{SVG}circle")]
    for line in element.iter(f"{SVG}polyline"):
        found += [tuple(map(float, pair.split(","))) for pair in line.attrib["points"].split()]  # type: ignore[misc]
    return found


@given(
    st.lists(
        st.lists(st.tuples(st.floats(0.001, 1e6), st.integers(0, 10**9)), max_size=6).map(lambda p: Curve("c", tuple(sorted(p)))),
        max_size=12,
    )
)
def test_nothing_is_drawn_outside(curves: list[Curve]) -> None:
    height = chart(curves).height
    for x, y in places(drawn(curves)):
        assert 0 <= x <= WIDTH
        assert 0 <= y <= height


def test_more_is_higher_and_zero_is_on_the_floor() -> None:
    element = drawn([Curve("one", ((1, 0), (2, 1), (3, 10), (4, 1000)))])
    line = next(element.iter(f"{SVG}polyline"))
    heights = [float(pair.split(",")[1]) for pair in line.attrib["points"].split()]
    assert heights == sorted(heights, reverse=True)
    axis = next(
        line for line in element.iter(f"{SVG}line") if line.attrib["class"] == "axis" and line.attrib["y1"] == line.attrib["y2"]
    )
    assert heights[0] == float(axis.attrib["y1"])
    assert heights[0] - heights[1] < heights[1] - heights[2]
    assert 2 * (heights[1] - heights[2]) == pytest.approx(heights[2] - heights[3], abs=0.3)


def test_a_chart_says_what_it_shows_and_loads_nothing() -> None:
    element = drawn([Curve("one", ((1, 5),), "remark"), Curve("two", ((1, 7),))])
    texts = [text.text for text in element.iter(f"{SVG}text")]
    assert {"T < 1", "one", "two", "remark", "x", "1 %"} <= set(texts)
    assert element.attrib["role"] == "img"
    assert (element[0].text, element[1].text) == ("T < 1", "D & E")
    assert not re.search(r"href|url\(|<script", ET.tostring(element, encoding="unicode"))


def test_labels_below_the_axis_never_overlap() -> None:
    element = drawn([Curve("one", tuple((1 + i / 50, i) for i in range(100)))])
    ticks = [
        float(t.attrib["x"]) for t in element.iter(f"{SVG}text") if t.attrib["class"] == "tick" and (t.text or "").endswith("%")
    ]
    assert len(ticks) > 3
    assert min(b - a for a, b in pairwise(ticks)) >= 40


def test_a_wide_axis_is_logarithmic() -> None:
    texts = [t.text for t in drawn([Curve("one", ((0.1, 1), (1, 1), (10, 1)))]).iter(f"{SVG}text")]
    assert "x (logarithmic)" in texts
    texts = [t.text for t in drawn([Curve("one", ((1, 1), (10, 1)))]).iter(f"{SVG}text")]
    assert "x" in texts


def test_the_table_of_thresholds_says_everything_once() -> None:
    text = report_itemset_sweep(SWEEP).text()
    assert text.count("500") == 1
    assert "k = 5: 420 people (42.00 %); without deduction through missing itemsets 400 people (40.00 %)" in text
    assert "k = 10: not found in time" in text
    assert "NOT FINISHED" not in text
    late = ItemsetSweep(1000, (Cell(500, 5),), (Lowest(5),), "the time limit was reached")
    assert "NOT FINISHED: the time limit was reached" in report_itemset_sweep(late).text()
    assert re.search(r"500 +50% +- +- +- +5 +- +- +- +- +incomplete\n", report_itemset_sweep(late).text())
    assert not any(line != line.rstrip() for line in text.splitlines())


@pytest.mark.parametrize(
    ("lowest", "told"),
    [
        (Lowest(5, 3, 3, True), "k = 5: 3 people (0.30 %)"),
        (Lowest(5, None, None, True), "k = 5: none; the 1,000 people are fewer than k"),
        (Lowest(5, 3, None, False), "k = 5: not found in time; published itemsets alone need 3 people"),
        (Lowest(5, 1001, 1001, True), "k = 5: none at which an itemset is left"),
        (Lowest(5, 3, 3, False), "3 people (0.30 %); a lower one may do, but could not be decided"),
    ],
)
def test_the_lowest_threshold_in_words(lowest: Lowest, told: str) -> None:
    assert told in report_itemset_sweep(ItemsetSweep(1000, (), (lowest,))).text()


def test_thresholds_as_csv_and_picture() -> None:
    rows = list(csv.DictReader(io.StringIO(report_itemset_sweep(SWEEP).csv())))
    assert rows[1]["min_support"] == "500"
    assert (rows[1]["channels"], rows[1]["deduced"], rows[1]["verdict"]) == ("3", "", "exposed")
    picture = report_itemset_sweep(SWEEP).picture.standalone()
    assert len(list(ET.fromstring(picture).iter(f"{SVG}polyline"))) == 2
    assert "safe from 42% on" in picture
    by_k = ItemsetSweep(1000, CELLS[:2], SWEEP.lowest)
    assert "smallest group allowed, k (people)" in report_itemset_sweep(by_k).picture.standalone()
    assert ET.fromstring(report_itemset_sweep(ItemsetSweep(1000, (Cell(500, 5),), (Lowest(5),))).picture.standalone()) is not None


def test_precision_as_text_csv_and_picture() -> None:
    settings = (
        Setting(None, 1.0, {"I01": 4, "I02": 2}, 3, "exposed"),
        Setting(Precision(decimals=1), 100.0, {"I01": 0, "I02": 0}, 0, "clean", "", 0.05),
        Setting(Precision(base=5), 5.0, {"I01": 0}, 0, "undecided", "too long"),
    )
    sweep = RoundingSweep(1000, 10, settings)
    text = report_rounding_sweep(sweep).text()
    assert "Finest safe number of decimals: 1 decimal\n" in text
    assert "Finest safe base: none of these\n" in text
    assert "Undecided, which is never to be read as safe\n  - too long\n" in text
    rows = list(csv.DictReader(io.StringIO(report_rounding_sweep(sweep).csv())))
    assert [row["I02"] for row in rows] == ["2", "0", ""]
    assert [row["verdict"] for row in rows] == ["exposed", "clean", "undecided"]
    assert (
        len(list(ET.fromstring(report_rounding_sweep(sweep).picture.standalone()).iter(f"{SVG}circle"))) == 2
    )  # one point, one in the legend
    assert sweep.to_dict()["finest"] == {"base": None, "decimals": 1}
