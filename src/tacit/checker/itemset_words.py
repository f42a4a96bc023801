"""Re-checks the citations and the words of findings about itemsets: both are written again from the event and the certificate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tacit.checker.itemsets import ItemsetBook, subsets
from tacit.checker.rules import Reject, Set
from tacit.checker.words import read_event
from tacit.model.bound import Bound
from tacit.wording import listed, people, printed_as, sentence
from tacit.wording.itemsets import derivation_steps

#: How many terms of a sum the steps show.
_SHOWN = 16

Finding = Mapping[str, Any]


def check_itemset_words(finding: Finding, book: ItemsetBook) -> None:
    """Raise unless the citations and the steps of a finding of I01 or I02 are those that its event and its certificate make."""
    words = _Words(finding, book)
    cited = words.citations()
    if cited is not None and list(finding["because"]) != cited:
        raise Reject("the lines it cites are not those of its sum, each once and in order")
    if list(finding["steps"]) not in list(words.steps()):
        raise Reject("its steps do not say what its certificate says")


class _Words:
    """What one finding may say."""

    def __init__(self, finding: Finding, book: ItemsetBook) -> None:
        self.finding, self.book = finding, book
        self.owner = finding["because"][0]["release"]
        self.present, self.absent = (frozenset(finding["event"][side]) for side in ("present", "absent"))
        self.count = Bound(*finding["count"])
        self.lines: list[int] = sorted({one["line"] for one in finding["because"] if "line" in one}, key=book.index_of)

    def citations(self) -> list[dict[str, Any]]:
        """The citations in their order: the number of people, then lines as they stand in the file, then the threshold."""
        if self.finding["code"] == "I01":
            weights = self._weights(self.present, self.absent)
            places = sorted(weights, key=lambda place: -1 if place == "n" else self.book.index_of(int(place)))
            told = [self._cited(place) | {"weight": weights[place]} for place in places]
            proof = [{name: one[name] for name in one if name != "count"} | {"weight": str(one["weight"])} for one in told]
            if list(self.finding["certificate"]["weights"]) != proof:
                raise Reject("the weights of its certificate are not those of its sum")
            return told
        named = {one.get("cell") for one in self.finding["because"]}
        head = [self._cited("n")] if "n" in named else []
        return [*head, *(self._cited(line) for line in self.lines), self._cited("min_support")]

    def _cited(self, place: int | str) -> dict[str, Any]:
        return {
            "release": self.owner,
            "line" if isinstance(place, int) else "cell": place,
            "count": list(self.book.bounds(place)),
        }

    def steps(self) -> Iterator[list[str]]:
        """The steps as they may be."""
        if self.finding["code"] == "I01":
            yield self._channel()
        elif self.book.release.only == "maximal":
            for one, two in ((0, 1), (1, 0)):
                yield [*self._prints(self.lines), *self._maximal(self.lines[one], self.lines[two])]
        else:
            told = derivation_steps(
                self.finding["certificate"]["steps"],
                self.present,
                self.absent,
                self.count,
                self._published,
                self.book.release.min_support or 1,
            )
            named = [line for line in self.lines if any(f"(line {line})" in step for step in told)]
            yield [*self._prints(named), *told]

    def _channel(self) -> list[str]:
        """The sum of I01, and that of the same people in fewer words."""
        out = self._sum(self.present, self.absent)
        if "same_people" not in self.finding:
            return out
        same = read_event(self.finding["same_people"])
        head = f"The same people in fewer words: {people(self.count)} {sentence(same, self.count)}."
        return [*out, head, *self._sum(frozenset(same.present), frozenset(same.absent))]

    def _weights(self, has: Set, lacks: Set) -> dict[int | str, int]:
        """How often each line is added in the sum of a group."""
        weights: dict[int | str, int] = {}
        for extra in subsets(lacks):
            place = self.book.place(has.union(extra))
            weights[place] = weights.get(place, 0) + (-1) ** len(extra)
        return {place: weight for place, weight in weights.items() if weight}

    def _sum(self, has: Set, lacks: Set) -> list[str]:
        weights = self._weights(has, lacks)
        order = sorted(weights, key=lambda place: (-self.book.bounds(place)[1], str(place)))
        steps = [self._term(place, weights[place]) for place in order[:_SHOWN]]
        if len(order) > _SHOWN:
            steps.append(f"and {len(order) - _SHOWN} more terms, all listed as published lines with their weights")
        count = self.count
        total = f"{count.lo:,}" if count.is_exact else f"between {count.lo:,} and {count.hi:,}"
        return [*steps, f"sum: {total}"]

    def _term(self, place: int | str, weight: int) -> str:
        sign = ("plus" if weight > 0 else "minus") + (f" {abs(weight)} times" if abs(weight) > 1 else "")
        count = Bound(*self.book.bounds(place))
        number = f"{count.lo:,}" if count.is_exact else f"{count.lo:,} to {count.hi:,}"
        if place == "n":
            return f"{sign} {number}: all people (n)"
        items, _ = self.book.line(int(place))
        return f"{sign} {number}: people with {listed(sorted(items), 'and')}{self._printed_as(int(place))} (line {place})"

    def _printed_as(self, line: int) -> str:
        return printed_as(self.book.release.text(self.book.index_of(line)), Bound(*self.book.bounds(line)))

    def _prints(self, lines: Sequence[int]) -> list[str]:
        """What lines print whose counts are not exact, each with the counts that it means."""
        out = []
        for line in lines:
            text, count = self.book.release.text(self.book.index_of(line)), Bound(*self.book.bounds(line))
            if text and not count.is_exact:
                out.append(f"Line {line}: {text} is printed, that is {people(count)}.")
        return out

    def _published(self, items: Set) -> tuple[int, int, str] | None:
        place = self.book.find(items)
        if place is None:
            return None
        return (*self.book.bounds(place), "n" if place == "n" else f"line {place}")

    def _maximal(self, line: int, other: int) -> list[str]:
        """The two lines of a list of maximal itemsets, and what no line holds."""
        release, least = self.book.release, self.book.release.min_support or 1
        items, others = self.book.line(line)[0], self.book.line(other)[0]
        number = {name: place for place, name in enumerate(release.items.names)}
        union = items | (self.absent or others)
        together = listed(sorted(union, key=number.__getitem__), "and")
        first, second = self._at(line), self._at(other)
        head = f"The list is complete from {least:,} people on and no line holds {together}: at most {least - 1:,} people have them all."
        if not self.absent:
            return [head, f"Those with {together}: at least {first} + {second} - {release.n:,} (n) people."]
        had, (lacked,) = listed(release.names(self.book.index_of(line)), "and"), self.absent
        return [
            head,
            f"Those with {had} without {lacked}: at least {first} - {least - 1:,} people.",
            f"Those without {lacked}: at most {release.n:,} (n) - {second} people.",
        ]

    def _at(self, line: int) -> str:
        lo, hi = self.book.bounds(line)
        return f"{lo:,} (line {line})" if lo == hi else f"[{lo:,} to {hi:,}] (line {line})"
