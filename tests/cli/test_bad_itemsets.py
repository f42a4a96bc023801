"""Itemsets from other hands, as a user audits them: without n, contradicting, and not what they claim to be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.shell import record, tacit

FILES = {
    "spmf.txt": "a #SUP: 50\nb #SUP: 80\na b #SUP: 49\n",
    "fimi.out": "a (50)\nb (180)\na b (49)\n",
    "arules.csv": '"","items","support","count"\n"1","{a}",0.5,50\n"2","{b}",0.8,80\n"3","{a,b}",0.49,49\n',
    "own.csv": 'itemset,count,support\n"[""a""]",50,\n"[""b""]",80,\n"[""a"", ""b""]",49,\n',
}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def own(header: dict[str, object], *lines: tuple[str, int]) -> str:
    """An own release file with these lines, and its header."""
    text = "".join(f'"{json.dumps(items.split()).replace(chr(34), chr(34) * 2)}",{count},\n' for items, count in lines)
    Path("r.csv").write_text("itemset,count,support\n" + text)
    Path("r.csv.json").write_text(json.dumps({"format": "tacit.itemsets/1"} | header))
    return "r.csv"


@pytest.mark.parametrize("name", FILES)
def test_counts_without_n_expose_what_needs_no_n(name: str) -> None:
    Path(name).write_text(FILES[name])
    audit = record("audit", name, code=1)
    assert audit["release"][0]["n"] is None
    assert [finding["statement"] for finding in audit["findings"]] == ["1 person has a but not b."]
    assert audit["attacks"][0]["undecided"] == 1
    assert "number of people is not known" in audit["attacks"][0]["reason"]
    Path("audit.json").write_text(json.dumps(audit))
    assert tacit("verify", "audit.json", name).exit_code == 0
    assert record("audit", name, "--k", "1", code=3)["verdict"] == "incomplete"
    assert tacit("explain", name).exit_code == 0


def test_shares_without_n_ask_for_it() -> None:
    Path("mlxtend.csv").write_text("support,itemsets\n0.5,\"frozenset({'a'})\"\n0.49,\"frozenset({'a', 'b'})\"\n")
    result = tacit("audit", "mlxtend.csv")
    assert result.exit_code == 2
    assert result.stderr.endswith("Give the data with --data, or the number of people with --n N (Python: n=N).\n")
    assert tacit("audit", "mlxtend.csv", "--n", "100").exit_code == 1


def test_a_repair_without_n_and_data_keeps_what_gives_nothing_away() -> None:
    Path("own.csv").write_text(FILES["own.csv"])
    done = record("repair", "own.csv", "--method", "raise-threshold", "-o", "safe.csv", code=1)
    assert (done["before"]["verdict"], done["after"]["verdict"]) == ("exposed", "incomplete")
    assert done["cost"]["itemsets_lost"] == 1
    assert "people_before" not in done["cost"]
    Path("people.dat").write_text("a b\n" * 49 + "a\n" + "b\n" * 31 + "c\n" * 19)
    done = record("repair", "own.csv", "--method", "raise-threshold", "--data", "people.dat", "-o", "safe.csv")
    assert (done["after"]["verdict"], done["cost"]["people_before"]) == ("clean", 100)


def test_lines_that_clash_are_named() -> None:
    lines = [("a", 60), ("b", 60), ("c", 60), ("a b", 50), ("a c", 50), ("b c", 30), ("a b c", 30)]
    result = tacit("audit", own({"n": 100}, *lines))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr == (
        "r.csv, lines 2, 5, 6 and 8: the counts cannot all be true: line 2 + line 8 - line 5 - line 6 is a number of people, and comes to "
        "-10. Check these lines, the number of people and how numbers were rounded (--rounding).\n"
    )
    result = tacit("audit", own({"n": 4}, ("a", 3), ("b", 3), ("a b", 1)))
    assert result.stderr.startswith(
        "r.csv, lines 2, 3 and 4: the counts cannot all be true: n + line 4 - line 2 - line 3 is a number of people, and comes to -1. "
    )
    rounded = own({"n": 100, "rounding": {"base": 5}}, *lines)
    assert "comes to at most -2. Check" in tacit("audit", rounded).stderr
    assert tacit("audit", own({"n": 100, "rounding": {"base": 10}}, *lines)).exit_code == 0


def test_a_list_that_leaves_something_out_is_refused_unless_it_says_so() -> None:
    gap = own({"n": 100, "complete": True, "min_support": 20}, ("a", 60), ("a b", 50))
    result = tacit("audit", gap)
    assert result.exit_code == 2
    assert result.stderr.startswith("r.csv, line 3: the list cannot be complete: a part of this itemset is on no line")
    assert record("audit", gap, "--incomplete")["adversary"]["knows_that_the_list_is_complete"] is False
    forced = own({"n": 100, "complete": True, "min_support": 20}, ("a", 60), ("b", 70))
    result = tacit("audit", forced)
    assert result.exit_code == 2
    assert "at least line 2 + line 3 - n = 30 people have an itemset that it leaves out, and its threshold is 20" in result.stderr
    assert tacit("audit", forced, "--incomplete").exit_code == 0


def test_closed_and_complete_can_be_said_on_the_command_line() -> None:
    Path("closed.txt").write_text("b #SUP: 80\na b #SUP: 50\na b c #SUP: 47\n")
    said = record("audit", "closed.txt", "--n", "90", "--only", "closed", "--complete", "--k", "5", code=1)
    assert said["findings"][0]["statement"] == "3 people have a and b but not c."
    audit = record("audit", "closed.txt", "--n", "90", "--only", "closed", "--k", "5", code=1)
    assert audit["attacks"][0]["findings"] <= said["attacks"][0]["findings"]
    result = tacit("audit", "closed.txt", "--only", "maximal")
    assert result.exit_code == 2
    assert result.stderr.startswith("closed.txt, lines 1 and ")
