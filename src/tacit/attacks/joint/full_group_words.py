"""Groups of which everybody has one sensitive value, in sentences and as certificates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tacit.attacks.joint.boxes import HAS
from tacit.attacks.joint.case import JointCase
from tacit.attacks.joint.cube import OPEN
from tacit.attacks.joint.lines import Line, Problem
from tacit.attacks.joint.proofs import Step
from tacit.attacks.joint.words import box_record, citations_of, step_record
from tacit.model.bound import Bound
from tacit.model.event import BoxEvent
from tacit.model.finding import Finding

#: How many terms of a sum the steps show; the certificate holds all of them.
SHOWN_TERMS = 16

Proof = tuple[Sequence[Step], Sequence[Step], Sequence[Step]]


@dataclass(frozen=True, slots=True)
class Blanks:
    """Blanks of a table: its number among the releases, how many they are, and how many rows beside them show a value that is ruled out."""

    release: int
    rows: int
    shown: int


@dataclass(frozen=True, slots=True, eq=False)
class FullGroup:
    """A group by the classes that it allows, the values of the sensitive column that are left to its people, and how many these are.

    ``proof`` shows the fewest and the most people, and that nobody of them has another value; of ``blanks`` only, where there are such, that
    no more people have another value than rows show it.
    """

    box: Mapping[int, int]
    place: int
    column: str
    left: tuple[str, ...]
    lo: int
    hi: int
    proof: Callable[[], Proof]
    blanks: Blanks | None = None

    @property
    def values_left(self) -> int:
        """How many values are left."""
        return len(self.left)

    def event(self, problem: Problem) -> BoxEvent:
        """Who is in the group and has one of the values that are left: the same people."""
        allowed = {problem.axes[at].key.name: tuple(sorted(_named(problem, at, mask))) for at, mask in self.box.items()}
        return BoxEvent(allowed | {self.column: self.left})


def write_out(code: str, case: JointCase, problem: Problem, found: FullGroup, index: int | None) -> Finding:
    """A finding with its proof; ``index`` is the number of the only release, None where there are several."""
    event, count = found.event(problem), Bound(found.lo, found.hi)
    proofs = found.proof()
    names = ("least", "most", "others")
    claim = {"event": event.to_dict(), "at_least": found.lo, "at_most": found.hi}
    numbers = list(range(len(case.releases))) if index is None else [index]
    certificate: dict[str, Any] = {"format": "tacit.certificate/1", "claim": claim, "sensitive": found.column, "of": numbers}
    certificate |= {"people": case.people.to_text()} if index is None else {}
    if found.blanks is not None:
        certificate["blanks"] = {"release": found.blanks.release, "rows": found.blanks.rows, "shown": found.blanks.shown}
    certificate |= {name: [step_record(problem, step) for step in proof] for name, proof in zip(names, proofs, strict=True)}
    told = tuple(line for proof in proofs for line in _words(case, problem, proof))
    told += () if proofs[2] else (f"{found.column} has no other values.",)
    sentence = statement(event, found.column, count)
    if found.blanks is not None:
        name = case.name(found.blanks.release)
        sentence = blank_statement(event, found.column, found.blanks.rows, name)
        told += (f"So many rows of {name} show it: {found.blanks.shown:,}. No blank hides it.",) if proofs[2] else ()
    because = citations_of(problem, [step for proof in proofs for step in proof], numbers)
    return Finding(code, event, count, sentence, because, told, None, certificate)


def blank_statement(event: BoxEvent, column: str, rows: int, name: str) -> str:
    """What blanks hide.

    >>> blank_statement(BoxEvent({"job": ("cook",), "ill": ("flu",)}), "ill", 1, "t.csv")
    'The hidden ill of 1 person with job=cook is flu (t.csv).'
    """
    allowed = event.to_dict()
    values = " or ".join(allowed.pop(column))
    who = _who(allowed)
    return f"The hidden {column} of {_people(Bound(rows, rows))}{f' with {who}' if who else ''} is {values} ({name})."


def statement(event: BoxEvent, column: str, count: Bound) -> str:
    """What everybody of a group has.

    >>> statement(BoxEvent({"village": ("A",), "hiv": ("yes",)}), "hiv", Bound(50, 50))
    'Everyone with village=A has hiv=yes (50 people).'
    """
    allowed = event.to_dict()
    values = " or ".join(allowed.pop(column))
    who = _who(allowed)
    return f"Everyone{f' with {who}' if who else ''} has {column}={values} ({_people(count)})."


def _who(allowed: Mapping[str, Sequence[str]]) -> str:
    return " and ".join(name if listed == [HAS] else f"{name}={' or '.join(listed)}" for name, listed in allowed.items())


def _people(count: Bound) -> str:
    if count == Bound(1, 1):
        return "1 person"
    if count.hi >= OPEN:
        return f"at least {count.lo:,} {'person' if count.lo == 1 else 'people'}"
    return f"{count.lo:,} people" if count.lo == count.hi else f"{count.lo:,} to {count.hi:,} people"


def _named(problem: Problem, at: int, mask: int) -> list[str]:
    """The values of some classes of an axis."""
    return [value for bit, values in enumerate(problem.axes[at].classes) if mask >> bit & 1 for value in values if value]


def _words(case: JointCase, problem: Problem, proof: Sequence[Step]) -> list[str]:
    """The sums of a proof, step by step."""
    out = []
    for step in proof:
        end = "At least" if step.end == "lo" else "At most"
        out.append(f"{end} {step.value:,} {_group(problem, step.box)}:")
        out += _terms(case, problem, step)
    return out


def _group(problem: Problem, box: Mapping[int, int]) -> str:
    """The people of a box."""
    parts = []
    for entry in box_record(problem, box):
        kind = next(iter(entry))
        named = entry[kind] if kind == "item" else f"{entry[kind]}={' or '.join(entry['values'])}"
        parts.append(f"not {named}" if entry["excluded"] else named)
    return f"people with {' and '.join(parts)}" if parts else "people"


def _terms(case: JointCase, problem: Problem, step: Step) -> list[str]:
    """The terms of a sum, signed as for its group."""
    if step.cases is not None:
        return ["by telling cases apart, which the certificate lists"]
    sign = 1 if step.end == "lo" else -1
    out = []
    for (kind, number), weight in list(step.weights.items())[:SHOWN_TERMS]:
        signed = weight * sign
        word = "plus" if signed > 0 else "minus"
        times = "" if abs(signed) == 1 else f"{abs(signed)} times "
        if kind == "step":
            # A step that bounds a group from above counts its people negatively.
            out.append(f"plus {'' if abs(weight) == 1 else f'{abs(weight)} times '}what was shown above ({number + 1})")
            continue
        line = problem.lines[number]
        bound = line.lo if weight > 0 else line.hi
        out.append(f"{word} {times}{bound:,} ({_where(case, line)})")
    if len(step.weights) > SHOWN_TERMS:
        out.append(f"and {len(step.weights) - SHOWN_TERMS:,} more terms, which the certificate lists")
    return out


def _where(case: JointCase, line: Line) -> str:
    """Where a line stands."""
    origin = line.origin
    place = f"line {origin.place}" if isinstance(origin.place, int) else origin.place
    return f"{case.name(origin.release)}, {place}"
