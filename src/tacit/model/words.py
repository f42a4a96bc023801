"""Sentences and derivation steps of findings.

Nothing here infers anything: attacks write a finding down with these functions, and the checker writes it again and compares.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple

from tacit.model.finding import (
    THE_GROUP,
    Change,
    Citation,
    Exclusion,
    Goal,
    ItemEvent,
    Lines,
    More,
    Phrase,
    RecordsWith,
    ShownAbove,
    Step,
    Term,
    Total,
    UsedUp,
    join_phrases,
    lines_named,
    remark,
    render_bound,
)
from tacit.model.frequencies import UNBOUNDED
from tacit.model.numbers import Bound
from tacit.model.release import Header, Itemsets, Rules

__all__ = ["describe_event", "describe_printed", "join_names", "render_people"]


def render_people(count: Bound) -> str:
    """``1 person``, ``1 to 3 people``."""
    return f"{render_bound(count)} {'person' if count == Bound(1, 1) else 'people'}"


def describe_event(event: ItemEvent, count: Bound) -> str:
    """Return the predicate about the people of an event."""
    verb = "has" if count == Bound(1, 1) else "have"
    having = f"{verb} {join_names(event.present, 'and')}" if event.present else ""
    if event.not_all:
        first = f"{having} but not" if having else f"{'does' if verb == 'has' else 'do'} not have"
        return f"{first} all of {join_names(event.not_all, 'and')}"
    if not event.absent:
        return having or f"{'is' if verb == 'has' else 'are'} in the data"
    if len(event.absent) == 1:
        return f"{having} but not {event.absent[0]}" if having else f"{verb} no {event.absent[0]}"
    lacking = f"neither {join_names(event.absent, 'nor')}"
    return f"{having}, and {lacking}" if having else f"{verb} {lacking}"


def join_names(names: Sequence[str], word: str) -> str:
    """Names as in a sentence: ``a, b and c``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"


def describe_printed(text: str, count: Bound) -> str:
    """Return a line's printed text if not its count."""
    return "" if count.is_exact or not text else f", printed as {text}"


MOST_TERMS = 32  #: Sums of more terms than this are given as one number.
MOST_STEPS = 40  #: Derivations through more unpublished itemsets than this are not written out step by step.

Set = frozenset[str]
#: Bounds on a published support and its place; None where no line has it.
Published = Callable[[Set], tuple[int, int, Phrase] | None]


def explain_derivation(
    release: Itemsets,
    indexes: Iterable[int],
    steps: Sequence[Mapping[str, Any]],
    event: ItemEvent,
    count: Bound,
    published: Published,
) -> list[Step]:
    """Return the derivation of a group from its certificate, after the inexact lines that it names."""
    by_items: dict[Set, list[Mapping[str, Any]]] = {}
    for step in steps:
        by_items.setdefault(frozenset(step["items"]), []).append(step)
    if len(by_items) > MOST_STEPS:
        many = f"{len(by_items):,} unpublished subsets"
        return [remark(f"It follows through {many}, too many to write out here; all published lines are cited.")]
    story = _Story(published, release.header)
    out: list[Step] = [step for items, entries in by_items.items() for step in story.explain(items, entries)]
    present = frozenset(event.present)
    out.append(remark(*story.render_group(present.union(event.absent), present), f" people, that is {render_people(count)}."))
    named = {number for step in out for place in lines_named(step) for number in place.numbers}
    return [*explain_printed(release, [index for index in indexes if release.line(index) in named]), *out]


_NO_BOUND = 1 << 60


