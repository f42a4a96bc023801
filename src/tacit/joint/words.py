"""Findings of X01: their certificates, citations and steps, each group once.

Releases of last year and of this year reveal many groups of people who joined, left or changed, and most say less than others: that two who
left are men adds nothing if both are reported with all their values. Fuller descriptions combine two proofs: if all people of a wider group
have what one group says, whoever of another group is in the wider one has it too. In numbers, at least as many people are in both as in the
two together, less those of the wider group.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

from tacit.joint.boxes import ANYTHING_ELSE, Axis, Choice, Origin, Problem, item_event
from tacit.joint.case import JointCase
from tacit.joint.cube import Leaf, Prover, Step, Tree, Weights, all_choices, all_weights
from tacit.model.event import ItemEvent
from tacit.model.finding import Citation, Finding
from tacit.model.numbers import Bound
from tacit.model.words import CitedStatement, LookUp, explain_joint, state_joint

CODE = "X01"


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Small group: event, bounds and proof.

    ``together``: several releases are needed.
    """

    event: ItemEvent
    lo: int
    hi: int
    together: bool
    proof: Callable[[], tuple[Sequence[Step], Sequence[Step]]]

    @property
    def size(self) -> int:
        """Return how many items describe the group."""
        return len(self.event.present) + len(self.event.absent) + len(self.event.changes)


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
    return Finding(CODE, found.event, count, told, citations_of(problem, used), tuple(steps), None, certificate)


def lines_of(steps: Sequence[Step]) -> list[int]:
    """Return the lines that steps use."""
    return sorted({number for step in steps for weights in all_weights(step) for kind, number in weights if kind == "line"})


def origins_of(problem: Problem, steps: Sequence[Step]) -> list[Origin]:
    """Return the origins of everything that steps use."""
    return [
        *(problem.lines[number].origin for number in lines_of(steps)),
        *(choice.origin for step in steps for choice in all_choices(step)),
    ]


def citations_of(problem: Problem, steps: Sequence[Step], numbers: Sequence[int] | None = None) -> tuple[Citation, ...]:
    """Return each cited place once; ``numbers`` renumber the releases."""
    found: dict[tuple[int, int | str], Citation] = {}
    for origin in origins_of(problem, steps):
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
    """Return a proof by cases for the certificate."""
    if isinstance(tree, Leaf):
        record: dict[str, Any] = {"weights": _weight_records(problem, tree.weights)}
        return record | {"impossible": True} if tree.impossible else record
    by = tree.by
    split = by.origin.to_dict() if isinstance(by, Choice) else {"event": box_record(problem, by.box), "at": by.at}
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
        inside = [value for bit, values in enumerate(axis.classes) if mask >> bit & 1 for value in values]
        outside = [value for bit, values in enumerate(axis.classes) if not mask >> bit & 1 for value in values]
        if not outside:
            continue
        excluded = ANYTHING_ELSE in inside
        named = sorted(value for value in (outside if excluded else inside) if value is not None)
        out.append({axis.key.kind: axis.key.name, "values": named, "excluded": excluded})
    return out


def look_up_in(case: JointCase, problem: Problem, steps: Sequence[Step]) -> LookUp:
    """Return a lookup of the citations of these steps."""
    cited = {_key(problem.lines[number].origin.to_dict()): problem.lines[number] for number in lines_of(steps)}

    def look_up(entry: Mapping[str, Any]) -> CitedStatement:
        line = cited[_key({name: value for name, value in entry.items() if name != "weight"})]
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


def _key(origin: Mapping[str, Any]) -> str:
    return json.dumps(origin, sort_keys=True)


#: Classes that a group allows, by axis; axes that are not named are unrestricted.
Box = Mapping[int, int]
Name = TypeVar("Name", bound=Hashable)

#: More groups than this are all reported as they are.
MOST_MOVERS = 1_000


