"""*Injector: Mining Background Knowledge for Data Anonymization*, ICDE 2008.

Here is what needs no data: Tables I and II, the definitions, and Figures 1 and 2 run as printed. Figures 3 to 5 are in
:mod:`tacit.papers.injector08_adult`, Figures 6 to 8 in :mod:`tacit.papers.injector08_utility`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import combinations, product

import numpy as np

from tacit.buckets.classes import Classes, Feasible, valid_values
from tacit.buckets.grouping import group_people
from tacit.files.buckets import read_buckets
from tacit.files.tables import read_table
from tacit.mining.negative import mine_negative_rules
from tacit.model.arrays import Flags, Ints
from tacit.model.errors import Infeasible
from tacit.model.policy import Policy
from tacit.model.reproduction import Claim, Part
from tacit.papers import injector08_adult as adult
from tacit.papers import injector08_utility as utility
from tacit.papers.bench import Bench, Row, fact, facts_part, run_on_adult
from tacit.papers.injector08_printed import (
    Bucketized,
    Check,
    Counts,
    Group,
    Person,
    bucketize_as_printed,
    check_as_printed,
    check_by_definition,
    check_corrected,
    count_incompatible,
    meets,
    random_people,
)
from tacit.papers.injector08_trial import EXPECTATIONS, Trial
from tacit.verbs.audit import audit

ITEMS: tuple[str, ...] = (
    "Table I",
    "Table II",
    "Section II",
    "Section III",
    "Section IV-A",
    "Section IV-B",
    "Section IV-C",
    "Section V-A",
    "Definition 1",
    "Figure 1",
    "Section V-B",
    "Figure 2",
    "Definition 2",
    "Section V-C",
    "Table III",
    "Section VI",
    "Figure 3",
    "Figure 4",
    "Figure 5",
    "Figure 6 (a)",
    "Figure 6 (b)",
    "Figure 7",
    "Figure 8",
    "Section VIII-A",
    "Section VIII-B",
    "Section VIII-C",
)
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
TABLES = 200  #: Small random tables that the algorithms are run on.


def reproduce(bench: Bench) -> tuple[tuple[Part, ...], tuple[str, ...]]:
    """Return the parts of the paper, and those left out."""
    parts = [example(), mining(), checking(), bucketizing(), definitions()]
    steps: list[Callable[[Trial], list[Part]]] = [
        adult.describe_data,
        adult.rules,
        adult.vulnerable,
        adult.run_times,
        utility.rule_errors,
        utility.query_errors,
        adult.conclude,
        adult.beyond,
    ]
    # Other people than the paper's may not be feasible.
    what = "Table III and Figures 3 to 8"
    return run_on_adult(bench, parts, what, partial(Trial.read, bench=bench), steps, excuses=(Infeasible,))


def example() -> Part:
    """Tables I and II: Anatomy against knowledge about ovarian cancer."""
    columns = zip(*(line.split() for line in TABLE_I), strict=True)
    table = dict(zip(("zip", "age", "sex", "disease", "group"), map(list, columns), strict=True))
    buckets = read_buckets(
        qit={name: table[name] for name in ("zip", "age", "sex", "group")},
        st={name: table[name] for name in ("group", "disease")},
    )
    knowledge = [({"sex": "M"}, "Ovarian"), ({"sex": "F"}, "Prostate")]
    found = audit(buckets, knowledge=knowledge, policy=Policy(l=2), attacks=["B01"])
    events = [finding.event.to_dict() for finding in found.findings]
    bob = next((event["disease"] for event in events if event["sex"] == ["M"] and event["group"] == ["1"]), [])
    without = audit(buckets, policy=Policy(l=2), attacks=["B01"])
    true = [(sex, disease) for sex, disease in zip(table["sex"], table["disease"], strict=True)]
    values = sorted(set(table["disease"]))
    codes = np.array([values.index(value) for value in table["disease"]])
    anatomy = group_people(codes, np.zeros_like(codes), np.zeros((1, len(values)), np.bool_), least=2, method="anatomy")
    pinned = int(found.measures["pinned"] or 0)
    return facts_part(
        "example",
        "Tables I and II: a background knowledge attack on Anatomy",
        "the known facts are that no man has ovarian and no woman prostate cancer.",
        [
            fact(
                "Table I",
                "people who contradict the known facts",
                0,
                sum(one in (("M", "Ovarian"), ("F", "Prostate")) for one in true),
            ),
            fact("Table II", "lines of the sensitive table", 6, len(buckets.value)),
            fact(
                "Table II",
                "groups that the anatomizing algorithm forms of Table I, l = 2",
                len(buckets),
                int(anatomy.group.max()) + 1,
                "it forms groups of l people with l values, and fewer than l people are left over to join them; the printed groups have three "
                "people with two values each",
            ),
            fact("Section II", "what Bob, the man of the first group, can have", "Prostate", ", ".join(bob)),
            fact("Section II", "people whose value is certain without the knowledge", 0, int(without.measures["pinned"] or 0)),
        ],
        f"With the knowledge the values of {pinned} people are certain: those of both women of Bob's group as well.",
    )


def mining() -> Part:
    """Section IV: expectation, fuzzy values, and the two conditions."""
    shares = [Fraction(number, 20) for number in range(1, 20)]
    cases = list(product(shares, EXPECTATIONS, range(61)))
    same = sum(_is_expected(*case) == _is_supported(*case) for case in cases)
    ages = ["21"] * 40 + ["20", "22"] * 40
    paid = ["30K"] * 40 + ["30K", "30K", "50K", "50K"] * 20
    people = read_table({"age": ages, "salary": paid}, qi="age", sa="salary")
    exact = _rules_of(mine_negative_rules(people, min_expectation=0.9).records())
    fuzzy = _rules_of(mine_negative_rules(people, min_expectation=0.9, fuzzy={"age": 1}).records())
    rule = ((("age", "21"),), "50K")
    rows = [
        fact("Section IV-A", "P(X) >= Sup_Y is the same as expectation >= minExp: cases that agree", len(cases), same),
        fact("Section IV-B", "{Age = 21} => not {Salary = 50K} by ages of exactly 21", "holds", _holds(rule in exact)),
        fact("Section IV-B", "the same if many people of 20 and 22 have 50K", "does not hold", _holds(rule in fuzzy)),
    ]
    names = ("area", "sex", "disease")
    patients = [(line[:3], *line.split()[2:4]) for line in TABLE_I]
    table = read_table(
        {name: list(column) for name, column in zip(names, zip(*patients, strict=True), strict=True)},
        qi=["area", "sex"],
        sa="disease",
    )
    for confidence in ("1", "0.75"):
        mined = mine_negative_rules(table, min_expectation=0.5, min_confidence=Fraction(confidence))
        slow = _rules_by_definition(names[:-1], patients, Fraction(1, 2), Fraction(confidence))
        what = f"rules of Table I by the two conditions, as by the definition; minExp .5, minConf {confidence}"
        rows.append(
            fact(
                "Section IV-C", what, len(slow), len(slow & _rules_of(mined.records())) if len(mined) == len(slow) else len(mined)
            )
        )
    return facts_part(
        "mining",
        "Section IV: what a negative rule is",
        "made-up ages; Table I with the first three digits of the zip code. Fuzzy: a distance of one year counts half, degrees are multiplied.",
        rows,
        "P(Z) of Section IV-B lacks the division by n that Section IV-A has: degrees are counted.",
    )


def _holds(found: bool) -> str:
    return "holds" if found else "does not hold"


def _is_expected(share: Fraction, expectation: float, people: int) -> bool:
    return 1 - (1 - share) ** people >= Fraction(str(expectation))


def _is_supported(share: Fraction, expectation: float, people: int) -> bool:
    return people >= math.log(1 - expectation, 1 - float(share)) - 1e-9


def _rules_of(records: Iterator[dict[str, object]]) -> set[object]:
    return {(tuple(dict(record["nodes"]).items()), record["excluded"]) for record in records}  # type: ignore[call-overload]


def _rules_by_definition(
    names: Sequence[str], rows: Sequence[tuple[str, ...]], expectation: Fraction, confidence: Fraction
) -> set[object]:
    """Look at every antecedent and value, one by one."""
    found: set[object] = set()
    values = sorted({row[-1] for row in rows})
    for size in range(1, len(names) + 1):
        for chosen in combinations(range(len(names)), size):
            for wanted in {tuple(row[place] for place in chosen) for row in rows}:
                inside = [row for row in rows if tuple(row[place] for place in chosen) == wanted]
                for value in values:
                    share = Fraction(sum(row[-1] == value for row in rows), len(rows))
                    without = Fraction(sum(row[-1] != value for row in inside), len(inside))
                    if without >= confidence and 1 - (1 - share) ** len(inside) >= expectation:
                        found.add((tuple(zip((names[place] for place in chosen), wanted, strict=True)), value))
    return found


def woman_and_men(least: int) -> list[Person]:
    """Return the group of Section V-A: one woman with ovarian cancer and l men."""
    men = [Person(f"man {number}", f"disease {number}", frozenset({"ovarian"})) for number in range(1, least + 1)]
    return [Person("woman", "ovarian"), *men]


def checking() -> Part:
    """Section V-A, Figure 1."""
    levels = (2, 3, 4)
    mixed = [woman_and_men(least) for least in levels]
    simple = sum(
        all(sum(other.value not in person.barred for other in group) >= least for person in group)
        for least, group in zip(levels, mixed, strict=True)
    )
    women = {"/".join(sorted(check_by_definition(group, 0))) for group in mixed}
    free = [[Person(value, value) for value in "abcde"[:least]] for least in levels]
    groups = [random_people(seed, most=5) for seed in range(TABLES)]
    asked = [(group, least) for group in groups for least in (2, 3)]
    right = [meets(check_by_definition, *case) for case in asked]
    by_matching = sum(
        _valid_by_tacit(group) == [check_by_definition(group, one) for one in range(len(group))] for group in groups
    )

    def agree(check: Check) -> int:
        return sum(meets(check, *case) == answer for case, answer in zip(asked, right, strict=True))

    part = facts_part(
        "figure-1",
        "Section V-A and Figure 1: checking privacy",
        f"{TABLES} groups of four and five people with random values and exclusions, l = 2 and 3; by definition: all assignments one by one.",
        [
            fact("Section V-A", "groups of 1 woman and l men that meet the simple requirement, l = 2, 3, 4", len(levels), simple),
            fact("Section V-A", "what the woman can have", "ovarian", ", ".join(women)),
            fact("Section V-A", "random groups whose valid values by B01 are those of all assignments", len(groups), by_matching),
            fact(
                "Figure 1",
                "groups of l people with l values, nothing ruled out, that pass as printed, l = 2, 3, 4",
                len(levels),
                sum(meets(check_as_printed, group, least) for group, least in zip(free, levels, strict=True)),
                "a person's own value never counts: for t_j = t_i nobody leaves, and line 5 wants |g| - 1",
            ),
            fact(
                "Figure 1",
                "a man's valid values beside the woman and another man, as printed",
                "disease 1, disease 2",
                ", ".join(sorted(check_as_printed(mixed[0], 1))),
                "line 5 never asks whether t_i can take s_j",
            ),
            fact(
                "Figure 1",
                "answers for random groups as by Definition 1, as printed",
                len(asked),
                agree(check_as_printed),
                "both errors together; some groups that fail pass, others that pass fail",
            ),
            fact("Figure 1", "the same, both errors corrected", len(asked), agree(check_corrected)),
        ],
    )
    bound = Claim(
        "Section V-B",
        "checking takes O(|g|^4 p)",
        "confirmed",
        "each of |g|^2 pairs is matched once; augmenting paths take |g| searches of p edges, less than the |g|^2 p that is claimed",
    )
    return _with_claims(part, bound)


def _with_claims(part: Part, *claims: Claim) -> Part:
    return Part(part.name, part.title, part.reading, part.head, rows=part.rows, claims=(*part.claims, *claims), note=part.note)


def code(people: Group) -> tuple[tuple[str, ...], Ints, Ints, Flags]:
    """Return the values, each person's value and kind, and the values ruled out for each kind."""
    values = tuple(sorted({person.value for person in people}))
    kinds = sorted({person.barred for person in people}, key=sorted)
    sensitive = np.array([values.index(person.value) for person in people], np.int64)
    kind = np.array([kinds.index(person.barred) for person in people], np.int64)
    return values, sensitive, kind, np.array([[value in barred for value in values] for barred in kinds])