class _Story:
    """Bounds on unpublished supports, each explained once."""

    def __init__(self, published: Published, header: Header) -> None:
        self.published = published
        self.header = header
        self.threshold = header.min_support or 1
        self.shown: dict[Set, tuple[int, int]] = {}

    def explain(self, items: Set, entries: Sequence[Mapping[str, Any]]) -> Iterator[Step]:
        at_most = self.threshold - 1 if self.header.covers(len(items)) else _NO_BOUND
        least, most = self.shown.get(items, (0, at_most))
        yield remark(f"No line says how many people have {join_names(sorted(items), 'and')}; call it x.")
        for entry in entries:
            side, value = ("least", entry["at_least"]) if "at_least" in entry else ("most", entry["at_most"])
            if entry["by"] == "group":
                group = self.render_group(items, frozenset(entry["present"]))
                yield remark(*group, f" people cannot be negative: x is at {side} {value:,}.")
            else:
                longest = self.header.max_length
                up_to = "" if longest is None else f", up to {longest} item{'s' if longest > 1 else ''},"
                complete = f"The list is complete down to {self.threshold:,} people{up_to} and leaves it out"
                yield remark(f"{complete}: x is at most {value:,}.")
            if side == "least":
                least = max(least, value)
            else:
                most = min(most, value)
        self.shown[items] = (least, most)
        yield remark(f"So x is {least:,}." if least == most else f"So x is between {least:,} and {most:,}.")

    def render_group(self, whole: Set, has: Set) -> Phrase:
        rest = sorted(whole - has)
        who = f"with {join_names(sorted(has), 'and')}" if has else "of all people"
        without = f" without {join_names(rest, 'or')}" if rest else ""
        terms: list[Phrase] = []
        lo = hi = 0
        for mask in range((1 << len(rest)) - 1):
            low, high, place = self._support(has | {item for number, item in enumerate(rest) if mask >> number & 1})
            if mask.bit_count() % 2:
                sign = "- "
                lo = lo - high
                hi = hi - low
            else:
                sign = "+ " if terms else ""
                lo = lo + low
                hi = hi + high
            terms.append((f"{sign}{_render_ends(low, high)} (", *place, ") "))
        if len(terms) > MOST_TERMS:
            terms = [(f"{_render_ends(lo, hi)} (a sum of {len(terms)} supports) ",)]
        last = "- x" if len(rest) % 2 else "+ x" if terms else "x"
        result = f" = {_render_ends(lo, hi)} {last}" if len(terms) > 1 else ""
        return (f"Those {who}{without}: ", *(part for term in terms for part in term), f"{last}{result}")

    def _support(self, items: Set) -> tuple[int, int, Phrase]:
        found = self.published(items)
        return (*self.shown[items], ("from above",)) if found is None else found


def _render_ends(lo: int, hi: int) -> str:
    return f"{lo:,}" if lo == hi else f"[{lo:,} to {hi:,}]"


SHOWN_TERMS = 16  #: How many terms of a sum the steps show; the certificate holds all of them.
AXES = ("item", "column", "people", "change", "item_change")  #: The kinds of axes of which a box allows some values.
CHANGES = ("change", "item_change")  #: Those of them that are about what somebody had and has.

HAS = "has"  #: The only value of an item's axis that somebody with the item has.

Box = Mapping[Any, Any]  #: A box: for each axis, by its kind and name, some values and whether it is all but these.


@dataclass(frozen=True, slots=True)
class CitedStatement:
    """Statement of a place: ``lo <= sum of factor * people <= hi``."""

    terms: Sequence[tuple[Fraction | int, Box]]
    lo: int | None
    hi: int | None
    release: str
    place: int | str
    what: str
    items: Sequence[str]
    printed: Bound
    text: str = ""


LookUp = Callable[[Mapping[str, Any]], CitedStatement]  #: Looks up what an entry of a certificate cites.


def state_joint(event: ItemEvent, count: Bound, names: Sequence[str]) -> str:
    """Return the statement of X01 about named populations."""
    told = describe_event(event, count)
    if event.changes:
        verb = "has" if count == Bound(1, 1) else "have"
        changed = join_names([describe_change(change, names, verb) for change in event.changes], "and")
        having = f"with {join_names(event.present, 'and')}" if event.present else ""
        lacking = f"without {join_names(event.absent, 'or')}" if event.absent else ""
        told = ", ".join(part for part in (changed, having, lacking) if part)
    among = ""
    if event.inside:
        every = {1: "", 2: "both "}.get(len(event.inside), "all of ")
        among = f", among the people of {every}{join_names([names[number] for number in event.inside], 'and')}"
        if event.outside:
            among += f" who are not in {join_names([names[number] for number in event.outside], 'nor')}"
    return f"{render_people(count)} {told}{among}."


def explain_joint(certificate: Mapping[str, Any], look_up: LookUp) -> list[Step]:
    """Return the sums of a certificate's ends, if different."""
    least = certificate["least"]
    most = certificate["most"]
    claim = certificate["claim"]
    single = len(least) == 1 and len(most) == 1 and claim["at_least"] == claim["at_most"]
    if single and "weights" in least[0] and "weights" in most[0] and _weights(least[0], -1) == _weights(most[0], 1):
        return [*_explain_terms(least[0], look_up), Total(Bound.of(claim["at_least"]))]
    out: list[Step] = []
    for proof in (least, most):
        for number, step in enumerate(proof):
            is_last = number == len(proof) - 1
            out.append(_make_goal(step, THE_GROUP if is_last else _describe_group(step["event"])))
            out += map(remark, _describe_cases(step)) if "split" in step else _explain_terms(step, look_up)
    return out


def _make_goal(step: Mapping[str, Any], group: str) -> Goal:
    return Goal("least", step["at_least"], group) if "at_least" in step else Goal("most", step["at_most"], group)


def _weights(step: Mapping[str, Any], sign: int) -> dict[str, Fraction]:
    out = {}
    for entry in step["weights"]:
        cited = {name: value for name, value in entry.items() if name != "weight"}
        out[json.dumps(cited, sort_keys=True)] = sign * Fraction(entry["weight"])
    return out


