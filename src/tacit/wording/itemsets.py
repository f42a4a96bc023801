"""Derivations about itemsets that a list leaves out, in words, from their certificates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tacit.model.bound import Bound
from tacit.wording import listed, people

#: Sums of more terms than this are given as one number.
MOST_TERMS = 32
#: Derivations through more unpublished itemsets than this are not written out step by step.
MOST_STEPS = 40

Set = frozenset[str]
#: Bounds on a published support and where it stands; None where no line tells it.
Published = Callable[[Set], tuple[int, int, str] | None]


def derivation_steps(
    steps: Sequence[Mapping[str, Any]], present: Set, absent: Set, count: Bound, published: Published, threshold: int
) -> list[str]:
    """Return the steps of a certificate in words, and the group that they lead to; ``threshold`` is that of the complete list."""
    return _Story(published, threshold).told(steps, present, present | absent, count)


class _Story:
    """Bounds on unpublished supports, each explained once."""

    def __init__(self, published: Published, threshold: int) -> None:
        self.published, self.threshold = published, threshold
        self.shown: dict[Set, tuple[int, int]] = {}

    def told(self, steps: Sequence[Mapping[str, Any]], present: Set, whole: Set, count: Bound) -> list[str]:
        """All steps, from the smallest unpublished subset to the group that the finding is about."""
        parts = list(_by_items(steps))
        if len(parts) > MOST_STEPS:
            many = f"{len(parts):,} unpublished subsets"
            return [f"It follows through {many}, too many to write out here; all published lines are cited."]
        out = [line for items, entries in parts for line in self._explained(items, entries)]
        return [*out, f"{self._group(whole, present)} people, that is {people(count)}."]

    def _explained(self, items: Set, entries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
        """How the bounds on an unpublished itemset follow."""
        least, most = self.shown.get(items, (0, self.threshold - 1))
        yield f"No line says how many people have {listed(sorted(items), 'and')}; call it x."
        for entry in entries:
            side, value = ("least", entry["at_least"]) if "at_least" in entry else ("most", entry["at_most"])
            if entry["by"] == "group":
                yield f"{self._group(items, frozenset(entry['present']))} people cannot be negative: x is at {side} {value:,}."
            else:
                complete = f"The list is complete from {self.threshold:,} people on and leaves it out"
                yield f"{complete}: x is at most {value:,}."
            least, most = (max(least, value), most) if side == "least" else (least, min(most, value))
        self.shown[items] = (least, most)
        yield f"So x is {least:,}." if least == most else f"So x is between {least:,} and {most:,}."

    def _group(self, whole: Set, has: Set) -> str:
        """A group on an itemset as a sum of supports: "Those with a without b: 50 (line 3) - x = 50 - x"."""
        rest = sorted(whole - has)
        who = f"with {listed(sorted(has), 'and')}" if has else "of all people"
        without = f" without {listed(rest, 'or')}" if rest else ""
        terms, lo, hi = [], 0, 0
        for mask in range((1 << len(rest)) - 1):
            low, high, place = self._support(has | {item for place, item in enumerate(rest) if mask >> place & 1})
            sign = -1 if mask.bit_count() % 2 else 1
            lo, hi = (lo + low, hi + high) if sign > 0 else (lo - high, hi - low)
            terms.append(f"{'-' if sign < 0 else '+'} {_ends(low, high)} ({place})")
        last = "- x" if len(rest) % 2 else "+ x"
        if len(terms) > MOST_TERMS:
            terms = [f"+ {_ends(lo, hi)} (a sum of {len(terms)} supports)"]
        written = " ".join([*terms, last]).removeprefix("+ ")
        return f"Those {who}{without}: {written}" + (f" = {_ends(lo, hi)} {last}" if len(terms) > 1 else "")

    def _support(self, items: Set) -> tuple[int, int, str]:
        found = self.published(items)
        return (*self.shown[items], "from above") if found is None else found


def _by_items(steps: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Set, list[Mapping[str, Any]]]]:
    """The steps about one itemset after the other."""
    found: dict[Set, list[Mapping[str, Any]]] = {}
    for step in steps:
        found.setdefault(frozenset(step["items"]), []).append(step)
    yield from found.items()


def _ends(lo: int, hi: int) -> str:
    return f"{lo:,}" if lo == hi else f"[{lo:,} to {hi:,}]"
