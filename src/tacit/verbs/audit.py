"""One release under attack, or several: what each gives away by itself, and what all of them give away together.

What an audit is given, and what it says about itself: the parts of :func:`tacit.verbs.audit.audit`.

Several releases beside everybody's quasi-identifiers: who is known, which column is sensitive, and which values it can have.

Numbers about a release, each with its unit: one row each in the table.

The verbs: the only module that joins the stages.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.buckets.case import BucketCase, posterior_table
from tacit.buckets.diversity import plain_figures
from tacit.buckets.utility import owners_measures
from tacit.errors import InputError, OptionError, nearest_name
from tacit.files.consistency import check_listing
from tacit.files.findings import FindingsFile
from tacit.files.hierarchies import read_hierarchies
from tacit.files.knowledge import read_knowledge
from tacit.files.partial import read_partial
from tacit.files.releases import gather_releases, inputs_of, read_release, read_releases, write_release
from tacit.files.selection import Marks, read_rows
from tacit.files.tables import Names, columns_of, read_table
from tacit.files.transactions import read_data, read_transactions
from tacit.joint.case import JointCase, look_alikes, refuse_other_codes, words_of
from tacit.joint.full_groups import describes_groups
from tacit.known.case import PeopleCase, RuleCase
from tacit.known.measures import compare, posterior_measures
from tacit.known.releases import SeveralCase, name_of, pair_of
from tacit.known.sensitive_values import baseline_of
from tacit.mining import itemsets as itemset_mining
from tacit.mining import rules as rule_mining
from tacit.mining.database import table_rows
from tacit.model.audit import ALGORITHMS, Algorithm, AttackRun, Audit, Columns, Progress, Status, Target, described, silent
from tacit.model.buckets import Buckets
from tacit.model.estimates import Posterior
from tacit.model.finding import Finding
from tacit.model.frequencies import FrequencyTable
from tacit.model.knowledge import Fact
from tacit.model.partial import PartialTable
from tacit.model.people import Changed, Churn, Gathered, Nested, People, Same, Unknown, check_people
from tacit.model.policy import Limits, Policy
from tacit.model.policy import time_limit as within_time
from tacit.model.population import Population
from tacit.model.release import Header, Itemsets, Listed, Only, Release, Rules
from tacit.model.repair import GOALS, Goal, Proposal, Repair, RepairCase, RepairMethod
from tacit.model.rounding import Precision
from tacit.model.sets import Items, Sets
from tacit.model.table import Column, Hierarchy, Table, Transactions, require_column
from tacit.partial.case import TableCase
from tacit.repairs import REPAIRS
from tacit.verbs.attacks import ATTACKS, run_attacks, run_in_time
from tacit.verbs.repair import repair_rules

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


#: Stands for every value of the sensitive column that no release names, where none lists all of them.
OTHER = "(any other value)"


def several_case(
    releases: Sequence[Release], *, known: Any = None, people: Table | None = None, knowledge: Any = None
) -> SeveralCase | None:
    """The releases beside the people whom they are all about, and what is known besides.

    Everybody's quasi-identifiers are ``known``, or stand in the owner's data, or a bucketized release lists them. None where they are not
    known, or where the releases do not say which column is sensitive or which values it has.
    """
    table = table_of(known, releases) if known is not None else people
    sensitive = _sensitive(releases, table)
    values = _values(releases, sensitive)
    is_open = bool(sensitive) and not values
    if is_open:
        named = dict.fromkeys(value for release in releases for value in _named_values(release, sensitive))
        values = (*named, OTHER) if named else ()
    if not sensitive or not values:
        return None
    facts = read_knowledge(knowledge)
    grouped, population = _population(releases, sensitive, table, facts)
    if population is None:
        return None
    return SeveralCase(tuple(releases), population, sensitive, values, facts, grouped, listed=table is None, is_open=is_open)


def case_alone(release: Release, *, known: Any = None, people: Table | None = None, knowledge: Any = None) -> SeveralCase | None:
    """One release beside known people, where only a reading of all that is known helps; None where its own attacks can use everything.

    That is a bucketized release beside facts that do not rule a value out, or itemsets, frequency tables or rules that do not list all values
    beside known people; these stand in ``known``, or in the owner's data.
    """
    if isinstance(release, Buckets):
        facts = read_knowledge(knowledge)
        return several_case([release], knowledge=facts) if any(not fact.excludes for fact in facts) else None
    if known is None and people is None:
        return None
    if not isinstance(release, Itemsets | FrequencyTable | Rules) or (isinstance(release, Rules) and has_own_case(release)):
        return None
    several = several_case([release], known=known, people=people, knowledge=knowledge)
    asks = several is not None and (several.speaking or (known is not None and release.header.sa and not several.unread))
    return several if asks else None


def excluding(several: SeveralCase | None, knowledge: Any) -> Any:
    """Of what is known besides, what attacks on a bucketized release can use: negative rules."""
    return knowledge if several is None else [fact for fact in several.facts if fact.excludes] or None


def case_together(
    case: JointCase, *, known: Any = None, people: Table | None = None, knowledge: Any = None
) -> SeveralCase | None:
    """What the releases of a joint audit say about known people; None where their people are not the same or at most one says anything."""
    if not isinstance(case.people, Same):
        return None
    several = several_case(case.releases, known=known, people=people, knowledge=knowledge)
    return several if several is not None and len(several.speaking) >= (1 if several.facts else 2) else None


def asks_groups(case: JointCase) -> bool:
    """Whether groups are asked about by all releases together: people are the same, and some release is of a kind that is asked about."""
    return isinstance(case.people, Same) and describes_groups(case.releases)


def of_one_release(
    release: Release, several: SeveralCase | None, given: Mapping[str, Any], *, some_rules: bool
) -> dict[str, Any]:
    """What helps to attack one of several releases by itself; of what is known besides, bucketized releases can use negative rules."""
    if several is None:
        fits = isinstance(release, Rules) or not some_rules
        return dict(given) if fits else {"knowledge": given["knowledge"]} if isinstance(release, Buckets) else {}
    facts = [fact for fact in several.facts if fact.excludes and set(fact.allowed) <= set(release.header.qi)]
    return {"knowledge": facts} if isinstance(release, Buckets) and facts else {}


def measures_together(several: SeveralCase, runs: Iterable[AttackRun], found: Audit, people: Any) -> dict[str, Any]:
    """What the attacks on known people measure, with estimates beside the truth where the owner's data are there."""
    out: dict[str, Any] = {name: value for run in runs if run.code in TOGETHER for name, value in run.measures.items()}
    posterior = found.posterior
    if posterior is not None and posterior.is_estimated:
        out |= posterior_measures(posterior, found.policy)
        if isinstance(people, Table) and people.schema.sa and set(several.population.names) <= set(people.names):
            out |= compare(found, people).measures
    return out


