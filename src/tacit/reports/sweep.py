"""Sweeps as text, as CSV and as pictures.

A sweep of rules as text, as CSV and as a picture.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from tacit.model.sweep import ItemsetSweep, Lowest, RoundingSweep, RuleCell, RuleSweep, Setting
from tacit.reports.chart import Curve, chart
from tacit.reports.words import as_share, counted

Rows = Sequence[Sequence[str]]


def table(head: Sequence[str], rows: Rows, *, left: Iterable[int] = ()) -> str:
    """Rows under a head, columns to the right except those in ``left``; a line may end early, never in spaces.

    >>> print(table(["k", "verdict"], [["10", "clean"]], left=[1]))
     k  verdict
    10  clean
    """
    wide = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    lefts = set(left)

    def line(row: Sequence[str]) -> str:
        cells = (cell.ljust(wide[i]) if i in lefts else cell.rjust(wide[i]) for i, cell in enumerate(row))
        return "  ".join(cells).rstrip()

    return "\n".join(line(row) for row in [head, *rows])


def _number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.4g}%"


# Thresholds

_CELLS = ("min support", "", "itemsets", "closed", "maximal", "k", "channels", "of one", "deduced", "people", "verdict")


def itemset_sweep_text(sweep: ItemsetSweep) -> str:
    """The grid as a table, then the lowest threshold at which I01 and I02 find nothing."""
    rows = []
    before = None
    for cell in sweep.cells:
        same = cell.min_support == before  # what depends on the threshold alone is said once
        sets = [_number(value) for value in (cell.min_support, cell.itemsets, cell.closed, cell.maximal)]
        shown = [sets[0], _percent(sweep.share(cell.min_support)), *sets[1:]]
        found = [_number(value) for value in (cell.k, cell.channels, cell.groups_of_one, cell.deduced, cell.people)]
        rows.append([*([""] * 5 if same else shown), *found, cell.verdict])
        before = cell.min_support
    blocks = [
        f"Itemsets about {counted(sweep.n, 'person', 'people')}",
        table(_CELLS, rows, left=[10]),
        "\n".join(["Lowest threshold at which I01 and I02 find nothing", *(f"  {_lowest(one, sweep)}" for one in sweep.lowest)]),
        "\n".join(_legend(sweep)),
    ]
    return "\n\n".join(blocks) + "\n"


def _lowest(one: Lowest, sweep: ItemsetSweep) -> str:
    """The lowest threshold for one k as a line."""
    head = f"k = {one.k:,}: "
    if one.min_support is None:
        if one.decided:
            return head + f"none; the {counted(sweep.n, 'person', 'people')} are fewer than k"
        found = f"; published itemsets alone need {_people(one.published, sweep.n)}" if one.published else ""
        return head + f"not found in time{found}"
    told = head + _people(one.min_support, sweep.n)
    if one.min_support > sweep.n:
        told = head + "none at which an itemset is left"
    if one.published is not None and one.published != one.min_support:
        told += f"; without deduction through missing itemsets {_people(one.published, sweep.n)}"
    return told if one.decided else told + "; a lower one may do, but could not be decided"


def _people(count: int | None, n: int) -> str:
    return counted(count or 0, "person", "people") + as_share(count or 0, n)


def _legend(sweep: ItemsetSweep) -> list[str]:
    """What the columns mean, and what is missing."""
    lines = [
        "channels  groups of 1 to k-1 people, by adding and subtracting published counts (I01)",
        "of one    how many of these are a single person",
        "deduced   further such groups, through itemsets that the list leaves out (I02)",
        "people    how many people are concerned at least",
        "verdict   of all attacks, X01 as well, where I01 and I02 find nothing",
    ]
    if any(cell.deduced is None and cell.channels for cell in sweep.cells):
        lines.append("-         not looked for, because the verdict is clear without it (--every-attack looks)")
    return [*lines, f"NOT FINISHED: {sweep.reason}"] if sweep.reason else lines


def itemset_sweep_csv(sweep: ItemsetSweep) -> str:
    """The cells as CSV; empty where something was not counted."""
    return csv_text([{"min_support": cell["min_support"], "share": cell["share"]} | cell for cell in sweep.to_dict()["cells"]])


def itemset_sweep_svg(sweep: ItemsetSweep) -> str:
    """Channels over thresholds, one curve for each k; over k, one curve for each threshold, where there is one threshold only."""
    known = [cell for cell in sweep.cells if cell.channels is not None]
    supports = sorted({cell.min_support for cell in known})
    if len(supports) == 1 and len({cell.k for cell in known}) > 1:
        points = tuple((float(cell.k), cell.channels or 0) for cell in known)
        remark = _percent(sweep.share(supports[0])) + " of all"
        curves = [Curve(f"at least {counted(supports[0], 'person', 'people')}", points, remark)]
        return _channels(curves, "smallest group allowed, k (people)", "", sweep)
    curves = []
    for one in sweep.lowest:
        cells = [cell for cell in known if cell.k == one.k]
        points = tuple(sorted((100 * cell.min_support / sweep.n, cell.channels or 0) for cell in cells)) if sweep.n else ()
        curves.append(Curve(f"k = {one.k:,}", points, _lowest_remark(one, sweep)))
    return _channels(curves, "support threshold (% of people)", " %", sweep)


def _lowest_remark(one: Lowest, sweep: ItemsetSweep) -> str:
    if one.min_support is None:
        return ""
    if one.min_support > sweep.n:
        return "no threshold is safe"
    return f"safe from {_percent(sweep.share(one.min_support))} on"


def _channels(curves: Sequence[Curve], x_label: str, unit: str, sweep: ItemsetSweep) -> str:
    said = [f"{curve.name}: " + ", ".join(f"{x:.4g}{unit} {y:,}" for x, y in curve.points) for curve in curves]
    return chart(
        curves,
        title="What frequent itemsets give away",
        description=f"Groups of 1 to k-1 people that follow from itemsets about {sweep.n:,} people. {'; '.join(said)}.",
        x_label=x_label,
        y_label="groups of fewer than k people",
        unit=unit,
    )


# Precision


def rounding_sweep_text(sweep: RoundingSweep) -> str:
    """All settings as a table, then the finest that is safe."""
    codes = list(dict.fromkeys(code for one in sweep.settings for code in one.findings))
    rows = []
    for one in sweep.settings:
        found = [_number(one.findings.get(code)) for code in codes]
        rows.append([one.label, _step(one.step), f"{one.error_mean:.3%}", *found, one.verdict])
    head = ["printed as", "step", "mean error", *codes, "verdict"]
    about = "an unknown number of people" if sweep.n is None else counted(sweep.n, "person", "people")
    blocks = [
        f"Itemsets about {about}, groups of fewer than {counted(sweep.k, 'person', 'people')} not allowed",
        table(head, rows, left=[0, len(head) - 1]),
        "\n".join(_finest(sweep)),
        "step        people between one printed number and the next\nmean error  of printed counts, as a share of the true one",
    ]
    reasons = list(dict.fromkeys(one.reason for one in sweep.settings if one.verdict == "undecided" and one.reason))
    if reasons:
        blocks.append("\n".join(["Undecided, which is never to be read as safe:", *(f"  {reason}" for reason in reasons)]))
    return "\n\n".join(blocks) + "\n"


def _step(step: float) -> str:
    """A step with at most four digits that matter.

    >>> _step(0.08124), _step(88162.0)
    ('0.08124', '88,162')
    """
    return f"{step:,.0f}" if step >= 1000 else f"{step:.4g}"


def _finest(sweep: RoundingSweep) -> list[str]:
    lines = []
    if any(one.precision is not None and one.precision.decimals is not None for one in sweep.settings):
        best = sweep.finest_decimals
        said = "none of these" if best is None else f"{best} decimal{'' if best == 1 else 's'}"
        lines.append(f"Finest safe number of decimals: {said}")
    if any(one.precision is not None and one.precision.base is not None for one in sweep.settings):
        lines.append(f"Finest safe base: {'none of these' if sweep.finest_base is None else f'{sweep.finest_base:,}'}")
    return lines


def rounding_sweep_csv(sweep: RoundingSweep) -> str:
    """The settings as CSV."""
    codes = list(dict.fromkeys(code for one in sweep.settings for code in one.findings))
    rows = []
    for one in sweep.settings:
        row: dict[str, Any] = {"printed_as": one.label} | one.to_dict()
        findings = row.pop("findings")
        rows.append(row | {code: findings.get(code) for code in codes})
    return csv_text(rows)


def rounding_sweep_svg(sweep: RoundingSweep) -> str:
    """Findings over the step between printed numbers, one curve for shares and one for counts; undecided settings are not drawn."""
    kinds = {"supports with decimals": ("decimals", sweep.finest_decimals), "counts to a base": ("base", sweep.finest_base)}
    curves = [
        Curve(name, _steps(sweep.settings, field), "none of these is safe" if finest is None else f"finest safe: {finest:,}")
        for name, (field, finest) in kinds.items()
    ]
    said = [f"{one.label} {sum(one.findings.values()):,} ({one.verdict})" for one in sweep.settings]
    return chart(
        [curve for curve in curves if curve.points],
        title="What rounding still gives away",
        description=f"Findings about groups of fewer than {sweep.k:,} people in each precision: {', '.join(said)}.",
        x_label="people between one printed number and the next",
        y_label="findings of all attacks",
    )


def _steps(settings: Sequence[Setting], field: str) -> tuple[tuple[float, int], ...]:
    chosen = [one for one in settings if one.precision is not None and getattr(one.precision, field) is not None]
    return tuple(sorted((one.step, sum(one.findings.values())) for one in chosen if one.verdict != "undecided"))


def csv_text(rows: Sequence[dict[str, Any]]) -> str:
    """Rows of one kind as CSV."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


