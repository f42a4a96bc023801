"""T03 small-classes: people of a table who share their quasi-identifiers with too few others, or all have one sensitive value.

Infers
    For each combination of quasi-identifiers that a row shows: how many people have it (k-anonymity), and which sensitive values they can have
    (l-diversity). A class is exposed if it has fewer than k people, or fewer than l possible values; where the policy limits probabilities,
    also if one value has a larger share.
Assumes
    The reader knows somebody's quasi-identifiers, and that this person is in the table. A blank cell may hide any value: a class has at
    least the people whose rows show its cells, and at most those whose rows show them or are blank there. Columns without a role are taken
    as not known to the reader; how many people they single out is a caution.
    If sensitive cells are blank, or rows to protect are named, what is shown is published on purpose, and T01 and T02 ask what
    it reveals of the rest: T03 then judges only if it is asked for by name, and otherwise counts the people who are alone, as a caution.
Claim
    Proves. Both ends are reached by filling the blanks, so a class that is not reported has k people and l values in some table that fits.
Cost
    Sorting the rows; with blanks, for each pair of patterns of blanks once. A million rows without blanks take about a second.
Example
    Of five people with age 30-39 in one ward all have the same diagnosis: whoever knows a patient's age and ward knows the diagnosis.
Reference
    Sweeney, k-anonymity, 2002; Machanavajjhala et al., l-diversity, ICDE 2006; Li, Li, Venkatasubramanian, t-closeness, ICDE 2007 (measured).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.model.arrays import Codes, Flags, Ints
from tacit.model.audit import AttackRun, Caution, Target, cautions_of
from tacit.model.errors import LimitReached
from tacit.model.finding import BoxEvent, Finding, certificate
from tacit.model.numbers import Bound, exact
from tacit.model.partial import PartialTable
from tacit.model.policy import Check
from tacit.model.table import row_keys
from tacit.model.words import CITED_ROWS, PeopleAlike, Shared, describe_pattern
from tacit.partial.case import TableCase
from tacit.partial.unsafe_rules import DistinctRows, count_people

CODE = "T03"
NAME = "small-classes"
ON_PURPOSE = "sensitive cells are blank or rows are named, so T01 and T02 judge the table; --attack T03 judges what it shows"


def run(target: Target) -> AttackRun:
    """Find the classes of too few people or values."""
    case = TableCase.of(target)
    table = case.partial
    is_judged = not case.at_risk or CODE in target.named
    try:
        classes = Classes.of(table, check=lambda: target.limits.check(CODE))
    except LimitReached:
        return AttackRun(CODE, NAME, "proves", "stopped", reason="the time limit was reached before the rows were counted")
    if not is_judged:
        return AttackRun(
            CODE,
            NAME,
            "proves",
            "not-relevant",
            reason=ON_PURPOSE,
            measures=classes.measures(target.policy.k),
            cautions=cautions_of(CODE, classes.alone, table.n, about="alone"),
        )
    return _Outcome(target, table, classes).run()


@dataclass(frozen=True, slots=True, eq=False)
class ClassValues:
    """Numbers of rows by class and value of a sensitive column.

    Entry i is about class ``owner[i]`` and ``value[i]`` (-1: blank): ``shown`` counts rows that show the class, ``fitting`` further rows that
    may belong to it. ``distinct`` is the number of different values of each class; one that may hold any value has more than there are.
    """

    name: str
    values: tuple[str, ...]
    owner: Ints
    value: Ints
    shown: Ints
    fitting: Ints
    distinct: Ints

    def of(self, owner: int) -> dict[str, tuple[int, int]]:
        """Return the rows of a class by value, certain and possible ones."""
        start, end = np.searchsorted(self.owner, [owner, owner + 1])
        texts = ["" if code < 0 else self.values[code] for code in self.value[start:end].tolist()]
        counts = zip(self.shown[start:end].tolist(), self.fitting[start:end].tolist(), strict=True)
        return dict(zip(texts, counts, strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """Combinations of quasi-identifiers that rows show, blanks left out.

    ``cells`` are classes x columns (-1: blank), ``own`` the number of rows with exactly these cells and blanks, ``lo`` of those that show the
    cells, ``hi`` of those that show them or are blank there. ``group`` is the class of each row.
    """

    cells: Codes
    own: Ints
    lo: Ints
    hi: Ints
    group: Ints
    sensitive: tuple[ClassValues, ...]

    @classmethod
    def of(cls, table: PartialTable, *, check: Check = lambda: None) -> Classes:
        """Count the classes of a table."""
        conditions = table.conditions
        found = DistinctRows.of([conditions[:, place] for place in range(conditions.shape[1])], table.weights)
        cells = np.stack(found.cells, axis=1)
        lo = np.zeros(len(cells), np.int64)
        hi = np.zeros(len(cells), np.int64)
        pairs = _fitting_pairs(cells, check)
        classes, others, is_shown = pairs
        np.add.at(hi, classes, found.weights[others])
        np.add.at(lo, classes[is_shown], found.weights[others[is_shown]])
        sensitive = []
        for name in table.people.schema.sa:
            check()
            sensitive.append(_values_of(table, name, found, pairs))
        return cls(cells, own=found.weights, lo=lo, hi=hi, group=found.group, sensitive=tuple(sensitive))

    @property
    def alone(self) -> int:
        """Number of people who are proved to be alone."""
        return int(self.own[self.hi == 1].sum())

    def measures(self, k: int) -> dict[str, float | None]:
        """Return the measures of k-anonymity, l-diversity and t-closeness."""
        out: dict[str, float | None] = {
            "qi_combinations": len(self.cells),
            "smallest_combination": int(self.hi.min()),
            "k_anonymity": int(self.hi.min()),
            "people_alone": self.alone,
            "people_below_k": int(self.own[self.hi < k].sum()),
            "l_diversity": min(int(one.distinct.min()) for one in self.sensitive),
            "people_certain": max(int(self.own[one.distinct == 1].sum()) for one in self.sensitive),
        }
        distances = [self._distance(one) for one in self.sensitive]
        known = [one for one in distances if one is not None]
        return out | ({"t_closeness": max(known)} if known else {})

    def _distance(self, one: ClassValues) -> float | None:
        """Return the largest distance of a class from the whole table, or None with blanks."""
        if bool((one.value < 0).any()) or bool((self.cells < 0).any()):
            return None
        whole = np.bincount(one.value, one.shown, minlength=len(one.values)) / one.shown.sum()
        share = one.shown / self.lo[one.owner]
        # Values that a class lacks add their share among all people: half of the sum is that over values with more than their share.
        more = np.maximum(0, share - whole[one.value])
        return float(np.bincount(one.owner, more, minlength=len(self.cells)).max())


#: Classes, classes whose rows may belong to them, and True where they certainly do.
Pairs = tuple[Ints, Ints, Flags]


def _fitting_pairs(cells: Codes, check: Check) -> Pairs:
    """Return the classes whose rows may belong to each class, one pattern of blanks after another."""
    blanks = cells < 0
    patterns, pattern = np.unique(blanks, axis=0, return_inverse=True)
    pattern = pattern.reshape(-1)
    members = [np.flatnonzero(pattern == number) for number in range(len(patterns))]
    found: list[Pairs] = []
    for mine, classes in zip(patterns, members, strict=True):
        for theirs, others in zip(patterns, members, strict=True):
            check()
            columns = np.flatnonzero(~mine & ~theirs)
            left, right = _equal_rows(cells[classes][:, columns], cells[others][:, columns])
            is_shown = not bool((theirs & ~mine).any())
            found.append((classes[left], others[right], np.full(len(left), is_shown, np.bool_)))
    classes, others, flags = (np.concatenate([pairs[place] for pairs in found]) for place in range(3))
    return classes, others, flags.astype(np.bool_)


def _equal_rows(left: Codes, right: Codes) -> tuple[Ints, Ints]:
    """Return all pairs of equal rows."""
    both = np.concatenate([left, right])
    keys = row_keys([both[:, place] for place in range(both.shape[1])], len(both))
    order = np.argsort(keys[len(left) :], kind="stable")
    there = keys[len(left) :][order]
    start = np.searchsorted(there, keys[: len(left)], side="left")
    end = np.searchsorted(there, keys[: len(left)], side="right")
    number = end - start
    places = np.repeat(start - np.append(0, np.cumsum(number)[:-1]), number) + np.arange(number.sum())
    return np.repeat(np.arange(len(left)), number), order[places]


def _values_of(table: PartialTable, name: str, found: DistinctRows, pairs: Pairs) -> ClassValues:
    column = table.people.column(name)
    codes = table.codes(name).astype(np.int64)
    width = len(column.values) + 1
    # Rows by class and value, then spread over the classes that they may belong to.
    key, entry = np.unique(found.group * width + codes + 1, return_inverse=True)
    rows = count_people(entry.reshape(-1), table.weights, len(key))
    starts = np.searchsorted(key // width, np.arange(len(found.weights) + 1))
    classes, others, is_shown = pairs
    number = (starts[1:] - starts[:-1])[others]
    places = np.repeat(starts[others] - np.append(0, np.cumsum(number)[:-1]), number) + np.arange(number.sum())
    spread = np.repeat(classes, number) * width + key[places] % width
    unique, entry = np.unique(spread, return_inverse=True)
    shown = np.bincount(entry, rows[places] * np.repeat(is_shown, number)).astype(np.int64)
    whole = np.bincount(entry, rows[places]).astype(np.int64)
    owner = unique // width
    value = unique % width - 1
    distinct = np.bincount(owner, minlength=len(found.weights)).astype(np.int64)
    distinct[owner[value < 0]] = max(width, 2)
    return ClassValues(name, column.values, owner=owner, value=value, shown=shown, fitting=whole - shown, distinct=distinct)


class _Outcome:
    def __init__(self, target: Target, table: PartialTable, classes: Classes) -> None:
        self.target = target
        self.table = table
        self.classes = classes
        policy = target.policy
        self.limit = None if policy.max_posterior is None else exact(policy.max_posterior, where="--max-posterior")
        few_values = np.zeros(len(classes.cells), np.bool_)
        for one in classes.sensitive:
            few_values |= one.distinct < policy.l
        is_small = classes.hi < policy.k
        exposed = is_small | few_values | self._is_sure()
        found = np.flatnonzero(exposed)
        # Fewer people first; among classes of one size those whose value is told.
        order = np.lexsort((~few_values[found], classes.hi[found], ~is_small[found]))
        self.found = found[order]
        self.is_small = is_small[self.found]
        self.few_values = few_values[self.found]

    def _is_sure(self) -> Flags:
        """Return the classes in which a value surely exceeds the allowed share."""
        out = np.zeros(len(self.classes.cells), np.bool_)
        if self.limit is None:
            return out
        for one in self.classes.sensitive:
            most = self.classes.hi[one.owner] - one.fitting
            over = one.shown * self.limit.denominator > self.limit.numerator * most
            out[one.owner[over & (one.value >= 0)]] = True
        return out

    def run(self) -> AttackRun:
        classes = self.classes
        policy = self.target.policy
        return AttackRun(
            CODE,
            NAME,
            "proves",
            "ran",
            people=int(classes.own[self.found].sum()),
            measures=classes.measures(policy.k),
            columns=self._columns(),
            severity=np.where(self.is_small, classes.hi[self.found], policy.k + classes.hi[self.found]),
            event=self.event,
            show=self.show,
            cautions=self._cautions(),
        )

    def _columns(self) -> Mapping[str, npt.NDArray[Any]]:
        classes = self.classes
        fewest = np.min([one.distinct for one in classes.sensitive], axis=0)[self.found]
        texts = [describe_pattern(self._pattern(index)) for index in range(len(self.found))]
        return {
            "pattern": np.array(texts, object),
            "count": classes.lo[self.found],
            "count_hi": classes.hi[self.found],
            # Values of known people, unless the class itself is too small.
            "values_left": np.where(self.is_small, 0, fewest),
        }

    def _cautions(self) -> tuple[Caution, ...]:
        """Count the people whom all columns together single out."""
        others = self.table.others
        if not others:
            return ()
        cells = self.table.cells_of((*self.table.people.schema.qi, *others))
        whole = DistinctRows.of([cells[:, place] for place in range(cells.shape[1])], self.table.weights)
        shown = ~(np.stack(whole.cells, axis=1) < 0).any(axis=1)
        alone = int(((whole.weights == 1) & shown).sum())
        return cautions_of(CODE, alone, self.table.n, about="alone by all columns")

    def _pattern(self, index: int) -> dict[str, str]:
        names = self.table.people.schema.qi
        codes = self.classes.cells[self.found[index]].tolist()
        return {name: self.table.people.column(name).values[code] for name, code in zip(names, codes, strict=True) if code >= 0}

    def event(self, index: int) -> BoxEvent:
        return BoxEvent({name: (value,) for name, value in self._pattern(index).items()})

    def show(self, index: int) -> Finding:
        classes = self.classes
        owner = int(self.found[index])
        policy = self.target.policy
        count = Bound(int(classes.lo[owner]), int(classes.hi[owner]))
        told: dict[str, tuple[str, ...]] = {}
        sure: dict[str, Shared] = {}
        for one in classes.sensitive:
            rows = one.of(owner)
            if int(one.distinct[owner]) < policy.l:
                told[one.name] = tuple(sorted(rows))
            elif self.limit is not None:
                shares = [Shared(value, shown, count.hi - more) for value, (shown, more) in sorted(rows.items()) if value]
                best = max(shares, key=lambda share: share.part, default=None)
                if best is not None and best.part > self.limit:
                    sure[one.name] = best
        cited = self.table.number_people(self._rows(index)[: CITED_ROWS + 1])[: CITED_ROWS + 1]
        lines = [self.table.line(row) for row in cited.tolist()]
        people = PeopleAlike(self._pattern(index), count, told, sure, lines)
        event = self.event(index)
        statement, steps = people.state(policy.k, policy.l, self.limit)
        proof = certificate(event, count, counts={"rows": count.lo, "may_fit": count.hi - count.lo}, lines=people.cited)
        return Finding(CODE, event, count, statement, because=people.cite(self.target.index), derivation=steps, certificate=proof)

    def _rows(self, index: int) -> Ints:
        """Return the rows that show a class, in their order."""
        cells = self.classes.cells[self.found[index]]
        columns = np.flatnonzero(cells >= 0)
        shows = (self.classes.cells[:, columns] == cells[columns]).all(axis=1)
        return np.flatnonzero(shows[self.classes.group])
