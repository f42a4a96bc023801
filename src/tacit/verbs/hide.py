"""The verb ``hide``: suppress cells that rules would reveal."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.files.inputs import require_table
from tacit.files.selection import Marks, read_marks, read_rows
from tacit.model.arrays import Flags
from tacit.model.audit import Audit
from tacit.model.errors import InputError, InternalError, LimitReached, OptionError, RepairError, nearest_name
from tacit.model.partial import PartialTable, Thresholds
from tacit.model.policy import Limits, Policy
from tacit.model.repair import OTHER_COLUMNS, Hidden, OtherColumns, Tried
from tacit.model.table import Schema, Table
from tacit.partial.cost import blank_cost
from tacit.partial.methods import Found, Method, choose_method, find_cells, find_stricter, parse_regions
from tacit.partial.problem import REGIONS, Cells, IntegerThresholds, Problem, draw_hidden_cells
from tacit.partial.unsafe_rules import Case, unsafe_rules
from tacit.verbs.audit import audit
from tacit.verbs.data import name_rows, one_row_each

#: Where cells may be hidden and how they are chosen, in the order in which that is tried where nobody says.
HIDINGS: tuple[tuple[str, Method], ...] = (
    ("ns", "greedy"),
    ("ns,nc", "greedy"),
    ("ns,nc,sc", "greedy"),
    ("sc", "uniform"),
    ("nc", "rgraph-max-descendant"),
)


def hide(
    people: Table | PartialTable,
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
) -> Hidden:
    """Hide the sensitive cells of some rows and few others, so that no rule reveals them.

    Parameters
    ----------
    people
        A table with quasi-identifying columns, the condition attributes, and a sensitive one or several.
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
        return _hide_fewest(_original(people), limits, tell, rows=rows, seed=seed, **how)
    regions = parse_regions(may_hide)
    chosen = choose_method(method, regions)
    if other_columns not in OTHER_COLUMNS:
        remedy = nearest_name(str(other_columns), OTHER_COLUMNS, "choices")
        raise OptionError(f"there is no choice {other_columns!r}", where="--other-columns", remedy=remedy)
    original = _original(people)
    others = original.others
    if others and other_columns == "keep":
        schema = Schema((*original.people.schema.qi, *others), original.people.schema.sa)
        header = replace(original.header, qi=schema.qi)
        original = replace(original, people=replace(original.people, schema=schema), header=header)
    table = original.people
    bars = Thresholds.of(min_confidence=min_confidence, min_support=min_support, n=original.n)
    marked = None if marks is None else read_marks(marks, table)
    sensitive = _sensitive(rows, marked, table)
    cells = _cells(original, sensitive, marked, given=rows is not None)
    if others and other_columns == "drop":  # rows and marks may speak of them, so they are dropped last
        kept = [name for name in table.names if name in table.schema.used]
        original = PartialTable.of(table.select(kept), None, original.sensitive, original.header)
    case = _Case(
        original,
        sensitive,
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


def _hide_fewest(people: PartialTable, limits: Limits, tell: Callable[[float], None], **how: Any) -> Hidden:
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
    rows: npt.NDArray[np.int64]
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
        return replace(self.original.hide(everywhere), sensitive=self.rows)

    def make_release(
        self, found: Found, regions: frozenset[str], method: Method, seed: int, tell: Callable[[float], None]
    ) -> Hidden:
        blank = draw_hidden_cells(found.state.problem, found.state.outcome(), seed=seed)
        partial = self.partial(blank)
        outside = blank & ~self.cells.may_hide(regions)
        left = self.unsafe(partial)
        if left or outside.any():
            number = int(outside.sum())
            what = f"{left:,} rules still reveal a sensitive cell" if left else f"{number:,} cells were hidden that may not be"
            raise InternalError(what, where=f"--method {method}", remedy="Please report this; nothing was released")
        tell(0.6)
        after = self.audit(partial)
        tell(0.8)
        before = self.audit(self.partial(np.zeros(blank.shape, np.bool_)))
        cost = self.cost(blank, found, seed)
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
            number += len(unsafe_rules(Case(conditions, recoded, rows, truth), self.bars, check=self.check))
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
        total = int(blank.sum())
        regions = {"ns": blank[:, k:], "nc": blank[~sensitive, :k], "sc": blank[sensitive, :k]}
        columns = {name: int(count) for name, count in zip(schema.used, blank.sum(axis=0).tolist(), strict=True) if count}
        out: dict[str, Any] = {"cells_hidden": total, "cells_hidden_share": total / max(1, blank.size)}
        out["by_region"] = {region: int(regions[region].sum()) for region in REGIONS}
        out |= {"by_column": columns, "sensitive_cells": int(self.cells.protected.sum())}
        if found.bound is not None:
            out |= {"least_cells": found.bound, "gap": (total - found.bound) / total if total else 0.0}
        before = np.concatenate([self.cells.conditions, self.cells.values], axis=1)
        hidden = blank.copy()
        hidden[:, k:] |= self.cells.protected
        after = np.where(hidden, np.int32(-1), before)
        bars = {"confidence": self.bars.confidence, "support": self.bars.support}
        return out | blank_cost(before, after, k, seed=seed, check=self.check, **bars)  # type: ignore[arg-type]


def _original(people: Any) -> PartialTable:
    if isinstance(people, PartialTable):
        return people
    require_table(people, "hide")
    for option, names in (("--qi", people.schema.qi), ("--sa", people.schema.sa)):
        if not names:
            what = "the table has no condition column" if option == "--qi" else "the table has no sensitive column"
            raise OptionError(what, where=option, remedy=f"Name it with {option} (Python: {option[2:]}=)")
    if people.n == 0:
        raise InputError("holds nobody", where="the table", remedy="Give a table with rows")
    return PartialTable.of(one_row_each(people))


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
    protected = np.zeros((original.n, len(schema.sa)), np.bool_)
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
        what = f"the sensitive {verb.format(name_rows(empty))} empty already"
        remedy = "Leave these rows out, or give the table as it was before cells were hidden"
        raise OptionError(what, where="--rows", remedy=remedy)
    return cells
