"""The checker accepts true findings about rules and rejects every tampered one."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.checker import check_audit
from tacit.model.finding import Term, Total
from tacit.model.release import Rules
from tests.rules.naive_rules import Form, file_of, rules_between, rules_to_values

Record = dict[str, Any]
COLUMNS = {"q": "ab", "r": "cd", "s": "xy"}
HEADER = {"format": "tacit.rules/1", "qi": ["q", "r"], "sa": "s", "sa_values": ["x", "y"], "complete": True}


def item_rules(folder: Path) -> Rules:
    """Rules between items, confidences with two decimals: single rules and groups between rules."""
    rows = [frozenset(word) for word in ["abc"] * 48 + ["ab"] * 32 + ["ac"] * 17 + ["a"] * 3 + ["bd"] * 60 + ["d"] * 2]
    text, _ = file_of(rows, rules_between("abcd"), Form(10, Fraction(1, 2), 2, with_count=True))
    (folder / "items.csv").write_text(text)
    release = tacit.read_release(folder / "items.csv", n=len(rows))
    assert isinstance(release, Rules)
    return release


def value_rules(folder: Path, **changes: Any) -> Rules:
    """Rules to a sensitive value, supports and confidences with four decimals, everybody's values published."""
    words = ["acx"] * 60 + ["acy"] * 20 + ["adx"] * 30 + ["ady"] * 3 + ["bcx"] * 31 + ["bdy"] * 4
    rows = [frozenset(f"{column}={value}" for column, value in zip("qrs", word, strict=True)) for word in words]
    form = Form(5, Fraction(3, 5), 4, header=HEADER | changes, distribution=True)
    text, header = file_of(rows, rules_to_values(COLUMNS, "s"), form)
    (folder / "values.csv").write_text(text)
    (folder / "values.csv.json").write_text(header)
    release = tacit.read_release(folder / "values.csv")
    assert isinstance(release, Rules)
    return release


def audited(release: Rules) -> Record:
    return tacit.audit(release, policy=tacit.Policy(k=10)).to_dict(top=1000)


@pytest.mark.parametrize("make", [item_rules, value_rules])
def test_true_audits_hold(make: Callable[[Path], Rules], tmp_path: Path) -> None:
    release = make(tmp_path)
    record = audited(release)
    outcome = check_audit(record, [release])
    assert outcome.problems == ()
    assert outcome.held == len(record["findings"]) >= 3
    assert record["verdict"] == "exposed"


def test_sums_of_printed_numbers_are_columns(tmp_path: Path) -> None:
    found = tacit.audit(item_rules(tmp_path)).attack("R01")
    assert found.show is not None
    for index in range(found.findings):
        finding = found.show(index)
        terms = [step for step in finding.derivation if isinstance(step, Term)]
        assert finding.derivation == (*terms, Total(finding.count))
        ends = [(term.times * term.bound.lo, term.times * term.bound.hi) for term in terms]
        assert (sum(map(min, ends)), sum(map(max, ends))) == (finding.count.lo, finding.count.hi)
    rounded = tacit.audit(value_rules(tmp_path)).attack("R01")
    assert rounded.show is not None
    forms = [any(isinstance(step, Term) for step in rounded.show(index).derivation) for index in range(rounded.findings)]
    assert not all(forms)  # what is not a sum of printed numbers stays in words


def test_the_other_value_is_the_rest_of_the_antecedent() -> None:
    people = [{"q": "a", "r": "c", "s": "x"}] * 60 + [{"q": "a", "r": "c", "s": "y"}] * 12
    people += [{"q": "a", "r": "d", "s": "x"}] * 30 + [{"q": "a", "r": "d", "s": "y"}] * 3 + [{"q": "b", "r": "d", "s": "x"}] * 30
    table = tacit.read_table({name: [one[name] for one in people] for name in "qrs"}, qi=["q", "r"], sa="s")
    rules = tacit.mine_rules(table, min_support=10, min_confidence=0.5)
    finding = next(one for one in tacit.audit(rules).findings if one.code == "R01")
    assert finding.steps[-1] == "sum: 3"
    assert any("its count divided by its confidence" in step for step in finding.steps)
    assert check_audit(tacit.audit(rules).to_dict(), [rules]).ok


def step_of(record: Record, word: str) -> tuple[Record, int]:
    """A finding with a step that holds a word, and the place of the step."""
    return next((f, i) for f in record["findings"] for i, step in enumerate(f["steps"]) if word in step)


