"""Rebuilt people against every world: nobody may be rebuilt who is absent from a world, nor anybody missed above what is said to be possible."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import tacit
from tests.judge.cases import Case
from tests.judge.publishers import ABSENT, PRESENT
from tests.judge.verdicts import write_files
from tests.judge.worlds import Space, TooLarge, span

Outcome = Literal["exact", "open", "too large", "not asked"]


def judge_rebuilt(case: Case) -> Outcome:
    """Raise where a world contradicts what is said of rebuilt people; tell if everything was decided."""
    if case.people not in (None, "same") or case.known or case.visits is not None or not case.groups_count:
        return "not asked"
    with tempfile.TemporaryDirectory() as folder:
        paths = write_files(case, Path(folder))
        read = [tacit.read_release(path, convention=case.convention) for path in paths]
        if any(one.kind in ("table", "buckets") for one in read):
            return "not asked"
        what: Any = read if len(read) > 1 else read[0]
        given: dict[str, Any] = {"people": tacit.Same()} if len(read) > 1 else {}
        given |= {"knowledge": case.knowledge} if case.knowledge else {}
        audit = tacit.audit(what, k=case.k, rebuild=True, **given)
        told = audit.rebuilt
        if told is None:
            return "not asked"
        plain = tacit.audit(what, k=case.k, **given).verdict
        assert plain == audit.verdict or plain == "incomplete", f"{audit.verdict} with rebuilt people, {plain} without"
        checked = tacit.verify(audit.to_dict(top=0), what, again=False, **{k: v for k, v in given.items() if k == "knowledge"})
        assert not [problem for problem in checked.problems if problem.startswith("rebuilt people")], checked.problems
    space = case.space()
    if not set(told.columns) <= set(space.columns):
        return "not asked"  # items such as S=g, which nothing says to be values of a column
    boxes = [dict(_box(group.event, space)) for group in told.groups]
    cells = [{name: frozenset([value]) for name, value in zip(space.columns, cell, strict=True)} for cell, _ in space.cells]
    try:
        sizes = case.problem(space).sizes(case.most, [space.flags(box) for box in (*boxes, *cells)])
    except TooLarge:
        return "too large"
    least = [span(one)[0] for one in sizes]
    for group, fewest in zip(told.groups, least, strict=False):
        assert fewest >= group.at_least, f"{group.event}: a world has {fewest}, at least {group.at_least} are claimed"
    certain = sum(least[len(boxes) :])
    assert told.most is None or certain <= told.most, f"{certain} are in every world, and at most {told.most} are said to be"
    return "open" if told.undecided else "exact"


def _box(event: Any, space: Space) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the values that a group allows in each column."""
    one: Mapping[str, Any]
    for one in event:
        name = one.get("column", one.get("item"))
        every = space.columns[name]
        named = frozenset([PRESENT]) if "item" in one else frozenset(one["values"])
        assert "item" not in one or set(every) <= {ABSENT, PRESENT}
        yield name, frozenset(every) - named if one["excluded"] else named