def _valid_by_tacit(group: Group) -> list[set[str]]:
    values, sensitive, kind, patterns = code(group)
    classes = Classes.of(sensitive, kind, patterns, seed=0)
    valid = valid_values(classes, np.arange(len(classes)))
    place = {(v, k): number for number, (v, k) in enumerate(zip(classes.value.tolist(), classes.kind.tolist(), strict=True))}
    marked = (valid[place[v, k]] for v, k in zip(sensitive.tolist(), kind.tolist(), strict=True))
    return [{values[number] for number in np.flatnonzero(row).tolist()} for row in marked]


def bucketizing() -> Part:
    """Section V-C, Figure 2."""
    tables = [random_people(seed) for seed in range(TABLES)]
    split = [(people[:2], people) for people in tables]
    formula = sum(Counts.of(people).incompatible(group) == count_incompatible(group, people) for group, people in split)
    grown = [(people[:-1], people) for people in tables if meets(check_corrected, people[:-1], 2)]
    asked = [(people, least) for people in tables for least in (2, 3)]
    able = [(people, least) for people, least in asked if not _feasible(people, least).short.any()]
    unable = [case for case in asked if case not in able]
    runs: dict[Check, list[Bucketized]] = {
        check: [bucketize_as_printed(*case, check) for case in able] for check in (check_as_printed, check_corrected)
    }
    ended = [bucketize_as_printed(*case, check_corrected) for case in unable]
    every = [(case, run) for run_list in runs.values() for case, run in zip(able, run_list, strict=True)]

    def done(check: Check) -> int:
        return sum(not run.stuck and _is_safe(run.groups, least) for (_, least), run in zip(able, runs[check], strict=True))

    rows: list[Row] = [
        fact("Section V-C", "tables where NIT by the formula is the number of Definition 2", len(tables), formula),
        fact(
            "Section V-C",
            "groups whose people have l valid values, and still have them when a person joins",
            len(grown),
            sum(all(len(check_corrected(larger, one)) >= 2 for one in range(len(group))) for group, larger in grown),
        ),
        fact(
            "Section V-C",
            "runs in which NIT is worked out at most l n^2 times",
            len(every),
            sum(run.evaluated <= least * len(people) ** 2 for (people, least), run in every),
        ),
        fact(
            "Figure 2",
            "feasible tables in which everybody ends with l valid values, Figures 1 and 2 as printed",
            len(able),
            done(check_as_printed),
            "Figure 1 lets people join groups in which they have fewer",
        ),
        fact(
            "Figure 2",
            "the same, Figure 1 corrected",
            len(able),
            done(check_corrected),
            "line 22 has no group left: people who are left over join one by one, and those who come later are missing",
        ),
        fact(
            "Figure 2",
            "the same by Tacit (method injector)",
            len(able),
            sum(_is_safe(_group_by_tacit(*case), case[1]) for case in able),
        ),
        fact(
            "Figure 2",
            "tables for which it ends, feasible or not, Figure 1 corrected",
            len(asked),
            sum(not run.stuck for run in (*runs[check_corrected], *ended)),
            f"{len(unable)} are not feasible, and then lines 19 and 22 have nothing to select; Tacit tests for that first",
        ),
        fact(
            "Figure 2",
            "runs in which N is that of the people in T after every round",
            len(every),
            sum(not run.wrong for _, run in every),
            "lines 8 and 9 count t_i again, though it leaves T: NIT is too large from then on",
        ),
    ]
    return facts_part(
        "figure-2",
        "Section V-C and Figure 2: forming groups",
        f"{TABLES} tables of four to nine people with random values and exclusions, l = 2 and 3. Feasible: everybody has l valid values with "
        "the whole table as one group. Of equally good people and groups the first is taken.",
        rows,
        _describe_case(),
    )


