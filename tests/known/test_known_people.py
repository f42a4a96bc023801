"""Several releases about known people: what is certain only together, who is known, what is refused, and what a checker makes of it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.checker import check_audit
from tacit.known.proofs import bounds_of, state_everything
from tacit.known.releases import SeveralCase
from tacit.model.buckets import Buckets
from tacit.model.errors import Contradiction, InputError, OptionError
from tacit.model.frequencies import CellPrinting, FrequencyTable
from tacit.model.policy import Limits
from tacit.verbs.known import several_case

PEOPLE = tacit.read_table(
    {"sex": list("FFMM"), "age": ["old", "young", "old", "young"], "ill": ["flu", "mumps", "flu", "flu"]},
    qi=["sex", "age"],
    sa="ill",
)
BY_SEX, BY_AGE = tacit.tabulate(PEOPLE, by="sex,ill"), tacit.tabulate(PEOPLE, by="age,ill")


def left(case: SeveralCase | None) -> dict[str, set[str]]:
    """The values that whoever has each combination can have."""
    assert case is not None
    found = bounds_of(case, state_everything(case), Limits())
    return {
        " ".join(case.population.describe(q).values()): {
            value for place, value in enumerate(case.values) if not found.impossible[q, place]
        }
        for q in range(len(case.population))
    }


def test_two_tables_pin_together_what_neither_pins_alone() -> None:
    alone = [left(several_case([table], known=PEOPLE.qi)) for table in (BY_SEX, BY_AGE)]
    assert [one["F young"] for one in alone] == [{"flu", "mumps"}] * 2
    audit = tacit.audit([BY_SEX, BY_AGE], known=PEOPLE.qi, people=tacit.Same(), policy=tacit.Policy(k=1))
    together = [finding for finding in audit.findings if finding.code == "X01"]
    assert [finding.statement for finding in together] == ["The one person with sex=F, age=young certainly has ill mumps."]
    assert {citation.release for citation in together[0].because} == {0, 1}
    assert audit.attack("R03").findings == 4
    assert audit.attack("X01").sizes == {}
    assert audit.measures["people_certain"] == 4
    assert "imply what each of them says" in audit.attack("R02").reason
    assert audit.finding(together[0].id).statement == together[0].statement


def test_estimates_are_over_all_releases_and_beside_the_truth() -> None:
    audit = tacit.audit([BY_SEX, BY_AGE], data=PEOPLE, people=tacit.Same())
    table = audit.table("posterior")
    assert table["posterior"].round(6).tolist() == [1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0]
    assert audit.measures["D_overall"] == pytest.approx(0, abs=1e-9)
    assert audit.adversary["knows_quasi_identifiers"]


def test_owners_data_are_refused_where_the_people_are_not_the_same() -> None:
    with pytest.raises(OptionError, match="--data: "):
        tacit.audit([BY_SEX, BY_AGE], data=PEOPLE, people=tacit.Unknown())


def test_one_table_beside_known_people_is_attacked_as_well() -> None:
    audit = tacit.audit(BY_SEX, known=PEOPLE.qi, policy=tacit.Policy(k=1))
    assert {finding.statement for finding in audit.findings} == {
        "The one person with sex=M, age=old certainly has ill flu.",
        "The one person with sex=M, age=young certainly has ill flu.",
    }
    assert check_audit(audit.to_dict(), [BY_SEX], known=PEOPLE.qi).ok
    with pytest.raises(OptionError, match="--known: applies to rules and to releases with a known sensitive column"):
        tacit.audit(tacit.tabulate(PEOPLE, by="age"), known=PEOPLE.qi)


def test_every_release_must_be_about_as_many_people_as_are_known() -> None:
    fewer = tacit.read_table({"sex": ["F", "M"], "age": ["old", "old"]}, qi=["sex", "age"])
    with pytest.raises(InputError, match="is about 4 people, and 2 are known"):
        tacit.audit([BY_SEX, BY_AGE], known=fewer, people=tacit.Same())


def test_lines_about_quasi_identifiers_are_compared_with_the_known_people() -> None:
    others = tacit.read_table({"sex": list("FMMM"), "age": ["old", "young", "old", "young"]}, qi=["sex", "age"])
    sexes = tacit.mine_itemsets(PEOPLE, min_support=1)
    with pytest.raises(InputError, match="a different number of known people has these values"):
        several_case([sexes, BY_AGE], known=others).published()  # type: ignore[union-attr]


def test_releases_that_clash_are_named_with_their_lines() -> None:
    other = tacit.read_table({"sex": list("FFMM"), "age": ["old", "young"] * 2, "ill": ["flu"] * 4}, qi=["sex", "age"], sa="ill")
    clashing = tacit.tabulate(other, by="age,ill")
    with pytest.raises(Contradiction, match=r"release 1, line.*release 2") as raised:
        tacit.audit([BY_SEX, clashing], known=PEOPLE.qi, people=tacit.Same(), attacks=["R03"])
    assert "mumps" not in str(raised.value)


def test_lines_about_unknown_columns_are_passed_over_and_counted() -> None:
    people = tacit.read_table(
        {"sex": list("FFMM"), "age": ["old", "young"] * 2, "job": list("abab"), "ill": ["flu", "mumps", "flu", "flu"]},
        qi=["sex", "age", "job"],
        sa="ill",
    )
    jobs = tacit.tabulate(people, by="job,ill")
    # Which of two columns that are not known is sensitive is for a release to say.
    silent = [replace(table, header=replace(table.header, sa=(), sa_values=())) for table in (BY_SEX, BY_AGE, jobs)]
    assert several_case(silent, known=PEOPLE.qi) is None
    assert several_case([BY_SEX, BY_AGE, jobs], known=PEOPLE.qi) is not None
    rules = tacit.mine_rules(PEOPLE, min_support=1, min_confidence=1)
    case = several_case([rules, BY_AGE, jobs], known=PEOPLE.qi)
    assert case is not None
    assert (case.left_out, case.speaking) == (4, (0, 1))
    audit = tacit.audit([rules, BY_AGE, jobs], known=PEOPLE.qi, people=tacit.Same(), attacks=["R03"])
    assert "4 more are not about known columns and one sensitive value" in audit.attack("R03").reason


def test_more_lines_than_programs_take_are_left_open_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.known.proofs.MOST_LINES", 2)
    monkeypatch.setattr("tacit.joint.certain_values.MOST_LINES", 2)
    monkeypatch.setattr("tacit.known.sensitive_values.MOST_LINES", 2)
    audit = tacit.audit([BY_SEX, BY_SEX], known=PEOPLE.qi, people=tacit.Same(), policy=tacit.Policy(k=1), attacks=["R02", "R03"])
    assert [audit.attack(code).status for code in ("R02", "R03")] == ["stopped", "stopped"]
    assert audit.attack("R03").findings > 0, "what single lines settle is proved all the same"
    assert audit.attack("R03").undecided > 0
    assert "too many for programs" in audit.attack("R03").reason


# -- Groups of a bucketized release.


def buckets_of(*groups: int) -> Buckets:
    return Buckets.of(PEOPLE.qi, PEOPLE.sa, np.array(groups, np.int32))


def test_known_people_beside_a_table_of_which_nothing_can_be_used_leave_it_undecided(tmp_path: Path) -> None:
    """A rounded 0 of a table that hides small counts stands for nobody or for many."""
    (tmp_path / "table.csv").write_text("town,ill,count\nx,flu,0\nx,mumps,0\ny,flu,0\ny,mumps,0\n")
    rounded = {"rounding": {"base": 10, "mode": "random"}, "hidden_below": 2, "zeros_shown": True}
    header = {"format": "tacit.frequencies/1", "n": 5, "columns": ["town", "ill"], "qi": ["town"], "sa": "ill", **rounded}
    (tmp_path / "table.csv.json").write_text(json.dumps(header))
    known = {"town": ["x", "x", "y", "y", "y"]}
    audit = tacit.audit(tmp_path / "table.csv", known=tacit.read_table(known, qi=["town"]), policy=tacit.Policy(k=3))
    assert audit.attack("R03").undecided == 4
    assert audit.verdict == "incomplete"


def test_a_bucketized_release_says_who_everybody_is() -> None:
    case = several_case([buckets_of(0, 0, 1, 1), BY_AGE])
    assert case is not None
    assert (case.listed, case.grouped, case.population.names) == (True, 0, ("sex", "age", "group"))
    assert left(case) == {"F old 1": {"flu"}, "F young 1": {"mumps"}, "M old 2": {"flu"}, "M young 2": {"flu"}}


def test_groups_of_which_more_is_known_are_found_among_the_known_people() -> None:
    narrow = Buckets.of(PEOPLE.qi.select(["sex"]), PEOPLE.sa, np.array([0, 0, 1, 1], np.int32))
    case = several_case([narrow, BY_AGE], known=PEOPLE.qi)
    assert case is not None
    assert (case.grouped, case.population.names) == (-1, ("sex", "age"))
    assert left(case)["F young"] == {"mumps"}
    # Who shares her quasi-identifiers with people of another group may be one of those.
    mixed = Buckets.of(PEOPLE.qi.select(["sex"]), PEOPLE.sa, np.array([0, 1, 1, 0], np.int32))
    hidden = tacit.tabulate(PEOPLE, by="age,ill", hide_below=5)
    assert left(several_case([mixed, hidden], known=PEOPLE.qi))["F young"] == {"flu", "mumps"}


def test_other_people_than_a_bucketized_release_lists_are_refused() -> None:
    others = tacit.read_table({"sex": list("FMMM"), "age": ["old", "young", "old", "young"]}, qi=["sex", "age"])
    with pytest.raises(InputError, match="lists other people than those who are known"):
        several_case([buckets_of(0, 0, 1, 1), BY_AGE], known=others)


# -- Itemsets beside other releases.


@pytest.mark.parametrize("only", ["all", "closed", "maximal"])
def test_itemsets_tell_what_they_list_and_what_they_leave_out(only: Any) -> None:
    sets = tacit.mine_itemsets(PEOPLE, min_support=2, only=only)
    assert left(several_case([sets, BY_AGE], known=PEOPLE.qi))["M young"] == {"flu"}


# -- The checker.


def recorded(*, known: Any = PEOPLE.qi, l: int = 2) -> dict[str, Any]:  # noqa: E741
    audit = tacit.audit([BY_SEX, BY_AGE], known=known, people=tacit.Same(), policy=tacit.Policy(k=1, l=l))
    return dict(json.loads(json.dumps(audit.to_dict(top=50))))


@pytest.mark.parametrize("known", [None, PEOPLE.qi], ids=["as recorded", "counted anew"])
def test_every_finding_holds(known: Any) -> None:
    outcome = check_audit(recorded(), [BY_SEX, BY_AGE], known=known)
    assert outcome.ok, outcome.problems
    assert outcome.holding == {"R03": 4, "X01": 1}


def _swap_value(finding: dict[str, Any]) -> None:
    finding["event"]["ill"] = finding["certificate"]["claim"]["event"]["ill"] = ["flu"]


def _other_line(finding: dict[str, Any]) -> None:
    finding["certificate"]["weights"][0]["line"] += 1


def _other_count(finding: dict[str, Any]) -> None:
    finding["certificate"]["weights"][0]["count"] = [0, 0]


def _other_weight(finding: dict[str, Any]) -> None:
    finding["certificate"]["weights"][0]["weight"] = "5"


def _fewer_people(finding: dict[str, Any]) -> None:
    for group in finding["certificate"]["groups"]:
        group["weight"] = "0"
    finding["certificate"]["below"] = 100


def _other_words(finding: dict[str, Any]) -> None:
    finding["statement"] = finding["statement"].replace("certainly", "perhaps")


def _other_step(finding: dict[str, Any]) -> None:
    finding["steps"][-2] = "sum: -3"


def _fewer_values(finding: dict[str, Any]) -> None:
    finding["certificate"]["values"] = ["mumps"]


def _other_citation(finding: dict[str, Any]) -> None:
    finding["because"][0]["line"] += 40


@pytest.mark.parametrize(
    "tamper",
    [
        _swap_value,
        _other_line,
        _other_count,
        _other_weight,
        _fewer_people,
        _other_words,
        _other_step,
        _fewer_values,
        _other_citation,
    ],
)
def test_what_was_tampered_with_is_rejected(tamper: Callable[[dict[str, Any]], None]) -> None:
    record = recorded()
    finding = next(one for one in record["findings"] if one["code"] == "X01")
    before = copy.deepcopy(finding)
    tamper(finding)
    assert finding != before
    for known in (None, PEOPLE.qi):
        assert not check_audit(record, [BY_SEX, BY_AGE], known=known).ok


def test_other_people_and_other_releases_are_rejected() -> None:
    others = tacit.read_table({"sex": list("FFFM"), "age": ["old", "young", "young", "young"]}, qi=["sex", "age"])
    assert not check_audit(recorded(), [BY_SEX, BY_AGE], known=others).ok
    assert not check_audit(recorded(), [BY_AGE, BY_SEX], known=PEOPLE.qi).ok


def test_somebody_is_explained_by_all_releases() -> None:
    found = tacit.posterior_of([BY_SEX, BY_AGE], who="sex=F,age=young", known=PEOPLE.qi)
    assert (found.values, found.posterior, found.lower) == (("flu", "mumps"), (0.0, 1.0), (0.0, 1.0))
    assert any("release 1" in step for step in found.proof)
    assert any("release 2" in step for step in found.proof)
    with pytest.raises(OptionError, match="say nothing about sensitive values of known people"):
        tacit.posterior_of([BY_SEX, BY_AGE], who="sex=F")


@pytest.mark.parametrize("weights", ["nothing", "too few"])
def test_a_sum_that_does_not_count_everybody_is_rejected(weights: str) -> None:
    record = recorded()
    finding = next(one for one in record["findings"] if one["code"] == "X01")
    carried = finding["certificate"]
    if weights == "nothing":
        finding["because"], carried["weights"], carried["groups"] = [], [], []
        finding["steps"] = ["ill has only 2 values."]
    else:  # the people who make the sum what it is are left out, and the words fit
        left_out = sum(int(group["weight"]) * group["people"] for group in carried["groups"])
        carried["groups"] = []
        total = int(finding["steps"][-2].removeprefix("sum: ").replace(",", "")) - left_out
        finding["steps"] = [step for step in finding["steps"] if "people of whom" not in step and "people asked" not in step]
        finding["steps"].insert(-1, f"sum: {total:,}")
        finding["steps"].pop(-3)
    for known in (None, PEOPLE.qi):
        outcome = check_audit(record, [BY_SEX, BY_AGE], known=known)
        assert [one for one in outcome.problems if finding["id"] in one], weights


def table_of_printed_zeros(n: int) -> FrequencyTable:
    """Nobody has f, which is printed as a 0 that many people would also have; hidden cells are those of g with few people."""
    how = CellPrinting(hidden_below=5, zeros_shown=True, base=10)
    cells = [["y", "f"], ["y", "g"], ["x", "f"], ["x", "g"]]
    table = FrequencyTable.of(["A", "S"], cells, [0, None, 0, 0] if n < 5 else [0, 10, 0, None], n=n, printing=how)
    return replace(table, header=replace(table.header, qi=("A",), sa=("S",)))


@pytest.mark.parametrize(
    ("a", "b", "exposed"),
    [
        ("yyyy", "vvww", {"y v", "y w"}),  # fewer people than a cell needs to be shown
        ("yyyyyyxxxx", "vvvwwwvvvv", {"x v"}),  # only x is so rare
    ],
)
def test_a_printed_zero_rules_a_value_out_for_too_few_known_people(a: str, b: str, exposed: set[str]) -> None:
    table = table_of_printed_zeros(len(a))
    known = tacit.read_table({"A": list(a), "B": list(b)}, qi=["A", "B"])
    found = tacit.audit(table, known=known, k=2, l=2)
    told = {
        " ".join(finding.event.to_dict()[column][0] for column in "AB") for finding in found.findings if finding.code == "R03"
    }
    assert told == exposed
    assert tacit.verify(found.to_dict(top=100), table, known=known).problems == ()
