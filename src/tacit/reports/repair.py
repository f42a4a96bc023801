"""Reports of repairs, groupings, and hidden cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tacit.model.changes import LineChange
from tacit.model.repair import Bucketized, BucketizedParts, Hidden, Repair
from tacit.model.version import __version__
from tacit.reports import sentences
from tacit.reports.audit import file_rows, limit_table, measure_rows, title_of
from tacit.reports.document import (
    Document,
    Figure,
    Heading,
    Listing,
    Paragraph,
    Part,
    ReportKind,
    Section,
    Sentence,
    Table,
    capitalise,
    counted,
    facts_text,
    format_measure,
    format_number,
    people,
    places_name,
    visible,
)
from tacit.reports.external import EXTERNAL
from tacit.reports.pictures import Canvas, bars_of_sizes, before_and_after
from tacit.reports.sentences import Summary, verdict_line

MOST_CHANGES = 40  #: Changed lines that a report lists; the record lists all.

#: Regions of cells in words.
PLACES = {
    "ns": "sensitive cells of other records",
    "nc": "condition cells of other records",
    "sc": "condition cells of the sensitive records",
}

# Lists


def repair_document(done: Repair, outputs: Mapping[str, str], *, kind: ReportKind = "internal") -> Document:
    """Return a repair's report; ``outputs`` maps files to SHA-256."""
    is_internal = kind == "internal"
    before = Summary(done.before)
    after = Summary(done.after)
    tiles = [(before.findings, "findings before"), (after.findings, "findings after the repair")]
    if before.groups:
        tiles += [(before.single, "groups of one person before"), (after.single, "groups of one person after the repair")]
    left = done.after.findings[:10]
    remaining = [finding.statement if is_internal else sentences.counted_only(finding) for finding in left]
    files = [("Before" if name == "Release" else name, value) for name, value in file_rows(done.before, kind)]
    files += [("After", f"{name}: {sha256}" if is_internal else sha256) for name, sha256 in outputs.items()]
    title = title_of(done.before, kind)
    picture = None
    if before.groups:
        caption = "Groups of each size that can be computed from the release before (left) and after (right) the repair."
        picture = Figure(repair_picture(before, after), caption)
    return Document(
        subject="Repair of a release",
        title=title,
        page_title=f"{done.after.verdict} after repair: {title} (Tacit)",
        facts=(
            ("Repaired", "; ".join(sentences.describe_release(entry, "external") for entry in done.before.release[:3])),
            ("Method", done.method),
            ("Limits", sentences.limits_in_force(done.after)),
            ("Program", f"Tacit {__version__}"),
        ),
        verdict=done.after.verdict,
        lead=(f"after {done.method}: {after.sentence()}", f"Before: {before.sentence()}"),
        tiles=tuple(tiles),
        picture=picture,
        opening=_opening(done) if is_internal else (),
        note="Internal report: it may describe groups of people. Keep it with the data." if is_internal else EXTERNAL,
        sections=(
            Section("Before and after", tuple(_before_and_after(done))),
            Section("Changed lines", tuple(_change_parts(done)) if is_internal else ()),
            Section("Cost", tuple(_cost_tables(done, kind))),
            Section("Worst findings that remain", (Listing.of(remaining),)),
            Section(
                "Policy",
                (Listing.of(map(capitalise, sentences.policy_sentences(done.after))), limit_table(done.after)),
                is_folded=True,
            ),
            Section("Files", (Table.of("What was read and written", ("File", "Fact"), files),)),
        ),
    )


def _opening(done: Repair) -> tuple[Part, ...]:
    return Heading("What was done"), Listing.of(_done(done)), Heading("What to do next"), Listing.of(_next(done))


def _done(done: Repair) -> list[str]:
    told = f"{capitalise(done.what)} ({done.method})." if done.what else f"Method {done.method}."
    cost = dict(done.cost)
    if cost.get("people_before") == cost.get("people_after"):
        cost = {name: value for name, value in cost.items() if name not in ("people_before", "people_after")}
    costs = [f"{capitalise(name)}: {value}." for name, value in cost_rows(cost) if value not in ("0", "0 %")]
    return [
        told,
        *(f"{what}: {words}." for what, words in describe_numbers(done)),
        *([done.remark] if done.remark else []),
        *costs,
    ]


