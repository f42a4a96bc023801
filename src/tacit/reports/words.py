"""An audit in a few numbers and sentences, the same for the terminal and the page.

What the publisher accepts, who set it, and which findings somebody accepts nevertheless; the same for every form of report.

How the people of several releases hang together, in words, and which files of a folder were not read.

What an audit of a table with blank cells says, in sentences.

What ``tacit tabulate`` says about the tables that it made: a record and a text.

What every form of report says about an audit, in rows: attacks, measures, files, and what a finding rests on.

How text stands on the terminal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any, Literal
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt

from tacit.model.audit import AttackRun, Audit, Verdict
from tacit.model.convention import find_convention
from tacit.model.finding import Finding
from tacit.model.frequencies import FrequencyTable
from tacit.model.measures import MEASURES
from tacit.model.people import Churn, Nested, NotRead, Same, Unknown, read_people
from tacit.model.policy import Level
from tacit.model.version import __version__

#: What a limit is about, in words.
MEANINGS = {
    "k": "the smallest group that may be computed (safe_threshold)",
    "l": "how many sensitive values everybody must keep",
    "max_posterior": "the largest probability that an estimate may give a sensitive value",
    "max_gain": "by how much an estimate may exceed the share among all people",
    "min_confidence": "a rule tells a blank cell above this confidence",
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


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit: its name, its value as text, what it means, and who set it."""

    name: str
    value: str
    meaning: str
    set_by: str


def limits(audit: Audit) -> list[Limit]:
    """Every limit of the policy that the audit was judged by."""
    values, origin = audit.policy.to_dict(), audit.policy.set_by
    return [Limit(name, as_text(values[name]), meaning, _SET_BY[origin[name]]) for name, meaning in MEANINGS.items()]


def as_text(value: object) -> str:
    """A limit as it is written in a file.

    >>> as_text(None), as_text(True), as_text(0.8), as_text(10)
    ('not set', 'true', '0.8', '10')
    """
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def set_by(audit: Audit, name: str) -> str:
    """Which option or file set a limit, as a remark behind it; nothing where none did."""
    level = audit.policy.set_by[name]
    if name in audit.policy.overruled:
        asked = as_text(audit.policy.overruled[name])
        return f" (set by {_SET_BY[level]}; the data set's file asks for {asked}, which is looser and does not count)"
    return "" if level in ("default", "given") else f" (set by {_SET_BY[level]})"


@dataclass(frozen=True, slots=True)
class WaiverLine:
    """A waiver as it is told: what it is about, who accepts it and why, until when, and what became of it."""

    about: str
    name: str
    reason: str
    until: str
    outcome: str


def waivers(audit: Audit, kind: Literal["internal", "external"]) -> list[WaiverLine]:
    """The waivers; an external report does not say what they are about, nor why."""
    out = []
    for number, waiver in enumerate(audit.waived.waivers):
        status, found = audit.waived.status(number)
        outcome = {
            "applied": f"accepts {found:,} finding{'' if found == 1 else 's'}",
            "ended": "has ended, and accepts nothing",
            "unmatched": "matches no finding about these people",
        }[status]
        about = waiver.finding or _event(waiver.to_dict()["event"])
        hidden = kind == "external"
        until = waiver.until.isoformat() if waiver.until else "no end"
        out.append(WaiverLine("" if hidden else about, waiver.name, "" if hidden else waiver.reason, until, outcome))
    return out


def _event(event: dict[str, Sequence[object]]) -> str:
    return "; ".join(f"{column}: {', '.join(map(str, values))}" for column, values in event.items())


