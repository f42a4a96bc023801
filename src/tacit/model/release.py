"""Published itemsets and rules as flat arrays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from tacit.model.arrays import Ints, Words
from tacit.model.bins import Bins
from tacit.model.cuts import Cut
from tacit.model.numbers import Bound, Rounding
from tacit.model.shown import Lines

if TYPE_CHECKING:
    from tacit.model.buckets import Buckets
    from tacit.model.frequencies import FrequencyTable
    from tacit.model.partial import PartialTable


@dataclass(frozen=True, slots=True)
class Items:
    """Names of items, or pairs printed as ``column=value``."""

    names: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...] | None = None

    @classmethod
    def of_columns(cls, pairs: Sequence[tuple[str, str]]) -> Items:
        """Items ``column=value``."""
        return cls(tuple(f"{column}={value}" for column, value in pairs), tuple(pairs))

    def __len__(self) -> int:
        return len(self.names)


IntArray = npt.NDArray[np.integer[Any]]

_AT_ONCE = 1 << 22  #: Members of sets that are worked on at once.


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Sets:
    """Set ``i`` is ``members[offsets[i]:offsets[i + 1]]``, ascending."""

    offsets: Ints
    members: IntArray

    @classmethod
    def from_lists(cls, lists: Iterable[Iterable[int]]) -> Sets:
        """Sets from Python lists."""
        flat: list[int] = []
        ends = [0]
        for part in lists:
            flat.extend(sorted(set(part)))
            ends.append(len(flat))
        return cls(np.array(ends, dtype=np.int64), np.array(flat, dtype=np.int32))

    @classmethod
    def from_pairs(cls, rows: IntArray, members: IntArray, n_rows: int) -> Sets:
        """Make sets from (row, member) pairs."""
        width = int(members.max()) + 1 if members.size else 1
        keys = rows.astype(np.int64) * width + members
        if not (keys[1:] > keys[:-1]).all():
            keys.sort()
            keys = keys[np.concatenate(([True], keys[1:] != keys[:-1]))]
        offsets = np.searchsorted(keys, np.arange(n_rows + 1, dtype=np.int64) * width).astype(np.int64)
        return cls(offsets, (keys % width).astype(np.int32))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> IntArray:
        return self.members[self.offsets[index] : self.offsets[index + 1]]

    def __iter__(self) -> Iterator[IntArray]:
        return (self[i] for i in range(len(self)))

    @property
    def lengths(self) -> Ints:
        """Number of members of each set."""
        return np.diff(self.offsets)

    def owners(self) -> Ints:
        """For every member, the number of its set."""
        return np.repeat(np.arange(len(self), dtype=np.int64), self.lengths)

    def take(self, index: Ints | Sequence[int]) -> Sets:
        """The sets at these positions, in this order."""
        chosen = np.asarray(index, dtype=np.int64)
        lengths = self.lengths[chosen]
        offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        source = np.arange(offsets[-1], dtype=np.int64) + np.repeat(self.offsets[chosen] - offsets[:-1], lengths)
        return Sets(offsets, self.members[source])

    def member_hashes(self) -> Words:
        """Return a 64-bit hash for each member."""
        return _mix(self.members.astype(np.uint64) + np.uint64(1))

    def hashes(self) -> Words:
        """Return a 64-bit hash for each set."""
        out = np.empty(len(self), np.uint64)
        for rows in self.slices():
            offsets = self.offsets[rows.start : rows.stop + 1]
            members = self.members[offsets[0] : offsets[-1]].astype(np.uint64)
            sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(_mix(members + np.uint64(1)), dtype=np.uint64)))
            out[rows] = sums[offsets[1:] - offsets[0]] - sums[offsets[:-1] - offsets[0]]
        return out

    def slices(self) -> Iterator[slice]:
        """Yield ranges of sets with few enough members to work on at once."""
        cuts = np.searchsorted(self.offsets, np.arange(0, int(self.offsets[-1]), _AT_ONCE), side="left")
        ends = [*np.unique(cuts).tolist(), len(self)]
        yield from (slice(first, last) for first, last in pairwise(dict.fromkeys([0, *ends])))


def _mix(values: Words) -> Words:
    """SplitMix64: spreads consecutive numbers over 64 bits."""
    mixed = values * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


@dataclass(frozen=True, slots=True)
class Source:
    """Name, SHA-256, header SHA-256 and reading options of a file."""

    name: str
    sha256: str = ""
    header: str = ""
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)


Only = Literal["all", "closed", "maximal"]
ONLY: tuple[Only, ...] = get_args(Only)


@dataclass(frozen=True, slots=True)
class ValueGroup:
    """Name for several values, or for all others."""

    column: str
    name: str
    values: tuple[str, ...]
    excluded: bool = False

    def among(self, values: tuple[str, ...]) -> tuple[str, ...]:
        """Those of the values that belong to the group."""
        return tuple(value for value in values if (value in self.values) != self.excluded)


@dataclass(frozen=True, slots=True)
class FirstMatch:
    """Column of the first rule that a person matches, in a rule list.

    A person matches a rule who meets all its conditions; the value is the rule's number in the list, from 1, or ``NO_RULE``. The name of the
    column depends on the conditions, so that lists with other ones have another column.
    """

    column: str
    rules: tuple[tuple[ValueGroup, ...], ...]

    @property
    def values(self) -> tuple[str, ...]:
        """All values of the column."""
        numbers = [str(number) for number in range(1, len(self.rules) + 1)]
        return tuple(numbers if () in self.rules else [*numbers, NO_RULE])


NO_RULE = "none"
FIRST_RULE = "first rule "  #: Every name of such a column starts so.

Unsuitable = Literal["identifiers", "dates"]  #: What a column holds that is not mined unless it is named.
UNSUITABLE: tuple[Unsuitable, ...] = get_args(Unsuitable)

#: What a repair changed: how numbers are printed, which lines are listed, from which count on, or whose rows are counted.
Changes = Literal["numbers", "lines", "threshold", "people"]
CHANGES: tuple[Changes, ...] = get_args(Changes)


@dataclass(frozen=True, slots=True)
class MadeBy:
    """Repair that made a release, as in its header."""

    method: str
    changes: Changes

    def to_dict(self) -> dict[str, str]:
        """The repair as in a header."""
        return {"method": self.method, "changes": self.changes}


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Column of the data that no itemset is about, and what it holds."""

    column: str
    holds: Unsuitable


