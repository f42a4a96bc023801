"""Reproductions: the papers' numbers stand beside ours, rivals are run only where time allows, and what is left out is said."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import tacit
from tacit.errors import OptionError
from tacit.itemsets.detectors import DETECTORS
from tacit.model.reproduction import Part
from tacit.papers import PAPERS, reproduce
from tacit.papers.bench import UNITS, WORK, Bench, Database, Setting, Timing
from tests.itemsets import naive_channels as naive


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small files under the names of the FIMI data sets: seven questions with two answers each, most people answering alike."""
    place = tmp_path_factory.mktemp("fimi")
    for name, seed in (("mushroom", 1), ("chess", 2), ("kosarak", 3)):
        chance = random.Random(seed)
        rows = ([2 * question + (chance.random() < 0.15 + question / 30) for question in range(7)] for _ in range(100))
        (place / f"{name}.dat").write_text("".join(" ".join(map(str, row)) + "\n" for row in rows))
    return place


def row_of(part: Part, what: str) -> dict[str, object]:
    """The row of a table of facts about ``what``."""
    return next(dict(zip(part.head, row, strict=True)) for row in part.rows if row[1] == what)


def test_the_worked_examples_need_no_data() -> None:
    made = {paper.name: reproduce(paper.name) for paper in PAPERS}
    assert [part.name for part in made["atzori05"].parts] == ["example-1", "running-example"]
    running = made["atzori05"].parts[1]
    assert row_of(running, "all channels |Ch(3, F(D, 6))|, by Algorithm 1")["Tacit"] == 58
    assert row_of(running, "MCh(3, Cl(D, 6))")["agrees"] == "yes"
    assert [row[0] for row in running.rows if row[-1] != "yes"] == ["Def. 16", "after Thm 18"]
    example = made["pmicd08"].parts[0]
    assert row_of(example, "channels found, by the algorithm as printed")["Tacit"] == 21
    assert row_of(example, "maximal among all channels, by brute force")["Tacit"] == 29
    assert [row[0] for row in example.rows if row[-1] != "yes"] == ["Fig. 3", "Theorem 3"]
    for one in (made["atzori05"], made["pmicd08"]):
        assert any("mushroom.dat" in what and "FIMI repository" in what for what in one.left_out)


def test_a_rounded_confidence_fits_no_whole_number() -> None:
    rule = reproduce("atzori05").parts[0]
    assert [(row[0], row[2], row[4], row[5]) for row in rule.rows] == [
        ("nearest", "none", "none", "NO"),
        ("truncated", "81", "1", "yes"),
        ("unknown", "81", "1", "yes"),
    ]


def test_the_papers_databases_are_looked_at_as_the_definitions_say() -> None:
    rows = naive.rows_of("a b c d/b c e f/a b c/c d e f/b e f/a c d/b c d f/a b c d e f/b c d e f/a b c d e")
    data = Database(" ".join("".join(sorted(row)) for row in rows))
    assert {frozenset(items): count for items, count in data.frequent(4).items() if items} == naive.frequent(rows, 4)
    channels = {(frozenset(part), frozenset(whole) - set(part), size) for (part, whole), size in data.channels(4, 3).items()}
    assert channels == naive.all_channels(rows, 4, 3)


def test_with_the_data_every_figure_is_there(folder: Path) -> None:
    made = reproduce("atzori05", data=folder)
    assert [part.name for part in made.parts[2:]] == ["figure-2a", "figure-2b", "figure-3a", "figure-3b"]
    assert len(made.left_out) == 1
    times = made.parts[3]
    assert all(str(row[-1]).endswith("all the same") for row in times.rows)
    assert all(isinstance(row[column], float) for row in times.rows for column in range(1, 5))
    made = reproduce("pmicd08", data=folder)
    assert made.left_out == ()
    names = ["worked-example"]
    names += [f"{'numbers' if i == 'x' else 'figure'}-{'mushroom' if i == 'x' else i}" for i in ("x", 5, 7, 9, 11)]
    names += [f"{'numbers' if i == 'x' else 'figure'}-{'chess' if i == 'x' else i}" for i in ("x", 6, 8, 10, 12)]
    assert [part.name for part in made.parts] == names
    # These are not the papers' data, and that is said.
    assert row_of(made.parts[1], "transactions")["agrees"] == "NO"
    assert made.parts[1].outcome.startswith("0 of 8 statements confirmed")


