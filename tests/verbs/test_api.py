"""What the verbs accept besides their own types."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import tacit
from tacit.files.hierarchies import read_hierarchies
from tacit.verbs.data import with_coarser_items

ROWS = [["a", "b"], ["a", "b"], ["a"]]


def test_itemsets_are_mined_from_files_lists_and_frames(tmp_path: Path) -> None:
    (tmp_path / "x.dat").write_text("a b\na b\na\n")
    frame = pd.DataFrame({"sex": ["F", "F", "M"], "ill": ["yes", "yes", "no"]})
    from_lists = list(tacit.mine_itemsets(ROWS, min_support=2).records())
    assert list(tacit.mine_itemsets(str(tmp_path / "x.dat"), min_support=2).records()) == from_lists
    assert list(tacit.mine_itemsets(tacit.read_transactions(ROWS), min_support=2).records()) == from_lists
    assert tacit.mine_itemsets(frame, min_support=2).names(0) == ["sex=F"]


def test_hierarchies_may_be_a_folder(tmp_path: Path) -> None:
    (tmp_path / "age.csv").write_text("30;thirties;*\n31;thirties;*\n")
    people = tacit.read_table({"age": ["30", "31"], "ill": ["yes", "yes"]}, qi="age", sa="ill")
    assert "age=thirties" in {
        name for line in tacit.mine_itemsets(people, min_support=2, hierarchies=tmp_path).records() for name in line["itemset"]
    }
    rules = tacit.mine_rules(people, min_support=2, min_confidence=0.5, hierarchies=str(tmp_path))
    assert [line["antecedent"] for line in rules.records()] == [{"age": "thirties"}]


def test_the_owners_data_may_be_a_list_or_a_frame() -> None:
    release = tacit.mine_itemsets([["a", "b"]] * 49 + [["a"]], min_support=40)
    assert tacit.audit(release, data=[["a", "b"]] * 49 + [["a"]]).attack("I01").findings == 1


def test_rules_need_roles() -> None:
    with pytest.raises(tacit.OptionError, match="needs a table whose columns have roles"):
        tacit.mine_rules(ROWS, min_support=1, min_confidence=0.5)


def test_a_repair_ends_when_its_time_is_over() -> None:
    rows = [["a", "b"]] * 49 + [["a"]] + [["c"]] * 20
    release = tacit.mine_itemsets(rows, min_support=40)
    with pytest.raises(tacit.LimitReached):
        tacit.repair(release, method="raise-threshold", time_limit=1e-9)
    assert tacit.repair(release, method="substitute", data=rows, time_limit=60).ok


def test_repairs_that_mine_again_refuse_coarser_items(tmp_path: Path) -> None:
    (tmp_path / "age.csv").write_text("30;thirties;*\n31;thirties;*\n")
    people = tacit.read_table({"age": ["30", "31"] * 30, "ill": ["yes"] * 59 + ["no"]})
    release = tacit.mine_itemsets(people, min_support=20, hierarchies=tmp_path)
    rows = with_coarser_items(people, read_hierarchies(tmp_path, people.names))
    with pytest.raises(tacit.OptionError, match="cannot do with hierarchies"):
        tacit.repair(release, method="substitute", data=rows)
    assert tacit.repair(release, method="raise-threshold", data=rows).ok
