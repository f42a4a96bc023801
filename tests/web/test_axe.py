"""Every screen checked by axe-core, in light and dark colours, also where a dialog is open."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.web.conftest import CLINIC, HEADER
from tests.web.serving import Served, serving
from tests.web.test_screens import settle

AXE = Path(sys.prefix, "axe-core", "node_modules", "axe-core", "axe.min.js")
RUN = """async () => (await axe.run(document, { resultTypes: ["violations"] })).violations
  .map((one) => `${one.id}: ${one.nodes.map((node) => node.target.join(" ")).slice(0, 3).join(", ")}`)"""


@pytest.fixture(scope="module")
def outside(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Page, Served]]:
    """A page into which a script from outside may be put, which the server's own policy forbids."""
    assert AXE.is_file(), "axe-core is not installed. Run make check, which installs it."
    with serving(tmp_path_factory.mktemp("state")) as served:
        context = browser.new_context(bypass_csp=True, reduced_motion="reduce", viewport={"width": 1280, "height": 900})
        context.set_default_timeout(60_000)
        page = context.new_page()
        page.goto(served.address)
        cookie = next(one for one in context.cookies() if one["name"] == f"tacit-{served.port}")
        served.cookie = f"{cookie['name']}={cookie['value']}"
        yield page, served
        context.close()


def complaints(page: Page) -> list[str]:
    found: list[Any] = []
    page.add_script_tag(path=str(AXE))
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found += [f"{scheme}: {one}" for one in page.evaluate(RUN)]
    return found


def test_screens_have_no_barriers(outside: tuple[Page, Served]) -> None:
    page, served = outside
    project = served.project("checked", clinic_csv=CLINIC, clinic_csv_json=HEADER)
    base = f"http://127.0.0.1:{served.port}"
    found = {"home": complaints(page)}
    for screen in ("verdict", "open", "attacker", "make", "repair", "repair?choice=1", "register", "take"):
        page.goto(f"{base}/p/{project}/{screen}")
        settle(page)
        if screen == "verdict":
            page.click(".ranked a >> nth=0")
            page.wait_for_selector("dialog[open] .finding")
            found["proof"] = complaints(page)
            page.keyboard.press("Escape")
        if screen == "repair":
            page.wait_for_selector("#curves figure")
        found[screen] = complaints(page)
    assert {screen: told for screen, told in found.items() if told} == {}
    page.evaluate("() => document.querySelector('main').append(document.createElement('input'))")
    assert any("label" in told for told in complaints(page))
