"""tacit.toml: read, checked, and written for a data set."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.model.errors import InputError, OptionError, TacitError
from tacit.verbs.settings import Config, load_config, parse_config, write_config
from tests.examples import examples

SECRET = "K4NARY"

FULL = """
[data]
qi = ["age", "sex"]
sa = "ill, pay"
identifying = []
missing = "?"
missing_rule = "drop"
hierarchies = "trees"
fuzzy = { age = 2 }
[thresholds]
min_support = "5%"
min_confidence = 0.6
min_expectation = "90%"
[policy]
k = 5
l = 3
max_posterior = 0.8
"""


#: The limits that ``tacit init`` writes.
WRITTEN = {"k": 10, "zeros_are_disclosive": True, "l": 2, "min_confidence": 0.6, "min_support": 0}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def sentence(call: Callable[[], object], kind: type[TacitError] = OptionError) -> str:
    with pytest.raises(kind) as caught:
        call()
    assert caught.value.__cause__ is None
    return str(caught.value)


def test_everything() -> None:
    assert parse_config(FULL, folder="sub") == Config(
        qi=("age", "sex"),
        sa=("ill", "pay"),
        missing="?",
        missing_rule="drop",
        hierarchies="sub/trees",
        fuzzy={"age": 2},
        min_support="5%",
        min_confidence=0.6,
        min_expectation="90%",
        policy={"k": 5, "l": 3, "max_posterior": 0.8},
        where="tacit.toml",
    )
    assert parse_config("") == Config(where="tacit.toml")


def test_which_file() -> None:
    Path("data").mkdir()
    assert load_config() == Config()
    assert load_config(near="data/x.csv") == Config()
    Path("data/tacit.toml").write_text(FULL)
    assert load_config() == Config()
    beside = load_config(near=Path("data/x.csv"))
    assert (beside.where, beside.hierarchies) == ("data/tacit.toml", "data/trees")
    Path("tacit.toml").write_text("[policy]\nk = 7\n")
    assert load_config(near="data/x.csv").policy == {"k": 7}
    assert load_config(near="x.csv").where == "tacit.toml"
    assert load_config("data/tacit.toml").qi == ("age", "sex")
    assert sentence(lambda: load_config("none.toml"), InputError) == "none.toml: there is no such file. Check the name."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "[dta]",
            "tacit.toml: unknown section 'dta'. Did you mean 'data'? The sections are: data, thresholds, policy, risk_appetite, waivers.",
        ),
        ("qi = ['a']", "tacit.toml: unknown section 'qi'. The sections are: data, thresholds, policy, risk_appetite, waivers."),
        ("data = 5", "tacit.toml: data is not a section. Write [data] on a line of its own."),
        (
            "[data]\nQI = ['a']",
            "tacit.toml, [data]: unknown key 'QI'. Did you mean 'qi'? "
            "The keys are: qi, sa, sa_order, identifying, person, missing, missing_rule, bins, hierarchies, fuzzy.",
        ),
        (
            "[policy]\nK = 3",
            "tacit.toml, [policy]: unknown key 'K'. Did you mean 'k'? The keys are: k, l, max_posterior, "
            "max_gain, min_confidence, min_support, safe_round_base, zeros_are_disclosive.",
        ),
        ("[data]\nqi = 5", 'tacit.toml, [data] qi: is not a list of column names. Write for instance qi = ["age", "sex"].'),
        (
            "[data]\nqi = ['a', 5]",
            'tacit.toml, [data] qi: is not a list of column names. Write for instance qi = ["age", "sex"].',
        ),
        ("[data]\nmissing = 5", 'tacit.toml, [data] missing: is not text. Write it in quotes: missing = "...".'),
        (
            "[data]\nmissing_rule = 'dorp'",
            "tacit.toml, [data] missing_rule: unknown rule 'dorp'. Did you mean 'drop'? The rules are: category, drop, drop-any.",
        ),
        (
            "[data]\nqi = ['a']\nsa = ['a']",
            "tacit.toml, [data] sa: column 'a' is also given as qi. Give each column one role.",
        ),
        ("[data]\nqi = ['a', 'a']", "tacit.toml, [data] qi: column 'a' is named twice. Name each column once."),
        (
            "[thresholds]\nmin_support = 0",
            "tacit.toml, [thresholds] min_support: must be more than 0. "
            "Give a share above 0 and at most 1 (0.1 or 10%), or a count of people (a whole number of at least 1).",
        ),
        (
            "[thresholds]\nmin_confidence = 1.5",
            "tacit.toml, [thresholds] min_confidence: must be a share of at least 0 and at most 1. Write for instance 0.6 or 60%.",
        ),
        (
            "[data]\nfuzzy = 'age'",
            "tacit.toml, [data] fuzzy: is not a table of columns and spreads. Write for instance fuzzy = { age = 2 }.",
        ),
        (
            "[data]\nfuzzy = {age = 'wide'}",
            "tacit.toml, [data] fuzzy.age: is not a number. Write a share such as 0.1 or 10%, or a whole number.",
        ),
        ("[policy]\nk = 0", "tacit.toml, [policy] k: must be a whole number of at least 1. Write for instance 10."),
        (
            "[policy]\nmax_posterior = 2",
            "tacit.toml, [policy] max_posterior: must be a share of at least 0 and at most 1. Write for instance 0.6 or 60%.",
        ),
    ],
)
def test_what_makes_no_sense(text: str, expected: str) -> None:
    assert sentence(lambda: parse_config(text)) == expected


def test_no_toml() -> None:
    assert sentence(lambda: parse_config(f"[data]\nqi = {SECRET}"), InputError) == (
        'tacit.toml: is not valid TOML (line 2, column 6). Write lines such as qi = ["age", "sex"].'
    )
    assert sentence(lambda: parse_config("[data"), InputError).startswith("tacit.toml: is not valid TOML (at its end). ")


def rows(n: int) -> str:
    lines = [f"{i},{i % 3},{SECRET}{i % 2},{i % 30},{i * 7 % n},{i}@x,Ann" for i in range(n)]
    return "\n".join(["case_id,ward,ill,region_id,serial,e-mail,country name", *lines])


def test_guesses() -> None:
    Path("people.csv").write_text(rows(100))
    text = write_config("people.csv")
    assert SECRET not in text
    assert "people.csv (100 rows)" in text
    assert '    # "ward",  # 3 values\n' in text
    assert '    # "country name",  # 1 value\n' in text
    assert '# Columns with few values: "ward", "ill", "region_id"\n' in text
    config = parse_config(text)
    assert config.identifying == ("case_id", "serial", "e-mail")
    assert (config.qi, config.sa, config.policy) == (("region_id",), (), WRITTEN)
    assert (config.missing, config.person) == (None, None)
    Path("tacit.toml").write_text(text)
    assert load_config() == config


def test_names_marks_and_repeated_people_are_guessed() -> None:
    people = {
        "Patient-Nbr": [str(number // 2) for number in range(200)],
        "race": ["a", "?"] * 100,
        "Age_band": ["young", "old"] * 100,
        "native-country": ["here"] * 200,
        "stage": ["1", "?"] * 100,
        "weight": ["NA", "70"] * 100,
    }
    text = write_config(people)
    config = parse_config(text)
    assert (config.qi, config.identifying, config.person, config.missing) == (
        ("race", "Age_band"),
        ("Patient-Nbr",),
        "Patient-Nbr",
        "?",
    )
    assert '    # "native-country",  # 1 value\n' in text
    people["Patient-Nbr"] = [str(number) for number in range(200)]
    assert parse_config(write_config(people)).person is None


def test_few_rows_prove_nothing() -> None:
    assert parse_config(write_config({"a": ["x", "y"], "Name": ["x", "y"]})).identifying == ("Name",)


def test_taking_a_role_is_removing_a_sign() -> None:
    text = write_config({"age": [1, 2], "ill": ["y", "n"]})
    text = text.replace('# "age",', '"age",').replace("sa = []", 'sa = ["ill"]')
    for line in ("missing = ", "missing_rule", "hierarchies = ", "min_support", "min_confidence", "max_posterior"):
        text = text.replace(f"# {line}", line)
    config = parse_config(text)
    assert (config.qi, config.sa) == (("age",), ("ill",))
    assert (config.missing, config.missing_rule, config.hierarchies) == ("?", "drop", "hierarchies")
    assert (config.min_support, config.min_confidence, config.policy["max_posterior"]) == ("5%", 0.6, 0.8)


def test_transactions() -> None:
    Path("x.dat").write_text("1 2\n3\n")
    text = write_config("x.dat")
    assert "x.dat (2 transactions, 3 items)" in text
    assert parse_config(text) == Config(policy=WRITTEN, where="tacit.toml")


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8), min_size=1, max_size=4, unique=True))
def test_any_column_name_survives(names: list[str]) -> None:
    text = write_config({name: list(range(30)) for name in names})
    assert parse_config(text).identifying == tuple(names)
