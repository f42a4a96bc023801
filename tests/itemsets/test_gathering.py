"""Channels on their way out: packed into numbers or as columns, kept or handed on, always worst first."""

from __future__ import annotations

import csv
import gzip
import json
import random
from collections import Counter
from pathlib import Path

import duckdb
import numpy as np
import pytest

import tacit
from tacit.files.findings import FindingsFile
from tacit.itemsets import inference_channels as gathering
from tacit.itemsets.inference_channels import Channels, Gatherer, PackedChannels, Packing, columns_of, lengths_of, worst_first
from tacit.model.finding import BoxEvent
from tacit.model.numbers import Bound
from tacit.model.release import Itemsets


def made(seed: int, *, longest: int = 5) -> tuple[Itemsets, list[Channels]]:
    """A release, and channels on its sets in pieces."""
    chance = random.Random(seed)
    names = [f"i{number}" for number in range(longest)]
    rows = [[name for name in names if chance.random() < 0.8] for _ in range(40)]
    release = tacit.mine_itemsets(rows, min_support=1)
    pieces = []
    for lines in np.array_split(chance.sample(range(len(release)), min(9, len(release))), 3):
        line = np.repeat(lines, 3)
        present = np.array([chance.getrandbits(int(release.sets.lengths[one])) for one in line], np.uint64)
        size = np.array([chance.randint(1, 9) for _ in line], np.int64)
        pieces.append(Channels(line, present[:, None], size, size))
    return release, pieces


def as_rows(channels: Channels | PackedChannels) -> list[tuple[object, ...]]:
    if isinstance(channels, PackedChannels):
        channels = channels.unpacked
    return list(zip(channels.line.tolist(), channels.present.tolist(), channels.lo.tolist(), channels.hi.tolist(), strict=True))


@pytest.mark.parametrize("seed", range(10))
def test_packed_channels_come_out_as_columns_would(seed: int) -> None:
    release, pieces = made(seed)
    packed, plain = Gatherer(release, 10, exact=True), Gatherer(release, 10, exact=False)
    for piece in pieces:
        packed.add(piece)
        plain.add(piece)
    assert as_rows(packed.worst_first()) == as_rows(plain.worst_first())
    assert as_rows(plain.worst_first()) == as_rows(worst_first(Channels.concatenate(pieces), lengths_of(release)))
    assert packed.people == plain.people
    assert packed.is_empty is plain.is_empty is False
    columns = packed.worst_first()
    assert isinstance(columns, PackedChannels)
    assert {name: column.tolist() for name, column in columns.items()} == {
        name: column.tolist() for name, column in columns_of(columns.unpacked).items()
    }
    for place in range(len(columns.packed)):
        assert as_rows(columns.take(np.array([place]))) == as_rows(columns.unpacked)[place : place + 1]
    assert columns.sizes == dict(sorted(Counter(columns["count_hi"].tolist()).items()))
    severity = columns.packing.severity(columns.packed)
    lengths = columns.unpacked.lengths(packed.lengths)
    assert severity.tolist() == [
        size * 2**16 + length for size, length in zip(columns["count"].tolist(), lengths.tolist(), strict=True)
    ]


@pytest.mark.parametrize("exact", [True, False])
def test_of_channels_that_are_handed_on_the_worst_are_kept(exact: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "KEPT", 2)
    release, pieces = made(3)
    handed: list[Channels] = []
    gatherer = Gatherer(release, 10, exact, handed.append)
    for piece in pieces:
        gatherer.add(piece)
    everything = as_rows(worst_first(Channels.concatenate(pieces), lengths_of(release)))
    kept = as_rows(gatherer.worst_first())
    assert kept[:2] == everything[:2]
    assert len(kept) < len(everything)
    assert sorted(as_rows(Channels.concatenate(handed))) == sorted(everything)
    assert sum(gatherer.sizes.values()) == len(everything)


def test_a_channel_that_does_not_fit_into_64_bits_is_not_packed() -> None:
    assert Packing.of(tacit.mine_itemsets([[str(i) for i in range(60)]] * 3, min_support=3, only="closed"), 10) is None


def table(path: Path) -> list[tuple[str, int, int, str]]:
    with duckdb.connect() as con:
        found: list[tuple[str, int, int, str]] = con.execute(
            "SELECT attack, count_lo, count_hi, event FROM read_parquet(?)", [str(path)]
        ).fetchall()
    return found


