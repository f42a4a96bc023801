from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tacit.cli.audit import _repaired_name
from tacit.cli.mine import _MineOptions
from tacit.cli.options import Options, option_name
from tacit.cli.reading import Settings, _column_groups, first_set, load_settings, read_people
from tacit.model.errors import OptionError
from tacit.model.release import Header
from tacit.model.table import Table, Transactions
from tacit.verbs.settings import Config
from tests.shell import leaking_baskets, people


def read(path: Path, *, given: Options | None = None, config: Config | None = None, header: Header | None = None) -> Table:
    table = read_people(str(path), Settings(given or Options(), config or Config()), header=header)
    assert isinstance(table, Table)
    return table


def test_options_win_over_the_release_and_the_release_over_the_file(tmp_path: Path) -> None:
    path = people(tmp_path)
    config = Config(qi=("sex",), missing="?", missing_rule="drop")
    assert read(path, config=config).schema.qi == ("sex",)
    assert read(path, config=config, header=Header(qi=("age",))).schema.qi == ("age",)
    assert read(path, config=config, header=Header(qi=("age",)), given=Options(qi=("ill",))).schema.qi == ("ill",)
    assert read(path, config=Config(qi=("age",), missing="?", missing_rule="drop")).dropped > 0


def test_a_release_mined_from_a_table_says_itself_how_to_read_it(tmp_path: Path) -> None:
    mined = Header(missing="?", missing_rule="category")
    assert read(people(tmp_path), config=Config(qi=("sex",), missing_rule="drop"), header=mined).names == ("sex", "age", "ill")


def test_an_empty_mark_is_a_mark() -> None:
    assert Settings(Options(missing=""), Config(missing="?")).merged.missing == ""


def test_identifying_columns_of_the_file_are_left_out(tmp_path: Path) -> None:
    assert read(people(tmp_path), config=Config(identifying=("sex",))).names == ("age", "ill")


def test_roles_in_the_file_do_not_concern_transactions(tmp_path: Path) -> None:
    settings = Settings(Options(), Config(qi=("sex",), missing="?"))
    assert isinstance(read_people(str(leaking_baskets(tmp_path)), settings), Transactions)


@pytest.mark.parametrize("engine", ["duckdb", "memory"])
def test_an_engine_groups_the_same_people(tmp_path: Path, engine: str) -> None:
    path = people(tmp_path)
    plain, grouped = read(path).merged(), read(path, given=Options(engine=engine))
    assert grouped.names == plain.names
    assert grouped.n == plain.n == 60
    assert len(grouped.weights) == len(plain.weights) < 60
    kept = [
        sorted(zip(*([c.values[i] for i in c.codes] for c in t.columns), t.weights.tolist(), strict=True))
        for t in (plain, grouped)
    ]
    assert kept[0] == kept[1]
    assert grouped.weights.dtype == np.int64


def test_a_needed_option_may_stand_in_the_file() -> None:
    mined = _MineOptions(data="d.csv", output=None, min_support=None, strict=False)
    assert Settings(mined, Config(min_support="5%")).require("min_support", "5%") == "5%"
    with pytest.raises(OptionError, match=r"^--min-support: is missing\."):
        Settings(mined, Config()).require("min_support", "5%")
    Settings(Options(qi=("age",)), Config(sa=("ill",))).require_roles(sa="ill")
    with pytest.raises(OptionError, match=r"^--sa: is missing\. Write for instance --sa ill, or set it in tacit\.toml\.$"):
        Settings(Options(qi=("age",)), Config()).require_roles(sa="ill")


def test_the_policy_comes_from_the_file_unless_an_option_says_otherwise() -> None:
    config = Config(policy={"k": 7, "l": 3})
    assert Settings(Options(), config).policy.k == 7
    assert (Settings(Options(k=4), config).policy.k, Settings(Options(k=4), config).policy.l) == (4, 3)


def test_the_file_is_found_beside_the_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    (tmp_path / "tacit.toml").write_text("[policy]\nk = 6\n")
    assert load_settings(Options(), near=str(people(tmp_path))).policy.k == 6


def test_the_first_value_that_is_set_counts() -> None:
    assert [first_set(None, "", "?"), first_set((), None)] == ["", None]
    settings = Settings(Options(sa=("pay",)), Config(qi=("age",), sa=("ill",), policy={"k": 5}))
    assert (settings.merged.qi, settings.merged.sa, settings.policy.k) == (("age",), ("pay",), 5)


def test_columns_of_tables_are_split_at_commas() -> None:
    assert _column_groups(["sex", "job"]) == [("", ("sex", "job"))]
    assert _column_groups(["sex,job", "age"]) == [("", ("sex", "job")), ("", ("age",))]
    assert _column_groups(["a.csv=sex,job", "age"]) == [("a.csv", ("sex", "job")), ("", ("age",))]


def test_options_and_repaired_files_have_their_names() -> None:
    assert [option_name("max_posterior"), option_name("picture_to")] == ["--max-posterior", "--picture"]
    assert list(map(_repaired_name, ("out/list.csv.gz", "groups/", "rules"))) == [
        "list-safer.csv.gz",
        "groups-safer",
        "rules-safer",
    ]
