"""Checks of words about groups, by writing them again.

The wording stands in :mod:`tacit.model.words`, which infers nothing; what the words are about is read from the releases again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tacit.checker.lines import JointBook, name_of
from tacit.checker.rules import Reject
from tacit.model.event import Change, ItemEvent
from tacit.model.numbers import Bound
from tacit.model.release import Release
from tacit.model.steps import render_steps
from tacit.model.words import joint_statement, joint_steps, people, sentence

Finding = Mapping[str, Any]


def read_event(told: Mapping[str, Any]) -> ItemEvent:
    """Return the event of a finding in canonical form."""
    event = ItemEvent(
        present=tuple(told["present"]),
        absent=tuple(told["absent"]),
        not_all=tuple(told.get("not_all", ())),
        inside=tuple(told.get("inside", ())),
        outside=tuple(told.get("outside", ())),
        changes=tuple(_read_change(one) for one in told.get("changes", ())),
    )
    if event.to_dict() != dict(told):
        raise Reject("its event is not written as an audit writes it")
    return event


def _read_change(told: Mapping[str, Any]) -> Change:
    if told.get("changed"):
        return Change(told["column"])
    before, after = ((tuple(told[half]["present"]), tuple(told[half]["absent"])) for half in ("before", "after"))
    return Change(told["column"], before, after)


def check_statement(finding: Finding, names: Sequence[str]) -> None:
    """Raise unless the statement matches event and count."""
    if finding["statement"] != joint_statement(read_event(finding["event"]), Bound(*finding["count"]), names):
        raise Reject("its sentence does not say what its event and count say")


def check_joint_words(finding: Finding, book: JointBook, names: Sequence[str]) -> None:
    """Raise unless the words of X01 match its certificate."""
    check_statement(finding, names)
    if tuple(finding["steps"]) != render_steps(joint_steps(finding["certificate"], book.look_up)):
        raise Reject("its steps do not say what its certificate says")


def population_names(releases: Sequence[Release], population: Sequence[int]) -> list[str]:
    """Return the default names of populations."""
    owner = list(population) or list(range(len(releases)))
    out = []
    for number in sorted(set(owner)):
        own = [place for place, one in enumerate(owner) if one == number]
        out.append(name_of(releases[own[0]], own[0]) if len(own) == 1 else f"group {number + 1}")
    return out


def check_every_way_words(finding: Finding, n: int | None) -> None:
    """Raise unless the words match an enumerated finding."""
    check_statement(finding, ())
    ways = finding["certificate"]["worlds"]["fit"]
    lines = len(finding["because"])
    fitting = "One choice fits" if ways == 1 else f"{ways:,} choices fit"
    count = Bound(*finding["count"])
    steps = [
        f"{n} people are chosen in every possible way, one after another by their value.",
        f"{fitting} the counts, means and medians of all {lines} lines.",
        f"In {'it' if ways == 1 else 'each of them'} {people(count)} {sentence(read_event(finding['event']), count)}.",
    ]
    if list(finding["steps"]) != steps:
        raise Reject("its steps do not say what its certificate says")
