"""Printed repairs, pasted: each ends clean, whatever the kind of release and the options of its audit."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.shell import tacit

PATIENTS = str(Path(__file__).parents[2] / "examples" / "patients.csv")
ROLES = ("--qi", "age,sex,smoker", "--sa", "diagnosis")
HEADING = "antecedents,consequents,antecedent support,consequent support,support,confidence\n"
LINES = (
    "frozenset({'age=65+'}),frozenset({'diagnosis=hypertension'}),0.266666666666666667,0.283333333333333333,0.125,0.46875\n"
    "\"frozenset({'age=65+', 'smoker=no'})\",frozenset({'diagnosis=hypertension'}),"
    "0.245833333333333333,0.283333333333333333,0.108333333333333333,0.440677966101694915\n"
)


def make(kind: str) -> None:
    """Write the releases of a kind into the folder."""
    if kind == "itemsets":
        assert tacit("mine", "itemsets", PATIENTS, "--min-support", "10%", "-o", "sets.csv").exit_code == 0
    if kind == "rules":
        wanted = ("--min-support", "10%", "--min-confidence", "50%", "-o", "rules.csv")
        assert tacit("mine", "rules", PATIENTS, *ROLES, *wanted).exit_code == 0
    if kind == "foreign":
        Path("rules.csv").write_text(HEADING + LINES)
    if kind == "tables":
        for name, by in (("a.csv", "age,diagnosis"), ("b.csv", "age,sex")):
            Path("in").mkdir(exist_ok=True)
            for place in (name, f"in/{name}"):
                assert tacit("tabulate", PATIENTS, "--by", by, "-o", place).exit_code == 0
    if kind == "buckets":
        assert tacit("bucketize", PATIENTS, *ROLES, "--l", "2", "-o", "groups").exit_code == 0
    if kind == "blanks":
        how = (
            "--rows",
            "smoker=yes",
            "--may-hide",
            "sc",
            "--method",
            "uniform",
            "--min-confidence",
            "0.9",
            "--min-support",
            "20",
        )
        tacit("hide", PATIENTS, *ROLES, *how, "-o", "t.csv")


#: Kinds of releases, with an audit each.
AUDITS = (
    ("itemsets", "sets.csv"),
    ("itemsets", f"sets.csv --data {PATIENTS} --k 8"),
    ("rules", f"rules.csv --data {PATIENTS} --max-posterior 0.9"),
    ("foreign", f"rules.csv --sa none --data {PATIENTS}"),
    ("foreign", f"rules.csv --sa diagnosis --data {PATIENTS}"),
    ("tables", "a.csv --sa none"),
    ("tables", f"a.csv --sa diagnosis --data {PATIENTS} --k 12"),
    ("tables", "a.csv b.csv --people same --sa none"),
    ("tables", "in --sa none"),
    ("buckets", f"groups --data {PATIENTS} --l 3"),
    ("blanks", f"t.csv --data {PATIENTS} --rows smoker=yes --min-confidence 0.5 --min-support 2"),
)


def blocks(text: str) -> list[list[str]]:
    """Return the printed commands, those of one repair together."""
    found: list[list[str]] = []
    is_open = False
    for line in text.splitlines():
        command = line.removeprefix("Repair  ").strip()
        if not command.startswith("tacit "):
            is_open = False
            continue
        if not is_open:
            found.append([])
        found[-1].append(command)
        is_open = True
    return found


@pytest.mark.parametrize(("kind", "audit"), AUDITS)
def test_printed_repairs_end_clean(kind: str, audit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make(kind)
    for options in ((), ("--suggest", "60")):
        told = tacit("audit", *shlex.split(audit), *options)
        assert told.exit_code == 1, told.output
        assert len(told.stdout.splitlines()) <= 20
        repairs = blocks(told.stdout)
        assert repairs, told.stdout
        for commands in repairs:
            for command in commands:
                done = tacit(*shlex.split(command)[1:])
                assert done.exit_code == 0, f"{command}\n{done.output}"


@pytest.mark.parametrize(
    ("kind", "audit", "asked"),
    [
        ("rules", "rules.csv", "give everybody's quasi-identifiers with --known, or the data with --data"),
        ("rules", f"rules.csv --known {PATIENTS}", "audit it again with --data (the table that it was made from)"),
        ("foreign", "rules.csv --n 240", "or say --sa none"),
        ("buckets", "groups --l 3", "audit it again with --data (the table that it was made from)"),
        ("blanks", "t.csv --min-confidence 0.5 --min-support 2", "and --rows (the rows to protect)"),
        ("tables", "a.csv", "name the sensitive column with --sa"),
    ],
)
def test_what_a_repair_lacks_is_asked_for(
    kind: str, audit: str, asked: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make(kind)
    for options in ((), ("--suggest", "60")):
        told = tacit("audit", *shlex.split(audit), *options, "--report", "page.html")
        assert told.exit_code == 1, told.output
        assert asked in " ".join(told.stdout.split())
        assert not blocks(told.stdout)
        assert "DATA" not in told.stdout
        page = Path("page.html").read_text()
        assert "tacit repair" not in page
        assert "--data DATA" not in page
