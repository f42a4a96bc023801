"""Reports as files: the same facts in every form, the same bytes again, and a folder as SACRO-Viewer wants it."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from datetime import date
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.model.audit import Audit
from tacit.model.errors import OptionError
from tacit.model.policy import Waiver
from tacit.reports.audit import audit_text
from tacit.reports.pages import plain
from tacit.reports.record import audit_record
from tests.reports.audit_cases import audit_html, audit_markdown
from tests.reports.test_html import check_stands_alone
from tests.shell import tacit as command

KINDS = ("internal", "external")
BASKETS = [["a", "b"]] * 49 + [["a"]] + [["c", "d"]] * 45 + [["c"]] * 2 + [["e"]] * 20
PEOPLE = {
    "sex": ["F", "M"] * 40,
    "age": ["old", "old", "young", "young"] * 20,
    "ill": ["yes", "no", "no", "no", "yes", "no", "yes", "no"] * 10,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Releases of several kinds as files."""
    place = tmp_path_factory.mktemp("releases")
    mined = tacit.mine_itemsets(tacit.read_transactions(BASKETS), min_support=20)
    tacit.write_release(mined, place / "itemsets.csv")
    people = tacit.read_table(PEOPLE, qi=["sex", "age"], sa="ill")
    tacit.write_release(tacit.mine_rules(people, min_support=5, min_confidence=0.6), place / "rules.csv")
    (place / "table.csv").write_text("sex,age,job\n" + "F,old,x\n" * 30 + "F,old,\n" + "M,old,y\n" * 30)
    (place / "people.csv").write_text(
        "sex,age,ill\n" + "".join(f"{a},{b},{c}\n" for a, b, c in zip(*PEOPLE.values(), strict=True))
    )
    assert (
        command("bucketize", place / "people.csv", "--qi", "sex,age", "--sa", "ill", "--l", 2, "-o", place / "groups").exit_code
        == 0
    )
    return place


#: Options of each kind of release; the first words are files.
CASES: dict[str, tuple[str, ...]] = {
    "itemsets": ("itemsets.csv",),
    "clean": ("itemsets.csv", "--k", "1"),
    "incomplete": ("itemsets.csv", "--attack", "R01"),
    "rules": ("rules.csv", "--known", "people.csv", "--max-posterior", "0.6"),
    "table": ("table.csv", "--qi", "sex,age", "--sa", "job", "--min-confidence", "0.6"),
    "buckets": ("groups", "--l", "3"),
}
CODES = {"exposed": 1, "clean": 0, "incomplete": 3}


def attacks_of(record: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    return {
        one["code"]: tuple(one[name] for name in ("findings", "waived", "undecided"))
        for one in record["attacks"]
        if one["status"] in ("ran", "stopped")
    }


def attacks_in_rows(rows: list[list[str]]) -> dict[str, tuple[int, ...]]:
    """Code, findings, waived and undecided from the cells of a report's table of attacks."""
    found = {}
    for row in rows:
        if len(row) == 8 and re.fullmatch(r"[A-Z]\d\d", row[0]) and row[3] in ("ran", "stopped"):
            found[row[0]] = tuple(int(cell.replace(",", "")) for cell in row[4:7])
    return found


def cells_of_html(page: str) -> list[list[str]]:
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", page, re.DOTALL)
    return [
        [unescape(re.sub(r"<[^>]*>", "", cell)) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)]
        for row in rows
    ]


