"""Audits in numbers and sentences for all formats.

External reports name no file, no column, no value and no group.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from shlex import quote
from typing import Any
from urllib.parse import unquote

import numpy as np

from tacit.model.arrays import Ints
from tacit.model.audit import AttackRun, Audit
from tacit.model.finding import Finding, Term, render_amount
from tacit.model.people import Churn, Nested, NotRead, Same, Unknown, read_people
from tacit.model.policy import Level, Waiver
from tacit.model.rebuilt import Rebuilt
from tacit.model.rounding import find_convention
from tacit.reports.document import (
    Command,
    ReportKind,
    Sentence,
    capitalise,
    counted,
    first_sentence,
    format_limit,
    format_number,
    people,
    people_of,
    visible,
)


@dataclass(frozen=True, slots=True)
class KindWords:
    """Words about one kind of release.

    ``line`` is one published entry, ``limits`` the label of what limits the entries. ``finds_groups`` is False where everybody is named
    anyway, ``has_values`` where a sensitive value may be revealed.
    """

    line: str
    limits: str
    finds_groups: bool = True
    has_values: bool = True


KINDS = {
    "itemsets": KindWords("itemset", "Threshold", has_values=False),
    "rules": KindWords("rule", "Threshold"),
    "buckets": KindWords("group", "Groups", finds_groups=False),
    "table": KindWords("row", "Blanks", finds_groups=False),
    "frequencies": KindWords("cell", "Cells"),
}


def signed_amount(term: Term) -> str:
    """Return a term's number as a row of a sum, such as ``- 2 x 40``."""
    return f"{'+' if term.times > 0 else '-'} {render_amount(term).replace(' times', ' x')}"


# The verdict


class Summary:
    """Counts of what an audit found.

    ``groups_of_size[i]`` groups have ``sizes[i]`` people, or at most that many where their number is not exact.
    """

    def __init__(self, audit: Audit) -> None:
        groups = [run for run in audit.runs if run.claim == "proves" and run.finds_groups]
        small: Counter[int] = Counter()
        self.people = 0
        for run in groups:
            small.update(audit.sizes(run))
            fewest = int(run.columns["count"][~run.is_value].max(initial=0)) if run.is_value.any() else run.people
            self.people = max(self.people, fewest)
        # Groups of k people or more are found only where a number of theirs is withheld.
        self.withheld = sum(number for size, number in small.items() if size >= audit.policy.k)
        small = Counter({size: number for size, number in small.items() if size < audit.policy.k})
        values = [run for run in audit.runs if not run.finds_groups]
        found = [run for run in values if audit.counted(run.code)]
        certain = [run.people for run in found if run.claim == "proves"]
        certain += [int(run.columns["count"][run.is_value].sum()) for run in groups if run.is_value.any()]
        self.verdict = audit.verdict
        self.k = audit.policy.k
        self.l = audit.policy.l
        self.findings = sum(run.findings for run in audit.runs)  # waived ones among them: they stay listed
        self.sizes: Ints = np.array(sorted(small), np.int64)
        self.groups_of_size: Ints = np.array([small[size] for size in self.sizes.tolist()], np.int64)
        self.groups = int(self.groups_of_size.sum())
        self.single = int(self.groups_of_size[self.sizes == 1].sum())
        self.attacks_ran = any(run.status in ("ran", "stopped") for run in audit.runs)
        self.certain = max(certain, default=0)
        self.guessed = max((run.people for run in found if run.claim == "estimates"), default=0)
        self.bounded = any(run.claim == "proves" and run.decides for run in values)
        self.finds_groups = finds_groups(audit)
        if judges_classes(audit):
            self.people = audit.attack("T03").people
            self.certain = int(audit.measures["people_certain"])
        self.about_table = _table_sentence(audit) if is_table(audit) else ""
        self.what = "this release" if len(audit.release) == 1 else f"these {len(audit.release)} releases"
        self.waived = len(audit.waived.places)
        self.not_asked = sum(run.status == "not-asked" for run in audit.runs) if audit.asked_verdict == "clean" else 0
        self.unread = len(audit.not_read)

    @property
    def concerned(self) -> int:
        """At least so many different people are in small groups, or have a value that is certain or guessed."""
        return max(self.people, self.certain, self.guessed)

    @property
    def span(self) -> str:
        """Sizes of groups that the policy does not allow."""
        return "1 person" if self.k <= 2 else f"1-{self.k - 1:,} people"

    @property
    def _withholds(self) -> str:
        return "withholds" if self.what.startswith("this ") else "withhold"

    def sentence(self) -> str:
        """Return the verdict in people, with waived findings."""
        said = self.about_table
        if not said:
            said = {"exposed": self._found, "clean": self._clean, "incomplete": self._incomplete}[self.verdict]()
        if self.waived:
            said = said.removesuffix(".").replace("no group", "no other group", 1)
            said += f"; {counted(self.waived, 'finding is', 'findings are')} waived."
        if self.finds_groups and self.k == 1:
            return f"under k = 1, which lets every group pass, {said}"
        if not self.finds_groups and self.l == 1 and not self.about_table:
            return f"under l = 1, which lets every value be known, {said}"
        return said

    @property
    def _concerned(self) -> str:
        return f"at least {counted(self.concerned, 'person is', 'people are')} concerned"

    def _clean(self) -> str:
        kept = f"everybody keeps at least {counted(self.l, 'possible value')}" if self.bounded else ""
        if not self.finds_groups:
            return f"{kept or 'no estimate is too sure'}, by the attacks that ran."
        what = "no group counts as too small" if self.k == 1 else f"no group of {self.span} can be computed from {self.what}"
        return f"{what}{f', and {kept},' if kept else ''} by the attacks that ran."

    def _incomplete(self) -> str:
        why = "nothing was found, but not everything could be decided"
        if not self.attacks_ran:
            why = f"no attack that was run applies to {self.what}, so nothing is known about it"
        elif self.unread:
            what = counted(self.unread, "file or column was", "files or columns were")
            why = f"nothing was found, but {what} not read"
        elif self.not_asked:
            others = "1 more attack applies and was" if self.not_asked == 1 else f"{self.not_asked} more attacks apply and were"
            why = f"the attacks that were asked for found nothing, but {others} not asked for"
        return f"{why}. This is not a pass."

    def _found(self) -> str:
        parts = []
        if self.groups:
            parts.append(f"{counted(self.groups, 'group')} of {self.span} can be computed from {self.what}")
            if self.single:
                of_them = "it is" if self.groups == 1 else f"{counted(self.single, 'of them is', 'of them are')}"
                parts.append(f"{of_them} a single person")
            if self.people and not (self.certain or self.guessed):
                parts.append(self._concerned)
        if self.withheld:
            parts.append(f"{counted(self.withheld, 'number')} that {self.what} {self._withholds} can be computed")
        if self.certain:
            few = f"{counted(self.certain, 'person keeps', 'people keep')} fewer than {self.l} possible values"
            parts.append(f"the sensitive value of {people(self.certain)} is certain" if self.l == 2 else few)
        if self.guessed:
            parts.append(
                f"the sensitive value of {people(self.guessed)} is estimated with a higher probability than the policy allows"
            )
        if self.people and (self.certain or self.guessed):
            parts.append(f"{self._concerned} in all")
        return f"{'; '.join(parts) or counted(self.findings, 'finding')}."


