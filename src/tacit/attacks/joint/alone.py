"""What a release tells by itself, as proofs about all releases: its lines are among theirs, and its people are some of theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from tacit.attacks.joint.boxes import ANYTHING_ELSE, Allowed, Box
from tacit.attacks.joint.lines import Choice, Line, Origin, Problem
from tacit.attacks.joint.proofs import Cited, Leaf, Split, Step, Threshold, Tree, Weights, all_choices


@dataclass(frozen=True, slots=True, eq=False)
class Translation:
    """From the problem of one release to that of several, in which it has the number ``release`` and its people are those of ``scope``."""

    alone: Problem
    together: Problem
    release: int
    scope: Box
    lines: Mapping[Origin, int]

    @classmethod
    def of(cls, alone: Problem, together: Problem, release: int, scope: Box) -> Translation | None:
        """The translation; None where the same items mean other things together."""
        if not alone.place.keys() <= together.place.keys():
            return None
        lines = {line.origin: number for number, line in enumerate(together.lines) if line.origin.release == release}
        return cls(alone, together, release, scope, lines)

    def steps(self, proof: Sequence[Step]) -> list[Step]:
        """The same proof about the people of the release among all."""
        return [self._step(step) for step in proof]

    def _step(self, step: Step) -> Step:
        # How often a case that is assumed counts somebody, at most; an earlier step counts everybody once.
        lines = [line for choice in all_choices(step) for line in (choice.fewer, choice.more) if line is not None]
        most = sum(max(sum(abs(factor) for factor, _ in line.terms), 1) for line in lines) + 1
        cases = None if step.cases is None else self._tree(step.cases, most)
        assert cases is None or isinstance(cases, Split)
        return replace(step, box=self.box(step.box), weights=self._weights(step.weights, most), cases=cases)

    def box(self, box: Mapping[int, int]) -> dict[int, int]:
        """The people of a box who are in the release."""
        named = {self.alone.axes[place].key: self._allowed(place, mask) for place, mask in box.items()}
        return self.together.masks({**named, **self.scope})

    def _allowed(self, place: int, mask: int) -> Allowed:
        classes = self.alone.axes[place].classes
        inside = [value for bit, values in enumerate(classes) if mask >> bit & 1 for value in values]
        outside = [value for bit, values in enumerate(classes) if not mask >> bit & 1 for value in values]
        excluded = ANYTHING_ELSE in inside
        return Allowed(frozenset(value for value in (outside if excluded else inside) if value is not None), excluded)

    def _origin(self, origin: Origin) -> Origin:
        return replace(origin, release=self.release, given=None if origin.given is None else self._origin(origin.given))

    def _weights(self, weights: Weights, often: int) -> Weights:
        """The same sum, with lines that say that nobody has other values than the release lists taken as often as anybody could count."""
        if not weights:
            return {}
        out: dict[Cited, Fraction] = {}
        most = Fraction(1)
        for (kind, number), weight in weights.items():
            line = self.alone.lines[number] if kind == "line" else None
            out[(kind, number) if line is None else (kind, self.lines[self._origin(line.origin)])] = weight
            most += abs(weight) * (often if line is None else sum(abs(factor) for factor, _ in line.terms))
        return out | {("line", number): -most for number in self._closing if ("line", number) not in out}

    @property
    def _closing(self) -> list[int]:
        """The lines that say which values are all that the people of the release have."""
        return [number for origin, number in self.lines.items() if origin.what == "all-values"]

    def _tree(self, tree: Tree, often: int) -> Tree:
        if isinstance(tree, Leaf):
            return Leaf(self._weights(tree.weights, often), tree.impossible)
        by = Threshold(self.box(tree.by.box), tree.by.at) if isinstance(tree.by, Threshold) else self._choice(tree.by)
        return Split(by, self._tree(tree.fewer, often), self._tree(tree.more, often))

    def _choice(self, choice: Choice) -> Choice:
        return Choice(self._line(choice.fewer), None if choice.more is None else self._line(choice.more), choice.first)

    def _line(self, line: Line) -> Line:
        terms = tuple((factor, {**box, **self.scope}) for factor, box in line.terms)
        return replace(line, terms=terms, origin=self._origin(line.origin))
