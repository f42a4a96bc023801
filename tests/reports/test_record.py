from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

from tacit.reports.record import audit_record, dump
from tacit.reports.releases import itemsets_record, rules_record
from tests.reports.audit_cases import LEAKING, audit_of, itemsets, rules


def test_records_of_mining_have_the_agreed_keys() -> None:
    assert itemsets_record(itemsets(LEAKING)) == {"format": "tacit.itemsets/1", "n": 100, "min_support": 49, "all": 3}
    closed = replace(itemsets(LEAKING), only="closed")
    assert itemsets_record(closed) == {"format": "tacit.itemsets/1", "n": 100, "min_support": 49, "closed": 3}
    assert rules_record(rules()) == {"format": "tacit.rules/1", "n": 100, "rules": 1, "min_support": 30, "min_confidence": 0.6}


def test_a_confidence_is_a_plain_number() -> None:
    one = rules()
    assert rules_record(replace(one, header=replace(one.header, min_confidence=Fraction(1))))["min_confidence"] == 1.0


def test_an_internal_record_is_the_audit_itself() -> None:
    audit = audit_of(itemsets(LEAKING))
    record = audit_record(audit, top=10)
    assert (
        record.pop("headline")
        == "EXPOSED: 1 group of 1-9 people can be computed from this release; it is a single person; at least 1 person is concerned."
    )
    bound = audit.to_dict(top=10)
    assert record.pop("binding") != bound.pop("binding")  # the headline is bound, too
    assert record == bound
    assert audit_record(audit, top=0)["findings"] == []


def test_an_external_record_holds_counts_only() -> None:
    release = itemsets({"CANARYa": 50, "CANARYb": 80, "CANARYa CANARYb": 49})
    audit = replace(
        audit_of(release, file="CANARY.csv"),
        adversary={"knows_n": True, "rounding": "nearest", "qi": ["CANARY"], "who": "CANARY"},
    )
    record = audit_record(audit, top=10, kind="external")
    assert "CANARY" not in json.dumps(record)
    assert record["findings"] == [{"code": "I01", "count": [1, 1]}]
    assert record["adversary"] == {"knows_n": True, "rounding": "nearest"}
    assert record["release"][0]["sha256"] == "ab" * 32
    assert audit.findings[0].id not in json.dumps(record)
    assert record["verdict"] == "exposed"


def test_dump_is_utf8_with_a_line_end() -> None:
    assert dump({"a": "Zürich"}) == '{\n  "a": "Zürich"\n}\n'.encode()
    json.loads(dump({"a": "\ud800"}))
