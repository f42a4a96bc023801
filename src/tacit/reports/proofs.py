"""Findings with the sums that prove them, and which of them are alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tacit.model.finding import (
    BoxEvent,
    Event,
    Finding,
    ItemEvent,
    Shorter,
    Step,
    Term,
    Total,
    lines_named,
    render_counted,
    render_step,
    render_total,
)
from tacit.model.numbers import Bound
from tacit.model.release import Release
from tacit.model.words import join_names
from tacit.reports.document import Proof
from tacit.reports.sentences import signed_amount

SHOWN = 3  #: Findings that are shown, each with its variants counted.
SEARCHED = 200  #: Findings that are searched for variants of the worst.
ALIKE = 0.5  #: Groups are variants of one if they share this much of their description.


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


def proof_of(finding: Finding, release: Release | None = None, *, mark: str = "-", about: str = "") -> Proof:
    """Return a finding and its sum; with ``release``, terms in short."""
    statement, steps = shorten(finding, release)
    waiver = finding.waived
    return Proof(
        mark=mark,
        statement=statement,
        terms=tuple(map(_sum_row, steps)),
        in_full=finding.statement if statement != finding.statement else "",
        waived_by=waiver.name if waiver else "",
        waived_for=waiver.reason if waiver else "",
        about=about,
    )


def shorten(finding: Finding, release: Release | None) -> tuple[str, tuple[Step, ...]]:
    """Return the shortest statement of a finding, and the steps that prove it."""
    statement = finding.statement
    steps = finding.derivation
    for place, step in enumerate(finding.derivation):
        if isinstance(step, Shorter):
            statement = step.statement
            steps = finding.derivation[place + 1 :]
    event = finding.same_people or finding.event
    if release is not None and isinstance(event, ItemEvent):
        return statement, _parts_of_the_first(steps, event, release) or steps
    return statement, steps


def _sum_row(step: Step) -> tuple[str, str]:
    """Return a step as signed number (or nothing) and meaning."""
    if isinstance(step, Total):
        return f"= {render_total(step.bound)}", ""
    if isinstance(step, Term) and step.what:
        what = render_counted(step).removeprefix(": ")
        is_one = step.bound == Bound.of(1) and abs(step.times) == 1
        return signed_amount(step), what.replace("people ", "person ", 1) if is_one and what.startswith("people ") else what
    return "", render_step(step)


def _parts_of_the_first(steps: Sequence[Step], event: ItemEvent, release: Release) -> tuple[Step, ...]:
    """Return steps that name shared items once; none where terms are not parts of one."""
    terms = [step for step in steps if isinstance(step, Term)]
    items = [_items(term, release) for term in terms]
    base = frozenset(event.present)
    are_parts = all(found is not None and base <= found <= base | set(event.absent) for found in items)
    if base not in items or not are_parts:
        return ()
    first = items.index(base)
    parts: list[Step] = [terms[first]]
    for place, term in enumerate(terms):
        if place != first:
            parts.append(replace(term, what=f"of them with {join_names(sorted((items[place] or base) - base), 'and')}"))
    return (*parts, *(step for step in steps if not isinstance(step, Term)))


def _items(term: Term, release: Release) -> frozenset[str] | None:
    if term.where == ("n",):
        return frozenset()
    numbers = [number for lines in lines_named(term) for number in lines.numbers]
    return release.items_at(numbers[0]) if numbers else None
