"""Tacit's own release files: what is read, with and without a header, and what is written."""

from __future__ import annotations

import gzip
import json
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import tacit
from tacit.files.releases import read_listed, write_release
from tacit.model.errors import Contradiction, InputError, OptionError
from tacit.model.release import Decimals, Header, Items, Itemsets, Marginal, Rules, Sets

ITEMSETS = 'itemset,count,support\n"[""x""]",50,0.5\n"[""y""]",40,0.4\n"[""x"", ""y""]",20,0.2\n'
RULES = (
    "antecedent,consequent,count,support,confidence\n"
    '"{""sex"": ""F"", ""age"": ""30""}",high,30,0.3,0.75\n'
    '"{""sex"": ""M""}",low,20,0.2,0.6666666666666666\n'
)


def put(folder: Path, text: str, header: dict[str, Any] | None = None, name: str = "r.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    if header is not None:
        (folder / f"{name}.json").write_text(json.dumps(header))
    return path


def itemsets(path: Path, **options: Any) -> Itemsets:
    release = read_listed(path, **options)
    assert isinstance(release, Itemsets)
    return release


def rules(path: Path, **options: Any) -> Rules:
    release = read_listed(path, **options)
    assert isinstance(release, Rules)
    return release


class TestItemsets:
    def test_minimal_header(self, tmp_path: Path) -> None:
        got = itemsets(put(tmp_path, ITEMSETS, {"format": "tacit.itemsets/1", "n": 100, "complete": False}))
        assert (got.n, got.header.complete, got.only, got.min_support) == (100, False, "all", None)
        assert [got.names(i) for i in range(3)] == [["x"], ["y"], ["x", "y"]]
        assert got.lo.tolist() == got.hi.tolist() == [50, 40, 20]
        assert got.lines is not None
        assert got.lines.tolist() == [2, 3, 4]
        assert got.support is None
        assert next(iter(got.records())) == {"itemset": ["x"], "count": 50, "support": 0.5}

    def test_source_has_the_hash(self, tmp_path: Path) -> None:
        source = itemsets(put(tmp_path, ITEMSETS)).source
        assert source is not None
        assert source.name == "r.csv"
        assert source.sha256 == "355eaca4666b0823f9db68c851dff09725f6ce22b1c73c54a65fa0763c89dc26"

    def test_without_header(self, tmp_path: Path) -> None:
        got = itemsets(put(tmp_path, ITEMSETS))
        assert (got.n, got.header.complete, got.only) == (None, False, "all")
        got = itemsets(put(tmp_path, ITEMSETS), n=100, only="closed", complete=True)
        assert (got.n, got.header.complete, got.only) == (100, True, "closed")

    def test_full_header(self, tmp_path: Path) -> None:
        header = {
            "format": "tacit.itemsets/1", "n": 100, "qi": ["sex"], "sa": "pay", "sa_values": ["low", "high"], "min_support": 20,
            "min_confidence": None, "complete": True, "strict": True, "digits": None, "rounding": "truncated", "missing": "?",
            "missing_rule": "drop", "only": "closed", "sa_distribution": {"high": 30, "low": 70},
        }  # fmt: skip
        got = itemsets(put(tmp_path, ITEMSETS, header))
        assert got.only == "closed"
        assert got.header == Header(
            n=100, min_support=20, complete=True, strict=True, rounding="truncated", missing="?", missing_rule="drop",
            qi=("sex",), sa=("pay",), sa_values=("low", "high"), sa_counts=(70, 30),
        )  # fmt: skip

    def test_values_are_text_whatever_they_look_like(self, tmp_path: Path) -> None:
        text = 'itemset,count\n"[1.0, 1, ""1"", true, null, ""007""]",3\n'
        assert itemsets(put(tmp_path, text)).items.names == ("007", "1", "1.0", "null", "true")

    def test_names_sort_as_numbers(self, tmp_path: Path) -> None:
        assert itemsets(put(tmp_path, 'itemset,count\n"[10, 9]",3\n')).items.names == ("9", "10")

    def test_extra_columns_order_delimiter_bom_and_blank_lines(self, tmp_path: Path) -> None:
        text = '\ufeffnote;count;Itemset\r\n\r\nok;3;"[""a""]"\r\n;2;"[""a"", ""b""]"\r\n'
        got = itemsets(put(tmp_path, text.replace("Itemset", "itemset")))
        assert (got.lo.tolist(), got.lines.tolist() if got.lines is not None else []) == ([3, 2], [3, 4])

    def test_a_cell_over_two_lines(self, tmp_path: Path) -> None:
        got = itemsets(put(tmp_path, 'itemset,count\n"[""a"",\n""b""]",3\n"[""a""]",4\n'))
        assert got.lines is not None
        assert got.lines.tolist() == [2, 4]

    def test_a_list_without_lines_is_a_release(self, tmp_path: Path) -> None:
        got = itemsets(put(tmp_path, "itemset,count,support\n", {"format": "tacit.itemsets/1", "n": 5, "complete": True}))
        assert (len(got), got.n, got.items.names) == (0, 5, ())

    def test_printed_supports_become_intervals(self, tmp_path: Path) -> None:
        text = 'itemset,count,support\n"[""a""]",,0.98\n"[""b""]",,0.5\n"[""a"", ""b""]",,\n'
        got = itemsets(put(tmp_path, text, {"n": 1000, "min_support": 100}))
        assert (got.lo.tolist(), got.hi.tolist()) == ([975, 495, 100], [985, 505, 1000])
        assert [record["support"] for record in got.records()] == [0.98, 0.5, None]
        assert all(record["count"] is None for record in got.records())

    def test_digits_of_the_header_put_dropped_zeros_back(self, tmp_path: Path) -> None:
        text = 'itemset,count,support\n"[""a""]",,0.5\n'
        got = itemsets(put(tmp_path, text, {"n": 1000, "digits": 3}))
        assert (got.lo.tolist(), got.hi.tolist()) == ([500], [500])
        assert got.support is not None
        assert got.support.text(0) == "0.500"
        assert itemsets(put(tmp_path, text, {"n": 1000})).hi.tolist() == [550]

    def test_rounding_modes(self, tmp_path: Path) -> None:
        text = 'itemset,support\n"[""a""]",0.98\n'
        ends = {}
        for mode in ("nearest", "truncated", "unknown"):
            got = itemsets(put(tmp_path, text), n=1000, rounding=mode)
            ends[mode] = (int(got.lo[0]), int(got.hi[0]))
        assert ends == {"nearest": (975, 985), "truncated": (980, 989), "unknown": (971, 989)}

    def test_a_threshold_narrows_what_is_printed(self, tmp_path: Path) -> None:
        got = itemsets(put(tmp_path, 'itemset,support\n"[""a""]",0.98\n', {"n": 1000, "min_support": 980}))
        assert (got.lo.tolist(), got.hi.tolist()) == ([980], [985])

    def test_counts_rounded_to_a_base(self, tmp_path: Path) -> None:
        text = 'itemset,count,support\n"[""a""]",50,\n"[""b""]",100,\n"[""a"", ""b""]",10,\n'
        got = itemsets(put(tmp_path, text, {"n": 100, "rounding": {"base": 5}, "min_support": 10, "complete": True}))
        assert (got.lo.tolist(), got.hi.tolist()) == ([48, 98, 10], [52, 100, 12])
        assert got.header.base == 5
        assert [record["count"] for record in got.records()] == [50, 100, 10]
        even = itemsets(put(tmp_path, text, {"n": 100, "rounding": {"base": 10}}))
        assert (even.lo.tolist(), even.hi.tolist()) == ([45, 95, 5], [55, 100, 15])
        down = itemsets(put(tmp_path, text, {"n": 100, "rounding": {"base": 5, "mode": "truncated"}}))
        assert (down.lo.tolist(), down.hi.tolist()) == ([50, 100, 10], [54, 100, 14])

    def test_columns_of_items_come_back(self, tmp_path: Path) -> None:
        text = 'itemset,count\n"[""sex=F"", ""age=30=x""]",3\n'
        got = itemsets(put(tmp_path, text, {"columns": ["age", "sex"]}))
        assert got.items.pairs == (("age", "30=x"), ("sex", "F"))
        assert itemsets(put(tmp_path, text, {"qi": ["age"], "sa": "sex"})).items.pairs is not None
        assert itemsets(put(tmp_path, text, {"columns": ["age", "age=30", "sex"]})).items.pairs is None
        assert itemsets(put(tmp_path, text, {})).items.pairs is None

    def test_the_empty_set_says_n(self, tmp_path: Path) -> None:
        text = 'itemset,count\n[],80\n"[""a""]",30\n'
        got = itemsets(put(tmp_path, text))
        assert (got.n, len(got), got.line(0)) == (80, 1, 3)
        with pytest.raises(Contradiction, match=r"^r\.csv, line 2: the empty set"):
            read_listed(put(tmp_path, text), n=90)

    def test_n_from_counts_beside_supports(self, tmp_path: Path) -> None:
        text = f'itemset,count,support\n"[""a""]",30,{30 / 8124!r}\n'
        assert itemsets(put(tmp_path, text)).n == 8124
        assert itemsets(put(tmp_path, 'itemset,count,support\n"[""a""]",30,0.3\n')).n is None

    def test_n_that_no_two_lines_share(self, tmp_path: Path) -> None:
        text = 'itemset,count,support\n"[""a""]",30,0.3\n"[""b""]",30,0.9\n'
        with pytest.raises(Contradiction, match=r"^r\.csv, line 3: count and support fit no number of people"):
            read_listed(put(tmp_path, text))

    def test_equal_lines_count_once(self, tmp_path: Path) -> None:
        text = 'itemset,count\n"[""a"", ""b""]",3\n"[""b"", ""a"", ""a""]",3\n"[""a""]",4\n'
        got = itemsets(put(tmp_path, text))
        assert [got.line(i) for i in range(len(got))] == [2, 4]


class TestRules:
    HEADER: ClassVar[dict[str, Any]] = {
        "format": "tacit.rules/1",
        "n": 100,
        "qi": ["age", "sex"],
        "sa": "pay",
        "min_support": 20,
        "min_confidence": 0.6,
    }

    def test_exact(self, tmp_path: Path) -> None:
        got = rules(put(tmp_path, RULES, self.HEADER))
        assert (got.lo.tolist(), got.hi.tolist()) == ([30, 20], [30, 20])
        # The confidences have 16 digits: the antecedents are known exactly.
        assert (got.whole_lo.tolist(), got.whole_hi.tolist()) == ([40, 30], [40, 30])
        assert got.items.pairs == (("age", "30"), ("sex", "F"), ("sex", "M"), ("pay", "high"), ("pay", "low"))
        assert got.header.min_confidence == Fraction(3, 5)
        assert next(iter(got.records())) == {
            "antecedent": {"age": "30", "sex": "F"}, "consequent": "high", "count": 30, "support": 0.3, "confidence": 0.75,
        }  # fmt: skip

    def test_withheld_values_say_the_thresholds(self, tmp_path: Path) -> None:
        text = 'antecedent,consequent,count,support,confidence\n"{""sex"": ""F""}",high,,,\n'
        got = rules(put(tmp_path, text, self.HEADER))
        assert (got.count(0).to_list(), got.whole(0).to_list()) == ([20, 100], [20, 100])
        assert next(iter(got.records()))["confidence"] is None

    def test_a_threshold_bounds_the_antecedent(self, tmp_path: Path) -> None:
        text = 'antecedent,consequent,count,support,confidence\n"{""sex"": ""F""}",high,30,,\n'
        assert rules(put(tmp_path, text, self.HEADER)).whole(0).to_list() == [30, 50]
        assert rules(put(tmp_path, text, self.HEADER | {"strict": True})).whole(0).to_list() == [30, 49]

    def test_printed_confidence(self, tmp_path: Path) -> None:
        text = 'antecedent,consequent,count,support,confidence\n"{""sex"": ""F""}",high,80,,0.98\n'
        got = rules(put(tmp_path, text, {"n": 1000, "sa": "pay"}))
        assert got.whole(0).to_list() == [82, 82]
        assert next(iter(got.records()))["confidence"] == 0.98

    def test_digits(self, tmp_path: Path) -> None:
        text = 'antecedent,consequent,count,support,confidence\n"{""sex"": ""F""}",high,,0.05,0.98\n'
        got = rules(put(tmp_path, text, {"n": 1000, "sa": "pay", "digits": 2, "rounding": "nearest"}))
        assert (got.count(0).to_list(), got.whole(0).to_list()) == ([45, 55], [46, 56])

    def test_without_header(self, tmp_path: Path) -> None:
        got = rules(put(tmp_path, RULES), n=100)
        assert got.items.pairs is not None
        assert {column for column, _ in got.items.pairs} == {"sex", "age", "consequent"}
        assert list(got.records())[1]["consequent"] == "low"

    def test_rules_over_items(self, tmp_path: Path) -> None:
        text = 'antecedent,consequent,count,support,confidence\n"[""a"", ""b""]","[""c""]",3,,0.75\n'
        got = rules(put(tmp_path, text), n=10)
        assert got.items.pairs is None
        assert next(iter(got.records()))["antecedent"] == ["a", "b"]

    def test_consequents_as_objects(self, tmp_path: Path) -> None:
        text = 'antecedent,consequent,count,support,confidence\n"{""sex"": ""F""}","{""pay"": ""high""}",3,,0.75\n'
        assert rules(put(tmp_path, text), n=10).items.pairs == (("sex", "F"), ("pay", "high"))
        # A header that names the SA makes it a value, whatever it looks like.
        assert ("pay", '{"pay": "high"}') in (rules(put(tmp_path, text, {"sa": "pay"}), n=10).items.pairs or ())

    def test_empty_antecedent_is_everybody(self, tmp_path: Path) -> None:
        text = "antecedent,consequent,count,support,confidence\n{},high,30,,\n"
        assert rules(put(tmp_path, text, {"n": 100, "sa": "pay"})).whole(0).to_list() == [100, 100]

    def test_several_sa(self, tmp_path: Path) -> None:
        text = 'antecedent,consequent,count,support,confidence\n"{""sex"": ""F""}",high & old,30,,\n'
        got = rules(put(tmp_path, text, {"n": 100, "sa": ["pay", "age"]}))
        assert got.items.pairs == (("sex", "F"), ("pay & age", "high & old"))
        assert got.header.marginals == ()

    def test_several_sa_by_themselves(self, tmp_path: Path) -> None:
        line = '"{""sex"": ""F""}","{""age"": ""old""}",30,,\n'
        text = f"antecedent,consequent,count,support,confidence\n{line}"
        header = {"format": "tacit.rules/1", "n": 100, "qi": ["sex"], "sa": ["pay", "age"]}
        assert rules(put(tmp_path, text, header)).header.marginals == (Marginal("pay"), Marginal("age"))
        told = {"sa_values": {"pay": ["high", "low"], "age": ["old"]}, "sa_distribution": {"pay": {"low": 40, "high": 60}}}
        got = rules(put(tmp_path, text, header | told))
        assert got.items.pairs == (("sex", "F"), ("age", "old"))
        assert got.header.marginals == (Marginal("pay", ("high", "low"), (60, 40)), Marginal("age", ("old",)))
        assert (got.header.sa_values, got.header.sa_counts) == ((), ())
        for name in ("again.csv", "again.parquet"):
            write_release(got, tmp_path / name)
            again = rules(tmp_path / name)
            assert (again.header, list(again.records())) == (got.header, list(got.records()))
            assert again.items == got.items
        # A column that no value is listed of is one of them all the same.
        assert rules(put(tmp_path, text, header | {"sa_values": {"age": ["old"]}})).header.marginals[0] == Marginal("pay")

    @pytest.mark.parametrize(
        ("told", "message"),
        [
            ({"sa_values": ["high & old"]}, r"key 'sa_values': lists combined values, and rules are about single columns"),
            ({"sa_values": {"sex": ["F"]}}, r"key 'sa_values': must be an object with an entry for each sensitive column"),
            ({"sa_values": {"age": "old"}, "sa_distribution": {"age": 3}}, r"key 'sa_distribution': must be an object with an"),
            ({"sa_values": {"age": [1]}}, r"key 'sa_values': must be a list of texts"),
            (
                {"sa_distribution": {"age": {"old": -1}}},
                r"key 'sa_distribution': must be an object that gives each value a count",
            ),
            ({"sa_distribution": {"age": {"old": 99}}}, r"the counts of 'sa_distribution' do not add up to n = 100"),
        ],
    )
    def test_headers_that_do_not_fit_several_sa(self, tmp_path: Path, told: dict[str, Any], message: str) -> None:
        text = 'antecedent,consequent,count,support,confidence\n"{""sex"": ""F""}","{""age"": ""old""}",30,,\n'
        with pytest.raises(InputError, match=message):
            rules(put(tmp_path, text, {"n": 100, "sa": ["pay", "age"]} | told))

    def test_consequents_of_several_sa_name_their_column(self, tmp_path: Path) -> None:
        text = 'antecedent,consequent,count,support,confidence\n"{""sex"": ""F""}",old,30,,\n'
        with pytest.raises(InputError, match=r"line 2, column 'consequent'"):
            rules(put(tmp_path, text, {"n": 100, "sa": ["pay", "age"], "sa_values": {"age": ["old"]}}))


class TestOptions:
    def test_a_release_comes_back_as_it_is(self, tmp_path: Path) -> None:
        got = itemsets(put(tmp_path, ITEMSETS, {"n": 100}))
        assert read_listed(got) is got
        assert read_listed(got, n=100) is got
        assert read_listed(got, complete=True).header.complete
        closed = read_listed(got, only="closed")
        assert isinstance(closed, Itemsets)
        assert closed.only == "closed"
        with pytest.raises(OptionError, match=r"^--n: is 7, but the release says n = 100"):
            read_listed(got, n=7)

    def test_n_twice(self, tmp_path: Path) -> None:
        path = put(tmp_path, ITEMSETS, {"n": 100})
        assert read_listed(path, n=100).n == 100
        with pytest.raises(OptionError, match=r"^--n: is 101, but r\.csv says n = 100\."):
            read_listed(path, n=101)

    @pytest.mark.parametrize("n", [0, -1, 1.5, True, "100"])
    def test_bad_n(self, tmp_path: Path, n: Any) -> None:
        with pytest.raises(OptionError, match=r"^--n: must be a whole number of at least 1"):
            read_listed(put(tmp_path, ITEMSETS), n=n)

    def test_unknown_choices(self, tmp_path: Path) -> None:
        path: Any = put(tmp_path, ITEMSETS)
        with pytest.raises(OptionError, match=r"^--rounding: is not known. Did you mean 'nearest'"):
            read_listed(path, rounding="neerest")  # type: ignore[arg-type]
        with pytest.raises(OptionError, match=r"^--only: is not known. Did you mean 'maximal'"):
            read_listed(path, only="maxmal")  # type: ignore[arg-type]
        with pytest.raises(OptionError, match=r"^--form: is not a known form. Did you mean 'mlxtend'"):
            read_listed(path, form="mlxtent")
        with pytest.raises(OptionError, match=r"^data: is neither a path"):
            read_listed(3)

    def test_rounding_against_the_header(self, tmp_path: Path) -> None:
        path = put(tmp_path, ITEMSETS, {"rounding": "nearest"})
        with pytest.raises(OptionError, match=r"^--rounding: is truncated, but r\.csv\.json says nearest"):
            read_listed(path, rounding="truncated")


class TestHeader:
    @pytest.mark.parametrize(
        ("key", "value", "what"),
        [
            ("format", 3, "must be text"),
            ("format", "tacit.itemsets/9", "is not a format that Tacit reads"),
            ("n", "100", "must be a whole number"),
            ("n", -1, "must be a whole number"),
            ("n", 1.5, "must be a whole number"),
            ("n", True, "must be a whole number"),
            ("min_support", 0.1, "must be a whole number"),
            ("min_confidence", 1.5, "must be a share"),
            ("min_confidence", "much", "is not a number"),
            ("min_confidence", "1/0", "is not a number"),
            ("complete", "yes", "must be true or false"),
            ("strict", 1, "must be true or false"),
            ("digits", 99, "must be a whole number of at least 0 and at most 15"),
            (
                "rounding",
                "sideways",
                "must be one of nearest, half-up, half-even, up, truncated, random, unknown, or an object with a base",
            ),
            ("rounding", {"base": 0}, "must be one of nearest"),
            ("rounding", {"base": 5, "mode": "sideways"}, "must be one of nearest"),
            ("rounding", 5, "must be one of nearest"),
            ("missing", 3, "must be text"),
            ("missing_rule", "ignore", "must be one of category, drop, drop-any"),
            ("only", "some", "must be one of all, closed, maximal"),
            ("qi", [1], "must be a list of texts"),
            ("sa", {}, "must be a list of texts"),
            ("sa_values", 3, "must be a list of texts"),
            ("sa_distribution", {"a": "3"}, "must be an object that gives each value a count"),
            ("columns", 3, "must be a list of texts"),
        ],
    )
    def test_wrong_types_name_the_key(self, tmp_path: Path, key: str, value: Any, what: str) -> None:
        with pytest.raises(InputError) as caught:
            read_listed(put(tmp_path, ITEMSETS, {key: value}))
        assert caught.value.where == f"r.csv.json, key {key!r}"
        assert what in caught.value.what

    def test_not_json(self, tmp_path: Path) -> None:
        path = put(tmp_path, ITEMSETS)
        for text, where in (
            ('{"n":\nCANARY}', "r.csv.json, line 2"),
            ("[1]", "r.csv.json"),
            ("NaN", "r.csv.json"),
            ("", "r.csv.json, line 1"),
        ):
            (tmp_path / "r.csv.json").write_text(text)
            with pytest.raises(InputError) as caught:
                read_listed(path)
            assert caught.value.where == where
            assert "CANARY" not in str(caught.value)

    def test_kind_against_columns(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"^r\.csv\.json, key 'format': says rules, but r\.csv holds itemsets"):
            read_listed(put(tmp_path, ITEMSETS, {"format": "tacit.rules/1"}))

    def test_roles_twice(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"^r\.csv\.json, key 'qi' or 'sa': column 'sex' is also given as --qi"):
            read_listed(put(tmp_path, RULES, {"qi": ["sex"], "sa": "sex"}))

    def test_distribution_that_does_not_add_up(self, tmp_path: Path) -> None:
        header = {"n": 100, "sa": "pay", "sa_distribution": {"high": 30, "low": 60}}
        with pytest.raises(Contradiction, match=r"^r\.csv\.json: the counts of 'sa_distribution' do not add up to n = 100"):
            read_listed(put(tmp_path, ITEMSETS, header))
        header = {"sa_values": ["high"], "sa_distribution": {"CANARY": 3}}
        with pytest.raises(InputError, match=r"counts a value that 'sa_values' lacks") as caught:
            read_listed(put(tmp_path, ITEMSETS, header))
        assert "CANARY" not in str(caught.value)

    def test_a_base_is_for_itemsets(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"a base is for the counts of itemsets"):
            read_listed(put(tmp_path, RULES, {"format": "tacit.rules/1", "rounding": {"base": 5}}))

    def test_a_share_that_is_no_decimal(self, tmp_path: Path) -> None:
        got = read_listed(put(tmp_path, ITEMSETS, {"min_confidence": "1/3"}))
        assert got.header.min_confidence == Fraction(1, 3)


def release_of(lists: list[list[int]], counts: list[int], names: tuple[str, ...], header: Header, **more: Any) -> Itemsets:
    ends = np.array(counts, np.int64)
    return Itemsets(Sets.from_lists(lists), ends, ends.copy(), Items(names), header, **more)


class TestWriting:
    def test_csv_and_header(self, tmp_path: Path) -> None:
        header = Header(n=8, min_support=2, complete=True, min_confidence=Fraction(1, 3))
        release = release_of([[0], [0, 1]], [4, 3], ('a"b', "é,\n"), header, only="closed")
        write_release(release, tmp_path / "out.csv")
        assert (tmp_path / "out.csv").read_text() == (
            'itemset,count,support\n"[""a\\""b""]",4,0.5\n"[""a\\""b"", ""é,\\n""]",3,0.375\n'
        )
        assert json.loads((tmp_path / "out.csv.json").read_text()) == {
            "format": "tacit.itemsets/1", "n": 8, "qi": [], "sa": None, "sa_values": [], "min_support": 2, "min_confidence": "1/3",
            "complete": True, "strict": False, "digits": None, "rounding": "nearest", "missing": None, "missing_rule": None,
            "only": "closed",
        }  # fmt: skip

    def test_digits_and_withheld(self, tmp_path: Path) -> None:
        release = Itemsets(
            Sets.from_lists([[0], [0, 1]]), np.array([475, 100]), np.array([525, 1000]), Items(("a", "b")),
            Header(n=1000, min_support=100, digits=1), support=Decimals(np.array([5, 0]), np.array([1, -1], np.int8)),
        )  # fmt: skip
        write_release(release, tmp_path / "out.csv")
        assert (tmp_path / "out.csv").read_text() == 'itemset,count,support\n"[""a""]",,0.5\n"[""a"", ""b""]",,\n'

    def test_rules(self, tmp_path: Path) -> None:
        one = np.array([30])
        release = Rules(
            Sets.from_lists([[0]]), Sets.from_lists([[1]]), one, one, one + 10, one + 10,
            Items.of_columns([("sex", "F"), ("pay", "a,b")]), Header(n=100, qi=("sex",), sa=("pay",), min_confidence=Fraction(3, 5)),
        )  # fmt: skip
        write_release(release, tmp_path / "out.csv")
        assert (tmp_path / "out.csv").read_text() == (
            'antecedent,consequent,count,support,confidence\n"{""sex"": ""F""}","a,b",30,0.3,0.75\n'
        )
        written = json.loads((tmp_path / "out.csv.json").read_text())
        assert (written["sa"], written["min_confidence"]) == ("pay", 0.6)
        assert "only" not in written

    def test_consequents_of_another_column_than_the_sa(self, tmp_path: Path) -> None:
        one = np.array([3])
        items = Items.of_columns([("sex", "F"), ("pay", "high")])
        release = Rules(Sets.from_lists([[1]]), Sets.from_lists([[0]]), one, one, one, one, items, Header(n=9, sa=("pay",)))
        with pytest.raises(OptionError, match=r"a consequent is not one value of the SA"):
            write_release(release, tmp_path / "out.csv")
        assert list(tmp_path.iterdir()) == []

    def test_gzip_is_reproducible(self, tmp_path: Path) -> None:
        release = release_of([[0]], [4], ("a",), Header(n=8))
        write_release(release, tmp_path / "a.csv.gz")
        write_release(release, tmp_path / "b.csv.gz")
        assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()
        assert gzip.decompress((tmp_path / "a.csv.gz").read_bytes()).startswith(b"itemset,count,support\n")
        assert read_listed(tmp_path / "a.csv.gz").n == 8

    def test_parquet_for_other_programs(self, tmp_path: Path) -> None:
        import duckdb

        write_release(release_of([[0], [0, 1]], [4, 3], ("a", "b"), Header(n=8)), tmp_path / "odd [name]*.parquet")
        (tmp_path / "odd [name]*.parquet").rename(tmp_path / "plain.parquet")
        rows = duckdb.connect().execute("SELECT * FROM read_parquet(?)", [str(tmp_path / "plain.parquet")]).fetchall()
        assert rows == [(["a"], 4, 0.5), (["a", "b"], 3, 0.375)]

    def test_parquet_with_pattern_signs_in_its_name(self, tmp_path: Path) -> None:
        """A neighbour that the name would match as a pattern is not read instead."""
        write_release(release_of([[0]], [4], ("neighbour",), Header(n=8)), tmp_path / "ab.parquet")
        write_release(release_of([[0]], [4], ("a",), Header(n=8)), tmp_path / "a[b].parquet")
        assert read_listed(tmp_path / "a[b].parquet").items.names == ("a",)

    def test_an_empty_value_is_a_value_in_parquet(self, tmp_path: Path) -> None:
        import duckdb

        one, items = np.array([3]), Items.of_columns([("sex", "F"), ("pay", "")])
        release = Rules(Sets.from_lists([[0]]), Sets.from_lists([[1]]), one, one, one, one, items, Header(n=9, sa=("pay",)))
        write_release(release, tmp_path / "r.parquet")
        rows = duckdb.connect().execute("SELECT * FROM read_parquet(?)", [str(tmp_path / "r.parquet")]).fetchall()
        assert rows == [('{"sex": "F"}', "", 3, 1 / 3, 1.0)]

    def test_unknown_ending(self, tmp_path: Path) -> None:
        with pytest.raises(OptionError, match=r"the ending does not name a format.*End it with \.csv, \.csv\.gz or \.parquet"):
            write_release(release_of([], [], (), Header()), tmp_path / "out.xlsx")

    def test_missing_folder(self, tmp_path: Path) -> None:
        with pytest.raises(OptionError, match=r"the folder does not exist"):
            write_release(release_of([], [], (), Header()), tmp_path / "no" / "out.csv")

    def test_nothing_is_half_written(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        release = release_of([[0]], [4], ("a",), Header(n=8))
        write_release(release, tmp_path / "out.csv")
        before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

        def broken(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(Path, "write_text", broken)
        with pytest.raises(KeyboardInterrupt):
            write_release(release_of([[0]], [5], ("b",), Header(n=9)), tmp_path / "out.csv")
        monkeypatch.undo()
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("whole", [2, 4, 5, 8])
def test_short_exact_confidences_are_read_exactly(tmp_path: Path, ending: str, whole: int) -> None:
    """1 of 5 prints as 0.2 in full; beside an exact count and a header without digits it means 1/5, not something near it."""
    people = tacit.read_table({"sex": ["F"] * whole + ["M"] * 2, "ill": ["yes"] + ["no"] * (whole + 1)}, qi="sex", sa="ill")
    rules = tacit.mine_rules(people, min_support=1, min_confidence=0.1)
    tacit.write_release(rules, tmp_path / f"r{ending}")
    again = tacit.read_release(tmp_path / f"r{ending}")
    assert isinstance(again, tacit.Rules)
    assert again.whole_lo.tolist() == again.whole_hi.tolist() == rules.whole_lo.tolist()
