"""Re-checks the proved findings of an audit with nothing but the published lines and whole-number arithmetic.

It shares no code with the attacks: it reads the record, looks every cited line up in the release, writes the sum of the claimed event out
anew, and compares. Whoever doubts a finding needs to trust these pages only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from tacit.checker_buckets import BucketBook, check_buckets
from tacit.checker_joint import check_joint
from tacit.checker_joint_lines import JointBook
from tacit.checker_rules import Reject as _Reject
from tacit.checker_rules import RuleBook
from tacit.checker_rules_words import check_rules
from tacit.checker_steps import check_steps
from tacit.checker_tables import TableBook, check_table
from tacit.checker_values import check_values
from tacit.errors import InputError
from tacit.model.buckets import Buckets
from tacit.model.knowledge import Fact
from tacit.model.partial import PartialTable
from tacit.model.release import Itemsets, Release
from tacit.model.table import Table

#: A sum over more absent items than this is not re-done.
MOST_ABSENT = 20
#: The attacks whose findings are groups of people.
_OF_GROUPS = ("I01", "I02", "R01", "X01")
#: The attacks whose findings are values of people who are known, and the releases they are about.
_OF_VALUES = {"R03": RuleBook, "B01": BucketBook, "T01": TableBook}


@dataclass(frozen=True, slots=True)
class Verification:
    """How many findings hold, and what is wrong with the others or with the record as a whole."""

    held: int
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether everything holds."""
        return not self.problems

    def to_dict(self) -> dict[str, Any]:
        """The record."""
        return {
            "format": "tacit.verification/1",
            "held": self.held,
            "rejected": len(self.problems),
            "problems": list(self.problems),
        }


class _Unpublished(_Reject):
    """The release does not tell the support of an itemset."""


@dataclass(slots=True)
class _Book:
    """The published lines of one release, by line number and by itemset."""

    release: Itemsets
    by_line: dict[int, tuple[frozenset[str], int, int]] = field(default_factory=dict)
    line_of: dict[frozenset[str], int] = field(default_factory=dict)
    lines_with: dict[str, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for index in range(len(self.release)):
            items, line = frozenset(self.release.names(index)), self.release.line(index)
            self.by_line[line] = (items, int(self.release.lo[index]), int(self.release.hi[index]))
            self.line_of[items] = line
            for item in items:
                self.lines_with.setdefault(item, []).append(line)

    def place(self, items: frozenset[str]) -> int | str:
        """The line that gives the support of an itemset, or ``"n"`` for everybody."""
        if not items:
            return "n"
        if items in self.line_of:
            return self.line_of[items]
        if self.release.only == "closed" and self.release.header.complete:
            rarest = min((self.lines_with.get(item, []) for item in items), key=len)
            above = [line for line in rarest if items <= self.by_line[line][0]]
            if above:
                return max(above, key=lambda line: (self.by_line[line][2], -line))
        raise _Unpublished("the support of an itemset in its sum does not follow from the release")

    def was_looked_for(self, items: frozenset[str]) -> bool:
        """Whether an itemset would be listed if it were frequent: where coarser values are items, only one item of each column is."""
        if not self.release.header.coarser:
            return True
        columns = dict(zip(self.release.items.names, self.release.items.pairs or (), strict=False))
        named = [columns[item][0] for item in items if item in columns]
        return len(named) == len(items) == len(set(named))

    def bounds(self, place: int | str) -> tuple[int, int]:
        """What the release prints at a place."""
        if place == "n":
            if self.release.n is None:
                raise _Reject("it uses the number of people, which the release does not tell")
            return self.release.n, self.release.n
        if place == "min_support" and self.release.min_support is not None:
            return self.release.min_support, self.release.min_support
        if place not in self.by_line:
            raise _Reject(f"it cites line {place}, which holds no itemset")
        return self.by_line[int(place)][1:]


def check_audit(
    record: Mapping[str, Any],
    releases: Sequence[Release],
    *,
    known: Table | None = None,
    knowledge: Sequence[Fact] | None = None,
) -> Verification:
    """Re-check every proved finding of an audit record against the releases it is about.

    Findings about sensitive values count known people; without ``known`` their numbers are taken from the record. Facts that findings about
    bucketized releases rest on are compared with ``knowledge``; without it, they are taken from the record.
    """
    try:
        return _check(record, releases, known, knowledge)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError):
        remedy = "Give the file that `tacit audit --json` wrote"
        raise InputError("the record lacks something that every audit holds", where="the audit", remedy=remedy) from None


