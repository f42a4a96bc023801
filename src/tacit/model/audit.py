"""Outcome of an audit: runs, findings, measures and verdict.

A record ends with a digest of its other entries, which reveals accidental edits. It is not a signature: anyone can compute it for a forged
record; ``tacit verify`` checks the content.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, get_args, overload

import numpy as np
import numpy.typing as npt

from tacit.model.arrays import Flags, Ints, Words
from tacit.model.errors import Exposed, OptionError, nearest_name
from tacit.model.finding import Claim, Event, Finding, finding_id
from tacit.model.numbers import Bound
from tacit.model.people import NotRead
from tacit.model.policy import Limits, Policy, Waiver, event_key
from tacit.model.rebuilt import Rebuilt
from tacit.model.release import Itemsets, Release
from tacit.model.shown import Drawn, Shown, provided
from tacit.model.table import Transactions
from tacit.model.version import __version__

if TYPE_CHECKING:
    from tacit.model.estimates import Posterior
    from tacit.model.repair import Repair, Suggestions

BINDING = "binding"  #: The key under which a record holds its digest.


def digest(record: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a record without its digest."""
    rest = {name: value for name, value in record.items() if name != BINDING}
    plain = json.loads(json.dumps(rest, allow_nan=False))  # names of keys as JSON knows them, before they are sorted
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()


