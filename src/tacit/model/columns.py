"""Columns of identifiers, of dates and of many numbers, recognised by their names and values.

Identifiers and dates are not worth mining: their values stand for a row or a day each, so that hardly any itemset with them is frequent, and
those that are say little. A column of

* *identifiers* has more than 100 values, and more values than half of the people who have one;
* *dates* has more than 20 values, of which at least 95 % are dates or times. Of many values, 1,000 are looked at, evenly spread.

A missing mark and an empty cell are not values here. If the name of a column says that it numbers people, and has more than 50 values but
fewer than there are rows, then rows are not people.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

import numpy as np

from tacit.model.release import LeftOut
from tacit.model.table import Column, Table

MOST_VALUES = 100  #: A column of fewer values is never one of identifiers.
MOST_DAYS = 20  #: A column of fewer values is never one of dates.
MOST_TRIED = 1_000  #: Values that are tried as dates.
SHARE_OF_DATES = 0.95
MOST_NUMBERS = 50  #: A column of more numbers is better mined in intervals.

_TIME = r"(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[AaPp][Mm])?(?:Z| ?[+-]\d{2}:?\d{2})?)?"
_YEAR_FIRST = re.compile(rf"(?P<year>\d{{4}})([-/.])(?P<one>\d{{1,2}})\2(?P<two>\d{{1,2}}){_TIME}")
_YEAR_LAST = re.compile(rf"(?P<one>\d{{1,2}})([-/.])(?P<two>\d{{1,2}})\2(?P<year>\d{{4}}|\d{{2}}){_TIME}")
_DIGITS_ONLY = re.compile(r"(?P<year>(?:19|20)\d{2})(?P<one>\d{2})(?P<two>\d{2})")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")


def find_unsuitable(people: Table) -> tuple[LeftOut, ...]:
    """Return the columns of identifiers and of dates."""
    found = []
    for column in people.columns:
        values = _values(column, people.missing.mark)
        if _are_dates(values):
            found.append(LeftOut(column.name, "dates"))
        elif len(values) > MOST_VALUES and 2 * len(values) > _count_filled(people, column):
            found.append(LeftOut(column.name, "identifiers"))
    return tuple(found)


def find_many_numbers(people: Table) -> Iterator[str]:
    """Yield the columns whose many numbers are better read as intervals."""
    for column in people.columns:
        values = _values(column, people.missing.mark)
        if len(values) > MOST_NUMBERS and all(map(_NUMBER.fullmatch, values)):
            yield column.name


#: Words for people, and for what numbers them, in names of columns; names that say both in one word.
_PEOPLE = frozenset(
    {
        *("patient", "person", "customer", "member", "user", "subject", "client", "employee", "student", "participant"),
        *("respondent", "citizen", "resident", "pupil", "donor", "insured"),
    }
)
_NUMBER_WORDS = frozenset({"id", "ids", "nbr", "no", "nr", "num", "number", "key", "code"})
_NUMBERED_PEOPLE = frozenset({*(f"{who}id" for who in _PEOPLE), "mrn", "ssn", "nino", "nhsnumber", "socialsecuritynumber"})


def numbers_people(column: Column) -> bool:
    """Tell if a column numbers people, by its name and number of values."""
    return names_people(column.name) and len(column.values) > MOST_NUMBERS


def names_people(name: str) -> bool:
    """Tell if a column numbers people, by its name alone.

    >>> [names_people(name) for name in ("patient_nbr", "CustomerID", "patients", "order_id")]
    [True, True, False, False]
    """
    words = name_words(name)
    return "".join(words) in _NUMBERED_PEOPLE or (bool(_PEOPLE & set(words)) and words[-1] in _NUMBER_WORDS)


def find_repeated_people(people: Table) -> Column | None:
    """Return the first column that numbers people of whom some have several rows."""
    return next((column for column in people.columns if numbers_people(column) and len(column.values) < people.n), None)


def name_words(name: str) -> list[str]:
    """Return the words of a column's name, in small letters.

    >>> name_words("Patient-Nbr")
    ['patient', 'nbr']
    """
    return re.findall(r"[a-z0-9]+", name.casefold())


def _values(column: Column, mark: str | None) -> list[str]:
    return [value for value in column.values if value not in ("", mark)]


def _count_filled(people: Table, column: Column) -> int:
    """Return the number of people who have a value in a column."""
    blank = [code for code, value in enumerate(column.values) if value in ("", people.missing.mark)]
    return people.n - int(people.weights[np.isin(column.codes, blank)].sum())


def _are_dates(values: list[str]) -> bool:
    if len(values) <= MOST_DAYS:
        return False
    tried = values[:: -(-len(values) // MOST_TRIED)]
    return sum(map(is_date, tried)) >= SHARE_OF_DATES * len(tried)


def is_date(text: str) -> bool:
    """Return True for a date or a time of a day, as people and programs write them.

    >>> [is_date(text) for text in ("2024-02-29", "29.2.2024 13:05", "20240229", "02/29/24", "2024-02-30", "1234")]
    [True, True, True, True, False, False]
    """
    for form in (_YEAR_FIRST, _YEAR_LAST, _DIGITS_ONLY):
        if match := form.fullmatch(text):
            year, one, two = (int(match[part]) for part in ("year", "one", "two"))
            return _is_day(year, one, two) or (form is _YEAR_LAST and _is_day(year, two, one))
    return False


def _is_day(year: int, month: int, day: int) -> bool:
    try:
        date(year if year > 99 else 2000 + year, month, day)
    except ValueError:
        return False
    return True
