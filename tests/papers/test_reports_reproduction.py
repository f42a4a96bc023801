"""How a reproduction is shown: tables that fit, CSV with plain numbers, charts whose points lie where they should."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from tacit.model.reproduction import Chart, Claim, Part, Reproduction, Timed
from tacit.papers.report import part_csv, part_picture, part_svg, reproduction_text, times_csv
from tacit.reports.document import Table, table_lines

CHART = Chart("support %", "seconds", (("one", ((10.0, 0.01), (20.0, 1.0))), ("two & more", ((10.0, 0.1), (20.0, 0.0)))))
PART = Part(
    "figure-1",
    "Figure 1",
    "as it is",
    ("k", "found", "A s"),
    ((3, "1,258, all the same", 0.0123), (30, None, None)),
    (Claim("Figure 1", "it rises", "confirmed"),),
    chart=CHART,
)
SVG = "{http://www.w3.org/2000/svg}"


def drawn(chart: Chart) -> str:
    picture = part_picture(replace(PART, chart=chart))
    assert picture is not None
    return picture.standalone()


def points(svg: str) -> list[list[tuple[float, float]]]:
    """The corners of every line of a chart."""
    lines = [node.attrib["points"] for node in ElementTree.fromstring(svg).iter(f"{SVG}polyline")]
    return [[tuple(map(float, corner.split(","))) for corner in line.split()] for line in lines]  # type: ignore[misc]


def test_text_says_what_is_missing_first() -> None:
    items = ("Figure 1", "Figure 9")
    text = reproduction_text(Reproduction("p", "A paper", (PART,), ("Figure 9: no data",), items), width=80)
    assert text.index("NOT REPRODUCED:\n  - Figure 9: no data") < text.index(
        "Figure 1\n  Read as  as it is\n  Claim    Figure 1: it rises: confirmed"
    )
    assert "Every numbered item: 1 confirmed, 1 not run" in text
    assert "1,258, all the same" in text
    assert "NOT REPRODUCED" not in reproduction_text(Reproduction("p", "A paper", (PART,), (), items), width=80)


def test_seconds_have_a_file_of_their_own() -> None:
    rows = list(csv.reader(io.StringIO(times_csv([("p", Timed("Figure 1", "k = 3", "A", 0.01234))]).decode())))
    assert rows == [["paper", "item", "setting", "program", "seconds"], ["p", "Figure 1", "k = 3", "A", "0.01234"]]


@pytest.mark.parametrize("width", [40, 60, 100])
def test_tables_fit_into_the_width(width: int) -> None:
    rows = [
        ("Fig. 1", "a long sentence that has to be folded somewhere", "x" * 12, 5),
        ("b", "short", "another text of some length", "123,456"),
    ]
    lines = list(table_lines(Table.of("", ("where", "what", "paper", "n"), rows), width))
    assert max(map(len, lines)) <= width
    assert " ".join(" ".join(lines).split()).count("123,456") == 1
    assert re.sub(r"\s+", "", "".join(lines)).count("folded") == 1


def test_csv_holds_plain_numbers() -> None:
    rows = list(csv.reader(io.StringIO(part_csv(PART).decode())))
    assert rows == [["k", "found", "A s"], ["3", "1,258, all the same", "0.0123"], ["30", "", ""]]


def test_points_lie_on_their_scale() -> None:
    one, two = points(drawn(CHART))
    assert one[0][0] == two[0][0] < one[1][0]
    # 0.01, 0.1, 1: two equal steps on a logarithmic scale; 0 has no place on it.
    assert one[0][1] - two[0][1] == pytest.approx(two[0][1] - one[1][1], abs=0.2)
    assert len(two) == 1
    linear = Chart("k", "n", (("a", ((1.0, 0.0), (2.0, 50.0), (3.0, 100.0))),), logarithmic=False)
    (line,) = points(drawn(linear))
    assert line[0][1] - line[1][1] == pytest.approx(line[1][1] - line[2][1], abs=0.2)


@pytest.mark.parametrize("values", [(5.0,), (5.0, 5.0), (0.0, 0.0), (1e-9, 1e9)])
@pytest.mark.parametrize("logarithmic", [True, False])
def test_odd_values_draw_inside_the_picture(values: tuple[float, ...], logarithmic: bool) -> None:
    chart = Chart("x", "y", (("a", tuple((7.0, value) for value in values)),), logarithmic)
    svg = drawn(chart)
    assert "nan" not in svg
    for line in points(svg):
        assert all(0 <= x <= 460 and 0 <= y <= 300 for x, y in line)


def test_names_are_escaped_and_a_part_without_points_has_no_picture() -> None:
    assert "two &amp; more" in (part_svg(PART) or b"").decode()
    assert part_svg(Part("n", "t", "r", ("k",), ((1,),))) is None
    assert part_svg(Part("n", "t", "r", ("k",), ((1,),), chart=Chart("x", "y", (("a", ()),)))) is None
