"""R03 when the time is over: what is listed has a proof, and what has none in time is counted as undecided."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.joint import certain_values
from tacit.known import proofs
from tacit.known.proofs import Prover
from tacit.model.audit import Audit
from tacit.model.policy import Limits
from tacit.model.release import Rules
from tacit.model.table import Table
from tacit.solve.bounds import Bounds
from tacit.solve.solver import solve_linear

#: Women all have flu, which one line says; of the two at work one has, so the man there has none, which takes two lines.
ROWS = [("work", "F", "flu"), ("work", "M", "none"), ("home", "F", "flu"), ("home", "M", "flu"), ("home", "M", "none")]
LINES = (
    'antecedent,consequent,count,support,confidence\n"{""sex"": ""F""}",flu,2,0.4,1.0\n"{""place"": ""work""}",flu,1,0.2,0.5\n'
)
HEADER = (
    '{"format": "tacit.rules/1", "n": 5, "qi": ["place", "sex"], "sa": "ill", "sa_values": ["flu", "none"], "complete": false}'
)


@pytest.fixture
def people() -> Table:
    columns = {name: [row[place] for row in ROWS] for place, name in enumerate(("place", "sex", "ill"))}
    return tacit.read_table(columns, qi=["place", "sex"], sa="ill")


@pytest.fixture
def rules(tmp_path: Path) -> Rules:
    (tmp_path / "rules.csv").write_text(LINES)
    (tmp_path / "rules.csv.json").write_text(HEADER)
    release = tacit.read_release(tmp_path / "rules.csv")
    assert isinstance(release, Rules)
    return release


def audited(rules: Rules, people: Table, **how: Any) -> Audit:
    return tacit.audit(rules, known=people.qi, attacks=["R03"], **how)


def events(audit: Audit) -> list[dict[str, Any]]:
    return [finding.event.to_dict() for finding in audit.findings]


def test_a_time_limit_that_suffices_changes_nothing(rules: Rules, people: Table) -> None:
    free, limited = audited(rules, people), audited(rules, people, time_limit=3600)
    assert events(free) == events(limited) != []
    assert [run.undecided for run in free.runs] == [run.undecided for run in limited.runs]
    assert all(finding.certificate is not None for finding in limited.findings)


def test_what_is_not_proved_in_time_is_undecided_and_solves_no_program(
    rules: Rules, people: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = audited(rules, people)
    bounds_of = proofs.bounds_of
    over: list[bool] = []

    def found_in_time(case: Any, said: Any, limits: Limits, *rest: Any, **how: Any) -> Bounds:
        found = bounds_of(case, said, Limits(), *rest, **how)
        over.append(True)
        return found

    solved: list[object] = []

    def counted(*args: Any, **how: Any) -> Any:
        if over:
            solved.append(args)
        return solve_linear(*args, **how)

    monkeypatch.setattr(certain_values, "bounds_of", found_in_time)
    monkeypatch.setattr("tacit.solve.program.solve_linear", counted)
    monkeypatch.setattr(Limits, "is_over", property(lambda _: bool(over)))
    limited = audited(rules, people, time_limit=3600)
    listed = events(limited)
    assert solved == []
    assert all(finding.certificate is not None for finding in limited.findings)
    assert [event for event in events(everything) if event not in listed] != [], "some proofs take a sum of lines"
    assert listed != [], "what a single line says needs no time"
    run = limited.attack("R03")
    assert run.status == "stopped"
    assert run.undecided >= everything.attack("R03").findings - run.findings > 0


def test_many_findings_share_one_program(rules: Rules, people: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    shared: list[int] = []
    share = Prover._find_shared_weights

    def counted(self: Prover, wanted: Sequence[tuple[int, tuple[int, ...]]]) -> None:
        shared.append(len(wanted))
        share(self, wanted)

    monkeypatch.setattr(Prover, "_find_shared_weights", counted)
    limited = audited(rules, people, time_limit=3600)
    assert shared == [1]
    monkeypatch.setattr(Limits, "is_over", property(lambda _: True))
    assert len(limited.findings) == 3
    assert all(finding.certificate is not None for finding in limited.findings), "proved before the time was over"
