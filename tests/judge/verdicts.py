"""Tacit's answer about a case, and whether every world agrees with it."""

from __future__ import annotations

import csv
import io
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import numpy as np

import tacit
from tests.judge.cases import Case, Group
from tests.judge.publishers import PRESENT, ROW
from tests.judge.worlds import OTHER, Flags, Space, TooLarge, span

Outcome = Literal["right", "undecided", "false clean", "false proof", "refused", "not verified", "too large"]

#: Outcomes that are disagreements: databases that fit the release contradict what was said about it.
WRONG = ("false clean", "false proof", "refused", "not verified")
#: What is said of rules about people who are not known.
PEOPLE_NEEDED = "what rules say of people who are known needs their quasi-identifiers"
#: Everybody must keep so many sensitive values.
L = 2


@dataclass
class Verdict:
    """What became of a case: the judge's word, and what it was about."""

    case: Case
    outcome: Outcome
    said: str = ""
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    judged: float = 0.0


@dataclass
class Answer:
    """What Tacit said: verdict, groups with the fewest and the most people of each, what is open, and proofs that its checker rejects."""

    verdict: str
    findings: list[dict[str, Any]]
    open: list[str]
    rejected: list[str]


def write_files(case: Case, folder: Path) -> list[str]:
    """Write the files of all releases and return what to audit."""
    for release in case.releases:
        for name, text in release.files.items():
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return [str(folder / release.name) for release in case.releases]


def ask(case: Case, folder: Path) -> Answer:
    """Tacit's answer."""
    paths = write_files(case, folder)
    given: dict[str, Any] = {"policy": tacit.Policy(k=case.k, l=L, min_confidence=1)}  # what rules suggest is no proof
    if case.people is not None:
        given["people"] = people_of(case.people)
    if case.known is not None:
        columns = list(case.known[0])
        given["known"] = tacit.read_table({column: [row[column] for row in case.known] for column in columns}, qi=columns)
    if case.knowledge:
        given["knowledge"] = case.knowledge
    read = [tacit.read_release(path, convention=case.convention) for path in paths]
    what: Any = read if len(read) > 1 else read[0]
    audit = tacit.audit(what, **given)
    record = audit.to_dict(top=100_000)
    still_open = []
    for run in record["attacks"]:
        if run["claim"] == "proves" and (run["undecided"] or run["status"] in ("stopped", "unavailable")):
            still_open.append(f"{run['code']} {run['status']}, {run['undecided']} undecided: {run['reason']}")
    rejected: list[str] = []
    if record["findings"]:
        facts = {name: given[name] for name in ("known", "knowledge") if name in given}
        try:
            rejected = list(tacit.verify(record, what, **facts).problems)
        except tacit.TacitError as error:
            rejected = [str(error)]
    if case.visits is not None:
        rejected += differences_by_data(case, what, record, given)
    return Answer(record["verdict"], record["findings"], still_open, rejected)


def differences_by_data(case: Case, release: Any, record: Mapping[str, Any], given: Mapping[str, Any]) -> list[str]:
    """What an audit with the owner's rows says otherwise: they are a shortcut, and tell nothing."""
    assert case.visits is not None
    table = tacit.read_table({column: [row[column] for row in case.visits] for column in case.visits[0]})
    with_data = tacit.audit(release, data=table, **given).to_dict(top=100_000)
    if record["verdict"] == "incomplete":  # the rows may settle what could not be decided without
        return []
    names = ("verdict", "findings")
    return [f"with the data: other {name} than without" for name in names if with_data[name] != record[name]]


def people_of(text: str) -> Any:
    """The declaration as Python takes it."""
    if text.startswith("left:"):
        spans = [tuple(int(end) for end in part.partition(":")[2].split("-")) for part in text.split(",")]
        return tacit.Churn(left=(spans[0][0], spans[0][-1]), joined=(spans[1][0], spans[1][-1]))
    return {"same": tacit.Same, "nested": tacit.Nested, "unknown": tacit.Unknown}[text]()


