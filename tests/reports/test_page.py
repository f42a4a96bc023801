"""The page as a product: first screen, marked lines, columns, certificates and signatures."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import tacit
from tacit.reports.audit import audit_document, people_figure
from tacit.reports.document import Cell, Table, as_share, format_measure, format_number, format_percent, render_text
from tacit.reports.evidence import MOST_LINES, MOST_OTHERS
from tacit.reports.pages import render_html, render_markdown
from tacit.reports.pictures import WIDTH
from tacit.reports.sentences import LOOKS_FOR, Summary
from tacit.verbs.attacks import ATTACKS
from tests.shell import record
from tests.shell import tacit as command

BASKETS = [["a", "b"]] * 49 + [["a"]] + [["c", "d"]] * 45 + [["c"]] * 2 + [["e"]] * 20


@pytest.fixture
def release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    tacit.write_release(tacit.mine_itemsets(tacit.read_transactions(BASKETS), min_support=20), "list.csv")
    return "list.csv"


def test_the_first_screen_answers_before_the_contents(release: str) -> None:
    assert command("audit", release, "--report", "a.html", "--date", "2026-11-18").exit_code == 1
    page = Path("a.html").read_text()
    first = page[: page.index("<nav")]
    told = ("<h1>list.csv</h1>", "7 itemsets about 117 people", "k = 10", "2026-11-18", "Tacit ", "<strong>EXPOSED</strong>")
    assert not [one for one in told if one not in first]
    assert "tacit repair list.csv --date 2026-11-18 -o list-safer.csv" in first
    assert first.count('href="#finding-') == 2
    assert "One square is one person" in first
    assert page.index(">The release<") < page.index(">Worst findings<") < page.index(">Policy<")


def test_an_absolute_path_stays_out_of_the_page(release: str, tmp_path: Path) -> None:
    assert command("audit", tmp_path / release, "--report", "a.html").exit_code == 1
    page = Path("a.html").read_text()
    assert "tacit repair list.csv -o list-safer.csv" in page
    assert str(tmp_path) not in page


def test_marked_lines_are_those_that_findings_rest_on() -> None:
    audit = tacit.audit(tacit.mine_itemsets(tacit.read_transactions(BASKETS), min_support=20))
    document = audit_document(audit)
    section = next(one for one in document.sections if one.title == "The release")
    table = section.parts[0]
    assert isinstance(table, Table)
    cited = {one.place for finding in audit.findings[:10] for one in finding.because}
    marked = {int(row[0]) for row in table.rows if isinstance(row[0], Cell) and row[0].mark == "used"}
    assert marked == cited & {int(row[0]) for row in table.rows}
    assert marked
    page = render_html(document)
    anchors = set(re.findall(r'<tr id="(line-1-\d+)" class="used"', page))
    assert anchors == {f"line-1-{line}" for line in marked}
    assert all(f'href="#{anchor}"' in page for anchor in anchors)


def test_long_releases_are_cut_with_cited_lines_first() -> None:
    baskets = [[f"x{number}"] for number in range(80) for _ in range(25)] + [["a", "b"]] * 49 + [["a"]]
    audit = tacit.audit(tacit.mine_itemsets(tacit.read_transactions(baskets), min_support=20), attacks=["I01"])
    text = render_markdown(audit_document(audit, top=1))
    shown = text[text.index("## The release") : text.index("## Columns")]
    lines = [line for line in shown.splitlines() if re.match(r"\| \d", line)]
    assert len(lines) == MOST_OTHERS < MOST_LINES
    assert lines[0].endswith(" 1 |")
    assert f"{len(audit.asked.releases[0]) - MOST_OTHERS} more lines are not shown" in shown  # type: ignore[union-attr]


def test_small_cells_of_a_crosstab_are_marked_though_not_listed() -> None:
    cells = [[sex, job] for sex in "FM" for job in "xyz"]
    audit = tacit.audit(tacit.FrequencyTable.of(["sex", "job"], cells, [3, 4, 50, 60, 5, 70]))
    page = render_html(audit_document(audit, top=1))
    revealed = re.findall(r'<td[^>]*class="figure revealed"[^>]*><span>(.*?)</span>', page)
    assert [re.sub(r"<[^>]*>", "", one) for one in revealed] == ["3", "4", "5"]
    assert sum("<a" in one for one in revealed) >= 1


def test_columns_are_held_against_findings() -> None:
    audit = tacit.audit(tacit.FrequencyTable.of(["sex", "job"], [["F", "x"], ["M", "x"], ["M", "y"]], [3, 40, 50]))
    text = render_markdown(audit_document(audit))
    assert "| Column or item | 1 | Findings |" in text
    assert "| job | ● | 1 |" in text


def test_people_concerned_are_drawn_to_scale() -> None:
    audit = tacit.audit(tacit.mine_itemsets(tacit.read_transactions(BASKETS), min_support=20))
    figure = people_figure(audit, Summary(audit))
    assert figure is not None
    drawn = figure.picture.standalone()
    rows = [float(x) for x in re.findall(r'class="row danger"[^>]*x2="([\d.]+)"', drawn)]
    across = 18  # 117 people in rows of 18
    concerned = Summary(audit).people
    assert rows == [pytest.approx(concerned * WIDTH / across, abs=0.1)]
    assert figure.caption.startswith(f"At least {concerned} ")


def test_a_clean_page_is_a_certificate(release: str) -> None:
    audited = command(
        "audit", release, "--k", "1", "--report", "c.html", "--signed-by", "A. <Checker>", "--report-kind", "external"
    )
    assert audited.exit_code == 0
    page = Path("c.html").read_text()
    assert "Certificate" in page
    assert "A. &lt;Checker&gt;" in page
    assert record("audit", release, "--k", "1")["release"][0]["sha256"] in page
    for code in ("I01", "I02", "X01"):
        assert f"({code}): nothing was found." in page
    assert "smallest group that can be computed is not known" in page
    assert "list.csv" not in page


def test_every_attack_is_described_on_a_certificate() -> None:
    assert set(LOOKS_FOR) == {attack.code for attack in ATTACKS}


def test_signatures_stand_in_the_record_and_nothing_else_changes(release: str) -> None:
    plain = record("audit", release, code=1)
    assert command("audit", release, "--json", "a.json", "--signed-by", "A. Checker").exit_code == 1
    signed = json.loads(Path("a.json").read_text())
    assert "signed_by" not in plain
    assert signed["signed_by"] == "A. Checker"
    assert {name: value for name, value in signed.items() if name not in ("signed_by", "binding")} == {
        name: value for name, value in plain.items() if name != "binding"
    }
    for words in (("verify", "a.json", release), ("verify", "a.json", release, "--again")):
        done = command(*words)
        assert done.exit_code == 0, done.output
    tacit.audit(release).report("p.json", signed_by="B. Checker")
    assert json.loads(Path("p.json").read_text())["signed_by"] == "B. Checker"
    refused = command("audit", release, "--signed-by", "a\nb")
    assert (refused.exit_code, refused.stderr[:12]) == (2, "--signed-by:")


def test_numbers_are_written_for_people() -> None:
    assert format_percent(7.33309e-05) == "less than 0.01 %"
    assert as_share(3, 10**8) == " (0.000003 %)"
    assert format_number(7.33309e-05) == "0.0000733309"
    assert [format_percent(share) for share in (0.0, 0.511176, 1.0, 0.99999)] == ["0 %", "51.12 %", "100 %", "more than 99.99 %"]
    assert format_measure(3.64292e-14, "share of people") == "less than 0.01 %"
    assert format_measure(2.1e-9, "nats") == "less than 0.001"
    assert format_measure(1234, "people") == "1,234"


def test_text_shows_every_finding_of_a_page() -> None:
    audit = tacit.audit(tacit.mine_itemsets(tacit.read_transactions(BASKETS), min_support=20))
    text = render_text(audit_document(audit))
    assert all(finding.statement in " ".join(text.split()) for finding in audit.findings[:2])
