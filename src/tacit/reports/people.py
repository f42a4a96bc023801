"""How the people of several releases hang together, in words, and which files of a folder were not read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal
from urllib.parse import unquote

from tacit.model.audit import Audit
from tacit.model.gathered import NotRead
from tacit.model.people import Churn, Nested, Same, Unknown, read_people

_SAME = "All releases are declared to be about the same people."
#: How many pairs of names that look alike are told.
SHOWN_PAIRS = 5
_UNKNOWN = "Nothing is declared about who is in which release"


def declared_people(audit: Audit, visible: Callable[[str], str], kind: Literal["internal", "external"]) -> list[str]:
    """What is declared about the people of several releases, one sentence each; outside, columns and files are not named."""
    people = read_people(str(audit.adversary["people"]))
    grouped = "population" in audit.adversary
    one = "group of people" if grouped else "release"
    several = max(audit.adversary.get("population", range(len(audit.release)))) > 1
    told = [_groups(audit, visible, kind)] if grouped else []
    told += _look_alikes(audit, visible, kind)
    if isinstance(people, Same):
        return [*told, _SAME]
    if isinstance(people, Unknown):
        return [*told, f"{_UNKNOWN}, so that they tell nothing together{'' if not grouped else ' beyond each folder'}."]
    if isinstance(people, Nested):
        first, second = ("first", "second") if people.outer == 0 else ("second", "first")
        before = "before" if people.outer == 0 else "after"
        if several:
            return [*told, f"The people of each {one} are declared to be among those of the one {before} it."]
        return [*told, f"The people of the {second} {one} are declared to be among those of the {first}."]
    between = f"From each {one} to the next" if several else f"Between the first {one} and the second"
    if isinstance(people, Churn):
        return [*told, f"{between} so many people are declared to have moved: {people.to_text()}."]
    columns = ", ".join(visible(unquote(name)) for name in people.columns) if kind == "internal" else "some columns"
    return [*told, f"{_SAME} {between}, {_span(people.people)} of them have another value of each of: {columns}."]


def _look_alikes(audit: Audit, visible: Callable[[str], str], kind: Literal["internal", "external"]) -> list[str]:
    """Names that are taken as different although they look alike."""
    pairs = audit.adversary.get("taken_as_different", ())
    if not pairs:
        return []
    named = "; ".join(" and ".join(visible(name) for name in pair) for pair in pairs[:SHOWN_PAIRS])
    more = f"; and {len(pairs) - SHOWN_PAIRS:,} more" if len(pairs) > SHOWN_PAIRS else ""
    told = f": {named}{more}" if kind == "internal" else ""
    return [f"Names that only look alike are taken as different; write them alike where they mean the same{told}."]


def _span(people: tuple[int, int]) -> str:
    fewest, most = people
    return f"{most:,}" if fewest == most else f"at most {most:,}" if fewest == 0 else f"{fewest:,} to {most:,}"


def _groups(audit: Audit, visible: Callable[[str], str], kind: Literal["internal", "external"]) -> str:
    """Which releases are about the same people."""
    of = list(audit.adversary["population"])
    if kind == "external":
        return f"The {len(of)} releases are taken as being about {max(of) + 1} groups of people, as they were given."
    files = [entry.get("file") or f"release {number + 1}" for number, entry in enumerate(audit.release)]
    groups = [[name for name, own in zip(files, of, strict=True) if own == number] for number in range(max(of) + 1)]
    told = "; ".join(" and ".join(visible(name) for name in group) for group in groups)
    return f"Releases that were given together are taken as being about the same people: {told}."


def files_not_read(audit: Audit, visible: Callable[[str], str], kind: Literal["internal", "external"]) -> list[str]:
    """Files of folders and columns of files that were not read, one sentence each; outside, how many there are."""
    if not audit.not_read:
        return []
    if kind == "external":
        number = len(audit.not_read)
        return [f"{number:,} {'file or column was' if number == 1 else 'files or columns were'} not read."]
    return [f"Not read: {_named(one, visible)}." for one in audit.not_read]


def files_ignored(audit: Audit, visible: Callable[[str], str], kind: Literal["internal", "external"]) -> list[str]:
    """What was left out because it says nothing about people, one sentence; outside, how much it is."""
    if not audit.ignored:
        return []
    number = len(audit.ignored)
    what = f"{number:,} {'file or column' if number == 1 else 'files or columns'}"
    if kind == "external":
        return [f"Left out as saying nothing about people: {what}."]
    return [f"Left out as saying nothing about people: {'; '.join(_named(one, visible) for one in audit.ignored)}."]


def _named(one: NotRead, visible: Callable[[str], str]) -> str:
    """A file or column with the reason why it was not read."""
    reason = visible(one.reason)
    if one.column:
        return f"the column or field {visible(one.column)!r} of {visible(one.file)}, which {reason}".replace(
            ", which is not read", ""
        )
    verbs = ("is ", "looks ", "holds ", "has ", "belongs ")
    return f"{visible(one.file)}, which {reason if reason.startswith(verbs) else f'cannot be read: {reason}'}"