def known_of(several: SeveralCase) -> dict[str, Any]:
    """What the adversary is taken to know of people."""
    out: dict[str, Any] = {"knows_quasi_identifiers": True}
    if several.facts:
        out["background_facts"] = len(several.facts)
        out["knowledge"] = sorted({fact.file for fact in several.facts if fact.file})
    return out


def known_people_of(releases: Sequence[Release], data: Any) -> Table | None:
    """The owner's data as a table, read with the roles of the first release that names any; None where they are none."""
    release = next((one for one in releases if one.header.qi or one.header.sa), releases[0])
    people = owners_people(release, data)
    return people if isinstance(people, Table) else None


def table_of(known: Any, releases: Sequence[Release]) -> Table:
    """Everybody's quasi-identifiers as a table, read with the roles of the first release that names any."""
    if isinstance(known, Table):
        return known
    if isinstance(known, (str, os.PathLike)):
        header = next((release.header for release in releases if release.header.qi), releases[0].header)
        return read_table(known, **{name: value for name, value in roles_of(header).items() if name != "sa"})
    return read_table(known)


def _sensitive(releases: Sequence[Release], table: Table | None) -> str:
    """The sensitive column: as a release names it, or the data; else the one column of the releases that is not known of everybody."""
    for release in releases:
        if isinstance(release, Rules) and release.header.sa:
            return " & ".join(release.header.sa)
        if isinstance(release, Buckets):
            return release.sensitive
    for release in releases:
        if isinstance(release, Itemsets | FrequencyTable) and len(release.header.sa) == 1:
            return release.header.sa[0]
    if table is None:
        return ""
    if table.schema.sa:
        return " & ".join(table.schema.sa)
    unknown = {column for release in releases for column in _columns(release)} - set(table.names)
    return unknown.pop() if len(unknown) == 1 else ""


def _values(releases: Sequence[Release], sensitive: str) -> tuple[str, ...]:
    """All values that a release names as possible."""
    found: dict[str, None] = {}
    for release in releases:
        if isinstance(release, Buckets) and release.sensitive == sensitive:
            found |= dict.fromkeys(release.values)
        elif isinstance(release, FrequencyTable) and sensitive in release.columns and release.header.complete:
            found |= dict.fromkeys(release.values[release.columns.index(sensitive)])
        elif isinstance(release, Itemsets | Rules) and " & ".join(release.header.sa) == sensitive:
            found |= dict.fromkeys(release.header.sa_values)
    return tuple(found)


def _named_values(release: Release, sensitive: str) -> tuple[str, ...]:
    """The values of the sensitive column that a list names."""
    if not isinstance(release, Itemsets | Rules) or sensitive not in _columns(release):
        return ()
    pairs = (pair_of(release, item) for item in range(len(release.items)))
    return tuple(sorted(value for column, value in pairs if column == sensitive))


def _columns(release: Release) -> tuple[str, ...]:
    """The columns that a release speaks of, as far as it says so."""
    if isinstance(release, Itemsets | Rules):
        if release.items.pairs is None and not all("=" in name for name in release.items.names):
            return ()
        return tuple(dict.fromkeys(pair_of(release, item)[0] for item in range(len(release.items))))
    if isinstance(release, Buckets):
        return (*release.people.names, release.sensitive)
    return release.columns if isinstance(release, FrequencyTable) else ()


def _population(
    releases: Sequence[Release], sensitive: str, table: Table | None, facts: Iterable[Fact]
) -> tuple[int, Population | None]:
    """The bucketized release whose groups are one more column (-1: none), and everybody's combination."""
    used = dict.fromkeys(column for release in releases for column in (*release.header.qi, *_columns(release)))
    used |= dict.fromkeys(column for fact in facts for column in fact.allowed)
    used.pop(sensitive, None)
    buckets = [(number, release) for number, release in enumerate(releases) if isinstance(release, Buckets)]
    for number, release in buckets:
        printed = (*release.people.names, release.group_name)
        if table is None or not set(used) & set(table.names) - set(printed):
            if table is not None:
                _compare(release, number, table)
            return number, _with_groups(release)
    if table is None:
        return -1, None
    _refuse_missing(releases, table)
    known = dict.fromkeys((*table.schema.qi, *(column for column in used if column in table.names)))
    columns = list(known) or [name for name in table.names if name != sensitive]
    return -1, Population.of(table.select(columns))


