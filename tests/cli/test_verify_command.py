"""``tacit verify``: true records hold, forged ones do not, and hostile ones end in one sentence."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tacit as library
from tacit.model.audit import bound
from tests.checker.made_records import MADE, write, write_itemsets
from tests.shell import record, tacit

Record = dict[str, Any]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an exposed list, a clean one, and the records of both."""
    monkeypatch.chdir(tmp_path)
    write_itemsets(tmp_path / "exposed.csv", "a:50 a+b:49", n=100)
    write_itemsets(tmp_path / "clean.csv", "a:50 a+b:30", n=100)
    for name, code in (("exposed", 1), ("clean", 0)):
        made = record("audit", f"{name}.csv", code=code)
        Path(f"{name}.json").write_text(json.dumps(made))
    return tmp_path


def forge(change: Callable[[Record], None], *, name: str = "exposed", seal: bool = True) -> None:
    """Write ``forged.json``: the record with a change, and its digest computed anew."""
    made = json.loads(Path(f"{name}.json").read_text())
    change(made)
    Path("forged.json").write_text(json.dumps(bound(made) if seal else made))


def call_it_clean(made: Record) -> None:
    for attack in made["attacks"]:
        attack |= {"findings": 0, "people": 0}
    made |= {"findings": [], "verdict": "clean"}
    made["measures"]["groups_of_one"] = 0


@pytest.mark.parametrize("seal", [True, False])
def test_a_forged_clean_record_is_rejected(folder: Path, seal: bool) -> None:
    forge(call_it_clean, seal=seal)
    done = tacit("verify", "forged.json", "exposed.csv")
    assert done.exit_code == 1
    assert ("audited again, the release is exposed, not clean" if seal else "its digest is another") in done.stdout
    assert tacit("verify", "forged.json", "exposed.csv", "--no-audit").exit_code == (3 if seal else 1)


def test_a_clean_record_is_confirmed_by_a_new_audit(folder: Path) -> None:
    done = tacit("verify", "clean.json", "clean.csv")
    assert (done.exit_code, done.stdout) == (0, "HOLDS: audited again with the same outcome.\n")
    assert record("verify", "clean.json", "clean.csv")["audited_again"] is True
    done = tacit("verify", "clean.json", "clean.csv", "--no-audit")
    assert done.exit_code == 3
    assert done.stdout.startswith("CANNOT CONFIRM: ")


def test_a_clean_record_of_more_than_the_release_needs_the_same_again(folder: Path) -> None:
    Path("rows.dat").write_text("a b\n" * 30 + "a\n" * 20 + "c\n" * 50)
    made = record("audit", "clean.csv", "--data", "rows.dat", code=0)
    Path("data.json").write_text(json.dumps(made))
    done = tacit("verify", "data.json", "clean.csv")
    assert done.exit_code == 3
    assert "give the same to audit again" in done.stdout
    assert tacit("verify", "data.json", "clean.csv", "--data", "rows.dat").exit_code == 0
    Path("rows.dat").write_text("a b\n" * 30 + "a\n" * 20 + "d\n" * 50)
    done = tacit("verify", "data.json", "clean.csv", "--data", "rows.dat")
    assert done.exit_code == 1
    assert "rows.dat: this is not the file that was audited" in done.stdout


def test_an_exposed_record_says_what_it_does_not_confirm(folder: Path) -> None:
    made = record("audit", "exposed.csv", "--top", "0", code=1)
    Path("none.json").write_text(json.dumps(made))
    done = tacit("verify", "none.json", "exposed.csv")
    assert "counts 1 proved finding and lists 0" in " ".join(done.stdout.split())
    assert tacit("verify", "none.json", "exposed.csv", "--again").exit_code == 0


def test_another_file_is_told_by_its_hash_before_anything_else(folder: Path) -> None:
    done = tacit("verify", "exposed.json", "clean.csv")
    assert done.exit_code == 1
    text = " ".join(done.stdout.split())
    mine, audited = (json.loads(Path(f"{name}.json").read_text())["release"][0]["sha256"] for name in ("clean", "exposed"))
    assert (
        f"clean.csv: this is not the file that was audited (SHA-256 {audited[:12]}.. there, {mine[:12]}.. here). Give the audited file."
        in text
    )
    Path("exposed.csv").write_text("no release at all")
    assert "exposed.csv: this is not the file that was audited" in tacit("verify", "exposed.json", "exposed.csv").stdout


def test_another_header_is_told_by_its_hash(folder: Path) -> None:
    write_itemsets(folder / "rounded.csv", "a:500 a+b:490", n=1000, rounding={"base": 10})
    made = tacit("audit", "rounded.csv", "--json", "rounded.json")
    assert made.exit_code in (0, 3)
    Path("rounded.csv.json").write_text('{"format": "tacit.itemsets/1", "n": 1000}')
    done = tacit("verify", "rounded.json", "rounded.csv")
    assert done.exit_code == 1
    assert "rounded.csv: its header is not the one that was audited" in " ".join(done.stdout.split())
    Path("rounded.csv.json").unlink()
    assert "had a header file when it was audited" in " ".join(tacit("verify", "rounded.json", "rounded.csv").stdout.split())


def test_a_record_without_a_hash_accepts_no_file(folder: Path) -> None:
    def drop(made: Record) -> None:
        made["release"][0]["sha256"] = None

    forge(drop)
    assert tacit("verify", "forged.json", "exposed.csv").exit_code == 1


