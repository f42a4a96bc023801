"""Groups of which everybody has one sensitive value, against all worlds: every table that people could have made is tried."""

from __future__ import annotations

import json
import random
from itertools import product
from typing import Any

import pytest

import tacit
from tacit.checker import check_audit
from tacit.joint import cube, lower
from tacit.model.frequencies import CellPrinting, FrequencyTable
from tacit.reports.record import audit_record

Group = dict[str, str]

VALUES = {"sex": ("F", "M"), "job": ("cook", "nurse"), "ill": ("flu", "hiv", "none")}


def made(seed: int) -> tuple[FrequencyTable, int]:
    """A table of a few people, some of its cells hidden or rounded, and l."""
    chance = random.Random(seed)
    columns = {name: VALUES[name][: 3 if name == "ill" and chance.random() < 0.4 else 2] for name in VALUES}
    if chance.random() < 0.4:
        del columns["job"]
    n = chance.randint(1, 5)
    skewed = chance.random() < 0.6
    rows = []
    for _ in range(n):
        row = {name: chance.choice(values) for name, values in columns.items()}
        if skewed and row["sex"] == "F":
            row["ill"] = "hiv"
        rows.append(row)
    how = chance.choice(["exact", "hidden", "rounded"])
    printing = {
        "exact": CellPrinting(),
        "hidden": CellPrinting(hidden_below=chance.choice([2, 3]), zeros_shown=chance.random() < 0.5),
        "rounded": CellPrinting(base=chance.choice([2, 3])),
    }[how]
    names = list(columns)
    shown = [tuple(names)] if chance.random() < 0.5 else [("sex", "ill"), tuple(names[1:])]
    shown += [("sex",)] if chance.random() < 0.4 else []
    shown += [("ill",)] if chance.random() < 0.3 else []
    cells, counts = [], []
    for over in dict.fromkeys(shown):
        for chosen in product(*(columns[name] for name in over)):
            fixed = dict(zip(over, chosen, strict=True))
            count = sum(all(row[name] == value for name, value in fixed.items()) for row in rows)
            cells.append([fixed.get(name, "*") for name in names])
            hidden = (
                printing.hidden_below is not None and count < printing.hidden_below and not (printing.zeros_shown and not count)
            )
            base = printing.base
            counts.append(None if hidden else count if base is None else (2 * count + base) // (2 * base) * base)
    known = n if chance.random() < 0.7 or how != "exact" else None
    table = FrequencyTable.of(names, cells, counts, n=known, printing=printing)
    return table, chance.choice([2, 2, 3])


def worlds(table: FrequencyTable, most: int) -> list[dict[tuple[str, ...], int]]:
    """All numbers of people by their values that print so."""
    kinds = list(product(*table.values))
    out: list[dict[tuple[str, ...], int]] = []
    boxes = [(table.cell(index), table.count(index)) for index in range(len(table))]

    def fits(world: dict[tuple[str, ...], int]) -> bool:
        for box, count in boxes:
            places = [table.columns.index(name) for name in box]
            inside = sum(
                number
                for kind, number in world.items()
                if all(kind[place] == value for place, value in zip(places, box.values(), strict=True))
            )
            if not count.lo <= inside <= count.hi:
                return False
        return True

    def choose(place: int, left: int, world: dict[tuple[str, ...], int]) -> None:
        if place == len(kinds):
            if (table.n is None or left == 0) and fits(world):
                out.append(dict(world))
            return
        for number in range(left + 1):
            world[kinds[place]] = number
            choose(place + 1, left - number, world)
        del world[kinds[place]]

    choose(0, table.n if table.n is not None else most, {})
    return out


def truly_exposed(table: FrequencyTable, found: list[dict[tuple[str, ...], int]], l: int) -> dict[str, set[str]]:  # noqa: E741
    """The groups with somebody in every world whose people can have fewer than l values, with these."""
    names = [name for name in table.columns if name != "ill"]
    out = {}
    for chosen in product(*(("*", *table.values[table.columns.index(name)]) for name in names)):
        group = {name: value for name, value in zip(names, chosen, strict=True) if value != "*"}
        left: set[str] = set()
        always = True
        for world in found:
            inside = [
                (kind, number)
                for kind, number in world.items()
                if number and all(kind[table.columns.index(name)] == value for name, value in group.items())
            ]
            always &= bool(inside)
            left |= {kind[table.columns.index("ill")] for kind, _ in inside}
        if always and 0 < len(left) < l:
            out[json.dumps(group, sort_keys=True)] = left
    return out


def holds(event: dict[str, Any], group: Group) -> bool:
    """Whether the group of a finding holds a group."""
    return all(name == "ill" or group.get(name) in values for name, values in event.items())


@pytest.mark.parametrize("seed", range(80))
def test_everybody_of_a_group_has_one_value_exactly_where_every_world_says_so(seed: int) -> None:
    table, l = made(seed)  # noqa: E741
    true = truly_exposed(table, worlds(table, 6), l)
    found = tacit.audit(table, sa="ill", policy=tacit.Policy(k=2, l=l))
    run = found.attack("R03")
    told = [finding for finding in found.findings if finding.code == "R03"]
    for finding in told:
        event = finding.event.to_dict()
        single = {name: values[0] for name, values in event.items() if name != "ill" and len(values) == 1}
        if len(single) == len(event) - 1:  # groups of several values are not listed among the true ones
            assert true[json.dumps(single, sort_keys=True)] == set(event["ill"])
    assert run.status == "ran"
    assert run.undecided == 0
    for group in true:
        assert any(holds(finding.event.to_dict(), json.loads(group)) for finding in told), (group, true, told)
    if told:
        record = json.loads(json.dumps(audit_record(found, top=100)))
        checked = check_audit(record, [tacit.read_release(table, sa="ill")])
        assert not checked.problems
        for place, entry in enumerate(record["findings"]):
            if entry["code"] == "R03" and entry["certificate"]["others"]:
                record["findings"][place]["certificate"]["others"] = []
                assert check_audit(record, [table]).problems
                break


@pytest.mark.parametrize(("most", "is_told"), [(100_000, True), (40, True), (20, False)])
def test_everybody_who_lacks_a_value_is_a_group_also_where_columns_are_wide(
    most: int, is_told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two people are no cooks, and both have flu; nobody knows whether they are nurses or clerks. In no cube, that is not decided."""
    for module in (lower, cube):
        monkeypatch.setattr(module, "MOST_GROUPS", most)
    monkeypatch.setattr(cube, "WINDOW_GROUPS", most)
    cells = [["cook", "flu"], ["cook", "none"], ["nurse", "*"], ["clerk", "*"], ["*", "flu"], ["*", "none"]]
    cells = [[*cell, "*"] for cell in cells] + [["*", "*", "north"], ["*", "*", "south"]]
    counts = [13, 12, None, None, 15, 12, 14, 13]
    table = FrequencyTable.of(["job", "ill", "region"], cells, counts, n=27, printing=CellPrinting(hidden_below=10))
    found = tacit.audit(table, sa="ill", policy=tacit.Policy(k=1), attacks=["R03"])
    told = [finding.event.to_dict() for finding in found.findings]
    assert ({"job": ["clerk", "nurse"], "ill": ["flu"]} in told) == is_told
    assert (found.attack("R03").undecided > 0) == (most < 100_000), "no cube has all three columns"
    assert found.verdict == ("exposed" if is_told else "incomplete")
    if is_told:
        record = json.loads(json.dumps(audit_record(found, top=100)))
        assert not check_audit(record, [tacit.read_release(table, sa="ill")]).problems


@pytest.mark.parametrize("seed", range(30))
def test_wide_columns_hide_no_group(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no cube holds all columns, what every world says is told, or counted as undecided."""
    for module in (lower, cube):
        monkeypatch.setattr(module, "MOST_GROUPS", 10)
    monkeypatch.setattr(cube, "WINDOW_GROUPS", 10)
    table, l = made(seed)  # noqa: E741
    true = truly_exposed(table, worlds(table, 6), l)
    found = tacit.audit(table, sa="ill", policy=tacit.Policy(k=2, l=l))
    told = [finding.event.to_dict() for finding in found.findings if finding.code == "R03"]
    missing = [group for group in true if not any(holds(event, json.loads(group)) for event in told)]
    assert not missing or found.attack("R03").undecided
