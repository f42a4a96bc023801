"""*Deriving Private Information from Association Rule Mining Results*, ICDE 2009.

All numbered items of the paper, and its experiments (Section VI) under each reading that it leaves open. What stands before them is in
:mod:`tacit.papers.zhu09_theory`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product

import numpy as np

from tacit.known.case import Multipliers
from tacit.model.reproduction import Cell, Chart, Claim, Judged, Part, Reading, Timed, judge_readings
from tacit.papers.bench import QI, SA, Bench, Row, confirm, fact, facts_part, run_on_adult
from tacit.papers.lattice import Kept, Missing
from tacit.papers.zhu09_theory import constraints, definitions, equations, examples, formula, judge_equal
from tacit.papers.zhu09_trial import COMPLETE, FORMS, Form, Trial

_ITEMS = (
    "Figure 1, Example 1, Example 2, Figure 2, Problem 3.1, Equation (1), Equation (2), Definition 4.1, Section V.A, Equation (3), "
    "Equation (4), Theorem 1, Equation (5), Equation (6), Theorem 2, Equation (7), Section V.B, Theorem 3, Section V.C, Figure 3, "
    "Equation (8), Equation (9), Section V.D, Section VI, Figure 4, Figure 5 (a), Figure 5 (b), Section VI.A, Figure 5 (c), Figure 6, "
    "Figure 7 (a), Figure 7 (b), Figure 7 (c), Section VI.C, Section VI.D, Figure 8"
)
ITEMS: tuple[str, ...] = tuple(_ITEMS.split(", "))

CONFIDENCES = (0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0)
SUPPORTS = (0.1, 0.08, 0.06, 0.04, 0.02)
TIMED = ("0.6", "0.7", "0.8", "0.9")
FIRST_RULES = (50, 200, 400, 700, 1000)
TOP = (1, 10, 50, 100, 200, 500)
RULES = 1_337  #: Section VI.A: rules at support .02, confidence .6.
#: Figure 4: numbers of values.
FIGURE_4 = dict(zip((*QI, SA), (8, 7, 14, 6, 5, 2, 41, 16, 2), strict=True))
#: Figure 7 (a): difference, divergence with and without missing rules, probabilities of both values with and without them.
FIGURE_7A = (
    (0.133, 0.139, 0.272, 0.870, 0.130, 0.762, 0.238),
    (0.132, 0.147, 0.279, 0.863, 0.137, 0.757, 0.243),
    (0.131, 0.155, 0.286, 0.856, 0.144, 0.751, 0.249),
    (0.131, 0.159, 0.290, 0.853, 0.147, 0.748, 0.252),
    (0.130, 0.164, 0.294, 0.849, 0.151, 0.745, 0.255),
    (0.130, 0.164, 0.294, 0.848, 0.152, 0.745, 0.255),
    (0.130, 0.165, 0.294, 0.850, 0.152, 0.745, 0.255),
    (0.129, 0.172, 0.301, 0.842, 0.158, 0.740, 0.260),
    (0.129, 0.165, 0.294, 0.848, 0.152, 0.745, 0.255),
    (0.129, 0.172, 0.301, 0.842, 0.158, 0.740, 0.260),
)
NEAR = 0.003  #: A probability this close to a printed one counts as met.
ROUNDED = 0.0012  #: What rounding to three decimals explains in a row of Figure 7 (a).
ALMOST = 0.05  #: Curves that differ by less than this share almost overlap.
MUCH = 0.05  #: A probability that changes by more than this changes much.

_IN_PICTURE = "the heights of the points stand in the picture only. "
_WHAT = "Figures 3 to 8, Equations (1) to (6), (8) and (9), Theorem 3, and the numbers of Sections V and VI"


def reproduce(bench: Bench) -> tuple[tuple[Part, ...], tuple[str, ...]]:
    """Return the parts of the paper, and those left out."""
    steps: list[Callable[[Trial], list[Part]]]
    steps = [equations, constraints, numbers, by_confidence, by_support, individuals, run_times]
    return run_on_adult(bench, [examples(), formula(), definitions()], _WHAT, lambda path: Trial.read(path, bench), steps)


def numbers(trial: Trial) -> list[Part]:
    """Numbers of Sections V.A and VI, and Figure 4."""
    people = trial.people
    wanted = {"marital-status": "Never-married", "sex": "Male"}
    lines = [line for line in trial.rules(0.1, 0.9).records() if line["antecedent"] == wanted]
    shares = f"{lines[0]['count'] / people.n:.3f} {lines[0]['confidence']:.3f}" if lines else "none"
    why = "'a portion of the UCI Adult dataset' is all that is said about the people"
    rows = [
        fact("Section V.A", "rules about never-married men at s = .1, c = .9", 1, len(lines)),
        fact("Section V.A", "support and confidence of that rule", "0.168 0.901", shares, why),
        fact("Section VI", "records", 30_162, people.n),
        fact("Section VI", "distinct QI values", 7_722, len(trial.population)),
        fact("Section VI", "distinct SA values", 2, len(people.sa.values)),
    ]
    reading = f"rows with '?' in any of the 15 columns removed: n = {people.n:,}."
    return [facts_part("numbers", "Section VI: Adult", reading, rows), _domains(trial), _count_rules(trial)]


def _domains(trial: Trial) -> Part:
    rows = [(name, paper, len(trial.people.column(name).values), trial.domains[name]) for name, paper in FIGURE_4.items()]
    others = [name for name, paper, kept, _ in rows[1:] if kept != paper]
    kept = Reading("people of the experiments", "")
    whole = Reading("whole file", "", "one value occurs only in rows with '?', and the other numbers are the same either way")
    claims = (
        judge_readings(
            "Figure 4", "Workclass has 8 values", [(kept, judge_equal(8, rows[0][2])), (whole, judge_equal(8, rows[0][3]))]
        ),
        Claim(
            "Figure 4",
            "numbers of values of the other attributes",
            confirm(not others),
            f"not of {', '.join(others)}" if others else "",
        ),
    )
    head = ("attribute", "paper", "people of the experiments", "whole file")
    return Part("figure-4", "Figure 4: attributes of Adult", "a '?' is no value.", head, rows=tuple(rows), claims=claims)


def _count_rules(trial: Trial) -> Part:
    """Number of rules at s = .02, c = .6, by how thresholds are read."""
    n = trial.people.n
    least = Fraction("0.02") * n
    empty = int((trial.lattice.truth.sum(axis=0) * 5 >= 3 * n).sum())
    rows: list[Row] = []
    for name, support in (("rounded up", "0.02"), ("truncated", int(least))):
        for strict in (False, True):
            found = len(trial.rules(support, "0.6", strict=strict))
            for counted, rules in (("not counted", found), ("counted", found + empty)):
                agrees = "yes" if rules == RULES else "no"
                rows.append((f"{name}, {'more than' if strict else 'at least'}", counted, RULES, rules, agrees))
    fits = sum(row[4] == "yes" for row in rows)
    why = f"{rows[0][3]:,} as the paper defines rules; {fits} of {len(rows)} readings gives {RULES:,}"
    if fits:
        why += (
            f": the minimum of {float(least):,} people cut to {int(least)}, and the rule with an empty antecedent counted. A program may well "
            "cut, but Theorems 1 and 2 and Figure 3 leave the empty antecedent out: a fit after the fact, no confirmation"
        )
    claim = Claim("Section VI.A", f"{RULES:,} rules at s = .02, c = .6", confirm(rows[0][3] == RULES), why)
    head = ("minimum count", "empty antecedent", "paper", "Tacit", "agrees")
    reading = f"a support of .02 is {float(least):,} of {n:,} people; confidences are compared exactly."
    return Part("rules", "Section VI.A: the number of rules", reading, head, rows=tuple(rows), claims=(claim,))


def _by_threshold(trial: Trial, form: Form) -> list[float]:
    """D_overall by confidence at support .1."""
    return [trial.found(0.1, confidence, form).overall for confidence in CONFIDENCES]


def _by_share(trial: Trial, form: Form) -> list[float]:
    """D_overall by support at confidence .6."""
    return [trial.found(support, 0.6, form).overall for support in SUPPORTS]


def _span(values: Sequence[float]) -> str:
    return " ".join(f"{value:.4f}" for value in values)


def _largest_change(first: Sequence[float], second: Sequence[float]) -> float:
    return max(abs(a - b) / a for a, b in zip(first, second, strict=True))


def by_confidence(trial: Trial) -> list[Part]:
    """Figures 5 (a), 6 and 7 (b)."""
    found = {form: _by_threshold(trial, form) for plain in FORMS for form in (plain, plain._replace(missing=True))}
    rises = [(reading, Judged(confirm(_is_rising(found[form])), _span(found[form]))) for form, reading in FORMS.items()]
    reading = f"{_IN_PICTURE}Support .1; D in nats; n = {trial.people.n:,}; missing rules are used only where the column says so."
    forms = {
        "figure-5a": list(FORMS),
        "figure-6": [Form(), Form(withheld=True)],
        "figure-7b": [Form(), COMPLETE, Form(withheld=True), Form(withheld=True, missing=True)],
    }
    titles = {
        "figure-5a": "Figure 5 (a): D_overall by the confidence threshold",
        "figure-6": "Figure 6: exact and withheld confidences",
        "figure-7b": "Figure 7 (b): with and without missing rules",
    }
    claims = {
        "figure-5a": judge_readings("Figure 5 (a)", "D rises with the confidence threshold", rises),
        "figure-6": _judge_gap(found),
        "figure-7b": _judge_overlap(trial, found),
    }
    notes = {
        "figure-6": "With supports published and confidences not, nothing is withheld: P(Q) is known, and both follow from one (Equation (4)).",
        "figure-7b": f"Less than {ALMOST:.0%} apart counts as almost overlapping.",
    }
    parts = []
    for name, title in titles.items():
        curves = {form.name: found[form] for form in forms[name]}
        part = _make_curves(name, title, reading, "min. confidence", xs=CONFIDENCES, found=curves, claims=[claims[name]])
        parts.append(replace(part, note=notes.get(name, "")))
    return parts


def _judge_gap(found: dict[Form, list[float]]) -> Claim:
    judged = []
    for missing, distribution in product((False, True), repeat=2):
        exact = Form(False, missing, distribution)
        gaps = [b - a for a, b in zip(found[exact], found[exact._replace(withheld=True)], strict=True)]
        likely = "" if missing or distribution else "missing rules and the SA distribution are experiments and cases of their own"
        reading = Reading("rules alone" if exact == Form() else exact.name.removeprefix("exact + "), "", likely)
        judged.append((reading, Judged(confirm(_is_rising(gaps[::-1])), _span(gaps))))
    return judge_readings("Figure 6", "the gap between withheld and exact numbers shrinks as the threshold rises", judged)


def _judge_overlap(trial: Trial, found: dict[Form, list[float]]) -> Claim:
    judged = []
    for form in FORMS:
        change = _largest_change(found[form], found[form._replace(missing=True)])
        why = "Section VI.D and Figure 8 use s = .1 and vary the confidence" if form == Form() else ""
        judged.append((Reading(f"{form.name}, s = .1", "", why), Judged(confirm(change < ALMOST), f"at most {change:.1%}")))
    for form in (Form(), Form(withheld=True)):
        change = _largest_change(_by_share(trial, form), _by_share(trial, form._replace(missing=True)))
        judged.append(
            (Reading(f"{form.name}, c = .6, by support", ""), Judged(confirm(change < ALMOST), f"at most {change:.1%}"))
        )
    return judge_readings("Figure 7 (b)", "with and without missing rules the curves almost overlap", judged)


def by_support(trial: Trial) -> list[Part]:
    """Figures 5 (b) and 5 (c)."""
    forms = {**FORMS, COMPLETE: Reading(COMPLETE.name, "")}
    found = {form: _by_share(trial, form) for form in forms}
    judged = [(one, Judged(confirm(_is_rising(found[form][::-1])), _span(found[form][::-1]))) for form, one in forms.items()]
    claim = judge_readings("Figure 5 (b)", "D rises with the support threshold", judged)
    title = "Figure 5 (b): D_overall by the support threshold"
    reading = f"{_IN_PICTURE}Confidence .6; D in nats; n = {trial.people.n:,}."
    curves = {form.name: values for form, values in found.items()}
    return [
        _make_curves("figure-5b", title, reading, "min. support", xs=SUPPORTS, found=curves, claims=[claim]),
        _first_rules(trial),
    ]


def _first_rules(trial: Trial) -> Part:
    rules = trial.rules(0.02, 0.6)
    confidence = [Fraction(a, b) for a, b in zip(rules.lo.tolist(), rules.whole_lo.tolist(), strict=True)]
    order = np.array(sorted(range(len(rules)), key=lambda i: (-confidence[i], -int(rules.lo[i]), i)), np.int64)
    sizes = [size for size in FIRST_RULES if size < len(rules)] + [len(rules)]
    found = {}
    judged = []
    for form in (Form(), Form(withheld=True)):
        listed = trial.rules(0.02, 0.6, form)
        values = []
        known: Multipliers = {}
        for size in sizes[:-1]:
            made = trial.estimated(listed.take(np.sort(order[:size]), listed.header), known)
            known = made.multipliers
            values.append(made.overall)
        found[form.name] = [*values, trial.found(0.02, 0.6, form).overall]
        judged.append((FORMS[form], Judged(confirm(_is_rising(found[form.name][::-1])), _span(found[form.name]))))
    claim = judge_readings("Figure 5 (c)", "D falls as more rules are published", judged)
    reading = (
        f"{_IN_PICTURE}Support .02, confidence .6; of equal confidences the rule with more people first; missing rules not used."
    )
    title = "Figure 5 (c): D_overall by the number of rules, the most confident first"
    return _make_curves("figure-5c", title, reading, "rules", xs=sizes, found=found, claims=[claim])


def individuals(trial: Trial) -> list[Part]:
    """Figures 7 (a) and 7 (c), and what Section VI.C concludes."""
    without, with_missing = (trial.found(0.1, 0.6, Form(missing=missing)) for missing in (False, True))
    gain = without.individual - with_missing.individual
    order = np.argsort(-gain, kind="stable")
    rows: list[tuple[Cell, ...]] = []
    for rank, (printed, place) in enumerate(zip(FIGURE_7A, order.tolist(), strict=False), 1):
        ours = (float(gain[place]), float(with_missing.individual[place]), float(without.individual[place]))
        rows.append((rank, *printed[:3], *ours))
    reading = f"support .1, confidence .6, exact numbers; n = {trial.people.n:,}."
    title = "Figure 7 (a): the ten largest differences of D_individual"
    head = ("rank", "difference, paper", "with missing, paper", "without, paper", "difference", "with missing", "without")
    note = f"Missing rules make some estimates worse: the most negative difference is {float(gain.min(initial=0.0)):.3f}."
    claims = (_judge_rows(trial, float(gain.max(initial=0.0))), *_check_printed())
    table = Part("figure-7a", title, reading, head, rows=tuple(rows), claims=claims, note=note)
    sizes = [size for size in TOP if size <= len(gain)]
    means = [float(gain[order[:size]].mean()) for size in sizes]
    falls = confirm(_is_rising(means[::-1]))
    moved = np.abs(with_missing.share - without.share).max(axis=1)
    many = int(trial.population.people[moved > MUCH].sum())
    change = abs(without.overall - with_missing.overall) / without.overall
    told = f"D by {change:.1%}; a probability by more than {MUCH:g} for {many:,} of {trial.people.n:,} people"
    both = (
        Claim("Figure 7 (c)", "the mean of the K largest differences falls with K", falls, "as the mean of the largest must"),
        Claim("Section VI.C", "missing rules hardly change D, but much some people", confirm(change < ALMOST and many > 0), told),
    )
    title = "Figure 7 (c): mean of the K largest differences"
    return [
        table,
        _make_curves(
            "figure-7c",
            title,
            f"{_IN_PICTURE}{reading.capitalize()}",
            "K",
            xs=sizes,
            found={"mean difference": means},
            claims=both,
        ),
    ]


def _judge_rows(trial: Trial, largest: float) -> Claim:
    """Look for the rows of Figure 7 (a) in each setting of the other figures."""
    settings = [(0.1, c) for c in CONFIDENCES] + [(s, 0.6) for s in SUPPORTS if s not in (0.1, 0.02)]
    met = {(s, c, form): _count_met(trial, s, c, form) for s, c in settings for form in FORMS}
    most = max(met.values())
    best = [f"{form.name}, s = {s:g}, c = {c:g}" for (s, c, form), rows in met.items() if rows == most]
    why = (
        f"the paper gives no thresholds for this table. In {len(met)} settings (exact or withheld, with the SA distribution or not, s = .1 with "
        f"every c and c = .6 with s from .04 on) at most {most} of its {len(FIGURE_7A)} rows are met within {NEAR:g} by any combination"
        f"{f' ({best[0]})' if most else ''}; at s = .1, c = .6 the largest difference is {largest:.3f}"
    )
    return Claim("Figure 7 (a)", "the ten largest differences are .133 to .129", confirm(most == len(FIGURE_7A)), why)


def _count_met(trial: Trial, support: float, confidence: float, form: Form) -> int:
    """Count the rows of Figure 7 (a) that some combination of one value has."""
    before, after = (trial.found(support, confidence, form._replace(missing=missing)).share for missing in (False, True))
    sure = trial.lattice.truth == trial.population.people[:, None]
    pairs = before[sure], after[sure]
    return sum(bool(((np.abs(pairs[0] - row[5]) < NEAR) & (np.abs(pairs[1] - row[3]) < NEAR)).any()) for row in FIGURE_7A)


def _check_printed() -> list[Claim]:
    """Check what the rows of Figure 7 (a) say about each other."""
    wrong = []
    for rank, (apart, after, before, *shares) in enumerate(FIGURE_7A, 1):
        logs = abs(-np.log(shares[0]) - after), abs(-np.log(shares[2]) - before), abs(before - after - apart)
        sums = abs(shares[0] + shares[1] - 1), abs(shares[2] + shares[3] - 1)
        if max(*logs, *sums) > ROUNDED:
            wrong.append(str(rank))
    gained = FIGURE_7A[0][3] / FIGURE_7A[0][5] - 1
    why = f"in all rows but {', '.join(wrong)}, which prints .850 and .152; .848 would fit"
    says = "shares add up to 1, and divergences are their natural logarithms"
    return [
        Claim("Figure 7 (a)", says, confirm(not wrong), why if wrong else ""),
        Claim("Figure 7 (a)", "from .762 to .870 is an increase of 14 %", confirm(round(gained, 2) == 0.14), f"{gained:.1%}"),
    ]


def run_times(trial: Trial) -> list[Part]:
    """Figure 8."""
    rows: list[tuple[int | float, ...]] = []
    ended = []
    for text in TIMED:
        missing = Missing(trial.lattice, Fraction("0.1"), Fraction(text))
        rules = trial.rules(0.1, text)
        own = missing.occurrences({mask: ~absent for mask, absent in missing.absent.items()})
        kept = missing.by_theorem()
        work: list[int] = []
        programs: dict[str, Kept] = {"rules alone": {}, "rules and missing rules": kept}
        for name, bounds in programs.items():
            begun = time.perf_counter()
            problem, solution = trial.solved(rules, missing, missing.listed(bounds))
            trial.bench.times.append(Timed("Figure 8", f"support .1, confidence {text}", name, time.perf_counter() - begun))
            if not solution.converged:
                ended.append(text)
            work += [solution.steps, int((np.diff(problem.starts) ** 2).sum())]
        rows.append((float(text), own, own + missing.occurrences(kept), *work))
    head = (
        "min. confidence",
        "variables, rules",
        "variables, all",
        "steps, rules",
        "products, rules",
        "steps, all",
        "products, all",
    )
    reading = (
        "support .1; the problem as the paper poses it, rules with all missing rules that Theorem 3 keeps, and rules alone. Counted are steps "
        "of Newton's method in Tacit, and products to set up the system of one step; seconds are in run-times.csv."
    )
    note = f"Tacit's solver does not converge on all of it at once at confidence {', '.join(ended)}: not judged." if ended else ""
    judged = [row for row, text in zip(rows, TIMED, strict=True) if text not in ended]
    return [
        Part("figure-8", "Figure 8: run time", reading, head, rows=tuple(rows), claims=tuple(_judge_times(judged)), note=note)
    ]


def _judge_times(rows: Sequence[tuple[int | float, ...]]) -> list[Claim]:
    """Judge the work of a whole run: steps times products of a step."""
    if len(rows) < 2:
        return [Claim("Figure 8", "time rises with the variables", "open", "fewer than two runs converged")]
    alone = sorted((int(row[1]), int(row[3] * row[4])) for row in rows)
    every = sorted((int(row[2]), int(row[5] * row[6])) for row in rows)
    times = [row[5] * row[6] / max(1, row[3] * row[4]) for row in rows]
    step = _is_rising([products for _, products in sorted((row[2], row[6]) for row in rows)])
    grown = f"products of one step {'rise' if step else 'do not rise'}, but steps do not: "
    own, all_of_them = ("; ".join(f"{x:,}: {y:,}" for x, y in points) for points in (alone, every))
    rates = [_growth(points) for points in (alone, every)]
    return [
        Claim(
            "Figure 8",
            "missing rules cost much more time",
            confirm(min(times) > 2),
            f"{min(times):.1f} to {max(times):.1f} times the work",
        ),
        Claim(
            "Figure 8",
            "with missing rules, time rises with the variables",
            confirm(_is_rising([y for _, y in every])),
            f"{'' if _is_rising([y for _, y in every]) else grown}work by variables {all_of_them}",
        ),
        Claim(
            "Figure 8", "without them it rises", confirm(_is_rising([y for _, y in alone])), f"work by their own variables {own}"
        ),
        Claim(
            "Figure 8",
            "without them it rises more slowly",
            confirm(rates[0] < rates[1]),
            f"{rates[0]:.3g} and {rates[1]:.3g} per variable",
        ),
    ]


def _growth(points: Sequence[tuple[int, int]]) -> float:
    """Return the slope from the fewest to the most variables."""
    (x, y), *_, (further, more) = points
    return (more - y) / max(1, further - x)


def _make_curves(
    name: str, title: str, reading: str, axis: str, xs: Sequence[float], found: dict[str, list[float]], claims: Sequence[Claim]
) -> Part:
    rows = tuple((x, *(values[place] for values in found.values())) for place, x in enumerate(xs))
    lines = tuple((one, tuple((float(x), value) for x, value in zip(xs, values, strict=True))) for one, values in found.items())
    return Part(
        name, title, reading, (axis, *found), rows=rows, claims=tuple(claims), chart=Chart(axis, "nats", lines, logarithmic=False)
    )


def _is_rising(values: Sequence[float]) -> bool:
    return all(b >= a - 1e-6 for a, b in pairwise(values))