def verdict_lines(audit: Audit, summary: Summary | None = None) -> list[str]:
    """Return the verdict and a line per caution."""
    said = (summary or Summary(audit)).sentence()
    notes = [caution.text for caution in audit.cautions]
    last = [] if audit.rebuilt is None else [f"{rebuilt_line(audit.rebuilt, audit.measures)}."]
    if not notes:
        return [said, *last]
    if audit.verdict != "clean":
        return [said, *(f"Besides, {note}." for note in notes), *last]
    joined = [f"but {notes[0]}", *(f"and {note}" for note in notes[1:])]
    return [f"{said.removesuffix('.')};", *(f"{line};" for line in joined[:-1]), f"{joined[-1]}.", *last]


def rebuilt_line(found: Rebuilt, measures: Mapping[str, Any]) -> str:
    """Return how many people are rebuilt, and how many of them a guess has."""
    said = found.sentence.removesuffix(".")
    guessed = measures.get("people_rebuilt_baseline")
    if not found.people or guessed is None:
        return said
    return f"{said}; a guess from the margins names {format_number(guessed)} of the {found.people:,}"


def headline(audit: Audit) -> str:
    """Return the first sentence of an audit's text."""
    return first_sentence(f"{audit.verdict.upper()}: {' '.join(verdict_lines(audit))}")


def verdict_line(audit: Audit) -> str:
    """Return the verdict and its cautions on one line."""
    said = f"{audit.verdict}: {Summary(audit).sentence().removesuffix('.')}"
    return "; ".join([said, *(f"{'' if number else 'but '}{one.text}" for number, one in enumerate(audit.cautions))])


def finds_groups(audit: Audit) -> bool:
    """Return True if small groups could be found."""
    return any(KINDS[release["kind"]].finds_groups for release in audit.release)


def is_table(audit: Audit) -> bool:
    """Return True if the audit concerns a partial table."""
    return any(release["kind"] == "table" for release in audit.release)


def judges_classes(audit: Audit) -> bool:
    """Return True if the classes of one table were judged (T03)."""
    return len(audit.release) == 1 and any(run.code == "T03" and run.status in ("ran", "stopped") for run in audit.runs)


def _classes_sentence(audit: Audit) -> str:
    """Return the verdict on the people of a table who share their quasi-identifiers."""
    found = audit.measures
    k = audit.policy.k
    least = audit.policy.l
    if audit.verdict == "clean":
        kept = f"who have at least {counted(least, 'sensitive value')}"
        return f"every combination of quasi-identifiers is shared by at least {people(k)}, {kept}."
    parts = []
    if small := int(found["people_below_k"]):
        alone = int(found["people_alone"])
        of_them = "" if not alone else ", in fact with nobody" if alone == small else f", {alone:,} of them with nobody"
        shares = "person shares" if small == 1 else "people share"
        parts.append(f"{small:,} {shares} their quasi-identifiers with fewer than {k - 1:,} others{of_them}")
    if certain := int(found.get("people_certain") or 0):
        parts.append(f"the sensitive value of {people(certain)} is certain, as all with their quasi-identifiers have the same")
    if len(parts) == 2:
        parts.append(f"at least {people(audit.attack('T03').people)} are concerned in all")
    if not parts:
        run = audit.attack("T03")
        parts.append(
            f"the sensitive value of {people(run.people)} can be inferred from their quasi-identifiers beyond the policy's limits"
        )
    return f"{'; '.join(parts)}."


def _table_sentence(audit: Audit) -> str:
    runs = {run.code: run for run in audit.runs if run.status in ("ran", "stopped")}
    if judges_classes(audit) and not ({"T01", "T02"} & set(runs)) and audit.verdict != "incomplete":
        return _classes_sentence(audit)
    if audit.verdict == "clean":
        ways = {"T01": "a rule", "T02": "another reading of the blanks" if "T01" in runs else "a reading of the blanks"}
        used = " or ".join(way for code, way in ways.items() if code in runs)
        return f"no hidden value can be inferred by {used}, by the attacks that ran."
    parts = []
    if (rules := runs.get("T01")) and rules.people:
        parts.append(f"the hidden value of {people(rules.people)} can be inferred by rules")
    if (blanks := runs.get("T02")) and blanks.people:
        other = f"; that of {blanks.people:,} by other readings of the blanks"
        alone = f"the hidden value of {people(blanks.people)} can be inferred from the blanks"
        parts.append(other if parts else alone)
    return f"{''.join(parts)}." if parts and audit.verdict == "exposed" else ""


# The policy

