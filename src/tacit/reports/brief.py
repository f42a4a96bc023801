"""An audit on one screen: verdict, worst findings, cautions, and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tacit.model.audit import Audit
from tacit.model.event import BoxEvent, Event
from tacit.model.finding import Finding
from tacit.model.release import Release
from tacit.reports import sentences
from tacit.reports.audit import proof_of
from tacit.reports.document import WIDTH, Proof, bullet, fold, proof_lines
from tacit.reports.sentences import ReportKind, counted

MOST_LINES = 20
SHOWN = 3  #: Findings that are shown, each with its variants counted.
SEARCHED = 200  #: Findings that are searched for variants of the worst.
ALIKE = 0.5  #: Groups are variants of one if they share this much of their description.
_MOST_REMARKS = 2
_MOST_ASSUMPTIONS = 3
_INDENT = "     "


@dataclass(frozen=True, slots=True)
class Family:
    """The worst of some findings about nearly the same people."""

    worst: Finding
    variants: int


def families(found: Sequence[Finding]) -> list[Family]:
    """Return findings, worst first, each with the number of its variants.

    A variant describes its group by a part of the same items, by more of them, or by half of them and others.
    """
    heads: list[tuple[Finding, frozenset[object]]] = []
    variants: list[int] = []
    for finding in found:
        own = _literals(finding.same_people or finding.event)
        for place, (head, items) in enumerate(heads):
            if _are_alike(items, own) and (head.waived is None) == (finding.waived is None):
                variants[place] += 1
                break
        else:
            heads.append((finding, own))
            variants.append(0)
    return [Family(head, more) for (head, _), more in zip(heads, variants, strict=True)]


def _literals(event: Event) -> frozenset[object]:
    if isinstance(event, BoxEvent):
        return frozenset((column, tuple(sorted(values))) for column, values in event.allowed.items())
    lacks = (("not", name) for name in event.absent)
    others = (one for one in (event.not_all, event.inside, event.outside) if one)
    return frozenset((*event.present, *lacks, *others, *event.changes))


def _are_alike(one: frozenset[object], other: frozenset[object]) -> bool:
    return one <= other or other <= one or len(one & other) >= ALIKE * len(one | other)


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
    facts = list(_facts(audit, kind, origin, width))
    end = list(_end(audit, kind, repair, width))
    shown = families(audit.findings[:SEARCHED])[: SHOWN if top is None else top]
    room = MOST_LINES - len(head) - len(facts) - len(end) - 3
    blocks = [head, facts, _Findings(release, kind, width).fit(shown, room if top is None else None), end]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _verdict(audit: Audit, kind: ReportKind, width: int) -> Iterator[str]:
    first, *others = sentences.verdict_lines(audit)
    for sentence in (f"{audit.verdict.upper()}: {first}", *others):
        yield from fold(sentence, width)
    remarks = [*sentences.files_not_read(audit, kind), *sentences.undated_waivers(audit)]
    for remark in remarks[:_MOST_REMARKS]:
        yield from bullet("-", remark, width)[:2]
    if (more := len(remarks) - _MOST_REMARKS) > 0:
        yield from bullet("-", f"And {more:,} more that were not read (-v lists them).", width)


def _facts(audit: Audit, kind: ReportKind, origin: str, width: int) -> Iterator[str]:
    """Yield what was audited, under which limits, and what was taken for granted."""
    if len(audit.release) == 1:
        what = sentences.describe_release(audit.release[0], kind)
    else:
        lines = sum(entry.get("lines") or 0 for entry in audit.release)
        what = f"{len(audit.release)} releases with {lines:,} lines"
    settings = f" (settings from {origin})" if origin else ""
    yield from bullet("Audited", f"{what}; {sentences.limits_in_force(audit)}{settings}.", width, indent="")
    for sentence in sentences.taken_for_granted(audit, kind)[:_MOST_ASSUMPTIONS]:
        yield from bullet("Assumed", sentence, width, indent="")[:2]


def _end(audit: Audit, kind: ReportKind, repair: str, width: int) -> Iterator[str]:
    ran = [run for run in audit.runs if run.status != "not-relevant"]
    parts = [f"{run.code} {sentences.short_outcome(audit, run, kind)}" for run in ran]
    others = len(audit.runs) - len(ran)
    does_not = f"; {counted(others, 'other does', 'others do')} not apply" if others else ""
    yield from bullet("Attacks", f"{', '.join(parts) or 'none'}{does_not} (-v tells more).", width, indent="")[:3]
    if audit.verdict != "exposed":
        yield from bullet("Next   ", "".join(sentences.next_steps(audit)[0]), width, indent="")[:2]
    elif repair:
        yield f"Repair  {repair}"


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
