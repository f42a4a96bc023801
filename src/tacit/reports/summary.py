"""An audit in a few numbers and sentences, the same for the terminal and the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tacit.model.audit import AttackRun, Audit, Verdict
from tacit.reports import frequencies, tables
from tacit.reports.people import declared_people, files_ignored
from tacit.reports.policy import set_by

ReportKind = Literal["internal", "external"]
REPORT_KINDS: tuple[ReportKind, ...] = ("internal", "external")


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """What was found, counted; ``groups_of_size[i]`` groups have ``sizes[i]`` people (the most possible, where that is not exact)."""

    verdict: Verdict
    k: int
    findings: int
    groups: int
    single: int
    people: int
    sizes: npt.NDArray[np.int64]
    groups_of_size: npt.NDArray[np.int64]
    attacks_ran: bool
    l: int = 2  # noqa: E741 - the letter is the policy's own name for it
    certain: int = 0
    guessed: int = 0
    bounded: bool = False
    finds_groups: bool = True
    about_table: str = ""
    releases: int = 1
    waived: int = 0
    not_asked: int = 0
    unread: int = 0

    @classmethod
    def of(cls, audit: Audit) -> Summary:
        """The summary of an audit, from its columns: no finding is written out for it."""
        small: Counter[int] = Counter()
        groups = [run for run in audit.runs if run.claim == "proves" and run.finds_groups]
        for run in groups:
            small.update(audit.sizes(run))
        sizes = np.array(sorted(small), np.int64)
        numbers = np.array([small[size] for size in sizes.tolist()], np.int64)
        people = max((_in_groups(run) for run in groups), default=0)
        values = [run for run in audit.runs if not run.finds_groups]
        told_of = [run for run in values if audit.counted(run.code)]
        certain, guessed = (
            max((run.people for run in told_of if run.claim == claim), default=0) for claim in ("proves", "estimates")
        )
        certain = max([certain, *(int(run.columns["count"][run.is_value].sum()) for run in groups if run.is_value.any())])
        bounded = any(run.claim == "proves" and run.decides for run in values)
        findings = sum(run.findings for run in audit.runs)  # those that somebody accepts among them: they stay listed
        single = int(numbers[sizes == 1].sum())
        ran = any(run.status in ("ran", "stopped") for run in audit.runs)
        told = (audit.verdict, audit.policy.k, findings, int(numbers.sum()), single, people, sizes, numbers, ran)
        return cls(
            *told,
            audit.policy.l,
            certain,
            guessed,
            bounded,
            finds_groups(audit),
            tables.sentence(audit) if tables.is_table(audit) else "",
            len(audit.release),
            len(audit.waived.places),
            0 if audit.asked_verdict != "clean" else sum(run.status == "not-asked" for run in audit.runs),
            len(audit.not_read),
        )

    @property
    def span(self) -> str:
        """The sizes of group that the policy does not allow.

        >>> nothing = np.empty(0, np.int64)
        >>> Summary("clean", 10, 0, 0, 0, 0, nothing, nothing, attacks_ran=True).span
        '1-9 people'
        """
        return "1 person" if self.k <= 2 else f"1-{self.k - 1:,} people"

    @property
    def _what(self) -> str:
        return "this release" if self.releases == 1 else f"these {self.releases} releases"

    def sentence(self) -> str:
        """The verdict in terms of people, and how many findings somebody accepts."""
        if self.finds_groups and self.k == 1:
            return f"under k = 1, which lets every group pass, {self._accepted()}"
        if not self.finds_groups and self.l == 1 and not self.about_table:
            return f"under l = 1, which lets every value be known, {self._accepted()}"
        return self._accepted()

    def _accepted(self) -> str:
        if not self.waived:
            return self._told()
        accepted = counted(self.waived, "finding")
        told = self._told().removesuffix(".").replace("no group", "no other group", 1)
        return f"{told}; {accepted} {'is' if self.waived == 1 else 'are'} waived."

    def _told(self) -> str:
        if self.about_table:
            return self.about_table
        if self.verdict == "exposed":
            return f"{self._found()}."
        if self.verdict == "clean":
            if not self.finds_groups:
                kept = (
                    f"everybody keeps at least {counted(self.l, 'possible value')}" if self.bounded else "no estimate is too sure"
                )
                return f"{kept}, by the attacks that ran."
            kept = f", and everybody keeps at least {counted(self.l, 'possible value')}," if self.bounded else ""
            what = "no group counts as too small" if self.k == 1 else f"no group of {self.span} can be computed from {self._what}"
            return f"{what}{kept} by the attacks that ran."
        if not self.attacks_ran:
            return f"no attack that was run applies to {self._what}, so nothing is known about it. This is not a pass."
        if self.unread:
            what = counted(self.unread, "file or column was", "files or columns were")
            return f"nothing was found, but {what} not read. This is not a pass."
        if self.not_asked:
            others = "1 more attack applies and was" if self.not_asked == 1 else f"{self.not_asked} more attacks apply and were"
            return f"the attacks that were asked for found nothing, but {others} not asked for. This is not a pass."
        return "nothing was found, but not everything could be decided. This is not a pass."

    def _found(self) -> str:
        parts = []
        if self.groups:
            parts.append(self._groups() + self._concerned())
        if self.certain:
            people = counted(self.certain, "person", "people")
            few = f"{people} {'keeps' if self.certain == 1 else 'keep'} fewer than {self.l} possible values"
            parts.append(f"the sensitive value of {people} is certain" if self.l == 2 else few)
        if self.guessed:
            people = counted(self.guessed, "person", "people")
            parts.append(f"the sensitive value of {people} is estimated with more than the policy allows")
        return "; ".join(parts) or counted(self.findings, "finding")

    def _groups(self) -> str:
        groups = f"{counted(self.groups, 'group')} of {self.span} can be computed from {self._what}"
        if not self.single:
            return groups
        if self.groups == 1:
            return f"{groups}; it is a single person"
        return f"{groups}; {self.single:,} of them {'is' if self.single == 1 else 'are'} a single person"

    def _concerned(self) -> str:
        return (
            f"; at least {counted(self.people, 'person', 'people')} {'is' if self.people == 1 else 'are'} concerned"
            if self.people
            else ""
        )


def verdict_lines(audit: Audit, summary: Summary | None = None) -> list[str]:
    """The verdict as one sentence, and a line for each estimate that no limit judges."""
    said = f"{audit.verdict.upper()}: {(summary or Summary.of(audit)).sentence()}"
    notes = [caution.text for caution in audit.cautions]
    if not notes:
        return [said]
    if audit.verdict != "clean":
        return [said, *(f"Besides, {note}." for note in notes)]
    joined = [f"but {notes[0]}", *(f"and {note}" for note in notes[1:])]
    return [f"{said.removesuffix('.')};", *(f"{line};" for line in joined[:-1]), f"{joined[-1]}."]


def headline(audit: Audit) -> str:
    """The first sentence of an audit's text."""
    return first_sentence(" ".join(verdict_lines(audit)))