def merge_duplicate_movers(groups: Iterable[tuple[Name, Box, int]]) -> tuple[set[Name], int]:
    """Return the redundant groups and the fewest movers overall.

    Each group has a name, a box and its exact size.

    >>> men, tall, short = {0: 1}, {0: 1, 1: 1}, {0: 1, 1: 2}
    >>> merge_duplicate_movers([("men", men, 2), ("tall men", tall, 1), ("short men", short, 1)])
    ({'men'}, 2)
    >>> merge_duplicate_movers([("not thin", {0: 6}, 1), ("tall", {0: 2}, 1)])
    ({'not thin'}, 1)
    """
    listed = sorted(groups, key=lambda group: (-len(group[1]), _width(group[1]), str(group[0])))
    if len(listed) > MOST_MOVERS:
        return set(), 0
    apart: list[tuple[Name, Box, int]] = []
    for group in listed:
        if all(_are_apart(group[1], other[1]) for other in apart):
            apart.append(group)
    fullest = {name for name, _, _ in apart}
    duplicates = {
        name
        for name, box, people in listed
        if any(people == inner[2] and inner[1] != box and _is_inside(inner[1], box) for inner in listed)
        or (name not in fullest and _people_inside(box, apart) == people)
    }
    return duplicates, sum(people for _, _, people in apart)


def _width(box: Box) -> int:
    """Return the number of classes that a box allows."""
    return sum(mask.bit_count() for mask in box.values())


def _people_inside(box: Box, apart: Sequence[tuple[Name, Box, int]]) -> int:
    """Return the people in groups inside a box."""
    return sum(people for _, inner, people in apart if _is_inside(inner, box))


def _are_apart(one: Box, other: Box) -> bool:
    return any(not mask & other[axis] for axis, mask in one.items() if axis in other)


def _is_inside(inner: Box, outer: Box) -> bool:
    return all(axis in inner and not inner[axis] & ~mask for axis, mask in outer.items())


#: More groups than this are not compared with each other.
MOST_COMPARED = 300

_ONCE = Fraction(1)


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
    known = {_portrait_key(part.box): part for part in parts}
    seen = set(known)
    for start in parts:
        whole = start
        for part in [*parts, *parts]:
            whole = _combine(prover, known, whole, part) or whole
        if (name := _portrait_key(whole.box)) not in seen:
            seen.add(name)
            yield whole


def _portrait_key(box: Box) -> tuple[tuple[int, int], ...]:
    return tuple(sorted(box.items()))


def portray_group(prover: Prover, cube: int, group: int) -> Portrait:
    """Return what a cube proves about a group."""
    least = prover.step(cube, group, "lo")
    most = prover.step(cube, group, "hi")
    return Portrait(prover.cubes[cube].box(group), least.value, least, most)


def _combine(
    prover: Prover, known: Mapping[tuple[tuple[int, int], ...], Portrait], one: Portrait, other: Portrait
) -> Portrait | None:
    """Combine two descriptions of one group, or return None."""
    if other.box.keys() <= one.box.keys():
        return None
    box = dict(one.box)
    for axis, mask in other.box.items():
        box[axis] = box.get(axis, mask) & mask
    if not all(box.values()):
        return None
    around = {axis: one.box[axis] | other.box[axis] for axis in one.box.keys() & other.box.keys()}
    proved = known.get(_portrait_key(around))
    wider = proved.most if proved is not None and proved.people == other.people else _find_bound(prover, around, other.people)
    if wider is None:
        return None
    cited = {("step", id(step)): _ONCE for step in (one.least, other.least, wider)}
    least = prover.keep(Step(box, "lo", one.people, cited))
    return Portrait(box, one.people, least, prover.keep(Step(box, "hi", one.people, {("step", id(one.most)): _ONCE})))


def _find_bound(prover: Prover, masks: dict[int, int], people: int) -> Step | None:
    """Return the step bounding a box by ``people``, or None."""
    for number, cube in enumerate(prover.cubes):
        named = {axis: mask for axis, mask in masks.items() if axis in cube.chosen}
        if len(named) < len(masks):
            continue
        axes = {place: axis for place, axis in zip(cube.chosen, cube.axes, strict=True) if place in named}
        if any(mask not in axes[place].slot_of for place, mask in named.items()):
            continue
        group = cube.group(named)
        if group is not None and int(cube.hi[group]) == people:
            return prover.step(number, group, "hi")
    return None


def event_of(prover: Prover, box: Box) -> ItemEvent | None:
    """Return a box as an event, or None."""
    problem = prover.cubes[0].problem
    slots = [_slot(axis, box.get(place)) for place, axis in enumerate(problem.axes)]
    known = [slot for slot in slots if slot is not None]
    return item_event(problem.axes, known, problem.members) if len(known) == len(slots) else None


def _slot(axis: Axis, mask: int | None) -> int | None:
    return axis.everything if mask is None else axis.slot_of.get(mask)
