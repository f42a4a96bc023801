"""Whether a delimited file is plain enough to be read in bulk, and how many records it then has.

Bulk readers skip, pad or cut what they do not understand. This independent check says beforehand how many records there must be; a file that
fails it is read record by record.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.formats.files import FilePath, open_bytes, readable

_CHUNK = 4 << 20
_LONGEST_LINE = 64 << 20
_QUOTE, _LINE_FEED, _RETURN = 34, 10, 13

_Bytes = npt.NDArray[np.uint8]
_Marks = npt.NDArray[np.bool_]
_Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PlainShape:
    """A rectangular UTF-8 file in which every quote stands at the edge of a cell."""

    records: int
    has_quotes: bool


def plain_shape(path: FilePath, delimiter: str, width: int, *, chunk_size: int = _CHUNK) -> PlainShape | None:
    """How many records there are, when every one has ``width`` cells and nothing is unusual; None otherwise."""
    scan = _Scan(ord(delimiter), width)
    with open_bytes(path) as stream, readable(path):
        rest = stream.read(3)
        rest = b"" if rest == b"\xef\xbb\xbf" else rest
        while True:
            chunk = stream.read(chunk_size)
            data = rest + chunk
            cut = data.rfind(b"\n") + 1 if chunk else len(data)
            block, rest = data[:cut], data[cut:]
            if not chunk and block and not block.endswith(b"\n"):
                block += b"\n"
            if len(rest) > _LONGEST_LINE or (block and not scan.takes(block)):
                return None
            if not chunk:
                return None if scan.open else PlainShape(scan.records, scan.has_quotes)


class _Scan:
    """Counts records block by block; a block ends with a line feed."""

    def __init__(self, delimiter: int, width: int) -> None:
        self.delimiter, self.width = delimiter, width
        self.records, self.has_quotes = 0, False
        self.open = False  # whether a quoted cell goes on in the next block
        self.delimiters = 0  # those of the record that goes on

    def takes(self, block: bytes) -> bool:
        """Whether the block is as it should be."""
        try:
            block.decode("utf-8")
        except UnicodeDecodeError:
            return False
        if b"\x00" in block:
            return False
        data = np.frombuffer(block, np.uint8)
        outside = None
        if b'"' in block or self.open:
            outside = self._outside(data)
            if not self._quotes_at_edges(data, outside):
                return False
        if b"\r" in block and (data[_places(data, _RETURN, outside) + 1] != _LINE_FEED).any():
            return False
        return self._rectangular(data, _places(data, _LINE_FEED, outside), _places(data, self.delimiter, outside), outside)

    def _outside(self, data: _Bytes) -> _Marks:
        """For every byte, whether the quotes up to and including it are all closed."""
        # The sum wraps at 256, which keeps its parity.
        sums = np.cumsum(data == _QUOTE, dtype=np.uint8) + np.uint8(self.open)
        outside: _Marks = (sums & np.uint8(1)) == 0
        return outside

    def _quotes_at_edges(self, data: _Bytes, outside: _Marks) -> bool:
        self.has_quotes = True
        quotes = np.flatnonzero(data == _QUOTE)
        opening = quotes[~outside[quotes]]
        closing = quotes[outside[quotes]]
        before = np.where(opening > 0, data[opening - 1], _LINE_FEED)
        after = data[closing + 1]
        edges = [self.delimiter, _LINE_FEED, _QUOTE]  # a quote next to a quote is a doubled one
        return bool(np.isin(before, edges).all() and np.isin(after, [*edges, _RETURN]).all())

    def _rectangular(self, data: _Bytes, ends: _Places, delimiters: _Places, outside: _Marks | None) -> bool:
        """Whether every record that ends in this block has the right number of cells, blank lines aside."""
        goes_on = outside is not None and not outside[-1]
        if not len(ends):
            self.delimiters += len(delimiters)
            self.open = goes_on
            return True
        before = np.searchsorted(delimiters, ends)
        counts = np.diff(before, prepend=0)
        counts[0] += self.delimiters
        starts = np.concatenate(([0], ends[:-1] + 1))
        lengths = ends - starts
        blank = (lengths == 0) | ((lengths == 1) & (data[starts] == _RETURN))
        self.records += int(len(ends) - blank.sum())
        self.delimiters = len(delimiters) - int(before[-1])
        self.open = goes_on
        return bool(((counts == self.width - 1) | blank).all())


def _places(data: _Bytes, byte: int, outside: _Marks | None) -> _Places:
    found = data == byte
    return np.flatnonzero(found if outside is None else found & outside)
