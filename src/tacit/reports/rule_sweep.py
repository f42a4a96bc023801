"""A sweep of rules as text, as CSV and as a picture."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.model.rule_sweep import RuleCell, RuleSweep
from tacit.reports.chart import Curve, chart
from tacit.reports.summary import counted
from tacit.reports.sweeps import csv_text, table

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
