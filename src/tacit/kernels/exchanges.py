"""Exchanges of people that keep exact sums, searches among them, and fractions of people to start from.

Elimination expresses basic columns by the others. A column that is not basic has an exchange: one person more in it, and as many more or fewer
in basic columns as keep every exact sum. Places are the columns, and after them the sums that are not exact; a place is broken where it is
outside its ends. A search mends what is broken by one exchange after the other. Conditions that stay broken weigh more with every step.

Sparse lists are two arrays or three: list i is ``starts[i]:starts[i + 1]`` of the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.kernels.jit import kernel, part

LARGEST_ENTRY = 1 << 29  #: Larger entries of a table are not made, so that all fit 32 bits.
NEAR = 1e-9  #: Tolerance of a sum of fractions.
ENOUGH = 0.02  #: Fractions of people that miss each sum by less are not scaled further.
HELD = 4  #: Steps in which an exchange is not undone.
TIES = 0.5  #: Smaller differences in what is broken count as none.
MOST_IDLE = 20  #: Steps in a row without a possible exchange, after which a search ends.
MOST_DRAWN = 4  #: So many times the candidates are drawn to find usable ones.


@kernel(steps=lambda _people, rows, _ends, sweeps: sweeps * len(rows[1]))
def fit_people(people: Any, rows: Any, ends: Any, sweeps: int) -> None:
    """Scale fractions of people until sums are within their ends, one row after the other, so many times at most.

    ``ends`` are low, high and the divisor of each row's coefficients. People with positive coefficients are multiplied by a number, and those
    with negative ones divided by it.
    """
    starts, places, values = rows
    low, high, scale = ends
    for _ in range(sweeps):
        farthest = 0.0
        for row in range(len(low)):
            more = 0.0
            less = 0.0
            for at in range(starts[row], starts[row + 1]):
                adds = values[at] * people[places[at]]
                if adds > 0:
                    more += adds
                else:
                    less -= adds
            total = more - less
            if low[row] - NEAR <= total <= high[row] + NEAR:
                continue
            goal = low[row] if total < low[row] else high[row]
            farthest = max(farthest, abs(goal - total) / scale[row])
            # The root of ``more * factor - less / factor = goal``.
            factor = 0.0
            if more > 0:
                factor = (goal + np.sqrt(goal * goal + 4 * more * less)) / (2 * more)
            elif goal < 0:
                factor = -less / goal
            if factor > 0:
                for at in range(starts[row], starts[row + 1]):
                    if values[at] > 0:
                        people[places[at]] *= factor
                    else:
                        people[places[at]] /= factor
        if farthest < ENOUGH:
            return


@part
def _pivot(left: Any, sums: Any, sizes: Any, row: int, room: Any, across: Any) -> int:
    size = 0
    column = -1
    for place in range(left.shape[1]):
        value = left[row, place]
        if value != 0:
            across[size] = place
            size += 1
            if abs(value) == 1 and room[place] >= 0 and (column < 0 or room[place] > room[column]):
                column = place
    if column < 0:
        return -1
    largest = 0
    for at in range(size):
        largest = max(largest, abs(int(left[row, across[at]])))
    for other in range(left.shape[0]):
        if other != row and abs(int(left[other, column])) * largest > LARGEST_ENTRY:
            return -1
    if left[row, column] < 0:
        for at in range(size):
            left[row, across[at]] *= -1
        sums[row] *= -1
    for other in range(left.shape[0]):
        factor = int(left[other, column])
        if other != row and factor != 0:
            for at in range(size):
                place = across[at]
                before = int(left[other, place])
                after = before - factor * int(left[row, place])
                left[other, place] = after
                sizes[other] += (after != 0) - (before != 0)
            sums[other] -= factor * sums[row]
    return column


@kernel(steps=lambda left, _sums, _sizes, _room, _waiting, _basic: 8 * left.size)
def eliminate(left: Any, sums: Any, sizes: Any, room: Any, waiting: Any, basic: Any) -> None:
    """Make the roomiest possible column of each of the ``waiting`` rows basic, and take it out of all other rows.

    Short rows first keep others short; ``sizes`` are the entries of each row that are not 0. Columns without room stay as they are, and rows
    without a pivot of 1 or -1 as well.
    """
    across = np.empty(left.shape[1], np.int64)
    while True:
        row = -1
        for one in range(left.shape[0]):
            if waiting[one] and sizes[one] > 0 and (row < 0 or sizes[one] < sizes[row]):
                row = one
        if row < 0:
            return
        waiting[row] = False
        basic[row] = _pivot(left, sums, sizes, row, room, across)


@kernel(steps=lambda ties, _basic, _own, columns, _places, _found: ties.size + 20 * columns[1].size)
def list_changes(ties: Any, basic: Any, own: Any, columns: Any, places: Any, found: Any) -> int:
    """Write the changes of places by each exchange, without those that cancel out; return their number.

    ``ties`` are rows of exchanges, with a column for each basic one. ``columns`` are the sums in which each column is, and its coefficient;
    ``places`` are the places of sums, -1 for exact ones. Where what is ``found`` (starts, places and values) is too short, changes are only
    counted.
    """
    starts, sums, coefficients = columns
    out_starts, out_places, out_values = found
    changed = np.zeros(len(places), np.int64)
    touched = np.empty(len(places), np.int64)
    is_touched = np.zeros(len(places), np.bool_)
    used = 0
    for exchange in range(len(own)):
        out_starts[exchange] = used
        count = 0
        for at in range(-1, len(basic)):
            value = 1 if at < 0 else -ties[exchange, at]
            if value == 0:
                continue
            column = own[exchange] if at < 0 else basic[at]
            if used < len(out_places):
                out_places[used] = column
                out_values[used] = value
            used += 1
            for entry in range(starts[column], starts[column + 1]):
                one = sums[entry]
                if places[one] >= 0:
                    changed[one] += value * coefficients[entry]
                    if not is_touched[one]:
                        is_touched[one] = True
                        touched[count] = one
                        count += 1
        for at in range(count):
            one = touched[at]
            value = changed[one]
            changed[one] = 0
            is_touched[one] = False
            if value != 0:
                if used < len(out_places):
                    out_places[used] = places[one]
                    out_values[used] = value
                used += 1
    out_starts[len(own)] = used
    return used


@kernel(steps=lambda lists, _size: 4 * len(lists[1]))
def transpose(lists: Any, size: int) -> Any:
    """Return the lists of each place: starts, numbers of lists, values."""
    starts, places, values = lists
    out_starts = np.zeros(size + 1, np.int64)
    for at in range(starts[len(starts) - 1]):
        out_starts[places[at] + 1] += 1
    for place in range(size):
        out_starts[place + 1] += out_starts[place]
    free = out_starts[:size].copy()
    numbers = np.empty(out_starts[size], np.int32)
    out_values = np.empty(out_starts[size], np.int64)
    for number in range(len(starts) - 1):
        for at in range(starts[number], starts[number + 1]):
            place = places[at]
            numbers[free[place]] = number
            out_values[free[place]] = values[at]
            free[place] += 1
    return out_starts, numbers, out_values


@part
def _draw(chance: Any, below: int) -> int:
    """Return the next pseudo-random number below another one."""
    chance[0] = (chance[0] * 1103515245 + 12345) & 0x7FFFFFFF
    return int((chance[0] >> 8) * below >> 23)


@part
def _missing(people: int, low: int, high: int) -> int:
    """Return how many people are missing, negative if there are too many."""
    if people < low:
        return int(low - people)
    return int(high - people) if people > high else 0


@kernel(steps=lambda _changes, _by_place, _own, _ends, _state, _asked, limits, _chance: 100 * limits[0] * limits[1])
def search(
    changes: Any, by_place: Any, own: Any, ends: Any, state: Any, asked: Any, limits: Any, chance: Any
) -> tuple[bool, int]:
    """Make a world of the point, in which a group has enough people, or few enough.

    ``ends`` are low, high and the weight of a person for every place. ``state`` is the point, which is changed if a world is found, and arrays
    for use here: the weight of each place, where it is in the list of broken ones, that list, when an exchange in each direction may be made
    again, and the exchanges made. ``asked`` are the columns of the group, flags of these, how many people they shall have, and if that is the
    least (1) or the most (-1). ``limits`` are the exchanges made, the candidates for each, and how many in a hundred are made that break more.
    Return if a world was found, and how many changes of places were looked at.
    """
    starts, places, values = changes
    place_starts, place_exchanges, place_values = by_place
    low, high, unit = ends
    point, weights, where, broken, held, made = state
    group, is_inside, goal, sign = asked
    steps, candidates, daring = limits
    count = 0
    for place in range(len(point)):
        weights[place] = unit[place]
        where[place] = -1
        if point[place] < low[place] or point[place] > high[place]:
            where[place] = count
            broken[count] = place
            count += 1
    held[:] = 0
    people = 0
    for column in group:
        people += point[column]
    weight = 1.0
    idle = 0
    done = 0
    work = 0
    for step in range(1, steps + 1):
        missing = (goal - people) * sign
        is_open = missing > 0
        if count + is_open == 0 or idle > MOST_IDLE:
            break
        idle += 1
        at = _draw(chance, count + is_open)
        asks_group = at == count
        if not asks_group:
            place = broken[at]
            wanted = _missing(point[place], low[place], high[place])
        else:
            wanted = sign
            place = group[_draw(chance, len(group))]
            for _ in range(len(group) if sign < 0 else 0):
                if point[place] > 0:
                    break
                place = group[_draw(chance, len(group))]
        first = place_starts[place]
        size = place_starts[place + 1] - first
        gain = max(missing, 0) * weight
        for one in range(count):
            gain += abs(_missing(point[broken[one]], low[broken[one]], high[broken[one]])) * weights[broken[one]]
        best = np.inf
        chosen = -1
        amount = 0
        tried = 0
        for draw in range(min(size, MOST_DRAWN * candidates)):
            at = first + (draw if size <= candidates else _draw(chance, size))
            exchange = place_exchanges[at]
            value = place_values[at]
            # All that is missing may be too much for other places, so that some candidates are about a part of it.
            times = (abs(wanted) + abs(value) - 1) // abs(value)
            times = times if times < 2 or daring == 0 or draw % 2 else 1 + _draw(chance, times)
            if (wanted > 0) != (value > 0):
                times = -times
            if idle <= HELD:
                # Its own column stays inside its ends, as long as anything else is possible.
                times = min(max(times, low[own[exchange]] - point[own[exchange]]), high[own[exchange]] - point[own[exchange]])
            if times == 0 or held[int(times > 0), exchange] > step:
                continue
            worse = TIES * _draw(chance, 1024) / 1024
            joining = 0
            work += starts[exchange + 1] - starts[exchange]
            for entry in range(starts[exchange], starts[exchange + 1]):
                one = places[entry]
                change = times * values[entry]
                if one < len(is_inside) and is_inside[one]:
                    joining += change
                before = abs(_missing(point[one], low[one], high[one]))
                after = abs(_missing(point[one] + change, low[one], high[one]))
                worse += (after - before) * weights[one]
                if worse - gain > best:
                    break
            left = max((goal - people - joining) * sign, 0)
            worse += (left - max(missing, 0)) * weight
            if worse < best:
                best = worse
                chosen = exchange
                amount = times
            tried += 1
            if tried >= candidates:
                break
        if chosen < 0:
            continue
        idle = 0
        if best > TIES:
            # Nothing helps yet: what is broken here weighs more from now on.
            if asks_group:
                weight += 1
            else:
                weights[place] += unit[place]
            if _draw(chance, 100) >= daring:
                continue
        held[int(amount < 0), chosen] = step + HELD
        made[done, 0] = chosen
        made[done, 1] = amount
        done += 1
        for entry in range(starts[chosen], starts[chosen + 1]):
            one = places[entry]
            change = amount * values[entry]
            point[one] += change
            if one < len(is_inside) and is_inside[one]:
                people += change
            is_broken = point[one] < low[one] or point[one] > high[one]
            if is_broken and where[one] < 0:
                where[one] = count
                broken[count] = one
                count += 1
            elif where[one] >= 0 and not is_broken:
                count -= 1
                broken[where[one]] = broken[count]
                where[broken[count]] = where[one]
                where[one] = -1
    is_found = count == 0 and (goal - people) * sign <= 0
    for at in range(0 if is_found else done):
        for entry in range(starts[made[at, 0]], starts[made[at, 0] + 1]):
            point[places[entry]] -= made[at, 1] * values[entry]
    return is_found, work
