"""From printed lines to a release: every number becomes the whole numbers of people it can stand for.

A count is exact. A share stands for the counts that print so among n people. A header adds what it promises: every published line reaches
its thresholds. A rule is read as a pair of counts, antecedent and consequent together and antecedent alone, whose ratio is the confidence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from tacit.errors import Contradiction, InputError, OptionError
from tacit.formats.numbers import Flags, Shares, read_counts, read_shares
from tacit.formats.printout import Printout, TextColumn
from tacit.formats.ratios import Ratio, Ratios, people_of_rule, sure_wholes
from tacit.formats.selection import selected
from tacit.model.release import Counts, Decimals, Header, Itemsets, Listed, Only, Rules
from tacit.model.rounding import counts_printed_as
from tacit.model.source import Source

#: Stands for "no upper end" while n is unknown; it never leaves this module.
_UNBOUNDED = 2**61


def build(printout: Printout, *, n: int | None, only: Only | None, source: Source | None) -> Listed:
    """The release that a printout stands for; ``n`` is the number of people where the file does not say it."""
    reading = _Reading(printout)
    people, origin = reading.people(n)
    header = replace(printout.header, n=people, n_from=origin)
    reading.settle(people, "--n" if n is not None else printout.where)
    if printout.consequents is None:
        return reading.itemsets(header, only or printout.only, source)
    return reading.rules(header, source)


def one_n(said: int | None, given: int | None, *, where: str) -> int | None:
    """The number of people that the file says or the caller gives; an error when the two differ."""
    if said is not None and given is not None and said != given:
        raise OptionError(f"is {given}, but {where} says n = {said}", where="--n", remedy="Leave --n out, or correct the file")
    return said if given is None else given


class _Reading:
    """The numbers of one printout, parsed."""

    def __init__(self, printout: Printout) -> None:
        self.printout = printout
        self.support = self._shares(printout.support)
        self.confidence = self._shares(printout.confidence)
        self.whole_support = self._shares(printout.whole_support)
        self.count, self.counted = self._counts(printout.count)
        if printout.exact and self.confidence is not None and self._are_doubles(self.confidence):
            self.confidence = replace(self.confidence, is_double=True, in_full=True)
        self.whole_count, self.whole_counted = self._counts(printout.whole_count)

    def _shares(self, column: TextColumn | None) -> Shares | None:
        if column is None:
            return None
        header = self.printout.header
        return read_shares(column, rounding=header.rounding, digits=header.digits, place=self.printout.place)

    def _are_doubles(self, shares: Shares) -> bool:
        """Whether shares beside exact counts are doubles in full, though none is long enough to show it."""
        return bool((self.counted | ~shares.given()).all()) and shares.are_quotients_of(self.count)

    def _counts(self, column: TextColumn | None) -> tuple[Counts, Flags]:
        size = len(self.printout.lines)
        if column is None:
            return np.zeros(size, np.int64), np.zeros(size, bool)
        return read_counts(column, self.printout.place)

    # The number of people

    def people(self, given: int | None) -> tuple[int | None, str]:
        """N as the file says it, the caller gives it, or the lines betray it; in the last case, what it follows from."""
        n = one_n(self.printout.header.n, given, where=self.printout.where)
        if n is not None:
            return n, ""
        if self.printout.header.base is not None:
            return None, ""
        ways: tuple[tuple[Callable[[], int | None], str], ...] = (
            (self._people_of_nothing, "the count of the set that everybody has"),
            (self._people_of_pairs, "the only number that fits the counts and supports printed together"),
            (self._people_of_shares, "the only number that fits the printed supports"),
        )
        for find, told in ways:
            if (found := find()) is not None:
                return found, told
        return None, ""

    def _people_of_shares(self) -> int | None:
        """N from shares alone: they are quotients of whole numbers by one n, and no other n explains so many of them."""
        for shares in (self.support, self.whole_support):
            if shares is not None and (found := shares.people()) is not None:
                return found
        return None

    def settle(self, n: int | None, where: str) -> None:
        """Read short shares of a program that prints all digits as exact, where n allows it; refuse an n that is a multiple of the true one."""
        if n is None:
            return
        if self.printout.in_full:
            self.support = None if self.support is None else self.support.as_doubles(n)
            self.whole_support = None if self.whole_support is None else self.whole_support.as_doubles(n)
        if self.counted.any() or self.whole_counted.any():
            return  # counts that are printed say themselves how many people there are
        for shares in (self.support, self.whole_support):
            if shares is not None and shares.is_double and (times := shares.common_divisor(n)) > 1:
                what = f"is {n:,}, but all printed supports are multiples of {times:,} people: {n // times:,} people explain them"
                remedy = "Correct it" if where != "--n" else "Leave it out, or correct it"
                raise OptionError(what, where=where, remedy=remedy)

    def _people_of_nothing(self) -> int | None:
        """N from the count of the empty set, which everybody has."""
        empty = self.printout.sets.lengths == 0
        count, counted = (
            (self.count, self.counted) if self.printout.consequents is None else (self.whole_count, self.whole_counted)
        )
        lines = np.flatnonzero(empty & counted)
        return int(count[lines[0]]) if len(lines) else None

    def _people_of_pairs(self) -> int | None:
        """N from lines that print both a count and a share: only one n may make them fit."""
        if self.support is None:
            return None
        least, most = Fraction(0), None
        for line in np.flatnonzero(self.counted & (self.count > 0)):
            printed = self.support.printed(int(self.support.index[line]))
            if printed is None or printed.hi <= 0:
                continue
            count = int(self.count[line])
            least = max(least, count / printed.hi)
            if printed.lo > 0:
                most = count / printed.lo if most is None else min(most, count / printed.lo)
            if most is not None and (least > most or most - least < 1):
                first, last = -(-least.numerator // least.denominator), most.numerator // most.denominator
                if first > last:
                    raise Contradiction(
                        "count and support fit no number of people that the lines before allow",
                        where=self.printout.place(int(line)),
                        lines=[int(self.printout.lines[int(line)])],
                        remedy="Correct the line, or give the number of people with --n",
                    )
                if first == last:
                    return first
        return None

    # Itemsets

    def itemsets(self, header: Header, only: Only, source: Source | None) -> Itemsets:
        """The release as itemsets; the empty set, which says only n, is left out."""
        lo, hi = self._people_of_lines(header)
        self._check_ends(hi)
        if header.complete and header.min_support is None and len(hi) and (only != "maximal" or bool((lo == hi).all())):
            # Every listed set reaches the threshold, whatever it is: what is missing lies below the smallest count.
            header = replace(header, min_support=int(hi.min()))
        rounded = self.count if header.base is not None and bool(self.counted.any()) else None
        support = self._kept(self.support, lo, hi) if rounded is None else None
        printout = self.printout
        release = Itemsets(printout.sets, lo, hi, printout.items, header, only, support, rounded, printout.lines, source)
        empty = printout.sets.lengths == 0
        if not empty.any():
            return release
        for line in np.flatnonzero(empty):
            if header.n is not None and not lo[line] <= header.n <= hi[line]:
                raise Contradiction(
                    f"the empty set, which everybody has, is not given to n = {header.n} people",
                    where=printout.place(int(line)),
                    lines=[int(printout.lines[int(line)])],
                    remedy="Correct the line or n",
                )
        chosen = selected(release, np.flatnonzero(~empty))
        assert isinstance(chosen, Itemsets)
        return chosen

    def _people_of_lines(self, header: Header) -> tuple[Counts, Counts]:
        """The counts that each line allows by itself."""
        least = header.min_support or 0
        size = len(self.printout.lines)
        most = _UNBOUNDED if header.n is None else header.n
        lo, hi = np.full(size, least, np.int64), np.full(size, most, np.int64)
        if self.support is not None and bool((self.support.given() & ~self.counted).any()):
            if header.n is None:
                raise self._asks_for_n(int(np.flatnonzero(self.support.given() & ~self.counted)[0]), self.support.column.name)
            share_lo, share_hi = self.support.counts(header.n, self.printout.place)
            lo, hi = np.maximum(lo, share_lo), np.minimum(hi, share_hi)
        self._check_counts(header)
        count_lo, count_hi = self._counted_ends(header)
        lo = np.where(self.counted, np.maximum(count_lo, least), lo)
        hi = np.where(self.counted, np.minimum(count_hi, most), hi)
        clash = np.flatnonzero(lo > hi)
        if len(clash):
            raise Contradiction(
                f"no whole number of people prints so and reaches the min_support of {least} that the header gives",
                where=self.printout.place(int(clash[0])),
                lines=[int(self.printout.lines[int(clash[0])])],
                remedy="Correct the line or the header",
            )
        return lo, hi

    def _counted_ends(self, header: Header) -> tuple[Counts, Counts]:
        """The fewest and the most people whose number prints as each count."""
        if header.base is None:
            return self.count, self.count
        return counts_printed_as(self.count, header.base, header.rounding)

    def _check_counts(self, header: Header) -> None:
        """Printed counts fit n, the base they are rounded to, and the shares printed beside them."""
        if header.base is not None:
            odd = np.flatnonzero(self.counted & (self.count % header.base != 0))
            if len(odd):
                raise Contradiction(
                    f"the count is no multiple of {header.base}, the base that the header gives",
                    where=self.printout.place(int(odd[0]), self._count_name()),
                    lines=[int(self.printout.lines[int(odd[0])])],
                    remedy="Correct the line or the header",
                )
            silent = np.flatnonzero(~self.counted)
            if len(silent) and bool(self.counted.any()):
                raise InputError(
                    "the count is withheld, where the header says that counts are rounded",
                    where=self.printout.place(int(silent[0]), self._count_name()),
                    remedy="Print the rounded count, or leave the line out",
                )
        if header.n is None:
            return
        above = np.flatnonzero(self.counted & (self._counted_ends(header)[0] > header.n))
        if len(above):
            raise Contradiction(
                f"the count is above n = {header.n}",
                where=self.printout.place(int(above[0]), self._count_name()),
                lines=[int(self.printout.lines[int(above[0])])],
                remedy="Correct the line or n",
            )
        self._check_shares_beside(header)

    def _check_shares_beside(self, header: Header) -> None:
        """A share printed beside a count is that count's share."""
        if self.support is None or not header.n:
            return
        # A count whose double is printed needs no further look.
        told = self.support.floats[self.support.index] == self.count / header.n
        both = np.flatnonzero(self.counted & self.support.given() & ~(told & (header.base is None)))
        # The same count prints the same share again and again: each pair is looked at once.
        number = np.unique(self.count[both], return_inverse=True)[1]
        texts = len(self.support.texts)
        ends = self._counted_ends(header)
        for pair, first in zip(*np.unique(number * texts + self.support.index[both], return_index=True), strict=True):
            printed = self.support.printed(int(pair % texts))
            bound = printed.counts(header.n) if printed is not None else None
            least, most = (int(end[both[first]]) for end in ends)
            if bound is None or bound.lo > most or bound.hi < least:
                raise Contradiction(
                    f"the support does not print the count's share of n = {header.n}",
                    where=self.printout.place(int(both[first]), self.support.column.name),
                    lines=[int(self.printout.lines[int(both[first])])],
                    remedy="Correct the count, the support or n",
                )

    def _count_name(self) -> str:
        return self.printout.count.name if self.printout.count is not None else ""

    def _asks_for_n(self, line: int, column: str) -> InputError:
        error = InputError(
            "is a share, and the file does not say of how many people",
            where=self.printout.place(line, column),
            remedy="Give the data with --data, or the number of people with --n N (Python: n=N)",
        )
        error.asks_for = "n"
        return error

    def _check_ends(self, hi: Counts) -> None:
        """Every count has an upper end: n, where nothing else bounds it."""
        endless = np.flatnonzero(hi >= _UNBOUNDED)
        if len(endless):
            raise InputError(
                "says something only together with the number of people, which the file does not give",
                where=self.printout.place(int(endless[0])),
                remedy="Give the number of people with --n N (Python: n=N)",
            )

    def _kept(self, shares: Shares | None, lo: Counts, hi: Counts) -> Decimals | None:
        """The printed shares, unless they are doubles in full that give every count away: then counts are what is published."""
        if shares is None or not bool((shares.given() & ~self.counted).any()):
            return None
        return None if shares.is_double and bool((lo == hi).all()) else shares.decimals()

    # Rules

    def rules(self, header: Header, source: Source | None) -> Rules:
        """The release as rules."""
        printout = self.printout
        assert printout.consequents is not None
        lo, hi = self._people_of_lines(header)
        whole_lo, whole_hi = self._people_of_antecedents(header)
        everybody = printout.sets.lengths == 0
        if header.n is not None:
            whole_lo[everybody] = np.maximum(whole_lo[everybody], header.n)
        if self.confidence is not None:
            # A confidence of an antecedent that nobody has cannot be printed.
            whole_lo = np.maximum(whole_lo, self.confidence.given())
        clash = people_of_rule(lo, hi, whole_lo, whole_hi, self._ratios(header, (lo, hi, whole_lo, whole_hi)))
        if clash >= 0:
            raise Contradiction(
                "no whole numbers of people fit all that the line prints and the thresholds of the header",
                where=printout.place(clash),
                lines=[int(printout.lines[clash])],
                remedy="Correct the line, the header or n, or say how numbers were printed (--rounding truncated or unknown)",
            )
        self._check_ends(np.maximum(hi, whole_hi))
        support = self._kept(self.support, lo, hi)
        exact = bool((lo == hi).all() and (whole_lo == whole_hi).all())
        full = self.confidence is None or not bool(self.confidence.given().any()) or (self.confidence.is_double and exact)
        confidence = None if full or self.confidence is None else self.confidence.decimals()
        return Rules(
            printout.sets, printout.consequents, lo, hi, whole_lo, whole_hi, printout.items, header,
            support, confidence, printout.lines, source,
        )  # fmt: skip

    def _people_of_antecedents(self, header: Header) -> tuple[Counts, Counts]:
        """The numbers of people with the antecedent, where the line prints them."""
        size = len(self.printout.lines)
        most = _UNBOUNDED if header.n is None else header.n
        lo, hi = np.zeros(size, np.int64), np.full(size, most, np.int64)
        if self.whole_support is not None and bool(self.whole_support.given().any()):
            if header.n is None:
                raise self._asks_for_n(int(np.flatnonzero(self.whole_support.given())[0]), self.whole_support.column.name)
            lo, hi = self.whole_support.counts(header.n, self.printout.place)
        if self.printout.whole_count is not None:
            above = np.flatnonzero(self.whole_counted & (self.whole_count > most))
            if len(above):
                raise Contradiction(
                    f"the count is above n = {header.n}",
                    where=self.printout.place(int(above[0]), self.printout.whole_count.name),
                    lines=[int(self.printout.lines[int(above[0])])],
                    remedy="Correct the line or n",
                )
            lo = np.where(self.whole_counted, self.whole_count, lo)
            hi = np.where(self.whole_counted, self.whole_count, hi)
        return lo, hi

    def _ratios(self, header: Header, ends: tuple[Counts, Counts, Counts, Counts]) -> Ratios:
        """The confidences that each line allows, from the threshold of the header up."""
        least = header.min_confidence or Fraction(0)
        shares = self.confidence
        if shares is None:
            ratio = Ratio.of(None, least, strict=header.strict)
            return Ratios(np.zeros(len(ends[0]), np.int64), lambda _: ratio, np.full(len(ends[0]), -1, np.int64))
        sure = (
            sure_wholes(*ends, shares.floats[shares.index], float(least))
            if shares.is_double
            else np.full(len(ends[0]), -1, np.int64)
        )
        return Ratios(shares.index, lambda number: Ratio.of(shares.printed(number), least, strict=header.strict), sure)
