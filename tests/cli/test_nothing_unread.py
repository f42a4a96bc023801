"""Nothing unread is clean: extra columns, second counts, totals under other names, and numbers that other programs print."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import tacit as library
from tacit.model.frequencies import FrequencyTable
from tests.shell import record, tacit

PERCENT = (
    "sex,job,count,percent\nF,cook,40,44.0\nF,clerk,,2.2\nM,cook,35,38.5\nM,clerk,14,15.4\n*,cook,75,82.4\n*,clerk,16,17.6\n"
)
TWO_COUNTS = "sex,job,freq,count\nF,cook,40,40\nF,clerk,3,\nM,cook,35,35\nM,clerk,14,14\n"
SUMS = "sex,area,count,skew_income,gini_income\nF,N,12,100000,60000\nF,S,15,50000,9000\n"


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def refusal(*arguments: Any) -> str:
    """The one line that says why a command is refused."""
    result = tacit(*arguments)
    assert result.exit_code == 2, result.stdout
    assert result.stderr.count("\n") == 1
    return result.stderr


def columns_of(file: Path) -> tuple[str, ...]:
    release = library.read_release(file)
    assert isinstance(release, FrequencyTable)
    return release.columns


# Columns of frequency tables


def test_a_column_of_shares_is_never_a_dimension(tmp_path: Path) -> None:
    file = write(tmp_path, "pct.csv", PERCENT)
    told = refusal("audit", file)
    assert told.startswith("pct.csv, line 1: the column 'percent' is neither a dimension of the table nor its count. ")
    assert "--by sex,job" in told
    assert "--ignore percent" in told
    made = record("audit", file, "--by", "sex,job", code=1)  # the hidden cell is a difference
    assert made["not_read"] == [{"file": "pct.csv", "reason": "is not read", "column": "percent"}]
    made = record("audit", file, "--ignore", "percent", code=1)
    assert "not_read" not in made
    assert made["ignored"][0]["column"] == "percent"


def test_what_is_not_read_of_a_table_makes_it_incomplete(tmp_path: Path) -> None:
    file = write(tmp_path, "sums.csv", SUMS)
    told = refusal("audit", file, "--n", 27, "--k", 10)
    assert "the columns 'skew_income' and 'gini_income' are neither" in told
    result = tacit("audit", file, "--n", 27, "--k", 10, "--by", "sex,area")
    assert result.exit_code == 3
    assert "'skew_income'" in result.stdout.partition("\n\n")[0]
    assert tacit("audit", file, "--by", "sex,area", "--ignore", "skew_income", "--k", 10).exit_code == 3
    both = ("--ignore", "skew_income", "--ignore", "gini_income")
    assert tacit("audit", file, *both, "--k", 10, "--sa", "none").exit_code == 0
    release = library.read_release(file, by="sex,area")
    assert release.header.unread == ("skew_income", "gini_income")
    assert library.audit(release).verdict == "incomplete"


def test_two_columns_that_may_be_the_counts_are_asked_about(tmp_path: Path) -> None:
    file = write(tmp_path, "two.csv", TWO_COUNTS)
    assert "the columns 'freq' and 'count' may both hold the counts. Say which with --count COLUMN." in refusal("audit", file)
    assert "'freq' is neither" in refusal("audit", file, "--count", "count")
    assert tacit("audit", file, "--count", "count", "--by", "sex,job").exit_code == 3
    made = record("audit", file, "--count", "freq", "--ignore", "count", code=1)
    assert made["findings"][0]["count"] == [3, 3]
    assert "is not a column" in refusal("audit", file, "--count", "counts")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("no", ["1", "2", "3", "4"]),
        ("share", ["0.4494", "0.0225", "0.3708", "0.1573"]),
        ("percent", ["44.9", "2.2", "37.1", "15.7"]),
        ("cum_count", ["40", "42", "75", "89"]),
        ("n", ["40", "2", "33", "14"]),
        ("year", ["2024", "2024", "2024", "2024"]),
    ],
)
def test_columns_that_repeat_the_counts_are_understood(tmp_path: Path, name: str, values: list[str]) -> None:
    cells = [("F", "cook", "40"), ("F", "clerk", "2"), ("M", "cook", "33"), ("M", "clerk", "14")]
    lines = [",".join([*cell, value]) for cell, value in zip(cells, values, strict=True)]
    release = library.read_release(write(tmp_path, "t.csv", f"sex,job,count,{name}\n" + "\n".join(lines) + "\n"))
    assert release.n == 89
    assert release.header.unread == ()


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("note", ["", "p", "", ""]),
        ("rank", ["1", "4", "2", "3"]),
        ("percent", ["44.9", "9.9", "37.1", "15.7"]),
        ("cum_count", ["40", "43", "75", "89"]),
        ("skew_wage", ["12.5", "9.1", "17.25", "11"]),
    ],
)
def test_columns_that_say_more_are_refused(tmp_path: Path, name: str, values: list[str]) -> None:
    cells = [("F", "cook", "40"), ("F", "clerk", ""), ("M", "cook", "33"), ("M", "clerk", "14")]
    lines = [",".join([*cell, value]) for cell, value in zip(cells, values, strict=True)]
    file = write(tmp_path, "t.csv", f"sex,job,count,{name}\n" + "\n".join(lines) + "\n")
    assert f"'{name}' is neither" in refusal("audit", file)


def test_numbers_that_divide_people_are_dimensions(tmp_path: Path) -> None:
    ages = write(tmp_path, "ages.csv", "age,count\n30,12\n31,14\n32,11\n")
    assert columns_of(ages) == ("age",)
    both = write(tmp_path, "both.csv", "age,sex,count\n30,F,12\n30,M,14\n31,F,11\n31,M,17\n")
    assert columns_of(both) == ("age", "sex")


# Totals under other names


@pytest.mark.parametrize("label", ["Both", "Insgesamt", "Total persons", "All sexes", "Ensemble", "Totale", "Todos", "Gesamt"])
def test_totals_under_other_names_are_totals(tmp_path: Path, label: str) -> None:
    file = write(tmp_path, "t.csv", f"sex,job,count\nF,clerk,\nM,clerk,14\n{label},clerk,16\n")
    made = record("audit", file, code=1)
    assert made["findings"][0]["count"] == [2, 2]


def test_totals_of_a_crosstab_under_other_names_are_totals(tmp_path: Path) -> None:
    file = write(tmp_path, "t.csv", "job,F,M,Gesamt\nclerk,,14,16\ncook,30,35,65\n")
    assert record("audit", file, "--by", "job,sex", code=1)["findings"][0]["count"] == [2, 2]


def test_a_value_that_may_be_a_total_is_asked_about(tmp_path: Path) -> None:
    file = write(tmp_path, "t.csv", "sex,job,count\nF,clerk,\nM,clerk,14\nPersonen,clerk,16\n")
    told = refusal("audit", file)
    assert told.startswith("t.csv, line 4, column 'sex': the value may be the total of the others. Say --any VALUE if it is")
    assert "Personen" not in told
    assert record("audit", file, "--any", "Personen", code=1)["findings"][0]["count"] == [2, 2]
    assert tacit("audit", file, "--no-total", "Personen").exit_code != 2
    refuted = write(tmp_path, "r.csv", "sex,job,count\nF,clerk,20\nM,clerk,14\nBoth,clerk,16\n")
    assert "may be the total" in refusal("audit", refuted)
    assert tacit("audit", refuted, "--no-total", "Both", "--sa", "none").exit_code == 0


def test_a_value_that_is_no_sum_of_others_is_not_asked_about(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        "t.csv",
        "colour,job,count\nred,clerk,20\nblue,clerk,14\nwhite,clerk,36\nred,cook,20\nblue,cook,14\nwhite,cook,90\n",
    )
    assert library.read_release(file).n == 194


def test_ranges_that_overlap_are_refused(tmp_path: Path) -> None:
    file = write(tmp_path, "t.csv", "age,count\n0-9,20\n10-19,30\n0-17,45\n")
    assert "t.csv, line 4, column 'age': the ranges of the column overlap" in refusal("audit", file)
    fine = write(tmp_path, "f.csv", "age,count\n0-5,20\n5-10,30\n10-17,45\n18+,50\n")
    assert library.read_release(fine).n == 145


# Headers

SIX = "a #SUP: 100\nb #SUP: 100\nc #SUP: 200\na b #SUP: 80\na c #SUP: 75\nb c #SUP: 80\n"
SEVEN = {"a": 90, "b": 100, "c": 200, "a b": 80, "a c": 65, "b c": 80}


@pytest.mark.parametrize("format", ['"format": "tacit.itemsets/1", ', ""])
def test_a_header_beside_another_programs_file_is_used(tmp_path: Path, format: str) -> None:
    file = write(tmp_path, "six.txt", SIX)
    write(tmp_path, "six.txt.json", f'{{{format}"n": 1000, "min_support": 65, "complete": true}}')
    assert record("audit", file, code=1)["release"][0]["n"] == 1000


@pytest.mark.parametrize(
    ("header", "where", "remedy"),
    [
        ("{", "line 1: is not JSON", ""),
        ("[1]", "is not a JSON object", ""),
        ('{"format": "tacit.itemset/1"}', "key 'format': is not a format that Tacit reads", "tacit.itemsets/1"),
        ('{"Complete": true}', "key 'Complete': is not a key of a header", "Write 'complete'"),
        ('{"min_suport": 5}', "key 'min_suport': is not a key of a header", "Write 'min_support'"),
        ('{"complete": "yes"}', "key 'complete': must be true or false", ""),
    ],
)
def test_a_header_that_cannot_be_used_is_refused(tmp_path: Path, header: str, where: str, remedy: str) -> None:
    for name, text in (("six.txt", SIX), ("own.csv", 'itemset,count\n"[""a""]",100\n')):
        file = write(tmp_path, name, text)
        write(tmp_path, f"{name}.json", header)
        told = refusal("audit", file, "--n", 1000)
        assert told.startswith(f"{name}.json")
        assert where in told
        assert remedy in told


@pytest.mark.parametrize(
    ("header", "where"),
    [
        ("nothing", "line 1: is not JSON"),
        ('{"format": "tacit.frequency/1"}', "key 'format': is not a format"),
        ('{"hidden_bellow": 5}', "key 'hidden_bellow': is not a key of a header. Write 'hidden_below'"),
        ('{"n": "12"}', "key 'n': must be a whole number"),
    ],
)
def test_a_header_of_a_table_that_cannot_be_used_is_refused(tmp_path: Path, header: str, where: str) -> None:
    file = write(tmp_path, "t.csv", "sex,count\nF,12\nM,\n")
    write(tmp_path, "t.csv.json", header)
    assert where in refusal("audit", file)
    write(tmp_path, "t.csv.json", '{"hidden_below": 5, "n": 14}')
    assert record("audit", file, code=1)["findings"][0]["count"] == [2, 2]


def test_a_complete_list_without_a_threshold_is_complete_above_its_smallest_count(tmp_path: Path) -> None:
    lines = [
        f'"{json.dumps(sets.split())}"'.replace('["', '[""').replace('"]', '""]').replace('", "', '"", ""') for sets in SEVEN
    ]
    text = "itemset,count\n" + "".join(f"{line},{count}\n" for line, count in zip(lines, SEVEN.values(), strict=True))
    file = write(tmp_path, "seven.csv", text)
    made = record("audit", file, "--n", 1000, "--complete", code=1)
    assert [entry["code"] for entry in made["attacks"] if entry["findings"]] == ["I02"]
    assert made["release"][0]["min_support"] == 65


# Numbers that other programs print

MLXTEND = (
    "support,itemsets\n0.5,frozenset({'a'})\n0.6,frozenset({'b'})\n0.55,frozenset({'c'})\n"
    "0.3,\"frozenset({'a', 'b'})\"\n0.25,\"frozenset({'a', 'c'})\"\n0.3,\"frozenset({'b', 'c'})\"\n0.06,\"frozenset({'a', 'b', 'c'})\"\n"
)


def test_the_count_beside_a_percentage_of_borgelt_is_read(tmp_path: Path) -> None:
    for name, text in (
        ("first.txt", "a (50.0, 5000)\nb (60.0, 6000)\na b (50.0, 4997)\n"),
        ("last.txt", "a (5000, 50.0)\nb (6000, 60.0)\na b (4997, 50.0)\n"),
    ):
        made = record("audit", write(tmp_path, name, text), "--n", 10000, code=1)
        assert made["findings"][0]["count"] == [3, 3]
    assert "which of the two numbers is the count" in refusal("audit", write(tmp_path, "b.txt", "a (50, 30)\nb (60, 20)\n"))


def test_counts_of_fimi_up_to_100_are_asked_about(tmp_path: Path) -> None:
    file = write(tmp_path, "fimi.txt", "a (50)\nb (60)\na b (49)\n")
    assert refusal("audit", file, "--n", 1000).startswith(
        "fimi.txt: the numbers may be counts or percentages. Say --form fimi for counts, --form borgelt for percentages."
    )
    assert record("audit", file, "--n", 1000, "--form", "fimi", code=1)["findings"][0]["count"] == [1, 1]


@pytest.mark.parametrize(
    ("name", "text", "field"),
    [
        (
            "ar.csv",
            '"items","support","transIdenticalToItemsets","count"\n"{a}",0.5,0.003,500\n"{b}",0.4,0.2,400\n',
            "transIdenticalToItemsets",
        ),
        ("tid.txt", "1 #SUP: 500 #TID: 1 2 3\n2 #SUP: 400 #TID: 1 2\n", "#TID"),
        ("own.csv", 'itemset,count,mean_age\n"[""a""]",500,41.5\n"[""b""]",400,39\n', "mean_age"),
    ],
)
def test_fields_that_are_not_read_make_it_incomplete(tmp_path: Path, name: str, text: str, field: str) -> None:
    file = write(tmp_path, name, text)
    made = record("audit", file, "--n", 1000, code=3)
    assert [entry["column"] for entry in made["not_read"]] == [field]
    assert tacit("audit", file, "--n", 1000, "--ignore", field).exit_code == 0


def test_measures_of_rules_say_what_the_consequents_say(tmp_path: Path) -> None:
    names = "antecedents,consequents,antecedent support,consequent support,support,confidence,lift,leverage"
    one = "frozenset({'a'}),frozenset({'b'}),0.5,0.6,0.3,0.6,1.0,0.0"
    back = "frozenset({'b'}),frozenset({'a'}),0.6,0.5,0.3,0.5,1.0,0.0"
    alone = library.read_release(write(tmp_path, "one.csv", f"{names}\n{one}\n"), n=100)
    assert alone.header.unread == ()
    assert isinstance(alone, library.Rules)
    assert [(alone.line(1), alone.count(1).lo, alone.whole(1).lo)] == [(3, 60, 100)]
    both = library.read_release(write(tmp_path, "both.csv", f"{names}\n{one}\n{back}\n"), n=100)
    assert both.header.unread == ()
    assert len(both) == 2
    assert any("derived from the supports" in sentence for sentence in both.header.assumed)


@pytest.mark.parametrize(
    ("names", "one", "field"),
    [
        ("support,confidence,lift", "0.3,0.6,1.0", "lift"),
        ("antecedent support,consequent support,support,lift", "0.5,0.6,0.3,1.9", "lift"),
        ("antecedent support,consequent support,support,certainty", "0.51,0.61,0.34,0.1453", None),
        ("antecedent support,consequent support,support,conviction,representativity", "0.3,0.6,0.3,inf,1.0", None),
        ("antecedent support,consequent support,support,representativity", "0.3,0.6,0.3,0.9", "representativity"),
    ],
)
def test_measures_are_read_where_exact_supports_imply_them(tmp_path: Path, names: str, one: str, field: str | None) -> None:
    text = f"antecedents,consequents,{names}\nfrozenset({{'a'}}),frozenset({{'b'}}),{one}\n"
    release = library.read_release(write(tmp_path, "one.csv", text), n=100)
    assert release.header.unread == ((field,) if field else ())


def test_measures_say_more_than_rounded_supports(tmp_path: Path) -> None:
    text = "antecedents,consequents,antecedent support,consequent support,support,lift\n"
    text += "frozenset({'a'}),frozenset({'b'}),0.51,0.61,0.34,1.0929\n"
    release = library.read_release(write(tmp_path, "one.csv", text), n=45211, rounding="nearest")
    assert release.header.unread == ("lift",)


def test_a_wrong_consequent_support_is_told_by_its_own_line(tmp_path: Path) -> None:
    text = "antecedents,consequents,antecedent support,consequent support,support\n"
    text += "frozenset({'a'}),frozenset({'b'}),0.5,six,0.3\n"
    with pytest.raises(library.InputError, match=r"line 2, column 'consequent support'"):
        library.read_release(write(tmp_path, "one.csv", text), n=100)


def test_supports_of_mlxtend_are_doubles_in_full(tmp_path: Path) -> None:
    file = write(tmp_path, "mlx.csv", MLXTEND)
    made = record("audit", file, "--n", 500, code=1)
    assert [5, 5] in [entry["count"] for entry in made["findings"]]
    rounded = library.read_release(file, n=500, rounding="nearest")
    assert isinstance(rounded, library.Itemsets)
    assert not rounded.is_exact


# The number of people


def supports(n: int, times: int = 1) -> str:
    """A list as mlxtend writes it, with shares of n people in full."""
    counts = [n // 2 + 7 * item + 1 for item in range(30)]
    return "support,itemsets\n" + "".join(
        f"{count / n!r},frozenset({{'i{item}'}})\n" for item, count in enumerate(counts) if count % times == 0
    )


def test_n_follows_from_shares_in_full(tmp_path: Path) -> None:
    file = write(tmp_path, "bank.csv", supports(45_211))
    assert library.read_release(file).n == 45_211
    text = " ".join(tacit("audit", file, "--attack", "I02").stdout.split())
    assert "about 45,211 people (n is the only number that fits the printed supports)" in text
    told = refusal("audit", file, "--n", 452_110)
    assert told.startswith("--n: is 452,110, but all printed supports are multiples of 10 people: 45,211 people explain them.")
    assert "prints so" in refusal("audit", file, "--n", 45_212)
    few = write(tmp_path, "few.csv", "\n".join(supports(45_211).splitlines()[:6]) + "\n")
    assert "--n" in refusal("audit", few)
    assert library.read_release(few, n=90_422).n == 90_422


def test_n_comes_from_the_data_and_is_held_to_them(tmp_path: Path) -> None:
    data = write(tmp_path, "d.csv", "sex,job\n" + "F,cook\n" * 30 + "M,cook\n" * 45 + "M,clerk\n" * 25)
    text = "support,itemsets\n0.3,frozenset({'sex=F'})\n0.7,frozenset({'sex=M'})\n"
    file = write(tmp_path, "l.csv", text)
    assert record("audit", file, "--data", data, code=0)["release"][0]["n"] == 100
    assert "--data: holds 100 people, and the release is about 200" in refusal("audit", file, "--data", data, "--n", 200)
    assert library.audit(str(file), data=str(data)).release[0]["n"] == 100


# Bad input


def test_the_first_line_of_a_file_is_not_repeated(tmp_path: Path) -> None:
    file = write(tmp_path, "nohead.csv", "Ann Smith,31,F,HIV\nBob Jones,44,M,flu\n")
    for verb in (("mine", "itemsets"), ("tabulate",)):
        options = ("--min-support", 1, "--qi", "age") if verb[0] == "mine" else ("--by", "age", "-o", tmp_path / "o.csv")
        told = refusal(*verb, file, *options).replace(str(tmp_path), "")
        assert "there is no column 'age'" in told
        assert "4 columns" in told
        assert not any(word in told for word in ("Ann", "31", "HIV", "Bob"))
    twice = write(tmp_path, "twice.csv", "Ann Smith,Ann Smith,F\nBob Jones,44,M\n")
    assert "Ann" not in refusal("mine", "itemsets", twice, "--min-support", 1)
    crosstab = write(tmp_path, "cross.csv", "Ann Smith,31,F\nBob Jones,44,M\n")
    assert "Ann" not in refusal("audit", crosstab, "--form", "crosstab")


def test_a_number_of_thousands_of_digits_is_an_item(tmp_path: Path) -> None:
    file = write(tmp_path, "d.dat", f"1 2 {'7' * 5000}\n1 2\n10 9\n")
    assert tacit("mine", "itemsets", file, "--min-support", 1).exit_code == 0


def test_limits_that_no_number_of_people_reaches_are_refused(tmp_path: Path) -> None:
    file = write(tmp_path, "t.csv", "sex,count\nF,12\nM,14\n")
    assert refusal("audit", file, "--k", 9223372036854775808).startswith("--k: must be below 562,949,953,421,312.")


def test_packed_files_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "t.csv.gz"
    file.write_bytes(gzip.compress(b"sex,count\n" + b"".join(b"%d,12\n" % row for row in range(5000))))
    assert library.read_release(file).n == 60_000
    monkeypatch.setenv("TACIT_MAX_UNPACKED", "10kB")
    told = refusal("audit", file)
    assert "becomes far larger when it is unpacked" in told
    assert "TACIT_MAX_UNPACKED=20GB" in told
    monkeypatch.setenv("TACIT_MAX_UNPACKED", "much")
    assert refusal("audit", file).startswith("TACIT_MAX_UNPACKED: is not a size")


# Several crosstabs


def test_each_crosstab_has_its_own_columns(tmp_path: Path) -> None:
    jobs = write(tmp_path, "jobs.csv", "sex,cook,clerk\nF,40,30\nM,35,34\n")
    ages = write(tmp_path, "ages.csv", "age,cook,clerk\nold,50,20\nyoung,25,44\n")
    made = record(
        "audit", jobs, ages, "--by", "sex,job", "--by", "age,job", "--sa", "none", "--people", "same", "--attack", "I01", code=3
    )
    assert [entry["n"] for entry in made["release"]] == [139, 139]
    told = refusal("audit", jobs, ages, "--by", "sex,job", "--people", "same")
    assert told.startswith("ages.csv: has columns that no --by names. Give --by once for each file")
    assert "--by: fits none of the files" in refusal("audit", jobs, "--by", "sex,job", "--by", "age,job")
    with pytest.raises(library.InputError, match="the first columns are not called as --by says"):
        library.read_release(ages, by="sex,job")
