"""What an audit is given, and what it says about itself: the parts of :func:`tacit.api.audit`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tacit.attacks import ATTACKS
from tacit.attacks.base import ALGORITHMS
from tacit.attacks.buckets.case import BucketCase, posterior_table
from tacit.attacks.sensitive.case import PeopleCase, RuleCase
from tacit.attacks.sensitive.values import baseline_of
from tacit.attacks.tables.case import TableCase
from tacit.errors import OptionError, nearest_name
from tacit.formats.knowledge import read_knowledge
from tacit.formats.marks import Marks
from tacit.formats.partial import read_partial
from tacit.formats.rows import read_rows
from tacit.formats.tables import read_table
from tacit.formats.transactions import read_data, read_transactions
from tacit.model.audit import AttackRun, Columns
from tacit.model.buckets import Buckets
from tacit.model.frequencies import FrequencyTable
from tacit.model.partial import PartialTable
from tacit.model.population import Population
from tacit.model.posterior import Posterior
from tacit.model.release import Header, Itemsets, Listed, Release, Rules
from tacit.model.schema import require_column
from tacit.model.table import Table
from tacit.model.transactions import Transactions

#: The attacks on known people, which take all releases together.
TOGETHER = ("R02", "R03")


def people_of(data: Any) -> Table | Transactions:
    """Data as they are, or read from whatever holds them."""
    if isinstance(data, (Table, Transactions)):
        return data
    if isinstance(data, (str, os.PathLike)):
        return read_data(data)
    return read_transactions(data) if isinstance(data, (list, tuple)) else read_table(data)


def owners_people(release: Release, data: Any) -> Table | Transactions | None:
    """The owner's data, read with the roles of the release where they lie in a file."""
    if data is None or isinstance(release, PartialTable):
        return None  # a table is compared with its original cell by cell: table_case reads that
    people = read_data(data, **roles_of(reading_header(release))) if isinstance(data, (str, os.PathLike)) else people_of(data)
    if isinstance(release, (Itemsets, Rules)) and release.n is not None and people.n != release.n:
        what = f"holds {people.n:,} people, and the release is about {release.n:,}"
        raise OptionError(what, where="--data", remedy="Give the data that the release was made from, or correct n")
    return people


def reading_header(release: Release) -> Header:
    """The header that says how to read the data of a release: of a frequency table, all its columns are in use."""
    header = release.header
    if not isinstance(release, FrequencyTable):
        return header
    sa = tuple(name for name in header.sa if name in release.columns)
    return replace(header, qi=tuple(name for name in release.columns if name not in sa), sa=sa)


def rows_of(people: Table | Transactions | None) -> Transactions | None:
    """People as transactions over items."""
    return people.transactions() if isinstance(people, Table) else people


def rule_case(release: Release, known: Any, people: Table | Transactions | None, knowledge: Any = None) -> RuleCase | None:
    """Rules beside everybody's quasi-identifiers, from what is known or from the owner's data; None where one of them is not there."""
    if known is not None and not isinstance(release, Rules):
        what = "helps to attack rules, and values of a sensitive column; this release says neither"
        raise OptionError(what, where="--known", remedy="Leave it out")
    if knowledge is not None and isinstance(release, Itemsets | PartialTable | FrequencyTable):
        what = "helps to attack rules, bucketized releases, and others about people who are known"
        raise OptionError(what, where="--knowledge", remedy="Leave it out, or give their quasi-identifiers with --known")
    case = _rule_case(release, known, people)
    if knowledge is None or isinstance(release, Buckets):
        return case
    if case is None:
        remedy = "Give their quasi-identifiers with --known, or the data with --data"
        raise OptionError("is about people, and who they are is not known", where="--knowledge", remedy=remedy)
    return replace(case, facts=read_knowledge(knowledge))


