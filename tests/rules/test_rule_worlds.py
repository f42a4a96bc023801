"""Every proof of R01 against all worlds that print the same file: item rules, and rules QI => SA, in every form of printing."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.checker import check_audit
from tacit.model.audit import Target
from tacit.model.finding import ItemEvent
from tacit.model.numbers import Rounding
from tacit.model.policy import Limits, Policy
from tacit.model.release import Rules
from tacit.rules import rule_exceptions
from tacit.rules.bounds import RuleTable
from tests.itemsets.naive_channels import Row, subsets, support
from tests.rules.naive_rules import Form, people_of, rules_between, rules_to_values, worlds_by_file

#: What is printed, and all worlds that print it.
Group = tuple[tuple[str, str], list[tuple[Row, ...]]]
HALF = Fraction(1, 2)
ITEM_FORMS: list[tuple[Form, Rounding]] = [
    (Form(1, HALF), "nearest"),
    (Form(2, Fraction(3, 4), 1, with_count=True), "nearest"),
    (Form(2, HALF, 1, mode="truncated", with_count=True), "truncated"),
    (Form(2, HALF, 1, mode="truncated", with_count=True), "unknown"),
    (Form(2, HALF, 1), "nearest"),
    (Form(1, HALF, 2, mode="truncated"), "truncated"),
]
COLUMNS = {"q": "ab", "r": "cd", "s": "xy"}
THREE_VALUES = {"q": "ab", "s": "xyz"}
FORMS = [
    Form(2, HALF),
    Form(2, HALF, 1),
    Form(2, Fraction(3, 5), 1, with_confidence=False),
    Form(2, HALF, withheld=True),
    Form(1, Fraction(2, 3), withheld=True, distribution=True),
    Form(3, Fraction(0)),
]


def read(folder: Path, text: tuple[str, str], **options: Any) -> Rules:
    """The release that these files hold."""
    (folder / "r.csv").write_text(text[0])
    (folder / "r.csv.json").unlink(missing_ok=True)
    if text[1]:
        (folder / "r.csv.json").write_text(text[1])
    release = tacit.read_release(folder / "r.csv", **options)
    assert isinstance(release, Rules)
    return release


def spread(groups: list[Group], most: int = 40) -> list[Group]:
    """Some of the groups, evenly spread over all of them."""
    return groups[:: -(-len(groups) // most)]


def judged(release: Rules, worlds: Sequence[Sequence[Row]], k: int) -> int:
    """Check every bound and every finding against every world, and the checker's word; how many findings there were."""
    table = RuleTable.of(release)
    table.deduce(Limits())
    for place in range(len(table.named.sets)):
        counts = [support(rows, frozenset(table.named.names(place))) for rows in worlds]
        assert table.lo[place] <= min(counts)
        assert max(counts) <= table.hi[place]
    run = rule_exceptions.run(Target(release, Policy(k=k)))
    assert run.show is not None
    events = set()
    for index in range(run.findings):
        finding = run.show(index)
        assert isinstance(finding.event, ItemEvent)
        assert run.event is not None
        assert finding.event == run.event(index)
        events.add(finding.event)
        sizes = [sum(finding.event.holds(row) for row in rows) for rows in worlds]
        assert 0 < finding.count.lo <= min(sizes)
        assert max(sizes) <= finding.count.hi < k
        if isinstance(finding.same_people, ItemEvent):
            same = [[finding.same_people.holds(row) == finding.event.holds(row) for row in rows] for rows in worlds]
            assert all(all(line) for line in same)
    assert len(events) == run.findings, "a group is listed twice"
    record = tacit.audit(release, policy=Policy(k=k), attacks=["R01"]).to_dict(top=1000)
    assert check_audit(record, [release]).problems == ()
    return run.findings


@pytest.mark.parametrize(("form", "rounding"), ITEM_FORMS)
def test_item_rules_prove_only_what_holds_in_every_world(form: Form, rounding: Rounding, tmp_path: Path) -> None:
    groups = list(worlds_by_file(list(subsets("abc")), 4, rules_between("abc"), form))
    judgements = [judged(read(tmp_path, text, n=4, rounding=rounding), worlds, 3) for text, worlds in spread(groups)]
    assert sum(judgements) > 20


@pytest.mark.parametrize("columns", [COLUMNS, THREE_VALUES], ids=["two-values", "three-values"])
@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("form", FORMS)
def test_rules_to_a_value_prove_only_what_holds_in_every_world(
    form: Form, complete: bool, columns: dict[str, str], tmp_path: Path
) -> None:
    header: dict[str, Any] = {"format": "tacit.rules/1", "qi": [name for name in columns if name != "s"], "sa": "s"}
    header |= {"sa_values": list(columns["s"]), "complete": complete}
    form = Form(**{**vars(form), "header": header})
    groups = [
        (text, worlds)
        for text, worlds in worlds_by_file(people_of(columns), 4, rules_to_values(columns, "s"), form)
        if text[0].count("\n") > 1
    ]
    judgements = [judged(read(tmp_path, text), worlds, 3) for text, worlds in spread(groups)]
    assert sum(judgements) > (0 if form.withheld else 10)
