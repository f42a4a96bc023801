"""What leaves: markers planted in data, headings and names of files appear in no external output, and values in no message of any verb."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.shell import tacit

#: Markers: in cells and items, in names of columns, in names of files, in facts, and in what a waiver says.
CELL, COLUMN, FILE, REASON = "Zq7Cell", "Zq7Column", "Zq7File", "Zq7Reason"
MARKERS = (CELL, COLUMN, FILE, REASON)
VERBS = ("demo", "init", "mine", "tabulate", "audit", "explain", "compare", "verify", "repair", "bucketize", "hide", "sweep")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data and releases of every kind, with markers wherever a name or a value can stand."""
    folder = tmp_path_factory.mktemp("canary")
    rows = []
    for number in range(120):
        sex, age = f"{CELL}{'FM'[number % 2]}", f"{CELL}{number % 3}"
        ill = f"{CELL}ill{number % 5 if number % 7 else 'x'}"
        rows.append(f"{sex},{age},{ill}")
    head = f"{COLUMN}sex,{COLUMN}age,{COLUMN}ill\n"
    (folder / f"{FILE}.csv").write_text(head + "\n".join(rows) + "\n")
    (folder / f"{FILE}.dat").write_text(f"{CELL}a {CELL}b\n" * 49 + f"{CELL}a\n" + f"{CELL}c\n" * 20)
    blank = [row.rsplit(",", 1)[0] + "," if number < 4 else row for number, row in enumerate(rows)]
    (folder / f"{FILE}blank.csv").write_text(head + "\n".join(blank) + "\n")
    (folder / "rows.txt").write_text("0\n1\n2\n3\n")
    (folder / f"{FILE}facts.csv").write_text(f"{COLUMN}sex,excluded\n{CELL}F,{CELL}ill0\n")
    roles = ("--qi", f"{COLUMN}sex,{COLUMN}age", "--sa", f"{COLUMN}ill")
    made: list[tuple[object, ...]] = [
        ("mine", "itemsets", folder / f"{FILE}.dat", "--min-support", 10, "-o", folder / f"{FILE}itemsets.csv"),
        (
            "mine",
            "rules",
            folder / f"{FILE}.csv",
            *roles,
            "--min-support",
            10,
            "--min-confidence",
            "17%",
            "-o",
            folder / f"{FILE}rules.csv",
        ),
        ("mine", "negative", folder / f"{FILE}.csv", *roles, "--min-expectation", "50%", "-o", folder / f"{FILE}negative.csv"),
        ("tabulate", folder / f"{FILE}.csv", "--by", f"{COLUMN}sex,{COLUMN}ill", "-o", folder / f"{FILE}cells.csv"),
        ("bucketize", folder / f"{FILE}.csv", *roles, "--l", 2, "-o", folder / f"{FILE}groups"),
    ]
    for command in made:
        done = tacit(*command)
        assert done.exit_code == 0, done.output
    (folder / "several").mkdir()
    for number in (1, 2):
        for end in ("", ".json"):
            content = (folder / f"{FILE}cells.csv{end}").read_text()
            (folder / "several" / f"{FILE}cells{number}.csv{end}").write_text(content)
    (folder / "several" / f"{FILE}notes.txt").write_text(f"{CELL} nothing of use {COLUMN}\n")
    (folder / f"{FILE}policy.toml").write_text(
        f'[risk_appetite]\nsafe_threshold = 8\n[[waivers]]\nevent = {{ present = ["{CELL}a"], absent = ["{CELL}b"] }}\npeople = 1\n'
        f'reason = "{REASON}"\nname = "A. Checker"\n'
    )
    return folder


def roles() -> tuple[str, ...]:
    return ("--qi", f"{COLUMN}sex,{COLUMN}age", "--sa", f"{COLUMN}ill")