def test_numbers_are_those_of_the_audit(folder: Path) -> None:
    people = tacit.read_transactions(folder / "mushroom.dat")
    part = next(part for part in reproduce("pmicd08", data=folder).parts if part.name == "figure-7")
    for share, ours, oicd, restored, printed, lost in part.rows:
        release = tacit.mine_itemsets(people, min_support=float(share or 0) / 100, only="closed")
        found = tacit.audit(release, data=people, policy=tacit.Policy(k=30), algorithm="pmicd", attacks=["I01"])
        assert ours == oicd == restored == found.attack("I01").findings > 0
        assert printed == found.measures["channels_as_printed"] == int(restored or 0) - int(lost or 0)
    threats = next(part for part in reproduce("atzori05", data=folder).parts if part.name == "figure-3a")
    for share, *numbers in threats.rows:
        release = tacit.mine_itemsets(people, min_support=float(share or 0) / 100)
        for k, number in zip((10, 25, 50, 100), numbers, strict=True):
            assert tacit.audit(release, policy=tacit.Policy(k=k), attacks=["I01"]).attack("I01").findings == number


def test_a_rival_without_time_is_not_run_and_its_time_is_told(folder: Path) -> None:
    bench = Bench.open(folder, 1e9, lambda _: None)
    people = bench.people("mushroom")
    assert people is not None
    setting = Setting(people, 0.1, 10)
    whole = bench.rival("naive", setting)
    assert whole.seconds is not None
    assert whole.found == bench.ours(setting).found
    bench.allowance = whole.seconds / 100
    skipped = bench.rival("naive", setting)
    assert (skipped.seconds, skipped.found, skipped.steps) == (None, None, whole.steps)
    assert str(skipped.told).startswith("not run: would take about ")
    assert skipped.about == pytest.approx(whole.seconds)
    # Without an earlier run to judge by, it is stopped, and the share that it had done says how long it would take.
    bench.rates.clear()
    stopped = bench.rival("naive", setting)
    assert (stopped.seconds, stopped.found) == (None, None)
    assert stopped.about is not None
    assert stopped.about > 0


def test_k_can_be_changed_without_mining_again(folder: Path) -> None:
    bench = Bench.open(folder, 1e9, lambda _: None)
    people = bench.people("chess")
    assert people is not None
    first = Setting(people, 0.3, 10)
    for k in (5, 20):
        later = first.with_k(k)
        assert later.closed is first.closed
        fresh = Setting(people, 0.3, k)
        for rival in UNITS:
            assert bench.rival(rival, later).found == bench.rival(rival, fresh).found == bench.ours(fresh).found


def test_the_record_is_the_same_every_time(folder: Path) -> None:
    first, second = (reproduce("pmicd08", data=folder).to_dict() for _ in range(2))
    assert first == second
    assert "seconds" not in str(first).lower()


def test_the_record_does_not_depend_on_how_fast_the_machine_is(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = [reproduce(name, data=folder).to_dict() for name in ("pmicd08", "atzori05")]

    def too_slow(_: Bench, name: str, setting: Setting) -> Timing:
        return Timing(None, steps=WORK[name](setting.family), about=1e9)

    monkeypatch.setattr(Bench, "rival", too_slow)
    assert [reproduce(name, data=folder).to_dict() for name in ("pmicd08", "atzori05")] == quick


def test_every_rival_of_the_table_is_measured() -> None:
    assert tuple(WORK) == tuple(UNITS) == tuple(row.name for row in DETECTORS)


def test_a_folder_that_is_none_and_a_paper_that_is_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"does not exist\. Give the folder"):
        reproduce("atzori05", data=tmp_path / "no")
    (tmp_path / "file").write_text("")
    with pytest.raises(OptionError, match="is not a folder"):
        reproduce("atzori05", data=tmp_path / "file")
    with pytest.raises(OptionError, match=r"there is no reproduction 'atzori5'\. Did you mean 'atzori05'"):
        reproduce("atzori5")
