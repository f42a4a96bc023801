"""The screens in a real browser: by mouse and keyboard, on a desk and a phone, light and dark, printed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.shell import leaking_baskets, people, tacit
from tests.web.conftest import WIDTHS
from tests.web.serving import Served

POLLING = 60  #: Milliseconds between two looks at a page; by default it is looked at in every frame.
TOO_WIDE = """() => [...document.querySelectorAll("body *")].filter((one) => !one.closest(".scroll") || one.matches(".scroll"))
  .filter((one) => !one.matches(".skip, .quiet") && one.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5)
  .map((one) => `${one.tagName}.${one.className}`)"""
UNNAMED = """() => [...document.querySelectorAll("input, select, textarea, button, progress, meter")]
  .filter((one) => !(one.labels?.length || one.getAttribute("aria-label") || one.textContent.trim())).map((one) => one.outerHTML)"""


def files_of(kind: str, folder: Path) -> list[Path]:
    """Make the files of a release as a user would."""
    if kind == "itemsets":
        assert tacit("mine", "itemsets", leaking_baskets(folder), "--min-support", "20", "-o", folder / "list.csv").exit_code == 0
        return [folder / "list.csv", folder / "list.csv.json"]
    data = people(folder)
    if kind == "rules":
        options = ("--qi", "sex,age", "--sa", "ill", "--min-support", "5", "--min-confidence", "0.6")
        assert tacit("mine", "rules", data, *options, "-o", folder / "rules.csv").exit_code == 0
        return [folder / "rules.csv", folder / "rules.csv.json", data]
    if kind == "buckets":
        assert tacit("bucketize", data, "--qi", "sex,age", "--sa", "ill", "-o", folder / "groups").exit_code in (0, 1)
        return [folder / "groups"]
    for name, columns in (("one.csv", "sex,age"), ("two.csv", "sex,ill")):
        assert tacit("tabulate", data, "--by", columns, "-o", folder / name).exit_code == 0
    return [folder / name for name in ("one.csv", "one.csv.json", "two.csv", "two.csv.json")]


def settle(page: Page) -> None:
    """Wait until the command of a screen has been answered, and everything that it shows has come, its colours as well."""
    page.wait_for_load_state("load")
    page.wait_for_function("() => !document.querySelector('[data-work], [data-busy]')", polling=POLLING)


SENTENCES = {
    "itemsets": "list.csv is a list of",
    "rules": "people.csv is a table of people",
    "crosstabs": "two.csv is a frequency table of",
    "buckets": "groups is a bucketized table of",
}
#: Screens that are looked at in every width and colour, spread over the kinds.
LOOKED_AT = {"itemsets": ("register",), "rules": ("open", "attacker", "take"), "crosstabs": ("open",), "buckets": ("attacker",)}


@pytest.mark.parametrize("kind", list(SENTENCES))
def test_the_screens_are_walked(page: Page, entered: tuple[BrowserContext, Served], tmp_path: Path, kind: str) -> None:
    files = files_of(kind, tmp_path)
    page.set_input_files("#folder" if kind == "buckets" else "#files", [str(path) for path in files])
    page.wait_for_url("**/open")
    page.wait_for_function("() => document.querySelector('.sentence') && !document.querySelector('[data-adopts]')")
    sentence = page.inner_text(".sentence")
    assert SENTENCES[kind] in " ".join(_shown(page).split()), sentence
    if kind == "rules":  # recognised as the data without being told
        assert page.input_value("[data-role='people.csv']") == "data"
    if kind == "crosstabs":
        page.click(".question >> text=None of them")
        page.wait_for_function("() => !document.querySelector('.question')")
    releases = [str(path) for path in files if path.suffix != ".json" and path.name != "people.csv"]
    given = {"rules": ("--data", str(tmp_path / "people.csv")), "crosstabs": ("--sa", "none")}.get(kind, ())
    record = json.loads(tacit("audit", *releases, *given, "--json", "-").stdout_bytes)
    page.click("main a.button.main[href$='/verdict']")
    page.wait_for_url("**/verdict")
    settle(page)
    assert page.inner_text("#answer .verdict strong").lower() == record["verdict"]
    if record["findings"]:
        assert record["findings"][0]["statement"].rstrip(".") in page.inner_text("#answer")
    for screen in LOOKED_AT[kind]:
        page.click(f"nav[aria-label=Screens] a[href$='/{screen}']")
        settle(page)
        check_everywhere(page)
    _, served = entered
    project = page.url.split("/")[4]
    link = re.search(r"jobs/(\w+)/files/record.json\" download>Internal", served.call("GET", f"/p/{project}/take").body.decode())
    assert link is not None
    taken = json.loads(served.file(project, link[1], "record.json"))
    for part in ("verdict", "headline", "findings", "measures", "attacks"):
        assert taken[part] == record[part]


def _shown(page: Page) -> str:
    """Return the sentence with what its controls say."""
    text: str = page.evaluate(
        """() => { const copy = document.querySelector(".sentence").cloneNode(true);
        for (const one of copy.querySelectorAll("select")) one.replaceWith(one.selectedOptions[0]?.textContent ?? "");
        return copy.textContent; }"""
    )
    return text


def check_everywhere(page: Page) -> None:
    """Look at a screen at both widths, in both colours, and printed."""
    assert page.evaluate(UNNAMED) == []
    assert page.evaluate("() => document.querySelectorAll('main').length") == 1
    assert page.evaluate("() => document.querySelectorAll('h1').length") == 1
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(TOO_WIDE) == [], (page.url, width)
    colours = set()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        colours.add(page.evaluate("() => getComputedStyle(document.body).backgroundColor"))
    assert len(colours) == 2
    page.emulate_media(media="print")
    assert page.evaluate("() => getComputedStyle(document.querySelector('.bar')).display") == "none"
    page.emulate_media(media="screen", color_scheme="light")
    page.set_viewport_size({"width": WIDTHS[0], "height": 900})


def test_the_keyboard_is_enough(page: Page, served: Served, clinic: str) -> None:
    page.goto(f"http://127.0.0.1:{served.port}/p/{clinic}/verdict")
    settle(page)
    assert "1-9 people" in page.inner_text(".verdict")
    press_to(page, "#k")
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("() => document.querySelector('#answer .verdict').textContent.includes('1-8 people')")
    assert page.url.endswith("?k=9")
    assert page.evaluate("() => document.activeElement.id") == "k"
    press_to(page, "nav[aria-label=Screens] a[href$='/repair']", backwards=True)
    page.keyboard.press("Enter")
    page.wait_for_url("**/repair")
    settle(page)
    press_to(page, "a[href$='choice=1']")
    page.keyboard.press("Enter")
    page.wait_for_url("**choice=1")
    settle(page)
    assert page.inner_text("main .verdict strong") == "CLEAN"
    assert page.locator("main .command button").count() == page.locator("main .command").count() > 0
    with page.expect_download() as downloaded:
        page.click("text=Download clinic-safer.csv >> nth=0")
    assert Path(downloaded.value.path()).read_bytes().startswith(b"itemset,")


def test_columns_get_their_roles_by_keys(page: Page, entered: tuple[BrowserContext, Served]) -> None:
    _, served = entered
    project = served.project("roles", table_csv=b"sex,area,count\nF,N,40\nF,S,11\nM,N,35\nM,S,14\n")
    page.goto(f"http://127.0.0.1:{served.port}/p/{project}/open")
    page.wait_for_selector(".question")
    press_to(page, "#chip-2")
    page.keyboard.press("s")  # the role that begins with this letter
    page.wait_for_function("() => !document.querySelector('.question')")
    assert page.evaluate("() => document.activeElement.id") == "chip-2"
    page.reload()
    assert page.input_value("#chip-2") == "sensitive"
    assert "--sa area" in served.call("GET", f"/p/{project}/take").body.decode()


def press_to(page: Page, selector: str, *, backwards: bool = False) -> None:
    """Move the focus to an element with the tabulator alone."""
    for _ in range(60):
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press("Shift+Tab" if backwards else "Tab")
    raise AssertionError(f"the keyboard does not reach {selector}")


def test_script_cannot_make_markup(entered: tuple[BrowserContext, Served]) -> None:
    context, served = entered
    page = context.new_page()  # the browser complains about it, as it should
    page.goto(f"http://127.0.0.1:{served.port}/")
    made: Any = page.evaluate(
        "() => { try { document.body.innerHTML = '<p>'; return 'made'; } catch (error) { return error.name; } }"
    )
    page.close()
    assert made == "TypeError"


def test_other_browsers_are_outside(browser: Browser, entered: tuple[BrowserContext, Served]) -> None:
    _, served = entered
    stranger = browser.new_context()
    answer = stranger.new_page().goto(f"http://127.0.0.1:{served.port}/")
    assert answer is not None
    assert answer.status == 403
    stranger.close()