def waiver_sentences(audit: Audit, kind: Literal["internal", "external"]) -> list[str]:
    """The waivers, one sentence each."""
    out = []
    for line in waivers(audit, kind):
        about = f"{line.about}: " if line.about else ""
        why = f": {line.reason}" if line.reason else ""
        until = "" if line.until == "no end" else f", until {line.until}"
        out.append(f"{about}waived by {line.name}{until}{why} ({line.outcome})")
    if (number := audit.policy.waivers_overruled) > 0:
        many = "1 waiver" if number == 1 else f"{number} waivers"
        out.append(
            f"{many} of the data set's file {'does' if number == 1 else 'do'} not count: the organisation's policy decides"
        )
    return out


_SAME = "All releases are declared to be about the same people."
#: How many pairs of names that look alike are told.
SHOWN_PAIRS = 5
_UNKNOWN = "Nothing is declared about who is in which release"


def declared_people(audit: Audit, visible: Callable[[str], str], kind: Literal["internal", "external"]) -> list[str]:
    """What is declared about the people of several releases, one sentence each; outside, columns and files are not named."""
    people = read_people(str(audit.adversary["people"]))
    grouped = "population" in audit.adversary
    one = "group of people" if grouped else "release"
    several = max(audit.adversary.get("population", range(len(audit.release)))) > 1
    told = [_groups(audit, visible, kind)] if grouped else []
    told += _look_alikes(audit, visible, kind)
    if isinstance(people, Same):
        return [*told, _SAME]
    if isinstance(people, Unknown):
        return [*told, f"{_UNKNOWN}, so that they tell nothing together{'' if not grouped else ' beyond each folder'}."]
    if isinstance(people, Nested):
        first, second = ("first", "second") if people.outer == 0 else ("second", "first")
        before = "before" if people.outer == 0 else "after"
        if several:
            return [*told, f"The people of each {one} are declared to be among those of the one {before} it."]
        return [*told, f"The people of the {second} {one} are declared to be among those of the {first}."]
    between = f"From each {one} to the next" if several else f"Between the first {one} and the second"
    if isinstance(people, Churn):
        return [*told, f"{between} so many people are declared to have moved: {people.to_text()}."]
    columns = ", ".join(visible(unquote(name)) for name in people.columns) if kind == "internal" else "some columns"
    return [*told, f"{_SAME} {between}, {_span(people.people)} of them have another value of each of: {columns}."]


def _look_alikes(audit: Audit, visible: Callable[[str], str], kind: Literal["internal", "external"]) -> list[str]:
    """Names that are taken as different although they look alike."""
    pairs = audit.adversary.get("taken_as_different", ())
    if not pairs:
        return []
    named = "; ".join(" and ".join(visible(name) for name in pair) for pair in pairs[:SHOWN_PAIRS])
    more = f"; and {len(pairs) - SHOWN_PAIRS:,} more" if len(pairs) > SHOWN_PAIRS else ""
    told = f": {named}{more}" if kind == "internal" else ""
    return [f"Names that only look alike are taken as different; write them alike where they mean the same{told}."]


def _span(people: tuple[int, int]) -> str:
    fewest, most = people
    return f"{most:,}" if fewest == most else f"at most {most:,}" if fewest == 0 else f"{fewest:,} to {most:,}"


def _groups(audit: Audit, visible: Callable[[str], str], kind: Literal["internal", "external"]) -> str:
    """Which releases are about the same people."""
    of = list(audit.adversary["population"])
    if kind == "external":
        return f"The {len(of)} releases are taken as being about {max(of) + 1} groups of people, as they were given."
    files = [entry.get("file") or f"release {number + 1}" for number, entry in enumerate(audit.release)]
    groups = [[name for name, own in zip(files, of, strict=True) if own == number] for number in range(max(of) + 1)]
    told = "; ".join(" and ".join(visible(name) for name in group) for group in groups)
    return f"Releases that were given together are taken as being about the same people: {told}."


def files_not_read(audit: Audit, visible: Callable[[str], str], kind: Literal["internal", "external"]) -> list[str]:
    """Files of folders and columns of files that were not read, one sentence each; outside, how many there are."""
    if not audit.not_read:
        return []
    if kind == "external":
        number = len(audit.not_read)
        return [f"{number:,} {'file or column was' if number == 1 else 'files or columns were'} not read."]
    return [f"Not read: {_named(one, visible)}." for one in audit.not_read]


