"""Explanations: plain sentences with their numbers and lines, and a picture that says the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest

import tacit
from tacit.model.finding import Finding, Goal, More, Step, Term, render_steps
from tacit.model.numbers import Bound
from tacit.reports.explain import Explanation, explanation_text, files_of
from tacit.reports.explain_picture import explanation_picture
from tests.checker.test_certificates import CASES, PATIENTS, PMICD, QIT, ST, audited
from tests.itemsets.made_releases import released
from tests.reports.audit_cases import itemsets

SVG = "{http://www.w3.org/2000/svg}"


def svg(told: Explanation, **how: Any) -> str:
    """The picture of a finding as a file."""
    picture = explanation_picture(told, **how)
    assert picture is not None
    return picture.standalone()


def explained(name: str) -> Explanation:
    record, _ = audited(name)
    longest = max(record["findings"], key=lambda one: len(one["steps"]))
    return Explanation.recorded(longest, [None] * len(record["release"]))  # then they are called by their numbers


@pytest.mark.parametrize("name", CASES)
def test_every_step_is_a_sentence_and_every_cited_line_has_its_file(name: str) -> None:
    told = explained(name)
    assert len(told.steps) == len(told.finding["steps"]) > 0
    assert all(step.text.endswith((".", ":")) for step in told.steps)
    cited = {(f"release {one['release'] + 1}", one["line"]) for one in told.finding["because"] if "line" in one}
    lines = {line for step in told.steps for line in step.lines}
    assert lines <= cited
    assert name[:3] == "T01" or lines or all("more" in step.text for step in told.steps)
    for step in told.steps:
        assert all(file in step.text for file, _ in step.lines)
        assert not re.search(r"\(line \d", step.text)
    text = explanation_text(told, width=90)
    assert text.startswith(f"{told.finding['id']}: ")
    assert "    1. " in text
    assert all(len(line) <= 90 for line in text.splitlines())
    assert "Proved: " in text


def test_sums_are_told_as_they_are_added_up() -> None:
    steps = [
        "plus 2 times 64: people with a (line 6)",
        "minus 30 to 32: people with a and b (line 3)",
        "and 4 more terms, all listed",
    ]
    steps += ["sum: between 1 and 3"]
    finding = {"id": "I01-0", "code": "I01", "statement": "s", "count": [1, 3], "steps": steps}
    cited = [{"release": 0, "line": line, "count": [64, 64]} for line in (6, 3)]
    told = Explanation.recorded(finding | {"because": cited}, ["a b.csv"])
    assert [step.text for step in told.steps] == [
        "Start from 2 times 64: people with a (a b.csv, line 6).",
        "Take away 30 to 32: people with a and b (a b.csv, line 3).",
        "And 4 more terms, all listed.",
        "That leaves between 1 and 3 people.",
    ]
    assert told.steps[0].to_dict()["lines"] == [{"file": "a b.csv", "line": 6}]


def together() -> list[Finding]:
    releases = [itemsets({"x": 50, "y": 30, "x y": 20}, complete=False), itemsets({"z": 50, "x y z": 19}, complete=False)]
    return list(tacit.audit(releases, people=tacit.Same(), attacks=["X01"]).findings)


def of_baskets() -> list[Finding]:
    return list(tacit.audit(released(PMICD, 4, "all"), policy=tacit.Policy(k=3)).findings)


def of_rules() -> list[Finding]:
    table = tacit.read_table(PATIENTS, qi=["age", "sex"], sa="ill")
    release = tacit.mine_rules(table, min_support=2, min_confidence=0.3, digits=3, with_confidence=True)
    return list(tacit.audit(release, known=table.qi, policy=tacit.Policy(k=8, max_posterior=0.4)).findings)


def of_groups() -> list[Finding]:
    known = [({"sex": "M"}, "baby"), ({"age": ["50", "60"]}, "flu")]
    return list(tacit.audit(tacit.read_buckets(qit=QIT, st=ST), knowledge=known, policy=tacit.Policy(l=3)).findings)


@pytest.mark.parametrize("find", [together, of_baskets, of_rules, of_groups])
def test_a_finding_is_explained_alike_from_memory_and_from_its_record(find: Callable[[], list[Finding]]) -> None:
    found = find()
    assert found
    for finding in found[:200]:
        files = [None] * 2 if finding.code == "X01" else ["r.csv"]
        told = Explanation.of(finding, files)
        recorded = Explanation.recorded(finding.to_dict(), files)
        assert recorded.steps == told.steps
        assert render_steps(recorded.derivation) == finding.steps
        assert svg(recorded) == svg(told)


def test_an_item_that_looks_like_a_place_stays_as_it_is() -> None:
    finding = {
        "id": "I02-0",
        "code": "I02",
        "statement": "s",
        "count": [1, 1],
        "because": [],
        "steps": ["Those with line 3 or more."],
    }
    assert Explanation.recorded(finding, ["f.csv"]).steps[0].text == "Those with line 3 or more."


def test_the_lines_of_a_bucketized_release_are_those_of_its_second_table() -> None:
    entries = [
        {"kind": "buckets", "file": "qit.csv and st.csv"},
        {"kind": "rules", "file": "this and that.csv"},
        {"kind": "rules"},
    ]
    assert files_of(entries) == ["st.csv", "this and that.csv", None]


@pytest.mark.parametrize("name", CASES)
def test_every_kind_of_proof_has_a_picture_with_a_text(name: str) -> None:
    told = explained(name)
    picture = svg(told, values=("high", "low"), bars={"min_confidence": 0.6})
    root = ElementTree.fromstring(picture)
    title, described = (root.findtext(f"{SVG}{part}") for part in ("title", "desc"))
    assert title == told.finding["statement"]
    assert described
    wide = float(root.attrib["width"])
    for shape in root.iter(f"{SVG}rect"):
        assert float(shape.attrib.get("x", 0)) >= 0
        assert float(shape.attrib.get("x", 0)) + float(shape.attrib["width"]) <= wide
    assert "prefers-color-scheme: dark" in picture


def test_a_picture_of_a_sum_ends_with_who_is_left() -> None:
    picture = svg(explained("X01"))
    words = [text.text for text in ElementTree.fromstring(picture).iter(f"{SVG}text")]
    assert [word for word in words if word and word[:2] in ("+ ", "- ", "= ")] == ["+ 20", "- 19", "= 1"]


def test_values_that_are_ruled_out_are_said_to_be() -> None:
    record, _ = audited("B01")
    finding = next(one for one in record["findings"] if one["certificate"]["matching"]["used_up"])
    picture = svg(Explanation.recorded(finding, ["st.csv"]))
    described = ElementTree.fromstring(picture).findtext(f"{SVG}desc") or ""
    matching: dict[str, Any] = finding["certificate"]["matching"]
    for value in matching["left"]:
        assert f"{value}: {'certain' if len(matching['left']) == 1 else 'possible'}" in described
    for value in matching["used_up"]:
        assert f"{value}: used up by {matching['users']} other" in described


def test_names_of_any_length_and_kind_are_drawn() -> None:
    long = "x<&" * 60
    baskets = tacit.read_transactions([[long, "b"]] * 49 + [[long]] + [["c"]] * 20)
    finding = tacit.audit(tacit.mine_itemsets(baskets, min_support=40)).findings[0].to_dict()
    picture = svg(Explanation.recorded(finding, ["a.csv"]))
    texts = [text.text or "" for text in ElementTree.fromstring(picture).iter(f"{SVG}text")]
    assert max(map(len, texts)) <= 104
    assert any(text.endswith("…") for text in texts)


def estimate(statement: str) -> Explanation:
    """An estimate that says this."""
    about = {"id": "R02-0", "code": "R02", "count": [1, 1], "because": [], "steps": ["Among all people the share is 0.500."]}
    return Explanation.recorded(about | {"statement": statement}, ["r.csv"])


def test_an_estimate_is_drawn_beside_what_an_outsider_knows_and_is_no_proof() -> None:
    told = estimate("Whoever has q has s x with probability 0.875 (estimated).")
    picture = svg(told, bars={"max_posterior": 0.75})
    words = [text.text for text in ElementTree.fromstring(picture).iter(f"{SVG}text")]
    assert {"0.500", "0.875"} <= set(words)
    assert "allows up to 0.75" in " ".join(word or "" for word in words)
    assert "Estimated: a probability" in explanation_text(told)
    assert told.to_dict()["explanation"]["proved"] is False
    assert explanation_picture(estimate("s")) is None, "nothing to draw"


def test_a_choice_of_people_is_drawn_with_who_is_in_the_group() -> None:
    table = tacit.FrequencyTable.of(["sex"], [["F"], ["M"]], [1, 2], n=3)
    finding = tacit.audit(table).findings[0].to_dict() | {"certificate": {"worlds": {"fit": 4}}, "count": [1, 2]}
    picture = svg(Explanation.recorded(finding, ["t.csv"]))
    described = ElementTree.fromstring(picture).findtext(f"{SVG}desc") or ""
    assert "that fit all lines: 4; people in the group, in each of them: 1 to 2" in described


def test_a_picture_of_a_long_sum_says_what_the_terms_that_it_does_not_draw_come_to() -> None:
    for number in (12, 40):  # all terms in the proof, and some left to the certificate; none and some left out of the picture
        steps: list[Step] = [Goal("least", 1), Term(1, Bound.of(1000), "all people")]
        steps += [Term(-1, Bound.of(9), f"people with a{place}") for place in range(min(number, 20))]
        steps += [More(number - 20, "terms, which the certificate lists")] if number > 20 else []
        said = list(render_steps(steps))
        finding: dict[str, Any] = {"id": "X01-0", "code": "X01", "statement": "s", "count": [1, 1], "steps": said}
        finding |= {"because": [], "certificate": {"steps": []}}
        drawn = svg(Explanation.recorded(finding, ["a.csv"]))
        rest = 1000 - 9 * 15 - 1
        assert (f"{number - 15} more terms" in drawn) == (number > 15)
        assert (f"- {rest}" in drawn) == (number > 15)
        assert "not drawn" not in drawn