def _describe_cases(case: Mapping[str, Any], depth: int = 0) -> list[str]:
    if "split" not in case:
        shown = "nobody at all fits the lines" if case.get("impossible") else "the lines show it"
        return [f"{'in that case ' * bool(depth)}{shown}"]
    fewer, more = _describe_split(case["split"])
    return [f"if {fewer}:", *_describe_cases(case["le"], depth + 1), f"if {more}:", *_describe_cases(case["ge"], depth + 1)]


def _describe_split(split: Mapping[str, Any]) -> tuple[str, str]:
    if "event" in split:
        group = _describe_group(split["event"])
        at = split["at"]
        return f"{group} number at most {at:,}", f"{group} number at least {at + 1:,}"
    if split["what"] == "missing-rule":
        return f"the {split['cell']} has too little support", f"the {split['cell']} has too little confidence"
    place = f"line {split['line']}" if "line" in split else f"cell {split['cell']}"
    return f"{place} stands for nobody", f"{place} stands for as many people as are not hidden"


def _explain_terms(step: Mapping[str, Any], look_up: LookUp, *, names_groups: bool = True) -> list[Step]:
    """Return the terms of a sum, signed as lower bound."""
    out: list[Step] = []
    sign = 1 if "at_least" in step else -1
    for entry in step["weights"][:SHOWN_TERMS]:
        weight = Fraction(entry["weight"])
        if "step" in entry:
            # Where groups are not named, a step that bounds one from above counts its people negatively.
            out.append(ShownAbove(weight * sign if names_groups else abs(weight), entry["step"] + 1))
            continue
        said = look_up(entry)
        bound = said.lo if weight > 0 else said.hi
        assert bound is not None
        at = said.place
        what = ""
        where: Phrase = (Lines((at,), said.release) if isinstance(at, int) else f"{said.release}, {at}",)
        if names_groups:
            what, where = _describe_line(said)
        out.append(Term(weight * sign, Bound.of(bound), what, where))
    return [*out, *_count_hidden_terms(len(step["weights"]) - SHOWN_TERMS)]


def _count_hidden_terms(number: int) -> list[Step]:
    return [More(number, "terms, which the certificate lists")] if number > 0 else []


def _describe_line(said: CitedStatement) -> tuple[str, Phrase]:
    name = said.release
    place = said.place
    what = said.what
    where: Phrase = (Lines((place,), name),) if isinstance(place, int) else (name,)
    if what == "count" and isinstance(place, str):
        where = (f"{name}, cell {place}",)
    if what == "n":
        return "all people", (name,)
    if what in ("left", "joined"):
        return f"people who {what}, as declared", ()
    if what == "changed":
        return f"people who have another {said.items[0]} than before, as declared", ()
    if what == "all-values":
        return f"people with another {said.items[0]}, as {name} lists all of its values", ()
    if what == "matched":
        return f"{describe_box(said.terms[0][1])}, as whoever matches {place} has no later one first", (name,)
    if what == "unmatched":
        return f"{describe_box(said.terms[0][1])}, as they do not match {place}", (name,)
    if what == "fact":
        return f"{describe_box(said.terms[0][1])}, as is also known", (str(place),)
    return _describe_counted(said), where


def _describe_counted(said: CitedStatement) -> str:
    what = said.what
    if what == "closed":
        return f"{describe_box(said.terms[0][1])}, at least, as the itemset is closed"
    if what == "closure":
        return f"{describe_box(said.terms[0][1])}, as every listed itemset with the others has {said.items[-1]} too"
    if len(said.terms) > 2 and what != "missing-share":
        groups = [f"{'' if factor == 1 else f'{factor} times '}{describe_box(box)}" for factor, box in said.terms]
        return join_names(groups, "and")
    if len(said.terms) == 2:
        (first, left), (second, right) = said.terms
        why = "as that rule is missing" if what == "missing-share" else "by the confidence"
        return f"{first} for {describe_box(left)} and {second} for {describe_box(right)}, at least, {why}"
    counted = describe_box(said.terms[0][1])
    if what == "count" and not said.printed.is_exact:
        count = said.printed
        means = f"{count.lo:,} or more" if count.hi >= UNBOUNDED else f"{count.lo:,} to {count.hi:,}"
        return f"{counted}{describe_printed(said.text, count) or ', hidden'}, that is {means}"
    if what == "missing-rule":
        return f"{counted}, at most, as that rule is missing"
    return f"{counted}, too few to be listed" if what == "missing" else counted


def describe_box(box: Box) -> str:
    """Return the people of a box."""
    parts = []
    for (kind, name), (values, excluded) in sorted(box.items(), key=lambda entry: entry[0]):
        if kind != "people":
            parts.append(_describe_axis(kind, name, sorted(values), excluded))
    return f"people with {join_names(parts, 'and')}" if parts else "all people"