#: Limits of the policy in words.
MEANINGS = {
    "k": "the smallest group that may be computed (safe_threshold)",
    "l": "the fewest sensitive values that must stay possible for each person",
    "max_posterior": "the largest probability that an estimate may give a sensitive value",
    "max_gain": "by how much an estimate may exceed the share among all people",
    "min_confidence": "a rule reveals a blank cell above this confidence",
    "min_support": "... and above this many people",
    "safe_round_base": "the smallest base that a repair rounds counts to",
    "zeros_are_disclosive": "whether frequency tables hide empty cells like small ones",
}
_SET_BY: dict[Level, str] = {
    "option": "an option",
    "data set": "the data set's file",
    "organisation": "the organisation's policy",
    "given": "the caller",
    "default": "default",
}


def limit_rows(audit: Audit) -> list[tuple[str, str, str, str]]:
    """Return every limit: its name, value, origin and meaning."""
    values = audit.policy.to_dict()
    origin = audit.policy.set_by
    return [(name, format_limit(values[name]), _SET_BY[origin[name]], meaning) for name, meaning in MEANINGS.items()]


def policy_sentences(audit: Audit) -> list[str]:
    """Return the applicable limits, one sentence each."""
    policy = audit.policy
    if judges_classes(audit):
        out = [
            f"k = {policy.k:,}: everybody must share their quasi-identifiers with {policy.k - 1:,} others or more{_set_by(audit, 'k')}"
        ]
        kept = counted(policy.l, "sensitive value")
        out.append(f"l = {policy.l:,}: those who share them must have at least {kept}{_set_by(audit, 'l')}")
        if policy.max_posterior is not None:
            limit = f"{policy.max_posterior:g}{_set_by(audit, 'max_posterior')}"
            out.append(f"no sensitive value may have a share above {limit} among those who share them")
        return out
    if is_table(audit):
        limits = policy.to_dict()
        support = counted(limits["min_support"], "record")
        rule = f"no rule may reveal a sensitive cell with a confidence above {limits['min_confidence']:g} and a support above {support}"
        estimate = f"no model may give a sensitive value a probability above {policy.max_posterior or 1:g}"
        return [rule, *([estimate] if policy.max_posterior is not None else [])]
    out = []
    if finds_groups(audit):
        out.append(f"k = {policy.k:,}: no group of fewer than {people(policy.k)} may be computed{_set_by(audit, 'k')}")
    if any(KINDS[release["kind"]].has_values for release in audit.release):
        kept = counted(policy.l, "possible sensitive value")
        out.append(f"l = {policy.l:,}: everybody must keep at least {kept}{_set_by(audit, 'l')}")
        if policy.max_posterior is not None:
            limit = f"{policy.max_posterior:g}{_set_by(audit, 'max_posterior')}"
            out.append(f"no sensitive value may be estimated with a probability above {limit}")
        if policy.max_gain is not None:
            limit = f"{policy.max_gain:g}{_set_by(audit, 'max_gain')}"
            out.append(f"no estimate may exceed the share among all people by more than {limit}")
    return out


def limits_in_force(audit: Audit) -> str:
    """Return the limits that apply, as they are typed."""
    limits = audit.policy.to_dict()
    by_class = judges_classes(audit)
    has_values = any(KINDS[release["kind"]].has_values for release in audit.release)
    names = ["min_confidence", "min_support"] if is_table(audit) and not by_class else []
    names += ["k"] if finds_groups(audit) or by_class else []
    names += ["l"] if by_class or (has_values and not is_table(audit)) else []
    names += [name for name in ("max_posterior", "max_gain") if limits[name] is not None]
    asked = {name: format_limit(value) for name, value in audit.policy.overruled.items()}
    looser = {name: f" (the data set's file asks for {asked[name]}, which is looser and does not count)" for name in asked}
    return ", ".join(f"{name.replace('_', '-')} = {format_limit(limits[name])}{looser.get(name, '')}" for name in names)


def _set_by(audit: Audit, name: str) -> str:
    level = audit.policy.set_by[name]
    if name in audit.policy.overruled:
        asked = format_limit(audit.policy.overruled[name])
        return f" (set by {_SET_BY[level]}; the data set's file asks for {asked}, which is looser and does not count)"
    return "" if level in ("default", "given") else f" (set by {_SET_BY[level]})"


def waivers(audit: Audit, kind: ReportKind) -> list[tuple[str, str, str, str, str]]:
    """Return subject, name, reason, end and outcome of each waiver."""
    out = []
    for place, waiver in enumerate(audit.waived.waivers):
        status, found = audit.waived.status(place)
        outcome = {
            "applied": f"accepts {counted(found, 'finding')}",
            "ended": "has ended, and accepts nothing",
            "undated": "has a last day, and accepts nothing until today's date is given with --date",
            "unmatched": "matches no finding about these people",
        }[status]
        until = waiver.until.isoformat() if waiver.until else "no end"
        if kind == "external":
            out.append(("", waiver.name, "", until, outcome))
            continue
        out.append((_subject(waiver), waiver.name, waiver.reason, until, outcome))
    return out


def _subject(waiver: Waiver) -> str:
    """Return what a waiver is about."""
    if waiver.finding is not None:
        return waiver.finding
    if waiver.event is not None:
        return "; ".join(f"{column}: {', '.join(map(str, values))}" for column, values in waiver.to_dict()["event"].items())
    told = waiver.to_dict()
    fewest, most = told["people"]
    span = people(most) if fewest == most else f"{fewest:,} to {people(most)}"
    parts = [f"{name} {', '.join(told[name])}" for name in ("items", "columns") if told[name]]
    return f"{f'{waiver.attack}, ' if waiver.attack else ''}{' and '.join(parts)}, {span}"


def _it(number: int) -> str:
    return "it" if number == 1 else "them"


def idle_waivers(audit: Audit) -> list[str]:
    """Return why some waivers accept nothing: no date, no finding, or the organisation decides."""
    out = []
    status = Counter(audit.waived.status(place)[0] for place in range(len(audit.waived.waivers)))
    if undated := status["undated"]:
        has = counted(undated, "waiver has a last day and accepts", "waivers have a last day and accept")
        out.append(f"{has} nothing: give --date.")
    if unmatched := status["unmatched"]:
        out.append(f"{counted(unmatched, 'waiver matches', 'waivers match')} no finding (-v lists {_it(unmatched)}).")
    if ended := status["ended"]:
        out.append(f"{counted(ended, 'waiver has', 'waivers have')} ended (-v lists {_it(ended)}).")
    return out + [f"{said}." for said in _overruled_waivers(audit)]


