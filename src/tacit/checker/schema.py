"""Strict schema of an audit record and of its certificates.

A record with a key that no audit has, without one that every audit has, or with a value of another type is refused before anything is checked.
Numbers are bounded, so that none of them can keep the checker busy.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

Check = Callable[[Any, str], None]  #: Says what is wrong with a value, by raising :class:`Wrong`.

MOST = 1 << 63  #: Whole numbers of a record stay below this.
MOST_DIGITS = 400  #: Digits of a weight at most.
MOST_DEPTH = 110  #: Cases inside cases of a proof at most.

_ID = re.compile(r"[A-Z][0-9]{2}-[0-9a-f]{12}")
_WEIGHT = re.compile(r"-?[0-9]+(/[0-9]+)?")


class Wrong(Exception):
    """Place of a record, and its error."""

    def __init__(self, place: str, what: str) -> None:
        super().__init__(f"{place or 'the record'} {what}")


def check_schema(record: Any) -> None:
    """Raise :class:`Wrong` unless a record fits the schema."""
    _RECORD(record, "")


# Kinds of values


def kind(fits: Callable[[Any], bool], problem: str) -> Check:
    """Check that a value fits, or say the problem."""

    def check(value: Any, place: str) -> None:
        if not fits(value):
            raise Wrong(place, problem)

    return check


def both(*checks: Check) -> Check:
    """Check a value by several checks, one after the other."""

    def check(value: Any, place: str) -> None:
        for one in checks:
            one(value, place)

    return check


def either(*checks: Check) -> Check:
    """Check a value that is of one of several kinds."""

    def check(value: Any, place: str) -> None:
        for one in checks[:-1]:
            with suppress(Wrong):
                return one(value, place)
        return checks[-1](value, place)

    return check


def maybe(check: Check) -> Check:
    """Check such a value, or null."""
    return either(kind(lambda value: value is None, "is not null"), check)


def one_of(*choices: Any) -> Check:
    """Check that a value is one of these."""

    def is_choice(value: Any) -> bool:
        return any(value is choice or (isinstance(value, str) and value == choice) for choice in choices)

    return kind(is_choice, "is something else than an audit writes")


def list_of(check: Check) -> Check:
    """Check a list of such values."""

    def every(value: Any, place: str) -> None:
        if not isinstance(value, list):
            raise Wrong(place, "is not a list")
        for index, one in enumerate(value):
            check(one, f"{place}[{index}]")

    return every


def map_of(check: Check) -> Check:
    """Check an object of such values, under any names."""

    def every(value: Any, place: str) -> None:
        if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
            raise Wrong(place, "is not an object")
        for one in value.values():
            check(one, place)

    return every


def fields(needed: Mapping[str, Check], others: Mapping[str, Check] | None = None) -> Check:
    """Check an object with these and optional entries only."""
    allowed = {**needed, **(others or {})}

    def check(value: Any, place: str) -> None:
        is_object(value, place)
        for name in needed:
            if name not in value:
                raise Wrong(place, f"lacks the entry {name!r}")
        for name, one in value.items():
            if name not in allowed:
                raise Wrong(place, "has an entry that no audit writes")
            allowed[name](one, f"{place}.{name}" if place else name)

    return check


def each(check: Check, *names: str) -> dict[str, Check]:
    """Return entries of the same kind."""
    return dict.fromkeys(names, check)


def exactly_one(names: tuple[str, ...], check: Check) -> Check:
    """Check an object that has exactly one of these entries."""
    problem = f"does not have exactly one of {', '.join(names)}"
    return both(check, kind(lambda value: sum(name in value for name in names) == 1, problem))


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < MOST


_NOT_WHOLE = "is not a whole number that an audit can hold"

anything = kind(lambda value: True, "")
is_object = kind(lambda value: isinstance(value, dict), "is not an object")
text = kind(lambda value: isinstance(value, str), "is not text")
flag = kind(lambda value: isinstance(value, bool), "is neither true nor false")
whole = kind(_is_whole, _NOT_WHOLE)
natural = both(whole, kind(lambda value: value >= 0, "is below 0"))
number = kind(lambda value: (isinstance(value, float) and math.isfinite(value)) or _is_whole(value), _NOT_WHOLE)
finding_id = kind(lambda value: isinstance(value, str) and bool(_ID.fullmatch(value)), "is not the id of a finding")
sorted_names = both(list_of(text), kind(lambda value: value == sorted(set(value)), "is not in order"))
#: A number or fraction as text.
weight = both(
    kind(
        lambda value: isinstance(value, str) and len(value) <= MOST_DIGITS and bool(_WEIGHT.fullmatch(value)),
        "is not a whole number or a fraction",
    ),
    kind(lambda value: "/" not in value or bool(value.partition("/")[2].strip("0")), "divides by 0"),
)
#: The fewest and the most people.
span = both(
    kind(lambda value: isinstance(value, list) and len(value) == 2, "is not two whole numbers"),
    kind(lambda value: all(map(_is_whole, value)), _NOT_WHOLE),
    kind(lambda value: value[0] <= value[1], "has its ends the other way round"),
)

# Findings

_NAMES = list_of(text)
_SIDE = fields({"present": _NAMES, "absent": _NAMES})
_CHANGE = either(fields({"column": text, "changed": one_of(True)}), fields({"column": text, "before": _SIDE, "after": _SIDE}))
_ITEM_EVENT = fields(
    {"present": _NAMES, "absent": _NAMES},
    {"not_all": _NAMES, "inside": list_of(natural), "outside": list_of(natural), "changes": list_of(_CHANGE)},
)
_BOX_EVENT = map_of(_NAMES)
_EVENT = either(_ITEM_EVENT, _BOX_EVENT)


def _placed(needed: Mapping[str, Check], others: Mapping[str, Check] | None = None) -> Check:
    return exactly_one(("line", "cell"), fields(needed, {"line": whole, "cell": text, **(others or {})}))


_CITED = _placed({"release": natural, "count": span}, {"weight": whole})
_BARE_ORIGIN = _placed({"release": natural, "what": text}, {"items": _NAMES})
_ORIGIN = _placed({"release": natural, "what": text}, {"items": _NAMES, "given": _BARE_ORIGIN})


def _summand(value: Any, place: str) -> None:
    if not isinstance(value, dict) or "weight" not in value:
        raise Wrong(place, "is not a term of a sum")
    weight(value["weight"], f"{place}.weight")
    rest = {name: one for name, one in value.items() if name != "weight"}
    either(fields({"step": natural}), fields({"case": natural}), _ORIGIN)(rest, place)


_AXES = ("item", "column", "people", "change", "item_change")
_BOX = list_of(exactly_one(_AXES, fields({"values": sorted_names, "excluded": flag}, dict.fromkeys(_AXES, text))))
_SUM = list_of(_summand)


def _case(value: Any, place: str, depth: int = 0) -> None:
    if depth > MOST_DEPTH:
        raise Wrong(place, "splits cases too often")
    if not isinstance(value, dict) or "split" not in value:
        fields({"weights": _SUM}, {"impossible": one_of(True)})(value, place)
        return
    fields({"split": either(fields({"event": _BOX, "at": whole}), _BARE_ORIGIN), "le": anything, "ge": anything})(value, place)
    for side in ("le", "ge"):
        _case(value[side], f"{place}.{side}" if depth < 3 else place, depth + 1)


def _step(value: Any, place: str) -> None:
    is_object(value, place)
    claim = {name: one for name, one in value.items() if name in ("event", "at_least", "at_most")}
    exactly_one(("at_least", "at_most"), fields({"event": _BOX}, {"at_least": whole, "at_most": whole}))(claim, place)
    _case({name: one for name, one in value.items() if name not in claim}, place)


_CLAIM = fields({"event": _EVENT, "at_least": whole, "at_most": whole})
_PREMISES = each(whole, "at_least", "at_most", "line") | each(sorted_names, "present", "from")
_LAW = exactly_one(("at_least", "at_most"), fields({"items": sorted_names, "by": text}, _PREMISES))
_KNOWN_GROUP = fields({"people": natural, "asked": flag, "terms": list_of(natural), "weight": weight})
_COUNTED: Mapping[str, Check] = {"count": span, "people": natural, "weight": weight}
_STATEMENT = _placed({"release": natural, **_COUNTED})
_KNOWN_STATEMENT = _placed({"release": maybe(natural), **_COUNTED, "what": text, "about": map_of(_NAMES), "value": text})
_PLAIN_WEIGHT = _placed({"release": natural, "weight": weight})
_FACT = fields({"where": text, "event": map_of(_NAMES), "not": text})
_MATCHING = fields({"facts": list_of(_FACT), "left": _NAMES, "ruled_out": _NAMES, "used_up": _NAMES, "users": natural})

_ENDS: Mapping[str, Check] = {"least": list_of(_step), "most": list_of(_step)}
_AMOUNT = fields(
    {"column": text, "unit": natural, "group": _ITEM_EVENT, **_ENDS, "withheld": maybe(_placed({"release": natural}))}
)
_FULL_GROUP: Mapping[str, Check] = {"of": list_of(natural), "sensitive": text, **_ENDS, "others": list_of(_step)}
_GROUPS: Mapping[str, Check] = {"groups": list_of(_KNOWN_GROUP), "below": whole}
_OF_KNOWN: Mapping[str, Check] = {
    "sensitive": text,
    "values": _NAMES,
    "grouped": maybe(natural),
    "listed": flag,
    "weights": list_of(_KNOWN_STATEMENT),
    **_GROUPS,
}
#: What a certificate holds besides its format and its claim, by the entry that identifies the proof.
_PROOFS: tuple[Mapping[str, Check], ...] = (
    {"weights": list_of(_PLAIN_WEIGHT)},
    {"steps": list_of(_LAW)},
    {"weights": list_of(_STATEMENT), **_GROUPS},
    _OF_KNOWN,
    {"people": text, **_OF_KNOWN},
    {"open": flag, **_OF_KNOWN},
    {"people": text, "open": flag, **_OF_KNOWN},
    {"matching": _MATCHING},
    {
        "counts": fields({}, {"records": natural, "showing": natural, "rows": natural, "may_fit": natural}),
        "lines": list_of(whole),
    },
    {"people": text, **_ENDS},
    {"people": text, "worlds": fields({"fit": natural})},
    {"people": text, **_ENDS, "numbers": _AMOUNT},
    {"people": text, "extreme": _placed({"release": natural, **each(text, "column", "statistic")})},
    _FULL_GROUP,
    {"people": text, **_FULL_GROUP},
    {"people": text, "blanks": fields({"release": natural, "rows": natural, "shown": natural}), **_FULL_GROUP},
)


def _certificate(value: Any, place: str) -> None:
    is_object(value, place)
    head = {"format": text, "claim": _CLAIM}
    for proof in _PROOFS:
        if set(value) == {*head, *proof}:
            fields({**head, **proof})(value, place)
            return
    raise Wrong(place, "holds an unknown kind of proof")


_FINDING = fields(
    {
        "id": finding_id,
        **each(text, "code", "statement"),
        "event": _EVENT,
        "count": span,
        "because": list_of(_CITED),
        "steps": _NAMES,
    },
    {"same_people": _ITEM_EVENT, "certificate": _certificate, "waived": fields({"name": text, "reason": text})},
)

# The record around them

_LEVEL = one_of("option", "data set", "organisation", "given", "default")
_LIMITS: dict[str, Check] = {
    **each(natural, "k", "l", "min_support"),
    **each(maybe(number), "max_posterior", "max_gain"),
    "min_confidence": number,
    "safe_round_base": maybe(natural),
    "zeros_are_disclosive": flag,
}
_OPTION = maybe(either(flag, whole, text, _NAMES))


def _release(value: Any, place: str) -> None:
    map_of(anything)(value, place)
    needed = {"kind": text, "file": maybe(text), "sha256": maybe(text), "header_sha256": maybe(text), "read": map_of(_OPTION)}
    fields(needed)({name: one for name, one in value.items() if name in needed}, place)


_ATTACK = fields(
    {
        **each(text, "code", "name", "reason"),
        **each(natural, "findings", "people", "undecided", "waived"),
        "claim": one_of("proves", "estimates"),
        "status": one_of("ran", "not-relevant", "not-asked", "stopped", "unavailable"),
    }
)
_ADVERSARY = fields(
    {},
    {
        **each(
            flag,
            "knows_n",
            "knows_that_the_list_is_complete",
            "knows_the_order_of_rules",
            "knows_all_values",
            "knows_no_value_is_negative",
            "knows_who_is_in_which_group",
        ),
        **each(flag, "knows_quasi_identifiers", "true_values_given"),
        **each(text, "people", "rounding"),
        "population": list_of(natural),
        "taken_as_different": list_of(_NAMES),
        "made_by": list_of(fields(each(text, "method", "changes"))),
        "background_facts": natural,
        "knowledge": _NAMES,
        "withheld": one_of("spread"),
        "rows_named": maybe(natural),
    },
)
_ACCEPTED: Mapping[str, Check] = {
    **each(text, "reason", "name"),
    "until": maybe(text),
    "status": one_of("applied", "ended", "undated", "unmatched"),
    "findings": natural,
    "people": both(span, kind(lambda value: value[0] > 0, "is about nobody")),
    "release": _NAMES,
}
_GLOBS = both(sorted_names, list_of(kind(lambda value: bool(value.strip("*")), "covers everything")))
#: What a waiver is about, by the entry that identifies it.
_SUBJECTS: Mapping[str, Mapping[str, Check]] = {
    "finding": {"finding": finding_id},
    "event": {"event": map_of(list_of(either(text, whole)))},
    "items": {"attack": maybe(text), "items": _GLOBS, "columns": _GLOBS},
}


def _waiver(value: Any, place: str) -> None:
    is_object(value, place)
    subject = next((about for name, about in _SUBJECTS.items() if name in value), {})
    if not subject:
        raise Wrong(place, "is about nothing")
    fields({**_ACCEPTED, **subject})(value, place)


_SHARES = each(maybe(number), "posterior", "baseline", "lower", "upper")
_GUESS = fields({"event": _BOX_EVENT, "people": natural, "value": text, **_SHARES})
_MEASURES = map_of(maybe(either(number, flag)))
_ESTIMATES = fields(
    {
        **each(text, "attack", "method", "sensitive"),
        **each(natural, "combinations", "outside_bounds"),
        "baseline": maybe(map_of(number)),
        "baseline_is_published": flag,
        **each(list_of(_GUESS), "highest", "most_gained"),
    }
)
_OPTIONS = fields(
    {
        "given": list_of(one_of("data", "known", "knowledge", "rows")),
        "people": maybe(text),
        "attacks": maybe(_NAMES),
        "algorithm": text,
        "first_hit": flag,
        "top": natural,
    },
    {"sa_order": _NAMES, "rebuild": flag},
)
_REBUILT = fields(
    {
        **each(natural, "people", "all_but_one", "worlds"),
        **each(maybe(natural), "at_most", "n", "undecided"),
        "columns": _NAMES,
        "reason": text,
        "groups": list_of(fields({"without": maybe(text), "at_least": natural, "steps": list_of(_step)})),
    }
)
_RECORD = fields(
    {
        "format": text,
        "verdict": one_of("exposed", "clean", "incomplete"),
        "release": list_of(_release),
        "inputs": list_of(fields({"role": text, "file": text, "sha256": text})),
        "adversary": _ADVERSARY,
        "policy": fields(_LIMITS | {"safe_threshold": natural}),
        "policy_from": fields(dict.fromkeys(_LIMITS, _LEVEL)),
        "policy_files": list_of(fields({"level": _LEVEL, "file": text, "sha256": text})),
        "waivers": list_of(_waiver),
        "attacks": list_of(_ATTACK),
        "measures": _MEASURES,
        "options": _OPTIONS,
        "findings": list_of(_FINDING),
        "binding": text,
    },
    {
        **each(list_of(fields(each(text, "file", "reason"), {"column": text})), "not_read", "ignored"),
        "estimates": either(list_of(_ESTIMATES), _ESTIMATES),
        "measures_by_column": map_of(_MEASURES),
        "suggestions": list_of(anything),
        "rebuilt": _REBUILT,
        "tool": fields({"name": one_of("tacit"), "version": text}),
        **each(text, "headline", "signed_by"),
        "cautions": list_of(fields({"code": text, "text": text}, {"number": number, "of": number})),
    },
)
