"""Cells of delimited text without quotes, numbered without a text for each.

A block of whole lines is looked at as bytes. Where every line has the same number of separators, they tell where cells are. A cell of up to
eight bytes is one number, which is looked up in a small hash table; only cells that the table does not hold become texts. Longer cells are
numbered by their parts of eight bytes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tacit.model.arrays import Codes, Ints, Words

_WORD = 8
#: Columns with longer cells (in words of eight bytes), or with more texts, are read as texts.
MOST_PARTS = 8
MOST_TEXTS = 1 << 12
_MASKS = np.array([(1 << 8 * size) - 1 for size in range(_WORD + 1)], np.uint64)
_SLOTS = 12  #: Logarithm of the size of a hash table.
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class PlainBlock:
    """Lines of equally many cells; cell c of line i is ``buffer[starts[i, c]:ends[i, c]]``."""

    text: str
    delimiter: str
    buffer: npt.NDArray[np.uint8]
    starts: Ints
    ends: Ints

    @classmethod
    def of(cls, text: str, delimiter: str, width: int) -> PlainBlock | None:
        r"""Return the cells of whole lines, or None unless all have ``width``; lines end with ``\n``, no cell is quoted."""
        content = text.encode()
        buffer = np.frombuffer(content + bytes(_WORD), np.uint8)
        inside = buffer[: len(content)]
        ends = np.flatnonzero((inside == ord(delimiter)) | (inside == ord("\n")))
        lines = text.count("\n")
        if len(ends) != lines * width or (inside[ends[width - 1 :: width]] != ord("\n")).any():
            return None
        starts = np.append(0, ends[:-1] + 1)
        return cls(text, delimiter, buffer, starts=starts.reshape(lines, width), ends=ends.reshape(lines, width))

    def __len__(self) -> int:
        return len(self.starts)

    @cached_property
    def cells(self) -> list[str]:
        """Texts of all cells, line by line."""
        return self.text.removesuffix("\n").replace("\n", self.delimiter).split(self.delimiter)

    def texts(self, place: int) -> list[str]:
        """Return the texts of a column."""
        return self.cells[place :: self.starts.shape[1]]

    def cell(self, line: int, place: int) -> str:
        """Return the text of a cell."""
        return self.buffer[self.starts[line, place] : self.ends[line, place]].tobytes().decode()


class TooManyTexts(Exception):
    """There are so many different cells that looking up their bytes does not pay."""


class Coder:
    """Numbers of 64-bit words: one lookup for most of them."""

    def __init__(self) -> None:
        self._words = np.zeros(1 << _SLOTS, np.uint64)
        self._codes = np.full(1 << _SLOTS, -1, np.int32)
        self._known: dict[int, int] = {}

    def codes(self, words: Words, number: Callable[[int], int]) -> Codes:
        """Return the number of each word; ``number`` gives that of a new one, from its place."""
        slots = (words * _FACTOR) >> np.uint64(64 - _SLOTS)
        found: Codes = self._codes[slots]
        found[self._words[slots] != words] = -1
        missed = np.flatnonzero(found < 0)
        if len(missed):
            distinct, first, same = np.unique(words[missed], return_index=True, return_inverse=True)
            if len(distinct) + len(self._known) > MOST_TEXTS:
                raise TooManyTexts
            places = missed[first].tolist()
            pairs = zip(distinct.tolist(), slots[places].tolist(), places, strict=True)
            numbers = [self._number(word, slot, place, number) for word, slot, place in pairs]
            found[missed] = np.array(numbers, np.int32)[same.reshape(-1)]
        return found

    def _number(self, word: int, slot: int, place: int, number: Callable[[int], int]) -> int:
        if word not in self._known:
            self._known[word] = number(place)
            if self._codes[slot] < 0:  # else two words share the slot, and this one is looked up here each time
                self._words[slot] = word
                self._codes[slot] = self._known[word]
        return self._known[word]

    def count(self, _place: int) -> int:
        """Return the next number: words are numbered as they come."""
        return len(self._known)


class CellCoder:
    """Numbers of the cells of one column; ``numbering`` gives that of a text."""

    def __init__(self, place: int, numbering: Callable[[str], int]) -> None:
        self._place = place
        self._numbering = numbering
        self._is_textual = False
        self._parts: defaultdict[int, Coder] = defaultdict(Coder)
        self._pairs: defaultdict[int, Coder] = defaultdict(Coder)
        self._cells: defaultdict[int, Coder] = defaultdict(Coder)

    def codes(self, block: PlainBlock) -> Codes:
        """Return the number of each line's cell."""
        words = np.ndarray(len(block.buffer) - _WORD + 1, np.dtype("<u8"), block.buffer, 0, (1,))
        starts = block.starts[:, self._place]
        lengths = block.ends[:, self._place] - starts
        parts = max(1, -(-int(lengths.max(initial=0)) // _WORD))
        keys = [words[starts] & _MASKS[np.minimum(lengths, _WORD)]]
        if not self._is_textual and parts <= MOST_PARTS:
            for first in range(_WORD, parts * _WORD, _WORD):
                keys.append(words[np.minimum(starts + first, len(words) - 1)] & _MASKS[np.clip(lengths - first, 0, _WORD)])
            try:
                return self._look_up(keys, lambda line: self._numbering(block.cell(line, self._place)))
            except TooManyTexts:
                self._is_textual = True
        if parts > 1:
            return np.fromiter(map(self._numbering, block.texts(self._place)), np.int32, len(block))
        distinct, same = np.unique(keys[0], return_inverse=True)
        texts = (text.decode() for text in distinct.view(f"S{_WORD}").tolist())
        return np.fromiter(map(self._numbering, texts), np.int32, len(distinct))[same.reshape(-1)]

    def _look_up(self, keys: Sequence[Words], number: Callable[[int], int]) -> Codes:
        """Return the numbers of cells by their words."""
        key, *others = keys
        if others:
            key = self._parts[0].codes(key, self._parts[0].count).astype(np.uint64)
        for part, word in enumerate(others, 1):
            key = key << np.uint64(32) | self._parts[part].codes(word, self._parts[part].count).astype(np.uint64)
            if part < len(others):
                key = self._pairs[part].codes(key, self._pairs[part].count).astype(np.uint64)
        return self._cells[len(keys)].codes(key, number)
