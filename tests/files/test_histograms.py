"""Histograms: bins as intervals, edges in two columns, several histograms of one number, and edges that are values of people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.model.intervals import join_intervals, pieces_of, read_interval, shows_extremes, split_intervals
from tests.shell import tacit as run

AGES = [18, 19, 22, 23, 25, 31, 33, 34, 38, 41, 44, 47, 52, 55, 59, 61, 64, 68, 71, 90]


def test_bins_of_pandas_are_values_whose_outer_edges_are_a_caution() -> None:
    counts = pd.cut(pd.Series(AGES, name="age"), 7).value_counts(sort=False)
    release: Any = tacit.read_release(counts, sa="none")
    assert len(release) == 7
    audit = tacit.audit(release, k=3)
    assert "1 person has age=(79.714, 90.0]." in [one.statement for one in audit.findings]
    assert [one.about for one in audit.cautions] == ["edges"]
    assert tacit.verify(audit.to_dict(top=100), release).ok


def test_edges_of_numpy_in_two_columns_are_bins(tmp_path: Path) -> None:
    counts, edges = np.histogram(AGES, bins=7)
    frame = pd.DataFrame({"bin_left": edges[:-1].round(3), "bin_right": edges[1:].round(3), "count": counts})
    path = tmp_path / "h.csv"
    frame.to_csv(path, index=False)
    release: Any = tacit.read_release(path, sa="none")
    assert release.columns == ("bin",)
    assert [release.cell(index)["bin"] for index in (0, 6)] == ["[18.0, 28.286)", "[79.714, 90.0]"]
    assert tacit.audit(release, k=3).cautions


@pytest.mark.parametrize("names", [("age_from", "age_to"), ("lower", "upper"), ("Age start", "Age end")])
def test_pairs_of_edges_have_usual_names(names: tuple[str, str]) -> None:
    release: Any = tacit.read_release({names[0]: ["0", "10"], names[1]: ["10", "20"], "count": ["30", "40"]}, sa="none")
    assert len(release.columns) == 1
    assert release.cell(1) == {release.columns[0]: "[10, 20]"}
    assert not tacit.audit(release, k=5).cautions


def test_histograms_with_other_bins_tell_of_the_difference(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('age,count\n"(18, 27]",12\n"(27, 37]",15\n"(37, 90]",20\n')
    (tmp_path / "b.csv").write_text('age,count\n"(18, 30]",14\n"(30, 90]",33\n')
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    record = tmp_path / "a.json"
    told = run("audit", *files, "--people", "same", "--sa", "none", "--k", 5, "--json", record)
    assert told.exit_code == 1
    assert "2 people have age=(27, 30]." in told.stdout
    assert run("verify", record, *files).exit_code == 0
    changed = record.read_text().replace("age=(27, 30]", "age=(27, 37]")
    record.write_text(changed)
    assert run("verify", record, *files).exit_code == 1


def test_bins_that_are_declared_are_no_caution(tmp_path: Path) -> None:
    data = tmp_path / "people.csv"
    data.write_text("age\n" + "".join(f"{age}\n" for age in AGES))
    out = tmp_path / "t.csv"
    assert run("tabulate", data, "--by", "age", "--bins", "age=18,42,66,90", "-o", out).exit_code in (0, 2)


@pytest.mark.parametrize(
    ("labels", "shows"),
    [
        (["(0, 10]", "(10, 20]", "(20, 30]"], False),
        (["[18, 27)", "[27, 36)", "[36, 45]"], False),  # multiples of the width
        (["[17, 27)", "[27, 37)", "[37, 47]"], False),  # a round width
        (["[17.0, 24.3)", "[24.3, 31.6)", "[31.6, 38.9]"], True),
        (["(17.999, 25.0]", "(25.0, 40.0]", "(40.0, 88.0]"], True),  # quantiles of pandas
        (["(17, 25]", "(25, 40]", "(40, 88]"], False),
        (["[17.0, 24.3)", "[24.3, 31.6)"], False),
        (["young", "old", "older"], False),
    ],
)
def test_edges_look_like_extremes_where_a_program_chose_them(labels: list[str], shows: bool) -> None:
    assert shows_extremes(labels) is shows


def test_intervals_join_where_they_touch() -> None:
    labels = ["[0, 6)", "6", "(6, 9)", "9 or more"]
    for low in range(len(labels)):
        for high in range(low + 1, len(labels) + 1):
            joined = join_intervals(labels[low:high])
            assert joined is not None
            assert pieces_of(joined, labels) == tuple(sorted(labels[low:high]))
    assert join_intervals(["[0, 6)", "(6, 9)"]) is None
    assert pieces_of("[0, 7)", labels) is None
    for label in (*labels, "over 3", "under 4", "up to 4", ">= 3", "<4", "[-1.5, 2e1)", "[0, inf)"):
        found = read_interval(label)
        assert found is not None
        assert read_interval(found.text) == found
    assert split_intervals(["[0, 10)", "[5, 20)"]) == {"[0, 10)": ("[0, 5)", "[5, 10)"), "[5, 20)": ("[5, 10)", "[10, 20)")}
