"""*Injector: Mining Background Knowledge for Data Anonymization*, ICDE 2008.

Reproduced are Tables I and II, Figures 3 to 8.

Adult as the Injector paper uses it: its trees as far as they can be told, rules, groups and errors, each worked out once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tacit.buckets.assignments import Valid, valid_values
from tacit.buckets.estimators import Combinations, Estimator, by_groups
from tacit.buckets.grouping import Method, group_people
from tacit.buckets.surviving_correlations import guess, learn
from tacit.buckets.utility import PositiveRules, Queries, draw_queries
from tacit.errors import Infeasible
from tacit.files.buckets import read_buckets
from tacit.files.knowledge import read_knowledge
from tacit.mining.negative import mine_negative_rules
from tacit.model.buckets import Buckets
from tacit.model.knowledge import Exclusions
from tacit.model.negative import NegativeRules
from tacit.model.numbers import Threshold
from tacit.model.policy import Policy
from tacit.model.reproduction import Chart, Part
from tacit.model.table import Hierarchy, Table
from tacit.papers.bench import Bench, confirm, fact, facts_part, read_adult, run_on_adult
from tacit.verbs.audit import audit

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
DRAWS = 10  #: Anatomy is drawn so often; figures give the mean.
QUERIES = 1000  #: So many questions are asked.


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


@dataclass(frozen=True, eq=False)
class Grouped:
    """Groups, and the seconds that forming them took."""

    buckets: Buckets
    seconds: float


@dataclass(eq=False)
class Trial:
    """People, and cached results about them."""

    people: Table
    _rules: dict[Any, tuple[NegativeRules, Exclusions, float]] = field(default_factory=dict)
    _groups: dict[Any, Grouped] = field(default_factory=dict)
    _readers: dict[Any, tuple[Estimator, Estimator]] = field(default_factory=dict)
    _queries: dict[Any, Queries] = field(default_factory=dict)

    @cached_property
    def trees(self) -> dict[str, Hierarchy]:
        """Trees of the columns."""
        return trees(self.people)

    def rules(self, expectation: float) -> tuple[NegativeRules, Exclusions, float]:
        """Return rules about single columns, what they exclude, and seconds."""
        return self._mine((expectation, 1), min_expectation=expectation, max_length=1)

    def conjunctive(self) -> tuple[NegativeRules, Exclusions, float]:
        """Mine the significant conjunctive rules."""
        return self._mine("conjunctive", min_expectation=0.9, significance=0.05)

    def _mine(self, key: Any, **how: Any) -> tuple[NegativeRules, Exclusions, float]:
        if key not in self._rules:
            start = time.perf_counter()
            found = mine_negative_rules(self.people, hierarchies=self.trees, **how)
            seconds = time.perf_counter() - start
            self._rules[key] = found, Exclusions.of(read_knowledge(found), self.people.qi, self.people.sa.values), seconds
        return self._rules[key]

    def groups(self, method: Method, least: int, known: Exclusions, seed: int = 0) -> Grouped:
        """Return the groups of a method."""
        key = (method, least, None if method == "anatomy" else id(known), seed)
        if key not in self._groups:
            start = time.perf_counter()
            made = group_people(self.people.sa.codes, known.kind, known.patterns, least=least, method=method, seed=seed)
            seconds = time.perf_counter() - start
            self._groups[key] = Grouped(Buckets.of(self.people.qi, self.people.sa, made.group), seconds)
        return self._groups[key]

    def valid(self, method: Method, least: int, known: Exclusions, seed: int = 0) -> Valid:
        """Return everybody's valid values by method."""
        return valid_values(self.groups(method, least, known, seed).buckets, known, self.people.sa.codes)

    def vulnerable(self, method: Method, least: int, known: Exclusions) -> list[int]:
        """Count the people with fewer than l valid values, by draw."""
        seeds = range(DRAWS) if method == "anatomy" else range(1)
        return [int(np.count_nonzero(self.valid(method, least, known, seed).counts < least)) for seed in seeds]

    @cached_property
    def cells(self) -> Combinations:
        """Combinations of quasi-identifiers, shared by all groupings."""
        return Combinations.of(self.groups("anatomy", 3, self.rules(0.9)[1]).buckets, self.people)

    def readers(self, method: Method, least: int, known: Exclusions, seed: int = 0) -> tuple[Estimator, Estimator]:
        """Return counters over groups, with and without mixing."""
        key = (method, least, None if method == "anatomy" else id(known), seed)
        if key not in self._readers:
            uniform, debiased, _ = by_groups(self.cells, self.groups(method, least, known, seed).buckets)
            self._readers[key] = uniform, debiased
        return self._readers[key]

    def rule_errors(self, method: Method, least: int, known: Exclusions, seeds: int = 1) -> dict[str, dict[str, float]]:
        """Return mean confidence and identification errors, by estimator."""
        found = []
        everybody = self.cells.true.sum(axis=0)
        for seed in range(seeds):
            readers = self.readers(method, least, known, seed)
            rules = PositiveRules.of(
                self.cells, readers, least=Threshold.parse("1%"), conviction=Fraction(11, 10), length=3, intervals={"age": 10}
            )
            found.append({one.name: rules.errors(one, everybody) for one in readers})
        return {
            name: {measure: float(np.mean([one[name][measure] for one in found])) for measure in found[0][name]}
            for name in found[0]
        }

    def query_errors(
        self,
        groupings: Sequence[tuple[Method, str, int]],
        least: int,
        known: Exclusions,
        *,
        dim: int = 2,
        selectivity: str = "0.5",
    ) -> dict[str, float]:
        """Return mean query errors of groupings: method, name, draws."""
        key = (dim, selectivity)
        if key not in self._queries:
            self._queries[key] = draw_queries(self.cells, number=QUERIES, dim=dim, selectivity=Fraction(selectivity), seed=1)
        drawn = [(method, name, seed) for method, name, draws in groupings for seed in range(draws)]
        readers = {(name, seed): self.readers(method, least, known, seed)[0] for method, name, seed in drawn}
        numbered = [replace(reader, name=str(number)) for number, reader in enumerate(readers.values())]
        off = self._queries[key].errors(numbered)
        found = dict(zip(readers, (float(off[one.name].mean()) for one in numbered), strict=True))
        return {name: float(np.mean([found[name, seed] for seed in range(draws)])) for _, name, draws in groupings}

    def guessed(self, method: Method, least: int, known: Exclusions) -> tuple[float, float]:
        """Return shares guessed by frequency and by B03."""
        valid = self.valid(method, least, known)
        buckets = valid.cells.buckets
        right = guess(valid, learn(valid)).top == self.people.sa.codes
        return float(np.maximum.reduceat(buckets.count, buckets.starts[:-1]).sum()) / buckets.n, float(right.mean())


