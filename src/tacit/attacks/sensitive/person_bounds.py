"""Hard bounds for somebody: those of R03, looked for only where they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tacit.attacks.sensitive.case import PeopleCase, RuleCase
from tacit.attacks.sensitive.certain_bounds import all_said
from tacit.attacks.sensitive.person import Person
from tacit.attacks.sensitive.proof_words import ProofWords
from tacit.attacks.sensitive.proofs import Proof, Prover
from tacit.attacks.sensitive.several import SeveralCase
from tacit.attacks.sensitive.several_words import SeveralWords
from tacit.errors import LimitReached
from tacit.inference.bounds import bound
from tacit.inference.branching import NoWhole
from tacit.inference.classes import Clash, reduce
from tacit.inference.program import Infeasible
from tacit.inference.statements import Statements
from tacit.model.person import Shares

#: The search for bounds of a few people ends after this much work, which takes seconds; what is known by then holds.
MOST_WORK = 20_000_000


@dataclass(frozen=True, slots=True)
class PersonBounds:
    """The smallest and the largest share of each value among the people described, and why values are ruled out of one combination."""

    lower: Shares
    upper: Shares
    proof: tuple[str, ...]


def bounds_of(person: Person, *, check: Callable[[], None] = lambda: None) -> PersonBounds | None:
    """The bounds of the people described; None where ``check`` raises LimitReached before there are any."""
    case = person.case
    people = np.zeros(len(case.population), np.int64)
    people[person.combinations] = person.people

    def checked() -> float | None:
        check()
        return None

    said = all_said(case)
    try:
        checked()
        found = bound(reduce(said), people, check=checked, stop=LimitReached, most_work=MOST_WORK)
    except LimitReached:
        return None
    except (Clash, Infeasible, NoWhole):
        case.refuse([one.origin for one in said.listed])
    total = person.people.sum()
    lower, upper = (tuple((part[person.combinations].sum(axis=0) / total).tolist()) for part in (found.lo, found.hi))
    proof: tuple[str, ...] = ()
    if len(person.combinations) == 1:
        q = int(person.combinations[0])
        ruled_out = tuple(np.flatnonzero(found.hi[q] == 0).tolist())
        if ruled_out:
            proved = Prover(said).ruled_out(q, ruled_out)
            proof = told(case, said, q, ruled_out, proved)
    return PersonBounds(lower, upper, proof)


def told(
    case: PeopleCase, said: Statements, combination: int, ruled_out: tuple[int, ...], proof: Proof | None
) -> tuple[str, ...]:
    """Why nobody of a combination has these values, in steps."""
    if isinstance(case, SeveralCase):
        return SeveralWords(case, said, combination, ruled_out).steps(proof)
    assert isinstance(case, RuleCase)
    return ProofWords(case, said, combination, ruled_out).told(proof)[1]
