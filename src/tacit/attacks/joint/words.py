"""What X01 found, in sentences and as a certificate: which lines of which releases are added with which weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tacit.attacks.derivation import listed, people, printed_as, sentence
from tacit.attacks.joint.boxes import ANYTHING_ELSE, MEMBER, Box
from tacit.attacks.joint.case import JointCase
from tacit.attacks.joint.histories import KINDS, change_words, histories_words
from tacit.attacks.joint.lines import Line, Origin, Problem
from tacit.attacks.joint.proofs import Leaf, Step, Tree, Weights, all_weights
from tacit.model.bound import Bound
from tacit.model.event import ItemEvent
from tacit.model.finding import Citation, Finding
from tacit.model.frequencies import UNBOUNDED

CODE = "X01"
#: How many terms of a sum the steps show; the certificate holds all of them.
SHOWN_TERMS = 16


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A small group: its event, its bounds, whether several releases are needed for it, and the steps of both."""

    event: ItemEvent
    lo: int
    hi: int
    together: bool
    proof: Callable[[], tuple[Sequence[Step], Sequence[Step]]]

    @property
    def size(self) -> int:
        """How many items describe the group."""
        return len(self.event.present) + len(self.event.absent) + len(self.event.changes)


def write_out(case: JointCase, problem: Problem, found: Found) -> Finding:
    """A finding with its arithmetic and its certificate."""
    count = Bound(found.lo, found.hi)
    proofs = found.proof()
    told = f"{people(count)} {_told(case, found.event, count)}{_whose(case, found.event)}."
    certificate = {
        "format": "tacit.certificate/1",
        "claim": {"event": found.event.to_dict(), "at_least": found.lo, "at_most": found.hi},
        "people": case.people.to_text(),
        "least": [step_record(problem, step) for step in proofs[0]],
        "most": [step_record(problem, step) for step in proofs[1]],
    }
    used = lines_of([step for proof in proofs for step in proof])
    steps = _words(case, problem, found, proofs)
    return Finding(CODE, found.event, count, told, citations_of(problem, used), tuple(steps), None, certificate)


def _told(case: JointCase, event: ItemEvent, count: Bound) -> str:
    """What the people of an event have, lack and changed."""
    if not event.changes:
        return sentence(event, count)
    verb = "has" if count == Bound(1, 1) else "have"
    changed = listed(tuple(change_words(change, case.names, verb) for change in event.changes), "and")
    having = f"with {listed(event.present, 'and')}" if event.present else ""
    lacking = f"without {listed(event.absent, 'or')}" if event.absent else ""
    return ", ".join(part for part in (changed, having, lacking) if part)


def _whose(case: JointCase, event: ItemEvent) -> str:
    """Among which releases' people, where they differ."""
    if not event.inside:
        return ""
    inside = listed(tuple(case.names[number] for number in event.inside), "and")
    outside = listed(tuple(case.names[number] for number in event.outside), "nor") if event.outside else ""
    every = {1: "", 2: "both "}.get(len(event.inside), "all of ")
    among = f", among the people of {every}{inside}"
    return f"{among} who are not in {outside}" if outside else among


def lines_of(steps: Sequence[Step]) -> list[int]:
    """The lines that steps use."""
    return sorted({number for step in steps for weights in all_weights(step) for kind, number in weights if kind == "line"})


def citations_of(problem: Problem, used: Sequence[int], numbers: Sequence[int] | None = None) -> tuple[Citation, ...]:
    """Each cited place once; weights stand in the certificate. ``numbers`` are those of the releases, where they are others."""
    found: dict[tuple[int, int | str], Citation] = {}
    for number in used:
        origin = problem.lines[number].origin
        release = origin.release if numbers is None else numbers[origin.release]
        found.setdefault((release, origin.place), Citation(release, origin.place, origin.printed, None))
    return tuple(found[key] for key in sorted(found, key=lambda key: (key[0], isinstance(key[1], str), str(key[1]).zfill(12))))


def step_record(problem: Problem, step: Step) -> dict[str, Any]:
    """A step as the certificate holds it."""
    end = "at_least" if step.end == "lo" else "at_most"
    claimed = {"event": box_record(problem, step.box), end: step.value}
    if step.cases is not None:
        return claimed | _tree_record(problem, step.cases)
    return claimed | {"weights": _weight_records(problem, step.weights)}


def _tree_record(problem: Problem, tree: Tree) -> dict[str, Any]:
    """A proof by cases as the certificate holds it."""
    if isinstance(tree, Leaf):
        record: dict[str, Any] = {"weights": _weight_records(problem, tree.weights)}
        return record | {"impossible": True} if tree.impossible else record
    split = {"event": box_record(problem, tree.box), "at": tree.at}
    return {"split": split, "le": _tree_record(problem, tree.fewer), "ge": _tree_record(problem, tree.more)}


