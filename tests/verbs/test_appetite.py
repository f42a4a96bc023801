"""What an organisation accepts: limits under ACRO's names, an organisation's file, and who set what."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.model.errors import InputError, OptionError
from tacit.model.policy import LIMITS, Policy
from tacit.verbs.settings import Config, joined_policy, load_policy, parse_config, write_config
from tests.shell import leaking_baskets, record, tacit

ACRO = "[risk_appetite]\nsafe_threshold = 7\nzeros_are_disclosive = false\nsafe_round_base = 3\nl = 4\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TACIT_POLICY", raising=False)


def test_acros_names_mean_ours() -> None:
    assert parse_config(ACRO).policy == {"k": 7, "zeros_are_disclosive": False, "safe_round_base": 3, "l": 4}


def test_defaults_are_acros() -> None:
    told = Policy().to_dict()
    assert (told["safe_threshold"], told["k"], told["safe_round_base"], told["zeros_are_disclosive"]) == (10, 10, 5, True)
    assert set(told) == {*LIMITS, "safe_threshold"}
    assert set(Policy().set_by.values()) == {"default"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "[policy]\nk = 5\n[risk_appetite]\nsafe_threshold = 10",
            "tacit.toml, [risk_appetite]: sets safe_threshold and k twice. Set it once.",
        ),
        (
            "[risk_appetite]\nsafe_nk_n = 2",
            "tacit.toml, [risk_appetite]: safe_nk_n is a limit of ACRO's that Tacit does not check. Leave it out of this file.",
        ),
        (
            "[risk_appetite]\nsafe_threshold = 0",
            "tacit.toml, [risk_appetite] safe_threshold: must be a whole number of at least 1. Write for instance 10.",
        ),
        (
            "[risk_appetite]\nzeros_are_disclosive = 'no'",
            "tacit.toml, [risk_appetite] zeros_are_disclosive: must be true or false. Write true or false.",
        ),
        (
            "[risk_appetite]\nsafe_round_base = 1",
            "tacit.toml, [risk_appetite] safe_round_base: must be a whole number of at least 2. Write for instance 10.",
        ),
    ],
)
def test_what_makes_no_sense(text: str, expected: str) -> None:
    with pytest.raises(OptionError) as caught:
        parse_config(text)
    assert str(caught.value) == expected


def test_init_writes_the_risk_appetite_with_acros_names() -> None:
    text = write_config({"ward": ["a", "b"]})
    read = parse_config(text)
    assert read.policy == {"k": 10, "l": 2, "zeros_are_disclosive": True, "min_confidence": 0.6, "min_support": 0}
    assert "safe_threshold = 10" in text
    marks = ("[[waivers]]", 'finding = "', "people", "reason", "name", "until")
    for mark in marks:
        text = text.replace(f"# {mark}", mark)
    assert parse_config(text).waivers


def test_an_organisations_file_says_nothing_about_a_data_set() -> None:
    Path("org.toml").write_text(ACRO)
    assert load_policy("org.toml").policy["k"] == 7
    Path("org.toml").write_text("[data]\nqi = ['a']\n")
    with pytest.raises(OptionError, match="The sections are: policy, risk_appetite, waivers"):
        load_policy("org.toml")
    with pytest.raises(InputError, match="there is no such file"):
        load_policy("none.toml")


def mined(folder: Path) -> Path:
    release = folder / "r.csv"
    assert tacit("mine", "itemsets", leaking_baskets(folder), "--min-support", 10, "-o", release).exit_code == 0
    return release


def test_options_win_over_the_data_set_and_that_over_the_organisation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = mined(tmp_path)
    Path("org.toml").write_text("[risk_appetite]\nsafe_threshold = 20\nl = 5\nmax_gain = 0.5\n")
    Path("tacit.toml").write_text("[policy]\nl = 6\nmax_gain = 0.25\n")
    config = ("--config", "tacit.toml")
    made = record("audit", release, *config, "--policy", "org.toml", "--max-gain", 0.2, code=1)
    assert (made["policy"]["k"], made["policy"]["l"], made["policy"]["max_gain"]) == (20, 6, 0.2)
    assert made["policy_from"]["k"] == "organisation"
    assert made["policy_from"]["l"] == "data set"
    assert made["policy_from"]["max_gain"] == "option"
    assert made["policy_from"]["max_posterior"] == "default"
    assert [(file["level"], file["file"]) for file in made["policy_files"]] == [
        ("organisation", "org.toml"),
        ("data set", "tacit.toml"),
    ]
    monkeypatch.setenv("TACIT_POLICY", "org.toml")
    assert record("audit", release, *config, "--max-gain", 0.2, code=1) == made


def test_other_verbs_take_the_organisations_policy(tmp_path: Path) -> None:
    Path("org.toml").write_text("[risk_appetite]\nsafe_threshold = 1\nsafe_round_base = 20\n")
    release = mined(tmp_path)
    assert tacit("audit", release, "--policy", "org.toml").exit_code == 0
    swept = record("sweep", "itemsets", leaking_baskets(tmp_path), "--min-support", 10, "--policy", "org.toml")
    assert [cell["k"] for cell in swept["cells"]] == [1]


def test_rounding_takes_the_base_of_the_policy(tmp_path: Path) -> None:
    release = mined(tmp_path)
    Path("org.toml").write_text("[risk_appetite]\nsafe_round_base = 20\n")
    assert tacit("repair", release, "--method", "round", "-o", "out.csv", "--policy", "org.toml").exit_code in (0, 1)
    assert "multiples of 20" in tacit("repair", release, "--method", "round", "-o", "out.csv", "--policy", "org.toml").output
    assert "multiples of 20" not in tacit("repair", release, "--method", "round", "-o", "out.csv").output


def test_tables_hide_empty_cells_unless_the_policy_says_otherwise(tmp_path: Path) -> None:
    Path("p.csv").write_text("sex,job\n" + "F,a\n" * 20 + "M,b\n" * 20)
    made = ("tabulate", "p.csv", "--by", "sex,job", "--hide-below", 5, "-o", "t.csv")

    def zeros(*options: object) -> int:
        assert tacit(*made, *options).exit_code == 0
        return [line.rsplit(",", 1)[1] for line in Path("t.csv").read_text().splitlines()].count("0")

    Path("org.toml").write_text("[risk_appetite]\nzeros_are_disclosive = false\n")
    assert zeros() == 0
    assert zeros("--policy", "org.toml") == zeros("--show-zeros") == 2
    assert zeros("--policy", "org.toml", "--hide-zeros") == 0


def test_limits_of_the_organisation_are_a_floor() -> None:
    policy = joined_policy({"l": 6}, Config(policy={"k": 5}), Config(policy={"k": 20, "l": 4}))
    assert (policy.k, policy.l) == (20, 6)
    assert (policy.set_by["k"], policy.set_by["l"]) == ("organisation", "option")
    assert policy.overruled == {"k": 5}