def bound(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record with its digest last."""
    return {name: value for name, value in record.items() if name != BINDING} | {BINDING: digest(record)}


def described(release: Release) -> dict[str, Any]:
    """Return the entry of a release in a record."""
    header = release.header
    source = release.source
    out: dict[str, Any] = {"kind": release.kind, "n": release.n, "lines": len(release), "min_support": release.min_support}
    printed: dict[str, Any] = {"base": header.base, "digits": header.digits, "n_from": header.n_from or None}
    printed["assumed"] = list(header.assumed) or None
    out |= release.details() | {name: value for name, value in printed.items() if value is not None}
    if source is None:
        return out | {"file": None, "sha256": None, "header_sha256": None, "read": {}}
    out |= {"file": source.name, "sha256": source.sha256, "header_sha256": source.header or None}
    return out | {"read": dict(source.options)}


SURE = 0.9  #: An estimate above this is reported with the verdict, whatever the policy says.


#: People whom a caution counts: whose value, or hidden value, is guessed with over 90 %; who are alone with their quasi-identifiers, or
#: with all columns of the table; whose value is an edge of bins; who all have the same number in a cell.
CautionAbout = Literal["value", "hidden value", "alone", "alone by all columns", "edges", "same number"]


@dataclass(frozen=True, slots=True)
class Caution:
    """People at risk in a way that does not decide the verdict.

    ``of`` people were looked at; ``limit`` says that a limit is set and does not judge the estimate.
    """

    code: str
    number: int
    of: int
    about: CautionAbout = "value"
    limit: bool = False
    release: int | None = None

    @property
    def is_guess(self) -> bool:
        """Tell if it is about values that can be guessed."""
        return self.about in ("value", "hidden value")

    @property
    def text(self) -> str:
        """Rest of a sentence about the caution; counts only."""
        among = f"{self.number:,} of {self.of:,} {'person' if self.of == 1 else 'people'}"
        where = "" if self.release is None else f" in release {self.release + 1}"
        is_alone = "is" if self.number == 1 else "are"
        if self.about == "alone":
            return f"{among}{where} {is_alone} alone with their quasi-identifiers ({self.code}), which the verdict does not judge"
        if self.about == "alone by all columns":
            known = "whoever knows the columns without a role as well"
            return f"{among}{where} {is_alone} alone to {known} ({self.code}), which the verdict does not judge"
        if self.about == "edges":
            told = "may show: the outer edges of bins look like the smallest and the largest value"
            return f"the value of {among}{where} {told} ({self.code}), which the verdict does not judge"
        if self.about == "same number":
            told = "in a cell whose numbers show that everyone has the same one, as far as it is printed"
            return f"{among}{where} {is_alone} {told} ({self.code}), which the verdict does not judge"
        who = f"the hidden value of {among}{where}" if self.about == "hidden value" else f"{among}{where}"
        judged = "which the limit set does not judge" if self.limit else "no limit set"
        return f"{who} can be guessed with more than {100 * SURE:.0f} % probability ({self.code}), {judged}"

    def to_dict(self) -> dict[str, Any]:
        """Return the caution as in the record."""
        return {"code": self.code, "text": self.text, "number": self.number, "of": self.of}


def cautions_of(code: str, number: int, of: int, *, about: CautionAbout = "value", limit: bool = False) -> tuple[Caution, ...]:
    """Return the caution about some people, if any."""
    return (Caution(code, int(number), int(of), about, limit),) if number else ()


Status = Literal["ran", "not-relevant", "not-asked", "stopped", "unavailable"]
Verdict = Literal["exposed", "clean", "incomplete"]
Columns = Mapping[str, npt.NDArray[Any]]

#: The attacks that infer values of people who are known, and not that some group exists.
ABOUT_VALUES = frozenset({"R02", "R03", "T01", "T02", "B01", "B02", "B03"})

#: The options of an audit that are nowhere else in its record: what was given besides the releases, and how it was done.
OPTIONS: Mapping[str, Any] = {"given": [], "people": None, "attacks": None, "algorithm": "projection", "first_hit": False}


@dataclass(frozen=True, eq=False, repr=False)
class AttackRun(Shown):
    """Outcome of one attack.

    ``columns`` hold all findings, worst first; ``severity`` orders them among other attacks (small is worse); ``event(i)`` is what finding ``i``
    is about, ``show(i)`` writes it out. ``people`` are proved to be concerned at least; ``undecided`` counts what was left open. A measure is
    None where it was not counted; ``details`` are arrays for tables of the audit. ``parts`` are the runs on the rules about each of several
    sensitive columns. ``by_size`` counts groups by their number of people, if that is known without the columns. ``settled`` tells what the same
    attack on a release that says less can build on.
    """

    code: str
    name: str
    claim: Claim
    status: Status
    reason: str = ""
    people: int = 0
    undecided: int = 0
    measures: Mapping[str, float | None] = field(default_factory=dict)
    columns: Columns = field(default_factory=dict)
    severity: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    event: Callable[[int], Event] | None = None
    show: Callable[[int], Finding] | None = None
    streamed: Mapping[int, int] | None = None
    details: Columns = field(default_factory=dict)
    cautions: tuple[Caution, ...] = ()
    parts: tuple[AttackRun, ...] = ()
    rebuilt: Rebuilt | None = None
    by_size: Mapping[int, int] | None = None
    settled: Callable[[], object] | None = None

    @property
    def findings(self) -> int:
        """Number of findings."""
        return len(self.severity) if self.streamed is None else sum(self.streamed.values())

    @property
    def finds_groups(self) -> bool:
        """Tell if findings are groups, not values of individuals."""
        return self.code not in ABOUT_VALUES

    @property
    def sizes(self) -> Mapping[int, int]:
        """Number of groups found by number of people (upper bound)."""
        if self.streamed is not None:
            return self.streamed
        if self.by_size is not None:
            return self.by_size
        sizes, numbers = np.unique(self.columns.get("count_hi", np.empty(0, np.int64))[~self.is_value], return_counts=True)
        return dict(zip(sizes.tolist(), numbers.tolist(), strict=True))

    @property
    def is_value(self) -> Flags:
        """Flags of findings that are values of known people."""
        left = self.columns.get("values_left")
        if left is None or not self.finds_groups:
            return np.zeros(len(self.columns.get("count_hi", ())), np.bool_)
        return left > 0

    @property
    def decides(self) -> bool:
        """Tell if the run is complete and nothing open."""
        return self.status == "ran" and self.undecided == 0

    def only(self, kept: Ints) -> AttackRun:
        """Return the same run with these findings only."""
        event = self.event
        show = self.show
        assert event is not None
        assert show is not None
        return replace(
            self,
            columns={name: column[kept] for name, column in self.columns.items()},
            severity=self.severity[kept],
            by_size=None,
            event=lambda index: event(int(kept[index])),
            show=lambda index: show(int(kept[index])),
        )

    def id(self, index: int) -> str:
        """Return the id of a finding."""
        assert self.event is not None
        owners = self.columns.get("release")
        return finding_id(self.code, self.event(index), 0 if owners is None else int(owners[index]))

    def to_dict(self) -> dict[str, Any]:
        """Return the run as in the record."""
        out: dict[str, Any] = {"code": self.code, "name": self.name, "claim": self.claim, "status": self.status}
        return out | {"findings": self.findings, "people": self.people, "undecided": self.undecided, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Waived:
    """Accepted findings: ``places`` maps (run, finding) to a waiver."""

    waivers: tuple[Waiver, ...] = ()
    places: Mapping[tuple[int, int], int] = field(default_factory=dict)
    ended: frozenset[int] = frozenset()
    today: date | None = None

    @classmethod
    def among(
        cls, runs: Sequence[AttackRun], waivers: Sequence[Waiver], today: date | None, releases: Sequence[str | None] = ()
    ) -> Waived:
        """Match waivers with the findings of all runs."""
        ended = frozenset(number for number, waiver in enumerate(waivers) if waiver.ended(today))
        ids: dict[str, list[int]] = {}
        events: dict[str, list[int]] = {}
        patterns: list[int] = []
        for number, waiver in enumerate(waivers):
            if number in ended or not waiver.holds_in(releases):
                continue
            if waiver.finding is not None:
                ids.setdefault(waiver.finding, []).append(number)
            if waiver.event is not None:
                events.setdefault(event_key(waiver.event), []).append(number)
            if waiver.is_pattern:
                patterns.append(number)
        places: dict[tuple[int, int], int] = {}
        for owner, run in enumerate(runs):
            missing = {id for id in ids if id.startswith(f"{run.code}-")}
            if run.event is None:
                continue
            wide = [number for number in patterns if waivers[number].code in (None, run.code)]
            for index in range(len(run.severity)):
                if not missing and not events and not wide:
                    break
                name = run.id(index) if missing else ""
                named = ids[name] if name in missing else []
                missing.discard(name)
                described = events.get(event_key(run.event(index).to_dict()), []) if events else []
                covering = [number for number in wide if waivers[number].covers(run.event(index))]
                for number in (*named, *described, *covering):
                    if waivers[number].holds_for(int(run.columns["count"][index]), int(run.columns["count_hi"][index])):
                        places[owner, index] = number
                        break
        return cls(tuple(waivers), places, ended, today)

    def waiver_of(self, owner: int, index: int) -> Waiver | None:
        """Return the waiver of a finding, or None."""
        number = self.places.get((owner, index))
        return None if number is None else self.waivers[number]

    def of(self, owner: int) -> list[int]:
        """Return the accepted findings of a run."""
        return sorted(index for run, index in self.places if run == owner)

    def number(self, owner: int) -> int:
        """Return the number of accepted findings of a run."""
        return sum(run == owner for run, _ in self.places)

    def status(self, number: int) -> tuple[str, int]:
        """Return a waiver's status (ended, undated, applied, unmatched) and number of findings."""
        found = sum(place == number for place in self.places.values())
        over = "undated" if self.today is None else "ended"
        return (over if number in self.ended else "applied" if found else "unmatched"), found

    def to_list(self) -> list[dict[str, Any]]:
        """Return the waivers as in the record."""
        out = []
        for number, waiver in enumerate(self.waivers):
            status, found = self.status(number)
            out.append(waiver.to_dict() | {"status": status, "findings": found})
        return out


@dataclass(frozen=True, eq=False, repr=False)
class Findings(Shown, Sequence[Finding]):
    """Findings of an audit, worst first, accepted ones last, built on access."""

    runs: tuple[AttackRun, ...]
    waived: Waived = field(default_factory=Waived)

    @cached_property
    def order(self) -> Ints | range:
        """Positions of the findings, run by run, in the order of the list."""
        filled = [run.severity for run in self.runs if len(run.severity)]
        severity = filled[0] if len(filled) == 1 else np.concatenate([np.empty(0, np.int64), *filled])
        is_sorted = bool((severity[1:] >= severity[:-1]).all())
        if is_sorted and not self.waived.places:
            return range(len(severity))  # millions of findings, of which few are looked at
        order = np.arange(len(severity)) if is_sorted else np.argsort(severity, kind="stable")
        if not self.waived.places:
            return order
        accepted = np.zeros(len(order), np.bool_)
        accepted[[int(self._starts[owner]) + index for owner, index in self.waived.places]] = True
        return order[np.argsort(accepted[order], kind="stable")]

    @cached_property
    def _starts(self) -> Ints:
        return np.cumsum([0, *(len(run.severity) for run in self.runs)])

    def __len__(self) -> int:
        return int(self._starts[-1])

    @overload
    def __getitem__(self, index: int) -> Finding: ...

    @overload
    def __getitem__(self, index: slice) -> list[Finding]: ...

    def __getitem__(self, index: int | slice) -> Finding | list[Finding]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        position = int(self.order[index])
        owner = int(np.searchsorted(self._starts, position, side="right")) - 1
        run = self.runs[owner]
        if run.show is None:
            raise IndexError(index)
        inner = position - int(self._starts[owner])
        finding = run.show(inner)
        waiver = self.waived.waiver_of(owner, inner)
        return finding if waiver is None else replace(finding, waived=waiver)

    def to_frame(self, *, top: int | None = None, external: bool = False) -> Any:
        """Return the worst ``top`` findings, or all, as a frame; ``external``: without descriptions of groups.

        The frame is one of pandas, or of polars or Arrow where it is not installed. Ids are hashes of descriptions, and left out with them.
        """
        lines = []
        for finding in self[:top]:
            line = {"code": finding.code, "people_at_least": finding.count.lo, "people_at_most": finding.count.hi}
            if finding.probability is not None:
                line["probability"] = finding.probability
            if not external:
                line |= {"statement": finding.statement, "id": finding.id}
            lines.append(line | {"waived": finding.waived is not None})
        names = ("code", "people_at_least", "people_at_most", *(() if external else ("statement", "id")), "waived")
        return provided("frame")(lines, names)


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """Releases of an audit, their populations and other inputs, as given to :func:`tacit.audit`."""

    releases: tuple[Release, ...]
    population: tuple[int, ...]
    given: Mapping[str, Any]


@dataclass(frozen=True, eq=False, repr=False)
class Audit(Drawn):
    """Outcome of an audit.

    ``release`` and ``adversary`` say what was attacked and by whom, in plain values; ``runs`` what became of each attack. ``tables`` are made
    when they are asked for. ``posteriors`` are what was estimated about everybody's sensitive values, of rules and known people, one for each
    sensitive column; ``by_column`` are the measures of each, if there are several, of which ``measures`` has the worst. ``not_read``
    are files of folders and columns of files that were not read, ``ignored`` those that say nothing, ``inputs`` those that were read besides
    the releases. ``suggestions`` say what could be done, where that was asked for. ``options`` are those of the audit that are not told
    elsewhere, so that it can be repeated. ``asked`` is what was audited, for the next step; no record holds it. ``signed_by`` names who answers
    for the audit, where that was given.
    """

    release: tuple[Mapping[str, Any], ...]
    adversary: Mapping[str, Any]
    policy: Policy
    runs: tuple[AttackRun, ...]
    measures: Mapping[str, Any] = field(default_factory=dict)
    tables: Mapping[str, Callable[[], Columns]] = field(default_factory=dict)
    posteriors: tuple[Posterior, ...] = ()
    by_column: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    not_read: tuple[NotRead, ...] = ()
    ignored: tuple[NotRead, ...] = ()
    inputs: tuple[Mapping[str, str], ...] = ()
    suggestions: Suggestions | None = None
    options: Mapping[str, Any] = field(default_factory=lambda: dict(OPTIONS))
    asked: Asked | None = None
    signed_by: str = ""

    @property
    def posterior(self) -> Posterior | None:
        """Estimates about the sensitive column, if there is one."""
        return self.posteriors[0] if len(self.posteriors) == 1 else None

    @property
    def verdict(self) -> Verdict:
        """``exposed``, ``clean`` or ``incomplete``.

        Clean means: everything was read, every attack that applies ran, and none was cut short.
        """
        left_out = self.not_read or any(run.status == "not-asked" for run in self.runs)
        return "incomplete" if left_out and self.asked_verdict == "clean" else self.asked_verdict

    @property
    def asked_verdict(self) -> Verdict:
        """Verdict of the attacks that were asked for."""
        if any(run.findings > self.waived.number(owner) for owner, run in enumerate(self.runs)):
            return "exposed"  # an estimate is a finding only where the policy sets a limit for it
        wanted = [run for run in self.runs if run.status not in ("not-relevant", "not-asked")]
        return "clean" if wanted and all(run.decides for run in wanted) else "incomplete"

    @property
    def may_be_repaired(self) -> bool:
        """True if exposed, or if every attack ran to its end and some question is open still."""
        if self.verdict == "incomplete":
            return (
                not self.not_read
                and all(run.status in ("ran", "not-relevant") for run in self.runs)
                and any(run.undecided for run in self.runs)
            )
        return self.verdict == "exposed"

    @property
    def ok(self) -> bool:
        """True if the release may be published under the policy."""
        return self.verdict == "clean"

    @property
    def rebuilt(self) -> Rebuilt | None:
        """People who are rebuilt, if that was asked for."""
        return next((run.rebuilt for run in self.runs if run.rebuilt is not None), None)

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """Estimates above 90 % that no limit of the policy judges, by attack and release."""
        found = (caution for run in self.runs for caution in run.cautions)
        return tuple(sorted(found, key=lambda one: (one.code, -1 if one.release is None else one.release)))

    @cached_property
    def waived(self) -> Waived:
        """Accepted findings: they stay listed, and do not count for the verdict."""
        return Waived.among(self.runs, self.policy.waivers, self.policy.today, [entry.get("sha256") for entry in self.release])

    def counted(self, code: str) -> int:
        """Return the number of findings of an attack, without accepted ones."""
        return sum(run.findings - self.waived.number(owner) for owner, run in enumerate(self.runs) if run.code == code)

    def sizes(self, run: AttackRun) -> Mapping[int, int]:
        """Return the number of findings by their number of people, without accepted ones."""
        places = self.waived.of(self.runs.index(run))
        if not places or "count_hi" not in run.columns:
            return run.sizes
        left = Counter(run.sizes)
        left.subtract(run.columns["count_hi"][[place for place in places if not run.is_value[place]]].tolist())
        return {size: number for size, number in sorted(left.items()) if number > 0}

    @cached_property
    def findings(self) -> Findings:
        """All findings, worst first, written out only when looked at."""
        return Findings(self.runs, self.waived)

    def attack(self, code: str) -> AttackRun:
        """Return the outcome of the attack with this code."""
        by_code = {run.code: run for run in reversed(self.runs)}
        if code not in by_code:
            remedy = nearest_name(code, [run.code for run in self.runs], "attacks")
            raise OptionError(f"there is no attack {code!r} in this audit", where="attack", remedy=remedy)
        return by_code[code]

    def finding(self, id: str) -> Finding:
        """Return the finding of this id."""
        for run in self.runs:
            if id.startswith(f"{run.code}-") and run.event is not None and run.show is not None:
                for index in range(len(run.severity)):
                    if run.id(index) == id:
                        return run.show(index)
        remedy = "Copy an id from the audit of the same release under the same policy"
        raise OptionError(f"there is no finding {id!r} in this audit", where="finding", remedy=remedy)

    def to_frame(self, *, top: int | None = None, external: bool = False) -> Any:
        """Return the findings as a frame; see :meth:`Findings.to_frame`."""
        return self.findings.to_frame(top=top, external=external)

    def report(
        self, path: Any, *, kind: Literal["internal", "external"] = "internal", top: int = 10, signed_by: str = ""
    ) -> None:
        """Write a page (``.html``), Markdown (``.md``) or the record (``.json``); ``signed_by`` names who answers for it."""
        signed = replace(self, signed_by=signed_by) if signed_by else self
        provided("report")(signed, path, kind=kind, top=top)

    def repair(self, *, method: str | None = None, **options: Any) -> Repair:
        """Return the cheapest repair that is clean, or that of a ``method``.

        Options are those of :func:`tacit.suggest` (``seconds``, ``progress``), or with a method those of :func:`tacit.repair`.
        """
        made: Repair = provided("repair")(self, method=method, **options)
        return made

    def assert_clean(self) -> None:
        """Raise :class:`tacit.Exposed` unless the verdict is clean."""
        if not self.ok:
            raise Exposed(self.verdict, provided("headline")(self), [finding.statement for finding in self.findings[:3]])

    def table(self, name: str) -> Columns:
        """Return the findings of an attack as columns, or a table such as ``"posterior"``."""
        return self.tables[name]() if name in self.tables else self.attack(name).columns

    def summary(self) -> dict[str, Any]:
        """Return the record without its findings."""
        files = {"not_read": self.not_read, "ignored": self.ignored}
        by_column = {name: _finite(measures) for name, measures in self.by_column.items()}
        others = {name: [file.to_dict() for file in listed] for name, listed in files.items() if listed}
        return {
            "verdict": self.verdict,
            "cautions": [caution.to_dict() for caution in self.cautions],
            "release": [dict(entry) for entry in self.release],
            "inputs": [dict(entry) for entry in self.inputs],
            **others,
            "adversary": dict(self.adversary),
            "policy": self.policy.to_dict(),
            "policy_from": self.policy.set_by,
            "policy_files": [file.to_dict() for file in self.policy.files],
            "waivers": self.waived.to_list(),
            "attacks": [run.to_dict() | {"waived": self.waived.number(owner)} for owner, run in enumerate(self.runs)],
            "measures": _finite(self.measures),
            **({"measures_by_column": by_column} if by_column else {}),
        }

    def to_dict(self, *, top: int = 10) -> dict[str, Any]:
        """Return the record: one JSON object, the same for the same input."""
        out = (
            {"format": "tacit.audit/1", "tool": tool()}
            | ({"signed_by": self.signed_by} if self.signed_by else {})
            | self.summary()
        )
        estimates = [one.to_dict(top=top) for one in self.posteriors if one.is_estimated]
        if estimates:
            out["estimates"] = estimates[0] if len(self.posteriors) == 1 else estimates
        if self.rebuilt is not None:
            out["rebuilt"] = self.rebuilt.to_dict()
        if self.suggestions is not None:
            out["suggestions"] = self.suggestions.to_list()
        out |= {"options": {**self.options, "top": top}, "findings": [finding.to_dict() for finding in self.findings[:top]]}
        return bound(out)


def _finite(measures: Mapping[str, Any]) -> dict[str, Any]:
    return {name: None if isinstance(value, float) and not np.isfinite(value) else value for name, value in measures.items()}


def tool() -> dict[str, str]:
    """Return the program and its version for a record."""
    return {"name": "tacit", "version": __version__}


R = TypeVar("R", bound=Release)
Progress = Callable[[float], None]

#: How I01 finds its channels: its own way, or one of the papers' (:mod:`tacit.itemsets.detectors`).
Algorithm = Literal["projection", "naive", "oicd", "pmicd"]
ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)