def _with_groups(release: Buckets) -> Population:
    """Everybody's quasi-identifiers and group, as the release lists them."""
    texts = [release.names[number] for number in release.group.tolist()]
    groups = Column.from_texts(release.group_name, texts)
    people = release.people
    return Population.of(Table((*people.columns, groups), people.weights))


def _compare(release: Buckets, number: int, table: Table) -> None:
    """Refuse people who are not those that a bucketized release lists."""
    names = [name for name in release.people.names if name in table.names]
    listed, known = Population.of(release.people.select(names)), Population.of(table.select(names))
    places = listed.places_of(table.select(names))
    same = len(listed) == len(known) and not (places < 0).any()
    if not same or (np.bincount(places, table.weights, len(listed)) != listed.people).any():
        remedy = "Give the people that the release was made from, with the same columns and missing-value rule"
        raise InputError("lists other people than those who are known", where=name_of(release, number), remedy=remedy)


def _refuse_missing(releases: Sequence[Release], table: Table) -> None:
    """Refuse known people without a quasi-identifier that rules are about."""
    missing = {name: None for release in releases if isinstance(release, Rules) for name in release.header.qi}
    for name in [name for name in missing if name in table.names]:
        del missing[name]
    if missing:
        remedy = f"Its columns are: {', '.join(table.names)}"
        what = f"has no column {', '.join(missing)}, which the rules are about"
        raise OptionError(what, where="the known people", remedy=remedy)


def measure(release: Release, runs: tuple[AttackRun, ...]) -> Mapping[str, float | None]:
    """The measures of one release that its audit gives."""
    if isinstance(release, PartialTable):
        return {name: value for run in runs for name, value in run.measures.items()}
    out: dict[str, float | None] = {"cells" if release.kind == "frequencies" else release.kind: len(release)}
    if isinstance(release, Buckets):
        out |= plain_figures(release) if release.n else {}
        return out | {name: value for run in runs for name, value in run.measures.items()}
    if len(release) and release.kind != "frequencies":
        out["smallest_count"] = int(release.hi.min())
    sizes = [run.sizes for run in runs if run.claim == "proves" and run.finds_groups]
    if any(run.status in ("ran", "stopped") for run in runs):
        out["groups_of_one"] = sum(one.get(1, 0) for one in sizes)
        if any(sizes):
            out["smallest_group"] = min(min(one) for one in sizes if one)
    for run in runs:
        out.update(run.measures)
    return out


def cost_of(before: Release, after: Release) -> Mapping[str, float]:
    """What a repair of itemsets cost: what was lost, what was added, how far counts moved (middles of intervals)."""
    if not isinstance(before, Itemsets) or not isinstance(after, Itemsets):
        return {}
    names = {name: i for i, name in enumerate(dict.fromkeys(before.items.names + after.items.names))}
    old, new = _keys(before, names), _keys(after, names)
    _, in_old, in_new = np.intersect1d(old, new, assume_unique=True, return_indices=True)
    was = (before.lo[in_old] + before.hi[in_old]) / 2
    moved = np.abs((after.lo[in_new] + after.hi[in_new]) / 2 - was)
    errors = moved[was > 0] / was[was > 0]
    people = {name: n for name, n in (("people_before", before.n), ("people_after", after.n)) if n is not None}
    return {
        "itemsets_lost": len(old) - len(in_old),
        "itemsets_ghost": len(new) - len(in_new),
        "supports_changed": float((moved > 0).mean()) if len(moved) else 0.0,
        "support_error_mean": float(errors.mean()) if len(errors) else 0.0,
        "support_error_max": float(errors.max()) if len(errors) else 0.0,
    } | people


def people_changed(before: Transactions, after: Transactions) -> int:
    """How many people have other items after a repair, or are new, or gone: as few as the two sets of rows allow."""
    names = {name: i for i, name in enumerate(dict.fromkeys(before.items.names + after.items.names))}
    people: dict[int, int] = {}
    for data, sign in ((before, 1), (after, -1)):
        for key, weight in zip(_hashes(data.rows, data.items, names).tolist(), data.weights.tolist(), strict=True):
            people[key] = people.get(key, 0) + sign * weight
    return max(sum(n for n in people.values() if n > 0), -sum(n for n in people.values() if n < 0))


def _keys(release: Itemsets, names: Mapping[str, int]) -> npt.NDArray[np.uint64]:
    return _hashes(release.sets, release.items, names)


def _hashes(sets: Sets, items: Items, names: Mapping[str, int]) -> npt.NDArray[np.uint64]:
    """A number per set that is the same for the same names, whatever their order in ``items``."""
    place = np.array([names[name] for name in items.names], np.int64)
    return Sets(sets.offsets, place[sets.members] if len(sets.members) else sets.members).hashes()


def joint_case(gathered: Gathered, people: People | None, **given: Any) -> JointCase:
    """The releases with what is declared about their people; options that are about one release are refused."""
    for option, value in given.items():
        if value is not None:
            where = "--" + option.replace("_", "-")
            raise OptionError("is about one release, and there are several", where=where, remedy="Leave it out")
    if people is not None and not isinstance(people, (Same, Nested, Churn, Changed, Unknown)):
        remedy = "Give tacit.Same(), tacit.Nested(), tacit.Churn(), tacit.Changed() or tacit.Unknown()"
        raise OptionError("does not say how the people of the releases hang together", where="people", remedy=remedy)
    counts: list[int | None] = [None] * len(gathered.names)
    for release, population in zip(gathered.releases, gathered.population, strict=True):
        counts[population] = release.n if counts[population] is None else counts[population]
    declared = check_people(people, counts)
    case = JointCase.of(gathered.releases, declared, gathered.population, gathered.names)
    if not isinstance(declared, Unknown):
        refuse_other_codes([case.name(number) for number in range(len(case.releases))], [words_of(one) for one in case.releases])
    return case


