"""The verb that mines negative rules: what an attacker knows before anything is published."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tacit.api import Trees, trees_of
from tacit.errors import OptionError
from tacit.formats.hierarchies import check_hierarchies
from tacit.mining import negative as negative_mining
from tacit.model.negative import NegativeRules
from tacit.model.table import Table

__all__ = ["mine_negative_rules"]


def mine_negative_rules(
    people: Table,
    *,
    min_expectation: Any,
    min_confidence: Any = 1,
    hierarchies: Trees = None,
    fuzzy: Mapping[str, Any] | None = None,
    max_length: int | None = None,
    significance: Any = None,
    permutations: int = 0,
    seed: int = 0,
    time_limit: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> NegativeRules:
    """The negative rules of a table; :func:`tacit.mining.negative.mine_negative_rules` says what the options mean.

    Hierarchies may be a folder of files.

    Examples
    --------
    >>> import tacit
    >>> people = tacit.read_table({"sex": ["F"] * 30 + ["M"] * 30, "ill": ["flu"] * 50 + ["cold"] * 10}, qi="sex", sa="ill")
    >>> rules = tacit.mine_negative_rules(people, min_expectation=0.9)
    >>> len(rules), next(rules.records())["antecedent"]
    (1, {'sex': ['F']})
    """
    if not isinstance(people, Table):
        remedy = "Read the data with tacit.read_table(.., qi=.., sa=..) first"
        raise OptionError("needs a table whose columns have roles", where="mine_negative_rules", remedy=remedy)
    trees = trees_of(hierarchies, people)
    check_hierarchies(trees or {}, people)
    return negative_mining.mine_negative_rules(
        people,
        min_expectation=min_expectation,
        min_confidence=min_confidence,
        hierarchies=trees,
        fuzzy=fuzzy,
        max_length=max_length,
        significance=significance,
        permutations=permutations,
        seed=seed,
        time_limit=time_limit,
        progress=progress,
    )