def bucket_case(release: Release, people: Table | Transactions | None, knowledge: Any) -> BucketCase | None:
    """A bucketized release beside what is known about its people; None of another kind of release."""
    if not isinstance(release, Buckets):
        return None
    if people is not None and not (isinstance(people, Table) and people.schema.sa):
        remedy = "Give the table that the release was made from, with its sensitive column"
        raise OptionError("has no sensitive column, which the release is compared in", where="--data", remedy=remedy)
    return BucketCase(release, read_knowledge(knowledge))


def table_case(release: Release, data: Any, rows: Any) -> TableCase | None:
    """A table with blanks beside its original and the rows to protect, where they are given; None of another kind of release."""
    if not isinstance(release, PartialTable):
        if rows is not None:
            raise OptionError("names rows of a table, and the release is none", where="--rows", remedy="Leave it out")
        return None
    original = None
    if data is not None:
        place = None if isinstance(data, (str, os.PathLike)) else "--data"
        head = release.header
        rule: Any = (head.missing_rule if head.missing is not None else None) or "category"
        original = read_partial(data, qi=head.qi, sa=head.sa, missing=head.missing, missing_rule=rule, where=place)
    known, cells = original or release, None
    if isinstance(rows, Marks):
        cells = rows.sensitive[:, [known.people.names.index(name) for name in release.header.sa]]
        rows = rows.rows
    return TableCase(release, None if rows is None else read_rows(rows, known.people), original, cells)


def repairable(release: Release) -> Listed:
    """The release, unless it is of a kind that is made anew instead of repaired."""
    if isinstance(release, Buckets):
        remedy = "Group the people anew: tacit bucketize DATA --knowledge FILE"
        raise OptionError("a bucketized release is not repaired", where="the release", remedy=remedy)
    if isinstance(release, PartialTable):
        remedy = "Hide cells of the data: tacit hide DATA --rows FILE"
        raise OptionError("a table is not repaired", where="the release", remedy=remedy)
    if isinstance(release, FrequencyTable):
        remedy = "Make it anew: tacit tabulate DATA with a larger --hide-below, with --round, or with fewer columns"
        raise OptionError("a frequency table is not repaired", where="the release", remedy=remedy)
    # The result is written without the columns that were not read.
    return replace(release, header=replace(release.header, unread=())) if release.header.unread else release


def has_own_case(release: Rules) -> bool:
    """Whether all rules lead from other columns to one value of the sensitive column, all of whose values are listed."""
    header, pairs = release.header, release.items.pairs
    if pairs is None or not header.sa or not header.sa_values or header.coarser:
        return False
    column = " & ".join(header.sa)
    if not bool((release.consequents.lengths == 1).all()):
        return False
    then = {pairs[item][0] for item in np.unique(release.consequents.members).tolist()}
    having = {pairs[item][0] for item in np.unique(release.antecedents.members).tolist()}
    return then <= {column} and column not in having


def _rule_case(release: Release, known: Any, people: Table | Transactions | None) -> RuleCase | None:
    if not isinstance(release, Rules) or not has_own_case(release):
        return None
    header = release.header
    if isinstance(known, (str, os.PathLike)):
        known = read_table(known, **{name: value for name, value in roles_of(header).items() if name != "sa"})
    elif known is not None and not isinstance(known, Table):
        known = read_table(known)
    table = known if known is not None else people
    if not isinstance(table, Table):
        return None
    columns = header.qi or table.schema.qi
    missing = [name for name in columns if name not in table.names]
    if missing:
        where = "--known" if known is not None else "--data"
        remedy = f"Its columns are: {', '.join(table.names)}"
        raise OptionError(f"has no column {', '.join(missing)}, which the rules are about", where=where, remedy=remedy)
    return RuleCase(release, Population.of(table.select(columns)))


