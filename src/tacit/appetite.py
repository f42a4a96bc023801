"""What an organisation accepts, as it stands in a file: limits under their own names or ACRO's, and waivers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tacit.errors import OptionError, TacitError, nearest_name
from tacit.model.policy import ACRO_NAMES, LIMITS, Policy
from tacit.model.waiver import Waiver

#: The sections that hold limits, with their keys: ``[policy]`` under our names, ``[risk_appetite]`` under ACRO's where it has one.
POLICY_SECTIONS: dict[str, tuple[str, ...]] = {
    "policy": tuple(LIMITS),
    "risk_appetite": (*ACRO_NAMES, *(name for name in LIMITS if name not in ACRO_NAMES)),
}
#: What else ACRO's risk appetite holds, which is about sums, models and survival tables.
ACRO_ONLY = (
    *("safe_dof_threshold", "safe_nk_n", "safe_nk_k", "safe_pratio_p", "check_missing_values", "survival_safe_threshold"),
    *("safe_threshold_survival", "safe_nk", "safe_pratio"),
)
#: The key that names limits which lower levels may loosen; only the organisation's file may have it.
MAY_LOOSEN = "may_loosen"
_KEYS = ("finding", "event", "people", "release", "reason", "name", "until")


def limits_of(section: str, values: Mapping[str, Any], where: str, *, known: Mapping[str, Any]) -> dict[str, Any]:
    """The limits in a section, together with those that are ``known`` from another; each may be said once.

    >>> limits_of("risk_appetite", {"safe_threshold": 7, "l": 3}, "tacit.toml", known={})
    {'k': 7, 'l': 3}
    """
    limits = dict(known)
    for key, value in values.items():
        place = f"{where}, [{section}]"
        if key == MAY_LOOSEN:
            limits[MAY_LOOSEN] = _may_loosen(value, f"{place} {key}")
            continue
        if key in ACRO_ONLY:
            remedy = "Leave it out of this file"
            raise OptionError(f"{key} is a limit of ACRO's that Tacit does not check", where=place, remedy=remedy)
        if key not in POLICY_SECTIONS[section]:
            remedy = nearest_name(key, POLICY_SECTIONS[section], "keys")
            raise OptionError(f"unknown key {key!r}", where=place, remedy=remedy)
        name = ACRO_NAMES.get(key, key)
        if name in limits:
            both = "safe_threshold and k" if name == "k" else key
            raise OptionError(f"says twice what {both} is", where=place, remedy="Say it once")
        _check(name, value, f"{place} {key}")
        limits[name] = value
    return limits


def _may_loosen(value: object, where: str) -> tuple[str, ...]:
    """The limits that lower levels may loosen, under our names."""
    if not isinstance(value, list):
        raise OptionError("is no list of limits", where=where, remedy='Write for instance may_loosen = ["k"]')
    names = [ACRO_NAMES.get(str(one), str(one)) for one in value]
    for name in names:
        if name not in LIMITS:
            raise OptionError(f"unknown limit {name!r}", where=where, remedy=nearest_name(name, LIMITS, "limits"))
    return tuple(names)


def _check(name: str, value: Any, where: str) -> None:
    """Raise, with the place in the file, when a limit makes no sense."""
    try:
        Policy(**{name: value})
    except TacitError as error:
        raise OptionError(error.what.replace("--", ""), where=where, remedy=error.remedy.replace("--", "")) from None


def waivers_of(entries: object, where: str) -> tuple[Waiver, ...]:
    """The waivers in a list of tables, in their order; one may name several findings."""
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise OptionError("waivers is no list", where=where, remedy="Write [[waivers]] on a line of its own before each")
    return tuple(
        waiver for number, entry in enumerate(entries, start=1) for waiver in _waivers(entry, f"{where}, waiver {number}")
    )


def _waivers(entry: Mapping[str, Any], where: str) -> Sequence[Waiver]:
    for key in entry:
        if key not in _KEYS:
            raise OptionError(f"unknown key {key!r}", where=where, remedy=nearest_name(key, _KEYS, "keys"))
    named = entry.get("finding")
    told: dict[str, Any] = {name: entry.get(name) for name in ("until", "people")}
    told |= {"reason": entry.get("reason", ""), "name": entry.get("name", ""), "release": entry.get("release", ())}
    try:
        if isinstance(named, list) and named and "event" not in entry:
            return [Waiver(finding=one, **told) for one in named]
        return [Waiver(finding=named, event=entry.get("event"), **told)]
    except TacitError as error:
        raise OptionError(error.what, where=where, remedy=error.remedy) from None