def test_n_is_taken_from_the_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "list.txt", "a #SUP: 100/b #SUP: 98/a b #SUP: 97")
    Path("audit.json").write_text(json.dumps(record("audit", "list.txt", "--n", "1000", code=1)))
    assert tacit("verify", "audit.json", "list.txt").exit_code == 0


@pytest.mark.parametrize(
    "name", ["channels", "unpublished", "rules", "together", "nested", "churn", "changed", "family", "cells"]
)
def test_no_sentence_can_be_cut_out_added_or_changed(name: str, tmp_path: Path) -> None:
    made, files = MADE[name](tmp_path)
    text = json.dumps(made)
    assert library.verify(json.loads(text), files).ok
    for number in range(min(4, len(made["findings"]))):
        steps = len(made["findings"][number]["steps"])
        for place in range(steps):
            for change in ("cut", "add", "swap", "word"):
                forged = json.loads(text)
                told = forged["findings"][number]["steps"]
                if change == "cut":
                    del told[place]
                elif change == "add":
                    told.insert(place, "Bob Smith has HIV.")
                elif change == "swap":
                    told[place] = "Bob Smith has HIV."
                else:
                    told[place] = told[place].replace("people", "sick people", 1) + " Bob Smith has HIV."
                outcome = library.verify(bound(forged), files)
                assert not outcome.ok, (number, place, change)
        forged = json.loads(text)
        forged["findings"][number]["statement"] += " Bob Smith has HIV."
        assert not library.verify(bound(forged), files).ok


def without_column(made: Record) -> None:
    del made["findings"][0]["certificate"]["least"][0]["event"][0]["column"]


def endless_weight(made: Record) -> None:
    made["findings"][0]["certificate"]["least"][0]["weights"][0]["weight"] = "1e99999999"


def long_weight(made: Record) -> None:
    made["findings"][0]["certificate"]["least"][0]["weights"][0]["weight"] = "9" * 300_000


def huge_count(made: Record) -> None:
    made["findings"][0]["count"] = [10**400, 10**400]


def deep_cases(made: Record) -> None:
    step = made["findings"][0]["certificate"]["least"][0]
    case: Record = {"weights": step.pop("weights")}
    for _ in range(300):
        case = {"split": {"event": step["event"], "at": 1}, "le": case, "ge": {"weights": []}}
    step |= case


def many_populations(made: Record) -> None:
    made["adversary"]["population"] = [0, 10**17]


@pytest.mark.parametrize("change", [without_column, endless_weight, long_weight, huge_count, deep_cases, many_populations])
def test_hostile_records_end_at_once_in_one_sentence(change: Callable[[Record], None], tmp_path: Path) -> None:
    made, files = MADE["cells"](tmp_path)
    made = json.loads(json.dumps(made))
    change(made)
    path = tmp_path / "hostile.json"
    path.write_text(json.dumps(bound(made)))
    done = subprocess.run(
        [sys.executable, "-m", "tacit", "verify", path, *files], capture_output=True, timeout=30, check=False, text=True
    )
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "text", ['{"verdict": "clean", "verdict": "exposed"}', '{"a": NaN}', '{"a": 1e999}', "[" * 100_000, '{"a": ' + "9" * 99 + "}"]
)
def test_what_is_no_record_is_refused(text: str, folder: Path) -> None:
    Path("bad.json").write_text(text)
    done = tacit("verify", "bad.json", "exposed.csv")
    assert done.exit_code == 2
    assert done.stderr.startswith("bad.json: is not a record of an audit.")


def test_only_a_later_release_tells_about_known_people(tmp_path: Path) -> None:
    header = {
        "format": "tacit.rules/1",
        "n": 5,
        "qi": ["sex", "job"],
        "sa": ["ill"],
        "sa_values": ["flu", "cold"],
        "complete": False,
    }
    silent = write(
        tmp_path / "a.csv", "antecedent,consequent,count,support,confidence", header | {"min_support": 5, "min_confidence": 1.0}
    )
    rule = '"{""sex"": ""F"", ""job"": ""cook""}",flu,2,0.4,1.0'
    lines = f"antecedent,consequent,count,support,confidence/{rule}"
    telling = write(tmp_path / "b.csv", lines, header | {"min_support": 2, "min_confidence": 1.0})
    known = write(tmp_path / "known.csv", "sex,job/F,cook/F,cook/M,cook/M,clerk/F,clerk")
    out = tmp_path / "audit.json"
    for files in ((silent, telling), (telling, silent)):
        for people in ("same", "unknown"):
            done = tacit("audit", *files, "--people", people, "--known", known, "--json", out)
            assert done.exit_code == 1
            assert "R03" in {finding["code"] for finding in json.loads(out.read_text())["findings"]}
            assert tacit("verify", out, *files).exit_code == 0
            assert tacit("verify", out, *files, "--known", known).exit_code == 0


def test_proofs_are_checked_without_the_code_of_the_attacks(folder: Path) -> None:
    program = (
        "import runpy, sys\n"
        "sys.argv = ['tacit', 'verify', 'exposed.json', 'exposed.csv']\n"
        "try:\n    runpy.run_module('tacit', run_name='__main__')\n"
        "except SystemExit as end:\n    code = end.code\n"
        "heavy = ('numba', 'scipy', 'tacit.verbs.attacks', 'tacit.solve', 'tacit.kernels', 'tacit.verbs.audit')\n"
        "print(code, sorted(name for name in sys.modules if name.startswith(heavy)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True, cwd=folder)
    assert done.stdout.splitlines()[-1] == "0 []"
