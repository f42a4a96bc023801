"""Audits of tables with blanks: whose view they take, what they refuse, and that their findings are re-checked."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.checker import check_audit
from tacit.files.partial import read_partial
from tacit.files.selection import read_marks
from tacit.model.errors import InputError, OptionError
from tests.partial.naive_tables import FIG2, FIG2_ROWS

POLICY = tacit.Policy(min_confidence=0.55, min_support=0)
NAMES = ("A1", "A2", "A3", "A4")


def fig2(hidden: dict[int, str] | None = None) -> tacit.PartialTable:
    """The table of Fig. 2, these cells of rows blank."""
    cells = {name: [row[place] for row in FIG2] for place, name in enumerate(NAMES)}
    for row, names in (hidden or {}).items():
        for name in names.split():
            cells[name][row] = ""
    return read_partial(cells, qi=NAMES[:3], sa="A4")


def audited(table: Any = None, **how: Any) -> tacit.Audit:
    return tacit.audit(fig2() if table is None else table, policy=POLICY, **how)


# Views


def test_a_table_itself_is_a_release() -> None:
    people = tacit.read_table({name: [row[i] for row in FIG2] for i, name in enumerate(NAMES)}, qi="A1,A2,A3", sa="A4")
    found = audited(people, rows=FIG2_ROWS)
    assert (found.attack("T01").findings, found.attack("T01").people, found.verdict) == (9, 2, "exposed")
    assert found.release[0]["kind"] == "table"
    assert found.adversary == {"knows_n": True, "rows_named": 2, "true_values_given": True}
    assert {run.status for run in found.runs if run.code[0] != "T"} == {"not-relevant"}


def test_rows_may_be_a_condition_on_what_is_hidden() -> None:
    original = fig2()
    published = fig2({0: "A4", 4: "A4"})
    found = audited(published, data=original, rows="A1=a and A2=b and A3!=x4 and A4=s")
    assert found.measures["records_at_risk"] == 4  # the condition is one on the original, where all of them have the value
    with pytest.raises(OptionError, match="fits no row"):
        audited(published, data=original, rows="A4=t")


def test_without_rows_and_data_every_blank_is_at_risk() -> None:
    found = audited(fig2({0: "A4", 2: "A4", 8: "A4"}))
    assert found.measures["records_at_risk"] == 3
    assert found.measures["null_share_confidence"] is None
    # Row 8 really holds something else; an outsider infers s all the same.
    assert 8 in {one.place - 2 for finding in found.findings for one in finding.because if isinstance(one.place, int)}
    owner = audited(fig2({0: "A4", 2: "A4", 8: "A4"}), data=fig2())
    told = {one.place - 2 for finding in owner.findings for one in finding.because if isinstance(one.place, int)}
    assert told == {0, 2}


def test_nothing_blank_and_nobody_named_leaves_the_verdict_to_classes() -> None:
    found = audited()
    statuses = [found.attack(code).status for code in ("T01", "T02", "T03")]
    assert (found.verdict, statuses) == ("exposed", ["not-relevant", "not-relevant", "ran"])
    asked = tacit.audit(fig2(), attacks=["T01"])
    assert (asked.verdict, asked.attack("T03").status) == ("incomplete", "not-asked")


def test_a_cell_that_is_to_be_protected_and_is_shown_exposes() -> None:
    found = audited(fig2({0: "A4"}), data=fig2(), rows=[0, 8])
    assert found.findings[0].statement == "The A4 x9c of 1 record that is to be protected is published as it is."
    assert found.attack("T01").people == 2


def test_another_sensitive_column_may_tell_one() -> None:
    cells = {"A": ["x", "y"] * 10, "B": ["1"] * 10 + ["2"] * 10, "C": ["s"] * 10 + ["t"] * 10}
    table = read_partial(cells | {"C": ["", *cells["C"][1:]]}, qi="A", sa="B,C")
    found = audited(table, data=read_partial(cells, qi="A", sa="B,C"))
    assert {"B": ["1"], "C": ["s"]} in [finding.event.to_dict() for finding in found.findings]
    assert check_audit(found.to_dict(top=100), [table]).ok


def test_several_sensitive_columns_are_protected_one_by_one() -> None:
    cells = {name: [row[place] for row in FIG2] for place, name in enumerate(NAMES)}
    both = read_partial(cells, qi="A1,A2", sa="A3,A4")
    found = audited(both, rows=[0, 4])
    without = {name: {column: texts for column, texts in cells.items() if column in ("A1", "A2", name)} for name in ("A3", "A4")}
    alone = {name: audited(read_partial(table, qi="A1,A2", sa=name), rows=[0, 4]) for name, table in without.items()}
    assert found.attack("T01").findings == sum(one.attack("T01").findings for one in alone.values())
    assert set(found.table("T01")["column"]) <= {"A3", "A4"}
    ids = {finding.id for finding in found.findings}
    assert len(ids) == len(found.findings)
    assert ids >= {finding.id for one in alone.values() for finding in one.findings}  # blanks of the other one may be read, too


def test_single_cells_of_several_columns_may_be_protected() -> None:
    cells = {name: [row[place] for row in FIG2] for place, name in enumerate(NAMES)}
    original = read_partial(cells, qi="A1,A2", sa="A3,A4")
    published = read_partial(cells | {"A4": ["", *cells["A4"][1:]]}, qi="A1,A2", sa="A3,A4")
    marks = read_marks({"row": [0], "column": ["A4"], "mark": ["-"]}, original.people)
    found = audited(published, data=original, rows=marks, attacks=["T01"])
    assert {str(one) for one in found.table("T01")["column"]} == {"A4"}
    assert not any("published as it is" in one.statement for one in found.findings)
    whole = audited(published, data=original, rows=[0], attacks=["T01"])
    assert "published as it is" in whole.findings[0].statement


def test_a_model_counts_only_where_the_policy_limits_it() -> None:
    table = fig2({0: "A4", 4: "A4"})
    free = tacit.audit(table, data=fig2(), rows=FIG2_ROWS, policy=tacit.Policy(min_confidence=1), attacks=["T02"])
    assert (free.asked_verdict, free.measures["model_inferred"]) == ("clean", 0)
    tight = tacit.Policy(min_confidence=1, max_posterior=0.9)
    found = tacit.audit(table, data=fig2(), rows=FIG2_ROWS, policy=tight, attacks=["T02"])
    assert [str(one) for one in found.table("T02")["reading"]] == ["model", "entropy"]
    assert found.findings[1].statement.startswith("The distribution of largest entropy gives A4 s a probability of up to 0.9")
    assert found.measures["entropy_posterior"] == pytest.approx(found.table("T02")["confidence"][1])
    assert "entropy_posterior" not in audited(table, data=fig2(), rows=FIG2_ROWS).measures  # it takes long, and nobody asks
    assert found.findings[0].statement.startswith("Naive Bayes gives A4 s a probability of up to 0.98")


def test_hidden_cells_are_counted_by_region() -> None:
    found = audited(fig2({0: "A4 A1", 4: "A4", 2: "A4", 3: "A1 A2"}), data=fig2(), rows=FIG2_ROWS)
    names = ("cells_hidden", "cells_hidden_ns", "cells_hidden_nc", "cells_hidden_sc")
    assert [found.measures[name] for name in names] == [4, 1, 2, 1]
    assert found.release[0]["blank_cells"] == {"A1": 2, "A2": 1, "A4": 3}


def test_cells_that_were_blank_before_do_not_count_as_hidden() -> None:
    before = fig2({3: "A1"})
    found = audited(fig2({3: "A1", 0: "A4", 4: "A4"}), data=before, rows=FIG2_ROWS)
    assert found.measures["cells_hidden"] == 0


def test_an_exact_fraction_is_a_threshold() -> None:
    third = tacit.Policy(min_confidence=Fraction(2, 3))  # type: ignore[arg-type]
    found = tacit.audit(fig2(), rows=FIG2_ROWS, policy=third, attacks=["T01"])
    assert found.attack("T01").findings == 1  # five sevenths; all others show two thirds at most


def test_time_runs_out() -> None:
    rng = np.random.default_rng(1)
    cells: dict[str, Any] = {f"c{i}": rng.integers(0, 2, 300).astype(str).tolist() for i in range(12)} | {"s": ["x"] * 300}
    table = read_partial(cells, qi=[f"c{i}" for i in range(12)], sa="s")
    found = tacit.audit(table, rows=[0, 1, 2, 3], policy=tacit.Policy(min_confidence=1), time_limit=0.01)
    assert (found.verdict, found.attack("T01").status) == ("incomplete", "stopped")


# Bad input


def test_another_table_is_no_original() -> None:
    published = fig2({0: "A4"})
    shorter = read_partial({name: [row[i] for row in FIG2[:-1]] for i, name in enumerate(NAMES)}, qi=NAMES[:3], sa="A4")
    with pytest.raises(InputError, match="8 rows, the table 9"):
        audited(published, data=shorter)
    other = {name: [row[i] for row in FIG2] for i, name in enumerate(NAMES)}
    other["A2"][3] = "changed"
    with pytest.raises(InputError, match="in 1 rows") as caught:
        audited(published, data=other)
    assert "changed" not in str(caught.value)
    lacking = {name: [row[i] for row in FIG2] for i, name in enumerate(NAMES) if name != "A2"}
    with pytest.raises((InputError, OptionError), match="A2"):
        audited(published, data=lacking)


def test_columns_without_a_role_may_be_missing_in_the_original() -> None:
    cells = {name: [row[i] for row in FIG2] for i, name in enumerate(NAMES)} | {"note": [str(i) for i in range(9)]}
    published = read_partial(cells | {"A4": ["", *cells["A4"][1:]]}, qi=NAMES[:3], sa="A4")
    assert audited(published, data=fig2(), rows=[0]).measures["cells_hidden"] == 0


def test_rows_belong_to_tables() -> None:
    mined = tacit.mine_itemsets([["a", "b"], ["a"]], min_support=1)
    with pytest.raises(OptionError, match="--rows"):
        tacit.audit(mined, rows=[0])
    for how in ({"knowledge": [({"A1": "a"}, "s")]}, {"known": fig2().people}):
        with pytest.raises(OptionError):
            audited(rows=[0], **how)
    with pytest.raises(OptionError, match="tacit hide"):
        tacit.repair(fig2(), method="round")
    with pytest.raises(OptionError, match="--pattern"):
        tacit.support_of(fig2(), pattern="a")


# The checker


def _record() -> dict[str, Any]:
    found = audited(fig2({0: "A4"}), data=fig2(), rows=[0, 4, 8], attacks=["T01"])
    return json.loads(json.dumps(found.to_dict(top=99)))  # type: ignore[no-any-return]


def test_every_finding_is_re_checked() -> None:
    outcome = check_audit(_record(), [fig2({0: "A4"})])
    assert outcome.ok
    assert outcome.held == len(_record()["findings"]) > 5


@pytest.mark.parametrize(
    "change",
    [
        lambda one, _: one["because"][0].update(count=[8, 8]),
        lambda one, _: one["because"][1].update(count=[6, 6]),
        lambda one, _: one["because"].pop(),
        lambda one, _: one["because"][-1].update(line=99),
        lambda one, _: one["because"][-1].update(line=10),
        lambda one, _: one["because"].append({"release": 0, "cell": "something", "count": [1, 1]}),
        lambda one, _: one.update(count=[9, 9]),
        lambda one, _: one.update(statement=one["statement"].replace("7", "8")),
        lambda one, _: one["steps"].pop(),
        lambda _, record: record["policy"].update(min_confidence=0.99),
        lambda _, record: record["policy"].update(min_support=7),
    ],
)
def test_a_finding_that_was_changed_is_rejected(change: Any) -> None:
    record = _record()
    finding = next(one for one in record["findings"] if one["event"].keys() == {"A2", "A4"})
    change(finding, record)
    outcome = check_audit(record, [fig2({0: "A4"})])
    assert not outcome.ok


@pytest.mark.parametrize(
    ("limit", "value", "old", "new"),
    [
        ("min_confidence", 0.99, "more than 55 %", "more than 99 %"),
        ("min_confidence", 0.7142857142857143, "more than 55 %", "more than 71.4 %"),
        ("min_support", 5, "and 0 records", "and 5 records"),
    ],
)
def test_a_rule_within_the_thresholds_is_rejected_whatever_its_words(limit: str, value: float, old: str, new: str) -> None:
    record = _record()
    finding = next(one for one in record["findings"] if one["event"].keys() == {"A2", "A4"})
    finding["steps"] = [step.replace(old, new) for step in finding["steps"]]
    record["policy"][limit] = value
    problems = check_audit(record, [fig2({0: "A4"})]).problems
    assert f"{finding['id']}: the rule is within the thresholds of the policy" in problems


def test_findings_about_another_table_are_rejected() -> None:
    record = copy.deepcopy(_record())
    assert not check_audit(record, [fig2({0: "A4", 1: "A4 A2", 2: "A2"})]).ok
    shown = next(one for one in record["findings"] if one["event"].keys() == {"A4"})
    shown["because"][0]["line"] = 3
    assert any(shown["id"] in problem for problem in check_audit(record, [fig2({0: "A4"})]).problems)


def test_a_table_that_was_written_is_audited_without_further_words(tmp_path: Path) -> None:
    tacit.write_release(fig2({0: "A4", 4: "A4"}), tmp_path / "t.csv")
    found = tacit.audit(tmp_path / "t.csv", policy=POLICY)
    assert found.measures["records_at_risk"] == 2
    assert found.verdict == "exposed"
