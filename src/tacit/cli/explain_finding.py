"""One finding explained: from an audit that is made again, or from the record of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tacit.cli import reading, tables
from tacit.cli.output import emit, watched, width, write_file
from tacit.cli.settings import Settings
from tacit.errors import InputError, OptionError

if TYPE_CHECKING:
    from tacit.model.release import Release

#: What says how to audit; a record says it already.
_OF_AUDITS = ("data", "known", "knowledge", "people", "k", "l", "max_posterior", "max_gain", "rows", "marks")


def explain_finding(releases: Sequence[str], wanted: str | None, json_to: str | None, given: dict[str, Any]) -> None:
    """Tell a finding step by step, as text, as JSON, and as a picture where one is wanted."""
    from tacit.reports.explanation import Explanation, explanation_text, files_of
    from tacit.reports.explanation_svg import explanation_svg

    if given["audit_file"] is not None:
        finding, record, read = _recorded(releases, wanted, given)
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
    emit(told.to_dict(), lambda: explanation_text(told, width=width()), json_to=json_to, headline=str(finding["statement"]))


def _audited(
    paths: Sequence[str], wanted: str | None, given: dict[str, Any]
) -> tuple[Mapping[str, Any], Mapping[str, Any], list[Release]]:
    """The finding of an audit that is made now, what the record says around it, and the releases."""
    from tacit.api import audit
    from tacit.model.people import read_people

    settings = Settings.of(given, near=given["data"] or given["known"], releases=paths)
    people = None if given["people"] is None else read_people(given["people"])
    with watched("auditing") as progress:
        gathered = reading.gather(paths, given, settings)
        read = list(gathered.releases)
        release = read[0]
        rules = next((one for one in read if one.kind == "rules"), release)
        owners = reading.owners_data(rules, settings) if len(read) == 1 or given["data"] else None
        found = audit(
            gathered,
            data=owners,
            known=reading.known_people(rules, settings),
            knowledge=list(given["knowledge"]) or None,
            rows=tables.rows_of(release, owners, given) if len(read) == 1 else given["rows"],
            people=people,
            policy=tables.policy_of(release, settings),
            attacks=_attack_of(wanted),
            time_limit=given["time_limit"],
            progress=progress,
        )
    if wanted is None and not found.findings:
        hints = {"buckets": "Raise --l, or give --knowledge", "table": "Lower --min-confidence or --min-support"}
        remedy = hints.get(release.kind, "Raise --k to see larger groups")
        raise OptionError(f"there is nothing to explain: the audit is {found.verdict}", where=", ".join(paths), remedy=remedy)
    finding = found.findings[0] if wanted is None else found.finding(wanted)
    return finding.to_dict(), {"release": found.release, "policy": found.policy.to_dict()}, read


def _recorded(
    paths: Sequence[str], wanted: str | None, given: dict[str, Any]
) -> tuple[Mapping[str, Any], Mapping[str, Any], list[Release]]:
    """The finding of a record, the record, and the releases; where these are given, the finding must follow from them."""
    from tacit.checker import check_audit
    from tacit.formats.files import shown
    from tacit.verifying import read_record

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
    read = list(reading.gather(paths, given, record=record).releases) if paths else []
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
    from tacit.attacks import ATTACKS

    code = (finding or "").partition("-")[0]
    return [code] if code in {attack.code for attack in ATTACKS} else None
