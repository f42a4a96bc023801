"""Verbs that ask about a pattern, channels, a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tacit.buckets.case import BucketCase
from tacit.buckets.equally_likely import Member, describe_members, find_members
from tacit.files.engines import Engine
from tacit.files.releases import read_release
from tacit.itemsets.inference_channels import run as maximal_channels
from tacit.itemsets.supports import channels_from_condensed
from tacit.known.case import PeopleCase, estimate
from tacit.known.person import Person, bounds_of, build_up
from tacit.known.sensitive_values import baseline_of, why_not
from tacit.model.arrays import Codes
from tacit.model.audit import Target
from tacit.model.errors import LimitReached, OptionError, nearest_name
from tacit.model.estimates import Channel, PatternSupport, PersonEstimate, read_who
from tacit.model.knowledge import Withheld, check_withheld
from tacit.model.policy import Limits, Policy
from tacit.model.release import Release, by_sensitive_column
from tacit.rules.patterns import pattern_support
from tacit.verbs.data import first_with_roles, merge_data, merge_known, owners_people
from tacit.verbs.kinds import Given, kind_of
from tacit.verbs.known import case_alone, given_by_column, rule_case, several_case


def support_of(release: Release | str | Path | Any, *, pattern: str) -> PatternSupport:
    """Bound the number of people who fit a pattern, as tightly as the release allows.

    Parameters
    ----------
    release
        A mined or read release, or anything :func:`read_release` takes.
    pattern
        Items joined with ``and``, ``or``, ``not`` and parentheses, at most 16 of them; names with blanks in quotation marks.

    Examples
    --------
    >>> import tacit
    >>> baskets = tacit.read_transactions([["a", "b"]] * 49 + [["a"]] + [["c"]] * 20)
    >>> found = tacit.support_of(tacit.mine_itemsets(baskets, min_support=40), pattern="a and not b")
    >>> found.lo, found.hi, found.steps[0]
    (1, 1, 'plus 50: people with a (line 2)')
    """
    if not isinstance(pattern, str):
        raise OptionError("is not text", where="pattern", remedy='Write for instance "a and not b"')
    return pattern_support(read_release(release), pattern)


def all_channels(release: Release | str | Path | Any, *, policy: Policy | None = None) -> Iterator[Channel]:
    """Yield all inference channels of a list of itemsets: the set Ch(k) of Atzori et al.

    An audit lists the maximal ones, which say all; here are the others as well, rebuilt from them and the supports (Theorem 18). There may be
    billions, so they are made while they are asked for, itemset by itemset.

    Examples
    --------
    >>> import tacit
    >>> baskets = tacit.read_transactions([["a", "b", "c"]] * 40 + [["a", "b"]])
    >>> [(c.present, c.absent, c.people) for c in tacit.all_channels(tacit.mine_itemsets(baskets, min_support=40))]
    [((), ('c',), 1), (('a',), ('c',), 1), (('b',), ('c',), 1), (('a', 'b'), ('c',), 1)]
    """
    target = read_release(release)
    if target.kind != "itemsets":
        raise OptionError(f"needs itemsets, not {target.kind}", where="all_channels", remedy="Give a list of frequent itemsets")
    limits = policy or Policy()
    return channels_from_condensed(target, maximal_channels(Target(target, limits)), limits.k)


def posterior_of(
    release: Release | str | Path | Any,
    *,
    who: Mapping[str, str] | str,
    sa: str | None = None,
    known: Any = None,
    data: Any = None,
    knowledge: Any = None,
    withheld: Withheld = "at-threshold",
    top: int = 5,
    bounds: bool = True,
    time_limit: float | None = None,
    engine: Engine | str | None = None,
) -> PersonEstimate:
    """Estimate the sensitive value of people who fit a description, and explain the estimate.

    Several releases about the same people are taken together: rules, trees, itemsets, frequency tables, and bucketized ones, which also say who
    everybody is.

    Parameters
    ----------
    release
        Rules, mined or read, or anything :func:`read_release` takes; or a list of releases about the same people.
    who
        Values by column, or text such as ``"education=Doctorate,sex=Male"``; columns that are not named may be anything.
    sa
        The sensitive column to estimate, if rules are about several.
    known, data
        Everybody's quasi-identifiers, from elsewhere or from the owner's data, as for :func:`tacit.audit`.
    knowledge, withheld
        What an attacker knows besides, and expects of withheld numbers, as for :func:`tacit.audit`.
    top
        How many steps and influences to list; for each, the estimate is made once more.
    bounds
        Whether to look for hard bounds as well (R03), which may take longer than the estimate.
    time_limit
        Seconds; what is not computed by then is left out, except the estimate itself.
    engine
        Program that merges equal rows of a file (see :func:`tacit.engine`).

    Examples
    --------
    >>> import tacit
    >>> people = tacit.read_table({"sex": ["F", "F", "M"], "ill": ["yes", "yes", "no"]}, qi="sex", sa="ill")
    >>> rules = tacit.mine_rules(people, min_support=2, min_confidence=1)
    >>> found = tacit.posterior_of(rules, who={"sex": "F"}, known=people.qi)
    >>> found.values, found.posterior, found.steps[0].said.says
    (('no', 'yes'), (0.0, 1.0), 'line 2: of 2 people with sex=F, 2 have ill yes')
    >>> table = tacit.tabulate(people, by="ill")
    >>> tacit.posterior_of([rules, table], who={"sex": "M"}, known=people.qi).posterior
    (1.0, 0.0)
    """
    limits = Limits.within(time_limit)
    check_withheld(withheld)
    case = replace(_case_of(release, sa, Given(data=data, known=known, knowledge=knowledge), engine), withheld=withheld)
    described = read_who(who) if isinstance(who, str) else dict(who)
    combinations = _fitting(case, described)
    found = estimate(case, case.missing, check=lambda: limits.check("R02"))
    if not found.solution.converged:
        raise LimitReached("the estimate did not converge; no number is given", where="R02", remedy="See tacit audit")
    posterior = found.posterior()
    person = Person(case, found, combinations)
    steps, taken = build_up(person, top=top, check=lambda: limits.check("R02"))
    influences = person.influences(top=top, also=taken, check=lambda: limits.check("R02"))
    proved = bounds_of(person, check=lambda: limits.check("R03")) if bounds else None
    rows = posterior[combinations]
    return PersonEstimate(
        who=described,
        people=int(person.people.sum()),
        combinations=len(combinations),
        sensitive=case.sensitive,
        values=case.values,
        baseline=tuple(baseline_of(case, posterior).tolist()),
        baseline_is_published=bool(case.sa_counts),
        posterior=tuple(person.mean(posterior).tolist()),
        least=tuple(rows.min(axis=0).tolist()),
        most=tuple(rows.max(axis=0).tolist()),
        lower=None if proved is None else proved.lower,
        upper=None if proved is None else proved.upper,
        proof=() if proved is None else proved.proof,
        steps=steps,
        influences=influences,
        statements=len(person.statements),
        withheld=withheld,
    )


def members_of(
    release: Release | str | Path | Any, *, who: Mapping[str, str] | str, knowledge: Any = None, top: int = 5
) -> tuple[Member, ...]:
    """Return what a bucketized release reveals about people who fit a description.

    ``who`` and ``knowledge`` are as for :func:`posterior_of` and :func:`tacit.audit`; at most ``top`` different people are described, those
    with the fewest possible values first.

    Examples
    --------
    >>> import tacit
    >>> people = {"sex": ["F", "M", "M"], "group": [1, 1, 1]}
    >>> ill = {"group": [1, 1, 1], "ill": ["flu", "cold", "mumps"]}
    >>> found = tacit.members_of(tacit.read_buckets(qit=people, st=ill), who="sex=F", knowledge=[({"sex": "M"}, "mumps")])
    >>> found[0].statement
    'The one person with sex=F in group 1: ill mumps 1.000, cold 0.000, flu 0.000.'
    """
    target = read_release(release)
    case = kind_of(target).own_case(target, Given(knowledge=knowledge))
    if not isinstance(case, BucketCase):
        raise OptionError(f"needs a bucketized release, not {target.kind}", where="members_of", remedy="Give a QIT and an ST")
    described = read_who(who) if isinstance(who, str) else dict(who)
    for column in described:
        _check_column(column, case.buckets.people.names, case.buckets.sensitive)
    rows = find_members(case, described)
    if len(rows) == 0:
        raise OptionError("nobody has all these values together", where="--who", remedy="Leave some of them out, or check them")
    return describe_members(case, rows, top=top)


def _case_of(release: Any, sa: str | None, given: Given, engine: Engine | str | None) -> PeopleCase:
    is_alone = not isinstance(release, (list, tuple))
    releases: Sequence[Release] = [read_release(one) for one in ([release] if is_alone else release)]
    given = replace(given, data=merge_data(releases, given.data, engine), known=merge_known(releases, given.known, engine))
    given = replace(given, people=owners_people(first_with_roles(releases, given.data), given.data))
    columns = by_sensitive_column(releases)
    if columns:
        if sa not in columns:
            remedy = f"Name one of them with sa: {', '.join(columns)}"
            raise OptionError("the rules are about several sensitive columns", where="--who", remedy=remedy)
        given = given_by_column(releases, given, list(columns))[list(columns).index(sa)]
        releases = columns[sa]
    elif sa is not None and sa not in [one.column for one in releases[0].header.sensitive]:
        remedy = "Leave it out, or name the sensitive column of the rules"
        raise OptionError("is another sensitive column than that of the release", where="sa", remedy=remedy)
    if not is_alone:
        several = several_case(
            releases, known=given.known, people=given.table, knowledge=given.knowledge, column=(sa or "") if columns else ""
        )
        if several is None or not several.speaking:
            remedy = "Give everybody's quasi-identifiers with --known, and releases that name the sensitive column and its values"
            raise OptionError("the releases say nothing about sensitive values of known people", where="--who", remedy=remedy)
        return several
    target = releases[0]
    case: PeopleCase | None = case_alone(target, replace(given, people=None))
    if case is None:
        case = rule_case(target, given)
    if case is not None:
        return case
    if target.kind == "itemsets":
        remedy = "Ask about a pattern with --pattern, or give rules"
        raise OptionError("itemsets say nothing about a sensitive column", where="--who", remedy=remedy)
    if target.kind == "buckets":
        remedy = "Ask tacit.members_of instead"
        raise OptionError("is for rules, and this release is bucketized", where="posterior_of", remedy=remedy)
    raise OptionError(why_not(Target(target, Policy())), where="--who", remedy="See tacit explain --help")


def _fitting(case: PeopleCase, described: Mapping[str, str]) -> Codes:
    for column, value in described.items():
        _check_column(column, case.population.names, case.sensitive)
        if not case.population.knows(column, value):
            # Values of the data are not named; those that the release names are public.
            published = [text for name, text in case.pairs if name == column]
            remedy = nearest_name(value, published, f"published values of {column}")
            raise OptionError(f"nobody has the value {value!r} in column {column!r}", where="--who", remedy=remedy)
    combinations = case.population.holding(described.items())
    if len(combinations) == 0:
        raise OptionError("nobody has all these values together", where="--who", remedy="Leave some of them out")
    return combinations


def _check_column(column: str, names: tuple[str, ...], sensitive: str) -> None:
    if column == sensitive:
        remedy = f"Describe a person by: {', '.join(names)}"
        raise OptionError(f"column {column!r} is what is guessed", where="--who", remedy=remedy)
    if column not in names:
        raise OptionError(f"there is no column {column!r}", where="--who", remedy=nearest_name(column, names, "columns"))