@dataclass(frozen=True, slots=True)
class Marginal:
    """Values of a sensitive column, and their counts if published."""

    column: str
    values: tuple[str, ...] = ()
    counts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Header:
    """Facts about a release; None or empty if unknown.

    ``complete`` says that nothing that reaches the thresholds was left out, so that what is missing lies below them; with ``max_length``,
    nothing of at most so many items (of a rule: in its antecedent), and that something longer is missing says nothing. ``min_support`` is the
    smallest count that reaches the support threshold. ``digits`` is the number of decimals that supports are printed with, ``rounding`` how
    they were printed, ``base`` that counts are rounded to multiples of it. ``sa_counts`` is the published distribution of the SA, if any.
    ``coarser`` says that coarser values were items as well: then patterns with two items of one column were never looked at, and that such a
    pattern is missing says nothing. ``groups`` are names for several values of a column that rules may use like a value. ``no_sa`` says that no
    column is sensitive, which is more than that none is named. ``made_by`` are the repairs that made the release, the first one first.
    ``unread`` names columns or fields of the file that were not understood, ``ignored`` those that the caller declares to say nothing;
    ``n_from`` says what n follows from, where nobody says it. ``columns`` are those that items were looked for in, listed ones or not.
    ``all_values`` are columns of which every value that somebody has is listed, with these values. ``first_match`` says that the rules were
    listed in order, and what the column in their antecedents means. ``marginals`` are the columns of ``sa`` if rules are about each by itself;
    without them, several columns are one, and ``sa_values`` are combinations. ``cuts`` are columns of numbers whose values are intervals.
    ``assumed`` are sentences about what a reader inferred from the form of the file. ``left_out`` are columns of the data that were not mined,
    ``bins`` those whose numbers were put into bins. ``person`` is the column of people who have several rows each: then items are not
    ``column=value``, and a person has each item that one of their rows has.
    """

    n: int | None = None
    min_support: int | None = None
    min_confidence: Fraction | None = None
    complete: bool = False
    strict: bool = False
    digits: int | None = None
    rounding: Rounding = "nearest"
    base: int | None = None
    missing: str | None = None
    missing_rule: str | None = None
    qi: tuple[str, ...] = ()
    sa: tuple[str, ...] = ()
    sa_values: tuple[str, ...] = ()
    sa_counts: tuple[int, ...] = ()
    coarser: bool = False
    groups: tuple[ValueGroup, ...] = ()
    no_sa: bool = False
    made_by: tuple[MadeBy, ...] = ()
    unread: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    n_from: str = field(default="", compare=False)
    columns: tuple[str, ...] = field(default=(), compare=False)
    all_values: tuple[tuple[str, tuple[str, ...]], ...] = ()
    first_match: FirstMatch | None = None
    cuts: tuple[Cut, ...] = ()
    marginals: tuple[Marginal, ...] = ()
    assumed: tuple[str, ...] = field(default=(), compare=False)
    max_length: int | None = None
    left_out: tuple[LeftOut, ...] = field(default=(), compare=False)
    bins: tuple[Bins, ...] = ()
    person: str | None = None

    def covers(self, length: int) -> bool:
        """Tell if the list would hold a frequent set of this length."""
        return self.max_length is None or length <= self.max_length

    @property
    def sensitive(self) -> tuple[Marginal, ...]:
        """Sensitive columns that lines are about; several may be one."""
        if self.marginals or not self.sa:
            return self.marginals
        return (Marginal(" & ".join(self.sa), self.sa_values, self.sa_counts),)

    def about(self, one: Marginal) -> Header:
        """Return the header of the rules about one sensitive column."""
        return replace(self, sa=(one.column,), sa_values=one.values, sa_counts=one.counts, marginals=())

    @property
    def has_roles(self) -> bool:
        """Tell if the sensitive columns, or none, are declared."""
        return bool(self.sa) or self.no_sa