def _overruled_waivers(audit: Audit) -> list[str]:
    number = audit.policy.waivers_overruled
    many = counted(number, "waiver of the data set's file does", "waivers of the data set's file do")
    return [f"{many} not count: the organisation's policy decides"] if number > 0 else []


def waiver_sentences(audit: Audit, kind: ReportKind) -> list[str]:
    """Return the waivers, one sentence each."""
    out = []
    for about, name, reason, until, outcome in waivers(audit, kind):
        subject = f"{about}: " if about else ""
        why = f": {reason}" if reason else ""
        end = "" if until == "no end" else f", until {until}"
        out.append(f"{subject}waived by {name}{end}{why} ({outcome})")
    return out + _overruled_waivers(audit)


# What was audited


def describe_release(release: Mapping[str, Any], kind: ReportKind) -> str:
    """Return the file, entries and people of a release."""
    which = {"closed": "closed ", "maximal": "maximal "}.get(release.get("only", ""), "")
    listed = release.get("groups", release.get("lines"))
    what = counted(listed, f"{which}{KINDS[release['kind']].line}") if listed is not None else release["kind"]
    about = people(release["n"]) if release.get("n") is not None else "an unknown number of people"
    source = f" (n is {release['n_from']})" if release.get("n_from") else ""
    name = f"{visible(release['file'])}: " if kind == "internal" and release.get("file") else ""
    return f"{name}{what} about {about}{source}"


def thresholds(release: Mapping[str, Any], measures: Mapping[str, Any], kind: ReportKind = "internal") -> str:
    """Return thresholds, group sizes or hidden cells."""
    if release.get("kind") == "table":
        return _blanks(release, measures, kind)
    if release.get("kind") == "frequencies":
        return _printing(release)
    parts = []
    if "largest_group" in measures:
        parts.append(f"{measures['mean_group']:.2f} people on average, {measures['largest_group']:,} at most")
    if (least := release.get("min_support")) is not None:
        parts.append(f"at least {people_of(least, release.get('n'))}")
    if "smallest_count" in measures:
        parts.append(f"smallest published count {people_of(measures['smallest_count'], release.get('n'))}")
    return "; ".join(parts) or "not stated"


def _blanks(release: Mapping[str, Any], measures: Mapping[str, Any], kind: ReportKind) -> str:
    parts = []
    if "cells_hidden" in measures:
        named = {region: measures.get(f"cells_hidden_{region}") for region in ("ns", "nc", "sc")}
        regions = [f"{region} {cells:,}" for region, cells in named.items() if cells is not None]
        by_region = f" ({', '.join(regions)})" if regions else ""
        parts.append(f"{measures['cells_hidden']:,} cells hidden{by_region}")
    if kind == "internal" and (columns := release.get("blank_cells")):
        parts.append("blank cells by column: " + ", ".join(f"{name} {count:,}" for name, count in columns.items()))
    return "; ".join(parts) or "none"


def _printing(release: Mapping[str, Any]) -> str:
    parts = [counted(release["tables"], "table"), f"{counted(release['hidden_cells'], 'cell')} hidden"]
    if release.get("convention") is not None:
        about = find_convention(release["convention"]).about
        return "; ".join([*parts, f"read by the convention {release['convention']}: {about}"])
    if release["hidden_below"] is not None:
        zeros = "shown" if release["zeros_shown"] else "hidden, too"
        parts.append(f"each of fewer than {people(release['hidden_below'])}; cells with nobody are {zeros}")
    if release.get("base") is not None:
        parts.append(f"counts rounded to multiples of {release['base']:,}")
    return "; ".join(parts)


def files_not_read(audit: Audit, kind: ReportKind) -> list[str]:
    """Return the files and columns that were not read."""
    if not audit.not_read:
        return []
    if kind == "external":
        return [f"{counted(len(audit.not_read), 'file or column was', 'files or columns were')} not read."]
    return [f"Not read: {_unread(one)}." for one in audit.not_read]


def files_ignored(audit: Audit, kind: ReportKind) -> list[str]:
    """Return the files and columns not about people."""
    if not audit.ignored:
        return []
    what = counted(len(audit.ignored), "file or column", "files or columns")
    if kind == "internal":
        what = "; ".join(_unread(one) for one in audit.ignored)
    return [f"Left out as saying nothing about people: {what}."]


def _unread(one: NotRead) -> str:
    reason = visible(one.reason)
    file = visible(one.file)
    if one.column:
        column = f"the column or field {visible(one.column)!r} of {file}"
        return f"{column}, which {reason}".replace(", which is not read", "")
    verbs = ("is ", "looks ", "holds ", "has ", "belongs ")
    return f"{file}, which {reason if reason.startswith(verbs) else f'cannot be read: {reason}'}"


def reason(audit: Audit, run: AttackRun, kind: ReportKind) -> str:
    """Return why an attack ended; outside, releases and columns are numbered."""
    why = run.reason
    if kind == "external":
        for number, column in enumerate(audit.by_column, start=1):
            why = why.replace(f"{column}: ", f"column {number}: ")
        listed = enumerate(audit.release, start=1)
        names = {str(release["file"]): f"release {number}" for number, release in listed if release.get("file")}
        for name in sorted(names, key=len, reverse=True):
            why = why.replace(name, names[name])
    return why


#: What each attack looks for, as a certificate says it.
LOOKS_FOR = {
    "I01": "groups of fewer than k people, by adding and subtracting published counts",
    "I02": "groups of fewer than k people, through itemsets that a complete list leaves out",
    "R01": "groups of fewer than k people whom a rule leaves out, or who are between several rules",
    "R02": "sensitive values that become probable for people whose quasi-identifiers are known, by maximum entropy",
    "R03": "sensitive values that become certain, or are ruled out, for people whose quasi-identifiers are known",
    "B01": "people for whom fewer than l sensitive values stay possible",
    "B02": "sensitive values that are probable within a group, if all assignments are equally likely",
    "B03": "sensitive values that are probable within a group, by what all groups show together",
    "T01": "hidden values that a rule reveals, which the rest of the table shows",
    "T02": "hidden values that other readings of the blanks reveal, or a model",
    "T03": "groups of fewer than k people with the same quasi-identifiers, or with fewer than l sensitive values",
    "X01": "groups of fewer than k people that follow from all published numbers together",
}


