"""Suggested repairs: each was really carried out and audited, the cheapest clean one comes first, and what failed is said."""

from __future__ import annotations

import json
import random
import shlex
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import tacit
from tacit.cli import cli
from tacit.model.errors import LimitReached, OptionError
from tacit.model.frequencies import CellPrinting
from tacit.model.policy import time_limit
from tacit.model.repair import OUT_OF_TIME, Suggestion, Suggestions
from tacit.repairs import substitute
from tacit.repairs.people import BitRows
from tacit.reports.document import Document, Section, render_text
from tacit.reports.pages import render_html, render_markdown
from tacit.reports.suggestions import suggestion_parts
from tacit.verbs.rounding import rounded_cells
from tacit.verbs.suggest import Done, Way, try_ways
from tacit.verbs.suggest.lists import IN_INFORMATION, itemset_loss
from tests.shell import record
from tests.shell import tacit as shell

PATIENTS = Path(__file__).parents[2] / "examples" / "patients.csv"
QI = ["age", "sex", "smoker"]


@pytest.fixture(scope="module")
def patients() -> tacit.Table:
    return tacit.read_table(PATIENTS, qi=QI, sa="diagnosis")


def check(found: Suggestions, policy: tacit.Policy, **how: Any) -> None:
    """Every result that is called clean is clean when it is audited once more, and the order is that of verdict and loss."""
    assert found.best is not None
    for one in found.clean:
        assert one.release is not None
        assert one.commands
        again = list(one.release) if isinstance(one.release, tuple) and len(one.release) > 1 else one.release
        again = again[0] if isinstance(again, tuple) else again
        several = {"people": how["people"]} if isinstance(again, list) and "people" in how else {}
        others = {name: value for name, value in how.items() if name != "people"}
        assert tacit.audit(again, policy=policy, **several, **others).verdict == "clean", one.method
    losses = [one.loss for one in found.clean]
    assert losses == sorted(losses)  # type: ignore[type-var]
    verdicts = [one.verdict for one in found]
    order = {"clean": 0, "incomplete": 1, "exposed": 2, None: 3}
    assert verdicts == sorted(verdicts, key=lambda verdict: order[verdict])
    for one in found:
        assert bool(one.reason) == (one.verdict is None)


def check_costs(found: Suggestions) -> None:
    """Every cost is a measure, and there is one."""
    costs = {name for one in found for name in one.cost}
    assert costs
    assert costs <= {measure.name for measure in tacit.MEASURES}


@pytest.mark.parametrize("only", ["closed"])
def test_itemsets_with_their_data(patients: tacit.Table, only: str) -> None:
    release = tacit.mine_itemsets(patients, min_support="10%", only=only)  # type: ignore[arg-type]
    found = tacit.suggest(release, data=patients, seconds=60)
    assert {one.method for one in found} == {row.name for row in tacit.REPAIRS if "itemsets" in row.of}
    check(found, tacit.Policy())
    failed = {one.method for one in found if one.verdict == "exposed"}
    # People were added to small groups, and deduction still finds others; people were taken out, and then everyone aged 18-39 is well.
    assert failed == {"additive", "exact-deficit", "merge-channels", "substitute", "suppressive"}


