"""What X01 found, in sentences and as a certificate: which lines of which releases are added with which weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

from tacit.attacks.derivation import listed, people, sentence
from tacit.attacks.joint.boxes import ANYTHING_ELSE, MEMBER, Box
from tacit.attacks.joint.case import JointCase
from tacit.attacks.joint.cube import Cube
from tacit.attacks.joint.lines import Line, Problem
from tacit.attacks.joint.proofs import Prover, Step
from tacit.errors import Contradiction, numbered
from tacit.model.bound import Bound
from tacit.model.event import ItemEvent
from tacit.model.finding import Citation, Finding

CODE = "X01"
#: How many terms of a sum the steps show; the certificate holds all of them.
SHOWN_TERMS = 16


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A small group: its event, its bounds, whether several releases are needed for it, and how it is proved."""

    event: ItemEvent
    lo: int
    hi: int
    together: bool
    cube: Cube
    group: int
    prover: Prover | None
    steps: tuple[Step, ...] = ()

    @property
    def size(self) -> int:
        """How many items describe the group."""
        return len(self.event.present) + len(self.event.absent)

    def proof(self) -> list[list[Step]]:
        """The steps of the lower and of the upper bound."""
        if self.prover is None:
            return [[step] for step in self.steps]
        return [self.prover.prove(self.group, "lo"), self.prover.prove(self.group, "hi")]


def write_out(case: JointCase, problem: Problem, found: Found) -> Finding:
    """A finding with its arithmetic and its certificate."""
    count = Bound(found.lo, found.hi)
    proofs = found.proof()
    told = f"{people(count)} {sentence(found.event, count)}{_whose(case, found.event)}."
    certificate = {
        "format": "tacit.certificate/1",
        "people": case.people.to_text(),
        "least": [_step_record(problem, found.cube, step) for step in proofs[0]],
        "most": [_step_record(problem, found.cube, step) for step in proofs[1]],
    }
    used = _lines_of([step for proof in proofs for step in proof])
    steps = _words(case, problem, found, proofs)
    return Finding(CODE, found.event, count, told, _citations(problem, used), tuple(steps), None, certificate)


def _whose(case: JointCase, event: ItemEvent) -> str:
    """Among which releases' people, where they differ."""
    if not event.inside:
        return ""
    inside = listed(tuple(case.names[number] for number in event.inside), "and")
    outside = listed(tuple(case.names[number] for number in event.outside), "nor") if event.outside else ""
    every = {1: "", 2: "both "}.get(len(event.inside), "all of ")
    among = f", among the people of {every}{inside}"
    return f"{among} who are not in {outside}" if outside else among


def _lines_of(steps: Sequence[Step]) -> dict[int, list[Fraction]]:
    """The lines that steps use, with their weights."""
    used: dict[int, list[Fraction]] = {}
    for step in steps:
        for (kind, number), weight in step.weights.items():
            if kind == "line":
                used.setdefault(number, []).append(weight)
    return dict(sorted(used.items()))


def _citations(problem: Problem, used: dict[int, list[Fraction]]) -> tuple[Citation, ...]:
    """Each cited place once; weights stand in the certificate."""
    found: dict[tuple[int, int | str], Citation] = {}
    for number in used:
        origin = problem.lines[number].origin
        found.setdefault((origin.release, origin.place), Citation(origin.release, origin.place, origin.printed, None))
    return tuple(found[key] for key in sorted(found, key=lambda key: (key[0], isinstance(key[1], str), str(key[1]).zfill(12))))


def _step_record(problem: Problem, cube: Cube, step: Step) -> dict[str, Any]:
    """A step as the certificate holds it."""
    weights: list[dict[str, Any]] = []
    for (kind, number), weight in step.weights.items():
        cited: dict[str, Any] = {"step": number} if kind == "step" else problem.lines[number].origin.to_dict()
        weights.append(cited | {"weight": str(weight)})
    return {"event": _box_record(cube, step.group), "at_least" if step.end == "lo" else "at_most": step.value, "weights": weights}


def _box_record(cube: Cube, group: int) -> list[dict[str, Any]]:
    """A group as a box: the values of each axis that it allows, or those that it does not."""
    out: list[dict[str, Any]] = []
    for axis, slot in zip(cube.axes, cube.slots(group), strict=True):
        if slot == axis.everything:
            continue
        mask = axis.slots[slot]
        inside = [value for place, values in enumerate(axis.classes) if mask >> place & 1 for value in values]
        outside = [value for place, values in enumerate(axis.classes) if not mask >> place & 1 for value in values]
        excluded = ANYTHING_ELSE in inside
        named = sorted(value for value in (outside if excluded else inside) if value is not None)
        out.append({axis.key.kind: axis.key.name, "values": named, "excluded": excluded})
    return out


