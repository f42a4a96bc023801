"""Figures 6 to 8 of *Injector*: errors of positive rules and of counting queries, on Adult."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from tacit.buckets.estimators import Combinations, Estimator, by_groups
from tacit.buckets.utility import draw_queries
from tacit.model.arrays import Flags, Floats, Ints
from tacit.model.reproduction import Cell, Chart, Judged, Part, Reading, Standing, judge_readings
from tacit.papers.bench import Paired
from tacit.papers.injector08_trial import AXES, BASE, DRAWN, DRAWS, GROUPINGS, LEAST, SETTINGS, Trial

QUERIES = 120  #: Questions that each draw asks: in all three times as many as the paper's.
_JUDGED = (
    "A claim holds where Injector is better by two standard errors at every point, and fails where it is worse or equal at one."
)
Draws = Mapping[str, Sequence[float]]  #: A number for each draw, by grouping.


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Positive rules that the paper may mean, and how they are counted."""

    support: Fraction = Fraction(1, 100)
    conviction: Fraction = Fraction(11, 10)
    columns: int = 3
    ages: int = 10
    counted: str = "shares"

    @property
    def reading(self) -> Reading:
        """The set as a reading."""
        ages = f"ages in intervals of {self.ages}" if self.ages else "single ages"
        others = {f"{self.columns} columns": self.columns != 3, ages: not self.ages, self.counted: self.counted != "shares"}
        name = ", ".join(
            [
                f"{float(100 * self.support):g} % / {float(self.conviction):g}",
                *(one for one, is_told in others.items() if is_told),
            ]
        )
        return Reading(name, f"rules of up to {self.columns} columns, {ages}; counted by {self.counted}")


#: The paper names no threshold, no number of columns and no intervals of ages.
RULE_SETS = (
    RuleSet(),
    RuleSet(conviction=Fraction(5, 4)),
    RuleSet(conviction=Fraction(3, 2)),
    RuleSet(support=Fraction(1, 200)),
    RuleSet(support=Fraction(1, 50)),
    RuleSet(support=Fraction(1, 20)),
    RuleSet(columns=6),
    RuleSet(ages=0),
    RuleSet(counted="permuted"),
)
#: The errors in their order: what is smaller, and in the name of a part.
MEASURES = {
    "a smaller confidence error": "",
    "fewer false positives (sigma+)": "-added",
    "fewer false negatives (sigma-)": "-lost",
}


