"""Objects in a line and on a card, for prompts and notebooks.

Notebooks are shared, so lines, cards and pictures count people and groups, and describe none: no file, no column, no value. A card needs no
style sheet, since pages that show notebooks drop those.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import singledispatch
from html import escape

from tacit.model.audit import AttackRun, Audit, Findings
from tacit.model.buckets import Buckets
from tacit.model.errors import OptionError
from tacit.model.estimates import Comparison, Posterior
from tacit.model.finding import Finding
from tacit.model.frequencies import FrequencyTable
from tacit.model.negative import NegativeRules
from tacit.model.partial import PartialTable
from tacit.model.people import Releases
from tacit.model.release import Itemsets, Rules
from tacit.model.repair import Bucketized, Hidden, Repair, Suggestion, Suggestions
from tacit.model.sweep import ItemsetSweep, RepairSweep, RoundingSweep, RuleSweep, Sweep
from tacit.model.table import Table, Transactions
from tacit.reports.colours import LIGHT
from tacit.reports.document import capitalise, counted, people, visible
from tacit.reports.pictures import Canvas
from tacit.reports.sentences import KINDS, Summary, verdict_lines

LONGEST_LINE = 180
_MOST_ROWS = 10
#: The colours of verdicts, which are seen on white and on black.
_COLOURS = {"exposed": LIGHT["danger"], "clean": LIGHT["good"], "incomplete": LIGHT["open"]}


@dataclass(frozen=True, slots=True)
class Card:
    """Object in short: a line, sentences, facts, and a hint where to look."""

    short: str
    verdict: str = ""
    sentences: Sequence[str] = ()
    rows: Sequence[tuple[str, str]] = ()
    hint: str = ""


def line_of(thing: object) -> str:
    """Return an object as a line such as ``<Rules 26 rules about 1,000 people>``."""
    said = visible(described(thing).short)
    return f"<{type(thing).__name__} {said if len(said) <= LONGEST_LINE else said[: LONGEST_LINE - 3].rstrip() + '...'}>"


def card_of(thing: object) -> str:
    """Return an object as HTML that stands alone."""
    card = described(thing)
    name = f"<strong>{_escape(type(thing).__name__)}</strong>"
    badge = ""
    if card.verdict:
        style = f"background:{_COLOURS.get(card.verdict, LIGHT['soft'])};color:#fff;border-radius:3px;padding:1px 7px"
        badge = f' <span style="{style}">{_escape(card.verdict)}</span>'
    parts = [f"<div>{name}{badge}</div>"]
    parts += [f'<div style="margin-top:4px">{_escape(capitalise(one))}</div>' for one in card.sentences or [card.short]]
    if card.rows:
        parts.append(f'<table style="margin-top:6px;border-collapse:collapse">{"".join(map(_row, card.rows))}</table>')
    if card.hint:
        parts.append(f'<div style="margin-top:6px;opacity:.7">{_escape(card.hint)}</div>')
    style = "border:1px solid #8884;border-radius:6px;padding:8px 12px;max-width:46em;font:14px system-ui,sans-serif"
    return f'<div style="{style}">{"".join(parts)}</div>'


def _row(row: tuple[str, str]) -> str:
    cell = '<td style="text-align:left;padding:1px 14px 1px 0;border:0">{}</td>'
    return f"<tr>{''.join(cell.format(_escape(text)) for text in row)}</tr>"


def _escape(text: str) -> str:
    return escape(visible(text))


@singledispatch
def described(thing: object) -> Card:
    """Return the card of an object."""
    raise TypeError(f"no card for {type(thing).__name__}")


# Audits


@described.register
def _(audit: Audit) -> Card:
    summary = Summary(audit)
    rows = []
    for run in audit.runs:
        if run.status in ("ran", "stopped"):
            left = f", {run.undecided:,} undecided" if run.undecided else ""
            rows.append((f"{run.code} {run.name}", f"{counted(run.findings, 'finding')}{left}"))
        elif run.status != "not-relevant":
            rows.append((f"{run.code} {run.name}", "not asked for" if run.status == "not-asked" else "could not run"))
    hint = "Counts only: .to_frame() and .findings describe the groups, .report('x.html') writes a report."
    said = f"{audit.verdict}: {summary.sentence().removesuffix('.')}"
    return Card(said, audit.verdict, verdict_lines(audit, summary), rows, hint)


@described.register
def _(found: Findings) -> Card:
    codes = Counter({run.code: len(run.severity) for run in found.runs if len(run.severity)})
    listed = ", ".join(f"{number:,} {code}" for code, number in sorted(codes.items()))
    rows = [(finding.code, _about(finding)) for finding in found[:_MOST_ROWS]]
    hint = "Counts only, the worst first: .to_frame() describes the groups." if len(found) else ""
    return Card(f"{counted(len(found), 'finding')}{f': {listed}' if listed else ''}", rows=rows, hint=hint)


@described.register
def _(finding: Finding) -> Card:
    rows = [("attack", finding.code), ("people", _about(finding)), ("published numbers used", f"{len(finding.because):,}")]
    if finding.waived is not None:
        rows.append(("waived", "yes"))
    return Card(f"{finding.code}: {_about(finding)}", rows=rows, hint="Counts only: .statement says who, .steps says why.")


def _about(finding: Finding) -> str:
    count = finding.count
    return people(count.lo) if count.is_exact else f"{count.lo:,} to {people(count.hi)}"


@described.register
def _(run: AttackRun) -> Card:
    left = f", {run.undecided:,} undecided" if run.undecided else ""
    return Card(f"{run.code} {run.status}: {counted(run.findings, 'finding')}{left}")


# Releases and data


@described.register
def _(release: Itemsets) -> Card:
    least = "" if release.min_support is None else f", from {people(release.min_support)} on"
    which = "" if release.only == "all" else f"{release.only} "
    return _release(f"{counted(len(release), f'{which}itemset')}{_of(release.n)}{least}")


@described.register
def _(release: Rules) -> Card:
    return _release(f"{counted(len(release), 'rule')}{_of(release.n)}{', without numbers' if release.is_withheld else ''}")


@described.register
def _(release: FrequencyTable) -> Card:
    hidden = int(release.is_hidden.sum())
    return _release(f"{counted(len(release), 'cell')}{f' ({hidden:,} hidden)' if hidden else ''}{_of(release.n)}")


@described.register
def _(release: Buckets) -> Card:
    return _release(f"{counted(len(release), 'group')} of {people(release.n)}{_outcome(release)}")


@described.register
def _(release: PartialTable) -> Card:
    return _release(f"{counted(len(release), 'row')}, {counted(release.cells_hidden, 'cell')} hidden{_outcome(release)}")


@described.register
def _(rules: NegativeRules) -> Card:
    return _release(f"{counted(len(rules), 'rule')}, {rules.minimal_rules:,} of them minimal")


@described.register
def _(folder: Releases) -> Card:
    kinds = Counter(release.kind for release in folder)
    return Card(f"{counted(len(folder), 'release')}: {', '.join(f'{number:,} {kind}' for kind, number in sorted(kinds.items()))}")


@described.register
def _(table: Table) -> Card:
    roles = f" ({len(table.schema.qi)} QI, {len(table.schema.sa)} SA)" if table.schema.used else ""
    return Card(f"{people(table.n)}, {counted(len(table.columns), 'column')}{roles}")


@described.register
def _(rows: Transactions) -> Card:
    return Card(f"{people(rows.n)}, {counted(len(rows.items), 'item')}")


def _release(said: str) -> Card:
    return Card(said, hint="Counts only: .to_frame() and .records() hold the lines.")


def _of(n: int | None) -> str:
    return "" if n is None else f" about {people(n)}"


def _outcome(made: Buckets | PartialTable) -> str:
    if not isinstance(made, (Bucketized, Hidden)):
        return ""
    return f", by {made.method}{'' if made.after is None else f': {made.after.verdict}'}"


# Repairs


@described.register
def _(done: Repair) -> Card:
    before = Summary(done.before)
    after = Summary(done.after)
    rows = [("before", f"{before.verdict}, {counted(before.findings, 'finding')}")]
    rows += [("after", f"{after.verdict}, {counted(after.findings, 'finding')}"), ("method", done.method)]
    rows += [(name.replace("_", " "), _number(value)) for name, value in done.cost.items() if isinstance(value, (int, float))]
    said = f"by {done.method}: {after.verdict}; it was {before.verdict}"
    return Card(said, after.verdict, [after.sentence()], rows, "tacit.write_release(repair.release, 'x.csv') writes the release.")


@described.register
def _(one: Suggestion) -> Card:
    loss = "" if one.loss is None else f", loss {one.loss:.3g}"
    return Card(f"{one.method}: {one.verdict or 'not done'}{loss}", one.verdict or "")


@described.register
def _(tried: Suggestions) -> Card:
    best = "" if tried.best is None else f"; the cheapest is {tried.best.method}"
    rows = [(one.method, described(one).short.partition(": ")[2]) for one in tried]
    return Card(f"{counted(len(tried), 'repair')} tried, {len(tried.clean):,} clean{best}", rows=rows)


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


# Estimates and sweeps


@described.register
def _(found: Posterior) -> Card:
    about = (
        f"{counted(len(found.population), 'combination')} of {people(found.population.n)}, {counted(len(found.values), 'value')}"
    )
    largest = f"; largest probability {float(found.largest.max()):.3f}" if found.is_estimated and len(found.population) else ""
    return Card(about + largest, hint="Counts only: .to_frame() holds every estimate.")


@described.register
def _(found: Comparison) -> Card:
    n = found.posterior.population.n
    return Card(f"D_overall {found.overall:.4g}; the top guess is right for {found.top_guess_right:,} of {people(n)}")


def _verdicts(sweep: Sweep) -> Iterable[str]:
    if isinstance(sweep, RoundingSweep):
        return [one.verdict for one in sweep.settings]
    if isinstance(sweep, RepairSweep):
        return [row.verdict or "not done" for row in sweep.rows]
    assert isinstance(sweep, (ItemsetSweep, RuleSweep))
    return [cell.verdict for cell in sweep.cells]


@described.register
def _(sweep: Sweep) -> Card:
    found = Counter(_verdicts(sweep))
    listed = ", ".join(f"{number:,} {verdict}" for verdict, number in sorted(found.items()))
    rows = [(verdict, f"{number:,}") for verdict, number in sorted(found.items())]
    return Card(f"{counted(sum(found.values()), 'setting')}: {listed}", rows=rows)


# Pictures


@singledispatch
def picture_of(thing: object) -> Canvas:
    """Draw an object."""
    raise TypeError(f"no picture of {type(thing).__name__}")


@picture_of.register
def _(audit: Audit) -> Canvas:
    from tacit.reports.audit import size_picture

    summary = Summary(audit)
    found = audit.posterior
    if found is not None and found.is_estimated and not summary.groups:
        return picture_of(found)
    if not any(KINDS[release["kind"]].finds_groups for release in audit.release):
        remedy = "See audit.to_frame(), or audit.table('posterior')"
        raise OptionError("no groups are looked for in such a release, and nothing was estimated", where="plot", remedy=remedy)
    return size_picture(summary)


@picture_of.register
def _(found: Posterior) -> Canvas:
    from tacit.reports.estimates import certainty_picture

    if not found.is_estimated:
        raise OptionError("nothing was estimated", where="plot", remedy="Run R02 as well")
    return certainty_picture(found)


@picture_of.register
def _(done: Repair) -> Canvas:
    from tacit.reports.repair import repair_picture

    return repair_picture(Summary(done.before), Summary(done.after))


@picture_of.register
def _(sweep: Sweep) -> Canvas:
    from tacit.reports import sweep as reports

    if isinstance(sweep, ItemsetSweep):
        return reports.report_itemset_sweep(sweep).picture
    if isinstance(sweep, RoundingSweep):
        return reports.report_rounding_sweep(sweep).picture
    if isinstance(sweep, RuleSweep):
        return reports.report_rule_sweep(sweep).picture
    assert isinstance(sweep, RepairSweep)
    return reports.report_repair_sweep(sweep).picture