def checked(audit: Audit) -> list[str]:
    """Return what each attack that ran looked for, and what it found."""
    out = []
    for owner, run in enumerate(audit.runs):
        if run.status not in ("ran", "stopped"):
            continue
        waived = audit.waived.number(owner)
        found = "nothing was found" if not run.findings else f"{counted(run.findings, 'finding')}, {waived:,} waived"
        claim = "" if run.claim == "proves" else ", an estimate"
        limits = {"k people": f"{audit.policy.k:,} people", "fewer than l ": f"fewer than {audit.policy.l:,} "}
        what = LOOKS_FOR[run.code]
        for letter, number in limits.items():
            what = what.replace(letter, number)
        out.append(f"{capitalise(what)} ({run.code}{claim}): {found}.")
    return out


def nearness(audit: Audit) -> list[str]:
    """Return how near a release comes to its limits, as far as that is known."""
    measures = audit.measures
    out = []
    n = audit.release[0].get("n") if len(audit.release) == 1 else None
    if finds_groups(audit):
        k = audit.policy.k
        if "smallest_count" in measures:
            smallest = int(measures["smallest_count"])
            times = f", {smallest / k:,.3g} times the limit of {k:,}" if k > 1 and smallest >= k else ""
            out.append(f"The smallest published count is {people_of(smallest, n)}{times}.")
        known = measures.get("smallest_group")
        if known is not None:
            out.append(f"The smallest group that is proved to exist has {people(int(known))}.")
        else:
            none = f"; none has fewer than {people(k)}, by the attacks that ran" if audit.verdict == "clean" else ""
            out.append(f"The size of the smallest group that can be computed is not known{none}.")
    if judges_classes(audit):
        out.append(f"The fewest people who share their quasi-identifiers are {people(int(measures['k_anonymity']))}.")
        out.append(f"All who share them have at least {counted(int(measures['l_diversity']), 'sensitive value')}.")
    if "max_posterior" in measures:
        limit = audit.policy.max_posterior
        judged = "no limit is set for estimates" if limit is None else f"the limit is {100 * limit:g} %"
        surest = f"{100 * measures['max_posterior']:.1f} %"
        if (guessed := measures.get("surviving_above_90")) is None:
            out.append(f"The surest estimate of a sensitive value is {surest}; {judged}.")
        else:
            together = f"by what all groups show together, {people(int(guessed))} can be guessed with more than 90 % (B03)"
            out.append(f"The surest estimate within one group alone is {surest} (B02); {together}; {judged}.")
    return out


def outcome(run: AttackRun, *, waived: int = 0, because: str | None = None) -> str:
    """Return the outcome of an attack, with waivers."""
    because = run.reason if because is None else because
    why = f" ({because})" if because else ""
    if run.status == "not-relevant":
        return f"not relevant{why}"
    if run.status == "not-asked":
        return "not asked for, although it applies"
    if run.status == "unavailable":
        return f"could not run{why}"
    found = counted(run.findings, "finding") if run.findings else "nothing found"
    accepted = "" if not waived else ", waived" if waived == run.findings else f", {waived:,} of them waived"
    left = f", {run.undecided:,} left undecided" if run.undecided else ""
    return f"{'ran' if run.status == 'ran' else 'STOPPED EARLY'}, {run.claim}, {found}{accepted}{left}{why}"


def short_outcome(audit: Audit, run: AttackRun, kind: ReportKind) -> str:
    """Return the outcome of an attack in a few words."""
    if run.status == "not-asked":
        return "was not asked for"
    if run.status == "unavailable":
        return f"could not run ({reason(audit, run, kind)})"
    found = counted(run.findings, "finding") if run.findings else "nothing"
    left = f" and {run.undecided:,} undecided" if run.undecided else ""
    return f"{found}{left}{' (stopped early)' if run.status == 'stopped' else ''}"


def counted_only(finding: Finding) -> str:
    """Return a finding without what it is about."""
    count = finding.count
    about = people(count.lo) if count.is_exact else f"{count.lo:,} to {people(count.hi)}"
    waived = f" (waived by {finding.waived.name})" if finding.waived else ""
    return f"{finding.code}: {about}{waived}"


# What the attacker knows

_ROUNDING = {
    "nearest": "Printed numbers are taken as rounded to the nearest, as far as their digits go.",
    "half-up": "Printed numbers are rounded to the nearest, as far as their digits go, and halves up.",
    "half-even": "Printed numbers are rounded to the nearest, as far as their digits go, and halves to an even last digit.",
    "up": "Printed numbers are rounded up in their last digit.",
    "random": "Printed numbers are rounded up or down at random: each may be off by less than one step of its last digit.",
    "truncated": "Printed numbers are taken as cut off after their last digit.",
    "unknown": "How printed numbers were rounded is not known: each may be off by one in its last digit, up or down.",
}
#: What readers of a repaired release know, by what its method changes.
_MADE_BY = {
    "numbers": "The attacker knows that numbers were made less exact (method {}), and by which rule.",
    "lines": "The attacker knows that lines were taken out (method {}), but not which; why these is not used.",
    "threshold": "The attacker knows that the threshold was raised (method {}).",
    "people": "The attacker knows that the data were changed before they were counted (method {}): what is proved holds for the changed data.",
}
#: What it means that the adversary knows something, and that they do not.
_KNOWS = {
    "knows_n": ("The attacker knows how many people the data are about.", "How many people the data are about is not known."),
    "knows_all_values": (
        "The tables are taken to list every value that their people have, so that parts add up to their total.",
        "The tables are not taken to list every value that their people have: parts may be less than their total.",
    ),
    "knows_that_the_list_is_complete": (
        "The list is taken to be complete: what is missing from it lies below its threshold.",
        "The list is not taken to be complete: nothing is concluded from what is missing.",
    ),
    "knows_no_value_is_negative": ("Sums, means and extremes beside counts are taken to be of values of at least 0.", ""),
    "knows_the_order_of_rules": ("Rules are read in order: each is about people whom no earlier one matches.", ""),
}


