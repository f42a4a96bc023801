"""Every screen checked by axe-core, in light and dark colours, also where a dialog is open; with names that are markup."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.web.serving import Served
from tests.web.test_screens import settle

AXE = Path(sys.prefix, "axe-core", "node_modules", "axe-core", "axe.min.js")
RUN = """async (rules) => (await axe.run(document, { resultTypes: ["violations"], ...(rules.length ? { runOnly: rules } : {}) })).violations
  .map((one) => `${one.id}: ${one.nodes.map((node) => node.target.join(" ")).slice(0, 3).join(", ")}`)"""
SCREENS = ("verdict", "open", "attacker", "make", "make?make=rules", "repair", "repair?choice=1", "register", "take")


@pytest.fixture(scope="module")
def outside(browser: Browser, served: Served) -> Iterator[Page]:
    """A page into which a script from outside may be put, which the server's own policy forbids."""
    assert AXE.is_file(), "axe-core is not installed. Run make check, which installs it."
    context = browser.new_context(bypass_csp=True, reduced_motion="reduce", viewport={"width": 1280, "height": 900})
    name, _, value = served.cookie.partition("=")
    context.add_cookies([{"name": name, "value": value, "url": f"http://127.0.0.1:{served.port}"}])
    context.set_default_timeout(60_000)
    yield context.new_page()
    context.close()


def complaints(page: Page) -> list[str]:
    """Return what axe-core finds; only colours differ between the schemes."""
    found: list[Any] = []
    page.add_script_tag(path=str(AXE))
    found += page.evaluate(RUN, [])
    page.emulate_media(color_scheme="dark")
    found += [f"dark: {one}" for one in page.evaluate(RUN, ["color-contrast"])]
    page.emulate_media(color_scheme="light")
    return found


def test_screens_have_no_barriers_and_names_are_text(outside: Page, served: Served, clinic: str) -> None:
    """Nothing but escaping keeps the names of the project from being markup here: the policy of the server is off."""
    page = outside
    base = f"http://127.0.0.1:{served.port}"
    page.goto(f"{base}/")
    found = {"home": complaints(page)}
    for screen in SCREENS:
        page.goto(f"{base}/p/{clinic}/{screen}")
        settle(page)
        if screen == "verdict":
            page.click(".ranked a >> nth=0")
            page.wait_for_selector("dialog[open] .finding")
            found["proof"] = complaints(page)
            page.keyboard.press("Escape")
        if screen == "repair":
            page.wait_for_selector("#curves figure")
        if screen == "repair?choice=1":
            page.click("#others summary")
            page.wait_for_selector("#lines table")
        found[screen] = complaints(page)
        assert "Tacit" in page.title()
        assert page.locator("img").count() == 0
    assert {screen: told for screen, told in found.items() if told} == {}
    page.evaluate("() => document.querySelector('main').append(document.createElement('input'))")
    assert any("label" in told for told in complaints(page))
