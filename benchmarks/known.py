"""What several releases about the same known people say together: estimates (R02) and hard bounds (R03), on census data.

``python -m benchmarks.known`` prints the section, with ``TACIT_BENCH_DATA`` naming a folder with ``adult.csv.gz``; without it there is nothing
to measure.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import tacit
from benchmarks.mining import table
from benchmarks.rules import census
from tacit.joint import certain_values
from tacit.known import sensitive_values
from tacit.known.case import RuleCase
from tacit.known.sensitive_values import compare
from tacit.model.audit import Audit, Target
from tacit.model.people import Population
from tacit.model.policy import Limits, Policy
from tacit.model.table import Table
from tacit.solve.solver import end_workers
from tacit.verbs.known import posteriors_of, several_case

#: Seconds that bounds may take.
PATIENCE = 60.0

TEXT = """\
The census data of the UCI repository (30,162 people without missing values, 7,722 combinations of eight quasi-identifiers, two values of the
salary), published in several ways: the distribution of the salary; the {rules} rules with a support of at least 10 % and a confidence of at
least 90 %, exact and not declared complete; the leaves of decision trees of depth 4 and 6 with their counts; tables of two columns and the
salary with cells below 10 hidden. *Entropy* is the uncertainty of the estimate, *D_overall* its divergence from the truth (both in nats). People
are *certain* if they have the same value in every database that fits, and *bounded* if a nontrivial bound is proved for some value of their
combination. Releases together give much sharper estimates than each alone; the number of certain people grows slowly. The search for bounds
takes up to {patience:.0f} seconds; what is open then is counted, and the listed bounds hold.
"""


def releases(people: Table) -> Mapping[str, Sequence[Any]]:
    """The rows of the table: what is published together."""
    salary = tacit.tabulate(people, by="salary")
    rules = tacit.mine_rules(people, min_support="0.1", min_confidence="0.9", incomplete=True)
    small, large = (leaves(people, depth) for depth in (4, 6))
    jobs = tacit.tabulate(people, by="occupation,education,salary", hide_below=10)
    countries = tacit.tabulate(people, by="native-country,marital-status,salary", hide_below=10)
    return {
        "salary": [salary],
        "rules": [rules],
        "tree of depth 4": [small],
        "tree of depth 6": [large],
        "occupation x education": [jobs],
        "country x marital status": [countries],
        "tree of depth 4, rules, salary": [small, rules, salary],
        "both tables": [jobs, countries],
        "tree of depth 6, rules, salary, both tables": [large, rules, salary, jobs, countries],
    }


def leaves(people: Table, depth: int) -> tacit.Rules:
    """A decision tree over the quasi-identifiers as a release of its leaves."""
    from sklearn.tree import DecisionTreeClassifier

    columns = people.qi.columns
    features = [f"{column.name}={value}" for column in columns for value in column.values]
    has = np.concatenate([column.codes[:, None] == np.arange(len(column.values)) for column in columns], axis=1)
    target = [people.sa.values[code] for code in people.sa.codes.tolist()]
    fitted = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(has.astype(np.int8), target)
    return tacit.read_tree(fitted, features=features, sa=people.sa.name)


def measured(name: str, published: Sequence[Any], people: Table) -> list[str]:
    """A row of the table."""
    case = several_case(published, known=people.qi)
    assert case is not None
    begun = time.perf_counter()
    guessed = sensitive_values.run(Target(published[0], Policy(), case=case))
    estimated = time.perf_counter() - begun
    begun = time.perf_counter()
    proved = certain_values.run(Target(published[0], Policy(), Limits.within(2 * PATIENCE), case=case))
    bounded = time.perf_counter() - begun
    audit = Audit((), {}, Policy(), (guessed, proved), {}, {}, posteriors_of([case], [guessed, proved]))
    lower, upper = proved.details["lower"], proved.details["upper"]
    some = int(case.population.people[((lower > 0) | (upper < 1)).any(axis=1)].sum())
    finished = proved.status == "ran"
    return [
        name,
        f"{case.n_lines:,}",
        f"{guessed.measures['posterior_entropy']:.6f}",
        f"{compare(audit, people).D_overall:.5f}",
        f"{estimated:.2f} s",
        f"{int(proved.measures['people_certain'] or 0):,}",
        f"{some:,}" if finished else f"not finished ({proved.undecided:,} open)",
        f"{bounded:.1f} s",
    ]


RULES_TEXT = """\
R03 on exact rules of the same data with a confidence of at least 60 %. The lists are complete, so that missing rules count as well. A pair is a
combination of quasi-identifiers and a value. It is decided if it is proved that nobody has it, or a world of whole people has somebody with it.
*Decide* is CPU time until all of this and the tight bounds are found, or until the usual work is done (without `--time-limit`), *write* the
time for the proofs of the first 100 findings. *Memory* is the peak of the process. Corners of these programs are not whole people. Worlds come
from exchanges of people that keep all exact rules: Gaussian elimination finds them with pivots of 1 and -1, a search mends what an exchange
breaks, and the first world is mended from people in the middle of all that is possible. Before, an integer program found each world: 127 pairs
of the larger list stayed open after 160 seconds.
"""


def bounded_rules(people: Table, support: str) -> list[str]:
    """A row about rules alone."""
    rules = tacit.mine_rules(people, min_support=support, min_confidence="0.6")
    case = RuleCase(rules, Population.of(people.qi))
    begun = cpu_seconds()
    found = certain_values.run(Target(rules, Policy(), case=case))
    decided = cpu_seconds()
    assert found.show is not None
    for index in range(min(100, found.findings)):
        found.show(index)
    written = cpu_seconds()
    pairs = len(case.population) * len(case.values)
    return [
        support,
        f"{len(rules):,}",
        f"{pairs - found.undecided:,} of {pairs:,}",
        f"{int(found.measures['bounds_open'] or 0):,}",
        f"{int(found.measures['people_certain'] or 0):,}",
        f"{decided - begun:.1f} s",
        f"{written - decided:.1f} s",
        f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB",
    ]


def cpu_seconds() -> float:
    """CPU time so far, that of ended workers included."""
    end_workers()
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def run() -> str:
    """The section; empty without the data."""
    people = census()
    if people is None:
        return ""
    published = releases(people)
    head = ["published", "lines", "entropy", "D_overall", "estimate", "certain people", "bounded people", "bounds"]
    rows = [measured(name, listed, people) for name, listed in published.items()]
    told = TEXT.format(rules=len(published["rules"][0]), patience=PATIENCE)
    several = f"## Known people, several releases\n\n{told}\n{table(head, rows)}\n"
    head = ["support", "rules", "pairs decided", "bounds open", "certain people", "decide", "write", "memory"]
    rows = [bounded_rules(people, support) for support in ("0.1", "0.02")]
    return f"{several}\n## Known people, rules\n\n{RULES_TEXT}\n{table(head, rows)}\n"


if __name__ == "__main__":
    print(run())
