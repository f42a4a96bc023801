"""The reproduction of Zhu, Wang, Du: every item, on a small file that looks like Adult."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest

import tacit
from tacit.model.errors import InputError, LimitReached
from tacit.model.policy import Limits
from tacit.model.reproduction import Claim, Reproduction
from tacit.papers import reproduce, zhu09
from tacit.papers.bench import COLUMN_NAMES, QI, Bench, find_adult, read_adult
from tacit.papers.lattice import Missing
from tacit.papers.zhu09_trial import Form, Trial
from tests.known import naive_estimates as naive


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """600 people in the form of adult.data: no header, a blank behind each comma, question marks, an empty last line."""
    place, chance = tmp_path_factory.mktemp("uci"), random.Random(5)
    lines = []
    for number in range(600):
        sex, degree, job = (
            chance.choice(["Male", "Female"]),
            chance.choice(["HS-grad", "Doctorate", "Masters"]),
            chance.choice("ABC"),
        )
        rich = chance.random() < 0.15 + 0.5 * (degree == "Doctorate") + 0.1 * (sex == "Male")
        cells = dict.fromkeys(COLUMN_NAMES, "same") | {"age": "30", "sex": sex, "education": degree, "occupation": job}
        cells |= {"workclass": "?" if number % 50 == 0 else "Private", "salary": ">50K" if rich else "<=50K"}
        lines.append(", ".join(cells[name] for name in COLUMN_NAMES))
    (place / "adult.data").write_text("\n".join(lines) + "\n\n")
    return place


#: What the paper numbers, from its text.
NUMBERED = [
    *(f"Figure {number}" for number in range(1, 9)),
    *(f"Equation ({number})" for number in range(1, 10)),
    *(f"Theorem {number}" for number in range(1, 4)),
    *("Example 1", "Example 2", "Problem 3.1", "Definition 4.1"),
]


def claims_of(made: Reproduction, item: str) -> dict[str, Claim]:
    return {claim.says: claim for claim in made.index if claim.item == item}


def test_every_numbered_item_of_the_paper_is_listed() -> None:
    assert len(set(zhu09.ITEMS)) == len(zhu09.ITEMS)
    for name in NUMBERED:
        assert any(item == name or item.startswith(f"{name} (") for item in zhu09.ITEMS), name


def test_the_examples_need_no_data() -> None:
    made = reproduce("zhu09")
    assert [part.name for part in made.parts] == ["examples", "formula", "definitions"]
    assert [row[1] for row in made.parts[0].rows if row[-1] != "yes"] == ["rules, at least the thresholds"]
    assert "adult.data" in made.left_out[0]
    assert claims_of(made, "Figure 1")["three rules have support .3 and confidence .8"].standing == "confirmed under a reading"
    third = claims_of(made, "Example 2")["the third record must be 50K-"]
    assert third.standing == "confirmed under a reading"
    assert "P can be up to 0.8, and 0.5 is the estimate" in third.why
    assert [row[2:] for row in made.parts[1].rows[:2]] == [(16, 16, "yes"), (52, 52, "yes")]
    standings = {claim.item: claim.standing for claim in made.index}
    assert standings["Theorem 1"] == standings["Theorem 2"] == standings["Equation (7)"] == "confirmed"
    assert standings["Problem 3.1"] == standings["Definition 4.1"] == "not applicable"
    assert standings["Figure 8"] == "not run"


def test_adult_is_read_as_the_paper_says(folder: Path) -> None:
    path = find_adult(folder)
    assert path is not None
    people = read_adult(path)
    assert (people.n, people.schema.qi, people.schema.sa) == (588, QI, ("salary",))
    assert people.column("salary").values == ("<=50K", ">50K")
    assert find_adult(None) is None


def test_a_file_with_its_names_is_read_the_same(folder: Path, tmp_path: Path) -> None:
    text = (folder / "adult.data").read_text().replace(", ", ",")
    (tmp_path / "adult.csv").write_text(",".join(COLUMN_NAMES) + "\n" + text)
    assert read_adult(tmp_path / "adult.csv").n == 588


@pytest.mark.parametrize("text", ["age,sex\n1,2\n", "1, 2, 3\n", ""])
def test_files_that_are_not_adult_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "adult.csv").write_text(text)
    with pytest.raises(InputError, match=r"adult\.csv"):
        read_adult(tmp_path / "adult.csv")


def shortened(folder: Path) -> Reproduction:
    """The reproduction at few thresholds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(zhu09, "CONFIDENCES", (0.6, 0.8, 1.0))
        patch.setattr(zhu09, "SUPPORTS", (0.1, 0.02))
        patch.setattr(zhu09, "FIRST_RULES", (2, 5))
        return reproduce("zhu09", data=folder)


@pytest.fixture(scope="module")
def made(folder: Path) -> Reproduction:
    return shortened(folder)


def test_the_record_is_the_same_every_time(made: Reproduction, folder: Path) -> None:
    assert shortened(folder).to_dict() == made.to_dict()


