"""The verb ``compare`` for buckets: utility against the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tacit.buckets.utility import UtilitySettings, measure_utility, read_intervals
from tacit.errors import OptionError
from tacit.files.buckets import read_buckets
from tacit.files.knowledge import read_knowledge
from tacit.files.tables import read_table
from tacit.model.buckets import Buckets
from tacit.model.knowledge import Exclusions
from tacit.model.measures import Utility
from tacit.model.numbers import Threshold, exact, share
from tacit.model.policy import Limits
from tacit.model.table import Table
from tacit.verbs.data import roles_of


def utility(
    buckets: Buckets | str | Path,
    *,
    data: Any,
    knowledge: Any = None,
    min_support: Any = "1%",
    min_conviction: Any = 1.1,
    max_length: int = 3,
    intervals: Mapping[str, float] | None = None,
    queries: int = 1000,
    dim: int | None = None,
    selectivity: Any = 0.5,
    seed: int = 0,
    time_limit: float | None = None,
    progress: Callable[[float], None] = lambda _: None,
) -> Utility:
    """Measure the utility of a bucketized release, and what can be guessed from it.

    Parameters
    ----------
    buckets
        The release, or the folder that holds it.
    data
        The table that it was made from, with its roles; or a file, which is read with those of the release.
    knowledge
        Negative rules that a reader of the release knows as well; without them nothing is estimated by rules.
    min_support, min_conviction, max_length
        Which rules of the data are looked at: the people who have both sides, ``P(X) P(not v) / P(X and not v)``, and the most columns on the
        left.
    intervals
        Columns of numbers that rules see as intervals of a width, such as ``{"age": 10}``.
    queries, dim, selectivity, seed
        How many questions are asked, about how many columns (2, or the one there is), for up to which share of the values of each, and what
        chance starts from.
    time_limit, progress
        As for :func:`tacit.mine_itemsets`.

    Examples
    --------
    >>> import numpy as np, tacit
    >>> rows = {"sex": ["F", "F", "M", "M"] * 5, "ill": ["flu", "cold", "flu", "flu"] * 5}
    >>> people = tacit.read_table(rows, qi="sex", sa="ill")
    >>> found = tacit.utility(Buckets.of(people.qi, people.sa, np.repeat(np.arange(5, dtype=np.int32), 4)), data=people, dim=1)
    >>> found.rules, round(found.measures["confidence_error"], 3), found.measures["k_anonymity"]
    (2, 0.375, 4)
    """
    release = read_buckets(buckets)
    columns = release.people.names
    if not isinstance(data, Table):
        data = read_table(data, **roles_of(release.header) | {"qi": list(columns), "sa": release.sensitive})
    support = Threshold.parse(min_support, where="--min-support")
    conviction = exact(min_conviction, where="--min-conviction")
    if conviction <= 0:
        raise OptionError("must be more than 0", where="--min-conviction", remedy="Write for instance 1.1")
    settings = UtilitySettings(
        support,
        conviction,
        _whole(max_length, "--max-length"),
        read_intervals(intervals, columns),
        queries=_whole(queries, "--queries"),
        dim=_dimension(dim, columns),
        selectivity=share(selectivity, where="--selectivity", zero=False),
        seed=_whole(seed, "--seed", least=0),
    )
    facts = read_knowledge(knowledge) if knowledge is not None else ()
    known = Exclusions.of(facts, release.people, release.values) if facts else None
    limits = Limits.within(time_limit)
    return measure_utility(release, data, known, settings, check=lambda: limits.check("utility"), progress=progress)


def _whole(given: Any, where: str, least: int = 1) -> int:
    if isinstance(given, bool) or not hasattr(given, "__index__") or given < least:
        raise OptionError(f"must be a whole number of at least {least}", where=where, remedy=f"Write for instance {least + 1}")
    return int(given)


def _dimension(given: Any, columns: tuple[str, ...]) -> int:
    found = min(2, len(columns)) if given is None else _whole(given, "--dim")
    if found > len(columns):
        what = f"asks for {found} columns, and the release has {len(columns)}"
        raise OptionError(what, where="--dim", remedy=f"Ask for {len(columns)} at the most")
    return found
