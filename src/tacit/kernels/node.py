"""What both searches share: their state, their nodes, their output."""

from __future__ import annotations

from typing import Any

from tacit.kernels.conditional import CANDIDATES, CANDIDATES_AT, EVERYONE, HEADS, HEADS_AT
from tacit.kernels.jit import part

#: The state of a search. Where it is: the current problem, how many there are, the depth of the current node (-1 before a problem is opened),
#: how much work is left until it pauses. What is in the output: sets, members. What is asked: the least count; which itemsets; for rules,
#: how many classes (-1 for itemsets), and the least confidence as a fraction. The database: how many items it has. For maximal sets: how many
#: were found in this problem.
(
    PROBLEM, N_PROBLEMS, DEPTH, WORK_LEFT, N_SETS, N_MEMBERS, LEAST, WANTED, CLASSES, RATIO_PART, RATIO_WHOLE, N_ITEMS, FOUND, STATES,
) = range(14)  # fmt: skip

#: Which itemsets may be asked for.
ALL, CLOSED, MAXIMAL = range(3)

#: What a search answers when it comes back.
DONE, OUTPUT_FULL, PAUSED = range(3)

#: Fields of a node, a row of ``frames``. Its candidates are ``lists[NEXT:END]`` (item, count), the items it added to the head are
#: ``lists[OWN:LAST]``; ``ROWS`` is the depth whose rows are its own, too; then how many people it has, the size of its head, and the head
#: itself: labels, ascending.
NEXT, END, OWN, LAST, ROWS, PEOPLE, SIZE, HEAD = range(8)


@part
def begin(book: Any, at: int, box: Any, frames: Any, lists: Any) -> None:
    """Make the root node of the problem at ``at``: its head, everyone in it, all its candidates."""
    box[DEPTH] = 0
    candidates = book[at + CANDIDATES]
    frames[0, NEXT], frames[0, END], frames[0, OWN], frames[0, LAST] = 0, candidates, candidates, candidates
    frames[0, ROWS], frames[0, PEOPLE], frames[0, SIZE] = 0, book[at + EVERYONE], 0
    for i in range(book[at + HEADS]):
        insert(frames, box[DEPTH], book[book[at + HEADS_AT] + i])
    first = book[at + CANDIDATES_AT]
    for i in range(candidates):
        lists[i, 0], lists[i, 1] = book[first + 2 * i], book[first + 2 * i + 1]


@part
def inherit(frames: Any, depth: int, people: int, label: int) -> None:
    """Make the head of a node: that of the node above with one more item."""
    size = frames[depth - 1, SIZE]
    frames[depth, PEOPLE], frames[depth, SIZE] = people, size
    for i in range(HEAD, HEAD + size):
        frames[depth, i] = frames[depth - 1, i]
    insert(frames, depth, label)


@part
def insert(frames: Any, depth: int, label: int) -> None:
    """Add an item to the head of a node, which stays sorted."""
    place = HEAD + frames[depth, SIZE]
    while place > HEAD and frames[depth, place - 1] > label:
        frames[depth, place] = frames[depth, place - 1]
        place -= 1
    frames[depth, place] = label
    frames[depth, SIZE] += 1


@part
def has_room(box: Any, frames: Any, members: Any, lines: Any) -> Any:
    """Whether the output has room for whatever one node may add."""
    most, longest = max(box[CLASSES], 1), frames.shape[1] - HEAD
    return box[N_SETS] + most <= len(lines) and box[N_MEMBERS] + most * longest <= len(members)


@part
def emit(frames: Any, depth: int, count: int, number: int, box: Any, members: Any, lines: Any) -> None:
    """Write the head of a node to ``members``, and to ``lines`` where it ends, a count, the node's own count, and the number of a class."""
    end, line = box[N_MEMBERS], box[N_SETS]
    for i in range(frames[depth, SIZE]):
        members[end + i] = frames[depth, HEAD + i]
    end += frames[depth, SIZE]
    lines[line, 0], lines[line, 1], lines[line, 2], lines[line, 3] = end, count, frames[depth, PEOPLE], number
    box[N_MEMBERS], box[N_SETS] = end, line + 1