def _describe_axis(kind: str, name: str, values: Sequence[str], excluded: bool) -> str:
    if kind in CHANGES:
        return describe_histories(kind, name, values)
    named = name if kind == "item" else f"{name}={' or '.join(values)}"
    return f"not {named}" if excluded else named


def _describe_group(event: Sequence[Mapping[str, Any]]) -> str:
    parts = _describe_axes(event)
    return f"people with {join_names(parts, 'and')}" if parts else "people"


def _describe_axes(event: Sequence[Mapping[str, Any]]) -> list[str]:
    parts = []
    for entry in event:
        kind = next(name for name in AXES if name in entry)
        if kind != "people":
            parts.append(_describe_axis(kind, entry[kind], entry["values"], entry["excluded"]))
    return parts


# Groups of which everybody has one sensitive value


def state_full_group(event: Mapping[str, Sequence[str]], sensitive: str, count: Bound, table: str = "") -> str:
    """Return the statement that a whole group shares values."""
    values = " or ".join(event[sensitive])
    others = [(name, allowed) for name, allowed in event.items() if name != sensitive]
    parts = [name if list(allowed) == [HAS] else f"{name}={' or '.join(allowed)}" for name, allowed in others]
    who = f" with {' and '.join(parts)}" if parts else ""
    number = f"at least {render_people(Bound.of(count.lo))}" if count.hi >= UNBOUNDED else render_people(count)
    if table:
        return f"The hidden {sensitive} of {number}{who} is {values} ({table})."
    return f"Everyone{who} has {sensitive}={values} ({number})."


def explain_full_group(certificate: Mapping[str, Any], look_up: LookUp, table: str = "") -> list[Step]:
    """Return the sums of a certificate about one value."""
    out: list[Step] = []
    for proof in (step for name in ("least", "most", "others") for step in certificate[name]):
        parts = _describe_axes(proof["event"])
        out.append(_make_goal(proof, f"people with {' and '.join(parts)}" if parts else "people"))
        if "split" in proof:
            out.append(remark("by distinguishing cases, which the certificate lists"))
        else:
            out += _explain_terms(proof, look_up, names_groups=False)
    if not certificate["others"]:
        out.append(remark(f"{certificate['sensitive']} has no other values."))
    elif table:
        shown = f"{certificate['blanks']['shown']:,}"
        out.append(remark(f"{table} shows another value in as many rows ({shown}), so no blank hides one."))
    return out


# Sums about known people


@dataclass(frozen=True, slots=True)
class Counted:
    """Weighted statement about people with a value."""

    weight: int
    lo: int
    hi: int
    whole: int
    who: str
    has: str
    where: Phrase

    @property
    def end(self) -> int:
        """The end that counts."""
        return self.hi if self.weight > 0 else self.lo

    def step(self) -> Term:
        """Return the statement as a term of the sum."""
        side = "exactly" if self.lo == self.hi else "at most" if self.weight > 0 else "at least"
        group = f"of {'the' if self.who else 'all'} {render_people(Bound.of(self.whole))}{self.who}"
        return Term(self.weight, Bound.of(self.end), f"{side} {self.end:,} {group} have {self.has}", self.where)

    def only_step(self, *, names_place_first: bool) -> Step | None:
        """Return the only step if it is enough for the proof."""
        if self.weight < 0 and self.lo == self.whole:
            text = f"all {render_people(Bound.of(self.whole))}{self.who} have {self.has}"
        elif self.weight > 0 and self.hi == 0:
            text = f"nobody{self.who} has {self.has}"
        else:
            return None
        if not names_place_first:
            return remark(f"{_capitalize(text)} (", *self.where, ").")
        first, *rest = self.where
        return remark(_capitalize(first) if isinstance(first, str) else first, *rest, f": {text}.")


