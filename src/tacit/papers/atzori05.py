"""Atzori, Bonchi, Giannotti, Pedreschi, *k-Anonymous Patterns*, PKDD 2005.

Every definition, example, theorem, algorithm and figure is settled on the running example, or on the data of Figures 2 and 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import comb, exp, log

from tacit.mining.itemsets import mine_itemsets
from tacit.model.finding import ItemEvent
from tacit.model.policy import Policy
from tacit.model.reproduction import Cell, Chart, Claim, Judged, Part, Reading, Standing, judge_readings
from tacit.model.table import Transactions
from tacit.papers.bench import (
    Bench,
    Database,
    Setting,
    confirm,
    counts_by_support,
    fact,
    facts_part,
    listed,
    pairs,
    subsets,
    work_part,
)
from tacit.verbs.audit import audit
from tacit.verbs.sweep import sweep_repairs

#: The matrix of Figure 1 (a) is a picture; this database has all the supports that the paper states.
RUNNING = Database("abcdefgh abcdeg abcde abcdefg abcde abcde abde aefg cdefg cde cdefgh abfg")
K = 3

F8 = {"": 12, "a": 9, "b": 8, "c": 9, "d": 10, "e": 11, "ab": 8, "ae": 8, "cd": 9, "ce": 9, "de": 10, "cde": 9}
CL8 = {"": 12, "a": 9, "e": 11, "ab": 8, "ae": 8, "de": 10, "cde": 9}
MCH6 = {("abde", "abcde"): 1, ("ae", "abcde"): 1, ("ab", "abcde"): 1, ("g", "fg"): 1, ("g", "eg"): 1}

#: Supports in percent: Figure 2 (b) shows 20 to 45; those of Figures 2 (a) and 3 stand in the pictures only.
TIMED = (45, 40, 35, 30, 25, 20)
THREATS = {"mushroom": (95, 90, 80, 70, 60, 50, 45, 40, 35, 30, 25, 20, 15, 10), "kosarak": (8.0, 4.0, 2.0, 1.6, 1.2, 0.8, 0.4)}
ACCIDENTS = (80, 75, 70, 65, 60)
LEVELS = (10, 25, 50, 100)
BLOCKED = 0.4  #: Support at which ways to block channels are compared.
#: Transactions of the data sets as the FIMI repository distributes them.
WHOLE = {"mushroom": 8_124, "kosarak": 990_002, "accidents": 340_183}
_DEFINITIONS = {
    "Definition 2": "binary databases and patterns: transactions, and what tacit explain --pattern takes",
    "Definition 3": "the support of a pattern: tacit explain --pattern",
    "Definition 4": "frequent itemsets: tacit mine itemsets",
    "Definition 5": "k-anonymous patterns: the policy's k",
    "Definition 6": "what follows in all compatible databases: the claim 'proves' of I01, I02 and X01",
    "Definition 7": "the problem: all groups of 1 to k-1 people that follow; I01 and I02",
    "Definition 9": "inference channels: findings of I01",
    "Definition 12": "all channels: the measure all_channels",
    "Definition 13": "closed itemsets: tacit mine itemsets --only closed",
    "Definition 14": "the order of channels: the twin of Definition 16 below",
}
ITEMS: tuple[str, ...] = (
    *(
        "Example 1",
        "Definition 2",
        "Definition 3",
        "Definition 4",
        "Figure 1 (a)",
        "Figure 1 (b)",
        "Figure 1 (c)",
        "Figure 1 (d)",
    ),
    *("Figure 1 (e)", "Definition 5", "Definition 6", "Definition 7", "Lemma 8", "Definition 9", "Example 10", "Theorem 11"),
    *("Section 3", "Definition 12", "Algorithm 1", "Section 4", "Definition 13", "Definition 14", "Proposition 15"),
    *("Definition 16", "Proposition 17", "Theorem 18", "Algorithm 2", "Figure 2 (a)", "Figure 2 (b)", "Figure 3 (a)"),
    *("Figure 3 (b)", "Section 5", "Section 6"),
)


def reproduce(bench: Bench) -> tuple[tuple[Part, ...], tuple[str, ...]]:
    """Return the parts of the paper, and those left out."""
    parts = [example_rule(), running_example(), theorems()]
    left_out = []
    mushroom = bench.people("mushroom")
    if mushroom is None:
        left_out.append(bench.missing("mushroom", "Figures 2 (a), 2 (b) and 3 (a)"))
    else:
        settings = {share: Setting(mushroom, share / 100, 10) for share in TIMED}
        parts.append(condensed(bench, "mushroom", settings))
        bench.progress(0.3)
        parts.append(run_times(bench, settings))
        bench.progress(0.6)
        parts.append(threats("mushroom", "Figure 3 (a)", mushroom))
        parts.append(blockers(mushroom))
    others: tuple[tuple[str, str, Callable[[Transactions], Part]], ...] = (
        ("accidents", "2 (a)", partial(_condensed_accidents, bench)),
        ("kosarak", "3 (b)", partial(threats, "kosarak", "Figure 3 (b)")),
    )
    for name, figure, make in others:
        people = bench.people(name)
        if people is None:
            left_out.append(bench.missing(name, f"The numbers of Figure {figure} about {name.upper()}"))
        else:
            parts.append(make(people))
    return tuple(parts), tuple(left_out)


def named(name: str, people: Transactions) -> str:
    """Return the name of a data set with its size.

    A cut file is named as cut.
    """
    whole = WHOLE[name]
    if people.n == whole:
        return f"{name.upper()} (n = {people.n:,})"
    return (
        f"the first {people.n:,} of the {whole:,} transactions of {name.upper()}"
        if people.n < whole
        else f"a file named {name} (n = {people.n:,})"
    )


def example_rule() -> Part:
    """Example 1: the antecedent's support, under every way of rounding."""
    together = 80
    printed = Fraction(987, 1000)
    unit = Fraction(1, 1000)
    prints_so: dict[str, Callable[[Fraction], bool]] = {
        "nearest": lambda confidence: abs(confidence - printed) <= unit / 2,
        "truncated": lambda confidence: printed <= confidence < printed + unit,
        "unknown": lambda confidence: abs(confidence - printed) < unit,
    }
    rows = []
    for rounding, fits in prints_so.items():
        fitting = [whole for whole in range(together, 2 * together) if fits(Fraction(together, whole))]
        numbers = " or ".join(str(whole) for whole in fitting) or "none"
        left_out = " or ".join(str(whole - together) for whole in fitting) or "none"
        rows.append((rounding, "81", numbers, "1", left_out, "yes" if fitting == [81] else "NO"))
    cut = Judged("confirmed", "80 of 81 is 98.77 %, cut to 98.7 %")
    nearest = Judged("not confirmed", "80 of 81 prints as 98.8 %, and no whole number prints as 98.7 %")
    readings = (
        (Reading("A", "the confidence is rounded to the nearest"), nearest),
        (Reading("B", "digits are cut off", "it is the only one of the usual rules that fits any whole number"), cut),
    )
    return Part(
        "example-1",
        "Example 1: a rule with support 80 and confidence 98.7 %",
        "the support of the antecedent is every whole number that prints so; the paper divides, 80 / 0.987 = 81.05, and rounds.",
        ("confidence printed by rounding", "antecedent: paper", "Tacit", "people left out: paper", "Tacit ", "agrees"),
        rows=tuple(rows),
        claims=(judge_readings("Example 1", "81 people have the antecedent, so 1 person lacks the consequent", readings),),
        note="How numbers were rounded decides what they give away.",
    )