def judge(case: Case) -> Verdict:
    """Compare Tacit's answer with all worlds."""
    space = case.space()
    started = time.process_time()
    outside = replace(case, known=None)  # groups are what the releases tell whoever does not know their people
    told = outside.space()
    groups = outside.groups(told)
    try:
        sizes = outside.problem(told).sizes(case.most, [told.flags(*group) for group in groups])
    except TooLarge:
        return Verdict(case, "too large")
    assert all(sizes), "the people that the releases were made of fit them"
    provable = [one for one in zip(groups, map(span, sizes), strict=True) if is_small(case, *one)] if case.groups_count else []
    wanted = [one for one in provable if not is_printed_row_by_row(case, space, one[0])]
    people = exposed_people(case, space) + full_groups(case, space, groups, sizes)
    judged = time.process_time() - started
    started = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        try:
            answer = ask(case, Path(folder))
        except tacit.TacitError as error:
            return Verdict(case, "refused", str(error), seconds=time.process_time() - started, judged=judged)
    seconds = time.process_time() - started
    started = time.process_time()
    wrong = contradicted(case, space, answer.findings)
    judged += time.process_time() - started
    notes = [describe(group, lo, hi) for group, (lo, hi) in wanted] + people
    verdict = Verdict(case, "right", answer.verdict, notes, seconds, judged)
    if wrong:
        verdict.outcome, verdict.notes = "false proof", wrong
    elif answer.rejected:
        verdict.outcome, verdict.notes = "not verified", answer.rejected
    elif answer.verdict == "exposed":
        is_true = provable or people or full_groups(case, space, groups, sizes, case.sensitive)
        verdict.outcome = "right" if is_true else "false proof"
        if not is_true:
            verdict.notes = [f"found: {finding['statement']} {finding['count']}" for finding in answer.findings]
    elif answer.verdict == "clean":
        verdict.outcome = "false clean" if notes else "right"
    else:
        verdict.outcome = incomplete(case, answer, bool(wanted), bool(notes))
        verdict.notes = [*answer.open, *notes]
    return verdict


def incomplete(case: Case, answer: Answer, group: bool, anything: bool) -> Outcome:
    """What an undecided verdict is worth.

    Rules of unknown people are never clean, so only their groups are judged; nor are lists that do not say n.
    """
    needs_people = all(line.startswith(("R02 unavailable", "R03 unavailable")) or PEOPLE_NEEDED in line for line in answer.open)
    if case.sensitive is None and needs_people:
        return "false clean" if group else "right"
    needs_n = all("number of people is not known" in line for line in answer.open)
    return "right" if needs_n and not anything else "undecided"


def is_small(case: Case, group: Group, ends: tuple[int, int]) -> bool:
    """Whether every world has somebody in the group and fewer than k people; what was only declared does not count."""
    lo, hi = ends
    return lo > 0 and hi < case.k and case.declared_span(group) != (lo, hi)


def is_printed_row_by_row(case: Case, space: Space, group: Group) -> bool:
    """Whether a table with blanks proves the group or one around it by itself, and no other release does: then it is no finding."""
    if ROW not in space.columns or len(case.releases) == 1:
        return False
    rows, other = (replace(case, releases=[release], people=None) for release in case.releases)
    (bits,) = other.problem(space).sizes(case.most, [space.flags(*group)])
    if is_small(other, group, span(bits)):
        return False
    box = group[0]
    wider = [dict(chosen) for size in range(1, len(box) + 1) for chosen in combinations(box.items(), size)]
    sizes = rows.problem(space).sizes(case.most, [space.flags(one) for one in wider])
    return any(is_small(rows, (one, (), ()), span(bits)) for one, bits in zip(wider, sizes, strict=True))


def exposed_people(case: Case, space: Space) -> list[str]:
    """Those known people who keep fewer than l values of a sensitive column in all worlds."""
    if case.sensitive is None:
        return []
    return [text for column in (case.sensitive, *case.beside) for text in exposed_by_column(case, space, column)]


def exposed_by_column(case: Case, space: Space, sensitive: str) -> list[str]:
    """The same for one sensitive column."""
    kinds: set[Any]
    others = [column for column in space.columns if column not in (case.sensitive, *case.beside)]
    values = space.columns[sensitive]
    if ROW in others:
        others = [ROW]
        names, *rows = csv.reader(io.StringIO(case.releases[0].files[case.releases[0].name]))
        blank = sorted({tuple(row) for row in rows})
        kinds = {(str(place),) for place, row in enumerate(blank) if not row[names.index(sensitive)]}
    elif case.known is not None:
        kinds = {tuple(row[column] for column in others) for row in case.known}
    else:
        release = case.releases[0]
        people = csv.DictReader(io.StringIO(release.files[f"{release.name}/qit.csv"]))
        kinds = {tuple(row[column] for column in others) for row in people}
    ordered = sorted(kinds)
    boxes = [
        {**{column: frozenset([one]) for column, one in zip(others, kind, strict=True)}, sensitive: frozenset([value])}
        for kind in ordered
        for value in values
    ]
    sizes = case.problem(space, known=True).sizes(case.most, [space.flags(box) for box in boxes])
    assert all(sizes)
    out = []
    for place, kind in enumerate(ordered):
        here = sizes[place * len(values) : (place + 1) * len(values)]
        left = [value for value, bits in zip(values, here, strict=True) if span(bits)[1] > 0]
        if len(left) < L and OTHER not in left:
            out.append(f"{dict(zip(others, kind, strict=True))} keeps {sensitive} {left}")
    return out


