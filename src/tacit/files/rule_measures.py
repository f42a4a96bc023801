"""Measures of rules that follow from three supports.

A rule has its support, that of its antecedent and that of its consequent. Where all three counts are known exactly, lift, leverage and others
say nothing more, provided that they are what the counts give. Of rounded supports they could reveal more than is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf, isfinite, isnan, nan, sqrt

from tacit.model.release import Rules

Measure = Callable[[float, float, float], float]  #: From the supports of a rule, of its antecedent and of its consequent.


def _over(top: float, under: float) -> float:
    return top / under if under else (nan if not top else inf)


def _jaccard(rule: float, left: float, right: float) -> float:
    return _over(rule, left + right - rule)


def _zhang(rule: float, left: float, right: float) -> float:
    return _over(rule - left * right, max(rule * (1 - left), left * (right - rule)))


#: Measures by name in small letters; that which says most comes first.
MEASURES: Mapping[str, Measure] = {
    "consequent support": lambda rule, left, right: right,
    "rhssupport": lambda rule, left, right: right,
    "rhs support": lambda rule, left, right: right,
    "lift": lambda rule, left, right: _over(rule, left * right),
    "leverage": lambda rule, left, right: rule - left * right,
    "conviction": lambda rule, left, right: _over(1 - right, 1 - _over(rule, left)),
    "zhangs_metric": _zhang,
    "jaccard": _jaccard,
    "certainty": lambda rule, left, right: _over(_over(rule, left) - right, 1 - right),
    "kulczynski": lambda rule, left, right: (_over(rule, left) + _over(rule, right)) / 2,
    "cosine": lambda rule, left, right: _over(rule, sqrt(left * right)),
    "phi": lambda rule, left, right: _over(rule - left * right, sqrt(left * right * (1 - left) * (1 - right))),
    "oddsratio": lambda rule, left, right: _over(rule * (1 - left - right + rule), (left - rule) * (right - rule)),
    "affinity": _jaccard,
    "representativity": lambda rule, left, right: 1.0,
}

_NEAR = 1e-9  #: Doubles of the same measure, computed in another order, differ by less.


def not_implied(rules: Rules, columns: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the columns that do not follow from the exact counts of the rules."""
    known = _exact_counts(rules)
    return [name for name, texts in columns.items() if not _follows(MEASURES[name.casefold()], texts, rules, known)]


def _exact_counts(rules: Rules) -> dict[frozenset[int], int]:
    """Return the sets whose count some line gives exactly."""
    known: dict[frozenset[int], int] = {}
    for index, (left, right) in enumerate(zip(rules.antecedents, rules.consequents, strict=True)):
        whole = frozenset(left.tolist())
        for items, count in ((whole, rules.whole(index)), (whole | frozenset(right.tolist()), rules.count(index))):
            if count.is_exact:
                known[items] = count.lo
    return known


def _follows(measure: Measure, texts: Sequence[str], rules: Rules, known: Mapping[frozenset[int], int]) -> bool:
    n = rules.n
    for index, text in enumerate(texts):
        if not text.strip():
            continue
        left = frozenset(rules.antecedents[index].tolist())
        right = frozenset(rules.consequents[index].tolist())
        counts = [known.get(items) for items in (left | right, left, right)]
        if not n or any(count is None for count in counts):
            return False
        if not _is_near(text.strip(), measure(*(count / n for count in counts if count is not None))):
            return False
    return True


def _is_near(text: str, value: float) -> bool:
    """Tell if a text prints a value, rounded to its last digit.

    >>> _is_near("1.33", 4 / 3), _is_near("1.35", 4 / 3), _is_near("inf", float("inf"))
    (True, False, True)
    """
    try:
        printed = float(text)
    except ValueError:
        return False
    # A division by zero is printed in several ways, each of which the counts imply.
    if not isfinite(value) or abs(value) > 1 / _NEAR:
        return not isfinite(printed) or printed == 0 or abs(printed) > 1 / _NEAR
    if isnan(printed) or not isfinite(printed):
        return False
    mantissa, _, exponent = text.casefold().partition("e")
    digits = len(mantissa.partition(".")[2]) - int(exponent or 0)
    return abs(printed - value) <= _NEAR * max(1.0, abs(value)) + 0.51 * 10.0**-digits