def describe_numbers(done: Repair) -> list[tuple[str, str]]:
    """Return how the numbers of a repaired list are printed, and what it declares."""
    if isinstance(done.release, tuple):
        return []
    header = done.release.header
    if done.release.kind == "rules":
        support = f"support at least {header.min_support:,} people" if header.min_support else "no support threshold"
        bar = f", confidence at least {float(header.min_confidence):.4g}" if header.min_confidence is not None else ""
        numbers = f"; supports with {counted(header.digits, 'decimal')}" if header.digits is not None else ""
        whole = "complete" if header.complete else "incomplete"
        return [("Rules", f"{len(done.release):,}, {support}{bar}{numbers}; the header declares the list {whole}")]
    if done.method != "round" or (header.base is None and header.digits is None):
        return []
    if header.base is not None:
        return [("Counts", f"rounded to multiples of {header.base:,}")]
    return [("Counts", f"withheld; supports are printed with {counted(header.digits, 'decimal')}")]


def change_subject(change: LineChange) -> str:
    """Return what a changed line is about."""
    is_listed = "itemset" in change.about or "antecedent" in change.about
    return " => ".join(map(_side_words, change.about.values())) if is_listed else _side_words(change.about)


def number_words(told: Mapping[str, Any] | None) -> str:
    """Return the numbers of a line."""
    texts = {name: f"{value:.4g}" if isinstance(value, float) else str(value) for name, value in (told or {}).items()}
    return ", ".join(f"{name} {text}" for name, text in texts.items())


def _side_words(side: Any) -> str:
    if isinstance(side, Mapping):
        return ", ".join(f"{name}={value}" for name, value in side.items())
    return str(side) if isinstance(side, str) else ", ".join(map(str, side))


def _change_parts(done: Repair) -> Iterator[Part]:
    rows = []
    for change in done.changes[:MOST_CHANGES]:
        old = number_words(change.before) or ("not published" if change.before is None else "no number")
        new = number_words(change.after) or ("taken out" if change.after is None else "no number")
        rows.append(("new" if change.line is None else str(change.line), change_subject(change), old, new))
    if rows:
        place = places_name(change.line for change in done.changes if change.line is not None)
        yield Table.of(f"{place}s that the repair changed", (place, "About", "Before", "After"), rows, style="release")
    if (more := len(done.changes) - MOST_CHANGES) > 0:
        yield Paragraph(f"And {counted(more, 'more line')}, which the record lists.", is_note=True)


def _next(done: Repair) -> list[str | Sentence]:
    if done.ok and not done.after.ok:
        met = f"The goal {done.goal} is met: I01 finds nothing. The other attacks were not run."
        return [met, *sentences.next_steps(done.after)]
    if done.ok:
        old = "" if done.before.ok else "; the old one is not"
        safe = f"The repaired release is safe to publish under this policy, as far as the attacks that ran can tell{old}."
        return [safe, *sentences.next_steps(done.after)]
    other = "" if done.suggested in (None, done.method) else f"The method {done.suggested} would meet the policy."
    said = [one for one in ("This method did not meet the policy.", done.remark, other) if one]
    return [*said, *sentences.next_steps(done.after)]


def repair_picture(before: Summary, after: Summary) -> Canvas:
    """Draw the number of computed groups by size, before and after."""
    first = bars_of_sizes(before.sizes, before.groups_of_size, before.k)
    second = bars_of_sizes(after.sizes, after.groups_of_size, after.k)
    pairs = zip(first, second, strict=True)
    sizes = [f"size {one.label}: {counted(one.value, 'group')} before, {two.value:,} after" for one, two in pairs]
    title = "Groups that can be computed, before and after"
    return before_and_after(first, second, name="repair", title=title, description="; ".join(sizes))


