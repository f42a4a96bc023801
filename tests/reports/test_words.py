"""Numbers, lines and tables as they are written."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.model.finding import Lines, Term, Total
from tacit.model.measures import Verification
from tacit.model.numbers import Bound
from tacit.model.repair import Suggestion
from tacit.reports.document import (
    Table,
    as_share,
    counted,
    fact_lines,
    first_sentence,
    format_limit,
    format_number,
    people,
    table_lines,
    visible,
)
from tacit.reports.estimates import format_closeness, format_share
from tacit.reports.explain import Explanation, _bracket_at_end, _numbered
from tacit.reports.pages import plain
from tacit.reports.pictures import Axis, bars_of_sizes, tick_text
from tacit.reports.proofs import _sum_row
from tacit.reports.record import verification_text
from tacit.reports.suggestions import cost_words


def test_numbers_agree_with_their_nouns() -> None:
    assert [counted(1, "group"), counted(2641, "group"), counted(3, "person", "people")] == [
        "1 group",
        "2,641 groups",
        "3 people",
    ]
    assert [people(1), people(1200)] == ["1 person", "1,200 people"]


def test_shares_and_measures_have_few_digits() -> None:
    assert [as_share(1509, 30162), as_share(1, 30162), as_share(3, None)] == [" (5.00 %)", " (0.0033 %)", ""]
    numbers = (30162, 0.123456789, None, float("inf"), 1e-9)
    assert list(map(format_number, numbers)) == ["30,162", "0.123457", "not counted", "infinite", "0.000000001"]
    assert list(map(format_limit, (None, True, 0.8, 10))) == ["not set", "true", "0.8", "10"]
    assert list(map(format_share, (0.25, 1.0, 0.99999))) == ["0.250", "1", "1.000"]
    assert list(map(format_closeness, (0.13845, float("inf"), 0.0))) == ["87.1 %", "0 %", "100 %"]
    values = (0.001, 0.25, 40.0, 2000.0, 100_000, 10**7, 88_162)
    assert list(map(tick_text, values)) == ["0.001", "0.25", "40", "2,000", "100k", "10M", "88,162"]


def test_signs_that_would_be_obeyed_are_shown() -> None:
    assert visible("a\x1b[31mb\u202e") == "a\\x1b[31mb\\u202e"
    assert plain("a|b *c* <d>") == "a\\|b \\*c\\* \\<d\\>"


def test_the_first_sentence_ends_before_the_second() -> None:
    assert first_sentence("3 groups of 9 people. More follows.\nMethod   balanced") == "3 groups of 9 people."


def test_facts_and_tables_stand_in_columns() -> None:
    assert list(fact_lines([("Method", "round"), ("", "to 5"), ("n", "30")], 80)) == [
        "Method   round",
        "         to 5",
        "n        30",
    ]
    table = Table.of("", ["k", "found"], [[3, "all of them"], [30, "none"]])
    assert list(table_lines(table, 10)) == [" k  found", " 3  all of", "    them", "30  none"]
    assert Table.of("", ("k", "found", "why"), [(3, "1,258", ""), (30, "-", "")]).is_numeric == (True, True, False)


def test_costs_are_told_in_words() -> None:
    cost = {"itemsets_lost": 1, "support_error_mean": 0.0618}
    assert cost_words(Suggestion("round", "", "clean", cost=cost)) == "1 itemset lost, counts off by 6.18 % on average"


def test_sums_have_a_row_for_each_term() -> None:
    assert _sum_row(Term(-2, Bound(40, 40), "people with a", (Lines((7,)),))) == ("- 2 x 40", "people with a (line 7)")
    assert _sum_row(Total(Bound(1, 1))) == ("= 1", "")


def test_recorded_sums_are_told_with_their_file() -> None:
    steps = ["plus 50: people with a (line 2)", "minus 49: people with a and b (line 4)", "sum: 1"]
    cited = [{"release": 0, "line": 2, "count": [50, 50]}, {"release": 0, "line": 4, "count": [49, 49]}]
    found = {"id": "I01-1", "code": "I01", "statement": "1 person has a but not b.", "count": [1, 1], "because": cited}
    assert [step.text for step in Explanation.recorded(found | {"steps": steps}, ["shop.csv"]).steps] == [
        "Start from 50: people with a (shop.csv, line 2).",
        "Take away 49: people with a and b (shop.csv, line 4).",
        "That leaves 1 person.",
    ]


def test_a_recorded_estimate_keeps_its_probability() -> None:
    found = {
        "statement": "Whoever has a=1 has ill flu with probability 0.875 (estimated).",
        "steps": ["sum: 3 to 1"],
        "because": [],
    }
    assert Explanation.recorded(found | {"code": "R02"}, ["r.csv"]).probability == 0.875


def test_lines_are_listed() -> None:
    assert list(map(_numbered, ([3], [2, 5, 7], []))) == [", line 3", ", lines 2, 5 and 7", ""]
    assert _bracket_at_end("people with a (b) (a (1).csv, line 3)") == ("people with a (b)", "a (1).csv, line 3")
    assert _bracket_at_end("all people") == ("all people", "")


def test_axes_and_bars_have_round_steps() -> None:
    assert [round(tick, 2) for tick in Axis.linear([0.076, 0.202], 0, 1).ticks] == [0.05, 0.1, 0.15, 0.2, 0.25]
    bars = bars_of_sizes(np.array([1, 3]), np.array([5, 2]), 4)
    assert [(bar.label, bar.value) for bar in bars] == [("1", 5), ("2", 0), ("3", 2)]


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        (
            Verification(2, (), {"I01": 2}, {"I01": 2}, {"R02": 1}),
            "HOLDS: 2 of 2 proved findings re-checked: 2 I01.\n"
            "  - 1 estimate is listed (1 R02): a probability cannot be proved, so it is not checked.\n",
        ),
        (Verification(0, (), again=True), "HOLDS: audited again with the same outcome.\n"),
    ],
)
def test_a_verification_says_what_holds(outcome: Verification, text: str) -> None:
    assert verification_text(outcome, width=120) == text
