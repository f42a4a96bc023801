"""*Protecting Individual Information Against Inference Attacks*, DASFAA 2007.

Theorems, Lemma 1 and Figures 1 and 2, which need no data; Figure 3 is in :mod:`tacit.papers.li07_adult`.

The proofs of the paper are in a technical report. Its NP-hardness results are shown here by reductions of our own, which the integer program
checks on small instances: a safe table exists if and only if a formula is satisfiable (:func:`formula_table`), and the fewest cells to hide
are a minimum vertex cover (:func:`vertex_table`, :func:`edge_table`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tacit.model.errors import RepairError
from tacit.model.policy import Limits
from tacit.model.reproduction import Claim, Graph, Part
from tacit.papers import li07_adult
from tacit.papers.bench import Bench, confirm, fact, facts_part, run_on_adult
from tacit.partial.methods import hide_everything, hide_fewest
from tacit.partial.problem import Cells, IntegerThresholds, Problem

ITEMS = (
    "Section 2",
    "Theorem 1",
    "Theorem 2",
    "Figure 1",
    "Lemma 1",
    "Definition 1",
    "Section 4.1",
    "Section 5.1",
    "Figure 2 (a)",
    "Figure 2 (b)",
    "Section 5.2",
    "Section 6",
    "Figure 3 (a)",
    "Figure 3 (b)",
    "Figure 3 (c)",
    "Figure 3 (d)",
    "Figure 3 (e)",
    "Figure 3 (f)",
    "Section 6.2",
)
#: Figure 2 (a): a star is a value that nobody else has; the first and the fifth record are sensitive, with the value s.
FIGURE_2 = ("abcs", "abcs", "abcs", "ab*s", "abds", "a*ds", "*bds", "*bds", "**d*")
OWNERS = (0, 4)
FIGURE_2_CONFIDENCE = Fraction(11, 20)
#: Subcases of Figure 1 by what may be hidden, as far as the text names them; the picture orders the other two.
SUBCASES = {
    "(a)": "ns",
    "(b)": "nc",
    "(c) or (d): sc": "sc",
    "(c) or (d): nc, sc": "nc+sc",
    "(e)": "ns+sc",
    "(f)": "ns+nc+sc",
    "(g)": "ns+nc",
}
GRAPHS = {
    "triangle": ((0, 1), (1, 2), (0, 2)),
    "5-cycle": tuple((one, (one + 1) % 5) for one in range(5)),
    "complete graph of 4": tuple(combinations(range(4), 2)),
    "Petersen graph": tuple(
        edge for one in range(5) for edge in ((one, (one + 1) % 5), (one, one + 5), (one + 5, (one + 2) % 5 + 5))
    ),
}
RANDOM_TABLES = 25


def reproduce(bench: Bench) -> tuple[tuple[Part, ...], tuple[str, ...]]:
    """Return the parts of the paper, and those left out."""
    parts = [definitions(), hardness(), subcases(), graph_part(), example()]

    def read(path: Path) -> li07_adult.Trial:
        return li07_adult.Trial.read(path, bench)

    return run_on_adult(bench, parts, "Figure 3, several sensitive values and the bound of SMC", read, li07_adult.STEPS)


class SmallTable(NamedTuple):
    """Records as letters, the sensitive value last; ``*`` is a value that nobody else has."""

    rows: Sequence[Sequence[str]]
    owners: Collection[int]
    confidence: Fraction
    #: The only cells that may be hidden, if given, as (record, attribute).
    unmarked: Collection[tuple[int, int]] | None = None

    @property
    def problem(self) -> Problem:
        """Return the problem of hiding cells of this table, with minimum support 0."""
        numbers: dict[object, int] = {}
        keys = [
            [(a, value) if value != "*" else (a, place) for a, value in enumerate(row)] for place, row in enumerate(self.rows)
        ]
        codes = np.array([[numbers.setdefault(key, len(numbers)) for key in row] for row in keys], np.int32)
        protected = np.zeros((len(codes), 1), np.bool_)
        protected[list(self.owners)] = True
        published = None
        if self.unmarked is not None:
            published = np.ones(codes.shape, np.bool_)
            for place, attribute in self.unmarked:
                published[place, attribute] = False
        thresholds = IntegerThresholds.of(self.confidence, 0, people=len(codes))
        return Problem.of(Cells(codes[:, :-1], codes[:, -1:], protected, published), thresholds)

    def fewest(self, regions: str) -> int | None:
        """Return the fewest cells of these regions to hide, or None if no table is safe."""
        found = hide_fewest(self.problem, frozenset(regions.split("+")))
        if found.infeasible:
            return None
        if found.state is None or found.state.cells_hidden > found.bound:
            raise RepairError("the optimum was not found", where="ilp", remedy="Report this: the table is small")
        return found.state.cells_hidden


def _record(columns: Sequence[str], shared: Collection[str], value: str) -> list[str]:
    return [*("1" if name in shared else "*" for name in columns), value]


Edges = Sequence[tuple[int, int]]


def vertex_table(edges: Edges) -> SmallTable:
    """Return a table whose records are the vertices.

    The rule of an edge is unsafe until one of its two vertices loses its value or the attribute ``all``. Other records keep shorter rules
    safe.
    """
    vertices = sorted({vertex for edge in edges for vertex in edge})
    columns = ["all", *map(str, edges)]
    rows = [_record(columns, columns, "s")]
    rows += [_record(columns, {"all", *(str(edge) for edge in edges if vertex in edge)}, "s") for vertex in vertices]
    rows += [_record(columns, {str(edge)}, "*") for edge in edges]
    rows += [_record(columns, {"all"}, "*") for _ in vertices]
    return SmallTable(rows, (0,), Fraction(11, 20))


def edge_table(edges: Edges) -> SmallTable:
    """Return a table whose attributes are the vertices.

    The rule of an edge is unsafe until the sensitive record loses one of the two attributes, or the record of the edge a cell.
    """
    columns = [str(vertex) for vertex in sorted({vertex for edge in edges for vertex in edge})]
    rows = [_record(columns, columns, "s")]
    rows += [_record(columns, {str(vertex) for vertex in edge}, "s") for edge in edges]
    rows += [_record(columns, {str(vertex)}, "*") for edge in edges for vertex in (*edge, *edge)]
    return SmallTable(rows, (0,), Fraction(2, 5))


def cover_size(edges: Edges) -> int:
    """Return the size of a minimum vertex cover, by trying all sets."""
    vertices = {vertex for edge in edges for vertex in edge}
    sizes = range(len(vertices) + 1)
    return next(size for size in sizes for some in combinations(vertices, size) if all(set(some) & set(edge) for edge in edges))


Clauses = Sequence[tuple[int, ...]]


def formula_table(clauses: Clauses) -> SmallTable:
    """Return a table that can be made safe if and only if a formula of 3-SAT is satisfiable.

    A literal is a record, and true if its attribute ``all`` is hidden, the only cells that may be. The rule of a clause is unsafe until one
    of its literals is hidden; the rule of a variable, about another value, becomes unsafe if both of its literals are.
    """
    variables = sorted({abs(literal) for clause in clauses for literal in clause})
    literals = [sign * variable for variable in variables for sign in (1, -1)]
    columns = ["all", *(f"clause {place}" for place in range(len(clauses))), *(f"variable {variable}" for variable in variables)]
    rows = [
        _record(columns, {name for name in columns if not name.startswith("variable")}, "s"),
        _record(columns, {name for name in columns if not name.startswith("clause")}, "u"),
    ]
    for literal in literals:
        inside = {f"clause {place}" for place, clause in enumerate(clauses) if literal in clause}
        rows.append(_record(columns, {"all", f"variable {abs(literal)}", *inside}, "s"))
    unmarked = [(2 + place, 0) for place in range(len(literals))]
    rows += [_record(columns, {f"clause {place}"}, "*") for place in range(len(clauses))]
    rows += [_record(columns, {"all", f"variable {variable}"}, "u") for variable in variables for _ in range(3)]
    rows += [_record(columns, {"all"}, "*") for _ in variables]
    return SmallTable(rows, (0, 1), Fraction(7, 10), unmarked)


def is_satisfiable(clauses: Clauses) -> bool:
    """Tell if an assignment satisfies all clauses, by trying all."""
    variables = sorted({abs(literal) for clause in clauses for literal in clause})
    for values in product((False, True), repeat=len(variables)):
        true = {variable if value else -variable for variable, value in zip(variables, values, strict=True)}
        if all(true & set(clause) for clause in clauses):
            return True
    return False


@cache
def hardness() -> Part:
    """Check the reductions behind Theorems 1 and 2 on small instances."""
    signs = [tuple(sign * (place + 1) for place, sign in enumerate(row)) for row in product((1, -1), repeat=3)]
    formulas = {"all 8 clauses over 3 variables": signs} | {
        f"without clause {place + 1}": [*signs[:place], *signs[place + 1 :]] for place in range(len(signs))
    }
    rows: list[tuple[str, str, str, str]] = []
    right = True
    for name, clauses in formulas.items():
        expected = "yes" if is_satisfiable(clauses) else "no"
        found = "no" if formula_table(clauses).fewest("nc") is None else "yes"
        right &= expected == found
        rows.append(("Theorem 1", name, f"satisfiable: {expected}", f"safe table: {found}"))
    exact = dict.fromkeys(SUBCASES, True)
    for name, edges in GRAPHS.items():
        size = cover_size(edges)
        for case, regions in SUBCASES.items():
            table = edge_table(edges) if "sc" in regions else vertex_table(edges)
            fewest = table.fewest(regions)
            exact[case] &= fewest == size
            rows.append(("Theorem 2", f"{name}, {regions}", f"vertex cover: {size}", f"fewest cells: {fewest}"))
    ours = "the proof is in the technical report; here by a reduction from"
    claims = (
        Claim(
            "Theorem 1",
            "to decide whether a safe partial table exists is NP-hard",
            confirm(right),
            f"{ours} 3-SAT, checked on {len(formulas)} formulas",
        ),
        Claim(
            "Theorem 2",
            "to compute an optimal safe partial table is NP-hard",
            confirm(exact["(a)"]),
            f"{ours} vertex cover, checked on {len(GRAPHS)} graphs",
        ),
        Claim(
            "Figure 1",
            "the same in each of the subcases (a) to (g)",
            confirm(all(exact.values())),
            f"two tables for each of the {len(GRAPHS)} graphs, one for the subcases with sc",
        ),
    )
    reading = (
        "the reductions are ours: a literal, or a vertex, is a record whose cell may be hidden. Fewest cells by an integer program, formulas "
        "and vertex covers by trying all."
    )
    return Part(
        "hardness",
        "Theorems 1 and 2: reductions",
        reading,
        ("item", "instance", "expected", "found"),
        rows=tuple(rows),
        claims=claims,
    )


def _draw_tables() -> list[SmallTable]:
    """Draw small tables with two sensitive records."""
    chance = np.random.default_rng(7)
    drawn = ["".join(chance.choice(list("ab"), 3)) + str(chance.choice(list("sst"))) for _ in range(9 * RANDOM_TABLES)]
    return [SmallTable(drawn[9 * place : 9 * place + 9], (0, 1), Fraction(2, 5)) for place in range(RANDOM_TABLES)]


def subcases() -> Part:
    """Find the fewest cells to hide in each region of Figure 1."""
    tables = _draw_tables()
    printed = SmallTable(FIGURE_2, OWNERS, FIGURE_2_CONFIDENCE)
    fewest = {regions: [table.fewest(regions) for table in tables] for regions in SUBCASES.values()}
    rows = []
    always = True
    for case, regions in SUBCASES.items():
        safe = sum(hide_everything(table.problem, frozenset(regions.split("+")), Limits()) is not None for table in tables)
        always &= safe == len(tables)
        mean = float(np.mean([cells or 0 for cells in fewest[regions]]))
        rows.append((case, regions, printed.fewest(regions), f"{safe} of {len(tables)}", mean))
    spares = fewest["ns+nc"] == fewest["ns"] and fewest["ns+nc+sc"] == fewest["ns+sc"]
    head = ("subcase", "may be hidden", "fewest, Figure 2", "safe if all is hidden", "fewest, random tables (mean)")
    reading = (
        "ns: sensitive cells of other records, nc: their condition cells, sc: condition cells of the sensitive records; fewest cells by an "
        f"integer program. {len(tables)} random tables of 9 records and 3 attributes, confidence .4."
    )
    claims = (
        Claim("Figure 1", "in the subcases (a) to (g) there is always a safe table", confirm(always), "hiding the whole region"),
        Claim("Figure 1", "subcase (h)", "not applicable", "nothing may be hidden"),
        Claim(
            "Lemma 1",
            "condition cells of other records need not be hidden in the subcases (f) and (g)",
            confirm(spares),
            "the fewest cells are as many with them as without, in every table",
        ),
    )
    return Part("subcases", "Figure 1 and Lemma 1: what may be hidden", reading, head, rows=tuple(rows), claims=claims)


@dataclass(frozen=True, slots=True)
class Node:
    """Node of the R-graph: pattern, records, with s, MinHide, ExactMatch."""

    pattern: str
    having: int
    both: int
    least: int
    exact: int

    @property
    def values(self) -> int:
        """Least number of values to hide (the paper's beta)."""
        return next(x for x in range(self.both + 1) if Fraction(self.both - x, self.having) <= FIGURE_2_CONFIDENCE)


def _relevant() -> list[set[str]]:
    return [set(row[:3]) for place, row in enumerate(FIGURE_2) if row[3] == "s" and place not in OWNERS]


def nodes() -> list[Node]:
    """Return the nodes by definition, largest pattern first."""
    owners = [FIGURE_2[place][:3] for place in OWNERS]
    patterns = {"".join(part) for owner in owners for size in (1, 2, 3) for part in combinations(owner, size)}
    ordered = sorted(patterns, key=lambda pattern: (-len(pattern), pattern))
    relevant = _relevant()
    out = []
    for pattern in ordered:
        having = sum(set(pattern) <= set(row[:3]) for row in FIGURE_2)
        both = sum(set(pattern) <= row for row in relevant)
        least = next(x for x in range(both + 1) if Fraction(both - x, having - x) <= FIGURE_2_CONFIDENCE)
        largest = [row for row in relevant if set(pattern) <= row]
        exact = sum(not any(set(pattern) < set(other) <= row for other in patterns) for row in largest)
        out.append(Node(pattern, having, both, least, exact))
    return out


def fewest_sets() -> int:
    """Return the size of the smallest set multi-cover of Figure 2, by trying all."""
    needed = {node.pattern: node.values for node in nodes()}
    sets = [{pattern for pattern in needed if set(pattern) <= row} for row in _relevant()]
    for size in range(len(sets) + 1):
        for some in combinations(sets, size):
            if all(sum(pattern in one for one in some) >= times for pattern, times in needed.items()):
                return size
    raise AssertionError("all sets together cover every pattern")


def graph_part() -> Part:
    """Draw the R-graph of Figure 2."""
    found = nodes()
    rows = tuple(
        tuple((node.pattern, f"{node.least}, {node.exact}", node.least > 0) for node in found if len(node.pattern) == size)
        for size in (3, 2, 1)
    )
    edges = tuple(
        (one.pattern, other.pattern)
        for one in found
        for other in found
        if len(one.pattern) == len(other.pattern) + 1 and set(other.pattern) < set(one.pattern)
    )
    table = tuple((node.pattern, node.having, node.both, node.least, node.exact) for node in found)
    head = ("pattern", "records", "with s", "MinHide", "ExactMatch")
    reading = "minimum confidence .55, sensitive cells counted as blank; below each pattern its MinHide and its ExactMatch."
    claims = (
        Claim("Figure 2 (b)", "the graph has 11 nodes", confirm(len(found) == 11)),
        Claim("Figure 2 (b)", "there is an edge from {a, b, c} to {a, b}", confirm(("abc", "ab") in edges)),
    )
    note = f"{len(found)} nodes, {sum(node.least > 0 for node in found)} of them unsafe (shaded), {len(edges)} edges."
    return Part(
        "figure-2", "Figure 2 (b): the R-graph", reading, head, rows=table, claims=claims, note=note, graph=Graph(rows, edges)
    )


def example() -> Part:
    """Compare the text about Figure 2 and set multi-cover."""
    found = {node.pattern: node for node in nodes()}
    active = [node.pattern for node in found.values() if node.exact]
    is_top = not any(set("abc") < set(pattern) for pattern in active)
    # A record of {a, b} without c: if it loses a, the rule of {a, b, c} stays as it is.
    reaches_parent = all("c" in row for row in _relevant() if {"a", "b"} <= row)
    pair = SmallTable(("abs", "abs"), (0,), Fraction(2, 5)).problem
    bound_holds = all(sum(1 / k for k in range(1, 2 ** (n - 1) + 1)) < (n - 1) * math.log(2) + 1 for n in range(2, 13))
    by_program = SmallTable(FIGURE_2, OWNERS, FIGURE_2_CONFIDENCE).fewest("ns")
    return facts_part(
        "example",
        "Figure 2 and Section 4.1: the worked example",
        "as the figure, its condition cells without marks; set multi-cover by trying all sets; n condition attributes.",
        [
            fact(
                "Section 4.1",
                "smallest set multi-cover of Figure 2, and fewest sensitive cells to hide",
                by_program,
                fewest_sets(),
            ),
            fact(
                "Section 4.1",
                "patterns of a record with n = 2, all of them unsafe: at most 2^(n-1)",
                2,
                len(pair.keep_unsafe().rules),
                "a record has all 2^n - 1 patterns if its conditions are those of the sensitive record",
            ),
            fact(
                "Section 4.1", "H of 2^(n-1) is below (n-1) ln 2 + 1, for n from 2 to 12", "yes", "yes" if bound_holds else "no"
            ),
            fact(
                "Section 5.1",
                "hiding an entry of a record relevant to a child reduces the confidence of its parent too",
                "yes",
                "yes" if reaches_parent else "no",
                "the other way round: t4 is relevant to {a, b} and not to {a, b, c}; records of the parent are records of the child",
            ),
            fact("Section 5.1", "nodes of the R-graph", 11, len(found)),
            fact(
                "Figure 2 (a)",
                "cells that case (b) may hide",
                "all condition cells of other records",
                "none",
                "every condition cell is marked '+', which must be published; read without these marks",
            ),
            fact("Figure 2 (b)", "MinHide of {b, d}", 1, found["bd"].least),
            fact("Figure 2 (b)", "ExactMatch of {b, d}", 2, found["bd"].exact),
            fact("Section 5.2", "{a, b, c} is a top-level active node", "yes", "yes" if "abc" in active and is_top else "no"),
        ],
    )


def definitions() -> Part:
    """List what the paper defines, and where it is implemented."""
    where = {
        "Section 2": ("unsafe rules, safe and optimal partial tables", "attack T01 and the repair hide"),
        "Definition 1": ("set multi-cover", "the method smc of the repair hide, greedy; ilp is exact"),
        "Section 5.2": ("the choice of records and cells along the R-graph", "the methods rgraph-* of the repair hide"),
    }
    claims = [
        Claim(item, what, "not applicable", f"a definition or algorithm: implemented as {place}")
        for item, (what, place) in where.items()
    ]
    claims.append(Claim("Section 6", "data set 2, customers of a bank", "not applicable", "the data are not public"))
    missing = "the paper names it and prints no result; counted in the parts on Adult"
    claims += [
        Claim("Section 6", f"effect of the {factor}", "not applicable", missing)
        for factor in ("minimum support", "number of unsafe rules")
    ]
    claims.append(Claim("Section 6", "run times", "not applicable", f"{missing}; seconds are in run-times.csv"))
    rows = tuple((item, what, place) for item, (what, place) in where.items())
    return Part("definitions", "Definitions", "as printed.", ("item", "what", "where"), rows=rows, claims=tuple(claims))