@dataclass(frozen=True, eq=False)
class Antecedents:
    """Frequent antecedents of all rule sets: combination ``cell[i]`` has ``antecedent[i]``.

    ``size`` is the number of columns, ``ages`` the width of the intervals (-1 without a column of ages).
    """

    cells: Combinations
    antecedent: Ints
    cell: Ints
    size: Ints
    ages: Ints
    _holding: dict[RuleSet, Flags] = field(default_factory=dict)

    @classmethod
    def of(cls, cells: Combinations, rule_sets: Sequence[RuleSet]) -> Antecedents:
        """Find the antecedents with the lowest support of the sets."""
        people = cells.true.sum(axis=1)
        enough = min(one.support for one in rule_sets) * int(people.sum())
        antecedent, cell = [], []
        size: list[int] = []
        ages: list[int] = []
        for chosen, width in _choices(cells, rule_sets):
            key = np.zeros(len(cells), np.int64)
            for place in chosen:
                codes = (
                    _cut(cells.columns[place].values, width)[cells.columns[place].codes]
                    if place == 0
                    else cells.columns[place].codes
                )
                key = np.unique(key * (int(codes.max()) + 1) + codes, return_inverse=True)[1].reshape(-1)
            kept = np.bincount(key, people) >= float(enough)
            inside = np.flatnonzero(kept[key])
            antecedent.append(len(size) + (np.cumsum(kept) - 1)[key[inside]])
            cell.append(inside)
            size += [len(chosen)] * int(kept.sum())
            ages += [width] * int(kept.sum())
        return cls(cells, np.concatenate(antecedent), np.concatenate(cell), np.array(size), np.array(ages))

    def count(self, table: Floats) -> Floats:
        """Add up a table of combinations and values by antecedent."""
        columns = (np.bincount(self.antecedent, column[self.cell], len(self)) for column in np.ascontiguousarray(table.T))
        return np.stack(list(columns), axis=1)

    def __len__(self) -> int:
        return len(self.size)

    def inside(self, rules: RuleSet) -> Ints:
        """Return the antecedents that a rule set may use."""
        frequent = self.people >= float(rules.support) * float(self.cells.true.sum())
        return np.flatnonzero(frequent & (self.size <= rules.columns) & np.isin(self.ages, (-1, rules.ages)))

    @cached_property
    def true(self) -> Floats:
        """People of the data by antecedent and value."""
        return self.count(self.cells.true)

    @cached_property
    def people(self) -> Floats:
        """People of the data by antecedent."""
        return np.asarray(self.true.sum(axis=1))

    def holding(self, rules: RuleSet) -> Flags:
        """Mark the rules of the data among the antecedents inside."""
        if rules not in self._holding:
            self._holding[rules] = self._mark(self.true[self.inside(rules)], rules)
        return self._holding[rules]

    def _mark(self, both: Floats, rules: RuleSet) -> Flags:
        """Mark rules with enough support and conviction, to a billionth of n."""
        everybody = self.cells.true.sum(axis=0)
        n = float(everybody.sum())
        people = self.people[self.inside(rules), None]
        convinced = people * (n - everybody) >= float(rules.conviction) * n * (people - both) - 1e-9 * n * n
        return np.asarray((both >= float(rules.support) * n - 1e-9 * n) & convinced)

    def errors(self, counted: Floats, rules: RuleSet) -> tuple[float, ...]:
        """Return the errors of a rule set in percent; ``counted`` are people by antecedent and value."""
        inside = self.inside(rules)
        holds = self.holding(rules)
        estimate = counted[inside]
        true = self.true[inside][holds]
        found = self._mark(estimate, rules)
        off = float((np.abs(estimate[holds] - true) / true).mean())
        number = int(holds.sum())
        return 100 * off, 100 * int((found & ~holds).sum()) / number, 100 * int((holds & ~found).sum()) / number


