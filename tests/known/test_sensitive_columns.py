"""Rules about several sensitive columns: each column by itself, against all databases and against the column alone."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.model.audit import Audit
from tacit.model.errors import InputError, OptionError
from tacit.model.finding import ItemEvent
from tacit.model.release import Rules
from tests.known.naive_certain import Person, Printing
from tests.known.naive_columns import Both, bounds
from tests.shell import record
from tests.shell import tacit as run

DOMAINS = (("u", "v"), ("v", "w"))  # v is a value of both
COLUMNS = ("ill", "pay")
Case = tuple[list[Person], list[Both], Printing]


@st.composite
def cases(draw: st.DrawFn, most: int = 5) -> Case:
    people: list[Person] = [(draw(st.sampled_from("ab")), draw(st.sampled_from("cd"))) for _ in range(draw(st.integers(1, most)))]
    values: list[Both] = [(draw(st.sampled_from(DOMAINS[0])), draw(st.sampled_from(DOMAINS[1]))) for _ in people]
    how = Printing(
        draw(st.integers(1, 3)),
        draw(st.sampled_from([Fraction(1, 4), Fraction(1, 2), Fraction(4, 5), Fraction(1)])),
        strict=draw(st.booleans()),
        withheld=draw(st.booleans()),
        digits=draw(st.sampled_from([None, None, 1])),
        complete=draw(st.integers(0, 3)) > 0,
        distribution=draw(st.booleans()),
    )
    return people, values, how


def table(people: list[Person], values: list[Both], columns: tuple[str, ...] = COLUMNS) -> tacit.Table:
    cells: dict[str, Any] = {"one": [p[0] for p in people], "two": [p[1] for p in people]}
    cells |= {name: [both[COLUMNS.index(name)] for both in values] for name in columns}
    return tacit.read_table(cells, qi=["one", "two"], sa=list(columns))


def mined(people: tacit.Table, how: Printing) -> Rules:
    return tacit.mine_rules(
        people,
        min_support=how.least,
        min_confidence=how.confidence,
        strict=how.strict,
        withhold_values=how.withheld,
        digits=None if how.withheld else how.digits,
        incomplete=not how.complete,
        publish_sa_distribution=how.distribution,
    )


def posteriors(audit: Audit) -> dict[str, Any]:
    return {one.sensitive: one for one in audit.posteriors}


@settings(max_examples=30, deadline=None)
@given(cases())
def test_bounds_are_those_of_all_databases(case: Case) -> None:
    people, values, how = case
    known = table(people, values)
    audit = tacit.audit(mined(known, how), known=known.qi, attacks=["R03"])
    domains = [known.column(name).values for name in COLUMNS]
    shown = audit.table("posterior")
    columns = [shown[name].tolist() for name in ("one", "two", "sensitive", "value", "people", "lower", "upper")]
    found: list[dict[Any, Any]] = [{}, {}]
    for one, two, column, value, n, lower, upper in zip(*columns, strict=True):
        found[COLUMNS.index(column)][(one, two), value] = (round(lower * n), round(upper * n))
    expected = bounds(people, values, domains, how)
    assert found == expected
    certain = [
        {person for person in people if sum(told[person, value][1] > 0 for value in domain) == 1}
        for told, domain in zip(expected, domains, strict=True)
    ]
    ran = audit.attack("R03")
    assert (ran.status, ran.undecided, ran.findings) == ("ran", 0, sum(map(len, certain)))
    exposed = [sum(person in column for person in people) for column in certain]
    assert [audit.by_column[name]["people_certain"] for name in COLUMNS] == exposed
    assert audit.measures["people_certain"] == max(exposed)
    record = audit.to_dict(top=100)
    assert not tacit.verify(record, mined(known, how), known=known.qi).problems


@settings(max_examples=25, deadline=None)
@given(cases(most=9))
def test_each_column_is_estimated_and_proved_as_if_it_were_alone(case: Case) -> None:
    people, values, how = case
    known = table(people, values)
    policy = tacit.Policy(max_posterior=0.9)
    both = tacit.audit(mined(known, how), data=known, policy=policy, attacks=["R02", "R03"])
    for name in COLUMNS:
        single = table(people, values, (name,))
        alone = tacit.audit(mined(single, how), data=single, policy=policy, attacks=["R02", "R03"])
        assert alone.posterior is not None
        mine = posteriors(both)[name]
        assert mine.values == alone.posterior.values
        for part in ("share", "lower", "upper", "baseline"):
            assert np.array_equal(getattr(mine, part), getattr(alone.posterior, part))
        own = [one for one in both.findings if name in one.event.to_dict()]
        assert [(one.id, one.statement, one.probability) for one in own] == [
            (one.id, one.statement, one.probability) for one in alone.findings
        ]
        assert both.by_column[name].items() <= alone.measures.items()
    entropies = [both.by_column[name]["posterior_entropy"] for name in COLUMNS]
    assert both.measures["posterior_entropy"] == sum(entropies)
    for measure, worst in (("max_posterior", max), ("t_closeness", max), ("l_distinct", min), ("D_overall", min)):
        assert both.measures[measure] == worst(both.by_column[name][measure] for name in COLUMNS)


def assert_tells(audit: tacit.Audit, other: tacit.Audit) -> None:
    """Of groups that lie in each other, the one with the fewest conditions is listed; nothing is compared about the second column."""
    stated = {one.statement for one in audit.findings}
    groups = [one.event for one in audit.findings if isinstance(one.event, ItemEvent)]
    for one in other.findings:
        event = one.event
        assert (
            "pay" in one.statement
            or one.statement in stated
            or (
                isinstance(event, ItemEvent)
                and any(set(wide.present) <= set(event.present) and set(wide.absent) <= set(event.absent) for wide in groups)
            )
        )


@settings(max_examples=12, deadline=None)
@given(cases(most=7))
def test_rules_about_a_second_column_weaken_no_proof(case: Case) -> None:
    people, values, how = case
    known = table(people, values)
    policy = tacit.Policy(k=3)
    both = mined(known, how)
    found = tacit.audit(both, known=known.qi, policy=policy)
    assert not tacit.verify(found.to_dict(top=10_000), both, known=known.qi).problems
    single = table(people, values, ("ill",))
    alone = tacit.audit(mined(single, how), known=single.qi, policy=policy)
    assert_tells(found, alone)
    # Where the list has rules about one column only, the other column adds nothing to what is proved.
    kept = np.flatnonzero([one["consequent"].keys() == {"ill"} for one in both.records()])
    silent = replace(both.header, complete=False)
    silent = replace(silent, marginals=(silent.marginals[0], replace(silent.marginals[1], counts=())))
    one_sided = tacit.audit(both.take(kept, silent), known=known.qi, policy=policy)
    rules = mined(single, how)
    alone = tacit.audit(replace(rules, header=replace(rules.header, complete=False)), known=single.qi, policy=policy)
    assert_tells(one_sided, alone)
    assert_tells(alone, one_sided)


# What else is asked about such a list

ROWS = {
    "sex": list("FFFFFFMMMMMM"),
    "job": list("aaabbbaaabbb"),
    "ill": ["flu"] * 5 + ["none"] * 6 + ["mumps"],
    "pay": ["high"] * 3 + ["low"] * 9,
}


def people() -> tacit.Table:
    return tacit.read_table(ROWS, qi=["sex", "job"], sa=["ill", "pay"])


RULES = tacit.mine_rules(people(), min_support=2, min_confidence=0.6, publish_sa_distribution=True)
POLICY = tacit.Policy(k=3, max_posterior=0.9)


def test_a_person_is_explained_for_one_column_at_a_time() -> None:
    found = tacit.posterior_of(RULES, who="sex=F,job=a", sa="pay", known=people().qi)
    assert (found.sensitive, found.values, found.posterior) == ("pay", ("high", "low"), (1.0, 0.0))
    assert "has pay" in found.steps[0].said.says or "have pay" in found.steps[0].said.says
    with pytest.raises(OptionError, match=r"the rules are about several sensitive columns\. Name one of them with sa: ill, pay"):
        tacit.posterior_of(RULES, who="sex=F", known=people().qi)
    single = tacit.mine_rules(tacit.read_table(ROWS, qi=["sex", "job"], sa="ill"), min_support=2, min_confidence=0.6)
    with pytest.raises(OptionError, match="is another sensitive column than that of the release"):
        tacit.posterior_of(single, who="sex=F", sa="pay", known=people().qi)
    table = tacit.tabulate(people(), by=["sex", "pay"])
    assert tacit.posterior_of([RULES, table], who="sex=M", sa="pay", known=people().qi).posterior == (0.0, 1.0)


def test_estimates_are_compared_with_the_truth_of_one_column() -> None:
    audit = tacit.audit(RULES, known=people().qi)
    assert audit.posterior is None
    for name in ("ill", "pay"):
        truth = tacit.compare(audit, tacit.read_table(ROWS, qi=["sex", "job"], sa=name))
        assert truth.posterior.sensitive == name
        assert truth.D_overall == tacit.audit(RULES, data=people()).by_column[name]["D_overall"]
    with pytest.raises(OptionError, match="the estimates are about several sensitive columns"):
        tacit.compare(audit, people())


def test_values_that_no_line_names_count_as_another_value() -> None:
    """Lists of other programs do not say which values there are; the owner's data may have more."""
    lines = [
        {"antecedents": frozenset({"sex=F"}), "consequents": frozenset({one}), "support": 5 / 12, "confidence": 5 / 6}
        for one in ("ill=flu",)
    ]
    pandas = pytest.importorskip("pandas")
    rules = tacit.read_release(pandas.DataFrame(lines), n=12, qi="sex,job", sa="ill,pay")
    found = tacit.audit(rules, data=people(), policy=POLICY)
    assert [(one.sensitive, one.values) for one in found.posteriors] == [("ill", ("flu", "(any other value)"))]
    assert (found.attack("R02").status, found.attack("R02").reason) == ("unavailable", "pay: no rule is about this column alone")
    assert set(found.by_column) == {"ill"}