EXPECTATIONS = (0.75, 0.80, 0.85, 0.90, 0.95)
LEAST = (3, 4, 5, 6)
#: Figure 3: how many rules, and the percentage of people with 1, 2, 3, 4 and at least 5 values ruled out.
FIGURE_3 = {
    0.75: (45, 80.4, 15.9, 2.3, 1.2, 0.2),
    0.80: (39, 84.6, 12.2, 2.1, 1.0, 0.1),
    0.85: (32, 87.5, 9.2, 2.0, 1.0, 0.0),
    0.90: (22, 87.9, 9.2, 2.5, 0.4, 0.0),
    0.95: (15, 96.2, 1.8, 2.0, 0.0, 0.0),
}
#: Table I with the groups of Table II: zip code, age, sex, disease, group.
TABLE_I = (
    "47677 29 F Ovarian 1",
    "47602 22 F Ovarian 1",
    "47678 27 M Prostate 1",
    "47905 43 M Flu 2",
    "47909 52 F Heart 2",
    "47906 47 M Heart 2",
    "47605 30 M Heart 3",
    "47673 36 M Flu 3",
    "47607 32 M Flu 3",
)
#: Groupings, the columns that they stand in, and how often each is drawn for errors.
GROUPINGS: tuple[tuple[Method, str, int], ...] = (
    ("anatomy", "Anatomy", 3),
    ("injector", "Injector as printed", 1),
    ("balanced-1", "balanced-1", 1),
    ("balanced-2", "balanced-2", 1),
)
_IN_PICTURE = "the heights of the points stand in the picture only. "


ITEMS: tuple[str, ...] = ()


def reproduce(bench: Bench) -> tuple[tuple[Part, ...], tuple[str, ...]]:
    """Return the parts of the paper, and those left out."""
    steps: list[Callable[[Trial], list[Part]]] = [rules, vulnerable, run_times, rule_errors, query_errors, beyond]

    def read(path: Path) -> Trial:
        return Trial(read_adult(path, qi=QI, sa=SA, missing_rule="drop"))

    # Other people than the paper's may not be feasible.
    return run_on_adult(bench, [example()], "Figures 3 to 8", read, steps, excuses=(Infeasible,))


