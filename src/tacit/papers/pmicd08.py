"""*A new approach for detecting anonymity of patterns* (PMICD), WAIM 2008.

Reproduced are the worked example, the numbers of the text, Figures 5 to 12.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tacit.mining.itemsets import mine_itemsets
from tacit.model.policy import Policy
from tacit.model.reproduction import Cell, Chart, Part
from tacit.model.table import Transactions
from tacit.papers.bench import RIVALS, Bench, Database, Setting, Timing, confirm, fact, facts_part, listed, times_part
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
LIKE_FIRST = "as for the run times by support."
FIGURES = {"mushroom": (5, 7, 9, 11), "chess": (6, 8, 10, 12)}


ITEMS: tuple[str, ...] = ()


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
    """Figures 1, 2 and 4 and Examples 1 to 6."""
    data = EXAMPLE
    people = EXAMPLE.people
    release = mine_itemsets(people, min_support=4)
    mined = {"".join(release.names(i)): release.count(i).lo for i in range(len(release))}
    found = {name: audit(release, data=people, policy=Policy(k=3), attacks=["I01"], algorithm=name) for name in RIVALS}  # type: ignore[arg-type]
    groups = Counter("".join(sorted(row & set("bcd"))) for row in data.rows)
    runs = sorted(groups.items())
    small = [(part, size) for part, size in runs if size < 3]
    printed = [(part, size) for part, size in runs[:-1] if size < 3]
    restored = found["pmicd"].attack("I01").findings
    as_printed = found["pmicd"].measures["channels_as_printed"]
    channels = [(set(part), set(whole) - set(part)) for part, whole in data.channels(4, 3)]
    maximal = sum(not any((i, d) != (h, e) and i <= h and d <= e for h, e in channels) for i, d in channels)
    handed_on = "the last run of every projection is never handed on"
    last_runs = "the last runs again; with them it finds all"

    def told(groups: Sequence[tuple[str, int]]) -> str:
        return " ".join(f"{part}:{size}" for part, size in groups)

    return facts_part(
        "worked-example",
        "Figures 1, 2 and 4, Examples 1 to 6 (sigma = 4, k = 3)",
        "the database is printed in Figure 1; thresholds as 'at least', as in Definition 2 (the introduction says 'larger than').",
        [
            fact("Fig. 2", "F(D, 4)", FIGURE_2, listed({"": people.n} | mined)),
            fact("Example 3", "people with b and c and not f", 3, data.support("bc", "f")),
            fact("Example 4", "people with b and c and not d: 7 - 5", 2, mined["bc"] - mined["bcd"]),
            fact("Fig. 4", "projections on bcd", "b:1 bc:2 bcd:5 cd:2", told(runs)),
            fact("Example 6", "channels on bcd", "b:1 bc:2 cd:2", told(small)),
            fact("Fig. 3", "the same by the algorithm as printed", "b:1 bc:2 cd:2", told(printed), handed_on),
            fact("Theorem 3", "channels found, by the algorithm as printed", restored, as_printed, last_runs),
            fact("Theorem 3", "PMICD (restored) and OICD find the same", restored, found["oicd"].attack("I01").findings),
            fact("Def. 10", "maximal among all channels, by brute force", restored, maximal),
        ],
    )


def stated_numbers(name: str, people: Transactions) -> Part:
    """Compare the text about a data set and its itemsets."""
    n, items, length = SHAPES[name]
    mean = int((people.rows.lengths * people.weights).sum()) / people.n
    rows = [
        fact("Section 5.1", "transactions", n, people.n),
        fact("Section 5.1", "items", items, len(people.items)),
        fact("Section 5.1", "mean length", length, int(mean) if mean == int(mean) else mean),
    ]
    for data, share, only, number in STATED:
        if data == name:
            mined = len(mine_itemsets(people, min_support=share / 100, only=only))  # type: ignore[arg-type]
            rows.append(fact("Section 5", f"{only} frequent itemsets at {share} %", number, mined))
    reading = "the numbers that Section 5 gives; the empty set is not counted."
    return facts_part(f"numbers-{name}", f"Section 5: {name.upper()} and its itemsets", reading, rows)


def by_support(bench: Bench, name: str, people: Transactions) -> list[Part]:
    """Figures 5 to 8: times and numbers by support."""
    time_figure, number_figure, _, _ = FIGURES[name]
    timed = [(float(share), bench.time_all(Setting(people, share / 100, K))) for share in SUPPORTS[name]]
    claim = "'When sigma is small, PMICD is much faster than OICD': " + _compare_speed(timed)
    times = f"Figure {time_figure}: run times, {name.upper()}, k = {K}"
    return [
        times_part(f"figure-{time_figure}", times, "min. support %", timed, claim),
        numbers_part(number_figure, f"{name.upper()}, k = {K}", "min. support %", timed, rising=False),
    ]


def by_k(bench: Bench, name: str, people: Transactions) -> list[Part]:
    """Figures 9 to 12: times and numbers by k."""
    _, _, time_figure, number_figure = FIGURES[name]
    fixed = Setting(people, FIXED[name] / 100, LEVELS[0])
    timed = [(float(k), bench.time_all(fixed.with_k(k))) for k in LEVELS]
    spread = []
    for rival in ("oicd", "pmicd"):
        seconds = [found for _, times in timed if (found := times[rival].seconds) is not None]
        spread.append(f"{max(seconds) / min(seconds):.2f}" if seconds else "not run")
    claim = f"'Almost unchanged when varying k': slowest by fastest is {spread[0]} for OICD and {spread[1]} for PMICD."
    what = f"{name.upper()} at {FIXED[name]} %"
    return [
        times_part(f"figure-{time_figure}", f"Figure {time_figure}: run times, {what}", "k", timed, claim, LIKE_FIRST),
        numbers_part(number_figure, what, "k", timed, rising=True),
    ]


def numbers_part(figure: int, what: str, axis: str, timed: Sequence[tuple[float, dict[str, Timing]]], *, rising: bool) -> Part:
    """Count maximal channels by PMICD, OICD and Tacit."""
    rows: list[tuple[Cell, ...]] = []
    for x, times in timed:
        printed = times["pmicd"].measures.get("channels_as_printed")
        lost = None if printed is None else (times["pmicd"].found or 0) - printed
        rows.append((x, times["Tacit"].found, times["oicd"].found, times["pmicd"].found, printed, lost))
    ours = [times["Tacit"].found or 0 for _, times in sorted(timed)]
    in_order = ours == sorted(ours, reverse=not rising)
    trend = f"The number {'rises' if rising else 'falls'} with {axis.removesuffix(' %')}: {confirm(in_order)}. "
    lines = [("restored, as OICD", tuple((x, float(times["Tacit"].found or 0)) for x, times in timed))]
    if points := tuple((float(row[0]), float(row[4])) for row in rows if row[0] is not None and row[4] is not None):
        lines.append(("PMICD as printed", points))
    return Part(
        f"figure-{figure}",
        f"Figure {figure}: maximal channels, {what}",
        "the heights of the points stand in the picture only. As printed, PMICD loses the last run of every projection; how many channels that "
        "costs depends on the order of the items, here by number.",
        (axis, "Tacit", "OICD", "PMICD restored", "PMICD as printed", "lost as printed"),
        tuple(rows),
        f"{trend}'PMICD finds the same as OICD' holds only with the last run restored.",
        # Which of the rivals ran depends on how fast this machine is.
        frozenset({"OICD", "PMICD restored", "PMICD as printed", "lost as printed"}),
        chart=Chart(axis, "maximal inference channels", tuple(lines), logarithmic=False),
    )


def _compare_speed(timed: Sequence[tuple[float, dict[str, Timing]]]) -> str:
    ran = [(x, times["oicd"], times["pmicd"]) for x, times in timed if times["oicd"].seconds and times["pmicd"].seconds]
    if not ran:
        return "not run."
    x, oicd, pmicd = min(ran, key=lambda entry: entry[0])
    slower = (pmicd.seconds or 0.0) / (oicd.seconds or 1.0)
    if slower <= 1:
        return f"confirmed by these references: PMICD takes {slower:.2g} times as long at {x:g} %."
    return (
        f"not confirmed by these references, where PMICD takes {slower:.2g} times as long at {x:g} %. The paper's OICD scans the closed "
        f"itemsets for every support; looked up by hash, it adds {oicd.steps or 0:,} supports where PMICD sorts {pmicd.steps or 0:,} rows."
    )
