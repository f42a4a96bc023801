"""Negative rules ``X => not s``.

X is a combination of QI values, coarser ones included. That nobody of few people has a rare value says little. A rule counts when somebody
would be expected: when the probability that at least one of the people with X has s, were values assigned by their shares, reaches a threshold:
``1 - (1 - P(s))**count(X) >= min_expectation``.

If a rule excludes a value, every more special antecedent excludes it as well, so the most general ones, the *minimal* rules, say everything. In
few columns all rules are listed, in many the minimal ones.

With a confidence below 1 a rule may have exceptions: at most the share ``1 - min_confidence`` of the people with X has s. The number of people
that X needs does not depend on them (Li and Li, section IV-C). Nobody can be matched to values by such rules, since they can be wrong about the
very people that they come from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from tacit.files.engines import Engine
from tacit.files.hierarchies import check_hierarchies
from tacit.files.inputs import Trees, require_table, trees_of
from tacit.mining.negative_search import (
    Bar,
    Case,
    Found,
    Watch,
    check_spreads,
    count_all,
    count_level_choices,
    excluded_by,
    fully_covered,
    minimal_of,
    minimal_rules,
    most_antecedents,
    needed_people,
    rules_of_each,
)
from tacit.model.arrays import Flags
from tacit.model.errors import OptionError
from tacit.model.negative import NegativeRules
from tacit.model.numbers import share
from tacit.model.policy import Limits
from tacit.model.release import Header
from tacit.model.table import Names, Table

#: All rules are listed when antecedents use no more choices of levels than these; beyond, the minimal ones.
MOST_CHOICES = 5_000


@dataclass(frozen=True)
class _Asked:
    expectation: float
    confidence: Fraction
    significance: float | None
    length: int


@dataclass(frozen=True, eq=False)
class _Answer:
    found: Found
    minimal: Flags
    bar: Bar
    expectation: float
    all_rules: int | None
    itemsets: int
    counted: bool


def mine_negative_rules(
    people: Table | Any,
    *,
    min_expectation: object,
    min_confidence: object = 1,
    hierarchies: Trees = None,
    fuzzy: Mapping[str, object] | None = None,
    max_length: int | None = None,
    significance: object = None,
    permutations: int = 0,
    seed: int = 0,
    time_limit: float | None = None,
    progress: Callable[[float], None] | None = None,
    qi: Names = None,
    sa: Names = None,
    engine: Engine | str | None = None,
) -> NegativeRules:
    """Mine the negative rules of a table.

    They are what an adversary knows before anything is published. In many columns only the minimal ones are listed.

    Parameters
    ----------
    people
        A table whose columns have roles; or a file or frame, with ``qi`` and ``sa`` given.
    min_expectation
        The least chance with which somebody of an antecedent would be expected to have the value, below 1.
    min_confidence
        The least share of the people of an antecedent who do not have the value. Below 1 rules have exceptions: they say what is unlikely, and
        cannot be used to match people with values.
    hierarchies
        Coarser values of QI columns, or a folder of files that hold them.
    fuzzy
        Numeric QI columns and their spreads: people whose value is up to so far away count for a rule in part, and a rule without exceptions
        needs that none of them has the value either.
    max_length
        The most columns that an antecedent uses; all by default.
    significance
        Ask for so much expectation that, over all antecedents and values that were looked at, a rule arises by chance with at most this
        probability (Bonferroni's correction).
    permutations
        Mine as many times with shuffled sensitive values, to count the rules that chance alone gives.
    seed
        Random seed of the shuffling.
    time_limit
        Seconds after which :class:`~tacit.model.errors.LimitReached` is raised.
    progress
        Called with the share of the work done, from 0 to 1.
    qi, sa
        The columns with these roles, for a file or frame.
    engine
        Program that merges equal rows of a file (see :func:`tacit.engine`).

    Examples
    --------
    >>> import tacit
    >>> rows = {"sex": ["F"] * 30 + ["M"] * 20, "ill": ["ovarian cancer"] * 10 + ["flu"] * 40}
    >>> people = tacit.read_table(rows, qi="sex", sa="ill")
    >>> [(r["antecedent"], r["excluded"], r["count"]) for r in tacit.mine_negative_rules(people, min_expectation=0.9).records()]
    [({'sex': ['M']}, 'ovarian cancer', 20)]
    """
    people = require_table(people, "mine_negative_rules", qi=qi, sa=sa, engine=engine)
    trees = trees_of(hierarchies, people)
    check_hierarchies(trees or {}, people)
    watch = Watch(Limits.within(time_limit), progress, 1 + permutations)
    asked = _check_thresholds(people, min_expectation, min_confidence, significance, max_length)
    spreads = check_spreads(fuzzy, people.schema.qi)
    case = Case.of(people, trees or {}, spreads)
    answer = _mine(case, asked, watch)
    found = answer.found
    crisp, against = fully_covered(found, case) if case.is_fuzzy else (found.support, found.against)
    with np.errstate(divide="ignore"):
        expectation = -np.expm1(found.support * np.log1p(-case.shares[found.excluded]))
    excluded = excluded_by(found, answer.minimal, case)
    own = excluded[np.arange(len(case.values)), case.values]
    header = Header(
        n=people.n,
        complete=True,
        qi=people.schema.qi,
        sa=people.schema.sa,
        sa_values=people.sa.values,
        missing=people.missing.mark,
        missing_rule=people.missing.rule,
        bins=people.bins,
        coarser=bool(trees),
    )
    return NegativeRules(
        antecedents=found.antecedents,
        excluded=found.excluded,
        count=crisp.astype(np.int64),
        minimal=answer.minimal,
        nodes=case.nodes,
        header=header,
        min_expectation=answer.expectation,
        excluded_values=np.bincount(excluded.sum(axis=1), case.weights, 1).astype(np.int64),
        itemsets=answer.itemsets,
        significance=asked.significance,
        by_chance=_count_by_chance(case, answer, asked, permutations, seed=seed, watch=watch),
        expectation=expectation,
        support=found.support,
        confidence=(found.support - found.against) / found.support,
        against=against.astype(np.int64),
        min_confidence=asked.confidence,
        fuzzy={name: float(spread) for name, spread in spreads.items()},
        all_rules=answer.all_rules,
        itemsets_counted=answer.counted,
        own_excluded=int(case.weights[own].sum()),
    )


def _check_thresholds(
    people: Table, expectation: object, confidence: object, significance: object, max_length: int | None
) -> _Asked:
    bar = float(share(expectation, where="--min-expectation"))
    if bar >= 1:
        what = "must be below 1: nothing is certain by chance"
        raise OptionError(what, where="--min-expectation", remedy="Write for instance 0.9")
    if max_length is not None and max_length < 1:
        raise OptionError("must be at least 1", where="--max-length", remedy="Leave it out for any length")
    if not people.schema.qi:
        raise OptionError("the table has no quasi-identifying column", where="qi", remedy="Name them with --qi (Python: qi=)")
    level = None if significance is None else float(share(significance, where="--significance", zero=False))
    length = len(people.schema.qi) if max_length is None else min(max_length, len(people.schema.qi))
    return _Asked(bar, share(confidence, where="--min-confidence", zero=False), level, length)


def _lists_all(case: Case, asked: _Asked) -> bool:
    # Rules with exceptions are all listed, since a general one does not imply special ones.
    return asked.confidence < 1 or count_level_choices(case, asked.length) <= MOST_CHOICES


def _mine(case: Case, asked: _Asked, watch: Watch) -> _Answer:
    bar = Bar(needed_people(case.shares, math.log1p(-asked.expectation)), 1 - asked.confidence)
    if _lists_all(case, asked):
        found = rules_of_each(case, [case.values], bar, asked.length, watch)[0]
        bar, expectation = _correct(case, bar, asked, found.itemsets)
        found = found.only(found.support >= bar.needed[found.excluded])
        return _Answer(
            found, minimal_of(found, case), bar, expectation, all_rules=len(found), itemsets=found.itemsets, counted=True
        )
    looked = count_all(case, bar, asked.length, watch)
    itemsets = most_antecedents(case, bar.least, asked.length) if looked is None else looked[0]
    bar, expectation = _correct(case, bar, asked, itemsets)
    found, _ = minimal_rules(case, bar, asked.length, watch)
    counted = looked if asked.significance is None else count_all(case, bar, asked.length, watch)
    everything = None if counted is None else counted[1]
    return _Answer(
        found,
        np.ones(len(found), np.bool_),
        bar,
        expectation,
        all_rules=everything,
        itemsets=itemsets,
        counted=looked is not None,
    )


def _correct(case: Case, bar: Bar, asked: _Asked, itemsets: int) -> tuple[Bar, float]:
    """Correct the thresholds for multiple testing."""
    if asked.significance is None:
        return bar, asked.expectation
    doubt = asked.significance / max(1, itemsets * case.n_values)
    if doubt >= 1 - asked.expectation:
        return bar, asked.expectation
    return Bar(needed_people(case.shares, math.log(doubt)), bar.tolerated), 1 - doubt


def _count_by_chance(
    case: Case, answer: _Answer, asked: _Asked, permutations: int, seed: int, watch: Watch
) -> tuple[float | None, float] | None:
    if permutations < 1:
        return None
    chance = np.random.default_rng(seed)
    who = np.repeat(np.arange(len(case.values)), case.weights)
    codes = tuple(codes[who] for codes in case.codes)
    values = case.values[who]
    alone = replace(case, codes=codes, values=values, weights=np.ones(len(who), np.int64))
    shuffled = [chance.permutation(values) for _ in range(permutations)]
    if _lists_all(case, asked):
        found = rules_of_each(alone, shuffled, answer.bar, asked.length, replace(watch, rounds=2, number=1))
        minimal = [int(minimal_of(rules, case).sum()) for rules in found]
        return float(np.mean([len(rules) for rules in found])), float(np.mean(minimal))
    minimal = []
    for number, drawn in enumerate(shuffled, start=1):
        rules, _ = minimal_rules(replace(alone, values=drawn), answer.bar, asked.length, replace(watch, number=number))
        minimal.append(len(rules))
    return None, float(np.mean(minimal))