def example() -> Part:
    """Tables I and II: Anatomy against knowledge about ovarian cancer."""
    columns = zip(*(line.split() for line in TABLE_I), strict=True)
    table = dict(zip(("zip", "age", "sex", "disease", "group"), map(list, columns), strict=True))
    qit = {name: table[name] for name in ("zip", "age", "sex", "group")}
    buckets = read_buckets(qit=qit, st={name: table[name] for name in ("group", "disease")})
    knowledge = [({"sex": "M"}, "Ovarian"), ({"sex": "F"}, "Prostate")]
    found = audit(buckets, knowledge=knowledge, policy=Policy(l=2), attacks=["B01"])
    events = [finding.event.to_dict() for finding in found.findings]
    bob = next((event["disease"] for event in events if event["sex"] == ["M"] and event["group"] == ["1"]), [])
    without = audit(buckets, policy=Policy(l=2), attacks=["B01"])
    return facts_part(
        "example",
        "Tables I and II: a background knowledge attack on Anatomy",
        "the known facts are that no man has ovarian and no woman prostate cancer.",
        [
            fact("Table II (b)", "lines of the sensitive table", 6, len(buckets.value)),
            fact("Section II", "what Bob, the man of the first group, can have", "Prostate", ", ".join(bob)),
            fact("Section II", "people whose value is certain without the knowledge", 0, int(without.measures["pinned"] or 0)),
            fact(
                "Section II",
                "people whose value is certain with it",
                "Bob",
                int(found.measures["pinned"] or 0),
                "the values of both women of his group are certain as well",
            ),
        ],
    )


def rules(trial: Trial) -> list[Part]:
    """Figure 3."""
    numbers = {one: (FIGURE_3[one][0], len(trial.rules(one)[0]), trial.rules(one)[0].minimal_rules) for one in EXPECTATIONS}
    people = [row for one in EXPECTATIONS for row in _people_by_values(trial, one)]
    close = [one for one, _, paper, ours in people if abs(paper - ours) < 0.1]
    agree = f"{len(close)} of {len(people)} percentages agree to 0.1, at .90 and .95 {sum(one >= 0.9 for one in close)} of 12"
    same = sum(paper == ours for paper, ours, _ in numbers.values())
    apart = max(abs(paper - ours) for paper, ours, _ in numbers.values())
    reading = (
        f"{trial.people.n:,} people of the training file without '?' in a column that is used; antecedents of one column, all levels of the "
        "trees counted, rules that follow from others too. The trees are ours: the paper does not print its own."
    )
    points = [tuple((one, float(row[place])) for one, row in numbers.items()) for place in (0, 1)]
    lines = (("paper", points[0]), ("Tacit", points[1]))
    return [
        Part(
            "figure-3-rules",
            "Figure 3: how many negative rules there are",
            reading,
            ("min. expectation", "paper", "Tacit", "minimal ones"),
            tuple((one, *row) for one, row in numbers.items()),
            f"{same} of 5 numbers of rules are the paper's, none is off by more than {apart}. The paper defines antecedents as conjunctions; "
            "its numbers are of the size of those of single columns.",
            chart=Chart("min. expectation", "rules", lines, logarithmic=False),
        ),
        Part(
            "figure-3-people",
            "Figure 3: people by how many values are ruled out, percent",
            "as above; N3 is the percentage of people with three values ruled out.",
            ("min. expectation", "values", "paper", "Tacit"),
            tuple(people),
            f"{agree}.",
        ),
    ]


def _people_by_values(trial: Trial, expectation: float) -> list[tuple[float, str, float, float]]:
    excluded = (100 * trial.rules(expectation)[0].excluded_values / trial.people.n).tolist()
    ours = [*(excluded + [0.0] * 5)[:5], sum(excluded[5:])]
    paper = (0.0, *FIGURE_3[expectation][1:])
    names = ("N0", "N1", "N2", "N3", "N4", "N5+")
    return [(expectation, name, told, round(found, 2)) for name, told, found in zip(names, paper, ours, strict=True)]


def vulnerable(trial: Trial) -> list[Part]:
    """Figure 4."""
    known = trial.rules(0.9)[1]
    by_least = {float(least): _vulnerable(trial, least, known) for least in LEAST}
    by_rules = {expectation: _vulnerable(trial, 6, trial.rules(expectation)[1]) for expectation in EXPECTATIONS}
    how = "People with fewer than l possible values for whoever knows the rules, by matching; Anatomy: mean of 10 draws."
    reading = _IN_PICTURE + how
    drawn = (
        ("figure-4a", "Figure 4 (a): vulnerable people by l", "l", "Min. expectation .9.", by_least),
        ("figure-4b", "Figure 4 (b): vulnerable people by expectation", "min. expectation", "l = 6.", by_rules),
    )
    return [
        _make_curves(name, title, f"{reading} {fixed}", axis, found, "people", _judge_vulnerable(found))
        for name, title, axis, fixed, found in drawn
    ]


