"""Bucketized releases: the whole run from a file to two tables, and the attacks on it, against checking every pair by a matching.

``python -m benchmarks.buckets`` prints the section.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_bipartite_matching

from benchmarks.grouping import people
from tacit.buckets.assignments import share_values, valid_values
from tacit.buckets.grouping import group_people
from tacit.buckets.surviving_correlations import guess, learn
from tacit.files.buckets import shuffled
from tacit.model.buckets import Buckets
from tacit.model.knowledge import Exclusions
from tacit.model.table import Column, Schema, Table
from tacit.verbs.bucketize import utility

SIZE = 6
KINDS = 30
#: Values of the columns beside the one that tells what is ruled out, as many as in Adult.
WIDTHS = (73, 7, 16, 7, 2)


def made(n: int, seed: int = 8) -> tuple[Table, Exclusions]:
    """People with six quasi-identifiers and a sensitive value; the first column says what is ruled out for them."""
    sensitive, kind, patterns = people(n, kinds=KINDS, seed=seed)
    chance = np.random.default_rng(seed)
    columns = [Column("kind", tuple(f"k{number:02}" for number in range(KINDS)), kind)]
    for number, width in enumerate(WIDTHS):
        # The value leans towards some of the column's, so that something is left to learn.
        codes = (np.minimum(chance.geometric(min(0.7, 4 / width), n), width) - 1 + sensitive * (number + 1)) % width
        columns.append(Column(f"q{number}", tuple(f"a{value:02}" for value in range(width)), codes.astype(np.int32)))
    values = tuple(f"v{value:02}" for value in range(patterns.shape[1]))
    schema = Schema(qi=tuple(column.name for column in columns), sa=("ill",))
    table = Table((*columns, Column("ill", values, sensitive)), np.ones(n, np.int64), schema)
    return table, Exclusions(values, patterns, kind)


def written(table: Table, known: Exclusions, folder: Path) -> None:
    """The people and what is known about them, as files."""
    texts = [np.array(column.values, object)[column.codes] for column in table.columns]
    lines = (",".join(cells) for cells in zip(*texts, strict=True))
    with open(folder / "people.csv", "w", encoding="utf-8") as stream:
        stream.write(",".join(table.names) + "\n")
        stream.writelines(f"{line}\n" for line in lines)
    rules = [
        f'"{{""kind"": [""k{kind:02}""]}}",{known.values[value]}' for kind, value in zip(*np.nonzero(known.patterns), strict=True)
    ]
    (folder / "known.csv").write_text("\n".join(["antecedent,excluded", *rules]) + "\n", encoding="utf-8")


def whole_run(n: int) -> tuple[float, float, float]:
    """Seconds, CPU seconds and gigabytes of ``tacit bucketize`` on a file of n people, a process of its own."""
    table, known = made(n)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        written(table, known, folder)
        arguments = [sys.executable, "-m", "tacit", "bucketize", "people.csv", "--qi", ",".join(table.schema.qi), "--sa", "ill"]
        arguments += ["--l", str(SIZE), "--knowledge", "known.csv", "-o", "groups", "--json", "made.json"]
        start = time.perf_counter()
        child = subprocess.Popen(arguments, cwd=folder, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
    if os.waitstatus_to_exitcode(status) != 0:
        raise RuntimeError(f"tacit bucketize failed on {n:,} people")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e6


def growth() -> str:
    """Lines of the table: the whole run on more and more people."""
    whole_run(20_000)  # kernels are compiled once
    lines = []
    for n in (100_000, 1_000_000, 3_000_000, 10_000_000):
        seconds, cpu, memory = whole_run(n)
        lines.append(f"| {n:,} | {seconds:.1f} | {cpu:.1f} | {1e6 * cpu / n:.1f} | {memory:.2f} |")
    return "\n".join(lines)


def one_group(size: int, seed: int) -> tuple[Buckets, Exclusions, Any]:
    """A group of so many people, with what is ruled out for each."""
    table, known = made(size, seed)
    buckets = Buckets.of(table.qi, table.sa, np.zeros(size, np.int32))
    return buckets, Exclusions(known.values, known.patterns, known.kind), table.sa.codes


def by_matching(known: Exclusions, own: Any) -> Any:
    """Figure 1 of the paper, corrected: for each pair of a person and another's value, whether the others can share out what is left."""
    size = len(own)
    may = ~known.patterns[known.kind][:, own]
    valid = np.zeros((size, len(known.values)), np.bool_)
    for i in range(size):
        for j in range(size):
            if may[i, j] and not valid[i, own[j]]:
                rest = np.delete(np.delete(may, i, axis=0), j, axis=1)
                valid[i, own[j]] = (maximum_bipartite_matching(csr_matrix(rest), perm_type="column") >= 0).all()
    return valid


