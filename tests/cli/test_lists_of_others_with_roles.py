"""Lists of other programs beside the roles of their columns: read as Tacit's own, or refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from mlxtend.frequent_patterns import association_rules, fpgrowth

import tacit as library
from tests.shell import record, tacit

GROUPS = [
    ("F", "cook", "flu", 300),
    ("F", "clerk", "flu", 150),
    ("F", "clerk", "cold", 151),
    ("M", "cook", "flu", 203),
    ("M", "cook", "cold", 200),
    ("M", "clerk", "flu", 100),
    ("M", "clerk", "cold", 200),
]
ROLES = ("--qi", "sex,job", "--sa", "ill")
EVERYONE = "Everyone with job=cook and sex=F has ill=flu (300 people)."
CERTAIN = "The 300 people with sex=F, job=cook certainly have ill flu."


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The people, their quasi-identifiers, and what mlxtend, arules and SPMF would write about them."""
    monkeypatch.chdir(tmp_path)
    rows = [row[:3] for row in GROUPS for _ in range(row[3])]
    people = pd.DataFrame(rows, columns=["sex", "job", "ill"])
    people.to_csv("p.csv", index=False)
    people[["sex", "job"]].to_csv("known.csv", index=False)
    found = fpgrowth(pd.get_dummies(people), min_support=0.05, use_colnames=True)
    found.to_csv("mlxtend.csv", index=False)
    association_rules(found, metric="confidence", min_threshold=0.4).to_csv("rules.csv", index=False)
    counted = [
        (sorted(items), round(support * len(people))) for support, items in zip(found["support"], found["itemsets"], strict=True)
    ]
    lines = [" ".join(item.replace("_", ":") for item in items) + f" #SUP: {count}\n" for items, count in counted]
    Path("spmf.txt").write_text("".join(lines))
    arules = [
        f'"{{{",".join(item.replace("_", "=") for item in items)}}}",{count / len(people):.15g},{count}'
        for items, count in counted
    ]
    Path("arules.csv").write_text('"items","support","count"\n' + "\n".join(arules) + "\n")


def statements(audit: dict[str, Any]) -> list[str]:
    return [finding["statement"] for finding in audit["findings"]]


def run_of(audit: dict[str, Any], code: str) -> dict[str, Any]:
    return next(run for run in audit["attacks"] if run["code"] == code)


def is_verified(audit: dict[str, Any], *files: str) -> bool:
    Path("audit.json").write_text(json.dumps(audit))
    return tacit("verify", "audit.json", *files).exit_code == 0


@pytest.mark.parametrize("file", ["mlxtend.csv", "spmf.txt", "arules.csv"])
def test_itemsets_of_others_are_read_with_roles_as_our_own(file: str) -> None:
    assert record("audit", file, "--n", "1304", code=0)["verdict"] == "clean"
    audit = record("audit", file, "--n", "1304", *ROLES, code=1)
    assert statements(audit) == [EVERYONE]
    assert is_verified(audit, file)
    for given in (("--known", "known.csv"), ("--data", "p.csv")):
        audit = record("audit", file, "--n", "1304", *ROLES, *given, code=1)
        assert run_of(audit, "R02")["status"] == run_of(audit, "R03")["status"] == "ran"
        assert statements(audit) == [CERTAIN]
        assert is_verified(audit, file)


def test_rules_of_others_are_read_with_roles_as_our_own() -> None:
    unnamed = record("audit", "rules.csv", "--n", "1304", code=3)
    assert "name them with --qi and --sa" in run_of(unnamed, "R03")["reason"]
    assert "--known" in run_of(record("audit", "rules.csv", "--n", "1304", *ROLES, code=3), "R03")["reason"]
    for given in (("--known", "known.csv"), ("--data", "p.csv")):
        audit = record("audit", "rules.csv", "--n", "1304", *ROLES, *given, code=1)
        assert run_of(audit, "R02")["status"] == "ran"
        assert CERTAIN in statements(audit)
        assert is_verified(audit, "rules.csv")
        forged = json.loads(json.dumps(audit))
        one = next(entry for entry in forged["findings"] if entry["code"] == "R03")
        one["certificate"]["open"] = False
        assert not is_verified(forged, "rules.csv")


