"""The report of an audit as Markdown: the facts of the page, for places that show no HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from tacit.model.audit import Audit
from tacit.model.estimates import Guess
from tacit.model.finding import Finding
from tacit.model.release import Release
from tacit.model.version import __version__
from tacit.reports import estimates, suggestions, words
from tacit.reports.explain import Derivation
from tacit.reports.svg import bars_of_sizes
from tacit.reports.words import ReportKind, Summary, assumptions, files_not_read, next_steps, policy_sentences, visible

#: Signs that Markdown or HTML would obey instead of show.
_SIGNS = re.compile(r"([\\`*_{}\[\]<>|#~&])")


def audit_markdown(audit: Audit, *, release: Release | None = None, top: int = 10, kind: ReportKind = "internal") -> str:
    """An audit as Markdown; with ``release``, sums are told more shortly."""
    return "\n\n".join(part for part in _parts(audit, Summary.of(audit), release, top, kind) if part) + "\n"


def _parts(audit: Audit, summary: Summary, release: Release | None, top: int, kind: ReportKind) -> Iterator[str]:
    sentence = summary.sentence()
    yield f"# {plain(words.title(audit))}"
    yield f"**{audit.verdict.upper()}.** {plain(sentence[0].upper() + sentence[1:])}"
    yield from (plain(f"{'But' if audit.verdict == 'clean' else 'Besides,'} {caution.text}.") for caution in audit.cautions)
    yield table(("Number", "What"), [(f"{number:,}", what) for number, what in words.tiles(audit, summary)])
    yield f"*{plain(words.SENSITIVE[kind])}*"
    yield _section("What to do next", listed(next_steps(audit)))
    if (tried := audit.suggestions) is not None:
        rows_of_ways = suggestions.rows(tried, named=kind == "internal")
        yield _section(suggestions.TITLE, table(suggestions.COLUMNS, rows_of_ways), plain(suggestions.measured_by(tried)))
    yield _section("Assumptions", listed([*files_not_read(audit, visible, kind), *assumptions(audit, kind)]))
    ran, skipped = (
        table(words.ATTACK_COLUMNS, words.attacks(audit, kind)),
        table(words.SKIPPED_COLUMNS, words.skipped(audit, kind)),
    )
    yield _section("Attacks", ran and plain(words.ATTACKS_CAPTION), ran, skipped and plain(words.SKIPPED_CAPTION), skipped)
    if kind == "internal" and top and summary.findings:
        yield _section("Worst findings", *_findings(audit, summary, release, top))
        joint = words.joint_findings(audit)
        told = [_finding(number, finding, audit, None) for number, finding in enumerate(joint[:top], start=1)]
        yield _section(words.JOINT_TITLE, *([f"{len(told):,} of {len(joint):,}, the worst first.", *told] if told else []))
    if summary.groups:
        bars = bars_of_sizes(summary.sizes, summary.groups_of_size, summary.k)
        rows = [(bar.label, f"{bar.value:,}") for bar in bars]
        yield _section("Groups by size", table(("People in the group", "Groups"), rows))
    if lines := words.waivers(audit, kind):
        rows_of_waivers = [(line.about or "-", line.name, line.reason or "-", line.until, line.outcome) for line in lines]
        yield _section("Waivers", table(words.WAIVER_COLUMNS, rows_of_waivers))
    if (found := estimates.estimates_of(audit)) is not None:
        sentences_of = [plain(sentence) for sentence in estimates.sentences(found, kind)]
        above = [(f"above {text}", f"{people:,}") for text, people in estimates.above(audit.measures)]
        guesses = _guesses(found.highest(top, gained=True)) if kind == "internal" else ""
        yield _section(estimates.TITLE, *sentences_of, table(("Probability", "People"), above), guesses)
    if sentences := list(estimates.bucket_sentences(audit)):
        yield _section(estimates.title_of_groups(audit), listed(sentences))
    if readings := words.readings(audit):
        yield _section("Largest confidence", listed(readings))
    limits = [(limit.name, limit.value, limit.set_by, limit.meaning) for limit in words.limits(audit)]
    yield _section("Policy", listed(policy_sentences(audit)), table(words.LIMIT_COLUMNS, limits))
    yield _section("Measures", table(words.MEASURE_COLUMNS, words.measures(audit)))
    yield _section("What was audited", table(("File", "Fact"), words.files(audit, kind)))
    yield f"Written by Tacit {__version__}."


def _section(title: str, *content: str) -> str:
    told = "\n\n".join(part for part in content if part)
    return f"## {title}\n\n{told}" if told else ""


def _findings(audit: Audit, summary: Summary, release: Release | None, top: int) -> Iterator[str]:
    shown = audit.findings[:top]
    yield f"{len(shown):,} of {summary.findings:,}, the worst first."
    for number, finding in enumerate(shown, start=1):
        yield _finding(number, finding, audit, release)


def _finding(number: int, finding: Finding, audit: Audit, release: Release | None) -> str:
    told = Derivation.of(finding, release)
    parts = [f"### {number}. {plain(told.statement)}"]
    parts.append(table(("Sum", "What"), [(term.number, term.what) for term in told.terms if term.number]))
    parts.append(listed(term.what for term in told.terms if not term.number))
    if told.statement != finding.statement:
        parts.append(f"In full: {plain(finding.statement)}")
    if finding.waived is not None:
        parts.append(f"**Waived** by {plain(finding.waived.name)}: {plain(finding.waived.reason)}")
    about = "; ".join(part for part in (f"Finding {finding.id}", words.cited(finding, audit)) if part)
    return "\n\n".join([part for part in parts if part] + [plain(about)])


def _guesses(guesses: Sequence[Guess]) -> str:
    columns = ("Who", "People", "Value", "Estimate", "Among all", "Proved bounds")
    rows = [
        (estimates.who(one), f"{one.people:,}", one.value, f"{one.probability:.3f}", f"{one.baseline:.3f}", estimates.bounds(one))
        for one in guesses
    ]
    return table(columns, rows)


def listed(sentences: Iterable[str]) -> str:
    """Sentences as a list."""
    return "\n".join(f"- {plain(sentence)}" for sentence in sentences)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; nothing where it has no rows."""
    lines = [f"| {' | '.join(plain(cell) for cell in row)} |" for row in rows]
    head = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    return "\n".join([*head, *lines]) if lines else ""


def plain(value: object) -> str:
    r"""Text that Markdown shows as it is.

    >>> plain("a|b *c* <d>")
    'a\\|b \\*c\\* \\<d\\>'
    """
    return _SIGNS.sub(r"\\\1", visible(str(value)))
