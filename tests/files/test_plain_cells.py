"""Cells numbered as bytes: the same as texts looked up one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.files import plain_cells
from tacit.files.plain_cells import CellCoder, PlainBlock
from tests.examples import examples

TEXTS = st.text("aé ", max_size=9) | st.sampled_from(["", "a" * 8, "a" * 9, "b" * 16, "b" * 17, "aaaaaaaab", "c" * 63, "c" * 90])
LINES = st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=12)


@settings(max_examples=examples(200), deadline=None)
@given(blocks=st.lists(LINES, min_size=1, max_size=3), slots=st.sampled_from([1, 12]), most=st.sampled_from([2, 1 << 16]))
def test_cells_have_the_numbers_of_their_texts(blocks: list[list[tuple[str, str]]], slots: int, most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_cells, "_SLOTS", slots)  # with two slots most cells meet others there
        patch.setattr(plain_cells, "MOST_TEXTS", most)
        for place in range(2):
            numbers: dict[str, int] = {}
            coder = CellCoder(place, lambda text: numbers.setdefault(text, len(numbers)))  # noqa: B023 - called in this round
            for lines in blocks:
                block = PlainBlock.of("".join(f"{one};{two}\n" for one, two in lines), ";", 2)
                assert block is not None
                found = coder.codes(block)
                assert block.texts(place) == [line[place] for line in lines]
                assert found.tolist() == [numbers[line[place]] for line in lines]
                assert found.dtype == np.int32


@pytest.mark.parametrize("text", ["a;b\nc\n", "a;b\nc;d;e\nf\n", "a\nb;c;d\n", "a;b;c\n"])
def test_lines_of_other_widths_are_not_cut(text: str) -> None:
    assert PlainBlock.of(text, ";", 2) is None
