"""What both searches share: their state, their nodes, their output."""

from __future__ import annotations

from typing import Any

from tacit.kernels.jit import part

#: The state of a search. Where it is: the current problem, how many there are, the depth of the current node (-1 before a problem is opened),
#: how much work is left until it pauses. What is in the output: sets, members. What is asked: the least count; which itemsets; for rules,
#: how many classes, and the least confidence as a fraction. The database: how many items it has. For maximal sets: finds in this problem.
(
    PROBLEM, N_PROBLEMS, DEPTH, WORK_LEFT, N_SETS, N_MEMBERS, LEAST, WANTED, CLASSES, RATIO_PART, RATIO_WHOLE, N_ITEMS, FOUND, STATES,
) = range(14)  # fmt: skip

#: Which itemsets may be asked for.
ALL, CLOSED, MAXIMAL = range(3)

#: What a search answers when it comes back.
DONE, OUTPUT_FULL, PAUSED = range(3)

#: Fields of a node. Its candidates are ``lists[NEXT:END]``, the items it added to the head ``lists[OWN:LAST]``; ``ROWS`` is the depth whose
#: rows are its own, too; then how many people it has, the size of its head, and the head itself: labels, ascending.
NEXT, END, OWN, LAST, ROWS, PEOPLE, SIZE, HEAD = range(8)


@part
def begin(node: Any, labels: Any, people: int, n_candidates: int) -> None:
    """Make the root node of a problem; its candidates come first in the lists."""
    node[NEXT], node[END], node[OWN], node[LAST] = 0, n_candidates, n_candidates, n_candidates
    node[ROWS], node[PEOPLE], node[SIZE] = 0, people, 0
    for label in labels:
        insert(node, label)


@part
def inherit(node: Any, parent: Any, people: int, label: int) -> None:
    """Make the head of a child: its parent's with one more item."""
    node[PEOPLE], node[SIZE] = people, parent[SIZE]
    for i in range(HEAD, HEAD + parent[SIZE]):
        node[i] = parent[i]
    insert(node, label)


@part
def insert(node: Any, label: int) -> None:
    """Add an item to the head of a node, which stays sorted."""
    place = HEAD + node[SIZE]
    while place > HEAD and node[place - 1] > label:
        node[place] = node[place - 1]
        place -= 1
    node[place] = label
    node[SIZE] += 1


@part
def has_room(box: Any, frames: Any, members: Any, lines: Any) -> Any:
    """Whether the output has room for whatever one node may add."""
    longest = frames.shape[1] - HEAD
    return box[N_SETS] + box[CLASSES] <= len(lines) and box[N_MEMBERS] + box[CLASSES] * longest <= len(members)


@part
def emit(node: Any, count: int, number: int, box: Any, members: Any, lines: Any) -> None:
    """Write the head of a node to ``members``, and to ``lines`` where it ends, a count, the node's own count, and the number of a class."""
    end = box[N_MEMBERS]
    for i in range(node[SIZE]):
        members[end + i] = node[HEAD + i]
    box[N_MEMBERS] = end + node[SIZE]
    line = lines[box[N_SETS]]
    line[0], line[1], line[2], line[3] = box[N_MEMBERS], count, node[PEOPLE], number
    box[N_SETS] += 1