#: A feasible table that Figure 2 does not finish, l = 2.
CASE = (Person("1", "c"), Person("2", "d", frozenset("c")), Person("3", "c", frozenset("a")), Person("4", "a"))


def _describe_case() -> str:
    made = bucketize_as_printed(CASE, 2, check_corrected)
    told = "; ".join(
        f"{one.name} has {one.value}{', never ' * bool(one.barred)}{' or '.join(sorted(one.barred))}" for one in CASE
    )
    groups = _show(_group_by_tacit(CASE, 2))
    return f"A small feasible case, l = 2: {told}. As printed it ends at {made.stuck} with {_show(made.groups)}; Tacit's groups are {groups}."


def _show(groups: Sequence[Group]) -> str:
    return " ".join(sorted("{" + " ".join(sorted(person.name for person in group)) + "}" for group in groups))


def _feasible(people: Group, least: int) -> Feasible:
    _, sensitive, kind, patterns = code(people)
    return Feasible.of(Classes.of(sensitive, kind, patterns, seed=0), least)


def _is_safe(groups: Sequence[Group], least: int) -> bool:
    return all(meets(check_corrected, group, least) for group in groups)


def _group_by_tacit(people: Group, least: int) -> list[list[Person]]:
    _, sensitive, kind, patterns = code(people)
    group = group_people(sensitive, kind, patterns, least=least, method="injector").group.tolist()
    return [[person for person, number in zip(people, group, strict=True) if number == one] for one in sorted(set(group))]


def definitions() -> Part:
    """Definitions, and the outlook of Section VIII."""
    own = "no result is printed; Tacit's own version is documented in docs/bucketize.md and docs/negative.md"
    listed = (
        (
            "Definition 1",
            "matching l-diversity",
            "a definition: implemented as tacit.buckets.valid_values, by which B01 and bucketize judge",
        ),
        ("Definition 2", "incompatible people", "a definition: implemented as Classes.compatible_with of tacit.buckets.classes"),
        (
            "Section IV-B",
            "values as fuzzy sets",
            "a definition: implemented as --fuzzy of tacit mine negative, with the product of degrees",
        ),
        ("Section VIII-A", "other knowledge mined from the data", own),
        ("Section VIII-B", "a general model of knowledge, minConf below 1", own),
        ("Section VIII-C", "other uses of the knowledge, such as trees", own),
    )
    claims = tuple(Claim(item, what, "not applicable", why) for item, what, why in listed)
    return Part(
        "definitions",
        "Definitions and future work",
        "nothing is measured in these.",
        ("where", "what", "here"),
        rows=listed,
        claims=claims,
    )
