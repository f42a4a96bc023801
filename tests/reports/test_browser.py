"""Pages in a real browser: as wide as the screen, silent, alone, and with controls that work.

All pages are measured in one start of the browser, in frames of the width of a phone and of a desktop.
"""

from __future__ import annotations

import json
import re
import subprocess
from html import escape, unescape
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.reports.audit import audit_document
from tacit.reports.pages import page_bytes, render_html
from tacit.reports.print import browser_words, print_page
from tests.shell import tacit as command

PHONE = 390
DESKTOP = 1280
LONG = "an-item-with-a-rather-long-name-that-cannot-be-broken-anywhere-at-all"

MEASURE = """
addEventListener("load", () => {
  const measured = {};
  for (const frame of document.querySelectorAll("iframe")) {
    const page = frame.contentDocument;
    const root = page.documentElement;
    const widest = [...page.body.querySelectorAll("*")].filter((one) => !one.closest(".scroll") || one.matches(".scroll"))
      .filter((one) => one.getBoundingClientRect().right > root.clientWidth + 0.5).map((one) => `${one.tagName}.${one.className}`);
    const narrow = (one) => one.textContent.length > 8 && one.clientWidth > 0 && one.clientWidth < 48;
    const squeezed = [...page.querySelectorAll("td, tbody th")].filter(narrow).map((one) => one.textContent);
    const filter = page.querySelector(".filter");
    const found = {
      scroll: root.scrollWidth, width: root.clientWidth, wide: widest.slice(0, 5), squeezed: squeezed.slice(0, 5),
      requests: frame.contentWindow.performance.getEntriesByType("resource").length,
      commands: page.querySelectorAll(".command").length, buttons: page.querySelectorAll(".command button").length,
      findings: page.querySelectorAll(".finding").length,
    };
    if (filter && !filter.hidden) {
      const choice = filter.querySelector("select[data-filter=columns]");
      choice.value = choice.options[choice.options.length - 1].value;
      choice.dispatchEvent(new Event("change", { bubbles: true }));
      found.told = filter.querySelector("output").textContent;
      found.left = [...page.querySelectorAll(".finding")].filter((one) => one.getBoundingClientRect().height > 0).length;
    }
    frame.contentWindow.dispatchEvent(new Event("beforeprint"));
    found.folded = page.querySelectorAll("details:not([open])").length;
    found.hidden = page.querySelectorAll(".finding[hidden]").length;
    measured[frame.name] = found;
  }
  document.body.innerHTML = "<pre></pre>";
  document.querySelector("pre").textContent = JSON.stringify(measured);
});
"""


def pages(place: Path) -> dict[str, str]:
    """Pages of every kind, with long names."""
    baskets = [["a", "b", LONG]] * 49 + [["a"]] + [["c", "d"]] * 45 + [["c"]] * 2 + [["e"]] * 20
    itemsets = tacit.mine_itemsets(tacit.read_transactions(baskets), min_support=20)
    people = tacit.read_table(
        {"sex": ["F", "M"] * 40, "age": ["old", "old", "young", "young"] * 20, LONG: ["yes", "no", "no", "no"] * 20},
        qi=["sex", "age"],
        sa=LONG,
    )
    rules = tacit.mine_rules(people, min_support=5, min_confidence=0.6)
    jobs = [f"job-number-{number}" for number in range(11)]
    cells = [[sex, job] for sex in ("F", "M") for job in jobs]
    crosstab = tacit.FrequencyTable.of(["sex", "job"], cells, [3 + 7 * number for number in range(22)])
    (place / "table.csv").write_text("sex,age,job\n" + "F,old,x\n" * 30 + "F,old,\n" + "M,old,y\n" * 30)
    table = tacit.audit(tacit.read_release(place / "table.csv", qi=["sex", "age"], sa=["job"]), policy=tacit.Policy())
    tacit.write_release(itemsets, place / "itemsets.csv")
    repaired = command(
        "repair", place / "itemsets.csv", "--method", "round", "-o", place / "safe.csv", "--report", place / "repair.html"
    )
    assert repaired.exit_code == 0, repaired.output
    audits = {
        "itemsets": tacit.audit(itemsets),
        "clean": tacit.audit(itemsets, policy=tacit.Policy(k=1)),
        "rules": tacit.audit(rules, known=people, policy=tacit.Policy(max_posterior=0.6)),
        "crosstab": tacit.audit(crosstab),
        "table": table,
    }
    made = {
        name: render_html(audit_document(one, repair="tacit repair itemsets.csv -o safe.csv")) for name, one in audits.items()
    }
    made["external"] = render_html(audit_document(audits["itemsets"], kind="external"))
    return made | {"repair": (place / "repair.html").read_text()}


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], str]:
    """What the browser measures of each page at each width, and what it has to say."""
    place = tmp_path_factory.mktemp("browser")
    frames = [
        f'<iframe name="{name} {width}" style="width:{width}px;height:900px;border:0" srcdoc="{escape(page)}"></iframe>'
        for name, page in pages(place).items()
        for width in (PHONE, DESKTOP)
    ]
    harness = place / "frames.html"
    harness.write_text(f"<!DOCTYPE html><meta charset=utf-8><script>{MEASURE}</script><body>{''.join(frames)}", encoding="utf-8")
    words = [*browser_words(place), "--hide-scrollbars", "--enable-logging=stderr", "--dump-dom", harness.as_uri()]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    found = re.search(r"<pre>(\{.*?)</pre>", done.stdout, re.DOTALL)
    assert found is not None, done.stderr
    return json.loads(unescape(found[1])), done.stderr


def test_no_page_is_wider_than_its_screen(measured: tuple[dict[str, Any], str]) -> None:
    assert len(measured[0]) == 14
    for name, found in measured[0].items():
        assert found["width"] == int(name.rpartition(" ")[2])
        assert (found["scroll"], found["wide"], found["squeezed"]) == (found["width"], [], []), name


def test_pages_ask_for_nothing_and_the_browser_has_nothing_to_say(measured: tuple[dict[str, Any], str]) -> None:
    assert {found["requests"] for found in measured[0].values()} == {0}
    assert [line for line in measured[1].splitlines() if "CONSOLE" in line] == []


def test_the_script_runs(measured: tuple[dict[str, Any], str]) -> None:
    for name, found in measured[0].items():
        assert found["buttons"] == found["commands"], name
        assert (found["folded"], found["hidden"]) == (0, 0), f"{name} is printed whole"
    page = measured[0][f"itemsets {DESKTOP}"]
    assert page["commands"] == 1
    assert 0 < page["left"] < page["findings"]
    assert page["told"] == f"{page['left']} of {page['findings']} shown"


def test_a_page_is_printed() -> None:
    audit = tacit.audit(tacit.mine_itemsets([["a", "b"]] * 49 + [["a"]] + [["c"]] * 20, min_support=20))
    printed = print_page(page_bytes(audit_document(audit), "html"))
    assert printed.startswith(b"%PDF-")
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 6
