"""Hidden sensitive values of a table with blanks beside a frequency table, against every way to fill the blanks."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from itertools import product

import pytest

import tacit
from tacit.checker import check_audit
from tacit.model.frequencies import CellPrinting, FrequencyTable
from tacit.model.partial import PartialTable
from tacit.reports.record import audit_record

Row = dict[str, str]

VALUES = {"sex": ("F", "M"), "job": ("cook", "nurse"), "ill": ("flu", "hiv", "none")}


def made(seed: int) -> tuple[list[Row], PartialTable, FrequencyTable]:
    """A few people, the table of them with blanks, and a table of counts."""
    chance = random.Random(seed)
    n = chance.randint(3, 6)
    values = VALUES | {"ill": VALUES["ill"][: chance.choice([2, 3])]}
    rows = [{name: chance.choice(own) for name, own in values.items()} for _ in range(n)]
    blank = [dict(row) for row in rows]
    for number in chance.sample(range(n), chance.randint(1, 2)):
        blank[number]["ill"] = ""
    if chance.random() < 0.4:
        blank[chance.randrange(n)][chance.choice(["sex", "job"])] = ""
    table = tacit.read_release(
        tacit.read_table({name: [row[name] for row in blank] for name in values}), form="table", qi=["sex", "job"], sa="ill"
    )
    assert isinstance(table, PartialTable)
    over = chance.choice([("ill",), ("sex", "ill"), ("job", "ill")])
    below = chance.choice([None, None, 2])
    printing = CellPrinting(hidden_below=below)
    cells, counts = [], []
    for chosen in product(*(values[name] for name in over)):
        count = sum(all(row[name] == value for name, value in zip(over, chosen, strict=True)) for row in rows)
        cells.append(list(chosen))
        counts.append(None if below is not None and count < below else count)
    return blank, table, FrequencyTable.of(list(over), cells, counts, n=n, printing=printing)


def worlds(blank: list[Row], cells: FrequencyTable) -> Iterator[list[Row]]:
    """Every way to fill the blanks that the counts allow."""
    values = VALUES | {"ill": cells.values[cells.columns.index("ill")]}
    holes = [(number, name) for number, row in enumerate(blank) for name, value in row.items() if not value]
    for filled in product(*(values[name] for _, name in holes)):
        rows = [dict(row) for row in blank]
        for (number, name), value in zip(holes, filled, strict=True):
            rows[number][name] = value
        inside = [
            sum(all(row[name] == value for name, value in cells.cell(index).items()) for row in rows)
            for index in range(len(cells))
        ]
        if all(cells.lo[index] <= count <= cells.hi[index] for index, count in enumerate(inside)):
            yield rows


@pytest.mark.parametrize("seed", range(50))
def test_a_blank_is_told_exactly_where_every_filling_tells_it(seed: int) -> None:
    blank, table, plain = made(seed)
    cells = tacit.read_release(plain, sa="ill")
    assert isinstance(cells, FrequencyTable)
    possible: dict[int, set[str]] = {number: set() for number, row in enumerate(blank) if not row["ill"]}
    for rows in worlds(blank, cells):
        for number, values in possible.items():
            values.add(rows[number]["ill"])
    found = tacit.audit([table, cells], people=tacit.Same(), policy=tacit.Policy(k=2, l=2))
    told = [one for one in found.findings if one.code == "R03" and "blanks" in (one.certificate or {})]
    covered = set()
    for finding in told:
        event = finding.event.to_dict()
        left = event.pop("ill")
        inside = [number for number in possible if all(blank[number][name] in values for name, values in event.items())]
        assert finding.count.lo == len(inside) > 0
        for number in inside:
            assert possible[number] <= set(left)
        covered |= set(inside)
    run = found.attack("R03")
    groups = [one.event.to_dict() for one in found.findings if one.code == "R03" and "blanks" not in (one.certificate or {})]
    for number, values in possible.items():
        in_group = any(all(blank[number][name] in own for name, own in one.items() if name != "ill") for one in groups)
        if len(values) < 2 and number not in covered and not in_group:
            assert run.undecided, (seed, number, values)
            assert any(not value for row in blank for name, value in row.items() if name != "ill")
    if told:
        record = json.loads(json.dumps(audit_record(found, top=100)))
        assert not check_audit(record, [table, cells]).problems
        place = next(at for at, one in enumerate(record["findings"]) if "blanks" in one.get("certificate", {}))
        record["findings"][place]["certificate"]["blanks"]["shown"] += 1
        assert check_audit(record, [table, cells]).problems
