"""The verb ``verify``: check certificates, or audit again."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tacit.checker import check_audit, check_record
from tacit.checker.totals import other_file, other_header, other_order
from tacit.files.disk import Input, shown
from tacit.files.engines import Engine
from tacit.files.knowledge import read_knowledge
from tacit.files.releases import gather, inputs_of, read_release, source_at
from tacit.model.audit import BINDING, Audit, digest
from tacit.model.errors import InputError, OptionError, TacitError
from tacit.model.measures import Verification
from tacit.model.partial import each_by_one
from tacit.model.people import AS_TOLD, Gathered
from tacit.model.policy import LIMITS, Policy
from tacit.model.table import Table
from tacit.verbs.data import merge_data, merge_known

_REMEDY = "Give the file that `tacit audit --json` wrote"
#: Entries that a new audit is not compared in: who set the limits of the policy, what could be done, and which version wrote the record.
_NOT_COMPARED = frozenset({BINDING, "policy_from", "policy_files", "suggestions", "tool"})
_SHOWN = 5  #: Differences that are named at most.


def verify(
    record: Audit | Mapping[str, Any] | str | Path,
    releases: Any,
    *,
    known: Any = None,
    knowledge: Any = None,
    data: Any = None,
    rows: Any = None,
    policy: Policy | None = None,
    again: bool | None = None,
    time_limit: float | None = None,
    engine: Engine | str | None = None,
) -> Verification:
    """Re-check an audit: every proved finding in its record, and the rest of the record.

    The checker shares no code with the attacks: it looks up each line that a certificate cites and redoes its arithmetic in whole numbers.
    That a release is clean has no proof: the release is then audited again, and the two records are compared.

    Parameters
    ----------
    record
        What ``tacit audit --json`` wrote (the file, or what is read from it), or an audit, whose ten worst findings are then checked.
    releases
        The release that the audit is about, or a list of them in the same order: read ones, folders of them, or files, which are read with the
        options that the record holds.
    known
        For findings about people who are known (R03): everybody's quasi-identifiers, to count them again instead of trusting the record.
    knowledge
        For bucketized releases: the facts that the audit was given, to compare them instead of trusting the record.
    data, rows, policy
        To audit again what was audited with them; the limits of the policy are taken from the record where none is given.
    again
        Whether to audit again: by default where no finding decides the verdict.
    time_limit
        Seconds after which a new audit stops.
    engine
        Program that merges equal rows of files given as ``data`` or ``known`` (see :func:`tacit.engine`).

    Examples
    --------
    >>> import tacit
    >>> baskets = tacit.read_transactions([["a", "b"]] * 49 + [["a"]] + [["c"]] * 20)
    >>> itemsets = tacit.mine_itemsets(baskets, min_support=20)
    >>> record = tacit.audit(itemsets).to_dict()
    >>> tacit.verify(record, itemsets).ok
    True
    >>> record["findings"][0]["count"] = [2, 2]
    >>> tacit.verify(record, itemsets).problems[-1]
    'I01-d09f32c01c6f: its lines give 1 person, not 2'
    """
    if isinstance(record, Audit):
        record = record.to_dict()
    told = _plain(record if isinstance(record, Mapping) else read_record(record))
    check_record(told)
    try:
        gathered = read_audited(told, releases)
    except OtherFile as other:
        return Verification(0, (str(other),))
    gathered = replace(gathered, releases=each_by_one(gathered.releases))
    facts = None if knowledge is None else read_knowledge(knowledge)
    data = merge_data(gathered.releases, data, engine)
    known = merge_known(gathered.releases, known, engine)
    table = known
    if known is not None and not isinstance(known, Table):
        from tacit.files.tables import read_table
        from tacit.verbs.data import known_roles

        table = read_table(known, **known_roles(gathered.releases))
    if table is not None:
        from tacit.model.people import as_released

        table = as_released(table, gathered.releases)
    outcome = check_audit(told, gathered.releases, known=table, knowledge=facts, names=gathered.names)
    problems = list(outcome.problems)
    if told[BINDING] != digest(told):
        problems.insert(0, "the record was changed after it was written: its digest is another")
    if [one.to_dict() for one in gathered.not_read] != told.get("not_read", []):
        problems.append("other files or columns were not read than the record says")
    besides = {"data": data, "known": known, "knowledge": knowledge, "rows": rows}
    for one in inputs_of(**besides):
        audited = [entry for entry in told["inputs"] if entry["role"] == one["role"]]
        if audited and one["sha256"] not in {entry["sha256"] for entry in audited}:
            problems.append(other_file(one["file"], one["sha256"], audited[0]["sha256"]))
    outcome = replace(outcome, problems=tuple(problems), open=_open_claims(told, besides))
    is_exposed = told["verdict"] == "exposed"
    if problems or (is_exposed and not again):
        return outcome
    if again is False:
        return replace(outcome, unconfirmed="No finding proves a verdict of clean or incomplete; only a new audit confirms it.")
    return _audit_again(outcome, told, gathered, besides, policy=policy, time_limit=time_limit)


class OtherFile(Exception):
    """A file is not the one that was audited."""


def read_audited(record: Mapping[str, Any], releases: Any) -> Gathered:
    """Read the releases of an audit by its record.

    Raises :class:`OtherFile` before it reads a file that is not the one audited.
    """
    entries = record["release"]
    skipped = {one["file"] for one in record.get("not_read", ())}

    def read(one: Any, place: int) -> Any:
        if not isinstance(one, (str, os.PathLike)) or not os.path.exists(one):
            return read_release(one)
        entry = entries[place] if place < len(entries) else {}
        source = source_at(one)
        name = os.path.basename(os.fspath(one).rstrip("/"))
        if source.sha256 != entry.get("sha256"):
            if any(Path(file).name == name for file in skipped):
                return read_release(one)  # a file of a folder that the audit did not read, either
            places = [number for number, other in enumerate(entries) if other.get("sha256") == source.sha256]
            if places and place < len(entries):
                raise OtherFile(other_order(name, place, places[0]))
            raise OtherFile(other_file(name, source.sha256, entry.get("sha256")))
        if (source.header or None) != entry.get("header_sha256"):
            raise OtherFile(other_header(name, source.header, entry.get("header_sha256")))
        try:
            return read_release(one, **entry["read"])
        except (OptionError, TypeError, ValueError, AttributeError):
            raise OtherFile(f"{name}: this file cannot be read with the options of the record. Give the audited file.") from None

    listed = list(releases) if isinstance(releases, (list, tuple)) else [releases]
    named = [one for one in record.get("ignored", ()) if one["reason"] == AS_TOLD]
    return gather(listed, read, [one.get("column") or one["file"] for one in named])


def read_record(path: str | Path) -> Mapping[str, Any]:
    """Read a record written by ``tacit audit --json``."""
    try:
        with Input(path).open_text() as lines:
            record = json.load(lines, object_pairs_hook=_once, parse_int=_whole, parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, Mapping):
        raise InputError("is not a record of an audit", where=shown(path), remedy=_REMEDY)
    return record


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


def _whole(text: str) -> int:
    if len(text) > 30:
        raise ValueError
    return int(text)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError
    return number


def _plain(record: Mapping[str, Any]) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(json.dumps(dict(record), allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        raise InputError("is not a record of an audit", where="the audit", remedy=_REMEDY) from None
    return found


def _open_claims(record: Mapping[str, Any], besides: Mapping[str, Any]) -> tuple[str, ...]:
    """Return sentences on claims beyond the proofs."""
    out = []
    found = sum(attack["findings"] for attack in record["attacks"] if attack["claim"] == "proves")
    proving = {attack["code"] for attack in record["attacks"] if attack["claim"] == "proves"}
    listed = sum(one["code"] in proving for one in record["findings"])
    if found > listed:
        findings = "finding" if found == 1 else "findings"
        remedy = "audit with a larger --top to have more of them checked"
        out.append(f"The audit counts {found:,} proved {findings} and lists {listed:,}: {remedy}.")
    taken = [name for name in ("known", "knowledge") if name in record["options"]["given"] and besides[name] is None]
    if taken and any(one["code"] in ("R03", "B01", "X01") for one in record["findings"]):
        options = " and ".join(f"--{name}" for name in taken)
        out.append(f"What is known besides the release is taken from the record: give {options} to have it compared.")
    return tuple(out)


# Auditing again


def _audit_again(
    outcome: Verification,
    record: Mapping[str, Any],
    gathered: Gathered,
    besides: Mapping[str, Any],
    policy: Policy | None,
    time_limit: float | None,
) -> Verification:
    options = record["options"]
    missing = [name for name in options["given"] if besides[name] is None]
    if missing:
        named = " and ".join(f"--{name}" for name in missing)
        return replace(outcome, unconfirmed=f"The audit was also given {named}: give the same to audit again.")
    if record["waivers"] and policy is None:
        what = "The verdict rests on waivers, which only a policy file can grant: give it with --policy."
        return replace(outcome, unconfirmed=what)
    from tacit.model.people import read_people
    from tacit.reports.record import audit_record
    from tacit.verbs.audit import audit

    try:
        found = audit(
            gathered,
            **besides,
            people=None if options["people"] is None else read_people(options["people"]),
            sa_order=options.get("sa_order", ()),
            withheld=record["adversary"].get("withheld", "at-threshold"),
            policy=policy or Policy(**{name: record["policy"][name] for name in LIMITS}),
            attacks=options["attacks"],
            algorithm=options["algorithm"],
            first_hit=options["first_hit"],
            rebuild=options.get("rebuild", False),
            time_limit=time_limit,
        )
        found = replace(found, signed_by=record.get("signed_by", ""))
        new = _plain(audit_record(found, top=options["top"]) if "headline" in record else found.to_dict(top=options["top"]))
    except TacitError as error:
        return replace(outcome, unconfirmed=f"A new audit did not end: {error}")
    differences = list(_differences(record, new))
    if not differences:
        return replace(outcome, again=True, open=())
    if record["verdict"] != new["verdict"]:
        what = f"audited again, the release is {new['verdict']}, not {record['verdict']}"
    else:
        more = f" and {len(differences) - _SHOWN} more" if len(differences) > _SHOWN else ""
        what = f"audited again, the record differs in {', '.join(differences[:_SHOWN])}{more}"
    is_cut_short = any(attack["status"] == "stopped" or attack["undecided"] for attack in (*record["attacks"], *new["attacks"]))
    if record.get("tool") != new.get("tool") or (is_cut_short and "clean" not in (record["verdict"], new["verdict"])):
        return replace(outcome, unconfirmed=f"{what[0].upper()}{what[1:]}; the time or the version of Tacit may differ.")
    if new["verdict"] == "incomplete" and record["verdict"] == "clean" and time_limit is not None and is_cut_short:
        what = "The time limit was reached before the new audit ended: allow more with --time-limit."
        return replace(outcome, unconfirmed=what)
    return replace(outcome, problems=(*outcome.problems, what))


def _differences(told: Any, new: Any, place: str = "") -> Iterator[str]:
    """Yield differences between records, except rounding of estimates."""
    if isinstance(told, Mapping) and isinstance(new, Mapping):
        for name in dict.fromkeys((*told, *new)):
            if not place and name in _NOT_COMPARED:
                continue
            inner = f"{place}.{name}" if place else name
            if name in told and name in new:
                yield from _differences(told[name], new[name], inner)
            else:
                yield inner
    elif isinstance(told, list) and isinstance(new, list) and len(told) == len(new):
        for index, (one, other) in enumerate(zip(told, new, strict=True)):
            yield from _differences(one, other, f"{place}[{index}]")
    elif isinstance(told, float) and isinstance(new, float):
        if not math.isclose(told, new, rel_tol=1e-6, abs_tol=1e-9):
            yield place
    elif type(told) is not type(new) or told != new:
        yield place