def running_example() -> Part:
    """Figure 1 and the numbers of the text about it."""
    data = RUNNING
    people = RUNNING.people
    every = {
        name: audit(mine_itemsets(people, min_support=6, only="closed"), policy=Policy(k=K), attacks=["I01"], algorithm=name)
        for name in ("projection", "naive", "oicd")
    }
    maximal = {}
    for finding in every["projection"].findings:
        assert isinstance(finding.event, ItemEvent)
        present = "".join(finding.event.present)
        maximal[present, "".join(sorted(present + "".join(finding.event.absent)))] = finding.count.lo
    terms = [data.support(items) for items in ("b", "bd", "be", "bde")]
    lemma_8 = "{} - {} - {} + {} = {}".format(*terms, terms[0] - terms[1] - terms[2] + terms[3])
    rows = [
        fact("Figure 1 (b)", "people with a or f", 11, data.support("a") + data.support("f", "a")),
        fact("Figure 1 (b)", "people with e who lack b or d", 4, data.support("e") - data.support("bde")),
        fact("Figure 1 (b)", "people with h and not b", 1, data.support("h", "b")),
        fact("Figure 1 (b)", "supports of abc, abde, cd", "6 7 9", " ".join(str(data.support(x)) for x in ("abc", "abde", "cd"))),
        fact("Figure 1 (c)", "F(D, 8)", listed(F8), listed(_mine_words(people, 8, "all"))),
        fact("Figure 1 (d)", "Cl(D, 8)", listed(CL8), listed(_mine_words(people, 8, "closed"))),
        fact("Lemma 8", "b, neither d nor e", "8 - 7 - 7 + 7 = 1", lemma_8),
        fact("Example 10", "ab in abcde", 1, maximal.get(("ab", "abcde"))),
        fact(
            "Section 4",
            "ad in acd and abd in abcd are one person",
            "1 1",
            f"{data.support('ad', 'c')} {data.support('abd', 'c')}",
        ),
        fact("Figure 1 (e)", "MCh(3, Cl(D, 6))", pairs(MCH6), pairs(maximal)),
        fact("Algorithm 1", "all channels |Ch(3, F(D, 6))|", 58, every["naive"].measures["all_channels"]),
        fact("Section 4", "all channels by brute force over the database", 58, len(data.channels(6, K))),
        fact("Algorithm 2", "maximal channels", 5, every["oicd"].attack("I01").findings),
        *_errors(data, maximal),
    ]
    made = facts_part(
        "running-example",
        "Figure 1 and the running example",
        "the matrix of Figure 1 (a) is a picture that the text does not give; this database has every support that the paper states (so have "
        "others, which differ in where f, g and h stand).",
        rows,
    )
    drawn = "a picture that the text does not give; a database with every support that the paper states takes its place"
    defined = (Claim(item, "", "not applicable", f"a definition: {what}") for item, what in _DEFINITIONS.items())
    return replace(made, claims=(Claim("Figure 1 (a)", "", "not applicable", drawn), *defined, *made.claims))


