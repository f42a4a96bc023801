"""Table of the kinds of releases.

Each kind is a class with one instance in :data:`KINDS`; other modules of the verbs ask :func:`kind_of` instead of testing types. What only one
kind needs is imported inside its methods, so that an audit of one kind does not load the others.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from tacit.model.audit import AttackRun, Columns
from tacit.model.errors import OptionError
from tacit.model.knowledge import Withheld
from tacit.model.release import Header, Itemsets, Listed, Release, Rules
from tacit.model.table import Table, Transactions

if TYPE_CHECKING:
    from tacit.buckets.case import BucketCase
    from tacit.known.case import RuleCase
    from tacit.model.buckets import Buckets
    from tacit.model.estimates import Posterior
    from tacit.model.frequencies import FrequencyTable
    from tacit.model.partial import PartialTable
    from tacit.partial.case import TableCase

R = TypeVar("R", bound="Release")
L = TypeVar("L", bound="Listed")
Measures = Mapping[str, float | None]

KNOWN_CODES = ("R02", "R03")  #: The attacks on known people, which take all releases together.


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """Other inputs of the audit of one release.

    ``people`` are the owner's data as the release counts them; ``data`` are the same data as the caller gave them. If a release
    ``is_plausible``, the owner has shown that its knowledge leaves everybody l values, so that R02 and R03 need not run. ``model`` is that of
    B03, if it was learnt from another part of the same release.
    """

    data: Any = None
    people: Table | Transactions | None = None
    known: Any = None
    knowledge: Any = None
    rows: Any = None
    withheld: Withheld = "at-threshold"
    sa_order: tuple[str, ...] = ()
    is_plausible: bool = False
    model: Any = None

    @property
    def table(self) -> Table | None:
        """The owner's data, if they are a table."""
        return self.people if isinstance(self.people, Table) else None


class Kind(Generic[R]):
    """A kind of release; one instance each in :data:`KINDS`.

    ``held`` completes "the release ..". ``unit`` is the measure that counts the lines, if any, ``suggestions`` the module of ``verbs.suggest``
    with the repairs to try. ``remedy`` says how a release that no method repairs is made again. If it ``has_lines``, attacks find groups, and
    the general adversary, X01, takes one release alone.
    """

    name: ClassVar[str]
    held: ClassVar[str]
    unit: ClassVar[str] = ""
    suggestions: ClassVar[str]
    remedy: ClassVar[str] = ""
    has_lines: ClassVar[bool] = True
    #: The options ``--known``, ``--knowledge`` and ``--rows`` apply to it without a sensitive column among known ones.
    takes_known: ClassVar[bool] = False
    takes_knowledge: ClassVar[bool] = False
    takes_rows: ClassVar[bool] = False
    lists_people: ClassVar[bool] = False  #: It lists everybody's quasi-identifiers.
    #: Its lines or rows are about a sensitive column, or lead to its values.
    has_sensitive_column: ClassVar[bool] = False
    leads_to_values: ClassVar[bool] = False
    checks_roles: ClassVar[bool] = True  #: Its reader refuses roles of columns that it lacks.

    def reading_header(self, release: R) -> Header:
        """Return the header with the roles for the data."""
        return release.header

    def check_people(self, release: R, people: Table | Transactions) -> None:
        """Raise if the owner's data do not fit."""

    def check_listing(self, release: R) -> None:
        """Raise if the lines cannot be those that the release says were chosen."""

    def check_hiding(self, release: R) -> None:
        """Raise if lines cannot be hidden one by one."""
        from tacit.repairs.lists import can_lose_lines

        if not can_lose_lines(release):
            remedy = "Give frequency tables, rules, or lists of all frequent itemsets"
            raise OptionError("has no lines that can be hidden one by one", where=_name(release), remedy=remedy)

    def own_case(self, release: R, given: Given) -> object:
        """Return the case for this kind's attacks."""
        return None

    def case_of_known(self, release: R, table: Table | None, where: str) -> RuleCase | None:
        """Return the case for R02 and R03, or None."""
        return None

    def is_read_with_others(self, release: R) -> bool:
        """Tell if known people are needed to read everything."""
        return False

    def asks_groups(self, release: R, *, alone: bool) -> bool:
        """Tell if R03 applies to groups without known people."""
        return False

    def adversary(self, release: R, case: Any) -> dict[str, Any]:
        """Return the adversary's assumed knowledge."""
        raise NotImplementedError

    def measures(self, release: R, runs: Sequence[AttackRun], order: tuple[str, ...] = ()) -> dict[str, float | None]:
        """Return the measures of a release in its audit.

        ``order`` names the sensitive values from the lowest to the highest, if it is given.
        """
        out: dict[str, float | None] = {self.unit: len(release)} if self.unit else {}
        out |= self.figures(release, order) | (group_measures(runs) if self.has_lines else {})
        return out | {name: value for run in runs for name, value in run.measures.items()}

    def figures(self, release: R, order: tuple[str, ...]) -> dict[str, float | None]:
        """Return the measures that follow from the release alone."""
        return {}

    def owner_measures(self, case: Any, people: Table, order: tuple[str, ...], check: Any) -> Measures:
        """Return the measures against the owner's data."""
        return {}

    def tables(
        self, case: Any, runs: Iterable[AttackRun], posteriors: Sequence[Posterior]
    ) -> Mapping[str, Callable[[], Columns]]:
        """Return further tables of an audit by name."""
        if not posteriors:
            return {}
        from tacit.model.estimates import table_of

        return {"posterior": partial(table_of, posteriors)}

    def sensitive(self, release: R) -> str:
        """Return the name of the (joined) sensitive column."""
        return " & ".join(release.header.sa)

    def columns(self, release: R) -> tuple[str, ...]:
        """Return the columns that the release names."""
        return ()

    def named_values(self, release: R, sensitive: str) -> tuple[str, ...]:
        """Return the sensitive values that occur."""
        return ()


