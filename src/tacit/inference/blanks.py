"""What blanks say by themselves: how many of the blanks around a record hide its own value, and what a simple model makes of the rest."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tacit.inference.patterns import Cells, Merged, Node, walk_with_others
from tacit.model.partial import Codes, Numbers, Thresholds


@dataclass(frozen=True, slots=True, eq=False)
class BlankShare:
    """A pattern, and that ``both`` of the ``whole`` blanks of records with it, a record's own left out, hide ``value``; ``rows`` are told so."""

    cells: Cells
    value: int
    whole: int
    both: int
    rows: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class BlankReading:
    """The largest share for any sensitive record, and the shares above the confidence, one for each value."""

    largest: float = 0.0
    found: tuple[BlankShare, ...] = ()
    undecided: int = 0


def read_blanks(
    conditions: Codes, truth: Codes, rows: Numbers, made: npt.NDArray[np.bool_], bars: Thresholds, *, others: int = 0
) -> BlankReading:
    """What a reader who knows which values blanks were made for makes of them.

    ``conditions`` and ``truth`` are those of the records whose sensitive cell is blank (-1: not known even to the owner), ``rows`` say which of
    them are to be protected, ``made`` which were made blank to protect others. For each record to be protected, and each pattern of its
    published cells, the share of its value among the *other* blanks with the pattern counts; a pattern needs more than the support of them,
    the empty one (all blanks) does not. A share counts against the table only where some of those blanks were made: which records are to be
    protected was the owner's choice. The last ``others`` columns of the conditions have no role.
    """
    owners = rows[truth[rows] >= 0]
    if not len(owners) or len(truth) < 2:
        return BlankReading()
    search = _Search(conditions, truth, owners, made, bars, others)
    return search.reading()


@dataclass(slots=True, eq=False)
class _Search:
    conditions: Codes
    truth: Codes
    owners: Numbers
    made: npt.NDArray[np.bool_]
    bars: Thresholds
    others: int = 0
    largest: float = 0.0
    best: dict[int, tuple[Cells, int, int]] = field(default_factory=dict)
    told: dict[int, list[Numbers]] = field(default_factory=dict)

    def reading(self) -> BlankReading:
        columns = [self.conditions[:, place] for place in range(self.conditions.shape[1])]
        blanks = Merged.of([*columns, self.truth, self.made.astype(np.int32)])
        owners = Merged.of([*(column[self.owners] for column in columns), self.truth[self.owners]])
        starts, members = owners.members()
        width = int(self.truth.max(initial=-1)) + 2
        value, made, weights, mine = blanks.cells[-2] + 1, blanks.cells[-1], blanks.weights, owners.cells[-1]

        def visit(node: Node) -> bool:
            counts = np.bincount(value[node.rows], weights[node.rows], minlength=width).astype(np.int64)
            whole = int(counts.sum()) - 1
            is_made = bool(made[node.rows].any())
            deeper = False
            for code in np.unique(mine[node.owners]).tolist():
                both = int(counts[code + 1]) - 1
                deeper |= both > self.bars.support
                if whole > 0 and (not node.cells or both > self.bars.support):
                    told = node.owners[mine[node.owners] == code]
                    rows = np.concatenate([members[starts[one] : starts[one + 1]] for one in told.tolist()])
                    self.note(node.cells, code, whole, both, is_made, self.owners[rows])
            return deeper or not node.cells

        undecided = walk_with_others(blanks.cells[:-2], owners.cells[:-1], visit, others=self.others, root=True)
        found = (
            BlankShare(cells, code, whole, both, np.unique(np.concatenate(self.told[code])))
            for code, (cells, whole, both) in sorted(self.best.items())
        )
        return BlankReading(self.largest, tuple(found), undecided)

    def note(self, cells: Cells, code: int, whole: int, both: int, is_made: bool, rows: Numbers) -> None:
        self.largest = max(self.largest, both / whole)
        if not is_made or both <= self.bars.most_safe(whole):
            return
        self.told.setdefault(code, []).append(rows)
        known = self.best.get(code)
        if known is None or (both * known[1], both) > (known[2] * whole, known[2]):
            self.best[code] = cells, whole, both


def naive_bayes(conditions: Codes, values: Codes, rows: Numbers) -> npt.NDArray[np.float64]:
    """P(value | published cells) of these rows, rows x values, by naive Bayes from all rows whose value is known; empty where none is.

    Cells count as independent given the value; each count of a cell is one higher than it is (Laplace), the share of a value is as it is.

    >>> cells, values = np.array([[0], [0], [1], [0]], np.int32), np.array([0, 0, 1, -1], np.int32)
    >>> naive_bayes(cells, values, np.array([3])).round(3).tolist()
    [[0.818, 0.182]]
    """
    known = values >= 0
    number = int(values.max(initial=-1)) + 1
    counts = np.bincount(values[known], minlength=number).astype(float)
    with np.errstate(divide="ignore"):
        score = np.tile(np.log(counts / max(1.0, counts.sum())), (len(rows), 1))
    for place in range(conditions.shape[1]):
        # Only values that the table shows count as possible ones: a code may be kept free for blanks.
        different, cells = np.unique(conditions[:, place], return_inverse=True)
        blanks = int((different < 0).sum())
        cells, width = cells.reshape(-1) - blanks, len(different) - blanks
        seen = known & (cells >= 0)
        pairs = np.bincount(values[seen].astype(np.int64) * width + cells[seen], minlength=number * width).reshape(number, width)
        chance = np.log((pairs + 1) / (pairs.sum(axis=1, keepdims=True) + max(1, width)))
        shown = cells[rows] >= 0
        score[shown] += chance[:, cells[rows][shown]].T
    if not number or not len(rows):
        return score
    weight = np.exp(score - score.max(axis=1, keepdims=True))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True), np.float64)
