"""Experiments of Li, Shirani-Mehr and Yang (DASFAA 2007) on Adult: Figure 3.

A draw is a random order of the people, attributes and values; tables, sensitive records and condition attributes are taken from its front. So
smaller settings are part of larger ones, and differences between settings are paired.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.model.errors import RepairError
from tacit.model.policy import Check
from tacit.model.reproduction import Cell, Chart, Claim, Judged, Part, Reading, Timed, judge_readings
from tacit.model.table import Table
from tacit.papers.bench import DECIDED, Bench, Paired, confirm, fact, facts_part, read_adult
from tacit.partial.methods import hide_fewest
from tacit.partial.papers import hide_along_graph, hide_rule_by_rule, hide_values
from tacit.partial.problem import RELEVANT, Cells, Hiding, IntegerThresholds, Problem

#: Six attributes are named where the paper announces seven; race is the seventh here.
CONDITIONS = ("sex", "marital-status", "workclass", "education", "salary", "race", "education-num")
SA = "occupation"
PEOPLE = 30_000
ALL_RECORDS = 32_561
CONFIDENCE = Fraction(3, 5)
SUPPORT = 60
DRAWS = 26  #: Draws of sensitive records, and of several values.
VALUE_DRAWS = 42  #: Draws of one sensitive value; few have an unsafe rule.
PAPER_DRAWS = 10  #: Runs behind each mean of the paper.
NUMBERS = (4, 20, 35)
LEVELS = tuple(Fraction(step, 10) for step in (3, 4, 6, 8, 10))
LOW_LEVELS = tuple(Fraction(step, 10) for step in (1, 2, 4))  #: With few people, rules of higher confidence are rare.
SIZES = (10_000, 20_000, 30_000)
WIDTHS = (3, 4, 5, 6)
SEVERAL = (1, 3, 5, 9)
SUPPORTS = (15, 30, 60, 120, 240)
SMALL = 2_000  #: People of the small draws that the integer program solves.
NS = frozenset({"ns"})
NC = frozenset({"nc"})
METHODS: dict[str, Callable[[Problem, int, Check], Hiding | None]] = {
    "SMC": lambda problem, _, check: hide_values(problem, NS, check),
    "CR": lambda problem, _, check: hide_rule_by_rule(problem, NS, check),
    "MAX-DESCENDANT": lambda problem, seed, check: hide_along_graph(problem, NC, "max-descendant", seed=seed, check=check),
    "RANDOM-MAX": lambda problem, seed, check: hide_along_graph(problem, NC, "random-max", seed=seed, check=check),
    "RANDOM": lambda problem, seed, check: hide_along_graph(problem, NC, "random", seed=seed, check=check),
    "CR, conditions": lambda problem, _, check: hide_rule_by_rule(problem, NC, check),
}
DRAWN = "that of a random record (frequent ones more often) or each value as often"
BY_VALUE = ("SMC", "CR")
ALONG_GRAPH = ("MAX-DESCENDANT", "CR, conditions")
HEURISTICS = ("MAX-DESCENDANT", "RANDOM-MAX", "RANDOM")

Counts = npt.NDArray[np.int64]
Rates = npt.NDArray[np.float64]
By = Literal["record", "value"]


class Way(NamedTuple):
    """Reading of what the paper leaves open."""

    keeps: bool
    by: By | None = None
    draws_attributes: bool | None = None

    @property
    def reading(self) -> Reading:
        """Return the reading as the report names it."""
        name = "'?' kept" if self.keeps else "'?' dropped"
        text = name
        if self.by is not None:
            name += ", value of a random record" if self.by == "record" else ", values alike"
        if self.draws_attributes is not None:
            name += ", attributes drawn" if self.draws_attributes else ", attributes in order"
        likely = f"the paper draws {PEOPLE:,} of all {ALL_RECORDS:,} records" if self.keeps else ""
        if self.draws_attributes is not None:
            likely = f"{likely}, and attributes at random" if likely and self.draws_attributes else ""
        return Reading(name, text, likely)


ROWS = (Way(True), Way(False))
VALUES = tuple(Way(keeps, by) for keeps in (True, False) for by in ("record", "value"))
ATTRIBUTES = (*(way._replace(draws_attributes=True) for way in VALUES), *(Way(keeps, "record", False) for keeps in (True, False)))
LIKELY = ATTRIBUTES[0]


class People:
    """Coded people of Adult under one reading of '?'."""

    def __init__(self, people: Table) -> None:
        self.codes = np.stack([people.column(name).codes for name in CONDITIONS], axis=1)
        self.names = people.column(SA).values
        self.values = people.column(SA).codes
        #: Values that ten records have, as many as are drawn with one value.
        self.common = np.flatnonzero(np.bincount(self.values, minlength=len(self.names)) >= 10)


class Draw:
    """People, attributes and values in a random order."""

    def __init__(self, people: People, seed: int) -> None:
        chance = np.random.default_rng(seed)
        order = chance.permutation(len(people.values))[:PEOPLE]
        self.seed = seed
        self.codes = people.codes[order]
        self.own = people.values[order]
        self.attributes = chance.permutation(len(CONDITIONS))
        first = int(people.common[seed % len(people.common)])  # each value is the first one equally often
        self._alike = [first, *(value for value in chance.permutation(people.common).tolist() if value != first)]
        values, places = np.unique(self.own, return_index=True)
        common = set(people.common.tolist())
        self._first_met = [value for value in values[np.argsort(places)].tolist() if value in common]

    def values(self, by: By | None) -> list[int]:
        """Return the sensitive values: by a random record each, or each value alike."""
        return self._first_met if by == "record" else self._alike

    def problem(
        self,
        sensitive: int,
        *,
        values: Sequence[int] = (),
        size: int | None = None,
        attributes: npt.ArrayLike | None = None,
        confidence: Fraction = CONFIDENCE,
        support: int = SUPPORT,
    ) -> Problem:
        """Return the problem of the first people, some of them sensitive."""
        own = self.own[:size]
        codes = self.codes[:size] if attributes is None else self.codes[:size][:, np.asarray(attributes)]
        chosen = np.arange(len(own))
        if values:
            shares = zip(values, share_out(sensitive, len(values)), strict=True)
            chosen = np.concatenate([np.flatnonzero(own == value)[:share] for value, share in shares])
        protected = np.zeros((len(own), 1), np.bool_)
        protected[chosen[:sensitive]] = True
        return Problem.of(Cells(codes, own[:, None], protected), IntegerThresholds.of(confidence, support, people=len(own)))


def share_out(records: int, parts: int) -> list[int]:
    """Divide records among parts as evenly as possible."""
    return [records // parts + (part < records % parts) for part in range(parts)]


class Removal(NamedTuple):
    """Cells that a method hides, its steps, and its seconds."""

    cells: int = 0
    steps: int = 0
    seconds: float = 0.0


def is_safe(problem: Problem) -> bool:
    """Tell if no rule is unsafe from the start."""
    return not problem.thresholds.unsafe(problem.rules.having, problem.rules.both).any()


def run_method(problem: Problem, method: str, seed: int) -> Removal:
    """Run a method and count its steps."""
    if is_safe(problem):
        return Removal()
    steps = 0

    def count() -> None:
        nonlocal steps
        steps += 1

    begun = time.perf_counter()
    # Hiding values, or cells of records with the only sensitive value, makes no safe rule unsafe.
    if method in BY_VALUE:
        problem = problem.keep_unsafe().merge_classes()
    elif len(problem.column) == 1:
        problem = problem.keep_unsafe()
    state = METHODS[method](problem, seed, count)
    if state is None:
        raise RepairError("no safe table was found", where=method, remedy="Report this: hiding the whole region is always safe")
    return Removal(state.cells_hidden, steps, time.perf_counter() - begun)


@dataclass(frozen=True, eq=False)
class Series:
    """Hidden cells by draw, setting and method, under one reading."""

    reading: Reading
    points: Sequence[float]
    methods: Sequence[str]
    cells: Counts
    #: Cells of the table by setting.
    entries: Sequence[int]

    @property
    def rates(self) -> Rates:
        """Percentage of hidden cells."""
        return np.asarray(100 * self.cells / np.asarray(self.entries)[:, None])

    def of(self, method: str, *, counted: bool = False) -> Rates:
        """Return rates (or numbers of cells) of a method by draw and setting."""
        found = self.cells.astype(np.float64) if counted else self.rates
        return found[:, :, list(self.methods).index(method)]

    def rows(self) -> list[tuple[Cell, ...]]:
        """Return means and standard errors by setting."""
        means = self.rates.mean(axis=0)
        errors = self.rates.std(axis=0, ddof=1) / np.sqrt(len(self.rates))
        return [
            (self.reading.name, point, *(float(cell) for pair in zip(means[place], errors[place], strict=True) for cell in pair))
            for place, point in enumerate(self.points)
        ]


def judge_rise(found: Rates) -> Judged:
    """Judge that the last setting has more than the first, and that no step falls."""
    judged = Paired.of(found[:, 0], found[:, -1]).judge()
    steps = [Paired.of(found[:, one], found[:, other]) for one, other in pairwise(range(found.shape[1]))]
    if judged.standing == "confirmed" and any(step.errors <= -DECIDED for step in steps):
        return Judged("not confirmed", f"{judged.why}, but it falls in between")
    return judged


def judge_value(found: Rates, printed: float) -> Judged:
    """Judge that the paper's mean of ten draws is one of ours.

    Open if the draws differ so much that they cannot tell.
    """
    mean = float(found.mean())
    error = float(found.std(ddof=1) * np.sqrt(1 / len(found) + 1 / PAPER_DRAWS))
    why = f"{mean:.4f} % here, with a standard error of {error:.4f} for the difference of the means"
    if abs(mean - printed) > DECIDED * error:
        return Judged("not confirmed", why)
    return Judged("open" if error > printed / 4 else "confirmed", why)


def _make_figure(
    name: str, title: str, reading: str, axis: str, series: Sequence[Series], claims: Sequence[Claim], note: str = ""
) -> Part:
    lines = tuple(
        (f"{method}, {one.reading.name}", tuple(zip(map(float, one.points), one.of(method).mean(axis=0).tolist(), strict=True)))
        for one in series
        for method in one.methods[:2]
    )
    methods = max((one.methods for one in series), key=len)
    head = ("reading", axis, *(label for method in methods for label in (f"{method}, %", "s.e.")))
    rows = tuple((*row, *[None] * (len(head) - len(row))) for one in series for row in one.rows())
    chart = Chart(axis, "cells hidden, percent", lines, logarithmic=False)
    return Part(name, title, reading, head, rows=rows, claims=tuple(claims), note=note, chart=chart)


class Trial:
    """Adult with and without the rows that have a '?'."""

    def __init__(self, kept: People, dropped: People, bench: Bench) -> None:
        self.kept = kept
        self.dropped = dropped
        self.bench = bench

    @classmethod
    def read(cls, path: Path, bench: Bench) -> Trial:
        """Read Adult under both readings."""
        kept = People(read_adult(path, qi=CONDITIONS, sa=SA, missing_rule="category"))
        return cls(kept, People(read_adult(path, qi=CONDITIONS, sa=SA, missing_rule="drop")), bench)

    def draw(self, way: Way, seed: int) -> Draw:
        """Return a draw under a reading."""
        return Draw(self.kept if way.keeps else self.dropped, seed)

    @property
    def data(self) -> str:
        """Describe the data."""
        kept, dropped = (len(people.values) for people in (self.kept, self.dropped))
        people = min(PEOPLE, dropped)
        return (
            f"{people:,} people drawn from {kept:,} ('?' a value of its own) or from the {dropped:,} without '?' in a used column"
        )

    def describe(self, text: str) -> str:
        """Describe how a figure was made."""
        return f"of the paper only the curves are there. {self.data}; occupation is sensitive. {text}"


def data_part(trial: Trial) -> list[Part]:
    """Section 6, the data."""
    rows = [
        fact("Section 6", "records of the training set of data set 1", ALL_RECORDS, len(trial.kept.values), "another file"),
        fact(
            "Section 6",
            "condition attributes that are named",
            7,
            6,
            "gender, marital status, employment, education twice, salary",
        ),
        fact("Section 6", "minimum support 60 in percent of 30,000 records", 0.2, 100 * SUPPORT / 30_000),
    ]
    return [facts_part("data", "Section 6: data set 1", "race is taken as the seventh attribute.", rows)]


def by_records(trial: Trial) -> list[Part]:
    """Figure 3 (a) to (d)."""
    by_number: list[Series] = []
    by_level: list[Series] = []
    for way in ROWS:
        numbers: list[list[list[int]]] = []
        levels: list[list[list[int]]] = []
        for seed in range(DRAWS):
            draw = trial.draw(way, seed)
            problems = {number: draw.problem(number) for number in NUMBERS}
            found = {
                number: [run_method(problem, method, seed).cells for method in BY_VALUE] for number, problem in problems.items()
            }
            numbers.append([found[number] for number in NUMBERS])
            # The rules depend on the support alone, so one problem serves every confidence.
            some = problems[20]
            sharper = [replace(some, thresholds=IntegerThresholds.of(level, SUPPORT, people=some.people)) for level in LEVELS]
            levels.append([[run_method(problem, method, seed).cells for method in BY_VALUE] for problem in sharper])
        entries = some.people * (len(CONDITIONS) + 1)
        by_number.append(Series(way.reading, NUMBERS, BY_VALUE, np.array(numbers), [entries] * len(NUMBERS)))
        by_level.append(
            Series(way.reading, [float(level) for level in LEVELS], BY_VALUE, np.array(levels), [entries] * len(LEVELS))
        )
    settings = f"{DRAWS} draws, minimum support {SUPPORT}"
    first = _make_figure(
        "figure-3ac",
        "Figure 3 (a) and (c): by sensitive records",
        trial.describe(f"Seven conditions, confidence .6; {settings}."),
        "sensitive records",
        series=by_number,
        claims=[
            judge_readings(
                "Figure 3 (a)", "more sensitive records, more removals", _each(by_number, lambda one: judge_rise(one.of("SMC")))
            ),
            judge_readings(
                "Figure 3 (a)",
                "about .006 % for 4 records",
                _each(by_number, lambda one: judge_value(one.of("SMC")[:, 0], 0.006)),
            ),
            judge_readings(
                "Figure 3 (a)",
                "about .45 % for 35 records",
                _each(by_number, lambda one: judge_value(one.of("SMC")[:, -1], 0.45)),
            ),
            judge_readings(
                "Figure 3 (c)", "SMC hides fewer entries than CR", _each(by_number, lambda one: _judge_fewer(one, "SMC", "CR"))
            ),
            judge_readings(
                "Figure 3 (c)",
                "'much fewer': CR hides at least half as much again",
                _each(by_number, lambda one: _judge_fewer(one, "SMC", "CR", 1.5)),
            ),
        ],
        note=f"In all, CR hides {_ratios(by_number, 'SMC', 'CR')} times as many as SMC.",
    )
    second = _make_figure(
        "figure-3bd",
        "Figure 3 (b) and (d): by minimum confidence",
        trial.describe(f"Seven conditions, 20 sensitive records, confidence .3 to 1; {settings}."),
        "minimum confidence",
        series=by_level,
        claims=[
            judge_readings(
                "Figure 3 (b)",
                "a higher minimum confidence, fewer removals",
                _each(by_level, lambda one: judge_rise(one.of("SMC")[:, ::-1])),
            ),
            judge_readings(
                "Figure 3 (d)",
                "'removals decreased for both algorithms, as the minimum confidence decreased', as printed (Figure 3 (b) has it the other "
                "way round)",
                _each(by_level, lambda one: judge_rise(one.of("SMC") + one.of("CR"))),
            ),
            judge_readings(
                "Figure 3 (d)", "SMC hides fewer entries than CR", _each(by_level, lambda one: _judge_fewer(one, "SMC", "CR"))
            ),
        ],
    )
    return [first, second]


def _each(series: Sequence[Series], judge: Callable[[Series], Judged]) -> list[tuple[Reading, Judged]]:
    return [(one.reading, judge(one)) for one in series]


def _judge_fewer(one: Series, method: str, rival: str, factor: float = 1.0) -> Judged:
    return Paired.of(factor * one.of(method).sum(axis=1), one.of(rival).sum(axis=1)).judge()


def _ratios(series: Sequence[Series], method: str, rival: str) -> str:
    found = [(one.reading.name, float(one.of(method).sum()), float(one.of(rival).sum())) for one in series]
    return ", ".join(f"{others / own:.2f} ({name})" for name, own, others in found if own)


class Work(NamedTuple):
    """Size of a problem: classes, rules, unsafe rules; and what methods do."""

    classes: int = 0
    rules: int = 0
    unsafe: int = 0
    removals: tuple[Removal, ...] = ()


def _work(problem: Problem, methods: Sequence[str], seed: int) -> Work:
    unsafe = int(problem.thresholds.unsafe(problem.rules.having, problem.rules.both).sum())
    return Work(len(problem.classes), len(problem.rules), unsafe, tuple(run_method(problem, method, seed) for method in methods))


def by_size(trial: Trial) -> list[Part]:
    """Figure 3 (e) and (f)."""
    sizes: list[Series] = []
    widths: list[Series] = []
    likely: list[list[Work]] = []
    for way in ATTRIBUTES:
        methods = (*ALONG_GRAPH, *HEURISTICS[1:]) if way == LIKELY else ALONG_GRAPH
        by_table: list[list[Work]] = []
        by_width: list[list[Work]] = []
        for seed in range(VALUE_DRAWS):
            draw = trial.draw(way, seed)
            attributes = draw.attributes if way.draws_attributes else np.arange(len(CONDITIONS))
            values = draw.values(way.by)[:1]
            widest = draw.problem(10, values=values, attributes=attributes[: WIDTHS[-1]])
            people = widest.people
            if way == LIKELY or not is_safe(widest):
                problems = [draw.problem(10, values=values, attributes=attributes[:width]) for width in WIDTHS[:-1]]
                by_width.append([_work(problem, methods, seed) for problem in (*problems, widest)])
            else:  # rules of fewer attributes are among those of more
                by_width.append([Work(removals=(Removal(),) * len(methods))] * len(WIDTHS))
            smaller = [draw.problem(10, values=values, size=size, attributes=attributes[:5]) for size in SIZES[:-1]]
            by_table.append([*(_work(problem, methods, seed) for problem in smaller), by_width[-1][WIDTHS.index(5)]])
        sizes.append(Series(way.reading, SIZES, methods, _cells(by_table), [6 * min(size, people) for size in SIZES]))
        widths.append(Series(way.reading, WIDTHS, methods, _cells(by_width), [(width + 1) * people for width in WIDTHS]))
        if way == LIKELY:
            likely = by_table
    rival = "CR, conditions"
    best = "MAX-DESCENDANT"
    settings = f"Confidence .6, minimum support {SUPPORT}, 10 sensitive records with one value, {DRAWN}; {VALUE_DRAWS} draws."
    first = _make_figure(
        "figure-3e",
        "Figure 3 (e): by table size, condition cells",
        trial.describe(f"5 conditions. {settings}"),
        "records",
        series=sizes,
        claims=[
            judge_readings(
                "Figure 3 (e)", "a larger table, a higher removal rate", _each(sizes, lambda one: judge_rise(one.of(best)))
            ),
            judge_readings(
                "Figure 3 (e)",
                "a larger table, more values hidden",
                _each(sizes, lambda one: judge_rise(one.of(best, counted=True))),
            ),
            judge_readings(
                "Figure 3 (e)",
                "MAX-DESCENDANT removes fewer entries than CR",
                _each(sizes, lambda one: _judge_fewer(one, best, rival)),
            ),
            _compare_heuristics(sizes[0], widths[0]),
        ],
        note=f"CR hides {_ratios(sizes, best, rival)} times as many as MAX-DESCENDANT.",
    )
    second = _make_figure(
        "figure-3f",
        "Figure 3 (f): by conditions, condition cells",
        trial.describe(f"3 to 6 conditions. {settings} The rate is that of the condition columns in use and the sensitive one."),
        "conditions",
        series=widths,
        claims=[
            judge_readings(
                "Figure 3 (f)",
                "more condition attributes, more values to hide",
                _each(widths, lambda one: judge_rise(one.of(best, counted=True))),
            ),
            judge_readings(
                "Figure 3 (f)",
                "more condition attributes, a higher removal rate",
                _each(widths, lambda one: judge_rise(one.of(best))),
            ),
            judge_readings(
                "Figure 3 (f)",
                "MAX-DESCENDANT removes fewer entries than CR",
                _each(widths, lambda one: _judge_fewer(one, best, rival)),
            ),
        ],
        note=f"CR hides {_ratios(widths, best, rival)} times as many as MAX-DESCENDANT.",
    )
    return [first, second, _work_part(trial, sizes[0], likely)]


def _cells(found: Sequence[Sequence[Work]]) -> Counts:
    return np.array([[[removal.cells for removal in work.removals] for work in row] for row in found])


def _compare_heuristics(*series: Series) -> Claim:
    sums = [sum(float(one.of(method, counted=True).sum()) for one in series) for method in HEURISTICS]
    apart = max(sums) / max(1.0, min(sums)) - 1
    listed = ", ".join(f"{method} {cells:,.0f}" for method, cells in zip(HEURISTICS, sums, strict=True))
    why = f"cells hidden in all draws of Figures 3 (e) and (f): {listed}; similar within 10 %"
    return Claim("Section 6.2", "the three heuristics have very similar results", confirm(apart <= 0.1), why)


def _work_part(trial: Trial, series: Series, found: Sequence[Sequence[Work]]) -> Part:
    rows: list[tuple[Cell, ...]] = []
    for place, size in enumerate(SIZES):
        works = [row[place] for row in found]
        counted = [float(np.mean(numbers)) for numbers in zip(*(work[:3] for work in works), strict=True)]
        for which, method in enumerate(series.methods):
            removals = [work.removals[which] for work in works]
            steps = float(np.mean([removal.steps for removal in removals]))
            rows.append((size, method, *counted, steps))
            seconds = float(np.mean([removal.seconds for removal in removals]))
            trial.bench.times.append(Timed("Section 6", f"{size:,} records, mean of {len(found)} draws", method, seconds))
    head = ("records", "method", "classes of equal records", "rules above the support", "unsafe rules", "steps")
    reading = (
        f"the draws of Figure 3 (e), {series.reading.name}; means. A step chooses a node of the R-graph and hides a cell in some records, or "
        "makes a rule safe (CR)."
    )
    return Part("work", "Section 6: work by table size", reading, head, tuple(rows))


def by_values(trial: Trial) -> list[Part]:
    """Several sensitive values."""
    series: list[Series] = []
    best = "MAX-DESCENDANT"
    confidence = Fraction(7, 10)
    attributes = np.arange(5)
    apart: list[int] = []
    unknown: list[bool] = []
    for way in VALUES:
        cells: list[list[list[int]]] = []
        for seed in range(DRAWS):
            draw = trial.draw(way, seed)
            values = draw.values(way.by)
            chosen = [values[:number] for number in SEVERAL]
            problems = [draw.problem(20, values=some, attributes=attributes, confidence=confidence) for some in chosen]
            cells.append([[run_method(problem, best, seed).cells] for problem in problems])
            if way == Way(True, "value"):
                unknown.append("?" in {trial.kept.names[value] for value in chosen[-1]})
                alone = [
                    draw.problem(number, values=[value], attributes=attributes, confidence=confidence)
                    for number, value in zip(share_out(20, len(chosen[-1])), chosen[-1], strict=True)
                ]
                apart.append(sum(run_method(problem, best, seed).cells for problem in alone))
        people = problems[0].people
        series.append(Series(way.reading, SEVERAL, (best,), np.array(cells), [6 * people] * len(SEVERAL)))
    alike = series[VALUES.index(Way(True, "value"))]
    together = alike.of(best, counted=True)[:, -1]
    rates = alike.of(best)[:, -1]
    inside = np.array(unknown)
    stronger = Paired.of(apart, together.tolist()).judge()
    if apart == together.tolist():
        stronger = Judged("not confirmed", f"as many cells as for each value alone, in all {len(apart)} draws")
    rises = _each(series, lambda one: judge_rise(one.of(best)))
    claims = [
        judge_readings("Section 6.2", "more sensitive values need more removals", rises),
        Claim("Section 6.2", "the reason is that hiding cells for one value strengthens rules of another", *stronger),
    ]
    shares = [float(rates[some].mean()) if some.any() else 0.0 for some in (inside, ~inside)]
    note = (
        f"{alike.reading.name}: with 9 values, '?' is one of them in {int(inside.sum())} of {len(inside)} draws. These hide "
        f"{shares[0]:.3f} % in the mean, the others {shares[1]:.3f} %. Treated apart, the 9 values take {np.mean(apart):,.1f} cells, "
        f"together {together.mean():,.1f}."
    )
    reading = trial.describe(
        f"5 conditions, confidence .7, minimum support {SUPPORT}, 20 sensitive records over the values, {DRAWN}; {DRAWS} draws."
    )
    return [
        _make_figure(
            "several-values", "Section 6.2: several sensitive values", reading, "values", series=series, claims=claims, note=note
        )
    ]


def bound(trial: Trial) -> list[Part]:
    """Bound of SMC."""
    n = 5
    rows: list[tuple[Cell, ...]] = []
    within = True
    grouped = True
    printed = _harmonic(2 ** (n - 1))
    for level in LOW_LEVELS:
        ratios: list[float] = []
        largest = 0
        for seed in range(DRAWS):
            draw = trial.draw(ROWS[0], seed)
            problem = draw.problem(8, size=SMALL, attributes=np.arange(n), confidence=level, support=0).keep_unsafe()
            largest = max(largest, _largest_set(problem))
            hidden = run_method(problem, "SMC", seed).cells
            exact = hide_fewest(problem.merge_classes(), NS)
            if exact.state is None or exact.state.cells_hidden > exact.bound:
                continue
            if exact.bound:
                ratios.append(hidden / exact.bound)
            parts = [problem.rules.select(problem.rules.target == target) for target in range(len(problem.column))]
            grouped &= exact.bound == sum(hide_fewest(replace(problem, rules=part).merge_classes(), NS).bound for part in parts)
        most = max(ratios, default=1.0)
        within &= most <= max(1.0, _harmonic(largest)) and most <= printed
        rows.append((float(level), len(ratios), float(np.mean(ratios or [1.0])), most, largest, _harmonic(largest), printed))
    head = ("minimum confidence", "draws", "SMC / fewest, mean", "largest", "largest set k", "H_k", "H of 2^(n-1)")
    claims = (
        Claim("Section 4.1", "SMC hides at most H_k times the fewest cells", confirm(within), "k is the size of the largest set"),
        Claim(
            "Section 4.1",
            "sensitive values can be treated one by one",
            confirm(grouped),
            "the fewest cells add up",
        ),
    )
    reading = (
        f"{min(SMALL, len(trial.kept.values)):,} people of Adult, '?' kept, n = {n} conditions, minimum support 0 as in the text, 8 sensitive "
        "records; fewest cells by an integer program; draws with an unsafe rule."
    )
    return [Part("bound", "Section 4.1: the bound of SMC", reading, head, rows=tuple(rows), claims=claims)]


def _harmonic(k: int) -> float:
    return sum(1 / i for i in range(1, k + 1))


def _largest_set(problem: Problem) -> int:
    """Return how many unsafe rules a record supports at most."""
    return int(np.bincount(problem.rules.member[problem.rules.role == RELEVANT], minlength=1).max())


def by_support(trial: Trial) -> list[Part]:
    """Minimum support."""
    found: list[list[tuple[int, int]]] = []
    for seed in range(DRAWS):
        some = trial.draw(ROWS[0], seed).problem(20, attributes=np.arange(5), support=SUPPORTS[0])
        row = []
        for support in SUPPORTS:
            # Rules up to the support are never unsafe, so one problem serves every higher support.
            problem = replace(some, thresholds=IntegerThresholds.of(CONFIDENCE, support, people=some.people)).keep_unsafe()
            row.append((len(problem.rules), run_method(problem, "SMC", seed).cells))
        found.append(row)
    means = np.array(found, np.float64).mean(axis=0)
    rows = tuple((support, *map(float, means[place])) for place, support in enumerate(SUPPORTS))
    reading = trial.describe(f"'?' kept, 5 conditions, 20 sensitive records, confidence .6; mean of {DRAWS} draws.")
    head = ("minimum support", "unsafe rules", "cells hidden by SMC")
    line = tuple((float(support), float(means[place, 1])) for place, support in enumerate(SUPPORTS))
    chart = Chart("minimum support", "cells hidden by SMC", (("SMC", line),), logarithmic=False)
    return [Part("support", "Section 6: by minimum support and unsafe rules", reading, head, rows, chart=chart)]


STEPS: tuple[Callable[[Trial], list[Part]], ...] = (data_part, bound, by_support, by_records, by_size, by_values)
