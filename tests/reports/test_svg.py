from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.reports.pictures import WIDTH, Bar, bars_of_sizes, histogram, published_and_computed

SVG = "{http://www.w3.org/2000/svg}"


def parsed(picture: str) -> ET.Element:
    return ET.fromstring(picture.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1))


def inside(element: ET.Element) -> bool:
    """Whether every rectangle lies within the picture and has a size that can be drawn."""
    _, _, width, height = map(float, element.attrib["viewBox"].split())
    boxes = [{name: float(rect.attrib[name]) for name in ("x", "y", "width", "height")} for rect in element.iter(f"{SVG}rect")]
    return all(
        b["x"] >= 0
        and b["y"] >= 0
        and b["width"] >= 0
        and b["height"] >= 0
        and b["x"] + b["width"] <= width + 0.2
        and b["y"] + b["height"] <= height
        for b in boxes
    )


def both(published: list[int], sizes: list[int], k: int, n: int | None) -> ET.Element:
    picture = published_and_computed(
        np.array(published, np.int64),
        np.array(sizes, np.int64),
        np.ones(len(sizes), np.int64),
        k=k,
        n=n,
        name="b",
        title="t",
        description="d",
    )
    return parsed(picture.embedded())


def test_a_histogram_has_one_bar_per_number_and_says_what_it_shows() -> None:
    element = parsed(
        histogram(
            [Bar("1", 5), Bar("2", 0), Bar("3", 10)], name="s", title="T < 1", description="D & E", x_label="x", y_label="y"
        ).embedded()
    )
    rects = list(element.iter(f"{SVG}rect"))
    assert [float(rect.attrib["height"]) for rect in rects] == [pytest.approx(102), pytest.approx(204)]
    assert element.attrib["role"] == "img"
    assert element.attrib["aria-labelledby"] == "s-title s-desc"
    assert [child.text for child in element][:2] == ["T < 1", "D & E"]
    assert inside(element)


def test_sizes_fall_into_ranges_that_cover_1_to_k_minus_1() -> None:
    bars = bars_of_sizes(np.array([1, 9, 10, 99]), np.array([4, 5, 7, 6]), 100)
    assert len(bars) <= 12
    assert bars[:2] == [Bar("1-9", 9), Bar("10-18", 7)]
    assert bars[-1] == Bar("91-99" if len(bars) == 11 else bars[-1].label, 6)
    assert bars[-1].label.endswith("99")


@given(st.integers(1, 5000), st.data())
def test_no_group_is_lost_in_ranges(k: int, data: st.DataObject) -> None:
    sizes = sorted(data.draw(st.sets(st.integers(1, max(1, k - 1)), max_size=8)))
    numbers = np.arange(1, len(sizes) + 1)
    bars = bars_of_sizes(np.array(sizes, np.int64), numbers, k)
    assert sum(bar.value for bar in bars) == numbers.sum()
    assert bars[0].label.startswith("1")


@given(
    st.lists(st.integers(0, 10**9), max_size=6),
    st.lists(st.integers(1, 10**6), max_size=6),
    st.integers(1, 10**6),
    st.none() | st.integers(1, 10**9),
)
def test_published_and_computed_always_fit_the_picture(published: list[int], sizes: list[int], k: int, n: int | None) -> None:
    assert inside(both(published, [min(size, k) for size in sizes], k, n))


def test_the_limit_stands_between_what_is_computed_and_what_is_published() -> None:
    element = both([1500, 20_000], [1, 9], 10, 30_162)
    limit = next(float(line.attrib["x1"]) for line in element.iter(f"{SVG}line") if line.attrib["class"] == "limit")
    danger = [
        float(r.attrib["x"]) + float(r.attrib["width"]) for r in element.iter(f"{SVG}rect") if "danger" in r.attrib["class"]
    ]
    facts = [float(r.attrib["x"]) for r in element.iter(f"{SVG}rect") if "fact" in r.attrib["class"]]
    assert max(danger) <= limit + 1 < min(facts) <= WIDTH
    assert len(facts) == 2
