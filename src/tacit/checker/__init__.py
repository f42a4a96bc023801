"""Independent check of proved findings from published lines.

It shares no code with the attacks: it reads the record, looks every cited line up in the release, writes the sum of the claimed event out
anew, and compares. Whoever doubts a finding needs to trust these pages only.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from tacit.checker.buckets import BucketBook, check_buckets
from tacit.checker.itemsets import ItemsetBook, check_itemset_words, check_itemsets
from tacit.checker.joint import check_full_group, check_joint, is_about_groups
from tacit.checker.known import KnownBook, check_known, is_about_known
from tacit.checker.lines import JointBook
from tacit.checker.partial import TableBook, check_table
from tacit.checker.rules import Reject, RuleBook
from tacit.checker.schema import Wrong, check_carried, check_claim, check_format, check_schema
from tacit.checker.totals import ESTIMATING, check_adversary, check_releases, check_totals
from tacit.checker.values import check_values
from tacit.checker.words import (
    check_every_way_words,
    check_joint_words,
    check_rule_citations,
    check_rules,
    check_statement,
    population_names,
)
from tacit.checker.worlds import check_worlds
from tacit.errors import InputError, InternalError
from tacit.model.buckets import Buckets
from tacit.model.frequencies import FrequencyTable
from tacit.model.knowledge import Fact
from tacit.model.measures import Verification
from tacit.model.partial import PartialTable
from tacit.model.release import Itemsets, Release, Rules
from tacit.model.table import Table

__all__ = ["Verification", "check_audit", "check_record"]

#: The attacks whose findings are values of people who are known, and the releases they are about.
_OF_VALUES = {"R03": RuleBook, "B01": BucketBook, "T01": TableBook}

Book = ItemsetBook | RuleBook | BucketBook | TableBook


def check_audit(
    record: Mapping[str, Any],
    releases: Sequence[Release],
    *,
    known: Table | None = None,
    knowledge: Sequence[Fact] | None = None,
    names: Sequence[str] | None = None,
) -> Verification:
    """Re-check every proved finding of an audit record.

    Findings about sensitive values count known people; without ``known`` their numbers are taken from the record. Facts that findings about
    bucketized releases rest on are compared with ``knowledge``; without it, they are taken from the record. ``names`` are those of the groups of
    people that releases are about, by default their files.
    """
    check_record(record)
    if len(record["release"]) != len(releases):
        return Verification(0, (f"the audit is about {len(record['release'])} releases, {len(releases)} are given",))
    problems = check_releases(record, releases) + check_adversary(record, releases) + check_totals(record)
    shelf = _Shelf(record, releases, known, knowledge, names)
    listed: Counter[str] = Counter()
    holding: Counter[str] = Counter()
    estimates: Counter[str] = Counter()
    for finding in record["findings"]:
        code = finding["code"]
        if code in ESTIMATING:
            estimates[code] += 1
            continue
        listed[code] += 1
        try:
            _check_id(finding)
            check_carried(finding)
            shelf.check(finding)
            check_claim(finding)
            holding[code] += 1
        except Reject as why:
            problems.append(f"{finding['id']}: {why}")
        except (
            InternalError,
            KeyError,
            TypeError,
            AttributeError,
            IndexError,
            ValueError,
            StopIteration,
            ArithmeticError,
            RecursionError,
        ):
            problems.append(f"{finding['id']}: its proof cannot be read")
    return Verification(holding.total(), tuple(problems), listed, holding, estimates)


def check_record(record: Mapping[str, Any]) -> None:
    """Refuse anything but the record of an audit."""
    if record.get("format") != "tacit.audit/1":
        raise InputError("is not an audit of a version that can be checked", where="the audit", remedy="Audit the release again")
    if record.get("report_kind") == "external":
        raise InputError("holds counts only, which nobody can check", where="the audit", remedy="Give the internal record")
    try:
        check_schema(record)
    except Wrong as wrong:
        remedy = "Give the file that `tacit audit --json` wrote, by the same version of Tacit"
        raise InputError(f"is not as an audit writes it: {wrong}", where="the audit", remedy=remedy) from None
    for finding in record["findings"]:
        check_format(finding)


class _Shelf:
    """Releases of an audit, each opened on first use."""

    def __init__(
        self,
        record: Mapping[str, Any],
        releases: Sequence[Release],
        known: Table | None,
        knowledge: Sequence[Fact] | None,
        names: Sequence[str] | None,
    ) -> None:
        self._record = record
        self._releases = releases
        self._known = known
        self._knowledge = knowledge
        self._names = names or population_names(releases, record["adversary"].get("population", ()))
        self._books: dict[int, Book] = {}
        self._fitting: dict[str, Any] = {}

    @cached_property
    def _together(self) -> JointBook:
        adversary = self._record["adversary"]
        book = JointBook(self._releases, adversary["people"], adversary.get("population", ()))
        book.facts = self._knowledge
        return book

    @cached_property
    def _people(self) -> KnownBook:
        declared = self._record["adversary"].get("people", "same")
        return KnownBook(self._releases, self._known, self._knowledge, declared)

    def check(self, finding: Mapping[str, Any]) -> None:
        code = finding["code"]
        policy = self._record["policy"]
        if is_about_known(finding):
            check_known(finding, self._people, int(policy["l"]))
        elif code == "R03" and is_about_groups(finding):
            check_full_group(finding, self._releases, self._record["adversary"].get("people", ""), int(policy["l"]))
        elif code == "X01" and "worlds" in finding["certificate"]:
            self._check_every_way(finding, int(policy["k"]))
            check_every_way_words(finding, self._releases[0].n)
        elif code == "X01":
            check_joint(finding, self._together, int(policy["k"]))
            check_joint_words(finding, self._together, self._names)
        elif code in _OF_VALUES:
            self._check_value(finding, policy)
        else:
            _check_group(finding, self._book(finding), int(policy["k"]))

    def _check_every_way(self, finding: Mapping[str, Any], k: int) -> None:
        tables = [release for release in self._releases if isinstance(release, FrequencyTable)]
        people = {self._record["adversary"].get("people"), finding["certificate"]["people"]}
        if len(tables) < len(self._releases) or people != {"same"}:
            raise Reject("it tries all people of tables, and there are other releases or other people")
        check_worlds(finding, tables, k, self._fitting)

    def _check_value(self, finding: Mapping[str, Any], policy: Mapping[str, Any]) -> None:
        book = self._book(finding)
        if not isinstance(book, _OF_VALUES[finding["code"]]):
            raise Reject("it cites no lines of one release of its kind")
        if isinstance(book, TableBook):
            check_table(finding, book, policy)
        elif isinstance(book, BucketBook):
            check_buckets(finding, book, int(policy["l"]), self._knowledge)
        elif isinstance(book, RuleBook):
            check_values(finding, book, int(policy["l"]), self._known)

    def _book(self, finding: Mapping[str, Any]) -> Book:
        owners = {citation["release"] for citation in finding["because"]}
        if len(owners) > 1 or not owners <= set(range(len(self._releases))):
            raise Reject("it cites no lines of one release")
        owner = owners.pop() if owners else 0
        if owner not in self._books:
            self._books[owner] = _opened(self._releases[owner])
        return self._books[owner]


def _opened(release: Release) -> Book:
    if isinstance(release, PartialTable):
        return TableBook(release)
    if isinstance(release, Buckets):
        return BucketBook(release)
    if isinstance(release, Itemsets):
        return ItemsetBook(release)
    if isinstance(release, Rules):
        return RuleBook(release)
    raise Reject("there is no way to check it by a release of this kind alone")


def _check_id(finding: Mapping[str, Any]) -> None:
    of_one = finding["because"] if finding["code"] != "X01" and "people" not in (finding.get("certificate") or {}) else []
    release = [of_one[0]["release"]] if of_one and of_one[0]["release"] else []
    text = json.dumps([finding["code"], finding["event"], *release], ensure_ascii=False, sort_keys=True)
    if finding["id"] != f"{finding['code']}-{hashlib.sha256(text.encode()).hexdigest()[:12]}":
        raise Reject("its id is not that of its event")


def _check_group(finding: Mapping[str, Any], book: Book, k: int) -> None:
    if isinstance(book, BucketBook | TableBook) or not finding["because"]:
        raise Reject("it cites no lines of one release of its kind")
    cited = {citation.get("line", citation.get("cell")): citation for citation in finding["because"]}
    for place, citation in cited.items():
        if tuple(citation["count"]) != book.bounds(place):
            raise Reject(f"the release prints another count at {place}")
    if isinstance(book, ItemsetBook):
        lo, hi = check_itemsets(finding, book, cited)
    elif finding["code"] == "R01":
        lo, hi = check_rules(finding, book, list(cited))
    else:
        raise Reject(f"there is no way to check {finding['code']}")
    claimed_lo, claimed_hi = finding["count"]
    if not claimed_lo <= lo <= hi <= claimed_hi:
        raise Reject(f"its lines give {lo} to {hi}, not {claimed_lo} to {claimed_hi}")
    if not 0 < claimed_lo <= claimed_hi < k:
        raise Reject(f"its group is not one of 1 to {k - 1} people")
    check_statement(finding, ())
    if isinstance(book, ItemsetBook):
        check_itemset_words(finding, book)
    else:
        check_rule_citations(finding["because"], book)