_HEAD = (
    "min support",
    "",
    "confidence",
    "printed as",
    "rules",
    "missing",
    "groups",
    "max P",
    "over 90%",
    "certain",
    "D",
    "verdict",
)
_LEGEND = (
    "missing   missing rules that may say something, after pruning",
    "groups    groups of 1 to k-1 people that are proved (R01)",
    "max P     the largest estimated probability of a sensitive value (R02)",
    "over 90%  people with a value that is estimated to be more probable than that (R02)",
    "certain   people whose value is proved (R03); - not looked for (--certain looks)",
    "D         how far estimates are from the truth, mean over all people, in nats: small is bad for privacy (D_overall)",
)


def rule_sweep_text(sweep: RuleSweep) -> str:
    """The grid as a table, and the richest list that is clean."""
    rows: list[list[str]] = []
    before: tuple[int, float] | None = None
    for cell in sweep.cells:
        here = (cell.min_support, cell.min_confidence)
        support = [f"{cell.min_support:,}", f"{100 * cell.min_support / sweep.n:.4g}%" if sweep.n else ""]
        place = ["", "", ""] if here == before else [*support, f"{100 * cell.min_confidence:.4g}%"]
        rows.append([*place, cell.form.label, *_numbers(cell), cell.verdict])
        before = here
    best = sweep.richest
    told = (
        "none of these is clean"
        if best is None
        else f"{counted(best.rules or 0, 'rule')} at {best.min_support:,} people and {100 * best.min_confidence:.4g}%, {best.form.label}"
    )
    blocks = [
        f"Rules about {counted(sweep.n, 'person', 'people')}",
        table(_HEAD, rows, left=[3, 11]),
        f"Says most of those that are clean: {told}",
        "\n".join([*_LEGEND, *([f"NOT FINISHED: {sweep.reason}"] if sweep.reason else [])]),
    ]
    reasons = list(dict.fromkeys(cell.reason for cell in sweep.cells if cell.reason))
    if reasons:
        blocks.insert(3, "\n".join(["Undecided, which is never to be read as safe:", *(f"  {reason}" for reason in reasons)]))
    return "\n\n".join(blocks) + "\n"


