"""Releases whose numbers cannot all be true: the error names the lines, and never a value."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest

from tacit.files import consistency
from tacit.files.releases import read_listed
from tacit.model.errors import Contradiction, InputError, numbered
from tacit.model.release import Header, Items, Itemsets, Listed, Rules, Sets, Source


def message(folder: Path, text: str, header: dict[str, Any] | None = None, **options: Any) -> str:
    """What reading this file complains of."""
    (folder / "r.csv").write_text(text)
    (folder / "r.csv.json").write_text(json.dumps({"n": 100} if header is None else header))
    with pytest.raises(InputError) as caught:
        read_listed(folder / "r.csv", **options)
    assert "CANARY" not in str(caught.value)
    assert caught.value.__cause__ is None
    if isinstance(caught.value, Contradiction) and caught.value.lines:
        # The lines are in the sentence, and as numbers besides.
        named = caught.value.where.removeprefix("r.csv, ").partition(", column")[0]
        assert named == numbered(caught.value.lines)
    return str(caught.value)


def lines(*cells: str) -> str:
    return "itemset,count,support\n" + "".join(f"{cell}\n" for cell in cells)


def rule_lines(*cells: str) -> str:
    return "antecedent,consequent,count,support,confidence\n" + "".join(f"{cell}\n" for cell in cells)


A, B, AB, ABC = '"[""CANARY""]"', '"[""b""]"', '"[""CANARY"", ""b""]"', '"[""CANARY"", ""b"", ""c""]"'
F = '"{""sex"": ""CANARY""}"'


class TestItemsets:
    def test_count_above_n(self, tmp_path: Path) -> None:
        got = message(tmp_path, lines(f"{B},5,", f"{A},101,"))
        assert got == "r.csv, line 3, column 'count': the count is above n = 100. Correct the line or n."

    def test_negative_count(self, tmp_path: Path) -> None:
        assert message(tmp_path, lines(f"{A},-1,")).startswith("r.csv, line 2, column 'count': the count is negative. ")

    @pytest.mark.parametrize(("share", "what"), [("1.01", "is above 1"), ("-0.1", "is negative"), ("101%", "is above 1")])
    def test_impossible_share(self, tmp_path: Path, share: str, what: str) -> None:
        assert message(tmp_path, lines(f"{A},,{share}")).startswith(f"r.csv, line 2, column 'support': {what}")

    @pytest.mark.parametrize("share", ["CANARY", "nan", "inf", "1_0", "1e99999999", "0,5;", "½"])
    def test_share_that_is_no_number(self, tmp_path: Path, share: str) -> None:
        assert message(tmp_path, lines(f'{A},,"{share}"')).startswith("r.csv, line 2, column 'support': is not a number. ")

    @pytest.mark.parametrize("count", ["CANARY", "1.5", "nan", "50%", "1e30", "٣"])
    def test_count_that_is_no_whole_number(self, tmp_path: Path, count: str) -> None:
        got = message(tmp_path, lines(f"{B},3,", f"{A},{count},"))
        assert got.startswith("r.csv, line 3, column 'count': is not a whole number. ")

    def test_no_count_prints_so(self, tmp_path: Path) -> None:
        got = message(tmp_path, lines(f"{A},,0.505", f"{B},,0.123"))
        assert got.startswith("r.csv, line 2, column 'support': no whole number of people among n = 100 prints so. ")

    def test_support_beside_another_count(self, tmp_path: Path) -> None:
        got = message(tmp_path, lines(f"{A},50,0.50", f"{B},50,0.52"))
        assert got.startswith("r.csv, line 3, column 'support': the support does not print the count's share of n = 100. ")

    def test_more_decimals_than_promised(self, tmp_path: Path) -> None:
        got = message(tmp_path, lines(f"{A},,0.505"), {"n": 1000, "digits": 2})
        assert got.startswith("r.csv, line 2, column 'support': has more than the 2 decimals that the header promises. ")

    def test_count_off_the_base(self, tmp_path: Path) -> None:
        got = message(tmp_path, lines(f"{A},52,"), {"n": 100, "rounding": {"base": 5}})
        assert got.startswith("r.csv, line 2, column 'count': the count is not a multiple of 5, the base that the header gives. ")

    def test_count_withheld_among_rounded_ones(self, tmp_path: Path) -> None:
        got = message(tmp_path, lines(f"{A},50,", f"{B},,"), {"n": 100, "rounding": {"base": 5}})
        assert got.startswith("r.csv, line 3, column 'count': the count is withheld")

    def test_below_min_support(self, tmp_path: Path) -> None:
        got = message(tmp_path, lines(f"{A},50,"), {"n": 100, "min_support": 51})
        assert got.startswith("r.csv, line 2: no whole number of people prints so and reaches the min_support of 51")

    def test_withheld_without_n(self, tmp_path: Path) -> None:
        assert "Give the number of people with --n N" in message(tmp_path, lines(f"{A},,"), {})

    def test_twice_with_different_counts(self, tmp_path: Path) -> None:
        got = message(tmp_path, lines(f"{AB},5,", f"{B},9,", '"[""b"", ""CANARY""]",6,'))
        assert got == "r.csv, lines 2 and 4: the same itemset is listed twice with different numbers. Keep one of the two lines."

    def test_superset_more_frequent(self, tmp_path: Path) -> None:
        got = message(tmp_path, lines(f"{A},20,", f"{B},9,", f"{AB},10,"))
        assert (
            got
            == "r.csv, lines 3 and 4: the itemset of line 4 holds that of line 3 but is more frequent. Correct one of the two."
        )

    def test_superset_by_two_items(self, tmp_path: Path) -> None:
        got = message(tmp_path, lines(f"{ABC},10,", f"{B},9,"))
        assert "lines 2 and 3: the itemset of line 2 holds that of line 3" in got

    def test_printed_intervals_may_overlap(self, tmp_path: Path) -> None:
        text = lines(f"{A},,0.51", f"{AB},,0.52")
        got = message(tmp_path, text, {"n": 1000, "rounding": "truncated"})  # 510..519 and 520..529
        assert "lines 2 and 3: the itemset of line 3 holds that of line 2" in got
        (tmp_path / "r.csv.json").write_text(json.dumps({"n": 1000}))
        assert len(read_listed(tmp_path / "r.csv")) == 2  # 505..515 and 515..525

    def test_withheld_line_in_between(self, tmp_path: Path) -> None:
        """Two lines clash although the line between them fits both."""
        got = message(tmp_path, lines(f"{ABC},10,", f"{AB},,", f"{A},9,"))
        assert "lines 2 and 4" in got


class TestRules:
    HEADER: ClassVar[dict[str, Any]] = {"n": 100, "sa": "pay"}

    def test_confidence_above_one(self, tmp_path: Path) -> None:
        got = message(tmp_path, rule_lines(f"{F},high,5,,1.5"), self.HEADER)
        assert got.startswith("r.csv, line 2, column 'confidence': is above 1")

    def test_no_antecedent_fits(self, tmp_path: Path) -> None:
        got = message(tmp_path, rule_lines(f"{F},high,80,,0.987"), self.HEADER)
        assert got.startswith("r.csv, line 2: no whole numbers of people fit all that the line prints")
        (tmp_path / "r.csv.json").write_text(json.dumps(self.HEADER))
        release = read_listed(tmp_path / "r.csv", rounding="truncated")
        assert isinstance(release, Rules)
        assert release.whole(0).to_list() == [81, 81]

    def test_confidence_below_the_threshold(self, tmp_path: Path) -> None:
        got = message(tmp_path, rule_lines(f"{F},high,30,,0.50"), self.HEADER | {"min_confidence": 0.6})
        assert got.startswith("r.csv, line 2: no whole numbers of people fit")

    def test_an_item_on_both_sides(self, tmp_path: Path) -> None:
        text = rule_lines('"[""CANARY""]","[""CANARY"", ""b""]",5,,')
        assert message(tmp_path, text).startswith("r.csv, line 2: antecedent and consequent share an item. ")

    def test_same_antecedent_with_different_people(self, tmp_path: Path) -> None:
        got = message(tmp_path, rule_lines(f"{F},high,30,,0.75", f"{F},low,10,,0.20"), self.HEADER)
        assert got.startswith("r.csv, lines 2 and 3: the two rules give the same set of items different numbers of people")

    def test_more_general_antecedent_with_fewer_people(self, tmp_path: Path) -> None:
        text = rule_lines(f"{F},high,30,,0.75", '"{""sex"": ""CANARY"", ""age"": ""9""}",high,40,,0.80')
        assert "r.csv, lines 2 and 3: items of line 3 include items of line 2 but are more frequent" in message(
            tmp_path, text, self.HEADER
        )

    def test_twice_with_different_counts(self, tmp_path: Path) -> None:
        got = message(tmp_path, rule_lines(f"{F},high,30,,", f"{F},high,31,,"), self.HEADER)
        assert "lines 2 and 3: the same rule is listed twice with different numbers" in got

    def test_twice_alike(self, tmp_path: Path) -> None:
        (tmp_path / "r.csv").write_text(rule_lines(f"{F},high,,,", f"{F},high,30,,", f"{F},high,30,,"))
        (tmp_path / "r.csv.json").write_text(json.dumps(self.HEADER))
        got = read_listed(tmp_path / "r.csv")
        assert (len(got), got.line(0), got.count(0).to_list()) == (1, 3, [30, 30])


class TestCells:
    @pytest.mark.parametrize(
        "cell",
        [
            "CANARY",
            "[",
            '["CANARY"',
            '"CANARY"',
            '["a"], ["CANARY"]',
            '[["CANARY"]]',
            '[{"CANARY": 1}]',
            '{"a": "CANARY"}',
            "",
            '["a\n"]',
        ],
    )
    def test_what_is_no_list(self, tmp_path: Path, cell: str) -> None:
        quoted = '"' + cell.replace('"', '""') + '"'
        got = message(tmp_path, lines(f"{B},5,", f"{quoted},5,", f"{A},5,"))
        assert got.startswith("r.csv, line 3, column 'itemset': is not a JSON list of items. Write it like [")

    @pytest.mark.parametrize(
        "cells",
        [
            ('"[""c""],[""d""]",5,', '"[""CANARY""",5,', '"""b""]",5,'),
            ('"[""CANARY]",5,', '"[b""]",5,', '"[""c""],[""d""]",5,'),
        ],
    )
    def test_cells_that_are_whole_only_together(self, tmp_path: Path, cells: tuple[str, ...]) -> None:
        """Joined to one text these three cells are three lists; by themselves they are broken."""
        assert message(tmp_path, lines(*cells)).startswith("r.csv, line 2, column 'itemset': is not a JSON list")

    @pytest.mark.parametrize("cell", ['["CANARY"]', '{"a": ["CANARY"]}', '{"CANARY": 1, "CANARY": 2}', '{"a": "b"', "x"])
    def test_what_is_no_object(self, tmp_path: Path, cell: str) -> None:
        quoted = '"' + cell.replace('"', '""') + '"'
        got = message(tmp_path, rule_lines(f"{F},high,5,,", f"{quoted},high,5,,"), {"n": 100, "sa": "pay"})
        assert got.startswith("r.csv, line 3, column 'antecedent': is not a JSON object of columns and values. ")

    def test_ragged_line(self, tmp_path: Path) -> None:
        got = message(tmp_path, lines(f"{B},5,", "", f"{A},5"))
        assert got.startswith("r.csv, line 4: has 2 cells where the header names 3 columns (the separator is a comma). ")

    def test_ragged_line_far_down(self, tmp_path: Path) -> None:
        many = [f'"[""{i}""]",5,' for i in range(2000)]
        assert message(tmp_path, lines(*many, f"{A},5")).startswith("r.csv, line 2002: has 2 cells")

    def test_open_quotation_mark(self, tmp_path: Path) -> None:
        assert message(tmp_path, lines(f"{B},5,", '"[""CANARY""],5,')).startswith(
            "r.csv, line 3: the quote that opens here is never closed"
        )

    def test_a_column_twice(self, tmp_path: Path) -> None:
        got = message(tmp_path, f"itemset,count,count\n{A},5,5\n")
        assert got.startswith("r.csv, line 1: column 'count' occurs twice. ")

    def test_a_column_missing(self, tmp_path: Path) -> None:
        (tmp_path / "r.csv").write_text("itemsets,coun\n[],5\n")
        with pytest.raises(InputError, match=r"^r\.csv, line 1: has neither a column 'itemset' nor"):
            read_listed(tmp_path / "r.csv", form="tacit")

    def test_columns_twice_in_a_frame(self) -> None:
        frame = pd.DataFrame([[0.5, 0.5, frozenset("a")]], columns=["support", "support", "itemsets"])
        with pytest.raises(InputError, match=r"^frame: two columns have the same name"):
            read_listed(frame, n=2)


def itemsets(family: list[list[int]], lo: list[int], hi: list[int] | None = None, n: int | None = None) -> Itemsets:
    width = 1 + max((item for items in family for item in items), default=0)
    names = tuple(map(str, range(width)))
    return Itemsets(
        Sets.from_lists(family), np.array(lo), np.array(lo if hi is None else hi), Items(names), Header(n=n), source=Source("s")
    )


@pytest.mark.parametrize(
    ("cells", "lines_named"),
    [
        ((f"{B},5,", f"{A},101,"), (3,)),
        ((f"{AB},5,", f"{B},9,", '"[""b"", ""CANARY""]",6,'), (2, 4)),
        ((f"{A},20,", f"{B},9,", f"{AB},10,"), (3, 4)),
        ((f"{A},50,0.50", f"{B},50,0.52"), (3,)),
    ],
)
def test_a_contradiction_carries_its_lines(tmp_path: Path, cells: tuple[str, ...], lines_named: tuple[int, ...]) -> None:
    (tmp_path / "r.csv").write_text(lines(*cells))
    with pytest.raises(Contradiction) as caught:
        read_listed(tmp_path / "r.csv", n=100)
    assert caught.value.lines == lines_named


class TestReleasesInMemory:
    def test_fine_ones_come_back_unchanged(self) -> None:
        release: Listed = itemsets([[0], [1], [0, 1]], [5, 4, 4], n=5)
        assert consistency.check_release(release) is release
        assert len(consistency.check_release(itemsets([], []))) == 0

    def test_ends(self) -> None:
        for release, what in (
            (itemsets([[0]], [6], n=5), "the count is above n = 5"),
            (itemsets([[0]], [-3], [-1]), "the count is negative"),
            (itemsets([[0]], [3], [2]), "no whole number of people fits the line"),
        ):
            with pytest.raises(Contradiction, match=f"^s, line 2: {what}"):
                consistency.check_release(release)

    def test_rule_with_more_people_than_its_antecedent(self) -> None:
        five, four = np.array([5]), np.array([4])
        rule = Rules(Sets.from_lists([[0]]), Sets.from_lists([[1]]), five, five, four, four, Items(("a", "b")), Header())
        with pytest.raises(Contradiction, match=r"^release, line 2: more people fit the rule than its antecedent"):
            consistency.check_release(rule)

    @pytest.mark.parametrize("method", [consistency.clash_of_pairs, consistency.clash_of_subsets])
    def test_both_methods_name_the_pair(self, method: Any) -> None:
        release = itemsets([[0], [1], [0, 1], [0, 1, 2], []], [9, 3, 3, 4, 20])
        clash = method(release.sets, release.lo, release.hi)
        assert clash in ((3, 1), (3, 2))
        assert method(release.sets, np.array([9, 3, 3, 3, 20]), np.array([9, 3, 3, 3, 20])) is None

    @pytest.mark.parametrize("method", [consistency.clash_of_pairs, consistency.clash_of_subsets])
    def test_repeated_sets(self, method: Any) -> None:
        family = Sets.from_lists([[0, 1], [0, 1], [0]])
        assert method(family, np.array([3, 1, 9]), np.array([8, 2, 9])) == (0, 1)
        assert method(family, np.array([3, 1, 9]), np.array([8, 3, 9])) is None

    def test_equal_hashes_of_different_sets(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """With a hash that says nothing, nothing is merged and nothing clashes that does not."""
        monkeypatch.setattr(Sets, "hashes", lambda self: np.zeros(len(self), np.uint64))
        release = itemsets([[0], [1], [0], [0, 1]], [5, 4, 5, 4])
        assert [release.names(i) for i in range(4)] == [["0"], ["1"], ["0"], ["0", "1"]]
        kept = consistency.check_release(release)
        assert [kept.line(i) for i in range(len(kept))] == [2, 3, 5]
        assert consistency.clash_of_subsets(itemsets([[0], [1]], [5, 4]).sets, np.array([5, 4]), np.array([5, 4])) is None