def test_with_the_data_every_item_has_a_claim(made: Reproduction) -> None:
    assert made.left_out == ()
    assert {claim.item for part in made.parts for claim in part.claims} == set(zhu09.ITEMS)
    assert "not run" not in {claim.standing for claim in made.index}


def test_all_figures_are_made_from_the_file(made: Reproduction) -> None:
    parts = {part.name: part for part in made.parts}
    plain = (
        "examples",
        "formula",
        "definitions",
        "equations",
        "figure-3",
        "unpruned",
        "numbers",
        "figure-4",
        "rules",
        "figure-8",
    )
    assert set(parts) == {*plain, *(f"figure-{one}" for one in ("5a", "5b", "5c", "6", "7a", "7b", "7c"))}
    exact = [row[1] for row in parts["figure-5a"].rows]
    assert exact == sorted(exact)  # type: ignore[type-var]
    assert [row[1] for row in parts["figure-6"].rows] == exact
    found = [float(row[1] or 0) for row in parts["figure-5c"].rows]
    assert found == sorted(found, reverse=True)
    means = [float(row[1] or 0) for row in parts["figure-7c"].rows]
    assert means == sorted(means, reverse=True)
    assert next(row for row in parts["numbers"].rows if row[1] == "records")[3] == 588
    assert all(row[-1] == "yes" for row in parts["equations"].rows)
    assert claims_of(made, "Theorem 3")["pruned constraints are redundant"].standing == "confirmed"


def test_a_misprint_is_found_in_the_paper_s_own_row(made: Reproduction) -> None:
    consistent = claims_of(made, "Figure 7 (a)")["shares add up to 1, and divergences are their natural logarithms"]
    assert consistent.standing == "not confirmed"
    assert "in all rows but 7," in consistent.why


def test_seconds_are_kept_apart(made: Reproduction) -> None:
    assert len(made.times) == 2 * len(zhu09.TIMED)
    assert {timed.item for timed in made.times} == {"Figure 8"}
    eight = next(part for part in made.parts if part.name == "figure-8")
    assert not any("seconds" in name for name in eight.head)


def trial_of(folder: Path) -> Trial:
    path = find_adult(folder)
    assert path is not None
    return Trial.read(path, Bench.open(folder, None, lambda _: None))


@pytest.mark.parametrize(
    "form", [Form(), Form(missing=True), Form(True, True), Form(True, False, True)], ids=lambda form: form.name
)
def test_estimates_are_those_of_the_audit(form: Form, folder: Path) -> None:
    """Multipliers handed on from simpler forms change nothing."""
    trial = trial_of(folder)
    found = trial.found(0.1, 0.6, form)
    told = tacit.audit(trial.rules(0.1, 0.6, form), data=trial.people, attacks=["R02"])
    assert found.overall == pytest.approx(told.measures["D_overall"], abs=1e-9)
    assert found.individual == pytest.approx(tacit.compare(told, trial.people).individual, abs=1e-6)


def test_all_constraints_at_once_give_the_largest_entropy(folder: Path) -> None:
    """Nothing pruned, every missing rule a statement; the judge lists them itself and uses a general solver."""
    trial = trial_of(folder)
    rules = trial.rules(0.1, 0.6)
    missing = Missing(trial.lattice, Fraction("0.1"), Fraction("0.6"))
    problem, solution = trial.solved(rules, missing, missing.listed(missing.absent))
    columns = trial.people.qi.columns
    people = list(zip(*([column.values[code] for code in column.codes] for column in columns), strict=True))
    said = naive.statements(rules, trial.population.names, people)
    share, entropy = naive.largest_entropy(said, people, 2)
    assert solution.entropy == pytest.approx(entropy, abs=1e-9)
    known = [tuple(trial.population.describe(place).values()) for place in range(len(trial.population))]
    order = [naive.combinations_of(people).index(one) for one in known]
    assert solution.share[problem.class_of] == pytest.approx(share[order], abs=1e-5)
    for kept in (missing.by_theorem(), missing.informative()):
        problem, other = trial.solved(rules, missing, missing.listed(kept))
        assert other.share[problem.class_of] == pytest.approx(share[order], abs=1e-5)


def test_what_time_does_not_allow_is_said(folder: Path) -> None:
    made = reproduce("zhu09", data=folder, time_limit=0.001)
    assert [part.name for part in made.parts] == ["examples", "formula", "definitions"]
    assert len(made.left_out) == 7
    assert all("time limit" in what for what in made.left_out)


def test_an_estimate_that_time_or_numbers_do_not_allow_leaves_its_figures_out(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(self: Trial, *_: object) -> None:
        self.bench.limits = Limits(0.0)
        self._check()

    monkeypatch.setattr(Trial, "estimated", stop)
    made = reproduce("zhu09", data=folder)
    assert made.is_stopped
    assert made.left_out[0] == "Equations (1) to (6), (8) and (9): the time limit was reached"
    assert {claim.standing for claim in made.index if claim.item == "Figure 6"} == {"not run"}
    unsolved = SimpleNamespace(converged=False)
    with pytest.raises(LimitReached, match="did not converge"):
        Trial.require(unsolved)  # type: ignore[arg-type]
