"""Reports of sweeps as documents, CSV and pictures."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tacit.model.sweep import ItemsetSweep, Lowest, RoundingSweep, RuleCell, RuleSweep, Setting
from tacit.reports.document import PAGES, SCREEN, Document, Facts, Figure, Listing, Section, Table
from tacit.reports.pictures import Canvas, Curve, line_chart
from tacit.reports.sentences import UNBROKEN, as_share, counted, people
from tacit.reports.text import render_text

_NOTE = "Internal report: it shows thresholds at which individuals are revealed. It names no group and no value."
_UNDECIDED = "Undecided, which is never to be read as safe"

Records = Sequence[Mapping[str, Any]]


def _document(
    title: str,
    lead: str,
    *,
    grid: Table,
    outcome: tuple[str, Iterable[str]],
    legend: Mapping[str, str],
    records: Records,
    figure: Figure,
    undecided: Iterable[str] = (),
    reason: str = "",
) -> Document:
    columns = [name.replace("_", " ") for name in (records[0] if records else ())]
    every = Table.of(
        "One row for each; empty where something was not counted",
        columns,
        [[_cell(value) for value in record.values()] for record in records],
        style="grid",
    )
    outcome_title, sentences = outcome
    return Document(
        title=f"Tacit: {title}",
        lead=(lead,),
        remarks=(f"NOT FINISHED: {reason}",) if reason else (),
        note=_NOTE,
        sections=(
            Section("", (grid,), SCREEN),
            Section(outcome_title, (Listing.of(sentences),)),
            Section(_UNDECIDED, (Listing.of(dict.fromkeys(undecided)),)),
            Section("Picture", (figure,), PAGES),
            Section("Every setting", (every,), PAGES),
            Section("Columns", (Facts("Words of the table", tuple(legend.items())),)),
        ),
    )


def _cell(value: Any) -> str:
    """Return a value of a record with few digits."""
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


def _csv_text(records: Records) -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(records[0]) if records else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return stream.getvalue()


# Thresholds of itemsets

_ITEMSET_LEGEND = {
    "channels": "groups of 1 to k-1 people, by adding and subtracting published counts (I01)",
    "of one": "the number of these that are a single person",
    "deduced": "further such groups, through itemsets that the list leaves out (I02)",
    "people": "the number of people who are concerned at least",
    "verdict": "of all attacks, X01 as well, where I01 and I02 find nothing",
}


def itemset_sweep_document(sweep: ItemsetSweep) -> Document:
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
    return _document(
        "which threshold for itemsets",
        f"Itemsets about {people(sweep.n)}",
        grid=Table.of("", columns, rows),
        outcome=("Lowest threshold at which I01 and I02 find nothing", [_lowest(one, sweep) for one in sweep.lowest]),
        legend=legend,
        records=_itemset_records(sweep),
        figure=Figure(_itemset_picture(sweep), "Groups of fewer than k people, over the threshold."),
        reason=sweep.reason,
    )


def itemset_sweep_text(sweep: ItemsetSweep) -> str:
    """Return a sweep of thresholds as text."""
    return render_text(itemset_sweep_document(sweep), width=UNBROKEN)


def itemset_sweep_csv(sweep: ItemsetSweep) -> str:
    """Return the cells as CSV; uncounted ones empty."""
    return _csv_text(_itemset_records(sweep))


def itemset_sweep_svg(sweep: ItemsetSweep) -> str:
    """Return channels over thresholds as an SVG file."""
    return _itemset_picture(sweep).standalone()


def _itemset_records(sweep: ItemsetSweep) -> Records:
    return [{"min_support": cell["min_support"], "share": cell["share"]} | cell for cell in sweep.to_dict()["cells"]]


def _lowest(one: Lowest, sweep: ItemsetSweep) -> str:
    head = f"k = {one.k:,}: "
    if one.min_support is None:
        if one.decided:
            return f"{head}none; the {people(sweep.n)} are fewer than k"
        found = f"; published itemsets alone need {_people_of(one.published, sweep.n)}" if one.published else ""
        return f"{head}not found in time{found}"
    line = f"{head}{_people_of(one.min_support, sweep.n)}"
    if one.min_support > sweep.n:
        line = f"{head}none at which an itemset is left"
    if one.published is not None and one.published != one.min_support:
        line += f"; without deduction through missing itemsets {_people_of(one.published, sweep.n)}"
    return line if one.decided else f"{line}; a lower one may do, but could not be decided"


def _people_of(count: int, n: int) -> str:
    return f"{people(count)}{as_share(count, n)}"


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
            curves.append(Curve(f"k = {one.k:,}", points, _lowest_remark(one, sweep)))
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


def _lowest_remark(one: Lowest, sweep: ItemsetSweep) -> str:
    if one.min_support is None:
        return ""
    return "no threshold is safe" if one.min_support > sweep.n else f"safe from {_percent(sweep.share(one.min_support))} on"


# Precision of counts


def rounding_sweep_document(sweep: RoundingSweep) -> Document:
    """Return all settings and the finest safe one."""
    codes = list(dict.fromkeys(code for one in sweep.settings for code in one.findings))
    rows = []
    for one in sweep.settings:
        found = [_whole(one.findings.get(code)) for code in codes]
        rows.append([one.label, _step(one.step), f"{one.error_mean:.3%}", *found, one.verdict])
    about = "an unknown number of people" if sweep.n is None else people(sweep.n)
    caption = "Groups of fewer than k people, over the step of printed numbers."
    return _document(
        "how precise counts may be",
        f"Itemsets about {about}, groups of fewer than {people(sweep.k)} not allowed",
        grid=Table.of("", ["printed as", "step", "mean error", *codes, "verdict"], rows),
        outcome=("Outcome", _finest(sweep)),
        undecided=[one.reason for one in sweep.settings if one.verdict == "undecided" and one.reason],
        legend={
            "step": "people between one printed number and the next",
            "mean error": "of printed counts, as a share of the true one",
        },
        records=_rounding_records(sweep),
        figure=Figure(_rounding_picture(sweep), caption),
    )


def rounding_sweep_text(sweep: RoundingSweep) -> str:
    """Return a sweep of precisions as text."""
    return render_text(rounding_sweep_document(sweep), width=UNBROKEN)


def rounding_sweep_csv(sweep: RoundingSweep) -> str:
    """Return the settings as CSV."""
    return _csv_text(_rounding_records(sweep))


def rounding_sweep_svg(sweep: RoundingSweep) -> str:
    """Return findings over rounding steps as SVG."""
    return _rounding_picture(sweep).standalone()


def _rounding_records(sweep: RoundingSweep) -> Records:
    codes = list(dict.fromkeys(code for one in sweep.settings for code in one.findings))
    records = []
    for one in sweep.settings:
        record: dict[str, Any] = {"printed_as": one.label} | one.to_dict()
        findings = record.pop("findings")
        records.append(record | {code: findings.get(code) for code in codes})
    return records


def _step(step: float) -> str:
    return f"{step:,.0f}" if step >= 1000 else f"{step:.4g}"


def _finest(sweep: RoundingSweep) -> list[str]:
    lines = []
    if any(one.precision is not None and one.precision.decimals is not None for one in sweep.settings):
        best = sweep.finest_decimals
        lines.append(f"Finest safe number of decimals: {'none of these' if best is None else counted(best, 'decimal')}")
    if any(one.precision is not None and one.precision.base is not None for one in sweep.settings):
        lines.append(f"Finest safe base: {'none of these' if sweep.finest_base is None else f'{sweep.finest_base:,}'}")
    return lines


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
    "D": "divergence of estimates from the truth, mean over all people, in nats: small is bad for privacy (D_overall)",
}


def rule_sweep_document(sweep: RuleSweep) -> Document:
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
    return _document(
        "which thresholds for rules",
        f"Rules about {people(sweep.n)}",
        grid=Table.of("", (*columns, "over 90%", "certain", "D", "verdict"), rows),
        outcome=("Largest list that is clean", [richest]),
        undecided=[cell.reason for cell in sweep.cells if cell.reason],
        legend=_RULE_LEGEND,
        records=[cell.to_dict() for cell in sweep.cells],
        figure=Figure(_rule_picture(sweep), "What each list of rules reveals, over its thresholds."),
        reason=sweep.reason,
    )


def rule_sweep_text(sweep: RuleSweep) -> str:
    """Return a sweep of rules as text."""
    return render_text(rule_sweep_document(sweep), width=UNBROKEN)


def rule_sweep_csv(sweep: RuleSweep) -> str:
    """Return the cells as CSV; missing ones empty."""
    return _csv_text([cell.to_dict() for cell in sweep.cells])


def rule_sweep_svg(sweep: RuleSweep) -> str:
    """Return the divergence of estimates as SVG."""
    return _rule_picture(sweep).standalone()


def _rule_picture(sweep: RuleSweep) -> Canvas:
    """Draw the divergence over the threshold that varies more."""
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
        description=f"Divergence of estimates from the truth, mean over {sweep.n:,} people, in nats; small is bad. {'; '.join(said)}.",
        x_label="support threshold (% of people)" if over_support else "confidence threshold (%)",
        y_label="D_overall, nats: the lower, the better the guesses",
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