def cases(place: Path) -> dict[str, tuple[object, ...]]:
    """What is audited, by name."""
    itemsets, rules = place / f"{FILE}itemsets.csv", place / f"{FILE}rules.csv"
    return {
        "itemsets": (itemsets, "--k", 20),
        "waived": (itemsets, "--policy", place / f"{FILE}policy.toml"),
        "owner": (itemsets, "--data", place / f"{FILE}.dat"),
        "rules": (rules, "--known", place / f"{FILE}.csv", "--max-posterior", "0.3", "--k", 20),
        "rules owner": (rules, "--data", place / f"{FILE}.csv", "--max-gain", "0.01"),
        "buckets": (place / f"{FILE}groups", "--l", 3, "--knowledge", place / f"{FILE}negative.csv"),
        "table": (place / f"{FILE}blank.csv", *roles(), "--rows", place / "rows.txt", "--min-confidence", "0.1"),
        "cells": (place / f"{FILE}cells.csv", "--k", 20),
        "changed": (
            *(place / "several" / f"{FILE}cells{number}.csv" for number in (1, 2)),
            *("--people", f"same,changed:{COLUMN}ill:0-2", "--k", 20, "--time-limit", 20),
        ),
        "folder": (place / "several", "--people", "same", "--k", 20, "--time-limit", 20),
        "several": (rules, place / f"{FILE}cells.csv", "--people", "same", "--k", 20, "--time-limit", 20),
    }


NAMES = ("itemsets", "waived", "owner", "rules", "rules owner", "buckets", "table", "cells", "changed", "folder", "several")


@pytest.mark.parametrize("name", NAMES)
def test_external_outputs_hold_no_value_no_name_and_no_group(name: str, place: Path, tmp_path: Path) -> None:
    words = cases(place)[name]
    files = {"a.html": "--report", "a.json": "--json", "acro": "--acro"}
    outputs = [word for file, option in files.items() for word in (option, tmp_path / file)]
    told = tacit("audit", *words, "--report-kind", "external", *outputs)
    assert told.exit_code in (0, 1, 3), told.output
    more = tacit("audit", *words, "--report-kind", "external", "--report", tmp_path / "a.md", "-q")
    assert more.exit_code == told.exit_code
    quiet = tacit("audit", *words, "--report-kind", "external", "--json", "-")
    said = {"text": told.output, "quiet": more.output, "record": quiet.output}
    said |= {str(path.relative_to(tmp_path)): path.read_text() for path in tmp_path.rglob("*") if path.is_file()}
    assert {"a.html", "a.md", "a.json", "acro/results.json", "acro/config.json", "acro/attacks.csv"} <= set(said)
    for output, content in said.items():
        for marker in MARKERS:
            assert marker not in content.replace(str(tmp_path), ""), f"{output} holds {marker}"
    page = said["a.html"]
    assert not [
        part
        for part in ('class="finding"', "Used by", "Columns behind", "The release", "What to do", "Recommended", "tacit ")
        if part in page
    ]
    inside = tacit("audit", *words, "--report", tmp_path / "inside.html")
    assert any(marker in inside.output for marker in MARKERS)  # inside, they are there
    own = (tmp_path / "inside.html").read_text()
    if inside.exit_code == 1:
        assert own.count('class="finding"') > 0
        assert "Recommended repair" in own or "What to do next" in own
    shown = re.search(r"<h2>The release</h2>(.*?)</section>", own, re.DOTALL)
    assert shown is not None
    assert CELL in shown[1]


