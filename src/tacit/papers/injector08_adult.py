"""Table III and Figures 3 to 5 of *Injector*, on Adult, and what is past the paper.

The heights of the points of Figures 4 to 8 stand in pictures only: what is judged are the sentences about them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from tacit.buckets.grouping import Method, form_groups
from tacit.mining.negative import mine_negative_rules
from tacit.model.policy import Limits
from tacit.model.reproduction import Cell, Chart, Claim, Judged, Part, Reading, Standing, Timed, judge_readings
from tacit.papers.bench import confirm, read_adult
from tacit.papers.injector08_trial import (
    AGES,
    AXES,
    DRAWN,
    DRAWS,
    EXPECTATIONS,
    GROUPINGS,
    SETTINGS,
    Trial,
    age_tree,
    form_recipes,
)

#: Figure 3: how many rules, and the percentage of people with 1, 2, 3, 4 and at least 5 values ruled out.
FIGURE_3 = {
    0.75: (45, 80.4, 15.9, 2.3, 1.2, 0.2),
    0.80: (39, 84.6, 12.2, 2.1, 1.0, 0.1),
    0.85: (32, 87.5, 9.2, 2.0, 1.0, 0.0),
    0.90: (22, 87.9, 9.2, 2.5, 0.4, 0.0),
    0.95: (15, 96.2, 1.8, 2.0, 0.0, 0.0),
}
#: Table III: number of values, and height of the tree.
TABLE_III = {
    "age": (74, 5),
    "workclass": (8, 3),
    "education": (16, 4),
    "marital-status": (7, 3),
    "race": (5, 3),
    "sex": (2, 2),
    "occupation": (14, None),
}


def describe_data(trial: Trial) -> list[Part]:
    """Table III."""
    used = {column.name: len(column.values) for column in trial.people.columns}
    whole: dict[str, int] = {}
    # A row with '?' lacks a workclass or an occupation: read apart, neither hides values of the other columns.
    for names in (("age", "education", "marital-status", "race", "sex"), ("workclass",), ("occupation",)):
        table = read_adult(trial.path, qi=names, sa="salary", missing_rule="drop")
        whole |= {name: len(table.column(name).values) for name in names}
    height = {name: 2 + max(map(len, tree.levels.values())) for name, tree in trial.trees.items()}
    rows: list[tuple[Cell, ...]] = []
    for name, (values, levels) in TABLE_III.items():
        made = None if levels is None else height.get(name, 2)
        rows.append((name, values, whole[name], used[name], levels, made))
    apart = [f"{row[0]} {row[2]} for {row[1]}" for row in rows if row[1] != row[2]]
    flat = [f"{row[0]} {row[5]} for {row[4]}" for row in rows if row[4] != row[5]]
    height["age"] = 2 + len(AGES)
    flat_besides = [name for name, (_, levels) in TABLE_III.items() if levels is not None and height.get(name, 2) != levels]
    claims = [
        Claim(
            "Table III",
            "numbers of values",
            confirm(not apart),
            f"in the training file {', '.join(apart)}; the test file is not read" if apart else "",
        ),
        judge_readings(
            "Table III",
            "heights of the trees",
            [
                (Reading("no tree of ages", ""), Judged(confirm(not flat), ", ".join(flat) or "all")),
                (Reading("ages in intervals of 5, 10, 20", ""), Judged(confirm(flat_besides == []), "all")),
            ],
        ),
    ]
    head = ("column", "values: paper", "training file", "rows used", "height: paper", "Tacit")
    reading = f"the training file of Adult, and its {trial.people.n:,} rows without '?' in a column that is used; the root counts as a level."
    note = "Without a tree of ages the numbers of Figure 3 come closest; with intervals of 5, 10 and 20 years it has the paper's height."
    return [Part("table-3", "Table III: the data", reading, head, rows=tuple(rows), claims=tuple(claims), note=note)]


def rules(trial: Trial) -> list[Part]:
    """Figure 3."""
    numbers = {one: _numbers_of_rules(trial, one) for one in EXPECTATIONS}
    people = [row for one in EXPECTATIONS for row in _people_by_values(trial, one)]
    paper = [FIGURE_3[one][0] for one in EXPECTATIONS]
    listed = ", ".join(map(str, paper))
    readings = (
        Reading("single columns", "antecedents of one column", "its numbers are of the size of the paper's"),
        Reading("single columns, ages in intervals", "as before, with a tree of ages as high as in Table III"),
        Reading("conjunctions", "antecedents of any number of columns, as Section IV-A defines them"),
    )
    counted = [[numbers[one][place] for one in EXPECTATIONS] for place in range(len(readings))]
    judged = [
        (reading, Judged(_judge_numbers(paper, found), ", ".join(f"{number:,}" for number in found)))
        for reading, found in zip(readings, counted, strict=True)
    ]
    close = {one: sum(abs(told - ours) < 0.1 for at, _, told, ours in people if at == one) for one in EXPECTATIONS}
    without = max(row[3] for row in people if row[1] == "N0")
    single = counted[0]
    found = trial.rules(0.9).rules
    mined = {(tuple(record["nodes"].items()), record["excluded"]) for record in found.records()}
    named = {
        "{Workclass = Government} => not Priv-house-serv": ((("workclass", "Government"),), "Priv-house-serv"),
        "{Education = Doctorate} => not Handlers-cleaners": ((("education", "Doctorate"),), "Handlers-cleaners"),
    }
    claims = [
        judge_readings("Figure 3", f"numbers of rules {listed}", judged),
        Claim("Figure 3", "the number of rules falls as the expectation rises", confirm(single == sorted(single, reverse=True))),
        Claim(
            "Figure 3",
            "every person has a value ruled out (N0 is 0)",
            confirm(without < 0.1),
            f"all but {without:g} % at the most",
        ),
        *(
            Claim(
                "Figure 3",
                f"percentages of people N0 to N5+ at {one:.2f}",
                "confirmed" if close[one] == 6 else "open",
                f"{close[one]} of 6 agree to 0.1{'' if close[one] == 6 else '; the trees, which decide, are not printed'}",
            )
            for one in EXPECTATIONS
        ),
        *(Claim("Section VI", f"{text} is among the rules", confirm(rule in mined)) for text, rule in named.items()),
    ]
    reading = (
        f"{trial.people.n:,} people of the training file without '?' in a column that is used; all levels of the trees counted, rules that "
        "follow from others too. The trees are ours: the paper does not print its own."
    )
    lines = (
        ("paper", tuple(zip(EXPECTATIONS, map(float, paper), strict=True))),
        ("Tacit", tuple(zip(EXPECTATIONS, map(float, single), strict=True))),
    )
    head = ("min. expectation", "paper", *(one.name for one in readings), "minimal ones of single columns")
    rows = tuple(
        (one, told, *numbers[one], trial.rules(one).rules.minimal_rules) for one, told in zip(EXPECTATIONS, paper, strict=True)
    )
    return [
        Part(
            "figure-3-rules",
            "Figure 3: how many negative rules there are",
            reading,
            head,
            rows=rows,
            claims=tuple(claims),
            note="The paper defines antecedents as conjunctions; its numbers are of the size of those of single columns.",
            chart=Chart("min. expectation", "rules", lines, logarithmic=False),
        ),
        Part(
            "figure-3-people",
            "Figure 3: people by how many values are ruled out, percent",
            "as above, for single columns; N3 is the percentage of people with three values ruled out.",
            ("min. expectation", "values", "paper", "Tacit"),
            tuple(people),
        ),
    ]


def _judge_numbers(paper: Sequence[int], found: Sequence[int]) -> Standing:
    """Judge numbers of rules: other trees may change them somewhat, not tenfold."""
    if list(found) == list(paper):
        return "confirmed"
    return "open" if max(found) < 10 * max(paper) else "not confirmed"


def _numbers_of_rules(trial: Trial, expectation: float) -> list[int]:
    with_ages = trial.trees | {"age": age_tree(trial.people)}
    single = trial.rules(expectation).rules
    aged = mine_negative_rules(trial.people, hierarchies=with_ages, min_expectation=expectation, max_length=1)
    joint = mine_negative_rules(trial.people, hierarchies=trial.trees, min_expectation=expectation)
    return [len(single), len(aged), len(joint)]


def _people_by_values(trial: Trial, expectation: float) -> list[tuple[float, str, float, float]]:
    excluded = (100 * trial.rules(expectation).rules.excluded_values / trial.people.n).tolist()
    ours = [*(excluded + [0.0] * 5)[:5], sum(excluded[5:])]
    paper = (0.0, *FIGURE_3[expectation][1:])
    names = ("N0", "N1", "N2", "N3", "N4", "N5+")
    return [(expectation, name, told, round(found, 2)) for name, told, found in zip(names, paper, ours, strict=True)]


def vulnerable(trial: Trial) -> list[Part]:
    """Figure 4."""
    found = {setting: {grouping: trial.vulnerable(grouping, *setting) for grouping in GROUPINGS} for setting in SETTINGS}
    parts = []
    for axis in AXES:
        points = {x: found[setting] for x, setting in axis.points}
        most = max(max(row["Injector"]) for row in points.values())
        least = min(float(np.mean(row["Anatomy"])) for row in points.values())
        claims = (
            Claim(
                "Figure 4",
                f"Injector leaves nobody vulnerable, by {axis.name}",
                confirm(most == 0),
                f"{most} in {DRAWS} draws each",
            ),
            Claim(
                "Figure 4",
                f"Anatomy leaves people vulnerable, by {axis.name}",
                confirm(least > 0),
                f"{least:,.0f} or more on average",
            ),
        )
        trial.settled.append(claims[0])
        how = "people with fewer than l possible values for whoever knows the rules, by matching; means."
        rows = tuple((x, *(round(float(np.mean(drawn)), 1) for drawn in row.values())) for x, row in points.items())
        lines = tuple((name, tuple((x, float(np.mean(row[name]))) for x, row in points.items())) for name in GROUPINGS)
        parts.append(
            Part(
                f"figure-4{axis.letter}",
                f"Figure 4 ({axis.letter}): vulnerable people by {axis.name}",
                f"{how} {DRAWN} n = {trial.people.n:,}. {axis.fixed}",
                (axis.name, *GROUPINGS),
                rows=rows,
                claims=claims,
                chart=Chart(axis.name, "people", lines, logarithmic=False),
            )
        )
    return parts


def run_times(trial: Trial) -> list[Part]:
    """Figure 5."""
    rows: list[tuple[Cell, ...]] = []
    n = trial.people.n
    for least, expectation in SETTINGS:
        mined = trial.rules(expectation)
        where = f"min. expectation {expectation:g}, l = {least}, n = {n}"
        trial.bench.times.append(Timed("Figure 5", where, "mining", mined.seconds))
        classes = trial.classes(expectation, 0)
        for grouping in GROUPINGS:
            start = time.perf_counter()
            if grouping == "Anatomy":
                trial.group("anatomy", least, mined.known, 0)
            else:
                form_recipes(classes, least, grouping).assign(classes, n, seed=0)
            trial.bench.times.append(Timed("Figure 5", where, grouping, time.perf_counter() - start))
        _, left = form_groups(classes, least, "injector", Limits())
        chosen = n - int(left.sum())
        scanned = chosen * n - chosen * (chosen - 1) // 2
        anatomy = n + n // least * len(trial.people.sa.values)
        rows.append((expectation, least, anatomy, scanned, chosen * len(classes)))
    ratios = [[int(row[place]) / int(row[2]) for row in rows] for place in (3, 4)]  # type: ignore[arg-type]
    told = [f"{min(ratio):,.0f} to {max(ratio):,.0f} times as many steps" for ratio in ratios]
    claims = (
        Claim(
            "Figure 5",
            "bucketizing takes roughly as long as Anatomy",
            "open",
            f"a statement about seconds of unknown programs. By steps: as printed {told[0]}, with equal people looked at once {told[1]}",
        ),
        Claim(
            "Figure 5",
            "both take seconds, and mining the rules takes longest",
            "not applicable",
            "depends on the machine; seconds of this one are in run-times.csv",
        ),
    )
    head = ("min. expectation", "l", "Anatomy: steps", "Figure 2 as printed: steps", "classes looked at once: steps")
    reading = (
        f"n = {n:,}. A step of Anatomy is a person taken, or a bucket looked at to find the l largest; one of Figure 2 is a person (or a class "
        "of people with equal value and equal values ruled out) whose NIT is worked out to choose a member. Steps for groups that fail, and for "
        "people left over, are not counted."
    )
    return [Part("figure-5", "Figure 5: run time", reading, head, rows=tuple(rows), claims=claims)]


def conclude(trial: Trial) -> list[Part]:
    """Section III."""
    good = [claim for claim in trial.settled if claim.standing == "confirmed"]
    bad = [claim for claim in trial.settled if claim.standing != "confirmed"]
    listed = ", ".join(dict.fromkeys(claim.item for claim in bad))
    rows = [(claim.item, claim.says, claim.standing) for claim in trial.settled]
    why = f"{len(good)} of {len(rows)} statements are confirmed; {listed} are not under every reading" if bad else ""
    claim = Claim("Section III", "knowledge improves privacy and utility at the same time", confirm(not bad), why)
    reading = "Figure 4 is about privacy, Figures 6 to 8 are about utility; what each comes to, for Injector."
    return [
        Part(
            "conclusion",
            "Section III: both privacy and utility",
            reading,
            ("where", "what", "standing"),
            rows=tuple(rows),
            claims=(claim,),
        )
    ]


def beyond(trial: Trial) -> list[Part]:
    """Past the paper: rules about several columns, and what can be guessed."""
    single = trial.rules(0.9)
    several = trial.conjunctive()
    rows: list[tuple[int, str, Method, int, int, float, float]] = []
    methods: tuple[Method, ...] = ("anatomy", "balanced")
    for least in (3, 6):
        for name, mined in (("single columns, min. expectation .9", single), ("any columns, Bonferroni .05", several)):
            for method in methods:
                buckets = trial.release(trial.group(method, least, mined.known, 0))
                exposed = int(np.count_nonzero(trial.valid(buckets, mined.known).counts < least))
                shares = [round(100 * share, 1) for share in trial.guessed(buckets, mined.known)]
                rows.append((least, name, method, exposed, int(buckets.sizes.max()), shares[0], shares[1]))
    most = {method: max(row[3] for row in rows if row[2] == method) for method in methods}
    alone, right = ([row[place] for row in rows] for place in (5, 6))
    note = (
        f"{several.rules.minimal_rules:,} minimal rules about several columns are no chance. For whoever knows such rules up to "
        f"{most['anatomy']:,} people are vulnerable with Anatomy, and {most['balanced']:,} in balanced groups. No grouping bounds what all "
        f"groups show together (B03): its guesses are right for {min(right)} to {max(right)} % of the people, and by the group alone for "
        f"{min(alone)} to {max(alone)} %."
    )
    head = ("l", "rules known", "grouping", "vulnerable", "largest group", "guess by group right, %", "guess by B03 right, %")
    reading = "one draw each; how often the most frequent value of the group, and the most probable one by B03, is the true one."
    return [Part("beyond", "Past the paper: stronger rules, and guesses that need none", reading, head, tuple(rows), note=note)]
