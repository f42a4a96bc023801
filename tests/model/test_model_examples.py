"""Examples of single functions and types of ``tacit.model``."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.model.audit import Caution, digest
from tacit.model.estimates import Posterior, read_who
from tacit.model.finding import (
    BoxEvent,
    Change,
    Goal,
    ItemEvent,
    Lines,
    MissingRule,
    PeopleInTerms,
    Term,
    Total,
    certificate,
    comparable,
    join_phrases,
    place_entry,
    remark,
    render_bound,
    render_lines,
    render_step,
    render_times,
)
from tacit.model.frequencies import CellPrinting, Measured, letters, numbers_of
from tacit.model.knowledge import Amount, Exclusions, Fact
from tacit.model.numbers import Bound, Printed, Threshold, column_steps, exact
from tacit.model.partial import Thresholds
from tacit.model.pattern import Pattern
from tacit.model.people import Changed, Churn, Population, Same, _escape, read_people
from tacit.model.policy import Limits, event_key, is_looser, time_limit
from tacit.model.release import Decimals, Header, Items, Itemsets, Sets, ValueGroup
from tacit.model.reproduction import Claim, Part, Reproduction
from tacit.model.rounding import Precision, counts_printed_as, find_convention, rounded
from tacit.model.sweep import RuleForm
from tacit.model.table import Hierarchy, Table, sort_names
from tacit.model.words import (
    describe_change,
    describe_event,
    describe_printed,
    has_changed,
    render_people,
    state_full_group,
    state_values,
)


def test_digest() -> None:
    assert digest({"b": 1, "a": 2}) == digest({"a": 2, "b": 1, "binding": "anything"})


def test_caution() -> None:
    assert (
        Caution("B03", 4560, 4596).text
        == "4,560 of 4,596 people can be guessed with more than 90 % probability (B03), no limit set"
    )


def test_posterior() -> None:
    known = Population.of(Table.from_rows(["sex"], [("F",), ("M",), ("F",)]))
    open_ = np.full((2, 2), np.nan)
    share = np.array([[0.9, 0.1], [0.5, 0.5]])
    found = Posterior(known, "ill", ("no", "yes"), share, open_, open_, np.array([0.75, 0.25]), baseline_is_published=True)
    assert (found.highest(1)[0].who, found.highest(1)[0].probability, found.highest(1, gained=True)[0].value) == (
        {"sex": "F"},
        0.9,
        "yes",
    )


def test_read_who() -> None:
    assert (read_who("education=Doctorate, sex=Male"), read_who("job=Craft, repair")) == (
        {"education": "Doctorate", "sex": "Male"},
        {"job": "Craft, repair"},
    )


def test_change() -> None:
    assert Change("smokes", (("smokes=no",), ()), (("smokes=yes",), ())).to_dict() == {
        "column": "smokes",
        "before": {"present": ["smokes=no"], "absent": []},
        "after": {"present": ["smokes=yes"], "absent": []},
    }


def test_change_differs() -> None:
    kept = Change("smokes", (("smokes=no",), ()), (("smokes=no",), ()))
    assert (Change("smokes").differs, kept.differs) == (True, False)


def test_item_event() -> None:
    assert ItemEvent(("b", "a"), ("c",)).to_dict() == {"present": ["a", "b"], "absent": ["c"]}
    assert ItemEvent(("a",), not_all=("b", "c")).holds(frozenset("ab"))


def test_box_event() -> None:
    assert BoxEvent({"sex": ("F",)}).to_dict() == {"sex": ["F"]}


def test_pattern() -> None:
    pattern = Pattern.parse("a and not (b or 'c d')")
    assert (pattern.names, pattern.truth().nonzero()[0].tolist()) == (("a", "b", "c d"), [1])


def test_render_step() -> None:
    assert (
        render_step(Term(-2, Bound(45, 54), "people with a", (Lines((3,)),), printed="50"))
        == "minus 2 times 45 to 54: people with a, printed as 50 (line 3)"
    )
    assert (render_step(Total(Bound(1, 3))), render_step(Goal("least", 1))) == (
        "sum: between 1 and 3",
        "At least 1 in the group:",
    )
    assert render_step(remark(Lines((2, 4)), ": one person.")) == "Lines 2 and 4: one person."


def test_render_times() -> None:
    assert (render_times(-2), render_times(Fraction(1, 2)), render_times(1)) == ("2 times ", "1/2 times ", "")


def test_render_bound() -> None:
    assert (render_bound(Bound(3, 3)), render_bound(Bound(1000, 2000))) == ("3", "1,000 to 2,000")


def test_render_lines() -> None:
    assert (render_lines(Lines((3,))), render_lines(Lines((3, 5, 9))), render_lines(Lines((3,), "a.csv"))) == (
        "line 3",
        "lines 3, 5 and 9",
        "a.csv, line 3",
    )


def test_join_phrases() -> None:
    assert join_phrases([(Lines((1,)),), ("known",), (Lines((1,)),)], "; ") == (Lines(numbers=(1,), file=None), "; ", "known")


def test_missing_rule_named() -> None:
    assert MissingRule.named('missing rule {"sex": "F"} => flu', ["cold", "flu"]) == MissingRule(
        antecedent=(("sex", "F"),), value="flu"
    )


def test_place_entry() -> None:
    assert (place_entry(3), place_entry(PeopleInTerms((1, 2), asked=True))) == (
        {"line": 3},
        {"cell": "people asked about in 1, 2"},
    )


def test_certificate() -> None:
    found = certificate(ItemEvent(("a",), ("b",)), Bound(1, 1), weights=[])
    assert (found["format"], found["claim"]) == (
        "tacit.certificate/1",
        {"event": {"present": ["a"], "absent": ["b"]}, "at_least": 1, "at_most": 1},
    )


def test_measured_total() -> None:
    nothing = Decimals(np.zeros(1, np.int64), np.full(1, -1, np.int8))
    assert Measured("age", Bound(0, 125), Decimals(np.array([367]), np.array([1], np.int8)), nothing, 1).total(0, 3) == Bound(
        lo=110, hi=110
    )


def test_numbers_of() -> None:
    assert [numbers_of(text, Bound(0, 125)) for text in ("7", "0-4", "64+", "<18")] == [
        Bound(lo=7, hi=7),
        Bound(lo=0, hi=4),
        Bound(lo=64, hi=125),
        Bound(lo=0, hi=17),
    ]


def test_cell_printing() -> None:
    assert (CellPrinting(hidden_below=10, zeros_shown=True).hidden(n=100), CellPrinting(hidden_below=10).hidden(n=5)) == (
        (1, 9),
        (0, 5),
    )
    assert [ends.tolist() for ends in CellPrinting(base=5).numbers(np.array([0, 10]), n=11)] == [[0, 8], [2, 11]]


@pytest.mark.parametrize(("n", "most"), [(4, 0), (5, 5), (None, 5)])
def test_a_printed_zero_is_nobody_where_all_people_are_too_few_to_be_shown(n: int | None, most: int) -> None:
    how = CellPrinting(hidden_below=5, zeros_shown=True, base=10)
    assert [ends.tolist() for ends in how.numbers(np.array([0]), n=n)] == [[0], [most]]


def test_letters() -> None:
    assert (letters(0), letters(25), letters(26), letters(701), letters(702)) == ("A", "Z", "AA", "ZZ", "AAA")


def test_amount() -> None:
    assert (Amount.parse("5").of(8), Amount.parse("10%").of(8), Amount.parse(0.25).of(8)) == (
        Fraction(5, 1),
        Fraction(4, 5),
        Fraction(2, 1),
    )


def test_fact() -> None:
    assert Fact({"sex": ("M",)}, "pregnant", at_most=Amount.parse("0")).bounds(50) == (0, 0)
    assert Fact({"age": ("60", "61")}, "ill", Amount.parse("10%"), Amount.parse("5")).bounds(31) == (4, 5)


def test_exclusions() -> None:
    people = Table.from_rows(["sex"], [("F",), ("M",), ("F",)])
    known = Exclusions.of([Fact({"sex": ("M",)}, "pregnant", at_most=Amount.parse(0))], people, ("flu", "pregnant"))
    assert known.patterns[known.kind].tolist() == [[False, False], [False, True], [False, False]]


def test_bound() -> None:
    assert Bound(5, 7) - Bound(1, 2) == Bound(lo=3, hi=6)


def test_exact() -> None:
    assert (exact("10%", where="--min-support"), exact(0.1, where="x")) == (Fraction(1, 10), Fraction(1, 10))


def test_threshold() -> None:
    assert (Threshold.parse("10%").least_count(8124), Threshold.parse(813).least_count(8124)) == (813, 813)
    assert (Threshold.parse("25%").least_count(8), Threshold.parse("25%").least_count(8, strict=True)) == (2, 3)


def test_printed() -> None:
    assert Printed.around(Fraction("0.98"), Fraction("0.01"), "nearest").counts(50) == Bound(lo=49, hi=49)
    assert Printed.around(Fraction("0.987"), Fraction("0.001"), "truncated").counts(1000) == Bound(lo=987, hi=987)


def test_printed_around() -> None:
    assert Printed.around(Fraction(4), Fraction(2), "half-up") == Printed(
        lo=Fraction(3, 1), hi=Fraction(5, 1), lo_open=False, hi_open=True
    )


def test_column_steps() -> None:
    assert column_steps(["0.5", "0.125"]) == [Fraction(1, 1000), Fraction(1, 1000)]


def test_thresholds() -> None:
    bars = Thresholds.of(min_confidence=0.55, min_support=0, n=9)
    assert (bars.unsafe(whole=5, both=3), bars.unsafe(whole=2, both=1)) == (True, False)


def test_escape() -> None:
    assert _escape("income: a, b") == "income%3A a%2C b"


def test_read_people() -> None:
    assert (read_people("same"), read_people("left:0-3,joined:2")) == (Same(), Churn(left=(0, 3), joined=(2, 2)))
    assert read_people("same,changed:salary+job:0-2") == Changed(columns=("job", "salary"), people=(0, 2))


def test_population() -> None:
    known = Population.of(Table.from_rows(["sex", "age"], [("F", "30"), ("M", "30"), ("F", "30")]))
    assert (len(known), known.n, known.holding([("sex", "F")]).tolist(), known.describe(0)) == (
        2,
        3,
        [0],
        {"sex": "F", "age": "30"},
    )


@given(
    rows=st.lists(st.tuples(*[st.sampled_from("ab")] * 3), min_size=1, max_size=12),
    sets=st.lists(st.sets(st.tuples(st.sampled_from("xyz"), st.sampled_from("ab")), max_size=4), max_size=8),
)
def test_sets_are_held_by_who_holds_each_alone(rows: list[tuple[str, ...]], sets: list[set[tuple[str, str]]]) -> None:
    known = Population.of(Table.from_rows(["x", "y", "z"], rows))
    there = [one for one in sets if all(known.knows(*pair) for pair in one)]
    found = dict(known.holding_each(there))
    assert [found[number].tolist() for number in range(len(there))] == [known.holding(one).tolist() for one in there]


def test_population_places_of() -> None:
    known = Population.of(Table.from_rows(["sex"], [("F",), ("M",)]))
    assert known.places_of(Table.from_rows(["sex"], [("M",), ("X",), ("F",)])).tolist() == [1, -1, 0]


def test_event_key() -> None:
    assert event_key({"absent": ["c"], "present": ["b", "a"]}) == event_key(
        {"present": ["a", "b"], "absent": ["c"], "not_all": []}
    )


def test_is_looser() -> None:
    assert (is_looser("k", 5, 10), is_looser("max_posterior", 0.8, 0.9), is_looser("max_posterior", None, 0.9)) == (
        True,
        False,
        True,
    )


def test_time_limit() -> None:
    with time_limit(60):
        left = Limits.within(3600).seconds_left
    assert left is not None
    assert left <= 60


def test_items() -> None:
    assert Items.of_columns([("sex", "F"), ("age", "30")]).names == ("sex=F", "age=30")


def test_sets() -> None:
    sets = Sets.from_lists([[2, 1], [], [3, 3]])
    assert (len(sets), [part.tolist() for part in sets]) == (3, [[1, 2], [], [3]])


def test_value_group() -> None:
    assert ValueGroup("sex", "not F", ("F",), excluded=True).among(("F", "M")) == ("M",)


def test_decimals_text() -> None:
    assert Decimals(np.array([5, 125]), np.array([2, -1], np.int8)).text(0) == "0.05"


def test_part_to_dict() -> None:
    part = Part("f", "", "", ("k", "people"), ((3, 5),), (Claim("Figure 1", "it rises", "confirmed"),))
    assert (part.to_dict()["rows"], part.to_dict()["claims"][0]["standing"]) == ([[3, 5]], "confirmed")


def test_reproduction_from_dict() -> None:
    made = Reproduction("p", "Somebody", (Part("f", "F", "read", ("k", "s"), ((3, 0.5),)),), (), items=("Figure 1",))
    assert Reproduction.from_dict(made.to_dict()) == made
    assert [(claim.item, claim.standing) for claim in made.index] == [("Figure 1", "not run")]


def test_precision() -> None:
    assert (Precision(base=5).label, Precision(decimals=2).label) == ("base 5", "2 decimals")


def test_precision_step() -> None:
    assert Precision(decimals=2).step(8124) == Fraction(2031, 25)


def test_counts_printed_as() -> None:
    assert [ends.tolist() for ends in counts_printed_as(np.array([4, 6]), 2, "half-up")] == [[3, 5], [4, 6]]
    assert [ends.tolist() for ends in counts_printed_as(np.array([4, 6]), 2, "half-even")] == [[3, 6], [5, 6]]


def test_rounded() -> None:
    counts = np.array([37])
    exact = Itemsets(Sets.from_lists([[0]]), counts, counts, Items(("a",)), Header(n=100, min_support=30))
    assert (rounded(exact, Precision(base=10)).count(0), rounded(exact, Precision(decimals=1)).count(0)) == (
        Bound(lo=35, hi=44),
        Bound(lo=35, hi=44),
    )


def test_find_convention() -> None:
    assert find_convention("rr3").about == "counts are rounded by chance to one of the two nearest multiples of 3"


def test_rule_form() -> None:
    assert (RuleForm().label, RuleForm(digits=3).label, RuleForm(withheld=True).label) == ("exact", "3 digits", "withheld")


def test_sort_names() -> None:
    assert (sort_names({"10", "9"}), sort_names({"b", "10"})) == (("9", "10"), ("10", "b"))


def test_hierarchy() -> None:
    tree = Hierarchy("race", {"Black": ("Non-White",), "White": ()})
    assert tree.nodes == ("Non-White",)


def test_render_people() -> None:
    assert (render_people(Bound(1, 1)), render_people(Bound(1, 3))) == ("1 person", "1 to 3 people")


def test_describe_event() -> None:
    assert (
        describe_event(ItemEvent(("a", "b"), ("c", "d")), Bound(1, 1)),
        describe_event(ItemEvent((), ("c",)), Bound(2, 2)),
    ) == ("has a and b, and neither c nor d", "have no c")
    assert describe_event(ItemEvent(("a",), not_all=("b", "c")), Bound(1, 1)) == "has a but not all of b and c"


def test_describe_printed() -> None:
    assert (describe_printed("50", Bound(45, 54)), describe_printed("50", Bound(50, 50)), describe_printed("", Bound(0, 4))) == (
        ", printed as 50",
        "",
        "",
    )


def test_state_full_group() -> None:
    assert (
        state_full_group({"village": ["A"], "hiv": ["yes"]}, "hiv", Bound(50, 50))
        == "Everyone with village=A has hiv=yes (50 people)."
    )
    assert (
        state_full_group({"job": ["cook"], "ill": ["flu"]}, "ill", Bound(1, 1), "t.csv")
        == "The hidden ill of 1 person with job=cook is flu (t.csv)."
    )


def test_state_values() -> None:
    assert (state_values("sex=F", 1, "ill", ["flu"]), state_values("sex=F", 3, "ill", ["flu", "cold"])) == (
        "The one person with sex=F certainly has ill flu.",
        "The 3 people with sex=F can only have ill flu or cold.",
    )


def test_describe_change() -> None:
    assert (
        describe_change(Change("smokes", (("smokes=no",), ()), (("smokes=yes",), ())), ("last.csv", "this.csv"), "has")
        == "changed from smokes=no to smokes=yes"
    )


def test_has_changed() -> None:
    assert (has_changed('["no", "yes"]'), has_changed('["no", "no"]'), has_changed('[null, null, "changed"]')) == (
        True,
        False,
        True,
    )


@pytest.mark.parametrize(
    "other",
    [
        ItemEvent(("a",), ("b",), inside=(0,)),
        ItemEvent(("a",), ("b",), outside=(1,)),
        ItemEvent(("a",), ("b",), changes=(Change("sex"),)),
        ItemEvent(("a",), ("b",), not_all=("c", "d")),
        ItemEvent(("a",)),
        BoxEvent({"a": ("1", "2")}),
    ],
)
def test_events_about_other_people_are_not_comparable(other: ItemEvent | BoxEvent) -> None:
    assert comparable(other) != comparable(ItemEvent(("a",), ("b",)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (ItemEvent(("a",), ("b",)), ItemEvent(("a",), not_all=("b",))),
        (ItemEvent(("a",), ("b",)), ItemEvent(("a",), not_all=("a", "b"))),
        (ItemEvent(("a",), ("b",)), ItemEvent(("a",), ("b",), not_all=("b", "c"))),
        (ItemEvent(("sex=F", "age=30")), BoxEvent({"age": ("30",), "sex": ("F",)})),
        (ItemEvent(("a",), inside=(0, 1), outside=(2,)), ItemEvent(("a",), inside=(1, 0), outside=(2,))),
    ],
)
def test_events_about_the_same_people_are_comparable(one: ItemEvent, other: ItemEvent | BoxEvent) -> None:
    assert comparable(one) == comparable(other)