def first_sentence(text: str) -> str:
    r"""The first sentence of the first line of a text.

    >>> first_sentence("3 groups of 9 people. More follows.\nMethod   balanced")
    '3 groups of 9 people.'
    """
    line = " ".join(text.strip().partition("\n")[0].split())
    end = line.find(". ")
    return line if end < 0 else line[: end + 1]


def told(audit: Audit) -> str:
    """The verdict on one line, for texts that tell several."""
    said = f"{audit.verdict}: {Summary.of(audit).sentence().removesuffix('.')}"
    return "; ".join([said, *(f"{'but ' if number == 0 else ''}{one.text}" for number, one in enumerate(audit.cautions))])


def _in_groups(run: AttackRun) -> int:
    """The people whom the groups of a run concern at least; those whose value is certain are told apart."""
    return run.people if not run.is_value.any() else int(run.columns["count"][~run.is_value].max(initial=0))


def finds_groups(audit: Audit) -> bool:
    """Whether groups of few people could be found at all; a bucketized release and a table name everybody anyway."""
    return any(release["kind"] not in ("buckets", "table") for release in audit.release)


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun.

    >>> counted(1, "group"), counted(2641, "group"), counted(3, "person", "people")
    ('1 group', '2,641 groups', '3 people')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def as_share(count: int, n: int | None) -> str:
    """A count as a share of all people, for reading; empty when n is not known.

    >>> as_share(1509, 30162), as_share(1, 30162), as_share(3, None)
    (' (5.00 %)', ' (0.0033 %)', '')
    """
    if not n:
        return ""
    share = 100 * count / n
    return f" ({share:.2f} %)" if share >= 0.1 else f" ({share:.2g} %)"