def _choices(cells: Combinations, rule_sets: Sequence[RuleSet]) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield the columns of antecedents with the width of ages; ages are column 0."""
    widths = {width: max(one.columns for one in rule_sets if one.ages == width) for width in {one.ages for one in rule_sets}}
    for size in range(1, len(cells.columns) + 1):
        for chosen in combinations(range(len(cells.columns)), size):
            if 0 in chosen:
                yield from ((chosen, width) for width, columns in sorted(widths.items()) if size <= columns)
            elif size <= max(widths.values()):
                yield chosen, -1


def _cut(ages: Sequence[str], width: int) -> Ints:
    return np.array([int(age) // max(1, width) for age in ages], np.int64)


def rule_errors(trial: Trial) -> list[Part]:
    """Figures 6 and 7."""
    by_counting = {
        one.counted: Antecedents.of(trial.cells, [other for other in RULE_SETS if other.counted == one.counted])
        for one in RULE_SETS
    }
    sets = [one for one in RULE_SETS if by_counting[one.counted].holding(one).any()]
    found: dict[RuleSet, dict[Any, dict[str, list[tuple[float, ...]]]]] = {
        one: {setting: {name: [] for name in GROUPINGS} for setting in SETTINGS} for one in sets
    }
    for grouping in GROUPINGS:
        for setting in SETTINGS if grouping != "Anatomy" else SETTINGS[: len(LEAST)]:
            for seed in range(DRAWS):
                tables = trial.counted(grouping, *setting, seed)
                counted = {name: antecedents.count(tables[name]) for name, antecedents in by_counting.items()}
                for one in sets:
                    found[one][setting][grouping].append(by_counting[one.counted].errors(counted[one.counted], one))
    for one in sets:  # Anatomy knows no rules: it is the same at every expectation
        for setting in SETTINGS[len(LEAST) :]:
            found[one][setting]["Anatomy"] = found[one][BASE]["Anatomy"]
    parts = [_list_rule_sets(by_counting, sets)]
    for place, (measure, ending) in enumerate(MEASURES.items()):
        for axis in AXES:
            by_reading = {
                one.reading: {
                    x: {name: [errors[place] for errors in drawn] for name, drawn in found[one][setting].items()}
                    for x, setting in axis.points
                }
                for one in sets
            }
            parts.append(
                _compare(
                    trial,
                    f"Figure 6 ({axis.letter})" if place == 0 else "Figure 7",
                    name=f"figure-{6 if place == 0 else 7}{axis.letter}{ending}",
                    what=f"{measure}, by {axis.name}",
                    reading=f"errors in percent. {DRAWN} {_JUDGED} n = {trial.people.n:,}. {axis.fixed}",
                    axis=axis.name,
                    found=by_reading,
                )
            )
    return [*parts, _undo_mixing(trial, by_counting["shares"])]


def _list_rule_sets(by_counting: Mapping[str, Antecedents], sets: Sequence[RuleSet]) -> Part:
    rows = tuple((one.reading.name, one.reading.text, int(by_counting[one.counted].holding(one).sum())) for one in sets)
    return Part(
        "rule-sets",
        "Figures 6 and 7: the readings",
        "the paper names no threshold of support and conviction, no number of columns and no intervals of ages; nor whether values are counted "
        "by the shares of a group, or as one shuffle of it gives them. None of these sets is likelier than another.",
        ("support / conviction", "read as", "rules"),
        rows,
    )


def _undo_mixing(trial: Trial, antecedents: Antecedents) -> Part:
    """Past the paper: the mixing of values is undone."""
    rules = RuleSet()
    rows: list[tuple[Cell, ...]] = []
    for least in LEAST:
        off = []
        for grouping in GROUPINGS:
            _, debiased, _ = by_groups(trial.cells, trial.buckets(grouping, least, BASE[1], 0))
            estimate = debiased.made(antecedents.count(debiased.counted), antecedents.people)
            off.append(round(antecedents.errors(estimate, rules)[0], 1))
        rows.append((least, *off))
    lines = tuple(
        (name, tuple((float(row[0]), float(row[1 + place])) for row in rows))  # type: ignore[arg-type]
        for place, name in enumerate(GROUPINGS)
    )
    return Part(
        "debiased",
        "Past the paper: confidence error, mixing undone, by l",
        f"{rules.reading.name}; one draw each, min. expectation .9.",
        ("l", *GROUPINGS),
        tuple(rows),
        note="What groups mix can be undone on average where they are drawn at random, as those of Anatomy are: its errors are far below those "
        "of Figure 6. Groups that are formed by a rule gain less, or nothing.",
        chart=Chart("l", "percent", lines, logarithmic=False),
    )


#: Figure 8: the axes, with what is fixed, and the l, columns and selectivity of each point.
_ASKED = (
    ("a", "l", "Two columns, selectivity .5.", tuple((float(least), (least, 2, "0.5")) for least in LEAST)),
    ("b", "columns", "l = 6, selectivity .5.", tuple((float(dim), (6, dim, "0.5")) for dim in (1, 2, 3, 4))),
    ("c", "selectivity", "l = 6, two columns.", tuple((float(part), (6, 2, part)) for part in ("0.2", "0.4", "0.6", "0.8"))),
)
COUNTING = (
    Reading("shares", "everybody has the shares of the group", "counts are said to be reconstructed, as in the paper on Anatomy"),
    Reading("permuted", "the values of each group are shuffled once, and counted as they stand"),
)


def query_errors(trial: Trial) -> list[Part]:
    """Figure 8."""
    settings = tuple(dict.fromkeys(setting for *_, points in _ASKED for _, setting in points))
    found: dict[str, dict[Any, dict[str, list[float]]]] = {
        one.name: {setting: {name: [] for name in GROUPINGS} for setting in settings} for one in COUNTING
    }
    for seed in range(DRAWS):
        tables = {(grouping, least): trial.counted(grouping, least, BASE[1], seed) for grouping in GROUPINGS for least in LEAST}
        for dim, selectivity in dict.fromkeys(setting[1:] for setting in settings):
            asked = draw_queries(trial.cells, number=QUERIES, dim=dim, selectivity=Fraction(selectivity), seed=seed)
            keys = [
                (name, setting, one.name)
                for name in GROUPINGS
                for setting in settings
                for one in COUNTING
                if setting[1:] == (dim, selectivity)
            ]
            readers = [Estimator(str(number), tables[key[0], key[1][0]][key[2]], _as_counted) for number, key in enumerate(keys)]
            off = asked.errors(readers)
            for number, (name, setting, counting) in enumerate(keys):
                found[counting][setting][name].append(100 * float(off[str(number)].mean()))
    reading = (
        f"mean relative error in percent of {QUERIES} counts, drawn anew in each draw; sizes of predicates drawn from 1 on (the paper's 0 asks "
        f"for nobody), and questions that nobody fits drawn again. {DRAWN} {_JUDGED} n = {trial.people.n:,}."
    )
    parts = []
    for letter, axis, fixed, points in _ASKED:
        by_reading = {one: {x: found[one.name][setting] for x, setting in points} for one in COUNTING}
        parts.append(
            _compare(
                trial,
                "Figure 8",
                name=f"figure-8{letter}",
                what=f"a smaller query error, by {axis}",
                reading=f"{reading} {fixed}",
                axis=axis,
                found=by_reading,
            )
        )
    return parts


def _as_counted(counted: Floats, _: Floats) -> Floats:
    return counted


def _compare(
    trial: Trial,
    item: str,
    *,
    name: str,
    what: str,
    reading: str,
    axis: str,
    found: Mapping[Reading, Mapping[float, Draws]],
) -> Part:
    """Make a figure that compares groupings under all readings."""
    claim = judge_readings(item, f"Injector has {what}", [(one, judge(row, "Injector")) for one, row in found.items()])
    trial.settled.append(claim)
    ours = judge_readings(item, "", [(one, judge(row, "balanced-2")) for one, row in found.items()])
    rows: list[tuple[Cell, ...]] = []
    for one, points in found.items():
        for x, drawn in points.items():
            apart = Paired.of(drawn["Injector"], drawn["Anatomy"])
            means = (round(float(np.mean(drawn[grouping])), 2) for grouping in GROUPINGS)
            rows.append((one.name, x, *means, round(apart.mean, 3), round(apart.error, 3)))
    first = next(iter(found.values()))
    lines = tuple((one, tuple((x, float(np.mean(drawn[one]))) for x, drawn in first.items())) for one in GROUPINGS)
    return Part(
        name,
        f"{item}: {what}",
        reading,
        ("reading", axis, *GROUPINGS, "Anatomy - Injector", "s.e."),
        rows=tuple(rows),
        claims=(claim,),
        note=f"The same with balanced-2: {ours.standing} ({ours.why}).",
        chart=Chart(axis, "percent", lines, logarithmic=False),
    )


def judge(points: Mapping[float, Draws], grouping: str) -> Judged:
    """Judge that a grouping has smaller errors than Anatomy at every point."""
    apart = {x: Paired.of(drawn[grouping], drawn["Anatomy"]) for x, drawn in points.items()}
    smaller = [x for x, one in apart.items() if one.judge().standing == "confirmed"]
    larger = [x for x, one in apart.items() if one.judge().standing == "not confirmed"]
    equal = [x for x, one in apart.items() if one.mean == one.error == 0]
    named = (("smaller", smaller), ("larger", larger), ("equal", equal))
    undecided = [x for x in points if not any(x in where for _, where in named)]
    told = ", ".join(
        f"{word} at {'all' if len(where) == len(points) else ' '.join(f'{x:g}' for x in where)}"
        for word, where in (*named, ("undecided", undecided))
        if where
    )
    standing: Standing = "confirmed" if len(smaller) == len(points) else "not confirmed" if larger or equal else "open"
    return Judged(standing, told)