def _name(release: Release) -> str:
    return release.source.name if release.source else "the release"


def group_measures(runs: Sequence[AttackRun]) -> dict[str, float | None]:
    """Return the measures of groups: singletons and smallest."""
    if not any(run.status in ("ran", "stopped") for run in runs):
        return {}
    sizes = [run.sizes for run in runs if run.claim == "proves" and run.finds_groups]
    out: dict[str, float | None] = {"groups_of_one": sum(one.get(1, 0) for one in sizes)}
    return out | ({"smallest_group": min(min(one) for one in sizes if one)} if any(sizes) else {})


def facts_of(facts: Sequence[Any]) -> dict[str, Any]:
    """Return what a record says about background facts."""
    if not facts:
        return {}
    return {"background_facts": len(facts), "knowledge": sorted({fact.file for fact in facts if fact.file})}


class _Lists(Kind[L]):
    """Itemsets and rules: lines with counts over items."""

    def check_people(self, release: L, people: Table | Transactions) -> None:
        if release.n is not None and people.n != release.n:
            what = f"holds {people.n:,} people, and the release is about {release.n:,}"
            raise OptionError(what, where="--data", remedy="Give the data that the release was made from, or correct n")

    def adversary(self, release: L, case: object) -> dict[str, Any]:
        header = release.header
        out: dict[str, Any] = {
            "knows_n": header.n is not None,
            "knows_that_the_list_is_complete": header.complete,
            "rounding": header.rounding,
        }
        if header.first_match is not None:
            out["knows_the_order_of_rules"] = True
        if header.made_by:
            out["made_by"] = [one.to_dict() for one in header.made_by]
        return out

    def figures(self, release: L, order: tuple[str, ...]) -> dict[str, float | None]:
        return {"smallest_count": int(release.hi.min())} if len(release) else {}

    def columns(self, release: L) -> tuple[str, ...]:
        if release.items.pairs is None and not all("=" in name for name in release.items.names):
            return ()
        return tuple(dict.fromkeys(column for column, _ in _pairs(release)))

    def named_values(self, release: L, sensitive: str) -> tuple[str, ...]:
        if sensitive not in self.columns(release):
            return ()
        return tuple(sorted(value for column, value in _pairs(release) if column == sensitive))