def audit_one(
    release: Release,
    *,
    policy: Policy,
    limits: Limits,
    attacks: Iterable[str] | None,
    algorithm: Algorithm,
    first_hit: bool,
    progress: Progress,
    data: Any = None,
    known: Any = None,
    knowledge: Any = None,
    rows: Any = None,
    findings_to: str | Path | None = None,
    index: int = 0,
    alone: bool = True,
) -> Audit:
    """Audit one release, number ``index`` among those audited; see :func:`audit` for the options.

    Where it is ``alone``, all its lines are also given to the general adversary, X01.
    """
    check_listing(release)
    people = owners_people(release, data)
    several = case_alone(release, known=known, people=people if isinstance(people, Table) else None, knowledge=knowledge)
    several = None if several is None else replace(several, first=index)
    rules = rule_case(release, known, people, knowledge) if several is None else None
    buckets, table = bucket_case(release, people, excluding(several, knowledge)), table_case(release, data, rows)
    wanted = asked_for(attacks)
    named = frozenset() if attacks is None else wanted
    check_algorithm(algorithm, release, wanted)
    own_rows = rows_of(people)
    lines_alone = alone and not isinstance(release, PartialTable | Buckets)
    case = Target(
        release=release,
        policy=policy,
        limits=limits,
        data=own_rows,
        index=index,
        progress=progress,
        algorithm=algorithm,
        first_hit=first_hit,
        rules=rules,
        buckets=buckets,
        named=named,
        table=table,
        together=JointCase.of((release,), Same(), data=own_rows) if lines_alone else None,
        several=several,
    )
    if findings_to is None:
        runs = run_attacks(case, wanted)
    else:
        with FindingsFile(findings_to) as stream:
            runs = run_attacks(replace(case, stream=stream), wanted)
    measures, posterior = dict(measure(release, runs)), posterior_of(several or rules, runs)
    tables, attacker = tables_of(posterior, buckets, runs), adversary(release, rules or buckets or table)
    attacker |= known_of(several) if several is not None else {}
    if case.together is not None:
        attacker = {"people": case.together.people.to_text()} | attacker
    found = Audit((described(release),), attacker, policy, runs, measures, tables, posterior)
    if buckets is not None and isinstance(people, Table):
        known_to = buckets.known if buckets.facts else None
        measures.update(owners_measures(buckets.buckets, people, known_to, check=lambda: limits.check("audit")))
    if several is not None:
        measures.update(measures_together(several, runs, found, people))
    elif posterior is not None and posterior.is_estimated:
        measures.update(posterior_measures(posterior, policy))
        if isinstance(people, Table) and people.schema.sa:
            measures.update(compare(found, people).measures)
    return found


def audit_together(case: JointCase, *, data: Any = None, known: Any = None, knowledge: Any = None, **how: Any) -> Audit:
    """One audit of all releases: every attack on each of them, then those that need several.

    What is known of people helps to attack all releases together where they are about the same people, and rules by themselves elsewhere.
    """
    some_rules = any(isinstance(release, Rules) for release in case.releases)
    rows = _owners_rows(case, data)
    people = rows if isinstance(rows, Table) else None
    case = replace(case, data=rows_of(rows))
    several = case_together(case, known=known, people=people, knowledge=knowledge)
    case = _with_facts(case, several, knowledge)
    # Where nobody is known, what is known besides helps only to attack all releases together.
    given = {"known": known, "knowledge": None if case.facts and several is None and known is None else knowledge}
    # Attacks that take all releases together where their people are the same: on known people, or on groups of frequency tables.
    taken = TOGETHER if several is not None else ("R03",) if asks_groups(case) else ()
    audits = []
    for number, release in enumerate(case.releases):
        own = of_one_release(release, several, given, some_rules=some_rules)
        audits.append(audit_one(release, index=number, alone=False, **how | {"attacks": _for_each(how["attacks"], taken)}, **own))
    names, wanted, first_hit = [case.name(number) for number in range(len(audits))], asked_for(how["attacks"]), how["first_hit"]
    runs: list[AttackRun] = []
    for place, attack in enumerate(ATTACKS):
        if attack.needs != "lines" and attack.code not in taken:
            runs.append(_merged([audit.runs[place] for audit in audits], names))
        elif attack.code not in wanted:
            runs.append(attack.not_asked(Target(case.releases[0], how["policy"], together=case, several=several)))
        elif first_hit and any(run.findings for run in runs):
            runs.append(AttackRun(attack.code, attack.name, attack.claim, "stopped", "not begun: one finding was enough"))
        else:
            target = Target(
                case.releases[0], how["policy"], how["limits"], progress=how["progress"], together=case, several=several
            )
            runs.append(run_in_time(attack, target))
    released, measures = tuple(entry for audit in audits for entry in audit.release), _measures(audits, runs)
    posterior = posterior_of(several, runs)
    attacker = _adversary(case, audits) | ({} if several is None else known_of(several)) | facts_of(case)
    found = Audit(released, attacker, how["policy"], tuple(runs), measures, tables_of(posterior, None, runs), posterior)
    if several is not None:
        measures.update(measures_together(several, runs, found, people))
    return found


