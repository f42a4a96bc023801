"""``tacit audit --suggest``: repairs that were really carried out and audited, with the commands to type."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from tacit.errors import OptionError

if TYPE_CHECKING:
    from tacit.model.audit import Audit
    from tacit.model.release import Release

#: Options of an audit that the commands of a repair take as well, and how they are written.
READING = {
    "repair": ("n", "rounding", "only", "form", "missing", "missing_rule"),
    "audit": ("n", "rounding", "only", "form"),
    "bucketize": ("missing", "missing_rule"),
    "hide": ("missing", "missing_rule"),
    "tabulate": ("missing", "missing_rule"),
}


def _seconds(_ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    """The seconds that are given, or the usual ones."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < float("inf"):
        remedy = "Write for instance --suggest 10, or put --suggest at the end of the line"
        raise OptionError("takes a number of seconds above 0", where=param.opts[0], remedy=remedy)
    return seconds


suggest = click.option(
    "--suggest",
    is_flag=False,
    flag_value="10",
    callback=_seconds,
    metavar="[SECONDS]",
    help="Where it is exposed: carry out and audit every repair that fits, for so many seconds, and name the cheapest clean ones "
    "with their commands.  [10]",
)


def with_suggestions(
    found: Audit, releases: Sequence[Release], paths: Sequence[str], how: Mapping[str, Any], given: Mapping[str, Any]
) -> Audit:
    """The audit with what could be done, where that was asked for and something is exposed."""
    if given["suggest"] is None or found.verdict != "exposed":
        return found
    from tacit.suggesting import suggestions_for

    tried = suggestions_for(found, tuple(releases), seconds=given["suggest"], **how)
    files = {f"@{number}": path for number, path in enumerate(paths)} if len(paths) == len(releases) else {}
    for name, value in (("@data", given["data"]), ("@rows", given["rows"] or given["marks"])):
        files |= {name: value} if value else {}
    if len(given["knowledge"]) == 1:
        files["@knowledge"] = given["knowledge"][0]
    files |= {f"@out/{number + 1}": _beside(path) for number, path in enumerate(paths)}
    files["@out"] = _beside(paths[0])
    options = {verb: tuple(_words(given, names)) for verb, names in READING.items()}
    return replace(found, suggestions=replace(tried, files=files, options=options))


def _beside(path: str) -> str:
    """A name for the repaired file in the folder one works in.

    >>> _beside("out/list.csv.gz"), _beside("groups/"), _beside("rules")
    ('list-safer.csv.gz', 'groups-safer', 'rules-safer')
    """
    name = os.path.basename(os.path.normpath(path))
    stem, dot, ending = name.partition(".")
    return f"{stem}-safer{dot}{ending}" if stem else f"{name}-safer"


def _words(given: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """Options that were given, to be given again."""
    return [word for name in names if given.get(name) is not None for word in ("--" + name.replace("_", "-"), str(given[name]))]
