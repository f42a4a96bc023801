"""Rules and the data that they were made from: the true counts of every line, and the same lines printed otherwise."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tacit.errors import InputError, OptionError
from tacit.mining.publishing import Published, publish
from tacit.model.audit import Audit
from tacit.model.number import Rounding
from tacit.model.release import Counts, Header, Rules
from tacit.model.schema import Schema
from tacit.model.table import Table
from tacit.repairs.base import RepairCase

CHECK = "Give the data that the rules were made from, with the same columns and missing-value rule"


@dataclass(frozen=True, eq=False)
class Lines:
    """Rules with the true numbers of people behind each: with antecedent and consequent (``counts``), with the antecedent (``wholes``)."""

    release: Rules
    counts: Counts
    wholes: Counts

    @classmethod
    def of(cls, case: RepairCase, name: str) -> Lines:
        """The lines of a case: rules QI => SA beside their data, or rules that print exact numbers; anything else is refused."""
        release = case.release
        if not isinstance(release, Rules):
            raise OptionError("needs rules", where=f"--method {name}", remedy="See tacit repairs")
        if case.table is not None:
            return cls(release, *true_counts(release, case.table))
        if (release.lo != release.hi).any() or (release.whole_lo != release.whole_hi).any():
            remedy = "Give the table that the rules were made from with --data"
            raise OptionError("rules without exact numbers are repaired beside their data", where="--data", remedy=remedy)
        return cls(release, release.lo, release.whole_lo)

    def printed(self, form: Published, header: Header | None = None) -> Rules:
        """The same lines in another form."""
        release = self.release
        rounding: Rounding = "nearest" if form.digits is None else "half-up"
        header = replace(header or release.header, digits=form.digits, rounding=rounding, base=None)
        numbers = publish(self.counts, self.wholes, header, form)
        return Rules(
            release.antecedents, release.consequents, *numbers[:4], release.items, header, numbers.support, numbers.confidence
        )

    def reaching(self, min_support: int, header: Header) -> npt.NDArray[np.int64]:
        """The lines that reach a support (a count) and the confidence of a header."""
        bar = header.min_confidence
        enough = self.counts >= min_support
        if bar is not None:
            # Whole numbers of any size: a confidence may have many digits.
            over = [
                count * bar.denominator > bar.numerator * whole
                or (not header.strict and count * bar.denominator == bar.numerator * whole)
                for count, whole in zip(self.counts.tolist(), self.wholes.tolist(), strict=True)
            ]
            enough &= np.array(over, np.bool_)
        return np.flatnonzero(enough)


def true_counts(release: Rules, table: Table) -> tuple[Counts, Counts]:
    """How many people have antecedent and consequent of each line, and the antecedent; data that the lines are not true of are refused."""
    name = release.source.name if release.source else "the release"
    header, pairs = release.header, release.items.pairs
    if pairs is None or not header.sa or header.coarser:
        remedy = "Mine the rules again with tacit mine rules, without hierarchies"
        raise OptionError("rules are repaired where they go from QI columns to the SA of a table", where=name, remedy=remedy)
    qi = list(dict.fromkeys(pairs[item][0] for item in release.antecedents.members.tolist()))
    lacking = [column for column in (*qi, *header.sa) if column not in table.names]
    if lacking:
        raise OptionError(f"has no column {', '.join(lacking)}, which the rules are about", where="--data", remedy=CHECK)
    people = table.select([*qi, *header.sa]).merged()
    sensitive = replace(people, schema=Schema(qi=tuple(qi), sa=header.sa)).sa
    where = {
        (column.name, value): column.codes == code
        for column in (*people.columns[: len(qi)], sensitive)
        for code, value in enumerate(column.values)
    }
    for group in (one for one in header.groups if one.column in people.names):
        column = people.column(group.column)
        inside = np.isin(np.array(column.values, object), group.among(column.values))
        where[group.column, group.name] = inside[column.codes]
    nobody = np.zeros(len(people.weights), np.bool_)
    counts, wholes = np.zeros(len(release), np.int64), np.zeros(len(release), np.int64)
    for line in range(len(release)):
        holds = ~nobody
        for item in release.antecedents[line].tolist():
            holds &= where.get(pairs[item], nobody)
        wholes[line] = people.weights[holds].sum()
        for item in release.consequents[line].tolist():
            holds &= where.get((sensitive.name, pairs[item][1]), nobody)
        counts[line] = people.weights[holds].sum()
    wrong = (counts < release.lo) | (counts > release.hi) | (wholes < release.whole_lo) | (wholes > release.whole_hi)
    if wrong.any():
        where_wrong = f"{name} line {release.line(int(np.argmax(wrong)))}"
        raise InputError("the rule is not true of the data", where=where_wrong, remedy=CHECK)
    return counts, wholes


def safety(audit: Audit) -> int:
    """How safe an audit says a release is: 2 nothing found and all decided, 1 nothing found, 0 something found.

    An attack that cannot run or was not asked for says nothing about one candidate rather than another: it does not count here.
    """
    if any(run.findings for run in audit.runs):
        return 0
    wanted = [run for run in audit.runs if run.status not in ("not-relevant", "not-asked", "unavailable")]
    return 2 if wanted and all(run.decides for run in wanted) else 1
