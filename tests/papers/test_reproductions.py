"""Reproductions: the papers' numbers stand beside ours, rivals are run only where time allows, and what is left out is said."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

import pytest

import tacit
from tacit.itemsets.detectors import DETECTORS
from tacit.model.errors import OptionError
from tacit.model.reproduction import Claim, Judged, Part, Reading, Reproduction, Standing, judge_readings
from tacit.papers import PAPERS, reproduce
from tacit.papers.bench import MOST_STEPS, UNITS, WORK, Bench, Database, Paired, Setting
from tests.itemsets import naive_channels as naive


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small files under the names of the FIMI data sets: seven questions with two answers each, most people answering alike."""
    place = tmp_path_factory.mktemp("fimi")
    for name, seed in (("mushroom", 1), ("chess", 2), ("kosarak", 3), ("accidents", 4)):
        chance = random.Random(seed)
        rows = ([2 * question + (chance.random() < 0.15 + question / 30) for question in range(7)] for _ in range(100))
        (place / f"{name}.dat").write_text("".join(" ".join(map(str, row)) + "\n" for row in rows))
    return place


@cache
def reproduced(name: str, data: Path | None = None) -> Reproduction:
    return reproduce(name, data=data)


def row_of(part: Part, what: str) -> dict[str, object]:
    """The row of a table of facts about ``what``."""
    return next(dict(zip(part.head, row, strict=True)) for row in part.rows if row[1] == what)


def test_the_worked_examples_need_no_data() -> None:
    made = {paper.name: reproduced(paper.name) for paper in PAPERS}
    assert [part.name for part in made["atzori05"].parts] == ["example-1", "running-example", "theorems"]
    running = made["atzori05"].parts[1]
    assert row_of(running, "all channels |Ch(3, F(D, 6))|")["Tacit"] == 58
    assert row_of(running, "MCh(3, Cl(D, 6))")["agrees"] == "yes"
    assert [row[0] for row in running.rows if row[-1] != "yes"] == ["Definition 16", "Theorem 18"]
    assert [row[0] for row in made["atzori05"].parts[2].rows if row[-1] != "yes"] == ["Section 3"]
    example = made["pmicd08"].parts[0]
    printed = row_of(example, "channels found by the algorithm as printed")
    assert (printed["paper"], printed["Tacit"]) == (29, 21)
    assert [row[0] for row in example.rows if row[-1] != "yes"] == ["Figure 3", "Theorem 3"]
    for one in (made["atzori05"], made["pmicd08"]):
        assert any("mushroom.dat" in what and "FIMI repository" in what for what in one.left_out)


#: Numbered items by paper, as counted in the papers: kind, first and last number.
NUMBERED = {
    "atzori05": [
        ("Example", 1, 1),
        ("Definition", 2, 7),
        ("Lemma", 8, 8),
        ("Definition", 9, 9),
        ("Example", 10, 10),
        ("Theorem", 11, 11),
        ("Definition", 12, 14),
        ("Proposition", 15, 15),
        ("Definition", 16, 16),
        ("Proposition", 17, 17),
        ("Theorem", 18, 18),
        ("Algorithm", 1, 2),
        ("Figure", 1, 3),
    ],
    "pmicd08": [("Definition", 1, 12), ("Example", 1, 6), ("Figure", 1, 12), ("Theorem", 1, 3), ("Lemma", 1, 2)],
}


@pytest.mark.parametrize("name", NUMBERED)
def test_every_numbered_item_is_listed_and_settled_where_the_data_are_there(name: str, folder: Path) -> None:
    made = reproduced(name, folder)
    for kind, first, last in NUMBERED[name]:
        for number in range(first, last + 1):
            assert any(item == f"{kind} {number}" or item.startswith(f"{kind} {number} (") for item in made.items)
    assert {claim.item for claim in made.index} == set(made.items)
    assert {claim.item for claim in made.index if claim.standing == "not run"} == set()
    assert all(claim.why for claim in made.index if claim.standing in ("not confirmed", "not applicable"))


def test_items_without_data_are_not_run() -> None:
    found = {claim.item: claim.standing for claim in reproduced("pmicd08").index}
    assert found["Figure 5"] == "not run"
    assert found["Example 1"] == "confirmed"


