"""Laws for every kind of release.

A copy, another order, other names, another format and fewer lines add nothing; a further line and a further release take nothing away.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest

from tests.judge import laws
from tests.judge.cases import Case, draw

SEEDS = range(3)
SINGLE = (
    "exact-list",
    "closed-list",
    "maximal-list",
    "gaps-list",
    "rounded-list",
    "rounded-closed-list",
    "rounded-maximal-list",
    "rounded-gaps-list",
    "column-list",
    "column-any-list",
    "rules",
    "table",
    "hidden-table",
    "rounded-table",
    "several-tables",
)


def cases(kind: str) -> Iterator[Case]:
    for seed in SEEDS:
        yield draw(kind, seed)


def alone(case: Case) -> laws.Told:
    return _alone(case.kind, case.seed)


@cache
def _alone(kind: str, seed: int) -> laws.Told:
    """What is said of the release as it is: every law starts from there."""
    case = draw(kind, seed)
    (release,) = case.releases
    with TemporaryDirectory() as folder:
        return laws.tell(case, case.space(), release.files, [release.name], Path(folder), None)


@pytest.mark.parametrize("kind", SINGLE)
def test_a_copy_beside_a_release_changes_nothing(kind: str, tmp_path: Path) -> None:
    for case in cases(kind):
        before = alone(case)
        after = laws.tell(case, case.space(), *laws.copied(case.releases[0]), tmp_path, "same")
        assert after.verdict == before.verdict, case.seed
        assert not after.misses(before), case.seed
        assert not before.misses(after), case.seed


@pytest.mark.parametrize("kind", SINGLE)
def test_the_order_of_lines_changes_nothing(kind: str, tmp_path: Path) -> None:
    for case in cases(kind):
        after = laws.tell(case, case.space(), *laws.reordered(case.releases[0], Random(case.seed)), tmp_path, None)
        assert after == alone(case), case.seed


@pytest.mark.parametrize("kind", SINGLE)
def test_names_change_nothing(kind: str, tmp_path: Path) -> None:
    for case in cases(kind):
        changed = laws.renamed(case)
        if changed is None:
            continue
        other, files = changed
        after = laws.tell(other, other.space(), files, [other.releases[0].name], tmp_path, None)
        before = alone(case)
        assert after.verdict == before.verdict, case.seed
        assert len(after.groups) == len(before.groups), case.seed


@pytest.mark.parametrize("kind", SINGLE)
def test_the_format_changes_nothing(kind: str, tmp_path: Path) -> None:
    for case in cases(kind):
        before = alone(case)
        (release,) = case.releases
        laws.write_all(release.files, tmp_path / "alone")
        paths = laws.as_parquet([tmp_path / "alone" / release.name])
        assert laws.tell_paths(case, case.space(), paths, None) == before, case.seed
        if (text := laws.as_spmf(case.releases[0])) is not None and "columns" not in text[0]["list.txt.json"]:
            assert laws.tell(case, case.space(), *text, tmp_path, None) == before, case.seed


@pytest.mark.parametrize("kind", SINGLE)
def test_fewer_lines_add_nothing(kind: str, tmp_path: Path) -> None:
    """The same, read the other way: a true line more takes no finding away."""
    for case in cases(kind):
        before = alone(case)
        for change, people in ((laws.without_a_line, None), (laws.split, "same")):
            made = change(case.releases[0], Random(case.seed))
            if made is None:
                continue
            after = laws.tell(case, case.space(), *made, tmp_path, people)
            assert not before.misses(after), case.seed
            assert after.verdict != "exposed" or before.verdict == "exposed", case.seed


@pytest.mark.parametrize("kind", SINGLE)
def test_what_is_exposed_alone_is_exposed_beside_another(kind: str, tmp_path: Path) -> None:
    for case in cases(kind):
        before = alone(case)
        if before.verdict != "exposed":
            continue
        (release,) = case.releases
        n = release.n or 0
        text, head = "colour,count\nred,{}\nblue,{}\n", '{{"format": "tacit.frequencies/1", "n": {}, "sa": [], "any": "*"}}'
        other = {"other.csv": text.format(n // 2, n - n // 2), "other.csv.json": head.format(n)}
        for people in ("same", "nested", "unknown", "left:0-2,joined:0-2"):
            after = laws.tell_verdict(case, {**release.files, **other}, [release.name, "other.csv"], tmp_path, people)
            assert after == "exposed", (case.seed, people)
