"""What the cells of frequency tables say about the sensitive values of known people, read beside other releases.

A cell that fixes the sensitive value counts the people with its other values who have it, hidden and rounded ones within bounds. One that
does not is compared with the known people.
"""

from __future__ import annotations

from tacit.attacks.sensitive.case import LINE
from tacit.attacks.sensitive.known import Known, Origin, Reading, Spoken, about, name_of
from tacit.model.frequencies import FrequencyTable


def read_cells(known: Known, number: int, release: FrequencyTable) -> Reading:
    """The cells with a sensitive value."""
    found = Reading()
    for index in range(len(release)):
        cell = release.cell(index)
        value = cell.pop(known.sensitive, None)
        if not known.knows(list(cell)) or not (value is None or value in known.values):
            found.left_out += 1
            found.unread += value is not None
            continue
        places, count = known.population.holding(cell.items()), release.count(index)
        if value is None:
            known.compare(places, count.lo, count.hi, f"{name_of(release, number)} {release.place(index)}")
            continue
        most = min(count.hi, known.people(places))
        # That a printed 0 stands for nobody or for many, and for no number between, is not used.
        found.unread += most > 0 and _may_be_large(release, index)
        if most < known.people(places) or count.lo > 0:  # what is hidden without a limit says nothing
            origin = Origin(number, release.place(index), LINE, about(cell.items()))
            found.spoken.append(Spoken(places, known.values.index(value), count.lo, most, origin))
    return found


def _may_be_large(release: FrequencyTable, index: int) -> bool:
    """Whether a cell prints 0 for nobody or for as many people as are not hidden."""
    least = release.printing.hidden_below
    if least is None or least < 2 or not release.printing.zeros_shown or bool(release.is_hidden[index]):
        return False
    return int(release.lo[index]) == 0 and int(release.hi[index]) >= least
