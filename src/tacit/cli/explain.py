"""``tacit explain``: one finding, the support of one pattern, or the estimate about one person, line by line.

One finding explained: from an audit that is made again, or from the record of one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from tacit.cli import options
from tacit.cli.options import Settings
from tacit.cli.output import check_outputs, emit, watched, width, write_file
from tacit.errors import InputError, OptionError

if TYPE_CHECKING:
    from tacit.model.finding import Finding
    from tacit.model.release import Release

#: What says how to audit; a record says it already.
_OF_AUDITS = ("data", "known", "knowledge", "people", "k", "l", "max_posterior", "max_gain", "rows", "marks")


def explain_finding(releases: Sequence[str], wanted: str | None, json_to: str | None, given: dict[str, Any]) -> None:
    """Tell a finding step by step, as text, as JSON, and as a picture where one is wanted."""
    from tacit.reports.explain import Explanation, explanation_text, files_of
    from tacit.reports.explain_picture import explanation_svg

    if given["audit_file"] is not None:
        entry, record, read = _recorded(releases, wanted, given)
        told = Explanation.recorded(entry, files_of(record["release"]))
    else:
        finding, record, read = _audited(releases, wanted, given)
        told = Explanation.of(finding, files_of(record["release"]))
    if given["picture_to"] is not None:
        values = next((one.header.sa_values for one in read if one.kind == "rules" and one.header.sa_values), ())
        picture = explanation_svg(told, values=values, bars=record["policy"])
        if picture is None:
            remedy = "Leave --picture out, or ask about somebody with --who"
            raise OptionError("there is no picture of a finding of this kind", where="--picture", remedy=remedy)
        write_file(given["picture_to"], picture.encode())
    emit(told.to_dict(), lambda: explanation_text(told, width=width()), json_to=json_to, headline=str(told.finding["statement"]))


def _audited(paths: Sequence[str], wanted: str | None, given: dict[str, Any]) -> tuple[Finding, Mapping[str, Any], list[Release]]:
    """The finding of an audit that is made now, what the record says around it, and the releases."""
    from tacit.model.people import read_people
    from tacit.verbs.audit import audit

    settings = Settings.of(given, near=given["data"] or given["known"], releases=paths)
    people = None if given["people"] is None else read_people(given["people"])
    with watched("auditing") as progress:
        gathered = options.gather(paths, given, settings)
        read = list(gathered.releases)
        release = read[0]
        rules = next((one for one in read if one.kind == "rules"), release)
        owners = options.owners_data(rules, settings) if len(read) == 1 or given["data"] else None
        found = audit(
            gathered,
            data=owners,
            known=options.known_people(rules, settings),
            knowledge=list(given["knowledge"]) or None,
            rows=options.rows_of(release, owners, given) if len(read) == 1 else given["rows"],
            people=people,
            policy=options.policy_of(release, settings),
            attacks=_attack_of(wanted),
            time_limit=given["time_limit"],
            progress=progress,
        )
    if wanted is None and not found.findings:
        hints = {"buckets": "Raise --l, or give --knowledge", "table": "Lower --min-confidence or --min-support"}
        remedy = hints.get(release.kind, "Raise --k to see larger groups")
        raise OptionError(f"there is nothing to explain: the audit is {found.verdict}", where=", ".join(paths), remedy=remedy)
    finding = found.findings[0] if wanted is None else found.finding(wanted)
    return finding, {"release": found.release, "policy": found.policy.to_dict()}, read


def _recorded(
    paths: Sequence[str], wanted: str | None, given: dict[str, Any]
) -> tuple[Mapping[str, Any], Mapping[str, Any], list[Release]]:
    """The finding of a record, the record, and the releases; where these are given, the finding must follow from them."""
    from tacit.checker import check_audit
    from tacit.files.disk import shown
    from tacit.verbs.verify import read_record

    for name in _OF_AUDITS:
        if given.get(name) not in (None, ()):
            option = "--" + name.replace("_", "-")
            raise OptionError(
                "says how to audit, and the record of an audit is given", where=option, remedy="Leave one of them out"
            )
    where, record = shown(given["audit_file"]), read_record(given["audit_file"])
    listed = record.get("findings")
    if not isinstance(listed, list) or not all(isinstance(one, Mapping) for one in listed) or "release" not in record:
        raise InputError("is not a record of an audit", where=where, remedy="Give the file that `tacit audit --json` wrote")
    if record.get("report_kind") == "external":
        raise InputError("holds counts only", where=where, remedy="Give the internal record, or the release itself")
    if not listed:
        raise OptionError("lists no finding, so there is nothing to explain", where=where, remedy="Audit with --top 10")
    finding = listed[0] if wanted is None else next((one for one in listed if one.get("id") == wanted), None)
    if finding is None:
        remedy = "Copy an id from the record, or audit with a larger --top"
        raise OptionError(f"the record lists no finding {wanted!r}", where="--finding", remedy=remedy)
    read = list(options.gather(paths, given, record=record).releases) if paths else []
    if read:
        outcome = check_audit({**record, "findings": [finding]}, read)
        if not outcome.ok:
            remedy = "Give the release that was audited, or audit it again"
            raise InputError(f"the finding does not follow: {outcome.problems[0]}", where=where, remedy=remedy)
    return finding, record, read


def _attack_of(finding: str | None) -> list[str] | None:
    """The attack that a finding is of, by its id; asked for by name, B03 finds as well. None where the id tells none.

    >>> _attack_of("B03-48eb0e5440d3"), _attack_of("x"), _attack_of(None)
    (['B03'], None, None)
    """
    from tacit.verbs.attacks import ATTACKS

    code = (finding or "").partition("-")[0]
    return [code] if code in {attack.code for attack in ATTACKS} else None


@click.command(
    "explain",
    epilog=options.examples(
        "tacit explain itemsets.csv",
        "tacit explain itemsets.csv --k 10 --finding I01-3f2a9c1b04de",
        "tacit explain itemsets.csv --picture worst.svg",
        "tacit explain last-year.csv this-year.csv --people left:0-3,joined:0-2",
        "tacit explain --audit audit.json --finding X01-3f2a9c1b04de itemsets.csv rules.csv",
        "tacit explain itemsets.csv --pattern 'bread and not (butter or \"peanut butter\")'",
        'tacit explain rules.csv --known adult.csv --who "education=Doctorate,sex=Male" --picture who.svg',
        'tacit explain buckets/ --knowledge negative.csv --who "education=Doctorate,sex=Male"',
    ),
)
@click.argument("releases", nargs=-1, metavar="RELEASE...")
@click.option("--finding", "wanted", metavar="ID", help="The id of a finding, as in the record of tacit audit.  [the worst]")
@click.option(
    "--audit",
    "audit_file",
    metavar="AUDIT.json",
    help="Take the finding from the record of an audit instead of auditing again; a RELEASE that is given is compared.",
)
@click.option(
    "--pattern", metavar="PATTERN", help="Tell instead how many people fit a pattern: items with and, or, not and parentheses."
)
@click.option(
    "--who",
    metavar="DESCRIPTION",
    help="Of rules, tables and bucketized releases: tell instead what is guessed about whoever fits, such as education=Doctorate,sex=Male.",
)
@options.data
@click.option("--known", metavar="DATA", help="For rules: the QI columns of everybody, as an adversary may have them.")
@click.option(
    "--knowledge",
    multiple=True,
    metavar="FILE",
    help="For rules and bucketized releases: facts or negative rules that the adversary knows as well (repeatable).",
)
@click.option("--people", metavar="HOW", help="For several releases: how their people hang together, as for tacit audit.")
@click.option("--top", type=int, callback=options.positive, metavar="N", help="With --who: how many lines to tell about.  [5]")
@click.option("--picture", "picture_to", metavar="FILE.svg", help="Draw the sum, the bounds or the values behind it, as SVG.")
@options.roles
@options.missing
@options.release_file
@options.frequency_table
@options.policy
@options.of_tables
@options.running
def explain_command(
    releases: tuple[str, ...], wanted: str | None, pattern: str | None, json_to: str | None, **given: Any
) -> None:
    """Explain one finding, how many people fit a pattern, or what is guessed about somebody, line by line.

    Each step names the published line that it adds or takes away, so that a reader can redo the sum. Several RELEASE files are explained
    together, as they are audited. With --pattern the answer is one number where the release gives it away, else the tightest bounds, each
    with the sum that proves it. With --who it is the probability of each sensitive value, which published and missing rules make it, and
    what it would be without single ones; --known or --data must be given.
    """
    read = [given[name] for name in ("data", "known", "audit_file") if given[name]]
    check_outputs([json_to, given["picture_to"]], inputs=[*releases, *read, *given["knowledge"]])
    if not releases and given["audit_file"] is None:
        raise OptionError(
            "is missing", where="RELEASE", remedy="Name the release to explain, or the record of its audit with --audit"
        )
    asked = {"finding": wanted, "pattern": pattern}
    if given["who"] is not None:
        _explain_person(releases, json_to, given | asked)
        return
    if pattern is not None:
        _explain_pattern(_only(releases, "--pattern"), pattern, json_to, given | asked)
        return
    if given["top"] is not None:
        raise OptionError("belongs to an estimate about somebody", where="--top", remedy="Say about whom with --who")

    explain_finding(releases, wanted, json_to, given)


def _only(releases: tuple[str, ...], option: str) -> str:
    """The one release that a question is about."""
    if len(releases) != 1:
        raise OptionError(f"is about one release, and {len(releases)} are given", where=option, remedy="Give one of them")
    return releases[0]


def _explain_pattern(release_file: str, pattern: str, json_to: str | None, given: dict[str, Any]) -> None:
    """What the release says about the support of a pattern."""
    from tacit.verbs.ask import support_of

    for name in ("finding", "data", "known", "k", "knowledge", "people", "top", "picture", "audit"):
        if given.get({"picture": "picture_to", "audit": "audit_file"}.get(name, name)) not in (None, ()):
            remedy = "Leave one of the two out"
            raise OptionError("belongs to a finding, not to a pattern", where=f"--{name}", remedy=remedy)
    with watched("reading"):
        found = support_of(options.read(release_file, given), pattern=pattern)
    number, _, rest = found.statement.partition(": ")
    record = {"format": "tacit.explanation/1"} | found.to_dict()
    emit(record, lambda: _text((f"{number}:", rest), found.steps), json_to=json_to, headline=found.statement)


def _explain_person(releases: tuple[str, ...], json_to: str | None, given: dict[str, Any]) -> None:
    """What rules, or several releases about the same people, make an attacker guess about somebody."""
    from tacit.verbs.ask import posterior_of

    for name in ("finding", "pattern", "people", "audit_file", "k", "l", "max_posterior", "max_gain"):
        if given.get(name) not in (None, ()) and not (name == "people" and len(releases) > 1 and given[name] == "same"):
            option = "--" + name.removesuffix("_file").replace("_", "-")
            raise OptionError("does not go with --who", where=option, remedy="Leave one of the two out")
    settings = Settings.of(given, near=given["data"] or given["known"], releases=releases)
    with watched("estimating"):
        read = [options.read(path, given) for path in releases]
        release = next((one for one in read if one.kind == "rules"), read[0])
        if len(read) == 1 and release.kind == "buckets":
            _explain_member(release, json_to, given)
            return
        if len(read) == 1 and release.kind == "table":
            _explain_records(release, settings, json_to)
            return
        people, known = options.owners_data(release, settings), options.known_people(release, settings)
        top, seconds = given["top"] or 5, given["time_limit"]
        knowledge = list(given["knowledge"]) or None
        found = posterior_of(
            release if len(read) == 1 else read,
            who=given["who"],
            known=known,
            data=people,
            knowledge=knowledge,
            top=top,
            time_limit=seconds,
        )

    from tacit.reports.estimates import person_svg, person_text
    from tacit.reports.words import UNBROKEN, first_sentence

    if given["picture_to"] is not None:
        write_file(given["picture_to"], person_svg(found).encode())
    record = {"format": "tacit.explanation/1"} | found.to_dict()
    emit(
        record,
        lambda: person_text(found, width=width()),
        json_to=json_to,
        headline=first_sentence(person_text(found, width=UNBROKEN)),
    )


def _explain_member(release: Release, json_to: str | None, given: dict[str, Any]) -> None:
    """What a bucketized release says about whoever fits."""
    from tacit.verbs.ask import members_of

    for name, option in (("data", "--data"), ("known", "--known"), ("picture_to", "--picture")):
        if given[name]:
            raise OptionError("is for rules, and this release is bucketized", where=option, remedy="Leave it out")
    knowledge = list(given["knowledge"]) or None
    found = members_of(release, who=given["who"], knowledge=knowledge, top=given["top"] or 5)
    record = {"format": "tacit.explanation/1", "members": [one.to_dict() for one in found]}

    def text() -> str:
        told = "\n".join(_text((f"{place}.", one.statement), one.steps) for place, one in enumerate(found, 1))
        how = (
            "Probabilities take all assignments that fit the group as equally likely (B02); the steps say what is possible (B01)."
        )
        return f"{told}\n{how}\n"

    emit(record, text, json_to=json_to, headline=found[0].statement)


def _explain_records(release: Release, settings: Settings, json_to: str | None) -> None:
    """Which rules of a table tell the blank cell of whoever fits."""
    given = settings.given
    for name, option in (("known", "--known"), ("picture_to", "--picture"), ("knowledge", "--knowledge")):
        if given[name]:
            raise OptionError("is for rules, and this release is a table", where=option, remedy="Leave it out")
    findings, sentence = options.rules_about(release, settings, given["who"])
    shown = findings[: given["top"] or 5]

    def text() -> str:
        return "\n".join(
            [f"{sentence}\n", *(_text((f"{place}.", one.statement), one.steps) for place, one in enumerate(shown, 1))]
        )

    record = {"format": "tacit.explanation/1", "statement": sentence, "findings": [one.to_dict() for one in shown]}
    emit(record, text, json_to=json_to, headline=sentence)


def _text(head: tuple[str, str], told: Sequence[str]) -> str:
    from tacit.reports.words import bullet

    steps = [line for number, step in enumerate(told, start=1) for line in bullet(f"{number:>3}.", step, width())]
    return "\n".join([*bullet(*head, width(), indent=""), "", *steps]) + "\n"