def assumptions(audit: Audit, kind: ReportKind) -> list[str]:
    """Return the adversary's assumed knowledge, one sentence each."""
    known = dict(audit.adversary)
    several = len(audit.release) > 1
    releases = f"all {len(audit.release)} releases" if several else "the release"
    has = "and everybody's quasi-identifiers" if known.pop("knows_quasi_identifiers", False) else "and nothing else about anybody"
    if known.pop("knows_who_is_in_which_group", False):
        has = "and so knows who is in which group"
    if known.pop("true_values_given", None) is not None:
        has = "and so everybody's cells that are not blank"
        if (named := known.pop("rows_named")) is not None:
            has += f"; {counted(named, 'row is', 'rows are')} to be protected"
        if judges_classes(audit):
            has += "; they know somebody's quasi-identifiers, and that this person is in the table"
    out = [f"The attacker has {releases} {has}.", *inferred(audit, kind)]
    for name in ("population", "taken_as_different"):
        known.pop(name, None)
    if known.pop("people", None) and several:
        out += declared_people(audit, kind)
    out += files_ignored(audit, kind)
    if facts := known.pop("background_facts", 0):
        files = ", ".join(map(visible, known.pop("knowledge", ())))
        source = f" ({files})" if files and kind == "internal" else ""
        out.append(f"The attacker also knows {counted(facts, 'fact')} about groups of these people{source}.")
    if known.pop("withheld", None):
        out.append("Where a rule's numbers are withheld, the attacker expects confidences to spread above their threshold.")
    out += [sentences[not known.pop(name)] for name, sentences in _KNOWS.items() if name in known]
    out += _lengths(audit)
    if "rounding" in known:
        out.append(_ROUNDING.get(known.pop("rounding"), "How the numbers were rounded is not known."))
    out += [_MADE_BY[one["changes"]].format(one["method"]) for one in known.pop("made_by", ())]
    if kind == "internal":
        out += [f"{name.replace('_', ' ')}: {visible(str(value))}" for name, value in sorted(known.items())]
    return out


def _lengths(audit: Audit) -> list[str]:
    """Return up to which length lists are complete."""
    lengths = sorted({entry["max_length"] for entry in audit.release if "max_length" in entry})
    if not lengths or not audit.adversary.get("knows_that_the_list_is_complete"):
        return []
    numbers = " or ".join(map(str, lengths))
    return [f"It holds nothing of more than {numbers} items; nothing is concluded from longer ones that are missing."]


def inferred(audit: Audit, kind: ReportKind) -> list[str]:
    """Return what was inferred from the form of files, one sentence each."""
    told = [(entry.get("file"), sentence) for entry in audit.release for sentence in entry.get("assumed", ())]
    if told and kind == "external":
        return ["The form of a file was in part inferred from its content; the internal report says how."]
    if len(audit.release) == 1:
        return [visible(said) for _, said in told]
    files: dict[str, list[str]] = {}
    for file, said in told:
        files.setdefault(said, []).append(visible(file or "a release"))
    return [
        f"{' and '.join(names) if len(names) < 4 else f'{len(names)} files'}: {visible(said)}" for said, names in files.items()
    ]


def taken_for_granted(audit: Audit, kind: ReportKind) -> list[str]:
    """Return what an audit assumed of its files and could not read in them."""
    known = audit.adversary
    out = inferred(audit, kind)
    out += declared_people(audit, kind) if known.get("people") and len(audit.release) > 1 else []
    if audit.ignored:
        what = counted(len(audit.ignored), "file or column", "files or columns")
        out.append(f"{what} left out as saying nothing about people (-v names them).")
    names = ("knows_all_values", "knows_no_value_is_negative", "knows_that_the_list_is_complete")
    out += [_KNOWS[name][not known[name]] for name in names if name in known]
    out += _lengths(audit)
    if "rounding" in known and known["rounding"] != "nearest":
        out.append(_ROUNDING[known["rounding"]])
    return out


_SAME = "All releases are declared to be about the same people."
SHOWN_PAIRS = 5  #: The number of pairs of names that look alike that are listed.


def declared_people(audit: Audit, kind: ReportKind) -> list[str]:
    """Return how the populations of several releases are related."""
    declared = read_people(str(audit.adversary["people"]))
    grouped = "population" in audit.adversary
    one = "group of people" if grouped else "release"
    several = max(audit.adversary.get("population", range(len(audit.release)))) > 1
    out = [_populations(audit, kind)] if grouped else []
    out += _look_alikes(audit, kind)
    between = f"From each {one} to the next" if several else f"Between the first {one} and the second"
    match declared:
        case Same():
            out.append(_SAME)
        case Unknown():
            beyond = " beyond each folder" if grouped else ""
            out.append(f"How the populations are related is not declared, so nothing is inferred from them together{beyond}.")
        case Nested() if several:
            before = "before" if declared.outer == 0 else "after"
            out.append(f"The people of each {one} are declared to be among those of the one {before} it.")
        case Nested():
            inner, outer = ("second", "first") if declared.outer == 0 else ("first", "second")
            out.append(f"The people of the {inner} {one} are declared to be among those of the {outer}.")
        case Churn():
            out.append(f"{between} these numbers of people are declared to have moved: {declared.to_text()}.")
        case _:
            names = ", ".join(visible(unquote(name)) for name in declared.columns)
            columns = names if kind == "internal" else "some columns"
            fewest, most = declared.people
            span = f"at most {most:,}" if fewest == 0 else f"{fewest:,} to {most:,}"
            number = f"{most:,}" if fewest == most else span
            out.append(f"{_SAME} {between}, {number} of them have another value of each of: {columns}.")
    return out