def test_a_value_that_no_list_names_stays_possible() -> None:
    """Nobody says that flu and cold are all there is: of the women who are clerks, who have flu or cold, some might have something else."""
    lines = ["sex:F 600", "sex:F ill:cold 250", "sex:M 700", "sex:M ill:flu 700", "ill:cold 250"]
    Path("few.txt").write_text("".join(f"{line.rpartition(' ')[0]} #SUP: {line.rpartition(' ')[2]}\n" for line in lines))
    Path("sexes.csv").write_text("sex\n" + "F\n" * 600 + "M\n" * 700)
    audit = record("audit", "few.txt", "--n", "1300", "--qi", "sex", "--sa", "ill", "--known", "sexes.csv", "--l", "3", code=1)
    assert statements(audit) == ["The 700 people with sex=M certainly have ill flu."]


def test_items_of_no_column_are_refused_and_not_guessed() -> None:
    told = tacit("audit", "mlxtend.csv", "--n", "1304", "--qi", "sex", "--sa", "ill")
    assert told.exit_code == 2
    assert "holds an item that is not a value of exactly one of the columns sex, ill" in told.stderr
    assert "cook" not in told.stderr
    Path("two.txt").write_text("sex_F sex_M #SUP: 50\nsex_F #SUP: 60\nsex_M #SUP: 60\n")
    told = tacit("audit", "two.txt", "--n", "100", "--qi", "sex", "--sa", "none")
    assert told.exit_code == 2
    assert "names two values of one column" in told.stderr


def test_the_columns_of_the_data_help_to_read_items() -> None:
    audit = record("audit", "mlxtend.csv", "--n", "1304", "--sa", "ill", "--data", "p.csv", code=1)
    assert run_of(audit, "R03")["people"] == 300
    assert all(finding["code"] == "R03" for finding in audit["findings"])
    assert is_verified(audit, "mlxtend.csv")


def test_roles_of_frames_in_python() -> None:
    frame = pd.read_csv("p.csv")
    found = fpgrowth(pd.get_dummies(frame), min_support=0.05, use_colnames=True)
    release = library.read_release(found, n=1304)
    assert library.audit(release, qi="sex,job", sa="ill").findings[0].statement == EVERYONE
    assert library.audit(release, qi="sex,job", sa="ill", data=frame).findings[0].statement == CERTAIN
    assert library.audit(release, sa="ill", data=frame).attack("R03").people == 300


def test_rules_without_a_sensitive_column_are_audited_and_repaired() -> None:
    asked = tacit("audit", "rules.csv", "--data", "p.csv", "--k", "120")
    told = " ".join(asked.stdout.split())
    assert "R02, R03 could not run (" in told
    assert "Before it can be repaired, name the quasi-identifying columns" in told
    assert "Repair " not in asked.stdout
    none = ("--data", "p.csv", "--sa", "none", "--k", "120")
    found = record("audit", "rules.csv", *none, code=1)
    assert {run_of(found, code)["status"] for code in ("R02", "R03")} == {"not-relevant"}
    command = next(line for line in tacit("audit", "rules.csv", *none).stdout.splitlines() if line.startswith("Repair  "))
    done = tacit(*command.removeprefix("Repair  tacit ").split())
    assert done.exit_code == 0, done.stdout + done.stderr
    assert record("audit", "rules-safer.csv", *none)["verdict"] == "clean"
    ways = library.suggest("rules.csv", data="p.csv", sa="none", k=120, seconds=60)
    assert {one.method for one in ways} == {"round", "withdraw"}
    assert all("--sa none --n 1304" in line for one in ways.clean for line in one.lines())
