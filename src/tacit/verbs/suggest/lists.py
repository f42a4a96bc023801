"""Suggestions for itemsets and rules: each repair with its cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from typing import Any

from tacit.files.inputs import people_of
from tacit.mining.itemsets import mine_itemsets
from tacit.model.audit import Audit
from tacit.model.policy import Limits
from tacit.model.release import Itemsets, Rules
from tacit.model.repair import Repair, RepairMethod
from tacit.repairs import REPAIRS
from tacit.verbs.audit import audit
from tacit.verbs.data import owners_people
from tacit.verbs.repair import FAST, Request, repair, repair_rules
from tacit.verbs.suggest import Done, SuggestCase, Way, Words, several

#: How the loss is measured: of itemsets, of rules whose people are known, and of other rules.
OF_ITEMSETS = (
    "mean over the published itemsets (1 for one that is lost or made up, else the relative error of its count), "
    "plus the share of people whose rows were changed"
)
IN_INFORMATION = "information about sensitive values that readers of the release no longer have, mean over all people"
IN_LINES = "share of the rules that are lost, or printed without their support, or else the mean relative error of their supports"
#: Quick repairs first, so that slow ones have the rest of the time. A repair that is new in the table, and not here, is tried last.
ORDER = (
    *("withhold", "round", "raise-threshold", "withdraw", "mixed", "leave-out"),
    *("safe-family", "suppressive", "substitute", "exact-deficit", "merge-channels", "additive"),
)


def ways(case: SuggestCase) -> list[Way]:
    """Return the repairs to try with the available data."""
    kind = case.release.kind
    possible = [row for row in REPAIRS if kind in row.of and (case.data is not None or not row.needs_data)]
    # Those that mine again can take nothing from a list without a threshold: first, so that the others share the time.
    can_mine = case.release.header.complete and case.release.min_support is not None
    possible.sort(key=lambda row: (can_mine or not row.needs_data, ORDER.index(row.name) if row.name in ORDER else len(ORDER)))
    if kind == "rules" and not case.release.header.sa:
        return several.ways_of_rules(case)  # the others are for rules about a sensitive column
    if kind == "rules":
        return [Way(row.name, row.summary, partial(_repair_rules, case, row)) for row in possible]
    assert case.release.kind == "itemsets"
    published = cache(partial(count_published, case.release, case.data))
    return [Way(row.name, row.summary, partial(_repair_itemsets, case, published, row)) for row in possible]


def count_published(release: Itemsets, data: Any) -> int:
    """Count the itemsets published, or implied by closed ones."""
    if release.only != "closed" or data is None:
        return len(release)
    return len(mine_itemsets(people_of(data), min_support=release.min_support, only="all"))


def _repair_itemsets(case: SuggestCase, published: Callable[[], int], method: RepairMethod, seconds: float) -> Done:
    done = repair(case.release, method=method.name, data=case.data, policy=case.policy, before=case.before, time_limit=seconds)
    header = done.release.header
    words: Words = ("tacit", "repair", "@0", *case.inputs("data"), "--method", method.name)
    what = ""
    if method.name == "round" and header.base is not None:
        words += ("--base", str(header.base))
        what = f"print counts as multiples of {header.base:,}"
    elif method.name == "round":
        words += ("--decimals", str(header.digits))
        what = f"print supports with {_decimals(header.digits)} instead of counts"
    elif method.name == "raise-threshold":
        what = f"publish only what {header.min_support:,} people or more have"
    loss = itemset_loss(done.cost, published, case.release.n or done.release.n)
    return _done(done, loss, OF_ITEMSETS, (*words, *case.policy_words("k"), "-o", "@out"), what)


def itemset_loss(cost: Mapping[str, Any], published: Callable[[], int], n: int | None) -> float:
    """Return the cost of a repair; see ``OF_ITEMSETS``."""
    people = cost.get("people_changed", 0) / n if n else 0.0
    changed = cost["itemsets_lost"] + cost["itemsets_ghost"]
    if not changed:
        return float(cost["support_error_mean"] + people)
    before = max(1, published())
    kept = before - cost["itemsets_lost"]
    return float((changed + kept * cost["support_error_mean"]) / before + people)


def _repair_rules(case: SuggestCase, method: RepairMethod, seconds: float) -> Done:
    limits = Limits.within(seconds)
    release = case.release
    assert release.kind == "rules"

    def look(candidate: Rules, *, first_hit: bool = False, attacks: Iterable[str] | None = None, **who: Any) -> Audit:
        limits.check("suggest")
        if candidate is release and not first_hit:
            return case.before
        how: dict[str, Any] = {"knowledge": case.knowledge, "withheld": case.withheld, "policy": case.policy, **who}
        # A verdict is enough here, with the estimates; an attack that found something first may have left these out.
        quick = audit(candidate, first_hit=True, attacks=attacks, time_limit=limits.seconds_left, **how)
        is_enough = first_hit or not any(one.findings for one in quick.runs if one.code in FAST)
        return quick if is_enough else audit(candidate, attacks=FAST, time_limit=limits.seconds_left, **how)

    people = owners_people(release, case.data)
    done = repair_rules(release, Request(method, case.policy, limits), people, look, suggest=False)
    header = done.release.header
    words: Words = ("tacit", "repair", "@0", *case.inputs("data", "knowledge"))
    words += ("--method", method.name, *case.expectation, *case.policy_words("k", "l", "max_posterior", "max_gain"))
    what = ""
    if method.name == "round" and header.digits is not None:
        words += ("--decimals", str(header.digits))
        what = f"print supports with {_decimals(header.digits)}, and no confidence"
    elif method.name == "raise-threshold":
        bar = f" and a confidence of {float(header.min_confidence):.4g}" if header.min_confidence else ""
        what = f"publish only rules with a support of {header.min_support:,} people{bar} or more"
    cost = done.cost
    gone = cost["rules_lost"] + cost["values_withheld"]
    loss = float(gone + max(0, len(release) - gone) * cost["support_error_mean"]) / max(1, len(release))
    if "information_lost" in cost:
        return _done(done, float(cost["information_lost"]), IN_INFORMATION, (*words, "-o", "@out"), what)
    return _done(done, loss, IN_LINES, (*words, "-o", "@out"), what)


def _done(done: Repair, loss: float, measured: str, words: Words, what: str) -> Done:
    return Done(done.release, done.after, loss=loss, measured=measured, cost=done.cost, commands=(words,), what=what)


def _decimals(digits: int | None) -> str:
    return f"{digits} decimal{'' if digits == 1 else 's'}"