def _check(
    record: Mapping[str, Any], releases: Sequence[Release], known: Table | None, knowledge: Sequence[Fact] | None
) -> Verification:
    if record["format"] != "tacit.audit/1":
        raise InputError("is not an audit of a version that can be checked", where="the audit", remedy="Audit the release again")
    if len(record["release"]) != len(releases):
        return Verification(0, (f"the audit is about {len(record['release'])} releases, {len(releases)} are given",))
    problems = _same_releases(record, releases) + _totals(record)
    books = [_book(release) for release in releases]
    claims = {attack["code"]: attack["claim"] for attack in record["attacks"]}
    held, together = 0, None
    for finding in record["findings"]:
        if claims.get(finding["code"]) == "estimates":
            continue
        try:
            if finding["code"] == "X01":
                _check_id(finding)
                together = together or JointBook(releases, record["adversary"]["people"])
                check_joint(finding, together, int(record["policy"]["k"]))
                _check_sentence(finding)
            elif finding["code"] in _OF_VALUES:
                _check_id(finding)
                owner = {citation["release"] for citation in finding["because"]} or {0}
                book, least = books[owner.pop()], int(record["policy"]["l"])
                if owner or not isinstance(book, _OF_VALUES[finding["code"]]):
                    raise _Reject("it cites no lines of one release of its kind")
                if isinstance(book, TableBook):
                    check_table(finding, book, record["policy"])
                elif isinstance(book, BucketBook):
                    check_buckets(finding, book, least, knowledge)
                elif isinstance(book, RuleBook):
                    check_values(finding, book, least, known)
            else:
                _check_finding(finding, books, int(record["policy"]["k"]))
            held += 1
        except _Reject as why:
            problems.append(f"{finding['id']}: {why}")
    return Verification(held, tuple(problems))


def _book(release: Release) -> _Book | RuleBook | BucketBook | TableBook:
    """The published lines of a release, to be looked up."""
    if isinstance(release, PartialTable):
        return TableBook(release)
    if isinstance(release, Buckets):
        return BucketBook(release)
    return _Book(release) if isinstance(release, Itemsets) else RuleBook(release)


def _same_releases(record: Mapping[str, Any], releases: Sequence[Release]) -> list[str]:
    """What differs between the releases of the record and those at hand."""
    problems = []
    for index, (entry, release) in enumerate(zip(record["release"], releases, strict=True)):
        mine = release.source.sha256 if release.source else ""
        if entry["kind"] != release.kind or (entry.get("sha256") and entry["sha256"] != mine):
            problems.append(f"release {index} is not the file that was audited")
        if entry["n"] != release.n:
            problems.append(f"release {index} is about another number of people")
    return problems


def _totals(record: Mapping[str, Any]) -> list[str]:
    """What does not fit together in the record's verdict and totals."""
    problems = []
    proved = {attack["code"]: attack["findings"] for attack in record["attacks"] if attack["claim"] == "proves"}
    ended = [attack for attack in record["attacks"] if attack["status"] != "not-relevant"]
    decided = bool(ended) and all(attack["status"] == "ran" and not attack["undecided"] for attack in ended)
    expected = "exposed" if any(attack["findings"] for attack in record["attacks"]) else "clean" if decided else "incomplete"
    if record["verdict"] != expected:
        problems.append(f"the verdict does not fit the attacks: they make it {expected}")
    ids = [finding["id"] for finding in record["findings"]]
    if len(set(ids)) != len(ids):
        problems.append("a finding is listed twice")
    for code, total in proved.items():
        listed = sum(finding["code"] == code for finding in record["findings"])
        if listed > total or (total and not ids):
            problems.append(f"{code}: {total} findings are claimed, {listed} are listed")
    ones = sum(finding["count"] == [1, 1] and finding["code"] in _OF_GROUPS for finding in record["findings"])
    if ones > record["measures"].get("groups_of_one", ones):
        problems.append("more findings about one person are listed than the measures say")
    return problems


