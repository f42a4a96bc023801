"""Suggestions for rules: each repair with its cost."""

from __future__ import annotations

from functools import partial
from typing import Any

from tacit.model.audit import Audit
from tacit.model.policy import Limits
from tacit.model.release import Rules
from tacit.model.repair import Repair
from tacit.repairs import REPAIRS
from tacit.verbs.audit import audit
from tacit.verbs.data import owners_people
from tacit.verbs.repair import Request, repair_rules
from tacit.verbs.suggest import Done, SuggestCase, Way, Words

#: What the loss measures: if the people of the rules are known, and if they are not.
IN_NATS = "nats a person by which the sensitive values become less certain"
IN_LINES = "share of the rules that are lost, or printed without their support, or else the mean relative error of their supports"
#: Quick repairs first, so that slow ones have the rest of the time.
ORDER = ("withhold", "round", "raise-threshold", "withdraw")


def ways(case: SuggestCase) -> list[Way]:
    """Return the repairs to try."""
    rows = {row.name: row for row in REPAIRS}
    names = [*ORDER, *(row.name for row in REPAIRS if "rules" in row.of and row.name not in ORDER)]
    return [Way(name, rows[name].summary, partial(_carry_out, case, name)) for name in names]


def _carry_out(case: SuggestCase, method: str, seconds: float) -> Done:
    limits = Limits.within(seconds)
    release = case.release
    assert release.kind == "rules"

    def look(candidate: Rules, *, first_hit: bool = False, **who: Any) -> Audit:
        limits.check("suggest")
        if candidate is release and not first_hit:
            return case.before
        return audit(
            candidate,
            knowledge=case.knowledge,
            policy=case.policy,
            first_hit=first_hit,
            time_limit=limits.seconds_left,
            **who,
        )

    chosen = next(row for row in REPAIRS if row.name == method)
    people = owners_people(release, case.data)
    done = repair_rules(release, Request(chosen, case.policy, limits), people, look, suggest=False)
    loss, measured = _loss(done, len(release))
    return Done(
        done.release,
        done.after,
        loss=loss,
        measured=measured,
        cost=done.cost,
        commands=(_words(case, done),),
        what=_what(done),
    )


def _loss(done: Repair, rules: int) -> tuple[float, str]:
    """Return the cost of a repair, and its measure."""
    cost = done.cost
    if "information_lost" in cost:
        return float(cost["information_lost"]), IN_NATS
    gone = cost["rules_lost"] + cost["values_withheld"]
    kept = max(0, rules - gone)
    return float(gone + kept * cost["support_error_mean"]) / max(1, rules), IN_LINES


def _words(case: SuggestCase, done: Repair) -> Words:
    words: Words = ("tacit", "repair", "@0")
    words += ("--data", "@data") if case.data is not None else ()
    words += ("--knowledge", "@knowledge") if case.knowledge is not None else ()
    words += ("--method", done.method, *case.policy_words("k", "l", "max_posterior", "max_gain"))
    if done.method == "round" and done.release.header.digits is not None:
        words += ("--decimals", str(done.release.header.digits))
    return (*words, "-o", "@out")


def _what(done: Repair) -> str:
    header = done.release.header
    if done.method == "round" and header.digits is not None:
        return f"print supports with {header.digits} decimal{'' if header.digits == 1 else 's'}, and no confidence"
    if done.method == "raise-threshold":
        bar = f" and a confidence of {float(header.min_confidence):.4g}" if header.min_confidence else ""
        return f"publish only rules with a support of {header.min_support:,} people{bar} or more"
    return ""