def _weight_records(problem: Problem, weights: Weights) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    for (kind, number), weight in weights.items():
        cited: dict[str, Any] = problem.lines[number].origin.to_dict() if kind == "line" else {kind: number}
        out.append(cited | {"weight": str(weight)})
    return out


def box_record(problem: Problem, box: Mapping[int, int]) -> list[dict[str, Any]]:
    """A box: the values of each axis that it allows, or those that it does not."""
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


def _words(case: JointCase, problem: Problem, found: Found, proofs: tuple[Sequence[Step], Sequence[Step]]) -> list[str]:
    """The sums behind both ends; once where both are the same sum."""
    least, most = proofs
    single = len(least) == 1 and len(most) == 1 and found.lo == found.hi and not least[0].cases and not most[0].cases
    if single and most[0].weights == {cited: -weight for cited, weight in least[0].weights.items()}:
        return [*_terms(case, problem, least[0]), f"sum: {found.lo:,}"]
    out: list[str] = []
    for name, proof in (("At least", least), ("At most", most)):
        for number, step in enumerate(proof):
            last = number == len(proof) - 1
            what = "in the group" if last else _group_words(problem, step.box)
            bound = name if last else "At least" if step.end == "lo" else "At most"
            out.append(f"{bound} {step.value:,} {what}:")
            out += _terms(case, problem, step)
            if step.cases is not None:
                out += _case_words(problem, step.cases)
    return out


def _case_words(problem: Problem, tree: Tree, depth: int = 0) -> list[str]:
    """A proof by cases, one line for each case; what settles them stands in the certificate."""
    if isinstance(tree, Leaf):
        return [f"{'in that case ' * bool(depth)}{'nobody at all fits the lines' if tree.impossible else 'the lines show it'}"]
    group = _group_words(problem, tree.box)
    return [
        f"if {group} number at most {tree.at:,}:",
        *_case_words(problem, tree.fewer, depth + 1),
        f"if {group} number at least {tree.at + 1:,}:",
        *_case_words(problem, tree.more, depth + 1),
    ]


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
    if origin.what == "count" and isinstance(origin.place, str):
        where = f"{name}, cell {origin.place}"
    if origin.what == "n":
        return f"all people ({name})"
    if origin.what in ("left", "joined"):
        return f"people who {origin.what}, as declared"
    if origin.what == "changed":
        return f"people who have another {origin.items[0]} than before, as declared"
    if len(line.terms) > 2:
        return f"{_sum_words(line)} ({where})"
    if len(line.terms) == 2:
        (first, left), (second, right) = line.terms
        return f"{first} for {_box_words(left)} and {second} for {_box_words(right)}, at least, by the confidence ({where})"
    counted = _box_words(line.terms[0][1])
    if origin.what == "count" and not origin.printed.is_exact:
        return f"{counted}{_printed_words(origin)} ({where})"
    if origin.what == "fact":
        return f"{counted}, as is known besides ({origin.place})"
    if origin.what == "missing-rule":
        return f"{counted}, at most, as that rule is missing ({where})"
    return f"{counted}, too few to be listed ({where})" if origin.what == "missing" else f"{counted} ({where})"


def _printed_words(origin: Origin) -> str:
    """What a line prints that is not a number of people, and which numbers that means."""
    count = origin.printed
    means = f"{count.lo:,} or more" if count.hi >= UNBOUNDED else f"{count.lo:,} to {count.hi:,}"
    return f"{printed_as(origin.text, count) or ', hidden'}, that is {means}"


def _sum_words(line: Line) -> str:
    """What a line about several groups adds up."""
    return listed(tuple(f"{'' if factor == 1 else f'{factor} times '}{_box_words(box)}" for factor, box in line.terms), "and")


def _box_words(box: Box) -> str:
    """The people of a box."""
    parts = []
    for key, allowed in sorted(box.items()):
        if key == MEMBER:
            continue
        parts.append(_part_words(key.kind, key.name, sorted(allowed.values), allowed.excluded))
    return f"people with {listed(tuple(parts), 'and')}" if parts else "all people"


def _part_words(kind: str, name: str, values: Sequence[str], excluded: bool) -> str:
    """One axis of a box, in words."""
    if kind in KINDS:
        return histories_words(kind, name, values)
    named = name if kind == "item" else f"{name}={' or '.join(values)}"
    return f"not {named}" if excluded else named


def _group_words(problem: Problem, box: Mapping[int, int]) -> str:
    """A group of a step, in words."""
    parts = []
    for entry in box_record(problem, box):
        kind = next(iter(entry))
        if kind == "people":
            continue
        parts.append(_part_words(kind, entry[kind], entry["values"], entry["excluded"]))
    return f"people with {listed(tuple(parts), 'and')}" if parts else "people"
