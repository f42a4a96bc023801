"""The verb ``hide``: suppress cells that rules would reveal."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.files.engines import Engine, as_engine
from tacit.files.inputs import require_table
from tacit.files.selection import Marks, read_marks, read_rows
from tacit.model.arrays import Flags, Ints
from tacit.model.audit import Audit
from tacit.model.errors import InternalError, LimitReached, OptionError, RepairError, nearest_name
from tacit.model.partial import PartialTable, Thresholds
from tacit.model.policy import Limits, Policy
from tacit.model.repair import OTHER_COLUMNS, Hidden, OtherColumns, Tried
from tacit.model.table import Names, Schema, Table, row_keys
from tacit.partial.cost import blank_cost
from tacit.partial.methods import Found, Method, choose_method, find_cells, find_stricter, parse_regions
from tacit.partial.problem import (
    REGIONS,
    Cells,
    IntegerThresholds,
    Problem,
    draw_hidden_cells,
    draw_records,
    mask_to_flags,
)
from tacit.partial.unsafe_rules import Case, count_people, unsafe_rules
from tacit.verbs.audit import audit
from tacit.verbs.data import name_rows
from tacit.verbs.hide_source import AT_ONCE, ToHide, merge_alike, of_people, open_to_hide

#: Where cells may be hidden and how they are chosen, in the order in which that is tried where nobody says.
HIDINGS: tuple[tuple[str, Method], ...] = (
    ("ns", "greedy"),
    ("ns,nc", "greedy"),
    ("ns,nc,sc", "greedy"),
    ("sc", "uniform"),
    ("nc", "rgraph-max-descendant"),
)


def hide(
    people: Table | PartialTable | ToHide | Any,
    *,
    rows: Any = None,
    may_hide: str | Iterable[str] | None = None,
    method: Method | None = None,
    min_confidence: Any = 0.6,
    min_support: Any = 0,
    marks: Any = None,
    other_columns: OtherColumns = "drop",
    seed: int = 0,
    time_limit: float | None = None,
    progress: Callable[[float], None] | None = None,
    qi: Names = None,
    sa: Names = None,
    engine: Engine | str | None = None,
) -> Hidden:
    """Hide the sensitive cells of some rows and few others, so that no rule reveals them.

    The table comes back in the order of the data; one of more than two million people, or of merged rows, in the order of what it publishes.

    Parameters
    ----------
    people
        A table with quasi-identifying columns, the condition attributes, and a sensitive one or several; or a file or frame, with ``qi`` and
        ``sa`` given.
    rows
        The sensitive rows: numbers from 0, a file with one in each line, or a condition such as ``"occupation=Sales and age<30"``.
    may_hide
        Where cells may be hidden: ``"ns"``, the sensitive cells of other records; ``"nc"``, their condition cells; ``"sc"``, the condition
        cells of the sensitive records. One or several of them; without any, several choices are tried, and the one that hides fewest cells is
        taken of those that no attack breaks.
    method
        ``"greedy"`` and ``"ilp"`` (exact) work with all regions; ``"smc"`` hides ``ns``, ``"rgraph-max-descendant"``, ``"rgraph-random-max"``
        and ``"rgraph-random"`` hide ``nc``, ``"cr"`` one of these two, ``"uniform"`` the same attributes of all sensitive records. The usual one
        is ``"uniform"`` for ``sc`` alone, else ``"greedy"``.
    min_confidence, min_support
        A rule reveals a cell if its confidence is above the first and its support, in people or as a share of them, above the second.
    marks
        Marks of cells: ``+`` must be published, ``-`` is sensitive. A file of the table's shape, or of lines ``row,column,mark``.
    other_columns
        What becomes of columns without a role, which a reader would learn from as well: ``"drop"`` leaves them out of the table, ``"keep"``
        publishes them and protects against them, as condition attributes like the others.
    seed
        Random seed: which of several records that are alike loses a cell.
    time_limit
        Seconds after which :class:`LimitReached` is raised; ``"ilp"`` then gives the best table found.
    progress
        Called with the share of the work done, from 0 to 1.
    qi, sa
        The columns with these roles, for a file or frame.
    engine
        Program that merges equal rows of a large file (see :func:`tacit.engine`).

    Examples
    --------
    >>> import tacit
    >>> rows = {"job": ["nurse"] * 4 + ["clerk"] * 2, "ill": ["flu", "flu", "flu", "cold", "cold", "flu"]}
    >>> people = tacit.read_table(rows, qi="job", sa="ill")
    >>> safe = tacit.hide(people, rows=[0], may_hide="sc", min_confidence=0.4)
    >>> safe.cost["cells_hidden"], next(safe.records())
    (1, {'job': None, 'ill': None})
    """
    tell = progress or (lambda _share: None)
    limits = Limits.within(time_limit)
    if may_hide is None:
        if method is not None:
            remedy = "Say with --may-hide where cells may be hidden, or leave --method out"
            raise OptionError("needs a place to hide cells", where="--method", remedy=remedy)
        how = {"min_confidence": min_confidence, "min_support": min_support, "marks": marks, "other_columns": other_columns}
        given = _open(people, qi, sa, engine, rows=rows, marks=marks, other_columns=other_columns)
        return _hide_fewest(given, limits, tell, rows=rows, seed=seed, **how)
    regions = parse_regions(may_hide)
    chosen = choose_method(method, regions)
    if other_columns not in OTHER_COLUMNS:
        remedy = nearest_name(str(other_columns), OTHER_COLUMNS, "choices")
        raise OptionError(f"there is no choice {other_columns!r}", where="--other-columns", remedy=remedy)
    given = _open(people, qi, sa, engine, rows=rows, marks=marks, other_columns=other_columns)
    original = given.table
    others = given.others
    if others and other_columns == "keep":
        schema = Schema((*original.people.schema.qi, *others), original.people.schema.sa)
        header = replace(original.header, qi=schema.qi)
        original = replace(original, people=replace(original.people, schema=schema), header=header)
    table = original.people
    bars = Thresholds.of(min_confidence=min_confidence, min_support=min_support, n=original.n)
    marked = None if marks is None else read_marks(marks, table)
    sensitive = _sensitive(rows, marked, table) if given.sensitive is None else given.sensitive
    cells = _cells(original, sensitive, marked, given=rows is not None)
    if others and other_columns == "drop":  # rows and marks may speak of them, so they are dropped last
        kept = [name for name in table.names if name in table.schema.used]
        original = PartialTable.of(table.select(kept), None, original.sensitive, original.header)
    number, first = merge_alike(original, cells.protected, cells.published)
    cells = replace(cells, alike=number)
    if original.n > AT_ONCE:
        original = _merge(original, number, first)
        cells = _take_cells(cells, first, original.weights)
    case = _Case(
        original,
        cells,
        bars,
        policy=Policy(min_confidence=bars.confidence, min_support=bars.support),  # type: ignore[arg-type]
        limits=limits,
        other_columns=other_columns,
        others=others,
    )
    whole_bars = IntegerThresholds.of(bars.confidence, bars.support, people=original.n)
    problem = Problem.of(cells, whole_bars, case.check)
    tell(0.2)
    found = find_cells(problem, regions, chosen, seed=seed, limits=limits)
    tell(0.5)
    made = case.make_release(found, regions, chosen, seed, tell)
    if not made.ok and chosen == "uniform":
        made = case.stricter(made, problem, regions, seed)
    elif not made.ok:
        made = replace(made, tried=(case.uniform(problem, seed),))
    tell(1.0)
    return made


def _hide_fewest(people: ToHide, limits: Limits, tell: Callable[[float], None], **how: Any) -> Hidden:
    """Return the table with fewest hidden cells that no attack breaks, of several ways."""
    made: list[Hidden] = []
    failure: RepairError | None = None
    for turn, (regions, method) in enumerate(HIDINGS):
        try:
            made.append(hide(people, may_hide=regions, method=method, time_limit=limits.seconds_left, **how))
        except LimitReached:
            if not any(one.ok for one in made):
                raise
            break
        except RepairError as error:
            failure = error
        tell((turn + 1) / len(HIDINGS))
    if not made and failure is not None:
        raise failure
    best = min(made, key=lambda one: (not one.ok, one.cost["cells_hidden"]))
    return replace(best, tried=()) if best.ok else best


@dataclass(frozen=True, eq=False)
class _Case:
    original: PartialTable
    cells: Cells
    bars: Thresholds
    policy: Policy
    limits: Limits
    other_columns: OtherColumns
    others: tuple[str, ...]

    def check(self) -> None:
        self.limits.check("hide")

    def partial(self, blank: Flags) -> PartialTable:
        schema = self.original.people.schema
        everywhere = np.zeros(self.original.hidden.shape, np.bool_)
        places = [self.original.people.names.index(name) for name in schema.used]
        hidden = blank.copy()
        hidden[:, self.cells.attributes :] |= self.cells.protected
        everywhere[:, places] = hidden
        return replace(self.original.hide(everywhere), sensitive=np.flatnonzero(self.cells.sensitive))

    def draw(self, found: Found, seed: int) -> tuple[_Case, Flags]:
        """Draw who loses cells: return the case, its rows split and sorted by what is published if they are classes, and the hidden cells."""
        problem = found.state.problem
        outcome = found.state.outcome()
        if self.cells.people is None:
            return self, draw_hidden_cells(problem, outcome, seed=seed)
        kept = self.cells.people.copy()
        rows = [np.arange(len(kept))]
        people = [kept]
        hidden = [np.zeros((len(kept), problem.cells), np.bool_)]
        for mask, some, number in draw_records(problem, outcome, seed=seed):
            kept[some] -= number
            rows.append(some)
            people.append(number)
            hidden.append(np.tile(mask_to_flags(mask, problem.cells), (len(some), 1)))
        row = np.concatenate(rows)
        weights = np.concatenate(people)
        blank = np.concatenate(hidden)
        row, weights, blank = row[weights > 0], weights[weights > 0], blank[weights > 0]
        shown = np.concatenate([self.cells.conditions, self.cells.values], axis=1)[row]
        unseen = blank.copy()
        unseen[:, self.cells.attributes :] |= self.cells.protected[row]
        order = np.argsort(row_keys(np.where(unseen, np.int32(-1), shown).T, len(row)), kind="stable")
        row, weights = row[order], weights[order]
        case = replace(self, original=_take(self.original, row, weights), cells=_take_cells(self.cells, row, weights))
        return case, blank[order]

    def make_release(
        self, found: Found, regions: frozenset[str], method: Method, seed: int, tell: Callable[[float], None]
    ) -> Hidden:
        case, blank = self.draw(found, seed)
        partial = case.partial(blank)
        outside = blank & ~case.cells.may_hide(regions)
        left = case.unsafe(partial)
        if left or outside.any():
            number = int(outside.sum())
            what = f"{left:,} rules still reveal a sensitive cell" if left else f"{number:,} cells were hidden that may not be"
            raise InternalError(what, where=f"--method {method}", remedy="Please report this; nothing was released")
        tell(0.6)
        after = case.audit(partial)
        tell(0.8)
        before = case.audit(case.partial(np.zeros(blank.shape, np.bool_)))
        cost = case.cost(blank, found, seed)
        tell(0.9)
        how = {"other_columns": self.other_columns, "other_names": self.others}
        return Hidden.made(partial, method=method, before=before, after=after, cost=cost, **how)

    def stricter(self, made: Hidden, problem: Problem, regions: frozenset[str], seed: int) -> Hidden:
        """Return the result of a stricter uniform suppression, if clean."""
        found = find_stricter(problem, regions, self.limits)
        stricter = None if found is None else self.make_release(found, regions, "uniform", seed, lambda _share: None)
        return stricter if stricter is not None and stricter.ok else made

    def uniform(self, problem: Problem, seed: int) -> Tried:
        regions = frozenset({"sc"})
        try:
            found = find_cells(problem, regions, "uniform", seed=seed, limits=self.limits)
        except RepairError as error:
            return Tried("uniform", None, {}, str(error))
        made = self.make_release(found, regions, "uniform", seed, lambda _share: None)
        if not made.ok:
            made = self.stricter(made, problem, regions, seed)
        return Tried("uniform", made.after.verdict if made.after else None, made.cost)

    def unsafe(self, partial: PartialTable) -> int:
        """Count the rules that reveal protected cells, independently."""
        conditions = partial.conditions
        number = 0
        for place, name in enumerate(self.original.people.schema.sa):
            known = {value: code for code, value in enumerate(self.original.people.column(name).values)}
            shown = partial.people.column(name)
            recoded = np.array([known.get(value, -1) for value in shown.values], np.int32)[shown.codes]
            recoded[partial.hidden[:, partial.people.names.index(name)]] = -1
            rows = np.flatnonzero(self.cells.protected[:, place]).astype(np.int64)
            rows = rows[self.cells.values[rows, place] >= 0]
            if (recoded[rows] >= 0).any():
                raise InternalError("shows a sensitive cell", where="hide", remedy="Please report this; nothing was released")
            truth = self.original.codes(name)[rows]
            inputs = Case(conditions, recoded, rows, truth, people=partial.weights)
            number += len(unsafe_rules(inputs, self.bars, check=self.check))
        return number

    def audit(self, partial: PartialTable) -> Audit:
        self.check()
        sensitive = np.zeros(self.original.hidden.shape, np.bool_)
        sensitive[:, [self.original.people.names.index(name) for name in self.original.people.schema.sa]] = self.cells.protected
        marks = Marks(np.zeros_like(sensitive), sensitive)
        return audit(partial, data=self.original, rows=marks, policy=self.policy, time_limit=self.limits.seconds_left)

    def cost(self, blank: Flags, found: Found, seed: int) -> dict[str, Any]:
        k = self.cells.attributes
        sensitive = self.cells.sensitive
        schema = self.original.people.schema
        people = self.original.weights
        by_column = people @ blank
        total = int(by_column.sum())
        regions = {
            "ns": by_column[k:],
            "nc": people[~sensitive] @ blank[~sensitive, :k],
            "sc": people[sensitive] @ blank[sensitive, :k],
        }
        columns = {name: int(count) for name, count in zip(schema.used, by_column.tolist(), strict=True) if count}
        cells = self.original.n * blank.shape[1]
        out: dict[str, Any] = {"cells_hidden": total, "cells_hidden_share": total / max(1, cells)}
        out["by_region"] = {region: int(regions[region].sum()) for region in REGIONS}
        out |= {"by_column": columns, "sensitive_cells": int((people @ self.cells.protected).sum())}
        if found.bound is not None:
            out |= {"least_cells": found.bound, "gap": (total - found.bound) / total if total else 0.0}
        before = np.concatenate([self.cells.conditions, self.cells.values], axis=1)
        hidden = blank.copy()
        hidden[:, k:] |= self.cells.protected
        after = np.where(hidden, np.int32(-1), before)
        bars = {"confidence": self.bars.confidence, "support": self.bars.support}
        return out | blank_cost(before, after, k, seed=seed, people=people, check=self.check, **bars)  # type: ignore[arg-type]


def _open(people: Any, qi: Names, sa: Names, engine: Engine | str | None, **how: Any) -> ToHide:
    if isinstance(people, ToHide):
        return people
    if isinstance(people, PartialTable):
        return of_people(people)
    if isinstance(people, Table) or not (qi or sa):
        return of_people(require_table(people, "hide", qi=qi, sa=sa))
    return open_to_hide(people, qi=qi, sa=sa, engine=as_engine(engine), **how)


def _merge(table: PartialTable, number: Ints, first: Ints) -> PartialTable:
    """Return the table with a row for each number, which stands for all its people."""
    return _take(table, first, count_people(number, table.weights, len(first)))


def _take(table: PartialTable, rows: Ints, weights: Ints) -> PartialTable:
    columns = tuple(replace(column, codes=column.codes[rows]) for column in table.people.columns)
    people = replace(table.people, columns=columns, weights=weights, is_by_row=False)
    return PartialTable(people, table.hidden[rows], None, table.header)


def _take_cells(cells: Cells, rows: Ints, people: Ints) -> Cells:
    return Cells(
        cells.conditions[rows],
        cells.values[rows],
        cells.protected[rows],
        None if cells.published is None else cells.published[rows],
        people=people,
        alike=None if cells.alike is None else cells.alike[rows],
    )


def _sensitive(rows: Any, marks: Marks | None, people: Table) -> npt.NDArray[np.int64]:
    named = np.zeros(0, np.int64) if rows is None else read_rows(rows, people)
    marked = np.zeros(0, np.int64) if marks is None else marks.rows
    found = np.union1d(named, marked).astype(np.int64)
    if not len(found):
        remedy = "Name them with --rows, or mark their cells with - in --marks"
        raise OptionError("no row is sensitive, so there is nothing to protect", where="--rows", remedy=remedy)
    return found


def _cells(original: PartialTable, rows: npt.NDArray[np.int64], marks: Marks | None, *, given: bool) -> Cells:
    schema = original.people.schema
    names = original.people.names
    protected = np.zeros((len(original.hidden), len(schema.sa)), np.bool_)
    published = None
    if marks is not None:
        places = [names.index(name) for name in schema.used]
        protected |= marks.sensitive[:, places[len(schema.qi) :]]
        published = marks.published[:, places]
    if given:
        named = rows if marks is None else np.setdiff1d(rows, marks.rows)
        protected[named] = True
    values = np.stack([original.codes(name) for name in schema.sa], axis=1)
    if published is not None and (wrong := np.flatnonzero((protected & published[:, len(schema.qi) :]).any(axis=1))).size:
        what = f"says that {name_rows(wrong)} must publish a sensitive cell"
        raise OptionError(what, where="--marks", remedy="Take these marks away, or do not name the rows with --rows")
    cells = Cells(original.conditions, values, protected, published)
    empty = np.flatnonzero((protected & (values < 0)).all(axis=1, where=protected) & cells.sensitive)
    if len(empty):
        verb = "cell of {} is" if len(empty) == 1 else "cells of {} are"
        who = name_rows(empty) if len(original) == len(original.hidden) else f"{int(original.weights[empty].sum()):,} people"
        what = f"the sensitive {verb.format(who)} empty already"
        remedy = "Leave these rows out, or give the table as it was before cells were hidden"
        raise OptionError(what, where="--rows", remedy=remedy)
    return cells
