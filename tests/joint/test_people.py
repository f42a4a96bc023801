"""Who the people of several releases are: declarations about more than two of them, values that changed, and words that do not fit."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

import tacit
from tacit.checker import check_audit
from tacit.checker.lines import Declaration
from tacit.checker.rules import Reject
from tacit.joint.lower import memberships, relate_populations
from tacit.joint.readers import look_alikes
from tacit.joint.words import merge_duplicate_movers
from tacit.model.errors import OptionError
from tacit.model.people import Changed, Churn, Nested, read_people
from tests.joint.test_golden_joint import release_of

LAST, THIS = "100; N:51, yes:25, N yes:11", "100; N:51, yes:26, N yes:12"


def audited(*texts: str, people: Any, k: int = 10) -> tuple[tacit.Audit, list[Any]]:
    releases = [release_of(text) for text in texts]
    return tacit.audit(releases, people=people, policy=tacit.Policy(k=k), attacks=["X01"]), releases


@pytest.mark.parametrize("column", ["salary", "income: a, b", "50% + more", "Größe"])
def test_columns_that_change_are_read_as_they_are_written(column: str) -> None:
    declared = Changed(columns=[column, "x"], people=(0, 2))
    assert read_people(declared.to_text()) == declared
    assert Declaration(declared.to_text(), [0, 1]).changed == {column, "x"}


def test_a_declaration_of_changes_may_leave_out_same() -> None:
    assert read_people("changed:salary:2") == read_people("same, changed:salary:2-2") == Changed(columns="salary", people=(2, 2))


@pytest.mark.parametrize(
    "text", ["changed:salary", "changed::0-2", "nested,changed:salary:0-2", "same,changed:a+a:0-2", "changed:a:3-1"]
)
def test_other_declarations_of_changes_are_refused(text: str) -> None:
    with pytest.raises(OptionError, match="--people"):
        read_people(text)


@pytest.mark.parametrize(
    ("people", "counts", "what"),
    [
        (Changed(columns=["x"], people=(0, 1)), (100, 100, 100), "and there are 3"),
        (Changed(columns=["x"], people=(0, 1)), (100, 99), "the same people are declared"),
        (Changed(columns=["y"], people=(0, 1)), (100, 100), "names a column that no release has"),
        (tacit.Churn(left=(0, 1), joined=(0, 1)), (100,) * 6, "too many sets of them"),
    ],
)
def test_declarations_that_do_not_fit_the_releases_are_refused(people: Any, counts: tuple[int, ...], what: str) -> None:
    with pytest.raises(OptionError, match=what):
        audited(*(f"{n}; x:50" for n in counts), people=people)


@pytest.mark.parametrize(
    "people",
    [
        "nested",
        "nested:1,0",
        "unknown",
        "left:0-1,joined:0-1",
        "left:2-2,joined:0-0",
        "left:0-0,joined:1-3",
        "left:0-0,joined:0-0",
    ],
)
@pytest.mark.parametrize("of", [[0, 1], [0, 0, 1], [0, 1, 2], [0, 1, 1, 2, 3]])
def test_the_checker_reads_the_same_people_from_a_declaration(people: str, of: list[int]) -> None:
    declared = read_people(people)
    releases = [release_of("100; x:50") for _ in of]
    found, checked = relate_populations(releases, declared, of), Declaration(people, of)
    assert set(found.values) == set(checked.sets)
    assert {frozenset(one) for one in memberships(declared, max(of) + 1)} == set(checked.sets.values())
    for number in range(len(of)):
        scope = checked.scope(number)
        assert [allowed.values for allowed in found.scopes[number].values()] == ([] if scope is None else [scope])
    for line in found.lines:
        if line.origin.what in ("left", "joined"):
            values, span = checked.mover(line.origin.release, line.origin.what)
            assert [allowed.values for allowed in line.terms[0][1].values()] == [values]
            assert (line.lo, line.hi) == span


@pytest.mark.parametrize(("text", "of"), [("nested", [0, 2]), ("sideways", [0, 1]), ("same,changed:x:0-2", [0, 1, 2])])
def test_the_checker_rejects_people_that_cannot_be(text: str, of: list[int]) -> None:
    with pytest.raises(Reject):
        Declaration(text, of)


def test_three_years_of_ever_fewer_people_tell_who_left_when() -> None:
    audit, releases = audited("100; N:51, N yes:11", "99; N:50, N yes:10", "98; N:50, N yes:10", people=tacit.Nested())
    told = {finding.statement for finding in audit.findings}
    assert "1 person has N and yes, among the people of release 1 who are not in release 2." in told
    assert "1 person has no N, among the people of release 2 who are not in release 3." in told
    assert check_audit(audit.to_dict(top=100), releases).ok


def test_people_who_come_back_are_told_apart_from_those_who_came() -> None:
    people = tacit.Churn(left=(1, 1), joined=(1, 1))
    audit, releases = audited("50; x:20", "50; x:19", "50; x:20", people=people)
    told = {finding.statement for finding in audit.findings}
    assert "1 person has x, among the people of release 1 who are not in release 2." in told
    assert "1 person has x, among the people of release 3 who are not in release 2." in told
    assert check_audit(audit.to_dict(top=100), releases).ok


def test_who_changed_is_told_with_everything_that_is_known_of_her() -> None:
    people = {"smokes": ["no"] * 75 + ["yes"] * 25, "region": ["N"] * 40 + ["S"] * 35 + ["N"] * 11 + ["S"] * 14}
    later = people | {"smokes": ["yes", *people["smokes"][1:]]}
    releases = [tacit.mine_itemsets(tacit.read_table(one), min_support=1) for one in (people, later)]
    audit = tacit.audit(releases, people=Changed(columns=["smokes"], people=(0, 2)), attacks=["X01"])
    statements = [finding.statement for finding in audit.findings if finding.count.hi == 1]
    assert "1 person changed from smokes=no to smokes=yes, with region=N." in statements
    outcome = check_audit(audit.to_dict(top=100), releases)
    assert outcome.ok, outcome.problems


def test_an_item_that_somebody_got_is_a_change_as_well() -> None:
    audit, releases = audited(LAST, THIS, people=Changed(columns="yes", people=(0, 2)))
    assert "1 person changed from not yes to yes, with N." in {finding.statement for finding in audit.findings}
    assert check_audit(audit.to_dict(top=100), releases).ok


def say_more_changed(record: dict[str, Any]) -> None:
    record["adversary"]["people"] = "same,changed:yes:0-9"
    for finding in record["findings"]:
        finding["certificate"]["people"] = "same,changed:yes:0-9"


def say_another_column(record: dict[str, Any]) -> None:
    record["findings"][0]["event"]["changes"][0]["column"] = "N"


def say_the_other_way(record: dict[str, Any]) -> None:
    change = record["findings"][0]["event"]["changes"][0]
    change["before"], change["after"] = change["after"], change["before"]


def say_nothing_of_it(record: dict[str, Any]) -> None:
    del record["findings"][0]["event"]["changes"]


@pytest.mark.parametrize("tamper", [say_more_changed, say_another_column, say_the_other_way, say_nothing_of_it])
def test_tampered_changes_are_rejected(tamper: Any) -> None:
    audit, releases = audited(LAST, THIS, people=Changed(columns="yes", people=(0, 2)))
    record = audit.to_dict(top=1)
    assert check_audit(record, releases).ok
    changed = deepcopy(record)
    tamper(changed)
    assert not check_audit(changed, releases).ok


def test_releases_about_the_same_people_stand_in_one_list() -> None:
    releases = [release_of(text) for text in ("100; N:51, yes:25", "100; N yes:11", "99; N:50", "99; N yes:10")]
    audit = tacit.audit([releases[:2], releases[2:]], people=tacit.Nested(), attacks=["X01"])
    assert audit.adversary["population"] == [0, 0, 1, 1]
    finding = audit.findings[0]
    assert finding.statement == "1 person has N and yes, among the people of group 1 who are not in group 2."
    assert {citation.release for citation in finding.because} == {1, 3}
    record = audit.to_dict()
    assert check_audit(record, releases).ok
    for other in ([0, 0, 0, 1], [1, 1, 0, 0], [0, 0, 2, 2]):
        record["adversary"]["population"] = other
        assert not check_audit(record, releases).ok


def test_groups_of_unknown_people_are_attacked_each_by_itself() -> None:
    first, second = release_of("100; x:50, y:40, x y:20"), release_of("100; z:50, x y z:19")
    other = release_of("90; x y z:18, x y:30")
    audit = tacit.audit([[first, second], other], people=tacit.Unknown(), policy=tacit.Policy(k=5), attacks=["X01"])
    assert [finding.statement for finding in audit.findings] == ["1 person has x and y but not z, among the people of group 1."]
    assert check_audit(audit.to_dict(), [first, second, other]).ok


def test_releases_of_one_group_must_say_the_same_number_of_people() -> None:
    with pytest.raises(OptionError, match="its files say different numbers of them"):
        tacit.audit([[release_of("100; x:50"), release_of("99; x:50")], release_of("98; x:49")], people=tacit.Nested())


def frame(**columns: list[str]) -> Any:
    return tacit.mine_itemsets(tacit.read_table(columns), min_support=1)


def test_a_column_that_is_coded_differently_is_refused() -> None:
    words, numbers = frame(sex=["F", "M"] * 10, x=["a"] * 20), frame(sex=["1", "2"] * 10)
    with pytest.raises(OptionError, match="the values of the column sex have nothing in common") as refused:
        tacit.audit([words, numbers], people=tacit.Same())
    assert "'F'" not in str(refused.value)
    small = frame(sex=["f", "m"] * 10)
    with pytest.raises(OptionError, match="rename it in one of them"):
        tacit.audit([words, small], people=tacit.Same())
    assert tacit.audit([words, numbers], people=tacit.Unknown()).attack("X01").status == "ran"


def test_names_that_look_alike_are_told_and_taken_as_different() -> None:
    audit, _ = audited("100; Milk:50, tea:20", "100; milk:49, tea:20", people=tacit.Same())
    assert audit.adversary["taken_as_different"] == [["Milk", "milk"]]
    assert look_alikes([{"": frozenset({"Milk", "milk"})}, {"": frozenset({"milk"})}]) == []
    assert look_alikes([{"Age": frozenset({"30"})}, {"age": frozenset({"30"})}]) == [("Age", "age")]


def test_the_owners_rows_settle_questions_that_stay_open_otherwise() -> None:
    rows = [["x", "y"]] * 20 + [["x"]] * 30 + [["y"]] * 20 + [[]] * 30
    texts = ("100; x:50, y:40", "100; x:50, y:40, x y:20")
    releases = [release_of(text) for text in texts]
    audit = tacit.audit(releases, people=tacit.Same(), data=rows, attacks=["X01"])
    assert audit.asked_verdict == "clean"
    assert audit.attack("X01").reason == ""
    others = tacit.audit(releases, people=tacit.Same(), data=[["x", "y"]] * 100, attacks=["X01"])
    assert "do not fit every line" in others.attack("X01").reason


def test_what_programs_prove_one_by_one_is_one_description_of_each_person() -> None:
    """Three years, one who left and one who joined each time; tables of single columns tell both values of everybody who moved."""
    people = [
        ["N", "cook"],
        ["S", "clerk"],
        *([["N", "cook"], ["S", "clerk"], ["E", "maid"]] * 20),
        ["E", "maid"],
        ["N", "cook"],
    ]
    years = [people[:62], people[1:63], people[2:64]]
    columns = ("area", "job")
    releases = [
        tacit.tabulate(
            tacit.read_table(dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True))), by=[columns], ways=1
        )
        for rows in years
    ]
    audit = tacit.audit(releases, people=tacit.Churn(left=(1, 1), joined=(1, 1)), policy=tacit.Policy(k=3), attacks=["X01"])
    exact = [finding.statement for finding in audit.findings if finding.count.is_exact]
    assert len(exact) == 4, "each of the four once"
    for mover, inside, outside in ((people[0], 0, 1), (people[1], 1, 2), (people[62], 1, 0), (people[63], 2, 1)):
        wanted = sorted(f"{column}={value}" for column, value in zip(columns, mover, strict=True))
        events = [finding.event.to_dict() for finding in audit.findings if finding.count.hi == 1]
        full = [event for event in events if event["present"] == wanted]
        assert any(inside in event["inside"] and outside in event["outside"] for event in full)
    outcome = check_audit(audit.to_dict(top=1000), releases)
    assert outcome.ok, outcome.problems


def test_groups_of_movers_that_others_describe_more_fully_are_redundant() -> None:
    men, tall, short = {0: 1}, {0: 1, 1: 1}, {0: 1, 1: 2}
    assert merge_duplicate_movers([("men", men, 2), ("tall men", tall, 1), ("short men", short, 1)]) == ({"men"}, 2)
    assert merge_duplicate_movers([("not thin", {0: 6}, 1), ("tall", {0: 2}, 1)]) == ({"not thin"}, 1)


def test_memberships() -> None:
    assert (memberships(Nested(), 3), memberships(Churn(left=(0, 1), joined=(0, 1)), 2)) == (
        ((0,), (0, 1), (0, 1, 2)),
        ((0,), (0, 1), (1,)),
    )