def _before_and_after(done: Repair) -> Iterator[Part]:
    rows = []
    for run in done.before.runs:
        if run.status != "not-relevant":
            again = done.after.attack(run.code)
            rows.append((run.code, run.name, f"{run.findings:,}", f"{again.findings:,}", again.status))
    yield Table.of("Findings of each attack", ("Code", "Attack", "Before", "After", "Status after"), rows)
    measures = {row[0]: row[1] for row in measure_rows(done.after)}
    known = (row for row in measure_rows(done.before) if row[0] in measures)
    compared = [(name, value, measures[name], meaning) for name, value, _, meaning in known]
    yield Table.of("Measures", ("Measure", "Before", "After", "Meaning"), compared)


#: Costs whose names need more words.
_COST_NAMES = {
    "itemsets_ghost": "new itemsets that were not frequent before",
    "supports_changed": "itemsets with another count",
    "support_error_mean": "counts off on average by",
    "support_error_max": "counts off at most by",
    "information_lost_share": "information about sensitive values lost",
    "query_error": "answers to questions off on average by",
    "confidence_error": "confidences of rules off on average by",
}


def cost_rows(cost: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the costs of a repair with their names, in a form for reading."""
    from tacit.model.measures import MEASURES

    units = {measure.name: measure.unit for measure in MEASURES}
    rows = []
    withheld = " (a withheld one as the least it can be)" if cost.get("values_withheld") else ""
    for name, value in cost.items():
        if name == "information_lost":
            continue  # as a share it can be understood
        if isinstance(value, Mapping):
            told = ", ".join(f"{visible(str(key))} {format_number(number)}" for key, number in value.items()) or "none"
        else:
            unit = units.get(name, "share" if name.endswith(("_share", "_error")) else "")
            told = value if isinstance(value, str) else format_measure(value, unit)
        rows.append((_COST_NAMES.get(name, name.replace("_", " ")) + withheld * name.startswith("support_error"), told))
    return rows


def _describe_outside(cost: Mapping[str, Any], kind: ReportKind) -> Mapping[str, Any]:
    """Return the costs; outside only numbers, since others may name columns."""
    return cost if kind == "internal" else {name: value for name, value in cost.items() if isinstance(value, int | float)}


def _cost_tables(done: Repair, kind: ReportKind) -> Iterator[Table]:
    yield Table.of("What the repair costs", ("What", "Cost"), cost_rows(_describe_outside(done.cost, kind)))
    rows = []
    for one in done.tried:
        cost = cost_rows(_describe_outside(one.cost, kind))
        costs = "; ".join(f"{name} {value}" for name, value in cost if value not in ("0", "0 %"))
        reason = one.reason if kind == "internal" else ""  # it may name columns
        rows.append((one.method, one.verdict or "not done", reason or costs or "nothing is lost that is measured"))
    yield Table.of("What every method would come to", ("Method", "Verdict", "Cost or reason"), rows)


# People in groups


def bucketized_text(made: Bucketized | BucketizedParts, *, dropped: int = 0, origin: str = "") -> str:
    """Return the groups, audits, and comparison with Anatomy."""
    cost = made.cost
    sizes = f"{cost['mean_group']:.2f} people on average, {cost['largest_group']:,} at most"
    headline = f"{counted(cost['groups'], 'group')} of {people(made.n)}; {sizes}"
    return facts_text(_bucketized_facts(made, dropped, origin), headline=headline)


def _bucketized_facts(made: Bucketized | BucketizedParts, dropped: int, origin: str) -> Iterator[tuple[str, str]]:
    cost = made.cost
    which = f"{made.method} ({cost['grouped_by']} came out better)" if cost["grouped_by"] != made.method else made.method
    left_over = "nobody was left over"
    if cost["residue"]:
        merged = f", {counted(cost['merges'], 'merge')} of groups" if cost["merges"] else ""
        left_over = f"{people(cost['residue'])} left over at first joined a group{merged}"
    yield "Method", f"{which}; {left_over}"
    if cost["suppressed"]:
        yield "Left out", f"{people(cost['suppressed'])} for whom there is no such group"
    if cost.get("beyond_bound"):
        yield "Bound", f"no group within it was found for {people(cost['beyond_bound'])}"
    yield from _audit_facts(made, dropped, origin, before="the table as it is")
    for sentence in sentences.bucket_sentences(made.after) if made.after is not None else ():
        yield "Guesses", sentence
    if "surviving_guess_right_exact" in cost:
        yield (
            "Truth",
            f"{100 * cost['surviving_guess_right_exact']:.1f} % of the guesses of B03 are right, which only you can tell",
        )
    errors = {"confidence_error": "confidences of rules", "query_error": "counts"}
    if known := [f"{what} are off by {100 * cost[name]:.1f} %" for name, what in errors.items() if name in cost]:
        yield "Utility", f"counted by groups, {' and '.join(known)} on average"
    for one in made.tried:
        least = made.after.policy.l if made.after is not None else 0
        rival = f"not possible: {one.reason}"
        if (vulnerable := one.cost.get("vulnerable")) is not None:
            rival = f"which ignores the knowledge, would leave {people(vulnerable)} with fewer than {least:,} valid values"
        yield one.method.capitalize(), rival


def _audit_facts(
    made: Bucketized | BucketizedParts | Hidden, dropped: int, origin: str, *, before: str, rest: str = ""
) -> Iterator[tuple[str, str]]:
    if dropped:
        yield "Missing", f"{counted(dropped, 'row')} with the mark of a missing value dropped{rest}"
    if origin:
        yield "Settings", f"from {origin}"
    if made.before is not None:
        yield "Before", f"{verdict_line(made.before)} ({before})"
    if made.after is not None:
        yield "After", verdict_line(made.after)


# Tables with hidden cells


def hidden_text(made: Hidden, *, dropped: int = 0, origin: str = "") -> str:
    """Return the hidden cells, their audits, and their cost."""
    cost = made.cost
    sensitive = counted(cost["sensitive_cells"], "sensitive cell")
    hidden = f"{counted(cost['cells_hidden'], 'cell')} hidden in addition to {sensitive}"
    headline = f"{hidden}; {100 * cost['cells_hidden_share']:.3f} % of the cells in use"
    return facts_text(_hidden_facts(made, dropped, origin), headline=headline)


def _hidden_facts(made: Hidden, dropped: int, origin: str) -> Iterator[tuple[str, str]]:
    cost = made.cost
    optimum = ""
    if "least_cells" in cost:
        at_least = f"every safe table hides at least {counted(cost['least_cells'], 'cell')}"
        optimum = "; no safe table hides fewer cells" if cost["gap"] == 0 else f"; {at_least}"
    yield "Method", f"{made.method}{optimum}"
    for region, count in cost["by_region"].items():
        if count:
            yield "Where", f"{count:,} of the {PLACES[region]} ({region})"
    if cost["by_column"]:
        yield "Columns", ", ".join(f"{visible(name)} {count:,}" for name, count in cost["by_column"].items())
    if made.other_names:
        columns = f"{counted(len(made.other_names), 'column')} without a role"
        names = ", ".join(map(visible, made.other_names))
        if made.other_columns == "drop":
            yield "Dropped", f"{columns}: {names} (--other-columns keep publishes them)"
        else:
            yield "Others", f"{columns} published, and protected against: {names}"
    yield from _audit_facts(
        made, dropped, origin, before="only the sensitive cells hidden", rest="; row numbers count the others"
    )
    rules = f"{cost['rules_lost']:,} of {counted(cost['rules'], 'rule')} lost, {cost['rules_changed']:,} changed, {cost['rules_new']:,} new"
    yield "Use", f"{rules}; counts are off by {100 * cost['query_error']:.1f} % on average"
    for one in made.tried:
        outcome = f"is not possible: {one.reason}"
        if one.verdict is not None:
            cells = counted(one.cost["cells_hidden"], "cell")
            outcome = f"would hide {cells} of the sensitive records, and its audit is {one.verdict}"
        yield "Instead", f"--may-hide sc --method {one.method} {outcome}"