def _look_alikes(audit: Audit, kind: ReportKind) -> list[str]:
    pairs = audit.adversary.get("taken_as_different", ())
    if not pairs:
        return []
    named = "; ".join(" and ".join(visible(name) for name in pair) for pair in pairs[:SHOWN_PAIRS])
    more = f"; and {len(pairs) - SHOWN_PAIRS:,} more" if len(pairs) > SHOWN_PAIRS else ""
    listed = f": {named}{more}" if kind == "internal" else ""
    return [f"Names that only look alike are taken as different; write them alike where they mean the same{listed}."]


def _populations(audit: Audit, kind: ReportKind) -> str:
    population = list(audit.adversary["population"])
    groups: list[list[str]] = [[] for _ in range(max(population) + 1)]
    if kind == "external":
        return f"The {len(population)} releases are taken as being about {len(groups)} groups of people, as they were given."
    for place, (entry, own) in enumerate(zip(audit.release, population, strict=True)):
        groups[own].append(visible(entry.get("file") or f"release {place + 1}"))
    listed = "; ".join(" and ".join(group) for group in groups)
    return f"Releases that were given together are taken as being about the same people: {listed}."


#: The readings of a table with blanks, in the order in which they are listed.
_READINGS = {
    "rule_confidence": "of a rule, blanks counted as another value",
    "known_only_confidence": "among known values only",
    "wildcard_confidence": "if a blank condition fits every value",
    "null_share_confidence": "of one value among the blanks (the owner knows)",
    "model_posterior": "by naive Bayes",
    "entropy_posterior": "by the maximum-entropy model that fits all rules with one condition",
}


def readings(audit: Audit) -> list[str]:
    """Return the largest confidence of each reading."""
    if not is_table(audit):
        return []
    limit = audit.policy.to_dict()["min_confidence"]
    out = []
    for name, words in _READINGS.items():
        if (value := audit.measures.get(name)) is None:
            continue
        inferred = audit.measures.get(name.replace("_posterior", "_inferred")) if name.endswith("_posterior") else 0
        over = f", above {limit:g} for {counted(int(inferred), 'record')}" if inferred else ""
        out.append(f"{value:.3f} {words}{over}")
    return out


def bucket_sentences(audit: Audit) -> Iterator[str]:
    """Yield an attacker's guesses from a bucketized release."""
    found = audit.measures
    n = sum(release["n"] or 0 for release in audit.release)
    if "above_one_in_l" in found:
        above = int(found["above_one_in_l"])
        certain = int(found["people_certain"])
        most = f"nobody's value is more probable than {found['max_posterior']:.3f}"
        if certain:
            most = f"the value of {people(certain)} is certain"
        given = "If every assignment that fits is equally likely"
        if totals := int(found.get("known_totals", 0)):
            given = f"Given {counted(totals, 'known total')} over all groups"
        some = f"; for {people_of(above, n)} some value is" if above else ", so never"
        yield f"{given}, {most}{some} more probable than 1/{audit.policy.l} (B02)."
    if found.get("people_approximate"):
        yield f"That is approximate for {people(int(found['people_approximate']))} in groups with too many assignments to count."
    if "surviving_expected_right" in found and "group_guess_right" in found:
        together = found["surviving_expected_right"]
        alone = found["group_guess_right"]
        above_90 = int(found["surviving_above_90"])
        whose = f"the value of {people(above_90)}" if above_90 else "nobody's value"
        yield (
            f"What all groups show together would make {100 * together:.1f} % of the guesses right, {100 * alone:.1f} % without it; "
            f"{whose} would have more than 0.9 (B03)."
        )


# What to do

_DO_NOT_PUBLISH = "Do not publish this release as it is."
_GIVE_WHO = "give everybody's quasi-identifiers with --known, or the data with --data"
_SAY_ALL = "name its columns with --qi and --sa and give the data with --data, or say --sa none"
_SAY_WHO = "name the quasi-identifying columns with --qi and the sensitive one with --sa, or say --sa none"
_MAY_ADD = "Facts known from elsewhere, or other releases about the same people, may add to it."
_SAY_LESS = "the data do not decide what is left open, so round the numbers or publish fewer lines"
_SUGGEST = "Or add --suggest: every repair that fits is carried out and audited, and listed with its cost and its command."
_CHOOSE = "Choose one of the repairs that make it clean, and run its command."
_NO_REPAIR = "No repair that was tried makes it clean"
_TRIES = " tries every repair that fits, and carries out the cheapest that is clean (tacit repairs lists them)."


def next_steps(audit: Audit, repair: str = "") -> list[Sentence]:
    """Return what the owner can do now; ``repair`` is the command that repairs the release."""
    if audit.verdict == "clean":
        what = "this file" if len(audit.release) == 1 else "these files"
        limit = f"{what}, this {'k' if finds_groups(audit) else 'l'}"
        if judges_classes(audit):
            limit = f"{what}, these quasi-identifiers, this k and l"
        elif is_table(audit):
            limit = "this table, these rows, these thresholds"
        return [(f"Clean holds for {limit} and the attacks that ran.",), (_MAY_ADD,)]
    if audit.verdict == "incomplete":
        steps: list[Sentence] = [(f"Do not read this as safe: {_missing_decisions(audit)}, and audit again.",)]
        if audit.suggestions is not None and audit.suggestions.best is not None:
            return [*steps, (_CHOOSE,)]
        return [*steps, ("Repair it: ", Command(repair), _TRIES)] if repair else steps
    steps = _steps_when_exposed(audit, repair)
    if judges_classes(audit):
        return steps
    if audit.suggestions is None and before_repair(audit):
        return steps
    if audit.suggestions is None:
        return [*steps, (_SUGGEST,)]
    if audit.suggestions.best is not None:
        return [steps[0], (_CHOOSE,)]
    return [steps[0], (no_repair(audit),)]


def no_repair(audit: Audit) -> str:
    """Return what to do where no repair that was tried makes a release clean."""
    if first := before_repair(audit):
        return f"{_NO_REPAIR}. {first}"
    late = audit.suggestions is not None and audit.suggestions.late
    ways = [f"give more time (--suggest {audit.suggestions.more_seconds})"] if late and audit.suggestions is not None else []
    ways += [] if "data" in audit.options["given"] else ["give the data (--data)"]
    return f"{_NO_REPAIR}: {', or '.join([*ways, 'publish something else'])}."


