"""Lines taken out of a list: those that all proofs rest on, and those that somebody names."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.model.errors import OptionError
from tacit.repairs.lists import breaking
from tests.shell import leaking_baskets, record
from tests.shell import tacit as shell

LINES = st.frozensets(st.tuples(st.integers(0, 1), st.integers(2, 6)), min_size=1, max_size=4)


@given(st.lists(LINES, max_size=8))
def test_every_proof_loses_a_line_and_no_line_goes_for_nothing(proofs: Sequence[frozenset[tuple[int, int]]]) -> None:
    chosen = breaking(proofs, lambda line: line[1])
    assert all(proof & set(chosen) for proof in proofs)
    # Each line, when it was chosen, broke a proof that the lines before it had not.
    for place, line in enumerate(chosen):
        assert any(line in proof and not proof & set(chosen[:place]) for proof in proofs)


def lines(release: object) -> dict[frozenset[str], int]:
    return {frozenset(one["itemset"]): one["count"] for one in release.records()}  # type: ignore[attr-defined]


@pytest.mark.parametrize(("only", "with_data"), [("all", True), ("all", False), ("closed", True)])
def test_what_is_left_is_true_says_so_and_tells_nobody_apart(only: str, with_data: bool) -> None:
    rows = [sorted({(row * (item + 2)) % 7 % 4 for item in range(4)} | {row % 5}) for row in range(140)]
    baskets = tacit.read_transactions([[f"i{item}" for item in row] for row in rows])
    release = tacit.mine_itemsets(baskets, min_support=12, only=only)  # type: ignore[arg-type]
    policy = tacit.Policy(k=8)
    done = tacit.repair(release, method="leave-out", data=baskets if with_data else None, policy=policy)
    assert done.before.verdict == "exposed"
    assert (done.after.verdict, done.release.header.complete) == ("clean", False)
    assert len(done.release) > 0
    everything = tacit.mine_itemsets(baskets, min_support=12)
    assert lines(done.release).items() <= lines(everything).items()
    if with_data:
        family = tacit.repair(release, method="safe-family", data=baskets, policy=policy)
        assert lines(family.release) == lines(done.release)
    assert tacit.audit(done.release, policy=policy).verdict == "clean"
    # No line that is left, and no difference of two lines of which one holds the other, is about few people.
    kept = lines(done.release)
    for small, large in combinations(sorted(kept, key=len), 2):
        assert not (small < large and 0 < kept[small] - kept[large] < 8)


def test_named_lines_go_and_no_others(tmp_path: Path) -> None:
    baskets, out = leaking_baskets(tmp_path), tmp_path / "out.csv"
    record("mine", "itemsets", baskets, "--min-support", "20", "-o", tmp_path / "sets.csv")
    written = (tmp_path / "sets.csv").read_text().splitlines()
    record("repair", tmp_path / "sets.csv", "--method", "leave-out", "--lines", "3, 5", "-o", out)
    assert out.read_text().splitlines() == [written[0], written[1], written[3]]
    for given_lines, said in (("1", "line 1 of the file is no line of the list"), ("x", "is not a list of line numbers")):
        result = shell("repair", tmp_path / "sets.csv", "--method", "leave-out", "--lines", given_lines, "-o", out)
        assert (result.exit_code, result.stderr.startswith(f"--lines: {said}.")) == (2, True)
    result = shell("repair", tmp_path / "sets.csv", "--method", "round", "--lines", "3", "-o", out)
    assert result.stderr.startswith("--lines: says which lines are removed.")


def test_rules_of_other_programs_are_repaired_from_their_own_numbers(tmp_path: Path) -> None:
    path = tmp_path / "rules.csv"
    path.write_text(
        "antecedents,consequents,antecedent support,consequent support,support,confidence\n"
        "\"frozenset({'a'})\",\"frozenset({'b'})\",0.5,0.7,0.49,0.98\n"
        "\"frozenset({'c'})\",\"frozenset({'b'})\",0.4,0.7,0.3,0.75\n"
    )
    rules = tacit.read_release(path, n=100)
    done = tacit.repair(rules, method="withdraw", suggest=False)
    assert [row["antecedent"] for row in done.release.records()] == [["c"], []]
    assert not any(run.findings for run in done.after.runs)
    named = tacit.repair(rules, method="withdraw", lines=[rules.line(1)], suggest=False)
    assert [row["antecedent"] for row in named.release.records()] == [["a"], []]


def test_closed_itemsets_need_the_data() -> None:
    baskets = tacit.read_transactions([["a", "b"]] * 49 + [["a"]] + [["c"]] * 20)
    with pytest.raises(OptionError, match="closed itemsets say more than their lines"):
        tacit.repair(tacit.mine_itemsets(baskets, min_support=20, only="closed"), method="leave-out")


def test_rules_about_people_still_need_them() -> None:
    people = tacit.read_table({"sex": ["F", "F", "M"] * 9, "ill": ["yes", "yes", "no"] * 9}, qi="sex", sa="ill")
    with pytest.raises(OptionError, match="together with the people"):
        tacit.repair(tacit.mine_rules(people, min_support=2, min_confidence=0.6), method="withhold")
