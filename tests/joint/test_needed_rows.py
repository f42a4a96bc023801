"""Rows that others imply."""

from __future__ import annotations

from tacit.joint.worlds import Row


def test_a_row_follows_only_from_ends_that_make_it_true() -> None:
    both, one = {0: 1, 1: 1}, {0: 1}
    ends = {Row(((1, both),), None, None, None, None).name: (3, 5), Row(((1, one),), None, None, None, None).name: (6, None)}
    rule = Row(((10, both), (-4, one)), None, 26, None, None)  # at most 10 * 5 - 4 * 6
    assert rule.follows_from(ends)
    assert not Row(rule.terms, None, 25, None, None).follows_from(ends)
    assert not Row(rule.terms, -1000, 26, None, None).follows_from(ends), "nobody says how many have the one at most"
    assert Row(((10, both), (4, one)), 54, None, None, None).follows_from(ends)
    assert not Row(((10, both), (4, one)), 55, None, None, None).follows_from(ends)