class Stream(Protocol):
    """Receiver of findings that are not kept."""

    def add_patterns(
        self, code: str, release: Itemsets, line: Ints, present: Words, free: Words | None, bounds: tuple[Ints, Ints]
    ) -> None:
        """Take patterns on published sets.

        ``line`` numbers the sets (-1: the empty one), ``present`` and ``free`` are bits of items that are present and left open.
        """

    def add_events(self, code: str, found: Iterable[tuple[Event, Bound]]) -> None:
        """Take findings of any kind."""


def silent(_: float) -> None:
    """Ignore progress."""


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """Input of one attack.

    ``case`` is the release with what is known about its people, in the form that the attack needs; None if nothing is known. An attack on
    several releases finds them there, and ``release`` is the first of them. ``data`` is the owner's shortcut: an attack may use it only to find
    faster what follows from the release alone. An attack that hands findings to ``stream`` keeps only the worst. X01 also rebuilds people if
    ``rebuild`` is set.
    """

    release: Release
    policy: Policy
    limits: Limits = field(default_factory=Limits)
    data: Transactions | None = None
    index: int = 0
    progress: Progress = silent
    algorithm: Algorithm = "projection"
    first_hit: bool = False
    stream: Stream | None = None
    named: frozenset[str] = frozenset()
    case: object = None
    rebuild: bool = False

    def release_as(self, kind: type[R]) -> R:
        """Return the release as the kind that an attack is made for."""
        assert isinstance(self.release, kind)
        return self.release