def _vulnerable(trial: Trial, least: int, known: Exclusions) -> dict[str, float]:
    return {name: float(np.mean(trial.vulnerable(method, least, known))) for method, name, _ in GROUPINGS}


def _judge_vulnerable(found: Mapping[float, Mapping[str, float]]) -> str:
    ours = [value for row in found.values() for name, value in row.items() if name != "Anatomy"]
    anatomy = [row["Anatomy"] for row in found.values()]
    return (
        f"'Injector has no vulnerable tuples': {confirm(not any(ours))}, as printed (with its errors corrected) and balanced. "
        f"Anatomy leaves {min(anatomy):,.0f} to {max(anatomy):,.0f}."
    )


def run_times(trial: Trial) -> list[Part]:
    """Figure 5."""
    rows: list[tuple[float, ...]] = []
    for expectation in EXPECTATIONS:
        _, known, seconds = trial.rules(expectation)
        for least in LEAST if expectation == 0.9 else (6,):
            taken = [trial.groups(method, least, known).seconds for method, _, _ in GROUPINGS]
            rows.append((expectation, least, seconds, *taken))
    slower = max(row[4] / max(row[3], 1e-9) for row in rows)
    outcome = (
        f"'Bucketizing takes roughly as long as Anatomy, within seconds': all groupings take {max(max(row[3:]) for row in rows):.2f} seconds at "
        f"the most, Injector as printed up to {slower:.1f} times as long as Anatomy. 'The main issue is mining': here it takes "
        f"{max(row[2] for row in rows):.2f} seconds at the most, for rules about single columns."
    )
    head = ("min. expectation", "l", "mining, seconds", *(f"{name}, seconds" for _, name, _ in GROUPINGS))
    reading = _IN_PICTURE + "Seconds on this machine; the first of each includes loading compiled code."
    return [Part("figure-5", "Figure 5: run time", reading, head, tuple(rows), outcome, frozenset(head[2:]))]


def rule_errors(trial: Trial) -> list[Part]:
    """Figures 6 and 7."""
    by_least = {float(least): _errors_of_rules(trial, least, 0.9) for least in LEAST}
    by_rules = {expectation: _errors_of_rules(trial, 6, expectation) for expectation in EXPECTATIONS}
    how = (
        "Rules of the data with a support of at least 1 %, a conviction of at least 1.1, up to three columns, ages in decades; Anatomy: mean of "
        "3 draws. "
    )
    reading = f"{_IN_PICTURE}{how}Everybody has the shares of her group."
    axes = (("a", "l", "Min. expectation .9.", by_least), ("b", "min. expectation", "l = 6.", by_rules))
    signs = (("plus", "identification_false_positive", "added"), ("minus", "identification_false_negative", "lost"))
    parts = []
    for letter, axis, fixed, found in axes:
        off = _percent(found, "uniform", "confidence_error")
        title = f"Figure 6 ({letter}): confidence error by {axis}"
        told = _judge_errors("confidence errors", off)
        parts.append(_make_curves(f"figure-6{letter}", title, f"{reading} {fixed}", axis, off, "percent", told))
    for letter, axis, fixed, found in axes:
        for sign, name, what in signs:
            off = _percent(found, "uniform", name)
            values = [value for row in off.values() for value in row.values()]
            told = _judge_errors("identification errors", off)
            told += f" {min(values):.0f} to {max(values):.0f} % as many rules are {what} (sigma {sign})."
            title = f"Figure 7 ({letter}): rules {what} by {axis}"
            parts.append(_make_curves(f"figure-7{letter}-{what}", title, f"{reading} {fixed}", axis, off, "percent", told))
    debiased = _percent(by_least, "debiased", "confidence_error")
    fell = ", ".join(
        f"l = {least:g} {100 * by_least[least]['Anatomy']['uniform']['confidence_error']:.0f} to {row['Anatomy']:.0f}"
        for least, row in debiased.items()
    )
    told = f"past the paper: what groups mix can be undone on average where they are drawn at random. Errors of Anatomy fall, at {fell}."
    title = "Confidence error, mixing undone, by l"
    return [*parts, _make_curves("debiased", title, f"{how}Min. expectation .9.", "l", debiased, "percent", told)]


def _errors_of_rules(trial: Trial, least: int, expectation: float) -> dict[str, dict[str, dict[str, float]]]:
    known = trial.rules(expectation)[1]
    return {name: trial.rule_errors(method, least, known, draws) for method, name, draws in GROUPINGS}


