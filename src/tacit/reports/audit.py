"""Reports of audits in full."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from tacit.model.audit import Audit
from tacit.model.finding import (
    Finding,
)
from tacit.model.release import Release
from tacit.model.version import __version__
from tacit.reports import sentences
from tacit.reports.document import (
    PAGES,
    WIDTH,
    Document,
    Facts,
    Figure,
    Gallery,
    Heading,
    Item,
    Linked,
    Listing,
    Paragraph,
    Part,
    Proof,
    Proofs,
    ReportKind,
    Section,
    Sentence,
    Table,
    capitalise,
    counted,
    format_measure,
    people_of,
    render_text,
    visible,
)
from tacit.reports.proofs import SEARCHED, SHOWN, families, proof_of, shorten
from tacit.reports.rebuilt import rebuilt_section
from tacit.reports.sentences import KINDS, Summary, finds_groups
from tacit.reports.suggestions import cost_words, suggestion_parts

if TYPE_CHECKING:
    from tacit.model.arrays import Ints
    from tacit.reports.evidence import Evidence, Listed
    from tacit.reports.pictures import Canvas

_REPAIRS = "What would make it clean"
_EXTERNAL = "External report: it holds counts only, no description of a group, no value and no name of a column."
_DESCRIBES = "Internal report: it describes groups of people. Keep it with the data."
_NAMES = "Internal report: it names files and columns, and describes no group of people."
_WAIVER_COLUMNS = ("About", "Accepted by", "Reason", "Until", "Outcome")
_MEASURE_COLUMNS = ("Measure", "Value", "Unit", "Meaning")
_MOST_SEARCHED = 2_000  #: The number of findings of X01 that are searched for those that need several files.
_MOST_NAMED = 3  #: The number of files that a title names.


def audit_document(
    audit: Audit, *, release: Release | None = None, top: int = 10, kind: ReportKind = "internal", repair: str = ""
) -> Document:
    """Return the full report; ``repair`` is the command that repairs the release.

    ``release`` is the one that was audited, where the audit itself does not hold it.
    """
    shown = _Shown.of(audit, release, top) if kind == "internal" else _Shown(audit, ())
    head = audit_head(audit, release=release, kind=kind, repair=repair, shown=shown)
    lists = (
        Section("The release", tuple(shown.evidence.tables()), PAGES),
        Section("Columns behind the findings", tuple(shown.evidence.columns()), PAGES),
        Section("Worst findings", _ranked(shown.proofs(_only_release(audit, release)), Summary(audit).findings)),
    )
    return replace(head, sections=(*lists, *audit_sections(audit, release=release, top=top, kind=kind)))


def audit_head(
    audit: Audit,
    *,
    release: Release | None = None,
    kind: ReportKind = "internal",
    repair: str = "",
    advises: bool = True,
    shown: _Shown | None = None,
) -> Document:
    """Return the first screen of a report: the verdict, its numbers and the worst findings in short.

    It ``advises`` what to do next and names the worst findings, unless the page around it does so.
    """
    summary = Summary(audit)
    shown = shown or (_Shown.of(audit, release, SHOWN) if advises else _Shown(audit, ()))
    title = title_of(audit, kind)
    is_internal = kind == "internal"
    note = (_DESCRIBES if summary.findings or audit.posteriors else _NAMES) if is_internal else _EXTERNAL
    return Document(
        subject="Disclosure audit" if audit.verdict != "clean" else "Certificate of a disclosure audit",
        title=title,
        page_title=f"{audit.verdict}: {title} (Tacit audit)",
        facts=tuple(_title_facts(audit, kind)),
        verdict=audit.verdict,
        lead=tuple(sentences.verdict_lines(audit, summary)),
        remarks=tuple(sentences.files_not_read(audit, kind)),
        tiles=tuple(_tiles(audit, summary, len(_joint_findings(audit)))),
        picture=_first_picture(audit, summary, _only_release(audit, release)),
        opening=tuple(_opening(audit, shown, kind, repair, advises=advises)),
        note=note,
        sections=(),
    )


def audit_sections(
    audit: Audit, *, release: Release | None = None, top: int = 10, kind: ReportKind = "internal"
) -> Iterator[Section]:
    """Yield the sections of a report below the lists of lines and findings."""
    from tacit.reports.evidence import Listed

    summary = Summary(audit)
    joint = _joint_findings(audit)
    is_internal = kind == "internal"
    together = _Shown(
        audit, tuple(Listed(rank, f"joint-{rank}", one) for rank, one in enumerate(joint[:top] if is_internal else (), start=1))
    )
    yield Section("Findings that need more than one release", _ranked(together.proofs(None), len(joint)))
    yield from _size_sections(summary, _only_release(audit, release), kind)
    yield rebuilt_section(audit, top=top, kind=kind, on_screen=False)
    yield from _guess_sections(audit, top=top, kind=kind, on_screen=False)
    yield Section(_REPAIRS, tuple(suggestion_parts(audit.suggestions, is_named=True)) if is_internal else ())
    yield Section("Assumptions", (Listing.of(sentences.assumptions(audit, kind)),))
    yield Section("Waivers", (Table.of("Findings that are accepted", _WAIVER_COLUMNS, sentences.waivers(audit, kind)),))
    limits = (Listing.of(map(capitalise, sentences.policy_sentences(audit))), limit_table(audit))
    yield Section("Policy", limits, is_folded=True)
    yield Section("Attacks", tuple(_attack_parts(audit, kind)), is_folded=True)
    measures = Table.of("Every number of the record, with its unit", _MEASURE_COLUMNS, measure_rows(audit))
    yield Section("Measures", (measures,), is_folded=True)
    yield Section("Files and program", (Facts("The input and the program", tuple(file_rows(audit, kind))),))


def _only_release(audit: Audit, release: Release | None) -> Release | None:
    """Return the release that was audited, if there is only one."""
    if release is None and audit.asked is not None and len(audit.asked.releases) == 1:
        return audit.asked.releases[0]
    return release


@dataclass(frozen=True)
class _Shown:
    """Findings that a page lists: the worst, and the worst of the first few groups."""

    audit: Audit
    listed: tuple[Listed, ...]
    releases: tuple[Release, ...] = ()
    heads: tuple[tuple[Listed, int], ...] = ()

    @classmethod
    def of(cls, audit: Audit, release: Release | None, top: int) -> _Shown:
        """Return the findings to list, and the first groups of variants with their numbers."""
        from tacit.reports.evidence import Listed

        found = audit.findings[: max(SEARCHED, top) if top else 0]
        ranks = {id(finding): rank for rank, finding in enumerate(found, start=1)}
        heads = families(found[:SEARCHED])[:SHOWN]
        kept = sorted({*range(1, min(top, len(found)) + 1), *(ranks[id(one.worst)] for one in heads)})
        listed = {rank: Listed(rank, f"finding-{rank}", found[rank - 1]) for rank in kept}
        releases = (release,) if release is not None else audit.asked.releases if audit.asked is not None else ()
        if len(releases) != len(audit.release):
            releases = ()
        return cls(audit, tuple(listed.values()), releases, tuple((listed[ranks[id(one.worst)]], one.variants) for one in heads))

    @cached_property
    def evidence(self) -> Evidence:
        """The releases, with the lines that the findings rest on."""
        from tacit.reports.evidence import Evidence

        return Evidence(self.audit, self.releases, self.listed)

    def proofs(self, release: Release | None) -> tuple[Proof, ...]:
        """Return the findings with proofs and pictures; with ``release``, terms in short."""
        return tuple(drawn_proof(one, self.audit, self.evidence, release) for one in self.listed)


def drawn_proof(one: Listed, audit: Audit, evidence: Evidence, release: Release | None) -> Proof:
    """Return a finding with its proof, picture and links to cited lines."""
    from tacit.reports.evidence import roles_of
    from tacit.reports.explain import Explanation, files_of
    from tacit.reports.explain_picture import explanation_picture, sensitive_values

    bars = {name: value for name, value in audit.policy.to_dict().items() if isinstance(value, int | float)}
    told = replace(Explanation.of(one.finding, files_of(audit.release)), derivation=shorten(one.finding, release)[1])
    values = sensitive_values(told, evidence.releases)
    proof = proof_of(one.finding, release, mark=f"{one.rank}.", about=_about(one.finding, audit))
    picture = explanation_picture(told, values=values, bars=bars, name=f"{one.anchor}-picture")
    if proof.is_sum and len(proof.terms) <= 2:
        picture = None  # a published number itself
    return replace(
        proof,
        anchor=one.anchor,
        attack=one.finding.code,
        columns=tuple(sorted(roles_of(one.finding))),
        cited=evidence.cited(one.finding),
        picture=picture,
    )


def title_of(audit: Audit, kind: ReportKind) -> str:
    """Return the names of the files; outside, what they hold."""
    names = [visible(str(entry["file"])) for entry in audit.release if entry.get("file")]
    if kind == "external" or not names:
        if len(audit.release) == 1:
            return sentences.describe_release(audit.release[0], "external")
        return f"{len(audit.release)} releases"
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    return f"{', '.join(names[:_MOST_NAMED])}{more}"


def _title_facts(audit: Audit, kind: ReportKind) -> Iterator[tuple[str, str]]:
    described = [sentences.describe_release(entry, "external") for entry in audit.release[:_MOST_NAMED]]
    more = f"; and {len(audit.release) - _MOST_NAMED:,} more" if len(audit.release) > _MOST_NAMED else ""
    if (told := f"{'; '.join(described)}{more}") != title_of(audit, kind):
        yield "Audited", told
    yield "Limits", sentences.limits_in_force(audit)
    if audit.policy.today is not None:
        yield "Date", audit.policy.today.isoformat()
    if audit.signed_by:
        yield "Signed by", visible(audit.signed_by)
    for entry in audit.release if audit.verdict == "clean" else ():
        yield "SHA-256", entry.get("sha256") or "not read from a file"
    yield "Program", f"Tacit {__version__}"


def _first_picture(audit: Audit, summary: Summary, release: Release | None) -> Figure | None:
    """Return the people concerned, or of a clean release its published counts."""
    counts = [] if summary.groups else _size_figures(summary, release)
    return people_figure(audit, summary) or next(iter(counts), None)


def people_figure(audit: Audit, summary: Summary) -> Figure | None:
    """Return the picture of the people concerned among all, where both are known."""
    from tacit.reports.pictures import waffle

    numbers = [entry.get("n") for entry in audit.release]
    n = max(int(one) for one in numbers if one) if numbers and all(numbers) else None
    concerned = min(summary.concerned, n or 0) if audit.verdict == "exposed" else 0
    guessed = min(max((one.number for one in audit.cautions if one.is_guess), default=0), n or 0)
    if not n or not (concerned or guessed):
        return None
    told = []
    if concerned:
        of = f"{n:,}" if len(set(numbers)) == 1 else f"{n:,}, the most in one release,"
        told.append(f"at least {people_of(concerned, n)} of {of} {'is' if concerned == 1 else 'are'} concerned (red)")
    if guessed:
        colour = "" if guessed <= concerned else " (up to the end of the amber squares)" if concerned else " (amber)"
        told.append(f"{people_of(guessed, n)} can be guessed with more than 90 % probability{colour}")
    each = "person" if n <= 1_000 else f"{n / 1_000:,.0f} people"
    caption = f"{capitalise('; '.join(told))}. {'One square is one' if n <= 1_000 else 'A square stands for about'} {each}; areas are to scale."
    drawn = waffle(concerned, guessed, n, name="people", title="People concerned, among all", description=caption)
    return Figure(drawn, caption)


def _opening(audit: Audit, shown: _Shown, kind: ReportKind, repair: str, *, advises: bool) -> Iterator[Part]:
    """Yield the first screen: the worst findings and the repair, or what was checked."""
    if audit.verdict == "clean":
        yield Heading("What was checked")
        yield Listing.of(sentences.checked(audit))
        near = sentences.nearness(audit)
        yield Heading("How near to the limit" if near else "How far this goes")
        yield Listing.of([*near, *map("".join, sentences.next_steps(audit))])
        return
    if kind == "external":
        return
    if shown.heads and advises:
        yield Heading("The worst, in short")
        items = []
        for one, variants in shown.heads:
            more = f" And {counted(variants, 'variant')}." if variants else ""
            waived = f" Waived by {one.finding.waived.name}." if one.finding.waived else ""
            link = Linked.to(one.anchor, f"Proof {one.rank}")
            items.append(Item((f"{proof_of(one.finding).statement}{more}{waived} ", link)))
        yield Listing(tuple(items), is_numbered=True)
    if not advises:
        return
    if audit.verdict == "incomplete" and (left := sentences.left_open(audit)):
        yield Heading("What is left open")
        yield Listing.of(left)
    best = audit.suggestions.best if audit.suggestions is not None else None
    if best is not None and audit.suggestions is not None:
        yield Heading("Recommended repair")
        yield Listing((Item((f"{capitalise(best.what)}: {cost_words(best)}. ",), tuple(audit.suggestions.lines(best))),))
        others = len(audit.suggestions.clean) - 1
        if others:
            listed = "it is" if others == 1 else "they are"
            make = counted(others, "other repair makes", "other repairs make")
            yield Paragraph(f"{make} it clean; {listed} listed below.", is_note=True)
    elif repair and audit.verdict == "exposed" and audit.suggestions is None and not sentences.before_repair(audit):
        yield Heading("Recommended repair")
        what = (
            "Do not publish it as it is. This command tries every repair that fits, and carries out the cheapest that is clean:"
        )
        yield Listing((Item((what,), (repair,)),))
    else:
        yield Heading("What to do next")
        yield Listing.of(sentences.next_steps(audit, repair))


def audit_text(
    audit: Audit,
    *,
    release: Release | None = None,
    top: int,
    kind: ReportKind = "internal",
    repair: str = "",
    origin: str = "",
    width: int = WIDTH,
) -> str:
    """Return the shorter report for a terminal.

    ``repair`` is the command that repairs the release; ``origin`` names the settings.
    """
    summary = Summary(audit)
    findings = audit.findings[:top]
    proofs = tuple(_proofs(findings, audit, release)) if kind == "internal" else (_external_listing(findings),)
    facts = list(_release_facts(audit, kind))
    facts += [("" if place else "Policy", sentence) for place, sentence in enumerate(sentences.policy_sentences(audit))]
    if origin:
        facts.append(("Settings", f"from {origin}"))
    attacks = []
    skipped = [run.code for run in audit.runs if run.status == "not-relevant"]
    for owner, run in enumerate(audit.runs):
        if run.status == "not-relevant":
            continue
        outcome = sentences.outcome(run, waived=audit.waived.number(owner), because=sentences.reason(audit, run, kind))
        attacks.append(Item((f"{run.name}: {outcome}",), mark=run.code))
    if skipped:
        attacks.append(Item((f"Not relevant to this: {', '.join(skipped)} (tacit attacks describes them).",)))
    sections = [
        Section("", (Facts("", tuple(facts)),)),
        Section("Assumptions", (Listing.of(sentences.assumptions(audit, kind)),)),
        Section("Attacks", (Listing(tuple(attacks)),)),
        Section("Waivers", (Listing.of(sentences.waiver_sentences(audit, kind)),)),
        rebuilt_section(audit, top=top, kind=kind, on_screen=True),
        *_guess_sections(audit, top=top, kind=kind, on_screen=True),
        Section(f"Worst findings ({len(findings):,} of {summary.findings:,})", proofs if findings else ()),
        Section(_REPAIRS, tuple(suggestion_parts(audit.suggestions, is_named=kind == "internal"))),
        Section("Next", (Listing.of(_steps(audit, kind, repair)),)),
    ]
    shown = Document(
        title="Tacit",
        verdict=audit.verdict,
        lead=tuple(sentences.verdict_lines(audit, summary)),
        remarks=tuple(sentences.files_not_read(audit, kind)),
        sections=tuple(sections),
    )
    return render_text(shown, width=width)


def _steps(audit: Audit, kind: ReportKind, repair: str) -> list[Sentence]:
    """Return what to do next; readers outside cannot repair what is exposed."""
    steps = sentences.next_steps(audit, repair)
    return steps[:1] if kind == "external" and audit.verdict == "exposed" else steps


def _guess_sections(audit: Audit, *, top: int, kind: ReportKind, on_screen: bool) -> Iterator[Section]:
    title = "What an attacker would guess"
    for number, found in enumerate(audit.posteriors, start=1):
        if not found.is_estimated or not len(found.population):
            continue
        from tacit.reports import estimates

        measures = audit.by_column.get(found.sensitive, audit.measures)
        about = f" about {found.sensitive if kind == 'internal' else f'sensitive column {number}'}" if audit.by_column else ""
        if on_screen:
            parts = estimates.screen_parts(found, measures, top=top, kind=kind)
        else:
            parts = estimates.page_parts(found, measures, top=top, kind=kind, number=number)
        yield Section(f"What an attacker would guess{about}", tuple(parts))
        title = "What an attacker would guess from the groups alone"
    yield Section(title, (Listing.of(sentences.bucket_sentences(audit)),))
    yield Section("Largest confidence", (Listing.of(sentences.readings(audit)),))


def _tiles(audit: Audit, summary: Summary, joint: int) -> Iterator[tuple[int, str]]:
    measures = audit.measures
    if audit.verdict != "incomplete" and finds_groups(audit):
        yield summary.groups, f"groups of {summary.span} that can be computed"
    if sentences.judges_classes(audit):
        yield (
            int(audit.measures["people_below_k"]),
            f"people who share their quasi-identifiers with fewer than {audit.policy.k - 1:,} others",
        )
        yield int(audit.measures["people_alone"]), "of them with nobody"
        if audit.verdict == "exposed":
            yield summary.concerned, "people concerned at least, in one way or another"
    elif summary.groups:
        yield summary.single, "of them a single person"
        has_values = summary.certain or summary.guessed
        either = ", in a small group or with a value that is revealed" if has_values else ""
        yield summary.concerned, f"people concerned at least{either}"
    if joint:
        more = " at least" if audit.attack("X01").findings > _MOST_SEARCHED else ""
        yield joint, f"groups that need more than one release{more}"
    if summary.waived:
        yield summary.waived, "findings that are waived"
    named = {
        "vulnerable": f"people who keep fewer than {counted(summary.l, 'possible value')}",
        "people_certain": "people whose sensitive value is certain",
        "people_above_90": "people whose sensitive value is estimated above 0.9",
        "records_told": "records that a rule reveals",
        "cells_hidden": "cells hidden",
        "smallest_count": "people in the smallest published count",
    }
    judged_otherwise = sentences.is_table(audit) and not sentences.judges_classes(audit)
    for name, what in named.items():
        if name == "people_certain" and judged_otherwise:
            continue  # of all people of the table, whose values mostly are to be seen; the verdict is about hidden ones
        if name in measures:
            yield int(measures[name]), what


def _release_facts(audit: Audit, kind: ReportKind, *, no_file: str = "") -> Iterator[tuple[str, str]]:
    """Yield facts about each release; ``no_file`` stands for the SHA-256 of one that was not a file."""
    for release in audit.release:
        yield "Release", sentences.describe_release(release, kind)
        yield KINDS[release["kind"]].limits, sentences.thresholds(release, audit.measures, kind)
        if sha256 := release.get("sha256") or no_file:
            yield "SHA-256", sha256


def file_rows(audit: Audit, kind: ReportKind) -> Iterator[tuple[str, str]]:
    """Yield every file with its SHA-256, and the program."""
    yield from _release_facts(audit, kind, no_file="not read from a file")
    for entry in audit.inputs:
        yield entry["role"].capitalize(), visible(entry["file"]) if kind == "internal" else "a file"
        yield "SHA-256", entry["sha256"] or "not read from a file"
    for file in audit.policy.files:
        yield "Policy", file.name if kind == "internal" else f"a file of the {file.level}"
        yield "SHA-256", file.sha256
    yield "Tacit", __version__


def _attack_parts(audit: Audit, kind: ReportKind) -> Iterator[Part]:
    wanted = []
    skipped = []
    for owner, run in enumerate(audit.runs):
        why = sentences.reason(audit, run, kind)
        if run.status == "not-relevant":
            skipped.append(run.code)
            continue
        counts = ("-", "-", "-")
        if run.status in ("ran", "stopped"):
            counts = (f"{run.findings:,}", f"{audit.waived.number(owner):,}", f"{run.undecided:,}")
        wanted.append((run.code, run.name, run.claim, run.status, *counts, why))
    columns = ("Code", "Attack", "Claim", "Status", "Findings", "Waived", "Undecided", "Why")
    yield Table.of("Outcome of each attack. “Proves”: true in every database that fits the release.", columns, wanted)
    if skipped:
        yield Paragraph(f"Attacks that do not apply to what was audited: {', '.join(skipped)}.", is_note=True)


def limit_table(audit: Audit) -> Table:
    """Return the limits of the policy as a table."""
    return Table.of("The limits, and who set them", ("Limit", "Value", "Set by", "Meaning"), sentences.limit_rows(audit))


def measure_rows(audit: Audit) -> Iterator[tuple[str, str, str, str]]:
    """Yield each measure: name, value, unit and meaning."""
    from tacit.model.measures import MEASURES

    known = {measure.name: measure for measure in MEASURES}
    for name, value in audit.measures.items():
        if (measure := known.get(name)) is not None:
            yield name, format_measure(value, measure.unit), measure.unit, measure.meaning.replace("`", "")


def size_picture(summary: Summary) -> Canvas:
    """Draw the number of computed groups by size."""
    from tacit.reports.pictures import bars_of_sizes, histogram

    bars = bars_of_sizes(summary.sizes, summary.groups_of_size, summary.k)
    return histogram(
        bars,
        name="sizes",
        title="Sizes of the computed groups",
        description="; ".join(f"{counted(bar.value, 'group')} of size {bar.label}" for bar in bars),
        x_label="people in the group",
        y_label="groups",
    )


def _size_sections(summary: Summary, release: Release | None, kind: ReportKind) -> Iterator[Section]:
    if not summary.groups:
        return
    from tacit.reports import pictures

    bars = pictures.bars_of_sizes(summary.sizes, summary.groups_of_size, summary.k)
    rows = [(bar.label, f"{bar.value:,}") for bar in bars]
    table = Table.of("Groups of each size that can be computed", ("People in the group", "Groups"), rows, style="narrow")
    note = Paragraph("Groups overlap: one person can be in many of them, so their sizes do not add up to people.", is_note=True)
    drawn = Gallery((*_size_figures(summary, release), *([table] if kind == "external" else [])))
    yield Section("Groups by size", (drawn, note), frozenset({"html"}))
    yield Section("Groups by size", (table, note), frozenset({"markdown"}))


def size_figure(summary: Summary) -> Figure | None:
    """Return the number of computed groups by size, where there are any."""
    if not summary.groups:
        return None
    caption = f"Groups of each size that can be computed. None should exist under k = {summary.k:,}."
    return Figure(size_picture(summary), caption)


def _size_figures(summary: Summary, release: Release | None) -> list[Figure]:
    from tacit.reports.pictures import published_and_computed

    first = size_figure(summary)
    figures = [] if first is None else [first]
    counts = None if release is None else _shown_counts(release)
    if release is not None and counts is not None and len(counts) and summary.verdict != "incomplete":
        span = f"{int(counts.min()):,} to {int(counts.max()):,}"
        computed = f"computed groups under {summary.k:,}" if summary.groups else f"no group under {summary.k:,} can be computed"
        both = published_and_computed(
            counts,
            summary.sizes,
            summary.groups_of_size,
            k=summary.k,
            n=release.n,
            name="both",
            title="Published counts and computed groups",
            description=f"Published counts from {span}; {computed}.",
        )
        caption = "Published counts (above the scale) and the groups computed from them (below it); each half has its own height."
        figures.append(Figure(both, caption))
    return figures


def _shown_counts(release: Release) -> Ints | None:
    """Return the published counts of a release; those that may be 0 have no place on a logarithmic scale."""
    counts = release.counts
    least = getattr(release, "lo", None)
    return counts if counts is None or least is None else counts[least > 0]


def _ranked(proofs: Sequence[Proof], total: int) -> tuple[Part, ...]:
    if not proofs:
        return ()
    return Paragraph(f"{len(proofs):,} of {total:,}, the worst first.", is_note=True), Proofs(tuple(proofs))


def _external_listing(found: Sequence[Finding]) -> Listing:
    return Listing(tuple(Item((sentences.counted_only(finding),)) for finding in found), is_numbered=True)


def _proofs(found: Sequence[Finding], audit: Audit, release: Release | None) -> Iterator[Proof]:
    for place, finding in enumerate(found, start=1):
        yield proof_of(finding, release, mark=f"{place}.", about=_about(finding, audit))


def _about(finding: Finding, audit: Audit) -> str:
    """Return the id of a finding, and the releases that it needs if there are several."""
    cited = sorted({citation.release for citation in finding.because})
    if not cited or len(audit.release) == 1:
        return f"Finding {finding.id}"
    names = [visible(str(audit.release[owner].get("file") or f"release {owner + 1}")) for owner in cited]
    alone = f"rests on {names[0]} alone" if len(names) == 1 else f"needs {', '.join(names[:-1])} and {names[-1]}"
    return f"Finding {finding.id}; {alone}"


def _joint_findings(audit: Audit) -> list[Finding]:
    run = next((run for run in audit.runs if run.code == "X01"), None)
    if len(audit.release) == 1 or run is None or run.show is None:
        return []
    owner = audit.runs.index(run)
    shown = [place for place in range(min(len(run.severity), _MOST_SEARCHED)) if audit.waived.waiver_of(owner, place) is None]
    return [finding for finding in map(run.show, shown) if len({one.release for one in finding.because}) > 1]
