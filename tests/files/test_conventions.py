"""Conventions of publishers, against publishers of a few lines each: every count that prints so, and no other."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

import tacit
from tacit.model.errors import Contradiction, OptionError
from tacit.model.frequencies import UNBOUNDED, FrequencyTable
from tacit.model.rounding import CONVENTIONS
from tests.shell import tacit as run

#: What each publisher may print for a number of people.
PUBLISHERS: dict[str, Callable[[int], set[str]]] = {
    "opensafely": lambda count: {"0", "[REDACTED]"} if count <= 7 else {str(5 * round(count / 5))},
    "opensafely-midpoint6": lambda count: {str(-(-count // 6) * 6 - 3 * (count != 0))},
    "nomis": lambda count: {str(5 * round(count / 5))},
    "acro": lambda count: {"0", ""} if count < 10 else {str(count)},
    "omop": lambda count: {"-5", "<5"} if 0 < count < 5 else {str(count)},
    "rr3": lambda count: {str(count // 3 * 3), str(-(-count // 3) * 3)},
}


def read(folder: Path, lines: list[str], convention: str, **options: object) -> FrequencyTable:
    path = folder / "t.csv"
    path.write_text("\n".join(["a,count", *lines]) + "\n")
    found = tacit.read_release(path, convention=convention, **options)  # type: ignore[arg-type]
    assert isinstance(found, FrequencyTable)
    return found


def test_every_convention_has_a_publisher_here() -> None:
    assert {one.name for one in CONVENTIONS} == set(PUBLISHERS)


@pytest.mark.parametrize("name", PUBLISHERS)
def test_a_cell_means_exactly_the_counts_that_are_printed_so(name: str, tmp_path: Path) -> None:
    means = defaultdict(set)
    for count in range(60):
        for text in PUBLISHERS[name](count):
            means[text].add(count)
    for text, counts in means.items():
        if max(counts) < 50:  # of larger ones not all are listed
            bound = read(tmp_path, [f"x,{text}", "y,33" if name == "opensafely-midpoint6" else "y,30"], name).count(0)
            assert set(range(bound.lo, bound.hi + 1)) == counts, text


@pytest.mark.parametrize("name", [name for name in PUBLISHERS if name not in ("acro", "omop")])
@pytest.mark.parametrize("k", [3, 8])
def test_no_proof_is_false_in_any_world_that_prints_the_same(name: str, k: int, tmp_path: Path) -> None:
    """Two cells and their total, each printed for itself."""
    worlds = defaultdict(list)
    for cells in product((0, 1, 2, 4, 5, 7, 8, 11, 13), repeat=2):
        for printed in product(*(sorted(PUBLISHERS[name](count)) for count in (*cells, sum(cells)))):
            worlds[printed].append(cells)
    chosen = sorted(worlds)[:: max(1, len(worlds) // 40)]
    for printed in chosen:
        table = read(tmp_path, [f"{label},{text}" for label, text in zip(("x", "y", "*"), printed, strict=True)], name)
        for cells in worlds[printed]:
            assert all(
                bound.lo <= count <= bound.hi
                for count, bound in zip((*cells, sum(cells)), map(table.count, range(3)), strict=True)
            )
        for finding in tacit.audit(table, policy=tacit.Policy(k=k)).findings:
            event = finding.to_dict()["event"]
            place = {"a=x": 0, "a=y": 1}
            for cells in worlds[printed]:
                inside = [
                    place[item]
                    for item in place
                    if item not in event.get("absent", ()) and set(event.get("present", ())) <= {item}
                ]
                assert finding.count.lo <= sum(cells[one] for one in inside) <= finding.count.hi, (printed, event)


def test_a_publishers_zero_is_not_nobody(tmp_path: Path) -> None:
    """Five women in the North fit every printed number, so that nobody proves one or two."""
    path = tmp_path / "os.csv"
    path.write_text("sex,region,count\nF,N,0\nF,S,20\nM,N,10\nM,S,15\nF,*,25\nM,*,25\n*,N,15\n*,S,35\n*,*,50\n")
    wrong = tacit.audit(tacit.read_release(path, n=50, base=5), policy=tacit.Policy(k=8))
    assert wrong.findings
    right = tacit.read_release(path, n=50, convention="opensafely")
    assert isinstance(right, FrequencyTable)
    assert (right.count(0).lo, right.count(0).hi) == (0, 7)
    assert (right.count(2).lo, right.count(2).hi) == (8, 12)
    true = {("F", "N"): 5, ("F", "S"): 18, ("M", "N"): 12, ("M", "S"): 15}
    for finding in tacit.audit(right, policy=tacit.Policy(k=8)).findings:
        event = finding.to_dict()["event"]
        people = sum(
            count
            for (sex, region), count in true.items()
            if {*event.get("present", ())} <= {f"sex={sex}", f"region={region}"}
            and not {*event.get("absent", ())} & {f"sex={sex}", f"region={region}"}
        )
        assert finding.count.lo <= people <= finding.count.hi


@pytest.mark.parametrize("name", PUBLISHERS)
def test_what_the_publisher_never_prints_is_refused(name: str, tmp_path: Path) -> None:
    never = {"opensafely": "5", "opensafely-midpoint6": "6", "nomis": "7", "acro": "4", "rr3": "4"}
    if name in never:
        with pytest.raises(Contradiction, match="could not be printed"):
            read(tmp_path, [f"x,{never[name]}", "y,*"], name)


class TestAcro:
    """ACRO deletes the people of small cells and counts again: totals count only who is left."""

    def test_totals_are_at_least_what_they_print(self, tmp_path: Path) -> None:
        table = read(tmp_path, ["x,20", "y,", "All,20"], "acro")
        assert [(table.count(place).lo, table.count(place).hi) for place in range(3)] == [(20, 20), (0, 9), (20, UNBOUNDED)]
        assert table.n is None
        assert not table.header.complete
        assert not tacit.audit(table).findings

    def test_two_tables_of_different_totals_prove_nothing_false(self, tmp_path: Path) -> None:
        """40 people; three men in the North are deleted from one table, two old ones from the other."""
        one, two = tmp_path / "one.csv", tmp_path / "two.csv"
        one.write_text("sex,area,count\nF,N,12\nF,S,10\nM,N,\nM,S,15\n*,N,12\n*,S,25\nF,*,22\nM,*,15\n*,*,37\n")
        two.write_text("area,age,count\nN,young,15\nN,old,\nS,young,13\nS,old,12\nN,*,15\nS,*,25\n*,young,28\n*,old,12\n*,*,40\n")
        releases = [tacit.read_release(path, convention="acro") for path in (one, two)]
        found = tacit.audit(releases, people=tacit.Same())
        assert not found.findings
        without = [tacit.read_release(path, hidden_below=10, n=None) for path in (one,)]
        assert without[0].n == 37

    def test_another_threshold_may_be_given(self, tmp_path: Path) -> None:
        assert read(tmp_path, ["x,6", "y,"], "acro", hidden_below=5).count(1).hi == 4

    def test_totals_that_hold_the_hidden_people_are_refused(self, tmp_path: Path) -> None:
        with pytest.raises(Contradiction, match="is not the sum of the cells that are shown"):
            read(tmp_path, ["x,20", "y,", "All,25"], "acro")


def test_the_convention_stands_in_header_and_record(tmp_path: Path) -> None:
    table = read(tmp_path, ["x,0", "y,10", "*,15"], "opensafely", n=15)
    tacit.write_release(table, tmp_path / "out.csv")
    assert json.loads((tmp_path / "out.csv.json").read_text())["convention"] == "opensafely"
    again = tacit.read_release(tmp_path / "out.csv")
    assert (again.lo.tolist(), again.hi.tolist()) == (table.lo.tolist(), table.hi.tolist())  # type: ignore[union-attr]
    with pytest.raises(OptionError, match=r"--convention: is rr3, but out\.csv\.json says opensafely"):
        tacit.read_release(tmp_path / "out.csv", convention="rr3")
    audited = tacit.audit(again).to_dict()["release"][0]
    assert audited["convention"] == "opensafely"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"convention": "opensafly"}, "--convention: is not a known convention. Did you mean 'opensafely'"),
        ({"convention": "nomis", "base": 5}, "--base: is part of what --convention nomis says"),
        ({"convention": "rr3", "rounding": "random"}, "--rounding: is part of what"),
        ({"convention": "opensafely", "hidden_below": 6}, "--hidden-below: is part of what"),
        ({"convention": "omop", "zeros_shown": True}, "--zeros-shown: is part of what"),
    ],
)
def test_options_that_say_it_twice_are_refused(options: dict[str, object], message: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,count\nx,0\ny,15\n")
    with pytest.raises(OptionError, match=f"^{message}"):
        tacit.read_release(tmp_path / "t.csv", **options)  # type: ignore[arg-type]


def test_python_audits_by_convention(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,count\nx,0\ny,10\nAll,15\n")
    found = tacit.audit(tmp_path / "t.csv", convention="opensafely")
    assert found.to_dict()["release"][0]["convention"] == "opensafely"
    assert found.to_dict()["release"][0]["n"] is None


def test_lists_have_no_convention(tmp_path: Path) -> None:
    (tmp_path / "i.csv").write_text('itemset,count,support\n"[""a""]",12,\n')
    with pytest.raises(OptionError, match="frequency tables"):
        tacit.read_release(tmp_path / "i.csv", form="tacit", convention="rr3")


def test_the_command_reads_by_convention(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("sex,region,count\nF,N,0\nF,S,20\nM,N,10\nM,S,15\nF,*,25\nM,*,25\n*,N,15\n*,S,35\n*,*,50\n")
    assert run("audit", path, "--n", 50, "--base", 5, "--k", 8).exit_code == 1
    told = run("audit", path, "--n", 50, "--convention", "opensafely", "--k", 3, "--json", tmp_path / "a.json", "-v")
    found = json.loads((tmp_path / "a.json").read_text())
    assert found["findings"] == []
    assert found["release"][0]["convention"] == "opensafely"
    assert "read by the convention opensafely" in told.output
