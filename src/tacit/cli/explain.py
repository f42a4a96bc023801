"""``tacit explain``: explain a finding, pattern or estimate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

import tacit
from tacit.cli import options, reading
from tacit.cli.options import ReleaseOptions, command, option, refuse_external, refuse_options
from tacit.cli.output import check_outputs, emit, watched, write_file
from tacit.cli.reading import Settings, load_settings, policy_for
from tacit.model.errors import InputError, OptionError

if TYPE_CHECKING:
    from tacit.model.partial import PartialTable
    from tacit.model.release import Release
    from tacit.reports.explain import Explanation

#: Options that say how to audit; a record says it already.
_OF_AUDITS = ("data", "known", "knowledge", "withheld", "people", "k", "l", "max_posterior", "max_gain", "rows", "marks")
_EITHER = "Remove one of the two options"
TOP = 5  #: Estimates about a person, unless --top is given.


@dataclass(frozen=True, kw_only=True)
class _ExplainOptions(ReleaseOptions):
    releases: tuple[str, ...]
    finding: str | None
    audit_file: str | None
    pattern: str | None
    who: str | None
    top: int | None
    picture_to: str | None


@command(
    "explain",
    "tacit explain itemsets.csv",
    "tacit explain itemsets.csv --k 10 --finding I01-3f2a9c1b04de",
    "tacit explain itemsets.csv --picture worst.svg",
    "tacit explain last-year.csv this-year.csv --people left:0-3,joined:0-2",
    "tacit explain --audit audit.json --finding X01-3f2a9c1b04de itemsets.csv rules.csv",
    "tacit explain itemsets.csv --pattern 'bread and not (butter or \"peanut butter\")'",
    'tacit explain rules.csv --known adult.csv --who "education=Doctorate,sex=Male" --picture who.svg',
    'tacit explain buckets/ --knowledge negative.csv --who "education=Doctorate,sex=Male"',
)
@click.argument("releases", nargs=-1, metavar="RELEASE...")
@option("--finding ID", "The id of a finding, as in the record of tacit audit.  [the worst]")
@option(
    "--audit AUDIT.json",
    "Take the finding from the record of an audit instead of auditing again; check it against RELEASE, if given.",
    into="audit_file",
)
@option("--pattern PATTERN", "Count the people who fit a pattern instead: items with and, or, not and parentheses.")
@option(
    "--who DESCRIPTION",
    "Explain what can be guessed about people who match instead, such as education=Doctorate,sex=Male: for rules, tables and "
    "bucketized releases.",
)
@options.data
@option("--known DATA", "Rules: everybody's quasi-identifiers, as an adversary may know them.")
@option(
    "--knowledge FILE...", "Rules and bucketized releases: facts or negative rules that the adversary knows as well (repeatable)."
)
@options.withheld
@option("--people HOW", "How the populations of several releases are related, as for tacit audit.")
@option("--top N", f"With --who: how many lines to explain.  [{TOP}]", type=int, callback=options.positive)
@option("--picture FILE.svg", "Draw the sum, the bounds or the values, as SVG.", into="picture_to")
@options.roles
@options.missing
@options.any_release
@options.running
def explain_command(**given: Any) -> None:
    """Explain a finding, a pattern or an estimate, line by line.

    Each step names the published line that it adds or subtracts, so that a reader can repeat the sum. Several RELEASE files are explained
    together, as they are audited. With --pattern the answer is one number if the release determines it, else the tightest bounds, each
    with the sum that proves it. With --who it is the probability of each sensitive value, the published and missing rules behind it, and
    what it would be without individual ones; give --known or --data as well.
    """
    asked = _ExplainOptions(**given)
    inputs = [*asked.releases, asked.data, asked.known, asked.audit_file, *asked.knowledge]
    refuse_external(asked, "picture_to")
    check_outputs([asked.json_to, asked.picture_to], inputs=inputs)
    if not asked.releases and asked.audit_file is None:
        remedy = "Name the release to explain, or the record of its audit with --audit"
        raise OptionError("is missing", where="RELEASE", remedy=remedy)
    if asked.who is not None:
        _explain_person(asked, asked.who)
    elif asked.pattern is not None:
        _explain_pattern(asked, asked.pattern)
    elif asked.top is not None:
        raise OptionError("applies to estimates about people", where="--top", remedy="Describe them with --who")
    else:
        _explain_finding(asked)


# Findings


def _explain_finding(asked: _ExplainOptions) -> None:
    from tacit.reports.explain import explanation_text
    from tacit.reports.explain_picture import explanation_picture, sensitive_values

    explanation, policy, releases = _find_now(asked) if asked.audit_file is None else _find_recorded(asked, asked.audit_file)
    if asked.picture_to is not None:
        values = sensitive_values(explanation, releases)
        picture = explanation_picture(explanation, values=values, bars=policy)
        if picture is None:
            remedy = "Remove the option, or ask about a person with --who"
            raise OptionError("there is no picture of a finding of this kind", where="--picture", remedy=remedy)
        write_file(asked.picture_to, picture.standalone().encode())
    headline = str(explanation.finding["statement"])
    code, (lo, hi) = explanation.finding["code"], explanation.finding["count"]
    emit(
        explanation.to_dict(),
        lambda width: explanation_text(explanation, width=width),
        json_to=asked.json_to,
        headline=headline,
        external=f"{code}: {_render_people(lo, hi)}." if asked.is_external else None,
    )


def _find_now(asked: _ExplainOptions) -> tuple[Explanation, Any, Sequence[Release]]:
    """Audit the releases; return the finding, the policy and the releases."""
    from tacit.reports.explain import Explanation, files_of

    settings = load_settings(asked, near=asked.data or asked.known, releases=asked.releases)
    code = (asked.finding or "").partition("-")[0]
    attacks = [code] if code in {attack.code for attack in tacit.ATTACKS} else None
    with watched("auditing") as progress:
        gathered, others = reading.read_audit_inputs(asked.releases, settings)
        found = tacit.audit(gathered, **others, attacks=attacks, time_limit=asked.time_limit, progress=progress)
    releases = gathered.releases
    if asked.finding is None and not found.findings:
        hints = {"buckets": "Raise --l, or give --knowledge", "table": "Lower --min-confidence or --min-support"}
        remedy = hints.get(releases[0].kind, "Raise --k to see larger groups")
        where = ", ".join(asked.releases)
        raise OptionError(f"there is nothing to explain: the audit is {found.verdict}", where=where, remedy=remedy)
    finding = found.findings[0] if asked.finding is None else found.finding(asked.finding)
    return Explanation.of(finding, files_of(found.release)), found.policy.to_dict(), releases


def _find_recorded(asked: _ExplainOptions, audit_file: str) -> tuple[Explanation, Any, Sequence[Release]]:
    """Return a recorded finding, checked against the releases, with its policy."""
    from tacit.checker import check_audit
    from tacit.files.disk import shown
    from tacit.reports.explain import Explanation, files_of
    from tacit.verbs.verify import read_record

    refuse_options(asked, _OF_AUDITS, "says how to audit, and --audit gives the record of an audit", _EITHER)
    where = shown(audit_file)
    record = read_record(audit_file)
    listed = record.get("findings")
    if not isinstance(listed, list) or not all(isinstance(one, Mapping) for one in listed) or "release" not in record:
        raise InputError("is not a record of an audit", where=where, remedy="Give the file that `tacit audit --json` wrote")
    if record.get("report_kind") == "external":
        raise InputError("has counts only", where=where, remedy="Give the internal record, or the release itself")
    if not listed:
        raise OptionError("lists no finding, so there is nothing to explain", where=where, remedy="Audit with --top 10")
    finding = listed[0] if asked.finding is None else next((one for one in listed if one.get("id") == asked.finding), None)
    if finding is None:
        remedy = "Copy an id from the record, or audit with a larger --top"
        raise OptionError(f"the record lists no finding {asked.finding!r}", where="--finding", remedy=remedy)
    releases = reading.gather_releases(asked.releases, asked, record=record).releases if asked.releases else ()
    if releases:
        outcome = check_audit({**record, "findings": [finding]}, releases)
        if not outcome.ok:
            remedy = "Give the release that was audited, or audit it again"
            raise InputError(f"the finding does not follow: {outcome.problems[0]}", where=where, remedy=remedy)
    return Explanation.recorded(finding, files_of(record["release"])), record["policy"], releases


# Patterns


def _explain_pattern(asked: _ExplainOptions, pattern: str) -> None:
    if len(asked.releases) != 1:
        what = f"takes one release, and {len(asked.releases)} are given"
        raise OptionError(what, where="--pattern", remedy="Give one of them")
    names = ("finding", "data", "known", "k", "knowledge", "withheld", "people", "top", "picture_to", "audit_file")
    refuse_options(asked, names, "applies to findings, not to a pattern", _EITHER)
    with watched("reading"):
        found = tacit.support_of(reading.read_release(asked.releases[0], asked), pattern=pattern)
    number, _, rest = found.statement.partition(": ")

    def text(width: int) -> str:
        return _format_steps(f"{number}:", rest, found.steps, width)

    external = f"A pattern that fits {_render_people(found.lo, found.hi)}." if asked.is_external else None
    emit(
        {"format": "tacit.explanation/1"} | found.to_dict(),
        text,
        json_to=asked.json_to,
        headline=found.statement,
        external=external,
    )


# People


def _explain_person(asked: _ExplainOptions, who: str) -> None:
    names = ["finding", "pattern", "people", "audit_file", "k", "l", "max_posterior", "max_gain"]
    if len(asked.releases) > 1 and asked.people == "same":
        names.remove("people")
    refuse_options(asked, names, "cannot be combined with --who", _EITHER)
    settings = load_settings(asked, near=asked.data or asked.known, releases=asked.releases)
    with watched("estimating"):
        releases = [reading.read_release(path, asked) for path in asked.releases]
        explain_one = _BY_KIND.get(releases[0].kind)
        if explain_one is None or len(releases) > 1:
            _explain_estimate(releases, settings, who)
        else:
            explain_one(releases[0], settings, who)


def _explain_estimate(releases: Sequence[Release], settings: Settings[_ExplainOptions], who: str) -> None:
    from tacit.model.release import by_sensitive_column
    from tacit.reports.estimates import person_svg, person_text

    asked = settings.given
    rules = next((release for release in releases if release.kind == "rules"), releases[0])
    columns: list[str | None] = [*by_sensitive_column(releases)]
    if len(columns) > 1 and asked.picture_to is not None:
        remedy = "Remove the option, or give rules about one of them"
        raise OptionError("draws one sensitive column, and there are several", where="--picture", remedy=remedy)
    data = reading.read_owners_data(rules, settings)
    known = reading.read_known(rules, settings)
    found = [
        tacit.posterior_of(
            rules if len(releases) == 1 else list(releases),
            who=who,
            sa=column,
            data=data,
            known=known,
            knowledge=list(asked.knowledge) or None,
            withheld=asked.withheld or "at-threshold",
            top=asked.top or TOP,
            time_limit=asked.time_limit,
        )
        for column in columns or [None]
    ]
    if asked.picture_to is not None:
        write_file(asked.picture_to, person_svg(found[0]).encode())
    told = [one.to_dict() for one in found]
    record = {"format": "tacit.explanation/1"} | ({"columns": told} if columns else told[0])
    external = f"Estimates about {_render_people(found[0].people, found[0].people)}." if asked.is_external else None
    emit(
        record,
        lambda width: "\n".join(person_text(one, width=width) for one in found),
        json_to=asked.json_to,
        external=external,
    )


def _explain_member(release: Release, settings: Settings[_ExplainOptions], who: str) -> None:
    asked = settings.given
    refuse_options(asked, ("data", "known", "withheld", "picture_to"), "applies to rules; this release is bucketized")
    found = tacit.members_of(release, who=who, knowledge=list(asked.knowledge) or None, top=asked.top or TOP)
    record = {"format": "tacit.explanation/1", "members": [one.to_dict() for one in found]}
    how = "Probabilities: all assignments that fit the group are equally likely (B02). Steps: which values are possible (B01)."

    def text(width: int) -> str:
        members = [_format_steps(f"{place}.", one.statement, one.steps, width) for place, one in enumerate(found, 1)]
        return "\n".join([*members, f"{how}\n"])

    external = f"{len(found):,} descriptions of members of groups." if asked.is_external else None
    emit(record, text, json_to=asked.json_to, headline=found[0].statement, external=external)


def _explain_records(release: PartialTable, settings: Settings[_ExplainOptions], who: str) -> None:
    """Explain the rules (T01) or classes (T03) that reveal a person's value."""
    import numpy as np

    from tacit.model.estimates import read_who
    from tacit.model.table import require_column

    asked = settings.given
    refuse_options(asked, ("known", "picture_to", "knowledge", "withheld"), "applies to rules; this release is a table")
    fits = np.ones(release.n, np.bool_)
    for name, value in read_who(who).items():
        require_column(name, release.people.names, where="--who")
        column = release.people.column(name)
        fits &= (column.codes == column.values.index(value)) if value in column.values else False
    if not fits.any():
        raise OptionError("fits no record", where="--who", remedy="Remove some of the values, or check them")
    policy = policy_for(release, settings)
    original = reading.read_original(release, settings)
    rows = reading.rows_to_protect(release, original, asked)
    number = int(fits.sum())
    records = "1 record fits" if number == 1 else f"{number:,} records fit"
    found = tacit.audit(release, data=original, rows=rows, policy=policy, attacks=["T01"], time_limit=asked.time_limit)
    if found.attack("T01").status == "not-relevant":
        found = tacit.audit(release, policy=policy, attacks=["T03"], time_limit=asked.time_limit)
        about = [one for one in found.findings if (_rows_with(release, one) & fits).any()]
        classes = "no exposed class holds" if not about else "1 exposed class holds"
        classes = f"{len(about):,} exposed classes hold" if len(about) > 1 else classes
        sentence = f"{records}, and {classes} {'it' if fits.sum() == 1 else 'some of them'}."
    else:
        lines = {release.line(row) for row in np.flatnonzero(fits).tolist()}
        about = [one for one in found.findings if lines & {cited.place for cited in one.because if isinstance(cited.place, int)}]
        rules = "no rule reveals" if not about else "1 rule reveals" if len(about) == 1 else f"{len(about):,} rules reveal"
        sentence = f"{records}, and {rules} a sensitive cell among them."
    shown = about[: asked.top or TOP]

    def text(width: int) -> str:
        listed = (_format_steps(f"{place}.", one.statement, one.steps, width) for place, one in enumerate(shown, 1))
        return "\n".join([f"{sentence}\n", *listed])

    record = {"format": "tacit.explanation/1", "statement": sentence, "findings": [one.to_dict() for one in shown]}
    emit(record, text, json_to=asked.json_to, headline=sentence, external=sentence if asked.is_external else None)


def _rows_with(release: PartialTable, finding: tacit.Finding) -> Any:
    """Return the rows that show the cells of a class."""
    import numpy as np

    shows = np.ones(release.n, np.bool_)
    for name, values in finding.event.to_dict().items():
        column = release.people.column(name)
        shows &= column.codes == column.values.index(values[0])
    return shows


#: How a person is looked up in one release; in others, and in several together, by an estimate.
_BY_KIND: Mapping[str, Callable[[Any, Settings[_ExplainOptions], str], None]] = {
    "buckets": _explain_member,
    "table": _explain_records,
}


def _render_people(lo: int, hi: int | None) -> str:
    if hi is None:
        return f"at least {lo:,} people"
    if lo != hi:
        return f"{lo:,} to {hi:,} people"
    return "1 person" if lo == 1 else f"{lo:,} people"


def _format_steps(mark: str, statement: str, steps: Sequence[str], width: int) -> str:
    from tacit.reports.document import bullet

    numbered = [line for number, step in enumerate(steps, start=1) for line in bullet(f"{number:>3}.", step, width)]
    return "\n".join([*bullet(mark, statement, width, indent=""), "", *numbered]) + "\n"