def files_ignored(audit: Audit, visible: Callable[[str], str], kind: Literal["internal", "external"]) -> list[str]:
    """What was left out because it says nothing about people, one sentence; outside, how much it is."""
    if not audit.ignored:
        return []
    number = len(audit.ignored)
    what = f"{number:,} {'file or column' if number == 1 else 'files or columns'}"
    if kind == "external":
        return [f"Left out as saying nothing about people: {what}."]
    return [f"Left out as saying nothing about people: {'; '.join(_named(one, visible) for one in audit.ignored)}."]


def _named(one: NotRead, visible: Callable[[str], str]) -> str:
    """A file or column with the reason why it was not read."""
    reason = visible(one.reason)
    if one.column:
        return f"the column or field {visible(one.column)!r} of {visible(one.file)}, which {reason}".replace(
            ", which is not read", ""
        )
    verbs = ("is ", "looks ", "holds ", "has ", "belongs ")
    return f"{visible(one.file)}, which {reason if reason.startswith(verbs) else f'cannot be read: {reason}'}"


#: What each measure of a reading is called, in the order in which they are told.
_READINGS = {
    "rule_confidence": "of a rule, blanks counted as another value",
    "known_only_confidence": "among known values only",
    "wildcard_confidence": "if a blank condition fits every value",
    "null_share_confidence": "of one value among the blanks (the owner knows)",
    "model_posterior": "by naive Bayes",
    "entropy_posterior": "by the largest entropy that shows all rules with one condition",
}


def is_table(audit: Audit) -> bool:
    """Whether the audit is about a table."""
    return any(release["kind"] == "table" for release in audit.release)


def partial_sentence(audit: Audit) -> str:
    """The verdict in terms of records; empty where that says nothing about tables."""
    runs = {run.code: run for run in audit.runs if run.status in ("ran", "stopped")}
    if audit.verdict == "clean":
        kept = []
        if "T01" in runs:
            kept.append("no rule tells a sensitive cell")
        if "T02" in runs:
            kept.append("no other reading of the blanks does" if kept else "no reading of the blanks tells a sensitive cell")
        return f"{', and '.join(kept)}, by the attacks that ran."
    if audit.verdict == "incomplete":
        return ""
    parts = []
    if (rules := runs.get("T01")) and rules.people:
        parts.append(f"rules tell the sensitive cell of {_records(rules.people)}")
    if (blanks := runs.get("T02")) and blanks.people:
        other = "other readings of the blanks" if parts else "readings of the blanks"
        parts.append(
            f"{other} tell that of {blanks.people:,}"
            if parts
            else f"{other} tell the sensitive cell of {_records(blanks.people)}"
        )
    return f"{'; '.join(parts)}." if parts else ""


def _records(number: int) -> str:
    return "1 record" if number == 1 else f"{number:,} records"


def hidden(release: Mapping[str, Any], measures: Mapping[str, Any], *, named: bool) -> str:
    """How many cells are hidden, by region; where columns may be named, how many are blank in each."""
    parts = []
    if "cells_hidden" in measures:
        regions = [
            f"{region} {measures[f'cells_hidden_{region}']:,}"
            for region in ("ns", "nc", "sc")
            if f"cells_hidden_{region}" in measures
        ]
        told = f" ({', '.join(regions)})" if regions else ""
        parts.append(f"{measures['cells_hidden']:,} cells hidden{told}")
    if named and (columns := release.get("blank_cells")):
        parts.append("blank cells by column: " + ", ".join(f"{name} {count:,}" for name, count in columns.items()))
    return "; ".join(parts) or "none"