def test_itemsets_without_data_only_what_needs_none(patients: tacit.Table) -> None:
    release = tacit.mine_itemsets(patients, min_support="10%")
    found = tacit.suggest(release, seconds=60)
    assert {one.method for one in found} == {"leave-out", "raise-threshold", "round"}
    check(found, tacit.Policy())
    best = found.best
    assert best is not None
    # What the loss of rounding says, counted by hand.
    before = {frozenset(row["itemset"]): row["count"] for row in release.records()}
    after = {frozenset(row["itemset"]): row["count"] for row in best.release.records()}  # type: ignore[union-attr]
    assert best.method == "round"
    base = best.release.header.base  # type: ignore[union-attr]
    assert base is not None
    read = [(max(24, count - base // 2) + min(240, count + (base - 1) // 2)) / 2 for count in after.values()]
    errors = [abs(now - before[key]) / before[key] for key, now in zip(after, read, strict=True)]
    assert best.loss == pytest.approx(sum(errors) / len(errors))


def test_rules(patients: tacit.Table) -> None:
    rules = tacit.mine_rules(patients, min_support=20, min_confidence=0.5)
    policy = tacit.Policy(k=5, max_posterior=0.85)
    found = tacit.suggest(rules, data=patients, policy=policy, seconds=60)
    check(found, policy, data=patients)
    assert {one.measured for one in found.clean} == {IN_INFORMATION}
    without = tacit.suggest(rules, policy=tacit.Policy(k=50))
    assert without.best is None
    assert {one.verdict for one in without} == {None}


def test_groups_with_knowledge() -> None:
    columns = {"sex": ["F", "M"] * 8, "job": ["a", "a", "b", "b"] * 4, "ill": ["flu", "flu", "cancer", "cold"] * 4}
    people = tacit.read_table(columns, qi=["sex", "job"], sa="ill")
    knowledge = [({"sex": "F", "job": "a"}, "cold"), ({"sex": "M", "job": "b"}, "flu"), ({"sex": "M", "job": "b"}, "cancer")]
    groups = tacit.bucketize(people, l=2, method="anatomy")
    assert tacit.audit(groups, knowledge=knowledge).verdict == "exposed"
    found = tacit.suggest(groups, data=people, knowledge=knowledge, seconds=60)
    if found.best is None:  # nothing helps against so much knowledge: then that is said, way by way
        assert all(one.verdict == "exposed" or one.reason for one in found)
    light = knowledge[:1]
    exposed = tacit.audit(groups, knowledge=light).verdict == "exposed"
    lighter = tacit.suggest(groups, data=people, knowledge=light, seconds=60)
    assert bool(lighter) == exposed
    if exposed:
        check(lighter, tacit.Policy(), knowledge=light)
    alone = tacit.suggest(groups, knowledge=knowledge)
    assert [one.reason.startswith("people are grouped again from the data") for one in alone] == [True]


def test_tables_with_blanks() -> None:
    ill = ["flu", "flu", "flu", "cold", "cold", "flu", "flu"] * 3 + ["cold"]
    columns = {"job": ["nurse"] * 14 + ["clerk"] * 8, "sex": ["F", "M"] * 11, "ill": ill}
    people = tacit.read_table(columns, qi=["job", "sex"], sa="ill")
    partial = tacit.hide(people, rows=[0, 1], may_hide="ns", min_confidence=0.9)
    policy = tacit.Policy(min_confidence=0.5)
    found = tacit.suggest(partial, data=people, rows=[0, 1], policy=policy, seconds=60)
    check(found, policy, data=people, rows=[0, 1])
    assert found.best is not None
    assert found.best.loss == found.best.cost["cells_hidden"]
    assert "--min-confidence 0.5" in found.best.lines()[0]
    assert [one.verdict for one in tacit.suggest(partial, policy=policy)] == [None]


def test_frequency_tables(patients: tacit.Table) -> None:
    table = tacit.tabulate(patients, by="age,sex,diagnosis", total=True, hide_below=10)
    assert tacit.audit(table).verdict == "exposed"
    found = tacit.suggest(table, data=patients, seconds=60)
    check(found, tacit.Policy())
    check_costs(found)
    # Where cells are hidden besides, rounding does not help here, and that is said; hiding more cells does.
    assert {one.method: one.verdict for one in tacit.suggest(table, seconds=60)} == {"suppress": "clean", "round": "exposed"}
    plain = tacit.tabulate(patients, by="age,sex,diagnosis", total=True)
    alone = tacit.suggest(plain, seconds=60)
    check(alone, tacit.Policy())
    # Rounded from what is published or from the data: the same cells.
    by_rounding = next(one for one in alone.clean if one.method == "round")
    rounded = by_rounding.release
    assert isinstance(rounded, tacit.FrequencyTable)
    base = rounded.printing.base
    made = tacit.tabulate(patients, by="age,sex,diagnosis", total=True, round_to=base)
    assert list(made.records()) == list(rounded.records())
    assert [made.count(cell) for cell in range(len(made))] == [rounded.count(cell) for cell in range(len(made))]
    words = by_rounding.lines({"@out": "out.csv"})[0]
    assert words == f"tacit repair RELEASE --method round --base {base} -o out.csv"
    again = tacit.repair(plain, method="round", base=base)
    assert isinstance(again.release, tacit.FrequencyTable)
    assert again.after.ok
    assert list(again.release.records()) == list(rounded.records())


def test_several_frequency_tables(patients: tacit.Table) -> None:
    first = tacit.tabulate(patients, by="age,diagnosis", hide_below=10, total=True)
    second = tacit.tabulate(patients, by="age,sex,diagnosis", hide_below=10)
    found = tacit.suggest([first, second], people=tacit.Same(), seconds=60)
    check(found, tacit.Policy(), people=tacit.Same())
    assert "round all" in {one.method for one in found}


def two_lists(folder: Path) -> list[Path]:
    head = "itemset,count,support\n"
    (folder / "visits.csv").write_text(head + '"[""x""]",50,0.50\n"[""y""]",40,0.40\n"[""x"", ""y""]",20,0.20\n')
    (folder / "treatments.csv").write_text(head + '"[""z""]",50,0.50\n"[""x"", ""y"", ""z""]",19,0.19\n')
    return [folder / "visits.csv", folder / "treatments.csv"]


def test_several_releases(tmp_path: Path) -> None:
    releases = [tacit.read_release(path, n=100) for path in two_lists(tmp_path)]
    found = tacit.suggest(releases, people=tacit.Same(), seconds=60)
    check(found, tacit.Policy(), people=tacit.Same())
    check_costs(found)
    assert {one.method for one in found} == {"leave out lines", "round", "round all", "keep back"}
    lines = next(one for one in found if one.method == "leave out lines")
    assert lines.lines()[0] == "tacit repair RELEASE2 --method leave-out --lines 3 -o OUT-2"
    assert lines.cost == {"lines_lost": 1}


def test_a_clean_release_needs_nothing() -> None:
    baskets = tacit.read_transactions([["a", "b"]] * 50)
    assert list(tacit.suggest(tacit.mine_itemsets(baskets, min_support=40))) == []


def test_time_is_shared_and_who_needs_more_gets_what_is_left() -> None:
    given: list[tuple[str, float]] = []

    def way(name: str, needs: float) -> Way:
        def carry_out(seconds: float) -> Done:
            given.append((name, seconds))
            if seconds < needs:
                raise LimitReached("the time limit was reached", where=name, remedy="Give more time")
            raise OptionError("fits nothing", where=name, remedy="Choose another")

        return Way(name, name, carry_out)

    done = {one.method: one for one in try_ways([way("slow", 40.0), way("never", 1e9), way("quick", 0.0)], 60.0, lambda _: None)}
    assert [round(seconds) for name, seconds in given if name == "slow"] == [30, 60]
    assert done["slow"].reason == "fits nothing. Choose another"
    assert done["never"].reason == OUT_OF_TIME
    assert done["quick"].reason == "fits nothing. Choose another"


def test_what_is_tried_is_announced_and_what_is_not_is_named_in_one_line() -> None:
    said: list[str] = []
    shares: list[float] = []

    def late(_: float) -> Done:
        raise LimitReached("the time limit was reached", where="x", remedy="Give more time")

    ways = [Way("round", "round counts", late), Way("leave-out", "leave out lines", late)]
    tried = Suggestions.of(try_ways(ways, 20.0, shares.append, said.append), seconds=20.0)
    assert said == ["round", "leave-out", "round", "leave-out"]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    text = render_text(Document("t", ("lead",), (Section("s", tuple(suggestion_parts(tried, is_named=True))),)))
    assert "Not tried (out of time): round, leave-out; allow more with --suggest 120." in " ".join(text.split())
    assert "Also tried" not in text


def test_outsiders_are_told_no_reason_that_may_name_a_column() -> None:
    many = Suggestions.of([Suggestion("hide", "hide more cells", None, reason="has no column SECRET. Give another")])
    for render in (render_text, render_markdown, render_html):
        inside, outside = (
            render(Document("t", ("lead",), (Section("s", tuple(suggestion_parts(many, is_named=is_named))),)))
            for is_named in (True, False)
        )
        assert "SECRET" in inside
        assert "SECRET" not in outside
        assert "hide more cells: could not be done" in outside


def test_files_are_named_in_commands_and_not_in_the_record() -> None:
    one = Suggestion("round", "round", "clean", 0.1, commands=(("tacit", "repair", "@0", "--data", "@data", "-o", "@out"),))
    many = Suggestions.of([Suggestion("x", "x", None, reason="no"), one])
    assert [found.method for found in many] == ["round", "x"]
    assert many.to_list()[0]["commands"] == ["tacit repair RELEASE --data DATA -o OUT"]
    assert one.lines({"@0": "a b.csv"}) == ["tacit repair 'a b.csv' --data DATA -o OUT"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(PATIENTS.read_text())
    record("mine", "itemsets", "people.csv", "--min-support", "10%", "-o", "sets.csv")
    return tmp_path


def test_the_commands_that_are_named_do_it(folder: Path) -> None:
    result = shell("audit", "sets.csv", "--data", "people.csv", "--suggest", "60", "-v")
    assert result.exit_code == 1
    commands = [line.strip() for line in result.stdout.splitlines() if line.strip().startswith("tacit repair sets.csv --data")]
    assert len(commands) >= 4
    brief = shell("audit", "sets.csv", "--data", "people.csv", "--suggest", "60").stdout.splitlines()
    assert len(brief) <= 20
    assert [line.strip() for line in brief if line.startswith("        tacit repair")] == commands[:2]
    for command in commands[:2]:
        done = CliRunner().invoke(cli, shlex.split(command)[1:])
        assert (done.exit_code, (folder / "sets-safer.csv").exists()) == (0, True), done.output
        assert shell("audit", "sets-safer.csv", "--quiet").stdout == "clean\n"


def test_several_files_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    two_lists(tmp_path)
    monkeypatch.chdir(tmp_path)
    result = shell("audit", "visits.csv", "treatments.csv", "--n", "100", "--people", "same", "--suggest", "60", "-v")
    assert result.exit_code == 1
    commands = [line.strip() for line in result.stdout.splitlines() if line.strip().startswith("tacit ")]
    repaired = next(command for command in commands if "--lines 3" in command)
    assert CliRunner().invoke(cli, shlex.split(repaired)[1:]).exit_code == 0
    audited = commands[commands.index(repaired) + 1]
    assert audited == "tacit audit visits.csv treatments-safer.csv --people same --n 100"
    assert CliRunner().invoke(cli, shlex.split(audited)[1:]).exit_code == 0


@pytest.mark.usefixtures("folder")
def test_records_of_both_kinds() -> None:
    inside = record("audit", "sets.csv", "--suggest", "60", code=1)["suggestions"]
    assert [one["verdict"] for one in inside] == ["clean"] * 3
    assert inside[0]["commands"] == ["tacit repair RELEASE --method round --base 20 -o OUT"]
    assert "suggestions" not in record("audit", "sets.csv", code=1)
    text = shell("audit", "sets.csv", "--suggest", "60", "--report-kind", "external", "-v", "--json", "outside.json").stdout
    outside = json.dumps(json.loads(Path("outside.json").read_text())["suggestions"])
    assert "sets" not in outside.replace("itemsets", "")
    assert "What would make it clean" in text
    assert "tacit repair sets.csv" not in text


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("given", ["0", "soon", "sets.csv"])
def test_wrong_seconds_are_one_sentence(given: str) -> None:
    result = shell("audit", "--suggest", given, "sets.csv")
    said = "--suggest: takes a number of seconds above 0. Write for instance --suggest 10, or put --suggest at the end of the line.\n"
    assert (result.exit_code, result.stderr) == (2, said)
    with pytest.raises(OptionError, match="must be more than 0 seconds"):
        tacit.suggest("sets.csv", seconds=0)


@pytest.mark.usefixtures("folder")
def test_pages_say_the_same_and_outsiders_see_no_command() -> None:
    suggest = ("audit", "sets.csv", "--suggest", "60")
    shell(*suggest, "--report", "inside.html", "--report", "inside.md")
    shell(*suggest, "--report", "outside.html", "--report", "outside.md", "--report-kind", "external")
    for ending in ("html", "md"):
        inside, outside = Path(f"inside.{ending}"), Path(f"outside.{ending}")
        text = inside.read_text()
        told = ("What would make it clean", "Print counts as multiples of 20", "it clean; they are listed below")
        assert all(one in text for one in told)
        assert "repair sets.csv" in text.replace("\\", "")
        assert text.index("Recommended repair") < text.index("Worst findings")
        outsiders = outside.read_text().replace("\\", "")
        assert not [one for one in (*told, "repair sets.csv", "Recommended", "What to do") if one in outsiders]
    assert "add --suggest" in shell("audit", "sets.csv", "-v").stdout.replace("\n    ", " ")


def test_repairs_that_change_rows_end_in_time() -> None:
    """No audit stands between two rows, so that rows themselves look at the clock."""
    chance = random.Random(5)
    data = BitRows.of(tacit.read_transactions([[str(item) for item in chance.sample(range(40), 6)] for _ in range(300)]))
    masks = np.full((1, 1), np.uint64(2**40 - 1))
    with time_limit(0.001):
        time.sleep(0.01)
        with pytest.raises(LimitReached):
            substitute._replace(data, masks, data.words[:1])


def test_what_changes_many_people_is_not_cheap() -> None:
    cost = {"itemsets_lost": 0, "itemsets_ghost": 0, "support_error_mean": 0.01}
    assert itemset_loss(cost | {"people_changed": 2705}, lambda: 676, 77_512) == pytest.approx(0.01 + 2705 / 77_512)
    assert itemset_loss(cost | {"itemsets_lost": 10, "support_error_mean": 0.0}, lambda: 676, 77_512) == pytest.approx(10 / 676)
    assert itemset_loss(cost, lambda: 676, None) == 0.01


def test_shown_cells_are_rounded_and_hidden_ones_stay() -> None:
    cells = [["F"], ["M"], ["*"]]
    table = tacit.FrequencyTable.of(["sex"], cells, [12, None, 15], n=15, printing=CellPrinting(hidden_below=5))
    assert [rounded_cells(table, 10).count(cell).to_list() for cell in range(3)] == [[5, 14], [0, 4], [15, 15]]