def _words(case: JointCase, problem: Problem, found: Found, proofs: list[list[Step]]) -> list[str]:
    """The sums behind both ends; once where both are the same sum."""
    least, most = proofs
    single = len(least) == 1 and len(most) == 1 and found.lo == found.hi
    if single and most[0].weights == {cited: -weight for cited, weight in least[0].weights.items()}:
        return [*_terms(case, problem, least[0]), f"sum: {found.lo:,}"]
    out: list[str] = []
    for name, proof in (("At least", least), ("At most", most)):
        for number, step in enumerate(proof):
            last = number == len(proof) - 1
            what = "in the group" if last else _group_words(found.cube, step.group)
            bound = name if last else "At least" if step.end == "lo" else "At most"
            out.append(f"{bound} {step.value:,} {what}:")
            out += _terms(case, problem, step)
    return out


def _terms(case: JointCase, problem: Problem, step: Step) -> list[str]:
    """The terms of a sum, signed as for a lower bound on the group."""
    out = []
    sign = 1 if step.end == "lo" else -1
    for (kind, number), weight in list(step.weights.items())[:SHOWN_TERMS]:
        signed = weight * sign
        times = "" if abs(signed) == 1 else f"{abs(signed)} times "
        word = "plus" if signed > 0 else "minus"
        if kind == "step":
            out.append(f"{word} {times or '1 times '}what was shown above ({number + 1})")
            continue
        line = problem.lines[number]
        bound = line.lo if weight > 0 else line.hi
        out.append(f"{word} {times}{bound:,}: {_line_words(case, line)}")
    if len(step.weights) > SHOWN_TERMS:
        out.append(f"and {len(step.weights) - SHOWN_TERMS:,} more terms, which the certificate lists")
    return out


def _line_words(case: JointCase, line: Line) -> str:
    """What a line counts, and where it stands."""
    origin = line.origin
    name = case.name(origin.release)
    where = f"{name}, line {origin.place}" if isinstance(origin.place, int) else name
    if origin.what == "n":
        return f"all people ({name})"
    if origin.what in ("left", "joined"):
        return f"people who {origin.what}, as declared"
    if len(line.terms) == 2:
        (first, left), (second, right) = line.terms
        return f"{first} for {_box_words(left)} and {second} for {_box_words(right)}, at least, by the confidence ({where})"
    counted = _box_words(line.terms[0][1])
    return f"{counted}, too few to be listed ({where})" if origin.what == "missing" else f"{counted} ({where})"


def _box_words(box: Box) -> str:
    """The people of a box."""
    parts = []
    for key, allowed in sorted(box.items()):
        if key == MEMBER:
            continue
        values = " or ".join(sorted(allowed.values))
        named = key.name if key.kind == "item" else f"{key.name}={values}"
        parts.append(f"not {named}" if allowed.excluded else named)
    return f"people with {listed(tuple(parts), 'and')}" if parts else "all people"


def _group_words(cube: Cube, group: int) -> str:
    """A group of a step, in words."""
    parts = []
    for entry in _box_record(cube, group):
        kind = next(iter(entry))
        if kind == "people":
            continue
        values = " or ".join(entry["values"])
        named = entry[kind] if kind == "item" else f"{entry[kind]}={values}"
        parts.append(f"not {named}" if entry["excluded"] else named)
    return f"people with {listed(tuple(parts), 'and')}" if parts else "people"


def refuse_clash(case: JointCase, problem: Problem, steps: Sequence[Step]) -> NoReturn:
    """Raise a contradiction that names the lines behind it, file by file."""
    places: dict[int, set[int]] = {}
    for number in _lines_of(steps):
        origin = problem.lines[number].origin
        lines = places.setdefault(origin.release, set())
        if isinstance(origin.place, int):
            lines.add(origin.place)
    where = "; ".join(
        f"{case.name(release)}, {numbered(sorted(lines))}" if lines else case.name(release)
        for release, lines in sorted(places.items())
    )
    raise Contradiction(
        "no people fit all that is printed there: the numbers cannot all be true of people as declared",
        where=where,
        remedy="Declare how the people hang together (--people), check the lines and n, or say how numbers were printed (--rounding)",
        lines=[line for lines in places.values() for line in sorted(lines)] if len(places) == 1 else (),
    )
