"""Several releases in one audit: what is declared, what is refused, how single attacks are told apart, and proofs that were tampered with."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from copy import deepcopy
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.checker import check_audit
from tacit.checker.joint import least_of
from tacit.checker.lines import Box
from tacit.joint import readers
from tacit.joint.cube import _largest
from tacit.joint.lower import lower
from tacit.joint.programs import Programs, Solver
from tacit.joint.worlds import Rows
from tacit.model.errors import Contradiction, OptionError
from tacit.model.people import read_people
from tacit.model.policy import Limits
from tacit.model.release import Decimals, Header, Items, Rules, Sets
from tests.joint.test_golden_joint import release_of

VISITS, TREATMENTS = "100; x:50, y:40, x y:20", "100; z:50, x y z:19"


def audited(*texts: str, people: Any = None, k: int = 5, **options: Any) -> tuple[tacit.Audit, list[Any]]:
    releases = [release_of(text) for text in texts]
    return tacit.audit(releases, people=people, policy=tacit.Policy(k=k), **options), releases


@pytest.mark.parametrize("text", ["same", "nested", "nested:1,0", "unknown", "left:0-3,joined:0-2"])
def test_declarations_are_read_as_they_are_written(text: str) -> None:
    assert read_people(text).to_text() == text


def test_a_single_number_stands_for_fewest_and_most() -> None:
    assert read_people("left:3") == tacit.Churn(left=(3, 3), joined=(0, 0))


@pytest.mark.parametrize("text", ["", "sme", "left:0-3,left:1-2", "left:3-0", "left:-1-2", "joined", "left:0-3;joined:0-2"])
def test_other_declarations_are_refused(text: str) -> None:
    with pytest.raises(OptionError, match="--people"):
        read_people(text)


@pytest.mark.parametrize(
    ("people", "counts", "what"),
    [
        (None, (100, 90), "different numbers of people"),
        (tacit.Same(), (100, 90), "the same people are declared"),
        (tacit.Nested(), (90, 100), "more people than the outer one"),
        (tacit.Churn(left=(0, 3), joined=(0, 3)), (100, 90), "differ by more than this allows"),
        (tacit.Nested(), (100, 90, 95), "more people than the outer one"),
    ],
)
def test_numbers_of_people_must_fit_the_declaration(people: Any, counts: tuple[int, ...], what: str) -> None:
    with pytest.raises(OptionError, match=what):
        audited(*(f"{n}; x:50" for n in counts), people=people)


def test_the_same_people_are_assumed_where_all_say_the_same_number() -> None:
    audit, _ = audited(VISITS, TREATMENTS)
    assert audit.adversary["people"] == "same"
    assert audit.verdict == "exposed"
    finding = audit.findings[0]
    assert {citation.release for citation in finding.because} == {0, 1}
    assert audit.finding(finding.id).statement == finding.statement
    assert audit.table("X01")["together"].tolist() == [True]


def test_one_release_in_a_list_and_people_of_one_release_are_refused() -> None:
    with pytest.raises(OptionError, match="the list: holds 1 releases"):
        audited(VISITS)
    with pytest.raises(OptionError, match="--people: applies to several releases"):
        tacit.audit(release_of(VISITS), people=tacit.Same())
    with pytest.raises(OptionError, match="--data: holds 1 people, and the release is about 100"):
        audited(VISITS, TREATMENTS, data=[["x"]])
    with pytest.raises(OptionError, match="--data: is about one population"):
        audited(VISITS, TREATMENTS, data=[["x"]] * 100, people=tacit.Nested())
    with pytest.raises(OptionError, match="it is not known who the releases are about, as of trees trained with bootstrap=True"):
        audited(VISITS, TREATMENTS, data=[["x"]] * 100, people=tacit.Unknown())


def test_a_table_with_blanks_says_nothing_about_items_that_it_has_not() -> None:
    table = tacit.read_partial({"sex": ["F", "M"], "ill": ["yes", None]}, qi="sex", sa="ill")
    audit = tacit.audit([release_of("2; x:1"), table], people=tacit.Same(), attacks=["X01"])
    assert {name for finding in audit.findings for name in finding.event.to_dict()["present"]} <= {"x"}


def test_the_same_finding_in_two_releases_has_two_names_and_both_hold() -> None:
    audit, releases = audited("100; a:50, a b:49", "100; a:50, a b:49", people=tacit.Unknown(), attacks=["I01"])
    assert audit.attack("I01").findings == 2
    assert len({finding.id for finding in audit.findings}) == 2
    assert [audit.finding(finding.id).because[0].release for finding in audit.findings] == [0, 1]
    outcome = check_audit(audit.to_dict(), releases)
    assert (outcome.ok, outcome.held) == (True, 2)


def test_lines_of_different_files_that_clash_are_named(tmp_path: Path) -> None:
    files = []
    for name, lines in (("a.csv", [["x", "y"], 20]), ("b.csv", [["x", "y", "z"], 21])):
        path = tmp_path / name
        items = json.dumps(lines[0]).replace('"', '""')
        path.write_text(f'itemset,count,support\n"{items}",{lines[1]},\n')
        path.with_name(f"{name}.json").write_text(json.dumps({"format": "tacit.itemsets/1", "n": 100, "complete": False}))
        files.append(path)
    with pytest.raises(Contradiction, match=r"a\.csv, line 2; b\.csv, line 2: no people fit"):
        tacit.audit(files)


def test_programs_name_the_lines_that_no_world_fits() -> None:
    problem = lower([release_of("100; x:50, x y:20"), release_of("100; z:50, x y z:21")], tacit.Same())
    everything = tuple(range(len(problem.axes)))
    settled = Programs(Rows.of(problem, everything), Limits(), [{}], 5)
    settled.settle()
    named = [problem.lines[number].origin for _, number in settled.clash]
    assert {(origin.release, origin.place) for origin in named} == {(0, 3), (1, 3)}
    fitting = lower([release_of("100; x:50, x y:20"), release_of("100; z:50, x y z:19")], tacit.Same())
    assert Solver(Rows.of(fitting, everything), Limits()).clash() == {}


def test_programs_prove_what_sums_along_one_column_do_not() -> None:
    """Half of each of four lines: people with a, c and d, with b, c and d and with a, b and c, less those with c."""
    audit, releases = audited("8; a c d:3, b d:1, a d:3, c:4", "8; b c d:1, a b c:1, a:4, b:2", k=3, attacks=["X01"])
    found = {finding.statement: finding for finding in audit.findings}
    proof = found["1 person has a, b and d."].certificate
    assert proof is not None
    assert {entry["weight"] for entry in proof["least"][0]["weights"]} == {"1/2", "-1/2"}
    assert check_audit(audit.to_dict(top=1000), releases).ok


def test_a_rounded_confidence_beside_the_whole_table_tells_who_was_left_out() -> None:
    """Of 50 with N among 99, "0.20" are yes: ten; the table of all hundred says 51 and eleven."""
    both, whole = np.array([0]), np.array([50])
    shown = Decimals(np.array([20]), np.array([2], np.int8))
    sides = Sets.from_lists([[0]]), Sets.from_lists([[1]])
    inner = Rules(*sides, both, whole, whole, whole, Items(("N", "yes")), Header(n=99), confidence=shown)
    releases: list[Any] = [release_of("100; N:51, yes:25, N yes:11"), inner]
    audit = tacit.audit(releases, people=tacit.Nested(), attacks=["X01"])
    statement = "1 person has N and yes, among the people of release 1 who are not in release 2."
    assert [finding.statement for finding in audit.findings if finding.count.hi == 1] == [statement]
    assert check_audit(audit.to_dict(top=100), releases).ok


def test_leaves_of_a_tree_beside_itemsets() -> None:
    from sklearn.tree import DecisionTreeClassifier

    sexes = [[1, 0]] * 30 + [[0, 1]] * 30 + [[0, 0]] * 20
    classes = ["ill"] * 30 + ["well"] * 49 + ["ill"]
    tree = DecisionTreeClassifier(random_state=0, max_depth=1).fit(sexes, classes)
    leaves = tacit.read_tree(tree, features=["sex=F", "sex=M"], sa="health")
    table = tacit.read_table({"sex": ["F"] * 30 + ["M"] * 30 + ["X"] * 20, "health": classes}, qi="sex", sa="health")
    itemsets = tacit.mine_itemsets(table.select(["sex"]), min_support=20)
    audit = tacit.audit([leaves, itemsets], people=tacit.Same(), attacks=["X01"])
    assert audit.findings[0].statement == "1 person has health=ill but not sex=F."
    assert check_audit(audit.to_dict(top=100), [leaves, itemsets]).ok


def change_count(finding: dict[str, Any]) -> None:
    finding["count"] = [1, 2]


def change_weight(finding: dict[str, Any]) -> None:
    finding["certificate"]["least"][-1]["weights"][0]["weight"] = "2"


def change_bound(finding: dict[str, Any]) -> None:
    finding["certificate"]["least"][-1]["at_least"] = 2
    finding["count"] = [2, 2]


def change_line(finding: dict[str, Any]) -> None:
    finding["certificate"]["most"][-1]["weights"][0]["line"] = 2


def change_because(finding: dict[str, Any]) -> None:
    finding["because"][0]["count"] = [21, 21]


def drop_because(finding: dict[str, Any]) -> None:
    finding["because"].pop()


def change_group(finding: dict[str, Any]) -> None:
    finding["certificate"]["least"][-1]["event"].pop()


def change_people(finding: dict[str, Any]) -> None:
    finding["certificate"]["people"] = "nested"


def change_sentence(finding: dict[str, Any]) -> None:
    finding["statement"] = "2 people have x and y but not z."


def use_later_step(finding: dict[str, Any]) -> None:
    finding["certificate"]["least"][-1]["weights"] = [{"step": 0, "weight": "1"}]


@pytest.mark.parametrize(
    "tamper",
    [
        change_count, change_weight, change_bound, change_line, change_because, drop_because, change_group, change_people, change_sentence,
        use_later_step,
    ],
)  # fmt: skip
def test_tampered_proofs_are_rejected(tamper: Callable[[dict[str, Any]], None]) -> None:
    audit, releases = audited(VISITS, TREATMENTS, attacks=["X01"])
    record = audit.to_dict()
    assert check_audit(record, releases).ok
    changed = deepcopy(record)
    tamper(changed["findings"][0])
    assert not check_audit(changed, releases).ok


def test_a_proof_about_other_releases_is_rejected() -> None:
    audit, releases = audited(VISITS, TREATMENTS, attacks=["X01"])
    assert not check_audit(audit.to_dict(), [releases[0], release_of("100; z:50, x y z:18")]).ok
    assert not check_audit(audit.to_dict(), releases[:1]).ok


def test_no_weights_beat_the_truth() -> None:
    """Random weights on random boxes: what the search for a kind of person lets pass is a true bound on made people."""
    random = np.random.default_rng(11)
    passed = 0
    axes = [("item", name) for name in "abc"]
    for _ in range(2000):
        boxes: list[Box] = [
            {axis: (frozenset({"has"}), bool(random.integers(2))) for axis in axes if random.random() < 0.5} for _ in range(4)
        ]
        weights = [Fraction(int(random.integers(-2, 3)), int(random.integers(1, 3))) for _ in range(3)]
        people = [{axis for axis in axes if random.random() < 0.5} for _ in range(6)]
        counts = [sum(all((axis in one) != box[axis][1] for axis in box) for one in people) for box in boxes]
        terms = [(Fraction(1), boxes[0]), *((-weight, box) for weight, box in zip(weights, boxes[1:], strict=True))]
        if least_of(terms, {}) == 0:
            passed += 1
            assert counts[0] >= math.ceil(sum(weight * count for weight, count in zip(weights, counts[1:], strict=True)))
    assert passed > 100


def test_of_long_lists_the_shortest_lines_are_taken_and_none_is_taken_for_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    releases = [release_of("100; complete 5; x:50, y:40, z:30, x y:20, x z:19"), release_of("100; w:60")]
    whole = lower(releases, tacit.Same())
    assert {line.origin.what for line in whole.lines} == {"n", "count", "missing"}
    monkeypatch.setattr(readers, "MOST_LISTED", 4)
    cut = lower(releases, tacit.Same())
    assert cut.left_out == whole.left_out + 1
    assert [line.origin.place for line in cut.lines if line.origin.release == 0 and line.origin.what == "count"] == [2, 3, 4, 5]
    assert not any(line.origin.what == "missing" for line in cut.lines if line.origin.release == 0)


@given(st.lists(st.frozensets(st.integers(0, 5)), max_size=12))
def test_the_largest_sets_are_those_that_no_other_contains(sets: list[frozenset[int]]) -> None:
    assert set(_largest(sets)) == {one for one in sets if not any(one < other for other in sets)}