@dataclass(frozen=True, slots=True)
class CountedPeople:
    """Known people in the same terms, counted ``weight`` times.

    ``asked``: they have the combination in question.
    """

    weight: int
    people: int
    asked: bool
    terms: tuple[int, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the people as in a certificate, where terms are numbered from 1."""
        terms = [term + 1 for term in self.terms]
        return {"people": self.people, "asked": self.asked, "terms": terms, "weight": str(self.weight)}

    def step(self, statements: Sequence[Counted], between: str) -> Term:
        """Return the people as a term of the sum."""
        who = "people asked about" if self.asked else "known people of whom these speak"
        where = join_phrases([statements[term].where for term in self.terms], between)
        return Term(self.weight, Bound.of(self.people), who, where or ("nothing above",))


def explain_sum(
    statements: Sequence[Counted],
    groups: Sequence[CountedPeople],
    has: str,
    below: int,
    *,
    between: str,
    shown: int | None = None,
) -> list[Step]:
    """Return the steps of a sum that excludes values."""
    steps: list[Step] = [one.step() for one in statements[:shown]]
    if shown is not None:
        steps += _count_hidden_terms(len(statements) - shown)
    steps += [group.step(statements, between) for group in groups[:shown]]
    if shown is not None and len(groups) > shown:
        steps.append(More(len(groups) - shown, "groups of people, which the certificate lists"))
    total = sum(one.weight * one.end for one in statements) + sum(group.weight * group.people for group in groups)
    more = f"Anyone asked about who has {has} would make this sum at least {below:,}."
    return [*steps, Total(Bound.of(total)), remark(f"{more} It is {total:,}, so nobody does.")]


def explain_only_values(sensitive: str, number: int) -> Step:
    """Return the step for a column without excludable values."""
    return remark(f"{sensitive} has only {number:,} {'value' if number == 1 else 'values'}.")


def state_values(who: str, number: int, sensitive: str, left: Sequence[str]) -> str:
    """Return the statement about the values that people keep."""
    those = f"The {'one person' if number == 1 else f'{number:,} people'} with {who}"
    if len(left) == 1:
        return f"{those} certainly {'has' if number == 1 else 'have'} {sensitive} {left[0]}."
    return f"{those} can only have {sensitive} {join_names(left, 'or')}."


def _capitalize(text: str) -> str:
    return text[0].upper() + text[1:]


# Changes between two releases


def describe_change(change: Change, names: Sequence[str], verb: str) -> str:
    """Return a change in words, after ``1 person``."""
    if change.is_any:
        return f"changed {change.name}"
    sides = (change.before, change.after)
    before, after = (" and ".join([*present, *(f"not {name}" for name in absent)]) for present, absent in sides)
    if before and after:
        return f"kept {before}" if before == after else f"changed from {before} to {after}"
    return f"had {before} in {names[0]}" if before else f"{verb} {after} in {names[1]}"


def has_changed(history: str) -> bool:
    """Return True if a person with this history has changed."""
    values = json.loads(history)
    return len(values) > 2 or values[0] != values[1]


def describe_histories(kind: str, name: str, inside: Collection[str]) -> str:
    """Return histories in words, by the half counted."""
    if all(map(has_changed, inside)):
        return f"another {name}"
    read = [json.loads(one) for one in inside]
    half = min(({values[place] for values in read} for place in (0, 1)), key=len)
    if kind == "item_change":
        return name if None not in half else f"not {name}"
    return f"{name}={' or '.join(sorted(str(value) for value in half if value is not None))}"


# Sums of published supports


def explain_supports(terms: Mapping[int | str, Term], count: Bound) -> list[Step]:
    """Return a sum of supports, the largest contributions first.

    A reader starts from the widest group and takes away.
    """
    order = sorted(terms, key=lambda place: (-terms[place].bound.hi, str(place)))
    steps: list[Step] = [terms[place] for place in order[:SHOWN_TERMS]]
    if len(order) > SHOWN_TERMS:
        steps.append(More(len(order) - SHOWN_TERMS, "terms, all listed as published lines with their weights"))
    return [*steps, Total(count)]


def explain_rule_sum(
    event: ItemEvent,
    count: Bound,
    proof: Sequence[Mapping[str, Any]],
    *,
    release: Rules,
    values: Collection[str],
    index_of: Callable[[int], int],
) -> list[Step] | None:
    """Return the sum behind a group of R01, or None if not a sum.

    A set is a term if a line prints its number or that of its antecedent. With all values of the sensitive column but one, it is the number of
    the antecedent less those of the other values. ``values`` are those of the sensitive column, ``index_of`` the rule of a line.
    """
    summands = _RuleSum(proof, frozenset(values))
    has = frozenset(event.present)
    lacks = sorted(event.absent)
    sets: list[tuple[int, frozenset[str]]] = [(1, has)]
    if event.not_all:
        sets.append((-1, has | set(event.not_all)))
    elif len(lacks) > 1 and summands.values.issuperset(lacks):  # nobody has two of them
        sets += [(-1, has | {value}) for value in lacks]
    else:
        sets = [((-1) ** size, has | set(some)) for size in range(len(lacks) + 1) for some in combinations(lacks, size)]
    if len(sets) > SHOWN_TERMS or not all(summands.add(items, times) for times, items in sets):
        return None
    terms: dict[int | str, Term] = {}
    total = Bound.of(0)
    for (items, by, line), times in summands.times.items():
        if not times:
            continue
        bound = summands.bounds[items, by, line]
        term = Term(times, bound, "all people", ("n",))
        terms[f"{by} {line} {sorted(items)}"] = (
            term if by == "n" else _name_rule_term(term, items, by, (release, line, index_of(line)))
        )
        ends = (times * bound.lo, times * bound.hi)
        total = Bound(total.lo + min(ends), total.hi + max(ends))
    return explain_supports(terms, count) if total == count and len(terms) <= SHOWN_TERMS else None


_Summand = tuple[frozenset[str], str, int]  #: A set of items, the law that gives its number, and the line (0: the header).


class _RuleSum:
    """Printed numbers that make up a sum, each with how often it is counted."""

    def __init__(self, proof: Sequence[Mapping[str, Any]], values: frozenset[str]) -> None:
        self.values = values
        self.bounds: dict[_Summand, Bound] = {}
        self.times: dict[_Summand, int] = {}
        self._parents: dict[frozenset[str], frozenset[str]] = {}
        ends: dict[_Summand, dict[str, int]] = {}
        for step in proof:
            items = frozenset(step["items"])
            if step["by"] in ("count", "antecedent", "n"):
                own = ends.setdefault((items, step["by"], int(step.get("line", 0))), {})
                own |= {end: int(step[end]) for end in ("at_least", "at_most") if end in step}
            elif step["by"] == "values":
                self._parents.setdefault(items, frozenset(step["from"]))
        self.bounds = {key: Bound(own["at_least"], own["at_most"]) for key, own in ends.items() if len(own) == 2}

    def add(self, items: frozenset[str], times: int) -> bool:
        """Add the number of a set; return False if it does not follow from what is printed."""
        if self._add_printed(items, times):
            return True
        parent = self._parents.get(items)
        if parent is None or len(items - parent) != 1 or not items - parent <= self.values:
            return False
        others = [parent | {value} for value in sorted(self.values - items)]
        return self._add_printed(parent, times) and all(self._add_printed(other, -times) for other in others)

    def _add_printed(self, items: frozenset[str], times: int) -> bool:
        key = next((key for key in self.bounds if key[0] == items), None)
        if key is not None:
            self.times[key] = self.times.get(key, 0) + times
        return key is not None


def _name_rule_term(term: Term, items: frozenset[str], by: str, at: tuple[Rules, int, int]) -> Term:
    """Return a term with its group and its line.

    ``at`` is a release, a line of its file and the rule of that line.
    """
    release, line, index = at
    where: Phrase = (Lines((line,)),)
    printed = ""
    is_withheld = release.support is None and not release.count(index).is_exact
    is_confident = release.confidence is None or release.confidence.digits[index] >= 0
    if is_withheld or (by == "antecedent" and not is_confident):
        where = (*where, ", as far as the thresholds show")
    elif by == "antecedent":
        where = (*where, ", its count divided by its confidence")
    elif release.support is not None and not term.bound.is_exact:
        printed = release.support.text(index)
    return replace(term, what=f"people with {join_names(sorted(items), 'and')}", where=where, printed=printed)


def make_support_term(release: Itemsets, index: int, weight: int) -> Term:
    """Return a line, or all people (-1), as a term."""
    if index < 0:
        return Term(weight, Bound.of(release.n or 0), "all people", ("n",))
    count = release.count(index)
    what = f"people with {join_names(sorted(release.names(index)), 'and')}"
    return Term(weight, count, what, (Lines((release.line(index),)),), "" if count.is_exact else release.text(index))


def explain_printed(release: Itemsets, indexes: Iterable[int]) -> list[Step]:
    """Return the steps that explain inexact counts."""
    return [
        remark(
            Lines((release.line(index),)), f": {release.text(index)} is printed, that is {render_people(release.count(index))}."
        )
        for index in indexes
        if not release.count(index).is_exact and release.text(index)
    ]


def explain_maximal(release: Itemsets, index: int, other: int, lacked: str | None) -> list[Step]:
    """Return the steps about two maximal itemsets, or one and a lacked item."""
    least = release.min_support or 1
    union = {*release.names(index), *(release.names(other) if lacked is None else [lacked])}
    together = join_names([name for name in release.items.names if name in union], "and")
    counts = [(release.line(one), release.count(one)) for one in (index, other)]
    first, second = ((f"{_render_ends(count.lo, count.hi)} (", Lines((line,)), ")") for line, count in counts)
    steps = explain_printed(release, sorted((index, other)))
    complete = f"The list is complete down to {least:,} people and no line holds {together}"
    steps.append(remark(f"{complete}: at most {least - 1:,} people have them all."))
    if lacked is None:
        return [*steps, remark(f"Those with {together}: at least ", *first, " + ", *second, f" - {release.n:,} (n) people.")]
    had = join_names(release.names(index), "and")
    steps.append(remark(f"Those with {had} without {lacked}: at least ", *first, f" - {least - 1:,} people."))
    return [*steps, remark(f"Those without {lacked}: at most {release.n:,} (n) - ", *second, " people.")]


# People of a bucket


class BucketLine(NamedTuple):
    """Line of a sensitive table: number of people of a group with a value."""

    line: int
    value: str
    people: int


@dataclass(frozen=True, slots=True)
class Matching:
    """Remaining values of a person of a group, and reasons against the others."""

    facts: tuple[Exclusion, ...]
    ruled_out: tuple[str, ...]
    used_up: tuple[str, ...]
    users: int
    left: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the argument as in a certificate."""
        facts = [
            {
                "where": one.source,
                "event": {column: list(values) for column, values in sorted(one.event.items())},
                "not": one.value,
            }
            for one in self.facts
        ]
        out: dict[str, Any] = {"facts": facts, "ruled_out": list(self.ruled_out), "used_up": list(self.used_up)}
        return out | {"users": self.users, "left": list(self.left)}

    def cite(self, release: int, lines: Sequence[BucketLine]) -> list[Citation]:
        """Return the lines of the group, the facts and the values that are used up."""
        cited = [Citation(release, one.line, Bound.of(one.people), None) for one in lines]
        cited += [Citation(release, fact, Bound.of(0), None) for fact in self.facts]
        return [*cited, Citation(release, UsedUp(self.used_up), Bound.of(self.users), None)] if self.used_up else cited

    def explain(self, group: str, sensitive: str, lines: Sequence[BucketLine], people: int) -> Iterator[Step]:
        """Yield the steps of the argument about equal people of a group."""
        held = ", ".join(f"{one.value} ({one.people:,})" for one in lines)
        everyone = render_people(Bound.of(sum(one.people for one in lines)))
        yield remark(f"The {everyone} of group {group} have {sensitive} {held} (", Lines(tuple(one.line for one in lines)), ").")
        for fact in self.facts:
            yield remark(f"{fact.source}: nobody{_describe_known(fact.event)} has {sensitive} {fact.value}.")
        they = "this person" if people == 1 else f"these {people:,} people"
        if self.ruled_out:
            yield remark(f"{they.capitalize()} cannot have {join_names(self.ruled_out, 'or')}.")
        if self.used_up:
            times = "once" if self.users == 1 else f"{self.users:,} times"
            occur = "occurs" if len(self.used_up) == 1 else "occur"
            only = f"{render_people(Bound.of(self.users))} of the group can only have {join_names(self.used_up, 'or')}"
            yield remark(f"{only}, which {occur} {times}: nobody else has it.")
        yield remark(f"So {they} {'has' if people == 1 else 'have'} {join_names(self.left, 'or')}.")


_SHOWN_VALUES = 6  #: How many values of a column a step names.


def _describe_known(event: Mapping[str, Sequence[str]]) -> str:
    parts = []
    for column, values in sorted(event.items()):
        more = len(values) - _SHOWN_VALUES
        named = f"{', '.join(values[:_SHOWN_VALUES])} or {more:,} more" if more > 0 else join_names(values, "or")
        parts.append(f"{column} {named}")
    return f" with {' and '.join(parts)}" if parts else ""


# Blank cells of a table

_SHOWN_ROWS = 8  #: How many rows a step names.


@dataclass(frozen=True, slots=True)
class BlankRule:
    """Rule about blank cells: pattern, value, counts, revealed rows."""

    pattern: Mapping[str, str]
    column: str
    value: str
    whole: int
    both: int
    rows: Sequence[int]

    def state(self, confidence: Fraction, support: int) -> tuple[str, tuple[str, ...]]:
        """Return the sentence and the steps of an unsafe rule."""
        fits = describe_pattern(self.pattern)
        share = render_percent(self.both, self.whole)
        of = render_records(len(self.rows))
        shows = f"{show_or_shows(self.both)} {self.column} {self.value}"
        need = f"{render_percent(confidence.numerator, confidence.denominator)} and {render_records(support)}"
        head = f"{self.both:,} of the {render_records(self.whole)} with {fits} {shows} ({share})"
        return f"{head}, which reveals the {self.column} of {of}.", (
            f"{render_records(self.whole)} {show_or_shows(self.whole)} {fits}.",
            f"{self.both:,} of them {shows}; a blank shows nothing.",
            f"{self.both:,} / {self.whole:,} = {share}, which is more than {need} allow.",
            f"So a reader takes {self.value} for the {self.column} of {of} with {fits}: {render_rows(self.rows)}.",
        )

    def state_shown(self) -> tuple[str, tuple[str, ...]]:
        """Return the sentence and the step about protected cells that are shown."""
        cell = f"{self.column} {self.value}"
        verb = "is" if len(self.rows) == 1 else "are"
        statement = f"The {cell} of {render_records(len(self.rows))} that {verb} to be protected is published as it is."
        return statement, (f"The table shows {cell} in {render_rows(self.rows)}.",)

    def cite(self, release: int, line: Callable[[int], int]) -> tuple[Citation, ...]:
        """Return both counts, and the lines of the revealed records."""
        both = dict(self.pattern) | {self.column: self.value}
        cells = [(self.pattern, self.whole), (both, self.both)] if self.pattern else []
        counts = [Citation(release, RecordsWith(one), Bound.of(n), None) for one, n in cells]
        return (*counts, *(Citation(release, line(row), Bound.of(1), None) for row in self.rows))


CITED_ROWS = 20  #: Classes of more rows are cited without their lines.


@dataclass(frozen=True, slots=True)
class Shared:
    """A sensitive value that at least ``shown`` of at most ``whole`` people have."""

    value: str
    shown: int
    whole: int

    @property
    def part(self) -> Fraction:
        """The smallest share of people with the value."""
        return Fraction(self.shown, max(1, self.whole))


@dataclass(frozen=True, slots=True)
class PeopleAlike:
    """People of a table with the same quasi-identifiers.

    ``told`` are the sensitive columns with fewer than l possible values, ``sure`` those with a value of too large a share. ``lines`` are
    those of the rows that show the pattern, or more than are cited.
    """

    pattern: Mapping[str, str]
    count: Bound
    told: Mapping[str, Sequence[str]]
    sure: Mapping[str, Shared]
    lines: Sequence[int]

    @property
    def cited(self) -> list[int]:
        """Lines that are cited: all of a small class, none of a large one."""
        return list(self.lines) if len(self.lines) <= CITED_ROWS else []

    def state(self, k: int, least: int, limit: Fraction | None) -> tuple[str, tuple[Step, ...]]:
        """Return the sentence and the steps about an exposed class."""
        fits = describe_pattern(self.pattern) or "any quasi-identifiers"
        is_one = self.count == Bound(1, 1)
        is_small = self.count.hi < k
        told = " and ".join(f"{column} {' or '.join(values)}" for column, values in self.told.items())
        shares = []
        for column, one in self.sure.items():
            of = "of the" if self.count.is_exact else "or more of the"
            shares.append(f"{one.shown:,} {of} {render_people(self.count)} with {fits} have {column} {one.value}")
        if is_small:
            all_with = f"{', with' if is_one else ', all with'} {told}" if told else ""
            statement = f"{render_people(self.count)} {'has' if is_one else 'have'} {fits}{all_with}."
        elif told:
            who = f"The only person with {fits} has" if is_one else f"All {render_people(self.count)} with {fits} have"
            statement = f"{who} {told}."
        else:
            statement = f"{'; '.join(shares)}."
        rows = "1 row shows" if self.count.lo == 1 else f"{self.count.lo:,} rows show"
        where: tuple[str | Lines, ...] = (": ", Lines(tuple(self.cited))) if self.cited else ()
        steps = [remark(f"{rows} {fits}", *where, ".")]
        if more := self.count.hi - self.count.lo:
            others = "1 more row may" if more == 1 else f"{more:,} more rows may"
            steps.append(remark(f"{others} belong to them: each cell is the same or blank."))
        if is_small:
            most = "That is" if self.count.is_exact else "That is at most"
            steps.append(remark(f"{most} {render_people(Bound.of(self.count.hi))}, fewer than {k:,}."))
        for column, values in self.told.items():
            number = "1 value" if len(values) == 1 else f"{len(values):,} values"
            steps.append(
                remark(f"These rows show {column} {' or '.join(values)} and nothing else: {number}, fewer than {least:,}.")
            )
        for column, one in self.sure.items():
            assert limit is not None
            share = f"{one.shown:,} / {one.whole:,} = {render_percent(one.shown, one.whole)}"
            allowed = render_percent(limit.numerator, limit.denominator)
            steps.append(
                remark(f"Of at most {one.whole:,}, {one.shown:,} show {column} {one.value}: {share}, more than {allowed}.")
            )
        return statement, tuple(steps)

    def cite(self, release: int) -> tuple[Citation, ...]:
        """Return the number of rows with the pattern, and their lines."""
        whole = Citation(release, RecordsWith(self.pattern), self.count, None)
        return (whole, *(Citation(release, line, Bound.of(1), None) for line in self.cited))


def describe_pattern(pattern: Mapping[str, str]) -> str:
    """Return a pattern in words."""
    return ", ".join(f"{column}={value}" for column, value in pattern.items())


def render_percent(part: int, whole: int) -> str:
    """Percentage rounded to at most one decimal."""
    return f"{round(100 * part / whole, 1):g} %"


def render_records(number: int) -> str:
    """Return a number of records in words."""
    return "1 record" if number == 1 else f"{number:,} records"


def show_or_shows(number: int) -> str:
    """Return the verb after a number of records."""
    return "shows" if number == 1 else "show"


def render_rows(numbers: Sequence[int]) -> str:
    """Row numbers for a sentence, counted from 0 and truncated."""
    if len(numbers) == 1:
        return f"row {numbers[0]}"
    shown = [str(number) for number in numbers[:_SHOWN_ROWS]]
    last = f"{len(numbers) - _SHOWN_ROWS:,} more" if len(numbers) > _SHOWN_ROWS else shown.pop()
    return f"rows {', '.join(shown)} and {last}"
