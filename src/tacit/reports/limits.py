"""Explanations held against the limits of the policy."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.model.estimates import PersonEstimate
from tacit.model.policy import Policy
from tacit.reports.document import counted, people

_KEPT = {True: "as the policy asks", False: "fewer than the policy asks"}


def judge_estimate(found: PersonEstimate, policy: Policy) -> list[str]:
    """Return what the limits for values say about an estimate, and the size limit about the description."""
    out = [] if found.upper is None else [_judge_values(sum(upper > 0 for upper in found.upper), policy)]
    largest = max(found.most)
    if (limit := policy.max_posterior) is not None:
        out.append(f"max-posterior = {limit:g}: the surest estimate is {largest:.3f}, {_above(largest > limit)}")
    if (limit := policy.max_gain) is not None:
        gain = max(most - share for most, share in zip(found.most, found.baseline, strict=True))
        out.append(f"max-gain = {limit:g}: an estimate exceeds the share among all by up to {gain:.3f}, {_above(gain > limit)}")
    return [*out, _judge_size(found.people, policy)]


def judge_members(shares: Sequence[Sequence[float]], number: int, policy: Policy) -> list[str]:
    """Return what the limits say about members of groups, by the probabilities of their values."""
    fewest = min(sum(share > 0 for share in one) for one in shares)
    out = [_judge_values(fewest, policy)]
    largest = max(max(one) for one in shares)
    if (limit := policy.max_posterior) is not None:
        out.append(f"max-posterior = {limit:g}: the surest value has {largest:.3f}, {_above(largest > limit)}")
    return [*out, _judge_size(number, policy)]


def judge_pattern(lo: int, hi: int | None, k: int) -> str:
    """Return what the size limit says about a pattern that ``lo`` to ``hi`` people fit."""
    if hi == 0:
        return f"k = {k:,}: nobody fits, so that nobody is revealed"
    if hi is None or hi >= k:
        return f"k = {k:,}: not proved to be a group of fewer than {people(k)}"
    if lo == 0:
        return f"k = {k:,}: fewer than {people(k)} fit, and it is not proved that anybody does"
    return f"k = {k:,}: a group of fewer than {people(k)}, which the policy does not allow"


def _judge_values(possible: int, policy: Policy) -> str:
    kept = counted(possible, "value stays", "values stay")
    return f"l = {policy.l:,}: {kept} possible, {_KEPT[possible >= policy.l]}"


def _judge_size(number: int, policy: Policy) -> str:
    few = "fewer people than k fit the description" if number < policy.k else "no fewer people fit the description"
    return f"k = {policy.k:,}: {few}"


def _above(is_above: bool) -> str:
    return "above the limit" if is_above else "within the limit"