def posterior_of(case: PeopleCase | None, runs: Iterable[AttackRun]) -> Posterior | None:
    """What R02 estimates and R03 bounds, for every combination and sensitive value; None where neither looked."""
    if case is None or not any(run.details for run in runs if run.code in TOGETHER):
        return None
    shape = (len(case.population), len(case.values))
    found: dict[str, Any] = {name: np.full(shape, np.nan) for name in ("posterior", "lower", "upper")}
    for run in runs:
        if run.code in TOGETHER:
            found |= {name: values for name, values in run.details.items() if name in found}
    baseline = baseline_of(case, found["posterior"])
    published = bool(case.sa_counts)
    share, lower, upper = found["posterior"], found["lower"], found["upper"]
    return Posterior(case.population, case.sensitive, case.values, share, lower, upper, baseline, published)


def tables_of(
    posterior: Posterior | None, buckets: BucketCase | None, runs: Iterable[AttackRun]
) -> Mapping[str, Callable[[], Columns]]:
    """The tables that an audit offers besides its findings."""
    if buckets is not None:
        found = [run.details["posterior"] for run in runs if "posterior" in run.details and run.code not in TOGETHER]
        return {"posterior": partial(posterior_table, buckets, found[0])} if found else {}
    return {} if posterior is None else {"posterior": posterior.table}


def asked_for(codes: Iterable[str] | None) -> frozenset[str]:
    """The codes of the attacks to run."""
    known = [attack.code for attack in ATTACKS]
    for code in (wanted := known if codes is None else list(codes)):
        if code not in known:
            raise OptionError(f"there is no attack {code!r}", where="--attack", remedy=nearest_name(code, known, "attacks"))
    return frozenset(wanted)


def check_algorithm(name: str, release: Release, wanted: frozenset[str]) -> None:
    """Raise when there is no such algorithm, or when it would not be used."""
    if name not in ALGORITHMS:
        raise OptionError(
            f"there is no algorithm {name!r}", where="--algorithm", remedy=nearest_name(name, ALGORITHMS, "algorithms")
        )
    if name != "projection" and ("I01" not in wanted or release.kind != "itemsets"):
        raise OptionError("says how I01 searches, which does not run here", where="--algorithm", remedy="Leave it out")


def roles_of(header: Header) -> dict[str, Any]:
    """Roles and missing-value rule as the release's header gives them."""
    roles: dict[str, Any] = {"qi": header.qi, "sa": header.sa, "missing": header.missing}
    return roles | ({"missing_rule": header.missing_rule} if header.missing_rule else {})


def check_roles(releases: Sequence[Release]) -> None:
    """Refuse a role of a column that no release has; of several frequency tables, some may lack it."""
    tables = [release for release in releases if isinstance(release, FrequencyTable)]
    if len(tables) < len(releases):
        return  # other kinds of releases check their own roles, or may have the columns
    known = list(dict.fromkeys(column for table in tables for column in table.columns))
    for where, named in (("--qi", [table.header.qi for table in tables]), ("--sa", [table.header.sa for table in tables])):
        for name in dict.fromkeys(name for names in named for name in names):
            require_column(name, known, where=where)


def adversary(release: Release, case: RuleCase | BucketCase | TableCase | None) -> dict[str, Any]:
    """What the adversary is taken to know besides the release."""
    header = release.header
    if isinstance(case, TableCase):
        named = None if case.rows is None else len(case.rows)
        return {"knows_n": True, "rows_named": named, "true_values_given": any(one.true is not None for one in case.attributes)}
    if isinstance(release, FrequencyTable):
        knows = {"knows_n": header.n is not None, "knows_all_values": header.complete}
        return knows | ({} if release.printing.base is None else {"rounding": release.printing.rounding})
    out: dict[str, Any] = (
        {"knows_n": True, "knows_who_is_in_which_group": True}
        if release.kind == "buckets"
        else {
            "knows_n": header.n is not None,
            "knows_that_the_list_is_complete": header.complete,
            "rounding": header.rounding,
        }
    )
    if header.made_by:
        out["made_by"] = [one.to_dict() for one in header.made_by]
    if release.kind == "rules":
        out["knows_quasi_identifiers"] = case is not None
    if case is not None and case.facts:
        out["background_facts"] = len(case.facts)
        out["knowledge"] = sorted({fact.file for fact in case.facts if fact.file})
    return out
