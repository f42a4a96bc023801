"""Hiding by classes of equal people: the twin of hiding by rows, with the same numbers, audits and published rows."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.partial.methods import METHODS, NEEDS
from tacit.verbs import hide, hide_source
from tests.examples import examples

ROLES: dict[str, Any] = {"qi": "job,sex", "sa": "ill"}
NAMES = ("job", "sex", "ill", "year")


def made_rows(seed: int, n: int) -> dict[str, list[str]]:
    rng = np.random.default_rng(seed)
    job = rng.integers(0, 3, n)
    ill = (job + (rng.random(n) < 0.4) * rng.integers(0, 3, n)) % 3
    cells = (job, rng.integers(0, 2, n), ill, rng.integers(0, 2, n))
    return {name: [f"{name}{code}" for code in codes.tolist()] for name, codes in zip(NAMES, cells, strict=True)}


def in_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (hide, hide_source):
        monkeypatch.setattr(module, "AT_ONCE", 0)


def published(made: tacit.Hidden) -> Counter[tuple[tuple[str, Any], ...]]:
    return Counter(tuple(record.items()) for record in made.records())


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=examples(8), deadline=None)
@given(seed=st.integers(0, 2**16), n=st.integers(8, 60), keep=st.booleans(), confidence=st.sampled_from([0.4, 0.6]))
def test_classes_lose_the_cells_that_rows_lose(method: Any, seed: int, n: int, keep: bool, confidence: float) -> None:
    people = made_rows(seed, n)
    rows = np.random.default_rng(seed).choice(n, 3, replace=False).tolist()
    region = NEEDS.get(method, ("ns",))[0]
    how: dict[str, Any] = {"may_hide": region, "method": method, "min_confidence": confidence, "seed": seed}
    how |= {"other_columns": "keep" if keep else "drop", **ROLES}
    try:
        by_rows = tacit.hide(people, rows=rows, **how)
    except tacit.RepairError as error:
        failure = str(error)
    else:
        failure = ""
    with pytest.MonkeyPatch.context() as patch:
        in_classes(patch)
        if failure:
            with pytest.raises(tacit.RepairError) as caught:
                tacit.hide(people, rows=rows, **how)
            assert str(caught.value) == failure
            return
        made = tacit.hide(people, rows=rows, **how)
    assert made.to_dict() == by_rows.to_dict()
    assert published(made) == published(by_rows)
    assert made.n == n
    assert made.header == by_rows.header
    # Rows stand in the order of what they publish, which tells nothing else.
    shown = [[record[name] or "" for name in made.people.schema.used] for record in made.records()]
    assert shown == sorted(shown)
    # Each person of a class is a row to attacks.
    audits = [tacit.audit(one, k=4, attacks=["T01", "T02", "T03"], max_posterior=0.5) for one in (made, made.one_by_one())]
    assert [one.to_dict() for one in audits[0].findings] == [one.to_dict() for one in audits[1].findings]
    assert [run.measures for run in audits[0].runs] == [run.measures for run in audits[1].runs]
    assert [(run.people, run.reason, run.cautions) for run in audits[0].runs] == [
        (run.people, run.reason, run.cautions) for run in audits[1].runs
    ]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("rows", ["numbers", "condition"])
def test_engines_give_the_same_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: str, ending: str) -> None:
    import duckdb

    n = 3000
    people = made_rows(3, n)
    numbers = np.random.default_rng(1).choice(n, 40, replace=False).tolist()
    path = tmp_path / f"people.{ending}"
    text = tmp_path / "people.csv"
    text.write_text("\n".join([",".join(NAMES), *map(",".join, zip(*people.values(), strict=True))]) + "\n")
    if ending == "parquet":
        with duckdb.connect() as connection:
            sql = f"SELECT * FROM read_csv('{text}', all_varchar = true)"
            connection.execute(f"COPY ({sql}) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 200)")
    chosen = {"numbers": numbers, "condition": "year=year1 and ill=ill0"}[rows]
    in_classes(monkeypatch)
    how: dict[str, Any] = {"rows": chosen, "may_hide": "ns", "min_confidence": 0.3, **ROLES}
    outputs = []
    for engine in ("memory", "duckdb", tacit.engine("duckdb", memory="500MB")):
        made = tacit.hide(path, engine=engine, **how)
        tacit.files.partial.write_partial(made, tmp_path / "out.csv")
        outputs.append((made.to_dict(), (tmp_path / "out.csv").read_bytes(), (tmp_path / "out.csv.json").read_bytes()))
    assert outputs[0] == outputs[1] == outputs[2]
    assert outputs[0][0]["cost"]["cells_hidden"] > 0
    by_rows = tacit.hide(people, **how)
    assert published(by_rows) == published(made)


def test_what_has_no_numbers_needs_a_condition(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_classes(monkeypatch)
    text = tmp_path / "people.csv"
    people = made_rows(3, 50)
    text.write_text("\n".join([",".join(NAMES), *map(",".join, zip(*people.values(), strict=True))]) + "\n")
    with pytest.raises(tacit.OptionError, match=r"--rows: row numbers cannot be combined with --missing-rule drop for more than"):
        hide_source.open_to_hide(text, rows=[1], engine=tacit.engine("duckdb"), missing="?", missing_rule="drop", **ROLES)
    merged = tacit.read_table(text, engine="duckdb", **ROLES)
    made = tacit.hide(merged, rows="ill=ill0", may_hide="sc", min_confidence=0.5)
    assert made.n == 50
