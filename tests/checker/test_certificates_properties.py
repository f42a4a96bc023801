"""Whatever a certificate claims, the checkers never accept a bound that the data violate."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.checker.buckets import BucketBook, check_buckets
from tacit.checker.itemsets import ItemsetBook, check_itemsets, take_step
from tacit.checker.rules import Reject, RuleBook, World
from tacit.checker.values import check_values
from tacit.model.release import Rules
from tests.examples import examples
from tests.itemsets.made_releases import released
from tests.itemsets.naive_channels import Row

ITEMS = "abcd"
VALUES = ("x", "y", "z")
subsets = st.frozensets(st.sampled_from(ITEMS), max_size=4)
rows_of_items = st.lists(subsets, min_size=4, max_size=12)
people = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("cd"), st.sampled_from(VALUES)), min_size=2, max_size=10)


def support(rows: Sequence[Row], items: Row) -> int:
    return sum(items <= row for row in rows)


def parts_of(items: Iterable[str], most: int = 4) -> list[Row]:
    """All subsets of up to so many items."""
    listed = sorted(items)
    return [frozenset(part) for size in range(most + 1) for part in combinations(listed, size)]


def is_taken(take: Callable[..., object], *step: Any) -> bool:
    """Whether a step is accepted."""
    try:
        take(*step)
    except Reject:
        return False
    return True


@settings(max_examples=examples(40), deadline=None)
@given(rows_of_items, st.integers(2, 7), st.sampled_from(["all", "closed"]), subsets, subsets)
def test_no_step_about_itemsets_shows_what_is_false(rows: list[Row], sigma: int, only: Any, present: Row, absent: Row) -> None:
    rows = [*rows, frozenset(ITEMS)]  # every item has a name
    absent -= present
    book = ItemsetBook(released(rows, sigma, only))
    shown: dict[Row, tuple[int, int]] = {}
    kept: list[dict[str, Any]] = []
    for items in parts_of(ITEMS)[1:]:
        truth = support(rows, items)
        for part in parts_of(items, len(items) - 1):
            for law in ("group", "min_support"):
                step = {"items": sorted(items), "by": law, "present": sorted(part)}
                for end, false in (("at_least", truth + 1), ("at_most", truth - 1)):
                    assert not is_taken(take_step, step | {end: false}, book, shown, set()), (step, end)
                    # The sharpest number that is accepted, so that later steps have much to start from.
                    for told in range(truth, -1, -1) if end == "at_least" else range(truth, len(rows) + 1):
                        good = step | {end: told}
                        if is_taken(take_step, good, book, shown, set()):
                            kept += [good] if items <= present | absent else []
                            break
    cited: dict[Any, Any] = {place: {} for part in parts_of(present | absent) if (place := book.find(part)) is not None} | {
        "min_support": {}
    }
    event = {"present": sorted(present), "absent": sorted(absent)}
    try:
        lo, hi = check_itemsets({"code": "I02", "event": event, "certificate": {"steps": kept}}, book, cited)
    except Reject:
        return
    assert lo <= sum(present <= row and not absent & row for row in rows) <= hi


def test_steps_about_itemsets_are_sometimes_accepted() -> None:
    """Else the test above could not fail: these two steps say all there is to say."""
    rows = [frozenset("ab")] * 8 + [frozenset("a"), frozenset("b")]
    release = released(rows, 9, "all")
    steps = [
        {"items": ["a", "b"], "at_least": 8, "by": "group", "present": []},
        {"items": ["a", "b"], "at_most": 8, "by": "min_support"},
    ]
    event = {"present": ["a"], "absent": ["b"]}
    cited: dict[Any, Any] = {place: {} for place in ("n", "min_support", 2, 3)}
    found = check_itemsets({"code": "I02", "event": event, "certificate": {"steps": steps}}, ItemsetBook(release), cited)
    assert found == (1, 1)


def rules_of(rows: Sequence[tuple[str, ...]], draw: Callable[[Any], Any]) -> Rules:
    """Rules of a table, exact, rounded or withheld, complete or not."""
    table = tacit.read_table(dict(zip("qrs", zip(*rows, strict=True), strict=True)), qi=["q", "r"], sa="s")
    how = draw(st.sampled_from([{}, {"digits": 2, "with_confidence": True}, {"digits": 1}, {"withhold_values": True}]))
    least, confidence = draw(st.integers(1, 3)), draw(st.sampled_from(["0.3", "0.5", "0.8"]))
    return tacit.mine_rules(table, min_support=least, min_confidence=confidence, incomplete=draw(st.booleans()), **how)


@settings(max_examples=examples(25), deadline=None)
@given(people, st.data())
def test_no_step_about_rules_shows_what_is_false(rows: list[tuple[str, ...]], data: st.DataObject) -> None:
    book = RuleBook(rules_of(rows, data.draw))
    sets = [frozenset(f"{column}={value}" for column, value in zip("qrs", row, strict=True)) for row in rows]
    world = World(book, [*book.by_line, "n", "min_support", "sa_values", "sa_distribution"])
    named = sorted({item for row in sets for item in row})
    for number in book.by_line:  # what the lines say by themselves, so that laws have something to start from
        line = book.line(number)
        for items, (lo, hi), law in ((line.all, line.people, "count"), (line.has, line.whole, "antecedent")):
            world.replay({"items": sorted(items), "at_least": lo, "at_most": hi, "by": law, "line": number})
    steps: list[dict[str, Any]] = []
    for items in parts_of(named, 3):
        near = {items, frozenset(), *(items - {item} for item in named), *(items | {item} for item in named)}
        steps += [
            {"items": sorted(items), "by": law, "line": n} for law in ("count", "antecedent", "confidence") for n in book.by_line
        ]
        steps += [{"items": sorted(items), "by": law} for law in ("n", "distribution", "groups")]
        steps += [
            {"items": sorted(items), "by": law, "from": sorted(one)} for law in ("inside", "values", "missing") for one in near
        ]
    random.Random(data.draw(st.integers(0, 9))).shuffle(steps)
    for step in steps[:1200]:
        truth = support(sets, frozenset(step["items"]))
        for end, false in (("at_least", truth + 1), ("at_most", truth - 1)):
            if false >= 0:
                assert not is_taken(world.replay, step | {end: false}), (step, end)
            is_taken(world.replay, step | {end: truth})
    for present in parts_of(named, 2):
        for absent in parts_of(set(named) - present, 2):
            lo, hi = world.people(present, absent, frozenset())
            assert lo <= sum(present <= row and not absent & row for row in sets) <= hi


def groups_of(rows: Sequence[tuple[str, ...]], terms: Sequence[Any], asked: tuple[str, ...]) -> Counter[Any]:
    """How many known people there are of whom the same terms speak, those who are asked about apart."""
    found: Counter[Any] = Counter()
    for row in rows:
        person = dict(zip("qr", row[:2], strict=True))
        inside = tuple(place for place, (pairs, _, _) in enumerate(terms) if all(person[c] == v for c, v in pairs))
        found[row[:2] == asked, inside] += 1
    return found


@settings(max_examples=examples(150), deadline=None)
@given(people, st.data())
def test_random_weights_make_no_false_value_certain(rows: list[tuple[str, ...]], data: st.DataObject) -> None:
    release = rules_of(rows, data.draw)
    book = RuleBook(release)
    asked = data.draw(st.sampled_from(rows))[:2]
    lines = data.draw(st.lists(st.sampled_from(list(book.by_line)), max_size=4, unique=True)) if book.by_line else []
    terms, because, weights, groups = [], [], [], []
    for line in lines:
        index = book.by_line[line]
        pairs = [release.items.pairs[item] for item in release.antecedents[index].tolist()] if release.items.pairs else []
        whole = sum(all(dict(zip("qr", row[:2], strict=True))[c] == v for c, v in pairs) for row in rows)
        count = release.count(index)
        terms.append((pairs, line, whole))
        weight = data.draw(st.sampled_from([-2, -1, 1, 2]))
        entry = {"release": 0, "line": line, "count": [count.lo, min(count.hi, whole)]}
        because.append(entry | {"weight": weight})
        weights.append(entry | {"people": whole, "weight": str(weight)})
    because += [{"release": 0, "cell": f"people with {n}", "count": [w, w]} for n, (_, _, w) in enumerate(terms, 1)]
    for (mine, inside), number in groups_of(rows, terms, asked).items():
        name = f"people{' asked about' if mine else ''} in {', '.join(str(place + 1) for place in inside) or 'none'}"
        weight = data.draw(st.integers(-1, 3))
        because.append({"release": 0, "cell": name, "count": [number, number], "weight": weight})
        groups.append({"people": number, "asked": mine, "terms": [place + 1 for place in inside], "weight": str(weight)})
    because.append({"release": 0, "cell": "denominator", "count": [1, 1]})
    left = data.draw(st.lists(st.sampled_from(release.header.sa_values), min_size=1, max_size=2, unique=True))
    number = sum(row[:2] == asked for row in rows)
    event = {"q": [asked[0]], "r": [asked[1]], "s": sorted(left)}
    finding = {"code": "R03", "event": event, "count": [number, number], "because": because, "statement": "", "steps": []}
    proof = {"weights": weights, "groups": groups, "below": 1}
    try:
        check_values(finding | {"certificate": proof}, book, 3, None)
    except Reject as why:
        # Its citations and words are looked at last: who gets there has a sum that was accepted.
        if not any(word in str(why) for word in ("citations", "sentence", "steps")):
            return
    assert {row[2] for row in rows if row[:2] == asked} <= set(left)


@settings(max_examples=examples(150), deadline=None)
@given(people.filter(lambda rows: len(rows) <= 8), st.data())
def test_random_arguments_leave_everybody_the_true_value(rows: list[tuple[str, ...]], data: st.DataObject) -> None:
    qit = {"q": [row[0] for row in rows], "r": [row[1] for row in rows], "group": [1] * len(rows)}
    counts = Counter(row[2] for row in rows)
    st_ = {"group": [1] * len(counts), "s": list(counts), "count": list(counts.values())}
    release = tacit.read_buckets(qit=qit, st=st_)
    book = BucketBook(release)
    asked = data.draw(st.sampled_from(rows))[:2]
    true = [
        (column, value, out)
        for place, column in enumerate("qr")
        for value in {row[place] for row in rows}
        for out in counts
        if not any(row[place] == value and row[2] == out for row in rows)
    ]
    facts = data.draw(st.lists(st.sampled_from(true), unique=True)) if true else []
    used = data.draw(st.lists(st.sampled_from(sorted(counts)), unique=True))
    left = data.draw(st.lists(st.sampled_from(sorted(counts)), min_size=1, unique=True))
    because: list[dict[str, Any]] = [
        {"release": 0, "line": line, "count": [count, count]} for line, _, count in book.lines(book.release.names[0])
    ]
    because += [
        {"release": 0, "cell": f'known {n}: {{"{c}": ["{v}"]}} => not {out}', "count": [0, 0]}
        for n, (c, v, out) in enumerate(facts)
    ]
    total = 0
    if used:
        listed = ", ".join(f'"{value}"' for value in used)
        total = sum(counts[value] for value in used)
        because.append({"release": 0, "cell": f"used up [{listed}]", "count": [total, total]})
    number = sum(row[:2] == asked for row in rows)
    event = {"q": [asked[0]], "r": [asked[1]], "s": sorted(left), "group": [book.release.names[0]]}
    finding = {"code": "B01", "event": event, "count": [number, number], "because": because, "statement": "", "steps": []}
    known = [{"where": f"known {n}", "event": {c: [v]}, "not": out} for n, (c, v, out) in enumerate(facts)]
    proof: dict[str, Any] = {
        "matching": {"facts": known, "ruled_out": [], "used_up": used, "users": total, "left": []},
    }
    try:
        check_buckets(finding | {"certificate": proof}, book, len(counts) + 1)
    except Reject as why:
        # What is only told otherwise has passed the argument itself.
        if "words" not in str(why) and "certificate" not in str(why):
            return
    assert {row[2] for row in rows if row[:2] == asked} <= set(left)
