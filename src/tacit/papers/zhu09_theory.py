"""Examples, equations and theorems of Zhu, Wang and Du (Sections I to V), and the problem without pruning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from math import comb
from typing import Any

import numpy as np

from tacit.files.tables import read_table
from tacit.known.case import RuleCase, count_patterns
from tacit.mining.rules import mine_rules
from tacit.model.arrays import Floats
from tacit.model.people import Population
from tacit.model.release import Rules
from tacit.model.reproduction import Cell, Claim, Judged, Part, Reading, judge_readings
from tacit.model.table import Table
from tacit.papers.bench import Row, confirm, fact, facts_part
from tacit.papers.lattice import Kept, Lattice, Missing, count
from tacit.papers.zhu09_trial import COMPLETE, Form, Trial
from tacit.solve.solver import Matrix
from tacit.verbs.audit import audit

EXAMPLE_1 = ("DM-", "MF-", "DF+", "BM-", "MF+", "DM+", "MF+", "DF+", "MF+", "DF+", "MF+", "DF+")
EXAMPLE_2 = ("DF+", "DM+", "MF-")
#: Attributes, values of each, sensitive values of tables on which Theorem 2 is counted.
SMALL = ((2, 2, 2), (3, 2, 2), (2, 4, 3), (3, 3, 2), (4, 3, 5))
SAME = 1e-9  #: Numbers of estimates this close are the same.
EQUAL = 1e-6  #: Probabilities by other constraints this close are the same.
_STRICT = Reading("more than", "more than both thresholds", "Section V.A says 'above', and .168 > s")
_WIDE = Reading("at least", "at least both thresholds, as Equation (3)")
_WHOLE = Reading("whole people", "fewer people than the thresholds ask for", "people are counted")
_SHARES = Reading("shares", "Equation (6) in real numbers")
#: Ways to read Figure 3, by their names in its table.
_PRINTED = "Figure 3 as printed"
_ANY = "Figure 3, any smaller pattern prunes"
_THEOREM = "Theorem 3"
_NEWS = "only rules that say something"
FIGURE_3 = {
    _PRINTED: Reading("as printed", ""),
    _ANY: Reading("any smaller pattern of Psi prunes", ""),
    _THEOREM: Reading(
        "pruned patterns prune on", "", "the text after Theorem 3 prunes 'any pattern', and both printed numbers come out"
    ),
}


def judge_equal(paper: float, ours: float) -> Judged:
    """Judge that both numbers are equal."""
    return Judged(confirm(paper == ours), f"{ours:,}")


def _people(rows: Sequence[str]) -> Table:
    columns = {name: [row[place] for row in rows] for place, name in enumerate(("education", "gender", "salary"))}
    return read_table(columns, qi=["education", "gender"], sa="salary")


def examples() -> Part:
    """Examples 1 and 2 with Figures 1 and 2."""
    first = _people(EXAMPLE_1)
    second = _people(EXAMPLE_2)
    strict, wide = (mine_rules(first, min_support=0.3, min_confidence=0.8, strict=strict) for strict in (True, False))
    doctor = _find_estimate(audit(strict, known=first.qi, attacks=["R02"]), ("D", "M"), "+")
    rules = mine_rules(second, min_support=0.6, min_confidence=0.9)
    alone = mine_rules(second, min_support=0.6, min_confidence=0.9, incomplete=True)
    third, third_alone = (_find_estimate(audit(one, known=second.qi), ("M", "F"), "+") for one in (rules, alone))
    listed, added = _add_up(Lattice.of(first))
    women = Fraction(sum(row[:2] == "DF" for row in EXAMPLE_1), len(EXAMPLE_1))
    rows = [
        fact("Figure 1", "rule 1, D => +: confidence and support", "0.83 0.42", _shares(strict, "D")),
        fact("Figure 1", "rule 2, D and F => +: confidence and support", "1.00 0.33", _shares(strict, "DF")),
        fact("Figure 1", "rule 3, F => +: confidence and support", "0.89 0.67", _shares(strict, "F")),
        fact("Example 1", "P(50K+ | male doctorate)", 0.5, round(doctor, 9)),
        fact("Example 2", "rules at support .6, confidence .9", 1, len(rules)),
        fact("Example 2", "P(50K+ | third record), missing rules not used", 0.5, round(third_alone, 9)),
        fact("Figure 2", "its rule, D => +: confidence and support", "1.00 0.67", _shares(rules, "D")),
        fact("Theorem 1", "patterns of Figure 1 whose people are the sum over full combinations", listed, added),
        fact("Section V.D", "P(D, F, 50K+) + P(D, F, 50K-)", "1/3", str(women)),
    ]
    readings = ((_STRICT, len(strict)), (_WIDE, len(wide)))
    said = judge_readings(
        "Figure 1",
        "three rules have support .3 and confidence .8",
        [(reading, judge_equal(3, found)) for reading, found in readings],
    )
    # Equation (6) in real numbers: P(F, +) < max(.6, .9 * 2/3), and the first woman's part of it is 1/3.
    real = (max(Fraction("0.6"), Fraction("0.9") * Fraction(2, 3)) - Fraction(1, 3)) / Fraction(1, 3)
    left = Judged(confirm(real <= 0), f"P can be up to {float(real):g}, and {third_alone:g} is the estimate")
    derived = judge_readings(
        "Example 2", "the third record must be 50K-", [(_WHOLE, judge_equal(0.0, round(third, 9))), (_SHARES, left)]
    )
    shown = [fact("Figure 1", f"rules, {reading.name} the thresholds", 3, found) for reading, found in readings]
    shown.append(fact("Example 2", "P(50K+ | third record), in whole people", 0.0, round(third, 9)))
    reading = "D, M, B for the degrees, F and M for the genders, + for 50K+. Counts are whole numbers; a missing rule has fewer people than its "
    part = facts_part("examples", "Examples 1 and 2", f"{reading}thresholds ask for.", rows)
    return replace(part, rows=(*part.rows, *shown), claims=(*part.claims, said, derived))


def _find_estimate(found: Any, who: tuple[str, str], value: str) -> float:
    table = found.table("posterior")
    here = (table["education"] == who[0]) & (table["gender"] == who[1]) & (table["salary"] == value)
    return float(table["posterior"][here][0])


def _shares(rules: Rules, letters: str) -> str:
    """Return confidence and support of the rule about these letters."""
    for line in rules.records():
        if "".join(line["antecedent"].values()) == letters:
            return f"{line['confidence']:.2f} {line['count'] / (rules.n or 1):.2f}"
    return "none"


def _add_up(lattice: Lattice) -> tuple[int, int]:
    """Count the patterns of Figure 1 that sum correctly over combinations."""
    known = {pair for row in EXAMPLE_1 for pair in ((row[0], ""), ("", row[1]), (row[0], row[1]))}
    patterns = [(*pair, value) for pair in sorted(known) for value in "+-"]
    added = 0
    for *letters, value in patterns:
        pairs = [(name, letter) for name, letter in zip(("education", "gender"), letters, strict=True) if letter]
        holders = lattice.population.holding(pairs)
        people = sum(all(a in ("", b) for a, b in zip((*letters, value), row, strict=True)) for row in EXAMPLE_1)
        added += int(lattice.truth[holders, "+-".index(value)].sum()) == people
    return len(patterns), added


def formula() -> Part:
    """Theorem 2 on small tables."""
    rows: list[Row] = []
    for m, k, n_values in SMALL:
        everyone = list(product(range(k), repeat=m))
        listed = {part for person in everyone for size in range(1, m + 1) for part in combinations(enumerate(person), size)}
        columns = {f"q{place}": [str(person[place]) for person in everyone] for place in range(m)}
        table = read_table(columns, qi=list(columns))
        by_tacit = (count_patterns(Population.of(table)) or 0) * n_values
        stated = n_values * ((1 + k) ** m - 1)
        agrees = stated == by_tacit == len(listed) * n_values
        what = f"{m} attributes of {k} values, {n_values} SA values"
        rows.append(("Theorem 2", what, stated, by_tacit, "yes" if agrees else "NO"))
    both = [(m, k) for m in range(1, 21) for k in range(1, 51)]
    same = sum(sum(k**i * comb(m, i) for i in range(1, m + 1)) == (1 + k) ** m - 1 for m, k in both)
    counted = f"on {len(SMALL)} tables, one by one and by Tacit"
    claim = Claim(
        "Theorem 2", "the number of patterns is |SA| ((1 + k)^m - 1)", confirm(all(row[4] == "yes" for row in rows)), counted
    )
    equal = fact("Equation (7)", "pairs of up to 20 attributes and 50 values where both sides agree", len(both), same)
    reading = "every combination of values is in the table; patterns with at least one quasi-identifier are listed one by one."
    part = facts_part("formula", "Theorem 2: the number of constraints", reading, [equal])
    return replace(part, rows=(*rows, *part.rows), claims=(claim, *part.claims))


def definitions() -> Part:
    """Definitions, and where they are."""
    rows = (
        ("Problem 3.1", "derive P(X | Q) from the rules and the quasi-identifiers", "attack R02: the table posterior"),
        (
            "Definition 4.1",
            "the largest entropy H(Q, X) under all constraints",
            "attack R02: max_violation and duality_gap bound the error",
        ),
    )
    claims = [Claim(item, says, "not applicable", f"a definition: implemented as {where}") for item, says, where in rows]
    return Part(
        "definitions", "What the paper defines", "as in the text.", ("item", "task", "here"), rows=rows, claims=tuple(claims)
    )


def _entropy(share: Floats) -> float:
    return float(-(share * np.log(np.where(share > 0, share, 1.0))).sum())


def _yes(holds: bool | np.bool_) -> str:
    return "yes" if holds else "no"


def equations(trial: Trial) -> list[Part]:
    """Equations (1) to (6), (8) and (9)."""
    n = trial.population.n
    people = trial.population.people
    truth = trial.lattice.truth
    rules = trial.rules(0.1, 0.6)
    wholes = RuleCase(rules, trial.population).wholes
    many = trial.rules(0.02, 0.6)
    case = RuleCase(many, trial.population)
    added = [int(truth[holders, code].sum()) for holders, code in zip(case.holders, case.codes, strict=True)]
    summed = sum(a == b for a, b in zip(added, many.lo.tolist(), strict=True))
    lines = list(zip(rules.lo.tolist(), rules.whole_lo.tolist(), wholes.tolist(), strict=True))
    reached = sum(lo >= max(Fraction("0.1") * n, Fraction("0.6") * whole) for lo, _, whole in lines)
    restored = sum(Fraction(lo, printed) * whole == lo for lo, printed, whole in lines)
    below = count(Missing(trial.lattice, Fraction("0.1"), Fraction("0.6")).absent)
    exact = trial.found(0.1, 0.6, Form())
    known = trial.found(0.1, 0.6, Form(withheld=True, distribution=True))
    unknown = trial.found(0.1, 0.6, Form(withheld=True))
    nothing = trial.estimated(rules.take(np.empty(0, np.int64), replace(rules.header, complete=False)))
    given = people / n
    joint = _entropy(given[:, None] * exact.share) - _entropy(given)
    larger = exact.entropy - (_entropy(truth / n) - _entropy(given))
    off = (known.share * people[:, None]).sum(axis=0) - truth.sum(axis=0)
    total = float((exact.share * given[:, None]).sum())
    rows = [
        fact("Equation (1)", "H(X | Q) = H(Q, X) - H(Q), for the estimate", "yes", _yes(abs(joint - exact.entropy) < SAME)),
        fact(
            "Equation (2)",
            "without rules, all values of everybody are equally probable",
            "yes",
            _yes(np.allclose(nothing.share, 0.5)),
        ),
        fact(
            "Equation (2)", "H is the largest, so that H - H(truth) = D_overall", "yes", _yes(abs(larger - exact.overall) < SAME)
        ),
        fact("Equation (3)", "rules with at least max(s, c P(Q)) of the people", len(rules), reached),
        fact("Equation (4)", "rules whose confidence and P(Q) give the support", len(rules), restored),
        fact("Equation (5)", "rules at s = .02 whose people are the sum over full combinations", len(many), summed),
        fact("Equation (6)", "patterns below max(s, c P(Q)): all but the rules", trial.lattice.patterns - len(rules), below),
        fact(
            "Equation (8)",
            "the values of every combination add up",
            "yes",
            _yes(np.abs(exact.share.sum(axis=1) - 1).max() < SAME),
        ),
        fact(
            "Equation (9)", "with the SA distribution published, the estimate has it", "yes", _yes(np.abs(off).max() < SAME * n)
        ),
        fact("Section V.D", "that all probabilities add up to 1 follows from (8)", "yes", _yes(abs(total - 1) < SAME)),
    ]
    free = float((unknown.share * people[:, None]).sum(axis=0)[-1] / n)
    share = float(truth[:, -1].sum() / n)
    note = f"Numbers withheld and (9) left out, the estimated share of {trial.people.sa.values[-1]} is {free:.3f}; it is {share:.3f}."
    reading = "support .1, confidence .6, exact numbers unless said. Counts are compared exactly, estimates up to 1e-9."
    return [facts_part("equations", "Equations (1) to (6), (8) and (9) on Adult", reading, rows, note)]


def constraints(trial: Trial) -> list[Part]:
    """Theorem 3, Figure 3, and the problem without pruning."""
    missing = Missing(trial.lattice, Fraction("0.1"), Fraction("0.6"))
    kept = {
        "none": missing.absent,
        _PRINTED: missing.as_printed(),
        _ANY: missing.by_any_parent(),
        _THEOREM: missing.by_theorem(),
        _NEWS: missing.informative(),
    }
    rows = tuple((name, count(flags), missing.occurrences(flags)) for name, flags in kept.items())
    before = count(kept["none"])
    after = count(kept[_THEOREM])
    variables = missing.occurrences(kept[_THEOREM])
    printed = [(reading, judge_equal(449, count(kept[name]))) for name, reading in FIGURE_3.items()]
    claims = (
        judge_readings("Figure 3", "the algorithm leaves 449 missing rules", printed),
        _judge_patterns(trial.lattice),
        Claim(
            "Section V.C", "700,000 missing rules become fewer than 1,000", confirm(after < 1000), f"{before:,} become {after:,}"
        ),
        Claim("Section VI.D", "about 766,000 missing rules before pruning", confirm(before // 1000 == 766), f"{before:,}"),
        Claim("Section VI.D", "449 missing rules after pruning", confirm(after == 449), f"{after:,}"),
        Claim("Section VI.D", "281,014 variables in them", confirm(variables == 281_014), f"{variables:,}"),
    )
    note = (
        "As printed, a pruned pattern is not in Psi, so that larger patterns are kept again where another SA value keeps the itemset in L. "
        "That makes the problem larger, and the estimate no other. Figure 3 also hands L_(k-1) to the procedure that adds to L_k."
    )
    pruned = Part(
        "figure-3",
        "Theorem 3 and Figure 3: missing rules after pruning",
        "support .1, confidence .6; patterns that somebody has; each constraint once; a variable counts in every constraint.",
        ("pruning", "missing rules", "variables in them"),
        rows=rows,
        claims=claims,
        note=note,
    )
    return [pruned, _unpruned(trial, missing, kept)]


def _judge_patterns(lattice: Lattice) -> Claim:
    every = Reading("all combinations of values, as in Theorem 2", "")
    there = Reading("combinations that occur", "", "Section VI.D says 766,000, and nobody has any other")
    found = [(every, lattice.possible), (there, lattice.patterns)]
    judged = [(reading, Judged(confirm(number // 100_000 == 7), f"{number:,}")) for reading, number in found]
    return judge_readings("Section V.B", "about 700,000 constraints for Adult", judged)


def _unpruned(trial: Trial, missing: Missing, kept: dict[str, Kept]) -> Part:
    """Build the problem without pruning, solve it, and compare."""
    matrix = trial.lattice.matrix()
    rows, variables = matrix.shape
    sparse = matrix.values.nbytes + matrix.places.nbytes + matrix.starts.nbytes
    dense = rows * variables * 8
    many = len(matrix.places)
    rules = trial.rules(0.1, 0.6)
    pruned, whole = (_solve(trial, rules, missing, kept[name]) for name in (_THEOREM, _NEWS))
    lazily = trial.found(0.1, 0.6, COMPLETE).share
    apart = max(float(np.abs(one - lazily).max()) for one in (pruned, whole))
    broken = _count_broken(trial, missing, matrix, pruned)
    before = count(kept["none"])
    news = count(kept[_NEWS])
    table: tuple[tuple[Cell, ...], ...] = (
        ("constraints", rows),
        ("variables P(q, x)", variables),
        ("variables in all constraints", many),
        ("bytes, sparse", sparse),
        ("bytes, dense", dense),
        ("missing rules that hold by themselves", before - news),
        ("missing rules that the pruned estimate breaks", broken),
    )
    redundant = (
        f"the estimate from the pruned ones breaks {broken} of {before:,} missing rules, and is the one from all of them; the proof prints "
        "P(Q and q, X) < P(Q, X) where it can be equal"
    )
    solved = (
        f"that was the memory of the paper's solver. The constraints take {sparse / 1e6:.3g} MB as a sparse matrix, {dense / 1e9:.3g} GB as a "
        f"dense one; all but {news:,} missing rules hold by themselves, and these are solved here without pruning"
    )
    claims = (
        Claim("Theorem 3", "pruned constraints are redundant", confirm(broken == 0 and apart < EQUAL), redundant),
        Claim("Section V.B", "more than 3,900,000 variables in all constraints", confirm(many // 100_000 == 39), f"{many:,}"),
        Claim("Section VI.D", "3,900,000 variables without pruning", confirm(many // 100_000 == 39), f"{many:,}"),
        Claim("Section VI.D", "without pruning the problem cannot be solved", "not confirmed", solved),
    )
    reading = (
        "support .1, confidence .6; every pattern that somebody has is a constraint (rules and missing rules): one row of a sparse matrix of "
        "64-bit numbers and places. The constraints (8) come on top."
    )
    return Part("unpruned", "Section VI.D: the problem without pruning", reading, ("what", "number"), rows=table, claims=claims)


def _solve(trial: Trial, rules: Rules, missing: Missing, kept: Kept) -> Floats:
    problem, solution = trial.solved(rules, missing, missing.listed(kept))
    trial.require(solution)
    return solution.share[problem.class_of]


def _count_broken(trial: Trial, missing: Missing, matrix: Matrix, share: Floats) -> int:
    """Count the missing rules that an estimate breaks, of all."""
    n = trial.population.n
    totals = matrix @ (share * trial.population.people[:, None]).reshape(-1)
    wrong = begin = 0
    for mask, level in trial.lattice.levels.items():
        most = np.maximum(float(missing.support * n), float(missing.confidence) * level.people) + SAME * n
        for value in range(share.shape[1]):
            end = begin + len(most)
            wrong += int(((totals[begin:end] > most) & missing.absent[mask][:, value]).sum())
            begin = end
    return wrong