def partial_policy(audit: Audit) -> str:
    """What the publisher accepts."""
    limits = audit.policy.to_dict()
    return (
        f"no rule may tell a sensitive cell with a confidence above {limits['min_confidence']:g} "
        f"and a support above {_records(limits['min_support'])}"
    )


def readings(audit: Audit) -> list[str]:
    """The largest confidence that each reading of the table gives, one sentence each."""
    if not is_table(audit):
        return []
    known = {name: audit.measures.get(name) for name in _READINGS}
    limit, out = audit.policy.to_dict()["min_confidence"], []
    for name, value in known.items():
        if value is not None:
            inferred = audit.measures.get(name.replace("_posterior", "_inferred")) if name.endswith("_posterior") else 0
            over = f", above {limit:g} for {_records(int(inferred))}" if inferred else ""
            out.append(f"{value:.3f} {_READINGS[name]}{over}")
    return out


def next_steps_of_partial(audit: Audit) -> list[str]:
    """What the owner can do now."""
    if audit.verdict == "exposed":
        limits = audit.policy.to_dict()
        bars = f"--min-confidence {limits['min_confidence']:g} --min-support {limits['min_support']}"
        hide = f"tacit hide DATA --qi .. --sa .. --rows FILE --may-hide sc --method uniform {bars} -o OUT"
        return ["Do not publish this table as it is.", f"Hide condition cells of the sensitive records: {hide}."]
    if audit.verdict == "clean":
        return [
            "Clean holds for this table, these rows, these thresholds and the attacks that ran.",
            "Facts known from elsewhere, or other releases about the same people, may add to it.",
        ]
    return []


ALL_VALUES = "The tables are taken to list every value that their people have, so that parts add up to their total."
SOME_VALUES = "The tables are not taken to list every value that their people have: parts may be less than their total."


def printed(release: Mapping[str, Any]) -> str:
    """How the cells of a release of frequency tables were printed, from its entry in a record."""
    parts = [_number(release["tables"], "table"), f"{_number(release['hidden_cells'], 'cell')} hidden"]
    if release.get("convention") is not None:
        about = find_convention(release["convention"]).about
        return "; ".join([*parts, f"read by the convention {release['convention']}: {about}"])
    if release["hidden_below"] is not None:
        zeros = "shown" if release["zeros_shown"] else "hidden, too"
        parts.append(f"each of fewer than {_number(release['hidden_below'], 'person', 'people')}; cells with nobody are {zeros}")
    if release.get("base") is not None:
        parts.append(f"counts rounded to multiples of {release['base']:,}")
    return "; ".join(parts)


def frequencies_record(table: FrequencyTable) -> dict[str, Any]:
    """The record of frequency tables."""
    printing = table.printing
    return {
        "format": "tacit.frequencies/1",
        "n": table.n,
        "columns": list(table.columns),
        "tables": [list(columns) for columns in table.tables()],
        "cells": len(table),
        "hidden_cells": int(table.is_hidden.sum()),
        "hidden_below": printing.hidden_below,
        "zeros_shown": printing.zeros_shown,
        "base": printing.base,
    }


def frequencies_text(table: FrequencyTable, *, dropped: int = 0, origin: str = "") -> str:
    """The same for people to read."""
    record = frequencies_record(table)
    tables, cells, hidden = len(record["tables"]), record["cells"], record["hidden_cells"]
    lines = [f"{_number(tables, 'table')} with {_number(cells, 'cell')} about {_number(table.n or 0, 'person', 'people')}"]
    if table.printing.hidden_below is not None:
        zeros = "cells with nobody are shown" if table.printing.zeros_shown else "cells with nobody are hidden, too"
        lines.append(f"hidden: {_number(hidden, 'cell')} with fewer than {table.printing.hidden_below:,} people; {zeros}")
    if table.printing.base is not None:
        lines.append(f"rounded: to the nearest multiple of {table.printing.base:,}; the header says n exactly")
    if dropped:
        lines.append(f"left out: {_number(dropped, 'row')} with a missing value")
    if origin:
        lines.append(f"options from {origin}")
    return "\n".join(lines) + "\n"


