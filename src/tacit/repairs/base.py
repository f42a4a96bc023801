"""What a repair is given, and what a row of the table of repairs holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from tacit.errors import OptionError
from tacit.model.audit import Audit
from tacit.model.release import Changes, Itemsets, Listed, MadeBy
from tacit.model.rounding import Precision
from tacit.model.table import Table
from tacit.model.transactions import Transactions

#: Which attacks a repair must defeat: every one that applies, or only those on published itemsets (I01).
Goal = Literal["all", "frequent-only"]
GOALS: tuple[Goal, ...] = ("all", "frequent-only")


@dataclass(frozen=True, slots=True, eq=False)
class RepairCase:
    """A release to be repaired.

    ``audit`` attacks a candidate under the policy and the goal, with the data that the candidate was made from where there are any; ``mine``
    makes a release like this one (same kind, same threshold as a count) from other data, ``mine_all`` one of all frequent itemsets. They are
    handed in, so that repairs share no code with the attacks. ``precision`` is asked for by whoever rounds; ``first_look`` is an audit that may
    stop at its first finding: enough to know the verdict. ``table`` holds the people that rules were made from, with their columns;
    ``most_looks`` is how many audits a search may add that only makes the result better, ``lines`` which lines of the file are to be taken
    out, ``least_base`` the smallest base to round to.
    """

    release: Listed
    k: int
    audit: Callable[[Listed, Transactions | None], Audit]
    mine: Callable[[Transactions], Itemsets]
    mine_all: Callable[[Transactions], Itemsets]
    data: Transactions | None = None
    goal: Goal = "all"
    precision: Precision | None = None
    first_look: Callable[..., Audit] | None = None
    table: Table | None = None
    most_looks: int = 150
    lines: tuple[int, ...] | None = None
    least_base: int = 2

    def look(self, candidate: Listed, data: Transactions | None = None) -> Audit:
        """An audit of a candidate that is enough for its verdict; ``data`` that it is true of refute quickly what is not small."""
        if self.first_look is None:
            return self.audit(candidate, data)
        return self.first_look(candidate) if data is None else self.first_look(candidate, data)


@dataclass(frozen=True, slots=True, eq=False)
class Proposal:
    """A changed release, and the data that it is a true release of (None: it has been cut from the original without new data).

    ``remark`` says in a sentence what the owner should know where the goal is not met.
    """

    release: Listed
    data: Transactions | None = None
    remark: str = ""


@dataclass(frozen=True, slots=True)
class RepairMethod:
    """A row of the table: ``of`` names the kinds of release, ``propose`` returns a changed one. The audit decides whether it is safe.

    ``changes`` is what the header of the result tells its readers about the method.
    """

    name: str
    of: tuple[str, ...]
    needs_data: bool
    propose: Callable[[RepairCase], Proposal]
    summary: str
    source: str
    changes: Changes

    def signed(self, made: Listed, start: Listed) -> Listed:
        """The result with its method in the header, where it differs from what was there before."""
        if made is start:
            return made
        return replace(made, header=replace(made.header, made_by=(*start.header.made_by, MadeBy(self.name, self.changes))))


def itemsets_of(case: RepairCase, name: str) -> Itemsets:
    """The release of a case when it lists all or closed itemsets; other releases are refused."""
    if not isinstance(case.release, Itemsets) or case.release.only == "maximal":
        remedy = "Mine with --only closed or --only all; the supports of subsets follow from neither rules nor maximal itemsets"
        raise OptionError("needs a list of all or of closed itemsets", where=f"--method {name}", remedy=remedy)
    return case.release
