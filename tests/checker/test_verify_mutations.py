"""Every entry of a record changed in every way: the verifier never crashes, and never accepts what its proofs do not show.

A sample is tried; ``TACIT_MUTATIONS=N`` tries N changes of each record and way instead.
"""

from __future__ import annotations

import copy
import json
import os
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.model.audit import bound
from tacit.model.errors import InputError
from tacit.verbs.verify import read_audited
from tests.checker.made_records import MADE

Record = dict[str, Any]
Path_ = tuple[Any, ...]
#: The name of a case, its record, and its releases.
Made = tuple[str, Record, list[Any]]

#: How many changes of each record are tried.
SAMPLE = int(os.environ.get("TACIT_MUTATIONS", "25"))

#: What no proof shows: whoever changes it and computes the digest anew is found out by a new audit only. A record of findings holds without it.
#: Premises: what the owner declared or accepts, and which files besides the release were given. What the findings claim, they claim under these.
PREMISES = (
    r"policy\.(l|k|safe_threshold|max_posterior|max_gain|min_confidence|min_support|safe_round_base|zeros_are_disclosive)",
    r"policy_from(\..*)?",
    r"policy_files(\[.*)?",
    r"inputs(\[.*)?",
    r"adversary\.(background_facts|knowledge|knows_quasi_identifiers|rows_named|true_values_given|taken_as_different)(\[.*)?",
    r"options\..*",
    r"waivers\[\d+\]\.until",
)
#: The same for a waiver that is a pattern: it may be wider than the findings that are listed, and only the policy's file can tell.
OF_PATTERNS = r"waivers\[\d+\]\.(columns|people(\[.*)?)"
#: Claims that go beyond the findings that are listed: totals, measures, estimates, reasons, and the order of findings.
BEYOND = (
    r"measures(\..*)?",
    r"attacks\[\d+\]\.(status|findings|people|undecided|reason)",
    r"estimates(\..*)?",
    r"findings",
    r"findings\[\d+\]",
    r"cautions(\[.*)?",
    r"headline",
    r"tool\.version",
)
#: The order in which a sum is added up.
ORDER = r"findings\[\d+\]\.certificate\.(least|most|others)\[\d+\]\.weights"
#: A finding that is an estimate is a probability, which nobody can prove.
ESTIMATING = ("R02", "B02", "B03", "T02")


def places(part: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Every place of a record, parts and wholes."""
    if path:
        yield path
    entries = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for key, value in entries:
        yield from places(value, (*path, key))


def named(path: Path_) -> str:
    """A place as the lists above name it."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).removeprefix(".")


def longer(value: Any) -> Any:
    """More of the same: one more, a word more, an element more."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, str):
        return f"{value} Bob Smith is ill."
    if isinstance(value, list):
        return [*value, value[-1] if value else "Bob Smith is ill."]
    if isinstance(value, dict):
        return value | {"note": "Bob Smith is ill."}
    return 1


def shorter(value: Any) -> Any:
    """Less of the same."""
    if isinstance(value, (bool, type(None))):
        return "false"
    if isinstance(value, (int, float)):
        return value - 1
    if isinstance(value, dict):
        return dict(list(value.items())[1:])
    return value[1:]


def swapped(value: Any) -> Any:
    """The same in another order."""
    if isinstance(value, list):
        return value[::-1]
    return value[::-1] if isinstance(value, str) else [value]


def hostile(value: Any) -> Any:
    """A value that no program wants to meet."""
    if isinstance(value, str):
        return "1e99999999" if value.lstrip("-").isdecimal() else {"a": [value]}
    return 10**18 if isinstance(value, int) and not isinstance(value, bool) else "nan"


CHANGES: tuple[Callable[[Any], Any], ...] = (longer, shorter, swapped, hostile, lambda _: None)
SWAPPED, DELETED = CHANGES.index(swapped), len(CHANGES)


def changed(record: Record, path: Path_, how: int) -> Record | None:
    """The record with one place changed or deleted; None where that changes nothing."""
    out = copy.deepcopy(record)
    inner: Any = out
    for key in path[:-1]:
        inner = inner[key]
    if how == DELETED:
        del inner[path[-1]]
        return out
    old = inner[path[-1]]
    inner[path[-1]] = CHANGES[how](old)
    return None if json.dumps(inner[path[-1]]) == json.dumps(old) else out


def sampled(record: Record, seed: str) -> Iterator[tuple[Path_, int, Record]]:
    """Some changes of a record, each with its place."""
    chance = random.Random(seed)
    everywhere = [(path, how) for path in places(record) for how in range(DELETED + 1)]
    for path, how in chance.sample(everywhere, min(SAMPLE, len(everywhere))):
        out = changed(record, path, how)
        if out is not None:
            yield path, how, out


def holds(record: Record, releases: list[Any], **how: Any) -> bool:
    """Whether a record is accepted; a refusal in one sentence is none."""
    try:
        return tacit.verify(record, releases, **how).ok
    except InputError:
        return False


@pytest.fixture(scope="module", params=MADE)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A record that holds, and its releases, read once."""
    record, files = MADE[request.param](tmp_path_factory.mktemp(request.param))
    told = json.loads(json.dumps(record))
    assert told["verdict"] == "exposed"
    outcome = tacit.verify(told, files)
    assert outcome.problems == ()
    assert outcome.ok
    assert outcome.held == outcome.proved > 0
    return request.param, told, list(read_audited(told, files).releases)


def test_edited_records_are_rejected(made: Made) -> None:
    """Without a new digest, every change is noticed, wherever it is."""
    name, record, files = made
    for path, how, edited in sampled(record, f"edited {name}"):
        assert not holds(edited, files), (named(path), how)


def test_forged_records_are_rejected_unless_only_a_new_audit_could_tell(made: Made) -> None:
    """With a new digest, whatever a proof shows, and every word and number of a finding, is noticed."""
    name, record, files = made
    for path, how, edited in sampled(record, f"forged {name}"):
        forged = bound(edited) if "binding" in edited and path != ("binding",) else edited
        if holds(forged, files):
            assert is_open(record, path) or (how == SWAPPED and re.fullmatch(ORDER, named(path))), (named(path), how)


def is_open(record: Record, path: Path_) -> bool:
    """Whether a place is one of those that no proof shows."""
    if re.fullmatch(OF_PATTERNS, named(path)) and "items" in record["waivers"][path[1]]:
        return True
    if path[0] == "findings" and len(path) > 1 and record["findings"][path[1]]["code"] in ESTIMATING:
        return True
    return any(re.fullmatch(form, named(path)) for form in (*PREMISES, *BEYOND))


@pytest.mark.parametrize("name", ["channels", "cells", "nested", "blanks"])
def test_a_new_audit_finds_what_no_proof_shows(name: str, tmp_path: Path) -> None:
    """Totals, measures, reasons and statuses are compared with those of a new audit."""
    record, files = MADE[name](tmp_path)
    record = json.loads(json.dumps(record))
    assert holds(record, files, again=True)
    claims = [path for path in places(record) if any(re.fullmatch(form, named(path)) for form in BEYOND)]
    chance = random.Random(name)
    tried = 0
    for path in chance.sample(claims, min(12, len(claims))):
        edited = changed(record, path, 0)
        if edited is not None and path[0] != "tool":
            tried += 1
            assert not holds(bound(edited), files, again=True), named(path)
    assert tried > 5
