"""Settings in ``tacit.toml``: roles, thresholds, limits, waivers.

An organisation's policy file has the same form; its limits have their own names or ACRO's.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, cast

from tacit.files.disk import FilePath, Input, shown
from tacit.files.tables import read_table
from tacit.files.transactions import read_data
from tacit.model.bins import parse_bins
from tacit.model.columns import find_repeated_people, name_words, numbers_people
from tacit.model.errors import InputError, OptionError, TacitError, nearest_name
from tacit.model.numbers import Threshold, exact, share
from tacit.model.policy import ACRO_NAMES, LIMITS, Level, Policy, PolicyFile, Waiver, is_looser
from tacit.model.table import MISSING_RULES, Column, MissingRule, Schema, Table

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
_KEYS = ("finding", "event", "attack", "items", "column", "columns", "people", "release", "reason", "name", "until")


def _limits_of(section: str, values: Mapping[str, Any], where: str, *, known: Mapping[str, Any]) -> dict[str, Any]:
    limits = dict(known)
    for key, value in values.items():
        place = f"{where}, [{section}]"
        if key == MAY_LOOSEN:
            if not isinstance(value, list):
                remedy = 'Write for instance may_loosen = ["k"]'
                raise OptionError("is not a list of limits", where=f"{place} {key}", remedy=remedy)
            limits[MAY_LOOSEN] = tuple(ACRO_NAMES.get(str(one), str(one)) for one in value)
            for name in limits[MAY_LOOSEN]:
                _require(name, LIMITS, "limit", f"{place} {key}")
            continue
        if key in ACRO_ONLY:
            remedy = "Leave it out of this file"
            raise OptionError(f"{key} is a limit of ACRO's that Tacit does not check", where=place, remedy=remedy)
        _require(key, POLICY_SECTIONS[section], "key", place)
        name = ACRO_NAMES.get(key, key)
        if name in limits:
            both = "safe_threshold and k" if name == "k" else key
            raise OptionError(f"sets {both} twice", where=place, remedy="Set it once")
        try:
            Policy(**{name: value})
        except TacitError as error:
            remedy = error.remedy.replace("--", "")
            raise OptionError(error.what.replace("--", ""), where=f"{place} {key}", remedy=remedy) from None
        limits[name] = value
    return limits


def _waivers_of(entries: object, where: str) -> tuple[Waiver, ...]:
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise OptionError("waivers is not a list", where=where, remedy="Write [[waivers]] on a line of its own before each")
    waivers: list[Waiver] = []
    for number, entry in enumerate(entries, start=1):
        place = f"{where}, waiver {number}"
        for key in entry:
            _require(key, _KEYS, "key", place)
        told: dict[str, Any] = {name: entry.get(name) for name in ("until", "people")}
        told |= {"reason": entry.get("reason", ""), "name": entry.get("name", ""), "release": entry.get("release", ())}
        told |= {name: entry[name] for name in ("attack", "items", "columns") if name in entry}
        if "column" in entry:
            if "columns" in entry:
                raise OptionError("has both column and columns", where=place, remedy="Write one of them")
            told["columns"] = entry["column"]
        if "attack" in entry:
            from tacit.verbs.attacks import ATTACKS

            _require(entry["attack"], [attack.code for attack in ATTACKS], "attack", place)
        named = entry.get("finding")
        is_list = isinstance(named, list) and named and "event" not in entry
        try:
            waivers += [Waiver(finding=one, event=entry.get("event"), **told) for one in (named if is_list else [named])]
        except TacitError as error:
            raise OptionError(error.what, where=place, remedy=error.remedy) from None
    return tuple(waivers)


FILE_NAME = "tacit.toml"

#: The sections of the file and their keys.
SECTIONS: dict[str, tuple[str, ...]] = {
    "data": ("qi", "sa", "sa_order", "identifying", "person", "missing", "missing_rule", "bins", "hierarchies", "fuzzy"),
    "thresholds": ("min_support", "min_confidence", "min_expectation"),
    **POLICY_SECTIONS,
}
WAIVERS = "waivers"  #: The section of waivers, which is a list.


@dataclass(frozen=True, slots=True)
class Config:
    """Settings in a ``tacit.toml``; None or empty if absent.

    ``hierarchies`` is a folder, relative to the current one; ``fuzzy`` has numeric columns and their spreads. ``policy`` holds the limits of
    :class:`tacit.model.policy.Policy` that are set, ``waivers`` the accepted findings. ``may_loosen`` names the organisation's
    limits that a lower level may loosen. ``file`` says which file it was, ``beside`` a file that was not read because it lies beside a release.
    """

    qi: tuple[str, ...] = ()
    sa: tuple[str, ...] = ()
    sa_order: tuple[str, ...] = ()
    identifying: tuple[str, ...] = ()
    person: str | None = None
    missing: str | None = None
    missing_rule: MissingRule | None = None
    bins: Mapping[str, Any] = field(default_factory=dict)
    hierarchies: str | None = None
    fuzzy: Mapping[str, Any] = field(default_factory=dict)
    min_support: int | float | str | None = None
    min_confidence: float | str | None = None
    min_expectation: float | str | None = None
    policy: Mapping[str, Any] = field(default_factory=dict)
    waivers: tuple[Waiver, ...] = ()
    may_loosen: tuple[str, ...] = ()
    where: str = ""
    file: PolicyFile | None = field(default=None, compare=False)
    beside: str = field(default="", compare=False)


# Reading


def load_config(path: FilePath | None = None, *, near: FilePath | None = None, releases: Sequence[FilePath] = ()) -> Config:
    """Read the settings in ``path``, or in ``tacit.toml`` here or near.

    A file that nobody named is not read from a folder that holds one of the ``releases``: whoever hands in a release must not bring the limits
    that it is judged by.
    """
    if path is None:
        folders = ["", os.path.dirname(os.fspath(near))] if near is not None else [""]
        found = [file for folder in folders if os.path.isfile(file := os.path.join(folder, FILE_NAME))]
        own = [file for file in found if not _is_beside(file, releases)]
        if not own:
            return Config(beside=shown(found[0]) if found else "")
        path = own[0]
    return _read_config(path, "data set", folder=os.path.dirname(os.fspath(path)))


def _is_beside(file: FilePath, releases: Sequence[FilePath]) -> bool:
    place = os.path.realpath(os.path.dirname(file) or ".")
    for release in releases:
        if os.path.isdir(release):
            folder = os.path.realpath(release)
            if os.path.commonpath([place, folder]) == folder:
                return True
        elif place in (os.path.realpath(os.path.dirname(release) or "."), os.path.dirname(os.path.realpath(release))):
            return True
    return False


def load_policy(path: FilePath | None = None) -> Config:
    """Load the organisation's policy from ``path`` or TACIT_POLICY."""
    path = path if path is not None else os.environ.get("TACIT_POLICY") or None
    return Config() if path is None else _read_config(path, "organisation", sections=(*POLICY_SECTIONS, WAIVERS))


