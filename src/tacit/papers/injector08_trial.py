"""Adult as *Injector* uses it: its trees as far as they can be told, rules and groups.

Whatever is drawn is drawn ``DRAWS`` times, and groupings are compared draw by draw.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tacit.buckets.assignments import Valid, valid_values
from tacit.buckets.classes import Classes
from tacit.buckets.classes import valid_values as class_values
from tacit.buckets.estimators import Combinations
from tacit.buckets.grouping import Method, Recipes, count_exchanges, form_groups, group_people, join_groups
from tacit.buckets.surviving_correlations import guess, learn
from tacit.files.knowledge import read_knowledge
from tacit.mining.negative import mine_negative_rules
from tacit.model.arrays import Codes, Floats, Ints
from tacit.model.buckets import Buckets
from tacit.model.errors import Infeasible
from tacit.model.knowledge import Exclusions
from tacit.model.negative import NegativeRules
from tacit.model.policy import Limits
from tacit.model.reproduction import Claim
from tacit.model.table import Hierarchy, Table
from tacit.papers.bench import Bench, read_adult

QI = ("age", "workclass", "education", "marital-status", "race", "sex")
SA = "occupation"

#: The trees are not in the paper. These reproduce its numbers of rules and of people best: each coarser value with what belongs to it; a value
#: without a coarser one stands on every level, as in the files that such trees come in.
_COARSER = {
    "workclass": {"Self-emp": "Self-emp-inc Self-emp-not-inc", "Government": "Federal-gov Local-gov State-gov"},
    "race": {"Non-White": "Amer-Indian-Eskimo Asian-Pac-Islander Black Other"},
    "marital-status": {
        "spouse present": "Married-civ-spouse Married-AF-spouse",
        "spouse not present": "Divorced Never-married Separated Widowed Married-spouse-absent",
    },
    "education": {
        "Primary School": "Preschool 1st-4th 5th-6th",
        "High School": "7th-8th 9th 10th 11th 12th HS-grad",
        "Professional Education": "Assoc-acdm Assoc-voc Prof-school",
        "Undergraduate": "Some-college Bachelors",
        "Graduate": "Masters Doctorate",
    },
}
_COARSEST = {
    "education": {
        "Primary education": "Primary School",
        "Secondary education": "High School",
        "Higher education": "Professional Education/Undergraduate/Graduate",
    }
}
AGES = (5, 10, 20)  #: Widths of intervals that make a tree of height 5, as in Table III.
DRAWS = 25  #: Groups are drawn so often.
EXPECTATIONS = (0.75, 0.80, 0.85, 0.90, 0.95)
LEAST = (3, 4, 5, 6)
BASE = (6, 0.90)  #: Defaults of the paper: l and min. expectation.
GROUPINGS = ("Anatomy", "Injector", "balanced-2")
#: What all comparisons of groupings have in common.
DRAWN = f"{DRAWS} draws with the same seeds for all. Injector is Figure 2 with Figure 1 and the counts N corrected; balanced-2 is Tacit's own."


@dataclass(frozen=True, slots=True)
class Axis:
    """Axis of a figure: letter, name, fixed settings, and its points."""

    letter: str
    name: str
    fixed: str
    points: tuple[tuple[float, tuple[int, float]], ...]


AXES = (
    Axis("a", "l", "Min. expectation .9.", tuple((float(least), (least, BASE[1])) for least in LEAST)),
    Axis("b", "min. expectation", "l = 6.", tuple((one, (BASE[0], one)) for one in EXPECTATIONS)),
)
SETTINGS = tuple(dict.fromkeys(setting for axis in AXES for _, setting in axis.points))


def trees(people: Table) -> dict[str, Hierarchy]:
    """Return the columns' trees for occurring values."""
    out = {}
    for column, coarser in _COARSER.items():
        upper = {node: top for top, listed in _COARSEST.get(column, {}).items() for node in listed.split("/")}
        above = {value: node for node, listed in coarser.items() for value in listed.split()}
        levels: dict[str, tuple[str, ...]] = {}
        for value in people.column(column).values:
            node = above.get(value)
            levels[value] = () if node is None else (node, upper[node]) if node in upper else (node,)
        # One level that repeats the value, where its column has one level of coarser values.
        repeated = {value: 1 for value, chain in levels.items() if not chain}
        out[column] = Hierarchy(column, levels, "the trees of this reproduction", repeated)
    return out