def both_ways(rows: list[list[str]], path: Path, *, digits: bool = False, **options: object) -> None:
    """The file holds exactly what an audit without it holds."""
    release: tacit.Itemsets | Path = tacit.mine_itemsets(rows, min_support=4)
    if digits:
        release = path.with_name("rounded.csv")
        text = "".join(
            f'"{json.dumps(line["itemset"]).replace(chr(34), chr(34) * 2)}",,{line["support"]:.1f}\n'
            for line in tacit.mine_itemsets(rows, min_support=4).records()
        )
        release.write_text("itemset,count,support\n" + text)
        head = {"format": "tacit.itemsets/1", "n": len(rows), "complete": False, "digits": 1}
        release.with_name("rounded.csv.json").write_text(json.dumps(head))
    kept = tacit.audit(release, policy=tacit.Policy(k=5), **options)  # type: ignore[arg-type]
    streamed = tacit.audit(release, policy=tacit.Policy(k=5), findings_to=path, **options)  # type: ignore[arg-type]
    assert streamed.verdict == kept.verdict
    assert [run.to_dict() for run in streamed.runs] == [run.to_dict() for run in kept.runs]
    wanted = [(f.code, f.count.lo, f.count.hi, f.event.to_dict()) for f in kept.findings]
    found = [(code, lo, hi, json.loads(event)) for code, lo, hi, event in table(path)]
    assert len(wanted) > 0
    assert sorted(found, key=str) == sorted(wanted, key=str)


def test_the_file_holds_every_finding_of_every_attack(tmp_path: Path) -> None:
    chance = random.Random(5)
    rows = [[name for name in ("a", 'b "x"', "c\x1f", "d'", "ä") if chance.random() < 0.7] for _ in range(30)]
    both_ways(rows, tmp_path / "found.parquet")
    both_ways(rows, tmp_path / "found.parquet", data=rows)
    both_ways([["a", "b"]] * 9 + [["a"]] * 2, tmp_path / "found.parquet", digits=True)


def test_the_file_holds_sets_longer_than_a_word(tmp_path: Path) -> None:
    rows = [[f"i{number}" for number in range(70)]] * 9 + [[f"i{number}" for number in range(70) if number not in (3, 67)]]
    release = tacit.mine_itemsets(rows, min_support=5, only="closed")
    streamed = tacit.audit(release, data=rows, attacks=["I01"], findings_to=tmp_path / "found.parquet")
    events = [json.loads(event) for _, _, _, event in table(tmp_path / "found.parquet")]
    assert {"present": streamed.findings[0].to_dict()["event"]["present"], "absent": ["i3", "i67"]} in events
    assert len(events) == streamed.attack("I01").findings


def test_findings_as_csv(tmp_path: Path) -> None:
    rows = [["a", "b"]] * 49 + [["a"]]
    for name in ("found.csv", "found.csv.gz"):
        tacit.audit(tacit.mine_itemsets(rows, min_support=40), findings_to=tmp_path / name)
        raw = (tmp_path / name).read_bytes()
        lines = list(csv.DictReader((gzip.decompress(raw) if name.endswith("gz") else raw).decode().splitlines()))
        one = {"count_lo": "1", "count_hi": "1"}
        assert lines == [
            {"attack": "I01", **one, "event": '{"present":["a"],"absent":["b"]}'},
            {"attack": "X01", **one, "event": '{"present":[],"absent":["b"]}'},
        ]


def test_nothing_found_is_a_file_without_lines(tmp_path: Path) -> None:
    assert tacit.audit(tacit.mine_itemsets([["a"]] * 20, min_support=10), findings_to=tmp_path / "f.csv").ok
    assert (tmp_path / "f.csv").read_text() == "attack,count_lo,count_hi,event\n"


def test_a_file_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    target = tmp_path / "found.parquet"

    def broken() -> None:
        with FindingsFile(target) as stream:
            stream.add_events("X", [(BoxEvent({"a": ("1",)}), Bound(1, 1))])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        broken()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(tacit.OptionError, match="ending"):
        FindingsFile(tmp_path / "found.txt")


def test_one_finding_is_enough_for_a_yes() -> None:
    rows = [["a", "b"]] * 49 + [["a"]] + [["c", "d"]] * 45 + [["c"]] * 2
    release = tacit.mine_itemsets(rows, min_support=40)
    for data in (None, rows):
        found = tacit.audit(release, data=data, first_hit=True)
        assert found.verdict == "exposed"
        assert found.attack("I01").status == "stopped"
        assert 0 < found.attack("I01").findings < tacit.audit(release).attack("I01").findings
        assert found.attack("I02").reason == "not begun: one finding was enough"
    clean = tacit.mine_itemsets([["a"]] * 20, min_support=10)
    assert tacit.audit(clean, first_hit=True).verdict == "clean"
    assert tacit.audit(release, attacks=["I02"], first_hit=True).attack("I02").status == "ran"