def _pairs(release: Listed) -> list[tuple[str, str]]:
    from tacit.known.releases import pair_of

    return [pair_of(release, item) for item in range(len(release.items))]


class _ItemsetsKind(_Lists[Itemsets]):
    name = "itemsets"
    held = "holds itemsets"
    unit = "itemsets"
    suggestions = "lists"

    def check_listing(self, release: Itemsets) -> None:
        from tacit.files.consistency import check_listing

        check_listing(release)

    def is_read_with_others(self, release: Itemsets) -> bool:
        return True

    def asks_groups(self, release: Itemsets, *, alone: bool) -> bool:
        return bool(release.header.sa) and release.items.pairs is not None and not release.header.coarser


class _RulesKind(_Lists[Rules]):
    name = "rules"
    held = "holds rules"
    unit = "rules"
    suggestions = "lists"
    takes_known = True
    takes_knowledge = True
    has_sensitive_column = True
    leads_to_values = True

    def case_of_known(self, release: Rules, table: Table | None, where: str) -> RuleCase | None:
        from tacit.known.case import RuleCase
        from tacit.model.people import Population

        if table is None or not self.is_about_one_column(release):
            return None
        columns = release.header.qi or table.schema.qi
        missing = [name for name in columns if name not in table.names]
        if missing:
            what = f"has no column {', '.join(missing)}, which the rules are about"
            raise OptionError(what, where=where, remedy=f"Its columns are: {', '.join(table.names)}")
        match = release.header.first_match
        return RuleCase(release, Population.of(table.select(columns if match is None else (*columns, match.column))))

    def is_read_with_others(self, release: Rules) -> bool:
        return not self.is_about_one_column(release)

    def is_about_one_column(self, release: Rules) -> bool:
        """Tell if all rules lead to the sensitive column."""
        header = release.header
        pairs = release.items.pairs
        if pairs is None or not header.sa or not header.sa_values or header.coarser:
            return False
        return release.leads_to_one_column

    def adversary(self, release: Rules, case: object) -> dict[str, Any]:
        return super().adversary(release, case) | {"knows_quasi_identifiers": False}


class _BucketsKind(Kind["Buckets"]):
    name = "buckets"
    held = "holds buckets"
    unit = "buckets"
    suggestions = "tables"
    remedy = "Group the people again: tacit bucketize DATA --knowledge FILE"
    has_lines = False
    takes_knowledge = True
    lists_people = True
    has_sensitive_column = True
    leads_to_values = True

    def own_case(self, release: Buckets, given: Given) -> BucketCase:
        from tacit.buckets.case import BucketCase
        from tacit.files.knowledge import read_knowledge

        if given.people is not None and (given.table is None or not given.table.schema.sa):
            remedy = "Give the table that the release was made from, with its sensitive column"
            raise OptionError("has no sensitive column to compare the release with", where="--data", remedy=remedy)
        return BucketCase(release, read_knowledge(given.knowledge), given.model)

    def adversary(self, release: Buckets, case: Any) -> dict[str, Any]:
        out: dict[str, Any] = {"knows_n": True, "knows_who_is_in_which_group": True}
        if release.header.made_by:
            out["made_by"] = [one.to_dict() for one in release.header.made_by]
        return out | facts_of(case.facts)

    def figures(self, release: Buckets, order: tuple[str, ...]) -> dict[str, float | None]:
        from tacit.buckets.utility import plain_figures

        return dict(plain_figures(release, order)) if release.n else {}

    def owner_measures(self, case: Any, people: Table, order: tuple[str, ...], check: Any) -> Measures:
        from tacit.buckets.utility import owners_measures

        return owners_measures(case.buckets, people, case.known if case.facts else None, order, check=check)

    def tables(
        self, case: Any, runs: Iterable[AttackRun], posteriors: Sequence[Posterior]
    ) -> Mapping[str, Callable[[], Columns]]:
        from tacit.buckets.case import posterior_table

        estimated = (run for run in runs if "posterior" in run.details and run.code not in KNOWN_CODES)
        first = next(estimated, None)
        return {} if first is None else {"posterior": partial(posterior_table, case, first.details["posterior"])}

    def sensitive(self, release: Buckets) -> str:
        return release.sensitive

    def columns(self, release: Buckets) -> tuple[str, ...]:
        return (*release.people.names, release.sensitive)