def other_verbs(place: Path, out: Path) -> dict[str, tuple[object, ...]]:
    """Every other verb that writes a record or a report, with the reports that it can write."""
    data, baskets, rules, itemsets = (place / f"{FILE}{end}" for end in (".csv", ".dat", "rules.csv", "itemsets.csv"))
    who = f"{COLUMN}sex={CELL}F"
    pages = ("--report", out / "r.html", "--report", out / "r.md")
    grid = (*pages, "--csv", out / "grid.csv", "--picture", out / "grid.svg")
    reported = place / "audit.json"
    assert tacit("audit", itemsets, "--json", reported).exit_code == 1
    return {
        "repair": ("repair", itemsets, "--data", baskets, "-o", out / "y.csv", *pages),
        "repair rules": (
            *("repair", rules, "--data", data, "--method", "withdraw", "--max-posterior", "0.3", "-o", out / "y.csv", *pages),
        ),
        "bucketize": ("bucketize", data, *roles(), "--l", 2, "-o", out / "groups"),
        "hide": ("hide", data, *roles(), "--rows", f"{COLUMN}age={CELL}0", "--may-hide", "sc", "-o", out / "z.csv"),
        "sweep itemsets": ("sweep", "itemsets", baskets, "--min-support", "10,20", *grid),
        "sweep rounding": ("sweep", "rounding", itemsets, "--base", "5,10", *grid),
        "sweep repairs": ("sweep", "repairs", itemsets, "--data", baskets, *grid),
        "sweep rules": ("sweep", "rules", data, *roles(), "--min-support", 5, "--min-confidence", 0.3, *grid),
        "compare": ("compare", rules, "--data", data),
        "compare groups": ("compare", place / f"{FILE}groups", "--data", data, "--queries", 20),
        "explain": ("explain", itemsets),
        "explain record": ("explain", "--audit", reported),
        "explain pattern": ("explain", itemsets, "--pattern", f"{CELL}a and not {CELL}b"),
        "explain who": ("explain", rules, "--known", data, "--who", who),
        "explain member": ("explain", place / f"{FILE}groups", "--who", who),
        "explain blank": (
            "explain",
            place / f"{FILE}blank.csv",
            *roles(),
            "--rows",
            place / "rows.txt",
            "--min-confidence",
            "0.1",
            "--who",
            who,
        ),
        "verify": ("verify", reported, itemsets),
        "mine itemsets": ("mine", "itemsets", baskets, "--min-support", 10),
        "mine rules": ("mine", "rules", data, *roles(), "--min-support", 2, "--min-confidence", "5%"),
        "mine negative": ("mine", "negative", data, *roles(), "--min-expectation", "1%", "--min-confidence", "50%"),
        "init": ("init", data, "--force", "-o", out / "tacit.toml"),
        "register add": ("register", "add", out / "left", itemsets, "--population", "2025", "--note", f"{CELL} note"),
        "tabulate": ("tabulate", data, "--by", f"{COLUMN}sex,{COLUMN}ill"),
    }


OTHERS = (
    *("repair", "repair rules", "bucketize", "hide", "sweep itemsets", "sweep rounding", "sweep repairs"),
    *("sweep rules", "compare", "compare groups", "explain", "explain record", "explain pattern", "explain who"),
    *(
        "explain member",
        "explain blank",
        "verify",
        "mine itemsets",
        "mine rules",
        "mine negative",
        "init",
        "register add",
        "tabulate",
    ),
)
#: Verbs whose text names nothing anyway.
SILENT = frozenset(
    {"repair rules", "bucketize", "sweep itemsets", "sweep rounding", "sweep repairs", "sweep rules", "verify", "init"}
)


@pytest.mark.parametrize("name", OTHERS)
def test_external_outputs_of_other_verbs(name: str, place: Path, tmp_path: Path) -> None:
    words = other_verbs(place, tmp_path)[name]
    told = tacit(*words, "--report-kind", "external", "--json", tmp_path / "x.json")
    assert told.exit_code in (0, 1), told.output
    written = [path for path in tmp_path.iterdir() if path.name in ("x.json", "r.html", "r.md", "grid.csv", "grid.svg")]
    assert len(written) == 1 + sum(word in ("--report", "--csv", "--picture") for word in words)
    said = {path.name: path.read_text() for path in written} | {"text": told.stdout}
    for output, content in said.items():
        for marker in MARKERS:
            assert marker not in content.replace(str(tmp_path), ""), f"{output} holds {marker}"
    record = json.loads(said["x.json"])
    assert record["report_kind"] == "external"
    assert record["headline"] in " ".join(told.stdout.split())
    inside = tacit(*words, "--json", tmp_path / "x.json")
    assert json.loads((tmp_path / "x.json").read_text()).get("report_kind") is None
    if name not in SILENT:  # inside, they are there
        assert any(marker in inside.stdout + (tmp_path / "x.json").read_text() for marker in (CELL, COLUMN))


def test_outputs_that_name_groups_are_not_external(place: Path, tmp_path: Path) -> None:
    rules, data, out = place / f"{FILE}rules.csv", place / f"{FILE}.csv", tmp_path / "out.csv"
    refused = (
        ("audit", rules, "--findings", out),
        ("compare", rules, "--data", data, "--csv", out),
        ("explain", rules, "--picture", tmp_path / "out.svg"),
    )
    for words in refused:
        done = tacit(*words, "--report-kind", "external")
        assert done.exit_code == 2
        assert "names groups of people, which an external output may not" in done.stderr
        assert not list(tmp_path.iterdir())


