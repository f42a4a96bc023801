"""The register of releases that have left: its chain, its copies, and a new release audited beside all of them."""

from __future__ import annotations

import json
import threading
from datetime import date
from pathlib import Path

import pytest

import tacit
from tacit.model.errors import InputError, OptionError
from tacit.verbs import register as module
from tacit.verbs.register import LISTED, Register

LAST = "smokes,region,count\nno,N,40\nyes,N,11\nno,S,35\nyes,S,14\n"
THIS = LAST.replace("yes,N,11", "yes,N,10")
JOBS = "job,count\ncook,60\nclerk,40\n"
MOVED = tacit.Churn(left=(1, 1))


def written(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


@pytest.fixture
def last_year(tmp_path: Path) -> Register:
    """A register of two tables about 2024."""
    register = Register.open(tmp_path / "register", create=True)
    register = register.add(
        written(tmp_path, "smokers.csv", LAST), population="2024", sa="none", by="Ada", note="for the ministry"
    )
    return register.add(written(tmp_path, "jobs.csv", JOBS), date=date(2024, 5, 1), sa="none")


def lines_of(register: Register) -> list[str]:
    return (register.folder / LISTED).read_text().splitlines()


def test_what_left_is_listed_in_order_and_read_again(last_year: Register) -> None:
    again = Register.open(last_year.folder)
    assert again.entries == last_year.entries
    assert [(one.number, one.population, one.file, one.n, one.by, one.date) for one in again.entries] == [
        (1, "2024", "smokers.csv", 100, "Ada", None),
        (2, "2024", "jobs.csv", 100, None, "2024-05-01"),
    ]
    assert again.head == last_year.head != ""
    assert again.to_dict()["populations"] == ["2024"]
    assert (last_year.folder / "2024" / "smokers.csv").read_text() == LAST


@pytest.mark.parametrize(
    ("key", "value"),
    [("note", "for nobody"), ("sha256", "0" * 64), ("n", 101), ("read", {}), ("number", 2), ("population", "2023")],
)
def test_a_changed_line_breaks_the_chain(last_year: Register, key: str, value: object) -> None:
    first, second = lines_of(last_year)
    changed = json.dumps(json.loads(first) | {key: value}, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    (last_year.folder / LISTED).write_text(f"{changed}\n{second}\n")
    with pytest.raises(InputError, match="the register was changed"):
        Register.open(last_year.folder)


@pytest.mark.parametrize("order", [[1], [1, 0], [0, 0, 1]])
def test_lines_cannot_be_taken_out_swapped_or_doubled(last_year: Register, order: list[int]) -> None:
    lines = lines_of(last_year)
    (last_year.folder / LISTED).write_text("".join(lines[place] + "\n" for place in order))
    with pytest.raises(InputError, match="the register was changed"):
        Register.open(last_year.folder)


def test_a_register_that_was_cut_has_another_head(last_year: Register) -> None:
    (last_year.folder / LISTED).write_text(lines_of(last_year)[0] + "\n")
    assert Register.open(last_year.folder).head != last_year.head
    (last_year.folder / LISTED).write_text("".join(line + "\n" for line in lines_of(last_year))[:-9])
    with pytest.raises(InputError, match="unfinished last line"):
        Register.open(last_year.folder)


@pytest.mark.parametrize("line", ["", "[]", "{}", '{"format":"tacit.register/1"}', "not json"])
def test_what_is_no_line_is_refused(last_year: Register, line: str) -> None:
    (last_year.folder / LISTED).write_text(f"{line}\n")
    with pytest.raises(InputError, match="line 1: is not a line of a register"):
        Register.open(last_year.folder)


@pytest.mark.parametrize("name", ["../jobs.csv", "..", "a/b.csv"])
def test_a_line_leads_to_no_other_folder(last_year: Register, name: str) -> None:
    line = json.dumps(
        json.loads(lines_of(last_year)[0]) | {"file": name}, ensure_ascii=False, sort_keys=True, separators=(",", ":")
    )
    (last_year.folder / LISTED).write_text(f"{line}\n")
    with pytest.raises(InputError, match="is not a line of a register"):
        Register.open(last_year.folder)


def test_copies_must_be_the_files_that_left(last_year: Register) -> None:
    copy = last_year.folder / "2024" / "smokers.csv"
    copy.write_text(THIS)
    with pytest.raises(InputError, match=r"2024/smokers\.csv: is not the file that was registered"):
        last_year.audit()
    copy.write_text(LAST)
    Path(f"{copy}.json").write_text('{"format": "tacit.frequencies/1", "n": 100}')
    with pytest.raises(InputError, match="is not the file that was registered"):
        last_year.audit()
    Path(f"{copy}.json").unlink()
    copy.unlink()
    with pytest.raises(InputError, match="cannot be read any more"):
        last_year.audit()


def test_a_new_release_is_audited_beside_all_that_left(last_year: Register, tmp_path: Path) -> None:
    new = written(tmp_path, "smokers.csv", THIS)
    found = last_year.audit(new, population="2025", people=MOVED, sa="none", attacks=["X01"])
    folder = last_year.folder
    (tmp_path / "2025").mkdir()
    written(tmp_path / "2025", "smokers.csv", THIS)
    twin = tacit.audit([folder / "2024", tmp_path / "2025"], people=MOVED, sa="none", attacks=["X01"])
    assert found.verdict == twin.verdict == "exposed"
    assert [one.statement for one in found.findings] == [one.statement for one in twin.findings]
    assert last_year.audit(k=10).verdict == "clean"
    assert tacit.audit(new, sa="none").verdict == "clean"


def test_an_audit_can_be_verified_with_the_folders_once_it_is_added(last_year: Register, tmp_path: Path) -> None:
    new = written(tmp_path, "ages.csv", "age,count\nold,95\nyoung,5\n")
    record = last_year.audit(new, sa="none").to_dict()
    assert record["verdict"] == "exposed"
    last_year.add(new, sa="none")
    outcome = tacit.verify(record, [last_year.folder / "2024"])
    assert outcome.problems == ()
    assert outcome.held == len(record["findings"])


def test_the_relation_is_declared_once(last_year: Register, tmp_path: Path) -> None:
    new = written(tmp_path, "smokers.csv", THIS)
    with pytest.raises(OptionError, match="--people: is missing: 2025 is a second population"):
        last_year.add(new, population="2025", sa="none")
    with pytest.raises(OptionError, match="this one is registered already"):
        last_year.add(new, population="2024", people=MOVED, sa="none")
    both = last_year.add(new, population="2025", people=MOVED, sa="none")
    assert both.people == MOVED == Register.open(both.folder).people
    third = written(tmp_path, "third.csv", THIS)
    with pytest.raises(OptionError, match="differs from the declaration of this register"):
        both.add(third, population="2026", people=tacit.Same(), sa="none")
    assert both.add(third, population="2026", people=MOVED, sa="none").entries[-1].people is None


def test_the_population_is_the_newest_unless_n_says_otherwise(last_year: Register, tmp_path: Path) -> None:
    other = written(tmp_path, "other.csv", "job,count\ncook,50\nclerk,40\n")
    with pytest.raises(OptionError, match=r"has 100 people, and the release is about 90\. .* registered: 2024"):
        last_year.add(other, sa="none")
    with pytest.raises(OptionError, match="--population: is missing"):
        Register.open(tmp_path / "fresh", create=True).add(other, sa="none")
    for name in ("", "..", "a/b", ".hidden", "x" * 90):
        with pytest.raises(OptionError, match="is not a name for a folder"):
            last_year.add(other, population=name, sa="none")


def test_equal_names_are_kept_apart(last_year: Register, tmp_path: Path) -> None:
    longer = last_year.add(written(tmp_path, "jobs.csv", "job,region,count\ncook,N,60\nclerk,N,40\n"), sa="none")
    assert [one.file for one in longer.entries] == ["smokers.csv", "jobs.csv", "3-jobs.csv"]
    assert len(longer.gather().releases) == 3


def test_groups_are_copied_with_both_tables(tmp_path: Path) -> None:
    people = tacit.read_table({"sex": ["F", "M"] * 8, "ill": ["flu", "flu", "cancer", "cold"] * 4}, qi="sex", sa="ill")
    tacit.write_release(tacit.bucketize(people, l=2, method="anatomy"), tmp_path / "groups")
    (tmp_path / "groups" / "notes.txt").write_text("ours")
    register = Register.open(tmp_path / "register", create=True).add(tmp_path / "groups", population="all")
    assert sorted(one.name for one in (register.folder / "all" / "groups").iterdir()) == ["buckets.json", "qit.csv", "st.csv"]
    assert register.gather().releases[0].kind == "buckets"


def test_an_empty_register_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no register"):
        Register.open(tmp_path)
    with pytest.raises(InputError, match="is empty"):
        Register.open(tmp_path, create=True).audit()


def test_older_populations_than_can_be_audited_together_are_not_passed_over(tmp_path: Path) -> None:
    register = Register.open(tmp_path / "register", create=True)
    path = written(tmp_path, "jobs.csv", JOBS)
    for year in range(2020, 2026):
        moved = tacit.Churn(left=(0, 3), joined=(0, 3)) if year == 2021 else None
        register = register.add(path, population=str(year), people=moved, sa="none")
    gathered = register.gather()
    assert gathered.names == ("2021/", "2022/", "2023/", "2024/", "2025/")
    assert [one.file for one in gathered.not_read] == ["2020/jobs.csv"]


def test_nothing_is_left_of_a_release_that_could_not_be_added(
    last_year: Register, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = lines_of(last_year)

    def fail(self: Register, entry: object) -> None:
        raise InputError("is broken", where="it", remedy="Stop")

    monkeypatch.setattr(module.Register, "_read", fail)
    with pytest.raises(InputError, match="is broken"):
        last_year.add(written(tmp_path, "new.csv", THIS), population="2025", people=MOVED, sa="none")
    assert lines_of(last_year) == before
    assert not (last_year.folder / "2025").exists()


def test_programs_that_add_at_the_same_time_do_not_lose_a_line(last_year: Register, tmp_path: Path) -> None:
    failed: list[Exception] = []

    def add(number: int) -> None:
        path = written(tmp_path, f"jobs-{number}.csv", JOBS)
        for _ in range(50):
            try:
                Register.open(last_year.folder).add(path, sa="none")
                return
            except InputError as error:
                if "changed by another program" not in str(error):
                    failed.append(error)
        failed.append(AssertionError("never added"))

    threads = [threading.Thread(target=add, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert len(Register.open(last_year.folder).entries) == 8