def _with_facts(case: JointCase, several: SeveralCase | None, knowledge: Any) -> JointCase:
    """The case with what is known besides, where all people are the same and a release names the sensitive column."""
    if knowledge is None or not isinstance(case.people, Same):
        return case
    named = (
        release.sensitive if isinstance(release, Buckets) else " & ".join(release.header.sa)
        for release in case.releases
        if isinstance(release, Buckets | Rules | PartialTable)
    )
    sensitive = next(filter(None, named), "")
    facts = several.facts if several is not None else read_knowledge(knowledge)
    return replace(case, facts=tuple(facts), sensitive=sensitive) if sensitive else case


def facts_of(case: JointCase) -> dict[str, Any]:
    """What the record says about what is known besides."""
    if not case.facts:
        return {}
    files = sorted({fact.file for fact in case.facts if fact.file})
    return {"background_facts": len(case.facts), "knowledge": files}


def _owners_rows(case: JointCase, data: Any) -> Table | Transactions | None:
    """The owner's data about the people of all releases, read with the roles of the first that names any."""
    if data is None:
        return None
    if not isinstance(case.people, Same):
        what = "is about one group of people, and the releases are declared to be about several or to have changed"
        raise OptionError(what, where="--data", remedy="Leave it out, or audit each release with its own data")
    found = owners_people(next((one for one in case.releases if one.header.qi or one.header.sa), case.releases[0]), data)
    numbers = {release.n for release in case.releases if release.n is not None}
    if found is not None and numbers and {found.n} != numbers:
        remedy = "Give the data that all releases were made from, or correct n"
        raise OptionError("holds another number of people than the releases are about", where="--data", remedy=remedy)
    return found


def _for_each(codes: Iterable[str] | None, taken: Sequence[str]) -> list[str] | None:
    """The attacks to run on each release by itself: none of those that take all releases together."""
    if not taken:
        return None if codes is None else list(codes)
    return [code for code in asked_for(codes) if code not in taken]


def _adversary(case: JointCase, audits: Sequence[Audit]) -> dict[str, Any]:
    """What the adversary is taken to know: how the people hang together, and what holds for all releases."""
    out: dict[str, Any] = {"people": case.people.to_text()}
    if len(case.names) < len(case.releases):
        out["population"] = list(case.population)
    if not isinstance(case.people, Unknown) and (alike := look_alikes([words_of(release) for release in case.releases])):
        out["taken_as_different"] = [list(pair) for pair in alike]
    first = audits[0].adversary
    for name, value in first.items():
        if all(audit.adversary.get(name) == value for audit in audits):
            out[name] = value
    return out


def _measures(audits: Sequence[Audit], runs: Sequence[AttackRun]) -> dict[str, Any]:
    """Lines and groups counted over all releases; measures of a single release stand in its own audit."""
    out: dict[str, Any] = {}
    for name in ("itemsets", "rules"):
        counts = [audit.measures[name] for audit in audits if name in audit.measures]
        out |= {name: sum(counts)} if counts else {}
    sizes = [run.sizes for run in runs if run.claim == "proves" and run.finds_groups]
    out["groups_of_one"] = sum(one.get(1, 0) for one in sizes)
    if any(sizes):
        out["smallest_group"] = min(min(one) for one in sizes if one)
    return out


def _merged(runs: Sequence[AttackRun], names: Sequence[str]) -> AttackRun:
    """What became of one attack on each release, as one run; its columns say which release a finding is about."""
    ended = [(number, run) for number, run in enumerate(runs) if run.status != "not-relevant"]
    if not ended:
        return runs[0]
    statuses = {run.status for _, run in ended}
    worst: tuple[Status, ...] = ("stopped", "unavailable", "not-asked")
    status: Status = next((one for one in worst if one in statuses), "ran")
    reasons = [f"{names[number]}: {run.reason}" for number, run in ended if run.reason]
    severity = np.concatenate([run.severity for _, run in ended])
    order = np.argsort(severity, kind="stable")
    owner = np.concatenate([np.full(len(run.severity), number, np.int64) for number, run in ended])[order]
    inner = np.concatenate([np.arange(len(run.severity)) for _, run in ended])[order]
    found = [run for _, run in ended if len(run.severity)]
    shared = [name for name in (found[0].columns if found else ()) if all(name in run.columns for run in found)]
    columns = {name: np.concatenate([run.columns[name] for run in found])[order] for name in shared}

    def event(index: int) -> Any:
        of_one = runs[int(owner[index])].event
        assert of_one is not None
        return of_one(int(inner[index]))

    def show(index: int) -> Finding:
        of_one = runs[int(owner[index])].show
        assert of_one is not None
        return of_one(int(inner[index]))

    first = ended[0][1]
    return AttackRun(
        first.code,
        first.name,
        first.claim,
        status,
        "; ".join(reasons),
        people=max(run.people for _, run in ended),
        undecided=sum(run.undecided for _, run in ended),
        columns=columns | {"release": owner},
        severity=severity[order],
        event=event,
        show=show,
        cautions=tuple(replace(one, release=number) for number, run in ended for one in run.cautions),
    )


__all__ = [
    "audit",
    "compare",
    "mine_itemsets",
    "mine_rules",
    "people_of",
    "read_data",
    "read_release",
    "read_releases",
    "read_table",
    "read_transactions",
    "repair",
    "trees_of",
    "with_coarser_items",
    "write_release",
]

#: Hierarchies by column, or a folder of files that hold them.
Trees = Mapping[str, Hierarchy] | str | Path | None


