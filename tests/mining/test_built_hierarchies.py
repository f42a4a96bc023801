"""Hierarchies built from negative rules: against merging by hand, and what they are for."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.files.hierarchies import read_hierarchies, write_hierarchies
from tacit.mining.hierarchies import merge_order
from tacit.model.errors import OptionError
from tests.examples import examples
from tests.shell import tacit as run


def merged_by_hand(counts: list[list[int]], only_neighbours: bool) -> list[tuple[int, int]]:
    """Pairs to merge, all pairs compared anew in every round."""
    n = sum(map(sum, counts))
    shares = [sum(column) / n for column in zip(*counts, strict=True)]
    evidence = [-math.log1p(-share) if share < 1 else 0.0 for share in shares]
    rows = dict(enumerate(counts))
    out = []
    while len(rows) > 1:
        names = sorted(rows)
        best: tuple[Any, ...] | None = None
        for place, a in enumerate(names):
            for b in names[place + 1 : place + 2 if only_neighbours else None]:
                lost = sum(
                    (sum(rows[a]) if x == 0 else sum(rows[b])) * e
                    for x, y, e in zip(rows[a], rows[b], evidence, strict=True)
                    if (x == 0) != (y == 0)
                )
                far = sum(abs(x / max(1, sum(rows[a])) - y / max(1, sum(rows[b]))) for x, y in zip(rows[a], rows[b], strict=True))
                rank = (round(lost, 9), round(far / 2, 12), a, b)
                best = rank if best is None or rank < best else best
        assert best is not None
        a, b = best[2:]
        rows[a] = [x + y for x, y in zip(rows[a], rows.pop(b), strict=True)]
        out.append((a, b))
    return out


@given(
    st.integers(2, 4).flatmap(
        lambda width: st.lists(st.lists(st.integers(0, 3), min_size=width, max_size=width), min_size=2, max_size=8)
    ),
    st.booleans(),
)
@settings(max_examples=examples(200), deadline=None)
def test_pairs_are_merged_as_by_hand(counts: list[list[int]], only_neighbours: bool) -> None:
    counts[0][0] += 1
    assert merge_order(np.array(counts), only_neighbours=only_neighbours) == merged_by_hand(counts, only_neighbours)


def made(seed: int) -> tacit.Table:
    chance = np.random.default_rng(seed)
    n = int(chance.integers(20, 120))
    job = chance.integers(0, 9, n)
    age = chance.integers(20, 20 + int(chance.integers(3, 12)), n)
    ill = np.where(chance.random(n) < 0.8, job // 3, chance.integers(0, 4, n))
    rows = {"job": [f"j{one}" for one in job], "age": age.tolist(), "ill": [f"v{one}" for one in ill]}
    return tacit.read_table(rows, qi=["job", "age"], sa="ill")


@pytest.mark.parametrize("seed", range(25))
def test_at_least_as_many_people_have_values_excluded_with_them(seed: int, tmp_path: Path) -> None:
    people = made(seed)
    trees = tacit.build_hierarchies(people)
    write_hierarchies(trees, tmp_path)
    assert read_hierarchies(tmp_path, people.schema.qi) == trees
    without = tacit.mine_negative_rules(people, min_expectation=0.9).excluded_values
    found = tacit.mine_negative_rules(people, min_expectation=0.9, hierarchies=tmp_path).excluded_values
    for least in range(1, len(found)):
        assert found[least:].sum() >= without[least:].sum()


def test_values_that_exclude_the_same_come_together_first() -> None:
    rows = {"job": ["cook", "nurse", "baker", "medic"] * 5, "ill": ["flu", "burn", "flu", "burn"] * 5}
    tree = tacit.build_hierarchies(tacit.read_table(rows, qi="job", sa="ill"))["job"]
    assert tree.members("baker and 1 more") == ("baker", "cook")
    assert tree.members("medic and 1 more") == ("medic", "nurse")


def test_numbers_become_intervals() -> None:
    rows = {"age": ["9", "10", "11", "30", "31", "100"] * 4, "ill": ["flu", "flu", "flu", "burn", "burn", "flu"] * 4}
    tree = tacit.build_hierarchies(tacit.read_table(rows, qi="age", sa="ill"))["age"]
    assert tree.members("9-11") == ("10", "11", "9")
    assert tree.members("30-31") == ("30", "31")
    assert tree.levels["100"] in ((), ("30-100",))


def test_other_columns_are_refused() -> None:
    with pytest.raises(OptionError, match="columns: 'ill' is not a quasi-identifying column"):
        tacit.build_hierarchies(made(1), columns=["ill"])


def test_the_command_writes_and_uses_them(tmp_path: Path) -> None:
    rows = [
        "job,ill",
        *(f"{job},{ill}" for job, ill in [("cook", "flu"), ("nurse", "burn"), ("baker", "flu"), ("medic", "burn")] * 3),
    ]
    data = tmp_path / "people.csv"
    data.write_text("\n".join(rows) + "\n", encoding="utf-8")
    common = ["mine", "negative", str(data), "--qi", "job", "--sa", "ill", "--min-expectation", "0.95"]
    folder = tmp_path / "trees"
    assert '"rules": 0' in run(*common, "--json", "-").stdout
    built = run(*common, "--build-hierarchies", folder).stdout
    assert "2 negative rules about 12 people" in built
    assert "Hierarchies of job written to" in built
    assert (folder / "job.csv").read_text(encoding="utf-8").splitlines()[0] == "baker;baker and 1 more;*"
    assert "2 negative rules about 12 people" in run(*common, "--hierarchies", folder).stdout
    assert "cannot be used together" in run(*common, "--hierarchies", folder, "--build-hierarchies", folder).stderr
