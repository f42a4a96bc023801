"""Association rules from quasi-identifying columns to sensitive ones.

What of a rule's two counts is published: the counts, supports with some decimals, or nothing; and what that says to a reader.

A reader knows the thresholds, too, so that a published rule never allows counts below them. Reading the written release gives the same ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from math import ceil, floor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.files.engines import Engine
from tacit.files.inputs import Trees, require_table, trees_of
from tacit.mining.database import Pair, table_rows
from tacit.mining.itemsets import check_max_length
from tacit.mining.search import Limits, Progress, Wanted, as_labels, mine, too_many_error
from tacit.model.arrays import Ints
from tacit.model.errors import OptionError
from tacit.model.numbers import Printed, Threshold, share
from tacit.model.release import Decimals, Header, Items, Marginal, Rules, Sets
from tacit.model.table import Column, Hierarchy, Names, Table

MOST_DIGITS = 12  #: More decimals would not be read back exactly: numbers of 15 digits are taken for doubles in full.


@dataclass(frozen=True, slots=True)
class Published:
    """Form in which rules are published."""

    withhold_values: bool = False
    digits: int | None = None
    with_confidence: bool = False

    def __post_init__(self) -> None:
        if self.digits is not None and not 0 <= self.digits <= MOST_DIGITS:
            remedy = "Choose how many decimals to print, for instance 3"
            raise OptionError("must be from 0 to 12", where="--digits", remedy=remedy)
        if self.withhold_values and self.digits is not None:
            raise OptionError("prints values that --withhold-values withholds", where="--digits", remedy="Leave one of them out")
        if self.with_confidence and self.digits is None:
            remedy = "Add --digits, or leave it out: counts without --digits give confidences exactly"
            raise OptionError("needs --digits", where="--with-confidence", remedy=remedy)


class Numbers(NamedTuple):
    """Bounds of both counts, and printed numbers."""

    lo: Ints
    hi: Ints
    whole_lo: Ints
    whole_hi: Ints
    support: Decimals | None = None
    confidence: Decimals | None = None


def publish(counts: Ints, wholes: Ints, header: Header, form: Published) -> Numbers:
    """Return the published numbers of rules, from both their counts."""
    n = header.n or 0
    least = header.min_support or 0
    if form.withhold_values:
        lo = np.full(len(counts), least, np.int64)
        hi = np.full(len(counts), n, np.int64)
        return Numbers(lo, hi, lo, hi)
    if form.digits is None:
        return Numbers(counts, counts, wholes, wholes)
    support = rounded(counts, np.full(len(counts), n, np.int64), form.digits)
    confidence = rounded(counts, wholes, form.digits) if form.with_confidence else None
    lo, hi, whole_lo, whole_hi = np.ascontiguousarray(_bound_counts(support, confidence, header, form.digits).T)
    return Numbers(lo, hi, whole_lo, whole_hi, support=support, confidence=confidence)


def rounded(parts: Ints, wholes: Ints, digits: int) -> Decimals:
    """Return shares with some decimals: the nearest, halves up, exactly."""
    scale = 10**digits
    if len(parts) and 2 * int(parts.max()) * scale + int(wholes.max()) < 2**63:
        scaled = (2 * parts * scale + wholes) // (2 * wholes)
    else:  # whole numbers of any size
        pairs = zip(parts.tolist(), wholes.tolist(), strict=True)
        scaled = np.array([(2 * part * scale + whole) // (2 * whole) for part, whole in pairs], np.int64)
    return Decimals(scaled, np.full(len(parts), digits, np.int8))


def _bound_counts(support: Decimals, confidence: Decimals | None, header: Header, digits: int) -> Ints:
    n = header.n or 0
    least = header.min_support or 0
    step = Fraction(1, 10**digits)
    bar = header.min_confidence or Fraction(0)

    @cache
    def of(printed_support: int, printed_confidence: int) -> tuple[int, int, int, int]:
        counts = Printed.around(printed_support * step, step, header.rounding).counts(n)
        assert counts is not None  # the true count prints so
        low = bar
        high = Fraction(1)
        low_open = header.strict and bar > 0
        high_open = False
        if printed_confidence >= 0:
            shares = Printed.around(printed_confidence * step, step, header.rounding)
            low_open = low_open and low >= shares.lo
            high_open = shares.hi <= high and shares.hi_open
            low = max(low, shares.lo)
            high = min(high, shares.hi)
        return narrowed(max(counts.lo, least), counts.hi, n, low, high, low_open=low_open, high_open=high_open)

    confidences = [-1] * len(support.scaled) if confidence is None else confidence.scaled.tolist()
    ends = [of(*key) for key in zip(support.scaled.tolist(), confidences, strict=True)]
    return np.array(ends, np.int64).reshape(-1, 4)


def narrowed(
    lo: int, hi: int, n: int, low: Fraction, high: Fraction, *, low_open: bool, high_open: bool = False
) -> tuple[int, int, int, int]:
    """Bound pairs (part in [lo, hi], whole up to n) by their share."""
    whole_lo = 1
    whole_hi = n
    while True:
        before = lo, hi, whole_lo, whole_hi
        whole_lo = max(whole_lo, floor(lo / high) + 1 if high_open else ceil(lo / high))
        if low > 0:
            whole_hi = min(whole_hi, ceil(hi / low) - 1 if low_open else floor(hi / low))
        lo = max(lo, floor(low * whole_lo) + 1 if low_open else ceil(low * whole_lo))
        hi = min(hi, ceil(high * whole_hi) - 1 if high_open else floor(high * whole_hi))
        if before == (lo, hi, whole_lo, whole_hi):
            return before


MOST_PEOPLE = 3_000_000_000  #: Products of two counts fit in 64 bits.


def mine_rules(
    people: Table | str | Path | Any,
    *,
    min_support: object,
    min_confidence: object,
    qi: Names = (),
    sa: Names = (),
    strict: bool = False,
    withhold_values: bool = False,
    digits: int | None = None,
    with_confidence: bool = False,
    incomplete: bool = False,
    publish_sa_distribution: bool = False,
    combine_sa: bool = False,
    hierarchies: Trees = None,
    max_length: int | None = None,
    max_rules: int | None = None,
    threads: int | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
    engine: Engine | str | None = None,
) -> Rules:
    """Mine all rules from values of QI columns to an SA value.

    They come in dictionary order of the QI items; those about the first of several SA columns come first.

    A rule Q => x is listed when at least ``ceil(max(s * n, c * count(Q)))`` people have Q and x; Q is not empty.

    Parameters
    ----------
    people
        A table with QI and SA columns; or a file, a frame or a table, whose columns ``qi`` and ``sa`` name.
    min_support, min_confidence
        The thresholds s and c: shares such as ``0.1`` or ``"10%"``; the support may also be a count of people.
    strict
        Read both thresholds as "more than".
    withhold_values
        Publish which rules reach the thresholds, and no numbers.
    digits
        Publish supports with this many decimals (nearest; halves go up) instead of counts.
    with_confidence
        With ``digits``: publish confidences, too, with as many decimals.
    incomplete
        Say in the header that rules may have been left out.
    publish_sa_distribution
        Publish how many people have each SA value.
    qi, sa
        The quasi-identifying columns and the sensitive ones, where the people are not a table with roles.
    combine_sa
        Take several SA columns as one, whose values are the combinations that occur, instead of each by itself.
    hierarchies
        Coarser values of QI columns, which are items as well; a rule uses at most one item of a column. Those of other columns are not used.
        Also a folder of files.
    max_length
        The most items of an antecedent; rules with longer ones are not listed, and that they are missing says nothing.
    max_rules
        Stop with an error when there are more.
    threads, time_limit, progress, engine
        As for :func:`tacit.mine_itemsets`.

    Examples
    --------
    >>> import tacit
    >>> rows = {"sex": ["F"] * 4 + ["M"] * 4, "pay": ["high"] * 3 + ["low"] * 5}
    >>> rules = tacit.mine_rules(rows, qi="sex", sa="pay", min_support=2, min_confidence=0.6)
    >>> [(r["antecedent"], r["consequent"], r["count"]) for r in rules.records()]
    [({'sex': 'F'}, 'high', 3), ({'sex': 'M'}, 'low', 4)]
    """
    people = require_table(people, "mine_rules", qi=qi, sa=sa, engine=engine)
    trees = trees_of(hierarchies, people)
    form = Published(withhold_values, digits, with_confidence)
    check_max_length(max_length)
    if not people.schema.qi:
        raise OptionError("the table has no quasi-identifying column", where="qi", remedy="Name them with --qi (Python: qi=)")
    if combine_sa and len(people.schema.sa) < 2:
        raise OptionError("needs several sensitive columns", where="--combine-sa", remedy="Name them with --sa, or leave it out")
    columns = [people.sa] if combine_sa or len(people.schema.sa) < 2 else [people.column(name) for name in people.schema.sa]
    n = people.n
    least = Threshold.parse(min_support).least_count(n, strict=strict)
    bar = share(min_confidence, where="min_confidence")
    if n > MOST_PEOPLE:
        raise OptionError("the table stands for over 3 billion people", where="weights", remedy="Mine a part of it")
    marginals = tuple(
        Marginal(one.name, one.values, _count_values(people, one) if publish_sa_distribution else ()) for one in columns
    )
    header = Header(
        n=n,
        min_support=least,
        min_confidence=bar,
        complete=not incomplete,
        strict=strict,
        digits=digits,
        rounding="nearest" if digits is None else "half-up",
        missing=people.missing.mark,
        missing_rule=people.missing.rule,
        bins=people.bins,
        qi=people.schema.qi,
        sa=people.schema.sa,
        coarser=bool(trees),
        marginals=marginals,
        max_length=max_length,
    )
    limits = Limits(time_limit, threads, max_rules, progress)
    parts = [_mine_column(people, one, header, form, hierarchies=trees, limits=limits) for one in columns]
    if max_rules is not None and sum(map(len, parts)) > max_rules:
        raise too_many_error(f"more than {max_rules} patterns reach it")
    if len(columns) == 1:
        return replace(
            parts[0], header=replace(header, sa_values=marginals[0].values, sa_counts=marginals[0].counts, marginals=())
        )
    return _join_columns(parts, header)


def _mine_column(
    people: Table, sa: Column, header: Header, form: Published, hierarchies: Mapping[str, Hierarchy] | None, limits: Limits
) -> Rules:
    rows, pairs = table_rows(people, people.schema.qi, hierarchies, sa)
    part, whole = least_ratio(header.min_confidence or Fraction(0), people.n, strict=header.strict)
    wanted = Wanted("all", bool(hierarchies), part, whole, header.max_length)
    database, mined, _ = mine(rows, header.min_support or 0, wanted, limits)
    antecedents = Sets(mined.offsets, mined.members)
    sides, items = _split_sides(antecedents, mined.classes, [pairs[i] for i in database.kept.tolist()], sa)
    published = publish(mined.counts, mined.wholes, header, form)
    return Rules(*sides, *published[:4], items, header, published.support, published.confidence)


def _join_columns(parts: Sequence[Rules], header: Header) -> Rules:
    """Return the rules about all sensitive columns, one column after another."""
    order = {column: place for place, column in enumerate((*header.qi, *header.sa))}
    named = {pair for part in parts for pair in part.items.pairs or ()}
    items = Items.of_columns(sorted(named, key=lambda pair: (order[pair[0]], pair[1])))
    assert items.pairs is not None
    number = {pair: place for place, pair in enumerate(items.pairs)}

    starts = np.cumsum([0, *map(len, parts)])

    def side(name: str) -> Sets:
        rows = []
        members = []
        for part, start in zip(parts, starts.tolist(), strict=False):
            sets: Sets = getattr(part, name)
            place = np.array([number[pair] for pair in part.items.pairs or ()], np.int32)
            rows.append(sets.owners() + start)
            members.append(place[sets.members.astype(np.int64)])
        return Sets.from_pairs(np.concatenate(rows), np.concatenate(members), int(starts[-1]))

    def decimals(name: str) -> Decimals | None:
        found: list[Decimals | None] = [getattr(part, name) for part in parts]
        shown = [one for one in found if one is not None]
        return (
            Decimals(*(np.concatenate([getattr(one, end) for one in shown]) for end in ("scaled", "digits"))) if shown else None
        )

    lo, hi, whole_lo, whole_hi = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("lo", "hi", "whole_lo", "whole_hi")
    )
    return Rules(
        side("antecedents"),
        side("consequents"),
        lo,
        hi,
        whole_lo=whole_lo,
        whole_hi=whole_hi,
        items=items,
        header=header,
        support=decimals("support"),
        confidence=decimals("confidence"),
    )


def least_ratio(bar: Fraction, n: int, *, strict: bool) -> tuple[int, int]:
    """Return the smallest attainable share from ``bar`` on; if strict, above it.

    A share of at most n people reaches the bar exactly when it reaches this one, whose denominator is at most n: comparing with it needs
    products of at most n * (n + 1), however many digits the bar has.
    """
    n = max(n, 1)
    near = bar.limit_denominator(n)
    if near > bar or (near == bar and not strict):
        return near.numerator, near.denominator
    # The next larger share p/q has p * b - a * q = 1; of the q that fit, the largest gives the smallest share.
    a = near.numerator
    b = near.denominator
    q = n - (n + pow(a, -1, b)) % b
    return (1 + a * q) // b, q


def _count_values(people: Table, sa: Column) -> tuple[int, ...]:
    counts = np.zeros(len(sa.values), np.int64)
    np.add.at(counts, sa.codes, people.weights)
    return tuple(counts.tolist())


def _split_sides(
    antecedents: Sets, classes: npt.NDArray[np.int32], pairs: Sequence[Pair], sa: Column
) -> tuple[tuple[Sets, Sets], Items]:
    used = np.unique(antecedents.members)
    values = np.unique(classes)
    items = Items.of_columns([*(pairs[i] for i in used.tolist()), *((sa.name, sa.values[i]) for i in values.tolist())])
    number = np.zeros(len(pairs), np.int32)
    number[used] = np.arange(len(used))
    left = Sets(antecedents.offsets, as_labels(number, len(items))[antecedents.members])
    right = as_labels(len(used) + np.searchsorted(values, classes), len(items))
    return (left, Sets(np.arange(len(classes) + 1, dtype=np.int64), right)), items
