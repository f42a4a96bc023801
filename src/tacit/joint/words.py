"""Findings of X01: their certificates, citations and steps, each group once.

Releases of last year and of this year reveal many groups of people who joined, left or changed, and most say less than others: that two who
left are men adds nothing if both are reported with all their values. Fuller descriptions combine two proofs: if all people of a wider group
have what one group says, whoever of another group is in the wider one has it too. In numbers, at least as many people are in both as in the
two together, less those of the wider group.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

from tacit.joint.boxes import Choice, Problem, item_event
from tacit.joint.cube import Leaf, Prover, Step, Tree, Weights, all_choices, all_weights
from tacit.joint.lower import Found, JointCase
from tacit.model.finding import Citation, Finding, ItemEvent
from tacit.model.numbers import Bound
from tacit.model.words import CitedStatement, LookUp, explain_joint, state_joint

CODE = "X01"


def write_out(case: JointCase, problem: Problem, found: Found) -> Finding:
    """Return a finding with its arithmetic and certificate."""
    count = Bound(found.lo, found.hi)
    proofs = found.proof()
    told = state_joint(found.event, count, case.names)
    certificate = {
        "format": "tacit.certificate/1",
        "claim": {"event": found.event.to_dict(), "at_least": found.lo, "at_most": found.hi},
        "people": case.people.to_text(),
        "least": [step_record(problem, step) for step in proofs[0]],
        "most": [step_record(problem, step) for step in proofs[1]],
    }
    used = [step for proof in proofs for step in proof]
    steps = explain_joint(certificate, look_up_in(case, problem, used))
    return Finding(
        CODE,
        found.event,
        count,
        told,
        because=citations_of(problem, used),
        derivation=tuple(steps),
        certificate=certificate,
    )


def lines_of(steps: Sequence[Step]) -> list[int]:
    """Return the lines that steps use."""
    return sorted({number for step in steps for weights in all_weights(step) for kind, number in weights if kind == "line"})


def citations_of(problem: Problem, steps: Sequence[Step], numbers: Sequence[int] | None = None) -> tuple[Citation, ...]:
    """Return each cited place once; ``numbers`` renumber the releases."""
    found: dict[tuple[int, int | str], Citation] = {}
    used = [problem.lines[number].origin for number in lines_of(steps)]
    for origin in [*used, *(choice.fewer.origin for step in steps for choice in all_choices(step))]:
        release = origin.release if numbers is None else numbers[origin.release]
        found.setdefault((release, origin.place), Citation(release, origin.place, origin.printed, None))
    return tuple(found[key] for key in sorted(found, key=lambda key: (key[0], isinstance(key[1], str), str(key[1]).zfill(12))))


def step_record(problem: Problem, step: Step) -> dict[str, Any]:
    """Return a step for the certificate."""
    end = "at_least" if step.end == "lo" else "at_most"
    claimed = {"event": box_record(problem, step.box), end: step.value}
    if step.cases is not None:
        return claimed | _tree_record(problem, step.cases)
    return claimed | {"weights": _weight_records(problem, step.weights)}


def _tree_record(problem: Problem, tree: Tree) -> dict[str, Any]:
    if isinstance(tree, Leaf):
        record: dict[str, Any] = {"weights": _weight_records(problem, tree.weights)}
        return record | {"impossible": True} if tree.impossible else record
    by = tree.by
    split = by.fewer.origin.to_dict() if isinstance(by, Choice) else {"event": box_record(problem, by.box), "at": by.at}
    return {"split": split, "le": _tree_record(problem, tree.fewer), "ge": _tree_record(problem, tree.more)}


def _weight_records(problem: Problem, weights: Weights) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    for (kind, number), weight in weights.items():
        cited: dict[str, Any] = problem.lines[number].origin.to_dict() if kind == "line" else {kind: number}
        out.append(cited | {"weight": str(weight)})
    return out


def box_record(problem: Problem, box: Mapping[int, int]) -> list[dict[str, Any]]:
    """Return a box as a record of allowed or excluded values."""
    out: list[dict[str, Any]] = []
    for place, mask in sorted(box.items()):
        axis = problem.axes[place]
        if mask != axis.slots[-1]:
            values, excluded = axis.allowed(mask)
            out.append({axis.key.kind: axis.key.name, "values": sorted(values), "excluded": excluded})
    return out


def look_up_in(case: JointCase, problem: Problem, steps: Sequence[Step]) -> LookUp:
    """Return a lookup of the citations of these steps."""
    lines = [problem.lines[number] for number in lines_of(steps)]
    cited = {json.dumps(line.origin.to_dict(), sort_keys=True): line for line in lines}

    def look_up(entry: Mapping[str, Any]) -> CitedStatement:
        line = cited[json.dumps({name: value for name, value in entry.items() if name != "weight"}, sort_keys=True)]
        origin = line.origin
        return CitedStatement(
            terms=[(factor, {tuple(key): tuple(allowed) for key, allowed in box.items()}) for factor, box in line.terms],
            lo=line.lo,
            hi=line.hi,
            release=case.name(origin.release),
            place=origin.place,
            what=origin.what,
            items=origin.items,
            printed=origin.printed,
            text=origin.text,
        )

    return look_up


#: Classes that a group allows, by axis; axes that are not named are unrestricted.
Box = Mapping[int, int]
Name = TypeVar("Name", bound=Hashable)

MOST_MOVERS = 1_000  #: More groups than this are all reported as they are.


def merge_duplicate_movers(groups: Iterable[tuple[Name, Box, int]]) -> tuple[set[Name], int]:
    """Return the redundant groups and the fewest movers; a group has an exact size."""

    def specificity(group: tuple[Name, Box, int]) -> tuple[int, int, str]:
        name, box, _ = group
        return -len(box), sum(mask.bit_count() for mask in box.values()), str(name)

    listed = sorted(groups, key=specificity)
    if len(listed) > MOST_MOVERS:
        return set(), 0
    apart: list[tuple[Name, Box, int]] = []
    for group in listed:
        box = group[1]
        if all(any(not mask & box[axis] for axis, mask in other.items() if axis in box) for _, other, _ in apart):
            apart.append(group)
    fullest = {name for name, _, _ in apart}
    duplicates = {
        name
        for name, box, people in listed
        if any(people == inner[2] and inner[1] != box and _is_inside(inner[1], box) for inner in listed)
        or (name not in fullest and people == sum(size for _, inner, size in apart if _is_inside(inner, box)))
    }
    return duplicates, sum(people for _, _, people in apart)


def _is_inside(inner: Box, outer: Box) -> bool:
    return all(axis in inner and not inner[axis] & ~mask for axis, mask in outer.items())


MOST_COMPARED = 300  #: More groups than this are not compared with each other.


@dataclass(frozen=True, slots=True, eq=False)
class Portrait:
    """Group of an exact size, with the proof."""

    box: Box
    people: int
    least: Step
    most: Step


def combine_portraits(prover: Prover, parts: Sequence[Portrait]) -> Iterator[Portrait]:
    """Yield fuller descriptions of the people of these groups."""
    if len(parts) > MOST_COMPARED:
        return
    known = {frozenset(part.box.items()): part for part in parts}
    seen = set(known)
    for start in parts:
        whole = start
        for part in [*parts, *parts]:
            whole = _combine(prover, known, whole, part) or whole
        if (name := frozenset(whole.box.items())) not in seen:
            seen.add(name)
            yield whole


def portray_group(prover: Prover, cube: int, group: int) -> Portrait:
    """Return what a cube proves about a group."""
    least = prover.step(cube, group, "lo")
    most = prover.step(cube, group, "hi")
    return Portrait(prover.cubes[cube].box(group), least.value, least, most)


def _combine(
    prover: Prover, known: Mapping[frozenset[tuple[int, int]], Portrait], one: Portrait, other: Portrait
) -> Portrait | None:
    if other.box.keys() <= one.box.keys():
        return None
    box = dict(one.box)
    for axis, mask in other.box.items():
        box[axis] = box.get(axis, mask) & mask
    if not all(box.values()):
        return None
    around = {axis: one.box[axis] | other.box[axis] for axis in one.box.keys() & other.box.keys()}
    proved = known.get(frozenset(around.items()))
    wider = proved.most if proved is not None and proved.people == other.people else _find_bound(prover, around, other.people)
    if wider is None:
        return None
    cited = {("step", id(step)): Fraction(1) for step in (one.least, other.least, wider)}
    least = prover.keep(Step(box, "lo", one.people, cited))
    return Portrait(box, one.people, least, prover.keep(Step(box, "hi", one.people, {("step", id(one.most)): Fraction(1)})))


def _find_bound(prover: Prover, masks: dict[int, int], people: int) -> Step | None:
    for number, cube in enumerate(prover.cubes):
        axes = cube.problem.axes
        if not all(place in cube.chosen and mask in axes[place].slot_of for place, mask in masks.items()):
            continue
        group = cube.group(masks)
        if group is not None and int(cube.hi[group]) == people:
            return prover.step(number, group, "hi")
    return None


def event_of(prover: Prover, box: Box) -> ItemEvent | None:
    """Return a box as an event, or None."""
    problem = prover.cubes[0].problem
    known = [axis.slot_of.get(box.get(place, axis.slots[-1])) for place, axis in enumerate(problem.axes)]
    slots = [slot for slot in known if slot is not None]
    return item_event(problem.axes, slots, problem.members) if len(known) == len(slots) else None