def cells_of_markdown(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[re.sub(r"\\(.)", r"\1", cell.strip()) for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def attacks_in_text(text: str) -> dict[str, tuple[int, ...]]:
    found, flat = {}, re.sub(r"\n +(?! )(?![A-Z]\d\d )", " ", text)
    for code, ended in re.findall(r"^\s+([A-Z]\d\d) [\w-]+: (?:ran|STOPPED EARLY), \w+, (.*)$", flat, re.MULTILINE):
        numbers = [
            re.search(r"([\d,]+) findings?", ended),
            re.search(r"([\d,]+) of them waived", ended),
            re.search(r"([\d,]+) left undecided", ended),
        ]
        found[code] = tuple(int(one[1].replace(",", "")) if one else 0 for one in numbers)
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", CASES)
def test_every_form_says_the_same(case: str, kind: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    made: list[dict[str, bytes]] = []
    for turn in ("first", "second"):
        out = tmp_path / turn
        out.mkdir()
        options = ("--report-kind", kind, "--json", out / "a.json", "--acro", out / "acro", "--date", "2026-11-15")
        shown = command("audit", *CASES[case], "--report", out / "a.html", *options, "-v")
        record = json.loads((out / "a.json").read_bytes())
        assert shown.exit_code == CODES[record["verdict"]], shown.output
        assert command("audit", *CASES[case], "--report", out / "a.md", "--report-kind", kind).exit_code == shown.exit_code
        made.append({str(one.relative_to(out)): one.read_bytes() for one in sorted(out.rglob("*")) if one.is_file()})
    assert made[0] == made[1]
    wanted = attacks_of(record)
    page, text = made[0]["a.html"].decode(), made[0]["a.md"].decode()
    results = json.loads(made[0]["acro/results.json"])["results"]["output_0"]
    assert attacks_in_rows(cells_of_html(page)) == wanted
    assert attacks_in_rows(cells_of_markdown(text)) == wanted
    assert attacks_in_text(shown.output) == wanted
    assert {
        code: tuple(results["outcome"][code][name] for name in ("findings", "waived", "undecided")) for code in wanted
    } == wanted
    assert results["status"] == {"exposed": "fail", "clean": "pass", "incomplete": "review"}[record["verdict"]]
    assert results["summary"].startswith(f"{results['status']}; ")
    assert json.loads(made[0]["acro/tacit-audit.json"]) == record
    assert json.loads(made[0]["acro/config.json"]) == record["policy"]
    sentence = unescape(results["summary"]).partition("; ")[2]
    for caution in record["cautions"]:
        sentence = sentence.removesuffix(f"; {caution['text']}")
        unwrapped = " ".join(shown.output.split())
        assert all(caution["text"] in told for told in (page.replace("&nbsp;", " "), text, unwrapped, results["summary"]))
    assert plain(sentence[0].upper() + sentence[1:]) in text
    assert sentence[1:] in unescape(page.replace("&nbsp;", " "))
    assert sentence in " ".join(shown.output.split())
    for told in (page, text):
        assert record["release"][0]["sha256"] in told
    tables = [row for row in cells_of_markdown(text) if len(row) == 4]
    assert [[cell.replace("\xa0", " ") for cell in row] for row in cells_of_html(page) if len(row) == 4] == tables
    measured = {row[0]: row[1] for row in tables[tables.index(["Measure", "Value", "Unit", "Meaning"]) :]}
    assert set(measured) - {"Measure"} <= set(record["measures"])
    assert {name: shown for name, shown in measured.items() if isinstance(record["measures"].get(name), int)} == {
        name: f"{value:,}" for name, value in record["measures"].items() if isinstance(value, int) and name in measured
    }
    limits = {row[0]: (row[1], row[2]) for row in tables[: tables.index(["Measure", "Value", "Unit", "Meaning"])]}
    for limit in ("k", "l", "safe_round_base"):
        assert limits[limit][0] == str(record["policy"][limit])
        assert (limits[limit][1] == "an option") == (record["policy_from"][limit] == "option")


def as_the_viewer_reads(folder: Path) -> dict[str, Any]:
    """The one file that SACRO-Viewer takes for ACRO's, with the checks that it makes."""
    valid = []
    for path in folder.glob("*.json"):
        content = json.loads(path.read_text())
        if "version" in content and "results" in content:
            valid.append((path.name, content))
    assert [name for name, _ in valid] == ["results.json"]
    found = valid[0][1]
    assert found["version"].split(".")[:2] == ["0", "4"]
    for uid, result in found["results"].items():
        assert result["uid"] == uid
        assert result["files"]
        assert set(result) == {
            *(
                "uid",
                "status",
                "type",
                "properties",
                "files",
                "outcome",
                "command",
                "summary",
                "timestamp",
                "comments",
                "exception",
            )
        }
        for file in result["files"]:
            data = (folder / file["name"]).read_bytes()
            assert (folder / "checksums" / f"{file['name']}.txt").read_text() == hashlib.sha256(data).hexdigest()
            for cells in file["sdc"]["cells"].values():
                rows = list(csv.reader(data.decode().splitlines()))[1:]
                assert all(0 <= row < len(rows) and -1 <= column < len(rows[row]) - 1 for row, column in cells)
    assert {one.stem for one in (folder / "checksums").iterdir()} == {one.name for one in folder.iterdir() if one.is_file()}
    output: dict[str, Any] = found["results"]["output_0"]
    return output


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", CASES)
def test_the_viewer_opens_the_folder(case: str, kind: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    command("audit", *CASES[case], "--acro", tmp_path / "acro", "--report-kind", kind)
    result = as_the_viewer_reads(tmp_path / "acro")
    names = {file["name"] for file in result["files"]}
    assert names == {"attacks.csv"} if kind == "external" else {"buckets": "qit.csv"}.get(case, CASES[case][0]) in names
    assert result["timestamp"] == "1970-01-01T00:00:00"
    assert "--date" in result["comments"][0]


def test_flagged_cells_are_the_cited_counts(folder: Path, tmp_path: Path) -> None:
    command("audit", folder / "itemsets.csv", "--acro", tmp_path / "acro", "--top", 1)
    file = as_the_viewer_reads(tmp_path / "acro")["files"][0]
    rows = list(csv.reader((tmp_path / "acro" / "itemsets.csv").read_text().splitlines()))
    flagged = [(rows[row + 1][0], rows[row + 1][column + 1]) for row, column in file["sdc"]["cells"]["I01"]]
    assert sorted(flagged) == [('["a", "b"]', "49"), ('["a"]', "50")]


def test_the_time_comes_from_outside(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    audit = tacit.audit(folder / "itemsets.csv")
    for today, epoch, expected in (
        (date(2026, 11, 15), "0", "2026-11-15T00:00:00"),
        (None, "86400", "1970-01-02T00:00:00"),
        (None, "soon", "1970-01-01T00:00:00"),
    ):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
        tacit.write_acro(audit, tmp_path / "acro", releases=[folder / "itemsets.csv"], today=today)
        assert as_the_viewer_reads(tmp_path / "acro")["timestamp"] == expected


def test_a_folder_that_is_not_ours_is_left_alone(folder: Path, tmp_path: Path) -> None:
    audit, releases = tacit.audit(folder / "itemsets.csv"), [folder / "itemsets.csv"]
    place = tmp_path / "acro"
    tacit.write_acro(audit, place, releases=releases)
    tacit.write_acro(audit, place, releases=releases)  # our own is replaced
    (place / "mine.txt").write_text("keep")
    with pytest.raises(OptionError, match="holds something else"):
        tacit.write_acro(audit, place, releases=releases)
    assert (place / "mine.txt").read_text() == "keep"
    (tmp_path / "file").write_text("keep")
    for bad, why in (
        (tmp_path / "file", "is a file"),
        (tmp_path / "no" / "where", "its parent does not exist"),
        (folder, "is also read"),
    ):
        shown = command("audit", folder / "itemsets.csv", "--acro", bad)
        assert shown.exit_code == 2
        assert why in shown.output
    for folder_name, report in (("twice.md", "twice.md"), ("twice", "twice/a.md")):
        shown = command("audit", folder / "itemsets.csv", "--acro", tmp_path / folder_name, "--report", tmp_path / report)
        assert (shown.exit_code, "is named twice, or another output lies in it" in shown.output) == (2, True)
    assert {one.name for one in tmp_path.iterdir()} == {"acro", "file"}


def test_a_folder_is_written_whole_or_not_at_all(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    audit, place = tacit.audit(folder / "itemsets.csv"), tmp_path / "acro"
    tacit.write_acro(audit, place, releases=[folder / "itemsets.csv"])
    before = {one: one.read_bytes() for one in place.rglob("*") if one.is_file()}

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OptionError, match="cannot be written"):
        tacit.write_acro(audit, place, releases=[folder / "itemsets.csv"])
    assert {one: one.read_bytes() for one in place.rglob("*") if one.is_file()} == before
    assert [one.name for one in tmp_path.iterdir()] == ["acro"]


def test_files_of_the_same_name_and_taken_names_are_kept_apart(folder: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.csv").write_bytes((folder / "itemsets.csv").read_bytes())
        (tmp_path / name / "config.csv.json").write_bytes((folder / "itemsets.csv.json").read_bytes())
    paths = [tmp_path / name / "config.csv" for name in ("one", "two")]
    audit = tacit.audit([tacit.read_release(path) for path in paths], people=tacit.Same())
    tacit.write_acro(audit, tmp_path / "acro", releases=paths)
    names = [file["name"] for file in as_the_viewer_reads(tmp_path / "acro")["files"]]
    assert names == ["config.csv", "config.csv.json", "2_config.csv", "2_config.csv.json"]


def waived(audit: Audit, **more: str) -> tacit.Policy:
    told = {"reason": "known <b>anyway</b>", "name": "A. Checker"} | more
    return tacit.Policy(waivers=tuple(Waiver(finding=one.id, people=one.count.to_list(), **told) for one in audit.findings))  # type: ignore[arg-type]


def test_waivers_stand_in_every_form(folder: Path, tmp_path: Path) -> None:
    release = tacit.read_release(folder / "itemsets.csv")
    audit = tacit.audit(release, policy=waived(tacit.audit(release)))
    assert audit.verdict == "clean"
    forms = [audit_text(audit, top=5), audit_markdown(audit), audit_html(audit), json.dumps(audit_record(audit, top=5))]
    tacit.write_acro(audit, tmp_path / "acro", releases=[folder / "itemsets.csv"])
    result = as_the_viewer_reads(tmp_path / "acro")
    assert result["status"] == "pass"
    for form in (*forms, result["exception"]):
        assert "A. Checker" in form
        assert "anyway" in form
    assert "<b>anyway" not in audit_html(audit) + result["exception"] + audit_markdown(audit)
    outside = [
        audit_text(audit, top=5, kind="external"),
        audit_markdown(audit, kind="external"),
        audit_html(audit, kind="external"),
    ]
    for form in (*outside, json.dumps(audit_record(audit, top=5, kind="external"))):
        assert "anyway" not in form
        assert not any(one.id in form for one in audit.findings)
        assert "A. Checker" in form


def test_reports_from_python(folder: Path, tmp_path: Path) -> None:
    audit = tacit.audit(folder / "itemsets.csv")
    for name, start in (("a.html", "<!DOCTYPE html>"), ("a.md", "# Disclosure audit: itemsets.csv"), ("a.json", "{")):
        tacit.write_report(audit, tmp_path / name)
        assert (tmp_path / name).read_text().startswith(start)
    with pytest.raises(OptionError, match=r"Choose \.html, \.md or \.json"):
        tacit.write_report(audit, tmp_path / "a.pdf")
    with pytest.raises(OptionError, match="there is no kind"):
        tacit.write_report(audit, tmp_path / "a.md", kind="secret")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="is not among those given"):
        tacit.write_acro(audit, tmp_path / "acro", releases=[tmp_path / "a.md"])


def test_names_cannot_break_out_of_markdown() -> None:
    evil = "x|y`<script>*"
    people = tacit.read_transactions([[evil, "b"]] * 49 + [[evil]] + [["c"]] * 20)
    text = audit_markdown(tacit.audit(tacit.mine_itemsets(people, min_support=20)))
    assert "\n### 1. 1 person has x\\|y\\`\\<script\\>\\* but not b." in text
    assert not re.search(r"(?<!\\)<script", text)


def test_a_repair_is_reported_with_its_files(folder: Path, tmp_path: Path) -> None:
    for name in ("a.html", "b.md"):
        done = command(
            "repair", folder / "itemsets.csv", "--method", "round", "-o", tmp_path / "safe.csv", "--report", tmp_path / name
        )
        assert done.exit_code == 0, done.output
    page, text = (tmp_path / "a.html").read_text(), (tmp_path / "b.md").read_text()
    for told in (page, text):
        assert hashlib.sha256((tmp_path / "safe.csv").read_bytes()).hexdigest() in told
        assert hashlib.sha256((folder / "itemsets.csv").read_bytes()).hexdigest() in told
        assert "CLEAN" in told
    assert ["I01", "inference-channels", "2", "0", "ran"] in cells_of_html(page)
    assert ["I01", "inference-channels", "2", "0", "ran"] in cells_of_markdown(text)
    assert "size 1: 1 group before, 0 after" in page


@pytest.mark.parametrize(
    "arguments",
    [
        ("itemsets", "baskets.dat", "--min-support", "20,40", "--k", "5,10"),
        ("rounding", "itemsets.csv"),
        ("rules", "people.csv", "--qi", "sex,age", "--sa", "ill", "--min-support", "5,10", "--min-confidence", "60%"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_sweep_is_reported(arguments: tuple[str, ...], folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    Path("baskets.dat").write_text("".join(" ".join(row) + "\n" for row in BASKETS))
    for name in ("a.html", "b.md"):
        done = command("sweep", *arguments, "--report", tmp_path / name, "--csv", tmp_path / "c.csv")
        assert done.exit_code == 0, done.output
    page, text = (tmp_path / "a.html").read_text(), (tmp_path / "b.md").read_text()
    head, *lines = list(csv.reader((tmp_path / "c.csv").read_text().splitlines()))
    shown = [row for row in cells_of_html(page) if len(row) == len(head)]
    assert shown == [row for row in cells_of_markdown(text) if len(row) == len(head)]
    assert len(shown) == len(lines) + 1
    assert page.count("<svg") == 1
    assert page.count("<h1>") == 1


@pytest.mark.parametrize("case", [*CASES, "repair", "sweep"])
def test_every_page_can_be_read_without_seeing_it(
    case: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    made = {
        "repair": ("repair", "itemsets.csv", "--method", "round", "-o", tmp_path / "safe.csv"),
        "sweep": ("sweep", "rounding", "itemsets.csv"),
    }
    command(*(made[case] if case in made else ("audit", *CASES[case])), "--report", tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text()
    reader = check_stands_alone(page)
    headings = [int(tag[1]) for tag, _ in reader.tags if re.fullmatch(r"h\d", tag)]
    assert headings.count(1) == 1
    assert headings[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(headings))
    tables = [place for place, (tag, _) in enumerate(reader.tags) if tag == "table"]
    assert all(reader.tags[place + 1][0] == "caption" for place in tables)
    assert all(attributes.get("scope") in ("row", "col") for tag, attributes in reader.tags if tag == "th")
    pictures = page.split("<svg")[1:]
    assert all("<title" in one and "<desc" in one and 'role="img"' in one for one in pictures)


def test_findings_that_need_several_files_are_told_apart(tmp_path: Path) -> None:
    worlds = {"one": "x:40, y:50", "two": "y:50, x y:38"}
    releases = []
    for name, lines in worlds.items():
        counts = {text.rpartition(":")[0]: int(text.rpartition(":")[2]) for text in lines.split(", ")}
        rows = "".join(
            f'"{json.dumps(items.split()).replace(chr(34), chr(34) * 2)}",{count},\n' for items, count in counts.items()
        )
        (tmp_path / f"{name}.csv").write_text(f"itemset,count,support\n{rows}")
        (tmp_path / f"{name}.csv.json").write_text('{"format": "tacit.itemsets/1", "n": 100}')
        releases.append(tacit.read_release(tmp_path / f"{name}.csv"))
    audit = tacit.audit(releases, people=tacit.Same())
    assert audit.attack("X01").findings
    needed = [one for one in audit.findings if len({cited.release for cited in one.because}) > 1]
    assert needed
    page, text = audit_html(audit), audit_markdown(audit)
    assert f"<b>{len(needed)}</b><span>groups that need more than one release</span>" in page
    assert f"| {len(needed)} | groups that need more than one release |" in text
    assert "needs one.csv and two.csv" in text
    assert page.count("needs one.csv and two.csv") == text.count("needs one.csv and two.csv")
    assert "two.csv" not in audit_markdown(audit, kind="external") + audit_html(audit, kind="external")
