"""Association rules from quasi-identifying columns to the sensitive one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tacit.errors import OptionError
from tacit.mining.collector import as_labels
from tacit.mining.items import Pair, table_rows
from tacit.mining.publishing import Published, publish
from tacit.mining.search import Limits, Progress, Wanted, mine
from tacit.model.hierarchy import Hierarchy
from tacit.model.items import Items
from tacit.model.number import Threshold, share
from tacit.model.release import Header, Rules
from tacit.model.sets import Sets
from tacit.model.table import Column, Table

#: Products of two counts fit in 64 bits.
MOST_PEOPLE = 3_000_000_000


def mine_rules(
    people: Table,
    *,
    min_support: object,
    min_confidence: object,
    strict: bool = False,
    withhold_values: bool = False,
    digits: int | None = None,
    with_confidence: bool = False,
    incomplete: bool = False,
    publish_sa_distribution: bool = False,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    max_rules: int | None = None,
    threads: int | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Rules:
    """All rules from values of QI columns to a value of the SA column, in dictionary order of the QI items.

    A rule Q => x is listed when at least ``ceil(max(s * n, c * count(Q)))`` people have Q and x; Q is not empty. Several SA columns count as
    one, whose values are the combinations that occur.

    Parameters
    ----------
    people
        A table with QI and SA columns.
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
    hierarchies
        Coarser values of QI columns, which are items as well; a rule uses at most one item of a column. Those of other columns are not used.
    max_rules
        Stop with an error when there are more.
    threads, time_limit, progress
        As for :func:`~tacit.mining.itemsets.mine_itemsets`.

    Examples
    --------
    >>> from tacit.model.schema import Schema
    >>> rows = [("F", "high")] * 3 + [("F", "low")] + [("M", "low")] * 4
    >>> people = Table.from_rows(["sex", "pay"], rows, Schema(qi=("sex",), sa=("pay",)))
    >>> [(r["antecedent"], r["consequent"], r["count"]) for r in mine_rules(people, min_support=2, min_confidence=0.6).records()]
    [({'sex': 'F'}, 'high', 3), ({'sex': 'M'}, 'low', 4)]
    """
    form = Published(withhold_values, digits, with_confidence)
    if not people.schema.qi:
        raise OptionError("the table has no quasi-identifying column", where="qi", remedy="Name them with --qi (Python: qi=)")
    sa, n = people.sa, people.n
    least = Threshold.parse(min_support).least_count(n, strict=strict)
    bar = share(min_confidence, where="min_confidence")
    if n > MOST_PEOPLE:
        raise OptionError("the table stands for over 3 billion people", where="weights", remedy="Mine a part of it")
    header = Header(
        n=n, min_support=least, min_confidence=bar, complete=not incomplete, strict=strict, digits=digits,
        rounding="nearest" if digits is None else "half-up",
        missing=people.missing.mark, missing_rule=people.missing.rule, qi=people.schema.qi, sa=people.schema.sa,
        sa_values=sa.values, sa_counts=_distribution(people, sa) if publish_sa_distribution else (), coarser=bool(hierarchies),
    )  # fmt: skip
    rows, pairs = table_rows(people, people.schema.qi, hierarchies, sa)
    part, whole = least_ratio(bar, n, strict=strict)
    wanted = Wanted("all", bool(hierarchies), part, whole)
    database, mined, _ = mine(rows, least, wanted, Limits(time_limit, threads, max_rules, progress))
    antecedents = Sets(mined.offsets, mined.members)
    sides, items = _sides(antecedents, mined.classes, [pairs[i] for i in database.kept.tolist()], sa)
    published = publish(mined.counts, mined.wholes, header, form)
    return Rules(*sides, *published[:4], items, header, published.support, published.confidence)


def least_ratio(bar: Fraction, n: int, *, strict: bool) -> tuple[int, int]:
    """The smallest share of at most ``n`` people that reaches ``bar`` (strict: exceeds it), as numerator and denominator.

    A share of at most n people reaches the bar exactly when it reaches this one, whose denominator is at most n: comparing with it needs
    products of at most n * (n + 1), however many digits the bar has.

    >>> least_ratio(Fraction("0.6"), 100, strict=False), least_ratio(Fraction("0.6"), 100, strict=True)
    ((3, 5), (59, 98))
    """
    n = max(n, 1)
    near = bar.limit_denominator(n)
    if near > bar or (near == bar and not strict):
        return near.numerator, near.denominator
    # The next larger share p/q has p * b - a * q = 1; of the q that fit, the largest gives the smallest share.
    a, b = near.numerator, near.denominator
    q = n - (n + pow(a, -1, b)) % b
    return (1 + a * q) // b, q


def _distribution(people: Table, sa: Column) -> tuple[int, ...]:
    """How many people have each value."""
    counts = np.zeros(len(sa.values), np.int64)
    np.add.at(counts, sa.codes, people.weights)
    return tuple(counts.tolist())


def _sides(
    antecedents: Sets, classes: npt.NDArray[np.int32], pairs: Sequence[Pair], sa: Column
) -> tuple[tuple[Sets, Sets], Items]:
    """Antecedents and consequents over the items that some rule uses: QI items first, then SA items."""
    used = np.unique(antecedents.members)
    values = np.unique(classes)
    items = Items.of_columns([*(pairs[i] for i in used.tolist()), *((sa.name, sa.values[i]) for i in values.tolist())])
    number = np.zeros(len(pairs), np.int32)
    number[used] = np.arange(len(used))
    left = Sets(antecedents.offsets, as_labels(number, len(items))[antecedents.members])
    right = as_labels(len(used) + np.searchsorted(values, classes), len(items))
    return (left, Sets(np.arange(len(classes) + 1, dtype=np.int64), right)), items