def age_tree(people: Table) -> Hierarchy:
    """Return a tree of ages of the height that Table III gives."""
    levels = {
        age: tuple(f"{int(age) // w * w} to {int(age) // w * w + w - 1}" for w in AGES) for age in people.column("age").values
    }
    return Hierarchy("age", levels, "the trees of this reproduction")


class Mined(NamedTuple):
    """Negative rules, what they exclude, and seconds."""

    rules: NegativeRules
    known: Exclusions
    seconds: float


@dataclass(eq=False)
class Trial:
    """People of the paper, and cached results about them."""

    people: Table
    path: Path
    bench: Bench
    settled: list[Claim] = field(default_factory=list)
    _mined: dict[Any, Mined] = field(default_factory=dict)
    _recipes: dict[Any, Recipes] = field(default_factory=dict)
    _groups: dict[Any, Codes] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path, bench: Bench) -> Trial:
        """Read the people without '?' in a column that is used."""
        return cls(read_adult(path, qi=QI, sa=SA, missing_rule="drop"), path, bench)

    @cached_property
    def trees(self) -> dict[str, Hierarchy]:
        """Trees of the columns."""
        return trees(self.people)

    def rules(self, expectation: float) -> Mined:
        """Return the rules about single columns."""
        return self._mine(expectation, min_expectation=expectation, max_length=1)

    def conjunctive(self) -> Mined:
        """Return the significant conjunctive rules."""
        return self._mine("conjunctive", min_expectation=0.9, significance=0.05)

    def _mine(self, key: Any, **how: Any) -> Mined:
        if key not in self._mined:
            start = time.perf_counter()
            found = mine_negative_rules(self.people, hierarchies=self.trees, **how)
            seconds = time.perf_counter() - start
            self._mined[key] = Mined(found, Exclusions.of(read_knowledge(found), self.people.qi, self.people.sa.values), seconds)
        return self._mined[key]

    def recipes(self, grouping: str, least: int, expectation: float) -> Recipes:
        """Return the groups as lists of classes: they do not depend on the draw."""
        key = (grouping, least, expectation)
        if key not in self._recipes:
            self._recipes[key] = form_recipes(self.classes(expectation, 0), least, grouping)
        return self._recipes[key]

    def classes(self, expectation: float, seed: int) -> Classes:
        """Return people by value and values ruled out."""
        known = self.rules(expectation).known
        return Classes.of(self.people.sa.codes, known.kind, known.patterns, seed=seed)

    def buckets(self, grouping: str, least: int, expectation: float, seed: int) -> Buckets:
        """Return the groups of a draw."""
        key = (grouping, least, None if grouping == "Anatomy" else expectation, seed)
        if key not in self._groups:
            if grouping == "Anatomy":
                self._groups[key] = self.group("anatomy", least, self.rules(expectation).known, seed)
            else:
                classes = self.classes(expectation, seed)
                self._groups[key] = self.recipes(grouping, least, expectation).assign(classes, self.people.n, seed=seed)
        return self.release(self._groups[key])

    def group(self, method: Method, least: int, known: Exclusions, seed: int) -> Codes:
        """Return the groups of one of Tacit's methods."""
        return group_people(self.people.sa.codes, known.kind, known.patterns, least=least, method=method, seed=seed).group

    def release(self, group: Codes) -> Buckets:
        """Return the release of these groups."""
        return Buckets.of(self.people.qi, self.people.sa, group)

    def valid(self, buckets: Buckets, known: Exclusions) -> Valid:
        """Return everybody's valid values."""
        return valid_values(buckets, known, self.people.sa.codes)

    def vulnerable(self, grouping: str, least: int, expectation: float) -> list[int]:
        """Count the people with fewer than l valid values, by draw."""
        known = self.rules(expectation).known
        drawn = (self.buckets(grouping, least, expectation, seed) for seed in range(DRAWS))
        return [int(np.count_nonzero(self.valid(buckets, known).counts < least)) for buckets in drawn]

    @cached_property
    def cells(self) -> Combinations:
        """Combinations of quasi-identifiers, shared by all groupings."""
        return Combinations.of(self.buckets("Anatomy", *BASE, seed=0), self.people)

    def counted(self, grouping: str, least: int, expectation: float, seed: int) -> dict[str, Floats]:
        """Count people by combination and value as in a release.

        ``shares``: everybody has the shares of the group. ``permuted``: everybody has the value that one shuffle of the group gives.
        """
        buckets = self.buckets(grouping, least, expectation, seed)
        width = len(self.people.sa.values)
        share = np.zeros((len(buckets), width))
        owner = np.repeat(np.arange(len(buckets)), np.diff(buckets.starts))
        share[owner, buckets.value] = buckets.count / buckets.sizes[owner]
        shares = [np.bincount(self.cells.number, column[buckets.group], len(self.cells)) for column in share.T]
        shuffled = np.lexsort((np.random.default_rng([seed, 3]).random(buckets.n), buckets.group))
        permuted = np.empty(buckets.n, np.int64)
        permuted[shuffled] = self.people.sa.codes[np.argsort(buckets.group, kind="stable")]
        told = np.bincount(self.cells.number * width + permuted, minlength=len(self.cells) * width)
        return {"shares": np.stack(shares, axis=1), "permuted": told.reshape(-1, width).astype(np.float64)}

    def guessed(self, buckets: Buckets, known: Exclusions) -> tuple[float, float]:
        """Return shares guessed by frequency and by B03."""
        valid = self.valid(buckets, known)
        right = guess(valid, learn(valid)).top == self.people.sa.codes
        return float(np.maximum.reduceat(buckets.count, buckets.starts[:-1]).sum()) / buckets.n, float(right.mean())