def _check_id(finding: Mapping[str, Any]) -> None:
    """A finding is named after its event."""
    of_one = finding["because"] if finding["code"] != "X01" else []
    release = [of_one[0]["release"]] if of_one and of_one[0]["release"] else []
    text = json.dumps([finding["code"], finding["event"], *release], ensure_ascii=False, sort_keys=True)
    if finding["id"] != f"{finding['code']}-{hashlib.sha256(text.encode()).hexdigest()[:12]}":
        raise _Reject("its id is not that of its event")


def _check_finding(finding: Mapping[str, Any], books: Sequence[_Book | RuleBook | BucketBook | TableBook], k: int) -> None:
    """Redo one finding about items: its id, the lines it cites, its arithmetic, its words."""
    present, absent = frozenset(finding["event"]["present"]), frozenset(finding["event"]["absent"])
    _check_id(finding)
    owners = {citation["release"] for citation in finding["because"]}
    if len(owners) != 1:
        raise _Reject("it cites no lines of one release")
    book = books[owners.pop()]
    if isinstance(book, BucketBook | TableBook):
        raise _Reject(f"there is no way to check {finding['code']} of a release of this kind")
    if present & absent or len(absent) > MOST_ABSENT:
        raise _Reject("its event is empty or too long to check")
    cited = {citation.get("line", citation.get("cell")): citation for citation in finding["because"]}
    for place, citation in cited.items():
        if tuple(citation["count"]) != book.bounds(place):
            raise _Reject(f"the release prints another count at {place}")
    if isinstance(book, _Book):
        lo, hi = _derived(finding["code"], book, present, absent, cited)
    elif finding["code"] == "R01":
        lo, hi = check_rules(finding, book, list(cited))
    else:
        raise _Reject(f"there is no way to check {finding['code']}")
    claimed_lo, claimed_hi = finding["count"]
    if not claimed_lo <= lo <= hi <= claimed_hi:
        raise _Reject(f"its lines give {lo} to {hi}, not {claimed_lo} to {claimed_hi}")
    if not 0 < claimed_lo <= claimed_hi < k:
        raise _Reject(f"its group is not one of 1 to {k - 1} people")
    _check_sentence(finding)
    if isinstance(book, _Book):
        check_steps(finding["steps"], book.bounds)


def _derived(
    code: str, book: _Book, present: frozenset[str], absent: frozenset[str], cited: Mapping[Any, Any]
) -> tuple[int, int]:
    """Bounds on the number of people in an event, as this attack may conclude them from the lines it cites."""
    if code == "I01":
        weights = _weights(book, present, absent)
        if {place: citation.get("weight") for place, citation in cited.items()} != weights:
            raise _Reject("the lines it cites are not those of its sum")
        # Bounds are added support by support: two rounded supports that share a line need not be equal, so they do not cancel.
        extras = _subsets(absent)
        return _signed(
            [(-1) ** len(extra) for extra in extras], [book.bounds(book.place(present.union(extra))) for extra in extras]
        )
    if code == "I02":
        if not book.release.header.complete:
            raise _Reject("it needs a complete list, and the release is none")
        if book.release.only == "maximal":
            return _behind_maximal(book, present, absent, cited)
        used: set[int | str] = {"min_support"}
        known: dict[frozenset[str], tuple[int, int]] = {}
        bounds = [_deduced(book, present.union(extra), known, used) for extra in _subsets(absent)]
        if used != set(cited):
            raise _Reject("the lines it cites are not those of its derivation")
        return _signed([(-1) ** len(extra) for extra in _subsets(absent)], bounds)
    raise _Reject(f"there is no way to check {code}")