def theorems() -> Part:
    """Propositions, theorems and the cost of Algorithm 1 on the running example."""
    data = RUNNING
    frequent = data.frequent(6)
    closed = {
        items
        for items, count in frequent.items()
        if not any(set(items) < set(other) and count == more for other, more in frequent.items())
    }
    largest = [items for items in frequent if not any(set(items) < set(other) for other in frequent)]
    sizes = {(part, whole): data.support(part, "".join(set(whole) - set(part))) for whole in frequent for part in subsets(whole)}
    order = [
        (one, other)
        for one in sizes
        for other in sizes
        if set(one[0]) <= set(other[0]) and set(one[1]) - set(one[0]) <= set(other[1]) - set(other[0])
    ]
    channels = data.channels(6, K)
    maximal = _maximal(channels)

    def closure(part: str) -> str:
        rows = [row for row in data.rows if row.issuperset(part)]
        return "".join(sorted(frozenset.intersection(*rows)))

    wrong = 0
    for (part, whole), size in channels.items():
        for above in largest:
            if set(whole) <= set(above):
                between = {closure(one) for one in subsets(above) if set(part) <= set(one)}
                addends = (
                    data.support(one, "".join(set(above) - set(one)))
                    for one in between
                    if set(closure(part)) <= set(one) <= set(above) and not set(one) & (set(whole) - set(part))
                )
                wrong += sum(addends) != size
    disjunctions = [(one, other) for one in sizes for other in sizes if one < other]
    small = 0
    without = 0
    for one, other in disjunctions:
        together = sum(_holds(row, one) or _holds(row, other) for row in data.rows)
        if 0 < together < K:
            small += 1
            without += not any(0 < sizes[each] < K for each in (one, other))
    pairs_of_five = sum(1 for whole in subsets("abcde") for _ in subsets(whole))
    stated = sum(comb(5, size) * (2**size - 1) for size in range(1, 6))
    return facts_part(
        "theorems",
        "Theorems 11 and 18, Propositions 15 and 17, checked on the running example",
        "sigma = 6 and k = 3; every pair of frequent itemsets, by brute force over the database.",
        [
            fact(
                "Theorem 11", f"of {small:,} disjunctions of two patterns with 1 to 2 people, those without a channel", 0, without
            ),
            fact(
                "Proposition 15",
                f"of {len(order):,} comparable pairs, those in which the wider pattern has fewer people",
                0,
                sum(sizes[one] < sizes[other] for one, other in order),
            ),
            fact(
                "Proposition 17",
                f"of {len(maximal)} maximal channels, those whose I is not closed",
                0,
                sum(part not in closed for part, _ in maximal),
            ),
            fact(
                "Proposition 17",
                f"of {len(maximal)} maximal channels, those whose J is not maximal",
                0,
                sum(whole not in largest for _, whole in maximal),
            ),
            fact("Theorem 18", f"of {len(channels)} channels, those that the sum over closed sets does not give", 0, wrong),
            fact(
                "Section 3",
                "pairs that Algorithm 1 checks on an itemset of 5 items and all its subsets",
                stated,
                pairs_of_five,
                "the formula leaves out I = J, one for each of the 32 itemsets",
            ),
        ],
    )


