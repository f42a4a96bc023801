"""The sentence and the steps of a finding about known people must say what its certificate says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tacit.checker.known_lines import Term
from tacit.checker.rules import Reject
from tacit.model.release import Release

#: How many terms of a sum the steps show.
_SHOWN = 24
_NAMED = {
    "distribution": "the distribution",
    "values": "which lists all values",
    "group": "which lists all values of the group",
}


def check_words(
    finding: Mapping[str, Any],
    releases: Sequence[Release],
    sensitive: str,
    ruled_out: Sequence[str],
    terms: Sequence[Term],
    total: int,
) -> None:
    """Raise :class:`Reject` where words and numbers differ."""
    told = _Told(finding, releases, sensitive)
    told.check_sentence()
    if list(finding["steps"]) not in (told.sum(terms, ruled_out, total), told.single(terms), told.nothing(terms)):
        raise Reject("its steps do not say what its certificate says")
    cited = {(entry["release"], str(entry.get("line", entry.get("cell")))) for entry in finding["because"]}
    used = {(max(0, term.entry["release"] or 0), str(term.entry.get("line", term.entry.get("cell")))) for term in terms}
    carried = finding["certificate"]
    who = {(carried["grouped"], "quasi-identifiers")} if carried["listed"] and terms else set()
    if cited != used | who:
        raise Reject("the lines it cites are not those of its sum")


class _Told:
    """One finding in words."""

    def __init__(self, finding: Mapping[str, Any], releases: Sequence[Release], sensitive: str) -> None:
        self.finding, self.releases, self.sensitive = finding, releases, sensitive
        self.left = [value for value in finding["certificate"]["values"] if value in finding["event"][sensitive]]

    def check_sentence(self) -> None:
        """The sentence names the people and the values that are left."""
        number = int(self.finding["count"][0])
        pairs = [f"{column}={values[0]}" for column, values in self.finding["event"].items() if column != self.sensitive]
        who = f"The {'one person' if number == 1 else f'{number:,} people'} with "
        ends = f" certainly {'has' if number == 1 else 'have'} {self.sensitive} {self.left[0]}."
        if len(self.left) > 1:
            ends = f" can only have {self.sensitive} {', '.join(self.left[:-1])} or {self.left[-1]}."
        text = self.finding["statement"]
        middle = text.removeprefix(who).removesuffix(ends)
        fits = text == f"{who}{middle}{ends}" and len(middle) == len(", ".join(pairs))
        if not fits or any(pair not in middle for pair in pairs):
            raise Reject("its sentence does not say what its event and count say")

    def sum(self, terms: Sequence[Term], ruled_out: Sequence[str], total: int) -> list[str]:
        """The steps of a sum."""
        carried = self.finding["certificate"]
        groups, below = [group for group in carried["groups"] if int(group["weight"])], int(carried["below"])
        steps = [self._term(term) for term in terms[:_SHOWN]]
        if len(terms) > _SHOWN:
            steps.append(f"and {len(terms) - _SHOWN:,} more terms, which the certificate lists")
        steps += [self._group(group, terms) for group in groups[:_SHOWN]]
        if len(groups) > _SHOWN:
            steps.append(f"and {len(groups) - _SHOWN:,} more groups of people, which the certificate lists")
        times = "once" if below == 1 else f"{below:,} times"
        has = f"{self.sensitive} {' or '.join(ruled_out)}"
        last = f"The sum counts everybody asked about who has {has} at least {times}, and nobody less than 0 times."
        return [*steps, f"sum: {total:,}", f"{last} It is less than {below:,}, so there is nobody."]

    def single(self, terms: Sequence[Term]) -> list[str]:
        """The one step of a proof by one statement about a whole group."""
        if len(terms) != 1:
            return []
        (term,) = terms
        where = self._where(term)
        if term.weight < 0 and term.lo == term.people:
            return [f"All {_people(term.people)}{_with(term)} have {self.sensitive} {term.value} ({where})."]
        return [f"Nobody{_with(term)} has {self.sensitive} {term.value} ({where})."] if term.weight > 0 and term.hi == 0 else []

    def nothing(self, terms: Sequence[Term]) -> list[str]:
        """What is said where the column has no other values."""
        number = len(self.finding["certificate"]["values"])
        return [] if terms else [f"{self.sensitive} has only {number:,} value{'' if number == 1 else 's'}."]

    def _term(self, term: Term) -> str:
        side = "exactly" if term.lo == term.hi else "at most" if term.weight > 0 else "at least"
        group = f"of {'the' if _with(term) else 'all'} {_people(term.people)}{_with(term)}"
        has = f"{side} {term.end:,} {group} have {self.sensitive} {term.value}"
        return f"{_times(term.weight)}{term.end:,}: {has} ({self._where(term)})"

    def _group(self, group: Mapping[str, Any], terms: Sequence[Term]) -> str:
        spoken = "; ".join(dict.fromkeys(self._where(terms[number - 1]) for number in group["terms"]))
        who = "people asked about" if group["asked"] else "known people of whom these speak"
        return f"{_times(int(group['weight']))}{group['people']:,}: {who} ({spoken or 'nothing above'})"

    def _where(self, term: Term) -> str:
        entry = term.entry
        if entry["release"] is None:
            return f"known: {entry['cell']}"
        number = int(entry["release"])
        source = self.releases[number].source
        name = source.name if source else f"release {number + 1}"
        if entry["what"] == "missing":
            return f"{name} leaves it out"
        if "line" in entry:
            return f"{name}, line {entry['line']}"
        return f"{name}, {_NAMED.get(entry['what'], entry['cell'])}"


def _with(term: Term) -> str:
    about = term.entry["about"]
    if term.entry["what"] == "scattered":
        return f" with the quasi-identifiers of group {next(iter(about.values()))[0]}"
    pairs = ", ".join(f"{column}={' or '.join(values)}" for column, values in about.items())
    return f" with {pairs}" if pairs else ""


def _people(number: int) -> str:
    return f"{number:,} {'person' if number == 1 else 'people'}"


def _times(weight: int) -> str:
    sign = "plus" if weight > 0 else "minus"
    return f"{sign} " if abs(weight) == 1 else f"{sign} {abs(weight):,} times "
