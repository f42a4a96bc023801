"""What a mined release says is what is read from its file."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from tacit.files.releases import read_release, write_release
from tacit.mining.itemsets import mine_itemsets
from tacit.mining.rules import mine_rules
from tacit.model.release import Itemsets, Rules
from tacit.model.table import Schema, Table


def people() -> Table:
    rng = random.Random(5)
    rows = []
    for _ in range(137):
        first = rng.choice("aab")
        rows.append((first, rng.choice("xyz"), rng.choice("01"), first if rng.random() < 0.6 else rng.choice("abc")))
    return Table.from_rows(["q1", "q2", "q3", "sa"], rows, Schema(qi=("q1", "q2", "q3"), sa=("sa",)))


FORMS: list[dict[str, Any]] = [
    {},
    {"withhold_values": True},
    {"digits": 1},
    {"digits": 2, "strict": True},
    {"digits": 3, "incomplete": True, "publish_sa_distribution": True},
    {"digits": 1, "with_confidence": True},
    {"digits": 2, "with_confidence": True, "strict": True},
    {"digits": 6, "with_confidence": True},
]


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("min_confidence", [0, 0.4, 0.625])
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_rules(form: dict[str, Any], min_confidence: float, ending: str, tmp_path: Path) -> None:
    mined = mine_rules(people(), min_support=4, min_confidence=min_confidence, **form)
    assert len(mined) > 10
    write_release(mined, tmp_path / f"rules{ending}")
    read = read_release(tmp_path / f"rules{ending}")
    assert isinstance(read, Rules)
    assert list(read.records()) == list(mined.records())
    for name in ("lo", "hi", "whole_lo", "whole_hi"):
        assert getattr(read, name).tolist() == getattr(mined, name).tolist(), name
    assert read.header == mined.header


@pytest.mark.parametrize("only", ["all", "closed", "maximal"])
def test_itemsets(only: Any, tmp_path: Path) -> None:
    mined = mine_itemsets(people(), min_support=4, only=only)
    write_release(mined, tmp_path / "itemsets.csv")
    read = read_release(tmp_path / "itemsets.csv")
    assert isinstance(read, Itemsets)
    assert list(read.records()) == list(mined.records())
    assert (read.lo.tolist(), read.hi.tolist(), read.only, read.header) == (
        mined.lo.tolist(),
        mined.hi.tolist(),
        only,
        mined.header,
    )
    assert sorted(read.items.names) == sorted(mined.items.names)