def _numbers(cell: RuleCell) -> list[str]:
    whole = [_whole(value) for value in (cell.rules, cell.missing, cell.groups)]
    return [*whole, _decimals(cell.max_posterior, 3), _whole(cell.above_90), _whole(cell.certain), _decimals(cell.divergence, 4)]


def _whole(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _decimals(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def rule_sweep_csv(sweep: RuleSweep) -> str:
    """The cells as CSV; empty where something was not computed."""
    return csv_text([cell.to_dict() for cell in sweep.cells])


def rule_sweep_svg(sweep: RuleSweep) -> str:
    """How far estimates are from the truth, over the threshold that varies more; a curve for each of the other settings."""
    known = [cell for cell in sweep.cells if cell.divergence is not None]
    supports, confidences = {cell.min_support for cell in known}, {cell.min_confidence for cell in known}
    over_support = len(supports) >= len(confidences)
    curves = _curves(known, over_support, sweep.n, len(confidences if over_support else supports) > 1)
    said = [f"{curve.name}: " + ", ".join(f"{x:.4g} % {y:.4f}" for x, y in curve.points) for curve in curves]
    return chart(
        curves,
        title="How well rules let an attacker guess",
        description=f"Divergence of estimates from the truth, mean over {sweep.n:,} people, in nats; small is bad. {'; '.join(said)}.",
        x_label="support threshold (% of people)" if over_support else "confidence threshold (%)",
        y_label="D_overall, nats: the lower, the better the guesses",
        unit=" %",
        linear=True,
    )


def _curves(cells: Sequence[RuleCell], over_support: bool, n: int, others: bool) -> list[Curve]:
    """One curve for each form, and for each value of the threshold that is not drawn along the axis."""
    found: dict[str, list[tuple[float, float]]] = {}
    for cell in cells:
        support, confidence = 100 * cell.min_support / max(1, n), 100 * cell.min_confidence
        at, other = (support, f"c {confidence:.4g}%") if over_support else (confidence, f"s {support:.4g}%")
        found.setdefault(f"{cell.form.label}, {other}" if others else cell.form.label, []).append((at, cell.divergence or 0.0))
    return [Curve(name, tuple(sorted(points))) for name, points in found.items()]
