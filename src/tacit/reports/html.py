"""The report of an audit as one HTML file that asks for nothing from outside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tacit.model.audit import Audit
from tacit.model.estimates import Guess, Posterior
from tacit.model.finding import Finding
from tacit.model.release import Itemsets, Release, Rules
from tacit.model.repair import Suggestions
from tacit.model.version import __version__
from tacit.reports import estimates, suggestions, words
from tacit.reports.explain import Derivation, SumRow
from tacit.reports.page import Marked, code, figure, listed, page, safe, scrolled, section, table, tiles
from tacit.reports.page import facts as pairs
from tacit.reports.svg import bars_of_sizes, histogram, published_and_computed
from tacit.reports.words import ReportKind, Summary, assumptions, counted, files_not_read, next_steps, policy_sentences, visible


def audit_html(audit: Audit, *, release: Release | None = None, top: int = 10, kind: ReportKind = "internal") -> str:
    """An audit as a whole page; ``release`` adds the picture of the published counts."""
    return page(f"{audit.verdict}: Tacit audit", _body(audit, Summary.of(audit), release, top, kind))


def _body(audit: Audit, summary: Summary, release: Release | None, top: int, kind: ReportKind) -> Iterator[str]:
    yield f"<h1>{safe(words.title(audit))}</h1>"
    yield verdict(audit, summary)
    yield tiles(words.tiles(audit, summary))
    yield f'<p class="note">{words.SENSITIVE[kind]}</p>'
    yield section("What to do next", listed(next_steps(audit)))
    if audit.suggestions is not None:
        yield section(suggestions.TITLE, _suggestions(audit.suggestions, kind))
    yield section("Assumptions", listed([*files_not_read(audit, visible, kind), *assumptions(audit, kind)]))
    yield section("Attacks", *_attacks(audit, kind))
    if kind == "internal" and top and summary.findings:
        yield section("Worst findings", _findings(audit, summary, release, top))
        yield section(words.JOINT_TITLE, *_joint(audit, top))
    if summary.groups:
        yield section("Pictures", _pictures(summary, release))
    if kind == "external" and summary.groups:
        yield section("Groups by size", _sizes(summary))
    yield section("Waivers", _waivers(audit, kind))
    if (guessed := estimates.estimates_of(audit)) is not None:
        yield section(estimates.TITLE, _estimates(audit, guessed, top, kind))
    if guesses := list(estimates.bucket_sentences(audit)):
        yield section(estimates.title_of_groups(audit), listed(guesses))
    if readings := words.readings(audit):
        yield section("Largest confidence", listed(readings))
    yield section("Policy", listed(policy_sentences(audit)), _limits(audit))
    if found := [(code(row[0]), *row[1:]) for row in words.measures(audit)]:
        yield section("Measures", _measures(found))
    yield section("What was audited", _files(audit, kind))
    yield footer(kind)


def _suggestions(tried: Suggestions, kind: ReportKind) -> str:
    """The repairs that were tried, with their commands where these may be named."""
    ways = suggestions.told(tried, named=kind == "internal")
    done = [one for one in ways if one.ok]
    clean = "".join(
        f"<li>{safe(suggestions.sentence(one.what))}: {safe(one.cost)}.{''.join(f'<br>{code(line)}' for line in one.commands)}</li>"
        for one in done
    )
    first = f"<p>{safe(suggestions.CAPTION)}:</p><ol>{clean}</ol>" if done else f"<p>{safe(suggestions.NOTHING)}</p>"
    by, rest = suggestions.measured_by(tried), [f"{one.what}: {one.cost.rstrip('.')}." for one in ways if not one.ok]
    return first + (f"<p>{safe(by)}</p>" if by else "") + (f"<p>{suggestions.TRIED}:</p>{listed(rest)}" if rest else "")


def verdict(audit: Audit, summary: Summary) -> str:
    """The verdict, large, and in people."""
    sentence = summary.sentence()
    told = safe(sentence[0].upper() + sentence[1:])
    notes = "".join(f"<p>{safe(_note(audit, caution.text))}</p>" for caution in audit.cautions)
    return f'<div class="verdict {audit.verdict}"><strong>{audit.verdict.upper()}</strong><p>{told}</p>{notes}</div>'


def _note(audit: Audit, text: str) -> str:
    """A caution as a sentence of its own."""
    return f"{'But' if audit.verdict == 'clean' else 'Besides,'} {text}."


def footer(kind: ReportKind) -> str:
    """What wrote the page, and who may read it."""
    return f"<footer><p>Written by Tacit {safe(__version__)}. {words.SENSITIVE[kind]}</p></footer>"


def _attacks(audit: Audit, kind: ReportKind) -> Iterator[str]:
    """What became of each attack: those that were wanted with their counts, then the others."""
    if rows := list(words.attacks(audit, kind)):
        yield table(words.ATTACKS_CAPTION, words.ATTACK_COLUMNS, rows)
    if skipped := words.skipped(audit, kind):
        yield table(words.SKIPPED_CAPTION, words.SKIPPED_COLUMNS, skipped, style="attacks quiet")


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
    out = [figure(sizes, f"How many groups of each size can be computed. None should exist under k = {summary.k:,}.")]
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
            figure(
                both,
                "Published counts (above the scale) and the groups computed from them (below it); each half has its own height.",
            )
        )
    note = "Groups overlap: one person can be in many of them, so their sizes do not add up to people."
    return f'<div class="pictures">{"".join(out)}</div><p class="note">{note}</p>'


def _sizes(summary: Summary) -> str:
    bars = bars_of_sizes(summary.sizes, summary.groups_of_size, summary.k)
    rows = [(bar.label, f"{bar.value:,}") for bar in bars]
    return table("How many groups of each size can be computed", ("People in the group", "Groups"), rows, style="narrow")


def _waivers(audit: Audit, kind: ReportKind) -> str:
    lines = words.waivers(audit, kind)
    rows = [(line.about or "-", line.name, line.reason or "-", line.until, line.outcome) for line in lines]
    return table("Findings that somebody accepts", words.WAIVER_COLUMNS, rows, style="attacks waivers") if rows else ""


def _limits(audit: Audit) -> str:
    rows = [(limit.name, limit.value, limit.set_by, limit.meaning) for limit in words.limits(audit)]
    return table("The limits, and who set them", words.LIMIT_COLUMNS, rows)


def _measures(rows: Iterable[Sequence[object]]) -> str:
    return table("Every number that the record holds, with its unit", words.MEASURE_COLUMNS, rows)


def _estimates(audit: Audit, found: Posterior, top: int, kind: ReportKind) -> str:
    """What would be guessed about everybody; with names of groups and values only inside."""
    parts = ["".join(f"<p>{safe(sentence)}</p>" for sentence in estimates.sentences(found, kind))]
    drawn = figure(estimates.picture(found), "How many people there are by the probability of their most probable value.")
    rows = [(f"above {text}", f"{people:,}") for text, people in estimates.above(audit.measures)]
    beside = table("People by probability", ("Probability", "People"), rows, style="narrow")
    parts.append(f'<div class="pictures">{drawn}<div>{beside}</div></div>')
    if kind == "internal" and (guesses := found.highest(top, gained=True)):
        caption = "The estimates that exceed the share among all people most"
        told = "The same, drawn: the share among all people (ring), the estimate (diamond) and what is proved (bar)."
        parts += [_guesses(found.highest(top), "The highest estimates"), _guesses(guesses, caption)]
        parts.append(figure(estimates.against_baseline(guesses), told))
    return "\n".join(parts)


_GUESS_COLUMNS = ("Who", "People", "Value", "Estimate", "Among all", "Proved bounds")


def _guesses(guesses: Sequence[Guess], caption: str) -> str:
    rows = [
        (
            f"{number}. {estimates.who(guess)}",
            f"{guess.people:,}",
            guess.value,
            f"{guess.probability:.3f}",
            f"{guess.baseline:.3f}",
            estimates.bounds(guess),
        )
        for number, guess in enumerate(guesses, start=1)
    ]
    return table(caption, _GUESS_COLUMNS, rows, style="attacks guesses") if rows else ""


def _findings(audit: Audit, summary: Summary, release: Release | None, top: int) -> str:
    shown = audit.findings[:top]
    lead = f'<p class="note">{len(shown):,} of {summary.findings:,}, the worst first.</p>'
    return lead + "\n".join(_finding(number, finding, audit, release) for number, finding in enumerate(shown, start=1))


def _joint(audit: Audit, top: int) -> Iterator[str]:
    """What only several releases together give away."""
    found = words.joint_findings(audit)
    if shown := found[:top]:
        yield f'<p class="note">{len(shown):,} of {len(found):,}, the worst first.</p>'
        yield from (_finding(number, finding, audit, None) for number, finding in enumerate(shown, start=1))


def _finding(number: int, finding: Finding, audit: Audit, release: Release | None) -> str:
    told = Derivation.of(finding, release)
    rows = "\n".join(_term(term) for term in told.terms)
    full = f"<p><span class='note'>In full:</span> {safe(finding.statement)}</p>" if told.statement != finding.statement else ""
    caption = "The sum over published lines" if any(term.number for term in told.terms) else "Why"
    sums = scrolled(f"<table><caption>{caption}</caption><tbody>{rows}</tbody></table>", caption) if rows else ""
    accepted = finding.waived
    waived = f"<p><strong>Waived</strong> by {safe(accepted.name)}: {safe(accepted.reason)}</p>" if accepted else ""
    about = "; ".join(part for part in (f"Finding {finding.id}", words.cited(finding, audit)) if part)
    ident = f'<p class="note">{safe(about)}</p>'
    return f'<article class="finding"><h3>{number}. {safe(told.statement)}</h3>{sums}{full}{waived}{ident}</article>'


#: Signs that not every terminal can print, and every browser can.
_TYPOGRAPHIC = {ord("-"): "−", ord("x"): "×"}


def _term(term: SumRow) -> str:
    if not term.number:
        return f'<tr><td colspan="2">{safe(term.what)}</td></tr>'
    style = ' class="total"' if term.number.startswith("=") else ""
    return f'<tr{style}><th scope="row">{safe(term.number).translate(_TYPOGRAPHIC)}</th><td>{safe(term.what)}</td></tr>'


def _files(audit: Audit, kind: ReportKind) -> str:
    rows: list[tuple[str, str | Marked]] = [
        (name, code(value) if name == "SHA-256" else value) for name, value in words.files(audit, kind)
    ]
    return pairs("The input and the program", rows)