def form_recipes(classes: Classes, least: int, grouping: str) -> Recipes:
    """Form groups for everybody, by Figure 2 or balanced."""
    recipes, left = form_groups(classes, least, "injector" if grouping == "Injector" else "balanced-2", Limits())
    if grouping == "Injector":
        join_as_printed(recipes, left, classes, least)
    elif left.any():
        join_groups(recipes, left, classes, least, Limits())
    return recipes


def join_as_printed(recipes: Recipes, left: Ints, classes: Classes, least: int) -> None:
    """Add the people left over by lines 18 to 23 of Figure 2."""
    for one in np.flatnonzero(left).tolist():
        waiting = int(left[one])
        apart = ~classes.compatible_with(one)
        while waiting:
            there = np.flatnonzero(recipes.groups > 0)
            if not len(there):
                raise Infeasible("line 19 of Figure 2 has no group to select", where="injector08", remedy="Use tacit bucketize")
            number = np.add.reduceat(apart[recipes.listed].astype(np.int64), recipes.starts[:-1])
            best = int(there[np.argmin(number[there])])
            if is_enough(classes, [*recipes.members(best), one], one, least):
                groups = min(waiting, int(recipes.groups[best]))
                recipes.extend(best, groups, [one])
            else:
                groups = 1
                _merge_as_printed(recipes, classes, recipes.extend(best, 1, [one]), one, least)
            waiting -= groups


def is_enough(classes: Classes, members: Sequence[int], one: int, least: int) -> bool:
    """Tell if a class has enough valid values among these people."""
    present = np.unique(members)
    return int(class_values(classes, present)[np.searchsorted(present, one)].sum()) >= least


def _merge_as_printed(recipes: Recipes, classes: Classes, group: int, one: int, least: int) -> None:
    while not is_enough(classes, recipes.members(group), one, least):
        held = np.isin(classes.value, classes.value[recipes.members(group)])
        fresh = count_exchanges(recipes, classes, ~held)
        spare = recipes.groups.copy()
        spare[group] -= 1
        there = np.flatnonzero(spare > 0)
        if not len(there):
            raise Infeasible("line 22 of Figure 2 has no group left", where="injector08", remedy="Use tacit bucketize")
        group = recipes.merge([group, int(there[np.argmax(fresh[there])])], [])