def _number(count: int, one: str, several: str = "") -> str:
    return f"1 {one}" if count == 1 else f"{count:,} {several or one + 's'}"


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
            partial_sentence(audit) if is_table(audit) else "",
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
        return hidden(release, measures, named=kind == "internal")
    if release.get("kind") == "frequencies":
        return printed(release)
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
        out.append(ALL_VALUES if known.pop("knows_all_values") else SOME_VALUES)
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
    if is_table(audit):
        limit = f"no model may give a sensitive value a probability above {policy.max_posterior or 1:g}"
        return [partial_policy(audit), *([limit] if policy.max_posterior is not None else [])]
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
    if is_table(audit) and (steps := next_steps_of_partial(audit)):
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


SENSITIVE: dict[ReportKind, str] = {
    "internal": "Internal report: it describes groups of people. Keep it with the data.",
    "external": "External report: it holds counts only, no description of a group, no value and no name of a column.",
}
ATTACK_COLUMNS = ("Code", "Attack", "Claim", "Status", "Findings", "Waived", "Undecided", "Why")
SKIPPED_COLUMNS = ("Code", "Attack", "Why it does not apply")
SKIPPED_CAPTION = "Attacks that do not apply to what was audited"
ATTACKS_CAPTION = "What became of each attack, and why. “Proves”: true in every database that fits the release."
MEASURE_COLUMNS = ("Measure", "Value", "Unit", "Meaning")
LIMIT_COLUMNS = ("Limit", "Value", "Set by", "Meaning")
WAIVER_COLUMNS = ("About", "Accepted by", "Reason", "Until", "Outcome")
_LIMIT_OF = {"buckets": "Groups", "table": "Blanks"}


def title(audit: Audit) -> str:
    """The heading of a report."""
    return f"Tacit: what {'this release gives' if len(audit.release) == 1 else 'these releases give'} away"


def tiles(audit: Audit, summary: Summary) -> list[tuple[int, str]]:
    """The few numbers that matter; none is shown that was not decided."""
    entries: list[tuple[int, str]] = []
    if audit.verdict != "incomplete" and finds_groups(audit):
        entries.append((summary.groups, f"groups of {summary.span} that can be computed"))
    if summary.groups:
        entries += [(summary.single, "of them a single person"), (summary.people, "people concerned at least")]
    if joint := len(joint_findings(audit)):
        more = " at least" if joint and audit.attack("X01").findings > _MOST_LOOKED_AT else ""
        entries.append((joint, f"groups that need more than one release{more}"))
    if summary.waived:
        entries.append((summary.waived, "findings that somebody accepts"))
    if "vulnerable" in audit.measures:
        entries.append((int(audit.measures["vulnerable"]), f"people who keep fewer than {counted(summary.l, 'possible value')}"))
    if "people_certain" in audit.measures:
        entries.append((int(audit.measures["people_certain"]), "people whose sensitive value is certain"))
    if "people_above_90" in audit.measures:
        entries.append((int(audit.measures["people_above_90"]), "people whose sensitive value is estimated above 0.9"))
    for name, what in (("records_told", "records told by a rule"), ("cells_hidden", "cells hidden")):
        if name in audit.measures:
            entries.append((int(audit.measures[name]), what))
    if "smallest_count" in audit.measures:
        entries.append((audit.measures["smallest_count"], "people in the smallest published count"))
    return entries


JOINT_TITLE = "Findings that need more than one release"
#: So many findings of X01 are looked at to see which files they need.
_MOST_LOOKED_AT = 2_000


