"""Suggestions for a bucketized release: other groupings."""

from __future__ import annotations

from functools import partial

from tacit.buckets.grouping import Method
from tacit.errors import OptionError
from tacit.model.policy import Limits
from tacit.model.table import Table
from tacit.verbs.attacks import ATTACKS
from tacit.verbs.audit import audit
from tacit.verbs.bucketize import bucketize
from tacit.verbs.data import owners_people
from tacit.verbs.suggest import Done, SuggestCase, Way, Words

#: What the loss of a grouping measures.
MEASURED = "people in a group on average; each person who is left out counts as all of them"
METHODS: dict[Method, str] = {
    "balanced": "group the people again, in groups of balanced values that what is known does not help to break",
    "injector": "group the people again as the Injector paper does",
    "anatomy": "group the people again as Anatomy does, which does not look at what is known",
}


def ways(case: SuggestCase) -> list[Way]:
    """Return all methods of grouping, and one leaving people out."""
    if case.data is None:
        return [Way("bucketize", "group the people again", partial(_carry_out, case, "balanced", False))]
    made = [Way(name, what, partial(_carry_out, case, name, False)) for name, what in METHODS.items()]
    without = "group the people again, without those for whom there is no group"
    return [*made, Way("balanced, leaving out", without, partial(_carry_out, case, "balanced", True))]


def _carry_out(case: SuggestCase, method: Method, suppress: bool, seconds: float) -> Done:
    limits = Limits.within(seconds)
    people = _people(case)
    made = bucketize(
        people,
        l=max(2, case.policy.l),
        method=method,
        knowledge=case.knowledge,
        max_posterior=None if method == "anatomy" else case.policy.max_posterior,
        suppress=suppress,
        time_limit=limits.seconds_left,
    )
    if suppress and not made.cost["suppressed"]:
        raise OptionError("nobody has to be left out", where="--suppress", remedy="The same groups without it do")
    # B03 decides only if it is asked for by name: if it found something, it was.
    named = [attack.code for attack in ATTACKS if attack.needs == "buckets"] if case.before.attack("B03").findings else None
    after = audit(made, knowledge=case.knowledge, policy=case.policy, attacks=named, time_limit=limits.seconds_left)
    loss = float(made.cost["mean_group"]) + float(made.cost["suppressed"]) * people.n
    words = _words(case, people, method, suppress)
    return Done(made, after, loss=loss, measured=MEASURED, cost=made.cost, commands=(words,))


def _people(case: SuggestCase) -> Table:
    people = owners_people(case.release, case.data)
    if not isinstance(people, Table) or not people.schema.sa:
        remedy = "Give the table that it was made from, with its columns' roles, with --data"
        raise OptionError("people are grouped again from the data", where="--data", remedy=remedy)
    return people


def _words(case: SuggestCase, people: Table, method: Method, suppress: bool) -> Words:
    words: Words = ("tacit", "bucketize", "@data", "--qi", ",".join(people.schema.qi), "--sa", ",".join(people.schema.sa))
    words += ("--l", str(max(2, case.policy.l)), "--method", method)
    words += ("--knowledge", "@knowledge") if case.knowledge is not None else ()
    words += case.policy_words("max_posterior") if method != "anatomy" else ()
    return (*words, *(("--suppress",) if suppress else ()), "-o", "@out")
