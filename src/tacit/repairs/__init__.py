"""Repairs: safer versions of a release, one module each."""

from __future__ import annotations

from typing import Any

from tacit.model.release import Changes
from tacit.model.repair import RepairMethod
from tacit.repairs import (
    additive,
    exact_deficit,
    leave_out,
    merge_channels,
    mixed,
    raise_threshold,
    round,
    round_controlled,
    safe_family,
    substitute,
    suppress,
    suppressive,
    withdraw,
    withhold,
)


def _row(
    module: Any, *, summary: str, source: str, changes: Changes, of: tuple[str, ...] = ("itemsets",), needs_data: bool = False
) -> RepairMethod:
    return RepairMethod(module.NAME, of, needs_data, module.propose, summary=summary, source=source, changes=changes)


REPAIRS: tuple[RepairMethod, ...] = (
    _row(
        substitute,
        needs_data=True,
        summary="replace the rows of people in small groups by the most similar other rows; n stays",
        source="ours, after Atzori et al. 2005 (ICDM)",
        changes="people",
    ),
    _row(
        additive,
        needs_data=True,
        summary="add k people to every small group; n grows",
        source="Atzori et al. 2005 (ICDM), as reconstructed",
        changes="people",
    ),
    _row(
        merge_channels,
        needs_data=True,
        summary="merge small groups that the same people can join, and add k people to each; n grows",
        source="Atzori et al. 2005 (ICDM), as reconstructed",
        changes="people",
    ),
    _row(
        exact_deficit,
        needs_data=True,
        summary="add just the people that small groups lack to reach k; n grows, nothing is lost",
        source="ours",
        changes="people",
    ),
    _row(
        suppressive,
        needs_data=True,
        summary="delete the people in small groups until there are none; n shrinks",
        source="Atzori et al. 2005 (ICDM), as reconstructed",
        changes="people",
    ),
    _row(
        safe_family,
        needs_data=True,
        summary="publish exactly the frequent itemsets on which nobody is in a small group, with true counts",
        source="ours",
        changes="lines",
    ),
    _row(
        leave_out,
        summary="leave out the itemsets on which somebody is in a small group; the list is then no longer complete",
        source="ours",
        changes="lines",
    ),
    _row(
        raise_threshold,
        of=("itemsets", "rules"),
        summary="publish only what lies above the lowest threshold at which no attack succeeds",
        source="Atzori et al. 2005, section 3 (the threshold as the only lever)",
        changes="threshold",
    ),
    _row(
        round,
        of=("itemsets", "rules"),
        summary="publish counts rounded to a base, or supports with few decimals: the finest that no attack breaks",
        source="ours",
        changes="numbers",
    ),
    _row(
        withhold,
        of=("rules",),
        summary="publish which rules there are, and none of their numbers",
        source="Zhu, Wang, Du 2009, section VI B",
        changes="numbers",
    ),
    _row(
        withdraw,
        of=("rules",),
        summary="remove the rules that reveal most; the list is then no longer complete",
        source="ours; future work of Zhu, Wang, Du 2009",
        changes="lines",
    ),
    _row(
        mixed,
        of=("rules",),
        summary="print, withhold or withdraw each rule, so that what remains loses least and no attack succeeds",
        source="ours; future work of Zhu, Wang, Du 2009",
        changes="numbers",
    ),
    _row(
        suppress,
        of=("frequencies",),
        summary="hide the fewest further cells until no attack succeeds, with a proof that fewer are not enough",
        source="ours; search of Fischetti and Salazar 2001",
        changes="lines",
    ),
    _row(
        round_controlled,
        of=("frequencies",),
        summary="round all counts to a base so that parts still add up, as near to the truth as possible or at random",
        source="Cox 1987 (JASA), as an integer program",
        changes="numbers",
    ),
)