def _percent(
    found: Mapping[float, Mapping[str, Mapping[str, Mapping[str, float]]]], estimator: str, measure: str
) -> dict[float, dict[str, float]]:
    return {x: {name: 100 * errors[estimator][measure] for name, errors in row.items()} for x, row in found.items()}


def query_errors(trial: Trial) -> list[Part]:
    """Figure 8."""
    known = trial.rules(0.9)[1]

    def errors(least: int, dim: int = 2, selectivity: str = "0.5") -> dict[str, float]:
        found = trial.query_errors(GROUPINGS, least, known, dim=dim, selectivity=selectivity)
        return {name: 100 * value for name, value in found.items()}

    reading = _IN_PICTURE + (
        "Mean relative error of 1,000 counts, the same for all groupings; sizes of predicates drawn from 1 on (the paper's 0 asks for "
        "nobody), and questions that nobody fits drawn again."
    )
    by_selectivity = {float(part): errors(6, 2, part) for part in ("0.2", "0.4", "0.6", "0.8")}
    drawn = (
        ("figure-8a", "by l", "Two columns, selectivity .5.", "l", {float(least): errors(least) for least in LEAST}),
        ("figure-8b", "by columns", "l = 6, selectivity .5.", "columns", {float(dim): errors(6, dim) for dim in (1, 2, 3, 4)}),
        ("figure-8c", "by selectivity", "l = 6, two columns.", "selectivity", by_selectivity),
    )
    parts = []
    for name, what, fixed, axis, found in drawn:
        told = _judge_errors("query errors", found)
        parts.append(_make_curves(name, f"Figure 8: query error {what}", f"{reading} {fixed}", axis, found, "percent", told))
    return parts


def beyond(trial: Trial) -> list[Part]:
    """Past the paper: rules about several columns, and what can be guessed."""
    single = trial.rules(0.9)
    several = trial.conjunctive()
    rows: list[tuple[int, str, Method, int, int, float, float]] = []
    for least in (3, 6):
        for name, (_, known, _) in (("single columns, min. expectation .9", single), ("any columns, Bonferroni .05", several)):
            for method in ("anatomy", "balanced"):
                exposed = trial.vulnerable(method, least, known)[0]
                largest = int(trial.groups(method, least, known).buckets.sizes.max())
                shares = [round(100 * share, 1) for share in trial.guessed(method, least, known)]
                rows.append((least, name, method, exposed, largest, shares[0], shares[1]))
    most = {method: max(row[3] for row in rows if row[2] == method) for method in ("anatomy", "balanced")}
    alone, right = ([row[place] for row in rows] for place in (5, 6))
    outcome = (
        f"{several[0].minimal_rules:,} minimal rules about several columns are no chance. For whoever knows such rules up to "
        f"{most['anatomy']:,} people are vulnerable with Anatomy, and {most['balanced']:,} in balanced groups. No grouping bounds what all "
        f"groups show together (B03): its guesses are right for {min(right)} to {max(right)} % of the people, and by the group alone for "
        f"{min(alone)} to {max(alone)} %."
    )
    head = ("l", "rules known", "grouping", "vulnerable", "largest group", "guess by group right, %", "guess by B03 right, %")
    reading = "one draw each; how often the most frequent value of the group, and the most probable one by B03, is the true one."
    return [Part("beyond", "Past the paper: stronger rules, and guesses that need none", reading, head, tuple(rows), outcome)]


def _judge_errors(what: str, found: Mapping[float, Mapping[str, float]]) -> str:
    names = ("Injector as printed", "balanced-1", "balanced-2")
    better = {name: sum(row[name] < row["Anatomy"] for row in found.values()) for name in names}
    told = [f"{name} in {number} of {len(found)} settings" for name, number in better.items()]
    holds = better["Injector as printed"] == len(found)
    return f"'In all figures, Injector has smaller {what}': {confirm(holds)}; smaller than Anatomy are {', '.join(told)}."


def _make_curves(
    name: str, title: str, reading: str, axis: str, found: Mapping[float, Mapping[str, float]], unit: str, outcome: str
) -> Part:
    names: Sequence[str] = list(next(iter(found.values())))
    rows = tuple((x, *(round(row[one], 3) for one in names)) for x, row in found.items())
    lines = tuple((one, tuple((float(x), row[one]) for x, row in found.items())) for one in names)
    return Part(name, title, reading, (axis, *names), rows, outcome, chart=Chart(axis, unit, lines, logarithmic=False))