def _behind_maximal(book: _Book, present: frozenset[str], absent: frozenset[str], cited: Mapping[Any, Any]) -> tuple[int, int]:
    """Bounds on people who lack an item, or who have two lines, from two maximal itemsets: what no line holds is below the threshold."""
    lines = [place for place in cited if isinstance(place, int)]
    if set(cited) != {"n", "min_support", *lines} or len(lines) != 2 or len(absent) > 1:
        raise _Reject("the lines it cites are not those of its derivation")
    n, most = book.bounds("n")[0], book.bounds("min_support")[0] - 1
    one, two = (book.by_line[line] for line in sorted(lines, key=lambda line: bool(absent & book.by_line[line][0])))
    together = one[0] | (absent or two[0])
    if any(together <= items for items, _, _ in book.by_line.values()):
        raise _Reject("a line holds its items together")
    if not absent and present == together:
        return one[1] + two[1] - n, most
    if not absent <= two[0] or present not in (one[0], frozenset()):
        raise _Reject("the lines it cites are not those of its derivation")
    fewest = n - two[1]
    return one[1] - most, min(one[2], fewest) if present else fewest


def _subsets(items: frozenset[str]) -> list[tuple[str, ...]]:
    """All subsets, smaller ones first."""
    return [extra for size in range(len(items) + 1) for extra in combinations(sorted(items), size)]


def _signed(weights: Iterable[int], bounds: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The bounds of a weighted sum."""
    lo = hi = 0
    for weight, (low, high) in zip(weights, bounds, strict=True):
        lo += weight * (low if weight > 0 else high)
        hi += weight * (high if weight > 0 else low)
    return lo, hi


def _deduced(
    book: _Book, items: frozenset[str], known: dict[frozenset[str], tuple[int, int]], used: set[int | str]
) -> tuple[int, int]:
    """Bounds on a support: as published, or because an unpublished itemset lies below the threshold and no group is negative."""
    if items in known:
        return known[items]
    try:
        place = book.place(items)
        used.add(place)
        known[items] = book.bounds(place)
        return known[items]
    except _Unpublished:
        pass
    if len(items) > MOST_ABSENT // 2 + 6:
        raise _Reject("its itemset is too long to check")
    if not book.was_looked_for(items):
        raise _Reject("an itemset with two items of one column is never listed, so that it is missing says nothing")
    lo, hi = 0, (book.release.min_support or 1) - 1
    for part in map(frozenset, _subsets(items)):
        if part == items or (not part and book.release.n is None):
            continue
        others = [extra for extra in _subsets(items - part) if part.union(extra) != items]
        bounds = [_deduced(book, part.union(extra), known, used) for extra in others]
        # The group "all of part, nothing else of items" is this sum plus or minus the unknown support, and not negative.
        _, most = _signed([(-1) ** len(extra) for extra in others], bounds)
        if len(items - part) % 2:
            hi = min(hi, most)
        else:
            lo = max(lo, -most)
    if lo > hi:
        raise _Reject("the published counts contradict each other")
    known[items] = (lo, hi)
    return lo, hi


def _weights(book: _Book, present: frozenset[str], absent: frozenset[str]) -> dict[int | str, int]:
    """How often each line enters "all of present, none of absent", by inclusion-exclusion."""
    weights: dict[int | str, int] = {}
    for extra in _subsets(absent):
        place = book.place(present.union(extra))
        weights[place] = weights.get(place, 0) + (-1) ** len(extra)
    return {place: weight for place, weight in weights.items() if weight}


def _check_sentence(finding: Mapping[str, Any]) -> None:
    """The sentence must name the number and every item."""
    lo, hi = finding["count"]
    number = f"{lo:,}" if lo == hi else f"{lo:,} to {hi:,}"
    named = finding["event"]["present"] + finding["event"]["absent"] + finding["event"].get("not_all", [])
    if not finding["statement"].startswith(f"{number} pe") or any(item not in finding["statement"] for item in named):
        raise _Reject("its sentence does not say what its event and count say")