def _read_config(path: FilePath, level: Level, **how: Any) -> Config:
    with Input(path).open_text() as stream:
        config = parse_config(stream.read(), where=shown(path), **how)
    return replace(config, file=PolicyFile(level, os.path.basename(os.fspath(path)), Input(path).sha256))


def joined_policy(given: Mapping[str, Any], config: Config, organisation: Config, *, today: date | None = None) -> Policy:
    """Merge options, data set and organisation, in this order.

    What the organisation sets is a floor: an option that is looser is refused, and the data set's file can only tighten it, unless the
    organisation allows more. Where there is an organisation's policy, only its waivers count.
    """
    overruled = {name: value for name, value in config.policy.items() if _loosens(name, value, organisation)}
    for name, value in given.items():
        refuse_looser(name, value, organisation)
    limits: dict[str, Any] = {}
    origin: dict[str, Level] = {}
    levels: tuple[tuple[Level, Mapping[str, Any]], ...] = (
        ("organisation", organisation.policy),
        ("data set", {name: value for name, value in config.policy.items() if name not in overruled}),
        ("option", given),
    )
    for level, values in levels:
        limits |= values
        origin |= dict.fromkeys(values, level)
    read = tuple(one.file for one in (organisation, config) if one.file is not None and (one.policy or one.waivers))
    is_governed = bool(organisation.where)
    return Policy(
        **limits,
        waivers=organisation.waivers if is_governed else config.waivers,
        today=today,
        origin=origin,
        files=read,
        overruled=overruled,
        waivers_overruled=len(config.waivers) if is_governed else 0,
    )


