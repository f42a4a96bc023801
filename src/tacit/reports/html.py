"""The report as one HTML file that asks for nothing from outside: style and pictures stand inside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from tacit.model.audit import AttackRun, Audit
from tacit.model.finding import Finding
from tacit.model.posterior import Guess, Posterior
from tacit.model.release import Itemsets, Release, Rules
from tacit.reports import estimates, tables
from tacit.reports.arithmetic import Derivation, Term
from tacit.reports.summary import (
    ReportKind,
    Summary,
    assumptions,
    counted,
    described,
    finds_groups,
    next_steps,
    policy_sentences,
    thresholds,
    visible,
)
from tacit.reports.svg import bars_of_sizes, histogram, published_and_computed
from tacit.version import __version__

_SENSITIVE = {
    "internal": "Internal report: it describes groups of people. Keep it with the data.",
    "external": "External report: it holds counts only, no description of a group, no value and no name of a column.",
}


def audit_html(audit: Audit, *, release: Release | None = None, top: int = 10, kind: ReportKind = "internal") -> str:
    """An audit as a whole page; ``release`` adds the picture of the published counts."""
    summary = Summary.of(audit)
    body = [
        f"<h1>Tacit: what {'this release gives' if len(audit.release) == 1 else 'these releases give'} away</h1>",
        _verdict(audit, summary),
        _tiles(audit, summary),
        f'<p class="note">{_SENSITIVE[kind]}</p>',
        _section("Assumptions", _listed(assumptions(audit, kind))),
        _section("Attacks", _attacks(audit.runs)),
    ]
    if (guessed := estimates.estimates_of(audit)) is not None:
        body.append(_section(estimates.TITLE, _estimates(audit, guessed, top, kind)))
    if guesses := list(estimates.bucket_sentences(audit)):
        body.append(_section(estimates.TITLE, _listed(guesses)))
    if readings := tables.readings(audit):
        body.append(_section("Largest confidence", _listed(readings)))
    if summary.groups:
        body.append(_section("Pictures", _pictures(summary, release)))
    if kind == "external" and summary.groups:
        body.append(_section("Groups by size", _sizes(summary)))
    if kind == "internal" and top and summary.findings:
        body.append(_section("Worst findings", _findings(audit, summary, release, top)))
    body += [
        _section("What to do next", _listed(next_steps(audit))),
        _section("What was audited", _inputs(audit, kind)),
        _footer(kind),
    ]
    return _page(f"{audit.verdict}: Tacit audit", "\n".join(body))


def _page(title: str, body: str) -> str:
    style = files("tacit.reports").joinpath("report.css").read_text("utf-8")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="referrer" content="no-referrer">
<title>{_safe(title)}</title>
<style>
{style}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def _verdict(audit: Audit, summary: Summary) -> str:
    sentence = summary.sentence()
    told = _safe(sentence[0].upper() + sentence[1:])
    return f'<div class="verdict {audit.verdict}"><strong>{audit.verdict.upper()}</strong><p>{told}</p></div>'


def _tiles(audit: Audit, summary: Summary) -> str:
    """The few numbers that matter; none is shown that was not decided."""
    entries: list[tuple[int, str]] = []
    if audit.verdict != "incomplete" and finds_groups(audit):
        entries.append((summary.groups, f"groups of {summary.span} that can be computed"))
    if summary.groups:
        entries += [(summary.single, "of them a single person"), (summary.people, "people concerned at least")]
    if "vulnerable" in audit.measures:
        entries.append((int(audit.measures["vulnerable"]), f"people who keep fewer than {counted(summary.l, 'possible value')}"))
    if "people_certain" in audit.measures:
        entries.append((int(audit.measures["people_certain"]), "people whose sensitive value is certain"))
    if "people_above_90" in audit.measures:
        entries.append((int(audit.measures["people_above_90"]), "people whose sensitive value is estimated above 0.9"))
    for name, what in (("records_told", "records told by a rule"), ("cells_hidden", "cells hidden")):
        if name in audit.measures:
            entries.append((int(audit.measures[name]), what))
    if "smallest_count" in audit.measures:
        entries.append((audit.measures["smallest_count"], "people in the smallest published count"))
    tiles = "".join(f"<li><b>{number:,}</b><span>{_safe(what)}</span></li>" for number, what in entries)
    return f'<ul class="tiles">{tiles}</ul>' if tiles else ""


#: Columns that hold numbers.
_FIGURES = ("Findings", "Undecided", "People", "Estimate", "Among all", "Proved bounds")
_ATTACK_COLUMNS = ("Code", "Attack", "Claim", "Status", "Findings", "Undecided", "Why")


def _attacks(runs: Iterable[AttackRun]) -> str:
    head = "".join(f'<th scope="col"{_figures(name)}>{name}</th>' for name in _ATTACK_COLUMNS)
    rows = "\n".join(_attack(run) for run in runs)
    caption = "What became of each attack, and why. “Proves”: true in every database that fits the release."
    return f'<div class="scroll">{_table("attacks", caption, f"<tr>{head}</tr>", rows)}</div>'


def _attack(run: AttackRun) -> str:
    looked = run.status in ("ran", "stopped")
    counts = (f"{run.findings:,}", f"{run.undecided:,}") if looked else ("-", "-")
    cells = (run.name, run.claim, run.status, *counts, run.reason or "-")
    marked = "".join(
        f'<td data-name="{name}"{_figures(name)}>{_safe(cell)}</td>'
        for name, cell in zip(_ATTACK_COLUMNS[1:], cells, strict=True)
    )
    return f'<tr><th scope="row">{_safe(run.code)}</th>{marked}</tr>'


def _table(style: str, caption: str, head: str, rows: str) -> str:
    return f'<table class="{style}"><caption>{caption}</caption><thead>{head}</thead><tbody>{rows}</tbody></table>'


def _figures(column: str) -> str:
    return ' class="figure"' if column in _FIGURES else ""


def _pictures(summary: Summary, release: Release | None) -> str:
    bars = bars_of_sizes(summary.sizes, summary.groups_of_size, summary.k)
    sizes = histogram(
        bars,
        name="sizes",
        title="How large the computed groups are",
        description="; ".join(f"{counted(bar.value, 'group')} of size {bar.label}" for bar in bars),
        x_label="people in the group",
        y_label="groups",
    )
    out = [_figure(sizes, f"How many groups of each size can be computed. None should exist under k = {summary.k:,}.")]
    if isinstance(release, (Itemsets, Rules)) and len(release):
        told = (
            f"Published counts from {int(release.hi.min()):,} to {int(release.hi.max()):,}; computed groups under {summary.k:,}."
        )
        both = published_and_computed(
            release.hi,
            summary.sizes,
            summary.groups_of_size,
            k=summary.k,
            n=release.n,
            name="both",
            title="Published counts and computed groups",
            description=told,
        )
        out.append(
            _figure(
                both,
                "Published counts (above the scale) and the groups computed from them (below it); each half has its own height.",
            )
        )
    note = "Groups overlap: one person can be in many of them, so their sizes do not add up to people."
    return f'<div class="pictures">{"".join(out)}</div><p class="note">{note}</p>'


def _figure(picture: str, caption: str) -> str:
    return f"<figure>{picture}<figcaption>{_safe(caption)}</figcaption></figure>"


def _sizes(summary: Summary) -> str:
    bars = bars_of_sizes(summary.sizes, summary.groups_of_size, summary.k)
    rows = "".join(f'<tr><th scope="row">{bar.label}</th><td class="figure">{bar.value:,}</td></tr>' for bar in bars)
    head = '<tr><th scope="col">People in the group</th><th scope="col" class="figure">Groups</th></tr>'
    return _table("narrow", "How many groups of each size can be computed", head, rows)


def _estimates(audit: Audit, found: Posterior, top: int, kind: ReportKind) -> str:
    """What would be guessed about everybody; with names of groups and values only inside."""
    parts = ["".join(f"<p>{_safe(sentence)}</p>" for sentence in estimates.sentences(found, kind))]
    drawn = _figure(estimates.picture(found), "How many people there are by the probability of their most probable value.")
    rows = "".join(
        f'<tr><th scope="row">above {text}</th><td class="figure">{people:,}</td></tr>'
        for text, people in estimates.above(audit.measures)
    )
    head = '<tr><th scope="col">Probability</th><th scope="col" class="figure">People</th></tr>'
    parts.append(f'<div class="pictures">{drawn}<div>{_table("narrow", "People by probability", head, rows)}</div></div>')
    if kind == "internal":
        parts += [
            _guesses(found.highest(top), "The highest estimates"),
            _guesses(found.highest(top, gained=True), "The estimates that exceed the share among all people most"),
        ]
    return "\n".join(parts)


_GUESS_COLUMNS = ("Who", "People", "Value", "Estimate", "Among all", "Proved bounds")


def _guesses(guesses: Sequence[Guess], caption: str) -> str:
    if not guesses:
        return ""
    head = "".join(f'<th scope="col"{_figures(name)}>{name}</th>' for name in _GUESS_COLUMNS)
    rows = []
    for guess in guesses:
        numbers = (f"{guess.people:,}", guess.value, f"{guess.probability:.3f}", f"{guess.baseline:.3f}", estimates.bounds(guess))
        cells = "".join(
            f'<td data-name="{name}"{_figures(name)}>{_safe(cell)}</td>'
            for name, cell in zip(_GUESS_COLUMNS[1:], numbers, strict=True)
        )
        rows.append(f'<tr><th scope="row">{_safe(estimates.who(guess))}</th>{cells}</tr>')
    return f'<div class="scroll">{_table("attacks guesses", caption, f"<tr>{head}</tr>", chr(10).join(rows))}</div>'


def _findings(audit: Audit, summary: Summary, release: Release | None, top: int) -> str:
    shown = audit.findings[:top]
    lead = f'<p class="note">{len(shown):,} of {summary.findings:,}, the worst first.</p>'
    return lead + "\n".join(_finding(number, finding, release) for number, finding in enumerate(shown, start=1))


def _finding(number: int, finding: Finding, release: Release | None) -> str:
    told = Derivation.of(finding, release)
    rows = "\n".join(_term(term) for term in told.terms)
    full = f"<p><span class='note'>In full:</span> {_safe(finding.statement)}</p>" if told.statement != finding.statement else ""
    caption = "The sum over published lines" if any(term.number for term in told.terms) else "Why"
    sums = f'<div class="scroll"><table><caption>{caption}</caption><tbody>{rows}</tbody></table></div>' if rows else ""
    ident = f'<p class="note">{_safe(finding.id)}</p>'
    return f'<article class="finding"><h3>{number}. {_safe(told.statement)}</h3>{sums}{full}{ident}</article>'


#: Signs that not every terminal can print, and every browser can.
_TYPOGRAPHIC = {ord("-"): "−", ord("x"): "×"}


def _term(term: Term) -> str:
    if not term.number:
        return f'<tr><td colspan="2">{_safe(term.what)}</td></tr>'
    style = ' class="total"' if term.number.startswith("=") else ""
    return f'<tr{style}><th scope="row">{_safe(term.number).translate(_TYPOGRAPHIC)}</th><td>{_safe(term.what)}</td></tr>'


def _inputs(audit: Audit, kind: ReportKind) -> str:
    rows: list[tuple[str, str]] = []
    for release in audit.release:
        limit = {"buckets": "Groups", "table": "Blanks", "frequencies": "Cells"}.get(release["kind"], "Threshold")
        rows += [("Release", described(release, kind)), (limit, thresholds(release, audit.measures, kind))]
        rows.append(("SHA-256", release["sha256"] or "not read from a file"))
    rows += [("Policy", sentence) for sentence in policy_sentences(audit)]
    rows.append(("Tacit", __version__))
    body = "".join(f'<tr><th scope="row">{name}</th><td>{_coded(name, value)}</td></tr>' for name, value in rows)
    return f'<table class="facts"><caption>The input, the policy and the program</caption><tbody>{body}</tbody></table>'


def _coded(name: str, value: str) -> str:
    return f"<code>{_safe(value)}</code>" if name == "SHA-256" else _safe(value)


def _footer(kind: ReportKind) -> str:
    return f"<footer><p>Written by Tacit {_safe(__version__)}. {_SENSITIVE[kind]}</p></footer>"


def _section(title: str, content: str) -> str:
    return f"<section><h2>{_safe(title)}</h2>\n{content}</section>"


def _listed(sentences: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{_safe(sentence)}</li>" for sentence in sentences) + "</ul>"


def _safe(value: Any) -> str:
    """Text that a browser shows as it is."""
    return escape(visible(str(value))).replace(" %", "&nbsp;%")