def _length_entry(header: Header) -> dict[str, int]:
    return {} if header.max_length is None else {"max_length": header.max_length}


@dataclass(frozen=True, slots=True, eq=False)
class Decimals:
    """Printed decimals ``scaled[i] / 10**digits[i]``; digits -1: none."""

    scaled: Ints
    digits: npt.NDArray[np.int8]

    def take(self, index: Ints) -> Decimals:
        """Return the decimals at these positions."""
        return Decimals(self.scaled[index], self.digits[index])

    def value(self, index: int) -> Fraction | None:
        """The printed value at ``index``, exactly."""
        digits = int(self.digits[index])
        return None if digits < 0 else Fraction(int(self.scaled[index]), 10**digits)

    def text(self, index: int) -> str:
        """Return the printed text at ``index``, possibly empty."""
        digits = int(self.digits[index])
        scaled = int(self.scaled[index])
        if digits <= 0:
            return "" if digits < 0 else str(scaled)
        return f"{scaled // 10**digits}.{scaled % 10**digits:0{digits}d}"


class Published(Lines):
    """Common part of all kinds of releases: what each says of itself."""

    __slots__ = ()

    header: Header

    def __len__(self) -> int:
        raise NotImplementedError

    @property
    def n_lines(self) -> int:
        """Number of lines in the file, its header apart."""
        return len(self)

    def line(self, index: int) -> int:
        """Return the line in the file; line 1 of a CSV file is its header."""
        raise NotImplementedError

    def place(self, index: int) -> int | str:
        """Return the place that a finding cites: a line, or a cell."""
        return self.line(index)

    def text(self, index: int) -> str:
        """Return the printed number of a line; empty if it prints none, or several."""
        return ""

    def people_of(self, index: int) -> Hashable | None:
        """Return a name of a line's people that all tables share, if any."""
        return None

    def items_at(self, line: int) -> frozenset[str] | None:
        """Return the items whose people a line of the file prints, if it prints nothing else."""
        return None

    @property
    def counts(self) -> Ints | None:
        """Largest counts that the lines allow, if each is about a group."""
        return None

    @property
    def has_means(self) -> bool:
        """True if means or medians are printed."""
        return False

    @property
    def has_numbers(self) -> bool:
        """True if numbers stand beside counts."""
        return False

    @property
    def withheld(self) -> npt.NDArray[np.bool_]:
        """Marks of the lines that print no number, though others of their kind do."""
        return np.zeros(self.n_lines, np.bool_)

    def value_counts(self) -> dict[str, int]:
        """Return the people with each sensitive value, if they are printed."""
        return dict(zip(self.header.sa_values, self.header.sa_counts, strict=False))

    def find_lines(self, places: Collection[int | str]) -> Ints:
        """Return the numbers of the lines at these places, in the order of the file."""
        return np.array([index for index in range(self.n_lines) if self.place(index) in places], np.int64)

    @property
    def leads_to_one_column(self) -> bool:
        """True if all lines are rules that lead to one sensitive column."""
        return False

    def by_column(self) -> tuple[Any, ...]:
        """Return the lines about each sensitive column."""
        return (self,)

    def possible_values(self, sensitive: str) -> tuple[str, ...]:
        """Return all values of the (joined) sensitive column, if the release lists them."""
        return ()

    def with_source(self, change: Callable[[Source], Source]) -> Any:
        """Return the release with its files changed, if it was read from any."""
        raise NotImplementedError