def test_an_entry_that_the_filter_does_not_know_stays_inside() -> None:
    from tacit.reports.external import external_record

    inner = {
        "verdict": "clean",
        "n": 3,
        "new": 5,
        "reason": CELL,
        CELL: 1,
        "by_column": {COLUMN: 2},
        "qi": [COLUMN],
        "count": [1, 2],
    }
    kept = external_record({"format": "x", "before": inner, "cells": [inner], "changes": [1, 2]}, "said")
    inner_kept = {"verdict": "clean", "n": 3, "count": [1, 2]}
    assert kept["before"] == kept["cells"][0] == inner_kept
    assert kept["changed_lines"] == 2


def good_and_bad(place: Path, out: Path) -> list[tuple[object, ...]]:
    """Commands of every verb, good and bad."""
    data, baskets, rules, itemsets = (place / f"{FILE}{end}" for end in (".csv", ".dat", "rules.csv", "itemsets.csv"))
    broken = out / "broken.csv"
    broken.write_text(f"{COLUMN}sex,{COLUMN}ill\n{CELL},x\n{CELL},x,y\n")
    bad_release = out / "bad.csv"
    bad_release.write_text(f'itemset,count,support\n"[""{CELL}""]",{CELL},\n')
    bad_record = out / "bad.json"
    bad_record.write_text(f'{{"format": "tacit.audit/1", "findings": ["{CELL}"]}}')
    contradicting = out / "contradicting.csv"
    contradicting.write_text(f'itemset,count,support\n"[""{CELL}""]",4,\n"[""{CELL}"", ""b""]",5,\n')
    many: list[tuple[object, ...]] = []
    for file in (broken, bad_release, contradicting, bad_record, out / "none.csv", out):
        many += [
            ("init", file, "-o", out / "x.toml", "--force"),
            ("mine", "itemsets", file, "--min-support", 2),
            ("mine", "rules", file, *roles(), "--min-support", 2, "--min-confidence", 0.5),
            ("mine", "negative", file, *roles(), "--min-expectation", 0.9),
            ("tabulate", file, "--by", f"{COLUMN}sex"),
            ("audit", file, "--n", 9),
            ("audit", itemsets, "--data", file),
            ("audit", rules, "--known", file),
            ("audit", place / f"{FILE}groups", "--knowledge", file),
            ("audit", itemsets, "--policy", file),
            ("audit", itemsets, "--config", file),
            ("explain", file, "--finding", "I01-000000000000"),
            ("explain", rules, "--known", data, "--who", f"{COLUMN}sex={CELL}nobody"),
            ("compare", file, data),
            ("verify", file, itemsets),
            ("repair", file, "--method", "round", "-o", out / "y.csv"),
            ("bucketize", file, *roles(), "--l", 2, "-o", out / "groups"),
            ("hide", file, *roles(), "--rows", "0", "--may-hide", "sc", "-o", out / "z.csv"),
            ("sweep", "itemsets", file, "--min-support", 2),
            ("sweep", "rounding", file),
            ("sweep", "rules", file, *roles(), "--min-support", 2, "--min-confidence", 0.5),
        ]
    many += [
        ("bucketize", data, *roles(), "--l", 60, "-o", out / "groups"),
        ("hide", data, *roles(), "--rows", place / f"{FILE}.csv", "--may-hide", "sc", "-o", out / "z.csv"),
        ("repair", itemsets, "--method", "substitute", "--data", baskets, "-o", out / "y.csv"),
        ("repair", rules, "--method", "withdraw", "--data", data, "-o", out / "y2.csv"),
        ("sweep", "itemsets", baskets, "--min-support", 10),
        ("mine", "itemsets", baskets, "--min-support", f"{CELL}%"),
        ("audit", itemsets, "--time-limit", "0.000001"),
        ("audit", itemsets, "--date", "yesterday"),
    ]
    return many


def test_no_message_of_any_verb_holds_a_value(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ended: dict[Any, int] = {}
    for words in good_and_bad(place, tmp_path):
        done = tacit(*words)
        assert done.exit_code in (0, 1, 2, 3), (words, done.output)
        typed = any(CELL in str(word) for word in words)  # what somebody typed may be told back
        if not typed:
            assert CELL not in done.stderr, (words, done.stderr)
        ended[words[0]] = ended.get(words[0], 0) + (done.exit_code == 2)
    assert set(VERBS) - {"demo"} == set(ended)
    assert all(ended.values()), ended  # every verb was seen to complain
