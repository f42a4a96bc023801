"""The verb ``audit``: attack one or several releases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tacit.errors import OptionError
from tacit.files.releases import gather_releases, inputs_of
from tacit.files.tables import Names, columns_of
from tacit.model.audit import Algorithm, Audit, Progress, silent
from tacit.model.people import People
from tacit.model.policy import Limits, Policy
from tacit.model.release import Release
from tacit.model.table import Table, Transactions, require_column
from tacit.verbs.audit_one import Options, audit_one
from tacit.verbs.kinds import Given, kind_of
from tacit.verbs.known import people_of


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
    """Attack a release and report what it reveals.

    Parameters
    ----------
    release
        A mined or read release, or anything :func:`read_release` takes; a list of them, or a folder of files, to be attacked together. Inside a
        list, a list or a folder holds releases about the same people: ``[[a, b], [c, d]]`` is about two populations.
    data
        The owner's data. Findings are the same without it; some are found only with it when ``2**|M|`` sums would take too long.
    known
        Everybody's quasi-identifiers, as an adversary may have them from elsewhere: for rules, itemsets and frequency tables, and for several
        releases about the same people, which are then attacked as one. With ``data`` they are taken from there, and estimates are compared
        with the truth.
    knowledge
        What else an adversary knows about known people, or about those that a bucketized release lists: a file of facts or negative rules, a
        list of ``({column: value}, excluded value)``, mined negative rules, or a list of all these.
    rows
        For a table: the rows whose sensitive cells are to be protected, as numbers, a file of them, or a condition such as ``"age<30"``. With
        ``data``, the table before cells were hidden, only their true values count.
    qi, sa
        The quasi-identifying columns and the sensitive ones, if the release does not name them; ``sa="none"`` says that none is sensitive.
    convention
        For frequency tables: the publisher's convention, such as ``"opensafely"``, if the header does not name it.
    people
        For several releases: how their populations are related (``Same()``, ``Nested()``, ``Churn()``, ``Changed()``, ``Unknown()``); needed
        if n differs.
    ignore
        Files of a folder, and columns of a file, that say nothing about people. Whatever else is not read makes the audit incomplete.
    policy
        What the publisher accepts; the default is a smallest group of ten.
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
    options = Options(
        policy=policy or Policy(),
        limits=Limits.within(time_limit),
        attacks=None if attacks is None else tuple(attacks),
        algorithm=algorithm,
        first_hit=first_hit,
        progress=progress,
    )
    gathered = gather_releases(
        release,
        qi=qi,
        sa=sa,
        convention=convention,
        ignore=ignore,
        columns=columns_of(data) or columns_of(known),
        people=_counter(data),
    )
    _check_roles(gathered.releases)
    if len(gathered.releases) > 1:
        from tacit.verbs.audit_several import audit_several, joint_case

        case = joint_case(gathered, people, rows=rows, findings=findings_to)
        found = audit_several(case, options, data=data, known=known, knowledge=knowledge)
    elif people is not None:
        raise OptionError("applies to several releases; there is only one", where="--people", remedy="Remove the option")
    else:
        given = Given(data=data, known=known, knowledge=knowledge, rows=rows)
        found = audit_one(gathered.releases[0], given, options, findings_to=findings_to)
    besides = {"data": data, "known": known, "knowledge": knowledge, "rows": rows}
    return replace(
        found,
        not_read=gathered.not_read,
        ignored=gathered.ignored,
        inputs=inputs_of(**besides),
        options={
            "given": [name for name, value in besides.items() if value is not None],
            "people": None if people is None else people.to_text(),
            "attacks": None if options.attacks is None else list(options.attacks),
            "algorithm": algorithm,
            "first_hit": first_hit,
        },
    )


def _counter(data: Any) -> Callable[[], int] | None:
    if data is None:
        return None
    return lambda: people_of(data).n


def _check_roles(releases: Sequence[Release]) -> None:
    if any(kind_of(release).checks_roles for release in releases):
        return  # other kinds of releases check their own roles, or may have the columns
    columns = list(dict.fromkeys(column for release in releases for column in kind_of(release).columns(release)))
    headers = [release.header for release in releases]
    for where, roles in (("--qi", [header.qi for header in headers]), ("--sa", [header.sa for header in headers])):
        for name in dict.fromkeys(name for names in roles for name in names):
            require_column(name, columns, where=where)