def _holds(row: frozenset[str], pattern: tuple[str, str]) -> bool:
    part, whole = pattern
    return row & set(whole) == set(part)


def _maximal(channels: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    found = [(part, whole, set(part), set(whole) - set(part)) for part, whole in channels]
    return [
        (part, whole)
        for part, whole, has, lacks in found
        if not any((has, lacks) != (more, fewer) and has <= more and lacks <= fewer for _, _, more, fewer in found)
    ]


def _mine_words(people: Transactions, least: int, only: str) -> dict[str, int]:
    """Return the mined itemsets, with the empty set as the papers list it."""
    release = mine_itemsets(people, min_support=least, only="closed" if only == "closed" else "all")
    found = {"".join(release.names(i)): release.count(i).lo for i in range(len(release))}
    return found if only == "closed" and people.n in found.values() else {"": people.n} | found


def _errors(data: Database, maximal: dict[tuple[str, str], int]) -> list[tuple[Cell, ...]]:
    channels = data.channels(6, K)
    literally = [
        (part, whole)
        for part, whole in channels
        if not any(set(part) <= set(more) and set(whole) - set(part) <= set(above) - set(more) for more, above in channels)
    ]
    alone = sum(size for (_, whole), size in maximal.items() if whole == "fg")
    itself = "a channel is also compared with itself"
    together = "groups of k or more people are not in MCh; it holds for MCh together with F or Cl"
    return [
        fact("Definition 16", "maximal channels, the definition read literally", 5, len(literally), itself),
        fact("Theorem 18", "everyone, added up over MCh alone on fg", len(data.rows), alone, together),
    ]


def _condensed_accidents(bench: Bench, people: Transactions) -> Part:
    return condensed(bench, "accidents", {share: Setting(people, share / 100, 10) for share in ACCIDENTS})


def condensed(bench: Bench, name: str, settings: dict[int, Setting]) -> Part:
    """Figure 2 (a): all channels and maximal ones."""
    rows: list[tuple[Cell, ...]] = []
    lines = []
    for k in (10, 50):
        points = []
        for share, one in settings.items():
            setting = one.with_k(k)
            maximal = bench.ours(setting).found or 0
            full = bench.rival("naive", setting)
            every = full.measures.get("all_channels")
            ratio = every / maximal if every and maximal else None
            rows.append((k, share, every if every is not None else f"not run: {full.steps or 0:,} sums", maximal, ratio))
            if every is not None:
                points.append((float(every), float(maximal)))
        lines.append((f"{name.upper()}, k = {k}", tuple(points)))
    ratios = [row[-1] for row in rows if isinstance(row[-1], float)]
    why = (
        f"{min(ratios):.1f} to {max(ratios):.1f} times fewer" if ratios else "no case has channels and is small enough to be run"
    )
    standing: Standing = confirm(min(ratios) > 10**0.5) if ratios else "open"  # nearer to 10 than to 1
    what = named(name, next(iter(settings.values())).people)
    return Part(
        "figure-2a" if name == "mushroom" else f"figure-2a-{name}",
        f"Figure 2 (a): all channels and maximal channels, {what}",
        "the supports behind the points are not given; all channels by Algorithm 1, where it takes few enough sums.",
        ("k", "min. support %", "all channels", "maximal channels", "ratio"),
        rows=tuple(rows),
        claims=(Claim("Figure 2 (a)", f"a reduction of one order of magnitude, {what}", standing, why),),
        chart=Chart("number of inference channels", "maximal inference channels", tuple(lines), logarithmic=False),
    )


def run_times(bench: Bench, settings: dict[int, Setting]) -> Part:
    """Figure 2 (b): the naive algorithm, the optimized one, and the others."""
    timed = [
        (float(share), bench.time_all(setting, "Figure 2 (b)", f"support {share} %, k = 10"))
        for share, setting in settings.items()
    ]
    ratios = [a / b for _, times in timed if (a := times["naive"].steps) and (b := times["oicd"].steps)]
    typical = exp(sum(map(log, ratios)) / len(ratios)) if ratios else 0.0
    why = (
        f"{min(ratios):.2g} to {max(ratios):.2g} times as many steps, {typical:.2g} in the geometric mean"
        if ratios
        else "no steps counted"
    )
    standing: Standing = confirm(10**0.5 < typical < 10**1.5) if ratios else "open"
    claims = [
        Claim("Figure 2 (b)", "Algorithm 2 is about one order of magnitude faster than Algorithm 1", standing, why),
        Claim("Section 5", "about one order of magnitude on various data sets", standing, f"on MUSHROOM {why}"),
    ]
    title = f"Figure 2 (b): work, {named('mushroom', settings[TIMED[0]].people)}, k = 10"
    return work_part("figure-2b", title, "min. support %", timed, claims)


def threats(name: str, figure: str, people: Transactions) -> Part:
    """Figure 3: the number of maximal channels by support and k."""
    return counts_by_support(
        figure.lower().replace(" (", "").replace(")", "").replace("figure", "figure-").replace("- ", "-"),
        figure,
        f"{figure}: maximal channels, {named(name, people)}",
        "supports and values of k stand in the picture only; these are ours.",
        people=people,
        shares=THREATS[name],
        levels=LEVELS,
    )


def blockers(people: Transactions) -> Part:
    """Section 6 (i): all ways to block channels, compared."""
    release = mine_itemsets(people, min_support=BLOCKED, only="closed")
    swept = sweep_repairs(release, data=people, policy=Policy(k=10), goal="frequent-only")
    rows = tuple(
        (
            row.method,
            row.verdict,
            row.itemsets_lost,
            row.itemsets_ghost,
            row.support_error_mean,
            row.support_error_max,
            row.people_changed,
        )
        for row in swept.rows
    )
    best = swept.cheapest
    clean = sum(row.verdict == "clean" for row in swept.rows)
    why = f"{clean} of {len(rows)} leave no channel; the least is lost by {best.method if best else 'none'}"
    return Part(
        "section-6",
        f"Section 6: ways to block channels, {named('mushroom', people)} at {BLOCKED:.0%}, k = 10",
        "future work (i) of the paper, a comparison of the approaches; every repair of itemsets, judged by I01.",
        ("repair", "verdict", "itemsets lost", "new itemsets", "mean support error", "largest support error", "people changed"),
        rows=rows,
        claims=(Claim("Section 6", "channels can be blocked in different ways, to be compared", confirm(best is not None), why),),
    )