def mine_itemsets(
    data: Transactions | Table | str | Path | Any,
    *,
    min_support: Any,
    only: Only = "all",
    strict: bool = False,
    hierarchies: Trees = None,
    max_itemsets: int | None = None,
    threads: int | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Itemsets:
    """The frequent itemsets of the data with their counts; :func:`tacit.mining.itemsets.mine_itemsets` says what the options mean.

    Data may also be a file, a frame, or a list of lists of items; hierarchies may be a folder of files.

    Examples
    --------
    >>> import tacit
    >>> found = tacit.mine_itemsets([["a", "b"], ["a", "b"], ["a"]], min_support=2, only="closed")
    >>> len(found), found.min_support, found.n
    (2, 2, 3)
    """
    people = people_of(data)
    return itemset_mining.mine_itemsets(
        people,
        min_support=min_support,
        only=only,
        strict=strict,
        hierarchies=trees_of(hierarchies, people),
        max_itemsets=max_itemsets,
        threads=threads,
        time_limit=time_limit,
        progress=progress,
    )


def mine_rules(
    people: Table,
    *,
    min_support: Any,
    min_confidence: Any,
    strict: bool = False,
    withhold_values: bool = False,
    digits: int | None = None,
    with_confidence: bool = False,
    incomplete: bool = False,
    publish_sa_distribution: bool = False,
    hierarchies: Trees = None,
    max_rules: int | None = None,
    threads: int | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Rules:
    """The rules QI => SA of a table; :func:`tacit.mining.rules.mine_rules` says what the options mean. Hierarchies may be a folder of files.

    Examples
    --------
    >>> import tacit
    >>> people = tacit.read_table({"sex": ["F", "F", "M"], "ill": ["yes", "yes", "no"]}, qi="sex", sa="ill")
    >>> next(tacit.mine_rules(people, min_support=2, min_confidence=0.6).records())
    {'antecedent': {'sex': 'F'}, 'consequent': 'yes', 'count': 2, 'support': 0.6666666666666666, 'confidence': 1.0}
    """
    if not isinstance(people, Table):
        remedy = "Read the data with tacit.read_table(.., qi=.., sa=..) first"
        raise OptionError("needs a table whose columns have roles", where="mine_rules", remedy=remedy)
    return rule_mining.mine_rules(
        people,
        min_support=min_support,
        min_confidence=min_confidence,
        strict=strict,
        withhold_values=withhold_values,
        digits=digits,
        with_confidence=with_confidence,
        incomplete=incomplete,
        publish_sa_distribution=publish_sa_distribution,
        hierarchies=trees_of(hierarchies, people),
        max_rules=max_rules,
        threads=threads,
        time_limit=time_limit,
        progress=progress,
    )


def audit(
    release: Release | str | Path | Any,
    *,
    data: Transactions | Table | str | Path | Any = None,
    known: Table | str | Path | Any = None,
    knowledge: Any = None,
    rows: Any = None,
    qi: Names = (),
    sa: Names = (),
    convention: str | None = None,
    people: People | None = None,
    ignore: Names = (),
    policy: Policy | None = None,
    attacks: Iterable[str] | None = None,
    algorithm: Algorithm = "projection",
    first_hit: bool = False,
    findings_to: str | Path | None = None,
    time_limit: float | None = None,
    progress: Progress = silent,
) -> Audit:
    """Attack a release and say what it gives away.

    Parameters
    ----------
    release
        A mined or read release, or anything :func:`read_release` takes; a list of them, or a folder of files, to be attacked together. In a
        list, a list or a folder stands for releases about the same people: ``[[a, b], [c, d]]`` are two groups of people.
    data
        The owner's data. Findings are the same without it; some are found only with it when ``2**|M|`` sums would take too long.
    known
        Everybody's quasi-identifiers, as an adversary may have them from elsewhere: for rules, itemsets and frequency tables, and for several
        releases about the same people, which are then attacked as one. With ``data`` these are taken from there, and estimates are compared
        with the truth.
    knowledge
        What else an adversary knows about people who are known, or whom a bucketized release lists: a file of facts or negative rules, a list of
        ``({column: value}, excluded value)``, mined negative rules, or a list of all these.
    rows
        For a table: the rows whose sensitive cells are to be protected, as numbers, a file of them, or a condition such as ``"age<30"``. With
        ``data``, the table before cells were hidden, only their true values count.
    qi, sa
        The quasi-identifying columns and the sensitive ones, where the release does not name them; ``sa="none"`` says that none is sensitive.
    convention
        For frequency tables: the publisher's convention, such as ``"opensafely"``, where the header does not name it.
    people
        For several releases: how their people hang together (``Same()``, ``Nested()``, ``Churn()``, ``Changed()``, ``Unknown()``); needed
        where n differs.
    ignore
        Files of a folder, and columns of a file, that say nothing about people. Whatever else is not read makes the audit incomplete.
    policy
        What the publisher accepts; the default is a smallest group of ten.
    attacks
        The codes of the attacks to run; all that apply by default.
    algorithm
        How I01 searches: ``"projection"``, or a paper's own detector as a reference, ``"naive"``, ``"oicd"`` or ``"pmicd"`` (slower, the
        same findings; exact lists of all or of closed itemsets only).
    first_hit
        Stop at the first finding: enough for a yes or no.
    findings_to
        A file (``.parquet``, ``.csv``, ``.csv.gz``) that receives every finding while it is found. Millions then need no memory: the audit holds
        the worst only, and counts them all.
    time_limit
        Seconds after which an attack stops and says so.
    progress
        Called with the share of the work done, from 0 to 1.

    Examples
    --------
    >>> import tacit
    >>> baskets = tacit.read_transactions([["a", "b"]] * 49 + [["a"]] + [["c"]] * 20)
    >>> found = tacit.audit(tacit.mine_itemsets(baskets, min_support=40))
    >>> found.verdict, found.findings[0].statement
    ('exposed', '1 person has a but not b.')
    """
    how: dict[str, Any] = {"policy": policy or Policy(), "limits": Limits.within(time_limit)}
    how |= {"attacks": None if attacks is None else list(attacks), "known": known, "knowledge": knowledge}
    how |= {"algorithm": algorithm, "first_hit": first_hit, "progress": progress}
    columns = columns_of(data) or columns_of(known)
    gathered = gather_releases(
        release, qi=qi, sa=sa, convention=convention, ignore=ignore, columns=columns, people=_counter(data)
    )
    check_roles(gathered.releases)
    besides = {"data": data, "known": known, "knowledge": knowledge, "rows": rows}
    told: dict[str, Any] = {"not_read": gathered.not_read, "ignored": gathered.ignored, "inputs": inputs_of(**besides)}
    if len(gathered.releases) > 1:
        found = audit_together(joint_case(gathered, people, rows=rows, findings=findings_to), data=data, **how)
    elif people is not None:
        raise OptionError("is about several releases, and there is one", where="--people", remedy="Leave it out")
    else:
        found = audit_one(gathered.releases[0], data=data, rows=rows, findings_to=findings_to, **how)
    told["options"] = {
        "given": [name for name, value in besides.items() if value is not None],
        "people": None if people is None else people.to_text(),
        "attacks": how["attacks"],
        "algorithm": algorithm,
        "first_hit": first_hit,
    }
    return replace(found, **told)


def _counter(data: Any) -> Callable[[], int] | None:
    """How to count the people of the data, where they are given."""
    if data is None:
        return None
    return lambda: (read_data(data) if isinstance(data, (str, os.PathLike)) else people_of(data)).n


def repair(
    release: Release | str | Path | Any,
    *,
    method: str,
    data: Transactions | Table | str | Path | Any = None,
    knowledge: Any = None,
    policy: Policy | None = None,
    goal: Goal = "all",
    base: int | None = None,
    decimals: int | None = None,
    lines: Iterable[int] | None = None,
    suggest: bool = True,
    time_limit: float | None = None,
    progress: Progress = silent,
) -> Repair:
    """Change a release until no attack succeeds; the audit of the result says whether it worked.

    Parameters are those of :func:`audit`; :data:`REPAIRS` lists the methods. ``goal`` says which attacks must fail: every one that
    applies, or with ``"frequent-only"`` those on published itemsets (I01). ``base`` or ``decimals`` say how the method ``round`` prints counts;
    by default as fine as no attack breaks, and never finer than the policy's ``safe_round_base``. ``lines`` are those of the file that
    ``leave-out`` and ``withdraw`` take out; by default few that all
    proofs rest on. Rules QI => SA are repaired beside their data, others from their own numbers; with ``suggest`` the other methods are tried as
    well, and the result names the cheapest that meets the policy.
    Where the release does not say how many people it is about, the data do, and the result
    says it.
    When ``time_limit`` passes, :class:`LimitReached` is raised.

    Examples
    --------
    >>> import tacit
    >>> baskets = tacit.read_transactions([["a", "b"]] * 49 + [["a"]] + [["c"]] * 20)
    >>> safe = tacit.repair(tacit.mine_itemsets(baskets, min_support=40), method="raise-threshold")
    >>> safe.after.verdict, len(safe.release), safe.cost["itemsets_lost"]
    ('clean', 1, 2)
    """
    start = repairable(read_release(release))
    chosen = _method(method, start, data)
    precision, named = _precision(method, base, decimals), _named_lines(method, lines)
    people = owners_people(start, data)
    _check_goal(goal, knowledge, start)
    policy, limits = policy or Policy(), Limits.within(time_limit)
    if precision is not None and precision.base is not None and precision.base < (policy.safe_round_base or 0):
        remedy = f"Round to {policy.safe_round_base:,} or more, or leave --base out"
        raise OptionError("is smaller than the policy's safe_round_base", where="--base", remedy=remedy)
    if isinstance(start, Rules):
        look_at = partial(_look_at_rules, policy=policy, limits=limits, progress=progress, knowledge=knowledge)
        how: dict[str, Any] = {"precision": precision, "look": look_at, "limits": limits, "suggest": suggest, "lines": named}
        return repair_rules(start, chosen, people, policy, **how)
    rows = rows_of(people)
    if start.n is None and rows is not None:
        # Repairs that change rows print n, so all of them are judged against an attacker who knows it.
        start = replace(start, header=replace(start.header, n=rows.n))
    if chosen.needs_data and rows is not None and _has_coarser_items(rows):
        remedy = "Repair a release of the plain columns, or choose raise-threshold"
        raise OptionError(f"{method} mines again, which it cannot do with hierarchies", where="--method", remedy=remedy)
    attacks = ["I01"] if goal == "frequent-only" else None

    def look(candidate: Release, people: Transactions | None = None, first_hit: bool = False) -> Audit:
        limits.check("repair")  # every repair looks again and again, so this bounds the whole
        how: dict[str, Any] = {"policy": policy, "attacks": attacks, "first_hit": first_hit}
        return audit(candidate, data=people, time_limit=limits.seconds_left, progress=progress, **how)

    before = look(start, rows)
    if before.asked_verdict == "clean" and precision is None and named is None:
        return Repair(method, start, before, before, cost_of(start, start), goal=goal)

    def mine(people: Transactions, only: Only | None = None, least: int | None = None) -> Itemsets:
        kind: Only = only or (start.only if isinstance(start, Itemsets) else "all")
        limits.check("repair")
        mined = mine_itemsets(people, min_support=least or start.min_support or 1, only=kind, time_limit=limits.seconds_left)
        # People who were added or changed may lack the sensitive column: then its values are not all that there is.
        column, values = " & ".join(start.header.sa), start.header.sa_values
        values = values if people.has_one_of([f"{column}={value}" for value in values]) else ()
        return replace(mined, header=replace(start.header, n=people.n, sa_values=values))

    all_sets, first_look = partial(mine, only="all"), partial(look, first_hit=True)
    case = RepairCase(
        start, policy.k, look, mine, all_sets, rows, goal, precision, first_look, lines=named, least_base=policy.least_base
    )
    with within_time(limits.seconds_left):
        proposal = chosen.propose(case)
    made = chosen.signed(proposal.release, start)
    # What was cut or rounded without new data is still true of the old ones, which refute quickly what is not small.
    after = look(made, rows if proposal.data is None else proposal.data)
    cost = _cost(case, proposal, all_sets)
    return Repair(method, made, before, after, cost, remark=proposal.remark, goal=goal)


def _look_at_rules(release: Rules, *, policy: Policy, limits: Limits, progress: Progress, **who: Any) -> Audit:
    """The audit of rules beside whoever is known, within the time that is left."""
    limits.check("repair")
    return audit(release, policy=policy, time_limit=limits.seconds_left, progress=progress, **who)


def _cost(case: RepairCase, proposal: Proposal, mine_all: Callable[..., Itemsets]) -> dict[str, float]:
    """What a repair cost, in itemsets, counts and people."""
    start, result, rows = case.release, proposal.release, case.data
    if isinstance(start, Itemsets) and start.only == "closed" and rows is not None and proposal.data is not None:
        # Closed sets come and go while the frequent ones stay, so costs are counted over all frequent itemsets.
        listed_all = isinstance(result, Itemsets) and result.only == "all"
        start, result = mine_all(rows), result if listed_all else mine_all(proposal.data, least=result.min_support)
    cost = dict(cost_of(start, result))
    if rows is not None and proposal.data is not None:
        cost["people_changed"] = people_changed(rows, proposal.data)
    return cost


def trees_of(given: Trees, people: Table | Transactions) -> dict[str, Hierarchy] | None:
    """Hierarchies as they are, or read from a folder for the columns of the data."""
    if given is None or isinstance(given, Mapping):
        return None if given is None else dict(given)
    return read_hierarchies(given, people.names if isinstance(people, Table) else ())


def with_coarser_items(people: Table | Transactions, trees: dict[str, Hierarchy] | None) -> Table | Transactions:
    """The same people; where there are hierarchies, each row also holds the coarser values that its values belong to."""
    if not trees or not isinstance(people, Table):
        return people
    rows, pairs = table_rows(people, people.names, trees)
    return Transactions(rows.sets, rows.weights, Items.of_columns(pairs), people.source)


def _has_coarser_items(rows: Transactions) -> bool:
    """Whether rows of a table hold coarser values beside their own: more items than there are columns."""
    pairs = rows.items.pairs
    return pairs is not None and len(rows.rows) > 0 and len(rows.rows[0]) > len({column for column, _ in pairs})


def _method(name: str, release: Release, data: Any) -> RepairMethod:
    """The repair of this name, if it fits the release and the data are there."""
    known = {row.name: row for row in REPAIRS}
    if name not in known:
        raise OptionError(f"there is no repair {name!r}", where="--method", remedy=nearest_name(name, known, "repairs"))
    chosen = known[name]
    if release.kind not in chosen.of:
        raise OptionError(
            f"{name} repairs {' and '.join(chosen.of)}, not {release.kind}", where="--method", remedy="See tacit repairs"
        )
    if chosen.needs_data and data is None:
        raise OptionError(f"{name} looks at rows and needs the data", where="--method", remedy="Give them with --data")
    if chosen.needs_data and (not release.header.complete or release.min_support is None):
        remedy = "Mine the release with tacit, or choose raise-threshold"
        raise OptionError(
            f"{name} mines again, and the release names no threshold that it is complete above", where="--method", remedy=remedy
        )
    return chosen


def _check_goal(goal: Goal, knowledge: Any, release: Release) -> None:
    """Raise when there is no such goal, or when it is not one for the release; nor is knowledge for one without rules."""
    if knowledge is not None and not isinstance(release, Rules):
        raise OptionError("helps to attack rules, and the release holds none", where="--knowledge", remedy="Leave it out")
    if goal not in GOALS:
        raise OptionError(f"there is no goal {goal!r}", where="--goal", remedy=nearest_name(goal, GOALS, "goals"))
    if goal != "all" and release.kind == "rules":
        raise OptionError(f"{goal} is a goal for itemsets", where="--goal", remedy="Leave it out")


def _named_lines(method: str, lines: Iterable[int] | None) -> tuple[int, ...] | None:
    """The lines to take out, where somebody names them."""
    if lines is None:
        return None
    if method not in ("leave-out", "withdraw"):
        remedy = "Add --method leave-out (itemsets) or --method withdraw (rules), or leave it out"
        raise OptionError("says which lines are taken out", where="--lines", remedy=remedy)
    return tuple(lines)


def _precision(method: str, base: int | None, decimals: int | None) -> Precision | None:
    """How counts are to be printed, where somebody says it."""
    if base is None and decimals is None:
        return None
    if method != "round":
        where = "--decimals" if base is None else "--base"
        raise OptionError("says how the method round prints counts", where=where, remedy="Add --method round, or leave it out")
    return Precision(base, decimals)