def test_rules_about_two_columns_at_once_are_left_open(tmp_path: Path) -> None:
    path = tmp_path / "rules.csv"
    path.write_text(
        "antecedent,consequent,count,support,confidence\n"
        '"{""sex"": ""F""}","{""ill"": ""flu"", ""pay"": ""high""}",3,,\n'
        '"{""sex"": ""M""}","{""pay"": ""low""}",6,,\n',
        encoding="utf-8",
    )
    header = {
        "n": 12,
        "qi": ["sex", "job"],
        "sa": ["ill", "pay"],
        "sa_values": {"ill": ["flu", "mumps", "none"], "pay": ["high", "low"]},
    }
    path.with_name("rules.csv.json").write_text(json.dumps(header), encoding="utf-8")
    rules = tacit.read_release(path)
    audit = tacit.audit(rules, data=people(), policy=tacit.Policy(k=2))
    assert [one.statement for one in audit.findings if one.code == "R03"] == [
        "The 3 people with sex=M, job=a certainly have pay low.",
        "The 3 people with sex=M, job=b certainly have pay low.",
    ]
    run = audit.attack("R03")
    assert (run.status, run.undecided) == ("unavailable", 1)
    assert run.reason.startswith("ill: no rule is about this column alone; pay: 1 lines")
    assert all("pay" not in one.population.names and "ill" not in one.population.names for one in audit.posteriors)
    assert not tacit.verify(audit.to_dict(top=100), rules).problems