def full_groups(case: Case, space: Space, groups: Sequence[Group], sizes: Sequence[int], also: str | None = None) -> list[str]:
    """Groups of somebody in every world, of which everybody has the same sensitive value; where rules stand alone nobody looks.

    ``also`` names a column that is sensitive besides: of a table with blanks, where most of these groups can be read off its rows.
    """
    named = {release.sensitive for release in case.releases if release.sensitive} | ({also} if also else set())
    if not named or case.known is not None or (len(case.releases) == 1 and "rules" in case.kind):
        return []
    out = []
    for sensitive in sorted(named):
        everybody: list[tuple[Group, int]] = [(({}, (), ()), 1 << case.most)] if len(case.members) == 1 else []
        chosen = everybody + [
            (group, bits) for group, bits in zip(groups, sizes, strict=True) if not named & set(group[0]) and span(bits)[0] > 0
        ]
        values = space.columns[sensitive]
        flags = [
            space.flags({**box, sensitive: frozenset([value])}, inside, outside)
            for (box, inside, outside), _ in chosen
            for value in values
        ]
        here = case.problem(space).sizes(case.most, flags)
        for place, (group, bits) in enumerate(chosen):
            left = [value for at, value in enumerate(values) if span(here[place * len(values) + at])[1] > 0]
            if len(left) < L and OTHER not in left:
                out.append(f"{describe(group, *span(bits))}, who all have {left}")
    return out


def contradicted(case: Case, space: Space, findings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Findings whose stated number of people some world contradicts."""
    if not findings:
        return []
    groups = [flags_of(case, space, finding) for finding in findings]
    sizes = case.problem(space, known=case.known is not None).sizes(case.most, groups)
    out = []
    for finding, bits in zip(findings, sizes, strict=True):
        lo, hi = span(bits)
        if not finding["count"][0] <= lo <= hi <= finding["count"][1]:
            out.append(f"{finding['code']}: {finding['statement']} said {finding['count']}, worlds have {lo} to {hi}")
    return out


def flags_of(case: Case, space: Space, finding: Mapping[str, Any]) -> Flags:
    """The cells of the event of a finding, over items or over columns; what one release says is about its people."""
    event = dict(finding["event"])
    inside, outside = tuple(event.pop("inside", ())), tuple(event.pop("outside", ()))
    if finding["code"] != "X01" and len(case.members) > 1:
        inside = (finding["because"][0]["release"],)
    flags = space.flags({}, inside, outside)
    if finding.get("certificate", {}).get("blanks"):
        flags &= space.flags({ROW: blank_rows(case, event)})
    if "present" not in event:
        for column, values in event.items():
            flags &= space.flags({column: frozenset(values)})
        return flags
    for item in event["present"]:
        flags &= _having(space, item)
    for item in event["absent"]:
        flags &= ~_having(space, item)
    return flags


def blank_rows(case: Case, event: Mapping[str, Any]) -> frozenset[str]:
    """The rows of a table that show what an event says, and hide the sensitive cell."""
    names, *rows = csv.reader(io.StringIO(case.releases[0].files[case.releases[0].name]))
    out = []
    for place, pattern in enumerate(sorted({tuple(row) for row in rows})):
        shown = dict(zip(names, pattern, strict=True))
        others = {column: values for column, values in event.items() if column != case.sensitive}
        if not shown[case.sensitive or ""] and all(shown[column] in values for column, values in others.items()):
            out.append(str(place))
    return frozenset(out)


def _having(space: Space, item: str) -> Flags:
    if item in space.columns:
        return space.flags({item: frozenset([PRESENT])})
    column, _, value = item.partition("=")
    assert column in space.columns, item
    return space.flags({column: frozenset([value])}) if value else np.zeros(len(space.cells), np.bool_)


def describe(group: Group, lo: int, hi: int) -> str:
    """A group and its size over all worlds, in a line."""
    box, inside, outside = group
    words = [f"{column} in {sorted(values)}" for column, values in box.items()]
    words += [f"in release {number}" for number in inside] + [f"not in release {number}" for number in outside]
    return f"{' and '.join(words)}: {lo} to {hi} people in every world"