def refuse_looser(name: str, value: Any, organisation: Config | None) -> None:
    """Raise if an option loosens the organisation's policy."""
    if organisation is None or not _loosens(name, value, organisation):
        return
    floor = organisation.policy[name]
    written = str(floor).lower() if isinstance(floor, bool) else str(floor)
    remedy = f'Leave it out, or have {organisation.where} say may_loosen = ["{name}"]'
    option = "--" + name.replace("_", "-")
    raise OptionError(f"is looser than the organisation's policy, which sets {written}", where=option, remedy=remedy)


def _loosens(name: str, value: Any, organisation: Config) -> bool:
    if name not in organisation.policy or name in organisation.may_loosen:
        return False
    return is_looser(name, value, organisation.policy[name])


def parse_config(
    text: str, *, where: str = FILE_NAME, folder: str = "", sections: Sequence[str] = (*SECTIONS, WAIVERS)
) -> Config:
    """Parse the text of a ``tacit.toml`` in ``folder``."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        place = re.search(r"line \d+, column \d+", str(exc))
        what = f"is not valid TOML ({place[0] if place else 'at its end'})"
        raise InputError(what, where=where, remedy='Write lines such as qi = ["age", "sex"]') from None
    values: dict[str, Any] = {}
    for section, keys in content.items():
        _require(section, sections, "section", where)
        if section == WAIVERS:
            values["waivers"] = _waivers_of(keys, where)
            continue
        if not isinstance(keys, dict):
            raise OptionError(f"{section} is not a section", where=where, remedy=f"Write [{section}] on a line of its own")
        if section in POLICY_SECTIONS:
            limits = _limits_of(section, keys, where, known=values.get("policy", {}))
            if (loose := limits.pop(MAY_LOOSEN, None)) is not None:
                if "data" in sections:
                    remedy = "Write it into the organisation's policy (--policy), or leave it out"
                    raise OptionError("may_loosen is for the organisation to say", where=f"{where}, [{section}]", remedy=remedy)
                values[MAY_LOOSEN] = loose
            values["policy"] = limits
            continue
        for key, value in keys.items():
            _require(key, SECTIONS[section], "key", f"{where}, [{section}]")
            values[key] = _check_value(key, value, f"{where}, [{section}] {key}")
    config = Config(**values, where=where)
    try:
        Schema(config.qi, config.sa, config.identifying)
    except TacitError as error:
        key = error.where.removeprefix("--").replace("-", "_")
        remedy = error.remedy.replace("--", "")
        raise OptionError(error.what.replace("--", ""), where=f"{where}, [data] {key}", remedy=remedy) from None
    return config if config.hierarchies is None else replace(config, hierarchies=os.path.join(folder, config.hierarchies))


def _require(name: str, known: Collection[str], noun: str, where: str) -> None:
    if name not in known:
        raise OptionError(f"unknown {noun} {name!r}", where=where, remedy=nearest_name(name, known, f"{noun}s"))


def _check_value(key: str, value: object, where: str) -> object:
    if key in ("qi", "sa", "sa_order", "identifying"):
        names = [name.strip() for name in value.split(",")] if isinstance(value, str) else value
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            what, example = ("values", '["low", "high"]') if key == "sa_order" else ("column names", '["age", "sex"]')
            raise OptionError(f"is not a list of {what}", where=where, remedy=f"Write for instance {key} = {example}")
        return tuple(names)
    if key == "min_support":
        Threshold.parse(value, where=where)
    elif key in ("min_confidence", "min_expectation"):
        share(value, where=where)
    elif key == "bins":
        if not isinstance(value, dict):
            raise OptionError("is not a table of columns and bins", where=where, remedy="Write for instance bins = { age = 10 }")
        parse_bins(value, where=where)
    elif key == "fuzzy":
        if not isinstance(value, dict):
            remedy = "Write for instance fuzzy = { age = 2 }"
            raise OptionError("is not a table of columns and spreads", where=where, remedy=remedy)
        for name, spread in value.items():
            exact(spread, where=f"{where}.{name}")
    elif not isinstance(value, str):
        raise OptionError("is not text", where=where, remedy=f'Write it in quotes: {key} = "..."')
    if key == "missing_rule":
        _require(cast(str, value), MISSING_RULES, "rule", where)
    return value


# Writing

#: Column names that name a single person, letters and digits only.
_NAMING = {
    *("id", "personid", "patientid", "customerid", "userid", "memberid", "caseid", "recordid", "rowid", "uuid", "guid"),
    *("name", "fullname", "firstname", "lastname", "surname", "forename", "givenname", "familyname", "username", "nickname"),
    *("email", "emailaddress", "mail", "phone", "phonenumber", "telephone", "mobile", "address", "streetaddress", "url", "ip"),
    *("ipaddress", "ssn", "socialsecuritynumber", "nino", "nhsnumber", "mrn", "passport", "passportnumber", "taxid", "iban"),
    *("accountnumber", "licenseplate"),
}
#: Words in names of columns that others often know about a person.
_KNOWN_WORDS = frozenset(
    {
        *("age", "sex", "gender", "race", "ethnicity", "ethnic", "zip", "zipcode", "postcode", "postal", "birth", "birthday"),
        *("birthdate", "birthyear", "dob", "marital", "education", "occupation", "profession", "job", "nationality"),
        *("citizenship", "country", "county", "region", "city", "town"),
    }
)
_MISSING_MARKS = ("?", "NA", "N/A", "NULL", "NaN")
_FEW_ROWS = 20  #: Below this many rows it means nothing that a column has a different value in each.
_MANY_VALUES = 50  #: A sensitive column has at least two values and seldom more than this.


@dataclass(frozen=True, slots=True)
class Guess:
    """Roles of columns as their names and values suggest them, to be checked by a person."""

    identifying: tuple[str, ...]
    known: tuple[str, ...]
    person: str | None
    missing: str | None


def guess_roles(people: Table) -> Guess:
    """Return which columns name a person, which others often know, and the mark of missing values."""
    naming = tuple(column.name for column in people.columns if _names_a_person(column, people.n))
    repeated = find_repeated_people(people)
    return Guess(
        identifying=naming,
        known=tuple(column.name for column in people.columns if column.name not in naming and _is_often_known(column)),
        person=None if repeated is None else repeated.name,
        missing=_missing_mark(people),
    )


def write_config(data: object) -> str:
    """Return a ``tacit.toml`` for the data, without cells."""
    if isinstance(data, str | os.PathLike):
        people = read_data(data)
        file = os.path.basename(os.fspath(data))
        name = file if file.isprintable() else repr(file)
    else:
        people = read_table(data)
        name = "the data"
    rest = _template("limits").format(limits=LIMITS, zeros=str(LIMITS["zeros_are_disclosive"]).lower())
    if not isinstance(people, Table):
        about = f"what Tacit should know about {name} ({people.n} transactions, {len(people.items)} items)"
        return f"# tacit.toml: {about}. Options on the command line win over this file.\n{rest}"
    guessed = guess_roles(people)
    naming = [column for column in people.columns if column.name in guessed.identifying]
    others = [column for column in people.columns if column not in naming]
    few = [column.name for column in others if 2 <= len(column.values) <= _MANY_VALUES]
    top = _template("columns").format(
        name=name,
        n=people.n,
        qi="".join(f"    {'' if column.name in guessed.known else '# '}{_entry(column)}" for column in others),
        identifying="".join(f"    {_entry(column)}" for column in naming),
        candidates=", ".join(map(_quote, few)) or "none",
        person='# person = "patient_id"' if guessed.person is None else f"person = {_quote(guessed.person)}",
        missing='# missing = "?"' if guessed.missing is None else f"missing = {_quote(guessed.missing)}",
    )
    return top + rest


def _template(part: str) -> str:
    from importlib.resources import files

    return files("tacit.data").joinpath(f"settings_{part}.toml.txt").read_text("utf-8")


def describe_repeated(column: Column, n: int) -> str:
    """Return that rows are not people, in a sentence."""
    return f"{len(column.values):,} values in {n:,} rows: rows are counted, not people. Name it with --person to count people"


def _is_often_known(column: Column) -> bool:
    return len(column.values) > 1 and bool(_KNOWN_WORDS & set(name_words(column.name)))


def _missing_mark(people: Table) -> str | None:
    """Return the mark of missing values that most columns hold, if any do."""
    held = {mark: sum(mark in column.values for column in people.columns) for mark in _MISSING_MARKS}
    best = max(_MISSING_MARKS, key=held.__getitem__)
    return best if held[best] else None


def _names_a_person(column: Column, n: int) -> bool:
    words = name_words(column.name)
    if "".join(words) in _NAMING or numbers_people(column):
        return True
    distinct = len(column.values)
    return n >= _FEW_ROWS and (distinct == n or (words[-1:] == ["id"] and 2 * distinct > n))


def _entry(column: Column) -> str:
    distinct = len(column.values)
    return f"{_quote(column.name)},  # {distinct} {'value' if distinct == 1 else 'values'}\n"


def _quote(name: str) -> str:
    return json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")
