"""Naive Bayes models as releases: their counts, what they say about everybody, and models that cannot be read."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.naive_bayes import CategoricalNB, GaussianNB

import tacit
from tacit.model.errors import Contradiction, InputError, OptionError, TacitError
from tests import shell
from tests.rules.made_people import line_numbers, people

QI = ("sex", "job", "town")


def codes_of(data: tacit.Table) -> tuple[np.ndarray[Any, Any], list[str]]:
    """The columns of a table as codes, and its classes."""
    return np.array([data.column(name).codes for name in QI]).T, [data.sa.values[code] for code in data.sa.codes.tolist()]


def fitted(data: tacit.Table, **options: Any) -> CategoricalNB:
    codes, classes = codes_of(data)
    return CategoricalNB(**options).fit(codes, classes)


def released(data: tacit.Table) -> tacit.Rules:
    return tacit.read_naive_bayes(fitted(data), features=QI, categories=[data.column(name).values for name in QI], sa="ill")


def read(data: Any, **options: Any) -> tacit.Rules:
    release = tacit.read_release(data, **options)
    assert isinstance(release, tacit.Rules)
    return release


def rows_of(data: tacit.Table) -> list[tuple[str, ...]]:
    return list(zip(*([column.values[code] for code in column.codes.tolist()] for column in data.columns), strict=True))


def true_counts(data: tacit.Table) -> dict[object, int]:
    rows = rows_of(data)
    return {
        (((name, value),), ill): sum(row[place] == value and row[3] == ill for row in rows)
        for place, name in enumerate(QI)
        for value in data.column(name).values
        for ill in data.sa.values
    }


@pytest.mark.parametrize("values", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_counts_are_those_of_the_data(seed: int, values: int, tmp_path: Path) -> None:
    data = people(seed, values=values)
    tables = released(data)
    assert line_numbers(tables) == {key: (count, count) for key, count in true_counts(data).items()}
    assert dict(zip(tables.header.sa_values, tables.header.sa_counts, strict=True)) == {
        value: [row[3] for row in rows_of(data)].count(value) for value in data.sa.values
    }
    tacit.write_release(tables, tmp_path / "tables.csv")
    again = read(tmp_path / "tables.csv")
    assert again.header == tables.header
    assert list(again.records()) == list(tables.records())


@pytest.mark.parametrize("seed", range(6))
def test_bounds_are_those_of_all_databases(seed: int) -> None:
    """The judge: every way to give these few people their values under which the model counts the same."""
    data = people(seed, n=7, values=2 + seed % 2)
    people_of = [row[:3] for row in rows_of(data)]
    told = model_of(people_of, [row[3] for row in rows_of(data)])
    found: dict[tuple[str, ...], tuple[int, int]] = {}
    for world in product(data.sa.values, repeat=data.n):
        if model_of(people_of, world) == told:
            for key in product(set(people_of), data.sa.values):
                count = sum((person, ill) == key for person, ill in zip(people_of, world, strict=True))
                low, high = found.get((*key[0], key[1]), (count, count))
                found[*key[0], key[1]] = min(low, count), max(high, count)
    audit = tacit.audit(released(data), known=data.qi, attacks=["R02", "R03"])
    table = audit.table("posterior")
    columns = [table[name].tolist() for name in (*QI, "ill", "people", "lower", "posterior", "upper")]
    for *cell, n, lower, posterior, upper in zip(*columns, strict=True):
        assert (round(lower * n), round(upper * n)) == found[tuple(cell)]
        assert lower - 1e-6 <= posterior <= upper + 1e-6


def model_of(people_of: Sequence[tuple[str, ...]], world: Sequence[str]) -> dict[object, int]:
    """What a model counts of these people: each value with each class, and the classes."""
    out: dict[object, int] = {}
    for person, ill in zip(people_of, world, strict=True):
        for key in (*enumerate(person), "class"):
            out[key, ill] = out.get((key, ill), 0) + 1
    return out


# Files


def file_of(data: tacit.Table, digits: int | None, alpha: float, *, classes: str = "count") -> str:
    """A file of a model's own probabilities, or of its counts."""
    model = fitted(data, alpha=alpha or 1e-10, force_alpha=True)
    lines = ["column,value,class,count,probability"]
    for ill, count in zip(model.classes_, model.class_count_, strict=True):
        lines.append(f",,{ill},{int(count)}," if classes == "count" else f",,{ill},,{count / data.n:.6f}")
    for place, name in enumerate(QI):
        for value, text in enumerate(data.column(name).values):
            for number, ill in enumerate(model.classes_):
                count = int(model.category_count_[place][number, value])
                share = float(np.exp(model.feature_log_prob_[place][number, value]))
                lines.append(f"{name},{text},{ill},{count}," if digits is None else f"{name},{text},{ill},,{share:.{digits}f}")
    return "\n".join(lines) + "\n"


