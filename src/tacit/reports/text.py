"""What the terminal shows: the verdict first, in people, then why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from textwrap import wrap

import numpy as np

from tacit.model.audit import AttackRun, Audit
from tacit.model.finding import Finding
from tacit.model.release import Itemsets, Listed, Release, Rules
from tacit.reports import estimates, suggestions, words
from tacit.reports.explain import Derivation
from tacit.reports.words import (
    WIDTH,
    ReportKind,
    Summary,
    as_share,
    assumptions,
    bullet,
    counted,
    described,
    files_not_read,
    next_steps,
    policy_sentences,
    thresholds,
    verdict_lines,
    visible,
    waiver_sentences,
)
from tacit.reports.words import reason as reason_of

#: How many files and columns that were not read are named below the verdict.
SHOWN_UNREAD = 10
#: How many lines of the release ``mine`` shows.
SHOWN_PATTERNS = 5


def audit_text(
    audit: Audit, *, release: Release | None = None, top: int, kind: ReportKind = "internal", origin: str = "", width: int = WIDTH
) -> str:
    """An audit as text: verdict, release, assumptions, attacks, the worst findings with their arithmetic, what to do.

    With ``release``, sums are told more shortly; ``origin`` is the file that settings came from.
    """
    summary = Summary.of(audit)
    blocks = [
        "\n".join([*(_wrapped(line, width) for line in verdict_lines(audit, summary)), *_not_read(audit, kind, width)]),
        _facts(audit, kind, origin, width),
        _section("Assumed", (line for sentence in assumptions(audit, kind) for line in bullet("-", sentence, width))),
        _section("Attacks", _attack_lines(audit, kind, width)),
    ]
    if accepted := waiver_sentences(audit, kind):
        blocks.append(_section("Waivers", (line for one in accepted for line in bullet("-", one, width))))
    if (guessed := estimates.estimates_of(audit)) is not None:
        blocks.append(_section(estimates.TITLE, estimates.text_lines(audit, guessed, top=top, kind=kind, width=width)))
    if guesses := list(estimates.bucket_sentences(audit)):
        blocks.append(_section(estimates.title_of_groups(audit), (line for one in guesses for line in bullet("-", one, width))))
    if readings := words.readings(audit):
        blocks.append(_section("Largest confidence", (line for one in readings for line in bullet("-", one, width))))
    if top and summary.findings:
        blocks.append(
            _section(
                f"Worst findings ({min(top, summary.findings):,} of {summary.findings:,})",
                _findings(audit, release, top, kind, width),
            )
        )
    if audit.suggestions is not None:
        ways = suggestions.text_lines(audit.suggestions, named=kind == "internal", width=width)
        blocks.append(_section(suggestions.TITLE, ways))
    blocks.append(_section("Next", (line for sentence in next_steps(audit) for line in bullet("-", sentence, width))))
    return "\n\n".join(blocks) + "\n"


def _not_read(audit: Audit, kind: ReportKind, width: int) -> Iterator[str]:
    """What was not read, below the verdict."""
    told = files_not_read(audit, visible, kind)
    for sentence in told[:SHOWN_UNREAD]:
        yield from bullet("-", sentence, width)
    if len(told) > SHOWN_UNREAD:
        yield from bullet("-", f"And {len(told) - SHOWN_UNREAD:,} more, which the record lists.", width)


def _facts(audit: Audit, kind: ReportKind, origin: str, width: int) -> str:
    lines = []
    for release in audit.release:
        limit = {"buckets": "Groups", "table": "Blanks", "frequencies": "Cells"}.get(release["kind"], "Threshold")
        lines += [("Release", described(release, kind)), (limit, thresholds(release, audit.measures, kind))]
        if release.get("sha256"):
            lines.append(("SHA-256", release["sha256"]))
    lines += [("Policy" if number == 0 else "", sentence) for number, sentence in enumerate(policy_sentences(audit))]
    if origin:
        lines.append(("Settings", f"from {origin}"))
    return "\n".join(line for name, value in lines for line in bullet(f"{name:<9}", value, width, indent=""))


def _attack_lines(audit: Audit, kind: ReportKind, width: int) -> Iterator[str]:
    for owner, run in enumerate(audit.runs):
        told = outcome(run, waived=audit.waived.number(owner), because=reason_of(audit, run, kind))
        yield from bullet(run.code, f"{run.name}: {told}", width)


def outcome(run: AttackRun, *, waived: int = 0, because: str | None = None) -> str:
    """What became of an attack, in words; ``waived`` of its findings somebody accepts."""
    because = run.reason if because is None else because
    reason = f" ({because})" if because else ""
    if run.status == "not-relevant":
        return f"not relevant{reason}"
    if run.status == "not-asked":
        return "not asked for, although it applies"
    if run.status == "unavailable":
        return f"could not run{reason}"
    found = counted(run.findings, "finding") if run.findings else "nothing found"
    accepted = f", {waived:,} of them waived" if waived else ""
    left = f", {run.undecided:,} left undecided" if run.undecided else ""
    return f"{'ran' if run.status == 'ran' else 'STOPPED EARLY'}, {run.claim}, {found}{accepted}{left}{reason}"


def _findings(audit: Audit, release: Release | None, top: int, kind: ReportKind, width: int) -> Iterator[str]:
    for number, finding in enumerate(audit.findings[:top], start=1):
        if kind == "external":
            yield f"  {number}. {finding.code}: {people(finding)}{f' (waived by {finding.waived.name})' if finding.waived else ''}"
        else:
            yield from finding_lines(finding, release, width=width, mark=f"{number}.")


def people(finding: Finding) -> str:
    """How many people a finding is about."""
    count = finding.count
    number = f"{count.lo:,}" if count.is_exact else f"{count.lo:,} to {count.hi:,}"
    return f"{number} {'person' if (count.lo, count.hi) == (1, 1) else 'people'}"


def finding_lines(finding: Finding, release: Release | None = None, *, width: int = WIDTH, mark: str = "-") -> Iterator[str]:
    """A finding in the fewest words, with the sum that proves it."""
    told = Derivation.of(finding, release)
    yield from bullet(mark, told.statement, width)
    column = max((len(term.number) for term in told.terms), default=0)
    for term in told.terms:
        number = _aligned(term.number, column)
        yield from bullet(number, term.what, width, indent=_INDENT) if term.what else [f"{_INDENT}{number}"]
    if told.statement != finding.statement:
        yield from bullet("in full:", finding.statement, width, indent=_INDENT)
    if finding.waived is not None:
        yield from bullet("waived by", f"{finding.waived.name}: {finding.waived.reason}", width, indent=_INDENT)


_INDENT = "       "


def _aligned(number: str, column: int) -> str:
    """A sign on the left, its number on the right."""
    sign, _, digits = number.partition(" ")
    return f"{sign} {digits:>{column - 2}}" if digits else " " * column


def mined_text(release: Listed, *, dropped: int, origin: str = "", only_shown: int = SHOWN_PATTERNS, width: int = WIDTH) -> str:
    """A summary of mined itemsets or rules, and the most frequent of them; ``origin`` is the file that settings came from."""
    lines = [_headline(release), *_reading(release, dropped)]
    if origin:
        lines.append(f"Settings    from {visible(origin)}")
    if len(release):
        lines += ["", f"Most frequent ({min(only_shown, len(release)):,} of {len(release):,}):"]
        lines += [line for row in _most_frequent(release, only_shown) for line in bullet(*row, width)]
    return "\n".join(lines) + "\n"


def _headline(release: Listed) -> str:
    if isinstance(release, Itemsets):
        which = {"all": "frequent itemset", "closed": "closed frequent itemset", "maximal": "maximal frequent itemset"}[
            release.only
        ]
    else:
        which = "rule"
    return f"{counted(len(release), which)} about {counted(release.n or 0, 'person', 'people')}"


def _reading(release: Listed, dropped: int) -> Iterator[str]:
    """The thresholds and what a missing value means."""
    header = release.header
    least = header.min_support or 0
    strictly = ", read strictly (more than the threshold)" if header.strict else ""
    yield f"Support     at least {counted(least, 'person', 'people')}{as_share(least, release.n)}{strictly}"
    if isinstance(release, Rules) and header.min_confidence is not None:
        than = "more than" if header.strict else "at least"
        yield f"Confidence  {than} {float(100 * header.min_confidence):g} %"
    if header.missing is not None:
        meaning = {
            "category": "counts as a value like any other",
            "drop": f"in a column in use drops the row: {counted(dropped, 'row')} dropped",
            "drop-any": f"in any column drops the row: {counted(dropped, 'row')} dropped",
        }[header.missing_rule or "category"]
        yield f"Missing     the mark {visible(header.missing)!r} {meaning}"


def _most_frequent(release: Listed, shown: int) -> Iterator[tuple[str, str]]:
    """The lines with the largest counts, ties in the order of the file."""
    for index in np.argsort(-release.hi, kind="stable")[:shown].tolist():
        count = release.count(index)
        number = f"{count.lo:,}" if count.is_exact else "withheld" if release.support is None else release.support.text(index)
        yield f"{number:>9}", visible(_pattern(release, index))


def _pattern(release: Listed, index: int) -> str:
    """One published line in words."""
    names = release.items.names
    if isinstance(release, Itemsets):
        return ", ".join(release.names(index))
    left = ", ".join(names[item] for item in release.antecedents[index])
    right = ", ".join(names[item] for item in release.consequents[index])
    whole = release.whole(index)
    confident = f"  ({100 * release.count(index).lo / whole.lo:.1f} % of {whole.lo:,})" if whole.is_exact and whole.lo else ""
    return f"{left} => {right}{confident}"


def _wrapped(text: str, width: int) -> str:
    return "\n".join(wrap(text, width, break_long_words=False, break_on_hyphens=False))


def _section(title: str, lines: Iterable[str]) -> str:
    return "\n".join([title, *lines])
