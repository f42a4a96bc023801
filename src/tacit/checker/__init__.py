"""Independent check of proved findings from published lines.

It shares types and wording with the attacks, and no inference: it reads the record, looks every cited line up in the release, writes the
sum of the claimed event out again, and compares. Whoever doubts a finding needs to trust these pages only.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from tacit.checker.buckets import BucketBook, check_buckets
from tacit.checker.itemsets import ItemsetBook, check_itemset_words, check_itemsets
from tacit.checker.joint import check_full_group, check_joint, is_about_groups
from tacit.checker.known import KnownBook, check_known, is_about_known
from tacit.checker.lines import JointBook
from tacit.checker.numbers import check_amount, check_extreme
from tacit.checker.partial import TableBook, check_class, check_table
from tacit.checker.rebuilt import check_rebuilt
from tacit.checker.rules import Reject, RuleBook
from tacit.checker.schema import Wrong, check_schema
from tacit.checker.totals import ESTIMATING, check_adversary, check_releases, check_totals
from tacit.checker.values import check_values
from tacit.checker.words import check_joint_words, check_rule_citations, check_rules, check_statement, population_names
from tacit.checker.worlds import Worlds, check_worlds, people_who_fit
from tacit.model.errors import InputError, InternalError
from tacit.model.finding import FORMAT, render_bound
from tacit.model.frequencies import frequency_tables
from tacit.model.knowledge import Fact
from tacit.model.measures import Verification
from tacit.model.numbers import Bound
from tacit.model.release import Release, by_sensitive_column
from tacit.model.table import Table
from tacit.model.words import render_people

__all__ = ["Verification", "check_audit", "check_record"]

_B = TypeVar("_B")
Book = ItemsetBook | RuleBook | BucketBook | TableBook
#: Form in which findings about one release alone are checked, by its kind.
_BOOKS: Mapping[str, Callable[[Any], Book]] = {
    "table": TableBook,
    "buckets": BucketBook,
    "itemsets": ItemsetBook,
    "rules": RuleBook,
}
#: Raised by a proof that is not written as an audit writes it.
_UNREADABLE = (InternalError, LookupError, TypeError, AttributeError, ValueError, StopIteration, ArithmeticError, RecursionError)


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
        given = "1 is" if len(releases) == 1 else f"{len(releases)} are"
        audited = "1 release" if len(record["release"]) == 1 else f"{len(record['release'])} releases"
        return Verification(0, (f"the audit is about {audited}, and {given} given. Give all of them, in the audited order.",))
    problems = check_releases(record, releases) + check_adversary(record, releases) + check_totals(record)
    names = names or population_names(releases, record["adversary"].get("population", ()))
    shelf = _Shelf(record, releases, known, knowledge, names=names)
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
            shelf.check(finding)
            holding[code] += 1
        except Reject as why:
            problems.append(f"{finding['id']}: {why}")
        except _UNREADABLE:
            problems.append(f"{finding['id']}: its proof cannot be read")
    rebuilt = None
    if "rebuilt" in record or record["options"].get("rebuild"):
        wrong = shelf.rebuilt_problems()
        problems += wrong
        rebuilt = None if wrong or "rebuilt" not in record else int(record["rebuilt"]["people"])
    return Verification(holding.total(), tuple(problems), listed, holding, estimates, rebuilt=rebuilt)


def check_record(record: Mapping[str, Any]) -> None:
    """Refuse anything but the record of an audit."""
    if record.get("format") != "tacit.audit/1":
        raise InputError("is not an audit of a version that can be checked", where="the audit", remedy="Audit the release again")
    if record.get("report_kind") == "external":
        raise InputError("holds counts only, which cannot be checked", where="the audit", remedy="Give the internal record")
    try:
        check_schema(record)
    except Wrong as wrong:
        remedy = "Give the file that `tacit audit --json` wrote, by the same version of Tacit"
        raise InputError(f"is not as an audit writes it: {wrong}", where="the audit", remedy=remedy) from None
    for finding in record["findings"]:
        proof = finding.get("certificate")
        if isinstance(proof, Mapping) and proof.get("format") != FORMAT:
            what = f"holds a certificate of another format than {FORMAT}, so it cannot be judged"
            remedy = "Check it with the version of Tacit that wrote it, or audit the release again"
            raise InputError(what, where="the audit", remedy=remedy)


@dataclass
class _Shelf:
    """Releases of an audit, each opened on first use."""

    record: Mapping[str, Any]
    releases: Sequence[Release]
    known: Table | None
    knowledge: Sequence[Fact] | None
    names: Sequence[str]
    books: dict[int, tuple[Book, ...]] = field(default_factory=dict)

    @cached_property
    def _together(self) -> JointBook:
        adversary = self.record["adversary"]
        return JointBook(self.releases, adversary["people"], adversary.get("population", ()), facts=self.knowledge)

    @cached_property
    def _people(self) -> tuple[KnownBook, ...]:
        people = self.record["adversary"].get("people", "same")
        lists = by_sensitive_column(self.releases).values() or [self.releases]
        return tuple(KnownBook(one, self.known, self.knowledge, people) for one in lists)

    @cached_property
    def _worlds(self) -> Worlds:
        return people_who_fit(frequency_tables(self.releases))

    def check(self, finding: Mapping[str, Any]) -> None:
        _check_id(finding)
        if not isinstance(finding.get("certificate"), Mapping):
            raise Reject("it carries no certificate")
        self._check_proof(finding)
        lo, hi = finding["count"]
        if finding["certificate"].get("claim") != {"event": finding["event"], "at_least": lo, "at_most": hi}:
            raise Reject("its certificate claims something else")

    def rebuilt_problems(self) -> list[str]:
        """Return what is wrong with the people that the record says are rebuilt."""
        has_run = any(one["code"] == "X01" and one["status"] in ("ran", "stopped") for one in self.record["attacks"])
        if "rebuilt" not in self.record:
            return ["it was asked to rebuild people, and does not say how many"] if has_run else []
        if not has_run or not self.record["options"].get("rebuild"):
            return ["it says how many people are rebuilt, and was not asked"]
        try:
            check_rebuilt(self.record, self._together)
        except Reject as why:
            return [f"rebuilt people: {why}"]
        except _UNREADABLE:
            return ["rebuilt people: their proofs cannot be read"]
        return []

    def _check_proof(self, finding: Mapping[str, Any]) -> None:
        code = finding["code"]
        policy = self.record["policy"]
        adversary = self.record["adversary"]
        k = int(policy["k"])
        least = int(policy["l"])
        if is_about_known(finding):
            return _check_by_any(self._people, lambda book: check_known(finding, book, least))
        if code == "R03" and is_about_groups(finding):
            return check_full_group(finding, self.releases, adversary.get("people", ""), least)
        if code == "X01" and "worlds" in finding["certificate"]:
            people = {adversary.get("people"), finding["certificate"]["people"]}
            if people != {"same"} or len(frequency_tables(self.releases)) < len(self.releases):
                raise Reject("it tries all people of tables, and there are other releases or other people")
            return check_worlds(finding, self._worlds, k)
        if code == "X01" and "numbers" in finding["certificate"]:
            return check_amount(finding, self._together, k, self.names)
        if code == "X01" and "extreme" in finding["certificate"]:
            return check_extreme(finding, self._together, k, self.names)
        if code == "X01":
            check_joint(finding, self._together, k)
            return check_joint_words(finding, self._together, self.names)
        return _check_by_any(self._books(finding), lambda book: self._check_alone(finding, book))

    def _check_alone(self, finding: Mapping[str, Any], book: Book) -> None:
        code = finding["code"]
        policy = self.record["policy"]
        least = int(policy["l"])
        if code == "T01" and isinstance(book, TableBook):
            return check_table(finding, book.table, policy)
        if code == "T03" and isinstance(book, TableBook):
            return check_class(finding, book.table, policy)
        if code == "B01" and isinstance(book, BucketBook):
            return check_buckets(finding, book, least, self.knowledge)
        if code == "R03" and isinstance(book, RuleBook):
            return check_values(finding, book, least, self.known)
        if code in ("T01", "T03", "B01", "R03") or isinstance(book, BucketBook | TableBook) or not finding["because"]:
            raise Reject("it cites no lines of one release of its kind")
        return _check_group(finding, book, int(policy["k"]))

    def _books(self, finding: Mapping[str, Any]) -> tuple[Book, ...]:
        owners = {citation["release"] for citation in finding["because"]}
        if len(owners) > 1 or not owners <= set(range(len(self.releases))):
            raise Reject("it cites no lines of one release")
        owner = owners.pop() if owners else 0
        if owner not in self.books:
            release = self.releases[owner]
            opened = _BOOKS.get(release.kind)
            if opened is None:
                raise Reject("there is no way to check it by a release of this kind alone")
            parts = release.by_column() if release.header.marginals else ()
            self.books[owner] = tuple(map(opened, (release, *parts)))
        books = self.books[owner]
        if finding["code"] != "R03":
            return books
        own = [book for book in books if isinstance(book, RuleBook) and book.sensitive in finding["event"]]
        return tuple(own) or books


def _check_by_any(books: Sequence[_B], check: Callable[[_B], None]) -> None:
    """Raise unless a proof holds by a list of rules, or by those about one column."""
    problems: list[Exception] = []
    for book in books:
        try:
            return check(book)
        except (Reject, *_UNREADABLE) as problem:
            problems.append(problem)
    raise next((one for one in problems if isinstance(one, Reject)), problems[0])


def _check_id(finding: Mapping[str, Any]) -> None:
    of_one = finding["because"] if finding["code"] != "X01" and "people" not in (finding.get("certificate") or {}) else []
    release = [of_one[0]["release"]] if of_one and of_one[0]["release"] else []
    text = json.dumps([finding["code"], finding["event"], *release], ensure_ascii=False, sort_keys=True)
    if finding["id"] != f"{finding['code']}-{hashlib.sha256(text.encode()).hexdigest()[:12]}":
        raise Reject("its id is not that of its event")


def _check_group(finding: Mapping[str, Any], book: ItemsetBook | RuleBook, k: int) -> None:
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
        raise Reject(f"its lines give {render_people(Bound(lo, hi))}, not {render_bound(Bound(claimed_lo, claimed_hi))}")
    if not 0 < claimed_lo <= claimed_hi < k:
        raise Reject(f"its group is not one of 1 to {k - 1} people")
    check_statement(finding, ())
    if isinstance(book, ItemsetBook):
        check_itemset_words(finding, book)
    else:
        check_rule_citations(finding["because"], book)