def test_facts_are_about_the_column_that_has_their_value() -> None:
    facts: list[Any] = [({"sex": "F", "job": "a"}, "low"), *(({"sex": "M", "job": "a"}, value) for value in ("flu", "mumps"))]
    rules = tacit.mine_rules(people(), min_support=6, min_confidence=0.9)
    alone = tacit.audit(rules, known=people().qi, policy=POLICY)
    audit = tacit.audit(rules, known=people().qi, knowledge=facts, policy=POLICY)
    assert audit.adversary["background_facts"] == 3
    more = {one.statement for one in audit.findings if one.code == "R03"} - {one.statement for one in alone.findings}
    assert more == {
        "The 3 people with sex=F, job=a certainly have pay high.",
        "The 3 people with sex=M, job=a certainly have ill none.",
    }
    assert not tacit.verify(audit.to_dict(top=100), rules, known=people().qi, knowledge=facts).problems
    with pytest.raises(InputError, match="its value is not one of the sensitive column's"):
        tacit.audit(rules, known=people().qi, knowledge=[({"sex": "F"}, "cold")])
    rows = {**ROWS, "pay": ["none"] * 3 + ["low"] * 9}
    twice = tacit.read_table(rows, qi=["sex", "job"], sa=["ill", "pay"])
    with pytest.raises(InputError, match="its value is one of several sensitive columns"):
        tacit.audit(
            tacit.mine_rules(twice, min_support=4, min_confidence=0.6), known=twice.qi, knowledge=[({"sex": "F"}, "none")]
        )


