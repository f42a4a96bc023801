"""Reports of sweeps as documents, CSV and pictures."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tacit.model.sweep import ItemsetSweep, Lowest, RepairRow, RepairSweep, RoundingSweep, RuleCell, RuleSweep, Setting
from tacit.reports.document import (
    PAGES,
    SCREEN,
    UNBROKEN,
    Document,
    Facts,
    Figure,
    Listing,
    Section,
    Table,
    counted,
    people,
    people_of,
    render_text,
)
from tacit.reports.external import EXTERNAL
from tacit.reports.pictures import Canvas, Curve, line_chart

_NOTE = "Internal report: it shows thresholds at which individuals are revealed. It names no group and no value."


@dataclass(frozen=True, kw_only=True)
class SweepReport:
    """Report of a sweep.

    ``grid`` is its table on a terminal, ``records`` are all its numbers. ``outcomes`` stand below ``outcome``; ``reason`` is why it did
    not finish.
    """

    title: str
    lead: str
    grid: Table
    outcome: str
    outcomes: Sequence[str]
    legend: Mapping[str, str]
    records: Sequence[Mapping[str, Any]]
    picture: Canvas
    caption: str
    undecided: Sequence[str] = ()
    reason: str = ""
    note: str = _NOTE

    def without_reasons(self) -> SweepReport:
        """Return the report for others: reasons may name columns."""
        records = [{name: value for name, value in record.items() if name != "reason"} for record in self.records]
        reason = "not everything was done in full" if self.reason else ""
        return replace(self, undecided=(), reason=reason, records=records, note=EXTERNAL)

    def document(self) -> Document:
        """Return the report for all formats."""
        columns = [name.replace("_", " ") for name in (self.records[0] if self.records else ())]
        rows = [[_cell(value) for value in record.values()] for record in self.records]
        every = Table.of("One row for each; empty where something was not counted", columns, rows, style="grid")
        return Document(
            title=f"Tacit: {self.title}",
            lead=(self.lead,),
            remarks=(f"NOT FINISHED: {self.reason}",) if self.reason else (),
            note=self.note,
            sections=(
                Section("", (self.grid,), SCREEN),
                Section(self.outcome, (Listing.of(self.outcomes),)),
                Section("Undecided, which is never to be read as safe", (Listing.of(dict.fromkeys(self.undecided)),)),
                Section("Picture", (Figure(self.picture, self.caption),), PAGES),
                Section("Every setting", (every,), PAGES),
                Section("Columns", (Facts("Words of the table", tuple(self.legend.items())),)),
            ),
        )

    def text(self) -> str:
        """Return the report for a terminal."""
        return render_text(self.document(), width=UNBROKEN)

    def csv(self) -> str:
        """Return the records as CSV; what was not counted is empty."""
        stream = io.StringIO()
        writer = csv.DictWriter(stream, list(self.records[0]) if self.records else [], lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.records)
        return stream.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _whole(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _decimals(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.4g}%"


# Thresholds of itemsets

_ITEMSET_LEGEND = {
    "channels": "groups of 1 to k-1 people, by adding and subtracting published counts (I01)",
    "of one": "the number of these that are a single person",
    "deduced": "further such groups, through itemsets that the list leaves out (I02)",
    "people": "the number of people who are concerned at least",
    "verdict": "of all attacks, X01 as well, where I01 and I02 find nothing",
}


def report_itemset_sweep(sweep: ItemsetSweep) -> SweepReport:
    """Return the grid and the lowest safe threshold."""
    rows = []
    before = None
    for cell in sweep.cells:
        threshold = [_whole(cell.min_support), _percent(sweep.share(cell.min_support))]
        threshold += [_whole(value) for value in (cell.itemsets, cell.closed, cell.maximal)]
        if cell.min_support == before:  # what depends on the threshold alone is said once
            threshold = [""] * 5
        found = [_whole(value) for value in (cell.k, cell.channels, cell.groups_of_one, cell.deduced, cell.people)]
        rows.append([*threshold, *found, cell.verdict])
        before = cell.min_support
    columns = ("min support", "", "itemsets", "closed", "maximal", "k", "channels", "of one", "deduced", "people", "verdict")
    legend = dict(_ITEMSET_LEGEND)
    if any(cell.deduced is None and cell.channels for cell in sweep.cells):
        legend["-"] = "not looked for, because the verdict is clear without it (--every-attack looks)"
    return SweepReport(
        title="which threshold for itemsets",
        lead=f"Itemsets about {people(sweep.n)}",
        grid=Table.of("", columns, rows),
        outcome="Lowest threshold at which I01 and I02 find nothing",
        outcomes=[_lowest(one, sweep) for one in sweep.lowest],
        legend=legend,
        records=[{"min_support": cell["min_support"], "share": cell["share"]} | cell for cell in sweep.to_dict()["cells"]],
        picture=_itemset_picture(sweep),
        caption="Groups of fewer than k people, over the threshold.",
        reason=sweep.reason,
    )


def _lowest(one: Lowest, sweep: ItemsetSweep) -> str:
    head = f"k = {one.k:,}: "
    if one.min_support is None:
        if one.decided:
            return f"{head}none; the {people(sweep.n)} are fewer than k"
        found = f"; published itemsets alone need {people_of(one.published, sweep.n)}" if one.published else ""
        return f"{head}not found in time{found}"
    line = f"{head}{people_of(one.min_support, sweep.n)}"
    if one.min_support > sweep.n:
        line = f"{head}none at which an itemset is left"
    if one.published is not None and one.published != one.min_support:
        line += f"; without deduction through missing itemsets {people_of(one.published, sweep.n)}"
    return line if one.decided else f"{line}; a lower one may do, but could not be decided"


def _itemset_picture(sweep: ItemsetSweep) -> Canvas:
    known = [cell for cell in sweep.cells if cell.channels is not None]
    supports = sorted({cell.min_support for cell in known})
    over_k = len(supports) == 1 and len({cell.k for cell in known}) > 1
    curves = []
    if over_k:
        points = tuple((float(cell.k), cell.channels or 0) for cell in known)
        curves.append(Curve(f"at least {people(supports[0])}", points, f"{_percent(sweep.share(supports[0]))} of all"))
    else:
        for one in sweep.lowest:
            cells = [cell for cell in known if cell.k == one.k and sweep.n]
            points = tuple(sorted((100 * cell.min_support / sweep.n, cell.channels or 0) for cell in cells))
            remark = "no threshold is safe"
            if one.min_support is None or one.min_support <= sweep.n:
                remark = f"safe from {_percent(sweep.share(one.min_support))} on" if one.min_support is not None else ""
            curves.append(Curve(f"k = {one.k:,}", points, remark))
    unit = "" if over_k else " %"
    said = [f"{curve.name}: " + ", ".join(f"{x:.4g}{unit} {y:,}" for x, y in curve.points) for curve in curves]
    return line_chart(
        curves,
        name="sweep",
        title="What frequent itemsets reveal",
        description=f"Groups of 1 to k-1 people that follow from itemsets about {sweep.n:,} people. {'; '.join(said)}.",
        x_label="smallest group allowed, k (people)" if over_k else "support threshold (% of people)",
        y_label="groups of fewer than k people",
        unit=unit,
    )


# Precision of counts


def report_rounding_sweep(sweep: RoundingSweep) -> SweepReport:
    """Return all settings and the finest safe one."""
    codes = list(dict.fromkeys(code for one in sweep.settings for code in one.findings))
    rows = []
    records: list[dict[str, Any]] = []
    for one in sweep.settings:
        found = [_whole(one.findings.get(code)) for code in codes]
        step = f"{one.step:,.0f}" if one.step >= 1000 else f"{one.step:.4g}"
        rows.append([one.label, step, f"{one.error_mean:.3%}", *found, one.verdict])
        record = {"printed_as": one.label} | one.to_dict()
        findings = record.pop("findings")
        records.append(record | {code: findings.get(code) for code in codes})
    about = "an unknown number of people" if sweep.n is None else people(sweep.n)
    outcomes = []
    if any(one.precision is not None and one.precision.decimals is not None for one in sweep.settings):
        best = sweep.finest_decimals
        outcomes.append(f"Finest safe number of decimals: {'none of these' if best is None else counted(best, 'decimal')}")
    if any(one.precision is not None and one.precision.base is not None for one in sweep.settings):
        outcomes.append(f"Finest safe base: {'none of these' if sweep.finest_base is None else f'{sweep.finest_base:,}'}")
    return SweepReport(
        title="how precise counts may be",
        lead=f"Itemsets about {about}, groups of fewer than {people(sweep.k)} not allowed",
        grid=Table.of("", ["printed as", "step", "mean error", *codes, "verdict"], rows),
        outcome="Outcome",
        outcomes=outcomes,
        undecided=[one.reason for one in sweep.settings if one.verdict == "undecided" and one.reason],
        legend={
            "step": "people between one printed number and the next",
            "mean error": "of printed counts, as a share of the true one",
        },
        records=records,
        picture=_rounding_picture(sweep),
        caption="Groups of fewer than k people, over the step of printed numbers.",
    )


def _rounding_picture(sweep: RoundingSweep) -> Canvas:
    """Draw findings over the step, without undecided settings."""
    kinds = {"supports with decimals": ("decimals", sweep.finest_decimals), "counts to a base": ("base", sweep.finest_base)}
    curves = [
        Curve(name, _points(sweep.settings, field), "none of these is safe" if finest is None else f"finest safe: {finest:,}")
        for name, (field, finest) in kinds.items()
    ]
    said = [f"{one.label} {sum(one.findings.values()):,} ({one.verdict})" for one in sweep.settings]
    return line_chart(
        [curve for curve in curves if curve.points],
        name="sweep",
        title="What rounding still reveals",
        description=f"Findings about groups of fewer than {sweep.k:,} people in each precision: {', '.join(said)}.",
        x_label="people between one printed number and the next",
        y_label="findings of all attacks",
    )


def _points(settings: Sequence[Setting], field: str) -> tuple[tuple[float, int], ...]:
    chosen = [one for one in settings if one.precision is not None and getattr(one.precision, field) is not None]
    return tuple(sorted((one.step, sum(one.findings.values())) for one in chosen if one.verdict != "undecided"))


# Thresholds of rules

_RULE_LEGEND = {
    "missing": "missing rules that may say something, after pruning",
    "groups": "groups of 1 to k-1 people that are proved (R01)",
    "max P": "the largest estimated probability of a sensitive value (R02)",
    "over 90%": "people with a value that is estimated to be more probable than that (R02)",
    "certain": "people whose value is proved (R03); - not looked for (--certain looks)",
    "D": "divergence of estimates from the truth, mean over all people; 0: they are the truth (D_overall)",
}


def report_rule_sweep(sweep: RuleSweep) -> SweepReport:
    """Return the grid and the richest clean list."""
    rows: list[list[str]] = []
    before: tuple[int, float] | None = None
    for cell in sweep.cells:
        here = (cell.min_support, cell.min_confidence)
        place = [f"{cell.min_support:,}", _percent(cell.min_support / sweep.n) if sweep.n else "", _percent(cell.min_confidence)]
        whole = [_whole(value) for value in (cell.rules, cell.missing, cell.groups)]
        guessed = [_decimals(cell.max_posterior, 3), _whole(cell.above_90), _whole(cell.certain), _decimals(cell.divergence, 4)]
        rows.append([*(["", "", ""] if here == before else place), cell.form.label, *whole, *guessed, cell.verdict])
        before = here
    best = sweep.richest
    richest = "none of these"
    if best is not None:
        at = f"{best.min_support:,} people and {_percent(best.min_confidence)}"
        richest = f"{counted(best.rules or 0, 'rule')} at {at}, {best.form.label}"
    columns = ("min support", "", "confidence", "printed as", "rules", "missing", "groups", "max P")
    return SweepReport(
        title="which thresholds for rules",
        lead=f"Rules about {people(sweep.n)}",
        grid=Table.of("", (*columns, "over 90%", "certain", "D", "verdict"), rows),
        outcome="Largest list that is clean",
        outcomes=[richest],
        undecided=[cell.reason for cell in sweep.cells if cell.reason],
        legend=_RULE_LEGEND,
        records=[cell.to_dict() for cell in sweep.cells],
        picture=_rule_picture(sweep),
        caption="What each list of rules reveals, over its thresholds.",
        reason=sweep.reason,
    )


def _rule_picture(sweep: RuleSweep) -> Canvas:
    known = [cell for cell in sweep.cells if cell.divergence is not None]
    supports = {cell.min_support for cell in known}
    confidences = {cell.min_confidence for cell in known}
    over_support = len(supports) >= len(confidences)
    has_others = len(confidences if over_support else supports) > 1
    curves = _rule_curves(known, sweep.n, over_support=over_support, has_others=has_others)
    said = [f"{curve.name}: " + ", ".join(f"{x:.4g} % {y:.4f}" for x, y in curve.points) for curve in curves]
    return line_chart(
        curves,
        name="sweep",
        title="How well rules let an attacker guess",
        description=f"Divergence of estimates from the truth, mean over {sweep.n:,} people; 0: they are the truth. {'; '.join(said)}.",
        x_label="support threshold (% of people)" if over_support else "confidence threshold (%)",
        y_label="D_overall: the lower, the better the guesses",
        unit=" %",
        is_linear=True,
    )


def _rule_curves(cells: Sequence[RuleCell], n: int, *, over_support: bool, has_others: bool) -> list[Curve]:
    found: dict[str, list[tuple[float, float]]] = {}
    for cell in cells:
        support = 100 * cell.min_support / max(1, n)
        confidence = 100 * cell.min_confidence
        at, other = (support, f"c {confidence:.4g}%") if over_support else (confidence, f"s {support:.4g}%")
        name = f"{cell.form.label}, {other}" if has_others else cell.form.label
        found.setdefault(name, []).append((at, cell.divergence or 0.0))
    return [Curve(name, tuple(sorted(points))) for name, points in found.items()]


# Repairs of itemsets

_REPAIR_LEGEND = {
    "findings": "what the attacks still find",
    "lost": "itemsets that are published no longer",
    "new": "itemsets that were not frequent before",
    "mean error": "of the counts that stay, as a share of the true one",
    "largest": "the largest such error",
    "people": "people who were added, deleted or changed",
}


def report_repair_sweep(sweep: RepairSweep, *, with_seconds: bool = False) -> SweepReport:
    """Return all repairs and the cheapest clean one."""
    columns = ["repair", *_REPAIR_LEGEND, "verdict", *(["seconds"] if with_seconds else [])]
    rows = []
    for row in sweep.rows:
        counts = [_whole(value) for value in (row.findings, row.itemsets_lost, row.itemsets_ghost)]
        errors = [_share(value) for value in (row.support_error_mean, row.support_error_max)]
        taken = [f"{row.seconds:.1f}"] if with_seconds else []
        rows.append([row.method, *counts, *errors, _whole(row.people_changed), row.verdict or "not done", *taken])
    about = "an unknown number of people" if sweep.n is None else people(sweep.n)
    attacks = "I01" if sweep.goal == "frequent-only" else "all attacks"
    best = sweep.cheapest
    return SweepReport(
        title="which repair for itemsets",
        lead=(
            f"Itemsets about {about}, groups of fewer than {people(sweep.k)} not allowed: "
            f"{counted(sweep.before, 'finding')} of {attacks} before the repair"
        ),
        grid=Table.of("", columns, rows),
        outcome="Clean, with the least loss",
        outcomes=["none of these" if best is None else _cheapest(best)],
        undecided=[f"{row.method}: {row.reason}" for row in sweep.rows if row.reason],
        legend=_REPAIR_LEGEND,
        records=[row.to_dict() for row in sweep.rows],
        picture=_repair_picture(sweep),
        caption="What is lost, over what is still found.",
        reason=sweep.reason,
    )


def _cheapest(row: RepairRow) -> str:
    return f"{row.method}: {_decimals(row.loss, 4)}, the mean of errors and of itemsets lost or new, plus the share of people changed"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3%}"


def _repair_picture(sweep: RepairSweep) -> Canvas:
    done = [row for row in sweep.rows if row.findings is not None and row.loss is not None]
    curves = [Curve(row.method, ((float(row.findings or 0), row.loss or 0.0),), row.verdict or "") for row in done]
    said = [f"{row.method} {row.findings:,} findings, loss {_decimals(row.loss, 4)}" for row in done]
    return line_chart(
        curves,
        name="sweep",
        title="What repairs cost, and what they leave",
        description=f"Findings about groups of fewer than {sweep.k:,} people after each repair, and its loss: {', '.join(said)}.",
        x_label="findings after the repair",
        y_label="loss",
        is_linear=True,
    )
