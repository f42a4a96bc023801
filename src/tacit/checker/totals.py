"""Checks of a record's totals, policy, waivers and releases."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tacit.checker.known import is_about_known
from tacit.model.audit import described
from tacit.model.frequencies import FrequencyTable
from tacit.model.policy import LIMITS
from tacit.model.release import Header, Listed, Release

#: Every attack: its name, and whether it proves what it finds.
ATTACKS = {
    "I01": ("inference-channels", "proves"),
    "I02": ("unpublished-itemsets", "proves"),
    "R01": ("rule-exceptions", "proves"),
    "R02": ("sensitive-values", "estimates"),
    "R03": ("certain-values", "proves"),
    "B01": ("valid-values", "proves"),
    "B02": ("equally-likely", "estimates"),
    "B03": ("surviving-correlations", "estimates"),
    "T01": ("rules-about-blanks", "proves"),
    "T02": ("what-blanks-say", "estimates"),
    "T03": ("small-classes", "proves"),
    "X01": ("joint-releases", "proves"),
}
#: The attacks that estimate: their findings are probabilities, and nobody can prove them.
ESTIMATING = frozenset(code for code, (_, claim) in ATTACKS.items() if claim == "estimates")
OF_GROUPS = ("I01", "I02", "R01", "X01")  #: The attacks whose findings are groups of people.

Record = Mapping[str, Any]


def check_releases(record: Record, releases: Sequence[Release]) -> list[str]:
    """Return differences between recorded and given releases."""
    problems: list[str] = []
    for entry, release in zip(record["release"], releases, strict=True):
        mine = described(release)
        name = mine["file"] or "a release"
        other = [key for key in {**mine, **entry} if key not in entry or key not in mine or entry[key] != mine[key]]
        if not other:
            continue
        if "sha256" in other:
            problems.append(other_file(name, mine["sha256"], entry.get("sha256")))
        elif "header_sha256" in other:
            problems.append(other_header(name, mine["header_sha256"], entry.get("header_sha256")))
        else:
            problems.append(f"{name}: the record says something else about it ({', '.join(sorted(other))})")
    return problems


def other_file(name: str, mine: Any, audited: Any) -> str:
    """Return the sentence about a file that differs."""
    return f"{name}: this is not the file that was audited ({_digests(mine, audited)}). Give the audited file."


def other_header(name: str, mine: Any, audited: Any) -> str:
    """Return the sentence about a header that differs."""
    if not audited or not mine:
        what = "had no header file when it was audited, and has one now" if mine else "had a header file when it was audited"
        return f"{name}: {what}. Give the audited files."
    return f"{name}: its header is not the one that was audited ({_digests(mine, audited)}). Give the audited files."


def _digests(*digests: Any) -> str:
    mine, audited = (f"{str(digest)[:12]}.." if digest else "none" for digest in digests)
    return f"SHA-256 {audited} there, {mine} here"


def other_order(name: str, place: int, audited: int) -> str:
    """Return the sentence about an audited file in another place, both from 0."""
    return (
        f"{name}: this is release {audited + 1} of the audit, given as release {place + 1}. Give the files in the audited order."
    )


def check_adversary(record: Record, releases: Sequence[Release]) -> list[str]:
    """Return contradictions about the adversary."""
    told = record["adversary"]
    problems = []
    facts = [_KNOWN[release.kind](release) for release in releases]
    knows = ("n", "that_the_list_is_complete", "all_values", "who_is_in_which_group", "the_order_of_rules")
    for name in (*(f"knows_{what}" for what in knows), "rounding", "made_by"):
        values = [one.get(name) for one in facts]
        same = values[0] if all(value == values[0] for value in values) else None
        if told.get(name) != same:
            problems.append(f"the adversary: {name} is not what the releases say")
    if told.get("knows_no_value_is_negative") != next((True for one in facts if "knows_no_value_is_negative" in one), None):
        problems.append("the adversary: knows_no_value_is_negative is not what the releases say")
    if record["options"]["people"] not in (None, told.get("people")):
        problems.append("the adversary: other people are declared than in the options")
    return problems


def _known_of_table(release: FrequencyTable) -> dict[str, Any]:
    header = release.header
    rounding = {} if release.printing.base is None else {"rounding": release.printing.rounding}
    numbers = {"knows_no_value_is_negative": True} if release.numbers else {}
    return {"knows_n": header.n is not None, "knows_all_values": header.complete} | rounding | numbers | _made_by(header)


def _known_of_list(release: Listed) -> dict[str, Any]:
    header = release.header
    complete: dict[str, Any] = {"knows_that_the_list_is_complete": header.complete, "rounding": header.rounding}
    if header.first_match is not None:
        complete["knows_the_order_of_rules"] = True
    return {"knows_n": header.n is not None} | complete | _made_by(header)


def _made_by(header: Header) -> dict[str, Any]:
    return {"made_by": [one.to_dict() for one in header.made_by]} if header.made_by else {}


#: Knowledge of an adversary who sees a release, by its kind.
_KNOWN: Mapping[str, Callable[[Any], dict[str, Any]]] = {
    "itemsets": _known_of_list,
    "rules": _known_of_list,
    "buckets": lambda _: {"knows_n": True, "knows_who_is_in_which_group": True},
    "table": lambda _: {"knows_n": True},
    "frequencies": _known_of_table,
}


def check_totals(record: Record) -> list[str]:
    """Return contradictions within a record."""
    problems = [*_attacks(record)]
    policy = record["policy"]
    if policy["safe_threshold"] != policy["k"]:
        problems.append("the policy: safe_threshold is not k")
    for name, default in LIMITS.items():
        if record["policy_from"][name] == "default" and policy[name] != default:
            problems.append(f"the policy: {name} is not its default, and nobody is said to have set it")
    problems += _waivers(record)
    ended = [attack for attack in record["attacks"] if attack["status"] != "not-relevant"]
    decided = bool(ended) and all(attack["status"] == "ran" and not attack["undecided"] for attack in ended)
    exposed = any(attack["findings"] > attack["waived"] for attack in record["attacks"])
    expected = "exposed" if exposed else "clean" if decided and not record.get("not_read") else "incomplete"
    if record["verdict"] != expected:
        problems.append(f"the verdict does not fit the attacks: they make it {expected}")
    ids = [finding["id"] for finding in record["findings"]]
    if len(set(ids)) != len(ids):
        problems.append("a finding is listed twice")
    if len(ids) > record["options"]["top"]:
        problems.append("more findings are listed than were asked for")
    listed = Counter(finding["code"] for finding in record["findings"])
    for attack in record["attacks"]:
        code = attack["code"]
        total = attack["findings"]
        if listed[code] > total or (total and not ids and record["options"]["top"]):
            problems.append(f"{code}: {total} findings are claimed, {listed[code]} are listed")
    if unknown := set(listed) - {attack["code"] for attack in record["attacks"]}:
        problems.append(f"findings of {', '.join(sorted(unknown))} are listed, which is not among the attacks")
    groups = [finding for finding in record["findings"] if finding["code"] in OF_GROUPS and not is_about_known(finding)]
    ones = sum(finding["count"] == [1, 1] for finding in groups)
    if ones > (record["measures"].get("groups_of_one") or 0):
        problems.append("more findings about one person are listed than the measures say")
    return problems


def _attacks(record: Record) -> Iterator[str]:
    if [attack["code"] for attack in record["attacks"]] != list(ATTACKS):
        yield "the attacks are not those that every audit lists"
    asked = record["options"]["attacks"]
    for attack in record["attacks"]:
        code = attack["code"]
        status = attack["status"]
        if (attack["name"], attack["claim"]) != ATTACKS.get(code):
            yield f"{code}: it has another name, or the record claims that it {attack['claim']}"
        if status in ("not-relevant", "not-asked") and (attack["findings"] or attack["undecided"] or attack["people"]):
            yield f"{code}: it did not run, and has findings"
        if asked is not None and code not in asked and status not in ("not-relevant", "not-asked"):
            yield f"{code}: it ran, and was not asked for"
        if status == "not-asked" and (asked is None or code in asked):
            yield f"{code}: it is said not to be asked for, and the options ask for it"
        if attack["waived"] > attack["findings"] or bool(attack["findings"]) < bool(attack["people"]):
            yield f"{code}: its totals do not fit each other"


def _waivers(record: Record) -> Iterator[str]:
    accepted = sum(attack["waived"] for attack in record["attacks"])
    waivers = [waiver for waiver in record["waivers"] if waiver["status"] == "applied"]
    read = [entry["sha256"] for entry in record["release"]]
    if any(waiver["release"] and not all(one in waiver["release"] for one in read) for waiver in waivers):
        yield "a waiver is applied to releases that it was not given for"
    if any((waiver["status"] == "applied") != (waiver["findings"] > 0) for waiver in record["waivers"]):
        yield "a waiver is applied to no finding, or one that is not applied has findings"
    if accepted != sum(waiver["findings"] for waiver in waivers):
        yield "other findings are counted as waived than the waivers are about"
    marked = [finding for finding in record["findings"] if "waived" in finding]
    if len(marked) > accepted or not all(any(_is_about(waiver, finding) for waiver in waivers) for finding in marked):
        yield "a finding is marked as waived, and no waiver is about it"
    if any(_is_about(waiver, finding) for waiver in waivers for finding in record["findings"] if "waived" not in finding):
        yield "a waiver is about a finding that is not marked as waived"
    for attack in record["attacks"]:
        code = attack["code"]
        if attack["waived"] > sum(waiver["findings"] for waiver in waivers if _code_of(waiver) in (None, code)):
            yield f"{code}: more findings are counted as waived than waivers of this attack accept"
        left = sum(finding["code"] == code and "waived" not in finding for finding in record["findings"])
        if attack["waived"] + left > attack["findings"]:
            yield f"{code}: more findings are counted as waived than there are apart from those listed"


def _code_of(waiver: Mapping[str, Any]) -> str | None:
    return waiver["finding"].partition("-")[0] if "finding" in waiver else waiver.get("attack")


def _is_about(waiver: Mapping[str, Any], finding: Mapping[str, Any]) -> bool:
    if "waived" in finding and (waiver["name"], waiver["reason"]) != (finding["waived"]["name"], finding["waived"]["reason"]):
        return False
    if "items" in waiver:
        return _is_pattern_of(waiver, finding)
    if waiver["people"] != finding["count"]:
        return False
    if "finding" in waiver:
        return bool(waiver["finding"] == finding["id"])
    told = {name: sorted(values, key=str) for name, values in finding["event"].items() if values}
    return bool(told == waiver["event"])


def _is_pattern_of(waiver: Mapping[str, Any], finding: Mapping[str, Any]) -> bool:
    """Tell if a pattern covers all that a finding mentions, and its people."""
    lo, hi = finding["count"]
    if waiver["attack"] not in (None, finding["code"]) or lo < waiver["people"][0] or hi > waiver["people"][1]:
        return False
    event = finding["event"]
    if {"present", "absent"} <= set(event):
        if set(event) & {"inside", "outside", "changes"}:
            return False
        items = [*event["present"], *event["absent"], *event.get("not_all", ())]
        parts = [(item.split("=")[0] if "=" in item else "", item) for item in items]
    else:
        parts = [(column, f"{column}={value}") for column, values in event.items() for value in values]
    by_column = [_expression(one) for one in waiver["columns"]]
    by_item = [_expression(one) for one in waiver["items"]]
    named = []
    for column, item in parts:
        is_column = bool(column) and any(one.match(column) for one in by_column)
        named.append(is_column or any(one.match(item) for one in by_item))
    return bool(named) and all(named)


def _expression(glob: str) -> re.Pattern[str]:
    """Return the expression of a text in which ``*`` stands for any text."""
    return re.compile(rf"\A{re.escape(glob).replace(re.escape('*'), '.*')}\Z", re.DOTALL)
