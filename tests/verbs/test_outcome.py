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
    assert "2 more attacks apply and were not asked for" in " ".join(told.split())
    assert "leave --attack out" in told


def test_an_attack_that_does_not_apply_need_not_be_asked_for(tmp_path: Path) -> None:
    path = itemsets(tmp_path, {"a": 50}, n=100)
    found = record("audit", path, "--attack", "I01", "--attack", "X01")
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
    apart = record("audit", second, second, "--people", "unknown", "--attack", "I01", "--attack", "X01")
    assert (apart["verdict"], status(apart)["X01"]) == ("clean", "ran")


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


GUESSED = "60 of 60 people can be guessed with more than 90 % probability (B03), no limit set"


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
    text = "the hidden value of 3 of 3 people can be guessed with more than 90 % probability (T02), no limit set"
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
    told, audited = (" ".join(tacit(*words).stdout.split()) for words in (arguments, ("audit", tmp_path / "b", "--l", "2", "-v")))
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


def test_settings_beside_a_release_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    submitted = tmp_path / "submitted"
    (submitted / "inner").mkdir(parents=True)
    path = itemsets(submitted, {"a": 50, "ab": 49}, n=100)
    loose = '[policy]\nk = 1\n[[waivers]]\nevent = { present = ["a"], absent = ["b"] }\npeople = 1\nreason = "x"\nname = "A"\n'
    for folder in (submitted, submitted / "inner"):
        (folder / "tacit.toml").write_text(loose)
    (tmp_path / "org.toml").write_text("[risk_appetite]\nsafe_threshold = 10\n")
    for folder, given in ((tmp_path, path), (submitted, "r.csv"), (submitted / "inner", submitted), (submitted, ".")):
        monkeypatch.chdir(folder)
        result = tacit("audit", given, "-q")
        assert (result.exit_code, result.stdout) == (1, "exposed\n")
        assert tacit("audit", given, "--policy", tmp_path / "org.toml", "-q").stdout == "exposed\n"
    monkeypatch.chdir(submitted)
    assert tacit("audit", "r.csv", "-q").stderr.startswith("tacit.toml: not read, because it lies beside a release. ")
    assert tacit("audit", "r.csv", "-q", "--config", "tacit.toml").stdout == "clean\n"


def test_an_organisations_limits_may_only_be_tightened(tmp_path: Path) -> None:
    path = itemsets(tmp_path, {"a": 50, "ab": 45}, n=100)
    organisation, config = tmp_path / "org.toml", tmp_path / "own.toml"
    organisation.write_text("[risk_appetite]\nsafe_threshold = 10\nmax_posterior = 0.8\n")
    config.write_text(
        '[policy]\nk = 3\nmax_posterior = 0.7\n[[waivers]]\nevent = { present = ["a"], absent = ["b"] }\npeople = 5\nreason = "x"\nname = "A"\n'
    )
    how = ("audit", path, "--policy", organisation)
    found = record(*how, "--config", config, code=1)
    assert (found["policy"]["k"], found["policy"]["max_posterior"], found["waivers"]) == (10, 0.7, [])
    assert (found["policy_from"]["k"], found["policy_from"]["max_posterior"]) == ("organisation", "data set")
    told = " ".join(tacit(*how, "--config", config).stdout.split())
    assert "the data set's file asks for 3, which is looser and does not count" in told
    assert "1 waiver of the data set's file does not count" in told
    assert record(*how, "--k", "20", code=1)["policy"]["k"] == 20
    for option, value in (("--k", "3"), ("--max-posterior", "0.9")):
        refused = tacit(*how, option, value)
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert refused.stderr.startswith(f"{option}: is looser than the organisation's policy, which sets ")
    organisation.write_text('[risk_appetite]\nsafe_threshold = 10\nmay_loosen = ["safe_threshold"]\n')
    assert record(*how, "--k", "3")["verdict"] == "clean"
    config.write_text('[policy]\nk = 3\nmay_loosen = ["k"]\n')
    assert tacit("audit", path, "--config", config).exit_code == 2


def test_other_verbs_do_not_loosen_the_organisations_limits_either(tmp_path: Path) -> None:
    data = tmp_path / "p.csv"
    data.write_text("\n".join(["sex,ill", *["F,flu", "F,cold", "M,flu", "M,gout"] * 6]) + "\n")
    (tmp_path / "org.toml").write_text("[policy]\nl = 3\nmin_confidence = 0.5\n")
    end = ("--qi", "sex", "--sa", "ill", "--policy", tmp_path / "org.toml")
    refused = tacit("bucketize", data, *end, "--l", "2", "-o", tmp_path / "b")
    assert refused.stderr.startswith("--l: is looser than the organisation's policy, which sets 3. ")
    hide = ("hide", data, *end, "--rows", "sex=M", "--may-hide", "ns,nc,sc", "-o", tmp_path / "h.csv")
    assert tacit(*hide, "--min-confidence", "0.9").exit_code == 2
    assert not (tmp_path / "h.csv").exists()


def test_a_waiver_given_for_nine_people_does_not_silence_one(tmp_path: Path) -> None:
    path = itemsets(tmp_path, {"a": 50, "ab": 49}, n=100)
    entry = '[[waivers]]\nevent = { present = ["a"], absent = ["b"] }\nreason = "9 people, accepted in 2025"\nname = "A"\n'
    for people, code in (("", 2), ("people = 9\n", 1), ("people = 1\n", 0)):
        for about in (entry, entry.replace('event = { present = ["a"], absent = ["b"] }', 'items = ["a", "b*"]')):
            (tmp_path / "w.toml").write_text(about + people)
            assert tacit("audit", path, "--policy", tmp_path / "w.toml", "-q").exit_code == code