def test_the_order_of_values_is_that_of_the_column_that_has_them() -> None:
    found = tacit.audit(RULES, data=people(), sa_order=["low", "high"])
    assert "t_closeness_ordered" in found.by_column["pay"]
    assert "t_closeness_ordered" not in found.by_column["ill"]
    with pytest.raises(OptionError, match="does not name every sensitive value once"):
        tacit.audit(RULES, data=people(), sa_order=["low", "middle"])


@pytest.mark.parametrize("beside", ["table", "rules"])
def test_other_releases_about_the_same_people_help_with_each_column(beside: str) -> None:
    single = tacit.read_table(ROWS, qi=["sex", "job"], sa="pay")
    other = (
        tacit.tabulate(people(), by=["sex", "job", "pay"])
        if beside == "table"
        else tacit.mine_rules(single, min_support=1, min_confidence=1)
    )
    rules = tacit.mine_rules(people(), min_support=4, min_confidence=0.9)
    releases = [rules, other]
    audit = tacit.audit(releases, known=people().qi, policy=POLICY)
    assert {one.statement for one in audit.findings if one.code == "R03"} >= {
        "The 3 people with sex=F, job=a certainly have pay high.",
        "The 3 people with sex=F, job=b certainly have pay low.",
    }
    assert set(audit.by_column) == {"ill", "pay"}
    alone = tacit.audit(rules, known=people().qi, policy=POLICY)
    assert audit.by_column["ill"]["max_posterior"] == pytest.approx(alone.by_column["ill"]["max_posterior"])
    assert not tacit.verify(audit.to_dict(top=1000), releases, known=people().qi).problems


def test_a_complete_list_about_another_column_says_nothing_about_this_one() -> None:
    """That a list of rules about pay has none about ill does not mean that they are weak."""
    releases = [
        tacit.mine_rules(tacit.read_table(ROWS, qi=["sex", "job"], sa=name), min_support=2, min_confidence=0.6)
        for name in ("ill", "pay")
    ]
    together = tacit.audit(releases, known=people().qi, policy=POLICY)
    found = {one.statement for one in together.findings if one.code == "R03"}
    each = [tacit.audit(one, known=people().qi, policy=POLICY, attacks=["R03"]) for one in releases]
    assert found == {one.statement for audit in each for one in audit.findings}


def made_people() -> tacit.Table:
    """Women with job a are ill, men with job b earn little, nearly all of them."""
    chance = Random(5)
    groups = [chance.choice("FM") + chance.choice("ab") for _ in range(160)]
    return tacit.read_table(
        {
            "sex": [one[0] for one in groups],
            "job": [one[1] for one in groups],
            "ill": ["flu" if chance.random() < (0.93 if one == "Fa" else 0.5) else "none" for one in groups],
            "pay": ["low" if chance.random() < (0.97 if one == "Mb" else 0.5) else "high" for one in groups],
        },
        qi=["sex", "job"],
        sa=["ill", "pay"],
    )


