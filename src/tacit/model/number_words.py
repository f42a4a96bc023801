"""Wording about numbers beside counts that the attacks and the checker share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from tacit.model.finding import ItemEvent, Step, remark
from tacit.model.numbers import Bound
from tacit.model.words import LookUp, explain_joint, state_joint

SHOWN_TERMS = 12  #: Most terms of a sum that are written out.


def render_number(value: Fraction) -> str:
    """Return a decimal with separators, without needless zeros.

    >>> render_number(Fraction(120001, 2)), render_number(Fraction(1, 8)), render_number(Fraction(60000))
    ('60,000.5', '0.125', '60,000')
    """
    text = f"{value.numerator // value.denominator:,}"
    rest = value - value.numerator // value.denominator
    digits = ""
    while rest and len(digits) < 8:
        rest *= 10
        digits += str(int(rest))
        rest -= int(rest)
    return f"{text}.{digits}" if digits else text


def render_range(least: Fraction, most: Fraction) -> str:
    """Return a range of numbers, or the only one."""
    return render_number(least) if least == most else f"{render_number(least)} to {render_number(most)}"


def name_amount(event: ItemEvent, count: Bound, column: str, amount: str) -> ItemEvent:
    """Return the event with the number that its people have."""
    what = column if count == Bound(1, 1) else f"sum of {column}"
    return replace(event, present=(*event.present, f"{what}={amount}"))


def state_amount(event: ItemEvent, count: Bound, names: Any, column: str, amount: str) -> str:
    """Return the sentence about the sum of a group."""
    told = state_joint(event, count, names).removesuffix(".")
    is_one = count == Bound(1, 1)
    return f"{told}; their {column} {'is' if is_one else 'adds up to'} {amount}."


def explain_amount(certificate: Mapping[str, Any], look_up: LookUp, look_up_sum: LookUp) -> list[Step]:
    """Return the arithmetic of a sum: the group's people and their sum."""
    numbers = certificate["numbers"]
    unit = int(numbers["unit"])
    out: list[Step] = [] if not (certificate["least"] or certificate["most"]) else explain_joint(certificate, look_up)
    if not certificate["least"]:
        out.append(remark("Somebody is in the group, as its sum is above 0."))
    for end, word in (("least", "at least"), ("most", "at most")):
        for number, step in enumerate(numbers[end]):
            value = Fraction(step["at_least" if "at_least" in step else "at_most"], unit)
            group = "of the group" if number == len(numbers[end]) - 1 else f"of a group on the way ({number + 1})"
            out.append(remark(f"{numbers['column']} {group} adds up to {word} {render_number(value)}:"))
            sign = 1 if "at_least" in step else -1
            for entry in step["weights"][:SHOWN_TERMS]:
                out.append(remark(_term(entry, sign, look_up_sum, unit)))
            if len(step["weights"]) > SHOWN_TERMS:
                out.append(remark(f"and {len(step['weights']) - SHOWN_TERMS:,} more terms, which the certificate lists"))
    return out


def _term(entry: Mapping[str, Any], sign: int, look_up_sum: LookUp, unit: int) -> str:
    weight = Fraction(entry["weight"]) * sign
    times = "" if abs(weight) == 1 else f"{abs(weight)} times "
    mark = "+" if weight > 0 else "-"
    if "step" in entry:
        return f"{mark} {times}what was shown above ({entry['step'] + 1})"
    said = look_up_sum(entry)
    bound = said.lo if Fraction(entry["weight"]) > 0 else said.hi
    assert bound is not None
    if said.what == "all-values":
        return f"{mark} {times}0 of people with another {said.items[0]}, as {said.release} lists all of its values"
    place = f"line {said.place}" if isinstance(said.place, int) else f"cell {said.place}"
    return f"{mark} {times}{render_number(Fraction(bound, unit))} ({said.release}, {place})"


def explain_extreme(statistic: str, column: str, value: str, count: Bound, because: str) -> list[Step]:
    """Return why few people have the largest or smallest value of a cell."""
    word = "largest" if statistic == "max" else "smallest"
    most = "1 person" if count.hi == 1 else f"{count.hi:,} people"
    return [
        remark(f"The {word} {column} is printed as {value}, so somebody has it."),
        remark(f"If more than {most} had it, {because}."),
    ]
