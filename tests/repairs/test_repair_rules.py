"""Repairs of rules as a caller sees them: results, records, refusals."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import tacit
from tacit.cli import cli
from tacit.model.audit import AttackRun, Audit, Status
from tacit.model.errors import InputError, OptionError
from tacit.model.release import Header, MadeBy
from tacit.model.repair import RepairCase
from tacit.repairs.lists import Lines, confidences, safety, supports
from tacit.repairs.withdraw import influence
from tests.rules.made_people import people

POLICY = tacit.Policy(k=3, max_posterior=0.8)


@pytest.fixture(scope="module")
def data() -> tacit.Table:
    return people(3)


@pytest.fixture(scope="module")
def rules(data: tacit.Table) -> tacit.Rules:
    return tacit.mine_rules(data, min_support=5, min_confidence=0.5)


def test_a_record_says_what_every_method_would_come_to(data: tacit.Table, rules: tacit.Rules) -> None:
    done = tacit.repair(rules, method="withhold", data=data, policy=POLICY)
    record = done.to_dict()
    assert [one["method"] for one in record["tried"]] == ["raise-threshold", "round", "withhold", "withdraw", "mixed"]
    assert next(one for one in record["tried"] if one["method"] == "withhold")["cost"] == record["cost"]
    assert "suggested" in record
    json.dumps(record)
    assert set(record["cost"]) <= {measure.name for measure in tacit.MEASURES}


def test_without_a_suggestion_only_the_method_is_tried(data: tacit.Table, rules: tacit.Rules) -> None:
    done = tacit.repair(rules, method="withhold", data=data, policy=POLICY, suggest=False)
    assert (done.suggested, done.tried) == (None, ())
    assert "tried" not in done.to_dict()


def test_withheld_rules_keep_their_thresholds(data: tacit.Table, rules: tacit.Rules) -> None:
    done = tacit.repair(rules, method="withhold", data=data, policy=POLICY, suggest=False)
    assert all(line["count"] is None and line["support"] is None for line in done.release.records())
    made_by = (MadeBy("withhold", "numbers"),)
    assert done.release.header == replace(rules.header, digits=None, made_by=made_by)
    assert done.cost["values_withheld"] == len(rules)


def test_a_published_distribution_is_withheld_where_it_is_the_leak() -> None:
    everybody = tacit.read_table({"sex": list("FM") * 20, "ill": ["no"] * 38 + ["yes"] * 2}, qi="sex", sa="ill")
    rules = tacit.mine_rules(everybody, min_support=10, min_confidence=0.5, publish_sa_distribution=True)
    done = tacit.repair(rules, method="withhold", data=everybody, policy=tacit.Policy(k=1, max_posterior=0.9), suggest=False)
    assert rules.header.sa_counts
    assert done.release.header.sa_counts == ()
    assert sum(run.findings for run in done.after.runs) == 0


def test_wished_decimals_are_printed_whatever_the_audit_says(data: tacit.Table, rules: tacit.Rules) -> None:
    done = tacit.repair(rules, method="round", data=data, policy=POLICY, decimals=1, suggest=False)
    assert done.release.header.digits == 1
    exact = [line["support"] for line in rules.records()]
    printed = [line["support"] for line in done.release.records()]
    assert all(abs(a - b) <= 0.0501 for a, b in zip(exact, printed, strict=True))
    assert 0 < done.cost["support_error_max"] <= 1


REFUSED: list[tuple[str, Callable[[tacit.Table, tacit.Rules], object]]] = [
    ("--data", lambda data, rules: tacit.repair(rules, method="withdraw")),
    ("--data", lambda data, rules: tacit.repair(rules, method="withdraw", data=data.transactions())),
    ("--data", lambda data, rules: tacit.repair(rules, method="withdraw", data=data.select(["sex", "ill"]))),
    ("--goal", lambda data, rules: tacit.repair(rules, method="withdraw", data=data, goal="frequent-only")),
    ("--base", lambda data, rules: tacit.repair(rules, method="round", data=data, base=5, policy=POLICY)),
    ("--method", lambda data, rules: tacit.repair(rules, method="substitute", data=data)),
    ("--method", lambda data, rules: tacit.repair(rules, method="withold", data=data)),
]


@pytest.mark.parametrize(("where", "call"), REFUSED)
def test_what_makes_no_sense_is_refused(
    data: tacit.Table, rules: tacit.Rules, where: str, call: Callable[[tacit.Table, tacit.Rules], object]
) -> None:
    with pytest.raises(OptionError, match=where):
        call(data, rules)


def test_rules_without_numbers_cannot_be_rounded(data: tacit.Table) -> None:
    withheld = tacit.mine_rules(data, min_support=5, min_confidence=0.5, withhold_values=True)
    with pytest.raises(OptionError, match="no numbers"):
        tacit.repair(withheld, method="round", data=data, decimals=1, policy=POLICY)


def test_data_that_the_rules_are_not_true_of_are_refused(rules: tacit.Rules) -> None:
    with pytest.raises(InputError, match=r"line .* not true of the data"):
        tacit.repair(rules, method="withdraw", data=people(4), policy=POLICY, suggest=False)


def test_rules_that_are_clean_stay_as_they_are(data: tacit.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = tacit.mine_rules(data, min_support=40, min_confidence=0.5)
    done = tacit.repair(rules, method="withdraw", data=data, policy=tacit.Policy(k=1, l=1), suggest=False)
    assert len(done.release) == len(rules)
    assert done.release.header.complete
    assert done.cost["rules_lost"] == 0


def run(status: Status, findings: int = 0, undecided: int = 0) -> AttackRun:
    return AttackRun("R01", "x", "proves", status, severity=np.zeros(findings, np.int64), undecided=undecided)


def test_how_safe_an_audit_is() -> None:
    def audited(*runs: AttackRun) -> Audit:
        return Audit((), {}, POLICY, runs)

    assert safety(audited(run("ran"), run("unavailable"))) == 2
    assert safety(audited(run("ran"), run("not-relevant"))) == 2
    assert safety(audited(run("ran", undecided=1))) == 1
    assert safety(audited(run("ran"), run("stopped"))) == 1
    assert safety(audited(run("unavailable"))) == 1
    assert safety(audited(run("ran", findings=1), run("ran"))) == 0


def test_lines_that_reach_thresholds_are_compared_exactly(data: tacit.Table, rules: tacit.Rules) -> None:
    lines = Lines(rules, np.array([6, 5, 7]), np.array([10, 10, 10]))
    header = Header(min_confidence=Fraction("0.6"))
    assert lines.reaching(5, header).tolist() == [0, 2]
    assert lines.reaching(5, replace(header, strict=True)).tolist() == [2]
    assert lines.reaching(7, header).tolist() == [2]
    assert lines.reaching(5, Header()).tolist() == [0, 1, 2]


def test_thresholds_that_are_tried_are_round_and_end_above_every_rule(rules: tacit.Rules) -> None:
    lines = Lines(rules, rules.lo, rules.whole_lo)
    assert supports(lines) == list(range(5, int(rules.lo.max()) + 2))
    many = Lines(replace(rules, header=replace(rules.header, n=100_000)), np.array([5_050, 7_020]), np.array([9_000, 9_000]))
    assert supports(many) == [5, *range(100, 7_001, 100), 7_021]
    assert confidences(Header(min_confidence=Fraction("0.9"), strict=True)) == [Fraction("0.9"), Fraction("0.95")]
    assert confidences(Header()) == [Fraction(0)]
    assert [float(one) for one in confidences(Header(min_confidence=Fraction("0.87")))] == [0.87, 0.9, 0.95, 1.0]


def test_the_rule_that_pushes_an_estimate_has_the_most_influence() -> None:
    """Of doctors, 5 of 6 earn much; of female ones all 4 do: the second rule makes that certain."""
    rows = [("D", "F", "+")] * 4 + [("D", "M", "+"), ("D", "M", "-")] + [("M", "F", "+")] * 4 + [("M", "F", "-")]
    table = tacit.read_table(
        {name: [row[i] for row in rows] for i, name in enumerate(("edu", "sex", "pay"))}, qi=["edu", "sex"], sa="pay"
    )
    rules = tacit.mine_rules(table, min_support=4, min_confidence=0.8, incomplete=True)
    audit = tacit.audit(rules, known=table.qi, policy=tacit.Policy(k=1, l=1, max_posterior=0.95))
    weights = influence(audit, rules)
    worst = list(rules.records())[int(weights.argmax())]
    assert worst["antecedent"] == {"edu": "D", "sex": "F"}


def test_withdrawing_needs_no_influence_to_come_to_an_end(data: tacit.Table, rules: tacit.Rules) -> None:
    """An audit that finds something whatever is published: everything goes, one after the other."""
    from tacit.repairs.withdraw import propose

    exposed = Audit((), {}, POLICY, (run("ran", findings=1),))
    case = RepairCase(rules, 3, lambda *_: exposed, lambda _: pytest.fail("mined"), lambda _: pytest.fail("mined"), table=data)
    assert len(propose(case).release) == 0


def test_the_command(data: tacit.Table, rules: tacit.Rules, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    texts = [[column.values[code] for code in column.codes.tolist()] for column in data.columns]
    lines = [",".join(data.names), *(",".join(row) for row in zip(*texts, strict=True))]
    Path("people.csv").write_text("\n".join(lines) + "\n")
    tacit.write_release(rules, "rules.csv")
    how = ["repair", "rules.csv", "--data", "people.csv", "--method", "withdraw", "--max-posterior", "0.8", "--k", "3"]
    told = CliRunner().invoke(cli, [*how, "-o", "safer.csv"])
    assert "information about sensitive values lost: " in told.output
    assert "the header declares the list incomplete" in told.output
    assert "Suggested" in told.output
    assert told.exit_code in (0, 1)
    assert json.loads(Path("safer.csv.json").read_text())["complete"] is False
    record = json.loads(CliRunner().invoke(cli, [*how, "-o", "again.csv", "--json", "-", "--no-suggest"]).stdout)
    assert record["method"] == "withdraw"
    assert "tried" not in record
    assert Path("safer.csv").read_bytes() == Path("again.csv").read_bytes()
    assert (told.exit_code == 0) == (record["after"]["verdict"] == "clean")


def test_the_table_of_repairs_says_what_each_is_for() -> None:
    record = json.loads(CliRunner().invoke(cli, ["repairs", "--json", "-"]).stdout)
    of = {row["name"]: row["of"] for row in record["repairs"]}
    assert of["withhold"] == of["withdraw"] == ["rules"]
    assert of["raise-threshold"] == ["itemsets", "rules"]
    assert of["round"] == ["itemsets", "rules", "frequencies"]
    assert of["substitute"] == ["itemsets"]
