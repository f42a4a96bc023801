"""The verb ``audit``: attack one or several releases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.files.engines import Engine, as_engine
from tacit.files.inputs import people_of
from tacit.files.releases import gather_releases, inputs_of
from tacit.files.tables import columns_of
from tacit.model.audit import ALGORITHMS, Algorithm, Asked, Audit, Progress, Target, described, silent
from tacit.model.errors import OptionError, nearest_name
from tacit.model.knowledge import Withheld, check_withheld
from tacit.model.ordered import ordered_values
from tacit.model.partial import each_by_one
from tacit.model.people import Gathered, People, Same
from tacit.model.policy import Limits, Policy, policy_of
from tacit.model.release import Release
from tacit.model.table import Names, Table, Transactions, require_column
from tacit.verbs.attacks import Cases, chosen_codes, run_attacks
from tacit.verbs.data import merge_data, merge_known, owners_people, rows_of
from tacit.verbs.kinds import Given, kind_of
from tacit.verbs.merging import worst_measures

if TYPE_CHECKING:
    from tacit.joint.lower import JointCase
    from tacit.known.case import PeopleCase
    from tacit.model.estimates import Posterior


def audit(
    release: Release | str | Path | Any,
    *,
    data: Transactions | Table | str | Path | Any = None,
    known: Table | str | Path | Any = None,
    knowledge: Any = None,
    withheld: Withheld = "at-threshold",
    rows: Any = None,
    n: int | None = None,
    qi: Names = (),
    sa: Names = (),
    sa_order: Names = (),
    convention: str | None = None,
    people: People | None = None,
    ignore: Names = (),
    k: int | None = None,
    l: int | None = None,  # noqa: E741 - the letter is the field's own name for it
    max_posterior: float | None = None,
    policy: Policy | Mapping[str, Any] | None = None,
    attacks: Iterable[str] | None = None,
    algorithm: Algorithm = "projection",
    first_hit: bool = False,
    findings_to: str | Path | None = None,
    rebuild: bool = False,
    time_limit: float | None = None,
    progress: Progress = silent,
    engine: Engine | str | None = None,
) -> Audit:
    """Attack a release and report what it reveals.

    Parameters
    ----------
    release
        A mined or read release, or anything :func:`read_release` takes: a file, a frame, the counts of ``value_counts()``, ``groupby().size()``
        or ``pandas.crosstab()``, a fitted tree or forest; a list of them, or a folder of files, to be attacked together. Inside a list, a list
        or a folder holds releases about the same people: ``[[a, b], [c, d]]`` is about two populations.
    data
        The owner's data. Findings are the same without it; some are found only with it when ``2**|M|`` sums would take too long.
    known
        Everybody's quasi-identifiers, as an adversary may have them from elsewhere: for rules, itemsets and frequency tables, and for several
        releases about the same people, which are then attacked as one. With ``data`` they are taken from there, and estimates are compared
        with the truth.
    knowledge
        What else an adversary knows about known people, or about those that a bucketized release lists: a file of facts or negative rules, a
        list of ``({column: value}, excluded value)``, mined negative rules, or a list of all these.
    withheld
        For rules about known people: where the attacker of R02 expects numbers that are withheld. ``"at-threshold"`` expects nothing, so that
        estimates lie on thresholds; ``"spread"`` expects confidences above theirs, on average by a part 1/m of the way to 1, m being
        the number of sensitive values.
    rows
        For a table: the rows whose sensitive cells are to be protected, as numbers, a file of them, or a condition such as ``"age<30"``. With
        ``data``, the table before cells were hidden, only their true values count.
    n
        The number of people, where neither the release nor the data say it.
    qi, sa
        The quasi-identifying columns and the sensitive ones, if the release does not name them; ``sa="none"`` says that none is sensitive.
    sa_order
        The sensitive values from the lowest to the highest, for t-closeness with the ordered distance. Numbers need none.
    convention
        For frequency tables: the publisher's convention, such as ``"opensafely"``, if the header does not name it.
    people
        For several releases: how their populations are related (``Same()``, ``Nested()``, ``Churn()``, ``Changed()``, ``Unknown()``); needed
        if n differs.
    ignore
        Files of a folder, and columns of a file, that say nothing about people. Whatever else is not read makes the audit incomplete.
    k, l, max_posterior
        Limits of the policy, in front of what ``policy`` says.
    policy
        What the publisher accepts, also as a dict of limits; the default is a smallest group of ten.
    attacks
        The codes of the attacks to run; all that apply by default.
    algorithm
        Search algorithm of I01: ``"projection"``, or a paper's own detector as a reference, ``"naive"``, ``"oicd"`` or ``"pmicd"`` (slower, the
        same findings; exact lists of all or of closed itemsets only).
    first_hit
        Stop at the first finding: enough for a yes or no.
    findings_to
        A file (``.parquet``, ``.csv``, ``.csv.gz``) that receives every finding as it is found. Millions then need no memory: the audit keeps
        only the worst, and counts them all.
    rebuild
        Also prove how many people have a certain value in every column (``audit.rebuilt``): for lists, rules, trees, forests and tables of
        counts, of one release or of several about the same people.
    time_limit
        Seconds after which an attack stops and says so.
    progress
        Called with the share of the work done, from 0 to 1.
    engine
        Program that merges equal rows of files given as ``data`` or ``known`` (see :func:`tacit.engine`).

    Examples
    --------
    >>> import tacit
    >>> baskets = tacit.read_transactions([["a", "b"]] * 49 + [["a"]] + [["c"]] * 20)
    >>> found = tacit.audit(tacit.mine_itemsets(baskets, min_support=40))
    >>> found.verdict, found.findings[0].statement
    ('exposed', '1 person has a but not b.')
    """
    codes = None if attacks is None else tuple(attacks)
    limits = Limits.within(time_limit)
    chosen = policy_of(policy, k=k, l=l, max_posterior=max_posterior)
    gathered = gather_for(release, data=data, known=known, n=n, qi=qi, sa=sa, convention=convention, ignore=ignore, engine=engine)
    if people is None:
        people = gathered.people
    data = merge_data(gathered.releases, data, engine)
    known = merge_known(gathered.releases, known, engine)
    besides = {"data": data, "known": known, "knowledge": knowledge, "rows": rows}
    _check_roles(gathered.releases)
    _check_withheld(withheld, gathered.releases, is_known=known is not None or data is not None)
    order = ordered_values(sa_order) if sa_order else ()
    if order and not any(kind_of(one).lists_people for one in gathered.releases) and known is None and data is None:
        remedy = "Give everybody's quasi-identifiers with --known, or remove the option"
        raise OptionError("applies where sensitive values are estimated or grouped", where="--sa-order", remedy=remedy)
    target = Target(gathered.releases[0], chosen, limits, progress=progress, algorithm=algorithm, first_hit=first_hit)
    if rebuild:
        _check_rebuild(gathered.releases, people, codes)
        target = replace(target, rebuild=True)
    if len(gathered.releases) > 1:
        from tacit.verbs.audit_several import audit_several, joint_case

        gathered = replace(gathered, releases=each_by_one(gathered.releases))
        case = joint_case(gathered, people, rows=rows, findings=findings_to)
        given = Given(data=data, known=known, knowledge=knowledge, withheld=withheld, sa_order=order)
        found = audit_several(case, target, codes, given, audit_one)
    elif people is not None:
        raise OptionError("applies to several releases; there is only one", where="--people", remedy="Remove the option")
    else:
        found = audit_one(target, Given(**besides, withheld=withheld, sa_order=order), codes, findings_to=findings_to)
    return replace(
        found,
        not_read=gathered.not_read,
        ignored=gathered.ignored,
        inputs=inputs_of(**besides),
        options={
            "given": [name for name, value in besides.items() if value is not None],
            "people": None if people is None else people.to_text(),
            "attacks": None if codes is None else list(codes),
            "algorithm": algorithm,
            "first_hit": first_hit,
            **({"sa_order": list(order)} if order else {}),
            **({"rebuild": True} if rebuild else {}),
        },
        asked=Asked(
            gathered.releases, gathered.population, {**besides, "withheld": withheld, "people": people, "sa_order": order}
        ),
    )


def whole_of(found: Audit) -> Audit | None:
    """Return an audit with ``first_hit`` as one without, None if that would find more."""
    if any(run.findings or run.status == "stopped" or (run.undecided and run.code == "I02") for run in found.runs):
        return None  # I02 decides more where it does not look for the first finding
    return replace(found, options={**found.options, "first_hit": False})


def gather_for(
    release: Any, *, data: Any = None, known: Any = None, engine: Engine | str | None = None, **options: Any
) -> Gathered:
    """Read releases; the given people name the columns, and say how many people there are."""
    return gather_releases(
        release,
        columns=() if data is known is None else columns_of(data) or columns_of(known),
        people=None if data is known is None else lambda: people_of(known if data is None else data, engine=as_engine(engine)).n,
        **options,
    )


def _check_withheld(name: Withheld, releases: Sequence[Release], *, is_known: bool) -> None:
    if name == "at-threshold":
        return
    check_withheld(name)
    if not any(release.kind == "rules" for release in releases):
        raise OptionError("applies to rules; this release has none", where="--withheld", remedy="Remove the option")
    if not is_known:
        remedy = "Give them with --known, or the data with --data"
        raise OptionError("needs everybody's quasi-identifiers", where="--withheld", remedy=remedy)


def _check_rebuild(releases: Sequence[Release], people: People | None, codes: tuple[str, ...] | None) -> None:
    if codes is not None and "X01" not in codes:
        raise OptionError("is part of the attack X01, which does not run here", where="--rebuild", remedy="Add --attack X01")
    if any(not kind_of(release).has_lines for release in releases):
        remedy = "Remove the option; it is for lists, rules, trees and tables of counts"
        raise OptionError("applies to releases of counts", where="--rebuild", remedy=remedy)
    if people is not None and not isinstance(people, Same):
        raise OptionError("applies to releases about the same people", where="--rebuild", remedy="Remove the option")


def _check_roles(releases: Sequence[Release]) -> None:
    if any(kind_of(release).checks_roles for release in releases):
        return  # other kinds of releases check their own roles, or may have the columns
    columns = list(dict.fromkeys(column for release in releases for column in kind_of(release).columns(release)))
    headers = [release.header for release in releases]
    for where, roles in (("--qi", [header.qi for header in headers]), ("--sa", [header.sa for header in headers])):
        for name in dict.fromkeys(name for names in roles for name in names):
            require_column(name, columns, where=where)


def audit_one(
    target: Target, given: Given, codes: tuple[str, ...] | None, *, findings_to: str | Path | None = None, alone: bool = True
) -> Audit:
    """Audit one release by the attacks with these codes.

    If it is ``alone``, X01 attacks all its lines as well.
    """
    release = target.release
    kind = kind_of(release)
    kind.check_listing(release)
    rows = None
    if given.data is not None:
        given = replace(given, people=owners_people(release, given.data))
        rows = rows_of(given.people)
    columns = release.by_column()
    known: tuple[PeopleCase | None, ...] = ()
    if not given.is_plausible and (given.known is not None or given.knowledge is not None or given.table is not None):
        from tacit.verbs.known import cases_of_one

        known = cases_of_one(release, given, target.index)
    own = _own_case(release, given)
    chosen = chosen_codes(codes)
    _check_algorithm(target.algorithm, release, chosen)

    @cache
    def joint() -> JointCase:
        from tacit.joint.lower import JointCase

        case = JointCase.of((release,), Same(), data=rows)
        if len(known) != 1:
            return case
        from tacit.known.releases import SeveralCase

        return replace(case, known=known[0] if isinstance(known[0], SeveralCase) else None)

    is_joint = alone and kind.has_lines
    target = replace(target, data=rows, named=frozenset() if codes is None else chosen)
    cases = Cases(
        own=own,
        known=known,
        columns=columns,
        joint=joint if is_joint else None,
        asks_groups=joint if kind.asks_groups(release, alone=True) else None,
    )
    findings_file: Any = nullcontext()
    if findings_to is not None:
        from tacit.files.findings import FindingsFile

        findings_file = FindingsFile(findings_to)
    with findings_file as stream:
        runs = run_attacks(replace(target, stream=stream), cases, chosen)
    adversary = kind.adversary(release, own)
    if is_joint:
        adversary = {"people": Same().to_text()} | adversary
    measures = kind.measures(release, runs, given.sa_order)
    posteriors: tuple[Posterior, ...] = ()
    if known:
        from tacit.verbs.known import adversary_of, posteriors_of

        adversary |= adversary_of(known)
        posteriors = posteriors_of(known, runs)
    tables = kind.tables(own, runs, posteriors)
    by_column: dict[str, dict[str, Any]] = {}
    found = Audit(
        (described(release),),
        adversary,
        target.policy,
        runs,
        measures=measures,
        tables=tables,
        posteriors=posteriors,
        by_column=by_column,
    )
    if given.table is not None:
        measures.update(kind.owner_measures(own, given.table, given.sa_order, lambda: target.limits.check("audit")))
    if known:
        from tacit.verbs.known import measures_by_column

        each = measures_by_column(known, found, given.people, given.sa_order)
        measures.update(worst_measures(list(each.values())))
        by_column.update(each if len(known) > 1 else {})
    return found


def _own_case(release: Release, given: Given) -> object:
    """Return the case for this kind's attacks."""
    kind = kind_of(release)
    if given.rows is not None and not kind.takes_rows:
        raise OptionError("names rows of a table; the release is not a table", where="--rows", remedy="Remove the option")
    return kind.own_case(release, given)


def _check_algorithm(name: str, release: Release, chosen: frozenset[str]) -> None:
    if name not in ALGORITHMS:
        remedy = nearest_name(name, ALGORITHMS, "algorithms")
        raise OptionError(f"there is no algorithm {name!r}", where="--algorithm", remedy=remedy)
    if name != "projection" and ("I01" not in chosen or release.kind != "itemsets"):
        raise OptionError("is for I01, which does not run here", where="--algorithm", remedy="Remove the option")
