"""Checks of findings about numbers beside counts.

A sum over people adds up as their number does, and no value is below 0; so weights on printed sums bound the sum of a group as weights on
counts bound its people, except that sums need not be whole. A printed maximum is the value of somebody.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Any, ClassVar

from tacit.checker.joint import Cited, check_bound, check_cited, event_box, is_same_box
from tacit.checker.lines import Box, JointBook, Statement, labelled
from tacit.checker.rules import Reject
from tacit.checker.words import check_statement, read_event
from tacit.model.finding import render_steps
from tacit.model.frequencies import CLOSE, UNBOUNDED, FrequencyTable, Numbers, numbered_tables
from tacit.model.number_words import explain_amount, explain_extreme, name_amount, render_number, render_range, state_amount
from tacit.model.numbers import Bound

Range = tuple[Fraction, Fraction]


def _printed(numbers: Numbers, statistic: str, index: int) -> Range | None:
    """Return the numbers that would be printed so."""
    column = {str(name): one for name, one in numbers.printed.items()}.get(statistic)
    if column is None or int(column.digits[index]) < 0:
        return None
    digits = int(column.digits[index])
    value = Fraction(int(column.scaled[index]), 10**digits)
    if numbers.is_exact and statistic != "mean":
        return value, value
    return max(value - Fraction(5, 10 ** (digits + 1)), Fraction(0)), value + Fraction(5, 10 ** (digits + 1))


def _sum_ends(numbers: Numbers, index: int, fewest: int, most: int) -> tuple[Fraction, Fraction | None]:
    """Return the smallest and the largest sum of a cell."""
    lows = [Fraction(0)]
    highs = [Fraction(0)] if most == 0 else []
    if (total := _printed(numbers, "sum", index)) is not None:
        lows.append(total[0])
        highs.append(total[1])
    for statistic in ("mean", "min", "max"):
        ends = _printed(numbers, statistic, index)
        if ends is not None and statistic != "max":
            lows.append(ends[0] * fewest)
        if ends is not None and statistic != "min" and most < UNBOUNDED:
            highs.append(ends[1] * most)
    top = _printed(numbers, "max", index)
    bottom = _printed(numbers, "min", index)
    if top is not None and fewest >= 1:
        lows.append(top[0] + (fewest - 1) * (bottom[0] if bottom is not None else 0))
    if top is not None and bottom is not None and 1 <= most < UNBOUNDED:
        highs.append(bottom[1] + (most - 1) * top[1])
    return max(lows), min(highs) if highs else None


@dataclass(slots=True)
class NumberBook(JointBook):
    """Printed sums of a column in several releases, in a unit."""

    is_whole: ClassVar[bool] = False
    column: str = ""
    unit: int = 1

    def _statement(self, cited: Mapping[str, Any]) -> Statement:
        if cited["what"] == "all-values":
            return super()._statement(cited)
        number = int(cited["release"])
        table = numbered_tables(self.releases).get(number)
        index = self.lines[number].by_line.get(cited.get("line", cited.get("cell")))
        if table is None or index is None or cited["what"] != "sum" or list(cited["items"]) != [self.column]:
            raise Reject("it cites a place where no such sum is printed")
        least, most = _sum_ends(_of(table, self.column), index, int(table.lo[index]), int(table.hi[index]))
        box: Box = {
            ("column", name): (frozenset(labelled(table, name, label)), False) for name, label in table.cell(index).items()
        }
        ends = floor(least * self.unit), None if most is None else ceil(most * self.unit)
        printed = int(table.lo[index]), int(table.hi[index])
        return Statement(((Fraction(1), {**box, **self.lines[number].scope}),), *ends, printed)


def _of(table: FrequencyTable, column: str) -> Numbers:
    found = [one for one in table.numbers if one.column == column]
    if len(found) != 1:
        raise Reject("it cites a table that prints no numbers of its column")
    return found[0]


def check_amount(finding: Mapping[str, Any], book: JointBook, k: int, names: Sequence[str]) -> None:
    """Re-check a sum that is revealed of a group."""
    proof = finding["certificate"]
    told = proof["numbers"]
    if proof["people"] != book.people:
        raise Reject("its certificate is about other people than the audit")
    unit = int(told["unit"])
    if unit < 1:
        raise Reject("its numbers have no unit")
    group = read_event(told["group"])
    box = event_box(book, told["group"])
    sums = NumberBook(book.releases, book.people, book.of, column=str(told["column"]), unit=unit)
    cited: Cited = {}
    least = check_bound(sums, told["least"], box, "at_least", cited)
    most = check_bound(sums, told["most"], box, "at_most", cited)
    if not 0 < least <= most or (most - least) * CLOSE.denominator > most * CLOSE.numerator:
        raise Reject("its sum is not bounded closely")
    lo, hi = finding["count"]
    shown = check_bound(book, proof["least"], box, "at_least", cited) if proof["least"] else 1
    if shown != lo or lo < 1 or check_bound(book, proof["most"], box, "at_most", cited) != hi:
        raise Reject("its steps show another number of people")
    if told["withheld"] is None and hi >= k:
        raise Reject(f"its group is not one of 1 to {k - 1} people")
    if told["withheld"] is not None:
        _check_withheld(told["withheld"], sums, box)
    check_cited(finding["because"], cited)
    amount = render_range(Fraction(least, unit), Fraction(most, unit))
    count = Bound(lo, hi)
    if finding["event"] != name_amount(group, count, sums.column, amount).to_dict():
        raise Reject("its event does not name its sum")
    if finding["statement"] != state_amount(group, count, names, sums.column, amount):
        raise Reject("its sentence does not say what its event and count say")
    if tuple(finding["steps"]) != render_steps(explain_amount(proof, book.look_up, sums.look_up)):
        raise Reject("its steps do not say what its certificate says")


def _check_withheld(place: Mapping[str, Any], book: NumberBook, box: Box) -> None:
    """Raise unless a table prints numbers, and none in this cell."""
    number = int(place["release"])
    table = numbered_tables(book.releases).get(number)
    index = book.lines[number].by_line.get(place.get("line", place.get("cell")))
    if table is None or index is None:
        raise Reject("it names a cell that does not exist")
    said = book.statement({**place, "what": "sum", "items": [book.column]})
    numbers = _of(table, book.column)
    is_withheld = not any(_printed(numbers, name, index) for name in ("sum", "mean", "min", "max"))
    if not is_withheld or not is_same_box(book, said.terms[0][1], box):
        raise Reject("its number is not withheld")


def check_extreme(finding: Mapping[str, Any], book: JointBook, k: int, names: Sequence[str]) -> None:
    """Re-check that few people have the largest or smallest value of a cell."""
    proof = finding["certificate"]
    told = proof["extreme"]
    if proof["people"] != book.people:
        raise Reject("its certificate is about other people than the audit")
    number = int(told["release"])
    table = numbered_tables(book.releases).get(number)
    index = book.lines[number].by_line.get(told.get("line", told.get("cell")))
    if table is None or index is None or int(table.lo[index]) < 1:
        raise Reject("it cites a place where no cell with people stands")
    numbers = _of(table, str(told["column"]))
    fewest = int(table.lo[index])
    largest = int(table.hi[index])
    extreme = _printed(numbers, str(told["statistic"]), index)
    least, most = _sum_ends(numbers, index, fewest, largest)
    if extreme is None:
        raise Reject("the cell prints no such number")
    if told["statistic"] == "max":
        prints_sum = _printed(numbers, "sum", index) or _printed(numbers, "mean", index)
        if prints_sum is None or most is None or extreme[0] <= 0:
            raise Reject("nothing bounds the number of people with this value")
        room = floor(most / extreme[0])
        because = f"their sum alone would be above {render_number(most)}"
    else:
        top = _printed(numbers, "max", index)
        if told["statistic"] != "min" or top is None or fewest != largest or top[1] <= extreme[1]:
            raise Reject("nothing bounds the number of people with this value")
        room = floor((fewest * top[1] - least) / (top[1] - extreme[1]))
        because = f"the sum of all {fewest:,} would be below {render_number(least)}"
    if finding["count"] != [1, room] or not room < k:
        raise Reject(f"1 to {room} people have this value")
    text = {str(name): one for name, one in numbers.printed.items()}[told["statistic"]].text(index)
    present = sorted([*(f"{name}={label}" for name, label in table.cell(index).items()), f"{numbers.column}={text}"])
    inside = {"inside": [book.declared.of[number]]} if book.declared.sets else {}
    if finding["event"] != {"present": present, "absent": [], **inside}:
        raise Reject("its event is not that of its cell")
    place = (number, told.get("line", told.get("cell")))
    check_cited(finding["because"], {place: {(fewest, largest)}})
    check_statement(finding, names)
    steps = explain_extreme(str(told["statistic"]), numbers.column, text, Bound(1, room), because)
    if tuple(finding["steps"]) != render_steps(steps):
        raise Reject("its steps do not say what its certificate says")
