"""B03 on groups made by hand: what survives in them, what does not, and when it counts."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tests.buckets.test_golden_buckets import buckets_of, known_of

CASES = tomllib.loads((Path(__file__).parent / "B03.toml").read_text(encoding="utf-8"))["case"]


def audited(case: dict[str, Any], **how: Any) -> tacit.Audit:
    return tacit.audit(buckets_of(case | {"groups": case["groups"] * case["copies"]}), knowledge=known_of(case), **how)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["where"][:40])
def test_what_survives_is_that_of_the_case(case: dict[str, Any]) -> None:
    audit = audited(case, policy=tacit.Policy(max_posterior=0.6), attacks=["B03"])
    found: dict[str, float] = {}
    for finding, share in zip(audit.findings, audit.table("B03")["posterior"].tolist(), strict=True):
        event = finding.event.to_dict()
        if event["group"] == ["1"]:
            found[f"{','.join(event[name][0] for name in case['columns'])} {event['ill'][0]}"] = share
    assert set(found) == set(case["channels"])
    for name, least in case["channels"].items():
        assert found[name] >= least - 1e-9, name
    for name in case["even"]:
        assert not any(key.startswith(f"{name} ") for key in found)
    assert audit.asked_verdict == ("exposed" if audit.findings else "clean")
    assert audit.attack("B03").people >= len(found)


def test_it_measures_always_and_decides_only_by_name() -> None:
    case = CASES[0]
    audit = audited(case, policy=tacit.Policy(l=1, max_posterior=1))
    run = audit.attack("B03")
    assert (run.status, run.findings) == ("ran", 0)
    assert audit.asked_verdict == "clean"
    assert audit.measures["surviving_above_90"] >= 100
    assert audit.measures["surviving_expected_right"] > audit.measures["group_guess_right"]
    assert set(audit.measures) <= {measure.name for measure in tacit.MEASURES}
    strict = tacit.Policy(l=1, max_posterior=0.6)
    unnamed, named = audited(case, policy=strict), audited(case, policy=strict, attacks=["B03"])
    assert unnamed.attack("B03").findings == 0
    assert "asked for by name" in unnamed.attack("B03").reason
    told = int(unnamed.attack("B03").reason.split()[0])
    assert named.attack("B03").people == told
    assert named.verdict == "exposed"
    assert np.all(named.table("B03")["posterior"] > 0.6)
    assert audited(case, policy=tacit.Policy(max_gain=0.9), attacks=["B03"]).asked_verdict == "clean"


def test_a_finding_says_whom_and_why() -> None:
    finding = audited(CASES[0], policy=tacit.Policy(max_posterior=0.6), attacks=["B03"]).findings[0]
    assert "with probability" in finding.statement
    assert finding.statement.endswith("(estimated).")
    assert "what all groups together show" in finding.steps[0]
    assert finding.id.startswith("B03-")


def test_time_that_runs_out_is_said() -> None:
    run = audited(CASES[0], attacks=["B03"], time_limit=1e-9).attack("B03")
    assert run.status == "stopped"