@pytest.mark.parametrize("method", ["withdraw", "withhold", "round", "raise-threshold"])
def test_repairs_protect_every_column(method: str) -> None:
    data = made_people()
    rules = tacit.mine_rules(data, min_support=5, min_confidence=0.5, publish_sa_distribution=True)
    policy = tacit.Policy(k=2, max_posterior=0.9)
    done = tacit.repair(rules, data=data, method=method, policy=policy, suggest=False)
    assert (done.before.verdict, done.after.verdict) == ("exposed", "clean")
    assert {one["max_posterior"] > 0.9 for one in done.before.by_column.values()} == {True}
    assert all(one["max_posterior"] <= 0.9 for one in done.after.by_column.values())
    assert [one.column for one in done.release.header.marginals] == ["ill", "pay"]
    assert done.cost["information_lost"] > 0
    kept, listed = (
        {(str(one["antecedent"]), str(one["consequent"])) for one in each.records()} for each in (done.release, rules)
    )
    assert kept <= listed


def test_withheld_numbers_may_need_a_withheld_distribution() -> None:
    """Without the distribution of pay nothing is left of who earns much."""
    rows = {"sex": list("FFFFMMMM"), "ill": ["yes", "no"] * 4, "pay": ["high"] + ["low"] * 7}
    data = tacit.read_table(rows, qi=["sex"], sa=["ill", "pay"])
    rules = tacit.mine_rules(data, min_support=3, min_confidence=0.6, publish_sa_distribution=True)
    done = tacit.repair(rules, data=data, method="withhold", policy=tacit.Policy(k=1, max_posterior=0.85), suggest=False)
    assert [one.counts for one in done.release.header.marginals] == [(), ()]


def test_a_finding_about_one_column_is_not_proved_by_another() -> None:
    audit = tacit.audit(RULES, known=people().qi, policy=POLICY)
    honest = audit.to_dict(top=1000)
    assert not tacit.verify(honest, RULES, known=people().qi).problems
    place = next(number for number, one in enumerate(honest["findings"]) if one["code"] == "R03" and "pay" in one["event"])
    other = next(one for one in honest["findings"] if one["code"] == "R03" and "ill" in one["event"])
    forged = json.loads(json.dumps(honest))
    forged["findings"][place]["certificate"]["weights"] = other["certificate"]["weights"]
    problems = [one for one in tacit.verify(forged, RULES, known=people().qi).problems if honest["findings"][place]["id"] in one]
    assert problems
    assert "which values the sensitive column can have" not in problems[0]


def test_the_command_line_tells_about_every_column(tmp_path: Path) -> None:
    data = tmp_path / "people.csv"
    data.write_text(
        "sex,job,ill,pay\n" + "".join(f"{','.join(row)}\n" for row in zip(*ROWS.values(), strict=True)), encoding="utf-8"
    )
    rules = tmp_path / "rules.csv"
    roles = ["--qi", "sex,job", "--sa", "ill,pay"]
    told = record("mine", "rules", data, *roles, "--min-support", "2", "--min-confidence", "60%", "-o", rules)
    assert told["rules"] == len(RULES)
    limits = ["--k", "3", "--max-posterior", "90%"]
    found = record("audit", rules, "--data", data, *limits, code=1)
    assert [one["sensitive"] for one in found["estimates"]] == list(found["measures_by_column"]) == ["ill", "pay"]
    outside = record("audit", rules, "--data", data, *limits, "--report-kind", "external", code=1)
    assert list(outside["measures_by_column"]) == ["column 1", "column 2"]
    page = tmp_path / "page.html"
    text = run("audit", rules, "--data", data, *limits, "--report", page, "--report-kind", "external", "-v").stdout
    for shown in (json.dumps(outside), text, page.read_text(encoding="utf-8")):
        assert "pay" not in shown.replace("payment", "")
    assert "about sensitive column 2" in text
    explained = record("explain", rules, "--data", data, "--who", "sex=F,job=a")
    assert [one["sensitive"] for one in explained["columns"]] == ["ill", "pay"]
    compared = record("compare", rules, "--data", data, "--sa", "pay")
    assert compared["sensitive"] == "pay"
