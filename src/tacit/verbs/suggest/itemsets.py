"""Suggestions for itemsets: each repair with its cost."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from typing import Any

from tacit.model.repair import Repair
from tacit.repairs import REPAIRS
from tacit.verbs.data import people_of
from tacit.verbs.mine import mine_itemsets
from tacit.verbs.repair import repair
from tacit.verbs.suggest import Done, SuggestCase, Way, Words

#: How the loss of a repair of itemsets is measured.
MEASURED = (
    "mean over the published itemsets (1 for one that is lost or made up, else the relative error of its count), "
    "plus the share of people whose rows were changed"
)
#: Quick repairs first, so that slow ones have the rest of the time.
ORDER = ("round", "raise-threshold", "leave-out", "safe-family", "suppressive", "substitute", "exact-deficit", "additive")


def ways(case: SuggestCase) -> list[Way]:
    """Return the repairs to try with the available data."""
    release = case.release
    assert release.kind == "itemsets"
    rows = {row.name: row for row in REPAIRS}

    @cache
    def published() -> int:
        """Count the itemsets published, or implied by closed ones."""
        if release.only != "closed" or case.data is None:
            return len(release)
        return len(mine_itemsets(people_of(case.data), min_support=release.min_support, only="all"))

    # A repair that is new in the table, and not in the order, is tried last.
    names = [*ORDER, *(row.name for row in REPAIRS if "itemsets" in row.of and row.name not in ORDER)]
    possible = [rows[name] for name in names if case.data is not None or not rows[name].needs_data]
    return [Way(row.name, row.summary, partial(_carry_out, case, row.name, published)) for row in possible]


def _carry_out(case: SuggestCase, method: str, published: Any, seconds: float) -> Done:
    done = repair(case.release, method=method, data=case.data, policy=case.policy, time_limit=seconds)
    loss = _loss(done.cost, published, case.release.n or done.release.n)
    return Done(
        done.release,
        done.after,
        loss=loss,
        measured=MEASURED,
        cost=done.cost,
        commands=(_words(case, done),),
        what=_what(done),
    )


def _loss(cost: Mapping[str, Any], published: Any, n: int | None) -> float:
    """Return the cost of a repair; see ``MEASURED``."""
    people = cost.get("people_changed", 0) / n if n else 0.0
    changed = cost["itemsets_lost"] + cost["itemsets_ghost"]
    if not changed:
        return float(cost["support_error_mean"] + people)
    before = max(1, int(published()))
    kept = before - cost["itemsets_lost"]
    return float((changed + kept * cost["support_error_mean"]) / before + people)


def _words(case: SuggestCase, done: Repair) -> Words:
    header = done.release.header
    how: Words = ("--method", done.method)
    if done.method == "round":
        how += ("--base", str(header.base)) if header.base is not None else ("--decimals", str(header.digits))
    data: Words = ("--data", "@data") if case.data is not None else ()
    return ("tacit", "repair", "@0", *data, *how, *case.policy_words("k"), "-o", "@out")


def _what(done: Repair) -> str:
    header = done.release.header
    if done.method == "round":
        if header.base is not None:
            return f"print counts as multiples of {header.base:,}"
        return f"print supports with {header.digits} decimal{'' if header.digits == 1 else 's'} instead of counts"
    if done.method == "raise-threshold":
        return f"publish only what {header.min_support:,} people or more have"
    return ""
