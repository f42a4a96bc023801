"""Published methods that hide cells: rgraph, smc and cr.

rgraph hides condition cells of other records, along the graph of the sensitive records' patterns. A node is a pattern of a sensitive
record. *MinHide* is how many of its relevant records must lose the pattern until the rule is safe, *ExactMatch* how many relevant records
have it as a largest pattern in the graph. Each step takes a node with records that no larger such node has, hides the cell that most of its
unsafe descendants share, and does so in as many records as the least demanding of them needs. Several sensitive values are treated in turn
until no rule is unsafe: a hidden cell can make a rule of another value stronger.

smc hides sensitive values of other records, by the greedy algorithm for set multicover. Every unsafe rule must be covered as often as
values have to be hidden until it is safe; hiding the value of a record covers all rules that the record supports. Each step takes the
record that supports most of the rules that are still unsafe.

cr is the rival, made to hide rules rather than individuals: it makes one unsafe rule after the other safe, longer rules first, then those
with more confidence. Records that support the fewest unsafe rules are hidden first: their value if values may be hidden, else the cell of
the pattern that most records of the table share.

References
----------
C. Li, H. Shirani-Mehr, X. Yang, "Protecting Individual Information Against Inference Attacks in Data Publishing", DASFAA 2007, section 5
(rgraph), section 4.1 (smc) and section 6 (cr).

Y. Saygin, V. Verykios, C. Clifton, "Using unknowns to prevent discovery of association rules", SIGMOD Record 30(4), 2001 (cr).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

import numpy as np

from tacit.model.arrays import Codes, Ints
from tacit.model.policy import Check
from tacit.partial.problem import RELEVANT, Hiding, Problem

Choice = Literal["max-descendant", "random-max", "random"]


def hide_along_graph(
    problem: Problem, regions: frozenset[str], choice: Choice, *, seed: int = 0, check: Check = lambda: None
) -> Hiding | None:
    """Hide condition cells by rgraph, or return None."""
    state = Hiding(problem, regions & {"nc"})
    chance = np.random.default_rng(seed)
    while not state.is_safe:
        before = state.cells_hidden
        for target in range(len(problem.column)):
            if (state.unsafe & (problem.rules.target == target)).any():
                _Graph(state, target).make_safe(choice, chance, check)
        if state.cells_hidden == before:
            return None
    return state


@dataclass(slots=True)
class _Node:
    """Pattern with the rules of its subsets, ``unsafe`` of them unsafe."""

    mask: int
    codes: Codes
    below: Ints
    unsafe: int
    piles: dict[int, None] = field(default_factory=dict)
    records: int = 0


class _Graph:
    """Largest patterns of the records with one sensitive value."""

    def __init__(self, state: Hiding, target: int) -> None:
        self.state = state
        self.problem = state.problem
        self.column = int(self.problem.column[target])
        classes = self.problem.classes
        self.owners = np.unique(classes.conditions[classes.truth[:, self.column] == target], axis=0)
        self.unsafe = state.unsafe & (self.problem.rules.target == target)
        self.target = target
        self.nodes: dict[bytes, _Node] = {}
        self.of_pile: dict[int, list[_Node]] = {}
        self.holding: dict[int, list[_Node]] = {rule: [] for rule in np.flatnonzero(self.problem.rules.target == target).tolist()}
        # Records of no unsafe rule never matter: hiding others makes none of these rules stronger.
        rules = self.problem.rules
        supporting = set(rules.member[np.repeat(self.unsafe, np.diff(rules.start)) & (rules.role == RELEVANT)].tolist())
        for number, pile in enumerate(state.piles):
            if pile.of in supporting:
                self.add(number)

    def add(self, number: int) -> None:
        pile = self.state.piles[number]
        state = self.state
        shows_target = self.problem.classes.value[pile.of, self.column] == self.target
        is_hidden = pile.hidden >> (self.problem.attributes + self.column) & 1
        if number in self.of_pile or not state.people[number] or not shows_target or is_hidden:
            return
        rules, roles = state.rules_of(number)
        rules = rules[(roles == RELEVANT) & (self.problem.rules.target[rules] == self.target)]
        own = self.problem.classes.conditions[pile.of]
        published = np.array([not pile.hidden >> a & 1 for a in range(self.problem.attributes)])
        self.of_pile[number] = []
        shared = ((self.owners == own) & (own >= 0) & published) @ (1 << np.arange(len(own), dtype=np.int64))
        masks = set(shared.tolist()) - {0}
        for mask in sorted(mask for mask in masks if not any(other != mask and mask & other == mask for other in masks)):
            node = self.get_node(mask, own, rules)
            node.piles[number] = None
            node.records += state.people[number]
            self.of_pile[number].append(node)

    def get_node(self, mask: int, codes: Codes, rules: Ints) -> _Node:
        inside = np.array([mask >> a & 1 == 1 for a in range(len(codes))])
        codes = np.where(inside, codes, np.int32(-1))
        key = codes.tobytes()
        if key not in self.nodes:
            below = rules[(self.problem.rules.mask[rules] & ~mask) == 0]
            self.nodes[key] = _Node(mask, codes, below, int(self.unsafe[below].sum()))
            for rule in below.tolist():
                self.holding[rule].append(self.nodes[key])
        return self.nodes[key]

    def make_safe(self, choice: Choice, chance: np.random.Generator, check: Check) -> None:
        bound: set[int] = set()  # nodes without a cell that may be hidden
        while self.unsafe.any():
            check()
            active = [node for node in self.nodes.values() if node.unsafe and node.records and id(node) not in bound]
            if not active:
                return
            node = self.choose_node(active, choice, chance)
            cell = self.choose_cell(node)
            if cell is None:
                bound.add(id(node))
            else:
                self.hide(node, cell)

    def choose_cell(self, node: _Node) -> int | None:
        masks = self.problem.rules.mask[node.below[self.unsafe[node.below]]]
        shared = [(int((masks >> a & 1).sum()), -a) for a in range(self.problem.attributes) if node.mask >> a & 1]
        for count, a in sorted(shared, reverse=True):
            if count and any(self.state.people[number] and self.state.may_hide(number, -a) for number in node.piles):
                return -a
        return None

    def choose_node(self, active: list[_Node], choice: Choice, chance: np.random.Generator) -> _Node:
        if choice == "max-descendant":
            # A node above another has its descendants and is larger: the best one has nothing above it.
            return max(active, key=lambda node: (node.unsafe, node.mask.bit_count()))
        if choice == "random-max":
            largest = max(node.mask.bit_count() for node in active)
            top = [node for node in active if node.mask.bit_count() == largest]
            return top[int(chance.integers(len(top)))]
        while True:  # any of the others may be drawn first, so every top node is as likely
            node = active[int(chance.integers(len(active)))]
            if not any(self.is_above(other, node) for other in active):
                return node

    def is_above(self, larger: _Node, node: _Node) -> bool:
        if larger is node or node.mask & ~larger.mask:
            return False
        return bool(((node.codes < 0) | (node.codes == larger.codes)).all())

    def hide(self, node: _Node, cell: int) -> None:
        """Hide the cell until the least demanding descendant is safe."""
        state = self.state
        rules = self.problem.rules
        shared = node.below[self.unsafe[node.below] & (rules.mask[node.below] >> cell & 1 == 1)]
        needed = int(self.problem.thresholds.records_to_hide(state.having[shared], state.both[shared]).min())
        for number in list(node.piles):
            records = min(needed, state.people[number])
            if records and state.may_hide(number, cell):
                target, _ = state.hide(number, cell, records)
                needed -= records
                for left in self.of_pile[number]:
                    left.records -= records
                if target in self.of_pile:
                    for joined in self.of_pile[target]:
                        joined.records += records
                else:
                    self.add(target)
        now = state.unsafe & (rules.target == self.target)
        for rule in np.flatnonzero(now != self.unsafe).tolist():
            for holder in self.holding[rule]:
                holder.unsafe += 1 if now[rule] else -1
        self.unsafe = now


def hide_values(problem: Problem, regions: frozenset[str], check: Check = lambda: None) -> Hiding | None:
    """Hide sensitive values by smc, or return None."""
    problem = problem.keep_unsafe().merge_classes()
    state = Hiding(problem, regions & {"ns"})
    k = problem.attributes
    rules = problem.rules
    unsafe = state.unsafe
    # Unsafe rules that hiding each value would cover; sensitive columns do not touch each other's rules.
    covers = np.zeros(state.allowed[:, k:].shape, np.int64)
    left = np.where(state.allowed[:, k:], problem.classes.people[:, None], 0)

    def count(rule: int, by: int) -> None:
        inside = slice(rules.start[rule], rules.start[rule + 1])
        members = rules.member[inside][rules.role[inside] == RELEVANT]
        covers[members, problem.column[rules.target[rule]]] += by

    for rule in np.flatnonzero(unsafe).tolist():
        count(rule, 1)
    while unsafe.any():
        check()
        scores = np.where(left > 0, covers, 0)
        of, column = divmod(int(scores.argmax()), scores.shape[1])
        if scores[of, column] == 0:
            return None
        piles = [of] if scores.shape[1] == 1 else [number for number, pile in enumerate(state.piles) if pile.of == of]
        number = next(n for n in piles if state.people[n] and state.may_hide(n, k + column))
        needed = problem.thresholds.values_to_hide(state.having, state.both)
        touched = state.touched(number, k + column).rules
        records = min(state.people[number], int(needed[touched][unsafe[touched]].min()))
        state.hide(number, k + column, records)
        left[of, column] -= records
        now = state.unsafe
        for rule in touched[unsafe[touched] & ~now[touched]].tolist():
            count(rule, -1)
        unsafe = now
    return state


def hide_rule_by_rule(problem: Problem, regions: frozenset[str], check: Check = lambda: None) -> Hiding | None:
    """Hide cells by cr, or return None."""
    state = Hiding(problem, frozenset({"ns"}) if "ns" in regions else regions & {"nc"})
    while not state.is_safe:
        before = state.cells_hidden

        def rank(rule: int) -> tuple[int, Fraction, int]:
            confidence = Fraction(int(state.both[rule]), int(state.having[rule]))
            return -int(problem.rules.mask[rule]).bit_count(), -confidence, rule

        for rule in sorted(np.flatnonzero(state.unsafe).tolist(), key=rank):
            check()
            if state.unsafe[rule]:
                _make_safe(state, rule)
        if state.cells_hidden == before:
            return None
    return state


def _make_safe(state: Hiding, rule: int) -> None:
    problem = state.problem
    by_value = bool(state.allowed[:, problem.attributes :].any())
    cells = [problem.attributes + int(problem.column[problem.rules.target[rule]])] if by_value else _order_by_support(state, rule)
    unsafe = state.unsafe
    rules = problem.rules
    inside = slice(rules.start[rule], rules.start[rule + 1])
    relevant = set(rules.member[inside][rules.role[inside] == RELEVANT].tolist())
    supported = {}
    for number, pile in enumerate(state.piles):
        if pile.of in relevant and state.people[number]:
            listed, roles = state.rules_of(number)
            if rule in listed[roles == RELEVANT]:
                supported[number] = int(unsafe[listed[roles == RELEVANT]].sum())
    for number in sorted(supported, key=lambda number: (supported[number], number)):
        having = state.having[rule : rule + 1]
        both = state.both[rule : rule + 1]
        limits = problem.thresholds
        needed = int((limits.values_to_hide if by_value else limits.records_to_hide)(having, both)[0])
        if not needed:
            return
        for cell in cells:
            if state.may_hide(number, cell):
                state.hide(number, cell, min(needed, state.people[number]))
                break


def _order_by_support(state: Hiding, rule: int) -> list[int]:
    problem = state.problem
    mask = int(problem.rules.mask[rule])
    some = problem.classes.conditions[problem.rules.member[problem.rules.start[rule]]]
    people = np.array(state.people)
    of = np.array([pile.of for pile in state.piles])
    hidden = np.array([pile.hidden for pile in state.piles])
    support = {
        a: int(people[(problem.classes.conditions[of, a] == some[a]) & (hidden >> a & 1 == 0)].sum())
        for a in range(problem.attributes)
        if mask >> a & 1
    }
    return sorted(support, key=lambda a: (-support[a], a))