def visible(text: str) -> str:
    r"""The text with everything that a terminal or a browser would obey instead of show written as an escape.

    >>> visible("a\x1b[31mb\u202e")
    'a\\x1b[31mb\\u202e'
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def described(release: Mapping[str, Any], kind: ReportKind) -> str:
    """One line about a release: its file, what it lists, about how many people."""
    which = {"closed": "closed ", "maximal": "maximal "}.get(release.get("only", ""), "")
    nouns = {"itemsets": "itemset", "rules": "rule", "buckets": "group", "table": "row", "frequencies": "cell"}
    noun = nouns.get(release["kind"], release["kind"])
    listed = release.get("groups", release.get("lines"))
    what = counted(listed, f"{which}{noun}") if listed is not None else release["kind"]
    about = (
        f"about {counted(release['n'], 'person', 'people')}"
        if release.get("n") is not None
        else "about an unknown number of people"
    )
    if release.get("n_from"):
        about += f" (n is {release['n_from']})"
    name = f"{visible(release['file'])}: " if kind == "internal" and release.get("file") else ""
    return f"{name}{what} {about}"


def thresholds(release: Mapping[str, Any], measures: Mapping[str, Any], kind: ReportKind = "internal") -> str:
    """The support threshold and the smallest published count, as count and share; of a bucketized release, how large its groups are."""
    if release.get("kind") == "table":
        return tables.hidden(release, measures, named=kind == "internal")
    if release.get("kind") == "frequencies":
        return frequencies.printed(release)
    parts = []
    if "largest_group" in measures:
        parts.append(f"{measures['mean_group']:.2f} people on average, {measures['largest_group']:,} at most")
    if release.get("min_support") is not None:
        parts.append(
            f"published from {counted(release['min_support'], 'person', 'people')}{as_share(release['min_support'], release.get('n'))} on"
        )
    if "smallest_count" in measures:
        least = measures["smallest_count"]
        parts.append(f"smallest published count {counted(least, 'person', 'people')}{as_share(least, release.get('n'))}")
    return "; ".join(parts) or "not stated"


def assumptions(audit: Audit, kind: ReportKind) -> list[str]:
    """What the adversary is taken to know, one sentence each."""
    known = dict(audit.adversary)
    has = "and everybody's quasi-identifiers" if known.pop("knows_quasi_identifiers", False) else "and nothing else about anybody"
    if known.pop("knows_who_is_in_which_group", False):
        has = "and so knows who is in which group"
    if "true_values_given" in known:
        has = "and so everybody's cells that are not blank"
        del known["true_values_given"]
        if (named := known.pop("rows_named")) is not None:
            has += f"; {counted(named, 'row')} {'is' if named == 1 else 'are'} to be protected"
    several = len(audit.release) > 1
    out = [f"The attacker has {f'all {len(audit.release)} releases' if several else 'the release'} {has}."]
    for name in ("population", "taken_as_different"):
        known.pop(name, None)
    if known.pop("people", None) and several:
        out += declared_people(audit, visible, kind)
    out += files_ignored(audit, visible, kind)
    if facts := known.pop("background_facts", 0):
        files = ", ".join(map(visible, known.pop("knowledge", ())))
        told = f" ({files})" if files and kind == "internal" else ""
        out.append(f"The attacker knows {counted(facts, 'fact')} about groups of these people besides{told}.")
    if "knows_n" in known:
        out.append(
            "The attacker knows how many people the data are about."
            if known.pop("knows_n")
            else "How many people the data are about is not known."
        )
    if "knows_all_values" in known:
        out.append(frequencies.ALL_VALUES if known.pop("knows_all_values") else frequencies.SOME_VALUES)
    if "knows_that_the_list_is_complete" in known:
        complete = known.pop("knows_that_the_list_is_complete")
        out.append(
            "The list is taken to be complete: what is missing from it lies below its threshold."
            if complete
            else "The list is not taken to be complete: nothing is concluded from what is missing."
        )
    if "rounding" in known:
        out.append(_ROUNDING.get(known.pop("rounding"), "How the numbers were rounded is not known."))
    out += [_MADE_BY[one["changes"]].format(one["method"]) for one in known.pop("made_by", ())]
    if kind == "internal":
        out += [f"{name.replace('_', ' ')}: {visible(str(value))}" for name, value in sorted(known.items())]
    return out


_ROUNDING = {
    "nearest": "Printed numbers are taken as rounded to the nearest, as far as their digits go.",
    "half-up": "Printed numbers are rounded to the nearest, as far as their digits go, and halves up.",
    "half-even": "Printed numbers are rounded to the nearest, as far as their digits go, and halves to an even last digit.",
    "up": "Printed numbers are rounded up in their last digit.",
    "random": "Printed numbers are rounded up or down by chance: each may be off by less than one step of its last digit.",
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


def policy_sentences(audit: Audit) -> list[str]:
    """What the publisher accepts, one sentence each; limits about sensitive values only where the release may tell of them."""
    policy = audit.policy
    if tables.is_table(audit):
        limit = f"no model may give a sensitive value a probability above {policy.max_posterior or 1:g}"
        return [tables.policy(audit), *([limit] if policy.max_posterior is not None else [])]
    few = counted(policy.k, "person", "people")
    out = [f"k = {policy.k:,}: no group of fewer than {few} may be computed{set_by(audit, 'k')}"]
    if not finds_groups(audit):
        out.clear()
    if any(release["kind"] != "itemsets" for release in audit.release):
        kept = counted(policy.l, "possible sensitive value")
        out.append(f"l = {policy.l:,}: everybody must keep at least {kept}{set_by(audit, 'l')}")
        if policy.max_posterior is not None:
            limit = f"{policy.max_posterior:g}{set_by(audit, 'max_posterior')}"
            out.append(f"no sensitive value may be estimated with a probability above {limit}")
        if policy.max_gain is not None:
            limit = f"{policy.max_gain:g}{set_by(audit, 'max_gain')}"
            out.append(f"no estimate may exceed the share among all people by more than {limit}")
    return out


def reason(audit: Audit, run: AttackRun, kind: ReportKind) -> str:
    """Why an attack ended as it did; an external report names no file."""
    told = run.reason
    if kind == "external":
        names = {
            str(release["file"]): f"release {place + 1}" for place, release in enumerate(audit.release) if release.get("file")
        }
        for name in sorted(names, key=len, reverse=True):
            told = told.replace(name, names[name])
    return told


def next_steps(audit: Audit) -> list[str]:
    """What the owner can do now."""
    if audit.verdict != "exposed":
        return _next_steps(audit)
    if audit.suggestions is None:
        try_all = "Or add --suggest: every repair that fits is carried out, audited, and told with its cost and its command."
        return [*_next_steps(audit), try_all]
    choose = "Choose one of the repairs that make it clean, and run its command."
    none = (
        "No repair that was tried makes it clean: give more time (--suggest 60) or the data (--data), or publish something else."
    )
    return [_next_steps(audit)[0], choose if audit.suggestions.best is not None else none]


def _next_steps(audit: Audit) -> list[str]:
    """What the owner can do, whatever was tried."""
    if tables.is_table(audit) and (steps := tables.next_steps(audit)):
        return steps
    if audit.verdict == "exposed":
        less = "Publish less: fewer digits, a higher threshold, fewer lines; then audit the new release before it leaves."
        if len(audit.release) > 1:
            return [
                "Do not publish these releases side by side as they are.",
                less.replace("the new release before it leaves", "all of them again before they leave"),
            ]
        if all(release["kind"] == "itemsets" and release.get("only") != "maximal" for release in audit.release):
            change = f"tacit repair RELEASE --method round --k {audit.policy.k} -o OUT"
            return [
                "Do not publish this release as it is.",
                f"Repair it: {change} (tacit repairs lists other ways).",
                "Or publish less: the maximal itemsets alone (tacit mine itemsets --only maximal) tell no supports of their subsets.",
            ]
        if not finds_groups(audit):
            made = f"tacit bucketize DATA --qi .. --sa .. --l {audit.policy.l} --knowledge FILE -o DIR"
            return [
                "Do not publish this release as it is.",
                f"Group the people anew, so that what is known does not help: {made}.",
            ]
        out = ["Do not publish this release as it is.", less]
        if audit.adversary.get("knows_quasi_identifiers") is False:
            out.append(
                "What it says about single people was not looked at: give everybody's quasi-identifiers with --known, or the data with --data."
            )
        return out
    if audit.verdict == "clean":
        limit = "k" if finds_groups(audit) else "l"
        return [
            f"Clean holds for {'this file' if len(audit.release) == 1 else 'these files'}, this {limit} and the attacks that ran.",
            "Facts known from elsewhere, or other releases about the same people, may add to it.",
        ]
    hints = {
        "stopped": "give more time with --time-limit",
        "unavailable": "give what the attacks that could not run lack",
        "not-asked": "leave --attack out, so that every attack that applies runs",
        "ran": "give the data with --data, or the number of people with --n",
    }
    if audit.adversary.get("knows_quasi_identifiers") is False:
        hints["unavailable"] = "give everybody's quasi-identifiers with --known, or the data with --data"
    found = dict.fromkeys(hints[run.status] for run in open_runs(audit))
    if audit.not_read:
        found[
            "give what was not read in a form that Tacit reads, or say with --ignore NAME that it says nothing about people"
        ] = None
    ways = " or ".join(found) or "give a release of a kind that some attack applies to (tacit attacks lists them)"
    return [f"Do not read this as safe: {ways}, and audit again."]


def open_runs(audit: Audit) -> list[AttackRun]:
    """The attacks that were wanted and left something open."""
    return [run for run in audit.runs if run.status != "not-relevant" and not run.decides]
