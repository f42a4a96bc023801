"""Statements that cannot all be true: which lines are named, and that none of them can be spared."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.model.errors import Contradiction
from tacit.model.people import Population
from tacit.model.table import Table
from tacit.solve.bounds import bound, clashing, components
from tacit.solve.program import NoWhole, Program, branch
from tacit.solve.statements import Statements, reduce

PEOPLE = {
    "education": ["Doctorate"] * 6 + ["Masters"] * 5 + ["Bachelors"],
    "gender": ["Female"] * 4 + ["Male"] * 2 + ["Female"] * 5 + ["Male"],
    "salary": ["50K+"] * 5 + ["50K-"] + ["50K+"] * 4 + ["50K-"] * 2,
}


def population(*rows: str) -> Population:
    return Population.of(Table.from_rows(["one", "two"], [tuple(row) for row in rows]))


def written(folder: Path, change: dict[str, str]) -> tuple[Path, tacit.Table]:
    """Rules with some lines edited, and who they are about."""
    table = tacit.read_table(PEOPLE, qi=["education", "gender"], sa="salary")
    path = folder / "rules.csv"
    tacit.write_release(tacit.mine_rules(table, min_support=0.3, min_confidence=0.8), path)
    text = path.read_text()
    for old, new in change.items():
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    return path, table


@pytest.mark.parametrize("attack", ["R02", "R03"])
def test_an_edited_line_is_named_with_those_that_it_clashes_with(attack: str, tmp_path: Path) -> None:
    # All 9 women would earn much, and so all 5 people with a master's degree, of whom 4 do.
    path, table = written(tmp_path, {"8,0.6666666666666666,0.8888888888888888": "9,0.75,1.0"})
    with pytest.raises(Contradiction) as error:
        tacit.audit(path, known=table.qi, attacks=[attack])
    lines = path.read_text().splitlines()
    edited = next(number for number, line in enumerate(lines, 1) if line.endswith("9,0.75,1.0"))
    assert edited in error.value.lines
    for spared in error.value.lines:
        rest = [lines[0], *(lines[line - 1] for line in error.value.lines if line != spared)]
        path.write_text("\n".join(rest) + "\n")
        tacit.audit(tacit.read_release(path, complete=False), known=table.qi, attacks=[attack])


def test_no_named_statement_can_be_spared() -> None:
    known = population("ac", "ac", "ad", "bc", "bd", "bd")
    said = Statements(known, 2)
    said.say(known.holding([("one", "a")]), 0, 2, 3, "a")
    said.say(known.holding([("two", "c")]), 0, 0, 1, "c")
    said.say(known.holding([("one", "b")]), 0, 1, 2, "b")
    said.say(known.holding([("two", "d")]), 0, 0, 1, "d")
    found = clashing(said)
    assert found is not None
    for spared in found:
        rest = Statements(known, 2)
        for one in said.listed:
            if one.origin in found and one.origin != spared:
                rest.say(said.events[one.event], one.value, one.lo, one.hi, one.origin)
        assert clashing(rest) is None
    assert set(found) == {"a", "b", "c", "d"}


def halves() -> Statements:
    """Three people, of any two of whom exactly one has the value: half of each would do."""
    known = population("ax", "bx", "cx")
    said = Statements(known, 2)
    for pair in ([0, 1], [1, 2], [0, 2]):
        said.say(np.array(pair, np.int32), 0, 1, 1, tuple(pair))
    return said


def test_half_people_are_nobody() -> None:
    said = halves()
    assert clashing(said) is None
    problem = reduce(said)
    with pytest.raises(NoWhole) as error:
        bound(problem, said.population.people)
    assert {origin for row in error.value.rows for origin in problem.origins[row]} == {(0, 1), (1, 2), (0, 2)}


def test_cases_are_told_apart_where_fractions_would_reach_further() -> None:
    known = population("ax", "bx", "cx")
    said = Statements(known, 2)
    for pair in ([0, 1], [1, 2], [0, 2]):
        said.say(np.array(pair, np.int32), 0, 0, 1, tuple(pair))
    problem = reduce(said)
    program = Program(problem, components(problem)[0])
    everybody = np.ones(len(program), np.int64)
    found = branch(program, everybody, 0, goal=2)
    assert found.most == 1
    assert [int(people.sum()) for people in found.witnesses] == [1]
    assert program.most(everybody.astype(float)).value == pytest.approx(1.5)
    for cuts, proof in found.cases:
        again = program.added(everybody, proof.weights, proof.denominator, cuts)
        assert again is not None
        assert again.most <= 1


def test_weights_prove_what_they_add_up_to_and_no_more() -> None:
    known = population("ac", "ad", "bc")
    said = Statements(known, 2)
    said.say(known.holding([("one", "a")]), 0, 1, 1, "a")
    problem = reduce(said)
    program = Program(problem, components(problem)[0])
    gain = np.ones(len(program), np.int64)
    totals = [program.added(gain, np.array([weight]), 1) for weight in (-1, 0, 1, 2)]
    assert [one.total for one in totals if one is not None] == [3, 2, 1, 2]
