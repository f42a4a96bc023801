"""Counts as they are printed when they are rounded: what a reader can tell, and the repair that chooses the finest safe form."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.model.errors import InputError, OptionError
from tacit.model.numbers import ROUNDINGS, Printed, Rounding
from tacit.model.release import Itemsets
from tacit.model.rounding import Precision, counts_printed_as, rounded
from tacit.repairs.round import finest_first, usual_bases
from tacit.reports.sentences import assumptions
from tests.examples import examples
from tests.itemsets.made_releases import released
from tests.itemsets.naive_channels import Row, proved_channels
from tests.shell import leaking_baskets, record
from tests.shell import tacit as run

PRECISIONS = st.builds(Precision, base=st.integers(2, 60)) | st.builds(Precision, decimals=st.integers(0, 5))
ROWS = st.lists(st.frozensets(st.sampled_from("abcd"), min_size=1), min_size=1, max_size=60)


def prints(count: int, n: int, precision: Precision) -> int:
    """What a count prints as, in units of the last digit: the nearest, halves up."""
    unit = Fraction(precision.base) if precision.base else Fraction(n, 10 ** (precision.decimals or 0))
    return int(count / unit + Fraction(1, 2))


#: How programs round a count to a multiple of a base; where they may do so in several ways, all of them.
PRINTERS: dict[Rounding, Callable[[int, int], set[int]]] = {
    "nearest": lambda count, base: {whole for whole in range(0, count + base + 1, base) if 2 * abs(count - whole) <= base},
    "half-up": lambda count, base: {int(Fraction(count, base) + Fraction(1, 2)) * base},
    "half-even": lambda count, base: {round(Fraction(count, base)) * base},
    "up": lambda count, base: {-(-count // base) * base},
    "truncated": lambda count, base: {count // base * base},
    "random": lambda count, base: {count // base * base, -(-count // base) * base},
    "unknown": lambda count, base: {count // base * base, -(-count // base) * base},
}


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("base", [2, 3, 4, 5, 10])
def test_a_multiple_of_a_base_means_exactly_the_counts_that_print_so(rounding: Rounding, base: int) -> None:
    for printed in range(0, 5 * base, base):
        lo, hi = (int(end[0]) for end in counts_printed_as(np.array([printed]), base, rounding))
        assert list(range(lo, hi + 1)) == [count for count in range(7 * base) if printed in PRINTERS[rounding](count, base)]


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("n", [7, 10, 16])
def test_a_decimal_means_exactly_the_counts_that_print_so(rounding: Rounding, n: int) -> None:
    for printed in range(11):
        bound = Printed.decimal(Fraction(printed, 10), Fraction(1, 10), rounding).counts(n)
        # Programs round halves of decimals either way where they come from doubles, whatever they say about it.
        rule: Rounding = "nearest" if rounding == "half-even" else rounding
        same = [count for count in range(n + 1) if printed * n in PRINTERS[rule](count * 10, n)]
        assert ([] if bound is None else list(range(bound.lo, bound.hi + 1))) == same


@given(ROWS, st.integers(1, 10), PRECISIONS)
def test_an_interval_holds_exactly_the_counts_that_print_the_same(rows: list[Row], sigma: int, precision: Precision) -> None:
    n = len(rows)
    exact = released(rows, min(sigma, n), "all")
    printed = rounded(exact, precision)
    for line in range(len(exact)):
        true = exact.count(line).lo
        shown = int(printed.rounded[line]) // (precision.base or 1) if printed.rounded is not None else None
        if printed.support is not None:
            shown = int(printed.support.scaled[line])
        assert shown == prints(true, n, precision)
        bound = printed.count(line)
        same = {count for count in range(min(sigma, n), n + 1) if shown == prints(count, n, precision)}
        assert same == set(range(bound.lo, bound.hi + 1))


@settings(max_examples=examples(30))
@given(ROWS, st.integers(1, 10), PRECISIONS)
def test_a_rounded_release_is_read_back_as_it_was_written(rows: list[Row], sigma: int, precision: Precision) -> None:
    import tempfile

    printed = rounded(released(rows, min(sigma, len(rows)), "all"), precision)
    with tempfile.TemporaryDirectory() as folder:
        tacit.write_release(printed, Path(folder, "r.csv"))
        again = tacit.read_release(Path(folder, "r.csv"))
    assert isinstance(again, Itemsets)
    assert (again.header.base, again.header.digits) == (precision.base, precision.decimals)
    ends = {frozenset(again.names(i)): again.count(i) for i in range(len(again))}
    assert ends == {frozenset(printed.names(i)): printed.count(i) for i in range(len(printed))}


def proved(release: Itemsets, k: int) -> bool:
    """Whether brute force proves some group on published sets to be small."""
    ends = {frozenset(release.names(i)): (release.count(i).lo, release.count(i).hi) for i in range(len(release))}
    return bool(proved_channels(ends | {frozenset(): (release.n or 0,) * 2}, k))


@settings(max_examples=examples(40), deadline=None)
@given(ROWS, st.integers(2, 12), st.integers(2, 8))
def test_the_finest_safe_precision_is_found(rows: list[Row], sigma: int, k: int) -> None:
    release = released(rows, min(sigma, len(rows)), "all")
    done = tacit.repair(release, method="round", policy=tacit.Policy(k=k), goal="frequent-only")
    if done.before.asked_verdict == "clean":
        assert done.release is release
        return
    chosen = done.release
    assert isinstance(chosen, Itemsets)
    finer = []
    choices = finest_first(release, 5)  # no policy is given, so that nothing is finer than ACRO's 5
    for precision in choices:
        if (precision.base, precision.decimals) == (chosen.header.base, chosen.header.digits):
            break
        finer.append(precision)
    assert all(proved(rounded(release, precision), k) for precision in finer)
    assert proved(chosen, k) == (done.after.verdict == "exposed")
    if done.after.verdict == "exposed":
        assert len(finer) == len(choices) - 1, "the coarsest is left when none is safe"


def test_where_no_precision_is_safe_it_says_so() -> None:
    release = tacit.mine_itemsets([["a"]] * 3, min_support=1)
    done = tacit.repair(release, method="round", policy=tacit.Policy(k=5))
    assert done.after.verdict == "exposed"
    assert done.remark == "The precision tried is not proved safe: a small group is still revealed."


def test_a_base_is_never_finer_than_the_policys() -> None:
    release = tacit.mine_itemsets([["a", "b"]] * 49 + [["a"]] + [["c"]] * 20, min_support=20)
    for policy, least in ((tacit.Policy(), 5), (tacit.Policy(safe_round_base=7), 7), (tacit.Policy(safe_round_base=3), 3)):
        done = tacit.repair(release, method="round", policy=policy)
        assert isinstance(done.release, Itemsets)
        assert (done.release.header.base or 1000) >= least
        assert done.after.policy.to_dict()["safe_round_base"] == least
    with pytest.raises(OptionError, match=r"^--base: is smaller than the policy's safe_round_base\. Round to 7 or more"):
        tacit.repair(release, method="round", base=5, policy=tacit.Policy(safe_round_base=7))


@pytest.mark.parametrize(("precision", "count"), [(Precision(base=10), 50), (Precision(decimals=1), 0.7)])
def test_what_is_asked_for_is_printed_whatever_the_audit_says(precision: Precision, count: float) -> None:
    baskets = tacit.read_transactions([["a", "b"]] * 49 + [["a"]] + [["c"]] * 20)
    for only in ("all", "closed"):
        release = tacit.mine_itemsets(baskets, min_support=40, only=only)
        asked = {"base": precision.base, "decimals": precision.decimals}
        done = tacit.repair(release, method="round", data=baskets, **asked)  # type: ignore[arg-type]
        line = next(iter(done.release.records()))
        assert (line["count"] or line["support"]) == count
        assert done.cost["support_error_max"] > 0
        assert done.cost["itemsets_lost"] == done.cost["itemsets_ghost"] == 0
    clean = tacit.mine_itemsets(baskets, min_support=50)
    assert tacit.repair(clean, method="round", base=20).release.header.base == 20


def test_steps_and_usual_precisions() -> None:
    release = released([frozenset("a")] * 3, 2, "all")
    assert usual_bases(release) == [2]
    assert [one.label for one in finest_first(release)] == ["base 2", "0 decimals"]
    many = released([frozenset("a")] * 30, 20, "all")
    assert usual_bases(many) == [2, 5, 10, 20]
    assert [one.label for one in finest_first(many)] == ["base 2", "1 decimal", "base 5", "base 10", "base 20", "0 decimals"]
    assert [one.label for one in finest_first(many, 5)] == ["base 5", "base 10", "base 20", "0 decimals"]
    without_n = replace(release, header=replace(release.header, n=None))
    assert [one.label for one in finest_first(without_n)] == ["base 2"]
    assert Precision(decimals=1).step(30) == 3
    assert Precision(decimals=1).label == "1 decimal"


@pytest.mark.parametrize(
    "wrong", [{}, {"base": 2, "decimals": 2}, {"base": 1}, {"base": 2.5}, {"base": True}, {"decimals": -1}, {"decimals": 13}]
)
def test_a_precision_that_makes_no_sense_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(OptionError):
        Precision(**wrong)


def test_rounding_refuses_what_it_cannot_round() -> None:
    release = released([frozenset("a")] * 30, 2, "all")
    with pytest.raises(OptionError, match="rounded already"):
        rounded(rounded(release, Precision(base=7)), Precision(base=10))
    with pytest.raises(OptionError, match="number of people is not known"):
        rounded(replace(release, header=replace(release.header, n=None)), Precision(decimals=2))
    with pytest.raises(OptionError, match="--base: says how the method round"):
        tacit.repair(release, method="raise-threshold", base=5)


def test_large_counts_stay_exact() -> None:
    counts = np.array([10**15 + 1], np.int64)
    release = released([frozenset("a")], 1, "all")
    release = replace(release, lo=counts, hi=counts, header=replace(release.header, n=3 * 10**15))
    for precision in (Precision(decimals=12), Precision(base=10**15)):
        bound = rounded(release, precision).count(0)
        assert bound.lo <= 10**15 + 1 <= bound.hi < 2 * 10**15


def test_the_command_rounds_as_told_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = leaking_baskets(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert run("mine", "itemsets", data, "--min-support", "40", "-o", "sets.csv").exit_code == 0
    made = record("repair", "sets.csv", "--method", "round", "-o", "safe.csv")
    assert (made["before"]["verdict"], made["after"]["verdict"]) == ("exposed", "clean")
    chosen = made["after"]["release"][0]
    header = json.loads(Path("safe.csv.json").read_text())
    assert header["complete"] is True
    assert header["rounding"] == ({"base": chosen["base"], "mode": "half-up"} if "base" in chosen else "half-up")
    assert record("audit", "safe.csv")["verdict"] == "clean"
    told = run("repair", "sets.csv", "--method", "round", "--base", "10", "-o", "tens.csv")
    assert told.exit_code == 0
    assert "Counts  rounded to multiples of 10\n" in told.stdout
    told = run("repair", "sets.csv", "--method", "round", "--decimals", "1", "-o", "tenths.csv")
    assert "supports are printed with 1 decimal\n" in told.stdout
    assert Path("tenths.csv").read_text().splitlines()[1].endswith(",,0.7")
    for wrong in (["--base", "1"], ["--base", "x"], ["--base", "5", "--decimals", "2"], ["--decimals", "-1"]):
        refused = run("repair", "sets.csv", "--method", "round", *wrong, "-o", "no.csv")
        assert refused.exit_code == 2
        assert refused.stderr.count("\n") == 1
    assert not Path("no.csv").exists()


class TestProofs:
    """A proof about rounded numbers names what is printed, and then the counts that this means."""

    @staticmethod
    def exposed() -> Itemsets:
        """50 people have a, 41 have a and b, and counts are rounded to twos: 7 to 10 have a but not b."""
        baskets = tacit.read_transactions([["a", "b"]] * 41 + [["a"]] * 8 + [["c"]] * 20)
        return rounded(tacit.mine_itemsets(baskets, min_support=40), Precision(base=2))

    def test_sums_name_what_lines_print(self, tmp_path: Path) -> None:
        tacit.write_release(self.exposed(), tmp_path / "r.csv")
        found = tacit.audit(tmp_path / "r.csv", policy=tacit.Policy(k=11), attacks=["I01"])
        assert run("audit", tmp_path / "r.csv", "--k", 11, "--json", tmp_path / "a.json").exit_code == 1
        assert run("verify", tmp_path / "a.json", tmp_path / "r.csv").exit_code == 0
        finding = next(one for one in found.findings if one.event.to_dict() == {"present": ["a"], "absent": ["b"]})
        assert finding.steps[0] == "plus 49 to 50: people with a, printed as 50 (line 2)"

    def test_programs_name_what_lines_print(self, tmp_path: Path) -> None:
        for name in ("r.csv", "s.csv"):
            tacit.write_release(self.exposed(), tmp_path / name)
        found = tacit.audit(
            [tmp_path / "r.csv", tmp_path / "s.csv"], people=tacit.Same(), policy=tacit.Policy(k=11), attacks=["X01"]
        )
        steps = [step for finding in found.findings for step in finding.steps]
        assert "plus 49: people with a, printed as 50, that is 49 to 50 (r.csv, line 2)" in steps
        cited = [step for step in steps if "line 2)" in step]
        assert all("printed as 50, that is 49 to 50" in step for step in cited)

    def test_hidden_cells_say_that_they_are_hidden(self, tmp_path: Path) -> None:
        (tmp_path / "t.csv").write_text("sex,job,count\nF,a,20\nF,b,\nF,c,<5\nF,*,27\n")
        (tmp_path / "t.csv.json").write_text('{"format": "tacit.frequencies/1", "hidden_below": 5}')
        found = tacit.audit(tmp_path / "t.csv", policy=tacit.Policy(k=9))
        steps = " ".join(step for finding in found.findings for step in finding.steps)
        assert "people with job=c and sex=F, printed as <5, that is 0 to 4 (t.csv, line 4)" in steps
        assert "people with job=b and sex=F, hidden, that is 0 to 4 (t.csv, line 3)" in steps

    def test_deductions_name_what_lines_print(self, tmp_path: Path) -> None:
        baskets = tacit.read_transactions([["a", "b"]] * 52 + [["a"]] * 38 + [["b"]] * 8 + [["c"]] * 2)
        printed = rounded(tacit.mine_itemsets(baskets, min_support=55), Precision(base=2))
        tacit.write_release(printed, tmp_path / "r.csv")
        found = tacit.audit(tmp_path / "r.csv", policy=tacit.Policy(k=13), attacks=["I02"])
        steps = [step for finding in found.findings for step in finding.steps]
        assert "Line 2: 90 is printed, that is 89 to 90 people." in steps
        assert run("audit", tmp_path / "r.csv", "--k", 13, "--json", tmp_path / "a.json").exit_code == 1
        assert run("verify", tmp_path / "a.json", tmp_path / "r.csv").exit_code == 0


@pytest.mark.parametrize(
    ("method", "changes"),
    [
        ("round", "numbers"),
        ("leave-out", "lines"),
        ("raise-threshold", "threshold"),
        ("suppressive", "people"),
        ("substitute", "people"),
    ],
)
def test_the_header_of_a_repaired_release_tells_the_method(method: str, changes: str, tmp_path: Path) -> None:
    baskets = leaking_baskets(tmp_path)
    assert run("mine", "itemsets", baskets, "--min-support", 20, "-o", tmp_path / "sets.csv").exit_code == 0
    run("repair", tmp_path / "sets.csv", "--data", baskets, "--method", method, "-o", tmp_path / "out.csv")
    made_by = {"method": method, "changes": changes}
    assert json.loads((tmp_path / "out.csv.json").read_text())["made_by"] == made_by
    again = tacit.read_release(tmp_path / "out.csv")
    assert [one.to_dict() for one in again.header.made_by] == [made_by]
    found = tacit.audit(again)
    assert found.adversary["made_by"] == [made_by]
    assert any(f"(method {method})" in sentence for sentence in assumptions(found, "external"))
    done = run("audit", tmp_path / "out.csv", "--k", 100, "--sa", "none", "--json", tmp_path / "a.json")
    if done.exit_code == 1:
        assert run("verify", tmp_path / "a.json", tmp_path / "out.csv").exit_code == 0
    (tmp_path / "out.csv.json").write_text('{"format": "tacit.itemsets/1", "n": 70, "made_by": {"method": 3}}')
    with pytest.raises(InputError, match=r"^out\.csv\.json, key 'made_by': must be an object with a method"):
        tacit.read_release(tmp_path / "out.csv")