def renumbered(record: Record, word: str) -> None:
    """Write another number into a step: the first one behind the word."""
    finding, place = step_of(record, word)
    head, _, tail = finding["steps"][place].partition(word)
    at = next(i for i, sign in enumerate(tail) if sign.isdigit())
    finding["steps"][place] = head + word + tail[:at] + str((int(tail[at]) + 1) % 10 or 1) + tail[at + 1 :]


def count(record: Record) -> None:
    first = record["findings"][0]
    first["count"] = [2, 2] if first["count"] == [1, 1] else [1, 1]


def event(record: Record) -> None:
    first = record["findings"][0]
    first["event"]["absent"] = first["event"]["absent"] or ["s=x"]
    first["event"]["present"] = first["event"]["present"][1:]
    text = json.dumps(["R01", first["event"]], ensure_ascii=False, sort_keys=True)
    first["id"] = f"R01-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def identity(record: Record) -> None:
    record["findings"][0]["id"] = "R01-000000000000"


def cited_line(record: Record) -> None:
    next(entry for entry in record["findings"][0]["because"] if "line" in entry)["line"] += 1


def cited_count(record: Record) -> None:
    record["findings"][0]["because"][-1]["count"] = [7, 7]


def dropped_line(record: Record) -> None:
    finding = max(record["findings"], key=lambda one: len(one["because"]))
    finding["because"].pop()


def line_number(record: Record) -> None:
    renumbered(record, "ine ")


def line_count(record: Record) -> None:
    finding, place = step_of(record, "ine ")
    head, _, tail = finding["steps"][place].partition(": ")
    finding["steps"][place] = f"{head}: 9{tail}"


def difference(record: Record) -> None:
    told = json.dumps([finding["steps"] for finding in record["findings"]])
    renumbered(record, ", that is " if ", that is " in told else "sum: ")


def free_step(record: Record) -> None:
    record["findings"][0]["steps"].insert(0, "It is well known that he is ill.")


def no_steps(record: Record) -> None:
    record["findings"][0]["steps"] = []


def statement(record: Record) -> None:
    record["findings"][0]["statement"] = "9 people have it."


def verdict(record: Record) -> None:
    record["verdict"] = "clean"


def stricter_policy(record: Record) -> None:
    record["policy"]["k"] = 1


def other_code(record: Record) -> None:
    record["findings"][0]["code"] = "I01"


BOTH = [count, event, identity, cited_line, cited_count, dropped_line, line_number, line_count, free_step, no_steps, statement]
BOTH += [verdict, stricter_policy, other_code]


def rejected(release: Rules, tamper: Callable[[Record], None]) -> bool:
    record = audited(release)
    assert check_audit(record, [release]).ok
    tampered = copy.deepcopy(record)
    tamper(tampered)
    assert tampered != record
    return not check_audit(tampered, [release]).ok


@pytest.mark.parametrize("tamper", [*BOTH, difference], ids=lambda function: function.__name__)
def test_tampered_findings_about_items_are_rejected(tamper: Callable[[Record], None], tmp_path: Path) -> None:
    assert rejected(item_rules(tmp_path), tamper)


def same_people(record: Record) -> None:
    finding = next(one for one in record["findings"] if "same_people" in one)
    finding["same_people"]["present"].pop()


def law(record: Record) -> None:
    renumbered(record, "values of s: ")


@pytest.mark.parametrize("tamper", [*BOTH, same_people, law], ids=lambda function: function.__name__)
def test_tampered_findings_about_values_are_rejected(tamper: Callable[[Record], None], tmp_path: Path) -> None:
    assert rejected(value_rules(tmp_path), tamper)


def test_a_list_that_is_not_complete_or_names_other_values_proves_less(tmp_path: Path) -> None:
    release = value_rules(tmp_path)
    record = audited(release)
    used = {entry.get("cell") for finding in record["findings"] for entry in finding["because"]}
    assert "sa_values" in used
    unnamed = replace(release, header=replace(release.header, sa_values=(), sa_counts=()))
    assert any("which the release does not state" in problem for problem in check_audit(record, [unnamed]).problems)


def test_another_release_of_rules_is_rejected(tmp_path: Path) -> None:
    record = audited(item_rules(tmp_path))
    assert not check_audit(record, [value_rules(tmp_path)]).ok
