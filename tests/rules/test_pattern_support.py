"""The support of any pattern: true of the data and of all worlds, exact where the release is, every proof redone from its parts."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.model.errors import Contradiction, OptionError
from tacit.model.numbers import Bound
from tacit.model.pattern import Pattern
from tacit.model.release import Itemsets, Only
from tacit.rules.patterns import Tie, bound_term_by_term, bound_tightly, signed_weights
from tests.itemsets.made_releases import released
from tests.itemsets.naive_channels import Row, closed, frequent, maximal, subsets
from tests.rules.naive_rules import Form, file_of, people_of, rules_between, rules_to_values, worlds_by_file

UNBOUNDED = 2**61


def random_pattern(chance: random.Random, names: Sequence[str], depth: int = 3) -> str:
    """Text of a random pattern."""
    kind = chance.choice(["item", "not", "and", "or"]) if depth else "item"
    if kind == "item":
        name = chance.choice(names)
        return f'"{name}"'
    if kind == "not":
        return f"not ({random_pattern(chance, names, depth - 1)})"
    return f" {kind} ".join(f"({random_pattern(chance, names, depth - 1)})" for _ in range(chance.randint(2, 3)))


def people_in(text: str, rows: Sequence[Row]) -> int:
    """How many rows fit, from the truth table."""
    pattern = Pattern.parse(text)
    truth = pattern.truth()
    return sum(bool(truth[sum((name in row) << place for place, name in enumerate(pattern.names))]) for row in rows)


def database(seed: int) -> tuple[list[Row], int]:
    chance = random.Random(seed)
    letters = "abcdef"[: chance.randint(2, 6)]
    weight = {x: chance.choice([0.3, 0.6, 0.9, 1.0]) for x in letters}
    rows = [frozenset(x for x in letters if chance.random() < weight[x]) for _ in range(chance.choice([1, 6, 15, 30]))]
    return [*rows, frozenset(letters)], chance.randint(1, 10)


def only_of(rows: list[Row], sigma: int, only: Only) -> Itemsets:
    if only != "maximal":
        return released(rows, sigma, only)
    names = tuple(sorted(set().union(*rows)))
    chosen = maximal(frequent(rows, sigma))
    every = released(rows, sigma, "all")
    index = [i for i in range(len(every)) if frozenset(every.names(i)) in chosen]
    assert every.items.names == names
    taken = every.take(np.array(index, np.int64), every.header)
    return Itemsets(taken.sets, taken.lo, taken.hi, taken.items, taken.header, "maximal")


@pytest.mark.parametrize("only", ["all", "closed", "maximal"])
@pytest.mark.parametrize("seed", range(25))
def test_bounds_are_true_of_the_data_and_exact_where_supports_are(seed: int, only: Only) -> None:
    rows, sigma = database(seed)
    release = only_of(rows, sigma, only)
    if len(release) == 0:
        return
    supports = frequent(rows, sigma) | {frozenset[str](): len(rows)}
    chance = random.Random(seed + 1000)
    used = sorted({name for index in range(len(release)) for name in release.names(index)})
    for _ in range(6):
        text = random_pattern(chance, used)
        found = tacit.support_of(release, pattern=text)
        truth = people_in(text, rows)
        assert found.hi is not None
        assert found.lo <= truth <= found.hi, text
        pattern = Pattern.parse(text)
        needed = [
            frozenset(name for place, name in enumerate(pattern.names) if mask >> place & 1)
            for mask in np.flatnonzero(signed_weights(pattern.truth())).tolist()
        ]
        if only != "maximal" and all(one in supports for one in needed):
            assert (found.lo, found.hi, found.method) == (truth, truth, "sum"), text
        assert found.steps


@pytest.mark.parametrize("only", ["all", "maximal"])
@pytest.mark.parametrize(("n", "sigma"), [(4, 2), (5, 3), (6, 4)])
def test_bounds_hold_in_every_world_and_are_often_the_tightest(n: int, sigma: int, only: Only) -> None:
    worlds: dict[frozenset[tuple[Row, int]], list[list[Row]]] = {}
    for rows in combinations_with_replacement(list(subsets("abc")), n):
        supports = frequent(rows, sigma)
        key = frozenset((maximal(supports) if only == "maximal" else supports).items())
        worlds.setdefault(key, []).append(list(rows))
    chance = random.Random(7)
    tight = tried = 0
    for together in list(worlds.values())[:: 2 if only == "maximal" else 7]:
        supports = frequent(together[0], sigma)
        if set().union(*supports) != set("abc"):
            continue
        release = only_of(together[0], sigma, only)
        for text in ("a and not b", "not a and not (b or c)", "(a or b) and not c", random_pattern(chance, "abc")):
            found = tacit.support_of(release, pattern=text)
            sizes = [people_in(text, rows) for rows in together]
            assert found.hi is not None
            assert found.lo <= min(sizes)
            assert max(sizes) <= found.hi
            tried += 1
            tight += (found.lo, found.hi) == (min(sizes), max(sizes))
    assert tried > 20
    assert tight > 0.85 * tried


@pytest.mark.parametrize("form", [Form(2, Fraction(1, 2), 1), Form(2, Fraction(1, 2)), Form(2, Fraction(1, 2), withheld=True)])
def test_rules_bound_patterns_in_every_world(form: Form, tmp_path: Path) -> None:
    columns = {"q": "ab", "r": "cd", "s": "xy"}
    header = {"format": "tacit.rules/1", "qi": ["q", "r"], "sa": "s", "sa_values": ["x", "y"], "complete": True}
    form = Form(**{**vars(form), "header": header})
    groups = [g for g in worlds_by_file(people_of(columns), 4, rules_to_values(columns, "s"), form) if g[0][0].count("\n") > 1]
    chance = random.Random(3)
    for text, worlds in groups[:: -(-len(groups) // 15)]:
        (tmp_path / "r.csv").write_text(text[0])
        (tmp_path / "r.csv.json").write_text(text[1])
        release = tacit.read_release(tmp_path / "r.csv")
        assert isinstance(release, tacit.Rules)
        names = sorted({*release.items.names, "s=x", "s=y"})
        for _ in range(3):
            pattern = random_pattern(chance, names)
            found = tacit.support_of(release, pattern=pattern)
            sizes = [people_in(pattern, rows) for rows in worlds]
            assert found.hi is not None
            assert found.lo <= min(sizes), pattern
            assert max(sizes) <= found.hi, pattern


def test_a_rounded_rule_gives_its_exceptions(tmp_path: Path) -> None:
    """45 to 55 people have both and 46 to 56 the antecedent, yet exactly 1 lacks the consequent: the confidence ties the numbers."""
    (tmp_path / "r.csv").write_text('antecedent,consequent,count,support,confidence\n"[""a""]","[""b""]",,0.05,0.98\n')
    release = tacit.read_release(tmp_path / "r.csv", n=1000)
    found = tacit.support_of(release, pattern="a and not b")
    assert (found.lo, found.hi, found.method) == (1, 1, "bounds")
    audit = tacit.audit(release)
    assert [(finding.count.lo, finding.count.hi) for finding in audit.findings] == [(1, 1)]


def test_patterns_are_never_looser_than_findings(tmp_path: Path) -> None:
    rows = [frozenset(word) for word in ["abc"] * 48 + ["ab"] * 32 + ["ac"] * 17 + ["a"] * 3 + ["bd"] * 60 + ["d"] * 2]
    for digits in (1, 2):
        text, _ = file_of(rows, rules_between("abcd"), Form(10, Fraction(1, 2), digits, with_count=True))
        (tmp_path / "r.csv").write_text(text)
        release = tacit.read_release(tmp_path / "r.csv", n=len(rows))
        for finding in tacit.audit(release).findings:
            event = finding.event.to_dict()
            lacking = [f"not {name}" for name in event["absent"]]
            lacking += [f"not ({' and '.join(event['not_all'])})"] if "not_all" in event else []
            found = tacit.support_of(release, pattern=" and ".join([*event["present"], *lacking]))
            assert found.hi is not None
            assert finding.count.lo <= found.lo <= found.hi <= finding.count.hi


def test_proofs_count_nobody_wrongly() -> None:
    """Weights times supports is a bound only if no combination of items is counted more often than it fits."""
    chance = np.random.default_rng(1)
    for _ in range(120):
        items = int(chance.integers(1, 5))
        people = chance.integers(0, 20, 1 << items)
        cells = np.arange(1 << items)
        supports = np.array([people[(cells & mask) == mask].sum() for mask in cells])
        slack = chance.integers(0, 4, (2, len(cells)))
        known = chance.random(len(cells)) < 0.7
        known[0] = True
        lo, hi = np.where(known, np.maximum(supports - slack[0], 0), 0), np.where(known, supports + slack[1], UNBOUNDED)
        truth = chance.random(len(cells)) < 0.5
        ties = []
        if items > 1 and supports[1]:
            share = Fraction(int(supports[3]), int(supports[1]))
            ties = [Tie(1, 3, share - Fraction(1, 50), share + Fraction(1, 50), 2, Bound(0, 0))]
        exact = int(people[truth].sum())
        for lower, upper in (bound_tightly(truth, lo, hi, ties), bound_term_by_term(truth, lo, hi)):
            assert lower.least <= exact
            assert upper is None or exact <= upper.most
        lower, upper = bound_tightly(truth, lo, hi, ties)
        assert upper is not None
        for proof, side in ((lower, 1), (upper, -1)):
            weights = dict(proof.weights)
            for (tie, which), factor in proof.ties.items():
                assert side * factor > 0
                for mask, weight in ties[tie].sides()[which].items():
                    weights[mask] = weights.get(mask, Fraction(0)) + factor * weight
            for cell in cells.tolist():
                counted = sum(weight for mask, weight in weights.items() if cell & mask == mask)
                assert side * counted <= side * int(truth[cell])
            ends = (lo, hi) if side > 0 else (hi, lo)
            assert proof.total == sum(w * int(ends[0][mask] if w > 0 else ends[1][mask]) for mask, w in proof.weights.items())


def test_many_items_are_bounded_term_by_term() -> None:
    names = "abcdefghijkl"
    rows = [frozenset(names)] * 30 + [frozenset(names) - {"a"}] * 4
    release = released(rows, 30, "closed")
    found = tacit.support_of(release, pattern=" and ".join(names))
    assert (found.lo, found.hi, found.method) == (30, 30, "sum")
    assert len(closed(frequent([frozenset("ab")], 1))) == 1
    wide = tacit.support_of(only_of(rows, 30, "maximal"), pattern=f"not ({' and '.join(names)})")
    assert (wide.lo, wide.hi) == (4, 4)
    other = tacit.support_of(only_of(rows, 30, "maximal"), pattern=" or ".join(names))
    assert other.method == "terms"
    assert other.hi is not None
    assert other.lo <= 34 <= other.hi


def test_without_n_there_may_be_no_upper_end() -> None:
    release = released([frozenset("ab")] * 5 + [frozenset("a")] * 4, 4, "all")
    header = type(release.header)(min_support=4, complete=True)
    unknown = Itemsets(release.sets, release.lo, release.hi, release.items, header)
    assert tacit.support_of(unknown, pattern="a and not b").to_dict()["count"] == [4, 4]
    found = tacit.support_of(unknown, pattern="not b")
    assert (found.lo, found.hi) == (4, None)
    assert found.statement == "At least 4 people: not b."
    assert any("number of people is not known" in step for step in found.steps)


def test_numbers_that_clash_are_refused() -> None:
    release = released([frozenset("abc")] * 5, 4, "all")
    wrong = release.lo.copy()
    wrong[[release.names(i) == ["a", "b"] for i in range(len(release))].index(True)] = 2
    clash = Itemsets(release.sets, wrong, wrong, release.items, release.header)
    with pytest.raises(Contradiction):
        tacit.support_of(clash, pattern="a and b and not c")


def test_unknown_items_are_not_guessed_aloud() -> None:
    release = released([frozenset({"Secret", "b"})] * 5, 4, "all")
    with pytest.raises(OptionError, match="position 7") as caught:
        tacit.support_of(release, pattern="b and secret")
    assert "Secret" not in str(caught.value)
    assert "almost so" in str(caught.value)
    with pytest.raises(OptionError, match="is not text"):
        tacit.support_of(release, pattern=3)  # type: ignore[arg-type]
