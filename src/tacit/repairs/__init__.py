"""Repairs: safer versions of a release, one module each."""

from __future__ import annotations

from tacit.model.repair import GOALS, Goal, Proposal, RepairCase, RepairMethod
from tacit.repairs import (
    additive,
    exact_deficit,
    leave_out,
    raise_threshold,
    round,
    safe_family,
    substitute,
    suppressive,
    withdraw,
    withhold,
)

REPAIRS: tuple[RepairMethod, ...] = (
    RepairMethod(
        substitute.NAME,
        of=("itemsets",),
        needs_data=True,
        propose=substitute.propose,
        summary="replace the rows of people in small groups by the most similar other rows; n stays",
        source="ours, after Atzori et al. 2005 (ICDM)",
        changes="people",
    ),
    RepairMethod(
        additive.NAME,
        of=("itemsets",),
        needs_data=True,
        propose=additive.propose,
        summary="add k people to every small group; n grows",
        source="Atzori et al. 2005 (ICDM), as reconstructed",
        changes="people",
    ),
    RepairMethod(
        exact_deficit.NAME,
        of=("itemsets",),
        needs_data=True,
        propose=exact_deficit.propose,
        summary="add just the people that small groups lack to reach k; n grows, nothing is lost",
        source="ours",
        changes="people",
    ),
    RepairMethod(
        suppressive.NAME,
        of=("itemsets",),
        needs_data=True,
        propose=suppressive.propose,
        summary="delete the people in small groups until there are none; n shrinks",
        source="Atzori et al. 2005 (ICDM), as reconstructed",
        changes="people",
    ),
    RepairMethod(
        safe_family.NAME,
        of=("itemsets",),
        needs_data=True,
        propose=safe_family.propose,
        summary="publish exactly the frequent itemsets on which nobody is in a small group, with true counts",
        source="ours",
        changes="lines",
    ),
    RepairMethod(
        leave_out.NAME,
        of=("itemsets",),
        needs_data=False,
        propose=leave_out.propose,
        summary="leave out the itemsets on which somebody is in a small group; the list is then no longer complete",
        source="ours",
        changes="lines",
    ),
    RepairMethod(
        raise_threshold.NAME,
        of=("itemsets", "rules"),
        needs_data=False,
        propose=raise_threshold.propose,
        summary="publish only what lies above the lowest threshold at which no attack succeeds",
        source="Atzori et al. 2005, section 3 (the threshold as the only lever)",
        changes="threshold",
    ),
    RepairMethod(
        round.NAME,
        of=("itemsets", "rules"),
        needs_data=False,
        propose=round.propose,
        summary="publish counts rounded to a base, or supports with few decimals: the finest that no attack breaks",
        source="ours",
        changes="numbers",
    ),
    RepairMethod(
        withhold.NAME,
        of=("rules",),
        needs_data=False,
        propose=withhold.propose,
        summary="publish which rules there are, and none of their numbers",
        source="Zhu, Wang, Du 2009, section VI B",
        changes="numbers",
    ),
    RepairMethod(
        withdraw.NAME,
        of=("rules",),
        needs_data=False,
        propose=withdraw.propose,
        summary="take out the rules that give most away; the list is then no longer complete",
        source="ours; future work of Zhu, Wang, Du 2009",
        changes="lines",
    ),
)

__all__ = ["GOALS", "REPAIRS", "Goal", "Proposal", "RepairCase", "RepairMethod"]
