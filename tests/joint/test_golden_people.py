"""Two years side by side: what plain tables of both give away about those who left, and about somebody who changed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.joint import cube, joint_releases, lower
from tacit.model.errors import LimitReached
from tests.shell import tacit as command

#: How many values the columns of the made people have; the first of each are the most frequent.
COLUMNS = {"education": 14, "status": 6, "job": 12, "sex": 2, "salary": 2}


def people(n: int, seed: int) -> dict[str, list[str]]:
    random = np.random.default_rng(seed)
    made = {}
    for name, values in COLUMNS.items():
        shares = 1 / np.arange(2, values + 2)
        made[name] = [f"{name[0]}{value}" for value in random.choice(values, n, p=shares / shares.sum()).tolist()]
    return made


def leavers_told(gone: int, seed: int, folder: Path) -> tuple[int, int]:
    """Of how many of those who left every value is proved, and of how many others that is said."""
    everybody = people(6000, seed)
    left = np.random.default_rng(seed + 100).choice(6000, gone, replace=False).tolist()
    stayed = {name: [value for place, value in enumerate(values) if place not in left] for name, values in everybody.items()}
    for year, rows in (("last", everybody), ("this", stayed)):
        tables = tacit.tabulate(tacit.read_table(rows), by=[list(COLUMNS)], ways=2, hide_below=10)
        tacit.write_release(tables, folder / f"{year}.csv")
    releases = [tacit.read_release(folder / f"{year}.csv") for year in ("last", "this")]
    audit = tacit.audit(releases, people=tacit.Churn(left=(gone, gone)), attacks=["X01"])
    full: Counter[tuple[str, ...]] = Counter()
    run = audit.attack("X01")  # whose proofs need not be written out
    for place, count in enumerate(run.columns["count"].tolist()):
        assert run.event is not None
        event = run.event(place).to_dict()
        if event.get("outside") == [1] and len(event["present"]) == len(COLUMNS):
            full[tuple(sorted(event["present"]))] += count
    truth = Counter(tuple(sorted(f"{name}={values[place]}" for name, values in everybody.items())) for place in left)
    outcome = tacit.verify(audit.to_dict(top=gone + 5), releases, again=False)
    assert outcome.ok, outcome.problems
    return sum((full & truth).values()), sum((full - truth).values())


@pytest.fixture
def _no_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop where sums along columns have told everything: programs would go on about people who stayed."""

    def stop(*_: object, **__: object) -> None:
        raise LimitReached("enough", where="X01", remedy="none")

    monkeypatch.setattr(joint_releases._Search, "_settle", stop)


@pytest.mark.usefixtures("_no_programs")
@pytest.mark.parametrize(("gone", "seed"), [(3, 2), (10, 3)])
def test_two_years_of_tables_with_hidden_cells_tell_everything_about_everybody_who_left(
    gone: int, seed: int, tmp_path: Path
) -> None:
    """Both years publish all tables of one and two columns, cells below ten hidden; nobody joined, and how many left is known.

    Sums along columns settle it. It takes seconds: every table of two columns, twice, about 6,000 people.
    """
    assert leavers_told(gone, seed, tmp_path) == (gone, 0)


@pytest.mark.usefixtures("_no_programs")
def test_what_some_columns_at_a_time_say_about_a_leaver_is_one_description(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there are too many groups for one cube, several say three or four values each, and all are proved of the same person."""
    for module in (lower, cube):
        monkeypatch.setattr(module, "MOST_GROUPS", 4_000)
    assert leavers_told(2, 4, tmp_path) == (2, 0)


def test_last_year_and_this_year_tell_who_began_to_smoke(tmp_path: Path) -> None:
    """(no,N) 40 (yes,N) 11 (no,S) 35 (yes,S) 14, then 39, 12, 35, 14; at most two changed: no to yes, exactly one, in N."""
    for year, counts in (("last", (40, 11, 35, 14)), ("this", (39, 12, 35, 14))):
        cells = zip(("no,N", "yes,N", "no,S", "yes,S"), counts, strict=True)
        lines = ["smokes,region,count", *(f"{cell},{count}" for cell, count in cells)]
        (tmp_path / f"{year}.csv").write_text("\n".join(lines) + "\n")
    files = [tmp_path / "last.csv", tmp_path / "this.csv"]
    audit = tacit.audit(files, people=tacit.Changed(columns=["smokes"], people=(0, 2)), attacks=["X01"])
    exact = {finding.statement for finding in audit.findings if finding.count.is_exact}
    assert "1 person changed from smokes=no to smokes=yes, with region=N." in exact
    assert not any("from smokes=yes" in statement or "region=S." in statement for statement in exact)
    out = tmp_path / "audit.json"
    assert command("audit", *files, "--people", "same,changed:smokes:0-2", "--json", out).exit_code == 1
    assert command("verify", out, *files).exit_code == 0
