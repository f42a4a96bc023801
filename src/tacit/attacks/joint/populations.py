"""Whose people each release is about: which of them are in which releases, and what is declared about their numbers."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.attacks.joint.boxes import MEMBER, Allowed, Box, Membership
from tacit.attacks.joint.lines import Line, Origin
from tacit.model.bound import Bound
from tacit.model.people import Churn, Nested, People
from tacit.model.release import Listed


def populations(
    releases: Sequence[Listed], people: People
) -> tuple[list[Box], list[Line], tuple[int, ...], dict[frozenset[str], Membership]]:
    """The people of each release, the lines about their number, those that count everybody once, and which parts have a name."""
    left, stayed, joined = (frozenset([name]) for name in ("left", "stayed", "joined"))
    scopes: list[Box] = [{} for _ in releases]
    members: dict[frozenset[str], Membership] = {}
    if isinstance(people, Nested):
        outer, inner = people.outer, people.inner
        scopes[inner] = {MEMBER: Allowed(stayed)}
        members = {left: ((outer,), (inner,)), stayed: ((inner,), ()), left | stayed: ((outer,), ()), frozenset(): ((outer,), ())}
    elif isinstance(people, Churn):
        scopes = [{MEMBER: Allowed(left | stayed)}, {MEMBER: Allowed(stayed | joined)}]
        members = {
            left: ((0,), (1,)),
            joined: ((1,), (0,)),
            stayed: ((0, 1), ()),
            left | stayed: ((0,), ()),
            stayed | joined: ((1,), ()),
        }
    lines = [
        Line(((1, scope),), release.n, release.n, Origin(number, "n", "n", Bound.of(release.n)))
        for number, (release, scope) in enumerate(zip(releases, scopes, strict=True))
        if release.n is not None
    ]
    counted = {line.origin.release: place for place, line in enumerate(lines)}
    whole = people.outer if isinstance(people, Nested) else 0 if isinstance(people, Churn) else next(iter(counted), 0)
    everybody = [counted[whole]] if whole in counted else []
    if isinstance(people, Churn):
        for number, name, span in ((0, "left", people.left), (1, "joined", people.joined)):
            box = {MEMBER: Allowed(frozenset([name]))}
            lines.append(Line(((1, box),), *span, Origin(number, name, name, Bound(*span))))
        everybody += [len(lines) - 1] if everybody else []
    return scopes, lines, tuple(everybody), members
