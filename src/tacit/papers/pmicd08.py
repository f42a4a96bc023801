"""*A new approach for detecting anonymity of patterns* (PMICD), WAIM 2008.

Every definition, example, theorem and figure is settled by the worked example, by the numbers of the text, or by Figures 5 to 12.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from tacit.mining.itemsets import mine_itemsets
from tacit.model.finding import ItemEvent
from tacit.model.policy import Policy
from tacit.model.reproduction import Cell, Chart, Claim, Part
from tacit.model.table import Transactions
from tacit.papers.bench import RIVALS, Bench, Database, Setting, Timing, confirm, fact, facts_part, listed, subsets, work_part
from tacit.verbs.audit import audit

EXAMPLE = Database("abcd bcef abc cdef bef acd bcdf abcdef bcdef abcde")
FIGURE_2 = (
    "{}:10 a:5 b:8 c:9 d:7 e:6 f:6 ab:4 ac:5 ad:4 bc:7 bd:5 be:5 bf:5 cd:7 ce:5 cf:5 de:4 df:4 ef:5 abc:4 "
    "acd:4 bcd:5 bce:4 bcf:4 bef:4 cde:4 cdf:4 cef:4"
)

#: By data set: transactions, items, mean length; supports in percent of the first experiments, and the fixed one of the second.
SHAPES = {"mushroom": (8124, 119, 23), "chess": (3196, 75, 37)}
SUPPORTS = {"mushroom": (25, 20, 15, 10), "chess": (90, 85, 80, 75)}
FIXED = {"mushroom": 15, "chess": 80}
K = 30
LEVELS = (10, 20, 30, 40, 50)
#: Numbers of itemsets that the text gives: data set, percent, which itemsets, how many.
STATED = (
    ("mushroom", 10, "all", 574_431),
    ("mushroom", 25, "all", 5_545),
    ("mushroom", 10, "closed", 4_885),
    ("mushroom", 15, "closed", 2_261),
    ("mushroom", 15, "maximal", 321),
    ("chess", 75, "closed", 11_525),
    ("chess", 80, "closed", 5_083),
    ("chess", 80, "maximal", 226),
)
FIGURES = {"mushroom": (5, 7, 9, 11), "chess": (6, 8, 10, 12)}
LIKE_FIRST = "as for the work by support."
MUCH_FASTER = 10  #: Times fewer steps that count as much faster.
ALMOST_UNCHANGED = 1.05  #: Largest ratio of steps that counts as almost unchanged.
#: Definitions of the paper, and the words or modules that implement them.
DEFINITIONS = (
    "the support of an itemset: the counts of a release",
    "frequent itemsets, at or above the threshold: tacit mine itemsets",
    "closed itemsets: tacit mine itemsets --only closed",
    "maximal itemsets: tacit mine itemsets --only maximal",
    "vulnerable patterns: what tacit explain --pattern takes",
    "a transaction that satisfies a pattern",
    "the support of a pattern: tacit explain --pattern",
    "k-anonymous patterns: the policy's k",
    "inference channels: findings of I01",
    "maximal channels: the ones that I01 lists; counted by brute force below",
    "the projection of a transaction: itemsets/detectors.py",
    "the projection of a database: itemsets/detectors.py",
)
ITEMS: tuple[str, ...] = (
    *(f"Definition {number}" for number in range(1, 13)),
    *(f"Example {number}" for number in range(1, 7)),
    *(f"Figure {number}" for number in range(1, 13)),
    *("Theorem 1", "Theorem 2", "Theorem 3", "Lemma 1", "Lemma 2"),
    *("Section 4", "Section 5.1", "Section 5.2", "Section 5.3"),
)


def reproduce(bench: Bench) -> tuple[tuple[Part, ...], tuple[str, ...]]:
    """Return the parts of the paper, and those left out."""
    parts = [worked_example()]
    left_out = []
    for name, numbers in FIGURES.items():
        people = bench.people(name)
        if people is None:
            listed_figures = f"{', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"
            left_out.append(bench.missing(name, f"Figures {listed_figures}, and the numbers of the text about {name.upper()}"))
            continue
        parts.append(stated_numbers(name, people))
        parts += by_support(bench, name, people)
        bench.progress(0.3 if name == "mushroom" else 0.8)
        parts += by_k(bench, name, people)
        bench.progress(0.6 if name == "mushroom" else 1.0)
    return tuple(parts), tuple(left_out)


def worked_example() -> Part:
    """Figures 1 to 4, all definitions, examples, lemmas and theorems."""
    data = EXAMPLE
    people = EXAMPLE.people
    release = mine_itemsets(people, min_support=4)
    mined = {"".join(release.names(i)): release.count(i).lo for i in range(len(release))}
    supports = {"": people.n} | mined
    found = {name: audit(release, data=people, policy=Policy(k=3), attacks=["I01"], algorithm=name) for name in RIVALS}  # type: ignore[arg-type]
    runs = sorted(Counter("".join(sorted(row & set("bcd"))) for row in data.rows).items())
    restored = found["pmicd"].attack("I01").findings
    as_printed = int(found["pmicd"].measures["channels_as_printed"] or 0)
    every = data.channels(4, 3)
    channels = [(set(part), set(whole) - set(part)) for part, whole in every]
    maximal = [(i, d) for i, d in channels if not any((i, d) != (h, e) and i <= h and d <= e for h, e in channels)]
    detected = [
        (set(event.present), set(event.absent))
        for event in (one.event for one in found["pmicd"].findings)
        if isinstance(event, ItemEvent)
    ]
    largest = [set(whole) for whole in supports if not any(set(whole) < set(other) for other in supports)]
    vulnerable = all(set(part) <= set("".join(supports)) and part in supports for part in ("ab", "ac"))
    satisfying = [str(place) for place, row in enumerate(data.rows, 1) if {"b", "c"} <= row and "f" not in row]
    sums = {
        (part, whole): sum(
            (-1) ** (len(between) - len(part)) * supports[between] for between in subsets(whole) if set(part) <= set(between)
        )
        for whole in supports
        for part in subsets(whole)
    }
    wrong = sum(size != data.support(part, "".join(set(whole) - set(part))) for (part, whole), size in sums.items())

    def told(groups: Sequence[tuple[str, int]]) -> str:
        return " ".join(f"{part}:{size}" for part, size in groups)

    handed_on = "the last run of every projection is never handed on"
    made = facts_part(
        "worked-example",
        "Figures 1 to 4, Examples 1 to 6, lemmas and theorems (sigma = 4, k = 3)",
        "the database of 10 transactions is printed in Figure 1; thresholds as 'at least', as in Definition 2 (the introduction says 'larger "
        "than').",
        [
            fact("Figure 1", "transactions", 10, len(data.rows)),
            fact("Figure 2", "F(D, 4)", FIGURE_2, listed(supports)),
            fact("Example 1", "support of abc", 4, mined["abc"]),
            fact(
                "Example 2",
                "(a and not b) or (a and c) is vulnerable: ab and ac are frequent",
                "yes",
                "yes" if vulnerable else "no",
            ),
            fact("Example 3", "transactions with b and c and not f", "1 3 10", " ".join(satisfying)),
            fact("Example 4", "people with b and c and not d: 7 - 5", 2, mined["bc"] - mined["bcd"]),
            fact("Theorem 1", f"sums that differ from the count, of {len(sums)} patterns on frequent itemsets", 0, wrong),
            fact("Example 5", "projection of bcef on bcd", "bc", "".join(sorted(data.rows[1] & set("bcd")))),
            fact("Figure 4", "projections on bcd", "b:1 bc:2 bcd:5 cd:2", told(runs)),
            fact("Example 6", "channels on bcd", "b:1 bc:2 cd:2", told([(part, size) for part, size in runs if size < 3])),
            fact(
                "Figure 3",
                "the same by the algorithm as printed",
                "b:1 bc:2 cd:2",
                told([one for one in runs[:-1] if one[1] < 3]),
                handed_on,
            ),
            fact(
                "Lemma 1", "channels found on an itemset that is not maximal", 0, sum(i | d not in largest for i, d in detected)
            ),
            fact(
                "Lemma 2", "maximal channels on an itemset that is not maximal", 0, sum(i | d not in largest for i, d in maximal)
            ),
            fact("Theorem 2", "channels found that are not maximal", 0, sum(one not in maximal for one in detected)),
            fact(
                "Theorem 3",
                "channels found by the algorithm as printed",
                len(maximal),
                as_printed,
                f"{handed_on}; with it all are found",
            ),
            fact("Theorem 3", "PMICD with the last runs and OICD find the same", restored, found["oicd"].attack("I01").findings),
        ],
    )
    defined = tuple(
        Claim(f"Definition {number}", "", "not applicable", f"a definition: {what}") for number, what in enumerate(DEFINITIONS, 1)
    )
    return replace(made, claims=(*defined, *made.claims))


def stated_numbers(name: str, people: Transactions) -> Part:
    """Compare the text about a data set and its itemsets."""
    n, items, length = SHAPES[name]
    mean = int((people.rows.lengths * people.weights).sum()) / people.n
    rows = [
        fact("Section 5.1", f"transactions of {name.upper()}", n, people.n),
        fact("Section 5.1", f"items of {name.upper()}", items, len(people.items)),
        fact("Section 5.1", f"mean length of {name.upper()}", length, int(mean) if mean == int(mean) else mean),
    ]
    for data, share, only, number in STATED:
        if data == name:
            mined = len(mine_itemsets(people, min_support=share / 100, only=only))  # type: ignore[arg-type]
            where = "Section 5.3" if share == FIXED[name] else "Section 5.2"
            rows.append(fact(where, f"{only} frequent itemsets of {name.upper()} at {share} %", number, mined))
    reading = "the numbers that Section 5 gives; the empty set is not counted."
    return facts_part(f"numbers-{name}", f"Section 5: {name.upper()} and its itemsets, n = {people.n:,}", reading, rows)


def by_support(bench: Bench, name: str, people: Transactions) -> list[Part]:
    """Figures 5 to 8: work and numbers by support."""
    time_figure, number_figure, _, _ = FIGURES[name]
    item = f"Figure {time_figure}"
    timed = [
        (float(share), bench.time_all(Setting(people, share / 100, K), item, f"support {share} %, k = {K}"))
        for share in SUPPORTS[name]
    ]
    claims = [_compare_work(item, timed)]
    if name == "mushroom":
        claims += [_complexity(name, timed)]
    title = f"{item}: work, {name.upper()} (n = {people.n:,}), k = {K}"
    what = f"{name.upper()} (n = {people.n:,}), k = {K}"
    return [
        work_part(f"figure-{time_figure}", title, "min. support %", timed, claims),
        numbers_part(number_figure, what, "min. support %", timed, rising=False),
    ]


def by_k(bench: Bench, name: str, people: Transactions) -> list[Part]:
    """Figures 9 to 12: work and numbers by k."""
    _, _, time_figure, number_figure = FIGURES[name]
    item = f"Figure {time_figure}"
    fixed = Setting(people, FIXED[name] / 100, LEVELS[0])
    timed = [(float(k), bench.time_all(fixed.with_k(k), item, f"support {FIXED[name]} %, k = {k}")) for k in LEVELS]
    claims = []
    for rival in ("oicd", "pmicd"):
        steps = [times[rival].steps or 0 for _, times in timed]
        unchanged = max(steps) <= ALMOST_UNCHANGED * min(steps)
        says = f"the time of {rival.upper()} is almost unchanged when varying k"
        claims.append(Claim(item, says, confirm(unchanged), f"{min(steps):,} to {max(steps):,} counted steps"))
    claims.append(_compare_work(item, timed))
    what = f"{name.upper()} (n = {people.n:,}) at {FIXED[name]} %"
    return [
        work_part(f"figure-{time_figure}", f"{item}: work, {what}", "k", timed, claims=claims, reading=LIKE_FIRST),
        numbers_part(number_figure, what, "k", timed, rising=True),
    ]


def numbers_part(figure: int, what: str, axis: str, timed: Sequence[tuple[float, dict[str, Timing]]], *, rising: bool) -> Part:
    """Count maximal channels by PMICD, OICD and Tacit."""
    rows: list[tuple[Cell, ...]] = []
    for x, times in timed:
        printed = times["pmicd"].measures.get("channels_as_printed")
        dropped = None if printed is None else (times["pmicd"].found or 0) - printed
        rows.append((x, times["Tacit"].found, times["oicd"].found, times["pmicd"].found, printed, dropped))
    ours = [times["Tacit"].found or 0 for _, times in sorted(timed)]
    in_order = ours == sorted(ours, reverse=not rising)
    lines = [("restored, as OICD", tuple((x, float(times["Tacit"].found or 0)) for x, times in timed))]
    if points := tuple((float(row[0]), float(row[4])) for row in rows if row[0] is not None and row[4] is not None):
        lines.append(("PMICD as printed", points))
    item = f"Figure {figure}"
    both = [(row[2], row[4]) for row in rows if row[2] is not None and row[4] is not None]
    same = all(oicd == printed for oicd, printed in both)
    lost = sum(row[5] for row in rows if isinstance(row[5], int))
    lost_by_all = f"as printed it loses {lost:,} channels in all; with the last run restored none"
    return Part(
        f"figure-{figure}",
        f"{item}: maximal channels, {what}",
        "the heights of the points stand in the picture only. As printed, PMICD loses the last run of every projection; how many channels that "
        "costs depends on the order of the items, here by number.",
        (axis, "Tacit", "OICD", "PMICD restored", "PMICD as printed", "lost as printed"),
        rows=tuple(rows),
        claims=(
            Claim(
                item,
                f"the number of channels {'rises' if rising else 'falls'} with {axis.removesuffix(' %')}",
                confirm(in_order),
                f"{', '.join(f'{number:,}' for number in ours)} from the smallest on",
            ),
            Claim(item, "PMICD finds the same as OICD", confirm(same), "" if same else lost_by_all),
        ),
        chart=Chart(axis, "maximal inference channels", tuple(lines), logarithmic=False),
    )


def _compare_work(item: str, timed: Sequence[tuple[float, dict[str, Timing]]]) -> Claim:
    """Judge that PMICD is much faster than OICD, by counted steps."""
    x, times = min(timed, key=lambda entry: entry[0])
    scanned = times["oicd"].scanned or 0
    added = times["oicd"].steps or 0
    sorted_rows = times["pmicd"].steps or 1
    why = (
        f"the paper's OICD scans the closed itemsets for every support, {scanned:,} sets looked at if it stops at the first that contains it, "
        f"where PMICD sorts {sorted_rows:,} rows; "
        f"if supports are looked up by hash, OICD adds {added:,} supports, which is {added / sorted_rows:.2g} times as many steps"
    )
    return Claim(item, f"PMICD is much faster than OICD at {x:g}", confirm(scanned > MUCH_FASTER * sorted_rows), why)


def _complexity(name: str, timed: Sequence[tuple[float, dict[str, Timing]]]) -> Claim:
    """Compare the stated costs of both algorithms with counted steps."""
    n = SHAPES[name][0]
    per_set = [(times["pmicd"].steps or 0) % n for _, times in timed]
    says = "PMICD takes O(m n log n): it projects and sorts all n transactions for each of m maximal itemsets"
    return Claim("Section 4", says, confirm(not any(per_set)), f"rows sorted are a multiple of n = {n:,} in every setting")