def against_matching() -> str:
    """Lines of the table: valid values of the people of one group."""
    lines = []
    for size in (6, 12, 50, 100):
        buckets, known, own = one_group(size, seed=size)
        start = time.process_time()
        slow = by_matching(known, own)
        matching = time.process_time() - start
        repeats = 200
        start = time.process_time()
        for _ in range(repeats):
            valid = valid_values(buckets, known)
        graph = (time.process_time() - start) / repeats
        place = [known.values.index(value) for value in buckets.values]
        same = np.array_equal(valid.allowed, slow[:, place])
        lines.append(
            f"| {size} | {1e3 * matching:,.1f} | {1e3 * graph:.2f} | {matching / graph:,.0f} | {'yes' if same else 'no'} |"
        )
    return "\n".join(lines)


def against_listing() -> str:
    """Lines of the table: probabilities by counting states, and by listing all assignments."""
    lines = []
    for size in (5, 6, 7, 8):
        buckets, known, own = one_group(size, seed=size)
        start = time.process_time()
        may = ~known.patterns[known.kind]
        fitting = [given for given in permutations(own.tolist()) if all(may[row, value] for row, value in enumerate(given))]
        slow = [Counter(given[row] for given in fitting) for row in range(size)]
        listing = time.process_time() - start
        valid = valid_values(buckets, known)
        repeats = 200
        start = time.process_time()
        for _ in range(repeats):
            shares = share_values(valid)
        counting = (time.process_time() - start) / repeats
        cells = valid.cells
        places = [range(int(cells.rows[cell]), int(cells.rows[cell + 1])) for cell in cells.cell.tolist()]
        worst = max(
            abs(float(shares.share[place]) - slow[row][known.values.index(buckets.values[buckets.value[cells.entries[place]]])] / len(fitting))
            for row in range(size)
            for place in places[row]
        )  # fmt: skip
        lines.append(f"| {size} | {1e3 * listing:,.1f} | {1e3 * counting:.2f} | {listing / counting:,.0f} | {worst:.0e} |")
    return "\n".join(lines)


def attacks() -> str:
    """Lines of the table: attacks and utility on whole releases."""
    lines = []
    for n in (100_000, 1_000_000):
        table, known = made(n)
        group = group_people(table.sa.codes, known.kind, known.patterns, least=SIZE, method="balanced").group
        buckets = Buckets.of(table.qi, table.sa, group)
        valid, graph = timed(lambda: valid_values(buckets, known))  # noqa: B023 - called at once
        _, counting = timed(lambda: share_values(valid))  # noqa: B023
        model, learning = timed(lambda: learn(valid))  # noqa: B023
        _, guessing = timed(lambda: guess(valid, model))  # noqa: B023
        _, measuring = timed(lambda: utility(buckets, data=table))  # noqa: B023
        _, matching = timed(lambda: utility(shuffled(buckets), data=table))  # noqa: B023
        lines.append(
            f"| {n:,} | {graph:.2f} | {counting:.2f} | {learning:.2f} + {guessing:.2f} | {measuring:.1f} | {matching:.1f} |"
        )
    return "\n".join(lines)


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """What a call returns, and its CPU seconds."""
    start = time.process_time()
    found = call()
    return found, time.process_time() - start


def run() -> str:
    """The section of the page."""
    for size in (2, 6):  # compiled once
        buckets, known, _ = one_group(size, seed=1)
        share_values(valid_values(buckets, known))
    return f"""## Bucketized releases

`tacit bucketize` as a separate process, from a CSV file of people with seven columns and a file of rules to the two tables: read, group, place
the rest, verify, audit, write; l = {SIZE}. Synthetic data like Adult. Goals: 1,000,000 people in 4 s and 2 GB, 10,000,000 in 60 s, growth no
worse than linear.

| people | seconds | CPU s | CPU microseconds per person | peak GB |
| ---: | ---: | ---: | ---: | ---: |
{growth()}

Valid values of everybody in one group (B01): the value graph, compared with Figure 1 of the paper (corrected), a matching (scipy) for every pair
of a person and a value. Milliseconds; a call of the graph is mostly overhead, which many groups share.

| people | matching ms | graph ms | times | same |
| ---: | ---: | ---: | ---: | --- |
{against_matching()}

Probabilities in one group (B02): counting states, compared with listing all assignments.

| people | listed ms | counted ms | times | largest difference |
| ---: | ---: | ---: | ---: | ---: |
{against_listing()}

Whole releases, CPU seconds: valid values, probabilities, correlations over all groups (learning + use), and all measures of `tacit compare`, of
a release in the order of the data and of one in its own order, whose people are matched with the data. Goal: 1,000,000 people in 5 s.

| people | B01 | B02 | B03 | utility | utility, shuffled |
| ---: | ---: | ---: | ---: | ---: | ---: |
{attacks()}
"""


if __name__ == "__main__":
    print(run())