def test_a_rounded_confidence_fits_no_whole_number() -> None:
    rule = reproduced("atzori05").parts[0]
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
    made = reproduced("atzori05", folder)
    figures = ["figure-2a", "figure-2b", "figure-3a", "section-6", "figure-2a-accidents", "figure-3b"]
    assert [part.name for part in made.parts[3:]] == figures
    assert made.left_out == ()
    work = made.parts[4]
    assert all(str(row[-1]).endswith("by naive, OICD, PMICD, Tacit") for row in work.rows)
    assert {timed.program for timed in made.times} == {"naive", "OICD", "PMICD", "Tacit"}
    assert "of the 340,183 transactions of ACCIDENTS" in made.parts[7].title
    made = reproduced("pmicd08", folder)
    assert made.left_out == ()
    names = ["worked-example"]
    names += [f"{'numbers' if i == 'x' else 'figure'}-{'mushroom' if i == 'x' else i}" for i in ("x", 5, 7, 9, 11)]
    names += [f"{'numbers' if i == 'x' else 'figure'}-{'chess' if i == 'x' else i}" for i in ("x", 6, 8, 10, 12)]
    assert [part.name for part in made.parts] == names
    # These are not the papers' data, and that is said.
    assert row_of(made.parts[1], "transactions of MUSHROOM")["agrees"] == "NO"
    assert {claim.standing for claim in made.parts[1].claims} == {"not confirmed"}


def test_numbers_are_those_of_the_audit(folder: Path) -> None:
    people = tacit.read_transactions(folder / "mushroom.dat")
    part = next(part for part in reproduced("pmicd08", folder).parts if part.name == "figure-7")
    for share, ours, oicd, restored, printed, lost in part.rows:
        release = tacit.mine_itemsets(people, min_support=float(share or 0) / 100, only="closed")
        found = tacit.audit(release, data=people, policy=tacit.Policy(k=30), algorithm="pmicd", attacks=["I01"])
        assert ours == oicd == restored == found.attack("I01").findings > 0
        assert printed == found.measures["channels_as_printed"] == int(restored or 0) - int(lost or 0)
    threats = next(part for part in reproduced("atzori05", folder).parts if part.name == "figure-3a")
    for share, *numbers in threats.rows:
        release = tacit.mine_itemsets(people, min_support=float(share or 0) / 100)
        for k, number in zip((10, 25, 50, 100), numbers, strict=True):
            assert tacit.audit(release, policy=tacit.Policy(k=k), attacks=["I01"]).attack("I01").findings == number


def test_a_rival_with_too_many_steps_is_counted_and_not_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench.open(folder, None, lambda _: None)
    people = bench.people("mushroom")
    assert people is not None
    setting = Setting(people, 0.1, 10)
    whole = bench.rival("oicd", setting)
    assert whole.seconds is not None
    assert whole.found == bench.ours(setting).found
    monkeypatch.setitem(MOST_STEPS, "oicd", (whole.steps or 0) - 1)
    counted = bench.rival("oicd", setting)
    assert (counted.seconds, counted.found, counted.steps, counted.scanned) == (None, None, whole.steps, whole.scanned)
    assert (whole.scanned or 0) > (whole.steps or 0)


def test_k_can_be_changed_without_mining_again(folder: Path) -> None:
    bench = Bench.open(folder, None, lambda _: None)
    people = bench.people("chess")
    assert people is not None
    first = Setting(people, 0.3, 10)
    for k in (5, 20):
        later = first.with_k(k)
        assert later.closed is first.closed
        fresh = Setting(people, 0.3, k)
        for rival in UNITS:
            assert bench.rival(rival, later).found == bench.rival(rival, fresh).found == bench.ours(fresh).found


@pytest.mark.parametrize("name", ["pmicd08", "atzori05"])
def test_the_record_is_the_same_every_time(name: str, folder: Path) -> None:
    first = reproduced(name, folder)
    second = reproduce(name, data=folder)
    assert first.to_dict() == second.to_dict()
    assert first.times != second.times  # seconds differ, and stand in no record
    assert Reproduction.from_dict(first.to_dict()).to_dict() == first.to_dict()


def test_draws_decide_from_two_standard_errors_on() -> None:
    rising = Paired.of([1, 2, 3, 4], [2, 3.1, 3.9, 5.2])
    assert (rising.judge().standing, round(rising.mean, 3)) == ("confirmed", 1.05)
    assert Paired.of([2, 3.1, 3.9, 5.2], [1, 2, 3, 4]).judge().standing == "not confirmed"
    assert Paired.of([1, 5, 2, 7], [2, 4, 3, 6]).judge().standing == "open"
    assert Paired.of([1, 1], [1, 1]).judge().standing == "open"


def test_readings_are_joined_into_one_standing() -> None:
    first, second = Reading("A", "as printed"), Reading("B", "otherwise", "the number of rows is the paper's")

    def joined(*standings: Standing) -> Claim:
        return judge_readings("Figure 1", "it rises", zip((first, second), (Judged(one, "x") for one in standings), strict=True))

    assert joined("confirmed", "confirmed").standing == "confirmed"
    assert joined("not confirmed", "not confirmed").standing == "not confirmed"
    assert joined("not confirmed", "open").standing == "open"
    found = joined("open", "confirmed")
    assert found.standing == "confirmed under a reading"
    assert "B is the likely reading: the number of rows is the paper's" in found.why


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