class _PartialKind(Kind["PartialTable"]):
    name = "table"
    held = "is a table"
    suggestions = "tables"
    remedy = "Hide cells of the data: tacit hide DATA --rows FILE"
    has_lines = False
    takes_rows = True
    has_sensitive_column = True

    def own_case(self, release: PartialTable, given: Given) -> TableCase:
        from tacit.files.partial import read_partial
        from tacit.files.selection import Marks, read_rows
        from tacit.partial.case import TableCase

        header = release.header
        original = None
        if given.data is not None:
            rule: Any = (header.missing_rule if header.missing is not None else None) or "category"
            where = None if isinstance(given.data, (str, os.PathLike)) else "--data"
            original = read_partial(
                given.data,
                qi=header.qi,
                sa=header.sa,
                missing=header.missing,
                missing_rule=rule,
                bins=header.bins,
                where=where,
            )
        shown = original or release
        rows = given.rows
        cells = None
        if isinstance(rows, Marks):
            cells = rows.sensitive[:, [shown.people.names.index(name) for name in header.sa]]
            rows = rows.rows
        return TableCase(release, None if rows is None else read_rows(rows, shown.people), original, cells)

    def asks_groups(self, release: PartialTable, *, alone: bool) -> bool:
        return not alone

    def adversary(self, release: PartialTable, case: Any) -> dict[str, Any]:
        return {
            "knows_n": True,
            "rows_named": None if case.rows is None else case.count(case.rows),
            "true_values_given": any(one.true is not None for one in case.attributes),
        }


class _FrequenciesKind(Kind["FrequencyTable"]):
    name = "frequencies"
    held = "is a frequency table"
    unit = "cells"
    suggestions = "tables"
    remedy = "Choose --method suppress, round or round-controlled"
    checks_roles = False

    def reading_header(self, release: FrequencyTable) -> Header:
        sa = tuple(name for name in release.header.sa if name in release.columns)
        return replace(release.header, qi=tuple(name for name in release.columns if name not in sa), sa=sa)

    def check_hiding(self, release: FrequencyTable) -> None:
        is_plain = release.printing.is_exact and release.printing.convention is None and release.measured is None
        shown = ~release.is_hidden
        if not is_plain or (release.lo != release.hi)[shown].any() or release.hidden_cells != int((~shown).sum()):
            what = "has counts that are rounded, or means of a column of the table, and cells are hidden among exact counts"
            raise OptionError(what, where=_name(release), remedy="Give the table of exact counts")

    def is_read_with_others(self, release: FrequencyTable) -> bool:
        return True

    def asks_groups(self, release: FrequencyTable, *, alone: bool) -> bool:
        return True

    def adversary(self, release: FrequencyTable, case: object) -> dict[str, Any]:
        out: dict[str, Any] = {"knows_n": release.header.n is not None, "knows_all_values": release.header.complete}
        if release.printing.base is not None:
            out["rounding"] = release.printing.rounding
        if release.numbers:
            out["knows_no_value_is_negative"] = True
        if release.header.made_by:
            out["made_by"] = [one.to_dict() for one in release.header.made_by]
        return out

    def columns(self, release: FrequencyTable) -> tuple[str, ...]:
        return release.columns


#: Kinds of releases by the name that records give them.
KINDS: Mapping[str, Kind[Any]] = {
    kind.name: kind for kind in (_ItemsetsKind(), _RulesKind(), _BucketsKind(), _PartialKind(), _FrequenciesKind())
}


def kind_of(release: Release) -> Kind[Any]:
    """Return the kind of a release."""
    return KINDS[release.kind]