class CountedLines(Published):
    """Common part of releases that are lines with bounds on counts."""

    __slots__ = ()

    lo: Ints
    hi: Ints
    lines: Ints | None
    source: Source | None

    @property
    def n(self) -> int | None:
        """Number of people, if known."""
        return self.header.n

    @property
    def min_support(self) -> int | None:
        """The support threshold as a count."""
        return self.header.min_support

    def count(self, index: int) -> Bound:
        """Return the published bounds on the count of a line."""
        return Bound(int(self.lo[index]), int(self.hi[index]))

    @property
    def counts(self) -> Ints:
        """Largest counts that the lines allow."""
        return self.hi

    def line(self, index: int) -> int:
        """Return the line in the file; line 1 of a CSV file is its header."""
        return int(self.lines[index]) if self.lines is not None else index + 2

    def find_lines(self, places: Collection[int | str]) -> Ints:
        """Return the numbers of the lines at these places, in the order of the file."""
        numbers = np.arange(len(self), dtype=np.int64) + 2 if self.lines is None else self.lines
        return np.flatnonzero(np.isin(numbers, [place for place in places if isinstance(place, int)]))

    def with_source(self, change: Callable[[Source], Source]) -> Any:
        """Return the release with its file changed, if it was read from one."""
        changed: Any = self
        return self if self.source is None else replace(changed, source=change(self.source))