def _steps_when_exposed(audit: Audit, repair: str) -> list[Sentence]:
    if judges_classes(audit):
        return _steps_for_classes(audit)
    if len(audit.release) > 1:
        keep_back: Sentence = ("Do not publish these releases together as they are.",)
        if not repair:  # some of them may have been published already
            return [keep_back, ("Change what is not published yet, and audit all of them again before you publish it.",)]
        return [keep_back, ("Repair them: ", Command(repair), _TRIES)]
    not_as_it_is = "Do not publish this table as it is." if is_table(audit) else _DO_NOT_PUBLISH
    if first := before_repair(audit):
        return [(not_as_it_is,), (first,)]
    change = Command(repair or _repair_in_general(audit))
    if all(release["kind"] == "itemsets" and release.get("only") != "maximal" for release in audit.release):
        maximal = Command("tacit mine itemsets --only maximal")
        return [
            (_DO_NOT_PUBLISH,),
            ("Repair it: ", change, _TRIES),
            ("Or publish less: the maximal itemsets alone (", maximal, ") reveal no supports of their subsets."),
        ]
    return [(not_as_it_is,), ("Repair it: ", change, _TRIES)]


def _repair_in_general(audit: Audit) -> str:
    """Return the command without the names of files, which outsiders may see."""
    data = " --data DATA" if "data" in audit.options["given"] else ""
    rows = " --rows ROWS" if "rows" in audit.options["given"] else ""
    limit = f" --k {audit.policy.k}" if finds_groups(audit) else ""
    return f"tacit repair RELEASE{data}{rows}{limit} -o OUT"


def before_repair(audit: Audit) -> str:
    """Return what has to be given before a release can be repaired, as a sentence; empty if nothing."""
    if todo := lacking(audit):
        # Nothing that is made of it could be clean, since these attacks would not run on it either.
        return f"Before it can be repaired, {todo}, and audit again."
    if len(audit.release) > 1:
        return ""
    kind = audit.release[0]["kind"]
    given = audit.options["given"]
    is_made_of_people = kind in ("buckets", "table")
    if kind == "rules":  # of other rules, what stays open is decided by the data
        asks_people = any(run.code == "R02" and run.status != "not-relevant" for run in audit.runs)
        is_made_of_people = asks_people or any(run.undecided for run in audit.runs)
    rows = " and --rows (the rows to protect)" if kind == "table" and "rows" not in given else ""
    if is_made_of_people and ("data" not in given or rows):
        data = "--data (the table that it was made from)"
        return f"To repair it, audit it again with {data}{rows}: that prints the command."
    return ""


def _has_people(audit: Audit) -> bool:
    """Tell if the people were given, so that only the roles of their columns can lack."""
    return any(name in audit.options["given"] for name in ("data", "known"))


def _steps_for_classes(audit: Audit) -> list[Sentence]:
    release = audit.release[0]
    file = quote(visible(release.get("file") or "DATA"))
    qi = quote(",".join(release["qi"]))
    sa = quote(",".join(release["sa"]))
    columns = quote(",".join([*release["qi"], *release["sa"]]))
    counts = Command(f"tacit tabulate {file} --by {columns} --sa {sa} --hide-below {audit.policy.k} -o counts.csv")
    least = f" --l {audit.policy.l}" if audit.policy.l > 2 else ""
    made = Command(f"tacit bucketize {file} --qi {qi} --sa {sa}{least} -o buckets")
    return [
        ("Do not publish this table as it is.",),
        ("Make the quasi-identifiers coarser or drop some, and audit again; or publish counts: ", counts, "."),
        ("Or cut the link between quasi-identifiers and sensitive values: ", made, "."),
    ]


def _missing_decisions(audit: Audit) -> str:
    hints = {
        "stopped": "give more time with --time-limit",
        "unavailable": _unavailable(audit),
        "not-asked": "leave --attack out, so that every attack that applies runs",
        "ran": "give the data with --data" if "data" not in audit.options["given"] else _SAY_LESS,
    }
    if "data" not in audit.options["given"] and any(release.get("n") is None for release in audit.release):
        hints["ran"] += ", or the number of people with --n"
    found = list(dict.fromkeys(_hint(run) or hints[run.status] for run in open_runs(audit)))
    if audit.not_read:
        ignore = "say with --ignore NAME that it says nothing about people"
        found.append(f"give what was not read in a form that Tacit reads, or {ignore}")
    return " or ".join(found) or "give a release of a kind that some attack applies to (tacit attacks lists them)"


def lacking(audit: Audit) -> str:
    """Return what attacks that could not run lack, as something to do; empty if nothing."""
    found = dict.fromkeys(_hint(run) or _unavailable(audit) for run in audit.runs if run.status == "unavailable")
    return " or ".join(found)


def _unavailable(audit: Audit) -> str:
    if audit.adversary.get("knows_quasi_identifiers") is False:
        if any(run.status == "unavailable" and "--sa none" in run.reason for run in audit.runs):
            return _SAY_WHO if _has_people(audit) else _SAY_ALL
        return _SAY_WHO if _has_people(audit) else _GIVE_WHO
    return "give what the attacks that could not run lack"


def _hint(run: AttackRun) -> str:
    """Return the reason why an attack could not run, if it says what to give."""
    return run.reason if run.status == "unavailable" and run.reason.startswith("name the ") else ""


def left_open(audit: Audit) -> list[str]:
    """Return what attacks that ran left undecided."""
    out = []
    for run in open_runs(audit):
        if run.undecided:
            what = reason(audit, run, "internal") or f"{counted(run.undecided, 'question is', 'questions are')} undecided"
            out.append(f"{run.code} {run.name}: {what}.")
    return out


def open_runs(audit: Audit) -> list[AttackRun]:
    """Return the wanted attacks that are incomplete."""
    return [run for run in audit.runs if run.status != "not-relevant" and not run.decides]
