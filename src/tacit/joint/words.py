"""Findings of X01: their certificates, citations and steps."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tacit.joint.boxes import ANYTHING_ELSE, Choice, Origin, Problem
from tacit.joint.case import JointCase
from tacit.joint.cube import Leaf, Step, Tree, Weights, all_choices, all_weights
from tacit.model.event import ItemEvent
from tacit.model.finding import Citation, Finding
from tacit.model.numbers import Bound
from tacit.model.words import LookUp, Said, joint_statement, joint_steps

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
    told = joint_statement(found.event, count, case.names)
    certificate = {
        "format": "tacit.certificate/1",
        "claim": {"event": found.event.to_dict(), "at_least": found.lo, "at_most": found.hi},
        "people": case.people.to_text(),
        "least": [step_record(problem, step) for step in proofs[0]],
        "most": [step_record(problem, step) for step in proofs[1]],
    }
    used = [step for proof in proofs for step in proof]
    steps = joint_steps(certificate, look_up_in(case, problem, used))
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

    def look_up(entry: Mapping[str, Any]) -> Said:
        line = cited[_key({name: value for name, value in entry.items() if name != "weight"})]
        origin = line.origin
        return Said(
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