class ItemLines(CountedLines):
    """Common part of itemsets and rules: lines about sets of items.

    A line has one or two ``sides``. The counts of ``spans`` are those of all its items, and then of the first side if there are two. A limit
    on length is one on the first side.
    """

    __slots__ = ()

    items: Items
    support: Decimals | None
    noun: ClassVar[str]
    first_side: ClassVar[str]  #: What a limit on length is about.

    @property
    def described(self) -> str:
        """The noun of a line, with the lines that were chosen."""
        return self.noun

    @property
    def sides(self) -> tuple[Sets, ...]:
        """The sets of items of each line."""
        raise NotImplementedError

    @property
    def spans(self) -> tuple[tuple[Ints, Ints], ...]:
        """Least and most people of each line."""
        raise NotImplementedError

    @property
    def only(self) -> Only:
        """Lines that were chosen."""
        return "all"

    @property
    def rounded(self) -> Ints | None:
        """Printed counts that were rounded to a base, if any."""
        return None

    def with_only(self, only: Only) -> Any:
        """Return the release as a list of these lines, where a list may be one."""
        return self

    def united(self) -> Sets:
        """Return all items of each line."""
        raise NotImplementedError

    def counted(self) -> tuple[Sets, Ints, Ints]:
        """Return the sets that lines count, with their least and most people."""
        raise NotImplementedError

    def possible_values(self, sensitive: str) -> tuple[str, ...]:
        """Return the values of the (joined) sensitive column in the header."""
        return self.header.sa_values if " & ".join(self.header.sa) == sensitive else ()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Itemsets(ItemLines):
    """Published itemsets. ``lo`` and ``hi`` enclose each count: equal where the count is exactly known.

    ``only`` says which itemsets were chosen: all frequent ones, the closed ones, or the maximal ones. ``support`` holds printed shares where
    shares are published instead of counts, ``rounded`` printed counts where counts were rounded to ``header.base``; both are None when
    exact counts are published. ``lines`` holds where each itemset stands in its file (the first line is 1), so that a finding can cite it.
    """

    sets: Sets
    lo: Ints
    hi: Ints
    items: Items
    header: Header
    only: Only = "all"
    support: Decimals | None = None
    rounded: Ints | None = None
    lines: Ints | None = None
    source: Source | None = None
    kind: Literal["itemsets"] = field(default="itemsets", init=False)
    noun: ClassVar[str] = "itemset"
    first_side: ClassVar[str] = "itemsets"

    def __len__(self) -> int:
        return len(self.sets)

    @property
    def described(self) -> str:
        """The noun of a line, with the lines that were chosen."""
        return "frequent itemset" if self.only == "all" else f"{self.only} frequent itemset"

    @property
    def sides(self) -> tuple[Sets, ...]:
        """The itemsets."""
        return (self.sets,)

    @property
    def spans(self) -> tuple[tuple[Ints, Ints], ...]:
        """Least and most people of each itemset."""
        return ((self.lo, self.hi),)

    def with_only(self, only: Only) -> Itemsets:
        """Return the release as a list of all, closed or maximal itemsets."""
        return replace(self, only=only)

    def united(self) -> Sets:
        """Return the itemsets."""
        return self.sets

    def counted(self) -> tuple[Sets, Ints, Ints]:
        """Return the itemsets, with their least and most people."""
        return self.sets, self.lo, self.hi

    @property
    def is_exact(self) -> bool:
        """True if every count is exact."""
        return bool((self.lo == self.hi).all())

    def names(self, index: int) -> list[str]:
        """Return the names of the items of itemset ``index``."""
        return [self.items.names[item] for item in self.sets[index]]

    def items_at(self, line: int) -> frozenset[str] | None:
        """Return the items of the itemset in a line of the file, if there is one."""
        found = self.find_lines([line])
        return frozenset(self.names(int(found[0]))) if len(found) else None

    def text(self, index: int) -> str:
        """Return the printed count or share of itemset ``index``; empty if there is none."""
        if self.rounded is not None:
            return f"{int(self.rounded[index]):,}"
        if self.support is not None:
            return self.support.text(index)
        count = self.count(index)
        return f"{count.lo:,}" if count.is_exact else ""

    def take(self, index: Ints, header: Header) -> Itemsets:
        """Return the itemsets at these positions, under a new header."""
        return Itemsets(
            self.sets.take(index),
            self.lo[index],
            self.hi[index],
            self.items,
            header=header,
            only=self.only,
            support=None if self.support is None else self.support.take(index),
            rounded=None if self.rounded is None else self.rounded[index],
        )

    def details(self) -> dict[str, Any]:
        """Return what a record says about itemsets only."""
        return {"only": self.only} | _length_entry(self.header)

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield the published lines as dictionaries; a withheld value is None."""
        for index in range(len(self)):
            yield {"itemset": self.names(index)} | _printed_numbers(self, index)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rules(ItemLines):
    """Published rules ``antecedent => consequent`` over items.

    ``lo`` and ``hi`` enclose the number of people with antecedent and consequent, ``whole_lo`` and ``whole_hi`` the number with the
    antecedent, as far as each line says it by itself. ``support`` and ``confidence`` hold the printed shares; both are None when exact counts
    are published (then the confidence is ``lo / whole_lo``) or when values are withheld.
    """

    antecedents: Sets
    consequents: Sets
    lo: Ints
    hi: Ints
    whole_lo: Ints
    whole_hi: Ints
    items: Items
    header: Header
    support: Decimals | None = None
    confidence: Decimals | None = None
    lines: Ints | None = None
    source: Source | None = None
    kind: Literal["rules"] = field(default="rules", init=False)
    noun: ClassVar[str] = "rule"
    first_side: ClassVar[str] = "antecedents"

    def __len__(self) -> int:
        return len(self.antecedents)

    @property
    def sides(self) -> tuple[Sets, ...]:
        """The antecedents and the consequents."""
        return self.antecedents, self.consequents

    @property
    def spans(self) -> tuple[tuple[Ints, Ints], ...]:
        """Least and most people of each rule, and of its antecedent."""
        return (self.lo, self.hi), (self.whole_lo, self.whole_hi)

    def united(self) -> Sets:
        """Return antecedent and consequent of each rule together."""
        left = self.antecedents
        right = self.consequents
        rows = np.concatenate((left.owners(), right.owners()))
        return Sets.from_pairs(rows, np.concatenate((left.members, right.members)), len(left))

    def counted(self) -> tuple[Sets, Ints, Ints]:
        """Return all items of each rule, then the antecedents, with their least and most people."""
        both = self.united()
        sets = Sets(
            np.concatenate((both.offsets, self.antecedents.offsets[1:] + both.offsets[-1])),
            np.concatenate((both.members, self.antecedents.members)),
        )
        return sets, np.concatenate((self.lo, self.whole_lo)), np.concatenate((self.hi, self.whole_hi))

    @property
    def min_confidence(self) -> Fraction | None:
        """The confidence threshold."""
        return self.header.min_confidence

    def whole(self, index: int) -> Bound:
        """Return the published bounds on the people with the antecedent."""
        return Bound(int(self.whole_lo[index]), int(self.whole_hi[index]))

    @property
    def withheld(self) -> npt.NDArray[np.bool_]:
        """Marks of the lines that print no number."""
        flags: npt.NDArray[np.bool_] = self.lo < self.hi
        for printed in (self.support, self.confidence):
            if printed is not None:
                flags = flags & (printed.digits < 0)
        return flags

    @property
    def is_withheld(self) -> bool:
        """True if no line prints a number."""
        return len(self) > 0 and bool(self.withheld.all())

    def take(self, index: Ints, header: Header) -> Rules:
        """Return the rules at these positions, under a new header."""
        return Rules(
            self.antecedents.take(index),
            self.consequents.take(index),
            self.lo[index],
            self.hi[index],
            whole_lo=self.whole_lo[index],
            whole_hi=self.whole_hi[index],
            items=self.items,
            header=header,
            support=None if self.support is None else self.support.take(index),
            confidence=None if self.confidence is None else self.confidence.take(index),
        )

    @property
    def leads_to_one_column(self) -> bool:
        """True if each rule leads from other columns to one sensitive column."""
        pairs = self.items.pairs
        if pairs is None or (self.consequents.lengths != 1).any():
            return False
        names = {one.column for one in self.header.sensitive}
        concluded = {pairs[item][0] for item in np.unique(self.consequents.members).tolist()}
        return concluded <= names and not names & {pairs[item][0] for item in np.unique(self.antecedents.members).tolist()}

    def by_column(self) -> tuple[Rules, ...]:
        """Return the rules about each sensitive column.

        If some rule is about several of them, each part holds all rules.
        """
        if not self.header.marginals:
            return (self,)
        kept = [np.arange(len(self))] * len(self.header.marginals)
        if self.leads_to_one_column:
            assert self.items.pairs is not None
            columns = np.array([column for column, _ in self.items.pairs], object)[self.consequents.members]
            kept = [np.flatnonzero(columns == one.column) for one in self.header.marginals]
        return tuple(
            replace(self.take(index, self.header.about(one)), lines=self._line_numbers()[index], source=self.source)
            for index, one in zip(kept, self.header.marginals, strict=True)
        )

    def _line_numbers(self) -> Ints:
        return np.arange(len(self), dtype=np.int64) + 2 if self.lines is None else self.lines

    def details(self) -> dict[str, Any]:
        """Return what a record says about rules only."""
        return _length_entry(self.header)

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield the published lines as dictionaries; a withheld value is None."""
        for index in range(len(self)):
            printed = _printed_numbers(self, index)
            if self.confidence is not None:
                text = self.confidence.text(index)
                printed["confidence"] = float(text) if text else None
            else:
                whole = self.whole(index)
                exact = printed["count"] is not None and whole.is_exact and whole.lo > 0
                printed["confidence"] = self.count(index).lo / whole.lo if exact else None
            yield {"antecedent": self._side(self.antecedents, index), "consequent": self._consequent(index)} | printed

    def _side(self, sets: Sets, index: int) -> dict[str, str] | list[str]:
        if self.items.pairs is not None:
            return dict(self.items.pairs[item] for item in sets[index])
        return [self.items.names[item] for item in sets[index]]

    def _consequent(self, index: int) -> str | dict[str, str] | list[str]:
        members = self.consequents[index]
        if self.header.marginals:
            return self._side(self.consequents, index)
        if self.items.pairs is not None and len(members) == 1:
            column, value = self.items.pairs[int(members[0])]
            if not self.header.sa or column == " & ".join(self.header.sa):
                return value
        return [self.items.names[item] for item in members]


