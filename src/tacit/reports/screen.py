"""Audits on one screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.model.audit import Audit
from tacit.model.finding import Finding
from tacit.model.release import Release
from tacit.reports import sentences
from tacit.reports.document import WIDTH, Command, Proof, ReportKind, bullet, capitalise, counted, fold, proof_lines
from tacit.reports.proofs import SEARCHED, SHOWN, Family, families, proof_of
from tacit.reports.suggestions import cost_words

if TYPE_CHECKING:
    from tacit.model.repair import Suggestions

MOST_LINES = 20
_MOST_REMARKS = 2
_INDENT = "     "


def brief_text(
    audit: Audit,
    *,
    release: Release | None = None,
    kind: ReportKind = "internal",
    repair: str = "",
    origin: str = "",
    top: int | None = None,
    width: int = WIDTH,
) -> str:
    """Return an audit in at most 20 lines; ``repair`` is a command, ``origin`` the file of settings.

    With ``top`` so many findings are shown, however long that is.
    """
    head = list(_verdict(audit, kind, width))
    shown = families(audit.findings[:SEARCHED])[: SHOWN if top is None else top]
    findings = _Findings(release, kind, width)
    least = min(len(shown), 1) * _ONE_FINDING
    drafts: list[list[list[str]]] = []
    for shortness in _SHORTER:
        if drafts and (audit.suggestions is not None or not shortness.assumptions):
            break  # repairs that were asked for come first, and some assumption is told if there is room
        facts = list(_facts(audit, kind, origin, width, shortness.assumptions))
        end = list(_end(audit, kind, repair, width, shortness))
        room = MOST_LINES - len(head) - len(facts) - len(end) - 3
        if room >= least or shortness is _SHORTER[-1]:
            drafts.append([head, facts, findings.fit(shown, room if top is None else None), end])
    best = max(drafts, key=lambda blocks: len(blocks[2]))  # the first of those that tell most of the findings
    return "\n\n".join("\n".join(block) for block in best if block) + "\n"


@dataclass(frozen=True, slots=True)
class _Shortness:
    """How many repairs and assumptions a short text shows."""

    repairs: int
    assumptions: int


_SHORTER = tuple(_Shortness(repairs, assumptions) for repairs, assumptions in ((2, 3), (2, 2), (1, 3), (1, 2), (1, 1), (1, 0)))
_ONE_FINDING = 3  #: Lines that a finding takes in short.


def _verdict(audit: Audit, kind: ReportKind, width: int) -> Iterator[str]:
    first, *others = sentences.verdict_lines(audit)
    for sentence in (f"{audit.verdict.upper()}: {first}", *others):
        yield from fold(sentence, width)
    remarks = [*sentences.files_not_read(audit, kind), *sentences.idle_waivers(audit)]
    for remark in remarks[:_MOST_REMARKS]:
        yield from bullet("-", remark, width)[:2]
    if (more := len(remarks) - _MOST_REMARKS) > 0:
        yield from bullet("-", f"And {more:,} more that were not read (-v lists them).", width)


def _facts(audit: Audit, kind: ReportKind, origin: str, width: int, most: int) -> Iterator[str]:
    """Yield what was audited, under which limits, and what was taken for granted."""
    if len(audit.release) == 1:
        what = sentences.describe_release(audit.release[0], kind)
    else:
        lines = sum(entry.get("lines") or 0 for entry in audit.release)
        what = f"{len(audit.release)} releases with {lines:,} lines"
    settings = f" (settings from {origin})" if origin else ""
    yield from bullet("Audited", f"{what}; {sentences.limits_in_force(audit)}{settings}.", width, indent="")
    for sentence in sentences.taken_for_granted(audit, kind)[:most]:
        yield from bullet("Assumed", sentence, width, indent="")[:2]


def _end(audit: Audit, kind: ReportKind, repair: str, width: int, shortness: _Shortness) -> Iterator[str]:
    ran = [run for run in audit.runs if run.status != "not-relevant"]
    outcomes: dict[str, list[str]] = {}
    for run in ran:
        is_alone = run.status in ("ran", "stopped")
        outcomes.setdefault(f"{run.code * is_alone} {sentences.short_outcome(audit, run, kind)}", []).append(run.code)
    parts = [outcome if outcome[0] != " " else f"{', '.join(codes)}{outcome}" for outcome, codes in outcomes.items()]
    others = len(audit.runs) - len(ran)
    does_not = f"; {counted(others, 'other does', 'others do')} not apply" if others else ""
    unsaid = len(sentences.taken_for_granted(audit, kind)) - shortness.assumptions
    more = f"more, and {counted(unsaid, 'more assumption')}" if unsaid > 0 else "more"
    yield from bullet("Attacks", f"{', '.join(parts) or 'none'}{does_not} (-v shows {more}).", width, indent="")[:3]
    if audit.verdict != "exposed":
        yield from bullet("Next   ", "".join(sentences.next_steps(audit)[0]), width, indent="")[:4]
    if audit.suggestions is not None and kind == "internal" and len(audit.suggestions):
        yield from _suggested(audit, audit.suggestions, width, shortness.repairs)
    elif audit.verdict != "exposed":
        yield from [f"Repair  {repair}"] if repair else []
    elif kind == "internal" and not sentences.judges_classes(audit) and (first := sentences.before_repair(audit)):
        yield from bullet("Next   ", first, width, indent="")[:3]
    elif repair:
        yield f"Repair  {repair}"
    elif sentences.judges_classes(audit) and kind == "internal":
        for number, step in enumerate(sentences.next_steps(audit)[1:]):
            text = "".join(part for part in step if not isinstance(part, Command)).strip(" :.")
            commands = [part for part in step if isinstance(part, Command)]
            yield from bullet("       " if number else "Next   ", f"{text}{':' if commands else '.'}", width, indent="")
            yield from (f"        {command}" for command in commands)


def _suggested(audit: Audit, suggestions: Suggestions, width: int, most: int) -> Iterator[str]:
    """Yield the repairs that make a release clean, and what became of the others."""
    for one in suggestions.clean[:most]:
        yield from bullet("Repair ", f"{capitalise(one.what)}: {cost_words(one)}.", width, indent="")[:2]
        yield from (f"        {line}" for line in suggestions.lines(one))
    if not suggestions.clean:
        yield from bullet("Repair ", sentences.no_repair(audit), width, indent="")[:3]
    unlike = [one for one in suggestions if one not in suggestions.clean[:most] and one not in suggestions.late]
    if unlike:
        names = "; ".join(dict.fromkeys(one.method for one in unlike))
        yield from bullet("Tried  ", f"{names} (-v shows more).", width, indent="")[:2]
    if suggestions.late:
        names = "; ".join(dict.fromkeys(one.method for one in suggestions.late))
        told = f"Not tried (out of time): {names}; allow more with --suggest {suggestions.more_seconds}."
        yield from bullet("Time   ", told, width, indent="")[:2]


@dataclass(frozen=True, slots=True)
class _Findings:
    """Writer of findings: in full, in short, or fewer of them."""

    release: Release | None
    kind: ReportKind
    width: int

    def fit(self, shown: Sequence[Family], room: int | None) -> list[str]:
        """Return as much of the findings as there is room for."""
        lines: list[str] = []
        for number in range(len(shown), 0, -1):
            for in_full in (number, 1, 0):
                lines = [
                    line for place in range(number) for line in self._lines(shown[place], place + 1, in_full=place < in_full)
                ]
                if room is None or len(lines) <= room:
                    return lines
        return lines[:room]

    def _lines(self, one: Family, place: int, *, in_full: bool) -> list[str]:
        finding = one.worst
        if self.kind == "external":
            return bullet(f"{place}.", sentences.counted_only(finding), self.width)
        proof = proof_of(finding, self.release)
        more = f" And {counted(one.variants, 'variant')}." if one.variants else ""
        waived = f" Waived by {proof.waived_by}." if proof.waived_by else ""
        lines = bullet(f"{place}.", f"{proof.statement}{more}{waived} [{finding.id}]", self.width)
        return lines + self._sum(finding, proof, in_full=in_full)

    def _sum(self, finding: Finding, proof: Proof, *, in_full: bool) -> list[str]:
        is_whole = all(number for number, _ in proof.terms)
        has_one_sum = is_whole and sum(number.startswith("=") for number, _ in proof.terms) == 1
        if has_one_sum and in_full:
            return list(proof_lines(Proof(mark="", statement="", terms=proof.terms), self.width))[1:]
        text = " ".join(f"{number} {what}".strip() for number, what in proof.terms).removeprefix("+ ")
        if not has_one_sum or len(text) > 2 * (self.width - len(_INDENT)):
            text = self._in_words(finding, proof)
        return bullet(_INDENT[:-1], text, self.width, indent="") if text else []

    def _in_words(self, finding: Finding, proof: Proof) -> str:
        """Return the last sentence of a proof, or how many numbers prove it."""
        told = [what for number, what in proof.terms if not number and proof.statement not in what]
        if told and not any(number for number, _ in proof.terms):
            return told[-1]
        return f"Computed from {counted(len(finding.because), 'published number')} (-v shows the sum)."
