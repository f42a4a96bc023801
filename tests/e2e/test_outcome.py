"""What the verdict may say: attacks that were left out, estimates without a limit, limits that were loosened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.shell import record, tacit


def itemsets(folder: Path, counts: dict[str, int], name: str = "r.csv", **header: Any) -> Path:
    """A list of itemsets, each written as its letters, with its header."""
    path = folder / name
    lines = [f'"{json.dumps(list(letters))}"'.replace('"', '""')[1:-1] + f",{count}" for letters, count in counts.items()]
    path.write_text("\n".join(["itemset,count", *lines]) + "\n")
    (folder / f"{name}.json").write_text(json.dumps({"format": "tacit.itemsets/1"} | header))
    return path


def status(found: dict[str, Any]) -> dict[str, str]:
    """The status of each attack of a record."""
    return {attack["code"]: attack["status"] for attack in found["attacks"]}


@pytest.fixture
def behind(tmp_path: Path) -> Path:
    """A complete list that only its missing itemset gives away."""
    counts = {"a": 100, "b": 100, "c": 200, "ab": 80, "ac": 75, "bc": 80}
    return itemsets(tmp_path, counts, n=1000, min_support=65, complete=True)


def test_an_attack_that_applies_and_was_not_asked_for_prevents_a_pass(behind: Path) -> None:
    assert record("audit", behind, code=1)["verdict"] == "exposed"
    found = record("audit", behind, "--attack", "I01", code=3)
    assert found["verdict"] == "incomplete"
    assert (status(found)["I01"], status(found)["I02"], status(found)["R01"]) == ("ran", "not-asked", "not-relevant")
    told = tacit("audit", behind, "--attack", "I01").stdout
    assert "1 more attack applies and was not asked for" in " ".join(told.split())
    assert "leave --attack out" in told


def test_an_attack_that_does_not_apply_need_not_be_asked_for(tmp_path: Path) -> None:
    path = itemsets(tmp_path, {"a": 50}, n=100)
    found = record("audit", path, "--attack", "I01")
    assert (found["verdict"], status(found)["I02"]) == ("clean", "not-relevant")


def test_findings_count_as_always_where_some_attacks_were_left_out(tmp_path: Path) -> None:
    path = itemsets(tmp_path, {"a": 50, "b": 60, "ab": 49}, n=100, min_support=40, complete=True)
    found = record("audit", path, "--attack", "I01", code=1)
    assert (found["verdict"], status(found)["I02"]) == ("exposed", "not-asked")
    assert found["findings"][0]["statement"] == "1 person has a but not b."


def test_attacks_left_out_of_a_joint_audit_prevent_a_pass(tmp_path: Path) -> None:
    first = itemsets(tmp_path, {"a": 50}, "a.csv", n=100, min_support=40, complete=True)
    second = itemsets(tmp_path, {"c": 60}, "b.csv", n=100)
    found = record("audit", first, second, "--people", "same", "--attack", "I01", code=3)
    assert (status(found)["I02"], status(found)["X01"]) == ("not-asked", "not-asked")
    apart = record("audit", second, second, "--people", "unknown", "--attack", "I01")
    assert (apart["verdict"], status(apart)["X01"]) == ("clean", "not-relevant")


@pytest.fixture
def smokers(tmp_path: Path) -> Path:
    """A bucketized release in which everybody keeps two values, and that shows over all groups who has which."""
    folder = tmp_path / "buckets"
    folder.mkdir()
    people = [f"{smokes},{group}" for group in range(10) for smokes in ("yes", "no")]
    values = [f"{group},{ill}" for group in range(10) for ill in ("cancer", "flu")]
    people += [f"yes,{group}" for group in range(10, 20) for _ in range(2)] + [
        f"no,{group}" for group in range(20, 30) for _ in range(2)
    ]
    values += [f"{group},cancer" for group in range(10, 20) for _ in range(2)] + [
        f"{group},flu" for group in range(20, 30) for _ in range(2)
    ]
    (folder / "qit.csv").write_text("\n".join(["smokes,group", *people]) + "\n", encoding="utf-8")
    (folder / "st.csv").write_text("\n".join(["group,ill", *values]) + "\n", encoding="utf-8")
    return folder


GUESSED = "60 of 60 people can be guessed with more than 90 % (B03), no limit set"


def test_estimates_without_a_limit_stand_right_below_the_verdict(smokers: Path, tmp_path: Path) -> None:
    found = record("audit", smokers, "--l", "1")
    assert found["verdict"] == "clean"
    assert [one["code"] for one in found["cautions"]] == ["B02", "B03"]
    assert found["cautions"][1] == {"code": "B03", "text": GUESSED, "number": 60, "of": 60}
    assert found["tool"]["name"] == "tacit"
    assert found["headline"].startswith("CLEAN: under l = 1, which lets every value be known, ")
    assert found["headline"].endswith(f"and {GUESSED}.")
    page, text = tmp_path / "r.html", tmp_path / "r.md"
    for path in (page, text):
        for kind in ("internal", "external"):
            result = tacit("audit", smokers, "--l", "1", "--report", path, "--report-kind", kind)
            assert result.exit_code == 0
            assert f"and {GUESSED}." in result.stdout.splitlines()[:4]
            assert GUESSED in path.read_text().replace("&nbsp;", " ")
    tacit("audit", smokers, "--l", "1", "--acro", tmp_path / "acro", "--date", "2026-11-16")
    summary = json.loads((tmp_path / "acro" / "results.json").read_text())["results"]["output_0"]["summary"]
    assert GUESSED in summary


def test_a_limit_that_judges_an_estimate_takes_its_caution_away(smokers: Path) -> None:
    found = record("audit", smokers, "--l", "1", "--max-posterior", "0.95", code=1)
    assert [one["text"].partition("(")[2] for one in found["cautions"]] == ["B03), which the limit set does not judge"]
    every = [word for code in ("B01", "B02", "B03") for word in ("--attack", code)]
    assert record("audit", smokers, "--l", "1", "--max-posterior", "0.95", *every, code=1)["cautions"] == []


def test_cautions_of_rules_and_of_hidden_cells_count_people(tmp_path: Path) -> None:
    rows = ["sex,ill", *["F,flu"] * 40, *["M,cold"] * 39, "M,flu"]
    (tmp_path / "p.csv").write_text("\n".join(rows) + "\n")
    roles = ("--qi", "sex", "--sa", "ill")
    mine = ("mine", "rules", tmp_path / "p.csv", *roles, "--min-support", "5", "--min-confidence", "0.6")
    assert tacit(*mine, "-o", tmp_path / "rules.csv").exit_code == 0
    found = json.loads(tacit("audit", tmp_path / "rules.csv", "--data", tmp_path / "p.csv", "--k", "1", "--json", "-").stdout)
    assert [(one["code"], one["number"], one["of"]) for one in found["cautions"]] == [("R02", 80, 80)]
    (tmp_path / "t.csv").write_text("\n".join([*rows[:38], *["F,"] * 3, *rows[41:]]) + "\n")
    blanks = record("audit", tmp_path / "t.csv", *roles, "--min-confidence", "1")
    text = "the hidden value of 3 of 3 people can be guessed with more than 90 % (T02), no limit set"
    assert blanks["cautions"] == [{"code": "T02", "text": text, "number": 3, "of": 3}]


def test_bucketize_and_audit_tell_the_same_numbers(tmp_path: Path) -> None:
    rows = [f"{'yes' if n % 2 else 'no'},{'abc'[n % 3]},{'flu' if (n % 2) == (n % 20 != 0) else 'cold'}" for n in range(240)]
    (tmp_path / "p.csv").write_text("\n".join(["smokes,age,ill", *rows]) + "\n")
    arguments = ("bucketize", tmp_path / "p.csv", "--qi", "smokes,age", "--sa", "ill", "--l", "2", "-o", tmp_path / "b")
    made = json.loads(tacit(*arguments, "--json", "-").stdout)
    found = json.loads(tacit("audit", tmp_path / "b", "--l", "2", "--json", "-").stdout)
    names = [name for name in found["measures"] if name.startswith("surviving")]
    assert len(names) == 5
    for name in (*names, "group_guess_right", "max_posterior"):
        assert made["after"]["measures"][name] == pytest.approx(found["measures"][name], abs=1e-12)
    assert made["after"]["cautions"] == found["cautions"]
    assert not set(made["cost"]) & set(names)
    told, audited = (" ".join(tacit(*words).stdout.split()) for words in (arguments, ("audit", tmp_path / "b", "--l", "2")))
    sentence = audited[audited.index("What all groups show together") : audited.index("(B03).")]
    assert sentence in told


def test_k_of_1_is_said_in_the_verdict(tmp_path: Path) -> None:
    path = itemsets(tmp_path, {"a": 50, "ab": 49}, n=100)
    assert record("audit", path, "--k", "1")["headline"].startswith(
        "CLEAN: under k = 1, which lets every group pass, no group counts"
    )


def test_every_record_names_the_program_and_has_a_headline(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("\n".join(["sex,ill", *["F,flu"] * 40, *["M,cold"] * 39, "M,flu"]) + "\n")
    listed = itemsets(tmp_path, {"a": 50, "ab": 49}, n=100)
    assert tacit("audit", listed, "--json", tmp_path / "a.json").exit_code == 1
    commands: tuple[tuple[object, ...], ...] = (
        ("attacks",),
        ("repairs",),
        ("mine", "itemsets", tmp_path / "p.csv", "--min-support", "5"),
        ("audit", listed),
        ("explain", listed),
        ("verify", tmp_path / "a.json", listed),
        ("repair", listed, "--method", "raise-threshold", "-o", tmp_path / "safer.csv"),
        ("tabulate", tmp_path / "p.csv", "--by", "sex", "-o", tmp_path / "t.csv"),
        ("sweep", "itemsets", tmp_path / "p.csv", "--min-support", "5,20"),
    )
    for command in commands:
        result = tacit(*command, "--json", "-")
        made = json.loads(result.stdout)
        assert made["tool"] == {"name": "tacit", "version": made["tool"]["version"]}
        assert made["headline"], command