Listed = Itemsets | Rules  #: Releases that are lists of lines with counts.
Release: TypeAlias = "Itemsets | Rules | Buckets | PartialTable | FrequencyTable"  #: Everything that is published.


def rules_among(releases: Iterable[Release]) -> tuple[Rules, ...]:
    """Return the releases that are rules."""
    return tuple(release for release in releases if isinstance(release, Rules))


def by_sensitive_column(releases: Sequence[Release]) -> dict[str, tuple[Release, ...]]:
    """Return the releases about each sensitive column, if rules have several; else nothing."""
    rules = rules_among(releases)
    if not any(one.header.marginals for one in rules):
        return {}
    parts = [{part.header.sa[0]: part for part in one.by_column()} if one.header.marginals else {} for one in releases]
    columns = dict.fromkeys(one.column for release in rules for one in release.header.sensitive)
    return {column: tuple(part.get(column, one) for part, one in zip(parts, releases, strict=True)) for column in columns}


def _printed_numbers(release: Listed, index: int) -> dict[str, Any]:
    if release.support is not None:
        text = release.support.text(index)
        return {"count": None, "support": float(text) if text else None}
    if release.rounded is not None:
        return {"count": int(release.rounded[index]), "support": None}
    count = release.count(index)
    if not count.is_exact:
        return {"count": None, "support": None}
    return {"count": count.lo, "support": count.lo / release.n if release.n else None}


def common_cuts(releases: Iterable[Rules]) -> tuple[Rules, ...]:
    """Return the releases with each column cut at the ends of all of them."""
    listed = tuple(releases)
    ends: dict[str, set[float]] = {}
    for release in listed:
        for cut in release.header.cuts:
            ends.setdefault(cut.column, set()).update(cut.ends)
    fine = {column: Cut(column, tuple(sorted(found))) for column, found in ends.items()}
    return tuple(_recut(release, fine) for release in listed)


def _recut(release: Rules, fine: dict[str, Cut]) -> Rules:
    header = release.header
    old = {cut.column: cut for cut in header.cuts}
    if all(fine[column] == cut for column, cut in old.items()):
        return release
    groups = {(group.column, group.name): group for group in header.groups}
    for column, value in release.items.pairs or ():
        if column not in old:
            continue
        known = groups.get((column, value))
        inside = fine[column].between(*old[column].bounds((value,) if known is None else known.values))
        if inside != (value,):
            groups[column, value] = ValueGroup(column, value, inside)
    cuts = tuple(fine[cut.column] for cut in header.cuts)
    return replace(release, header=replace(header, groups=tuple(groups.values()), cuts=cuts))
