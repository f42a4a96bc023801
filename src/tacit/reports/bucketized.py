"""What became of people who were put into groups, as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.model.bucketized import Bucketized
from tacit.reports.estimates import bucket_sentences
from tacit.reports.summary import counted, told, visible


def bucketized_text(made: Bucketized, *, dropped: int = 0, origin: str = "") -> str:
    """The groups in a few lines: what they are like, what the audits say, and what Anatomy would come to.

    ``dropped`` rows had a missing value; ``origin`` is the file that settings came from.
    """
    cost = made.cost
    lines = [
        f"{counted(cost['groups'], 'group')} of {counted(made.n, 'person', 'people')}; "
        f"{cost['mean_group']:.2f} people on average, {cost['largest_group']:,} at the most"
    ]
    lines.append(f"Method   {_method(made)}")
    if cost["suppressed"]:
        lines.append(f"Left out {counted(cost['suppressed'], 'person', 'people')} for whom there is no such group")
    if cost.get("beyond_bound"):
        lines.append(f"Bound    no group within it was found for {counted(cost['beyond_bound'], 'person', 'people')}")
    if dropped:
        lines.append(f"Missing  {counted(dropped, 'row')} with the mark of a missing value dropped")
    if origin:
        lines.append(f"Settings from {visible(origin)}")
    if made.before is not None:
        lines.append(f"Before   {told(made.before)} (the table as it is)")
    if made.after is not None:
        lines.append(f"After    {told(made.after)}")
        lines += [f"Guesses  {sentence}" for sentence in bucket_sentences(made.after)]
    lines += _utility(cost)
    lines += [_rival(made, one.method, one.cost.get("vulnerable"), one.reason) for one in made.tried]
    return "\n".join(lines) + "\n"


def _utility(cost: Mapping[str, Any]) -> list[str]:
    """What the groups cost whoever counts by them, and what all of them together leave to guess."""
    lines = []
    if "surviving_guess_right_exact" in cost:
        lines.append(
            f"Truth    {cost['surviving_guess_right_exact']:.1%} of the guesses of B03 are right, which only you can tell"
        )
    shown = (("confidence_error", "confidences of rules"), ("query_error", "counts"))
    known = [f"{what} are off by {cost[name]:.1%}" for name, what in shown if name in cost]
    if known:
        lines.append(f"Utility  counted by groups, {' and '.join(known)} on average")
    return lines


def _method(made: Bucketized) -> str:
    """The method, and how many people it had no group for at first."""
    cost = made.cost
    which = f"{made.method} ({cost['grouped_by']} came out better)" if cost["grouped_by"] != made.method else made.method
    if not cost["residue"]:
        return f"{which}; nobody was left over"
    left_over = counted(cost["residue"], "person", "people")
    merged = f", {counted(cost['merges'], 'merge')} of groups" if cost["merges"] else ""
    return f"{which}; {left_over} left over at first joined a group{merged}"


def _rival(made: Bucketized, method: str, vulnerable: int | None, reason: str) -> str:
    """What another method would come to."""
    name = f"{method.capitalize():<9}"
    if vulnerable is None:
        return f"{name}not possible: {reason}"
    least = made.after.policy.l if made.after is not None else 0
    people = counted(vulnerable, "person", "people")
    return f"{name}which does not look at the knowledge, would leave {people} with fewer than {least:,} valid values"
