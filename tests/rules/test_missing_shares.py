"""Missing rules bound a value by the proved size of their antecedent, and not only by the printed one."""

from __future__ import annotations

import json

import tacit
from tacit.checker import check_audit
from tacit.model.frequencies import CellPrinting, FrequencyTable
from tacit.reports.record import audit_record

PEOPLE = tacit.read_table(
    {"sex": ["F"] * 18 + ["M"] * 18, "ill": ["flu"] * 9 + ["none"] * 9 + ["flu"] * 9 + ["none"] * 9}, qi="sex", sa="ill"
)


def test_a_total_that_fixes_a_rounded_antecedent_narrows_what_its_missing_rules_allow() -> None:
    """18 to 22 women and 18 to 22 men are 36 people: 18 each. No rule of 60 % says flu or none of either, so 8 to 10 have each."""
    rules = tacit.mine_rules(PEOPLE, min_support=2, min_confidence="60%")
    assert len(rules) == 0
    plain = FrequencyTable.of(["sex"], [["F"], ["M"]], [20, 20], n=36, printing=CellPrinting(base=5))
    table = tacit.read_release(plain, sa="none")
    found = tacit.audit([rules, table], people=tacit.Same(), policy=tacit.Policy(k=11))
    told = {finding.statement for finding in found.findings}
    assert "8 to 10 people have ill=flu and sex=F." in told
    record = json.loads(json.dumps(audit_record(found, top=100)))
    assert "missing-share" in json.dumps(record)
    assert not check_audit(record, [rules, table]).problems
