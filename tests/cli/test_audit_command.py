"""``tacit audit`` and the small verbs, through the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tacit as library
from tests.shell import content, leaking_baskets, people, record, tacit


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """Frequent itemsets that give one person away."""
    path = tmp_path / "r.csv"
    assert tacit("mine", "itemsets", leaking_baskets(tmp_path), "--min-support", "40", "-o", path).exit_code == 0
    return path


@pytest.fixture
def maximal(tmp_path: Path) -> Path:
    """A release that gives nobody away."""
    path = tmp_path / "maximal.csv"
    assert (
        tacit("mine", "itemsets", leaking_baskets(tmp_path), "--min-support", "40", "--only", "maximal", "-o", path).exit_code
        == 0
    )
    return path


def test_an_exposed_release_ends_with_1_and_shows_the_sum(release: Path) -> None:
    result = tacit("audit", release)
    assert result.exit_code == 1
    assert result.stdout.startswith("EXPOSED: ")
    assert "1 person has a but not b." in result.stdout
    assert "+ 50 people with a (line 2)" in result.stdout
    assert "- 49 of them with b (line 3)" in result.stdout


def test_a_clean_release_ends_with_0(maximal: Path) -> None:
    result = tacit("audit", maximal)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("CLEAN: ")


def test_k_decides(release: Path) -> None:
    assert tacit("audit", release, "--k", "1").exit_code == 0
    assert tacit("audit", release, "--k", "2", "--attack", "I01").exit_code == 1


def test_quiet_prints_the_verdict_only(release: Path, maximal: Path) -> None:
    assert tacit("audit", release, "--quiet").stdout == "exposed\n"
    assert tacit("audit", maximal, "-q").stdout == "clean\n"


def test_rules_without_an_attack_are_not_called_safe(tmp_path: Path) -> None:
    out = tmp_path / "rules.csv"
    tacit(
        "mine",
        "rules",
        people(tmp_path),
        "--qi",
        "sex",
        "--sa",
        "ill",
        "--min-support",
        "5",
        "--min-confidence",
        "0.6",
        "-o",
        out,
    )
    found = library.audit(out)
    if found.verdict == "incomplete":
        assert tacit("audit", out).exit_code == 3
    assert tacit("audit", out, "--attack", "I01").exit_code == 3
    assert tacit("audit", out, "--attack", "I01").stdout.startswith("INCOMPLETE: ")


def test_the_record_is_the_audit_of_the_library(release: Path, tmp_path: Path) -> None:
    made = record("audit", release, "--data", tmp_path / "baskets.dat", code=1)
    found = library.audit(release, data=tmp_path / "baskets.dat")
    assert content(made) == content(json.loads(json.dumps(found.to_dict(top=10))))
    told = [
        "format",
        "tool",
        "headline",
        "verdict",
        "cautions",
        "release",
        "inputs",
        "adversary",
        "policy",
        "policy_from",
        "policy_files",
        "waivers",
        "attacks",
    ]
    assert list(made) == [*told, "measures", "options", "findings", "binding"]
    assert made["format"] == "tacit.audit/1"
    assert {attack["code"] for attack in made["attacks"]} == {attack.code for attack in library.ATTACKS}
    finding = made["findings"][0]
    assert {"id", "code", "statement", "event", "count", "because", "steps"} <= set(finding)
    assert finding["event"] == {"present": ["a"], "absent": ["b"]}


def test_text_and_record_say_the_same_numbers(release: Path) -> None:
    made = record("audit", release, code=1)
    text = " ".join(tacit("audit", release, "-v").stdout.split())
    groups = sum(attack["findings"] for attack in made["attacks"])
    assert f"{groups:,} group" in text
    assert f"at least {max(attack['people'] for attack in made['attacks']):,} p" in text
    assert f"smallest published count {made['measures']['smallest_count']:,} people" in text


def test_top_limits_what_is_written_out(release: Path, tmp_path: Path) -> None:
    assert record("audit", release, "--top", "0", code=1)["findings"] == []
    assert "Worst findings" not in tacit("audit", release, "--top", "0").stdout


def test_the_report_is_written_whole_and_twice_the_same(release: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        result = tacit("audit", release, "--report", tmp_path / f"{name}.html", "--json", tmp_path / f"{name}.json")
        assert result.exit_code == 1
        assert f"Report written to {tmp_path / name}.html" in result.stdout
    page = (tmp_path / "a.html").read_bytes()
    assert page == (tmp_path / "b.html").read_bytes()
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert page.startswith(b"<!DOCTYPE html>")
    assert str(tmp_path).encode() not in page + (tmp_path / "a.json").read_bytes()
    source = library.read_release(release).source
    assert source is not None
    assert source.sha256.encode() in page


def test_external_output_holds_no_name_and_no_value(tmp_path: Path) -> None:
    data = tmp_path / "CANARY.csv"
    rows = ["CANARYone,CANARYtwo"] + ["CANARYa,CANARYb"] * 49 + ["CANARYa,CANARYc"] + ["CANARYd,CANARYc"] * 40
    data.write_text("\n".join(rows) + "\n")
    release = tmp_path / "CANARY-release.csv"
    assert tacit("mine", "itemsets", data, "--min-support", "40", "-o", release).exit_code == 0
    files = ["--report", tmp_path / "r.html", "--json", tmp_path / "r.json"]
    inside = tacit("audit", release, "--data", data, *files)
    assert inside.exit_code == 1
    assert all(b"CANARY" in (tmp_path / name).read_bytes() for name in ("r.html", "r.json"))
    outside = tacit("audit", release, "--data", data, "--report-kind", "external", *files)
    assert outside.exit_code == 1
    for name in ("r.html", "r.json"):
        assert b"CANARY" not in (tmp_path / name).read_bytes()
    assert "CANARY" not in outside.stdout.replace(f"Report written to {tmp_path / 'r.html'}", "")
    made = json.loads((tmp_path / "r.json").read_bytes())
    assert all(set(finding) == {"code", "count"} for finding in made["findings"])


def test_the_data_of_a_release_with_coarser_items_need_its_hierarchies(tmp_path: Path) -> None:
    data = tmp_path / "towns.csv"
    data.write_text("town,ill\n" + "Ulm,no\n" * 30 + "Bonn,no\n" * 20 + "Bonn,yes\n" + "Rome,yes\n" * 40)
    (tmp_path / "h").mkdir()
    (tmp_path / "h" / "town.csv").write_text("Ulm;German;*\nBonn;German;*\nRome;Italian;*\n")
    release = tmp_path / "r.csv"
    hierarchies = ["--hierarchies", tmp_path / "h"]
    assert tacit("mine", "itemsets", data, "--min-support", "20", *hierarchies, "-o", release).exit_code == 0
    alone = record("audit", release, "--attack", "I01", code=1)
    owner = record("audit", release, "--attack", "I01", "--data", data, *hierarchies, code=1)
    assert [entry["role"] for entry in owner.pop("inputs")] == ["data"]
    assert alone.pop("inputs") == []
    assert owner.pop("options") == alone.pop("options") | {"given": ["data"]}
    assert owner.pop("binding") != alone.pop("binding")
    assert owner == alone
    assert ["ill=no"] in [
        finding["event"]["absent"] for finding in alone["findings"] if "town=German" in finding["event"]["present"]
    ]
    assert tacit("audit", release, *hierarchies).stderr.startswith("--hierarchies: says how to read the data")


def test_files_of_other_programs_need_only_n(tmp_path: Path) -> None:
    path = tmp_path / "mlxtend.csv"
    path.write_text("support,itemsets\n0.5,frozenset({'a'})\n0.8,frozenset({'b'})\n0.49,\"frozenset({'a', 'b'})\"\n")
    asked = tacit("audit", path)
    assert asked.exit_code == 2
    assert "--n" in asked.stderr
    assert tacit("audit", path, "--n", "100").exit_code == 1
    assert tacit("audit", path, "--n", "100", "--form", "mlxtend").exit_code == 1
    assert tacit("audit", path, "--n", "100", "--form", "mlxtnd").stderr.startswith("--form: ")


def test_data_that_do_not_belong_to_the_release_are_refused(release: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.dat"
    other.write_text("a b\n" * 70)
    result = tacit("audit", release, "--data", other)
    assert result.exit_code == 2
    assert "differ from the data" in result.stderr


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--attack", "I99"], "--attack: there is no attack 'I99'. "),
        (["--k", "0"], "--k: must be a whole number of at least 1. "),
        (["--report", "nowhere/r.html"], "nowhere/r.html: the folder does not exist. "),
        (["--json", "r.csv"], "r.csv: is also read and would be lost. "),
        (["--report", "x.html", "--json", "x.html"], "x.html: is named twice. "),
        (["--qi", "a"], "holds an item that is not a value of exactly one of the columns a. "),
        (["--data", "nowhere.dat"], "nowhere.dat: there is no such file. "),
        (["--n", "5"], "--n"),
    ],
)
def test_bad_options_are_refused(release: Path, options: list[str], sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(release.parent)
    before = release.read_bytes()
    result = tacit("audit", release.name, *options)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1
    assert release.read_bytes() == before


def test_the_policy_may_stand_in_tacit_toml(release: Path) -> None:
    (release.parent / "tacit.toml").write_text("[policy]\nk = 1\n")
    named = ("--config", release.parent / "tacit.toml")
    assert tacit("audit", release, *named).exit_code == 0
    assert "tacit.toml" in tacit("audit", release, *named).stdout
    assert tacit("audit", release, *named, "--k", "5").exit_code == 1


def test_attacks_are_listed() -> None:
    made = record("attacks")
    assert [row["code"] for row in made["attacks"]] == [attack.code for attack in library.ATTACKS]
    assert {"code", "name", "needs", "claim", "summary", "source"} == set(made["attacks"][0])
    assert "I01  inference-channels" in tacit("attacks").stdout


def test_init_writes_a_file_that_the_other_verbs_take(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    people(tmp_path)
    assert tacit("init", "people.csv").exit_code == 0
    first = (tmp_path / "tacit.toml").read_bytes()
    again = tacit("init", "people.csv")
    assert again.exit_code == 2
    assert again.stderr == "tacit.toml: exists already. Replace it with --force, or name another file with -o.\n"
    assert content(record("init", "people.csv", "--force")) == {
        "format": "tacit.init/1",
        "file": "tacit.toml",
        "qi": ["sex", "age"],
        "identifying": [],
        "missing": "?",
    }
    assert (tmp_path / "tacit.toml").read_bytes() == first
    assert "Settings    from tacit.toml" in tacit("mine", "itemsets", "people.csv", "--min-support", "5").stdout