def joint_findings(audit: Audit) -> list[Finding]:
    """The findings that no single release tells, worst first; of very many, among the worst of them."""
    if len(audit.release) == 1:
        return []
    run = next((run for run in audit.runs if run.code == "X01"), None)
    if run is None or run.show is None:
        return []
    owner = audit.runs.index(run)
    shown = [index for index in range(min(len(run.severity), _MOST_LOOKED_AT)) if audit.waived.waiver_of(owner, index) is None]
    return [finding for finding in map(run.show, shown) if len({one.release for one in finding.because}) > 1]


def attacks(audit: Audit, kind: ReportKind) -> Iterator[tuple[str, ...]]:
    """One row for each attack that was wanted, also where it could not run."""
    for owner, run in enumerate(audit.runs):
        if run.status == "not-relevant":
            continue
        looked = run.status in ("ran", "stopped")
        numbers = (run.findings, audit.waived.number(owner), run.undecided)
        counts = tuple(f"{number:,}" for number in numbers) if looked else ("-", "-", "-")
        yield run.code, run.name, run.claim, run.status, *counts, reason(audit, run, kind) or "-"


def skipped(audit: Audit, kind: ReportKind) -> list[tuple[str, str, str]]:
    """One row for each attack that does not apply, and why."""
    return [(run.code, run.name, reason(audit, run, kind) or "-") for run in audit.runs if run.status == "not-relevant"]


def measures(audit: Audit) -> Iterator[tuple[str, str, str, str]]:
    """One row for each measure of the record: its name, value, unit and meaning."""
    known = {measure.name: measure for measure in MEASURES}
    for name, value in audit.measures.items():
        if (measure := known.get(name)) is not None:
            yield name, number(value), measure.unit, measure.meaning.replace("`", "")


def number(value: Any) -> str:
    """A measure as it is shown.

    >>> number(30162), number(0.123456789), number(None), number(float("inf")), number(1e-9)
    ('30,162', '0.123457', 'not counted', 'infinite', '1e-09')
    """
    if value is None:
        return "not counted"
    if isinstance(value, float) and not value.is_integer():
        return f"{value:.6g}" if abs(value) != float("inf") else "infinite"
    return f"{int(value):,}"


def files(audit: Audit, kind: ReportKind) -> list[tuple[str, str]]:
    """What was audited and by what: every file with its SHA-256."""
    rows: list[tuple[str, str]] = []
    for release in audit.release:
        limit = _LIMIT_OF.get(release["kind"], "Threshold")
        rows += [("Release", described(release, kind)), (limit, thresholds(release, audit.measures, kind))]
        rows.append(("SHA-256", release["sha256"] or "not read from a file"))
    for entry in audit.inputs:
        name = visible(entry["file"]) if kind == "internal" else "a file"
        rows += [(entry["role"].capitalize(), name), ("SHA-256", entry["sha256"] or "not read from a file")]
    for file in audit.policy.files:
        rows += [("Policy", file.name if kind == "internal" else f"a file of the {file.level}"), ("SHA-256", file.sha256)]
    return [*rows, ("Tacit", __version__)]


def cited(finding: Finding, audit: Audit) -> str:
    """Which of several releases a finding rests on; empty where there is one, or where it cites none."""
    places = sorted({citation.release for citation in finding.because})
    if len(audit.release) == 1 or not places:
        return ""
    names = [visible(str(audit.release[place].get("file") or f"release {place + 1}")) for place in places]
    return f"rests on {names[0]} alone" if len(names) == 1 else f"needs {' and '.join([', '.join(names[:-1]), names[-1]])}"


#: How wide lines are where the terminal does not say.
WIDTH = 100
#: A width at which no line is broken.
UNBROKEN = 1_000_000


def bullet(mark: str, text: str, width: int, *, indent: str = "  ") -> list[str]:
    """Text behind a mark, further lines under the first."""
    lead = f"{indent}{mark} "
    room = max(30, width - len(lead))
    lines = wrap(visible(text), room, break_long_words=False, break_on_hyphens=False) or [""]
    return [lead + lines[0], *(" " * len(lead) + line for line in lines[1:])]