def write(folder: Path, text: str, **header: Any) -> Path:
    path = folder / "model.csv"
    path.write_text(text)
    (folder / "model.csv.json").write_text(json.dumps({"format": "tacit.naive-bayes/1", "sa": "ill"} | header))
    return path


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("alpha", [0, 1, 0.5])
def test_probabilities_in_full_are_counts(seed: int, alpha: float, tmp_path: Path) -> None:
    data = people(seed, values=3)
    counts = read(write(tmp_path, file_of(data, None, alpha)))
    assert line_numbers(counts) == line_numbers(released(data))
    shares = read(write(tmp_path, file_of(data, 6, alpha), alpha=alpha))
    assert line_numbers(shares) == line_numbers(released(data))
    assert shares.header.sa_counts == counts.header.sa_counts == released(data).header.sa_counts
    by_share = write(tmp_path, file_of(data, 6, alpha, classes="share"), alpha=alpha, n=data.n)
    assert line_numbers(read(by_share)) == line_numbers(released(data))


def sums(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in sums(total - first, parts - 1):
            yield (first, *rest)


@pytest.mark.parametrize("seed", range(12))
def test_rounded_probabilities_stand_for_all_counts_that_print_so(seed: int, tmp_path: Path) -> None:
    """The judge: of all ways to spread a class over the values of a column, those that print the same."""
    chance = random.Random(seed)
    alpha = chance.choice([0, 1, 2])
    whole = {"yes": chance.randint(3, 25), "no": chance.randint(3, 25)}
    n_values = chance.randint(2, 4)
    cuts = {name: sorted(chance.choices(range(total + 1), k=n_values - 1)) for name, total in whole.items()}
    true = {
        name: tuple(b - a for a, b in zip([0, *cuts[name]], [*cuts[name], total], strict=True)) for name, total in whole.items()
    }

    def prints(counts: tuple[int, ...], total: int) -> tuple[int, ...]:  # one decimal, halves up
        shares = [Fraction(count + alpha, total + alpha * n_values) for count in counts]
        return tuple(int(share * 10 + Fraction(1, 2)) for share in shares)

    lines = ["column,value,class,count,probability", *(f",,{name},{total}," for name, total in whole.items())]
    expected = {}
    for name, total in whole.items():
        told = prints(true[name], total)
        fitting = [counts for counts in sums(total, n_values) if prints(counts, total) == told]
        for value, shown in enumerate(told):
            lines.append(f"a,v{value},{name},,{shown // 10}.{shown % 10}")
            expected[(("a", f"v{value}"),), name] = (min(c[value] for c in fitting), max(c[value] for c in fitting))
    release = read(write(tmp_path, "\n".join(lines), alpha=alpha, rounding="half-up"))
    found = line_numbers(release)
    assert {key: found[key] for key in expected if key in found} == {key: expected[key] for key in expected if key in found}
    assert all(expected[key] == (0, 0) for key in set(expected) - set(found))
    if any(low < high for low, high in expected.values()):
        assert release.header.all_values == (("a", tuple(f"v{value}" for value in range(n_values))),)


def test_rounded_probabilities_show_small_groups(tmp_path: Path) -> None:
    """Of 20 people, 17 to 19 have x and 1 to 3 have y."""
    text = "column,value,class,count,probability\n,,a,20,\nt,x,a,,0.9\nt,y,a,,0.1\n"
    release = read(write(tmp_path, text, alpha=0))
    assert line_numbers(release) == {((("t", "x"),), "a"): (17, 19), ((("t", "y"),), "a"): (1, 3)}
    audit = tacit.audit(release, policy=tacit.Policy(k=4), attacks=["X01"])
    assert audit.asked_verdict == "exposed"
    assert tacit.verify(audit, release).ok


def test_a_model_is_audited_from_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody from town B is well: both who live there are certain."""
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("town,sex\n" + "A,F\nA,M\n" * 3 + "B,F\nB,M\n")
    Path("model.csv").write_text(
        "column,value,class,count\ntown,A,ill,2\ntown,A,well,4\ntown,B,ill,2\ntown,B,well,0\n"
        "sex,F,ill,2\nsex,F,well,2\nsex,M,ill,2\nsex,M,well,2\n"
    )
    made = shell.record("audit", "model.csv", "--sa", "health", "--known", "people.csv", "--k", "1", code=1)
    assert made["measures"]["people_certain"] == 2
    assert {one["code"] for one in made["attacks"] if one["status"] == "ran"} == {"R01", "R02", "R03", "X01"}
    Path("audit.json").write_text(json.dumps(made))
    assert shell.tacit("verify", "audit.json", "model.csv").exit_code == 0
    alone = shell.record("audit", "model.csv", "--sa", "health", "--k", "3", code=1)
    assert alone["measures"]["smallest_group"] == 2
    changed = Path("model.csv").read_text().replace("town,B,ill,2", "town,B,ill,1").replace("town,A,ill,2", "town,A,ill,3")
    Path("model.csv").write_text(changed)
    assert shell.tacit("verify", "audit.json", "model.csv").exit_code != 0


def test_missing_values_are_people_without_a_line(tmp_path: Path) -> None:
    text = "column,value,class,count\n,,a,9\n,,b,9\nt,x,a,5\nt,x,b,5\nt,y,a,4\nt,y,b,3\n"
    release = read(write(tmp_path, text))
    assert release.header.sa_counts == (9, 9)
    assert line_numbers(release)[(("t", "y"),), "b"] == (3, 3)


HEAD = "column,value,class,count\n"
SHARES = "column,value,class,count,probability\n"
UNREADABLE = [
    ("line 2: does not name", f"{HEAD}t,,a,5\n", {}),
    ("names no value", f"{HEAD},,a,5\n", {}),
    ("line 3: is about the same people as line 2", f"{HEAD}t,x,a,5\nt,x,a,5\n", {}),
    ("line 3: is listed with 1 of 2 classes", f"{HEAD}t,x,a,5\nt,y,a,5\nt,x,b,5\n", {}),
    ("line 2: its count is not", f"{HEAD}t,x,a,5.5\n", {}),
    ("line 4: holds neither", f"{HEAD},,a,5\nt,x,a,5\nt,y,a,\n", {}),
    ("count different numbers", f"{HEAD}t,x,a,5\nu,x,a,6\n", {}),
    ("line 3: no whole number of the 5 people", f"{HEAD},,a,5\nt,x,a,6\n", {}),
    ("line 3: the values of one column", f"{HEAD},,a,5\nt,x,a,4\nt,y,a,3\n", {}),
    ("smoothed", f"{SHARES},,a,5,\nt,x,a,,1.0\n", {}),
    ("how many people its classes", f"{SHARES}t,x,a,,1.0\n", {"alpha": 0}),
    ("number of people", f"{SHARES},,a,,1.0\nt,x,a,,1.0\n", {"alpha": 0}),
    ("do not follow", f"{SHARES},,a,,0.5\n,,b,,0.5\nt,x,a,,1.0\nt,x,b,,1.0\n", {"alpha": 0, "n": 100}),
    ("no whole number", f"{SHARES},,a,7,\nt,x,a,,0.50\nt,y,a,,0.50\n", {"alpha": 0}),
    ("its probability is not", f"{SHARES},,a,7,\nt,x,a,,1.50\n", {"alpha": 0}),
    ("key 'alpha'", f"{SHARES},,a,7,\nt,x,a,,1.0\n", {"alpha": -1}),
    ("key 'smoothing'", f"{SHARES},,a,7,\nt,x,a,,1.0\n", {"smoothing": 1}),
    ("its name is not given", f"{HEAD}t,x,a,5\n", {"sa": None}),
    ("says n = 5", f"{HEAD}t,x,a,5\n", {"n": 6}),
]


@pytest.mark.parametrize(("what", "text", "header"), UNREADABLE)
def test_files_that_cannot_be_read_are_refused(what: str, text: str, header: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(TacitError, match=what) as caught:
        read(write(tmp_path, text, **header))
    assert isinstance(caught.value, InputError | Contradiction | OptionError)


def test_other_columns_are_named_as_not_read(tmp_path: Path) -> None:
    path = write(tmp_path, "column,value,class,count,weight\nt,x,a,5,1.7\n")
    assert read(path).header.unread == ("weight",)
    assert read(path, ignore="weight").header.unread == ()


def test_a_frame_is_read_like_a_file() -> None:
    frame: dict[str, list[str]] = {"column": ["t", "t"], "value": ["x", "y"], "class": ["a", "a"], "count": ["3", "4"]}
    assert line_numbers(read(frame, sa="ill")) == {((("t", "x"),), "a"): (3, 3), ((("t", "y"),), "a"): (4, 4)}


X, Y = [[0, 1], [1, 0], [0, 0], [1, 1]], ["a", "b", "a", "b"]
MODEL = CategoricalNB().fit(X, Y)
NAMES = ["sex", "job"]
VALUES = [["F", "M"], ["clerk", "nurse"]]
REFUSED: list[tuple[str, Callable[[], object]]] = [
    ("not a fitted", lambda: tacit.read_naive_bayes(CategoricalNB(), features=NAMES, categories=VALUES, sa="ill")),
    ("not a fitted", lambda: tacit.read_naive_bayes(GaussianNB().fit(X, Y), features=NAMES, categories=VALUES, sa="ill")),
    (
        "whole numbers",
        lambda: tacit.read_naive_bayes(
            CategoricalNB().fit(X, Y, sample_weight=[0.5, 1, 1, 1]), features=NAMES, categories=VALUES, sa="ill"
        ),
    ),
    ("features: holds 1", lambda: tacit.read_naive_bayes(MODEL, features=NAMES[:1], categories=VALUES, sa="ill")),
    ("features: holds 2", lambda: tacit.read_naive_bayes(MODEL, features=["sex"] * 2, categories=VALUES, sa="ill")),
    ("categories: holds 1", lambda: tacit.read_naive_bayes(MODEL, features=NAMES, categories=VALUES[:1], sa="ill")),
    ("names 1 values", lambda: tacit.read_naive_bayes(MODEL, features=NAMES, categories=[["F"], VALUES[1]], sa="ill")),
    ("names 3 values", lambda: tacit.read_naive_bayes(MODEL, features=NAMES, categories=[["F", "M", "X"], VALUES[1]], sa="ill")),
    ("have the same name", lambda: tacit.read_naive_bayes(MODEL, features=NAMES, categories=[["1", 1], VALUES[1]], sa="ill")),
    ("sa: is a column", lambda: tacit.read_naive_bayes(MODEL, features=NAMES, categories=VALUES, sa="sex")),
]


@pytest.mark.parametrize(("what", "call"), REFUSED)
def test_models_that_cannot_be_read_are_refused(what: str, call: Callable[[], object]) -> None:
    with pytest.raises(OptionError, match=what):
        call()


def test_values_that_nobody_has_are_left_out() -> None:
    model = CategoricalNB(min_categories=[3, 2]).fit(X, Y)
    tables = tacit.read_naive_bayes(model, features=NAMES, categories=[["F", "M", "X"], VALUES[1]], sa="ill")
    assert {value for line in tables.records() for value in line["antecedent"].values()} == {"F", "M", "clerk", "nurse"}


def test_ranges_of_counts_are_not_written_as_if_withheld(tmp_path: Path) -> None:
    text = f"{SHARES},,a,200,\nt,x,a,,0.5\nt,y,a,,0.5\n"
    with pytest.raises(OptionError, match="counts lie in ranges"):
        tacit.write_release(read(write(tmp_path, text, alpha=0)), tmp_path / "rules.csv")
